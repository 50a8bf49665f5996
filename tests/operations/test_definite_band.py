"""Bands: exact factors and solutions of integers, the bits of a whole matrix, bounds, what is not positive definite."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg

import glla
from glla.errors import NonFiniteError, NotPositiveDefiniteError, OptionError, ShapeError
from glla.linalg.definite_band import solve_definite_band
from glla.operations import OPERATIONS
from glla.operations.elimination import definite_band as kernel
from glla.operations.elimination.definite_band import VARIANTS
from glla.passes import Limits, Tuned, resident
from glla.testing import JUDGES

SIZES = [(1, 0), (1, 3), (2, 1), (5, 2), (5, 9), (16, 15), (17, 1), (33, 16), (40, 17), (70, 5), (100, 33), (64, 63)]
every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_size = pytest.mark.parametrize(("n", "w"), SIZES)
every_place = pytest.mark.parametrize("place", [np.asarray, glla.asarray])


def stored(a, w, lower=False, corner=0.0):
    """LAPACK's storage of a band, with a number in its corners."""
    n = len(a)
    ab = np.full((w + 1, n), corner, dtype=np.float32)
    for d in range(min(w + 1, n)):
        if lower:
            ab[d, : n - d] = np.diagonal(a, -d)
        else:
            ab[w - d, d:] = np.diagonal(a, d)
    return ab


def integers(n, w, rng):
    """A banded triangle of integers, and its product with its transpose, which float32 holds."""
    b = np.tril(np.triu(rng.integers(-9, 10, (n, n)), -w), -1) + np.diag(rng.integers(1, 10, n))
    return b, b @ b.T


def definite(n, w, rng, condition=10.0):
    """A band that dominates its diagonal the less, the larger the condition."""
    a = np.tril(np.triu(rng.standard_normal((n, n)), -w), -1)
    a = a + a.T
    values = np.linalg.eigvalsh(a) if n else np.zeros(1)
    spread = max(values[-1] - values[0], 1.0)
    a += (spread / (condition - 1) * (1 + 1e-6) - values[0] if condition > 1 else 0) * np.eye(n)
    return (a / np.abs(a).max()).astype(np.float32)


@every_variant
@every_size
def test_integers_are_exact(n, w, variant, rng):
    b, a = integers(n, w, rng)
    for lower in (False, True):
        factor = glla.cholesky_banded(stored(a, w, lower), lower=lower, variant=variant)
        assert (factor == stored(b if lower else b.T, w, lower)).all()
    powers = np.tril(b, -1) + np.diag(2 ** rng.integers(0, 3, n))
    x = rng.integers(-3, 4, (n, 2))
    a = powers @ powers.T
    for lower in (False, True):
        assert (solve_definite_band("f", stored(a, w, lower), a @ x, lower, variant=variant) == x).all()


@every_variant
@every_size
def test_bounds_hold_whatever_the_condition(n, w, variant, rng):
    for condition in (2.0, 1e3, 1e6):
        a, b = definite(n, w, rng, condition), rng.standard_normal((n, 3)).astype(np.float32)
        ab = stored(a, w)
        for place in (np.asarray, glla.asarray):
            factor = np.asarray(glla.cholesky_banded(place(ab), variant=variant))
            assert JUDGES["cholesky_banded"].verdict((ab,), factor).ok
            x = np.asarray(solve_definite_band("f", place(ab), place(b), variant=variant))
            assert JUDGES["solve_pos_banded"].verdict((ab, b), x).ok


@pytest.mark.parametrize(("n", "w"), [(47, 9), (113, 40), (130, 16)])
def test_the_bits_are_those_of_the_whole_matrix(n, w, device, rng):
    """In software, where nobody contracts additions and multiplications otherwise."""
    a = definite(n, w, rng)
    whole = glla.cholesky(a, variant="block16", device=device)
    for variant in VARIANTS:
        factor = glla.cholesky_banded(stored(a, w, True), lower=True, variant=variant, device=device)
        expected = stored(whole, w, True)
        close = factor == expected if device.limits.software else np.abs(factor - expected) < 1e-6
        assert close.all(), variant


@pytest.mark.parametrize("shape", [(40,), (40, 1), (40, 5)])
def test_it_mixes_with_scipy(shape, rng):
    a, b = definite(40, 7, rng), rng.standard_normal(shape).astype(np.float32)
    for lower in (False, True):
        ab = stored(a, 7, lower)
        x = solve_definite_band("f", ab, b, lower)
        assert x.shape == shape and x.dtype == np.float32
        assert np.abs(x - scipy.linalg.solveh_banded(ab.astype(float), b, lower=lower)).max() < 1e-4
        factor = glla.cholesky_banded(ab, lower=lower)
        assert np.abs(scipy.linalg.cho_solve_banded((factor, lower), b) - x).max() < 1e-4
        assert np.abs(factor - scipy.linalg.cholesky_banded(ab.astype(float), lower=lower)).max() < 1e-5


