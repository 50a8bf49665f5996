"""Plans as data: each rule of `Plan.check`, broken once; what a plan prints, and what it costs."""

from dataclasses import replace

import pytest

from glla.errors import LimitError, PlanError
from glla.passes import Cost, Draft, Limits, Pass, PingPong, Plan, Region, Storage, Variant

FILES = {
    "copy.frag": "uniform sampler2D A;\nlayout(location = 0) out vec4 result;\nvoid main() {}",
    "fill.frag": "uniform float value;\nlayout(location = 0) out vec4 result;\nvoid main() {}",
    "both.frag": "layout(location = 0) out vec4 one;\nlayout(location = 1) out vec4 two;\nvoid main() {}",
    "cut.frag": "#ifndef N\n#define N 0\n#endif\n#if N\nuniform int n;\n#endif\n"
    "layout(location = 0) out vec4 result;\nvoid main() {}",
}
SIZE = Storage(3, 4)


@pytest.fixture(autouse=True)
def small_shaders(shader_files):
    shader_files(FILES)


def plan(*steps, results=None, **slots):
    """A plan with the operand X and the slots Y and Z, all of one size, but for what is said otherwise."""
    slots = {"X": SIZE, "Y": SIZE, "Z": SIZE} | slots
    return Plan("test", slots, ("X",), {"R": "Y"} if results is None else results, steps)


COPY = Pass("copy", {"A": "X"}, ("Y",))
FILL = Pass("fill", {}, ("Y",), {"value": 1.0})
BOTH = Pass("both", {}, ("Y", "Z"))


def with_region(*rectangle):
    return replace(COPY, region=Region(*rectangle))


# ---- the rules ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "right",
    [
        plan(COPY),
        plan(FILL),
        plan(BOTH),
        plan(COPY, Pass("copy", {"A": "Y"}, ("Z",))),
        plan(COPY, replace(FILL, accumulate=True)),
        plan(with_region(0, 0, 4, 3)),
        plan(with_region(3, 2, 1, 1)),
        plan(Pass("cut", {}, ("Y",), {"n": 1}, {"N": 1})),
        plan(COPY, Y=Storage(3, 4, 1)),
        plan(BOTH, Y=Storage(3, 4, 2)),
        plan(COPY, X=Storage(16384, 16384)),
    ],
)
def test_what_keeps_the_rules_passes(right):
    right.check()


