"""Functions that follow from singular values: pinv, matrix_rank, cond, norms, polar, orth, null_space."""

from functools import wraps
from math import inf

import numpy as np
import pytest
import scipy.linalg

import glla
from glla import array_api
from glla.errors import NonFiniteError
from tests.spectral.measures import U

every_place = pytest.mark.parametrize("place", [np.asarray, glla.asarray], ids=["host", "device"])
SHAPES = [(1, 1), (5, 5), (7, 3), (3, 7), (2, 4, 3), (2, 3, 3, 5)]


def of_rank(rank, shape, rng):
    left, right = (np.linalg.qr(rng.standard_normal((side, side)))[0][:, :rank] for side in shape)
    return ((left * np.linspace(1, 3, rank)) @ right.T).astype(np.float32)


@every_place
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_as_numpy_has_them(shape, place, rng):
    a = rng.standard_normal(shape).astype(np.float32)
    A, wide = place(a), a.astype(np.float64)
    kind = glla.Array if place is glla.asarray else np.ndarray
    x, expected = glla.pinv(A), np.linalg.pinv(wide)
    size = np.linalg.norm(expected, axis=(-2, -1), keepdims=True)
    assert isinstance(x, kind)
    assert (np.abs(x - expected) < 60 * max(shape[-2:]) * U * np.linalg.norm(wide) * size**2).all()
    rank, condition = glla.matrix_rank(A), glla.cond(A)
    assert (np.asarray(rank) == min(shape[-2:])).all()
    assert np.asarray(condition) == pytest.approx(np.linalg.cond(wide), rel=1e-4)
    assert np.asarray(glla.cond(A, -2)) == pytest.approx(np.linalg.cond(wide, -2), rel=1e-4)
    assert rank.dtype == np.int64 and condition.dtype == np.float32
    assert rank.shape == condition.shape == shape[:-2]
    assert isinstance(condition, np.float32 if kind is np.ndarray and len(shape) == 2 else kind)


@every_place
@pytest.mark.parametrize(("rank", "shape"), [(0, (4, 3)), (1, (4, 4)), (3, (6, 9)), (5, (20, 7)), (7, (20, 7))])
def test_matrices_without_full_rank(rank, shape, place, rng):
    a = of_rank(rank, shape, rng)
    A = place(a)
    assert int(glla.matrix_rank(A)) == rank
    expected = np.linalg.pinv(a.astype(np.float64), 1e-4)
    assert np.abs(np.asarray(glla.pinv(A)) - expected).max() < 1e-5
    basis, null = (np.asarray(one).astype(np.float64) for one in (glla.orth(A), glla.null_space(A)))
    assert basis.shape == (shape[0], rank) and null.shape == (shape[1], shape[1] - rank)
    for one in (basis, null):
        assert np.abs(one.T @ one - np.eye(one.shape[1])).max(initial=0) < 30 * max(shape) * U
    assert np.abs(a - basis @ (basis.T @ a)).max() < 1e-5 and np.abs(a @ null).max(initial=0) < 1e-5


@every_place
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("side", ["right", "left"])
def test_polar(side, shape, place, rng):
    a = rng.standard_normal(shape).astype(np.float32)
    u, p = (np.asarray(one) for one in glla.polar(place(a), side))
    assert np.abs((u @ p if side == "right" else p @ u) - a).max() < 1e-5
    if len(shape) == 2:
        expected = scipy.linalg.polar(a.astype(np.float64), side)
        assert np.abs(u - expected[0]).max() < 1e-3 and np.abs(p - expected[1]).max() < 1e-4


def test_tolerances(rng):
    a = np.diag([4, 2, 1e-3]).astype(np.float32)
    stack = np.stack([a, 2 * a])
    assert glla.matrix_rank(a, 1.5) == glla.matrix_rank(a, rtol=0.1) == 2
    assert list(glla.matrix_rank(stack, [3.0, 3.0])) == [1, 2] and list(glla.matrix_rank(stack, rtol=[1e-5, 0.7])) == [
        3,
        1,
    ]
    assert glla.pinv(a, 0.1)[2, 2] == 0 == glla.pinv(a, rtol=0.6)[1, 1] and glla.pinv(a)[2, 2] == pytest.approx(1e3)
    assert glla.orth(a, 0.1).shape == (3, 2) and glla.null_space(a, 0.6).shape == (3, 2)
    lower = np.tril(rng.standard_normal((4, 4))).astype(np.float32)
    whole = lower + np.tril(lower, -1).T
    assert np.abs(glla.pinv(lower, hermitian=True) - np.linalg.pinv(whole)).max() < 1e-3
    assert glla.matrix_rank(np.tril(np.ones((3, 3))), hermitian=True) == 1


