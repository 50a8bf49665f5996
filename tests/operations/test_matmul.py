"""C = A B: exact for integers, within its bound for floats, and NaN and inf where they belong."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from glla.errors import LimitError
from glla.operations.product import matmul
from glla.operations.product.matmul import VARIANTS
from glla.passes import PLAIN, Form, Limits, Storage, parameter_space, resident
from glla.testing import MATRICES, assert_exact, assert_product, integers, normal

FEW_TRIPS = Limits(loop_trips=7)
SOFTWARE, GPU = Limits(software=True), Limits(buffer_texels=1 << 27)

# Every value of every parameter, and every pair of ROWS and COLUMNS; what does not matter to these stays as it is.
USUAL = {"UNROLL": 1, "PASSES": 1, "BUFFERS": 0}
SETTINGS = [
    (variant, parameters)
    for variant in VARIANTS
    for parameters in parameter_space(VARIANTS[variant])
    if sum(USUAL.get(name, value) != value for name, value in parameters) <= 1
]


def every_variant(test):
    """Run a test with every variant; with those that need more than OpenGL 3.3 where that is there."""
    return pytest.mark.newer_gl(pytest.mark.parametrize("variant", VARIANTS)(test))


def operands(shape, rng, make=integers):
    m, k, n = shape
    return make(m, k, rng), make(k, n, rng)


def forms(m, k, n):
    return resident((m, k), (k, n))


def plan(m, k, n, variant, limits=PLAIN, **options):
    return matmul.plan(forms(m, k, n), limits, variant=variant, **options)


def product(run, a, b, variant, limits=PLAIN, onto=None, parameters=()):
    (m, k), n = a.shape, b.shape[1]
    start = {} if onto is None else {"C0": onto}
    made = plan(m, k, n, variant, limits, onto=onto is not None, parameters=parameters)
    return run(made, A=a, B=b, **start).matrix("C", (m, n))


# ---- exact -------------------------------------------------------------------------------------------------------


@every_variant
def test_adds_to_what_is_there(run, rng, variant):
    for shape in ((1, 1, 1), (3, 5, 2), (17, 16, 15), (15, 33, 31), (16, 96, 8), (33, 97, 9), (8, 193, 17)):
        a, b = operands(shape, rng)
        c = integers(a.shape[0], b.shape[1], rng, limit=1000)
        assert_exact(product(run, a, b, variant, onto=c), a @ b + c)


@every_variant
def test_transposed_operands(run, rng, variant):
    shapes = (1, 1, 1), (3, 5, 2), (17, 16, 15), (15, 33, 31), (33, 97, 9)
    for turned, shape in itertools.product(((True, False), (False, True), (True, True)), shapes):
        a, b = operands(shape, rng)
        c = integers(a.shape[0], b.shape[1], rng)
        forms = (Form(one.shape, resident=True, transposed=turn) for one, turn in zip((a, b), turned, strict=True))
        made = matmul.plan(tuple(forms), variant=variant, onto=True)
        stored = [array.T if turn else array for array, turn in zip((a, b), turned, strict=True)]
        results = run(made, **dict(zip(made.operands, [*stored, c], strict=True)))
        assert_exact(results.matrix("C", c.shape), a @ b + c)
        if variant == "inner_product":
            assert made.cost.passes == 1


@every_variant
def test_sum_split_over_passes_is_exact(run, rng, variant):
    for inner, odd, onto in itertools.product((1, 6, 7, 8, 13, 14, 15, 21, 22), (0, 1), (False, True)):
        a, b = operands((5, 2 * inner - odd, 3), rng)
        c = integers(5, 3, rng) if onto else None
        assert_exact(product(run, a, b, variant, FEW_TRIPS, c), a @ b + (c if onto else 0))


@every_variant
def test_no_loop_is_longer_than_the_device_allows(variant):
    for inner in (6, 7, 8, 22):
        steps = plan(5, 2 * inner, 3, variant, replace(FEW_TRIPS, opengl=430)).steps
        trips = [step.uniforms["count"] for step in steps if "count" in getattr(step, "uniforms", {})]
        assert variant == "compute_tiled" or all(count <= 7 for count in trips)
        assert variant != "inner_product" or (sum(trips), len(trips)) == (inner, -(-inner // 7))


@pytest.mark.newer_gl
@pytest.mark.parametrize(("variant", "parameters"), SETTINGS, ids=str)
def test_parameters_change_no_result(run, rng, variant, parameters):
    """What takes long to compile with one shape."""
    long = dict(parameters).get("DEPTH", 0) > 96
    for shape in [(19, 45, 11)] if long else [(1, 1, 1), (19, 45, 11), (66, 131, 34)]:
        a, b = operands(shape, rng)
        c = integers(a.shape[0], b.shape[1], rng)
        assert_exact(product(run, a, b, variant, onto=c, parameters=parameters), a @ b + c)
        if shape[1] < 100:  # in slices that end between two unrolled trips
            assert_exact(product(run, a, b, variant, FEW_TRIPS, c, parameters), a @ b + c)


@pytest.mark.parametrize("inner", [64, 65, 80, 81, 97, 112, 113, 128])
def test_the_last_panels_are_as_deep_as_need_be(run, rng, inner):
    a, b = operands((35, inner, 21), rng)
    parameters = (("DEPTH", 64),)
    assert_exact(product(run, a, b, "panel_broadcast", parameters=parameters), a @ b)
    last = plan(35, inner, 21, "panel_broadcast", parameters=parameters).steps[-2]
    left = inner - 64 * ((inner - 1) // 64)
    assert left <= last.defines["DEPTH"] < left + 16
    assert last.blocks["Panel"].count == 4 * last.defines["DEPTH"]


@pytest.mark.parametrize(("side", "strip"), [(192, 16), (191, 8), (96, 8)])
def test_strips_fit_into_a_texture(run, rng, side, strip):
    limits = replace(Limits(), texture_size=side)
    a, b = operands((40, 45, 37), rng)
    assert_exact(product(run, a, b, "panel_broadcast", limits, parameters=(("DEPTH", 16),)), a @ b)
    made = plan(40, 45, 37, "panel_broadcast", limits, parameters=(("DEPTH", 16),))
    assert made.slots["strips"] == Storage(strip * 12, -(-37 // strip), 4)
    assert made.slots["C0_ping"] == Storage(strip * 3, -(-37 // strip), 4)


@pytest.mark.parametrize(("height", "inner", "across"), [(640, 512, 2), (1000, 500, 2), (1024, 200, 1)])
def test_panels_beyond_the_height_of_a_texture_are_side_by_side(run, rng, height, inner, across):
    limits = replace(Limits(), texture_size=1024)
    a, b = operands((height, inner, 21), rng)
    assert_exact(product(run, a, b, "panel_broadcast", limits, parameters=(("DEPTH", 16),)), a @ b)
    made = plan(height, inner, 21, "panel_broadcast", limits, parameters=(("DEPTH", 16),))
    made.check(limits)
    assert made.slots["panels"].width == across * 64


@pytest.mark.parametrize("block", [64, 256, 1024, 4096])
@pytest.mark.parametrize("shape", [(8, 32, 32), (70, 40, 129), (64, 65, 33), (130, 300, 21)], ids=str)
def test_groups_fill_the_uniform_block(run, rng, block, shape):
    limits = replace(Limits(), uniform_block=block)
    a, b = operands(shape, rng)
    assert_exact(product(run, a, b, "panel_groups", limits), a @ b)
    (m, k, _), made = shape, plan(*shape, "panel_groups", limits)
    made.check(limits)
    draws = [step for step in made.steps if getattr(step, "shader", "") == "matmul/panel_groups"]
    assert max(step.blocks["Panel"].count for step in draws) <= block
    depth, groups = draws[0].defines["DEPTH"], draws[0].defines["GROUPS"]
    assert len(draws) == -(-k // depth) * -(-m // (8 * groups))


def test_groups_beyond_the_height_of_a_texture_stand_beside_each_other(run, rng):
    limits = replace(Limits(), texture_size=1024, uniform_block=128)
    a, b = operands((1000, 500, 21), rng)
    assert_exact(product(run, a, b, "panel_groups", limits), a @ b)
    made = plan(1000, 500, 21, "panel_groups", limits)
    made.check(limits)
    assert made.slots["panels"].width == 2 * (2 * 32)


def test_a_gpu_takes_panels_for_the_largest_products():
    forms = resident((16384, 16384), (16384, 16384))
    assert matmul.choose(forms, Limits(texture_size=32768)) == ("panel_broadcast", ())
    limits = Limits(texture_size=4096)
    matmul.plan(resident((2048, 2048), (2048, 2048)), limits, variant="panel_broadcast").check(limits)


@pytest.mark.parametrize("block", [1, 2, 3, 5])
@pytest.mark.parametrize("variant", ["multi_pass", "blocked_output"])
def test_blocks_of_any_size(run, rng, monkeypatch, variant, block):
    """Blocks smaller than those that make sense, so that a small matrix has many, whole ones and others."""
    monkeypatch.setitem(VARIANTS, variant, replace(VARIANTS[variant], parameters={"BLOCK": (block,)}))
    matmul.plan.cache_clear()
    try:
        for shape in ((1, 1, 1), (5, 4, 6), (12, 12, 12), (9, 21, 13)):
            a, b = operands(shape, rng)
            c = integers(a.shape[0], b.shape[1], rng)
            assert_exact(product(run, a, b, variant), a @ b)
            assert_exact(product(run, a, b, variant, onto=c), a @ b + c)
    finally:
        matmul.plan.cache_clear()


# ---- bounded -----------------------------------------------------------------------------------------------------


@every_variant
def test_tiny_times_huge_is_within_its_bound(run, rng, variant):
    a, b = MATRICES["tiny"](13, 37, rng), MATRICES["huge"](37, 5, rng)
    assert_product(product(run, a, b, variant), a, b)


@every_variant
def test_long_sum_is_within_its_bound(run, rng, variant):
    a, b = operands((3, 1031, 5), rng, normal)
    assert_product(product(run, a, b, variant), a, b)


# ---- character ---------------------------------------------------------------------------------------------------


@every_variant
def test_not_finite_reaches_its_row_or_column_only(run, rng, variant):
    for bad, (i, j), side in itertools.product((np.nan, np.inf, -np.inf), ((0, 0), (3, 4), (6, 8), (5, 1)), "AB"):
        a, b = rng.integers(1, 9, (7, 9)).astype(np.float32), rng.integers(1, 9, (9, 7)).astype(np.float32)
        expected = a @ b
        if side == "A":
            a[i, j] = expected[i, :] = bad
        else:
            b[j, i] = expected[:, i] = bad
        np.testing.assert_array_equal(product(run, a, b, variant), expected)


@every_variant
def test_zero_times_infinity_is_nan(run, variant):
    a, b = np.array([[0, 1], [1, 1]], np.float32), np.array([[np.inf, 1], [2, 1]], np.float32)
    np.testing.assert_array_equal(product(run, a, b, variant), [[np.nan, 1], [np.inf, 2]])


@every_variant
def test_negative_zero_is_zero(run, rng, variant):
    a, b = np.full((5, 3), -0.0, np.float32), integers(3, 5, rng)
    assert_exact(product(run, a, b, variant), np.zeros((5, 5)))


@every_variant
def test_overflow_is_infinity(run, variant):
    a, b = np.full((3, 3), 1e20, np.float32), np.full((3, 3), -1e20, np.float32)
    assert_exact(product(run, a, b, variant), np.full((3, 3), -np.inf))


# ---- the plan ----------------------------------------------------------------------------------------------------


def test_a_compute_shader_is_refused_where_there_is_none(device, rng):
    message = (
        r"^matmul\[compute_tiled\]: pass 0 \(matmul/compute_tiled\): a compute shader needs OpenGL 4\.3, "
        r"this device has 3\.3; choose another variant$"
    )
    with pytest.raises(LimitError, match=message) as caught:
        plan(4, 4, 4, "compute_tiled").check(Limits())
    assert (caught.value.asked, caught.value.allowed) == (430, 330)
    if device.limits.opengl == 330:
        a = device.upload(integers(4, 4, rng))
        with pytest.raises(LimitError, match=message):
            device.run(plan(4, 4, 4, "compute_tiled"), A=a, B=a)


@pytest.mark.parametrize("software", [False, True])
@pytest.mark.parametrize("side", [1024, 4096])
@pytest.mark.parametrize("shape", [(2048, 2048, 512), (512, 2048, 2048), (40, 2048, 40), (2048, 40, 2048)], ids=str)
def test_choice_keeps_to_the_limits(shape, side, software):
    limits = Limits(texture_size=side, software=software)
    variant, parameters = matmul.choose(forms(*shape), limits)
    made = plan(*shape, variant, limits, parameters=parameters)
    made.check(limits)
    assert matmul.plan(forms(*shape), limits).operation == made.operation  # what is chosen by default


def test_a_software_rasteriser_multiplies_through_buffers_as_far_as_they_hold_the_matrices():
    few = Limits(software=True, buffer_texels=1 << 16)
    _, through_buffers = matmul.choose(forms(512, 512, 512), few)
    assert dict(through_buffers)["BUFFERS"] == 1
    for shape, limits in (((512, 514, 512), few), ((512, 512, 512), SOFTWARE), ((512, 512, 512), GPU)):
        assert matmul.choose(forms(*shape), limits) == ("register_blocked", ())
    with pytest.raises(LimitError, match=r"may have 65536 texels on this device, slot A as a buffer needs 65792"):
        plan(512, 514, 512, "register_blocked", few, parameters=through_buffers).check(few)


@pytest.mark.parametrize("onto", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1), (33, 70, 129), (257, 64, 259)], ids=str)
def test_buffers_change_no_bit(run, rng, shape, onto):
    """With an infinity, which times a zero beside B would be NaN in the padding of C."""
    a, b = operands(shape, rng, normal)
    a[0, 0] = np.inf
    start = normal(shape[0], shape[2], rng) if onto else None
    ways = [(("BUFFERS", 1), ("COLUMNS", 4), ("ROWS", 2), ("UNROLL", 4)), ()]
    one, two = (product(run, a, b, "register_blocked", onto=start, parameters=way) for way in ways)
    assert_exact(one, two)


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 7, 3), (33, 70, 129)], ids=str)
@pytest.mark.parametrize("onto", [False, True])
def test_interpolated_coordinates_meet_the_same_texels(run, rng, shape, onto):
    """Bit for bit what integers fetch: a coordinate that is off by a texel changes every sum."""
    m, k, n = shape
    given = {"A": normal(m, k, rng), "B": normal(k, n, rng)} | ({"C0": normal(m, n, rng)} if onto else {})
    one, two = (
        run(matmul.plan(resident((m, k), (k, n)), variant=variant, onto=onto), **given).matrix("C", (m, n))
        for variant in ("virtual_cube", "virtual_cube_interpolated")
    )
    assert_exact(two, one)
