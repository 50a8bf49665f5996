"""Least squares: NumPy's solutions, ranks and singular values, bounds, and what is refused."""

import numpy as np
import pytest

import glla
from glla.operations.orthogonal import lstsq as kernel
from glla.operations.orthogonal.qr import VARIANTS
from glla.testing import JUDGES

JUDGE = JUDGES["lstsq"]
SHAPES = ((1, 1), (2, 1), (1, 2), (5, 3), (3, 5), (8, 8), (40, 7), (7, 40), (130, 33), (33, 130))


def judged(a, b, **options):
    x, *rest = glla.lstsq(a, b, **options)
    verdict = JUDGE.verdict((np.asarray(a), np.asarray(b)), (np.asarray(x),))
    assert verdict.ok, verdict
    return np.asarray(x), *rest


def expected(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return np.linalg.lstsq(a, b, rcond=max(a.shape) * 2.0**-23)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_solutions_are_numpys(shape, variant, device, rng):
    a = rng.standard_normal(shape).astype(np.float32)
    for b in (rng.standard_normal((shape[0], 3)).astype(np.float32), rng.standard_normal(shape[0]).astype(np.float32)):
        x, residuals, rank, s = judged(a, b, variant=variant, device=device)
        other = expected(a, b)
        assert (x.shape, residuals.shape, s.shape) == tuple(one.shape for one in (other[0], other[1], other[3]))
        assert rank == other[2] == min(shape)
        condition = other[3][0] / other[3][-1]
        assert np.abs(x - other[0]).max() < 1e-5 * condition**2 * np.abs(other[0]).max()
        assert np.abs(s - other[3]).max() < 1e-5 * s[0]
        assert np.allclose(residuals, other[1], rtol=0, atol=1e-5 * np.square(b).sum())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", [(9, 6), (6, 9), (60, 20), (20, 60), (7, 7)], ids=str)
@pytest.mark.parametrize("rank", [0, 1, 3])
def test_of_all_solutions_the_shortest(shape, rank, variant, device, rng):
    """Integers, so that the rank is exact: NumPy finds the same in float64."""
    a = (rng.integers(-4, 5, (shape[0], rank)) @ rng.integers(-4, 5, (rank, shape[1]))).astype(np.float32)
    b = rng.integers(-9, 10, (shape[0], 2)).astype(np.float32)
    x, residuals, found, s = judged(a, b, variant=variant, device=device)
    other = expected(a, b)
    assert found == other[2] == np.linalg.matrix_rank(a)
    assert residuals.shape == other[1].shape == (0,)
    assert np.abs(x - other[0]).max() <= 1e-4 * np.abs(other[0]).max()
    assert np.abs(s - other[3]).max() <= 1e-5 * other[3][0]


@pytest.mark.parametrize("power", [-140, -100, 60, 100])
@pytest.mark.parametrize("shape", [(9, 4), (4, 9)], ids=str)
def test_the_ends_of_the_range(shape, power, device, rng):
    a = np.ldexp(rng.standard_normal(shape), power).astype(np.float32)
    b = np.ldexp(rng.standard_normal((shape[0], 2)), power // 2 if power > 0 else power).astype(np.float32)
    x, _, rank, _ = judged(a, b, device=device)
    other = expected(a, b)
    assert rank == 4
    assert np.abs(x - other[0]).max() <= 1e-3 * np.abs(other[0]).max()


def test_rcond_decides_the_rank(device):
    a, b = np.diag(np.float32([4, 1, 2.0**-10])), np.ones(3, np.float32)
    for rcond, rank in ((None, 3), (-1, 3), (0.0, 3), (2.0**-11, 2), (0.5, 1), (2.0, 0)):
        x, _, found, _ = glla.lstsq(a, b, rcond, device=device)
        assert found == rank
        assert (x[:rank] == (b / np.diagonal(a))[:rank]).all()
        assert not x[rank:].any()


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (1, 1)], ids=str)
def test_without_right_hand_sides_a_has_its_rank(shape, device, rng):
    """NumPy gives rank and singular values all the same."""
    a = rng.standard_normal(shape).astype(np.float32)
    a[:, -1] = a[:, 0]
    b = np.empty((shape[0], 0), dtype=np.float32)
    expected = np.linalg.lstsq(a.astype(float), b, rcond=max(shape) * 2.0**-23)
    for left, right in ((a, b), (glla.asarray(a, device), b), (a, glla.asarray(b, device))):
        x, residuals, rank, s = glla.lstsq(left, right)
        assert (x.shape, residuals.shape, rank) == (expected[0].shape, (0,), expected[2]) and rank > 0
        assert isinstance(x, glla.Array) == (left is not a or right is not b)
        np.testing.assert_allclose(np.asarray(s), expected[3], atol=1e-5)


def test_without_unknowns_all_of_b_is_left(device):
    a, b = np.zeros((4, 0), np.float32), np.float32([[3, 1], [4, 0], [0, 2], [0, 0]])
    for left, right in ((a, b), (glla.asarray(a, device), b), (a, glla.asarray(b, device))):
        x, residuals, rank, s = glla.lstsq(left, right)
        assert (x.shape, rank, s.shape) == ((0, 2), 0, (0,))
        assert (residuals.dtype, residuals.tolist()) == (np.float32, [25, 5])


def test_the_small_problem_in_float64():
    x, rank, s = kernel.least(np.diag([2.0, 0, 1]), np.array([[4.0], [1], [3]]), 1e-6)
    assert rank == 2
    assert (x[:, 0] == [2, 0, 3]).all()
    assert (s == [2, 1, 0]).all()


def test_graded_columns_have_the_rank_that_numpy_gives_them(device, rng):
    a = (rng.standard_normal((12, 5)) * np.ldexp(1.0, [60, 0, -60, 58, 1])).astype(np.float32)
    b = rng.standard_normal(12).astype(np.float32)
    x, _, rank, _ = judged(a, b, device=device)
    other = expected(a, b)
    assert rank == other[2] == 2
    assert np.abs(x - other[0]).max() <= 1e-4 * np.abs(other[0]).max()
