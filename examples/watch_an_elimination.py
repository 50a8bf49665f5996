"""
Watch an elimination
====================

Trace the passes of a reduced echelon form, and draw the matrix after each one. Then take a matrix without full rank.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import glla
from glla.lab.plots import signed

rng = np.random.default_rng(2007)
A = rng.integers(-9, 10, (8, 9)).astype(float)

# %%
# ``trace(values=True)`` keeps the textures that each pass draws. The shader ``rref/eliminate`` eliminates two columns.

with glla.trace(values=True) as trace:
    R, pivots = glla.rref(A, variant="rank2")
steps = [next(iter(one.values.values()))[:8, :9] for one in trace.passes if one.shader == "rref/eliminate"]
trace

# %%
figure, axes = plt.subplots(1, 1 + len(steps), figsize=(10, 2.2))
for axis, matrix in zip(axes, [A, *steps], strict=True):
    axis.imshow(matrix, cmap=signed(), vmin=-9, vmax=9)
    axis.set_axis_off()

# %%
# A matrix of rank 2: the third column is the sum of the first two. The pivots name independent columns.

print(glla.rref([[1, 2, 3], [4, 5, 9], [7, 8, 15]]))

# %%
# ``glla export rref --out rref.html`` writes a page that runs these passes in a browser.

assert np.allclose(R[:, :8], np.eye(8), atol=1e-4)
assert np.allclose(A[:, :8] @ R[:, 8], A[:, 8], atol=1e-3)
