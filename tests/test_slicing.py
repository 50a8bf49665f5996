"""Blocks by NumPy's indices: taken out, put in, and what is refused."""

import numpy as np
import pytest
from hypothesis import strategies as st

import glla
from glla import testing
from glla.errors import DTypeError, IndexingError, ShapeError

ENDS = st.none() | st.integers(-9, 9)
SLICES = st.builds(slice, ENDS, ENDS, st.none() | st.integers(-4, 4).filter(bool))


@st.composite
def indexed(draw):
    """An integer matrix and an index of it; integers in range."""
    shape = draw(st.integers(0, 8)), draw(st.integers(0, 8))
    parts = [draw(SLICES | st.integers(-count, count - 1)) if count else draw(SLICES) for count in shape]
    index = draw(
        st.sampled_from([tuple(parts), parts[0], (parts[0],), (..., parts[1]), (parts[0], ...), (*parts, ...), ...])
    )
    a = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape)
    return a, index, draw(st.booleans())


def matrix(a, turned):
    return glla.asarray(a.T).T if turned else glla.asarray(a)


@pytest.mark.parametrize("offset", [(0, 0), (1, 0), (0, 1), (1, 1), (3, 2)])
def test_blocks_of_a_large_matrix(offset, rng):
    a = testing.normal(67, 131, rng)
    A, (top, left) = glla.asarray(a), offset
    testing.assert_exact(A[top : top + 40, left : left + 65].numpy(), a[top : top + 40, left : left + 65])
    A[top : top + 2, left:] = A[top + 1 : top + 3, left:]
    expected = a.copy()
    expected[top : top + 2, left:] = a[top + 1 : top + 3, left:]
    testing.assert_exact(A.numpy(), expected)


def test_the_whole_matrix_costs_no_pass(device, rng):
    A = glla.asarray(testing.normal(5, 4, rng))
    before = device.stats().passes
    B, C = A[:], A[..., :]
    assert device.stats().passes == before
    B[0] = 0
    assert A.numpy()[0].any() and C.numpy()[0].any()


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (1.0, "Array: an index must be an integer, a slice, ..., None, or an array of integers or bool, got float"),
        ("a", "Array: an index must be an integer, a slice, ..., None, or an array of integers or bool, got str"),
        (slice(0.5), "Array: an index must be an integer, a slice, ..., None, or an array of integers or bool, got fl"),
        ([0.5, 1.0], "Array: an index must hold integers or bool, got float64"),
        (["a"], "Array: an index must hold integers or bool, got <U1"),
        (np.ones((3, 3), bool), "Array: boolean index did not match indexed array along axis 1"),
        (np.ones((3, 4, 1), bool), "Array: too many indices for array"),
        ([0, 3], "Array: index 3 is out of bounds for axis 0 with size 3"),
        (([0, 1], [0, 1, 2]), "Array: shape mismatch: indexing arrays could not be broadcast together"),
        ((0, 0, 0), "Array: "),
        ((..., ...), "Array: "),
        (3, "Array: "),
        ((0, -5), "Array: "),
    ],
)
def test_wrong_indices(index, message):
    A = glla.asarray(np.zeros((3, 4)))
    with pytest.raises(IndexingError) as caught:
        A[index]
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, IndexError)
    with pytest.raises(IndexingError):
        A[index] = 0


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (
            np.zeros((3, 2)),
            ShapeError,
            "Array: what is assigned must broadcast to the block (2, 2), got shape (3, 2)",
        ),
        ("text", DTypeError, "Array: what is assigned must be real numbers"),
        (
            np.zeros((2, 2, 2)),
            ShapeError,
            "Array: what is assigned must broadcast to the block (2, 2), got shape (2, 2",
        ),
    ],
)
def test_wrong_values(value, error, message):
    A = glla.asarray(np.ones((3, 4)))
    with pytest.raises(error) as caught:
        A[1:, :2] = value
    assert str(caught.value).startswith(message)
    testing.assert_exact(A.numpy(), np.ones((3, 4)))


@pytest.mark.parametrize("value", [np.nan, [np.inf, -np.inf], np.zeros((1, 2, 2)), np.zeros((1, 1, 1, 1)), True])
def test_values_that_numpy_takes(value):
    A, a = glla.asarray(np.ones((3, 4))), np.ones((3, 4), np.float32)
    with np.errstate(over="ignore"):
        A[1:, :2], a[1:, :2] = value, np.asarray(value, dtype=np.float64).astype(np.float32)
    np.testing.assert_array_equal(A.numpy(), a)


def test_iteration_gives_rows():
    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    rows = list(glla.asarray(a))
    assert all(type(row) is np.ndarray for row in rows)
    testing.assert_exact(np.stack(rows), a)
    (x, y), *_ = glla.asarray(a)
    assert (x, y) == (0, 1)


def test_iteration_over_a_stack_gives_what_stays(device):
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    A, B = glla.asarray(a, device)
    assert type(A) is type(B) is glla.Array
    testing.assert_exact(np.stack([A.numpy(), B.numpy()]), a)
    before = device.stats().passes
    assert [one.shape for one in glla.asarray(a[np.newaxis], device)] == [(2, 3, 4)]
    assert list(glla.asarray(a[:0], device)) == [] and device.stats().passes - before < 3
