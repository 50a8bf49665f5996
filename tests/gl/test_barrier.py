"""Passes in one texture: the same bits as in a texture for each slot, only where a barrier orders them, and proved."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import glla
from glla.errors import AbandonedError, PlanError
from glla.gl import barrier
from glla.operations.definite import cholesky
from glla.operations.elimination import plu
from glla.operations.orthogonal import qr_blocks
from glla.operations.probe import blending, chain
from glla.operations.product import matmul
from glla.operations.triangles import triangular
from glla.passes import Limits, Pass, PingPong, Region, Transfer, resident, shared
from glla.passes.sheet import in_one_texture

SIZE, STEPS = (5, 7), 9
START = np.zeros((*SIZE, 4), dtype=np.float32)
SHAPES = [(1, 1), (2, 3), (5, 70), (37, 37), (66, 61), (130, 130), (300, 67), (1100, 5)]
MOVED = in_one_texture(chain(SIZE, STEPS), 64, {})


def run(device, plan, start=START):
    (result,) = device.run(plan, start=device.write_texels(start)).values()
    return device.read(result)


def devices(wish):
    """A device that finds out by its first chain of passes whether slots share a texture."""
    with glla.Device() as own:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(barrier.VARIABLE, wish)
            run(own, chain(SIZE, STEPS))
        yield own


@pytest.fixture(scope="module")
def separate():
    """A device on which each slot has a texture of its own."""
    yield from devices(barrier.OFF)


@pytest.fixture(scope="module")
def joined():
    """A device on which slots share a texture."""
    for own in devices("on"):
        if not isinstance(own._runner._form_of, partial):
            pytest.skip("this OpenGL has no barrier that orders passes")
        yield own


def bits(device, results):
    """Bits of results; a NaN has any."""
    texels = {name: device.read(result) for name, result in results.items()}
    return {name: np.where(np.isnan(one), np.float32(np.nan), one).tobytes() for name, one in texels.items()}


def factored(device, shape, a, pivoting="partial"):
    limits = Limits(texture_size=device.limits.texture_size)
    made = plu.plan(resident(shape), limits, variant="blocked", pivoting=pivoting, parameters=(("UNROLL", 0),))
    assert any(isinstance(step, Pass) and step.barrier for step in made.steps)
    return bits(device, device.run(made, A=device.upload(a)))


def assert_same_bits(joined, separate, make, **arrays):
    """A plan made for the textures of each of two devices has the same bits on both."""
    one, other = (
        bits(device, device.run(make(Limits(texture_size=device.limits.texture_size)), **uploaded(device, arrays)))
        for device in (joined, separate)
    )
    assert one == other


def uploaded(device, arrays):
    return {name: device.upload(array) for name, array in arrays.items()}


def matrices(shape, rng):
    """Normal numbers, many ties, zeros, and entries that are not finite."""
    ties = rng.integers(-1, 2, shape).astype(np.float32)
    normal = rng.standard_normal(shape).astype(np.float32)
    spoiled = normal.copy()
    spoiled[shape[0] // 2, 0], spoiled[-1, -1] = np.inf, np.nan
    return normal, -ties, np.zeros(shape, dtype=np.float32), spoiled  # with zeros of either sign


@pytest.mark.parametrize("meet", [0, 1], ids=["each for itself", "meeting"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("pivoting", ["partial", "harmonic", "geometric"])
def test_a_panel_has_the_same_bits_in_one_texture(joined, separate, rng, monkeypatch, shape, pivoting, meet):
    form = partial(in_one_texture, side=joined.limits.texture_size, defines={"MEET": meet})
    monkeypatch.setattr(joined._runner, "_form_of", form)
    joined._runner.forget()
    for a in matrices(shape, rng):
        assert factored(joined, shape, a, pivoting) == factored(separate, shape, a, pivoting)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reflections_have_the_same_bits_in_one_texture(joined, separate, rng, shape):
    for a in matrices(shape, rng)[:3]:
        assert_same_bits(joined, separate, partial(qr_blocks.factors, shape, 16), A=a)


@pytest.mark.parametrize("n", [1, 17, 33, 70])
@pytest.mark.parametrize("kind", [{}, {"upper": True}, {"unit": True, "transposed": True}], ids=str)
def test_a_substitution_has_the_same_bits_in_one_texture(joined, separate, rng, n, kind):
    make = partial(triangular.plan, resident((n, n), (n, 3)), variant="chain", **kind)
    for a in matrices((n, n), rng):
        assert_same_bits(joined, separate, make, T=a, B=a[:, [0, -1, n // 2]])


@pytest.mark.parametrize("n", [1, 17, 32, 33, 100])
def test_a_definite_factor_has_the_same_bits_in_one_texture(joined, separate, rng, n):
    given = (("FUSED", 0), ("PANEL", 32), ("UNROLL", 1))
    make = partial(cholesky.plan, resident((n, n)), variant="blocked", parameters=given)
    a = rng.standard_normal((n, n)).astype(np.float32)
    for one in (a @ a.T + n * np.eye(n, dtype=np.float32), a, np.full((n, n), np.nan, dtype=np.float32)):
        assert_same_bits(joined, separate, make, A=one)


PRODUCTS = {
    "panel_broadcast": partial(matmul.plan, variant="panel_broadcast", parameters=(("DEPTH", 16),)),
    "panel_groups": partial(matmul.plan, variant="panel_groups", parameters=(("GROUPS", 32),)),
    "half": partial(matmul.plan, symmetric=True, upper=True, variant="panel_broadcast", parameters=(("DEPTH", 16),)),
}
FEW = Limits(uniform_block=2048)
"""Limits with which `panel_groups` takes several passes for 70 inner indices."""


@pytest.mark.parametrize("kind", PRODUCTS)
def test_a_product_in_place_has_the_same_bits(joined, separate, rng, kind):
    made = PRODUCTS[kind](resident((70, 70), (70, 70)), FEW)
    a, b = rng.standard_normal((2, 70, 70)).astype(np.float32)
    a = np.triu(a) if kind == "half" else a
    given = [uploaded(one, {name: {"A": a, "B": b}[name] for name in made.operands}) for one in (joined, separate)]
    first, second = (bits(one, one.run(made, **slots)) for one, slots in zip((joined, separate), given, strict=True))
    assert first == second
    assert joined._runner._prepared[made].form is not None
    assert separate._runner._prepared[made].form is None


@pytest.mark.parametrize("kind", PRODUCTS)
def test_passes_in_place_draw_each_texel_once_between_two_barriers(kind):
    whole = PRODUCTS[kind](resident((70, 70), (70, 70)), FEW)
    made = barrier.joined(whole, 512, {})
    made.check()
    targets = {slot for step in whole.steps if isinstance(step, Pass) and step.barrier for slot in step.outputs}
    assert len(made.slots) == len(whole.slots) - len(targets) // 2
    behind = [number for number, step in enumerate(made.steps) if isinstance(step, Pass) and step.barrier]
    for number in behind:
        with pytest.raises(PlanError, match=f"pass {number} .*: a barrier is missing between what it reads or draws"):
            changed(made, number, barrier=False).check()
        for parts in (None, {}, {"C0": Region(0, 0, 1, 1)}):
            with pytest.raises(PlanError, match=r"reads .* \(as C\d\) while drawing to it"):
                changed(made, number, parts=parts).check()
    if kind == "panel_broadcast":  # which has several passes of one chunk in a row
        with pytest.raises(PlanError, match="a barrier is missing"):
            changed(made, behind[0] + 1, region=made.steps[behind[0]].region).check()


def test_nothing_but_a_barrier_is_between_two_passes(quiet):
    plan = chain(SIZE, STEPS)
    assert run(quiet, plan)[..., 0].tolist() == np.full(SIZE, STEPS).tolist()
    if not isinstance(quiet._runner._form_of, partial):
        pytest.skip("this OpenGL has no barrier that orders passes")
    (bound,) = quiet._runner._prepared[plan].bound.values()
    barriers = [number for number, call in enumerate(bound.calls) if call is quiet.calls.texture_barrier]
    assert len(barriers) == STEPS
    assert np.diff(barriers).tolist() == [3, *[2] * (STEPS - 2)]  # the second pass is the first to sample it


@pytest.mark.parametrize("counts", [0.0, 1.0, np.nan])
def test_a_barrier_that_does_not_order_the_passes_is_not_used(fresh, counts):
    tried = []

    def wrong(plan, start):
        tried.append(plan)
        return np.full((*barrier.SIZE, 4), counts, dtype=np.float32)

    plan = chain(SIZE, STEPS)
    assert barrier.form(fresh._gl, 64, wrong)(plan) is plan
    assert len(tried) == int("GL_ARB_texture_barrier" in fresh._gl.extensions)


def test_fragments_meet_only_where_they_were_seen_to(joined):
    def apart(plan, start):
        return np.full((*barrier.SIZE, 4), (barrier.STEPS, barrier.STEPS - 1, 0, 0), dtype=np.float32)

    (step,) = {
        (one.defines["MEET"], one.defines["SHEET"])
        for one in barrier.form(joined._gl, 64, apart)(chain(SIZE, 3)).steps[:3]
    }
    assert step == (0, 8)


@pytest.mark.parametrize("missing", ["extension", "wish"])
def test_without_a_barrier_nothing_is_tried(fresh, monkeypatch, missing):
    if missing == "wish":
        monkeypatch.setenv(barrier.VARIABLE, barrier.OFF)
    monkeypatch.setattr(barrier, "EXTENSIONS", set() if missing == "extension" else barrier.EXTENSIONS)
    monkeypatch.setattr(barrier, "SINCE", 1000 if missing == "extension" else barrier.SINCE)
    plan = chain(SIZE, STEPS)
    assert barrier.form(fresh._gl, 64, None)(plan) is plan


def test_a_trace_sees_each_slot(joined, rng):
    shape = (70, 70)
    a = rng.standard_normal(shape).astype(np.float32)
    with glla.trace(values=True) as trace:
        seen = factored(joined, shape, a)
    assert seen == factored(joined, shape, a)
    steps = [one for one in trace.passes if one.shader == "plu/blocked/panel_step"]
    assert {slot for one in steps for slot in one.outputs} == {"panel_ping", "panel_pong", "seconds"}
    assert all(np.isfinite(one.values[one.outputs[0]]).any() for one in steps)


def test_it_is_interrupted_between_two_passes(joined, rng):
    a = rng.standard_normal((130, 130)).astype(np.float32)
    expected = factored(joined, (130, 130), a)
    barriers = []

    def stop():
        barriers.append(1)
        if len(barriers) == 40:
            joined.interrupt()

    before, joined.calls.texture_barrier = joined.calls.texture_barrier, stop
    joined._runner.forget()
    with pytest.raises(AbandonedError):
        factored(joined, (130, 130), a)
    assert len(barriers) == 40
    joined.resume()
    joined.calls.texture_barrier = before
    joined._runner.forget()
    assert factored(joined, (130, 130), a) == expected


# ---- the proof ---------------------------------------------------------------------------------------------------


def changed(plan, number, **fields):
    steps = list(plan.steps)
    steps[number] = replace(steps[number], **fields)
    return replace(plan, steps=tuple(steps))


def test_a_plan_in_one_texture_is_proved():
    MOVED.check()
    assert [step.parts for step in MOVED.steps[:2]] == [{}, {"A": Region(0, 0, 7, 5)}]
    assert [step.region for step in MOVED.steps[:2]] == [Region(0, 0, 7, 5), Region(8, 0, 7, 5)]


@pytest.mark.parametrize(
    "fields",
    [
        {"parts": {}}, {"parts": None}, {"region": None}, {"region": Region(6, 4, 3, 1)},
        {"parts": {"A": Region(8, 0, 1, 1)}}, {"parts": {"A": Region(0, 0, 9, 5)}},
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_proved_is_refused(fields):
    with pytest.raises(PlanError, match=r"pass 1 \(probe/increment\): reads .* \(as A\) while drawing to it"):
        changed(MOVED, 1, **fields).check()


def test_passes_without_a_barrier_read_nothing_that_was_drawn_and_draw_nothing_that_was_read():
    made = in_one_texture(
        cholesky.plan(resident((40, 40)), Limits(), variant="blocked", parameters=(("FUSED", 0),)), 512, {}
    )
    made.check()
    placed = [number for number, step in enumerate(made.steps) if isinstance(step, Pass) and step.parts is not None]
    behind = [number for number in placed if made.steps[number].barrier]
    assert 0 < len(behind) < len(placed)  # the strips of 16 columns need none between them
    for number in behind:
        with pytest.raises(PlanError, match=f"pass {number} .*: a barrier is missing between what it reads or draws"):
            changed(made, number, barrier=False).check()


def test_behind_a_barrier_a_temporary_is_replaced():
    plan = chain(SIZE, STEPS)
    for broken in (changed(plan, 2, accumulate=True), replace(plan, results={"counts": "chain_ping"})):
        with pytest.raises(PlanError, match="behind a barrier a pass replaces one temporary"):
            broken.check()


def test_slots_that_do_not_fit_keep_their_textures():
    plan = chain(SIZE, STEPS)
    assert MOVED.slots["chain_ping + chain_pong"].width == 15
    assert in_one_texture(plan, 14, {}) is plan
    other = replace(plan.steps[-1], inputs={"layer": "start"}, outputs=("chain_ping",))
    drawn = replace(plan, steps=(*plan.steps, other))
    copied = replace(plan, steps=(*plan.steps, Transfer("chain_ping", "buffer")))
    mixed = replace(plan, slots={**plan.slots, "chain_pong": replace(plan.slots["chain_pong"], channels=2)})
    crowded = changed(plan, 1, inputs={name: "chain_ping" for name in "ABCD"})
    for one in (drawn, copied, mixed, crowded, replace(plan, results={"counts": "chain_ping"}), MOVED):
        assert in_one_texture(one, 64, {}) is one


def test_merged_with_others_they_keep_a_texture_of_their_own():
    draft = glla.passes.Draft("around")
    slot = draft.operand("start", glla.passes.Storage(*SIZE))
    copy, result = blending(SIZE, 1), {"layer_0": "sum", "start": "counts"}
    for number, plan in enumerate((copy, copy, chain(SIZE, STEPS), copy)):
        (name,) = plan.operands
        slot = draft.call(f"plan {number}", plan, **{name: slot})[result[name]]
    made = shared(draft.plan({"result": slot}).flat)
    assert len(made.slots) == 5  # the operand, two that take turns, the result among them, and two of the chain
    assert in_one_texture(made, 512, {}) is not made


def test_another_pass_must_be_told_where_a_slot_begins():
    draft = glla.passes.Draft("told")
    turns = PingPong(draft, "turns", glla.passes.Storage(*SIZE), draft.operand("start", glla.passes.Storage(*SIZE)))
    draft.draw("probe/increment", {"A": "start"}, turns.back, {"size": SIZE[::-1]}, barrier=True)
    draft.draw("probe/answers", {"A": turns.back}, draft.slot("result", glla.passes.Storage(*SIZE)))
    with pytest.raises(PlanError, match=r"told: probe/answers samples .*A_AT"):
        in_one_texture(draft.plan({"result": "result"}), 64, {})
