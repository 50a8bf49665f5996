"""Operators that go element by element: NumPy's broadcasting and its results, on the device."""

import operator

import numpy as np
import pytest

import glla
from glla import testing

OPERATORS = [operator.add, operator.sub, operator.mul]  # exact for small integers
INPLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow, operator.imatmul]
every_operator = pytest.mark.parametrize("apply", OPERATORS)


@every_operator
def test_vectors_and_lists_are_rows(apply, rng):
    a, row = testing.integers(3, 5, rng), [1, -2, 3, 0, 4]
    A = glla.asarray(a)
    for vector in (row, np.array(row), np.array(row, ">i2")):
        testing.assert_exact(apply(A, vector).numpy(), apply(a, np.float32(row)))
        testing.assert_exact(apply(vector, A).numpy(), apply(np.float32(row), a))
    column = [[1], [2], [3]]
    testing.assert_exact(apply(A, column).numpy(), apply(a, np.float32(column)))


def test_division(rng):
    a, b = testing.normal(17, 13, rng), testing.normal(17, 13, rng)
    quotient = (glla.asarray(a) / b).numpy()
    wide = a.astype(np.float64) / b
    assert (np.abs(quotient - wide) <= 5 * testing.ROUNDOFF * np.abs(wide)).all()
    testing.assert_exact((12 / glla.asarray([[1, 2], [3, 4]])).numpy(), [[12, 6], [4, 3]])
    special = (glla.asarray([[1, -1, 0]]) / 0).numpy()
    np.testing.assert_array_equal(special, [[np.inf, -np.inf, np.nan]])


def test_powers():
    a = np.arange(-3, 4, dtype=np.float32)[np.newaxis]
    A = glla.asarray(a)
    for exponent in range(6):
        testing.assert_exact((A**exponent).numpy(), a**exponent)
    testing.assert_exact((2**A).numpy(), 2.0**a)
    testing.assert_exact((glla.asarray([[2, -2, 4]]) ** -2).numpy(), [[0.25, 0.25, 0.0625]])
    np.testing.assert_array_equal((A**0.5).numpy()[0, :3], [np.nan] * 3)
    roots = (glla.asarray([[2.0, 9.0]]) ** 0.5).numpy()
    assert (np.abs(roots - np.sqrt([[2.0, 9.0]])) <= 12 * testing.ROUNDOFF * roots).all()


def test_unary(rng):
    a = testing.normal(5, 3, rng)
    A = glla.asarray(a)
    testing.assert_exact((-A).numpy(), -a)
    testing.assert_exact((+A).numpy(), a)
    testing.assert_exact(abs(A).numpy(), np.abs(a))
    testing.assert_exact((-A.T).numpy(), np.ascontiguousarray(-a.T))


# Comparisons -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [None, "text", object(), [[1j]]])
def test_what_is_no_number_is_not_equal(other):
    matrix = glla.asarray([[1, 2]])
    assert (matrix == other) is False
    assert (matrix != other) is True


def test_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(glla.asarray([[1]]))


def test_truth():
    assert glla.asarray([[2]])
    assert not glla.asarray([[0]])
    for shape in ((1, 2), (0, 1)):
        with pytest.raises(ValueError) as caught:
            bool(glla.asarray(np.ones(shape)))
        assert str(caught.value) == (
            "Array: the truth of more or less than one element is ambiguous; use any() or all()"
        )


def test_contains():
    A = glla.asarray([[1, 2], [3, 4]])
    assert 3 in A
    assert 5 not in A
    assert "text" not in A


# In place ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("apply", INPLACE)
def test_in_place_changes_this_matrix_only(apply, rng):
    a, b = testing.integers(4, 4, rng), rng.integers(1, 2, (4, 4)).astype(np.float32)
    A, B = glla.asarray(a), glla.asarray(b)
    name, copied, turned, block = A, A.copy(), A.T, A[1:3]
    expected = {operator.imatmul: operator.matmul}.get(apply, apply)(a.copy(), b)
    A = apply(A, B)
    assert A is name
    testing.assert_exact(A.numpy(), expected)
    for kept, value in ((copied, a), (turned, a.T), (block, a[1:3]), (B, b)):
        testing.assert_exact(kept.numpy(), np.ascontiguousarray(value))


def test_in_place_beside_itself(rng):
    a = testing.integers(3, 3, rng)
    A = glla.asarray(a)
    A += A
    A *= A.T
    testing.assert_exact(A.numpy(), 2 * a * (2 * a).T)
    A -= 1
    testing.assert_exact(A.numpy(), 2 * a * (2 * a).T - 1)


# Refused -----------------------------------------------------------------------------------------------------------


def test_one_pass_and_no_synchronising(device, rng, monkeypatch):
    A, B = glla.asarray(testing.normal(9, 7, rng)), glla.asarray(testing.normal(7, 9, rng))
    monkeypatch.setattr(glla.Device, "read", lambda *_: pytest.fail("read back"))
    before = device.stats().passes
    C = A + B.T
    D = C * C
    E = D[1:, 1:]
    assert device.stats().passes == before + 3
    assert E.shape == (8, 6)
    E.sum(keepdims=True)