@every_place
def test_corners_and_the_rest_of_a_texture_are_never_read(place, rng):
    _, a = integers(37, 5, rng)
    for lower in (False, True):
        ab = stored(a, 5, lower, np.nan)
        given = ab if place is np.asarray else place(ab, check_finite=False)
        options = {"lower": lower, "check_finite": False}
        found = np.asarray(glla.cholesky_banded(given, **options))
        assert (found == glla.cholesky_banded(np.nan_to_num(ab), **options)).all()
        x = np.asarray(solve_definite_band("f", given, np.ones(37), **options))
        assert np.isfinite(x).all()
        given = np.asfortranarray(ab) if place is np.asarray else place(ab.T.copy(), check_finite=False).T
        assert (np.asarray(glla.cholesky_banded(given, **options)) == found).all()


@every_variant
@every_place
@pytest.mark.parametrize("order", [1, 2, 17, 40])
def test_the_leading_minor_is_named(order, place, variant, rng):
    a = definite(40, 6, rng)
    a[order - 1, order - 1] = -1e-3
    ab = stored(a, 6)
    for call in (
        lambda: glla.cholesky_banded(place(ab), variant=variant),
        lambda: solve_definite_band("cholesky_banded", place(ab), np.ones(40), variant=variant),
    ):
        with pytest.raises(
            NotPositiveDefiniteError, match=rf"^cholesky_banded: .* leading minor of order {order} is not, as pivot"
        ):
            call()


def test_semidefinite_bands_raise():
    for ab, order in (([[0, 1], [1, 1]], 2), ([[0, 0]], 1), ([[0, 1, 1, 1], [1, 2, 2, 1]], 4)):
        with pytest.raises(NotPositiveDefiniteError, match=rf"leading minor of order {order} is not"):
            glla.cholesky_banded(ab)


@every_place
@pytest.mark.parametrize("spread", [-60, -30, 30, 60])
def test_graded_bands_are_scaled_on_the_host(spread, place, rng):
    n, w = 20, 3
    d = np.ldexp(1.0, np.linspace(-spread, spread, n).astype(int))
    plain, b = definite(n, w, rng), rng.standard_normal((n, 2)).astype(np.float32)
    a = (plain * np.outer(d, d)).astype(np.float32)
    for lower in (False, True):
        ab = stored(a, w, lower)
        factor = np.asarray(glla.cholesky_banded(place(ab), lower=lower)).astype(float)
        expected = scipy.linalg.cholesky_banded(ab.astype(float), lower=lower)
        scale = np.where(expected == 0, 1, expected)
        assert np.abs((factor - expected) / scale).max() < 1e-3
        x = np.asarray(solve_definite_band("f", place(ab), place((b.T * d).T.astype(np.float32)), lower))
        y = np.linalg.solve(plain.astype(float), b)
        assert np.abs((x.astype(float).T * d).T - y).max() < 1e-3


def test_float32_s_limits():
    for number in (1e-38, 3e38):
        exact = Fraction(float(np.float32(number)))
        root = Fraction(float(glla.cholesky_banded([[number]])[0, 0]))
        assert abs(root * root / exact - 1) < Fraction(1, 2**22)
    with pytest.raises(NonFiniteError):
        solve_definite_band("f", np.float32([[1e-38]]), [1e38])


