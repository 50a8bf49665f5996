"""
CPU and GPU in parallel
=======================

Calls of a coprocessor return at once; the CPU computes something else meanwhile.
"""

# %%
import numpy as np

import glla

rng = np.random.default_rng(6)
A = rng.normal(size=(64, 64)) + 8 * np.eye(64)

with glla.coprocessor() as gpu:
    inverse = gpu.inv(A)  # queued
    product = gpu.matmul(inverse, A)  # depends on a result that is not there yet
    eigenvalues = np.linalg.eigvals(A)  # meanwhile, on the CPU
    identity = product.result()  # waits

# %%
# A stream of systems is shared by both. Results come in order.

systems = [rng.normal(size=(16, 16)) + 4 * np.eye(16) for _ in range(6)]
inverses = list(glla.hybrid.map("inv", systems))

# %%
assert np.allclose(identity, np.eye(64), atol=1e-3)
assert all(np.allclose(a @ x, np.eye(16), atol=1e-3) for a, x in zip(systems, inverses, strict=True))