@every_place
def test_nothing_and_vectors(place):
    for shape in ((0, 0), (3, 0), (0, 3), (2, 0, 3)):
        a = place(np.zeros(shape, np.float32))
        assert np.asarray(glla.pinv(a)).shape == (*shape[:-2], shape[-1], shape[-2])
        assert (np.asarray(glla.matrix_rank(a)) == 0).all()
        with pytest.raises(np.linalg.LinAlgError, match="not defined on empty arrays"):
            glla.cond(a)
    for vector, rank in (([0, 0], 0), ([0, 2], 1)):
        assert int(glla.matrix_rank(place(np.float32(vector)))) == rank
    assert glla.null_space(place(np.zeros((0, 3), np.float32))).shape == (3, 3)
    assert np.asarray(glla.cond(place(np.zeros((2, 2), np.float32)))) == np.inf


def test_norms(rng):
    a = rng.standard_normal((2, 3, 5, 4)).astype(np.float32)
    A = glla.asarray(a)
    for order in (2, -2, "nuc"):
        for axes in ((-2, -1), (0, 2), (3, 1)):
            for keepdims in (False, True):
                found, expected = (np.linalg.norm(one, order, axes, keepdims) for one in (A, a))
                assert found.shape == expected.shape and np.abs(found.numpy() - expected).max() < 1e-5
        assert float(np.linalg.norm(A[0, 0], order)) == pytest.approx(np.linalg.norm(a[0, 0], order), rel=1e-5)
        for function in (np.linalg.matrix_norm, array_api.linalg.matrix_norm):
            assert np.abs(function(A, ord=order).numpy() - np.linalg.matrix_norm(a, ord=order)).max() < 1e-5
    assert float(np.linalg.norm(A[0, 0, 0], 2)) == pytest.approx(np.linalg.norm(a[0, 0, 0]))


def test_cond_in_other_norms(rng):
    a = rng.standard_normal((3, 4, 4)).astype(np.float32)
    for p in (1, -1, np.inf, -np.inf, "fro"):
        for A in (a, glla.asarray(a)):
            assert np.asarray(glla.cond(A, p)) == pytest.approx(np.linalg.cond(a.astype(np.float64), p), rel=1e-3)
    assert glla.cond(np.ones((3, 3)), 1) == np.inf
    mixed = np.stack([np.ones((3, 3)), np.eye(3), np.zeros((3, 3))]).astype(np.float32)
    for A in (mixed, glla.asarray(mixed)):
        assert np.asarray(glla.cond(A, 1)).tolist() == [np.inf, 1, np.inf]


def test_as_numpy_and_the_array_api_reach_them(rng):
    a = rng.standard_normal((4, 3)).astype(np.float32)
    A = glla.asarray(a)
    for found in (np.linalg.pinv(A), array_api.linalg.pinv(A), array_api.linalg.pinv(A, rtol=1e-6)):
        assert isinstance(found, glla.Array) and np.abs(found.numpy() - glla.pinv(a)).max() < 1e-6
    for rank in (array_api.linalg.matrix_rank(A), array_api.linalg.matrix_rank(A, rtol=1e-6)):
        assert isinstance(rank, glla.Array) and int(rank) == 3 == np.linalg.matrix_rank(A)
    assert float(np.linalg.cond(A)) == pytest.approx(glla.cond(a), rel=1e-6)
    assert array_api.linalg.LEFT_OUT == ["eig", "eigvals"]


