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
    "linear.frag": "uniform samplerBuffer A;\nlayout(location = 0) out vec4 result;\nvoid main() {}",
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


def into(x, y, width, height, slot="b"):
    return Transfer("W", slot, region=Region(x, y, width, height))


def with_block(first=0, count=4, slot="b"):
    return Pass("block", {}, ("Y",), blocks={"Numbers": Block(slot, first, count)})


def transferring(*steps, W=WIDE, b=BUFFER, **slots):
    """A plan with the texture W and the buffer b besides."""
    return plan(*steps, W=W, b=b, **slots)


def with_region(*rectangle):
    return replace(COPY, region=Region(*rectangle))


# ---- the rules ---------------------------------------------------------------------------------------------------

FROM_48 = (FILL_W, TO_BUFFER)
ON_WHOLE = Pass("whole", {"N": "X"}, ("Y",), {"ks": (1, 2)})
TWICE = Dispatch("twice", {"A": "X"}, ("Y",), (2, 1), {"n": 2})
NEWER = Limits(opengl=COMPUTE, buffer_texels=1 << 16)


@pytest.mark.parametrize(
    "right",
    [
        plan(COPY),
        plan(FILL),
        plan(BOTH),
        plan(TWICE),
        plan(COPY, Pass("copy", {"A": "Y"}, ("Z",))),
        plan(COPY, replace(FILL, accumulate=True)),
        plan(with_region(0, 0, 4, 3)),
        plan(with_region(3, 2, 1, 1)),
        plan(Pass("cut", {}, ("Y",), {"n": 1}, {"N": 1})),
        plan(COPY, Y=Storage(3, 4, 1)),
        plan(ON_WHOLE, X=WHOLE, Y=WHOLE),
        plan(BOTH, Y=Storage(3, 4, 2)),
        plan(COPY, X=Storage(16384, 16384)),
        transferring(*FROM_48, with_block()),
        transferring(*FROM_48, with_block(16, 32)),
        transferring(*FROM_48, with_block(32, 16)),
        transferring(COPY, Transfer("X", "b"), with_block(), X=WIDE),
        transferring(*FROM_48, with_block(), b=Buffer.of(Storage(48, 1))),
        transferring(*FROM_48, TO_BUFFER, COPY),
        transferring(FILL_W, into(1, 1, 3, 2, "Y")),
        plan(COPY, W=Storage(5000, 1024), b=Buffer.of(Storage(1, 5120000))),
    ],
)
def test_what_keeps_the_rules_passes(right):
    right.check(NEWER)


UNWRITTEN = "before any pass has written it"
NO_SLOT = "which is no slot that the plan itself writes"
IN_TARGET = "(copy): the region must lie in the 3x4 target, got"
CROSSES = "to a buffer of its size, to a region of another texture, or between host and device, got"
IN_BUFFER = "block Numbers must lie in a buffer, at a multiple of 256 bytes, got Block"
TEXTURES = "a pass draws to textures and samples textures, a buffer is for uniform blocks"
GROUPS = "a dispatch has 1 to 65535 groups in either direction, got"

