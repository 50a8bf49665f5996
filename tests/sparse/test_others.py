"""The solvers beside conjugate gradients: matrices that are not symmetric, or not definite; breakdowns."""

from functools import partial

import numpy as np
import pytest

import glla
from glla.gl.iterate import iteration
from glla.operations.sparse import bicgstab, cg, minres
from glla.operations.sparse.cg import VARIANTS

from .test_cg import iterations, poisson, relative, scipy_sparse, theirs

L = glla.sparse.linalg


def convection(n):
    """Diffusion with a wind: not symmetric."""
    count = n * n
    wind = scipy_sparse.diags_array([np.full(count - 1, -0.5), np.full(count - 1, 0.5)], offsets=[-1, 1])
    return (poisson(n) + wind).tocsr()


def indefinite(n):
    return (poisson(n) - 1.3 * scipy_sparse.eye_array(n * n)).tocsr()


CASES = {
    **{f"cg {variant}": (partial(L.cg, variant=variant), poisson) for variant in VARIANTS},
    "bicgstab": (L.bicgstab, convection),
    "minres": (L.minres, indefinite),
    "gmres": (partial(L.gmres, restart=6, callback_type="x"), convection),
}
every = pytest.mark.parametrize("name", CASES)
others = pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("cg")])


@others
def test_as_many_iterations_as_in_float64(name, rng):
    solve, make = CASES[name]
    A, b = make(9), rng.standard_normal(81)
    options = {"restart": 6, "callback_type": "x"} if name == "gmres" else {}
    expected, _, _ = iterations(getattr(theirs, name), A, b, rtol=1e-6, **options)
    count, x, info = iterations(solve, A, b, rtol=1e-6)
    assert info == 0 and relative(A, x, b) <= 1e-6
    loose = {"bicgstab": 1.2, "minres": 1.6, "gmres": 1.0}[name]  # SciPy's minres stops by another test
    assert expected / loose - 2 <= count <= expected * loose + 2


@pytest.mark.parametrize("module", [bicgstab, cg, minres])
def test_no_pass_only_counts_iterations(module, device):
    turn = module.turn(glla.sparse.asarray(poisson(4), device=device).plan, None, 16, device.limits)
    assert iteration(turn, "state").cost.passes == turn.cost.passes


@others
def test_residuals_are_true(name, rng):
    solve, make = CASES[name]
    A, b = make(12), rng.standard_normal(144)
    x, info = solve(A, b, rtol=1e-8)
    assert info > 0 and np.isfinite(x).all()
    x, info = solve(A, b, rtol=1e-13, refine=True)
    assert info == 0 and relative(A, x, b) <= 1e-13 and x.dtype == np.float64
    resident, info = solve(glla.sparse.asarray(A), glla.asarray(b), rtol=1e-4)
    assert info == 0 and relative(A, resident.numpy(), b) <= 1.1e-4


@others
def test_preconditioners(name, rng):
    solve, make = CASES[name]
    D = scipy_sparse.diags_array(10.0 ** rng.uniform(-1, 1, 64))
    A, b = (D @ make(8) @ D).tocsr(), rng.standard_normal(64)
    for M in (L.jacobi((D @ poisson(8) @ D).tocsr()), L.block_jacobi((D @ poisson(8) @ D).tocsr(), 4)):
        x, info = solve(A, b, M=M, rtol=1e-3)
        assert info == 0 and relative(A, x, b) <= 1.01e-3


@every
def test_results_do_not_depend_on_when_the_host_looks(name, rng):
    solve, make = CASES[name]
    A, b = glla.sparse.asarray(make(8)), rng.standard_normal(64)
    assert len({solve(A, b, check_every=count)[0].tobytes() for count in (None, 1, 8, 64)}) == 1


