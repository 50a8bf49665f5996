"""Cholesky: exact factors of integer matrices, bounds, what is not positive definite, and what is never read."""

from dataclasses import replace

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import NotPositiveDefiniteError, OptionError, ShapeError
from glla.operations.elimination import cholesky as kernel
from glla.operations.elimination.cholesky import VARIANTS
from glla.passes import Limits, resident
from glla.testing import JUDGES

ORDERS = (1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 33, 64, 65, 129, 160)
JUDGE = JUDGES["cholesky"]


def definite(n, rng, condition=10.0):
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    a = (q * np.geomspace(1, 1 / condition, n)) @ q.T
    return ((a + a.T) / 2).astype(np.float32)


def integers(n, rng):
    """A triangle of integers, and its product with its transpose, which float32 holds."""
    b = np.tril(rng.integers(-9, 10, (n, n)), -1) + np.diag(rng.integers(1, 10, n))
    return b.astype(np.float32), (b @ b.T).astype(np.float32)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", ORDERS)
def test_the_factor_keeps_its_bound(n, variant, device, rng):
    for condition in (1.0, 100.0, 1e5):
        a = definite(n, rng, condition)
        verdict = JUDGE.verdict((a,), glla.cholesky(a, variant=variant, device=device))
        assert verdict.ok, verdict


@pytest.mark.parametrize("panel", [32, 64, 96, 128])
@pytest.mark.parametrize("n", [1, 33, 100, 131, 200])
def test_the_rest_may_be_updated_in_two_passes(n, panel, device, rng):
    """Integers exactly, also where rows are not whole blocks; and as few passes as there are panels."""
    b = np.tril(rng.integers(-3, 4, (n, n)), -1) + np.diag(rng.integers(1, 10, n))
    a = (b @ b.T).astype(np.float32)
    a[np.triu_indices(n, 1)] = np.nan
    parameters = (("FUSED", 0), ("PANEL", panel), ("UPDATE", 1), ("UNROLL", 0))
    plan = kernel.plan(resident((n, n)), device.limits, variant="blocked", parameters=parameters)
    plan.check()
    found = glla.Matrix(device, device.run(plan, A=device.upload(a))["L"], (n, n)).numpy()
    assert (found == b).all()
    inner = [-(-min(panel, n - top) // 16) for top in range(0, n, panel)]
    assert plan.cost.passes == sum(3 * count + 1 for count in inner) + 2 * (len(inner) - 1)


@pytest.mark.parametrize("n", [1, 16, 17, 40])
def test_integers_are_exact_in_one_pass_for_16_columns(n, device, rng):
    b, a = integers(n, rng)
    plan = kernel.plan(resident((n, n)), device.limits, variant="blocked", parameters=(("FUSED", 64),))
    assert (glla.Matrix(device, device.run(plan, A=device.upload(a))["L"], (n, n)).numpy() == b).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 40])
def test_integers_are_exact(n, variant, device, rng):
    b, a = integers(n, rng)
    assert (glla.cholesky(a, variant=variant, device=device) == b).all()


@pytest.mark.parametrize("n", [129, 300])
def test_larger_matrices_have_panels(n):
    fused, panels = (kernel.plan(resident((order, order)), Limits(), variant="blocked") for order in (128, n))
    assert fused.operation == "cholesky[blocked, fused]" and fused.cost.passes == 8
    assert panels.operation == "cholesky[blocked]" and panels.cost.passes > 50
    gpu, software = (VARIANTS["blocked"].settle("", (), Limits(software=one)) for one in (False, True))
    assert gpu == {"PANEL": 96, "FUSED": 128, "UPDATE": 0, "UNROLL": 2, "LEFT": 1}
    assert software == {"PANEL": 64, "FUSED": 0, "UPDATE": 0, "UNROLL": 0, "LEFT": 0}


