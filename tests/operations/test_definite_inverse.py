"""Inverses of positive definite matrices: exact where integers are, bitwise symmetric, within the bound or refused."""

from fractions import Fraction

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import ConvergenceError, NonFiniteError, NotPositiveDefiniteError, OptionError, ShapeError
from glla.operations.elimination import definite_inverse as kernel
from glla.operations.elimination.definite_inverse import VARIANTS
from glla.passes import PLAIN, Limits, resident
from glla.testing import JUDGES

JUDGE = JUDGES["inv_pos"]
every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_place = pytest.mark.parametrize("place", [np.asarray, glla.asarray])


def definite(n, rng, condition=10.0):
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    a = (q * np.geomspace(1, 1 / condition, n)) @ q.T
    return ((a + a.T) / 2).astype(np.float32)


def unimodular(n, rng):
    """B B^T and its inverse, both of integers: B is the product of a few steps of an elimination."""
    b, inverse = np.eye(n), np.eye(n)
    for column in rng.integers(0, n, 3):
        step = np.eye(n)
        step[column + 1 :, column] = rng.integers(-3, 4, n - column - 1)
        b, inverse = b @ step, (2 * np.eye(n) - step) @ inverse
    return (b @ b.T).astype(np.float32), (inverse.T @ inverse).astype(np.float32)


def bits(x):
    return np.ascontiguousarray(x).view(np.int32)


@every_variant
@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 33, 67, 130])
def test_inverses_keep_their_bound_and_are_symmetric(n, variant, rng):
    for condition in (1.0, 1e3, 1e6):
        a = definite(n, rng, condition)
        x = glla.inv(a, assume_a="pos", variant=variant)
        assert JUDGE.verdict((a,), x).ok
        if variant == "potri":
            assert (bits(x) == bits(x.T)).all()
        on_device = glla.inv(glla.asarray(a), assume_a="pos", variant=variant)
        assert isinstance(on_device, glla.Matrix) and (bits(on_device.numpy()) == bits(x)).all()


@every_variant
@pytest.mark.parametrize("n", [1, 2, 5, 18, 40])
def test_integers_are_exact(n, variant, rng):
    a, expected = unimodular(n, rng)
    for lower in (False, True):
        assert (glla.inv(a, assume_a="pos", lower=lower, variant=variant) == expected).all()


@every_variant
def test_every_product_that_may_be_chosen(run, rng, variant):
    """Those of a GPU, too, whose sums begin at the diagonal: 130 rows are two chunks of 96."""
    a, _ = unimodular(130, rng)
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


@every_place
def test_half_of_the_matrix_is_never_read(place):
    a, expected = np.float32([[4, np.nan], [2, 2]]), np.float32([[0.5, -0.5], [-0.5, 1]])
    for matrix, lower in ((a, True), (a.T.copy(), False)):
        x = glla.inv(place(matrix) if place is np.asarray else place(matrix, check_finite=False), assume_a="pos",
                     lower=lower, check_finite=False)  # fmt: skip
        assert (np.asarray(x) == expected).all()


@every_place
@pytest.mark.parametrize(
    ("a", "order"), [([[0]], 1), ([[1, 1], [1, 1]], 2), (np.diag([1, 1, -1e-7, 1]), 3), (np.diag([2.0**-100, -1]), 2)]
)
def test_the_leading_minor_is_named(a, order, place):
    with pytest.raises(NotPositiveDefiniteError, match=rf"^inv: .* its leading minor of order {order} is not"):
        glla.inv(place(np.float32(a)), assume_a="pos")


@every_variant
@every_place
@pytest.mark.parametrize("spread", [-60, -30, 30, 60])
def test_graded_matrices_are_scaled_on_the_host(spread, place, variant, rng):
    d = np.ldexp(1.0, np.linspace(-spread, spread, 9).astype(int))
    a = (definite(9, rng) * np.outer(d, d)).astype(np.float32)
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


def test_stacks_name_the_member(rng):
    a = np.stack([definite(5, rng), 4 * np.eye(5, dtype=np.float32)]).reshape(1, 2, 5, 5)
    for place in (np.asarray, glla.asarray):
        x = np.asarray(glla.inv(place(a), assume_a="pos"))
        assert x.shape == a.shape
        assert all(JUDGE.verdict((one,), found).ok for one, found in zip(a[0], x[0], strict=True))
    a[0, 1, 2, 2] = -1
    for place in (np.asarray, glla.asarray):
        with pytest.raises(NotPositiveDefiniteError, match=r"\(0, 1\) of the stack: its leading minor of order 3"):
            glla.inv(place(a), assume_a="pos")


def test_nothing_and_what_is_refused():
    assert glla.inv(np.empty((3, 0, 0)), assume_a="pos").shape == (3, 0, 0)
    with pytest.raises(ShapeError, match="must be square"):
        glla.inv(np.ones((2, 3)), assume_a="pos")
    with pytest.raises(OptionError, match="variant must be one of cholesky_gets_product, potri, got 'fast'"):
        glla.inv(np.eye(2), assume_a="pos", variant="fast")
    with pytest.raises(
        OptionError, match=r"inv: variant must be one of .*, got 'potri'; other ones are for assume_a='pos'"
    ):
        glla.inv(np.eye(2), variant="potri")
    with pytest.raises(NonFiniteError, match="inv: A must not hold NaN or infinity"):
        glla.inv(glla.asarray([[1, np.nan], [0, 1]], check_finite=False), assume_a="pos")


def test_the_coprocessor_has_it(rng):
    a = definite(6, rng)
    with glla.coprocessor() as gpu:
        assert (gpu.inv(a, assume_a="pos").result() == glla.inv(a, assume_a="pos")).all()


def test_the_judge_can_fail(rng):
    a = definite(8, rng)
    x = np.linalg.inv(a.astype(np.float64)).astype(np.float32)
    assert JUDGE.verdict((a,), x).ok
    dropped, nan = x.copy(), x.copy()
    dropped[3, 2], nan[7, 7] = 0, np.nan
    for wrong in (dropped, nan, x * np.float32(1.001)):
        assert not JUDGE.verdict((a,), wrong).ok
    assert testing.RESIDUAL_LIMIT == 30


@every_variant
@pytest.mark.parametrize("number", [1.0, 2.0**100])
def test_what_is_shown_is_what_runs(number, variant, device, rng):
    a = (number * definite(9, rng)).astype(np.float32)
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
