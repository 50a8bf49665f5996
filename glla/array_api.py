"""The array API under its public name: ``import glla.array_api as xp`` is `glla.interop.namespace`."""

import sys

from glla.interop import namespace

sys.modules[__name__] = namespace
globals().update(vars(namespace))  # for loaders that keep this module anyway
