"""Stacks on a device: results are there too, are those of the host's stacks, and no matrix is read back."""

import numpy as np
import pytest

import glla
from glla import array_api as xp
from glla import testing
from glla.errors import ConvergenceError, NonFiniteError, SingularMatrixError
from glla.linalg.execution import merged
from glla.operations import OPERATIONS
from glla.operations.batches import stack
from glla.operations.product import residual
from glla.operations.systems.solve import FEW
from glla.passes import Call, Transfer
from tests.beside import spied

COUNT, ORDER = 6, 40


@pytest.fixture
def traffic(device, monkeypatch):
    """Bytes of every read and of every upload, in order."""
    notes = {"read": lambda one: one.storage.nbytes, "write": lambda texels: texels.nbytes}
    return {way: spied(monkeypatch, device._transfers, way, note) for way, note in notes.items()}


def batch_of(count, n, rng):
    """Definite matrices of a batch, eigenvalues from 1 to 4."""
    return np.stack([4 * testing.spd(n, rng, 4.0) for _ in range(count)])


CALLS = {
    "matmul": lambda A: glla.matmul(A, A),
    **{
        f"solve {what}": lambda A, what=what: glla.solve(A, A[..., :2], assume_a=what)
        for what in ("gen", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal")
    },
    **{
        f"inv {what}": lambda A, what=what: glla.inv(A, assume_a=what) for what in ("gen", "pos", "lower triangular")
    },
    "inv gauss_jordan": lambda A: glla.inv(A, variant="gauss_jordan"),
    "inv author's": lambda A: glla.inv(A, assume_a="pos", variant="cholesky_gets_product"),
    "lu_solve": lambda A: glla.lu_solve((A, np.broadcast_to(np.arange(A.shape[-1]), A.shape[:-1])), A[..., :2]),
    "cho_solve": lambda A: glla.cho_solve((A, True), A[..., :2]),
    "lu_factor": lambda A: glla.lu_factor(A)[0],
    **{name: getattr(glla, name) for name in ("det", "slogdet", "rcond", "cholesky", "qr")},
    **{f"array API's {name}": getattr(xp.linalg, name) for name in ("det", "slogdet")},
}  # fmt: skip


def parts(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", CALLS)
def test_results_stay_and_diagnostics_alone_are_read(name, device, rng, traffic):
    a = batch_of(COUNT, ORDER, rng)
    A = glla.asarray(a, device)
    traffic["write"].clear()
    found = parts(CALLS[name](A))
    assert sum(traffic["read"]) < a.nbytes / 4 and sum(traffic["write"]) < a.nbytes / 16
    assert all(type(one) is glla.Array and one.shape[0] == COUNT and one.device is device for one in found)
    for mine, expected in zip(found, parts(CALLS[name](a)), strict=True) if "API" not in name else ():
        tolerance = 0 if name in ("det", "slogdet") else 1e-4 * np.abs(expected).max()
        np.testing.assert_allclose(mine.numpy(), expected, rtol=0, atol=tolerance)


NUMBERS = {
    **dict.fromkeys(("solve gen", "solve pos", "inv gen", "inv pos", "cho_solve", "cholesky"), 1),
    **dict.fromkeys(("solve lower triangular", "inv lower triangular", "lu_solve"), 1),
    "rcond": 3, "det": 5, "slogdet": 5, "lu_factor": 5,
}  # fmt: skip
"""Numbers that are read of each matrix of order 3 that is accepted, in a stack of many."""


@pytest.mark.parametrize("name", NUMBERS)
def test_of_small_matrices_little_is_read(name, device, rng, traffic):
    a, bytes_ = batch_of(9600, 3, rng), 9600 * 4 * NUMBERS[name]  # of fewer, all diagnostics are read
    CALLS[name](glla.asarray(a, device))
    assert bytes_ <= sum(traffic["read"]) <= bytes_ * 1.05
    traffic["read"].clear()
    a[700] *= np.float32(2.0**-64 if "triangular" in name else 2.0**-41)  # one that is looked at
    CALLS[name](glla.asarray(a, device))
    assert sum(traffic["read"]) < bytes_ * 1.05 + 400


@pytest.mark.parametrize(
    ("variant", "numbers"), [("adjugate", 3), ("adjugate_fused", 3), ("pivoted_small", 9), ("gauss_jordan", 1)]
)
def test_inverses_of_order_3_stay(variant, numbers, device, rng, traffic):
    count = 40 if variant == "gauss_jordan" else 400  # that goes one by one
    a = batch_of(count, 3, rng).reshape(4, -1, 3, 3)
    A = glla.asarray(a, device)
    traffic["write"].clear()
    X = glla.inv(A, variant=variant)
    assert type(X) is glla.Array and X.shape == a.shape
    assert not traffic["write"]
    assert max(traffic["read"]) <= 4 * numbers * count * 1.1  # the last line of a texture is filled up
    x = glla.inv(a, variant=variant)
    testing.assert_exact(X.numpy(), x)
    testing.assert_exact(glla.inv(A[1, 2], variant=variant).numpy(), x[1, 2])
    turned = glla.inv(a[:, ::2].swapaxes(0, 1).mT, variant=variant)
    testing.assert_exact(glla.inv(A[:, ::2].swapaxes(0, 1).mT, variant=variant).numpy(), turned)
    assert glla.inv(A[:0], variant=variant).shape == (0, *a.shape[1:])


@pytest.mark.parametrize(
    ("n", "exponents"),
    [(1, (0, 0, 0, 0)), (9, (0, 0, 0, 0)), *((n, (0, 100, -100, 3)) for n in (1, 3, 9, 260))],  # 260: one by one
    ids=str,
)
def test_determinants_are_those_of_the_host_bit_by_bit(n, exponents, device, rng):
    a = np.ldexp(batch_of(4, n, rng), np.reshape(exponents, (4, 1, 1))).reshape(2, 2, n, n)
    a[1, 1, 0] = 0  # singular
    A = glla.asarray(a, device)
    for mine, expected in zip(glla.slogdet(A), glla.slogdet(a), strict=True):
        testing.assert_exact(mine.numpy(), expected)
    testing.assert_exact(glla.det(A, check_finite=False).numpy(), glla.det(a, check_finite=False))
    if exponents[1] and n > 1:
        with pytest.raises(NonFiniteError, match=r"^det: the determinant does not fit float32"):
            glla.det(A)


def test_one_matrix_gives_numbers(rng):
    A = glla.asarray(batch_of(2, 5, rng))
    for one in (glla.det(A[0]), *glla.slogdet(A[0]), glla.rcond(A[0])):
        assert type(one) is np.float32
    for one in (glla.det(A), *glla.slogdet(A), glla.rcond(A)):
        assert type(one) is glla.Array and one.dtype == np.float32 and one.shape == (2,)
    for one in (np.linalg.det(A), *np.linalg.slogdet(A), xp.linalg.det(A[0])):
        assert type(one) is glla.Array


@pytest.mark.parametrize("variant", ["adjugate", "adjugate_fused"])
def test_inverses_out_of_range_are_refused(variant, rng):
    a = batch_of(3, 3, rng)
    for exponent, message in (
        (127, r"got one below 2\^-126 at index \(1\) of the stack;"),
        (-140, "does not fit float32"),
    ):
        # 2^-140: entries are denormals, which a GPU may take for zeros
        given = a.copy()
        given[1] = np.eye(3) * 2.0**exponent
        for one in (given, glla.asarray(given)):
            with pytest.raises((NonFiniteError, SingularMatrixError)) as caught:
                glla.inv(one, variant=variant)
            assert exponent < 0 or caught.match(message)
    bad = a.copy()
    bad[2, 0, 0] = np.nan
    BAD = glla.asarray(bad, check_finite=False)
    with pytest.raises(
        NonFiniteError,
        match=r"^inv: A must not hold NaN or infinity, got an Array whose matrix at index \(2\) of the stack does",
    ):
        glla.inv(BAD, variant=variant)
    testing.assert_exact(
        glla.inv(BAD, variant=variant, check_finite=False).numpy()[:2], glla.inv(a, variant=variant)[:2]
    )


def test_a_residual_that_may_be_too_large_is_looked_at(device, rng, traffic):
    """Rejected matrices alone are read back: the author's pivot of 1e-8 loses what is in the matrix."""
    a = batch_of(4, 20, rng)
    a[2, :2, :2], a[2, :2, 2:], a[2, 2:, :2] = [[1e-8, 1], [1, 1]], 0, 0
    A = glla.asarray(a, device)
    with pytest.raises(ConvergenceError, match=r"n norm\(A\) norm\(X\) u at index \(2\) of the stack, .* in column 0 "):
        glla.inv(A, variant="gauss_jordan")
    assert traffic["read"].count(a[0].nbytes) == 2  # A and X of the one


def test_a_large_inverse_is_checked_and_accepted(device, rng, traffic):
    """n norm(A) norm(X) u is above 1, as if noise were a pivot; the rows are small, and that is all."""
    a = np.ldexp(batch_of(1, 33, rng)[0], -np.arange(33)[:, np.newaxis])
    X = glla.inv(glla.asarray(a, device), variant="gauss_jordan")
    assert traffic["read"].count(a.nbytes) == 2
    testing.assert_exact(X.numpy(), glla.inv(a, variant="gauss_jordan"))


def test_the_residual_of_the_authors_way_knows_the_half_that_is_given(device, rng, traffic):
    """What is on the other side of the diagonal is not read, by the residual neither."""
    a = batch_of(1, 24, rng)[0]
    given = np.tril(a) + np.triu(np.full_like(a, 7), 1)
    options = {"assume_a": "pos", "lower": True, "variant": "cholesky_gets_product"}
    X = glla.inv(glla.asarray(given, device), **options)
    assert a.nbytes not in traffic["read"]
    np.testing.assert_allclose(X.numpy(), glla.inv(a), rtol=0, atol=1e-4)
    upper = glla.inv(glla.asarray(given.T.copy(), device), **{**options, "lower": False})
    np.testing.assert_allclose(upper.numpy(), glla.inv(a), rtol=0, atol=1e-4)


def test_a_residual_beyond_what_float32_tells_is_read(monkeypatch, device, rng, traffic):
    monkeypatch.setattr(residual, "ACCEPTED", 0.0)  # whatever the device finds may be too large
    a = batch_of(2, 10, rng)
    for options in ({"variant": "gauss_jordan"}, {"assume_a": "pos", "variant": "cholesky_gets_product"}):
        traffic["read"].clear()
        X = glla.inv(glla.asarray(a, device), **options)
        assert traffic["read"].count(a[0].nbytes) == 4  # A and X of both
        testing.assert_exact(X.numpy(), glla.inv(a, **options))


def scaled(a, place):
    """Bring a matrix near float32's limits: it is done again by the fallback."""
    a[place] *= np.float32(2.0**-90)


def weak(a, place):
    """Take the strength of a matrix's diagonal: three diagonals alone are eliminated without exchanges."""
    a[place] -= np.diag(np.diag(a[place]) * np.float32(1 - 1e-6))


FALLBACKS = {
    "solve gen": scaled, "solve pos": scaled, "solve tridiagonal": weak, "inv gen": scaled, "inv pos": scaled,
    "cho_solve": scaled, "lu_factor": scaled, "slogdet": scaled, "rcond": scaled, "cholesky": scaled,
    "lu_solve": scaled, "solve lower triangular": scaled, "inv lower triangular": scaled,
}  # fmt: skip
"""Calls, and what a matrix needs the fallback for."""


@pytest.mark.parametrize("name", FALLBACKS)
def test_matrices_that_need_the_fallback_are_read_alone(name, device, rng, traffic):
    count, places = 60, (7, 31)
    a = batch_of(count, 20, rng)
    calm, fallback, one = glla.asarray(a, device), a.copy(), a[0].nbytes
    for place in places:
        FALLBACKS[name](fallback, place)
    A, bytes_of = glla.asarray(fallback, device), {}
    for which, given in (("calm", calm), ("fallback", A)):
        traffic["read"].clear()
        traffic["write"].clear()
        found = parts(CALLS[name](given))
        bytes_of[which] = [sum(traffic[way]) for way in ("read", "write")]
    more = np.subtract(bytes_of["fallback"], bytes_of["calm"])
    assert one / 20 <= more[0] <= len(places) * 4 * one  # operands, factors and what comes of them
    assert more[1] <= len(places) * 4 * one + 3 * 4 * count  # and a number for each matrix
    for mine, expected in zip(found, parts(CALLS[name](fallback)), strict=True):
        tolerance = 1e-6 if name == "rcond" else 0  # norms are summed in another order
        np.testing.assert_allclose(getattr(mine, "numpy", mine.copy)(), expected, rtol=tolerance)


def test_the_bandwidth_is_found_where_the_matrices_are(device, rng, traffic):
    a = np.triu(np.tril(batch_of(30, 20, rng), 1), -2)
    A = glla.asarray(a, device)
    traffic["write"].clear()
    X = glla.solve(A, np.ones(20), assume_a="banded")
    assert sum(traffic["read"]) < a.nbytes / 4 and sum(traffic["write"]) < a.nbytes / 4
    testing.assert_exact(X.numpy(), glla.solve(a, np.ones(20), assume_a="banded"))


def exchanges(a, rng):
    """Row numbers as LAPACK has them: each row is exchanged with one at or below it."""
    n = a.shape[-1]
    return np.stack([rng.integers(i, n, a.shape[:-2]) for i in range(n)], axis=-1)


TRIANGLES = {
    **{
        f"solve_triangular {lower}{unit}{trans}": lambda a, b, piv, lower=lower, unit=unit, trans=trans: (
            glla.solve_triangular(a, b, trans, lower, unit)
        )
        for lower, unit, trans in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))
    },
    "inv lower": lambda a, b, piv: glla.inv(a, assume_a="lower triangular"),
    "inv upper": lambda a, b, piv: glla.inv(a, assume_a="upper triangular"),
    "lu_solve": lambda a, b, piv: glla.lu_solve((a, piv), b),
    "lu_solve transposed": lambda a, b, piv: glla.lu_solve((a, piv), b, trans=1),
}


