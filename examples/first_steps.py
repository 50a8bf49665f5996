"""
First steps
===========

Solve a system, keep an array on the device, and look at the plan of a product. Each cell is a few lines.
"""

# %%
# A system of equations, with NumPy arrays in and out. Results are float32.

import numpy as np

import glla

A = np.array([[0, 2, 1], [4, 4, 2], [2, 3, 1]])
b = np.array([3, 10, 6])
x = glla.solve(A, b)
print(x)

# %%
# An ``Array`` stays on the device, and so do the results computed from it. ``numpy()`` reads back.

X = glla.asarray(A)
print((X @ X.T).sum(axis=0).numpy())

# %%
# A plan is the list of render passes of an operation. It needs no GPU.

print(glla.plan("matmul", (4, 6), (6, 2)))

# %%
# An error names the rule, the values and a remedy.

try:
    glla.solve(A, [1, 2])
except glla.errors.ShapeError as error:
    print(error)

# %%
# The product of A and the solution is the right-hand side.

assert np.allclose(A @ x, b, atol=1e-5)
