"""`glla thesis`: every section runs, and says nothing that was not measured or printed in the thesis."""

import json

import numpy as np
import pytest

from glla.cli import main
from glla.errors import OptionError
from glla.lab.thesis import command, loops, measure, published
from glla.lab.thesis.measure import Place


def test_a_page_with_every_section(tmp_path, capsys, device):
    page, data = tmp_path / "thesis.html", tmp_path / "thesis.json"
    command.run(device, None, page, data, quick=True)
    text, printed = page.read_text(encoding="utf-8"), capsys.readouterr().out
    found = json.loads(data.read_text(encoding="utf-8"))
    assert [one["name"] for one in found["sections"]] == list(command.NAMES)
    for one in found["sections"]:
        assert f'<section id="{one["name"]}">' in text and one["title"] in printed
    assert "http" not in text and text.count("<img ") == sum(len(one["drawings"]) for one in found["sections"])
    assert "A quick run" in printed and "not published" in printed
    for value, *_ in published.SPEEDUPS.values():
        assert f"<td>{value:.3g}</td>" in text


def test_one_section_on_the_command_line(capsys):
    assert main(["thesis", "--quick", "--section", "norms", "--software"]) == 0
    printed = capsys.readouterr().out
    assert "figure 4.5" in printed and "table B.1" not in printed


def test_an_unknown_section_is_named(device):
    with pytest.raises(OptionError, match=r"thesis: section must be one of product, .*, got dance"):
        command.sections(Place(device, quick=True), ["dance"])


def test_published_speedups_follow_from_the_published_fits():
    """Equation 4.7: the printed figures agree with each other, so none is mistyped."""
    pairs = {
        "inner product": ("product, CPU", "product, inner product"),
        "virtual cube": ("product, CPU", "product, virtual cube"),
        "RREF": ("RREF, CPU's LU", "RREF, GPU"),
        "PLU": ("PLU, CPU", "PLU, GPU"),
    }
    for name, (cpu, gpu) in pairs.items():
        assert published.SPEEDUPS[name][0] == pytest.approx(published.FITS[cpu][1] / published.FITS[gpu][1], abs=0.01)


def test_published_fits_lie_near_the_published_measurements():
    for name, measured in published.MEASURED.items():
        a, b = published.FITS[name]
        longest = max(seconds for _, seconds in measured)
        assert max(abs(a + b * n**3 - seconds) for n, seconds in measured) < 0.2 * longest, name


def test_no_line_where_none_fits():
    sizes = (10, 20, 30, 40, 50)
    series, fitted, text = measure.cubic("wild", sizes, (1.0, 9.0, 0.1, 7.0, 0.2))
    assert fitted is None and series.line == ((), ()) and text.startswith("no fit: residual")
    _, fitted, text = measure.cubic("cubic", sizes, [2.0 + 3e-3 * n**3 for n in sizes])
    assert fitted is not None and text.startswith("2 + 0.003 n^3, residual")
    assert measure.polynomial("line", sizes, [3.0 * n for n in sizes], 1)[1].startswith("3 n^1 + ")
    assert measure.polynomial("few", (1, 2), (1.0, 2.0), 1)[1] == "no fit: fewer than 3 sizes"


def test_the_textbook_is_right(rng):
    a = rng.integers(-9, 10, (5, 7)).astype(float)
    assert np.array_equal(loops.product(a, a.T), a @ a.T)
    square = a[:, :5] + 20 * np.eye(5)
    solved = loops.rref(np.column_stack([square, square.sum(axis=1)]))
    assert np.allclose(solved, np.column_stack([np.eye(5), np.ones(5)]), rtol=0, atol=1e-12)
    lu, order = loops.plu(square)
    assert np.allclose((np.tril(lu, -1) + np.eye(5)) @ np.triu(lu), square[order], rtol=0, atol=1e-12)
    assert loops.rref(np.zeros((2, 3))).tolist() == [[0.0] * 3] * 2
