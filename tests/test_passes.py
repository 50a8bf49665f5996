"""Plans as data: each rule of `Plan.check`, broken once; what a plan prints, and what it costs."""

from dataclasses import replace

import pytest

from glla.errors import LimitError, OptionError, PlanError
from glla.passes import (
    COMPUTE,
    Block,
    Buffer,
    Cost,
    Dispatch,
    Draft,
    Limits,
    Pass,
    PingPong,
    Plan,
    Region,
    Storage,
    Transfer,
    Variant,
    parameter_space,
)

FILES = {
    "copy.frag": "uniform sampler2D A;\nlayout(location = 0) out vec4 result;\nvoid main() {}",
    "fill.frag": "uniform float value;\nlayout(location = 0) out vec4 result;\nvoid main() {}",
    "both.frag": "layout(location = 0) out vec4 one;\nlayout(location = 1) out vec4 two;\nvoid main() {}",
    "cut.frag": "#ifndef N\n#define N 0\n#endif\n#if N\nuniform int n;\n#endif\n"
    "layout(location = 0) out vec4 result;\nvoid main() {}",
    "block.frag": "layout(std140) uniform Numbers {\n    vec4 numbers[4];\n};\n"
    "layout(location = 0) out vec4 result;\nvoid main() {}",
    "whole.frag": "uniform isampler2D N;\nuniform int ks[2];\nlayout(location = 0) out ivec4 result;\nvoid main() {}",
    "twice.comp": "uniform sampler2D A;\nuniform int n;\n"
    "layout(rgba32f, binding = 0) writeonly uniform image2D result;\nvoid main() {}",
}
SIZE = Storage(3, 4)
WHOLE = Storage(3, 4, dtype="int32")


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


# W and its buffer hold 48 texels; a block of 4 may start at 0, 16 or 32.
WIDE = Storage(3, 16)
BUFFER = Buffer.of(Storage(3, 16))
FILL_W = Pass("fill", {}, ("W",), {"value": 1.0})
TO_BUFFER = Transfer("W", "b")


def with_block(first=0, count=4, slot="b"):
    return Pass("block", {}, ("Y",), blocks={"Numbers": Block(slot, first, count)})


def transferring(*steps, W=WIDE, b=BUFFER, **slots):
    """A plan with the texture W and the buffer b besides."""
    return plan(*steps, W=W, b=b, **slots)


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
        plan(Pass("whole", {"N": "X"}, ("Y",), {"ks": (1, 2)}), X=WHOLE, Y=WHOLE),
        plan(BOTH, Y=Storage(3, 4, 2)),
        plan(COPY, X=Storage(16384, 16384)),
        transferring(FILL_W, TO_BUFFER, with_block()),
        transferring(FILL_W, TO_BUFFER, with_block(16, 32)),
        transferring(FILL_W, TO_BUFFER, with_block(32, 16)),
        transferring(COPY, Transfer("X", "b"), with_block(), X=WIDE),
        transferring(FILL_W, TO_BUFFER, with_block(), b=Buffer.of(Storage(48, 1))),
        transferring(FILL_W, TO_BUFFER, TO_BUFFER, COPY),
        plan(COPY, W=Storage(5000, 1024), b=Buffer.of(Storage(1, 5120000))),
    ],
)
def test_what_keeps_the_rules_passes(right):
    right.check()


