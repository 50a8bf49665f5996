"""`glla thesis`: every section runs, and says nothing that was not measured or printed in the thesis."""

import json
import re
import shlex
from argparse import Namespace
from dataclasses import replace

import numpy as np
import pytest

from glla import cli
from glla.array.array import asarray
from glla.cli import main
from glla.errors import OptionError
from glla.lab import fits
from glla.lab.plain import save
from glla.lab.study import Run
from glla.testing.references import textbook_plu
from glla.thesis import claims, command, evaluation, loops, measure, published
from glla.thesis.claims import accuracy, counts, sections, solutions, tuning, ways
from glla.thesis.claims.claim import WORDS, claim, faster
from glla.thesis.document import Document
from glla.thesis.measure import Place
from glla.thesis.parts import Section, Table, coarse


def run(device, *paths, section=None, only=None):
    """Run the study as the command does: its files are written after each section."""

    def keep(report):
        assert all(report.write(path) for path in paths)

    options = Namespace(quick=True, section=section, only=only, largest=None)
    keep(command.STUDY.run(Run(device, options, keep=keep)))


def test_a_page_with_every_section(tmp_path, capsys, device):
    page, data = tmp_path / "thesis.html", tmp_path / "thesis.json"
    run(device, page, data)
    text, printed = page.read_text(encoding="utf-8"), capsys.readouterr().out
    found = json.loads(data.read_text(encoding="utf-8"))
    assert [one["name"] for one in found["sections"]] == list(command.NAMES)
    for one in found["sections"]:
        assert f'<section id="{one["name"]}">' in text and one["title"] in printed
    assert "src=" not in text and "://" not in text.replace("://www.w3.org/", "")
    assert text.count("<figure>") == sum(len(one["drawings"]) for one in found["sections"])
    assert found["complete"] and "It was ended before" not in text
    assert "A quick run" in printed and "not published" in printed
    for value, *_ in published.SPEEDUPS.values():
        assert f'<td class="number">{value:.3g}</td>' in text
    check_claims(found["sections"][-1]["tables"][0])
    again = tmp_path / "again.html"
    assert main(["study", "thesis", "--from", str(data), "--out", str(again)]) == 0
    assert again.read_text(encoding="utf-8") == text


