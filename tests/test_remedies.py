"""solve, inv, det and the factors where the usual way goes wrong: growth, noise for a pivot, float32's limits."""

import warnings
from contextlib import suppress

import numpy as np
import pytest
import scipy.linalg

import glla
from glla import testing
from glla.errors import GrowthWarning, NonFiniteError, SingularMatrixError
from glla.testing.adversaries import exact_pivots, growing, hidden_singular
from tests.matrix import HARD, regular

ORDERS = [12, 16, 19, 24, 32, 64, 129, 200, 257]
BELOW = [-1.0, -0.9]


# Growth ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("n", ORDERS)
def test_growth_in_systems(n, below, rng):
    a = growing(n, below)
    b = testing.normal(n, 2, rng)
    testing.assert_solve(a, glla.solve(a, b), b)
    testing.assert_solve(a, glla.solve(a, b[:, 0], equilibrate=False), b[:, 0])
    testing.assert_solve(a, glla.solve(glla.asarray(a), b).numpy(), b)
    testing.assert_inverse(a, glla.inv(a))
    testing.assert_inverse(a, glla.inv(glla.asarray(a)).numpy())


@pytest.mark.parametrize("n", [32, 64, 200])
def test_growth_and_the_solution(n):
    """Condition about n: the solution itself is right, not only the residual."""
    a = growing(n)
    x = np.linspace(-1, 1, n)
    b = (a.astype(np.float64) @ x).astype(np.float32)
    assert np.abs(glla.solve(a, b) - x).max() < 4 * n * n * testing.ROUNDOFF
    refined = glla.solve(a, b, refine=True)
    assert refined.backward_error < 1e-14


def test_growth_beside_many_right_hand_sides(rng):
    device = glla.Device(max_bytes=2**22)
    a, b = growing(300), testing.normal(300, 700, rng)
    testing.assert_solve(a, glla.solve(a, b, device=device), b)


