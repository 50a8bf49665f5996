"""Blocks by NumPy's indices: taken out, put in, and what is refused."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import glla
from glla import testing
from glla.errors import DTypeError, IndexingError, NonFiniteError, ShapeError

some = settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
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


@some
@given(indexed())
def test_blocks_are_numpys(case):
    a, index, turned = case
    A = matrix(a, turned)
    result, expected = A[index], a[index]
    if np.ndim(expected) == 2:
        assert isinstance(result, glla.Matrix)
        result = result.numpy()
    else:
        assert isinstance(result, np.float32 if np.ndim(expected) == 0 else np.ndarray)
    np.testing.assert_array_equal(result, expected)
    assert np.shape(result) == np.shape(expected)
    testing.assert_exact(A.numpy(), a)


@some
@given(indexed(), st.sampled_from(["number", "array", "row", "column", "matrix", "transposed"]))
def test_assignments_are_numpys(case, kind):
    a, index, turned = case
    A = matrix(a, turned)
    before, copied = A.T, A.copy()
    shape = a[index].shape
    value = -1 - np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    if kind == "number" or value.ndim < 2:
        value = np.float32(-3) if kind == "number" else value
        given_value = value
    else:
        value = {"row": value[:1], "column": value[:, :1]}.get(kind, value)
        given_value = {"matrix": glla.asarray(value), "transposed": glla.asarray(value.T).T}.get(kind, value)
    expected = a.copy()
    try:
        expected[index] = value
    except ValueError:  # an empty row for a block that is not
        with pytest.raises(ShapeError):
            A[index] = given_value
        return
    A[index] = given_value
    testing.assert_exact(A.numpy(), expected)
    testing.assert_exact(before.numpy(), np.ascontiguousarray(a.T))
    testing.assert_exact(copied.numpy(), a)


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


def test_a_column_takes_a_vector_a_column_and_a_matrix(rng):
    a = testing.integers(4, 3, rng)
    for value in (np.arange(4.0), np.arange(4.0)[:, np.newaxis], glla.asarray(np.arange(4.0)[:, np.newaxis])):
        A = glla.asarray(a)
        A[:, 1] = value
        expected = a.copy()
        expected[:, 1] = np.arange(4)
        testing.assert_exact(A.numpy(), expected)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("index", [np.s_[1:4, 2:7], np.s_[::2, ::-1], np.s_[3:, :4], np.s_[2:3, 1:]], ids=str)
def test_a_block_takes_a_transpose(index, turned, rng):
    a = testing.integers(6, 7, rng)
    A, b = matrix(a, turned), testing.integers(*a[index].shape, rng)
    A[index] = glla.asarray(b.T).T
    a[index] = b
    testing.assert_exact(A.numpy(), a)


def test_in_place_on_a_block(rng):
    a = testing.integers(5, 5, rng)
    A = glla.asarray(a)
    A[1:4, ::2] *= 2
    a[1:4, ::2] *= 2
    testing.assert_exact(A.numpy(), a)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (None, "Matrix: an index must be an integer, a slice or ..., got NoneType; for others index A.numpy()"),
        ([0, 1], "Matrix: an index must be an integer, a slice or ..., got list; for others index A.numpy()"),
        (True, "Matrix: an index must be an integer, a slice or ..., got bool; for others index A.numpy()"),
        (np.True_, "Matrix: an index must be an integer, a slice or ..., got bool; for others index A.numpy()"),
        (1.0, "Matrix: an index must be an integer, a slice or ..., got float; for others index A.numpy()"),
        ("a", "Matrix: an index must be an integer, a slice or ..., got str; for others index A.numpy()"),
        (
            np.array([0, 1]),
            "Matrix: an index must be an integer, a slice or ..., got ndarray; for others index A.numpy()",
        ),
        (
            np.ones((3, 4), bool),
            "Matrix: an index must be an integer, a slice or ..., got ndarray; for others index A.numpy()",
        ),
        ((0, 0, 0), "Matrix: at most two indices, got 3"),
        ((..., ...), "Matrix: an index holds '...' once at most"),
        (3, "Matrix: row must be from -3 to 2, got 3"),
        ((0, -5), "Matrix: column must be from -4 to 3, got -5"),
    ],
)
def test_wrong_indices(index, message):
    A = glla.asarray(np.zeros((3, 4)))
    with pytest.raises(IndexingError) as caught:
        A[index]
    assert str(caught.value) == message
    assert isinstance(caught.value, IndexError)
    with pytest.raises(IndexingError):
        A[index] = 0


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (
            np.zeros((3, 2)),
            ShapeError,
            "Matrix: what is assigned must broadcast to the block (2, 2), got shape (3, 2)",
        ),
        ("text", DTypeError, "Matrix: what is assigned must be real numbers"),
        (np.nan, NonFiniteError, "Matrix: what is assigned must not hold NaN or infinity, got nan at ()"),
        (np.zeros((1, 2, 2)), ShapeError, "Matrix: what is assigned must have two dimensions at most"),
    ],
)
def test_wrong_values(value, error, message):
    A = glla.asarray(np.ones((3, 4)))
    with pytest.raises(error) as caught:
        A[1:, :2] = value
    assert str(caught.value).startswith(message)
    testing.assert_exact(A.numpy(), np.ones((3, 4)))


def test_iteration_gives_rows():
    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    rows = list(glla.asarray(a))
    assert all(type(row) is np.ndarray for row in rows)
    testing.assert_exact(np.stack(rows), a)
    (x, y), *_ = glla.asarray(a)
    assert (x, y) == (0, 1)
