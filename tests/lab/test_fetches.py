"""Counted fetches: as many as the headers of the shaders say, whatever a fetch depends on."""

from dataclasses import replace

import numpy as np
import pytest

from glla.errors import ShaderError
from glla.lab import fetches
from glla.operations.elimination import plu
from glla.operations.product import matmul
from glla.passes import COMPUTE, Draft, Limits, Pass, Region, Storage, parameter_space, resident
from glla.passes.glsl.find import resolve

OUT = "layout(location = 0) out vec4 result;\n"
ANY = Limits(opengl=COMPUTE)


def product(m, k, n, variant, **options):
    """Plan of a variant of the product."""
    return matmul.plan(resident((m, k), (k, n)), variant=variant, **options)


def operands(device, m, k, n):
    """Matrices of ones."""
    return {"A": device.upload(np.ones((m, k), np.float32)), "B": device.upload(np.ones((k, n), np.float32))}


@pytest.mark.parametrize(
    ("variant", "parameters", "expected"),
    [
        ("multi_pass", (("BLOCK", 16),), 2 * 60 * 35 + 2 * 60),  # 60 texels of C, 35 of the inner dimension
        ("register_blocked", (("UNROLL", 4), ("PASSES", 2)), 3 * 3 * 35 * 6 + 60 + 2 * 60),
    ],
)
def test_later_slices_read_the_sum_so_far(device, variant, parameters, expected):
    plan = product(20, 70, 12, variant, parameters=parameters)
    assert fetches.count(device, plan, operands(device, 20, 70, 12)) == expected


def test_batches_add_up(device, monkeypatch):
    plan = product(9, 9, 9, "virtual_cube_ping_pong")
    textures = operands(device, 9, 9, 9)
    whole = fetches.count(device, plan, textures)
    monkeypatch.setattr(fetches, "BATCH", 200)  # a pass has 100 bytes of counts
    assert [len(batch) for batch in fetches._batches(plan)] == [2, 2, 1]
    assert fetches.count(device, plan, textures) == whole == 25 * (2 * 5 + 4)


def drawn(shader_files, size, *passes, **files):
    """A plan of one target of a size, drawn by shaders that read A: (shader, options) each."""
    shader_files({f"{name}.frag": f"uniform sampler2D A;\n{OUT}{text}" for name, text in files.items()})
    draft = Draft("drawn")
    a, r = draft.operand("A", Storage(*size)), draft.slot("R", Storage(*size))
    for name, options in passes or [("a", {})]:
        draft.draw(name, {"A": a}, r, **options)
    return draft.plan({"R": r})


def test_fetches_that_depend_on_values_are_counted(device, shader_files, rng):
    body = """void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int trips = int(texelFetch(A, at, 0).r);
    result = vec4(0.0);
    for (int i = 0; i < trips; ++i) result += texelFetch(A, at, 0);
}
"""
    texels = rng.integers(0, 5, (6, 7, 4)).astype(np.float32)
    plan, operand = drawn(shader_files, (6, 7), a=body), device.write_texels(texels)
    assert fetches.count(device, plan, {"A": operand}) == 42 + texels[:, :, 0].sum()


def test_only_what_is_drawn_is_counted(device, shader_files):
    """A region, a target that is added to, a pass that fetches nothing, and a function that fetches twice."""
    twice = "vec4 twice(sampler2D M, ivec2 at) { return texelFetch(M, at, 0) + texelFetch(M, at.yx, 0); }\n"
    shader_files({"lib/twice.glsl": twice})
    passes = [
        ("b", {}),
        ("a", {"region": Region(1, 2, 3, 2)}),
        ("a", {"region": Region(0, 4, 5, 1), "accumulate": True}),
    ]
    body = '#include "lib/twice.glsl"\nvoid main() { result = twice(A, ivec2(gl_FragCoord.xy)); }'
    plan = drawn(shader_files, (5, 5), *passes, a=body, b="void main() { result = vec4(1.0); }")
    operand = device.write_texels(np.ones((5, 5, 4), np.float32))
    assert fetches.count(device, plan, {"A": operand}) == 2 * (6 + 5)


