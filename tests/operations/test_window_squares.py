"""Squares of windows: exact integers by the definition, limits, NaN, any shape and window, the plans."""

import numpy as np
import pytest

from glla.errors import LimitError
from glla.operations import window_squares as kernel
from glla.operations.window_squares import VARIANTS
from glla.passes import resident

SHAPES = [(5, 5), (5, 9), (9, 5), (6, 6), (15, 15), (8, 13), (17, 6)]


def by_definition(a, w=5, limit=65535):
    """In integers of 64 bits, which hold 25 windows of 5 products of 32."""
    a = np.asarray(a).astype(np.int64)
    result = np.zeros(a.shape, dtype=np.int64)
    for top in range(a.shape[0] - w + 1):
        for left in range(a.shape[1] - w + 1):
            window = a[top : top + w, left : left + w]
            result[top : top + w, left : left + w] += window @ window
    return result if limit is None else np.clip(result, 0, limit)


def found(run, a, variant, w=5, limit=65535.0):
    plan = kernel.plan(resident(a.shape), variant=variant, w=w, limit=limit)
    plan.check()
    return run(plan, A=np.asarray(a, dtype=np.float32)).matrix("C", a.shape)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_integers_are_exact(run, rng, shape, variant):
    a = rng.integers(-60, 60, shape)
    assert (found(run, a, variant, limit=None) == by_definition(a, limit=None)).all()
    assert (found(run, a, variant, limit=1000.0) == by_definition(a, limit=1000)).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("w", [1, 2, 3, 6, 17])
def test_windows_of_any_size(run, rng, w, variant):
    for shape in ((w, w), (w + 1, w + 2), (2 * w + 3, w + 4)):
        a = rng.integers(0, 9, shape)
        assert (found(run, a, variant, w) == by_definition(a, w)).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_nan_and_infinity_reach_the_windows_that_hold_them_and_no_more(run, variant):
    a = np.ones((12, 13), dtype=np.float32)
    for limit in (None, 100.0):
        for bad in (np.nan, np.inf):
            a[4, 6] = bad
            c = found(run, a, variant, w=3, limit=limit)
            # Element (4, 6) is a factor in its row and in its column, for elements that share a window with it.
            reached = np.zeros(a.shape, dtype=bool)
            reached[4, 4:9] = reached[2:7, 6] = True
            wrong = np.isnan(c) if np.isnan(bad) else (np.isinf(c) if limit is None else c == limit)
            assert (wrong == reached).all()


def test_a_large_element_leaves_nothing_behind(run):
    """A sum that slid along by differences would keep its rounding error."""
    a = np.zeros((11, 20), dtype=np.float32)
    a[:, 3], a[:, 4], a[:, 12:] = 1e10, 0.1, 0.1
    assert (found(run, a[:, 8:], "separable", limit=None) == found(run, a, "separable", limit=None)[:, 8:]).all()


def test_windows_that_are_too_large_are_refused():
    with pytest.raises(LimitError, match="w must be at most 38 with variant 'gather', got 39"):
        kernel.plan(resident((99, 99)), variant="gather", w=39)
