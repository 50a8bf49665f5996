"""Reductions: of everything, of rows and of columns, in one level, two and three."""

import numpy as np
import pytest

from glla.operations.reduce import FOLDS, depth, fold, max_magnitude, reduced_shape
from glla.testing import SHAPES, assert_exact, integers, normal

WHOLE = [shape for shape in SHAPES if 0 not in shape]
LEVELS = [((1, 1), 1), ((32, 32), 1), ((33, 2), 2), ((2, 33), 2), ((512, 3), 2), ((513, 3), 3), ((3, 1031), 3)]


def largest(run, a):
    """The result; the other three channels must be zero, they are reduced further."""
    texel = run(max_magnitude(a.shape), A=a)["max"][0, 0]
    assert texel[1:].tolist() == [0, 0, 0]
    return texel[0]


@pytest.mark.parametrize("shape", WHOLE, ids=str)
def test_every_shape(run, rng, shape):
    a = normal(*shape, rng)
    assert largest(run, a) == np.abs(a).max()


@pytest.mark.parametrize("shape", [shape for shape, _ in LEVELS], ids=str)
@pytest.mark.parametrize("bad", [7.0, -7.0, np.inf, -np.inf, np.nan])
def test_each_corner_counts(run, shape, bad):
    for i, j in {(0, 0), (0, -1), (-1, 0), (-1, -1)}:
        a = np.ones(shape, dtype=np.float32)
        a[i, j] = bad
        np.testing.assert_equal(largest(run, a), np.float32(abs(bad)))


def test_nan_beats_infinity(run):
    a = np.full((40, 40), np.inf, dtype=np.float32)
    a[17, 3] = np.nan
    assert np.isnan(largest(run, a))


MODELS = {
    "sum": np.sum,
    "max": np.max,
    "min": np.min,
    "sum_magnitudes": lambda a, **options: np.sum(np.abs(a), **options),
    "max_magnitude": lambda a, **options: np.max(np.abs(a), **options),
    "min_magnitude": lambda a, **options: np.min(np.abs(a), **options),
}
every_axis = pytest.mark.parametrize("axis", [None, 0, 1])
SMALLER = [(1, 1), (1, 4), (3, 2), (17, 16)]
LARGER = [(33, 2), (2, 33), (513, 3), (3, 1031), (65, 70)]


def folded(run, a, operation, axis, **beside):
    return run(fold(a.shape, operation, axis), A=a, **beside).matrix("total", reduced_shape(a.shape, axis))


def test_every_fold_has_a_model():
    assert MODELS.keys() | {"sum_squares"} == FOLDS.keys()


@every_axis
@pytest.mark.parametrize("operation", MODELS)
def test_folds_are_exact_for_integers(run, rng, operation, axis):
    for shape in (*SMALLER, *LARGER):
        a = integers(*shape, rng)
        assert_exact(folded(run, a, operation, axis), MODELS[operation](a.astype(np.float64), axis=axis, keepdims=True))
        for shifted in (a + 20, a - 20):  # all of one sign: a zero of the padding would show
            expected = MODELS[operation](shifted.astype(np.float64), axis=axis, keepdims=True)
            assert_exact(folded(run, shifted, operation, axis), expected)


@every_axis
@pytest.mark.parametrize("operation", MODELS)
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_nan_and_infinity_reach_their_line_only(run, operation, axis, bad):
    a = np.ones((35, 37), dtype=np.float32)
    a[34, 36] = a[3, 2] = bad
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(folded(run, a, operation, axis), MODELS[operation](a, axis=axis, keepdims=True))


def test_depth_counts_levels():
    assert depth((1, 1)) == 4
    assert depth((32, 32)) == 34
    assert depth((33, 32), 0) == 1 + 16 + 2
    assert depth((16384, 16384)) <= 2 + 4 * 32