BROKEN = {
    "reads what it draws": (
        plan(COPY, Pass("copy", {"A": "Y"}, ("Y",))),
        "test: pass 1 (copy): reads Y (as A) while drawing to it",
    ),
    "reads before it is written": (
        plan(Pass("copy", {"A": "Z"}, ("Y",))),
        "test: pass 0 (copy): reads Z (as A) before any pass has written it",
    ),
    "reads an unknown slot": (
        plan(Pass("copy", {"A": "W"}, ("Y",))),
        "test: pass 0 (copy): reads W (as A) before any pass has written it",
    ),
    "accumulates into nothing": (
        plan(replace(FILL, accumulate=True)),
        "test: pass 0 (fill): accumulates into ('Y',) before any pass has written it",
    ),
    "writes an operand": (
        plan(COPY, Pass("copy", {"A": "Y"}, ("X",))),
        "test: pass 1 (copy): an operand is never written, got outputs ('X',)",
    ),
    "no output": (
        plan(replace(COPY, outputs=())),
        "test: pass 0 (copy): every output must be a slot of the plan, got ()",
    ),
    "an output that is no slot": (
        plan(replace(COPY, outputs=("W",))),
        "test: pass 0 (copy): every output must be a slot of the plan, got ('W',)",
    ),
    "targets of two sizes": (
        plan(BOTH, Z=Storage(3, 5)),
        "test: pass 0 (both): targets must be distinct and agree in size, got ('Y', 'Z') of {",
    ),
    "a target twice": (
        plan(replace(BOTH, outputs=("Y", "Y"))),
        "test: pass 0 (both): targets must be distinct and agree in size, got ('Y', 'Y') of {(3, 4)}",
    ),
    "a region too wide": (
        plan(with_region(1, 0, 4, 3)),
        "test: pass 0 (copy): the region must lie in the 3x4 target, got x 1:5 y 0:3",
    ),
    "a region too high": (
        plan(with_region(0, 1, 4, 3)),
        "test: pass 0 (copy): the region must lie in the 3x4 target, got x 0:4 y 1:4",
    ),
    "a region left of it": (plan(with_region(-1, 0, 2, 2)), "the region must lie in the 3x4 target, got x -1:1 y 0:2"),
    "a region above it": (plan(with_region(0, -1, 2, 2)), "the region must lie in the 3x4 target, got x 0:2 y -1:1"),
    "a region of no width": (plan(with_region(0, 0, 0, 1)), "the region must lie in the 3x4 target, got x 0:0 y 0:1"),
    "a region of no height": (plan(with_region(0, 0, 1, 0)), "the region must lie in the 3x4 target, got x 0:1 y 0:0"),
    "a sampler not given": (
        plan(replace(COPY, inputs={})),
        "test: pass 0 (copy): samplers declared ['A'], given []",
    ),
    "a sampler too many": (
        plan(replace(COPY, inputs={"A": "X", "B": "X"})),
        "test: pass 0 (copy): samplers declared ['A'], given ['A', 'B']",
    ),
    "a uniform not given": (
        plan(replace(FILL, uniforms={})),
        "test: pass 0 (fill): uniforms declared ['value'], given []",
    ),
    "a uniform too many": (
        plan(replace(COPY, uniforms={"k": 1})),
        "test: pass 0 (copy): uniforms declared [], given ['k']",
    ),
    "a uniform that the defines leave out": (
        plan(Pass("cut", {}, ("Y",), {"n": 1})),
        "test: pass 0 (cut): uniforms declared [], given ['n']",
    ),
    "too few targets": (
        plan(replace(BOTH, outputs=("Y",))),
        "test: pass 0 (both): the shader writes ('one', 'two'), the pass takes ('Y',)",
    ),
    "a result never written": (
        plan(COPY, results={"R": "Z"}),
        "test: result R is never written (slot Z)",
    ),
    "an operand as a result": (
        plan(COPY, results={"R": "X"}),
        "test: result R is never written (slot X)",
    ),
    "no height": (plan(COPY, Z=Storage(0, 4)), "test: slot Z has no possible storage, got 0x4x4"),
    "no width": (plan(COPY, Z=Storage(3, 0)), "test: slot Z has no possible storage, got 3x0x4"),
    "three channels": (plan(COPY, Z=Storage(3, 4, 3)), "test: slot Z has no possible storage, got 3x4x3"),
}


@pytest.mark.parametrize("wrong", BROKEN)
def test_what_breaks_a_rule_is_named(wrong):
    broken, message = BROKEN[wrong]
    with pytest.raises(PlanError) as caught:
        broken.check()
    assert message in str(caught.value)


@pytest.mark.parametrize(("slot", "longest"), [(Storage(9, 4), 9), (Storage(4, 10), 10)])
def test_a_slot_larger_than_a_texture(slot, longest):
    message = f"test: a texture may have 8 texels a side on this device, slot X needs {longest}; cut the matrix"
    with pytest.raises(LimitError, match=message) as caught:
        plan(COPY, X=slot).check(Limits(texture_size=8))
    assert (caught.value.asked, caught.value.allowed) == (longest, 8)


def test_more_targets_than_the_device_has():
    with pytest.raises(LimitError, match=r"test: pass 0 \(both\): 1 targets at most, got 2") as caught:
        plan(BOTH).check(Limits(draw_buffers=1))
    assert (caught.value.asked, caught.value.allowed) == (2, 1)


# ---- cost and print ----------------------------------------------------------------------------------------------


def test_cost_counts_what_is_drawn():
    steps = (with_region(1, 1, 2, 1), BOTH, replace(FILL, accumulate=True))
    made = replace(plan(*steps, Y=Storage(3, 4, 1)), flops=99)
    assert made.cost == Cost(passes=3, flops=99, texels=2 + 24 + 12, nbytes=4 * (2 + 12 + 48 + 12))


