"""Stacks of positive definite matrices by one plan: the bits of single ones, exact integers, members that are named."""

import numpy as np
import pytest

import glla
from glla.errors import NonFiniteError, NotPositiveDefiniteError
from glla.operations import OPERATIONS
from glla.operations.elimination import stack_definite as kernel
from glla.passes import PLAIN, Form, Limits
from glla.testing import JUDGES, spd
from tests.matrix import host, on_device, root

SIZES = [3, 17]
PLACES = [host, on_device]
every_place = pytest.mark.parametrize("place", PLACES, ids=["host", "device"])


def definite(count, n, rng, condition=10.0):
    return np.stack([spd(n, rng, condition) for _ in range(count)])


every_half = pytest.mark.parametrize("lower", [False, True], ids=["upper", "lower"])


def calls(a, b, place, lower, **options):
    """What users call of a stack, by name; the half that is not read holds NaN."""
    half = np.where(np.tri(a.shape[-1], dtype=bool), a, np.nan)
    given = half if lower else half.mT.copy()
    options = {"check_finite": False, **options}
    yield "cholesky", glla.cholesky(place(given), upper=not lower, **options)
    factor = glla.cho_factor(place(given), lower, **options)
    yield "cho_factor", factor[0]
    yield "cho_solve", glla.cho_solve(factor, place(b), **options)
    yield "inv", glla.inv(place(given), assume_a="pos", lower=lower, **options)
    if not lower:
        yield "solve", glla.solve(place(given), place(b), assume_a="pos", **options)


@every_place
@every_half
@pytest.mark.parametrize("n", SIZES)
def test_integers_are_exact(n, lower, place, rng):
    factors = np.stack([root(n, rng) for _ in range(7)]).astype(np.float32)
    a = factors @ factors.mT
    x = rng.integers(-5, 6, (7, n, 2)).astype(np.float32)
    for name, found in calls(a, a @ x, place, lower):
        assert isinstance(found, glla.Array) == (place is on_device)
        if name in ("cholesky", "cho_factor"):
            assert (np.asarray(found) == (factors if lower else factors.mT)).all()
        elif name != "inv":
            assert (np.asarray(found) == x).all()
        else:
            assert all(
                JUDGES["inv_pos"].verdict(pair[:1], pair[1]).ok for pair in zip(a, np.asarray(found), strict=True)
            )


@every_place
@pytest.mark.parametrize("n", [2, 5, 33])
def test_members_are_what_they_are_alone(n, place, rng):
    """A factor has the bits of a single one, and an inverse is symmetric bit by bit."""
    a, b = definite(6, n, rng, 1e4).reshape(2, 3, n, n), rng.standard_normal((2, 3, n, 3)).astype(np.float32)
    factors = np.asarray(glla.cholesky(place(a)))
    inverses = np.asarray(glla.inv(place(a), assume_a="pos"))
    x = np.asarray(glla.solve(place(a), place(b), assume_a="pos"))
    assert factors.shape == inverses.shape == a.shape and x.shape == b.shape
    assert (inverses.view(np.int32) == np.ascontiguousarray(inverses.mT).view(np.int32)).all()
    software = glla.default_device().limits.software
    for i in np.ndindex(2, 3):
        alone = glla.cholesky(a[i], variant="rank2")
        assert (factors[i] == alone).all() if software else np.abs(factors[i] - alone).max() < 1e-5
        assert JUDGES["inv_pos"].verdict((a[i],), np.ascontiguousarray(inverses[i])).ok
        assert JUDGES["solve_pos"].verdict((a[i], b[i]), np.ascontiguousarray(x[i])).ok


@every_place
def test_one_matrix_for_many_right_hand_sides_is_one_system(place, device, rng):
    a, b = definite(1, 7, rng), rng.standard_normal((3, 2, 7, 2)).astype(np.float32)
    for left in (a, a[0]):
        x = np.asarray(glla.solve(place(left), place(b), assume_a="pos"))
        assert x.shape == b.shape and np.abs(a @ x - b).max() < 1e-4
    factor = glla.cho_factor(place(a[0]))
    assert np.abs(np.asarray(glla.cho_solve(factor, place(b))) - x).max() < 1e-4


def test_all_members_go_by_one_plan(device, rng):
    for name, n, passes in (("cholesky", 9, 5 + 2), ("inv_pos", 9, 5 + 2 + 4), ("solve_pos", 9, 5 + 4 + 3)):
        shapes = [(1000, n, n)] + [(1000, n, 1)] * (name == "solve_pos")
        plan = glla.plan(name, *shapes, device=device)
        plan.check()
        assert plan.cost.passes == passes and plan.times == 1
    a = definite(50, 9, rng)
    with glla.trace() as trace:
        glla.cholesky(a, device=device)
    assert sum(bool(one.draw) for one in trace.passes) == 7


def test_large_members_go_one_by_one(device):
    forms = Form((3, 129, 129)), Form((3, 129, 1))
    assert kernel.most_together(forms, Limits(software=True)) == 0 < kernel.most_together(forms, PLAIN)
    assert kernel.most_together((Form((129, 129)),), PLAIN) == 0
    assert glla.plan("cholesky", (3, 150, 150), device=device).times == (3 if device.limits.software else 1)


def test_many_members_and_none(device, rng):
    a = np.broadcast_to(np.float32([[4, 2], [2, 5]]), (20_000, 2, 2)).copy()
    a[777, 1, 1] = 1
    with pytest.raises(NotPositiveDefiniteError, match=r"at index \(777\) of the stack: its leading minor of order 2"):
        glla.cholesky(a, device=device)
    a[777, 1, 1] = 5
    assert (glla.cholesky(a, device=device) == [[2, 0], [1, 2]]).all()
    for stack in ((0,), (3, 0)):
        assert glla.cholesky(np.empty((*stack, 2, 2)), device=device).shape == (*stack, 2, 2)
        assert glla.inv(np.empty((*stack, 2, 2)), assume_a="pos", device=device).shape == (*stack, 2, 2)
        x = glla.solve(np.empty((*stack, 2, 2)), np.empty((*stack, 2, 1)), assume_a="pos", device=device)
        assert x.shape == (*stack, 2, 1)


