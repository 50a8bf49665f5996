"""Determinants, their signs and their logarithms."""

import math

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import NonFiniteError


@pytest.mark.parametrize(
    "a",
    [[[0]], np.zeros((3, 3)), np.ones((2, 2)), np.ones((5, 5)), [[1, 2], [2, 4]], [[1, 0], [1, 0]], [[0, 0], [1, 2]]],
    ids=str,
)
def test_singular(a):
    testing.assert_exact(glla.det(a), 0)
    result = glla.slogdet(a)
    testing.assert_exact(result.sign, 0)
    testing.assert_exact(result.logabsdet, -np.inf)


# Range -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "a",
    [
        [[3e38, 3e38], [-3e38, 3e38]],  # a pivot of 6e38
        np.eye(2) * 1e-40,  # denormal numbers, which a GPU flushes
        np.eye(30) * 1e30,
        np.eye(30) * 1e-30,
        np.diag([1e30, 1e-30, 1e38, 1e-38]),
        [[1e38, 1e-38], [1e-38, 1e38]],
    ],
    ids=["growth", "denormal", "huge", "tiny", "diagonal", "mixed"],
)
def test_slogdet_knows_no_limits(a):
    expected = np.linalg.slogdet(np.array(a, dtype=np.float32).astype(np.float64))
    result = glla.slogdet(a)
    assert result.sign == expected.sign
    assert abs(result.logabsdet - expected.logabsdet) <= 4 * testing.ROUNDOFF * max(1, abs(expected.logabsdet))


def test_overflow_and_underflow():
    with pytest.raises(NonFiniteError) as caught:
        glla.det(np.eye(2) * 1e20)
    assert str(caught.value) == "det: the determinant does not fit float32, log(abs(det)) is 92.1034; use slogdet"
    testing.assert_exact(glla.det(np.eye(2) * 1e20, check_finite=False), np.inf)
    testing.assert_exact(glla.det(-np.eye(3) * 1e20, check_finite=False), -np.inf)
    with np.errstate(all="raise"):
        with pytest.raises(NonFiniteError, match=r"^det: the determinant does not fit float32, .* is -1381.55; use"):
            glla.det(np.eye(20) * 1e-30)
        testing.assert_exact(glla.det(np.eye(20) * 1e-30, check_finite=False), 0)
        testing.assert_exact(glla.det(np.zeros((2, 2))), 0)
        testing.assert_exact(glla.slogdet(np.zeros((2, 2))).logabsdet, -np.inf)


@pytest.mark.parametrize("n", [129, 200, 257])
def test_growth_past_the_range(n):
    """Partial pivoting leads out of float32's range, complete pivoting does not. The determinant is 2^(n-1)."""
    a = testing.wilkinson_growth(n, n, order=n)
    for operand in (a, glla.asarray(a)):
        sign, logarithm = glla.slogdet(operand)
        assert sign == 1
        assert abs(logarithm - (n - 1) * math.log(2)) <= 4 * testing.ROUNDOFF * n
        with pytest.raises(NonFiniteError, match=r"^det: the determinant does not fit float32"):
            glla.det(operand)