BROKEN = [
    (plan(COPY, Pass("copy", {"A": "Y"}, ("Y",))), "pass 1 (copy): reads Y (as A) while drawing to it"),
    (plan(Pass("copy", {"A": "Z"}, ("Y",))), f"pass 0 (copy): reads Z (as A) {UNWRITTEN}"),
    (plan(Pass("copy", {"A": "W"}, ("Y",))), f"pass 0 (copy): reads W (as A) {UNWRITTEN}"),
    (plan(replace(FILL, accumulate=True)), f"pass 0 (fill): accumulates into ('Y',) {UNWRITTEN}"),
    (plan(COPY, Pass("copy", {"A": "Y"}, ("X",))), "pass 1 (copy): an operand is never written, got outputs ('X',)"),
    (plan(replace(COPY, outputs=())), "pass 0 (copy): every output must be a slot of the plan, got ()"),
    (plan(replace(COPY, outputs=("W",))), "pass 0 (copy): every output must be a slot of the plan, got ('W',)"),
    (plan(BOTH, Z=Storage(3, 5)), "pass 0 (both): targets must be distinct and agree in size, got ('Y', 'Z') of {"),
    (plan(replace(BOTH, outputs=("Y", "Y"))), "targets must be distinct and agree in size, got ('Y', 'Y') of {(3, 4)}"),
    (plan(with_region(1, 0, 4, 3)), f"pass 0 {IN_TARGET} x 1:5 y 0:3"),
    (plan(with_region(0, 1, 4, 3)), f"pass 0 {IN_TARGET} x 0:4 y 1:4"),
    (plan(with_region(-1, 0, 2, 2)), f"pass 0 {IN_TARGET} x -1:1 y 0:2"),
    (plan(with_region(0, -1, 2, 2)), f"pass 0 {IN_TARGET} x 0:2 y -1:1"),
    (plan(with_region(0, 0, 0, 1)), f"pass 0 {IN_TARGET} x 0:0 y 0:1"),
    (plan(with_region(0, 0, 1, 0)), f"pass 0 {IN_TARGET} x 0:1 y 0:0"),
    (plan(replace(COPY, inputs={})), "pass 0 (copy): samplers declared ['A'], given []"),
    (plan(replace(COPY, inputs={"A": "X", "B": "X"})), "pass 0 (copy): samplers declared ['A'], given ['A', 'B']"),
    (plan(ON_WHOLE, Y=WHOLE), "pass 0 (whole): N is declared for texels of int32, slot X holds float32"),
    (plan(ON_WHOLE, X=WHOLE), "pass 0 (whole): result is declared for texels of int32, slot Y holds float32"),
    (plan(COPY, X=Buffer(192, "texels")),
     "pass 0 (copy): A is declared for texels of float32, slot X holds float32 in a buffer"),
    (plan(Pass("linear", {"A": "X"}, ("Y",))), "A is declared for texels of float32 in a buffer, slot X holds float32"),
    (plan(COPY, X=WHOLE), "pass 0 (copy): A is declared for texels of float32, slot X holds int32"),
    (plan(replace(ON_WHOLE, uniforms={}), X=WHOLE, Y=WHOLE), "pass 0 (whole): uniforms declared ['ks'], given []"),
    (plan(replace(FILL, uniforms={})), "pass 0 (fill): uniforms declared ['value'], given []"),
    (plan(replace(COPY, uniforms={"k": 1})), "pass 0 (copy): uniforms declared [], given ['k']"),
    (plan(Pass("cut", {}, ("Y",), {"n": 1})), "pass 0 (cut): uniforms declared [], given ['n']"),
    (plan(replace(BOTH, outputs=("Y",))), "pass 0 (both): the shader writes ('one', 'two'), the pass takes ('Y',)"),
    (plan(COPY, results={"R": "Z"}), "result R is never written (slot Z)"),
    (plan(COPY, results={"R": "X"}), "result R is never written (slot X)"),
    (transferring(FILL_W, results={"R": "b"}), "result R is never written (slot b)"),
    (plan(COPY, Z=Storage(0, 4)), "slot Z has no possible storage, got 0x4x4"),
    (plan(COPY, Z=Storage(3, 0)), "slot Z has no possible storage, got 3x0x4"),
    (plan(COPY, Z=Storage(3, 4, 3)), "slot Z has no possible storage, got 3x4x3"),
    (plan(COPY, Z=Buffer.of(Storage(0, 4))), "slot Z has no possible storage, got buffer of 0 bytes"),
    (transferring(TO_BUFFER, with_block()), f"step 0: transfers W {UNWRITTEN}"),
    (transferring(Transfer("V", "b"), with_block()), f"step 0: transfers V {UNWRITTEN}"),
    (transferring(FILL_W, Transfer("W", "V")), f"step 1: transfers to V, {NO_SLOT}"),
    (transferring(FILL_W, Transfer("W", "X"), COPY, X=BUFFER), f"step 1: transfers to X, {NO_SLOT}"),
    (transferring(FILL_W, Transfer("W", "Z"), Z=WIDE), f"step 1: a transfer goes from a texture {CROSSES} 3x16x4 to"),
    (transferring(*FROM_48, Transfer("b", "c"), c=BUFFER), f"{CROSSES} buffer of 768 bytes to buffer of 768 bytes"),
    (transferring(*FROM_48, b=Buffer.of(Storage(4, 16))), f"{CROSSES} 3x16x4 to buffer of 1024 bytes"),
    (transferring(*FROM_48, b=Buffer.of(Storage(3, 16, 2))), f"{CROSSES} 3x16x4 to buffer of 384 bytes"),
    (transferring(FILL_W, into(0, 0, 4, 2)), f"{CROSSES} 3x16x4 to buffer of 768 bytes"),
    (transferring(FILL_W, into(0, 0, 4, 2, "W")), f"{CROSSES} 3x16x4 to 3x16x4"),
    (transferring(FILL_W, into(1, 0, 4, 2), b=SIZE), "must lie in the 3x4 target, got x 1:5 y 0:2"),
    (transferring(FILL_W, into(0, 0, 4, 4), b=Storage(9, 9)), "must lie in the 3x16 target, got x 0:4 y 0:4"),
    (transferring(FILL_W, with_block(), TO_BUFFER), "reads b (as Numbers) before any step has written it"),
    (transferring(*FROM_48, with_block(slot="c")), "reads c (as Numbers) before any step has written it"),
    (transferring(FILL_W, with_block(slot="W")), f"pass 1 (block): {IN_BUFFER}(slot='W', "),
    (transferring(*FROM_48, with_block(1)), f"{IN_BUFFER}(slot='b', first=1, count=4)"),
    (transferring(*FROM_48, with_block(32, 17)), f"{IN_BUFFER}(slot='b', first=32, count=17)"),
    (transferring(*FROM_48, with_block(-16)), f"{IN_BUFFER}(slot='b', first=-16, count=4)"),
    (transferring(*FROM_48, with_block(0, 0)), f"{IN_BUFFER}(slot='b', first=0, count=0)"),
    (transferring(*FROM_48, replace(with_block(), blocks={})), "uniform blocks declared ['Numbers'], given []"),
    (transferring(*FROM_48, replace(COPY, blocks={"Numbers": Block("b", 0, 4)})),
     "pass 2 (copy): uniform blocks declared [], given ['Numbers']"),
    (transferring(replace(FILL, outputs=("b",))), f"pass 0 (fill): {TEXTURES}"),
    (transferring(*FROM_48, replace(COPY, inputs={"A": "b"})), f"pass 2 (copy): {TEXTURES}"),
    (plan(replace(TWICE, groups=(0, 1))), f"pass 0 (twice): {GROUPS} (0, 1)"),
    (plan(replace(TWICE, groups=(1, 65536))), f"pass 0 (twice): {GROUPS} (1, 65536)"),
    (plan(replace(TWICE, inputs={"A": "Y"})), "pass 0 (twice): reads Y (as A) while drawing to it"),
    (plan(replace(TWICE, inputs={"A": "Z"})), f"pass 0 (twice): reads Z (as A) {UNWRITTEN}"),
    (plan(replace(TWICE, outputs=("X",))), "pass 0 (twice): an operand is never written, got outputs ('X',)"),
    (plan(replace(TWICE, outputs=("Y", "Z"))), "the shader writes ('result',), the pass takes ('Y', 'Z')"),
    (plan(replace(TWICE, uniforms={})), "pass 0 (twice): uniforms declared ['n'], given []"),
]  # fmt: skip


