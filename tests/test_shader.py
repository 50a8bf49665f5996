"""Shader text: includes, defines, what a text declares, and the way back from a line to its file."""

import importlib.util
import re
from pathlib import Path

import pytest

from glla.errors import ShaderError
from glla.passes.glsl import find as shader
from glla.passes.glsl.find import resolve

MAIN = "layout(location = 0) out vec4 result;\nvoid main() { result = vec4(0.0); }\n"


# ---- files -------------------------------------------------------------------------------------------------------


def test_text_begins_with_the_version_and_the_defines(shader_files):
    """Each define as it is in GLSL."""
    shader_files({"a.frag": MAIN})
    defines = {"C": -1, "B": 3, "A": 1.0, "F": 1e-30, "E": 0.1, "D": True, "G": False, "H": "a + b"}
    text = "#define A 1.0\n#define B 3\n#define C -1\n#define D 1\n#define E 0.1\n#define F 1e-30\n#define G 0\n"
    assert resolve("a", defines).fragment.text == f"#version 330 core\n{text}#define H a + b\n{MAIN}"


def test_includes_are_inserted_in_place(shader_files):
    shader_files({"a.frag": 'one\n#include "lib/b.glsl"\nfour\n', "lib/b.glsl": "two\nthree\n"})
    assert resolve("a").fragment.text.splitlines()[1:] == ["one", "two", "three", "four"]


def test_a_file_is_included_once(shader_files):
    shader_files(
        {
            "a.frag": '#include "b.glsl"\n#include "c.glsl"\n  # include  "c.glsl"\nend',
            "b.glsl": '#include "c.glsl"\nb',
            "c.glsl": '#include "b.glsl"\nc',  # each other, too
        }
    )
    text = resolve("a").fragment.text
    assert [text.count(line) for line in ("\nb\n", "\nc\n", "\nend\n")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "shader: no file a.frag; shaders are looked for below shaders/"),
        ({"a.frag": '\n#include "b.glsl"'}, "shader: no file b.glsl, which a.frag:2 includes; shaders are looked for"),
        (
            {"a.frag": '#include "b.glsl"', "b.glsl": '\n\n#include "c.glsl"'},
            "shader: no file c.glsl, which b.glsl:3 includes; shaders are looked for",
        ),
    ],
)
def test_a_missing_file_is_named_with_who_wants_it(shader_files, files, message):
    shader_files(files)
    with pytest.raises(ShaderError) as caught:
        resolve("a")
    assert str(caught.value).startswith(message)


def test_every_line_leads_back_to_its_file(shader_files):
    shader_files({"x/a.frag": 'one\n#include "lib/b.glsl"\nthree', "lib/b.glsl": "two\n\n"})
    stage = resolve("x/a", {"N": 1}).fragment
    origins = {text: stage.where(line) for line, text in enumerate(stage.text.splitlines(), 1)}
    assert origins == {
        "#version 330 core": "(generated):1",
        "#define N 1": "(generated):2",
        "one": "x/a.frag:1",
        "two": "lib/b.glsl:1",
        "": "lib/b.glsl:2",
        "three": "x/a.frag:3",
    }
    assert (stage.where(0), stage.where(99)) == ("line 0", "line 99")


def test_a_vertex_shader_of_its_own_comes_first(shader_files):
    shader_files({"a.frag": MAIN, "b.frag": MAIN, "b.vert": "own"})
    assert "gl_VertexID" in resolve("a").vertex.text
    assert resolve("b").vertex.text == "#version 330 core\nown\n"


def test_a_shader_is_read_once(shader_files):
    shader_files({"a.frag": MAIN})
    assert resolve("a", {"N": 1, "M": 2}) is resolve("a", {"M": 2, "N": 1})
    assert resolve("a") is not resolve("a", {"M": 2})


