"""
A photograph by singular values
===============================

The best approximation of a picture by k columns times k rows, for some k.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import glla
from glla.lab.photograph import picture

image = picture(128).astype(np.float32)
U, s, Vh = glla.svd(image)

# %%
figure, axes = plt.subplots(1, 5, figsize=(14, 3))
errors = {}
for axis, k in zip(axes, (1, 5, 20, 40, 128), strict=True):
    shown = (U[:, :k] * s[:k]) @ Vh[:k]
    errors[k] = np.linalg.norm(image - shown)
    axis.imshow(shown, cmap="gray", vmin=0, vmax=255)
    axis.set_title(f"{k} singular values")
    axis.set_axis_off()

# %%
# No matrix of rank k is nearer: the distance is the norm of the singular values that were left out.

left = {k: float(np.linalg.norm(s[k:])) for k in errors}
print({k: f"{error / np.linalg.norm(image):.1%} away" for k, error in errors.items()})
assert all(abs(errors[k] - left[k]) < 1e-5 * np.linalg.norm(image) for k in errors)
