"""
scikit-learn on the device
==========================

With ``array_api_dispatch`` scikit-learn computes with glla's Arrays.
"""

# %%
import os

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported

import numpy as np
import sklearn
from sklearn.preprocessing import StandardScaler

import glla

data = np.random.default_rng(7).normal(size=(500, 3)) * [1, 10, 100] + [5, 6, 7]

# %%
with sklearn.config_context(array_api_dispatch=True):
    scaled = StandardScaler().fit_transform(glla.asarray(data))
print(type(scaled).__name__, scaled.shape)

# %%
assert isinstance(scaled, glla.Array)
assert np.allclose(scaled.numpy(), StandardScaler().fit_transform(data), atol=1e-4)
