"""A shader of one's own: what the interface asks for, what goes wrong, the gallery, and the whole command line."""

import base64
import io
import re

import numpy as np
import pytest

import glla.lab.report
from glla.cli import main
from glla.errors import LimitError, OptionError, ShaderError
from glla.kernels import stand_in
from glla.lab import custom, fetches, mistakes, operations
from glla.lab.comparison import compare
from glla.passes import PLAIN, Limits, resident
from glla.passes.glsl import find as shader
from glla.passes.glsl.conditions import uncommented
from glla.testing import JUDGES

from .shaders import PRODUCT, WRONG

pytest.importorskip("matplotlib")
pytest.importorskip("rich")

TWENTY, LARGE = (resident((n, n), (n, n)) for n in (20, 64))


@pytest.fixture
def write(tmp_path, monkeypatch):
    """A function that writes a shader into the folder that the test runs in."""
    monkeypatch.chdir(tmp_path)

    def write(text, name="mine.frag"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write


def run(*arguments):
    return main(["compare", *map(str, arguments)])


ONCE = ("--variants", "inner_product", "--repeats", "1", "--baseline", "none")


def verdicts(device, contender, operation, sizes=(1, 2, 3, 8, 19), **parameters):
    found = operations.find(operation)
    for n in sizes:
        arrays = operations.inputs(found, n)
        job = operations.prepare(device, found, contender, arrays, tuple(parameters.items()))
        job.plan.check(device.limits)
        yield JUDGES[operation].verdict(arrays, job.fetch(job.run()))


# ---- the interface ---------------------------------------------------------------------------


@pytest.mark.parametrize("operation", custom.INTERFACES)
def test_the_interface_names_what_glla_s_own_shader_declares(operation):
    interface = custom.find(operation)
    declared = shader.resolve(interface.stands_for, {"CONTINUE": 1} if operation == "matmul" else {})
    fragment = uncommented(declared.fragment.text)
    names = set(re.findall(r"^uniform \w+ (\w+);", fragment, re.MULTILINE)) & (declared.samplers | declared.uniforms)
    assert names == set(interface.given)
    outcome = custom.explanation(operation)
    assert all(name in outcome for name in (*interface.given, *interface.varyings, "without ``#version``"))
    varying = dict(re.findall(r"^flat in \w+ (\w+);()", fragment, re.MULTILINE))
    of_a_sheet = {"drawn_at", "sampled_at", "second_at"}  # with SHEET, which a shader of a user's own is never given
    assert set(varying) - of_a_sheet == set(interface.varyings)


def test_a_shader_needs_not_declare_all_that_is_given(device, write, tmp_path):
    """Nor is commented text declared; what its own file includes lies beside it."""
    contender = custom.contender("matmul", PRODUCT, "mine")
    assert contender.summary == "Mine"
    assert all(verdict.ok for verdict in verdicts(device, contender, "matmul"))
    whole = PRODUCT.replace("first + count", "textureSize(A, 0).x").replace("= first", "= 0")
    whole = whole.replace("uniform int first;\nuniform int count;\n", "")
    assert all(verdict.ok for verdict in verdicts(device, custom.contender("matmul", whole, "whole"), "matmul"))
    text = "/*\nuniform float a, b;\n*/\n// uniform float alpha;\n#if 0\nuniform float beta;\n#endif\n" + PRODUCT
    assert custom.contender("matmul", text, "mine").text == text
    head, body = PRODUCT.split("void main")
    (tmp_path / "beside.glsl").write_text(head)
    contender = custom.contender("matmul", write('#include "beside.glsl"\nvoid main' + body))
    assert all(verdict.ok for verdict in verdicts(device, contender, "matmul"))


SEE = "see `glla shader interface matmul`"
GIVEN = "sampler2D A, sampler2D B, sampler2D C, int first, int count, ivec2 shape"
DEPARTURES = {
    "extra": ("uniform int count;", "uniform int count;\nuniform float alpha;",
              f"mine.frag:7: alpha is not given to a shader of matmul, but {GIVEN}; {SEE}\n      uniform float alpha;"),
    "type": ("int first;", "uint first;",
             f"mine.frag:5: first is given as int, not as uint; {SEE}\n      uniform uint first;"),
    "missing": ("uniform sampler2D B;", "", f"mine.frag: must declare `uniform sampler2D B;`; {SEE}"),
    "two": ("uniform int first;", "uniform int first, last;",
            "mine.frag:5: a uniform is declared in a statement of its own, `uniform int first;`\n"
            "      uniform int first, last;"),
    "continue": ("// Mine.", "uniform sampler2D C;",
                 "mine.frag:1: C is given only where CONTINUE is 1: put it between #if CONTINUE and #endif\n"
                 "      uniform sampler2D C;"),
    "output": ("layout(location = 0) ", "",
               "mine.frag: must declare one output, `layout(location = 0) out vec4 result;`, got none"),
    "version": ("// Mine.", "#version 330 core",
                "mine.frag:1: glla writes #version 330 core itself; remove the line\n      #version 330 core"),
    "include": ("// Mine.", "#include <packed>",
                'mine.frag:1: what is included stands in quotes, `#include "lib/packed.glsl"`\n'
                "      #include <packed>"),
    "no file": ("// Mine.", '#include "lib/nothing.glsl"', "shader: no file lib/nothing.glsl, which mine.frag:1 "
                "includes; shaders are looked for below shaders/"),
    "passes": ("// Mine.", "#ifndef PASSES\n#define PASSES 3  // passes (3, 4)\n#endif",
               f"mine.frag: must declare `uniform sampler2D C;` where CONTINUE is 1; {SEE}"),
}  # fmt: skip


@pytest.mark.parametrize("case", DEPARTURES)
def test_a_departure_from_the_interface_is_explained(case):
    before, after, outcome = DEPARTURES[case]
    assert before in PRODUCT
    with pytest.raises(ShaderError) as caught:
        custom.contender("matmul", PRODUCT.replace(before, after, 1), "mine").build(TWENTY, PLAIN, ())
    assert str(caught.value) == outcome


def test_names():
    for error, message, call in (
        (OptionError, "matmul: 'rank_one' is a variant of glla's; choose another name",
         lambda: custom.contender("matmul", PRODUCT, "rank_one")),
        (OptionError, "register: a shader given as text needs a name, got none",
         lambda: custom.contender("matmul", PRODUCT)),
        (OptionError, "can do matmul, plu, rref, triangular, got 'inv'",
         lambda: custom.contender("inv", PRODUCT, "mine")),
        (ShaderError, r"has a suffix in its name, got 'mine'; call it mine\.frag",
         lambda: shader.adopt("mine", PRODUCT)),
        (ShaderError, r"mine\.frag: must declare `uniform sampler2D B;`",
         lambda: glla.lab.register("matmul", PRODUCT.replace("uniform sampler2D B;", ""), "mine")),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            call()
    assert "mine" not in operations.contenders("matmul")


def test_a_file_does_not_stand_in_for_one_of_glla_s(device, write, tmp_path):
    """Its path may be that of a file below shaders/; glla's own stays glla's."""
    (tmp_path / "matmul").mkdir()
    (tmp_path / "lib").mkdir()
    for name in ("matmul/inner_product.frag", "lib/packed.glsl"):
        own = custom.contender("matmul", write(WRONG, name), "mine")
        assert not all(verdict.ok for verdict in verdicts(device, own, "matmul", [8]))
    glla_s = operations.contenders("matmul")["inner_product"]
    assert all(verdict.ok for verdict in verdicts(device, glla_s, "matmul"))
    assert "Mine" not in shader.resolve("matmul/inner_product").fragment.text


def test_a_changed_file_is_another_shader(device, write):
    for text, right in ((PRODUCT, True), (WRONG, False)):
        own = custom.contender("matmul", write(text))
        assert all(verdict.ok for verdict in verdicts(device, own, "matmul", [8])) is right


@pytest.mark.parametrize("text", [PRODUCT, WRONG], ids=["right", "wrong"])
@pytest.mark.parametrize("everywhere", [False, True])
def test_what_is_registered_takes_part(quick, text, everywhere):
    """In comparisons by `glla.lab.register`; `glla.register` makes a variant for everybody."""
    if everywhere:
        glla.register("matmul", "mine", text)
        about = {"summary": "Mine", "source": "mine.frag", "text": text}
    else:
        glla.lab.register("matmul", text, "mine", summary="a sum", author="me")
        about = {"summary": "a sum", "source": "me", "text": text}
    try:
        found = compare("matmul", ["mine", "inner_product"], [8], baseline="none", repeats=1)
        status = "ok" if text == PRODUCT else "wrong"
        assert [(one.variant, one.status) for one in found] == [("inner_product", "ok"), ("mine", status)]
        assert found.variants["mine"] == {**about, "needs": []}
        (source,) = (one for one in found.sources if one.variant == "mine")
        assert source.shader == "mine.frag" and source.text.endswith(text.partition("// Mine.")[2].rstrip("\n"))
        if everywhere:
            with pytest.raises(OptionError, match="matmul: 'mine' is a variant of glla's; choose another name"):
                glla.lab.register("matmul", PRODUCT, "mine")
    finally:
        glla.unregister("matmul", "mine") if everywhere else operations.remove("matmul", "mine")


def test_fetches_of_a_shader_of_one_s_own_are_counted(device):
    plan = custom.contender("matmul", PRODUCT, "at@mine").build(resident((8, 8), (8, 8)), device.limits, ())
    a = device.upload(np.ones((8, 8), np.float32))
    assert fetches.count(device, plan, {"A": a, "B": a}) == 2 * 4 * 4 * 4


# ---- parameters ------------------------------------------------------------------------------


def test_parameters_are_read_from_the_file():
    text = """\
#ifndef UNROLL
#define UNROLL 4  // trips in one (1, 2, 4)
#endif
# ifndef PLAIN
# define PLAIN -3
#endif
#ifndef WORDS
#define WORDS 7  // of 2 (or 3) kinds
#endif
#ifndef CONTINUE
#define CONTINUE 0  // glla's (0, 1)
#endif
#define OTHER 3  // no parameter (1, 2)
"""
    assert stand_in.parameters(text) == {"UNROLL": (4, 1, 2), "PLAIN": (-3,), "WORDS": (7,)}


def test_passes_split_the_sum(device):
    contender = custom.contender("matmul", custom.gallery("split_product"))
    assert contender.parameters == {"LANES": (4, 1, 2, 8), "PASSES": (1, 2, 4, 8)}
    assert [contender.build(LARGE, PLAIN, (("PASSES", count),)).cost.passes for count in (1, 4)] == [1, 4]
    assert contender.refuses((("LANES", 8),)) == ""
    outcome = "LANES * PASSES must not exceed 16: parts so short are not worth their while"
    assert contender.refuses((("LANES", 8), ("PASSES", 4))) == outcome
    assert contender.refuses((("LANES", 3),)) == "LANES must be one of 4, 1, 2, 8, got 3"


# ---- the gallery -----------------------------------------------------------------------------

EXHIBITS = custom.exhibits()


@pytest.mark.parametrize("path", EXHIBITS, ids=lambda path: path.stem)
def test_the_gallery_is_right(device, path):
    operation = custom.operation_of(path)
    contender = custom.contender(operation, path)
    spaces = [{}] + [{name: value} for name, values in contender.parameters.items() for value in values[1:]]
    for parameters in spaces:
        if contender.refuses(tuple(parameters.items())):
            continue
        for verdict in verdicts(device, contender, operation, (1, 2, 19, 33), **parameters):
            assert verdict.ok, str(verdict)


def test_the_gallery_is_complete():
    assert set(custom.gallery().iterdir()) == set(EXHIBITS)
    for path in EXHIBITS:
        text = path.read_text(encoding="utf-8")
        assert text.startswith("// ")
        tried = f"glla compare {custom.operation_of(path)} --shader my.frag"
        assert f"glla shader show {path.stem} > my.frag && {tried}" in text


def test_the_gallery_on_the_command_line(capsys):
    assert main(["shader"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [[p.stem, custom.operation_of(p)] for p in EXHIBITS]
    assert main(["shader", "show", "naive_product"]) == 0
    assert capsys.readouterr().out == custom.gallery("naive_product").read_text(encoding="utf-8")


# ---- the command line ------------------------------------------------------------------------


def test_shaders_join_the_comparison(quick, write, capsys, tmp_path):
    """Two files of one name, and one named as a variant of glla's, are told apart."""
    (tmp_path / "other").mkdir()
    shaders = [write(PRODUCT), write(PRODUCT, "other/mine.frag"), write(PRODUCT, "rank_one.frag")]
    options = [option for name in shaders for option in ("--shader", name)]
    assert run("matmul", *options, "--size", "4", *ONCE) == 0
    output = capsys.readouterr().out
    names = {line.split(" ")[0] for line in output.splitlines()}
    assert {"inner_product", "mine", "other/mine.frag", "rank_one.frag"} <= names
    assert "WRONG" not in output and "FAILED" not in output


def test_a_shader_that_does_not_compile_with_a_parameter(quick, write, capsys):
    """Only then it is found out: the others are measured."""
    write("#ifndef N\n#define N 1  // (1, 2)\n#endif\n#if N == 2\nnonsense\n#endif\n" + PRODUCT)
    assert run("matmul", "--shader", "mine.frag", "--param", "N=1,2", "--size", "4", *ONCE) == 1
    output = capsys.readouterr().out
    assert "failed: mine[N=2], n = 4: shader mine.frag does not compile:\n  mine.frag:" in output
    assert sum("FAILED" in line for line in output.splitlines()) == 1


def test_help(capsys):
    with pytest.raises(SystemExit):
        run("--help")
    text = " ".join(capsys.readouterr().out.split())
    assert "of matmul, plu, rref, triangular" in text and "64:2048:log8 is 8 sizes from 64" in text
    assert main(["shader", "interface", "matmul"]) == 0
    output = capsys.readouterr().out
    assert "uniform sampler2D A;                   rows x inner, packed" in output
    assert "M[2y+1, 2x]  M[2y+1, 2x+1]" in output


# ---- what is wrong, as a picture -------------------------------------------------------------


def test_a_wrong_shader_is_drawn(quick, write, capsys, tmp_path, load):
    pytest.importorskip("jinja2")
    write(WRONG)
    asked = ("matmul", "--shader", "mine.frag", "--size", "9,17", *ONCE)
    assert run(*asked, "--pictures", "found", "--out", "c.html", "--out", "c.json") == 1
    output = capsys.readouterr().out
    assert "where it is wrong: mine, n = 9: 1 of 81 elements of C are wrong; the worst is C[3, 4], " in output
    assert output.rstrip().endswith("written: c.html, c.json, found/wrong-mine-9.png")
    html = (tmp_path / "c.html").read_text(encoding="utf-8")
    (embedded,) = re.findall(r'<img src="data:image/png;base64,([^"]+)" alt="mine, n = 9: 1 of 81', html)
    assert base64.b64decode(embedded).startswith(b"\x89PNG")
    loaded = load(tmp_path / "c.json")
    assert [(one.variant, one.size, one.ratios) for one in loaded.mistakes] == [("mine", 9, None)]
    assert "Where results are wrong" in glla.lab.report.render(loaded)


@pytest.mark.parametrize(
    ("loop", "cause"),
    [
        ("k = first; k < first + count - 1", "one texel of the inner dimension is missing, the last one"),
        ("k = first + 1; k < first + count", "one texel of the inner dimension is missing, the first one"),
        ("k = first + 2; k < first + count", ""),
    ],
)
def test_an_index_that_is_off_by_one_is_named(quick, write, capsys, loop, cause):
    write(PRODUCT.replace("k = first; k < first + count", loop))
    assert run("matmul", "--shader", "mine.frag", "--size", "9", *ONCE) == 1
    (words,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("where it is wrong")]
    assert words.endswith(f"{cause}: an index of a loop is off by one") if cause else "inner dimension" not in words


def test_the_picture_marks_the_place(tmp_path):
    from matplotlib.image import imread

    ratios = np.full((9, 12), 0.5)
    ratios[3, 4], ratios[7, 10] = 50.0, np.nan
    found = mistakes.find("mine[N=2]", 9, "C", ratios)
    path = mistakes.save(found, tmp_path)
    assert path.name == "wrong-mine-N=2-9.png"
    figure = mistakes.figure(found)
    figure.savefig(io.BytesIO(), dpi=100)  # which lays it out
    image = imread(path)[::-1, :, :3]  # rows upward, as in a figure
    assert image.shape[:2] == (760, 840)

    def colour(row, column):
        x, y = figure.axes[0].transData.transform((column, row))
        return image[int(y), int(x)]

    right = colour(0, 0)
    for row, column in np.ndindex(9, 12):
        same = np.abs(colour(row, column) - right).max() < 0.01
        assert same == (ratios[row, column] == 0.5), (row, column)
    assert np.abs(colour(3, 4) - colour(7, 10)).max() > 0.3


def test_mistakes_in_words_and_in_large_matrices():
    ratios = np.zeros((4, 4))
    assert mistakes.find("a", 4, "C", ratios).words == "a, n = 4: each element of C is within its bound"
    ratios[:, 1] = np.inf
    assert mistakes.find("a", 4, "L U", ratios).words == (
        "a, n = 4: 4 of 16 elements of L U are wrong; the worst is (L U)[0, 1], beyond any bound; "
        "all lie in channels g and a"
    )
    ratios = np.zeros((1001, 900))
    ratios[1000, 899] = 7.0
    cells, side = mistakes.pooled(ratios)
    assert side == 3
    assert cells.shape == (334, 300)
    assert np.argwhere(cells > 1).tolist() == [[333, 299]]
    assert mistakes.pooled(np.array([[np.nan, 1.0]]))[0][0, 0] == np.inf


@pytest.mark.parametrize(
    ("operation", "place", "row", "column"),
    [("matmul", (3, 4), 3, 4), ("triangular", (7, 2), 7, 2), ("plu", (7, 7), 7, 7), ("rref", (3, 8), 3, 8)],
)
def test_ratios_show_the_wrong_element(device, operation, place, row, column):
    """A wrong entry in the last row of a factor, or of a solution, spoils nothing else."""
    found = operations.find(operation)
    arrays, judge = operations.inputs(found, 8), JUDGES[operation]
    contender = operations.contenders(operation)[found.thesis]
    result = operations.prepare(device, found, contender, arrays).end_to_end()
    ratios = judge.ratios(arrays, result)
    assert ratios.max() <= 1.0
    matrix = result["LU"] if operation == "plu" else result[0] if isinstance(result, tuple) else result
    matrix[place] *= 1.01
    assert np.argwhere(~(judge.ratios(arrays, result) <= 1.0)).tolist() == [[row, column]]
    matrix[place] = np.nan
    assert not judge.ratios(arrays, result)[row, column] <= 1.0
    if operation == "plu":
        result["pivots"][0] = 8  # no row
        assert np.isinf(judge.ratios(arrays, result)).all()


# ---- sweeps ----------------------------------------------------------------------------------


def test_a_sweep_and_its_best(quick, capsys):
    sweep = ("--param", "UNROLL=1,8", "--param", "ROWS=4,8")
    asked = ("matmul", "--variants", "inner_product,register_blocked,rank_one", "--size", "8,16", "--repeats", "1")
    assert run(*asked, "--baseline", "none", *sweep) == 0
    output = capsys.readouterr().out
    labels = [line.split("  ")[0] for line in output.splitlines()]
    for label, count in (
        ("inner_product[UNROLL=1]", 2), ("inner_product[UNROLL=8]", 2), ("rank_one", 2),
        ("register_blocked[UNROLL=1 ROWS=4]", 2), ("register_blocked[UNROLL=8 ROWS=4]", 2),
    ):  # fmt: skip
        assert labels.count(label) == count, label
    assert "skipped: register_blocked[UNROLL=8 ROWS=4], n = 8, 16: UNROLL must be one of 1, 2, 4, got 8" in output
    rule = "ROWS * COLUMNS must not exceed 8, a render target for each"
    assert f"skipped: register_blocked[UNROLL=1 ROWS=8], n = 8, 16: {rule}" in output
    best = output.partition("the fastest values of the parameters, by size\n")[2].splitlines()[:4]
    assert [line.split()[2] for line in best] == ["8", "8", "16", "16"]
    assert {line.split()[3].partition("[")[0] for line in best} == {"inner_product", "register_blocked"}


def test_the_best_is_the_fastest(quick):
    found = compare("matmul", ["inner_product"], [8], baseline="none", repeats=1, sweep={"UNROLL": (1, 2, 4)})
    (best,) = found.best()
    assert best.seconds == min(record.seconds for record in found)
    by_default = next(record for record in found if record.parameters == (("UNROLL", 1),))
    assert by_default.ratio_to_thesis == 1.0
    for record in found:
        assert record.ratio_to_thesis == by_default.seconds / record.seconds
    assert "The fastest values of the parameters" in glla.lab.report.render(found)


def test_a_limit_is_no_mistake(device):
    """What a shader of one's own cannot do for want of texture size is a limit, as for glla's own."""
    contender = custom.contender("matmul", PRODUCT, "mine")
    with pytest.raises(LimitError):
        contender.build(LARGE, Limits(texture_size=16), ()).check(Limits(texture_size=16))


def test_a_report_holds_no_file_of_others(write, tmp_path, capsys):
    """A shader from a stranger may name any file: what is included lands in a report that is mailed."""
    (tmp_path / "secret").write_text("// the secret\n")
    (tmp_path / "strange").mkdir()
    write('#include "../secret"\n' + PRODUCT, "strange/mine.frag")
    assert run("matmul", "--shader", "strange/mine.frag", "--size", "4", "--out", "mine.html") == 2
    error = capsys.readouterr().err
    assert error.startswith("glla: strange/mine.frag:1: an include stays below glla's shaders/ and the folder of your")
    assert "the secret" not in error
