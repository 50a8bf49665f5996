"""Reductions of wrapped arrays over any axes, against NumPy."""

import numpy as np
import pytest

from glla.errors import PlanError
from glla.operations.linear.fold import CHUNK, FOLDS, depth, fold, place, reduced_shape, result_dtype
from glla.operations.linear.view import View
from glla.testing import ROUNDOFF

SIZE = 8
LARGE = 64
MODELS = {
    "sum": np.sum,
    "prod": np.prod,
    "max": lambda a, axis: np.max(a, axis=axis, initial=-np.inf if a.dtype.kind == "f" else -(2**31)),
    "min": lambda a, axis: np.min(a, axis=axis, initial=np.inf if a.dtype.kind == "f" else 2**31 - 1),
    "sum_magnitudes": lambda a, axis: np.sum(np.abs(a), axis=axis),
    "max_magnitude": lambda a, axis: np.max(np.abs(a), axis=axis, initial=0),
    "min_magnitude": lambda a, axis: np.min(np.abs(a), axis=axis),
    "all": np.all,
    "any": np.any,
    "count_nonzero": np.count_nonzero,
}


def folded(run, view, a, operation, axes, size=LARGE, **beside):
    plan = fold(view(a), operation, axes, size)
    return run(plan, reduced_shape(a.shape, axes), result_dtype(operation, a.dtype.name), A=a, **beside)


def wide(a):
    return a.astype(np.float64 if a.dtype == np.float32 else np.int64)


def check(got, a, operation, axes):
    with np.errstate(over="ignore"):
        expected = MODELS[operation](wide(a), axis=axes)
    if a.dtype == np.float32 and operation in ("sum", "sum_magnitudes"):
        length = max(1, a.size // max(1, got.size))
        bound = depth(length) * ROUNDOFF * np.sum(np.abs(wide(a)), axis=axes)
        assert (np.abs(got - expected) <= bound).all()
    elif a.dtype == np.float32 and operation == "prod":
        np.testing.assert_allclose(got, expected, rtol=a.size * ROUNDOFF)
    else:
        np.testing.assert_array_equal(got, np.asarray(expected).astype(got.dtype))


def test_every_fold_has_a_model():
    assert MODELS.keys() | {"sum_squares"} == FOLDS.keys()


@pytest.mark.parametrize("dtype", ["float32", pytest.param("int32", marks=pytest.mark.sweep)])
def test_every_length(run, view, rng, dtype):
    for length in [1, 2, 3, 4, 5, 17, CHUNK - 1, CHUNK, CHUNK + 1, CHUNK**2, CHUNK**2 + 1, 3001, 9001]:
        a = (rng.normal(size=length) * 100).astype(dtype)
        check(folded(run, view, a, "sum", (0,)), a, "sum", (0,))
        b = (rng.normal(size=(length, 3)) * 100).astype(dtype)
        check(folded(run, view, b, "sum", (0,), 256), b, "sum", (0,))


FEW = ("max", "any")


@pytest.mark.parametrize(
    "operation",
    [pytest.param(name, marks=() if name in FEW else pytest.mark.sweep) for name in FOLDS if name != "sum_squares"],
)
def test_every_fold(run, view, rng, operation):
    for dtype in ("float32", "int32"):
        a = (rng.normal(size=(5, 300)) * 3).astype(dtype)
        a[0] = 1
        a[1, 7] = 0
        if operation == "prod":
            a = np.where(np.abs(a) < 1, 1, np.sign(a)).astype(dtype)
        check(folded(run, view, a, operation, (1,)), a, operation, (1,))
    if operation in ("all", "any", "count_nonzero", "max", "min", "sum"):
        truths = np.array([[True, True], [True, False], [False, False]])
        np.testing.assert_array_equal(
            folded(run, view, truths, operation, (1,)), MODELS[operation](wide(truths), axis=1)
        )


def test_sums_of_integers_wrap(run, view, rng):
    a = rng.integers(-(2**31), 2**31, (3, 700)).astype(np.int32)
    np.testing.assert_array_equal(folded(run, view, a, "sum", (1,)), a.sum(axis=1, dtype=np.int32))
    np.testing.assert_array_equal(folded(run, view, a | 1, "prod", (1,)), (a | 1).prod(axis=1, dtype=np.int32))


def test_nan_beats_every_number(run, view):
    a = np.zeros((2, 200), np.float32)
    a[0, 150] = np.nan
    a[1, 3] = np.inf
    for operation in ("sum", "max"):
        assert np.isnan(folded(run, view, a, operation, (1,))[0])
    assert folded(run, view, a, "any", (1,)).all()
    assert folded(run, view, a, "count_nonzero", (1,)).tolist() == [1, 1]


def test_empty_lines(run, view):
    a = np.zeros((3, 0), np.float32)
    for operation in ("sum", "max", "all"):
        np.testing.assert_array_equal(folded(run, view, a, operation, (1,), SIZE), MODELS[operation](a, axis=1))
    assert folded(run, view, a, "sum", (0,), SIZE).shape == (0,)
    with pytest.raises(
        PlanError, match=r"^argmax: a line has at least one element, got shape \(3, 0\) and axes \(1,\)$"
    ):
        place(view(a), "argmax", (1,), SIZE)


def test_scaled_squares_do_not_overflow(run, view):
    a = np.array([[3e30, 4e30, 0], [3e-30, 0, 4e-30], [0, 0, 0]], np.float32)
    largest = folded(run, view, a, "max_magnitude", (1,), SIZE)
    squares = folded(run, view, a, "sum_squares", (1,), SIZE, S=largest)
    scale = np.where(largest > 0, 2.0 ** np.floor(np.log2(np.where(largest > 0, largest, 1).astype(float))), 1)
    np.testing.assert_allclose(np.sqrt(squares) * scale, [5e30, 5e-30, 0], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("int32", marks=pytest.mark.sweep)])
def test_places(run, view, rng, dtype):
    a = rng.integers(-50, 50, (4, 3, 500)).astype(dtype)
    if dtype == "float32":
        a[1, 1, [300, 400]] = np.nan
    for operation in ("argmax", "argmin"):
        function = getattr(np, operation)
        for axis in (0, 2):
            got = run(place(view(a), operation, (axis,), LARGE), reduced_shape(a.shape, (axis,)), "int32", A=a)
            np.testing.assert_array_equal(got, function(a, axis=axis))
        got = run(place(view(a), operation, (0, 1, 2), LARGE), (), "int32", A=a)
        assert got == function(a)


@pytest.mark.sweep
def test_a_hundred_million(device, rng):
    a = rng.random(10**8, dtype=np.float32)
    side = device.limits.texture_size
    view = View.of(a.shape)
    storage = view.storage(side)
    laid = np.zeros(storage.height * storage.width * 4, np.float32)
    laid[: a.size] = a
    texture = device.write_texels(laid.reshape(storage.height, storage.width, 4))
    got = device.read(device.run(fold(view, "sum", (0,), side), A=texture)["total"])[0, 0, 0]
    exact = a.sum(dtype=np.float64)
    assert abs(got - exact) <= depth(a.size) * ROUNDOFF * exact


def test_axes_are_reduced_once():
    with pytest.raises(PlanError, match=r"^sum: each axis is reduced once, got \(1, -1\)$"):
        fold(View.of((2, 3)), "sum", (1, -1), SIZE)