ODD = [
    (np.zeros((3, 3)), [1, 1, 1]),
    (np.diag([1.0, 1, 0]), [1, 1, 1]),
    (np.diag([1.0, 1, 0]), [1, 1, 0]),
    (np.diag([1.0, -1, 2]), [1, 1, 1]),
    (np.array([[0.0, 1], [1, 0]]), [1, 2]),
    (np.array([[0.0, 1], [-1, 0]]), [1, 1]),
    (np.array([[1.0, 5], [0, 1]]), [1, 1]),
    (np.ones((4, 4)), [1, 2, 3, 4]),
    (np.array([[2.0]]), [3]),
    (np.eye(5), [1, 2, 3, 4, 5]),
    (1e-30 * np.diag([1.0, 2, 3]), [1e-30, 1e-30, 0]),
    (1e30 * np.diag([1.0, -2, 3]), [1e-5, 1, 0]),
    (np.diag([1e30, 1e-30]), [1, 1]),
    (np.eye(3), [0, 0, 0]),
    (-np.eye(4), [1, 2, 3, 4]),
]


@every
@pytest.mark.parametrize("number", range(len(ODD)))
def test_what_is_not_solved_is_said(name, number):
    A, b = (np.asarray(one, dtype=float) for one in ODD[number])
    x, info = CASES[name][0](A, b)
    assert np.isfinite(x).all()
    assert info != 0 or np.linalg.norm(b - A @ x.astype(float)) <= 1e-5 * np.linalg.norm(b)
    consistent = np.allclose(A, A.T) and np.linalg.cond(A) < 10
    definite = consistent and np.linalg.eigvalsh(A).min() > 0
    assert info == 0 or not (definite if name.startswith("cg") else consistent)


SOLVERS = ("cg", "bicgstab", "minres", "gmres")


@pytest.mark.parametrize("name", SOLVERS)
def test_what_scipy_says_is_not_believed(name, rng):
    """SciPy solves in float64, and minres looks at norm(A) norm(x); the residual is that of the x which is returned."""
    solve, A = getattr(L, name), indefinite(12) if name == "minres" else poisson(12)
    b, operator = rng.standard_normal(144), theirs.aslinearoperator(A)
    for right in (b, glla.asarray(b)):
        x, info = solve(operator, right, rtol=1e-9)
        assert info > 0 and relative(A, x.numpy() if right is not b else x, b) < 1e-6
    for rtol in (1e-2, 1e-5):
        x, info = solve(operator, b, rtol=rtol)
        assert info == 0 and x.dtype == np.float32 and relative(A, x, b) <= rtol
    x, info = solve(operator, b, rtol=1e-13, refine=True)
    assert info == 0 and x.dtype == np.float64 and relative(A, x, b) <= 1e-13
    x, info = solve(operator, b, maxiter=2, rtol=1e-9)
    assert info == 2
    x, info = solve(operator, b, rtol=0, maxiter=500)
    assert 0 < info <= 500 and relative(A, x, b) < 1e-6
    exact = np.arange(144.0)
    x, info = solve(operator, A @ exact, x0=exact, rtol=0)
    assert info == 0 and (x == exact).all()
    hosted = theirs.LinearOperator((144, 144), matvec=lambda x: x / 4, dtype=float)
    x, info = solve(A, b, M=hosted)
    assert info == 0 and relative(A, x, b) <= 1e-5


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("name", SOLVERS)
def test_operators_of_the_host_at_the_ends_of_the_range(name, scale, rng):
    """The squares of b leave float64's range, or nearly so."""
    A, b = poisson(5), rng.standard_normal(25)
    operator, inverse = theirs.aslinearoperator(A * scale), scipy_sparse.eye_array(25) / (4 * scale)
    x, info = getattr(L, name)(operator, b * 1e160, refine=True)
    assert info == 0 and relative(A, x * (scale * 1e-160), b) <= 1e-5
    for M in (inverse, theirs.aslinearoperator(inverse)):
        x, info = getattr(L, name)(operator, b, M=M)
        assert info == 0 and relative(A, x.astype(float) * scale, b) <= 1e-5


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("hosted", [False, True], ids=["device", "host"])
def test_callbacks_are_given_scipys_iterates(name, hosted, rng):
    """In float32, each an array of its own; minres goes on where SciPy's stops by another test."""
    A, b = (indefinite(9) if name == "minres" else poisson(9)), rng.standard_normal(81)
    options = {"restart": 6, "callback_type": "x"} if name == "gmres" else {}
    ours, expected = [], []
    x0 = rng.integers(-2, 3, 81)
    getattr(L, name)(theirs.aslinearoperator(A) if hosted else A, b, x0, callback=ours.append, **options)
    getattr(theirs, name)(A, b, x0.astype(float), callback=lambda x: expected.append(x.copy()), **options)
    assert len(ours) >= len(expected) - 1
    loose = 1e-6 if hosted else 1e-2
    for one, other in zip(ours, expected[: 9 if not hosted else None], strict=False):
        assert one.dtype == np.float32 and np.abs(one - other).max() <= loose * np.abs(other).max()


