"""Documents for a browser: what they hold, what is refused; texts in the browser's dialect."""

import json
import re
from html import unescape

import numpy as np
import pytest

import glla.lab
from glla.cli import main
from glla.errors import DTypeError, NonFiniteError, OptionError, ShaderError
from glla.operations import OPERATIONS, elementwise
from glla.passes import Draft, matrix
from glla.passes.glsl import conditions
from glla.passes.glsl import es as shader_es
from glla.passes.glsl import find as shaders
from glla.passes.glsl.conditions import uncommented
from glla.web import course, documents, export, stages
from glla.web.page import document_in

VARIANTS = [(name, variant) for name, found in OPERATIONS.items() for variant in [*found.variants] or [None]]
REFUSED = {
    (name, variant)
    for name, found in OPERATIONS.items()
    for variant, one in found.variants.items()
    if any(need.startswith("OpenGL 4") for need in one.needs)
}


def left_in(text):
    """What conditions leave in of a text in the dialect, line by line."""
    lines = conditions.active(text, str, {"GL_ES": "1"}).splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#version")]


def pairs(numbers):
    return zip(numbers[::2], numbers[1::2], strict=True)


def texts(document):
    """The texts of a document, put together as its page does."""
    sources = {name: text.splitlines() for name, text in document["sources"].items()}
    for parts in document["texts"]:
        spans = [
            part
            for one in parts
            for part in ([one] if isinstance(one, str) else [shader_es.Span(one[0], *pair) for pair in pairs(one[1:])])
        ]
        yield shader_es.text(tuple(spans), sources)


# ---- texts -----------------------------------------------------------------------------------


# Functions that GLSL ES 3.00 has and lets nobody declare anew, which OpenGL's GLSL does.
BUILT_IN = (
    "abs|acos|all|any|asin|atan|ceil|clamp|cos|cosh|cross|degrees|determinant|distance|dot|equal|exp|exp2|floor|fract|"
    "inverse|inversesqrt|isinf|isnan|length|log|log2|max|min|mix|mod|modf|normalize|not|outerProduct|pow|radians|"
    "reflect|refract|round|roundEven|sign|sin|sinh|smoothstep|sqrt|step|tan|tanh|transpose|trunc"
)
REDECLARED = re.compile(rf"^\s*(?:float|int|bool|[iub]?vec[234]|mat\w+)\s+({BUILT_IN})\s*\(", re.MULTILINE)


@pytest.mark.parametrize(("name", "variant"), [one for one in VARIANTS if one not in REFUSED])
def test_texts_are_in_the_dialect(name, variant):
    """Precisions of all kinds, no computed index into an output, and else the lines that OpenGL gets."""
    try:
        document = documents.document(name, 6, variant)
    except OptionError as error:
        pytest.skip(str(error))
    resolved = set()
    for program in document["programs"]:
        shader = shaders.resolve(program["name"], program.get("defines"))
        resolved |= {tuple(left_in(stage.text)) for stage in (shader.vertex, shader.fragment)}
    for text in texts(document):
        head, lines = text.splitlines()[: len(shader_es.HEAD)], text.splitlines()[len(shader_es.HEAD) :]
        assert head[0] == "#version 300 es"
        assert {line.split()[2] for line in head[1:]} == {"float;", "int;", "sampler2D;", "isampler2D;"}
        assert all(line.startswith("precision highp ") for line in head[1:])
        assert not shader_es.indexed_outputs(text)
        assert not REDECLARED.search(uncommented(text))
        if not lines[-1].startswith("void main() { computed();"):  # the second rule, or the third, has another main
            assert tuple(left_in("\n".join(lines))) in resolved
            assert not re.search(r"^\s*#\s*(if|else|elif|endif)", text, re.MULTILINE)


COMPUTED = """layout(location = 0) out vec4 V;  // four rows
void main() {
    V = vec4(0.0);
    for (int lane = 0; lane < 4; ++lane) V[lane] = float(lane);
}
"""


