"""Commands that are refused: by one line that says why, before any work has begun."""

import importlib.util

import pytest

from glla.cli import main
from glla.errors import among
from glla.lab import comparison, demo, extra, pivoting, trace
from glla.operations import OPERATIONS
from glla.operations.elimination import plu
from glla.operations.product import matmul

from .shaders import PRODUCT

pytest.importorskip("matplotlib")
pytest.importorskip("rich")
pytest.importorskip("scipy")


@pytest.fixture
def no_work(tmp_path, monkeypatch):
    """The folder that the command runs in; whatever would take time raises."""
    monkeypatch.chdir(tmp_path)
    works = {comparison.Experiment: "run", trace: "run", demo: "problem", pivoting: "pivoting_study"}
    for place, name in works.items():
        monkeypatch.setattr(place, name, lambda *given, **options: pytest.fail("the work has begun"))
    return tmp_path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("compare plu --variants rank2,fast", "compare: variants of plu are all, rank2, blocked, row_operations"),
        ("compare matmul --out no/c.json", "no/c.json: No such file or directory\n"),
        ("compare matmul --out no/c.csv", "no/c.csv: No such file or directory\n"),
        ("compare matmul --out no/c.png", "no/c.png: No such file or directory\n"),
        ("compare matmul --out no/c.html", "no/c.html: No such file or directory\n"),
        (
            "compare matmul --out plot.gif",
            "compare: a file must end in .json, .csv, .tex, .html, .png, .svg, .pdf, got ",
        ),
        ("compare matmul --shader no.frag", "no.frag: No such file or directory\n"),
        ("compare matmul --shader binary.frag", "binary.frag: a shader is UTF-8 text, this file is not\n"),
        ("compare solve --shader a.frag", "compare: --shader is for matmul, plu, rref, triangular, got solve\n"),
        (
            "compare matmul --shader counts.frag",
            "counts.frag:6: counts is not given to a shader of matmul, but sampler2D A, ",
        ),
        ("compare matmul --shader typo.frag --size 8", "shader typo.frag does not compile:\n  typo.frag:17: "),
        (
            "compare matmul --variants inner_product,register_blocked --param SIDE=2",
            "compare: parameters of these variants are BUFFERS, COLUMNS, PASSES, ROWS, UNROLL, got 'SIDE'\n",
        ),
        (
            "compare matmul --variants inner_product --param UNROLL=1,3",
            "compare: UNROLL must be one of 1, 2, 4, 8, got 3\n",
        ),
        ("shader show mine", "gallery: the shader must be one of naive_product, unrolled_product"),
        ("trace lu", f"trace: operation must be one of {among(OPERATIONS, 'lu')}\n"),
        ("trace plu --out film.mp4", "trace: a file must end in .gif, .html, .json, got 'film.mp4'\n"),
        ("trace plu --out film", "trace: a file must end in .gif, .html, .json, got 'film'\n"),
        ("trace plu --out no/film.gif", "no/film.gif: No such file or directory\n"),
        ("trace plu --out no/film.json", "no/film.json: No such file or directory\n"),
        ("explain eig", f"plan: operation must be one of {among(OPERATIONS, 'eig')}\n"),
        ("explain matmul --variant x", f"matmul: variant must be one of {among(matmul.VARIANTS, 'x')}\n"),
        ("variants eig", f"variants: operation must be one of {among(OPERATIONS, 'eig')}\n"),
        ("tune eig", "tune: operation must be one of cholesky, "),
        (
            "tune plu",
            "tune: there is no folder for the outcome (GLLA_TUNING=off); unset it, or name a file with --out\n",
        ),
        ("tune triangular --size 4 --out binary.frag/a.json", "binary.frag"),
        ("demo --out no/demo.png", "no/demo.png: No such file"),
        ("demo --out .", ".: Is a directory"),
        ("demo --out demo.xyz", "demo: a file must end in .png, .json, got 'demo.xyz'"),
        ("study pivoting --out no/a.png", "no/a.png: No such file or directory\n"),
        ("study pivoting --data none", "none: No such file or directory\n"),
    ],
)
def test_refused_before_the_work(no_work, capsys, line, message):
    (no_work / "binary.frag").write_bytes(b"\xff\xfe\x00")
    (no_work / "counts.frag").write_text(PRODUCT.replace("int count;", "int counts;").replace("+ count", "+ counts"))
    (no_work / "typo.frag").write_text(PRODUCT.replace("sum += a.ggaa", "summ += a.ggaa"))
    assert main(line.split()) == 2
    output, errors = capsys.readouterr()
    assert output == "" and errors.startswith(f"glla: {message}")


@pytest.mark.parametrize("operation", ["plu", "solve"])
def test_variants_to_trace_that_are_none(capsys, operation):
    known = {"plu": plu.VARIANTS, "solve": ("rank2", "blocked")}[operation]
    assert main(["trace", operation, "--variant", "x"]) == 2
    assert capsys.readouterr() == ("", f"glla: {operation}: variant must be one of {', '.join(known)}, got 'x'\n")


@pytest.mark.parametrize(
    ("line", "missing", "message"),
    [
        ("compare matmul --out c.html", ("jinja2", "pygments"), "compare: needs jinja2, pygments"),
        ("trace plu --out film.gif", ("matplotlib",), "trace: needs matplotlib"),
        ("study pivoting --out x.png", ("matplotlib",), "pivoting: needs matplotlib"),
        ("demo --out demo.png", ("scipy", "pywt"), "demo: needs pywt, scipy"),
    ],
)
def test_missing_packages_are_named(no_work, capsys, monkeypatch, line, missing, message):
    find = importlib.util.find_spec
    monkeypatch.setattr(extra, "find_spec", lambda name: None if name in missing else find(name))
    assert main(line.split()) == 3
    assert capsys.readouterr().err == f"glla: {message}; pip install 'glla[lab]'\n"
    assert not any(no_work.iterdir())
    with pytest.raises(ImportError):
        extra.require("a test", missing[0])
