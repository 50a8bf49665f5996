"""
Shallow water
=============

A hump of water in a basin with a shoal. The whole simulation stays on the device.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from glla.applications import ShallowWater
from glla.lab.plots import signed

x = np.arange(48) + 0.5
depth = np.where(x[:, None] < 24, 10.0, 4.0) * np.ones((48, 48))
water = ShallowWater(depth, spacing=10.0, dt=1.0)
water.set(z=0.5 * np.exp(-((x[:, None] - 14) ** 2 + (x - 24) ** 2) / 20))
before = water.volume()

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3))
for axis in axes:
    axis.imshow(water.z.numpy(), cmap=signed(), vmin=-0.2, vmax=0.2)
    axis.set_title(f"{water.time:.0f} s")
    axis.set_axis_off()
    water.step(6)

# %%
# Water is neither made nor lost.

assert abs(water.volume() / before - 1) < 1e-6
