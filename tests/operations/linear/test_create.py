"""Arrays made on the device, against NumPy."""

import numpy as np
import pytest

from glla.operations.linear.create import arange, eye, full, linspace
from glla.testing import ROUNDOFF

SIZE = 8


def test_one_number(run):
    for shape in [(), (1,), (7,), (3, 5), (0,), (2, 3, 4)]:
        for dtype, value in (("float32", 1.1), ("int32", -(2**31)), ("bool", True), ("float32", np.inf)):
            got = run(full(shape, value, dtype, SIZE), shape, dtype)
            np.testing.assert_array_equal(got, np.full(shape, value, dtype))
    assert np.isnan(run(full((3,), np.nan, "float32", SIZE), (3,), "float32")).all()


def test_sequences(run):
    got = run(arange(-5, 3, 200, "int32", SIZE), (200,), "int32")
    np.testing.assert_array_equal(got, np.arange(-5, 595, 3))
    np.testing.assert_array_equal(run(arange(3, 1, 200, "float32", SIZE), (200,), "float32"), np.arange(3.0, 203.0))
    got = run(arange(0.1, -0.7, 200, "float32", SIZE), (200,), "float32")
    i = np.arange(200)
    assert (np.abs(got - (0.1 - 0.7 * i)) <= 4 * ROUNDOFF * (0.1 + 0.7 * i)).all()


@pytest.mark.parametrize("endpoint", [True, False])
def test_evenly_spaced(run, endpoint):
    for start, stop, count in [
        (0, 1, 1),
        (0, 1, 2),
        (-1, 1.7, 3),
        (5, -3, 101),
        (0.1, 0.7, 250),
        (-3e38, 3e38, 5),
        (2, 3, 0),
    ]:
        got = run(linspace(start, stop, count, SIZE, endpoint), (count,), "float32")
        wide = np.linspace(start, stop, count, endpoint=endpoint)
        assert (np.abs(got - wide) <= 4 * ROUNDOFF * max(abs(start), abs(stop))).all()
        if count:
            assert got[0] == np.float32(start)
        if endpoint and count > 1:
            assert got[-1] == np.float32(stop)


def test_identities(run):
    for shape in [(3, 3), (4, 2), (2, 5), (3, 2, 4)]:
        for diagonal in (-1, 0, 2):
            expected = np.broadcast_to(np.eye(*shape[-2:], diagonal), shape)
            for dtype in ("float32", "bool"):
                got = run(eye(shape, dtype, SIZE, diagonal), shape, dtype)
                np.testing.assert_array_equal(got, expected.astype(dtype))