@pytest.mark.parametrize("installed", [True, False])
def test_shaders_are_in_the_package_when_installed_and_beside_it_in_a_checkout(tmp_path, monkeypatch, installed):
    packaged = tmp_path / "_shaders"
    if installed:
        packaged.mkdir()
    monkeypatch.setattr(shader, "_PACKAGED", packaged)
    package = Path(importlib.util.find_spec("glla").origin).parent
    assert shader.root() == (packaged if installed else package.parent / "shaders")


# ---- what a text declares ----------------------------------------------------------------------------------------


def test_declarations_of_both_stages(shader_files):
    vertex = "uniform sampler2D A;\nuniform int k;\nvoid main() {}"
    fragment = "uniform sampler2D B;\n  uniform  ivec2  shape ;  // rows\nuniform int k;\nuniform isampler2D C;\n"
    shader_files({"a.vert": vertex, "a.frag": fragment + MAIN})
    found = resolve("a")
    assert (found.samplers, found.uniforms) == ({"A", "B", "C"}, {"k", "shape"})


@pytest.mark.parametrize(("integer", "kinds"), [(1, {"A", "result"}), (0, set())])
def test_a_type_may_be_a_macro(shader_files, integer, kinds):
    types = "#if INTEGER\n#define S isampler2D\n#define T ivec4\n#else\n#define S sampler2D\n#define T vec4\n#endif\n"
    shader_files({"a.frag": f"{types}uniform S A;\nlayout(location = 0) out T result;\nvoid main() {{}}\n"})
    found = resolve("a", {"INTEGER": integer})
    assert (found.samplers, found.integers) == ({"A"}, kinds)


def test_outputs_are_in_the_order_of_their_locations(shader_files):
    text = "layout(location = 1) out vec4 health;\nlayout ( location=0 ) out float pivots;\nout vec4 no;"
    shader_files({"a.frag": text})
    assert resolve("a").outputs == ("pivots", "health")


def uniforms(*names):
    return "\n".join(f"uniform int {name};" for name in names)


CHAIN = "#if N == 0\n{}\n#elif N == 1 || N == 0\n{}\n#elif N == 2\n{}\n#else\n{}\n#endif".format(*map(uniforms, "abcd"))
EITHER = f"{{}}\n{uniforms('a')}\n#else\n{uniforms('b')}\n#endif\n{uniforms('c')}"
NESTED = f"#if N\n{uniforms('a')}\n#if M\n{uniforms('b')}\n#endif\n#endif"
DEFAULT = f"#ifndef N\n#define N 1  // meaning (0, 1)\n#endif\n#if N\n{uniforms('a')}\n#endif"
ANOTHER = f"#define M N\n#if M == 3\n{uniforms('a')}\n#endif"
NOT_TAKEN = f"#if 0\n#define N 1\n#endif\n#ifdef N\n{uniforms('a')}\n#endif"
CONDITIONS = [
    ("#if N", 0, False), ("#if N", 1, True), ("#if !N", 1, False), ("#if N == 2", 2, True), ("#if N == 2", 3, False),
    ("#if N != 2", 3, True), ("#if N >= 1", 0, False), ("#if N <= 1 && N > -1", 0, True), ("#if N + 1 == 2", 1, True),
    ("#if N < 0 || N > 3", 2, False), ("#if N < 0 || N > 3", 4, True), ("#if !(N == 1)", 1, False),
    ("#if defined(N) && N", 1, True), ("#if defined(NONE)", 1, False), ("#if !defined ( NONE )", 1, True),
    ("#if NONE", 1, False), ("#if N  // a comment", 1, True), ("  #  if N", 1, True), ("#ifdef N", 0, True),
    ("#ifdef NONE", 0, False), ("#ifndef N", 0, False), ("#ifndef NONE", 0, True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "defines", "left"),
    [
        *((EITHER.format(one), {"N": n}, "ac" if taken else "bc") for one, n, taken in CONDITIONS),
        *((CHAIN, {"N": n}, name) for n, name in enumerate("abcd")),
        *((NESTED, {"N": n, "M": m}, "ab"[: n + n * m]) for n in (0, 1) for m in (0, 1)),
        (DEFAULT, {}, "a"), (DEFAULT, {"N": 0}, ""), (DEFAULT, {"N": 1}, "a"),
        (ANOTHER, {"N": 3}, "a"), (NOT_TAKEN, {}, ""),
        *((f"{comment}\n{uniforms('b')}", {}, "b") for comment in (
            "// uniform int a;", "/* uniform int a; */", "/*\nuniform int a;\n*/", "// see results/*/here",
            "/* uniform int a; */ // and */ here")),
    ],
)  # fmt: skip
def test_declarations_that_are_left(shader_files, text, defines, left):
    """Behind conditions, chains and nests of them, defaults, defines of defines, and comments."""
    shader_files({"a.frag": f"{text}\n{MAIN}"})
    assert resolve("a", defines).uniforms == set(left)