@pytest.mark.parametrize("n", [1, 16, 17, 100])
@pytest.mark.parametrize("w", [0, 1, 20, 100])
def test_the_passes_are_those_that_are_stated(n, w):
    blocks = -(-n // 16)
    reach = w > 0 and n > 1
    for variant, factor in (("sixteen", blocks + 2), ("block16", 3 * blocks - (1 if reach else blocks) + 2)):
        plan = kernel.plan(resident((w + 1, n)), Limits(), variant=variant)
        plan.check()
        assert plan.cost.passes == factor + 2
        system = kernel.solution(resident((w + 1, n), (n, 2)), Limits(), variant=variant)
        system.check()
        assert system.cost.passes == factor + 1 + 2 * blocks + 2


def test_the_work_is_that_of_the_band():
    """A step writes what is within reach of it, however large the matrix."""
    plan = kernel.plan(resident((131, 4096)), Limits(software=True))
    updates = [step.region for step in plan.steps if getattr(step, "shader", "") == "cholesky/update"]
    assert len(updates) == 255 and max(one.width * one.height for one in updates) == 72 * 72
    assert kernel.choose(resident((131, 4096)), Limits()) == ("block16", ())
    assert kernel.choose(resident((9, 4096)), Limits()) == ("sixteen", ())


@pytest.mark.parametrize("name", ["cholesky_banded", "solve_pos_banded"])
def test_what_was_tuned_holds_for_bands_of_that_shape(name):
    tuned = Limits(tuned=(Tuned(name, 1024, "block16"),))
    choose = OPERATIONS[name].choose
    assert choose(resident((40, 1024)), Limits()) == ("sixteen", ())
    assert choose(resident((40, 1024)), tuned) == ("block16", ())
    assert choose(resident((9, 1024)), tuned) == ("sixteen", ())  # much narrower
    others = {"cholesky_banded", "solve_pos_banded"} - {name}
    assert all(OPERATIONS[one].choose(resident((40, 1024)), tuned) == ("sixteen", ()) for one in others)
    made = OPERATIONS[name].core(resident((40, 1024), (1024, 1))[: len(OPERATIONS[name].operands)], tuned)
    assert made.operation == f"{name}[block16]"


def test_nothing_and_what_is_refused():
    for shape in ((3, 0), (0, 0), (0, 3)):  # as SciPy's
        assert glla.cholesky_banded(np.empty(shape)).shape == scipy.linalg.cholesky_banded(np.empty(shape)).shape
        assert glla.cholesky_banded(glla.asarray(np.empty(shape))).shape == shape
    assert solve_definite_band("f", np.empty((3, 0)), np.empty((0, 2))).shape == (0, 2)
    assert solve_definite_band("f", [[0, 1], [2, 2]], np.empty((2, 0))).shape == (2, 0)
    with pytest.raises(ShapeError, match=r"cholesky_banded: ab must have shape \(\.\.\., w \+ 1, n\), got \(3,\)"):
        glla.cholesky_banded(np.ones(3))
    with pytest.raises(ShapeError, match=r"solveh: b must have as many rows as ab has columns, got ab \(2, 2\) and b"):
        solve_definite_band("solveh", [[0, 1], [2, 2]], [1, 2, 3])
    with pytest.raises(OptionError, match="variant must be one of block16, sixteen, got 'fast'"):
        glla.cholesky_banded([[1.0]], variant="fast")
    with pytest.raises(NonFiniteError, match="solveh: ab must not hold NaN or infinity"):
        solve_definite_band("solveh", glla.asarray([[np.nan, 1]], check_finite=False), [1, 2])


def test_the_coprocessor_has_it(rng):
    ab = stored(definite(9, 2, rng), 2)
    with glla.coprocessor() as gpu:
        assert (gpu.cholesky_banded(ab).result() == glla.cholesky_banded(ab)).all()


def test_the_judges_can_fail(rng):
    a, b = definite(9, 2, rng), rng.standard_normal((9, 1)).astype(np.float32)
    ab = stored(a, 2)
    good = scipy.linalg.cholesky_banded(ab.astype(float)).astype(np.float32)
    judge = JUDGES["cholesky_banded"]
    assert judge.verdict((ab,), good).ok and judge.deviation((ab,), good) < 1e-6
    corner, dropped, negative, nan = (good.copy() for _ in range(4))
    corner[0, 0], dropped[1, 4], nan[2, 8] = 1e-3, 0, np.nan
    negative[2, 3] *= -1
    for wrong in (corner, dropped, negative, nan):
        assert not judge.verdict((ab,), wrong).ok
    x, solver = np.linalg.solve(a.astype(float), b).astype(np.float32), JUDGES["solve_pos_banded"]
    assert solver.verdict((ab, b), x).ok and solver.deviation((ab, b), x) < 1e-6
    for wrong in (x * np.float32(1.001), x[::-1].copy(), np.full_like(x, np.nan)):
        assert not solver.verdict((ab, b), wrong).ok


@pytest.mark.parametrize("number", [1.0, 2.0**100])
def test_what_is_shown_is_what_runs(number, device, rng):
    ab, b = (number * stored(definite(40, 5, rng), 5)).astype(np.float32), np.ones((40, 1), np.float32)
    shown = glla.plan("solve_pos_banded", ab, b, device=device)
    with glla.trace() as trace:
        solve_definite_band("f", ab, b, device=device)
    steps = list(shown.flat.steps)
    if number > 1:
        steps += shown.after[0].plan().flat.steps
    assert [one.shader for one in trace.passes if one.draw] == [
        step.shader for step in steps if hasattr(step, "shader")
    ]
