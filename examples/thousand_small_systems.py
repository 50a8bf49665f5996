"""
A thousand small systems
========================

Stacks of small matrices are solved in the passes of one.
"""

# %%
import numpy as np

import glla

rng = np.random.default_rng(4)
A = rng.normal(size=(1000, 8, 8))
b = rng.normal(size=(1000, 8, 1))
x = glla.solve(A, b)
print(x.shape)

# %%
# The passes are those of one system, over larger textures.

one, many = (glla.plan("solve", (n, 8, 8), (n, 8, 1)) for n in (2, 1000))
print(len(one.passes), len(many.passes))

# %%
assert np.allclose(A @ x, b, atol=1e-2)
assert np.allclose(glla.det(A[:5]), np.linalg.det(A[:5]), rtol=1e-3)
