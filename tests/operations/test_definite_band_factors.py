"""Systems with the Cholesky factor of a band: SciPy's and ours, exact integers, graded rows, stacks, what fails."""

import numpy as np
import pytest
import scipy.linalg

import glla
from glla.errors import NonFiniteError, ShapeError, SingularMatrixError
from glla.operations import OPERATIONS
from glla.operations.elimination import definite_band_factors as kernel
from glla.passes import Limits, resident
from glla.testing import JUDGES

SIZES = [(1, 0), (2, 1), (5, 2), (16, 15), (17, 1), (33, 16), (40, 17), (70, 5), (64, 63)]
every_place = pytest.mark.parametrize("place", [np.asarray, glla.asarray])
every_half = pytest.mark.parametrize("lower", [False, True])


def stored(factor, w, lower, corner=0.0):
    """L in LAPACK's storage, or U = L^T."""
    n = factor.shape[-1]
    ab = np.full((w + 1, n), corner, dtype=np.float32)
    for d in range(w + 1):
        if lower:
            ab[d, : n - d] = np.diagonal(factor, -d)
        else:
            ab[w - d, d:] = np.diagonal(factor, -d)
    return ab


def triangle(n, w, rng):
    """A banded triangle of integers with powers of two on its diagonal, so that all steps are exact."""
    return np.tril(np.triu(rng.integers(-3, 4, (n, n)), -w), -1) + np.diag(2 ** rng.integers(0, 3, n))


def spd(n, w, rng):
    factor = np.tril(np.triu(rng.uniform(-1, 1, (n, n)), -w), -1) / (w + 1) + np.diag(rng.uniform(1, 2, n))
    return factor.astype(np.float32)


@every_place
@every_half
@pytest.mark.parametrize(("n", "w"), SIZES)
def test_integers_are_exact_whatever_the_corners_hold(n, w, lower, place, rng):
    factor, x = triangle(n, w, rng), rng.integers(-3, 4, (n, 3))
    cb, b = stored(factor, w, lower, np.nan), (factor @ factor.T @ x).astype(np.float32)
    given = place(cb) if place is np.asarray else glla.asarray(cb, check_finite=False)
    found = glla.cho_solve_banded((given, lower), b, check_finite=False)
    assert isinstance(found, glla.Array) == (place is glla.asarray)
    assert (np.asarray(found) == x).all()
    assert (np.asarray(glla.cho_solve_banded((-stored(factor, w, lower), lower), b)) == x).all()  # L L^T all the same


@every_place
@every_half
def test_factors_mix_with_scipy_s(lower, place, rng):
    factor = spd(40, 7, rng)
    ab = stored(factor @ factor.T, 7, lower)
    for b in (rng.standard_normal(40).astype(np.float32), rng.standard_normal((40, 3)).astype(np.float32)):
        for cb in (scipy.linalg.cholesky_banded(ab, lower=lower), glla.cholesky_banded(ab, lower=lower)):
            x = np.asarray(glla.cho_solve_banded((place(cb), lower), place(b)))
            assert x.shape == b.shape and x.dtype == np.float32
            assert np.abs(x - scipy.linalg.cho_solve_banded((cb.astype(float), lower), b)).max() < 1e-4
            columns = (b, x) if b.ndim > 1 else (b[:, np.newaxis], x[:, np.newaxis])
            assert JUDGES["cho_solve_banded"].verdict((cb, lower, columns[0]), columns[1]).ok


@every_half
@pytest.mark.parametrize("spread", [-60, 30, 60])
def test_graded_factors_are_scaled_on_the_host(lower, spread, rng):
    n, w = 20, 3
    d = np.ldexp(1.0, np.linspace(-spread, spread, n).astype(int))
    plain, b = spd(n, w, rng), rng.standard_normal((n, 2))
    expected = np.linalg.solve(plain.astype(float) @ plain.T.astype(float), b)
    graded, right = stored((plain.T * d).T.astype(np.float32), w, lower), (b.T * d).T.astype(np.float32)
    for cb, rhs in ((graded, right), (np.stack([graded, stored(plain, w, lower)]), np.stack([right, np.float32(b)]))):
        x = glla.cho_solve_banded((cb, lower), rhs)
        first, second = (x[0], x[1]) if x.ndim > 2 else (x, expected)
        assert np.abs((first.astype(float).T * d).T - expected).max() < 1e-3
        assert np.abs(second - expected).max() < 1e-4


