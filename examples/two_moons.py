"""
Two moons
=========

Spectral clustering: the second eigenvector of a graph's Laplacian parts what no straight line can.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import glla

rng = np.random.default_rng(0)
angle = rng.uniform(0, np.pi, 300)
moon = rng.integers(0, 2, 300)
points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
points[moon == 1] = [1, 0.5] - points[moon == 1]
points += rng.normal(scale=0.06, size=points.shape)

# %%
# Neighbours attract each other; L = I - D^-1/2 W D^-1/2. Its smallest eigenvalue is 0.

squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
weights = np.exp(-squares / (2 * 0.1**2))
np.fill_diagonal(weights, 0)
root = 1 / np.sqrt(weights.sum(axis=1))
w, V = glla.eigh(np.eye(300) - root[:, None] * weights * root)
print("smallest eigenvalues:", w[:4].round(5))

# %%
side = (V[:, 1] * root > 0).astype(int)
plt.scatter(*points.T, c=np.where(side == 1, "tab:blue", "tab:orange"))
plt.axis("equal")

# %%
agree = max(np.mean(side == moon), np.mean(side != moon))
print(f"{agree:.1%} of the points are on their own moon's side")
assert agree > 0.99
