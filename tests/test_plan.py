"""glla.plan: what a call would run, without running it. That it is what runs is tested in test_truth.py."""

from dataclasses import replace

import numpy as np
import pytest

import glla
from glla.errors import GllaError, LimitError, OptionError, OutOfMemoryError
from glla.operations import OPERATIONS
from glla.operations.elimination import plu_batches
from glla.operations.product import matmul, tiles
from glla.passes import COMPUTE, Form, Limits, Plan, resident, stages
from tests.beside import run_python

GPU, SOFTWARE = Limits(), Limits(software=True)
LARGE = 300  # beyond what goes as a stack

every_operation = pytest.mark.parametrize("operation", OPERATIONS)
both_limits = pytest.mark.parametrize("limits", [GPU, SOFTWARE], ids=["GPU", "software"])


def shapes_of(operation, n):
    """Of an example of order n."""
    return [array.shape for array in OPERATIONS[operation].example(n, np.random.default_rng(0))]


def shaders_of(plan):
    return [step.shader for step in plan.passes if hasattr(step, "shader")]


def numbered(text):
    """Lines of a table that stand for a step."""
    return [line for line in text.splitlines() if line[:1].isdigit()]


# ---- what is shown -----------------------------------------------------------------------------------------------


@every_operation
@both_limits
@pytest.mark.parametrize("n", [3, LARGE])
def test_every_operation_has_a_plan_that_prints(operation, limits, n):
    plan = glla.plan(operation, *shapes_of(operation, n), limits=limits)
    assert isinstance(plan, Plan)
    kind = "a software rasteriser" if limits.software else "a GPU"
    lines = str(plan).splitlines()
    assert lines[0] == f"for OpenGL 3.3 on {kind}, textures of up to 16384 texels a side"
    assert f" {plan.cost.passes} passes, " in lines[1]
    assert len(numbered(str(plan))) == sum(len(one.flat.steps) for _, one in stages(plan))


@every_operation
def test_what_comes_in_and_goes_out_is_shown(operation):
    """Arrays of the host are uploaded and the result is read back; what lies on the device is neither."""
    shapes = shapes_of(operation, LARGE)
    text = str(replace(glla.plan(operation, *shapes, limits=GPU), after=()))
    assert text.count("(upload)") >= len(shapes) and "(read back)" in text
    if operation in ("matmul", "triangular"):
        text = str(glla.plan(operation, *resident(*shapes), limits=GPU))
        assert "(upload)" not in text and "(read back)" not in text


def test_a_small_product_goes_as_a_stack():
    """The README's first example: four passes, for one product as for a thousand."""
    one = glla.plan("matmul", (4, 6), (6, 2), limits=GPU)
    many = glla.plan("matmul", (1000, 4, 6), (1000, 6, 2), limits=GPU)
    expected = ["stack/pack", "stack/pack", "matmul/inner_product", "stack/unpack"]
    assert shaders_of(one) == shaders_of(many) == expected
    assert one.flops == 2 * 4 * 6 * 2 and many.flops == 1000 * one.flops


def test_a_stack_that_is_too_large_goes_in_pieces():
    limits = Limits(texture_size=64)
    plan = glla.plan("solve", (2000, 5, 5), (5, 1), limits=limits)
    most = plu_batches.most_systems((Form((2000, 5, 5)), Form((2000, 5, 1))), limits)
    pieces = -(-2000 // most)
    assert pieces > 1
    assert [scope.name for scope in plan.scopes] == ["piece of the stack"] * pieces
    assert plan.cost.passes == pieces * glla.plan("solve", (2, 5, 5), (5, 1), limits=limits).cost.passes
    with glla.Device(max_texture_size=64, max_bytes=10**7) as capped:
        assert glla.plan("solve", (2000, 5, 5), (5, 1), device=capped).cost == plan.cost


def test_what_exceeds_a_texture_is_shown_in_tiles():
    limits = Limits(texture_size=100)
    plan, tiling = (glla.plan("matmul", (300, 200), (200, 300), limits=limits), tiles.choose(300, 200, 300, limits))
    assert " in tiles: " in str(plan)
    count = {name: len({one.number for one in plan.scopes if one.name == name}) for name in ("tile", "slab")}
    rows, slabs, columns = tiling.counts
    assert count == {"tile": rows * columns, "slab": slabs}
    assert str(plan).count("(upload)") == sum(tiling.uploads[:2])
    assert str(plan).count("(read back)") == rows * columns


def test_what_exceeds_the_memory_of_a_device_is_shown_in_tiles():
    with glla.Device(max_bytes=200_000) as capped:
        assert " in tiles: " in str(glla.plan("matmul", (300, 300), (300, 300), device=capped))
    assert " in tiles: " not in str(glla.plan("matmul", (300, 300), (300, 300), limits=GPU))


def test_a_system_in_blocks_takes_its_right_hand_sides():
    plan = glla.plan("solve", (64, 64), (64, 500), limits=Limits(texture_size=100))
    assert (plan.operation, plan.operands) == ("solve in blocks", ("A", "B"))


@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False), (True, True)])
def test_operands_on_the_device_are_read_in_their_layout(first, second):
    forms = [Form((6, 6), resident=True, transposed=turned) for turned in (first, second)]
    plan = glla.plan("matmul", *forms, limits=GPU, variant="inner_product")
    (step,) = plan.passes
    assert ("TRANSPOSE_A" in step.defines, "TRANSPOSE_B" in step.defines) == (first, second)