@pytest.mark.parametrize("condition", ['__import__("os")', "N = [1]", "N ? 1 : 0"])
def test_a_condition_of_another_kind_is_refused(shader_files, condition):
    shader_files({"a.frag": f"#if {condition}\n#endif\n{MAIN}"})
    with pytest.raises(ShaderError, match=r"^a\.frag:1: cannot evaluate the condition: .*; use integers, names, and"):
        resolve("a")


def test_a_compute_shader_is_glsl_430(shader_files):
    image = "layout(rgba32f, binding = {}) writeonly uniform image2D {};\n"
    images = image.format(1, "second") + image.format(0, "one")
    text = f"uniform sampler2D A;\nuniform int n;\n{images}void main() {{}}\n"
    shader_files({"a.comp": text})
    found = resolve("a", {"N": 2})
    assert found.stages["compute"].text == f"#version 430 core\n#define N 2\n{text}"
    assert list(found.stages) == ["compute"]
    assert found.key == (found.stages["compute"].text,)
    assert (found.samplers, found.uniforms, found.outputs) == ({"A"}, {"n"}, ("one", "second"))


# ---- derived shaders ---------------------------------------------------------------------------------------------


@pytest.fixture
def kinds(monkeypatch):
    monkeypatch.setattr(shader, "_DERIVED", {})


def test_a_derived_shader_is_the_last_stage_rewritten(shader_files, kinds):
    shader_files({"a.frag": MAIN, "a.vert": "uniform int n;\nvoid main() {}\n"})
    shader.derive("longer", lambda stage: shader.Stage(f"{stage.text}uniform int m;\n", (*stage.lines, ("x", 1))))
    plain, derived = resolve("a"), resolve("a@longer")
    assert derived.vertex == plain.vertex
    assert derived.fragment.text == plain.fragment.text + "uniform int m;\n"
    assert (plain.uniforms, derived.uniforms) == ({"n"}, {"n", "m"})
    assert derived.name == "a@longer"


def test_what_derives_may_change(shader_files, kinds):
    shader_files({"a.frag": MAIN})
    for word in ("one", "two"):
        shader.derive("kind", lambda stage, word=word: shader.Stage(f"// {word}\n", (("x", 1),)))
        assert resolve("a@kind").fragment.text == f"// {word}\n"


def test_a_shader_derived_in_no_known_way(shader_files, kinds):
    shader_files({"a.frag": MAIN})
    shader.derive("other", lambda stage: stage)
    with pytest.raises(ShaderError, match=r"^shader: a@huh is derived in no known way; known are: other$"):
        resolve("a@huh")


# ---- what may be included ----------------------------------------------------------------------------------------