def test_a_computed_index_goes_through_a_copy():
    name = shaders.adopt("computed.frag", COMPUTED)
    stage = shaders.resolve(name).fragment
    parts = shader_es.translated(stage, {"computed.frag": COMPUTED.splitlines()})
    text = shader_es.text(parts, {"computed.frag": COMPUTED.splitlines()})
    assert "out vec4 drawn_V; vec4 V;" in text and "void computed() {" in text
    assert text.rstrip().endswith("void main() { computed(); drawn_V = V; }")
    assert "drawn_V[" not in uncommented(text)
    line = COMPUTED.splitlines()[3]
    at = [one.strip() for one in text.splitlines()].index(line.strip())
    assert at - len(shader_es.HEAD) + 1 == stage.text.splitlines().index(line)
    with pytest.raises(ShaderError, match="WebGL 2 has no compute shaders"):
        shader_es.translated(shaders.resolve("matmul/compute_tiled").stages["compute"], {})
    step = shaders.resolve("plu/blocked/panel_step")  # a uniform in the dialect alone
    assert shader_es.STEP not in step.uniforms and f"uniform int {shader_es.STEP};" in step.vertex.text


# ---- documents -------------------------------------------------------------------------------


def test_a_document_holds_its_plan():
    document = documents.document("rref", 9, "rank2")
    plan, second = document["plans"]
    assert (plan["name"], second["name"]) == ("rref[rank2, harmonic]", "float64")
    assert (plan["stage"], second["stage"]) == ("", "float64")
    assert plan["slots"]["A"] == {"h": 5, "w": 5, "c": 4, "shape": [9, 10]}
    assert [scope[:2] for scope in plan["scopes"]] == [["step", k] for k in range(5)]
    for step in plan["steps"]:
        draw = plan["draws"][step["d"]]
        assert set(draw["in"].values()) | set(draw["out"]) <= set(plan["slots"])
    uniforms = [{**plan["draws"][step["d"]].get("u", {}), **step.get("u", {})} for step in plan["steps"]]
    flat = OPERATIONS["rref"].device_plan(glla.passes.resident((9, 10)), documents.LIMITS, variant="rank2").flat
    known = [dict(step.uniforms) for step in flat.steps]
    assert uniforms == known
    assert document["programs"][1]["outputs"]["pivots"].startswith("(p, q, rank before, rank after)")
    markup = course.picture(documents.document("rref", 8, "rank2"))
    assert markup.count('class="drawn"') == 12 and 'aria-label="12 passes' in markup
    loop = glla.iterate(elementwise.binary((1, 2), "add"), carry={"result": "A"}, most=3)
    (written,) = documents.of_plan(loop)["plans"][0]["loops"]
    carry = {loop.results["result"]: "A"}
    assert written == {"first": 0, "end": len(loop.flat.steps), "carry": carry, "until": None, "most": 3}


