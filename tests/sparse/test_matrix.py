"""Sparse matrices as users have them: from anything of SciPy, times anything."""

import numpy as np
import pytest

import glla
from glla.errors import DTypeError, LimitError, NonFiniteError, OptionError, ShapeError, UnsupportedError
from glla.operations.sparse.formats import FORMATS

scipy_sparse = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.newer_gl

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


def test_what_is_planned_is_shown():
    A = glla.sparse.asarray(DENSE, "sell")
    plan = glla.plan("spmv", A, (4,))
    assert plan.flops == 12
    assert [step.shader for step in plan.passes] == ["spmv/sell"]
    assert "spmv/sell" in str(glla.explain("spmv", A, glla.asarray(X)))


def test_one_that_is_there_already():
    A = glla.sparse.asarray(DENSE)
    assert glla.sparse.asarray(A) is A
    assert (glla.sparse.asarray(A, "blocks") @ X == DENSE @ X).all()
    assert "5 x 4 of float32, 6 entries, format diagonals" not in repr(glla.sparse.asarray(A, "blocks"))


def test_what_is_wrong_is_said():
    with pytest.raises(OptionError, match=r"format must be one of diagonals, .*, got 'csr'"):
        glla.sparse.asarray(DENSE, "csr")
    with pytest.raises(OptionError, match="circular diagonals are of a square matrix"):
        glla.sparse.asarray(DENSE, "circular")
    with pytest.raises(NonFiniteError, match=r"A must not hold NaN or infinity"):
        glla.sparse.asarray(scipy_sparse.csr_array([[np.nan]]))
    with pytest.raises(NonFiniteError, match=r"must fit float32"):
        glla.sparse.asarray(scipy_sparse.csr_array([[1e300]]))
    with pytest.raises(DTypeError, match=r"got dtype complex"):
        glla.sparse.asarray(scipy_sparse.csr_array([[1j]]))
    with pytest.raises(ShapeError, match=r"A must be a matrix"):
        glla.sparse.asarray([1, 2])
    A = glla.sparse.asarray(DENSE)
    with pytest.raises(ShapeError, match=r"shapes of A \(5, 4\) and x \(5,\) are incompatible"):
        A @ np.ones(5)
    with pytest.raises(UnsupportedError, match="two sparse matrices"):
        A @ scipy_sparse.csr_array(DENSE.T)
    assert np.isnan(glla.sparse.asarray([[np.nan]], check_finite=False) @ [1])[0]


def test_indices_are_counted_in_int32():
    class Huge:
        shape, nnz, dtype = (2**31, 1), 0, np.dtype(float)

        def tocoo(self):
            return self

    with pytest.raises(LimitError, match="counted in int32"):
        glla.sparse.asarray(Huge())