@pytest.fixture
def own(shader_files, tmp_path):
    """Adopt a user's file, in a folder of its own beside a file that is nobody's business."""
    shader_files({"lib/shared.glsl": "of glla\n"})
    folder = tmp_path / "user"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "part.glsl").write_text("of the user\n")
    (tmp_path / "secret.txt").write_text("secret\n")

    def adopt(include, below=folder):
        text = f'// Mine.\n#include "{include}"\n{MAIN}'
        return resolve(shader.adopt("mine.frag", text, folder=below)).fragment.text

    yield adopt
    shader._ADOPTED.pop("mine.frag", None)


def test_a_user_s_file_includes_files_beside_it(own, tmp_path):
    assert "of glla" in own("lib/shared.glsl")
    for name in ("parts/part.glsl", "./parts/part.glsl", "parts/../parts/part.glsl"):
        assert "of the user" in own(name)
    assert "of the user" in own(str(tmp_path / "user/parts/part.glsl"))
    (tmp_path / "user/lib").mkdir()
    (tmp_path / "user/lib/shared.glsl").write_text("of the user\n")
    assert "of glla" in own("lib/shared.glsl")
    assert "of the user" in own("./lib/../parts/part.glsl")


@pytest.mark.parametrize(
    "include", ["ABSOLUTE", "../secret.txt", "parts/../../secret.txt", "link.glsl", "folder/secret.txt", "/dev/zero"]
)
@pytest.mark.parametrize("nested", [False, True])
def test_an_include_does_not_leave_its_folder(own, tmp_path, include, nested):
    user = tmp_path / "user"
    (user / "link.glsl").symlink_to(tmp_path / "secret.txt")
    (user / "folder").symlink_to(tmp_path)
    include = include.replace("ABSOLUTE", str(tmp_path / "secret.txt"))
    if nested:
        (user / "nested.glsl").write_text(f'\n\n#include "{include}"\n')
    with pytest.raises(ShaderError) as caught:
        own("nested.glsl" if nested else include)
    place = "nested.glsl:3" if nested else "mine.frag:2"
    assert str(caught.value) == (
        f"{place}: an include stays below glla's shaders/ and the folder of your file, {user}; copy the file there, "
        f'got "{include}"\n      #include "{include}"'
    )


def test_a_text_without_a_file_includes_glla_s_own_only(own, tmp_path):
    assert "of glla" in own("lib/shared.glsl", None)
    with pytest.raises(ShaderError, match=r"^shader: no file parts/part\.glsl, which mine\.frag:2 includes; sh"):
        own("parts/part.glsl", None)
    with pytest.raises(ShaderError, match=r"^mine\.frag:2: an include stays below glla's shaders/; copy the file"):
        own("../secret.txt", None)


@pytest.mark.parametrize("include", ["a" * 5000, "a\0b", "loop.glsl", "parts", "nothing.glsl", "latin.glsl"])
def test_an_include_that_cannot_be_read(own, tmp_path, include):
    user = tmp_path / "user"
    (user / "loop.glsl").symlink_to(user / "loop.glsl")
    (user / "latin.glsl").write_bytes("// \u00e9".encode("latin-1"))
    with pytest.raises(ShaderError) as caught:
        own(include)
    assert "mine.frag:2" in str(caught.value)


def test_a_long_chain_of_includes(own, tmp_path):
    for i in range(1500):
        (tmp_path / "user" / f"{i}.glsl").write_text(f'#include "{i + 1}.glsl"\n')
    (tmp_path / "user/1500.glsl").write_text("")
    with pytest.raises(ShaderError, match=r"^99\.glsl:1: includes are nested more than 100 deep"):
        own("0.glsl")


def test_no_shader_trusts_isnan_or_isinf():
    """GLSL 3.30 lets a compiler assume that there is no NaN; lib/ieee.glsl looks at the bits."""
    files = [path for path in shader.root().rglob("*") if path.suffix in {".frag", ".vert", ".comp", ".glsl"}]
    assert files
    assert not [path for path in files if re.search(r"\bis(nan|inf)\s*\(", path.read_text(encoding="utf-8"))]
