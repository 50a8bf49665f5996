"""Sparse matrices as users have them: from anything of SciPy, times anything."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import glla
from glla.errors import LimitError
from glla.operations.sparse import sell, spmv
from glla.operations.sparse.formats import FORMATS
from glla.operations.sparse.layout import filled
from glla.passes import Form, Limits
from glla.sparse.convert import compressed

scipy_sparse = pytest.importorskip("scipy.sparse")

DENSE = np.array([[0, 2, 0, 0], [1, 0, 0, 3], [0, 0, 0, 0], [4, 0, 5, 0], [0, 0, 0, 6]])


KINDS = [
    getattr(scipy_sparse, f"{kind}_{made}")
    for kind in ("csr", "csc", "coo", "dia", "lil", "dok")
    for made in ("array", "matrix")
]
X = np.array([1, 2, 3, 4])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_anything_of_scipy_goes_in(kind):
    A = glla.sparse.asarray(kind(DENSE))
    assert (A @ X == DENSE @ X).all()
    assert (A.shape, A.nnz, A.dtype) == ((5, 4), 6, np.float32)
    assert (A.toarray() == DENSE).all() and (A.diagonal() == DENSE.diagonal()).all()


def test_blocks_and_types_of_scipy():
    square = np.kron(np.eye(3, dtype=int), [[1, 2], [3, 4]])
    for dtype in (bool, np.int8, np.int64, np.uint16, np.float32):
        A = glla.sparse.asarray(scipy_sparse.bsr_array(square.astype(dtype), blocksize=(2, 2)))
        assert (A.toarray() == square.astype(dtype)).all()


def test_duplicates_zeros_and_wide_indices():
    places = np.array([1, 1, 1, 0], np.int64), np.array([0, 0, 0, 1])
    coo = scipy_sparse.coo_array((np.array([100, 100, 100, 0], np.int8), places), shape=(2, 2))
    before = coo.data.copy()
    A = glla.sparse.asarray(coo)
    assert (A.nnz, A.toarray().tolist()) == (1, [[0, 0], [300, 0]])
    assert (coo.data == before).all()
    two = scipy_sparse.coo_array((np.array([True, True, True]), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(glla.sparse.asarray(two).toarray(), two.toarray())  # bool: true once


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "circular"])
def test_products_of_every_format(format):
    A = glla.sparse.asarray(scipy_sparse.csr_array(DENSE), format)
    assert A.format == format
    assert (A.T @ [1, 2, 3, 4, 5] == DENSE.T @ [1, 2, 3, 4, 5]).all()
    assert (np.array([1, 2, 3, 4, 5]) @ A == [1, 2, 3, 4, 5] @ DENSE).all()
    columns = np.arange(12).reshape(4, 3)
    assert (A @ columns == DENSE @ columns).all()
    assert (A @ np.asfortranarray(columns)[::-1] == DENSE @ columns[::-1]).all()
    assert (A @ np.zeros((4, 0))).shape == (5, 0)


SHAPES = [(1, 1), (9, 70), (37, 13), (67, 67)]


def sparse_integers(rng, shape, format):
    """Rows of very different lengths; for formats of diagonals eight of these, each a term of a program."""
    rows, columns = np.indices(shape)
    places = rng.random(shape) < 0.9 * (1 - rows / shape[0]) ** 2
    if format in ("diagonals", "stencil", "circular"):
        places &= np.isin((columns - rows) % 67, [0, 1, 2, 30, 33, 34, 65, 66])
    return rng.integers(1, 9, shape) * places


@pytest.mark.parametrize("format", FORMATS)
def test_products_with_matrices_are_exact(device, format, rng):
    """Columns together, of any number, from the host and from the device."""
    for shape in SHAPES:
        if format == "circular" and shape[0] != shape[1]:
            continue
        dense = sparse_integers(rng, shape, format)
        A = glla.sparse.asarray(dense, format)
        for columns in (1, 2, 3, 5, 8):
            X = rng.integers(-8, 9, (shape[1], columns)).astype(np.float32)
            assert (dense @ X == (A @ X)).all(), (shape, columns)
            Y = A @ glla.asarray(X)
            assert isinstance(Y, glla.Array) and (Y.numpy() == dense @ X).all(), (shape, columns)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "points"])
def test_columns_are_batched(device, format, rng, monkeypatch):
    """One pass for all of them, or for each block of what fits."""
    monkeypatch.setattr(sell, "PIECE", 128)  # rows stay whole
    dense = sparse_integers(rng, (67, 67), format)
    A, X = glla.sparse.asarray(dense, format), rng.integers(-8, 9, (67, 12)).astype(np.float32)
    A.textures  # noqa: B018 - uploads
    before = device.stats().passes
    assert (dense @ X == (A @ X)).all() and device.stats().passes == before + 1
    monkeypatch.setattr(spmv, "MOST_AT_ONCE", 67 * 8)
    X = X[:, :11]  # no plan for 11 columns is kept yet
    before = device.stats().passes
    assert (dense @ X == (A @ X)).all() and device.stats().passes == before + 2
    assert ((A @ glla.asarray(X)).numpy() == dense @ X).all()


@pytest.mark.parametrize("format", FORMATS)
def test_nan_stays_in_its_column_and_in_the_rows_that_meet_it(format, rng):
    dense = sparse_integers(rng, (67, 67), format)
    X = rng.integers(-8, 9, (67, 6)).astype(np.float32)
    X[7, 4], X[66, 1] = np.nan, np.inf
    Y = glla.sparse.asarray(dense, format) @ X
    expected = np.zeros(Y.shape, bool)
    expected[:, 4], expected[:, 1] = dense[:, 7] != 0, dense[:, 66] != 0
    assert (~np.isfinite(Y) == expected).all()
    kept = ~expected
    assert (Y[kept] == (dense @ np.nan_to_num(X, posinf=0))[kept]).all()


def test_a_stencil_is_shown_and_takes_columns_as_diagonals():
    A = glla.sparse.asarray(2 * np.eye(90) - np.eye(90, k=1), "stencil")
    assert "format stencil" in repr(A) and A.T.format == "stencil"
    one, many = str(glla.plan("spmv", A, (90,))), str(glla.plan("spmv", A, (90, 8)))
    assert "spmv/stencil" in one and "spmv/stencil_others" in one and "diagonals" not in one
    assert "spmm/diagonals" in many and "stencil" not in many
    X = np.arange(720.0).reshape(90, 8)
    assert (A.toarray() @ X == A @ X).all() and (A @ X[:, :2] == A.toarray() @ X[:, :2]).all()
    assert ((A @ glla.asarray(X)).numpy() == A.toarray() @ X).all()


def test_rows_longer_than_a_loop_go_on_in_another_pass(device, rng):
    limits = Limits(loop_trips=16)
    dense = rng.integers(-8, 9, (6, 50))
    for format in ("sell", "pointers", "blocks"):
        rows = compressed(dense)
        structure = FORMATS[format](rows, limits)
        plan = spmv.rows(Form(rows.shape, resident=True, view=structure), 2, limits)
        X = rng.integers(-8, 9, (50, 8)).astype(np.float32)
        given = structure.texels(rows, limits) | {"X": filled(X, plan.slots["X"])}
        Y = device.read(device.run(plan, **{name: device.write_texels(one) for name, one in given.items()})["Y"])
        assert len(plan.steps) > 1 and (Y.reshape(-1)[:48].reshape(6, 8) == dense @ X).all(), format
        assert not Y.reshape(-1)[48:].any()


def test_what_is_on_the_device_stays_there(device):
    A = glla.sparse.asarray(DENSE)
    y = A @ glla.asarray(X)
    assert isinstance(y, glla.Array) and y.shape == (5,) and (y.numpy() == DENSE @ X).all()
    assert ((A.T @ y).numpy() == DENSE.T @ (DENSE @ X)).all()
    assert (A @ glla.asarray(np.arange(8))[1:8:2]).numpy().tolist() == (DENSE @ np.arange(1, 8, 2)).tolist()
    assert (A @ glla.asarray(X, dtype="int32")).numpy().tolist() == (DENSE @ X).tolist()
    B = glla.asarray(np.arange(12).reshape(3, 4)).T
    assert ((A @ B).numpy() == DENSE @ np.arange(12).reshape(3, 4).T).all()
    assert (glla.asarray([1, 2, 3, 4, 5]) @ A).numpy().tolist() == ([1, 2, 3, 4, 5] @ DENSE).tolist()


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_empty_matrices(shape):
    A = glla.sparse.asarray(scipy_sparse.csr_array(shape))
    assert (A @ np.ones(shape[1])).tolist() == [0] * shape[0]
    assert (A @ glla.asarray(np.ones(shape[1]))).numpy().tolist() == [0] * shape[0]
    assert A.T.shape == shape[::-1]


@pytest.mark.parametrize("format", FORMATS)
def test_a_vector_on_the_device_is_taken_in_its_layout(device, format):
    A, x = glla.sparse.asarray(np.eye(6), format), glla.asarray(np.arange(12.0))
    for given in (x[:6], x[::2]):
        shown = [step.shader for step in glla.plan("spmv", A, given).passes]
        A.textures  # noqa: B018 - uploads
        before = device.stats().passes
        y = A @ given
        assert device.stats().passes == before + len(shown) and "wrapped/pack" not in shown
        assert (y.numpy() == given.numpy()).all()


def test_what_is_planned_is_shown():
    A = glla.sparse.asarray(DENSE, "sell")
    plan = glla.plan("spmv", A, (4,))
    assert plan.flops == 12
    assert [step.shader for step in plan.passes] == ["spmv/sell"]
    assert "spmv/sell" in str(glla.explain("spmv", A, glla.asarray(X)))
    A = glla.sparse.asarray(np.eye(6))
    shown = str(glla.plan("spmv", A, (6, 8)))
    assert "spmm/diagonals" in shown and "6x8 of the host" in shown and "96 flop" in shown
    assert "spmv/diagonals" in str(glla.plan("spmv", A, (6, 2)))
    assert "spmv/points" in str(glla.plan("spmv", glla.sparse.asarray(np.eye(6), "points"), (6, 8)))
    A = glla.sparse.asarray(DENSE)
    assert glla.sparse.asarray(A) is A
    assert (glla.sparse.asarray(A, "blocks") @ X == DENSE @ X).all()
    assert "5 x 4 of float32, 6 entries, format diagonals" not in repr(glla.sparse.asarray(A, "blocks"))


def test_more_rows_than_int32_counts_are_refused():
    huge = SimpleNamespace(shape=(2**31, 1), nnz=0, dtype=np.dtype(float))
    huge.tocoo = lambda: huge
    with pytest.raises(LimitError, match="counted in int32"):
        glla.sparse.asarray(huge)


def test_what_is_given_as_infinity_or_nan_stays():
    assert (glla.sparse.asarray(np.eye(3)) @ [1, np.inf, 2])[1] == np.inf
    assert np.isnan(glla.sparse.asarray([[np.nan]], check_finite=False) @ [1])[0]


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda A: pickle.loads(pickle.dumps(A))])
def test_a_copy_and_a_pickle_multiply_alike(make):
    A = glla.sparse.asarray([[1, 0, 2], [0, 3, 0]], format="sell")
    other = make(A)
    assert other.format == "sell"
    np.testing.assert_array_equal(other @ [1, 1, 1], [3, 3])


def test_what_holds_a_device_says_that_it_cannot_be_pickled(device):
    for one in (device, glla.sparse.linalg.chebyshev(np.eye(3), device=device), glla.asarray([1.0]).texture):
        with pytest.raises(glla.errors.UnsupportedError, match=r"(device|texture): cannot be copied or pickled"):
            pickle.dumps(one)