@pytest.mark.parametrize("name", SOLVERS)
def test_residuals_on_the_device_are_true_near_what_float32_holds(name, rng):
    """A residual in float32 may come out as zero where the true one is 1e-8 norm(b)."""
    for n in (1, 2, 3, 6, 20):
        Q = rng.standard_normal((n, n))
        A = (Q @ Q.T + n * np.eye(n)).astype(np.float32)
        b = rng.standard_normal(n).astype(np.float32)
        S, right = glla.sparse.asarray(A), glla.asarray(b)
        for rtol in (0, 1e-9, 1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 1e-4):
            x, info = getattr(L, name)(S, right, rtol=rtol)
            assert info != 0 or relative(A, x.numpy(), b) <= rtol
            assert info == 0 or rtol < 1e-6
    A, b = indefinite(7), rng.standard_normal(49).astype(np.float32)
    x, info = L.minres(glla.sparse.asarray(poisson(7)), glla.asarray(b), shift=1.3, rtol=1e-6)
    assert info != 0 or relative(A, x.numpy(), b) <= 1e-6


@pytest.mark.parametrize("seed", [1, 5, 11, 14, 23])
def test_what_the_device_flushes_to_zero_is_no_small_residual(seed):
    rng = np.random.default_rng(seed)
    A = (rng.standard_normal((2, 2)) + 4.2 * np.eye(2)).astype(np.float32)
    b = (rng.standard_normal(2) * 1e-35).astype(np.float32)
    for name in SOLVERS:
        x, info = getattr(L, name)(A, glla.asarray(b), x0=rng.standard_normal(2))
        assert info != 0 or relative(A, x.numpy(), b.astype(float)) <= 1e-5


@pytest.mark.parametrize("name", SOLVERS)
def test_denormals_on_the_device_are_no_zeros(name):
    A, b = np.diag([2.0**-20, 2.0**-21]), np.float32([2.0**-130, 2.0**-132])
    x, info = getattr(L, name)(A, glla.asarray(b))
    assert info == 0 and isinstance(x, glla.Array) and np.allclose(x.numpy() * 2.0**110, [1, 0.5], rtol=1e-5)
    x, info = getattr(L, name)(A, glla.asarray(0 * b))
    assert info == 0 and not x.numpy().any()


def test_a_callback_may_stop_it(rng):
    """By raising: nothing swallows it, and the next call works."""

    def stop(x):
        raise ValueError("enough")

    A, b = poisson(6), rng.standard_normal(36)
    for name in SOLVERS:
        for one in (A, theirs.aslinearoperator(A)):
            with pytest.raises(ValueError, match="enough"):
                getattr(L, name)(one, b, callback=stop)
            assert getattr(L, name)(one, b)[1] == 0


def test_a_shift(rng):
    b = rng.standard_normal(64)
    for scale in (1, 2.0**40):
        x, info = L.minres(poisson(8) * scale, b, shift=1.3 * scale)
        assert info == 0 and relative(indefinite(8), x * scale, b) <= 1e-5
    A, b = poisson(4), rng.standard_normal(16)
    M = theirs.LinearOperator((16, 16), matvec=lambda x: -x, dtype=float)
    x, info = L.minres(A, b, M=M)  # a preconditioner that is not definite breaks down on the host
    assert info == -1 and np.isfinite(x).all()


@others
@pytest.mark.parametrize("exponent", range(-24, 25, 4))
def test_the_size_of_a_matrix_does_not_matter(name, exponent):
    A, b = np.diag([1.0, 0.5, 0.25, -1]) * 2.0**exponent, np.array([4.0, 3, 2, 1])
    x, info = CASES[name][0](A, b)
    assert info == 0 and relative(A, x, b) <= 1e-5


def test_gmres_takes_whole_cycles(rng):
    A = np.roll(np.eye(8), 1, axis=0)  # the first seven steps make no progress
    assert L.gmres(A, np.eye(8)[0])[1] == 0
    assert L.gmres(A, np.eye(8)[0], restart=4)[1] == -1
    _, info = L.gmres(A, rng.standard_normal(8), restart=8, M=L.jacobi(np.diag([2.0] * 8)))
    assert info == 0