@pytest.mark.parametrize("n", [64, 256, 512])
def test_growth_that_does_no_harm_is_no_error(n):
    a = scipy.linalg.hadamard(n).astype(np.float32)  # orthogonal, and of growth n with any pivoting
    b = a.sum(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        testing.assert_solve(a, glla.solve(a, b), b)
        testing.assert_plu(a, *glla.plu(a))
        assert glla.rref(a).pivots == tuple(range(n))


@pytest.mark.parametrize("function", [glla.plu, glla.lu_factor])
@pytest.mark.parametrize("form", ["array", "Array", "stack"])
def test_factors_say_that_entries_grew(function, form):
    if function is glla.plu and form == "stack":
        pytest.skip("plu takes one matrix")
    a = growing(32, -0.9)
    operand = {"array": a, "Array": glla.asarray(a), "stack": np.stack([np.eye(32, dtype=np.float32), a])}[form]
    with pytest.warns(GrowthWarning, match=rf"^{function.__name__}: entries grow \d\.\d+e\+08 .* is \d\.\d+e\+05, 30"):
        function(operand)


@pytest.mark.parametrize("n", [16, 24])
def test_factors_within_the_bound_are_no_warning(n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = growing(n)  # whole numbers: growth without a rounding error
        testing.assert_plu(a, *glla.plu(a))


@pytest.mark.parametrize("function", [glla.plu, glla.lu_factor])
def test_factors_that_overflow_are_an_error(function):
    for operand in (growing(140), glla.asarray(growing(140))):
        with pytest.raises(NonFiniteError, match=f"^{function.__name__}: the factors do not fit float32"):
            function(operand)


@pytest.mark.parametrize("n", [4, 17, 50])
@pytest.mark.parametrize("kind", [*HARD, *testing.MATRICES])
def test_factors_keep_their_bound_or_say_so(kind, n, rng):
    a = regular(kind, n, rng)
    with warnings.catch_warnings(record=True) as report:
        warnings.simplefilter("always", GrowthWarning)
        factors = glla.plu(a)
    assert report or testing.judge_plu(a, *factors).ok


# Singular systems --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [24, 28, 31, 40, 55, 120, 200, 270])
def test_noise_for_a_pivot_is_found(n, rng):
    found = 0
    while found < (4 if n < 100 else 1):
        a = hidden_singular(n, rng).astype(np.float32)
        if n < 100 and len(exact_pivots(a)) == n:  # the random factor is singular or not; the triangle always is
            continue
        found += 1
        for operand in (a, glla.asarray(a), a[np.newaxis]):
            with pytest.raises(SingularMatrixError, match=r"^solve: Singular matrix"):
                glla.solve(operand, np.ones((n, 1)))
            with pytest.raises(SingularMatrixError, match=r"^inv: Singular matrix"):
                glla.inv(operand)


def test_noise_may_be_nearly_as_large_as_its_column():
    """One of 200 hidden singular matrices of `benchmarks.doubt`: its noise is 0.4 to 0.9 of the entries above it."""
    rng = np.random.default_rng(2007)
    sizes = [n for n in (32, 64, 128, 256, 512) for _ in range(40)]
    for n in sizes:
        testing.normal(n, n, rng)
    for n in sizes:
        testing.normal(n, n - 1, rng)
        testing.normal(n - 1, n, rng)
    for n in 40 * [32] + 33 * [64]:
        a = hidden_singular(n, rng).astype(np.float32)
    assert len(exact_pivots(a)) == 63
    with pytest.raises(SingularMatrixError):
        glla.solve(a, np.ones(64))
    with pytest.raises(SingularMatrixError):
        glla.inv(glla.asarray(a))


def test_a_strict_caller_is_not_disturbed(rng):
    """numpy.errstate(all="raise") is for the caller's own arithmetic, not for ours."""
    with np.errstate(all="raise"):
        glla.matmul([[1e-60]], [[1]])
        glla.inv(testing.conditioned(4, 4, rng))
        glla.det(np.diag([1e-60, 1]))
        glla.solve(testing.conditioned(4, 4, rng), [1e-60, 1e-30, 1, 1e30])
        glla.rref(np.diag([1e-60, 1]), tol=1e-60)
        for a in (growing(40, -0.9), growing(140), growing(40) * np.float32(1e-38), growing(40) * np.float32(1e30)):
            b = a.sum(axis=1)
            glla.solve(a, b)
            glla.solve(a, b, refine=True)
            glla.slogdet(a)
            glla.rcond(a)
            glla.rref(a)
            glla.rref(a, tol=1e-40)
            with suppress(NonFiniteError), warnings.catch_warnings():
                warnings.simplefilter("ignore", GrowthWarning)
                glla.plu(a)
        with pytest.raises(SingularMatrixError):
            glla.solve(hidden_singular(40, rng), np.ones(40))


# The limits of float32 ---------------------------------------------------------------------------------------------


def test_results_that_only_the_host_can_hold():
    assert glla.solve([[3e38]], [1]) == np.float32(1 / np.float64(np.float32(3e38)))
    testing.assert_exact(glla.inv(np.diag([2.0**127, 1])), np.diag([2.0**-127, 1]).astype(np.float32))
    x = glla.solve(np.diag([1e-40, 1]).astype(np.float32), [1e-40, 1])
    testing.assert_exact(x, np.ones(2, dtype=np.float32))


def test_a_solution_that_underflows_is_an_error():
    with pytest.raises(NonFiniteError, match=r"^solve: the solution must fit float32, .* entry of column 0 is 1"):
        glla.solve(np.eye(3) * 1e30, np.full(3, 1e-30))
    testing.assert_exact(glla.solve(np.eye(3) * 1e30, np.zeros(3)), np.zeros(3, dtype=np.float32))


# Sweeps ------------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
@pytest.mark.timeout(1800)
def test_singular_systems_are_never_solved_and_random_ones_always():
    rng = np.random.default_rng(12)
    silent, alarms, singular, regular = 0, 0, 0, 0
    while singular < 400:
        n = int(rng.integers(20, 65))
        a = hidden_singular(n, rng).astype(np.float32)
        if len(exact_pivots(a)) == n:
            continue
        singular += 1
        for call in (lambda a=a, n=n: glla.solve(a, np.ones(n)), lambda a=a: glla.inv(a)):
            try:
                call()
                silent += 1
            except SingularMatrixError:
                pass
    while regular < 1000:
        n = int(rng.integers(2, 200))
        a = [testing.normal, testing.uniform, testing.conditioned][regular % 3](n, n, rng)
        regular += 1
        try:
            glla.solve(a, np.ones(n))
        except SingularMatrixError:
            alarms += 1
    print(f"solved though singular: {silent} of {2 * singular}; refused though regular: {alarms} of {regular}")
    assert silent == 0
    assert alarms == 0


def test_another_pivoting_may_meet_the_bound(rng):
    """Pairs of rows are brought up at once by the block norms: they need not grow where partial pivoting does."""
    a = growing(40, -0.9)[:, ::-1].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        testing.assert_plu(a, *glla.plu(a))


def test_components_of_any_size():
    """The right-hand side of the scaled system has entries from 1e-76 to 1."""
    a = np.diag([1e38, 1, 1e-38]).astype(np.float32)
    expected = (1 / np.diagonal(a).astype(np.float64)).astype(np.float32)
    for x in (glla.solve(a, np.ones(3)), glla.solve(a[np.newaxis], np.ones((1, 3, 1)))[0, :, 0]):
        np.testing.assert_allclose(x, expected, rtol=1e-6)
    large = np.diag(np.tile(np.diagonal(a), 90))
    np.testing.assert_allclose(glla.solve(large, np.ones(270)), np.tile(expected, 90), rtol=1e-6)
    testing.assert_exact(glla.inv(np.diag([2.0**120, 1, 2.0**-120])), np.diag(np.float32([2.0**-120, 1, 2.0**120])))


@pytest.mark.parametrize("exponent", [-130, -120, -60, 60, 115])
@pytest.mark.parametrize("n", [1, 5, 9, 40, 260])
def test_systems_and_factors_of_any_size(n, exponent, rng):
    a = np.ldexp(testing.conditioned(n, n, rng, cond=10.0), exponent).astype(np.float32)
    b = np.ldexp(testing.normal(n, 2, rng), exponent).astype(np.float32)
    testing.assert_solve(a, glla.solve(a, b), b)
    testing.assert_solve(a, glla.solve(a, b, equilibrate=False), b)
    testing.assert_plu(a, *glla.plu(a))
    lu, piv = glla.lu_factor(a)
    testing.assert_plu(a, testing.permutation_from_piv(piv), *testing.unpack_lu(lu))
    testing.assert_solve(a, glla.lu_solve((lu, piv), b), b)
    testing.assert_solve(a.T, glla.lu_solve((lu, piv), b, trans=1), b)
    if exponent >= -120:  # larger entries of the inverse do not fit float32
        testing.assert_inverse(a, glla.inv(a))
    expected = np.linalg.slogdet(a.astype(np.float64))
    sign, logarithm = glla.slogdet(a)
    assert sign == expected.sign
    assert abs(logarithm - expected.logabsdet) <= 1e-4 * n


def test_small_right_hand_sides(rng):
    a = testing.conditioned(20, 20, rng)
    b = testing.normal(20, 3, rng) * np.float32([1e-38, 1, 1e36])
    for operand in (b, glla.asarray(b)):
        x = glla.solve(a, operand)
        x = x if isinstance(x, np.ndarray) else x.numpy()
        for column in range(3):
            testing.assert_solve(a, x[:, column], b[:, column])
