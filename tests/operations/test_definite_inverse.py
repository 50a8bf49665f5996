"""Inverses of positive definite matrices: exact where integers are, bitwise symmetric, within the bound or refused."""

from fractions import Fraction

import numpy as np
import pytest

import glla
from glla.errors import ConvergenceError, NonFiniteError, NotPositiveDefiniteError, OptionError
from glla.operations.elimination import definite_inverse as kernel
from glla.operations.elimination.definite_inverse import VARIANTS
from glla.passes import PLAIN, Limits, resident
from glla.testing import JUDGES, spd
from tests.matrix import every_place, unimodular

JUDGE = JUDGES["inv_pos"]
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def bits(x):
    return np.ascontiguousarray(x).view(np.int32)


@every_variant
@pytest.mark.parametrize("n", [1, 3, 17, 67])
def test_inverses_keep_their_bound_and_are_symmetric(n, variant, rng):
    for condition in (1.0, 1e6):
        a = spd(n, rng, condition)
        x = glla.inv(a, assume_a="pos", variant=variant)
        assert JUDGE.verdict((a,), x).ok
        if variant == "potri":
            assert (bits(x) == bits(x.T)).all()
        on_device = glla.inv(glla.asarray(a), assume_a="pos", variant=variant)
        assert isinstance(on_device, glla.Array) and (bits(on_device.numpy()) == bits(x)).all()


@every_variant
def test_every_product_that_may_be_chosen(run, rng, variant):
    """Those of a GPU, too, whose sums begin at the diagonal: 130 rows are two chunks of 96."""
    b, _ = unimodular(130, rng)
    a = (b @ b.T).astype(np.float32)
    for limits in (PLAIN, Limits(software=True)):
        plan = kernel.plan(resident(a.shape), limits, variant=variant)
        x = run(plan, A=a).matrix("X", a.shape)
        assert JUDGE.verdict((a,), x).ok


def test_what_is_above_the_diagonal_of_a_factor_is_not_multiplied():
    full, cut = (
        sum(step.region.width * step.region.height for step in steps)
        for steps in (
            [step for step in _products(upper) if step.shader == "matmul/panel_broadcast"] for upper in (False, True)
        )
    )
    assert cut < 0.6 * full


def _products(upper):
    from glla.operations import matmul
    from glla.passes import Form

    forms = Form((1024, 1024), resident=True), Form((1024, 1024), resident=True, transposed=True)
    plan = matmul.plan(forms, PLAIN, variant="panel_broadcast", symmetric=True, upper=upper)
    plan.check()
    return [step for step in plan.steps if hasattr(step, "shader")]


@every_variant
@every_place
@pytest.mark.parametrize("spread", [-60, -30, 30, 60])
def test_graded_matrices_are_scaled_on_the_host(spread, place, variant, rng):
    d = np.ldexp(1.0, np.linspace(-spread, spread, 9).astype(int))
    a = (spd(9, rng) * np.outer(d, d)).astype(np.float32)
    x = np.asarray(glla.inv(place(a), assume_a="pos", variant=variant)).astype(np.float64)
    expected = np.linalg.inv(a.astype(np.float64))
    assert np.abs((x - expected) * np.outer(d, d)).max() < 1e-4


def test_float32_s_limits():
    for number in (1e-38, 3e38):
        a = np.float32([[number]])
        exact = 1 / Fraction(float(a[0, 0]))
        assert abs(Fraction(float(glla.inv(a, assume_a="pos")[0, 0])) / exact - 1) < Fraction(1, 2**22)
    with pytest.raises(NonFiniteError):
        glla.inv(np.float32([[1e-44]]), assume_a="pos")


def test_nearly_singular_matrices_keep_their_bound_or_are_refused(rng):
    """Dependent rows of integers, summed up: what is left of the last pivot is an integer, or noise."""
    kept = 0
    for n in (3, 8, 21, 40):
        for seed in range(8):
            b = np.random.default_rng(seed).integers(-9, 10, (n, n - (seed % 2)))
            a = (b @ b.T).astype(np.float32)
            try:
                x = glla.inv(a, assume_a="pos")
            except NotPositiveDefiniteError:
                continue
            kept += 1
            assert JUDGE.verdict((a,), x).ok
    assert kept >= 16


def test_a_residual_that_is_too_large_is_an_error():
    one = np.ones((2, 1), np.float32)
    values = {"diagonal": one, "diagonal of X": one, "residual": np.array([31.0]), "member": ""}
    error = kernel.settle((), "", values)
    assert isinstance(error, ConvergenceError) and "is 31 n norm(A) norm(X) u, more than 30" in str(error)
    assert np.isnan(kernel.residual(np.ones((2, 2)), np.full((2, 2), np.nan))[0]).all()
    assert kernel.residual(np.float32([[4, 9], [2, 2]]), np.float32([[0.5, -0.5], [-0.5, 1]]))[0] == 0


def test_what_is_refused():
    with pytest.raises(OptionError, match="variant must be one of cholesky_gets_product, potri, got 'fast'"):
        glla.inv(np.eye(2), assume_a="pos", variant="fast")
    with pytest.raises(
        OptionError, match=r"inv: variant must be one of .*, got 'potri'; other ones are for assume_a='pos'"
    ):
        glla.inv(np.eye(2), variant="potri")


@every_variant
@pytest.mark.parametrize("number", [1.0, 2.0**100])
def test_what_is_shown_is_what_runs(number, variant, device, rng):
    a = (number * spd(9, rng)).astype(np.float32)
    shown = kernel.whole((glla.Form.of(a),), device.limits, variant=variant, lower=True)
    with glla.trace() as trace:
        glla.inv(a, assume_a="pos", variant=variant, lower=True, device=device)
    steps = list(shown.flat.steps)
    if number > 1:
        assert shown.after[0].stage == "care"
        steps += shown.after[0].plan().flat.steps
    assert [one.shader for one in trace.passes if one.draw] == [
        step.shader for step in steps if hasattr(step, "shader")
    ]