WRONG_TRANSFER = "test: step 1: a transfer goes from a texture to a buffer of its size, or between host and device"
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
    "floats for a sampler of integers": (
        plan(Pass("whole", {"N": "X"}, ("Y",), {"ks": (1, 2)}), Y=WHOLE),
        "test: pass 0 (whole): N is declared for texels of int32, slot X holds float32",
    ),
    "floats for an output of integers": (
        plan(Pass("whole", {"N": "X"}, ("Y",), {"ks": (1, 2)}), X=WHOLE),
        "test: pass 0 (whole): result is declared for texels of int32, slot Y holds float32",
    ),
    "integers for a sampler of floats": (
        plan(COPY, X=WHOLE),
        "test: pass 0 (copy): A is declared for texels of float32, slot X holds int32",
    ),
    "an array of uniforms not given": (
        plan(Pass("whole", {"N": "X"}, ("Y",)), X=WHOLE, Y=WHOLE),
        "test: pass 0 (whole): uniforms declared ['ks'], given []",
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
    "a transfer of what is not written": (
        transferring(TO_BUFFER, with_block()),
        "test: step 0: transfers W before any pass has written it",
    ),
    "a transfer of what is no slot": (
        transferring(Transfer("V", "b"), with_block()),
        "test: step 0: transfers V before any pass has written it",
    ),
    "a transfer to what is no slot": (
        transferring(FILL_W, Transfer("W", "V")),
        "test: step 1: transfers to V, which is no slot that the plan itself writes",
    ),
    "a transfer to an operand": (
        transferring(FILL_W, Transfer("W", "X"), COPY, X=BUFFER),
        "test: step 1: transfers to X, which is no slot that the plan itself writes",
    ),
    "a transfer between textures": (
        transferring(FILL_W, Transfer("W", "Z"), Z=WIDE),
        f"{WRONG_TRANSFER}, got 3x16x4 to 3x16x4",
    ),
    "a transfer between buffers": (
        transferring(FILL_W, TO_BUFFER, Transfer("b", "c"), c=BUFFER),
        f"{WRONG_TRANSFER.replace('step 1', 'step 2')}, got buffer of 768 bytes to buffer of 768 bytes",
    ),
    "a transfer to a larger buffer": (
        transferring(FILL_W, TO_BUFFER, b=Buffer.of(Storage(4, 16))),
        f"{WRONG_TRANSFER}, got 3x16x4 to buffer of 1024 bytes",
    ),
    "a transfer of fewer channels": (
        transferring(FILL_W, TO_BUFFER, b=Buffer.of(Storage(3, 16, 2))),
        f"{WRONG_TRANSFER}, got 3x16x4 to buffer of 384 bytes",
    ),
    "a block before the transfer": (
        transferring(FILL_W, with_block(), TO_BUFFER),
        "test: pass 1 (block): reads b (as Numbers) before any step has written it",
    ),
    "a block of what is no slot": (
        transferring(FILL_W, TO_BUFFER, with_block(slot="c")),
        "test: pass 2 (block): reads c (as Numbers) before any step has written it",
    ),
    "a block in a texture": (
        transferring(FILL_W, with_block(slot="W")),
        "test: pass 1 (block): block Numbers must lie in a buffer, at a multiple of 256 bytes, got Block(slot='W', ",
    ),
    "a block at 16 bytes": (
        transferring(FILL_W, TO_BUFFER, with_block(1)),
        "block Numbers must lie in a buffer, at a multiple of 256 bytes, got Block(slot='b', first=1, count=4)",
    ),
    "a block past the end": (
        transferring(FILL_W, TO_BUFFER, with_block(32, 17)),
        "block Numbers must lie in a buffer, at a multiple of 256 bytes, got Block(slot='b', first=32, count=17)",
    ),
    "a block before the beginning": (
        transferring(FILL_W, TO_BUFFER, with_block(-16)),
        "block Numbers must lie in a buffer, at a multiple of 256 bytes, got Block(slot='b', first=-16, count=4)",
    ),
    "a block of nothing": (
        transferring(FILL_W, TO_BUFFER, with_block(0, 0)),
        "block Numbers must lie in a buffer, at a multiple of 256 bytes, got Block(slot='b', first=0, count=0)",
    ),
    "a block not given": (
        transferring(FILL_W, TO_BUFFER, replace(with_block(), blocks={})),
        "test: pass 2 (block): uniform blocks declared ['Numbers'], given []",
    ),
    "a block too many": (
        transferring(FILL_W, TO_BUFFER, replace(COPY, blocks={"Numbers": Block("b", 0, 4)})),
        "test: pass 2 (copy): uniform blocks declared [], given ['Numbers']",
    ),
    "drawing to a buffer": (
        transferring(replace(FILL, outputs=("b",))),
        "test: pass 0 (fill): a pass draws to textures and samples textures, a buffer is for uniform blocks",
    ),
    "sampling a buffer": (
        transferring(FILL_W, TO_BUFFER, replace(COPY, inputs={"A": "b"})),
        "test: pass 2 (copy): a pass draws to textures and samples textures, a buffer is for uniform blocks",
    ),
    "a result nothing transfers to": (
        transferring(FILL_W, results={"R": "b"}),
        "test: result R is never written (slot b)",
    ),
    "a buffer of no height": (
        plan(COPY, Z=Buffer.of(Storage(0, 4))),
        "test: slot Z has no possible storage, got buffer of 0 bytes",
    ),
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


def test_a_uniform_block_larger_than_the_device_has():
    made = transferring(FILL_W, TO_BUFFER, with_block(16, 17))
    made.check(Limits(uniform_block=17))
    message = r"test: pass 2 \(block\): a uniform block may have 16 texels, Numbers needs 17"
    with pytest.raises(LimitError, match=message) as caught:
        made.check(Limits(uniform_block=16))
    assert (caught.value.asked, caught.value.allowed) == (17, 16)


TWICE = Dispatch("twice", {"A": "X"}, ("Y",), (2, 1), {"n": 2})


def test_a_dispatch_that_keeps_the_rules_passes():
    plan(TWICE).check(Limits(opengl=COMPUTE))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (replace(TWICE, groups=(0, 1)), "a dispatch has 1 to 65535 groups in either direction, got (0, 1)"),
        (replace(TWICE, groups=(1, 65536)), "a dispatch has 1 to 65535 groups in either direction, got (1, 65536)"),
        (replace(TWICE, inputs={"A": "Y"}), "reads Y (as A) while drawing to it"),
        (replace(TWICE, inputs={"A": "Z"}), "reads Z (as A) before any pass has written it"),
        (replace(TWICE, outputs=("X",)), "an operand is never written, got outputs ('X',)"),
        (replace(TWICE, outputs=("Y", "Z")), "the shader writes ('result',), the pass takes ('Y', 'Z')"),
        (replace(TWICE, uniforms={}), "uniforms declared ['n'], given []"),
    ],
)
def test_a_dispatch_that_breaks_a_rule_is_named(wrong, message):
    with pytest.raises(PlanError) as caught:
        plan(wrong).check(Limits(opengl=COMPUTE))
    assert str(caught.value) == f"test: pass 0 (twice): {message}"


