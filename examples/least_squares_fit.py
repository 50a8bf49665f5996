"""
A least-squares fit
===================

Fit a polynomial to noisy points by ``lstsq``, whose matrix may be tall and on the device.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import glla

rng = np.random.default_rng(3)
t = np.linspace(-1, 1, 400)
y = 1 - 2 * t + 3 * t**3 + 0.1 * rng.normal(size=400)
A = np.vander(t, 4, increasing=True)
x, residuals, rank, s = glla.lstsq(A, y)
print(x, rank)

# %%
plt.plot(t, y, ".", alpha=0.3)
plt.plot(t, A @ x)

# %%
# Q and R give the same solution.

Q, R = glla.qr(A)
again = glla.solve_triangular(R, Q.T @ y)
assert np.allclose(x, again, atol=1e-4)
assert np.allclose(x, np.linalg.lstsq(A, y)[0], atol=1e-4)
