"""
Restore a photograph
====================

Blur a picture, add noise, and undo the blur by least squares. The border is right, too, unlike with the FFT.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from glla.applications import restore
from glla.lab.photograph import picture

sharp = picture(64)
blur = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256

# %%
# A blur with zero beyond the border: sums of shifted pictures.

wide = np.pad(sharp, 2)
seen = sum(blur[i, j] * wide[i : i + 64, j : j + 64] for i in range(5) for j in range(5))
seen = seen + 0.2 * np.random.default_rng(1).normal(size=seen.shape)

# %%
# ``balance`` weighs the size of the solution against the residual.

found = restore(seen, blur, balance=1e-3)
figure, axes = plt.subplots(1, 3, figsize=(9, 3))
for axis, image, title in zip(axes, (sharp, seen, found), ("sharp", "blurred", "restored"), strict=True):
    axis.imshow(image, cmap="gray", vmin=0, vmax=255)
    axis.set_title(title)
    axis.set_axis_off()

# %%
before, after = np.mean((seen - sharp) ** 2), np.mean((found - sharp) ** 2)
print(f"mean square error {before:.2e} before, {after:.2e} after")
assert after < before / 2
