"""The latch of loops on the device: what says stop, and that nothing changes behind it."""

import numpy as np
import pytest

from glla.operations.iterate import latch
from glla.passes import Storage


def texel(*channels, dtype=np.float32):
    return np.array([[[*channels, 0, 0, 0, 0][:4]]], dtype=dtype)


def latched(device, stop, state):
    """The state after an iteration with this stop texture and this state."""
    given = {"stop": device.write_texels(stop), "state": device.write_texels(texel(*state, dtype=np.int32))}
    storage = given["stop"].storage
    return device.read(device.run(latch(storage), **given)["latched"])[0, 0].tolist()


@pytest.mark.parametrize("value", [1.0, -1.0, 2.0, 1e-40, -1e-45, np.inf, -np.inf, np.nan, -np.nan, 3.4e38])
def test_anything_but_zero_says_stop(device, value):
    bits = int(np.float32(value).view(np.int32))
    count, stopped, kept, last = latched(device, texel(value), (6,))
    assert (count, stopped, last) == (7, 1, 0)
    assert kept == bits or np.isnan(value)
    assert np.isnan(np.int32(kept).view(np.float32)) == np.isnan(value)


@pytest.mark.parametrize("value", [0.0, -0.0])
def test_both_zeros_say_go_on(device, value):
    assert latched(device, texel(value, 1, 1, 1), (2**24,))[:2] == [2**24 + 1, 0]  # exact where float32 is not


@pytest.mark.parametrize(("value", "stops"), [(0, 0), (5, 1), (-(2**31), 1), (2**31 - 1, 1)])
def test_integers_say_stop_too(device, value, stops):
    assert latched(device, texel(value, dtype=np.int32), (0,)) == [1, stops, value, 0]


@pytest.mark.parametrize("value", [0.0, 9.0, np.nan])
def test_a_stop_stays(device, value):
    assert latched(device, texel(value), (3, 1, 42, 0)) == [3, 1, 42, 0]


def test_only_the_first_texel_counts(device):
    stop = np.ones((3, 2, 2), dtype=np.float32)
    stop[0, 0, 0] = 0
    assert latched(device, stop, (0,))[:2] == [1, 0]
    assert latch(Storage(3, 2, 2)).cost.texels == 1