@pytest.mark.parametrize("name", TRIANGLES)
@pytest.mark.parametrize("far", [False, True])
def test_stacks_of_triangles_are_batched_and_are_the_hosts(name, far, device, rng, monkeypatch):
    a = (rng.standard_normal((3, 4, 11, 11)) / 11 + 2 * np.eye(11)).astype(np.float32)
    b = rng.standard_normal((4, 11, 3)).astype(np.float32)  # broadcasts
    if far:
        a[1, 2, 5] *= np.float32(2.0**-90)
        a[2, 0] *= np.float32(2.0**-70)
    piv = exchanges(a, rng)
    A, B, before = glla.asarray(a.mT, device).mT, glla.asarray(b, device), device.stats().plans
    X = TRIANGLES[name](A, B, piv)
    assert device.stats().plans - before < 50  # one by one there are 12 times as many
    x = TRIANGLES[name](a, b, piv)
    testing.assert_exact(X.numpy(), x)
    monkeypatch.setattr(stack, "capacity", lambda *_: 5)  # in three pieces
    testing.assert_exact(TRIANGLES[name](A, B, piv).numpy(), x)
    testing.assert_exact(TRIANGLES[name](A[0, :1], B[:1], piv[0, :1]).numpy(), x[0, :1])


# -- float32's limits: one rule for arrays of the host and on a device ------------------------------------------------