def test_operands_themselves_say_their_form(device):
    a, b = np.ones((3, 4), np.float32), glla.asarray(np.ones((5, 4), np.float32), device)
    plan = glla.plan("matmul", a, b.T)
    assert "A: 3x4 of the host" in str(plan) and "TRANSPOSE_B" in str(plan)
    assert str(plan) == str(glla.plan("matmul", (3, 4), Form((4, 5), resident=True, transposed=True)))
    turned = glla.plan("plu", np.asfortranarray(np.ones((9, 7))))
    assert "TRANSPOSED=1" in numbered(str(turned))[1]  # is uploaded as it lies, and packed the other way


# ---- choices -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", matmul.VARIANTS)
def test_variants(variant):
    plan = glla.plan("matmul", *resident((4, 10), (10, 3)), limits=Limits(opengl=COMPUTE), variant=variant)
    assert f"matmul[{variant}]" in str(plan)
    # The two with panels: repack A, transfer it, repack B, one panel, put C together.
    cubes = [f"virtual_cube{kind}" for kind in ("", "_ping_pong", "_interpolated")]
    several = dict.fromkeys([*cubes, "panel_broadcast", "panel_groups"], 5) | {"register_blocked": 2, "rank_one": 13}
    repacking = dict.fromkeys(["single_component", "packed_4x1", "packed_1x4"], 4)
    assert plan.cost.passes == (several | repacking).get(variant, 1)
    assert plan.flops == 2 * 4 * 10 * 3
    hosted = glla.plan("matmul", (4, 10), (10, 3), limits=Limits(opengl=COMPUTE), variant=variant)
    assert hosted.cost.passes == plan.cost.passes + 3  # packed, packed, unpacked


def test_parameters_of_a_variant():
    given = {"variant": "register_blocked", "parameters": (("PASSES", 2),), "limits": GPU}
    plan = glla.plan("matmul", *resident((8, 8), (8, 8)), **given)
    assert shaders_of(plan) == ["matmul/register_blocked", "matmul/interleave"] * 2


def test_the_loop_limit_splits_a_product():
    limits = Limits(texture_size=2**20, loop_trips=1000)
    for k, passes in ((2000, 1), (2001, 2), (4000, 2), (4001, 3)):
        plan = glla.plan("matmul", *resident((2, k), (k, 2)), limits=limits)
        assert plan.cost.passes == passes


def test_without_limits_it_is_for_the_default_device(device):
    plan = glla.plan("rref", (40, 50))
    assert str(plan).startswith(f"for {device.info.renderer}, OpenGL ")
    assert str(plan) == str(glla.plan("rref", (40, 50), device=device))
    assert str(plan).splitlines()[1:] == str(glla.plan("rref", (40, 50), limits=device.limits)).splitlines()[1:]


def test_needs_no_device():
    code = "import glla; print(glla.plan('rref', (5, 7)))"
    assert run_python(code, GLLA_BACKEND="none of them", PATH="").startswith(
        "for plain OpenGL 3.3, as no device can be had here\nrref: "
    )


