"""The plots: drawn whatever there is, in every format."""

import math
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

from glla.errors import OptionError
from glla.lab import plots, show
from glla.lab.comparison import Comparison
from glla.lab.measurement import Measurement
from glla.lab.samples import Samples

pytest.importorskip("matplotlib")

NAMES = ("times", "errors", "bounds", "roofline")
ONE = {"flops": 1, "bytes_moved": 1}
ROOFS = {name: {"value": 10.0} for name in ("fragment_fma", "write_1", "fetch_rgba32f")}


def once(seconds):
    """A single repeat, operands on the device."""
    return {"ours": Samples((seconds,))}


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_pictures(measured, tmp_path, suffix, start):
    written = plots.save(measured, tmp_path / f"plots.{suffix}")
    assert [path.name for path in written] == (
        [f"plots-{name}.pdf" for name in plots.PLOTS] if suffix == "pdf" else [f"plots.{suffix}"]
    )
    contents = [path.read_bytes() for path in written]
    assert all(content.startswith(start) for content in contents)
    (content, *_) = contents
    if suffix == "png":
        width, height = struct.unpack(">II", content[16:24])
        assert width > 1500 and height > 1000
    with pytest.raises(OptionError, match=r"^compare: a plot ends in one of .png, .svg, .pdf, got 'plot.gif'$"):
        plots.check_suffix(Path("plot.gif"))


@pytest.mark.parametrize("which", NAMES)
def test_an_element_for_a_page(measured, which):
    text = plots.svg(measured, plots.PLOTS[which], which)
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "currentColor" in text
    assert plots.INK not in text
    assert "<!--" not in text
    names = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(names) == len(set(names))
    assert all(name.startswith(f"{which}-") for name in names)
    for element in root.iter():
        link = element.get("{http://www.w3.org/1999/xlink}href")
        assert link is None or link[1:] in names


def drawn(which, comparison):
    """What a plot draws: title, and for each line its label and points."""
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    getattr(plots, which)(ax, comparison, "black")
    ax.figure.canvas.draw()
    return ax, {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in ax.get_lines()}


def test_times_are_marks_and_fits_are_lines(measured):
    """Bars reach from quartile to quartile."""
    _, lines = drawn("times", measured)
    for variant in measured.names:
        assert lines[variant] == [(record.size, record.seconds) for record in measured.of(variant)]
    assert lines["BLAS gemm (CPU), fastest way"] == measured.times("peer")
    assert lines["usual call: a @ b"] == measured.times("usual")
    from matplotlib.collections import LineCollection

    ax, _ = drawn("times", measured)
    drawn_bars = [line for bars in ax.collections if isinstance(bars, LineCollection) for line in bars.get_segments()]
    ends = {(line[0][0], line[0][1], line[1][1]) for line in drawn_bars}
    wanted = {(r.size, r.lower, r.upper) for r in measured}
    wanted |= {(r.size, r.baseline_lower, r.baseline_upper) for r in measured}
    wanted |= {(r.size, r.usual_lower, r.usual_upper) for r in measured}
    assert ends == wanted


def test_a_fit_is_drawn_where_it_is_positive():
    """The thesis's line of the CPU has a negative constant."""
    records = [Measurement("matmul", "a", n, timed=once(-1.74e-2 + 7.93e-10 * n**3)) for n in (300, 600, 1200)]
    early = Measurement("matmul", "a", 100, timed=once(1e-3))  # the fourth size, which a fit needs
    ax, _ = drawn("times", Comparison("matmul", records=[early, *records]))
    (fitted,) = (line for line in ax.get_lines() if line.get_label().startswith("_"))
    assert min(fitted.get_ydata()) > 0
    assert min(fitted.get_xdata()) > 200
    assert max(fitted.get_xdata()) == pytest.approx(1200)


def test_errors_bounds_and_rooflines(measured):
    _, lines = drawn("errors", measured)
    (label,) = (label for label in lines if label.startswith("inner_product"))
    assert lines[label] == [(record.size, record.mean_error) for record in measured.of("inner_product")]
    _, lines = drawn("bounds", measured)
    assert lines["register_blocked"] == [(r.size, r.error_over_bound) for r in measured.of("register_blocked")]
    power, off = plots._power((10, 100, 1000, 10000), (2.0, 200.0, 20000.0, 2e6))
    assert (power, off) == (pytest.approx(2.0), pytest.approx(0.0, abs=1e-9))
    assert plots._power((10, 100, 1000, 10000), (2.0, 200.0, 20000.0, 4e6))[1] > 0.2
    assert plots._power((10, 100, 1000), (2.0, 200.0, 20000.0)) is None
    _, lines = drawn("roofline", measured)
    last = measured.of("inner_product")[-1]
    assert lines["inner_product"] == [(last.intensity, last.gflops)]
    (write,) = (points for label, points in lines.items() if label.startswith("colour write"))
    assert max(y for _, y in write) == pytest.approx(measured.ceilings["fragment_fma"]["value"])