def test_a_dispatch_needs_compute_shaders():
    with pytest.raises(LimitError) as caught:
        plan(TWICE).check(Limits(opengl=420))
    assert str(caught.value) == (
        "test: pass 0 (twice): a compute shader needs OpenGL 4.3, this device has 4.2; choose another variant"
    )


# ---- cost and print ----------------------------------------------------------------------------------------------


def test_cost_counts_what_is_drawn():
    steps = (with_region(1, 1, 2, 1), BOTH, replace(FILL, accumulate=True))
    made = replace(plan(*steps, Y=Storage(3, 4, 1)), flops=99)
    assert made.cost == Cost(passes=3, flops=99, texels=2 + 24 + 12, nbytes=4 * (2 + 12 + 48 + 12))


def test_cost_counts_what_is_transferred():
    made = transferring(FILL_W, TO_BUFFER, with_block())
    assert made.cost == Cost(passes=3, flops=0, texels=48 + 12, nbytes=16 * (48 + 48 + 12))


def test_a_dispatch_counts_as_a_pass_over_the_whole_of_what_it_stores():
    made = plan(TWICE)
    assert made.cost == Cost(passes=1, flops=0, texels=12, nbytes=16 * 12)
    assert str(made).splitlines()[-1] == "0     twice   A=X    Y      2 x 1 groups     n=2"


