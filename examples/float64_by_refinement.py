"""
float64 by refinement
=====================

The device has float32 only. ``refine=True`` takes its factors, and computes residuals in float64 on the CPU.
"""

# %%
import numpy as np

import glla

n = 100
rng = np.random.default_rng(5)
A = rng.normal(size=(n, n)) + 4 * np.eye(n)
truth = rng.normal(size=n)
b = A @ truth

# %%
plain = glla.solve(A, b)
refined = glla.solve(A, b, refine=True)
errors = [np.linalg.norm(x - truth) / np.linalg.norm(truth) for x in (plain, refined)]
print(f"float32 {errors[0]:.1e}, refined {errors[1]:.1e} with backward error {refined.backward_error:.1e}")

# %%
assert refined.dtype == np.float64
assert errors[1] < 1e-12 < errors[0]
