"""Wrapped arrays sorted, searched, summed up as they go, and multiplied, against NumPy."""

import numpy as np
import pytest

from glla.errors import PlanError
from glla.operations.linear.order import argsort, searchsorted, sort
from glla.operations.linear.product import SLICE, product
from glla.operations.linear.scan import cumulative
from glla.operations.linear.view import View
from glla.testing import ROUNDOFF

SIZE = 8
LARGE = 64


def stable(a, axis, descending):
    """Places of a stable sort by NumPy, NaN last either way."""
    key = np.where(np.isnan(a), np.inf, -a.astype(float)) if descending else a.astype(float)
    if descending:
        key = np.where(np.isnan(a), np.nan, key)
    return np.argsort(key, axis=axis, kind="stable")


@pytest.mark.parametrize(
    ("dtype", "descending"),
    [
        ("float32", True),
        ("int32", False),
        pytest.param("float32", False, marks=pytest.mark.sweep),
        pytest.param("int32", True, marks=pytest.mark.sweep),
    ],
)
def test_sorts(run, view, rng, dtype, descending):
    for length in [1, 2, 3, 5, 8, 17, 100, 1025]:
        a = rng.integers(-40, 40, (2, length)).astype(dtype)
        if dtype == "float32":
            a[0, length // 2] = np.nan
            a[1, length // 3] = -np.inf
        places = stable(a, 1, descending)
        got = run(argsort(view(a), 1, descending, LARGE), a.shape, "int32", A=a)
        np.testing.assert_array_equal(got, places)
        got = run(sort(view(a), 1, descending, LARGE), a.shape, dtype, A=a)
        np.testing.assert_array_equal(got, np.take_along_axis(a, places, 1))


@pytest.mark.parametrize("dtype", ["float32", pytest.param("int32", marks=pytest.mark.sweep)])
def test_searches(run, view, rng, dtype):
    needles = np.array([[-1, 0, 3], [5, 7, 100]], dtype)
    if dtype == "float32":
        needles[0, 0] = np.nan
    for length in (0, 1, 2, 7, 200):
        haystack = np.sort(rng.integers(0, 9, length)).astype(dtype)
        if dtype == "float32" and length > 2:
            haystack[-1] = np.nan
        for right in (False, True):
            plan = searchsorted(view(haystack), view(needles), right, LARGE)
            got = run(plan, needles.shape, "int32", H=haystack, A=needles)
            np.testing.assert_array_equal(got, np.searchsorted(haystack, needles, "right" if right else "left"))
    with pytest.raises(PlanError, match=r"^searchsorted: the sorted array has one dimension and the dtype of what is"):
        searchsorted(View.of((2, 2)), View.of((2,)), False, SIZE)


def test_runs(run, view, rng):
    a = rng.integers(-9, 9, (3, 7, 5)).astype(np.int32)
    for one in (a, a[::-1, ::2], a.transpose(1, 2, 0)):
        for axis in (0, 1, 2):
            got = run(cumulative(view(one), "cumulative_sum", axis, LARGE), one.shape, "int32", A=one)
            np.testing.assert_array_equal(got, np.cumsum(one, axis))
        longer = (one.shape[0], one.shape[1] + 1, one.shape[2])
        got = run(cumulative(view(one), "cumulative_prod", 1, LARGE, True), longer, "int32", A=one)
        ones = np.ones((one.shape[0], 1, one.shape[2]), np.int32)
        np.testing.assert_array_equal(got, np.concatenate([ones, np.cumprod(one, 1, dtype=np.int32)], 1))
    for length in (1, 2, 3, 64, 1025):
        b = rng.normal(size=length).astype(np.float32)
        got = run(cumulative(view(b), "cumulative_sum", 0, LARGE), b.shape, "float32", A=b)
        bound = (length.bit_length() + 1) * ROUNDOFF * np.cumsum(np.abs(b.astype(float)))
        assert (np.abs(got - np.cumsum(b.astype(float))) <= bound).all()


def test_products(run, view, rng):
    for left, right in [
        ((3, 4), (4, 5)),
        ((1, 1), (1, 1)),
        ((2, 3, 4), (4, 2)),
        ((2, 1, 3, 4), (5, 4, 3)),
        ((2, 0), (0, 3)),
    ]:
        a, b = rng.integers(-9, 9, left).astype(np.int32), rng.integers(-(2**30), 2**30, right).astype(np.int32)
        got = run(product(view(a), view(b), LARGE), (a @ b).shape, "int32", A=a, B=b)
        np.testing.assert_array_equal(got, a @ b)
    c = a = rng.integers(-9, 9, (3, 4, 5)).astype(np.int32)
    c = c.transpose(0, 2, 1)[:, ::-1]
    np.testing.assert_array_equal(run(product(view(c), view(a), LARGE), (3, 5, 5), "int32", A=c, B=a), c @ a)
    inner = 2 * SLICE + 5
    a, b = rng.normal(size=(2, inner)).astype(np.float32), rng.normal(size=(inner, 3)).astype(np.float32)
    got = run(product(view(a), view(b), 256), (2, 3), "float32", A=a, B=b)
    wide = a.astype(float), b.astype(float)
    assert (np.abs(got - wide[0] @ wide[1]) <= (SLICE + 3) * ROUNDOFF * (np.abs(wide[0]) @ np.abs(wide[1]))).all()
    with pytest.raises(PlanError, match=r"^product: inner dimensions must agree, got A \(2, 3\) and B \(2, 3\)$"):
        product(View.of((2, 3)), View.of((2, 3)), SIZE)