@every_place
def test_entries_near_the_largest_number(place, rng):
    """Singular values need not fit float32, nor need entries of the pseudo-inverse be normal numbers."""
    whole = np.float32([[3, -3, 3], [3, 3, -3], [-3, 3, 3]]) * np.float32(1e38)
    for a in (np.diag(np.float32([1e38, 2e38])), np.stack([whole, np.eye(3, dtype=np.float32)]), whole[:2]):
        wide = a.astype(np.float64)
        A, expected = place(a), np.linalg.pinv(wide)
        size = np.linalg.norm(expected, axis=(-2, -1), keepdims=True)
        assert (np.abs(np.asarray(glla.pinv(A)) - expected) < 100 * U * size).all()
        assert np.asarray(glla.cond(A)) == pytest.approx(np.linalg.cond(wide), rel=1e-5)
        assert np.asarray(glla.matrix_rank(A)).tolist() == np.linalg.matrix_rank(wide).tolist()
        assert np.asarray(glla.matrix_rank(A, 1.5e38)).tolist() == np.linalg.matrix_rank(wide, 1.5e38).tolist()
    for size in (1e-37, 5e37):  # products of small singular values and vectors are flushed to zero
        a = place(np.float32([[1, 2, 3], [3, 2, 1], [3, 1, 2]]) * np.float32(size))
        rotation, p = (np.asarray(one).astype(np.float64) for one in glla.polar(a))
        np.testing.assert_allclose(rotation @ p, np.asarray(a), rtol=0, atol=100 * U * 3 * size)
    assert float(glla.cond(place(whole), 1)) == pytest.approx(np.linalg.cond(whole.astype(np.float64), 1), rel=1e-5)


def test_inverses_of_denormal_singular_values():
    """Their reciprocals are infinite: the result says so, and not that A held an infinity."""
    a = np.diag([4e-39, 8e-39]).astype(np.float32)
    np.testing.assert_allclose(glla.pinv(a), np.linalg.inv(a.astype(np.float64)), rtol=1e-6)
    with pytest.raises(NonFiniteError, match=r"^pinv: the result does not fit float32"):
        glla.pinv(a / 8)
    assert glla.pinv(a / 8, check_finite=False).tolist() == [[inf, 0], [0, inf]]
    assert glla.matrix_rank(a, tol=1e38) == 0 and glla.matrix_rank(a, tol=6e-39) == 1
    assert glla.cond(1e-25 * np.diag([1, 2]), "fro") == pytest.approx(2.5)


@pytest.mark.parametrize("n", [4, 30], ids=["batched", "looped"])
def test_errors_name_the_function_that_was_called_and_the_matrix(n):
    a = np.stack([np.eye(n, dtype=np.float32)] * 3)
    a[2, 1, 0] = np.nan
    there = glla.asarray(a, check_finite=False)
    norm = wraps(np.linalg.norm)(lambda a: np.linalg.norm(a, 2, axis=(-2, -1)))
    values = glla.svd, glla.svdvals, glla.eigh, glla.eigvalsh
    for call in (*values, glla.pinv, glla.matrix_rank, glla.cond, glla.polar, glla.sqrtm, norm):
        for given, place in ((there[2], "that"), (there, r"whose matrix at index \(2\) of the stack")):
            rule = rf"^{call.__name__}: A must not hold NaN or infinity, got an Array {place} does"
            with pytest.raises(NonFiniteError, match=rule):
                call(given)


@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (0, 0), (3, 0, 0), (4, 5, 5)], ids=str)
@pytest.mark.parametrize("placed", [np.asarray, glla.asarray])
def test_a_square_root(rng, shape, placed):
    x = rng.standard_normal(shape).astype(np.float32)
    a = x @ x.swapaxes(-1, -2)
    root = np.asarray(glla.sqrtm(placed(a)))
    assert root.dtype == np.float32 and root.shape == shape
    norm = np.linalg.norm(a, axis=(-2, -1), keepdims=True) if a.size else np.ones(1)
    assert np.all(np.abs(root.astype(np.float64) @ root - a) <= 60 * shape[-1] * 2.0**-24 * norm)


def test_roots_of_what_is_singular_or_not_symmetric():
    np.testing.assert_allclose(glla.sqrtm(np.ones((3, 3))), np.full((3, 3), 1 / np.sqrt(3)), atol=1e-5)
    beside = np.float32([[[1e9, 0], [0, 1e9]], [[1, 2], [0, 1]]])
    for one in (np.float32([[1, 2], [0, 1]]), glla.asarray([[1.0, 2.0], [0.0, 1.0]]), beside, glla.asarray(beside)):
        with pytest.raises(glla.errors.UnsupportedError, match="sqrtm: A is not symmetric"):
            glla.sqrtm(one)
