"""Sums, extremes, norms and traces: NumPy's results within stated bounds."""

import re
from itertools import product

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import OptionError, ShapeError
from glla.operations.reduce import depth

AXES = [None, 0, 1, -1, -2, (0, 1), (1,)]
every_axis = pytest.mark.parametrize("axis", AXES, ids=str)
SHAPES = [(1, 1), (1, 4), (5, 2), (33, 31), (131, 3)]
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def both(a):
    """A matrix and the transpose of its transpose: in the texture as it is, and the other way round."""
    return glla.asarray(a), glla.asarray(a.T).T


def test_numbers_stay_on_the_device(device, monkeypatch):
    A = glla.asarray([[1, 2], [3, 4]])
    monkeypatch.setattr(glla.Device, "read", lambda *_: pytest.fail("read back"))
    found = [A.sum(), A.max(), A.min(), A.mean(), A.norm(), A.trace(), A[0, 1]]
    monkeypatch.undo()
    assert [float(value) for value in found] == pytest.approx([10, 4, 1, 2.5, np.sqrt(30), 5, 2], rel=1e-6)
    for value in found:
        assert (type(value), value.shape, value.dtype) == (glla.Array, (), np.float32)


@every_axis
@pytest.mark.parametrize("name", ["normal", "graded", "uniform"])
def test_sum_and_mean_keep_their_bound(name, axis, rng):
    a = testing.MATRICES[name](65, 37, rng)
    wide, over = a.astype(np.float64), {(0, 1): None, (1,): 1, -1: 1, -2: 0}.get(axis, axis)
    bound = (depth(a.shape, over) + 2) * testing.ROUNDOFF
    for A in both(a):
        assert (np.abs(A.sum(axis).numpy() - wide.sum(axis)) <= bound * np.abs(wide).sum(axis)).all()
        assert (np.abs(A.mean(axis).numpy() - wide.mean(axis)) <= bound * np.abs(wide).mean(axis)).all()
        assert (np.abs(A.mean(axis, keepdims=True).numpy().reshape(-1) - wide.mean(axis).reshape(-1)) <= 1e-3).all()


@pytest.mark.parametrize("order", [None, "fro", 1, -1, np.inf, -np.inf])
@every_shape
def test_matrix_norms(order, shape, rng):
    a = testing.normal(*shape, rng)
    expected = np.linalg.norm(a.astype(np.float64), order)
    for A in both(a):
        assert abs(A.norm(order).item() - expected) <= (depth(shape) + 3) * testing.ROUNDOFF * expected
        kept = A.norm(order, keepdims=True)
        assert isinstance(kept, glla.Array) and kept.shape == (1, 1)


@every_shape
def test_vector_norms(shape, rng):
    for order, axis in product((None, 2, 1, np.inf, -np.inf), (None, 0, 1, -1)):
        a = testing.normal(*shape, rng)
        vectors = a.astype(np.float64).reshape(-1) if axis is None else a.astype(np.float64)
        expected = np.linalg.norm(vectors, order, None if axis is None else axis)
        for A in both(a):
            result = A.vector_norm(order, axis).numpy()
            assert np.shape(result) == np.shape(expected)
            assert (np.abs(result - expected) <= (depth(shape) + 3) * testing.ROUNDOFF * expected).all()
            if axis is not None:
                np.testing.assert_array_equal(A.norm(order, axis).numpy(), result)
                assert A.norm(order, axis, keepdims=True).shape == ((1, shape[1]) if axis == 0 else (shape[0], 1))


@pytest.mark.parametrize("scale", [1e-37, 1e-20, 1.0, 1e20, 1e37])
def test_norms_do_not_overflow(scale):
    a = np.array([[3, 0, 0], [0, 4, 0]], dtype=np.float32) * np.float32(scale)
    A = glla.asarray(a)
    expected = np.linalg.norm(a.astype(np.float64))
    assert abs(A.norm().item() - expected) <= 4 * testing.ROUNDOFF * expected
    np.testing.assert_array_equal(A.norm(axis=0).numpy(), np.abs(a).max(axis=0))
    assert glla.asarray(np.full((9, 9), 3e38)).norm().item() == np.inf


def test_norm_of_nan_and_infinity():
    assert np.isnan(glla.asarray([[np.nan, np.inf]], check_finite=False).norm().item())
    A = glla.asarray([[1, -np.inf], [1, 2]], check_finite=False)
    assert A.norm().item() == np.inf
    np.testing.assert_allclose(A.norm(axis=1).numpy(), [np.inf, np.sqrt(5)], rtol=1e-6)
    assert glla.asarray(np.zeros((3, 3))).norm() == 0


def test_norms_and_extremes_of_empty_matrices_are_numpys():
    for shape in ((0, 0), (0, 3), (3, 0)):
        a = np.zeros(shape, np.float32)
        assert glla.asarray(a).norm().item() == glla.asarray(a).trace().item() == 0
        for axis in (None, 0, 1):
            np.testing.assert_array_equal(glla.asarray(a).vector_norm(2, axis).numpy(), a.sum(axis))
        for name, axis in product(("max", "min"), (None, 0, 1)):
            if a.sum(axis).size == 0:
                assert getattr(glla.asarray(a), name)(axis).shape == a.sum(axis).shape
                continue
            with pytest.raises(ShapeError, match=rf"^{name}: .* without elements has no extremes, got shape"):
                getattr(glla.asarray(a), name)(axis)
        for order in (1, -1, np.inf, -np.inf):
            try:
                expected = np.linalg.norm(a, order)
            except ValueError:
                with pytest.raises(ShapeError, match=r"^min: a line without elements has no extremes, got"):
                    glla.asarray(a).norm(order)
            else:
                assert glla.asarray(a).norm(order) == expected


@pytest.mark.parametrize(
    ("axis", "standard"),
    [
        (2, np.exceptions.AxisError),
        (-3, IndexError),
        ((0, 2), np.exceptions.AxisError),
        ("rows", TypeError),
        (1.0, TypeError),
        ((0, 0), ValueError),
        (True, TypeError),
    ],
)
def test_wrong_axis(axis, standard):
    A = glla.asarray(np.eye(2))
    with pytest.raises(standard) as caught:
        A.sum(axis)
    assert isinstance(caught.value, OptionError)
    words = r"axis must be from -2 to 1|axis must be an integer|axes must differ"
    assert re.match(f"sum: ({words}), got ", str(caught.value))
    for use in (A.max, A.min, A.mean, A.var, A.any, A.argmax, A.cumsum, lambda axis: A.norm(axis=axis)):
        with pytest.raises(OptionError, match=words):
            use(axis)