# ---- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("software", [True, False])
def test_too_large_for_the_memory(software):
    with glla.Device(max_bytes=5000) as tiny:
        tiny.limits = replace(tiny.limits, software=software)
        with pytest.raises(OutOfMemoryError, match="the smallest tile"):
            glla.plan("matmul", (200, 200), (200, 200), device=tiny)


@pytest.mark.parametrize("software", [True, False])
def test_a_stack_goes_in_pieces_that_the_memory_holds(software):
    with glla.Device(max_bytes=20_000) as small:
        small.limits = replace(small.limits, software=software)
        made = glla.plan("matmul", (40, 8, 8), (40, 8, 8), device=small)
        assert made.operation == "stack[matmul]" and len(made.operands) > 1
        a = np.ones((40, 8, 8), dtype=np.float32)
        with glla.trace() as trace:
            glla.matmul(a, a, device=small)
        assert len([one for one in trace.passes if one.draw]) == made.cost.passes


SQUARES = (LARGE, LARGE), (LARGE, LARGE)


@pytest.mark.parametrize(
    "given", [memoryview, np.ndarray.tolist, lambda a: tuple(map(tuple, a)), lambda a: tuple(map(np.int64, a.shape))]
)
def test_operands_that_calls_convert(given):
    a = np.ones((3, 4))
    assert str(glla.plan("rref", given(a), limits=GPU)) == str(glla.plan("rref", a, limits=GPU))


@every_operation
@pytest.mark.parametrize("n", [3, LARGE])
def test_unknown_options(operation, n):
    with pytest.raises(OptionError, match=rf"^plan: {operation}: .*unexpected keyword argument 'speed'") as caught:
        glla.plan(operation, *shapes_of(operation, n), limits=GPU, speed=9)
    assert isinstance(caught.value, GllaError)


@pytest.mark.parametrize(
    ("name", "forms", "seen_as"),
    [
        ("matmul", ((5,), (5, 3)), ((1, 5), (5, 3))),
        ("matmul", ((4, 5), (5,)), ((4, 5), (5, 1))),
        ("matmul", ((2, 4, 5), (5,)), ((2, 4, 5), (5, 1))),
        ("solve", ((6, 6), (6,)), ((6, 6), (6, 1))),
        ("lu_solve", ((300, 300), np.ones(300)), ((300, 300), (300, 1))),
    ],
)
def test_a_vector_counts_as_the_call_counts_it(name, forms, seen_as):
    assert str(glla.plan(name, *forms, limits=glla.Limits())) == str(glla.plan(name, *seen_as, limits=glla.Limits()))


def test_parameters_find_their_variant():
    """The one that is chosen, or one that has them; what runs is then one matrix at a time."""
    given = {"parameters": (("UNROLL", 4),), "limits": glla.Limits()}
    chosen, _ = matmul.choose(resident((4, 6), (6, 2)), GPU)
    shown = glla.plan("matmul", (4, 6), (6, 2), **given)
    assert str(shown) == str(glla.plan("matmul", (4, 6), (6, 2), variant=chosen, **given))
    assert str(shown) != str(glla.plan("matmul", (4, 6), (6, 2), variant=chosen, limits=glla.Limits()))
    assert "blocked" in str(glla.plan("plu", (40, 40), parameters=(("UNROLL", 1),), limits=glla.Limits()))


def test_a_factorisation_in_progress_can_be_shown():
    shown = glla.plan("plu", (20, 20), stop=3, variant="rank2", limits=glla.Limits())
    assert sum(step.shader == "plu/rank2/eliminate" for step in shown.passes) == 3


@pytest.mark.parametrize("name", ["solve", "inv", "det", "slogdet", "rcond", "lu_factor", "lu_solve", "cholesky"])
def test_a_plan_is_refused_in_the_words_of_the_call(name, device, monkeypatch):
    small = glla.Limits(texture_size=8, software=True)
    a = np.eye(20, dtype=np.float32)
    b = [a[:, :1]] * (len(OPERATIONS[name].operands) - 1)
    monkeypatch.setattr(device, "limits", small)
    with pytest.raises(LimitError) as shown:
        glla.plan(name, a, *b, limits=small)
    with pytest.raises(LimitError) as ran:
        getattr(glla, name)(*(((a, np.arange(20)), *b) if name == "lu_solve" else (a, *b)), device=device)
    assert str(shown.value) == str(ran.value)