RECORDS = {
    "nothing": [],
    "all wrong": [Measurement("matmul", "a", 8, "wrong", error=math.inf, bound=1.0)],
    "one size": [Measurement("matmul", "a", 8, timed=once(1.0), cost=ONE, mean_error=0.0)],
    "odd names": [
        Measurement("matmul", name, 8, timed=once(1.0), cost=ONE, mean_error=0.1, error=0.1, bound=1.0)
        for name in (r"$\frac{$", "_hidden", "a$b$", "<b>&amp;</b>")
    ],
}


@pytest.mark.parametrize("records", RECORDS.values(), ids=RECORDS)
@pytest.mark.parametrize("which", NAMES)
def test_whatever_there_is_can_be_drawn(which, records):
    comparison = Comparison("matmul", records=records, ceilings=ROOFS)
    ElementTree.fromstring(plots.svg(comparison, plots.PLOTS[which]))
    if which == "times" and records == RECORDS["odd names"]:
        ax, _ = drawn(which, comparison)  # which shows names as they are
        shown = [text.get_text() for text in ax.get_legend().get_texts()]
        assert [name.strip().replace(r"\$", "$") for name in shown] == [record.variant for record in records]


def many(count):
    """A comparison of so many variants at three sizes."""

    def record(i, n):
        return Measurement(
            "matmul", f"variant_number_{i}", n, timed=once((1 + i) * n**3 * 1e-9),
            cost={"flops": n**3, "bytes_moved": 4 * n * n}, mean_error=1e-6 * (i + 1) * n, error=0.01 * (i + 1),
            bound=1.0,
        )  # fmt: skip

    records = [record(i, n) for i in range(count) for n in (64, 128, 256)]
    return Comparison("matmul", records=records, ceilings=ROOFS)


@pytest.mark.parametrize("which", NAMES)
def test_every_series_looks_different_in_grey_too(which):
    """Marker and dashes tell series apart without their colours."""
    comparison = many(plots.DISTINCT)
    ax, _ = drawn(which, comparison)
    assert plots.colour(comparison, "variant_number_11") == plots.style(11)["color"]
    labelled = [line for line in ax.get_lines() if line.get_marker() != "None" and line.get_label()[0] != "_"]
    assert len(labelled) == plots.DISTINCT >= 40
    markers = {line.get_label().split(":")[0]: line.get_marker() for line in labelled}
    dashes = {}
    for line in ax.get_lines():  # those that connect the marks, or are fitted to them
        if line.get_linestyle() != "None":
            dashes.setdefault(line.get_color(), set()).add(line.get_linestyle())
    looks = {(plots.style(i)["marker"], plots.style(i)["linestyle"]) for i in range(plots.DISTINCT)}
    assert len(looks) == plots.DISTINCT
    for i in range(plots.DISTINCT):
        style = plots.style(i)
        assert markers[f"variant_number_{i}"] == style["marker"]
        assert style["linestyle"] in dashes[style["color"]]
    assert all(plots.style(i)["color"] != plots.style(i + 1)["color"] for i in range(plots.DISTINCT))


@pytest.mark.parametrize(("which", "count"), [("times", 1), ("errors", 12), ("roofline", 44)])
def test_the_legend_stands_beside_the_curves(which, count):
    from matplotlib.figure import Figure

    figure = Figure(figsize=plots.SIZE, layout="constrained")
    ax = figure.subplots()
    getattr(plots, which)(ax, many(count), "black")
    figure.draw_without_rendering()
    legend, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.x0 >= axes.x1
    assert legend.x1 <= figure.bbox.x1 and legend.y0 >= 0 and legend.y1 <= figure.bbox.y1
    assert axes.width > 0.3 * figure.bbox.width


def test_a_table_for_latex(measured, tmp_path):
    show.save_tex(measured, tmp_path / "table.tex")
    lines = (tmp_path / "table.tex").read_text().splitlines()
    assert lines[0] == r"% in a document with \usepackage{booktabs}"
    assert lines[1].startswith(r"\begin{tabular}{l") and lines[-1] == r"\end{tabular}"
    assert len(lines) == 7 + len(measured) and len({line.count("&") for line in lines if "&" in line}) == 1