@pytest.mark.parametrize("panel", [32, 64])
def test_sixteen_columns_may_take_four_draws(panel, device, rng):
    """Those of a step do not wait for each other; where columns are no multiple of 16 the last ones take one."""
    n = 75
    b, a = integers(n, rng)
    a[np.triu_indices(n, 1)] = np.nan
    passes = []
    for unroll in (0, 1, 2):
        parameters = (("FUSED", 0), ("PANEL", panel), ("UNROLL", unroll))
        plan = kernel.plan(resident((n, n)), device.limits, variant="blocked", parameters=parameters)
        plan.check()
        assert (glla.Matrix(device, device.run(plan, A=device.upload(a))["L"], (n, n)).numpy() == b).all()
        passes.append(plan.cost.passes)
    assert passes == [passes[0], passes[0] + 3 * (n // 16), passes[0] + 3 * (n // 16)]


@pytest.mark.parametrize("update", [0, 1])
@pytest.mark.parametrize("panel", [32, 64])
def test_columns_of_a_panel_may_look_left(panel, update, device, rng):
    """The same products in the same order, so the same bits; a pass for each 16 columns but the first of a panel."""
    n = 147
    a = definite(n, rng)
    a[np.triu_indices(n, 1)] = np.nan
    bits, passes = [], []
    for left in (0, 1):
        parameters = (("FUSED", 0), ("PANEL", panel), ("UPDATE", update), ("LEFT", left))
        plan = kernel.plan(resident((n, n)), device.limits, variant="blocked", parameters=parameters)
        plan.check()
        bits.append(glla.Matrix(device, device.run(plan, A=device.upload(a))["L"], (n, n)).numpy())
        shaders = [getattr(one, "shader", "") for one in plan.passes]
        passes.append([one for one in shaders if one in ("cholesky/left", "cholesky/update")])
    assert (bits[0] == bits[1]).all()
    assert set(passes[0]) == {"cholesky/update"} and set(passes[1]) == {"cholesky/left"}
    assert len(passes[0]) == len(passes[1])


@pytest.mark.parametrize("n", [1, 9, 16, 17, 65, 112])
@pytest.mark.parametrize("software", [True, False])
def test_the_passes_are_those_that_are_stated(n, software):
    blocks = -(-n // 16)
    panel = 64 if software else 96
    inner = [-(-min(panel, n - top) // 16) for top in range(0, n, panel)]
    groups = [blocks - top // 16 for top in range(panel, n, panel)]
    expected = {
        "rank2": -(-n // 2),
        "block16": 3 * blocks - 1,
        "block16_rows": 3 * blocks - 1 + (blocks - 1) * (blocks - 2) // 2,
        "blocked": 1
        + sum(3 * count + 1 for count in inner)
        + sum(3 + count for count in groups),  # with a transfer each
    }
    if not software:  # all of these are small
        expected["blocked"] = blocks
    for variant, passes in expected.items():
        plan = kernel.plan(resident((n, n)), Limits(software=software), variant=variant)
        plan.check()
        assert plan.cost.passes == passes, variant


@pytest.mark.parametrize("n", [47, 48, 113, 197])
def test_all_variants_subtract_the_same_products_in_the_same_order(n, device, rng):
    a = definite(n, rng)
    expected = glla.cholesky(a, variant="rank2", device=device)
    a[np.triu_indices(n, 1)] = np.nan
    choices = [(name, ()) for name in VARIANTS] + [
        ("blocked", ((one, 256 if one == "FUSED" else 32),)) for one in ("PANEL", "FUSED")
    ]
    for variant, parameters in choices:
        plan = kernel.plan(resident((n, n)), device.limits, variant=variant, parameters=parameters)
        texture = device.run(plan, A=device.upload(a))["L"]
        found = glla.Matrix(device, texture, (n, n)).numpy()
        close = found == expected if device.limits.software else np.abs(found - expected) < 1e-5
        assert close.all(), (variant, parameters)


def test_large_matrices_go_in_panels():
    for order, variant in ((159, "rank2"), (160, "blocked")):
        assert kernel.choose(resident((order, order)), Limits(software=True)) == (variant, ())
    for order, variant in ((63, "rank2"), (64, "blocked")):
        assert kernel.choose(resident((order, order)), Limits()) == (variant, ())


def test_the_upper_factor_is_the_transpose(device, rng):
    a = definite(33, rng)
    lower = glla.cholesky(a, device=device)
    assert (glla.cholesky(a, upper=True, device=device) == lower.T).all()
    A = glla.asarray(a, device)
    assert (glla.cholesky(A).numpy() == lower).all()
    assert (glla.cholesky(A, upper=True).numpy() == lower.T).all()
    assert (glla.cholesky(np.asfortranarray(a), device=device) == lower).all()


def test_the_other_half_is_never_read(device):
    a = np.float32([[4, np.nan], [2, 5]])
    assert (glla.cholesky(a, device=device, check_finite=False) == [[2, 0], [1, 2]]).all()
    assert (glla.cholesky(a.T, upper=True, device=device, check_finite=False) == [[2, 1], [0, 2]]).all()
    assert (glla.cholesky([[4, 99], [2, 5]], device=device) == [[2, 0], [1, 2]]).all()


@pytest.mark.parametrize(
    ("a", "order"),
    [
        ([[0]], 1),
        ([[-1]], 1),
        ([[1, 1], [1, 1]], 2),
        ([[4, 2], [2, -1]], 2),
        (np.diag([1, 1, 1, -1, 1]), 4),
        (np.zeros((3, 3)), 1),
        ([[np.nan, 0], [0, 1]], 1),
        (np.diag([2.0**-100, 1, -(2.0**100)]), 3),
    ],
)
@pytest.mark.parametrize("place", [np.asarray, glla.asarray])
def test_the_leading_minor_is_named(a, order, place, device):
    a = np.asarray(a, dtype=np.float32)
    operand = a if place is np.asarray else glla.asarray(a, device, check_finite=False)
    with pytest.raises(
        NotPositiveDefiniteError, match=rf"its leading minor of order {order} is not, as pivot {order - 1} "
    ):
        glla.cholesky(operand, device=device, check_finite=False)


def test_stacks_name_the_member(device, rng):
    a = np.stack([definite(5, rng), 4 * np.eye(5, dtype=np.float32)]).reshape(1, 2, 5, 5)
    factors = glla.cholesky(a, device=device)
    assert factors.shape == a.shape
    assert all(JUDGE.verdict((one,), factor).ok for one, factor in zip(a[0], factors[0], strict=True))
    a[0, 1, 2, 2] = -1
    with pytest.raises(NotPositiveDefiniteError, match=r"at index \(0, 1\) of the stack: its leading minor of order 3"):
        glla.cholesky(a, device=device)
    assert glla.plan("cholesky", (1, 2, 5, 5), device=device).cost.passes == 5  # for both
    with pytest.raises(NotPositiveDefiniteError, match=r"at index \(0, 1\) of the stack: its leading minor of order 3"):
        glla.cholesky(a, variant="block16", device=device)  # one by one


@pytest.mark.parametrize("spread", [30, 60])
@pytest.mark.parametrize("place", [np.asarray, glla.asarray])
def test_graded_matrices_are_scaled_on_the_host(spread, place, device, rng):
    d = np.ldexp(1.0, np.linspace(-spread, spread, 9).astype(int))
    a = (definite(9, rng) * np.outer(d, d)).astype(np.float32)
    factor = np.asarray(glla.cholesky(place(a)))
    expected = np.linalg.cholesky(a.astype(np.float64))
    assert np.abs(factor / np.where(expected == 0, 1, expected) - (expected != 0)).max() < 1e-5


@pytest.mark.parametrize("number", [1e-44, 1e-38, 3e38])
def test_no_entry_leaves_the_range(number, device):
    assert glla.cholesky([[number]], device=device) == np.float32(np.sqrt(np.float64(np.float32(number))))


def test_empty_matrices_and_what_is_refused(device):
    assert glla.cholesky(np.empty((3, 0, 0)), device=device).shape == (3, 0, 0)
    with pytest.raises(ShapeError, match="must be square"):
        glla.cholesky(np.ones((2, 3)), device=device)
    with pytest.raises(OptionError, match="variant must be one of rank2, blocked, block16, block16_rows, got 'fast'"):
        glla.cholesky(np.eye(2), variant="fast", device=device)


def test_numpy_the_array_api_and_the_coprocessor_have_it(device, rng):
    a = definite(6, rng)
    A, lower = glla.asarray(a, device), glla.cholesky(a, device=device)
    assert (np.linalg.cholesky(A).numpy() == lower).all()
    assert (A.__array_namespace__().linalg.cholesky(A, upper=True).numpy() == lower.T).all()
    with glla.coprocessor() as gpu:
        assert (gpu.cholesky(a).result() == lower).all()


def test_the_judge_can_fail(rng):
    a = definite(8, rng)
    good = np.linalg.cholesky(a.astype(np.float64)).astype(np.float32)
    assert JUDGE.verdict((a,), good).ok
    dropped, swapped, negative, above, nan = (good.copy() for _ in range(5))
    dropped[5, 2] = 0
    swapped[[3, 4]] = swapped[[4, 3]]
    negative[:, 3] *= -1
    above[1, 5] = 1e-3
    nan[7, 7] = np.nan
    for wrong in (dropped, swapped, negative, above, nan, good.T):
        assert not JUDGE.verdict((a,), wrong).ok
    assert replace(JUDGE).deviation((a,), good) < 1e-6
    assert testing.RESIDUAL_LIMIT == 30


@pytest.mark.parametrize("number", [1.0, 2.0**100])
def test_what_is_shown_is_what_runs(number, device, rng):
    """Also where the matrix is scaled on the host: the second stage of the plan."""
    a = number * definite(9, rng)
    shown = glla.plan("cholesky", a, device=device)
    with glla.trace() as trace:
        glla.cholesky(a, device=device)
    steps = list(shown.flat.steps)
    if number > 1:
        assert [then.stage for then in shown.after] == ["care", ""]
        steps += shown.after[0].plan().flat.steps
    assert [one.shader for one in trace.passes if one.draw] == [
        step.shader for step in steps if hasattr(step, "shader")
    ]