@pytest.mark.parametrize("shape", [(9, 5), (3, 4, 4)], ids=str)
def test_of_factors_by_reflections_one_number_is_read_if_any(shape, device, rng, traffic):
    A = glla.asarray(rng.standard_normal(shape), device)
    glla.qr(A)
    assert sum(traffic["read"]) <= 16
    traffic["read"].clear()
    glla.qr(A, check_finite=False)
    assert not traffic["read"]


@pytest.mark.parametrize("n", [1, 2, 3, 9, 70, 260])
def test_condition_numbers_differ_from_the_hosts_by_the_rounding_of_their_norms(n, device, rng):
    a = np.exp(rng.uniform(-4, 4, (2 if n > 256 else 40, n, n))).astype(np.float32)
    a[1] = 1 + 2.0**-24 * (np.arange(n * n).reshape(n, n) % 5) + n * np.eye(n)  # sums that round one way
    expected = glla.rcond(a).astype(np.float64)
    off = np.abs(glla.rcond(glla.asarray(a, device)).numpy() - expected)
    assert (off <= 2 * n * 2.0**-24 * expected).all()
    alone = np.abs(glla.rcond(glla.asarray(a[1], device)) - np.float64(glla.rcond(a[1])))
    assert alone <= 2 * n * 2.0**-24 * expected[1]


