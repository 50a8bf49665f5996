"""Conjugate gradients: counts, true residuals, what cannot be solved, and what nobody may see."""

import numpy as np
import pytest

import glla
from glla.errors import DeviceMismatchError, ShapeError
from glla.operations.sparse.cg import VARIANTS
from glla.sparse.linalg.outer import Method
from glla.testing import spd
from tests.beside import spied

scipy_sparse = pytest.importorskip("scipy.sparse")
from scipy.sparse import linalg as theirs  # noqa: E402

L = glla.sparse.linalg


def poisson(n):
    """The five-point Laplacian of an n x n grid."""
    line = scipy_sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    one = scipy_sparse.eye_array(n)
    return (scipy_sparse.kron(line, one) + scipy_sparse.kron(one, line)).tocsr()


def relative(A, x, b):
    return np.linalg.norm(b - A @ np.asarray(x, dtype=float)) / np.linalg.norm(b)


def iterations(solve, *args, **options):
    count = [0]
    x, info = solve(*args, callback=lambda _: count.__setitem__(0, count[0] + 1), **options)
    return count[0], x, info


@pytest.mark.parametrize("n", [24, pytest.param(64, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_as_many_iterations_as_in_float64(variant, n, rng):
    """About 150 at 64 x 64 points, and true to 2 % of the count."""
    A, b = poisson(n), rng.standard_normal(n * n)
    expected, _, _ = iterations(theirs.cg, A, b, rtol=1e-5)
    count, x, info = iterations(L.cg, A, b, variant=variant)
    assert info == 0 and abs(count - expected) <= max(1, 0.02 * expected) and (n < 64 or 130 <= count <= 170)
    assert relative(A, x, b) <= 1e-5 and x.dtype == np.float32


@pytest.mark.parametrize("variant", VARIANTS)
def test_four_eigenvalues_take_four_steps(variant, rng):
    A = np.diag(np.repeat([1.0, 2, 3, 5], 8))
    count, _, info = iterations(L.cg, A, rng.standard_normal(32), variant=variant, rtol=1e-5)
    assert info == 0 and count <= 4


@pytest.mark.parametrize("variant", VARIANTS)
def test_preconditioners(variant, rng):
    scale = scipy_sparse.diags_array(10.0 ** rng.uniform(-1, 1, 256))
    A, b = scale @ poisson(16) @ scale, rng.standard_normal(256)
    S = glla.sparse.asarray(A)
    plain, _, _ = iterations(L.cg, S, b, variant=variant)
    for M in (L.jacobi(S), L.block_jacobi(S, 4), A.diagonal() ** -1 * np.eye(256)):
        count, x, info = iterations(L.cg, S, b, M=M, variant=variant)
        assert info == 0 and relative(A, x, b) <= 1.001e-5 and count < plain / 2
    A, b = poisson(16), rng.standard_normal(256)
    plain, _, _ = iterations(L.cg, A, b, variant=variant)
    count, x, info = iterations(L.cg, A, b, M=L.chebyshev(A, 4), variant=variant)
    assert info == 0 and relative(A, x, b) <= 1e-5 and count < 0.45 * plain


def test_what_is_on_the_device_stays_there(rng):
    """Zero says it is there only by the true residual: the recursion claims 1e-7; float32 cannot hold such an x."""
    A, b = poisson(9), rng.standard_normal(81)
    x, info = L.cg(glla.sparse.asarray(A), glla.asarray(b))
    assert isinstance(x, glla.Array) and info == 0 and relative(A, x.numpy(), b) <= 1.1e-5
    _, info = L.cg(glla.sparse.asarray(A), glla.asarray(b), x0=x)
    assert info == 0
    assert L.cg(glla.sparse.asarray(A), glla.asarray(0 * b))[0].numpy().tolist() == [0] * 81
    A, b = poisson(32), rng.standard_normal(1024)
    x, info = L.cg(A, b, rtol=1e-7)
    assert info > 0 and 1e-7 < relative(A, x, b) < 1e-5
    x, info = L.cg(A, b, rtol=1e-13, refine=True)
    assert info == 0 and relative(A, x, b) <= 1e-13 and x.dtype == np.float64


def test_it_begins_where_it_is_reported_and_progress_changes_nothing(rng):
    A, b = poisson(9), rng.standard_normal(81)
    exact = np.linalg.solve(A.toarray(), b)
    assert iterations(L.cg, A, b, x0=exact)[0] == 0
    assert iterations(L.cg, A, b, x0=exact + 1e-4 * rng.standard_normal(81))[0] < iterations(L.cg, A, b)[0]
    x, info = L.cg(A, b[:, np.newaxis], maxiter=3)
    assert (x.shape, info) == ((81,), 3)
    assert L.cg(A, b, rtol=0, atol=1e-3)[1] == 0
    A, b = poisson(30), rng.standard_normal(900)
    report = []
    x, info = L.cg(A, b, progress=lambda *of: report.append(of))
    assert info == 0 and (x == L.cg(A, b)[0]).all()
    assert [count for count, _ in report] == [64, report[-1][0]]
    assert report[-1][1] <= 1e-5 < report[0][1]


@pytest.mark.parametrize("a", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("b", [1e-30, 1.0, 1e30])
def test_scales(a, b, rng):
    if b / a > 1e38:
        with np.errstate(over="ignore"):
            x, info = L.cg(a * np.eye(3), [b] * 3)
        assert info == -1 and np.isfinite(x).all()
        return
    A, right = a * poisson(4), b * rng.standard_normal(16)
    x, info = L.cg(A, right, refine=True, rtol=1e-10)
    assert info == 0 and relative(A / a, x * (a / b), right / b) <= 1.001e-10


def test_small_empty_and_not_finite():
    assert L.cg(np.array([[2.0]]), [3.0])[0].tolist() == [1.5]
    assert L.cg(np.eye(5), np.arange(5.0))[0].tolist() == [0, 1, 2, 3, 4]
    x, info = L.cg(np.zeros((0, 0)), [])
    assert (x.shape, info) == ((0,), 0)
    x, info = L.cg(np.diag([1.0, 2, 3]), np.zeros(3), x0=[1, 1, 1])
    assert (x.tolist(), info) == ([0, 0, 0], 0)
    A = glla.sparse.asarray(np.diag([1.0, np.nan, 2.0]), check_finite=False)
    for solve in (L.cg, L.minres, L.bicgstab, L.gmres):
        x, info = solve(A, [1.0, 1.0, 1.0])
        assert info != 0 and np.isfinite(x).all()
    x, info = L.cg(np.diag([1e-40, 2e-40]), [1e-40, 4e-40])
    assert info == 0 and np.abs(x - [1, 2]).max() < 1e-4


def test_operators(rng):
    A, b = poisson(8), rng.standard_normal(64)
    S = glla.sparse.asarray(A)
    ours = L.LinearOperator(S.shape, S.plan, **S.operands)
    assert (ours @ b == S @ b).all()
    assert (L.cg(ours, b)[0] == L.cg(S, b)[0]).all()
    x, info = L.cg(theirs.aslinearoperator(A), b)
    assert info == 0 and relative(A, x, b) <= 1e-5
    operator, X = L.LinearOperator(S.shape, S.plan, **S.operands), rng.integers(-4, 5, (64, 3)).astype(np.float32)
    assert (operator @ X == A @ X).all() and ((operator @ glla.asarray(X)).numpy() == A @ X).all()
    with pytest.raises(ShapeError, match=r"LinearOperator: shapes of A \(64, 64\) and x \(63, 3\) are incompatible"):
        operator @ X[1:]
    with pytest.raises(ShapeError, match=r"the plan takes x, a vector of 64, and \[\], and gives y"):
        L.LinearOperator(S.shape, S.plan)


def test_little_is_read_back(device, rng, monkeypatch):
    """16 bytes for each look at the state, and x once, however many iterations there are."""
    read = spied(monkeypatch, type(device), "read")
    looked = spied(monkeypatch, type(device.staging), "fetch", lambda own, source, *_: source.storage.nbytes)
    S, b = glla.sparse.asarray(poisson(20), device=device), rng.standard_normal(400)
    _, info = L.cg(S, b)
    assert info == 0 and len(read) == 1
    assert set(looked) == {16} and len(looked) < 64


def test_arrays_of_another_device_are_refused():
    with glla.Device() as other, pytest.raises(DeviceMismatchError):
        L.cg(poisson(3), glla.asarray(np.ones(9)), device=other)


@pytest.fixture
def rounds(monkeypatch):
    """Grows by one with every iteration that the device begins."""
    return spied(monkeypatch, Method, "__call__", lambda own, *_: own.turn.keywords["variant"])


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6])
def test_refinement_takes_six_rounds_at_most(condition, rounds):
    """The merged recurrence breaks down at the largest condition, so the classic one is taken."""
    A = spd(40, np.random.default_rng(1), condition).astype(float)
    x, info = L.cg(A, A @ np.ones(40), rtol=1e-13, refine=True, maxiter=10_000)
    assert info == 0 and relative(A, x, A @ np.ones(40)) <= 1e-13 and len(rounds) <= 6


@pytest.mark.parametrize(("condition", "rtol"), [(1e4, 1e-11), (1e6, 1e-9)])
def test_refinement_ends_where_float64_does(condition, rtol, rng):
    """No float64 x has a residual below 2^-53 norm(A) norm(x), about, and what is not reached is not claimed."""
    A, b = spd(40, rng, condition).astype(float), rng.standard_normal(40)
    x, info = L.cg(A, b, rtol=rtol, refine=True)  # with iterations enough by default
    assert info == 0 and relative(A, x, b) <= rtol
    A, b = spd(24, rng, condition).astype(float), rng.standard_normal(24)
    x, info = L.cg(A, b, rtol=1e-16, refine=True, maxiter=20_000)
    assert info > 0
    assert np.linalg.norm(b - A @ x) <= 2.0**-53 * np.linalg.norm(x)
    best = np.linalg.solve(A, b)
    assert np.linalg.norm(b - A @ x) <= 2 * np.linalg.norm(b - A @ best)


def test_where_the_merged_recurrence_breaks_down_the_classic_one_goes_on(rounds):
    """Breaking down would say that a definite matrix is none."""
    rng = np.random.default_rng(3)
    A, b = spd(24, rng, 1e6).astype(float), rng.standard_normal(24)
    merged = L.cg(A, b, variant="merged", maxiter=5000)[1]
    assert merged == -1 or (merged > 0 and not glla.default_device().limits.software)  # a GPU rounds otherwise
    rounds.clear()
    x, info = L.cg(A, b, maxiter=5000)
    assert info > 0 and rounds[0] == "merged" and (rounds[-1] == "classic" or merged > 0)
    assert np.linalg.norm(b - A @ x) <= 4 * 2.0**-24 * np.linalg.norm(x)