def test_a_buffer_is_a_temporary_like_any_other():
    assert transferring(FILL_W, TO_BUFFER, with_block()).temporaries == ("Z", "W", "b")


@pytest.mark.parametrize(
    ("storage", "nbytes"), [(BUFFER, 768), (Storage(3, 4), 192), (Storage(3, 4, 2), 96), (Storage(1, 1, 1), 4)]
)
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


def test_a_plan_prints_its_transfers_and_blocks():
    draft = Draft("test")
    draft.slot("W", WIDE)
    draft.slot("b", BUFFER)
    draft.slot("Y", SIZE)
    draft.draw("fill", {}, "W", {"value": 1.0})
    draft.transfer("W", "b")
    draft.draw("block", {}, "Y", blocks={"Numbers": Block("b", 16, 4)})
    assert str(draft.plan({"R": "Y"})) == (
        "test: 3 passes, 0 flop, 1728 bytes written\n"
        "  result    R: 3x4x4\n"
        "  temporary W: 3x16x4\n"
        "  temporary b: buffer of 768 bytes\n"
        "pass  shader      reads              draws  region (texels)  uniforms\n"
        "0     fill                           W      x 0:16 y 0:3     value=1.0\n"
        "1     (transfer)  W                  b\n"
        "2     block        Numbers=b[16:20]  Y      x 0:4 y 0:3"
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


def test_draft_keeps_what_is_transferred():
    draft = Draft("test")
    for name, storage in (("W", WIDE), ("b", BUFFER), ("c", BUFFER), ("Y", SIZE)):
        draft.slot(name, storage)
    draft.draw("fill", {}, "W", {"value": 1.0})
    draft.transfer("W", "b")
    draft.draw("block", {}, "Y", blocks={"Numbers": Block("b", 0, 4)})
    made = draft.plan({"R": "Y"})
    made.check()
    assert list(made.slots) == ["W", "b", "Y"]
    assert isinstance(made.steps[1], Transfer) and (made.steps[1].source, made.steps[1].target) == ("W", "b")
    assert made.steps[2].reads == ("b",)


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


# ---- parameters --------------------------------------------------------------------------------------------------

TILED = Variant(
    "",
    "",
    parameters={"M": (2, 1), "N": (4, 8)},
    rule="M * N must be below 16",
    keeps_rule=lambda v: v["M"] * v["N"] < 16,
)


def test_parameters_not_asked_for_keep_their_defaults():
    assert TILED.settle("op", ()) == {"M": 2, "N": 4}
    assert TILED.settle("op", (("N", 8), ("M", 1))) == {"M": 1, "N": 8}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ((("K", 1),), "op: has no parameter 'K'; its parameters are: M, N"),
        ((("M", 3),), "op: M must be one of 2, 1, got 3"),
        ((("M", "2"),), "op: M must be one of 2, 1, got '2'"),
        ((("N", 8),), "op: M * N must be below 16, got M = 2, N = 8"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(OptionError) as caught:
        TILED.settle("op", parameters)
    assert str(caught.value) == message


def test_the_parameter_space_is_all_that_goes_together():
    assert list(parameter_space(TILED)) == [
        (("M", 2), ("N", 4)),
        (("M", 1), ("N", 4)),
        (("M", 1), ("N", 8)),
    ]
    assert list(parameter_space(Variant("", ""))) == [()]


@pytest.mark.parametrize(
    ("needs", "opengl", "lacks"),
    [
        ((), 330, ""),
        (("OpenGL 4.3",), 430, ""),
        (("OpenGL 4.3",), 460, ""),
        (("OpenGL 4.3",), 410, "needs OpenGL 4.3, this device has 4.1"),
        (("OpenGL 3.3", "OpenGL 4.5"), 430, "needs OpenGL 4.5, this device has 4.3"),
    ],
)
def test_what_a_device_lacks_for_a_variant(needs, opengl, lacks):
    assert Variant("", "", needs).lacks(Limits(opengl=opengl)) == lacks
