"""Programs: every entry point compiles by itself, and what does not compile is found in its file."""

import gc

import numpy as np
import pytest

import glla
from glla.errors import ShaderError
from glla.gl import programs as module
from glla.gl.pool import Texture
from glla.gl.programs import explain
from glla.linalg.execution import run
from glla.operations import OPERATIONS
from glla.passes import COMPUTE, Draft, Storage, forms_of
from glla.passes.glsl import find as shader

ENTRY_POINTS = sorted(
    path.relative_to(shader.root()).with_suffix("").as_posix()
    for path in shader.root().rglob("*.*")
    if path.suffix in (".frag", ".comp")
)
OUT = "layout(location = 0) out vec4 result;\n"
GOOD = OUT + "void main() { result = vec4(0.0); }\n"


@pytest.fixture
def programs():
    """The cache of a device of its own, so that what is compiled here is released here."""
    with glla.Device() as own, own.current():
        yield own._programs


@pytest.fixture(scope="module")
def kept():
    """One device for all entry points."""
    with glla.Device() as own:
        yield own


def error_of(programs, name):
    with pytest.raises(ShaderError) as caught:
        programs.get(name, {})
    return str(caught.value)


@pytest.mark.newer_gl
@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_every_entry_point_compiles_with_its_defaults(kept, name):
    """Its includes are put in, and its lines lead back to it."""
    found = shader.resolve(name)
    *_, last = found.stages.values()
    assert found.outputs and not any("#include" in stage.text for stage in found.stages.values())
    assert last.lines[-1][0].rpartition(".")[0] == name and len(last.lines) == len(last.text.splitlines())
    if "compute" in found.stages and kept.limits.opengl < COMPUTE:
        pytest.skip(f"a compute shader needs OpenGL 4.3, this device has {kept.info.version}")
    with kept.current():
        program = kept._programs.get(name, {})
    images = set(found.outputs) if "compute" in found.stages else set()
    uniforms = {name for name in program.live if not name.startswith("gl_")}
    assert uniforms <= found.samplers | found.uniforms | found.blocks | images


def test_a_text_is_compiled_once(programs, shader_files):
    shader_files({"a.frag": GOOD, "b.frag": GOOD, "c.frag": GOOD + "// other"})
    one = programs.get("a", {})
    assert programs.get("a", {}) is programs.get("b", {}) is one
    assert programs.get("c", {}) is not one
    assert programs.get("a", {"N": 1}) is not one
    assert len(programs) == 3


def test_programs_that_no_plan_holds_are_dropped(monkeypatch):
    monkeypatch.setattr(module, "MOST_PROGRAMS", 3)
    texts = [GOOD.replace("0.0", f"{number}.0") for number in range(8)]
    with glla.Device() as own, own.current():
        plans = []
        for number, text in enumerate(texts):
            name = shader.adopt(f"kept_{number}.frag", text)
            draft = Draft("constant")
            draft.draw(name, {}, draft.slot("R", Storage(1, 1)))
            plans.append(draft.plan({"R": "R"}))
            assert own.read(own.run(plans[-1])["R"])[0, 0, 0] == number
            if number >= 1:
                plans[number] = None  # the first is held
        gc.collect()
        assert len(own._programs) == 4
        for _ in range(2):
            assert own.read(own.run(plans[0])["R"])[0, 0, 0] == 0


def test_programs_that_no_plan_holds_are_dropped_by_their_bytes(programs, shader_files, monkeypatch):
    rows = "".join(f"s = s * {number}.5 + 1.0 / s;\n" for number in range(300))
    large = f"{OUT}void main() {{ float s = gl_FragCoord.x;\n{rows}result = vec4(s); }}\n"
    shader_files({"large.frag": large} | {f"{n}.frag": GOOD.replace("0.0", f"{n}.5") for n in range(9)})
    held = programs.get("0", {})
    small = held.nbytes
    assert programs.nbytes == small and programs.get("0", {}) is held and programs.nbytes == small
    assert programs.get("large", {}).nbytes > 2 * small
    monkeypatch.setattr(module, "MOST_PROGRAM_BYTES", 3.5 * small)
    for number in range(1, 9):
        programs.get(f"{number}", {})
    gc.collect()
    assert len(programs) == 4 and programs.nbytes < 4.5 * small  # three of late, and the one in use
    assert programs.get("0", {}) is held
    monkeypatch.setattr(module, "MOST_PROGRAM_BYTES", 1)
    last = programs.get("8", {})
    gc.collect()
    assert len(programs) == 2 and programs.get("8", {}) is last


def test_what_programs_take_is_told():
    with glla.Device() as own:
        assert own.stats().program_bytes == 0
        own.matrix([[1]]).numpy()
        assert 0 < own.stats().program_bytes < own.stats().max_program_bytes == module.MOST_PROGRAM_BYTES


