"""
Poisson's equation by conjugate gradients
=========================================

4096 unknowns on a grid of 64 x 64 points, with and without a preconditioner.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import glla
from glla.lab.plots import signed

line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(64, 64))
grid = sp.kronsum(line, line)
A = glla.sparse.asarray(grid)
print(A)

# %%
b = np.zeros(4096)
b[64 * 20 + 20], b[64 * 44 + 40] = 1, -1
x, info = glla.sparse.linalg.cg(A, b, rtol=1e-5)
fast, again = glla.sparse.linalg.cg(A, b, rtol=1e-5, M=glla.sparse.linalg.chebyshev(A))
plt.imshow(np.asarray(x).reshape(64, 64), cmap=signed())

# %%
# ``info`` is 0 only if the true residual is small enough.

assert info == 0 and again == 0
assert np.linalg.norm(b - grid @ x) <= 1e-4 * np.linalg.norm(b)
