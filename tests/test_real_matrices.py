"""Real matrices: of structures, chemical plants, plasmas and surveys. Their README says what is known of each."""

import inspect

import numpy as np
import pytest
import scipy.io
import scipy.linalg

import glla
from glla import testing
from glla.errors import SingularMatrixError

pytestmark = pytest.mark.data


@pytest.fixture
def load(data):
    """Give a function that reads one of them as a dense float64 array."""

    def read(name):
        new = "spmatrix" in inspect.signature(scipy.io.mmread).parameters  # the older kind comes with a warning there
        matrix = scipy.io.mmread(data / name, **({"spmatrix": False} if new else {}))
        return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)

    return read


@pytest.mark.parametrize("name", ["gre_115.mtx", "mhdb416.mtx", "west0156.mtx"])
def test_solve(name, load):
    a = load(name)
    b = a.sum(axis=1)
    for equilibrate in (True, False) if name != "west0156.mtx" else (True,):  # of which more below
        testing.assert_solve(a, glla.solve(a, b, equilibrate=equilibrate), b)


@pytest.mark.parametrize(("name", "columns"), [("gre_115.mtx", None), ("mhdb416.mtx", 2), ("west0156.mtx", 3)])
def test_refined(name, columns, load, rng):
    """With equilibration the float32 factors of all three are good enough for a float64-grade solution."""
    a = load(name)
    b = a.sum(axis=1) if columns is None else a @ rng.standard_normal((len(a), columns))
    x = glla.solve(a, b, refine=True)
    assert testing.backward_error(a, x, b).componentwise < 1e-14
    assert x.backward_error < 1e-14
    assert 1 <= x.iterations <= 6


def test_mhdb416_is_all_scaling(load):
    """Condition 4e9, but 70 once it is scaled: float32 gets three digits more with equilibration than without."""
    a = load("mhdb416.mtx")
    ones = np.ones(len(a))
    b = (a @ ones).astype(np.float32)
    exact = np.linalg.solve(a.astype(np.float32).astype(np.float64), b.astype(np.float64))
    error = np.abs(glla.solve(a, b) - exact).max()
    assert error <= 30 * len(a) * 70 * testing.ROUNDOFF * np.abs(exact).max()


def test_west0156_must_be_scaled(load):
    """Entries from 9e-22 to 2e7: unscaled, a pivot is nothing but rounding error, and it says so."""
    a = load("west0156.mtx")
    for refine in (False, True):
        with pytest.raises(SingularMatrixError, match=r"^solve: Singular matrix: pivot \d+ of 156 is "):
            glla.solve(a, a.sum(axis=1), refine, equilibrate=False)


def test_bcsstk13(load):
    a = load("bcsstk13.mtx.gz")
    b = a.sum(axis=1)
    x = glla.solve(a, b, refine=True)
    assert testing.backward_error(a, x, b).componentwise < 1e-14
    assert 1 <= x.iterations <= 6


def test_can_144_is_singular(load):
    a = load("can_144.mtx")
    for equilibrate in (True, False):
        with pytest.raises(SingularMatrixError):
            glla.solve(a, np.ones(len(a)), equilibrate=equilibrate)
    with pytest.raises(SingularMatrixError):
        glla.inv(a)
    assert glla.slogdet(a).sign == 0 or glla.slogdet(a).logabsdet < np.linalg.slogdet(a + np.eye(len(a))).logabsdet


@pytest.mark.parametrize("pivoting", ["harmonic", "geometric", "partial"])
def test_echelon_form_of_can_144(pivoting, load):
    a = load("can_144.mtx")
    result = glla.rref(a, pivoting=pivoting)
    assert len(result.pivots) == 96
    testing.assert_rref_exact(a, result.matrix, result.pivots)


@pytest.mark.parametrize("pivoting", ["harmonic", "geometric", "partial"])
def test_rank_of_well1033(pivoting, load):
    a = load("well1033.mtx.gz")
    result = glla.rref(a, pivoting=pivoting)
    assert result.pivots == tuple(range(320))
    testing.assert_rref(a, result.matrix, result.pivots)


@pytest.mark.parametrize(("name", "rank"), [("gre_115.mtx", 115), ("mhdb416.mtx", 416), ("west0156.mtx", 156)])
def test_rank(name, rank, load):
    """The exact ones. A norm of the whole matrix as tolerance would leave west0156 a rank of 2."""
    a = load(name)
    result = glla.rref(a)
    assert len(result.pivots) == rank


@pytest.mark.parametrize("name", ["gre_115.mtx", "west0156.mtx", "can_144.mtx", "well1033.mtx.gz"])
def test_factors(name, load):
    a = load(name)
    testing.assert_plu(a, *glla.plu(a), multiplier_limit=1 + 4 * testing.ROUNDOFF)


def test_normal_equations_of_well1033(load):
    """The least-squares solution, by way of a product: the residual that the README gives, 0.752158."""
    a, b = load("well1033.mtx.gz"), load("well1033_rhs1.mtx.gz")
    A = glla.asarray(a)
    gram = glla.matmul(a.T, a)
    testing.assert_product(gram, a.T.astype(np.float32), a.astype(np.float32))
    testing.assert_exact((glla.asarray(a.T) @ A).numpy(), gram)
    x = glla.solve(a.T @ a, a.T @ b, refine=True)
    assert abs(np.linalg.norm(a @ x - b) - 0.752158) < 1e-6
