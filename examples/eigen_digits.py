"""
Digits by principal components
==============================

Handwritten digits as sums of a few pictures: the right singular vectors of the centred data, by fragment shaders.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import glla
from glla.lab.plots import signed

digits = load_digits().data.astype(np.float32)  # 1797 pictures of 8 x 8
centre = digits.mean(axis=0)
U, s, Vh = glla.svd(digits - centre, full_matrices=False)

# %%
# The first eight directions, positive in blue, negative in orange.

figure, axes = plt.subplots(1, 8, figsize=(12, 2))
for axis, direction in zip(axes, Vh, strict=False):
    axis.imshow(direction.reshape(8, 8), cmap=signed(), vmin=-0.4, vmax=0.4)
    axis.set_axis_off()

# %%
# A digit from 2, 8 and 20 of the 64 directions.

figure, axes = plt.subplots(1, 4, figsize=(8, 2))
for axis, k in zip(axes, (2, 8, 20, 64), strict=True):
    picture = centre + (U[0, :k] * s[:k]) @ Vh[:k]
    axis.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    axis.set_title(f"{k} directions")
    axis.set_axis_off()

# %%
# The variance that each explains is that of scikit-learn in float64.

explained = s.astype(np.float64) ** 2 / np.sum(s.astype(np.float64) ** 2)
expected = PCA().fit(digits.astype(np.float64)).explained_variance_ratio_
print(f"{explained[:20].sum():.1%} of the variance by 20 directions")
assert np.abs(explained - expected).max() < 1e-5
