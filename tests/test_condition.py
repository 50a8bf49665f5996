"""Reciprocal condition numbers."""

import numpy as np
import pytest

import glla
from glla import testing
from glla.testing.adversaries import growing


@pytest.mark.parametrize("kind", ["normal", "uniform", "spd", "graded", "permutation"])
@pytest.mark.parametrize("n", [1, 2, 3, 17, 40, 260])
def test_as_exact_condition_numbers(kind, n, rng):
    a = testing.MATRICES[kind](n, n, rng)
    exact = 1 / np.linalg.cond(a.astype(np.float64), 1)
    for operand in (a, glla.asarray(a)):
        estimate = glla.rcond(operand)
        assert isinstance(estimate, np.float32)
        if exact > 1e-6:
            assert 0.99 * exact <= estimate <= 3 * exact
        else:
            assert estimate <= 1e-5


def test_stacks_and_empty_matrices(rng):
    a = np.stack([np.eye(3), np.zeros((3, 3)), np.diag([1, 2, 4])]).astype(np.float32)
    testing.assert_exact(glla.rcond(a), np.float32([1, 0, 0.25]))
    testing.assert_exact(glla.rcond(a.reshape(3, 1, 3, 3)), np.float32([[1], [0], [0.25]]))
    assert glla.rcond(np.zeros((0, 0))) == np.inf
    assert glla.rcond(np.zeros((2, 0, 0))).tolist() == [np.inf, np.inf]


@pytest.mark.parametrize("n", [32, 64, 200])
def test_growth(n):
    a = growing(n)
    exact = 1 / np.linalg.cond(a.astype(np.float64), 1)
    assert 0.99 * exact <= glla.rcond(a) <= 3 * exact


def test_singular_matrices():
    assert glla.rcond([[1, 1], [1, 1]]) < 6e-8
    assert glla.rcond(np.arange(9).reshape(3, 3)) < 1e-7
    assert glla.rcond(testing.hilbert(12, 12)) < 1e-7