WRONG = {
    "every one": (
        {"a.frag": OUT + "void main() {\n    result = none;\n    result = nothing;\n}\n"},
        ["a.frag:3: ", "a.frag:4: "],
    ),
    "vertex stage": ({"a.frag": GOOD, "a.vert": "void main() {\n    gl_Position = none;\n}\n"}, ["a.vert:2: "]),
    "directive": ({"a.frag": "#if N != 1\n#error N must be 1\n#endif\n" + GOOD}, ["a.frag:2: ", "N must be 1"]),
    "compute shader": (
        {"a.comp": "layout(local_size_x = 1) in;\nvoid main() {\n    int x = none;\n}\n"},
        ["a.comp:3: "],
    ),
    "later version": ({"a.frag": "layout(binding = 0) uniform sampler2D A;\n" + GOOD}, ["a.frag:1: "]),
}


@pytest.mark.newer_gl
@pytest.mark.parametrize("case", WRONG)
def test_errors_are_led_back_to_their_lines(programs, shader_files, case):
    """The tests are run with Mesa held to plain 3.30; see .ci/test."""
    if case == "compute shader" and programs.context.version_code < COMPUTE:
        pytest.skip("this context has no compute shaders")
    if case == "later version" and programs.context.version_code > 330:
        pytest.skip("this context has more than OpenGL 3.3")
    files, places = WRONG[case]
    shader_files(files)
    text = error_of(programs, "a")
    assert all(place in text for place in places)
    if case == "directive":
        programs.get("a", {"N": 1})


def test_an_error_is_led_back_through_includes_and_defines(programs, shader_files):
    """And of stages that do not fit."""
    shader_files({"a.frag": '// a\n#include "lib/b.glsl"\n' + GOOD, "lib/b.glsl": "// b\n  int wrong = none;\n"})
    text = error_of(programs, "a")
    assert text.startswith("shader a does not compile:\n  lib/b.glsl:2: ")
    assert text.endswith("\n      int wrong = none;")
    assert "none" in text.splitlines()[1]
    reading = "flat in int row;\n" + OUT + "void main() { result = vec4(row); }\n"
    writing = "flat out vec2 row;\nvoid main() { row = vec2(0); gl_Position = vec4(0); }"
    shader_files({"a.frag": reading, "a.vert": writing})
    text = error_of(programs, "a")
    assert text.startswith("shader a does not compile:\n") and "row" in text


def test_a_plan_whose_shader_does_not_compile_leaves_nothing(device, shader_files):
    shader_files({"a.frag": OUT + "void main() { result = none; }\n"})
    draft = Draft("broken")
    draft.draw("a", {}, draft.slot("R", Storage(2, 2)))
    plan = draft.plan({"R": "R"})
    for _ in range(2):
        with pytest.raises(ShaderError, match=r"a.frag:2: "):
            device.run(plan)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0:3(7): error: `none' undeclared", "error: `none' undeclared"),  # Mesa
        ('0(3) : error C1503: undefined variable "none"', 'error C1503: undefined variable "none"'),  # NVIDIA
        ("ERROR: 0:3: 'none' : undeclared", "'none' : undeclared"),
    ],
)
def test_the_logs_of_all_drivers_are_understood(shader_files, line, words):
    shader_files({"a.frag": OUT + "int x = none;\n"})
    log = f"GLSL Compiler failed\n\nfragment_shader\n===============\n{line}\n"
    assert explain(shader.resolve("a"), log) == f"shader a does not compile:\n  a.frag:2: {words}\n      int x = none;"
    assert explain(shader.resolve("a"), "out of registers") == "shader a does not compile:\nout of registers"
    assert "line 99: huh" in explain(shader.resolve("a"), "0:99: huh")


@pytest.mark.mesa
@pytest.mark.parametrize("operation", ["matmul", "plu", "rref", "qr", "cholesky", "solve", "spmv"])
def test_texels_sampled_at_their_centres_are_those_fetched(monkeypatch, rng, operation):
    """A rasteriser samples where a GPU fetches; the bits are the same."""
    record = OPERATIONS[operation]
    operands = record.example(67, rng)
    found = {}
    for way in ("sampled", "fetched"):
        if way == "fetched":
            monkeypatch.setattr(module, "SAMPLED", "")
        with glla.Device(software=True) as device:
            plan = record.call_plan(forms_of(operands), device.limits)
            results = run(device, plan, dict(zip(plan.operands, operands, strict=True)))
            read = {name: device.read(one) if isinstance(one, Texture) else one for name, one in results.items()}
            found[way] = {name: np.asarray(one) for name, one in read.items()}
    for name, one in found["sampled"].items():
        np.testing.assert_array_equal(one, found["fetched"][name])