def test_data_takes_the_place_of_the_example(tmp_path):
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.save(tmp_path / "a.npy", a)
    (tmp_path / "a.txt").write_text("0, 1 2 3\n4 5 6 7\n8 9 10 11\n", encoding="utf-8")
    for file in ("a.npy", "a.txt"):
        arguments = ["export", "rref", "--data", str(tmp_path / file), "--out", str(tmp_path / "r.json")]
        assert main(arguments) == 0
        made = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        assert made["operands"]["A"]["shape"] == [3, 4]
        assert made == json.loads(json.dumps(documents.document("rref", data=[a])))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "operation must be one of"),
        (["rref", "--variant", "nothing"], "variant must be one of"),
        (["matmul", "--variant", "compute_tiled"], "which WebGL 2 lacks"),
        (["plu", "--variant", "row_operations", "--size", "128"], "a page shows up to 500 passes"),
        (["rref", "--size", "129"], "up to order 128"),
        (["matmul", "--data", "a", "--data", "a", "--data", "a"], "has 2 operands, got 3 files"),
        (["rref", "--data", "words"], "must hold a matrix"),
        (["rref", "--data", "complex.npy"], "complex.npy must be real numbers .*, got dtype complex128"),
        (["rref", "--data", "large.npy"], r"large.npy must fit float32 \(largest 3.403e\+38\), got 1e\+300"),
        (["rref", "--data", "large"], r"large must fit float32 \(largest 3.403e\+38\), got 1e\+300"),
    ],
)
def test_refused_before_anything_is_written(tmp_path, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("1 2\n3 4\n", encoding="utf-8")
    (tmp_path / "words").write_text("one two\n", encoding="utf-8")
    (tmp_path / "large").write_text("1 1e300\n", encoding="utf-8")
    np.save(tmp_path / "large.npy", [[1, 1e300]])
    np.save(tmp_path / "complex.npy", [[1, 1j]])
    assert main(["export", *arguments, "--out", "x.json"]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "x.json").exists()


def test_export_needs_no_device(tmp_path, monkeypatch):
    monkeypatch.setattr(glla.Device, "__init__", lambda *a, **k: pytest.fail("a device was made"))
    assert export.export("matmul", tmp_path / "x.json", size=3)["plans"][0]["steps"]
    with pytest.raises(OptionError, match=r"a file must end in"):
        glla.lab.export("matmul", tmp_path / "x.pdf")
    for wrong in ([[1, 1j]], [[1, 1e300]]):
        with pytest.raises((DTypeError, NonFiniteError), match=r"^export: data must "):
            glla.lab.export("rref", tmp_path / "x.json", data=[wrong])


def test_the_order_of_a_page_is_what_was_asked_for(tmp_path, capsys):
    """Not the columns of [A | b]; of data of one's own it is their larger side."""
    file, data = tmp_path / "x.html", tmp_path / "a.csv"
    data.write_text("1,2,3,4,5\n6,7,8,9,1\n", encoding="utf-8")
    for asked, order, of in ((["--size", "3"], 3, "3x4"), (["--data", str(data)], 5, "2x5")):
        assert main(["export", "rref", *asked, "--out", str(file)]) == 0
        assert capsys.readouterr().out.endswith(f", of {of}\n")
        assert f", order {order}</title>" in file.read_text(encoding="utf-8")


# ---- the course, and notebooks -----------------------------------------------------------------


def test_the_course_links_page_to_page(tmp_path, capsys):
    assert main(["export", "--all", str(tmp_path / "course")]) == 0
    assert re.search(r"index.html: \d+ pages", capsys.readouterr().out)
    index = (tmp_path / "course" / "index.html").read_text(encoding="utf-8")
    files = [link for link in re.findall(r'href="([^"#]+)"', index) if not link.startswith("data:")]
    assert len(files) == len(set(files)) == len(VARIANTS) - index.count("Not in a browser: ")
    assert index.count("<svg") == len(files)
    assert index.count("which WebGL 2 lacks") == len(REFUSED)
    assert files.index("matmul-inner_product.html") < files.index("plu-rank2.html") < files.index("rref-rank2.html")
    for place, file in enumerate(files):
        text = (tmp_path / "course" / file).read_text(encoding="utf-8")
        assert len(text.encode()) < 100_000, file
        links = dict(re.findall(r'href="([^"]+\.html)" rel="(\w+)"', text))
        around = {"index.html": "up"}
        around |= {files[place - 1]: "prev"} if place else {}
        around |= {files[place + 1]: "next"} if place + 1 < len(files) else {}
        assert links == around
        heading, idea, note = re.search(r"<h1>(.*?)</h1>\n<p>(.*?)</p>\n<p class=\"note\">(.*?)</p>", text).groups()
        assert re.search(r": \S", heading)  # the formula
        assert idea.endswith(".")
        assert re.search(r"^\S.*\. \d+ pass(es)?, \d+ flop, \d+ bytes written\.$", note)  # the source, and the cost
        assert index.count(f"{idea}</p>") >= 1


def test_the_course_wants_a_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert main(["export", "--all", str(tmp_path / "file")]) == 2
    assert "wants a folder" in capsys.readouterr().err
    for wrong in (["export"], ["export", "matmul"], ["export", "matmul", "--all", "x"]):
        assert main(wrong) == 2
        assert "wants an operation and --out FILE, or --all FOLDER" in capsys.readouterr().err


def test_a_notebook_offers_the_player_and_a_shader_of_your_own(tmp_path):
    for operation, shapes in [("matmul", [(4, 6), (6, 2)]), ("plu", [(5, 4)]), ("rref", [(3, 4)])]:
        markup = glla.plan(operation, *shapes, limits=glla.Limits())._repr_html_()
        assert markup.count("<iframe") == 1
        frame = unescape(re.search(r'srcdoc="([^"]*)"', markup)[1])
        assert "default-src 'none'" in frame
        assert document_in(frame)["operation"] == ("stack" if operation == "matmul" else operation)
    assert "<iframe" not in glla.plan("matmul", (300, 300), (300, 300), limits=glla.Limits())._repr_html_()
    from glla.lab.custom import gallery

    made = glla.lab.export("matmul", tmp_path / "own.html", shader=gallery("naive_product"))
    assert made["plans"][0]["name"] == "matmul[naive_product.frag]"
    assert made["sources"]["naive_product.frag"] == gallery("naive_product").read_text(encoding="utf-8")
    assert str(gallery()) not in (tmp_path / "own.html").read_text(encoding="utf-8")


# ---- what comes after -------------------------------------------------------------------------


def test_what_a_call_does_beside_the_passes():
    """The steps that the plan of a call has more, over the slots of the passes."""
    found = OPERATIONS["lu_factor"]
    forms = glla.passes.resident((8, 8))
    core, whole = (make(forms, documents.LIMITS) for make in (found.device_plan, found.call_plan))
    made = stages.beside(core.flat, whole.flat)
    assert [whole.flat.steps[place].shader for place in made.places] == [step.shader for step in core.flat.steps]
    assert len(made.places) + len(made.plan.steps) == len(whole.flat.steps)
    assert made.shared["factor.LU"] == made.also["lu"] == core.flat.results["LU"]
    assert stages.beside(OPERATIONS["cholesky"].device_plan(forms, documents.LIMITS).flat, whole.flat) is None
    # A step of the host that a page cannot do: then it shows the passes alone.
    found = OPERATIONS["lstsq"]
    forms = glla.passes.resident((16, 8), (16, 1))
    core, whole = (make(forms, documents.LIMITS) for make in (found.device_plan, found.call_plan))
    assert stages.after(core, whole, frozenset(), 500) is None
    (made,) = stages.after(core, whole, frozenset({"singular values of R, rank, solution"}), 500)
    assert made.stage == ""
    with pytest.raises(OptionError, match="for these shapes the passes of lstsq take A alone"):
        documents.document("lstsq", data=[np.ones((3, 5)), np.ones((3, 1))])


def test_what_passes_draw_over_is_not_read_later():
    """A call that reads a texture between two passes that draw it does more than the passes, and between them."""
    unary = elementwise.unary((2, 2), "absolute")
    inner, outer = Draft("inner"), Draft("outer")
    for draft in (inner, outer):
        for name in ("A", "x"):
            (draft.operand if name == "A" else draft.slot)(name, matrix((2, 2)))
    shader, uniforms = unary.flat.steps[0].shader, dict(unary.flat.steps[0].uniforms)
    outer.slot("seen", matrix((2, 2)))
    for _ in range(2):
        for draft in (inner, outer):
            draft.draw(shader, {"A": "A"}, "x", uniforms, dict(unary.flat.steps[0].defines))
        if "seen" not in {slot for step in outer.steps for slot in step.outputs}:
            outer.draw(shader, {"A": "x"}, "seen", uniforms, dict(unary.flat.steps[0].defines))
    assert stages.beside(inner.plan({"x": "x"}), outer.plan({"x": "x", "seen": "seen"})) is None