@pytest.mark.parametrize(("storage", "nbytes"), [(Storage(3, 4), 192), (Storage(3, 4, 2), 96), (Storage(1, 1, 1), 4)])
def test_bytes_of_a_texture(storage, nbytes):
    assert storage.nbytes == nbytes


def test_a_pass_draws_the_whole_target_by_default():
    assert plan().drawn(COPY) == Region(0, 0, 4, 3)
    assert plan().drawn(with_region(1, 2, 1, 1)) == Region(1, 2, 1, 1)


def test_temporaries_are_what_is_neither_operand_nor_result():
    assert plan(BOTH).temporaries == ("Z",)


def test_a_plan_prints_a_line_for_each_pass():
    steps = (
        COPY,
        Pass("fill", {}, ("Y",), {"value": 2.0}, {"N": 1}, Region(1, 0, 2, 3), accumulate=True),
        Pass("both", {"A": "X", "B": "Y"}, ("Z", "W")),
    )
    assert str(replace(plan(*steps, W=Storage(3, 4, 1)), flops=7)) == (
        "test: 3 passes, 7 flop, 528 bytes written\n"
        "  operand   X: 3x4x4\n"
        "  result    R: 3x4x4\n"
        "  temporary Z: 3x4x4\n"
        "  temporary W: 3x4x1\n"
        "pass  shader  reads    draws  region (texels)  uniforms\n"
        "0     copy    A=X      Y      x 0:4 y 0:3\n"
        "1     fill             Y +=   x 1:3 y 0:3      N=1 value=2.0\n"
        "2     both    A=X B=Y  Z W    x 0:4 y 0:3"
    )


def test_a_plan_is_equal_only_to_itself():
    assert plan(COPY) != plan(COPY)
    assert hash(COPY) != hash(replace(COPY))


# ---- making a plan -----------------------------------------------------------------------------------------------


def test_draft_makes_a_plan():
    draft = Draft("test")
    draft.operand("X", SIZE)
    draft.operand("unread", SIZE)
    draft.slot("Y", SIZE)
    draft.slot("unused", SIZE)
    draft.draw("copy", {"A": "X"}, "Y")
    draft.draw("fill", {}, ("Y",), {"value": 1.0}, {"N": 1}, Region(0, 0, 1, 1), accumulate=True)
    made = draft.plan({"R": "Y"}, flops=5)
    made.check()
    assert (made.operation, made.operands, made.flops, made.temporaries) == ("test", ("X", "unread"), 5, ())
    assert list(made.slots) == ["X", "unread", "Y"]
    first, second = made.steps
    assert (first.outputs, first.uniforms, first.defines, first.region, first.accumulate) == (
        ("Y",),
        {},
        {},
        None,
        False,
    )
    assert (second.uniforms, second.defines, second.region) == ({"value": 1.0}, {"N": 1}, Region(0, 0, 1, 1))
    assert second.accumulate


def test_draft_refuses_two_slots_of_one_name():
    draft = Draft("test")
    draft.operand("X", SIZE)
    with pytest.raises(PlanError, match="test: two slots are named X"):
        draft.slot("X", SIZE)


def test_ping_pong_never_draws_to_what_it_reads():
    draft = Draft("test")
    pair = PingPong(draft, "C", SIZE, draft.operand("X", SIZE))
    seen = []
    for _ in range(4):
        seen.append((pair.front, pair.back))
        pair.swap()
    assert seen == [("X", "C_ping"), ("C_ping", "C_pong"), ("C_pong", "C_ping"), ("C_ping", "C_pong")]


def test_the_half_of_a_ping_pong_that_is_not_drawn_is_not_in_the_plan():
    draft = Draft("test")
    pair = PingPong(draft, "C", SIZE, draft.operand("X", SIZE))
    draft.draw("copy", {"A": pair.front}, pair.back)
    pair.swap()
    assert list(draft.plan({"C": pair.front}).slots) == ["X", "C_ping"]


def test_a_variant_needs_plain_opengl_by_default():
    assert Variant("summary", "source").needs == ()