def test_the_plan_itself_runs_as_it_is():
    """What counts stands before what it counts; every step is there, and nothing else is drawn."""
    plan = plu.plan(resident((70, 70)), variant="blocked")
    counting = fetches.counting_plan(plan, list(range(len(plan.steps))))
    counting.check(ANY)
    # a texture for each slot
    steps = [repr(replace(one, barrier=False) if isinstance(one, Pass) else one) for one in plan.steps]
    assert [step for step in map(repr, counting.steps) if step in steps] == steps


@pytest.mark.newer_gl
@pytest.mark.parametrize(
    "name", ["matmul/interleave", "matmul/panel_broadcast", "matmul/compute_tiled", "plu/rank2/eliminate"]
)
def test_every_line_still_leads_back_to_its_file(name):
    plain, counting = resolve(name), resolve(f"{name}@{fetches.KIND}")
    *_, last = counting.stages.values()
    *_, before = plain.stages.values()
    assert counting.outputs == ("fetches",)
    assert (counting.samplers, counting.uniforms, counting.blocks) == (plain.samplers, plain.uniforms, plain.blocks)
    assert len(last.lines) == len(last.text.splitlines())
    assert [origin for origin in last.lines if origin[0] != "(counting)"] == list(before.lines)


# A fragment of register_blocked computes 8 x 4 elements, also where C ends within them: what it fetches there is for
# results that are dropped. Tiles of 16 x 64 texels leave no shared memory to count in.
INSIDE = [
    (variant, parameters)
    for variant in sorted(set(matmul.VARIANTS) - {"register_blocked"})
    for parameters in parameter_space(matmul.VARIANTS[variant])
    if dict(parameters).get("DEPTH", 16) == 16 and dict(parameters).get("UNROLL") not in (2, 8)
    if dict(parameters) != {"WORK": 4, "TILE": 16}
]


@pytest.mark.newer_gl
@pytest.mark.parametrize(("variant", "parameters"), INSIDE, ids=str)
def test_no_fetch_of_a_product_leaves_its_texture(device, variant, parameters):
    if lacks := matmul.VARIANTS[variant].lacks(device.limits):
        pytest.skip(f"{variant} {lacks}")
    for shape in ((1, 1, 1), (5, 7, 3), (9, 43, 21)):
        plan = product(*shape, variant, onto=True, parameters=parameters)
        start = device.upload(np.ones((shape[0], shape[2]), np.float32))
        assert fetches.count(device, plan, operands(device, *shape) | {"C0": start}, fetches.OUTSIDE) == 0


def test_fetches_from_buffers_are_counted(device):
    plan = product(16, 16, 16, "register_blocked", parameters=(("BUFFERS", 1),))
    assert fetches.count(device, plan, operands(device, 16, 16, 16)) == 8 * (4 + 2) * 8
    assert fetches.count(device, plan, operands(device, 16, 16, 16), fetches.OUTSIDE) == 0


@pytest.mark.parametrize(
    ("at", "outside"), [("at", 0), ("at + 1", 5 + 3 - 1), ("at - ivec2(2, 0)", 2 * 3), ("-at", 14), ("none", None)]
)
def test_fetches_outside_are_counted(device, shader_files, at, outside):
    """And an error in the shader is reported with its line."""
    body = f"void main() {{ ivec2 at = ivec2(gl_FragCoord.xy);\n    result = texelFetch(A, {at}, 0);\n}}"
    plan = drawn(shader_files, (3, 5), a=body)
    operands = {"A": device.write_texels(np.ones((3, 5, 4), np.float32))}
    if outside is None:
        with pytest.raises(ShaderError, match=r"a\.frag:4: "):
            fetches.count(device, plan, operands)
    else:
        assert fetches.count(device, plan, operands, fetches.OUTSIDE) == outside