def test_nan_and_results_that_do_not_fit():
    a = np.stack([np.eye(2), np.eye(2)]).astype(np.float32)
    a[1, 0, 1] = np.nan
    for call in (lambda one: glla.solve(one, one, assume_a="pos"), lambda one: glla.inv(one, assume_a="pos")):
        with pytest.raises(NonFiniteError, match="A must not hold NaN or infinity"):
            call(glla.asarray(a, check_finite=False))
    tiny = np.float32([[[1e-44]], [[1]]])
    for place in PLACES:
        with pytest.raises(NonFiniteError):
            glla.inv(place(tiny), assume_a="pos")


@pytest.mark.parametrize("name", ["cholesky", "cho_factor", "cho_solve", "solve_pos", "inv_pos"])
def test_every_plan_of_a_stack_keeps_the_rules(name):
    shapes = [(9, 7, 7), (9, 7, 3)][: len(OPERATIONS[name].operands)]
    plan = OPERATIONS[name].batch.plan(tuple(map(Form, shapes)), PLAIN)
    plan.check()
    then, _ = plan.after
    then.plan().check()


# Order 4 at most ----------------------------------------------------------------------------------------------------


LONGER_WAY = {
    "cholesky": kernel.factor,
    "solve_pos": kernel.solve,
    "cho_solve": kernel.substitute,
    "inv_pos": kernel.invert,
}
"""Plans of larger matrices, by the operation."""


def records_of(run, plan, length, *operands):
    """Run a plan on stacks; give the record of each matrix. What is no record is zero."""
    storage = plan.slots["raw"]
    raw = np.full(storage.height * storage.width, np.nan, dtype=np.float32)
    flat = np.concatenate([operand.reshape(-1) for operand in operands])
    raw[: flat.size] = flat
    found = run(plan, raw=raw.reshape(storage.height, storage.width, 1))["records"]
    stride = length + -length % found.shape[-1]
    assert not found.reshape(-1)[len(operands[0]) * stride :].any()
    records = found.reshape(-1)[: len(operands[0]) * stride].reshape(-1, stride)
    assert not records[:, length:].any()
    return records[:, :length]


@pytest.mark.parametrize("columns", [1, 3, 6])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("name", LONGER_WAY)
def test_one_pass_gives_the_numbers_of_the_longer_way(run, name, n, columns, device, rng):
    """Of what is not definite, too, and with NaN in the other half; a member's NaN stays in it."""
    a = np.concatenate([definite(20, n, rng, 1e4), definite(20, n, rng) * np.float32(2.0**-30)])
    a[3, -1, -1] = -1
    a[4] = 0
    a[5, 0, 0] = np.nan
    a[6] *= np.float32(2.0**100)
    if name == "cho_solve":
        a = np.tril(a)
        a[7] *= -1
    half = np.where(np.tri(n, dtype=bool), a, np.nan).astype(np.float32)
    given = [half] + [rng.standard_normal((40, n, columns)).astype(np.float32)] * (name in ("solve_pos", "cho_solve"))
    forms, batch = tuple(Form(one.shape) for one in given), OPERATIONS[name].batch
    plan = batch.plan(forms, PLAIN)
    assert plan.cost.passes == 1 and plan.after
    small, large = (records_of(run, one, batch.length(forms), *given) for one in (plan, LONGER_WAY[name](forms, PLAIN)))
    if name != "inv_pos":  # without the spare line
        small, large = small[:, :-n], large[:, :-n]
    assert np.isfinite(small[:3]).all()
    bad = ~np.isfinite(large)
    assert (bad == ~np.isfinite(small)).all()
    # A GPU may contract additions and multiplications otherwise, which conditions of 1e4 enlarge.
    close = 0 if device.limits.software else 1e-2 * np.abs(np.where(bad, 0, large)).max(axis=1, keepdims=True)
    assert (bad | (np.abs(np.where(bad, 0, small - large)) <= close)).all()


@pytest.mark.parametrize("side", [4, 7, 64])
@pytest.mark.parametrize("name", LONGER_WAY)
def test_small_members_fit_small_textures(name, side):
    batch, limits = OPERATIONS[name].batch, Limits(texture_size=side)
    for n in (1, 2, 3, 4):
        shapes = [(n, n), (n, 3)][: len(OPERATIONS[name].operands)]
        count = batch.most(tuple(Form((9, *shape)) for shape in shapes), limits)
        assert count or side < 8
        if count:
            batch.plan(tuple(Form((count, *shape)) for shape in shapes), limits).check(limits)


def test_small_members_may_have_many_right_hand_sides(device, rng):
    a, b = definite(4, 3, rng), rng.standard_normal((4, 3, 300)).astype(np.float32)
    with glla.trace() as trace:
        x = glla.solve(a, b, assume_a="pos", device=device)
    assert [one.draw.shader for one in trace.passes if one.draw] == ["stack/definite_small"]
    assert all(JUDGES["solve_pos"].verdict(pair[:2], pair[2]).ok for pair in zip(a, b, x, strict=True))


def test_what_a_trace_sees_of_small_members(device, rng):
    a = definite(500, 3, rng)
    for call in (glla.cholesky, lambda one: glla.inv(one, assume_a="pos")):
        with glla.trace() as trace:
            call(a)
        assert [one.draw.shader for one in trace.passes if one.draw] == ["stack/definite_small"]