@pytest.mark.parametrize(("broken", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_what_breaks_a_rule_is_named(broken, message):
    with pytest.raises(PlanError) as caught:
        broken.check(NEWER)
    assert str(caught.value).startswith("test: ") and message in str(caught.value)


SMALL = "a texture may have 8 texels a side on this device, slot X needs"


@pytest.mark.parametrize(
    ("large", "limit", "asked", "allowed", "message"),
    [
        (plan(COPY, X=Storage(9, 4)), "texture_size", 9, 8, f"{SMALL} 9; cut the matrix into blocks"),
        (plan(COPY, X=Storage(4, 10)), "texture_size", 10, 8, f"{SMALL} 10; cut the matrix into blocks"),
        (plan(BOTH), "draw_buffers", 2, 1, "pass 0 (both): 1 targets at most, got 2"),
        (transferring(*FROM_48, with_block(16, 17)), "uniform_block", 17, 16,
         "pass 2 (block): a uniform block may have 16 texels, Numbers needs 17"),
        (plan(TWICE), "opengl", COMPUTE, 420,
         "pass 0 (twice): a compute shader needs OpenGL 4.3, this device has 4.2; choose another variant"),
    ],
)  # fmt: skip
def test_what_a_device_lacks_for_a_plan_is_named(large, limit, asked, allowed, message):
    with pytest.raises(LimitError) as caught:
        large.check(Limits(**{limit: allowed}))
    assert str(caught.value) == f"test: {message}"
    assert (caught.value.asked, caught.value.allowed) == (asked, allowed)
    large.check(Limits(**{limit: asked}))


# ---- cost and print ----------------------------------------------------------------------------------------------


DRAWN = (with_region(1, 1, 2, 1), BOTH, replace(FILL, accumulate=True))


@pytest.mark.parametrize(
    ("made", "cost", "temporaries"),
    [
        (plan(*DRAWN, Y=Storage(3, 4, 1)), (3, 0, 2 + 24 + 12, 4 * (2 + 12 + 48 + 12)), ("Z",)),
        (replace(plan(COPY), flops=99), (1, 99, 12, 16 * 12), ("Z",)),
        (transferring(*FROM_48, with_block()), (3, 0, 48 + 12, 16 * (48 + 48 + 12)), ("Z", "W", "b")),
        (plan(TWICE), (1, 0, 12, 16 * 12), ("Z",)),
    ],
)
def test_cost_and_temporaries(made, cost, temporaries):
    assert made.cost == Cost(*cost)
    assert made.temporaries == temporaries


@pytest.mark.parametrize(
    ("storage", "nbytes"), [(BUFFER, 768), (Storage(3, 4), 192), (Storage(3, 4, 2), 96), (Storage(1, 1, 1), 4)]
)
def test_bytes_of_a_texture(storage, nbytes):
    assert storage.nbytes == nbytes


def test_a_pass_draws_the_whole_target_by_default():
    assert plan().drawn(COPY) == Region(0, 0, 4, 3)
    assert plan().drawn(with_region(1, 2, 1, 1)) == Region(1, 2, 1, 1)


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
    assert str(plan(TWICE)).splitlines()[-1] == "0     twice   A=X    Y      2 x 1 groups     n=2"


def test_a_draft_keeps_what_is_used_and_prints_transfers_and_blocks():
    draft = Draft("test")
    for name, storage in (("W", WIDE), ("b", BUFFER), ("c", BUFFER), ("Y", SIZE)):
        draft.slot(name, storage)
    draft.draw("fill", {}, "W", {"value": 1.0})
    draft.transfer("W", "b")
    draft.draw("block", {}, "Y", blocks={"Numbers": Block("b", 16, 4)})
    made = draft.plan({"R": "Y"})
    made.check()
    assert str(made) == (
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
    for name, make in (("X", draft.operand), ("unread", draft.operand), ("Y", draft.slot), ("unused", draft.slot)):
        make(name, SIZE)
    draft.draw("copy", {"A": "X"}, "Y")
    draft.draw("fill", {}, ("Y",), {"value": 1.0}, {"N": 1}, Region(0, 0, 1, 1), accumulate=True)
    made = draft.plan({"R": "Y"}, flops=5)
    made.check()
    assert str(made) == (
        "test: 2 passes, 5 flop, 208 bytes written\n"
        "  operand   X: 3x4x4\n"
        "  operand   unread: 3x4x4\n"
        "  result    R: 3x4x4\n"
        "pass  shader  reads  draws  region (texels)  uniforms\n"
        "0     copy    A=X    Y      x 0:4 y 0:3\n"
        "1     fill           Y +=   x 0:1 y 0:1      N=1 value=1.0"
    )


def test_draft_refuses_two_slots_of_one_name():
    draft = Draft("test")
    draft.operand("X", SIZE)
    with pytest.raises(PlanError, match="test: two slots are named X"):
        draft.slot("X", SIZE)


def test_ping_pong_never_draws_to_what_it_reads():
    """The half that is not drawn is not in the plan."""
    draft = Draft("test")
    pair = PingPong(draft, "C", SIZE, draft.operand("X", SIZE))
    draft.draw("copy", {"A": pair.front}, pair.back)
    seen = []
    for _ in range(4):
        seen.append((pair.front, pair.back))
        pair.swap()
    assert seen == [("X", "C_ping"), ("C_ping", "C_pong"), ("C_pong", "C_ping"), ("C_ping", "C_pong")]
    assert list(draft.plan({"C": "C_ping"}).slots) == ["X", "C_ping"]


# ---- parameters --------------------------------------------------------------------------------------------------

BELOW_16 = {"rule": "M * N must be below 16", "keeps_rule": lambda given: given["M"] * given["N"] < 16}
TILED = Variant("", "", parameters={"M": (2, 1), "N": (4, 8)}, **BELOW_16)


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


def test_the_parameter_space_holds_all_compatible_values():
    assert list(parameter_space(TILED)) == [(("M", 2), ("N", 4)), (("M", 1), ("N", 4)), (("M", 1), ("N", 8))]
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
