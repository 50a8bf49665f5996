"""
Stencils of a photograph
========================

A 3 x 3 stencil as a kernel: its weights are a uniform, its repetition a loop on the device.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import glla
from glla.lab.photograph import picture

image = picture(128)
stencil = glla.kernel("examples/stencil")
blurred = stencil(A=image, weights=np.outer([1, 2, 1], [1, 2, 1]) / 16, repeat=16)
edges = stencil(A=image, weights=[[0, 1, 0], [1, -4, 1], [0, 1, 0]])
sharper = stencil(A=image, weights=[[0, -1, 0], [-1, 5, -1], [0, -1, 0]])

# %%
figure, axes = plt.subplots(1, 4, figsize=(12, 3))
for axis, one in zip(axes, (image, blurred.numpy(), abs(edges.numpy()), sharper.numpy()), strict=True):
    axis.imshow(one, cmap="gray")
    axis.set_axis_off()

# %%
wide = np.pad(image, 1, mode="edge")
weights = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
expected = sum(weights[i, j] * wide[i : i + 128, j : j + 128] for i in range(3) for j in range(3))
assert np.allclose(edges.numpy(), expected, atol=1e-5)