@pytest.mark.parametrize("part", [1, 3, 4])
def test_a_basis_in_several_textures(part, rng, monkeypatch):
    monkeypatch.setattr("glla.operations.sparse.gmres.PART", part)
    A, b = convection(9), rng.standard_normal(81)
    x, info = L.gmres(A, b, rtol=1e-6, restart=10 + part)  # of which no plan was made before
    assert info == 0 and relative(A, x, b) <= 1e-6


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("resident", [False, True], ids=["host", "device"])
def test_a_column_without_entries_hides_nothing(name, resident):
    """What x has there is in no residual: where it runs away it is seen all the same."""
    A = np.zeros((10, 10))
    A[0, 0], A[3, 3] = 1, 2
    for b in (np.ones(10), np.r_[1.0, 0, 0, 4, np.zeros(6)]):
        x, info = getattr(L, name)(A, glla.asarray(b) if resident else b)
        found = x.numpy() if resident else x
        assert np.isfinite(found).all()
        assert (info == 0) == (not b[1])
        assert info != 0 or np.abs(A @ found - b).max() <= 1e-5


def unsorted(A, rng):
    """The same matrix, entries of each row in any order, and each in two halves."""
    coo = A.tocoo()
    order = rng.permutation(2 * A.nnz)
    rows, columns = (np.tile(one, 2)[order] for one in (coo.row, coo.col))
    by_row = np.argsort(rows, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=A.shape[0]))))
    values = np.tile(coo.data / 2, 2)[order][by_row]
    return scipy_sparse.csr_array((values, columns[by_row], starts), shape=A.shape)


@pytest.mark.parametrize("name", SOLVERS)
def test_any_way_to_write_the_system_is_solved_alike(name, rng):
    A, b = poisson(8), rng.integers(-4, 5, 64)
    solve = getattr(L, name)
    before, expected = A.data.copy(), solve(A, b)[0]
    assert relative(A, expected, b) <= 1e-5
    loose = unsorted(A, rng)
    assert not loose.has_sorted_indices and loose.nnz == 2 * A.nnz
    for one, right in (
        (loose, b), (loose.tocoo(), b), (A.astype(np.int8), b.astype(np.int8)), (A.astype(np.int64), b.tolist()),
        (A.toarray().astype(">f8"), b.astype(">f4")), (np.asfortranarray(A.toarray()), np.repeat(b, 2)[::2]),
        (A.tocsc(), b[:, np.newaxis]), (A.todia(), b.astype(np.float16)),
    ):  # fmt: skip
        x, info = solve(one, right)
        assert info == 0 and (x == expected).all() and (A.data == before).all(), (type(one), one.dtype)
    for start in (expected, expected.astype(np.float64), glla.asarray(expected)):
        assert (solve(A, b, x0=start)[0] == expected).all()


@others
def test_what_float32_cannot_reach_ends_soon(name):
    """A hundred times below what float32 holds: cycles that gain nothing are the last ones."""
    solve, _ = CASES[name]
    A, b = poisson(40), np.arange(1600.0)
    best, info = solve(A, b, rtol=1e-8)
    assert 0 < info < 300 and relative(A, best, b) <= 1e-5
    x, info = solve(A, b, rtol=1e-5)  # near the best: the restart has to aim lower than the first run did
    assert info == 0 and relative(A, x, b) <= 1e-5


@pytest.mark.parametrize("name", SOLVERS)
def test_starts_and_bounds_that_scipy_takes(name):
    solve, A, b = getattr(L, name), np.diag([1.0, 2, 4]), np.array([1.0, 2, 4])
    for right in (b, glla.asarray(b)):
        x, info = solve(A, right, "Mb", M=L.jacobi(A), maxiter=1)
        assert info == 0 and np.asarray(x).tolist() == [1, 1, 1]
    assert solve(A, b, "Mb", rtol=1e9)[0].tolist() == b.tolist()
    for bounds in ({"rtol": np.inf}, {"atol": np.inf}):
        x, info = solve(A, b, **bounds)
        assert info == 0 and not x.any()