@every_place
@every_half
@pytest.mark.parametrize(("n", "w"), [(1, 0), (5, 2), (40, 17), (33, 1)])
def test_stacks_have_the_bits_of_their_members(n, w, lower, place, device, rng):
    factors = np.stack([stored(spd(n, w, rng), w, lower) for _ in range(6)]).reshape(2, 3, w + 1, n)
    b = rng.standard_normal((2, 3, n, 2)).astype(np.float32)
    x = np.asarray(glla.cho_solve_banded((place(factors), lower), place(b)))
    assert x.shape == b.shape
    for i in np.ndindex(2, 3):
        alone = glla.cho_solve_banded((factors[i], lower), b[i])
        assert (x[i] == alone).all() if device.limits.software else np.abs(x[i] - alone).max() < 1e-5
    one = np.asarray(glla.cho_solve_banded((place(factors[0, 0]), lower), place(b)))  # for all of them
    assert JUDGES["cho_solve_banded"].verdict((factors[0, 0], lower, b[1, 2]), np.ascontiguousarray(one[1, 2])).ok
    vector = np.asarray(glla.cho_solve_banded((place(factors), lower), place(b[0, 0, :, 0])))
    assert vector.shape == (2, 3, n)


@every_place
def test_a_zero_on_the_diagonal_is_named(place):
    cb = np.ones((3, 2, 4), np.float32)
    cb[1, 1, 2] = 0
    with pytest.raises(SingularMatrixError, match=r"^cho_solve_banded: .* at index \(1\) of the stack: .* at place 2"):
        glla.cho_solve_banded((place(cb), False), place(np.ones((4, 1), np.float32)))
    with pytest.raises(SingularMatrixError, match=r"^cho_solve_banded: Singular matrix: the factor is zero at place 2"):
        glla.cho_solve_banded((place(cb[1]), False), np.ones(4))


@every_place
def test_a_solution_that_leaves_the_range_is_refused(place):
    cb = np.array([np.full(17, -1000), np.ones(17)], dtype=np.float32)
    for given in (cb, np.stack([cb, cb])):
        with pytest.raises(NonFiniteError, match=r"^cho_solve_banded: the result does not fit float32"):
            glla.cho_solve_banded((place(given), False), place(np.ones((17, 1), np.float32)))


def test_nothing_and_what_is_refused():
    assert glla.cho_solve_banded((np.empty((3, 0)), True), np.empty((0, 2))).shape == (0, 2)
    assert glla.cho_solve_banded((np.ones((0, 1, 3)), True), np.empty((0, 3, 2))).shape == (0, 3, 2)
    assert glla.cho_solve_banded((np.ones((2, 1, 3)), True), np.empty((3, 0))).shape == (2, 3, 0)
    assert glla.cho_solve_banded((glla.asarray(np.ones((1, 3))), True), np.empty((3, 0))).shape == (3, 0)
    with pytest.raises(ShapeError, match=r"^cho_solve_banded: the first argument must be the pair \(cb, lower\)"):
        glla.cho_solve_banded(np.ones(3), np.ones(3))
    with pytest.raises(ShapeError, match=r"cb must have shape \(\.\.\., w \+ 1, n\), got \(3,\)"):
        glla.cho_solve_banded((np.ones(3), True), np.ones(3))
    with pytest.raises(ShapeError, match=r"b must have as many rows as cb has columns, got cb \(1, 3\) and b \(4,\)"):
        glla.cho_solve_banded((np.ones((1, 3)), True), np.ones(4))
    with pytest.raises(ShapeError, match="leading dimensions must broadcast"):
        glla.cho_solve_banded((np.ones((2, 1, 3)), True), np.ones((3, 3, 1)))
    with pytest.raises(NonFiniteError, match="cho_solve_banded: b must not hold NaN or infinity"):
        glla.cho_solve_banded((np.ones((1, 2)), True), glla.asarray([1, np.nan], check_finite=False))


@pytest.mark.parametrize("n", [1, 17, 100])
def test_the_passes_are_those_that_are_stated(n):
    plan = kernel.plan(resident((4, n), (n, 2)), Limits())
    plan.check()
    assert plan.cost.passes == 2 * -(-n // 16) + 4


def test_the_coprocessor_has_it(rng):
    cb = stored(spd(9, 2, rng), 2, True)
    with glla.coprocessor() as gpu:
        found = gpu.cho_solve_banded((cb, True), np.ones(9)).result()
    assert (found == glla.cho_solve_banded((cb, True), np.ones(9))).all()


def test_the_judge_can_fail(rng):
    factor, b = spd(8, 2, rng), rng.standard_normal((8, 1)).astype(np.float32)
    x = np.linalg.solve(factor.astype(float) @ factor.T.astype(float), b).astype(np.float32)
    judge = JUDGES["cho_solve_banded"]
    for inputs in (
        (stored(factor, 2, True), True, b),
        (stored(factor, 2, False), False, b),
        (stored(factor, 2, False), b),
    ):
        assert judge.verdict(inputs, x).ok and judge.deviation(inputs, x) < 1e-6
        for wrong in (x * np.float32(1.001), x[::-1].copy(), x[:, 0], np.full_like(x, np.nan)):
            assert not judge.verdict(inputs, wrong).ok
    cb, b = OPERATIONS["cho_solve_banded"].example(9, rng)
    assert not judge.verdict((cb, True, b), glla.cho_solve_banded((cb, False), b)).ok
