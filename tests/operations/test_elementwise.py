"""Element-wise passes on packed textures: every function on special values, powers, whole ranges."""

import numpy as np
import pytest

from glla.operations.elementwise import BINARY, UNARY, binary, unary
from glla.testing import ROUNDOFF
from tests.operations.linear.test_elementwise import check

SPECIAL = np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 3, 1e30, -1e30, 1e-30, np.inf, -np.inf, np.nan], dtype=np.float32)


@pytest.mark.parametrize("name", UNARY)
def test_unary_on_special_values(run, name):
    a = SPECIAL.reshape(1, -1)
    check(name, run(unary(a.shape, name), A=a).matrix("result", a.shape), a)


@pytest.mark.parametrize("name", BINARY)
def test_binary_on_special_values(run, name):
    shape = (len(SPECIAL), len(SPECIAL))
    a, b = (np.ascontiguousarray(part) for part in np.broadcast_arrays(SPECIAL[:, np.newaxis], SPECIAL))
    check(name, run(binary(shape, name), A=a, B=b).matrix("result", shape), a, b)


def test_general_powers(run, rng):
    shape = (61, 67)
    a = np.exp(rng.uniform(-20, 20, shape)).astype(np.float32)
    b = rng.uniform(-3, 3, shape).astype(np.float32)
    wide = a.astype(np.float64) ** b
    got = run(binary(shape, "power"), A=a, B=b).matrix("result", shape)
    error = np.abs(got - wide) / wide / ROUNDOFF
    assert (error <= 6 + 4 * np.abs(b * np.log(a.astype(np.float64)))).all()
    large = np.array([[257.0, 1000.0, 1001.0, -1001.0, 2.0**24, 2.0**24 + 2]], dtype=np.float32)
    base = np.array([[-1.01]], dtype=np.float32)
    got = run(binary(large.shape, "power", (0, 0, 0)), A=base, B=large).matrix("result", large.shape)
    assert np.sign(got).tolist() == [[-1, 1, -1, -1, 1, 1]]
    expected = base.astype(np.float64) ** large[:, :4].astype(np.float64)
    assert (np.abs(got[:, :4] / expected - 1) <= (6 + 4 * 10) * ROUNDOFF).all()