def check_claims(table):
    """Every claim has all its cells, and is there once."""
    assert len(table["rows"]) == len({row[0] for row in table["rows"]}) >= 80
    assert [claims.place_of(row[1]) for row in table["rows"]] == sorted(
        claims.place_of(row[1]) for row in table["rows"]
    )
    fixed = {words["says"] for group in WORDS.values() for words in group.values() if "{" not in words["says"]}
    assert fixed <= {row[0] for row in table["rows"]}  # each row of claims.toml is measured
    for says, where, theirs, ours, verdict, measured_by, why in table["rows"]:
        assert re.fullmatch(r"[2-7]\.\d.*", where) and says and theirs and ours, says
        assert verdict in ("holds", "does not hold", "measured") and measured_by.startswith("glla"), says
        assert why.endswith(".") and ". " not in why, says
        for command_line in (part.partition(" (")[0] for part in measured_by.split("; ")):
            if command_line.startswith("glla "):
                cli.parser().parse_args(shlex.split(command_line)[1:])  # SystemExit if there is no such command


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000 + "]" * 100_000, "{}", "5", "[]", '{"title": 1, "about": [5], "complete": 1, "sections": [{}]}',
     '{"title": 1, "about": [], "complete": 1, "sections": [{"tables": [5]}]}', "no JSON"],
    ids=lambda text: text[:9],
)  # fmt: skip
def test_files_that_are_no_evaluation(tmp_path, capsys, text):
    (tmp_path / "a.json").write_text(text)
    assert main(["study", "thesis", "--from", str(tmp_path / "a.json"), "--out", str(tmp_path / "a.html")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("glla: thesis: --from must be a file that glla study thesis --out wrote, got ")
    assert not (tmp_path / "a.html").exists()


def test_repeats_are_reported_once(device):
    place, times = Place(device), iter([9.0, 4.0, 0.1, 0.2, 0.3, 7.0, 2.0, 0.0, 0.4, 0.4])
    assert place.repeated(times.__next__) == 4.0  # so long that once is enough; the first one has compiled
    assert place.repeated(times.__next__) == 0.25
    assert place.repeated(times.__next__) == 2.0
    assert place.repeated(times.__next__) == 0.4
    assert place.repeats() == [
        "4 run times were measured: medians of 2 to 2 repeats after a first run, but 2 of a single one, as it took "
        "long. Their quartiles lie 10 % of the median apart in half of the cases, 20 % at worst."
    ]
    assert place.repeats() == []


def test_verdicts_of_claims():
    values = {"growth": {"exponent": 1.5, "fit": "no fit: fewer than 4 sizes"}}
    found = sections._growth(Section("product", "", "", values=values))
    assert found.holds is None and found.ours == "n^1.5; no fit: fewer than 4 sizes"
    words = WORDS["ways"]["rank2"]
    command = words["command"].format(n=8)
    report = [faster("ways.rank2", ratio, n=8).row[3:] for ratio in (1.2, 1.04, 0.5)]
    assert report == [
        ("1.20 times, n = 8", "holds", command, words["because"]),
        ("1.04 times, n = 8", "does not hold", command, words["although"]),
        ("0.50 times, n = 8", "does not hold", command, words["although"]),
    ]
    assert faster("ways.rank2", 1.2, 1.3, n=8).holds is False
    assert claim("machine.multiply_adds", None, each=3).row[2:5] == ("8", "3", "measured")


def test_products_and_copies_are_right(device, rng):
    a = rng.integers(-9, 10, (10, 10)).astype(np.float32)
    result = device.run(ways._repacking(10), M=device.upload(a))["back"]
    assert np.array_equal(device.download(result, (10, 10)), a)
    a, b = (rng.integers(-9, 10, (6, 6)).astype(np.float32) for _ in range(2))
    quarters = [np.asarray(part) for part in tuning.strassen(*(asarray(m, device) for m in (a, b)))]
    assert np.array_equal(np.block([quarters[:2], quarters[2:]]), a @ b)
    wide = np.arange(3 * 130).reshape(3, 130)
    found = np.array(coarse(wide))
    assert found.shape == (1, 44)
    assert found[0, 0] == wide[:, :3].mean() and found[0, -1] == wide[:, 129:].mean()


def test_storage_of_fewer_bits_is_worse_by_as_much(device):
    eight, half = accuracy._formats(Place(device, quick=True))
    for one, smallest, largest in ((eight, 1e-4, 2e-2), (half, 1e-5, 2e-3)):
        assert smallest < float(one.ours.split()[2].rstrip(",")) < largest and one.holds, one


def test_counts_are_those_of_the_shaders(device):
    """Leading terms by hand, n = 24: 12 layers of blocks, of which the first reads no sum."""
    found = {one.says: one for one in counts.claims(Place(device, quick=True))}
    packing, ratio, cube, memory, floats, texture, vertices, _ = found.values()
    assert memory.ours.startswith("12 times less (4.5 against 54 KiB)") and memory.holds  # two layers for 24
    assert vertices.ours.startswith("12 of 36 passes") and vertices.holds is False  # one for two columns
    assert packing.ours.startswith("50 % less (4 against 8 n^3 bytes") and packing.holds
    assert ratio.ours.startswith("1:1;") and ratio.holds
    assert cube.ours.startswith(f"{2 + 11 / 12:.2g} n and 1 n; 2 n and one") and cube.holds
    assert 3 <= float(floats.ours.split()[0]) < 6 and floats.holds
    assert texture.ours.startswith("2.62 KiB with the pivots, 6.75 for P, L and U") and texture.holds


def test_without_pivoting_a_small_pivot_is_reported(device):
    place = Place(device, quick=True)
    assert solutions._or_refused(place, np.array([[-1e-8, 1], [1, 1]], np.float32)) == "refused"
    assert float(solutions._or_refused(place, np.array([[4, 1], [1, 4]], np.float32))) == 0


def test_some_claims_alone(tmp_path, device, capsys):
    whole, part = tmp_path / "whole.json", tmp_path / "part.json"
    run(device, whole, section=["norms", "claims"], only=["solutions", "counts"])
    run(device, part, section=["claims"], only=["counts"])
    capsys.readouterr()
    first, second = Document.read(whole), Document.read(part)
    rows, fewer = (one.sections[-1].tables[0].rows for one in (first, second))
    assert len(rows) == 12 and len(fewer) == 8 and {row[0] for row in fewer} < {row[0] for row in rows}
    second.sections[-1].tables[0] = claims.table([(*fewer[0][:3], "another figure", *fewer[0][4:]), *fewer[1:]])
    second.about.append("Measured later.")
    both = command.joined([first, second])
    assert [section.name for section in both.sections] == ["norms", "claims"]
    assert [row[0] for row in both.sections[-1].tables[0].rows] == [row[0] for row in rows]
    assert [row[3] for row in both.sections[-1].tables[0].rows].count("another figure") == 1
    assert both.about == [*first.about, "Later (claims): Measured later."]
    assert command.joined([first, second, second]).about == [*first.about, "Later (claims; claims): Measured later."]
    second.about[0] = "Ours: another device, OpenGL 3.3; CPU: one."
    with pytest.raises(OptionError, match=r"must be of one device, got .* and 'Ours: another device'"):
        command.joined([first, second])


def test_claims_of_sections_follow_their_figures():
    line = fits.Fit(0.0, 1e-9, 1, 9)
    values = {
        "relative error": 1e-7, "of": "largest", "growth": {"exponent": 2.0, "fit": "1 + 2 n^2"},
        "fits": {name: line for pair in sections.LINES.values() for name in pair},
        "measured": ((7, 9), (1.0, 2.0), (1.0, 2.1)), "unblocked": (9, 3.0), "diagonal": (2.0, 1.0),
    }  # fmt: skip
    bad = {
        "relative error": 1e-3, "of": "mean", "growth": {"exponent": 1.0, "fit": "no fit: residual 14 %"},
        "fits": dict.fromkeys(name for pair in sections.LINES.values() for name in pair),
        "measured": ((7, 9), (1.0, 2.0), (2.0, 1.0)), "unblocked": (9, 0.5), "diagonal": (1.0, 2.0),
    }  # fmt: skip
    for given, expected in ((values, True), (bad, False)):
        done = {name: Section(name, name, "4", values=given) for name in ("product", "rref", "plu")}
        found = list(sections.claims(done))
        assert len(found) == 17 and {one.holds for one in found} == {expected}
    assert any(one.ours == "nowhere up to n = 9" for one in found)
    water = {"milliseconds": {"CPU, dense systems (LAPACK)": 20.0, "CPU and GPU, dense systems": 19.0,
                              "NumPy, tridiagonal, float32": 1.0, "ShallowWater, semi_implicit": 4.0}, "largest": 1e-7,
             "stable": (9.9, 0.1)}  # fmt: skip
    done = {
        "water": Section("water", "", "5", values=water),
        "sharing": Section("", "", "", [Table("", (), (("plu", 9, 0.45, 0.9), ("plu", 10, 0.4, 0.8)))]),
    }
    assert [one.holds for one in sections.claims(done)] == [True, False, True, True, True, True]
    done["water"].values["stable"] = 9.9, float("nan")
    assert not list(sections.claims(done))[4].holds


def test_claims_that_follow_are_those_of_the_sections_that_are_left(tmp_path, device, capsys):
    paths = [tmp_path / f"{name}.json" for name in ("claims", "water", "sharing", "again")]
    for path, names in zip(paths, (["claims"], ["water"], ["sharing"], ["water"]), strict=True):
        run(device, path, section=names, only=[])
    capsys.readouterr()
    alone, water, sharing, again = map(Document.read, paths)
    assert not alone.sections[0].tables[0].rows
    again.sections[0].values["stable"] = 9.9, 2.0
    whole = command.joined([alone, water, sharing, again])
    assert [section.name for section in whole.sections] == ["sharing", "water", "claims"]
    found = {row[0]: row for row in whole.sections[-1].tables[0].rows}
    assert len(found) == 6
    assert found["The implicit scheme is stable whatever the steps"][3:5] == (
        "2 m are left of 1 m, Courant number 9.9", "does not hold",
    )  # fmt: skip
    old = json.loads(paths[1].read_text(encoding="utf-8"))
    del old["sections"][0]["values"]  # as files were
    assert len(command.joined([alone, Document.of(old)]).sections[-1].tables[0].rows) == 0
    del old["sections"][0]
    assert not command.joined([alone, replace(Document.of(old), complete=False)]).complete
    table = Table("", (), (("s", "4", "t", "o", 1.0, 1.0),))
    parts = [Section(name, name, "4", [table]) for name in evaluation.NAMES]
    halves = [replace(alone, sections=some, complete=False) for some in (parts[:4], parts[4:])]
    assert command.joined(halves).complete  # nothing is missing


def test_figures_of_a_section_are_kept(tmp_path, device, capsys):
    file = tmp_path / "rref.json"
    document = command.evaluate(Place(device, quick=True), ["rref"])
    save(document.plain(), file)
    capsys.readouterr()
    kept, made = Document.read(file).sections[0], document.sections[0]
    assert kept.values["fits"] == made.values["fits"]
    assert [one.row for one in sections.claims({"rref": kept})] == claims.following({"rref": made})


def test_a_run_that_is_cut_leaves_what_it_did(tmp_path, device, monkeypatch):
    page, data = tmp_path / "thesis.html", tmp_path / "thesis.json"

    def cut(place):
        raise KeyboardInterrupt

    monkeypatch.setitem(evaluation.SECTIONS, "rref", cut)
    with pytest.raises(KeyboardInterrupt):
        run(device, page, data, section=["norms", "rref"])
    assert [one.name for one in Document.read(data).sections] == ["norms"]
    assert "It was ended before all sections were done." in page.read_text(encoding="utf-8")
    assert set(tmp_path.iterdir()) == {data, page}


def test_what_is_asked_for(device, capsys):
    """No order above the largest, one section alone, and none that there is not."""
    place = Place(device, largest=100)
    assert place.sizes and place.compared and 89 in place.shared([70, 89, 138])
    assert max(*place.sizes, *place.compared, *place.shared([70, 89, 138])) <= 100
    assert Place(device, largest=32).sizes == (32,)
    assert main(["study", "thesis", "--quick", "--section", "norms"]) == 0
    printed = capsys.readouterr().out
    assert "figure 4.5" in printed and "table B.1" not in printed
    with pytest.raises(OptionError, match=r"thesis: section must be one of product, .*, got dance"):
        command.evaluate(Place(device, quick=True), ["dance"])


def test_published_figures_agree_with_each_other():
    """Equation 4.7, and the measurements near the fits: so none is mistyped."""
    for name, pair in {
        "inner product": ("product, CPU", "product, inner product"),
        "virtual cube": ("product, CPU", "product, virtual cube"),
        "RREF": ("RREF, CPU's LU", "RREF, GPU"), "PLU": ("PLU, CPU", "PLU, GPU"),
    }.items():  # fmt: skip
        cpu, gpu = (published.FITS[one][1] for one in pair)
        assert published.SPEEDUPS[name][0] == pytest.approx(cpu / gpu, abs=0.01)
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
    line = measure.polynomial("line", sizes, [5.0 + 3.0 * n for n in sizes], 1)[1]
    assert line.startswith("5 + 3 n, residual ") and line.endswith(" of the largest")
    series, text = measure.polynomial("wild", sizes, (1.0, 9.0, 0.1, 7.0, 0.2), 2)
    assert series.line == ((), ()) and text.startswith("no fit: residual")
    assert measure.polynomial("few", (1, 2), (1.0, 2.0), 1)[1] == "no fit: fewer than 3 sizes"


def test_the_textbook_is_right(rng):
    a = rng.integers(-9, 10, (5, 7)).astype(float)
    assert np.array_equal(loops.product(a, a.T), a @ a.T)
    square = a[:, :5] + 20 * np.eye(5)
    solved = loops.rref(np.column_stack([square, square.sum(axis=1)]))
    assert np.allclose(solved, np.column_stack([np.eye(5), np.ones(5)]), rtol=0, atol=1e-12)
    lu, order = textbook_plu(square)
    assert np.allclose((np.tril(lu, -1) + np.eye(5)) @ np.triu(lu), square[order], rtol=0, atol=1e-12)
    definite = square @ square.T
    starts, columns = np.arange(0, 26, 5), np.tile(np.arange(5), 5)
    x = loops.gradients(starts, columns, definite.ravel(), definite @ np.arange(5.0), 12)
    assert np.allclose(x, np.arange(5.0), rtol=0, atol=1e-9)
    assert loops.rref(np.zeros((2, 3))).tolist() == [[0.0] * 3] * 2


def test_claims_of_accuracy_may_fail(device, monkeypatch):
    """Small entries are singular to the thesis; the backward error of a product is that of a solution."""
    place = Place(device, quick=True)
    claim = accuracy._epsilon(place)
    assert claim.ours.startswith("rank 0 of 8 is found") and claim.holds is False
    assert accuracy._backward(place).holds
    monkeypatch.setattr(accuracy, "uniform", lambda place, *shape: 7 * np.eye(*shape, dtype=np.float32) + 0.1)
    assert accuracy._backward(place).holds is False  # of well conditioned matrices it is small, too