@pytest.mark.parametrize("n", [1, 4, 33, 64, 65])
def test_a_small_system_takes_the_plan_of_one_of_the_host(n, device, rng):
    """Three read-backs, and the host's passes with those that unpack operands and pack the solution; the same bits."""
    a, b = rng.standard_normal((n, n)).astype(np.float32), rng.standard_normal((n, 3)).astype(np.float32)
    A, B = glla.asarray(a, device), glla.asarray(b, device)
    few, whole = n <= FEW, glla.plan("solve", A, B)
    assert sum(isinstance(step, Transfer) and whole.slots[step.target].host for step in whole.steps) == (
        3 if few else 7
    )
    assert (whole.cost.passes == glla.plan("solve", a, b).cost.passes + 3) is few
    assert (glla.solve(A, B).numpy().tobytes() == glla.solve(a, b).tobytes()) is few
    np.testing.assert_array_equal(glla.inv(glla.asarray(np.eye(n)[::-1] * 4, device)), np.eye(n)[::-1] / 4)


@pytest.mark.parametrize("n", [1, 70])
def test_a_matrix_of_denormals_is_not_zero(n, device):
    a = glla.asarray(np.eye(n) * np.float32(3e-39), device)
    x = glla.solve(a, np.full((n, 65), 1e-3), equilibrate=False).numpy()
    np.testing.assert_allclose(x, np.float32(1e-3) / np.float64(np.float32(3e-39)), rtol=1e-6)


@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.parametrize("name", ["solve", "inv", "lu_factor", "cholesky", "qr"])
def test_a_small_call_reads_back_behind_its_passes(name, n, device):
    """The passes are the same, and so is the result; under a trace the plans run of which it is made."""
    operands = [glla.asarray(one, device) for one in OPERATIONS[name].example(n, np.random.default_rng(n))]
    plan = glla.plan(name, *operands)
    made = merged(device, plan)
    passes, expected = ([getattr(step, "shader", "") for step in one.passes] for one in (made, plan))
    assert passes == expected
    calls = sum(isinstance(step, Call) for step in made.steps)
    assert calls == (3 if name in ("solve", "inv") else 1)  # operands are read back, and the solution is uploaded
    found = getattr(glla, name)(*operands)
    with glla.trace():
        expected = getattr(glla, name)(*operands)
    for one, other in zip(*(part if isinstance(part, tuple) else (part,) for part in (found, expected)), strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
