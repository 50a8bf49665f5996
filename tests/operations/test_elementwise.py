"""Element-wise passes on packed textures: every function on special values, powers, whole ranges."""

import numpy as np
import pytest

from glla.operations.elementwise import BINARY, UNARY, binary, unary
from glla.testing import ROUNDOFF, SMALLEST_NORMAL, assert_exact
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


def test_whole_powers_are_exact(run):
    exponents = np.arange(-20, 21, dtype=np.float32)
    bases = np.array([2, -2, 0.5, -1, 1, 4, -0.25], dtype=np.float32)
    a, b = (np.ascontiguousarray(part) for part in np.broadcast_arrays(bases[:, np.newaxis], exponents))
    assert_exact(run(binary(a.shape, "power"), A=a, B=b).matrix("result", a.shape), a.astype(np.float64) ** b)
    a = np.arange(-40, 41, dtype=np.float32).reshape(9, 9)
    cubes = run(binary(a.shape, "power"), A=a, B=np.full_like(a, 3)).matrix("result", a.shape)
    assert_exact(cubes, a**3)


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


@pytest.mark.parametrize("name", ["exp", "log", "sqrt"])
def test_functions_over_their_whole_range(run, name):
    exponents = np.linspace(-149, 128, 200 * 200, endpoint=False).reshape(200, 200)
    a = np.exp2(exponents).astype(np.float32)
    if name == "exp":
        a = np.linspace(-110, 95, 200 * 200, dtype=np.float32).reshape(200, 200)
    else:
        a[a < SMALLEST_NORMAL] = SMALLEST_NORMAL
    check(name, run(unary(a.shape, name), A=a).matrix("result", a.shape), a)
