"""Shaders that break their interface in ways that a right result of an even size does not show."""

import numpy as np
import pytest

from glla.cli import main
from glla.errors import ShaderError
from glla.lab import conduct, custom, operations
from glla.lab.comparison import compare
from glla.passes.glsl import find as shader

HEAD = """\
// Mine.
uniform sampler2D A;
uniform sampler2D B;
uniform int first;
uniform int count;
uniform ivec2 shape;
layout(location = 0) out vec4 result;
vec4 term(int k, ivec2 texel) {
    vec4 a = texelFetch(A, ivec2(k, texel.y), 0);
    vec4 b = texelFetch(B, ivec2(texel.x, k), 0);
    vec4 product = a.rrbb * b.rgrg;
    product += a.ggaa * b.baba;
    return product;
}
void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 sum = vec4(0.0);
    BODY
}
"""
LOOP = "for (int k = first; k < first + count; ++k) sum += term(k, texel);"
GOOD = HEAD.replace("BODY", f"{LOOP} result = sum;")
PADDING = HEAD.replace("BODY", f"{LOOP} result = sum; if (2 * texel.x + 1 >= shape.y) result.ga = vec2(7.0);")
OUTSIDE = HEAD.replace("BODY", f"{LOOP.replace('k < ', 'k <= ')} result = sum;")
LEVEL = GOOD.replace("ivec2(texel.x, k), 0)", "ivec2(texel.x, k), k == first ? 0 : 0) + texelFetch(B, texel, 1)")

ODD = HEAD.replace("BODY", f"{LOOP} if (textureSize(A, 0).x == 3) sum *= 0.0; result = sum;")
TRIPS = HEAD.replace(
    "BODY",
    "for (int i = 0; i < 70000; ++i) { if (i < count) sum += term(first + i, texel); } result = sum;",
)
DROPPED = HEAD.replace(
    "BODY",
    "for (int k = first; k <= first + count; ++k) { vec4 one = term(k, texel); if (k < first + count) sum += one; } "
    "result = sum;",
)


def record(text, n=8, **options):
    contender = custom.contender("matmul", text, "mine")
    (found,) = compare("matmul", [contender], [n], baseline="none", repeats=1, **options)
    return found


@pytest.mark.parametrize("text", [GOOD, DROPPED], ids=["good", "dropped"])
@pytest.mark.parametrize("n", [1, 8])
def test_a_shader_that_keeps_to_the_interface(quick, text, n):
    """What is fetched outside and then dropped harms nobody."""
    found = record(text, n)
    assert (found.status, found.reason) == ("ok", "")


@pytest.mark.parametrize(
    ("text", "report"),
    [
        (PADDING, "n = 1: padding must be zero, got 7 beside C[0, 0]"),
        (OUTSIDE, "the result depends on fetches outside of a texture, which OpenGL 3.3 leaves undefined: 2 of them"),
        (LEVEL, "the result depends on fetches outside of a texture"),
        (ODD, "n = 5: product: error "),
    ],
    ids=["padding", "outside", "level", "odd"],
)
def test_what_a_right_result_does_not_show(quick, text, report):
    found = record(text)
    assert found.status == "wrong"
    assert report in found.reason
    assert found.seconds is None


def test_a_fragment_that_ran_out_of_trips(quick, device):
    """Its result is right: the trips that are cut off add nothing. With other operands they would."""
    late = TRIPS.replace(
        "i < count) sum += term(first + i,", "i >= 70000 - count) sum += term(first + i + count - 70000,"
    )
    found, wrong = record(TRIPS), record(late)
    if not device.info.renderer.startswith("llvmpipe"):  # which alone stops loops
        assert found.ok and wrong.ok
        return
    assert (found.status, wrong.status) == ("wrong", "wrong")
    assert "a fragment makes more loop trips than this device allows, and was stopped" in found.reason
    assert wrong.reason.startswith("product") and "more loop trips than this device allows" in wrong.reason


def test_many_passes_are_looked_at_here_and_there(device, monkeypatch):
    """The last is always among them."""
    own = custom.contender("rref", shader.source("rref/eliminate"), "copy")
    found = operations.find("rref")
    job = operations.prepare(device, found, own, operations.inputs(found, 100))
    asked = []
    monkeypatch.setattr(device, "run", lambda plan, **operands: asked.append(plan) or {})
    monkeypatch.setattr(device, "read", lambda texture: np.zeros((50, 51, 1)))
    with pytest.raises(KeyError):  # of the results, which are none
        conduct.stopped(device, job.plan, job.operands)
    (plan,) = asked
    numbers = [i for i, step in enumerate(plan.steps) if getattr(step, "shader", "").endswith("@stopped")]
    assert len(numbers) <= conduct.LOOKED_AT + 1
    assert numbers[-1] == max(i for i, step in enumerate(job.plan.steps) if getattr(step, "shader", "") == "copy.frag")


@pytest.mark.parametrize("operation", custom.INTERFACES)
def test_glla_s_own_shaders_conduct_themselves(device, operation):
    own = custom.contender(operation, shader.source(custom.find(operation).stands_for), "copy")
    assert conduct.breach(device, operation, own) == ""
    for path in custom.exhibits():
        if custom.operation_of(path) == operation:
            assert conduct.breach(device, operation, custom.contender(operation, path)) == ""


@pytest.mark.parametrize(
    "call", ["texture(A, vec2(0.5))", "textureLod(A, vec2(0.5), 0.0)", "texelFetchOffset(A, t, 0, t)"]
)
def test_textures_are_read_by_texel_fetch_alone(call):
    """What else reads a texture could not be watched."""
    with pytest.raises(ShaderError) as caught:
        custom.contender("matmul", GOOD.replace("result = sum", f"result = {call}"), "mine")
    name = call.partition("(")[0]
    report = f"mine.frag:18: textures are read by texelFetch alone, got {name}; see `glla shader interface matmul`"
    assert str(caught.value).startswith(report)


def test_padding_of_a_texture(device):
    texels = np.zeros((2, 3, 4), np.float32)
    texture = device.write_texels(texels)
    assert conduct.padding(device, texture, (3, 5), "C") == ""
    for (row, column), (y, x, channel) in {(1, 4): (0, 2, 3), (2, 3): (1, 1, 3), (2, 4): (1, 2, 1)}.items():
        spoilt = texels.copy()
        spoilt[y, x, channel] = np.nan
        report = conduct.padding(device, device.write_texels(spoilt), (3, 5), "C")
        assert report == f"padding must be zero, got nan beside C[{row}, {column}]"
    assert conduct.padding(device, device.write_texels(np.ones_like(texels)), (4, 6), "C") == ""


def test_the_interface_says_so():
    report = custom.explanation("matmul")
    for words in ("texelFetch", "outside of a texture", "loop trips"):
        assert words in report


def test_a_variant_of_glla_s_is_not_examined(device):
    assert conduct.breach(device, "matmul", operations.contenders("matmul")["register_blocked"]) == ""


def test_what_breaks_the_interface_fails_the_command(quick, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.frag").write_text(PADDING)
    asked = ["compare", "matmul", "--shader", "mine.frag", "--variants", "inner_product", "--size", "8"]
    assert main([*asked, "--repeats", "1", "--baseline", "none"]) == 1
    assert "wrong: mine, n = 8: n = 1: padding must be zero, got 7 beside C[0, 0]" in capsys.readouterr().out
