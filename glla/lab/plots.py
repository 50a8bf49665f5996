"""The plots of a comparison: run times with the fitted lines, errors, and the roofline, as figures of matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glla.display.colours import SIGNED, TEXELS
from glla.errors import OptionError
from glla.lab.comparison import Comparison
from glla.lab.extra import require
from glla.lab.fits import FEWEST, per_cent
from glla.lab.measurement import Measurement
from glla.lab.roofline import Roof

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Draw = Callable[["Axes", Comparison, str], None]
"""Draws a comparison, text and axes in a colour."""

SUFFIXES = (".png", ".svg", ".pdf")

COLOURS = (
    "#2f7fc1", "#e08214", "#2b9c6a", "#d1495b", "#8e6bbf", "#a3704c", "#d65fa9", "#7a8794", "#9a9a1f", "#1fa3b5",
)  # fmt: skip
"""Colours that stand out from white and from near black."""

MARKERS = "os^DvP*X<>p"
DASHES = ("-", "--", "-.", ":")

DISTINCT = len(MARKERS) * len(DASHES)
"""Series that differ without their colours: the numbers of markers and of dashes have no common divisor."""


def signed() -> Any:
    """Colour map of values from negative orange to positive blue, see `glla.display.colours`."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("signed", SIGNED)


def values(array: NDArray[Any], most: float | None = None) -> dict[str, Any]:
    """Colours of an array's values, for ``imshow``: of values that are all positive the half of `signed` from 0 on.

    >>> values(np.array([1.0, 3.0]))["vmin"], values(np.array([1.0, -3.0]))["vmin"]
    (0, -3.0)
    """
    from matplotlib.colors import LinearSegmentedColormap

    most = float(np.abs(array).max()) if most is None else most
    if array.min() < 0:
        return {"cmap": signed(), "vmin": -most, "vmax": most}
    return {"cmap": LinearSegmentedColormap.from_list("positive", SIGNED[2:]), "vmin": 0, "vmax": most}


@contextmanager
def drawn(path: Path, size: tuple[float, float], dpi: int = 120, title: str = "") -> Iterator[Any]:
    """Yield a figure of matplotlib to draw on, `size` in inches, and write it; the ending of the path decides."""
    check_suffix(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(title)
    yield figure
    figure.savefig(path, dpi=dpi, metadata={"Software": None} if path.suffix.lower() == ".png" else None)


def panels(
    path: Path,
    pictures: Sequence[tuple[str, NDArray[Any]]],
    inches: float,
    title: str = "",
    dpi: int = 80,
    texels: bool = False,
    **look: Any,
) -> None:
    """Draw arrays side by side, each below its title, all in one look; with lines around the texels of matrices."""
    with drawn(path, (inches * len(pictures), 1.1 * inches), dpi, title) as figure:
        for ax, (name, array) in zip(figure.subplots(1, len(pictures), squeeze=False)[0], pictures, strict=True):
            ax.imshow(array, interpolation="nearest", **look)
            ax.set_title(name)
            ax.set_xticks(np.arange(-0.5, array.shape[1], 2) if texels else [], [] if texels else None)
            ax.set_yticks(np.arange(-0.5, array.shape[0], 2) if texels else [], [] if texels else None)
            ax.tick_params(length=0)
            if texels:
                ax.grid(color=TEXELS, linewidth=0.4)


def style(number: int) -> dict[str, Any]:
    """Give the look of a series: colour, marker and dashes, each in its own cycle.

    Markers are hollow, so that those that fall together are all seen.

    >>> [style(number)["marker"] + style(number)["linestyle"] for number in (0, 1, 11)]
    ['o-', 's--', 'o:']
    """
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": DASHES[number % len(DASHES)],
        "markersize": 7,
        "markerfacecolor": "none",
        "markeredgewidth": 1.6,
        "linewidth": 1.5,
    }


SIZE = (9.6, 5.2)
"""Width and height of a plot with its legend, in inches."""

PAPER = (6.3, 4.4)
"""The same in a paper, whose text is 16 cm wide."""

LINES_OF_LEGEND = 24
"""Entries in a column of a legend that fit beside a plot of `SIZE`."""

INK = "#13579a"
"""Stands for the colour of text until `svg` replaces it, so that a plot follows the page's light or dark."""

DARK = "#222222"


def check_suffix(path: Path) -> None:
    """Raise unless a picture can have that name. Raises OptionError: which endings there are."""
    if path.suffix.lower() not in SUFFIXES:
        raise OptionError(f"compare: a plot ends in one of {', '.join(SUFFIXES)}, got {str(path)!r}")


def save(comparison: Comparison, path: Path) -> list[Path]:
    """Write all plots into one picture, PNG or SVG; or as PDF, for a paper, each into a file of its own."""
    check_suffix(path)
    require("compare", "matplotlib")
    if path.suffix.lower() == ".pdf":
        return [_for_a_paper(comparison, name, path) for name in PLOTS if name != "roofline" or comparison.ceilings]
    with drawn(path, (2 * SIZE[0], 2 * SIZE[1] + 0.6)) as figure:
        title = f"{comparison.operation}: {comparison.formula}   on {comparison.environment.get('renderer', '?')}"
        figure.suptitle(_text(title), fontsize=15)
        for ax, draw in zip(figure.subplots(2, 2).flat, PLOTS.values(), strict=True):
            draw(ax, comparison, DARK)
    return [path]


def _for_a_paper(comparison: Comparison, name: str, path: Path) -> Path:
    """Write one plot as wide as a page's text, the legend below it, in type of 9 points, without a title."""
    import matplotlib

    written = path.with_stem(f"{path.stem}-{name}")
    with matplotlib.rc_context({"pdf.fonttype": 42, "font.size": 9}), drawn(written, PAPER) as figure:
        ax = figure.subplots()
        PLOTS[name](ax, comparison, DARK)
        ax.set_title("")
        legend: Any = ax.get_legend()
        if legend is not None:
            labels = [one.get_text() for one in legend.get_texts()]
            legend.remove()
            below: dict[str, Any] = {"loc": "outside lower center", "ncols": 2 if max(map(len, labels)) < 30 else 1}
            figure.legend(legend.legend_handles, labels, **below, handlelength=2.8, frameon=False, fontsize=9)
    return written


def svg(comparison: Comparison, draw: Draw, name: str = "plot") -> str:
    """Draw one plot as an SVG element for a page: transparent, text and axes in the page's own colour.

    `draw`: one of `PLOTS`, or `rates`. `name`: of the element, its alone on the page.
    """
    require("compare", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained", facecolor="none")
    ax = figure.subplots()
    ax.set_facecolor("none")
    draw(ax, comparison, INK)
    return element(figure, name)


def element(figure: Figure, name: str) -> str:
    """Give a figure as an SVG element for a page, with `INK` in the page's own colour.

    Its names are its alone, by `name`, since a page has one space of names.
    """
    import matplotlib

    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": name}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    return text.replace(INK, "currentColor").strip()


# -- the plots --------------------------------------------------------------------------------------------------------


def times(ax: Axes, comparison: Comparison, ink: str) -> None:
    """Draw run times against n, both axes logarithmic, as the thesis's figures 4.3, 4.8 and 4.11: marks are measured.

    Lines are the fits a + b n^3, drawn where they are positive; without a fit they connect the marks.
    """
    for look, name, records in _series(comparison):
        sizes, seconds = [r.size for r in records], [r.seconds or 0.0 for r in records]
        fitted = _fitted(ax, comparison, name, look["color"], look["linestyle"])
        ax.plot(sizes, seconds, **({**look, "linestyle": "none"} if fitted else look), label=_text(name))
        _bars(ax, [(r.size, r.lower, r.upper) for r in records], look["color"])
    base, usual = comparison.times("peer"), comparison.times("usual")
    theirs: dict[str, Any] = {"markersize": 8, "markeredgewidth": 2}
    if base:
        _fitted(ax, comparison, comparison.baseline, ink, "--")
        label = _text(f"{comparison.baseline} (CPU), fastest way")
        ax.plot(*zip(*base, strict=True), "x", color=ink, label=label, **theirs)
        _bars(ax, [(r.size, r.baseline_lower, r.baseline_upper) for r in comparison.records], ink)
    if usual:
        ax.plot(*zip(*usual, strict=True), "+", color=ink, label=_text(f"usual call: {comparison.usual}"), **theirs)
        _bars(ax, [(r.size, r.usual_lower, r.usual_upper) for r in comparison.records], ink)
    lines = "; lines: fitted a + b n³" if any(summary.fit for summary in comparison.summaries()) else ""
    where = "operands on the device" if any(r.resident for r in comparison.records) else "from NumPy to NumPy"
    _axes(ax, ink, f"Time, {where}{lines}; bars: quartiles", "n", "seconds")
    _sizes(ax, comparison)
    _legend(ax, ink, comparison)


def errors(ax: Axes, comparison: Comparison, ink: str) -> None:
    """Draw the mean absolute error, as the thesis's figures 4.4, 4.9 and 4.12, and the power of n that it follows."""
    for look, name, records in _series(comparison):
        points = [(r.size, r.mean_error) for r in records if r.mean_error]
        if not points:
            continue
        sizes, values = zip(*points, strict=True)
        power = _power(sizes, values)
        label = _text(name if power is None else f"{name}: n^{power[0]:.1f}, off by up to {per_cent(power[1])}")
        ax.plot(sizes, values, label=label, **look)
    _axes(ax, ink, f"Mean absolute error of an entry, {comparison.error}", "n", comparison.error)
    _sizes(ax, comparison)
    _legend(ax, ink)


def bounds(ax: Axes, comparison: Comparison, ink: str) -> None:
    """Draw the error as a part of its bound; a result above the line at 1 is wrong."""
    for look, name, _ in _series(comparison):
        points = [
            (r.size, r.error_over_bound)
            for r in sorted(comparison.records, key=lambda record: record.size)
            if r.variant == name and r.error_over_bound and np.isfinite(r.error_over_bound)
        ]
        if points:
            sizes, values = zip(*points, strict=True)
            ax.plot(sizes, values, label=_text(name), **look)
    ax.axhline(1.0, color="#d1495b", linewidth=2)
    ax.annotate(
        "bound", (0.01, 1.0), xycoords=("axes fraction", "data"), xytext=(0, -12), textcoords="offset points", color=ink
    )
    _axes(ax, ink, "Error over its bound; above 1 a result is wrong", "n", "error / bound")
    _sizes(ax, comparison)
    _legend(ax, ink)


def roofline(ax: Axes, comparison: Comparison, ink: str) -> None:
    """Draw GFLOP/s against flop per byte moved, below the roofs that were measured in the same run."""
    points = [(r.intensity, r.gflops) for r in comparison.records if r.ok and r.intensity and r.gflops]
    roof = Roof.of(comparison.ceilings)
    ridge = roof.arithmetic / roof.write
    intensities = [x for x, _ in points] or [ridge]
    low, high = min(*intensities, ridge / 4) / 1.6, max(*intensities, ridge * 4) * 1.6
    x = np.geomspace(low, high, 200)
    for bandwidth, dashes, name in (
        (roof.write, "-", f"colour write {roof.write:.3g} GB/s"),
        (roof.fetch, "--", f"cached fetch {roof.fetch:.3g} GB/s"),
    ):
        ax.plot(x, np.minimum(bandwidth * x, roof.arithmetic), dashes, color=ink, linewidth=1.6, label=name)
    ax.annotate(
        f"fragment multiply-add {roof.arithmetic:.4g} GFLOP/s",
        (high, roof.arithmetic), xytext=(-4, 5), textcoords="offset points", ha="right", color=ink, fontsize=9,
    )  # fmt: skip
    for look, name, records in _series(comparison):
        ours = [(r.intensity, r.gflops) for r in records if r.intensity and r.gflops]
        ax.plot(*zip(*ours, strict=True), **{**look, "markersize": 4})
        ax.plot(*ours[-1], **{**look, "linestyle": "none", "markersize": 10}, label=_text(name))  # the largest n
    _axes(ax, ink, "Roofline: every variant, roofs measured in the same run", "flop per byte moved", "GFLOP/s")
    ax.set_xlim(low, high)
    ax.set_ylim(top=2.5 * roof.arithmetic)
    _legend(ax, ink, comparison)


def rates(ax: Axes, comparison: Comparison, ink: str) -> None:
    """Draw GFLOP/s against n, below the ceiling of multiply-adds in fragments; a report has `roofline` instead."""
    flops = {r.size: r.flops for r in comparison.records}
    for look, name, records in _series(comparison):
        ax.plot([r.size for r in records], [r.gflops for r in records], **look, label=_text(name))
    for role, mark, name in (("peer", "x--", comparison.baseline), ("usual", "+:", comparison.usual)):
        points = [(n, flops[n] / seconds / 1e9) for n, seconds in comparison.times(role)]
        ax.plot([n for n, _ in points], [rate for _, rate in points], mark, color=ink, label=_text(f"{name} (CPU)"))
    ax.axhline(Roof.of(comparison.ceilings).arithmetic, color=ink, linestyle=":", label="ceiling of multiply-adds")
    _axes(ax, ink, "Rate, operands on the device", "n", "GFLOP/s")
    _sizes(ax, comparison)
    _legend(ax, ink, comparison)


PLOTS: dict[str, Draw] = {"times": times, "roofline": roofline, "errors": errors, "bounds": bounds}
"""All of them, by name."""


# -- their parts ------------------------------------------------------------------------------------------------------


def colour(comparison: Comparison, name: str) -> str:
    """Colour of a variant in every plot."""
    return str(style(comparison.names.index(name))["color"])


def _series(comparison: Comparison) -> list[tuple[dict[str, Any], str, list[Measurement]]]:
    """Look, name and records of each variant that was ever right; the looks stay with the variants."""
    return [(style(i), name, comparison.of(name)) for i, name in enumerate(comparison.names) if comparison.of(name)]


def _bars(ax: Axes, points: Iterable[tuple[int, float | None, float | None]], colour: str) -> None:
    """Draw from quartile to quartile where they are known: size, lower, upper."""
    known = {(size, low, high) for size, low, high in points if low is not None and high is not None}
    if known:
        sizes, low, high = zip(*sorted(known), strict=True)
        ax.vlines(sizes, low, high, color=colour, linewidth=4, alpha=0.45)


def _text(name: str) -> str:
    """Write a name as it is: to matplotlib dollars enclose formulas, and a leading underscore hides a label."""
    return (" " if name.startswith("_") else "") + name.replace("$", r"\$")


def _fitted(ax: Axes, comparison: Comparison, name: str, colour: str, dashes: str) -> bool:
    """Draw the line that is fitted to a series, if there is one."""
    line = next((summary.fit for summary in comparison.summaries() if summary.variant == name), None)
    if line is None:
        return False
    x = np.geomspace(line.smallest, line.largest, 200)
    y = line.a + line.b * x**3
    ax.plot(x[y > 0], y[y > 0], dashes, color=colour, linewidth=1.6, alpha=0.85)
    return True


def _power(sizes: Sequence[float], values: Sequence[float]) -> tuple[float, float] | None:
    """Exponent p of the law c n^p that fits best, on logarithmic axes, and how far a value is off at most, relative.

    None with fewer sizes than a fit needs, see `glla.lab.fits.FEWEST`.
    """
    if len(set(sizes)) < FEWEST:
        return None
    x, y = np.log(sizes), np.log(values)
    p, c = np.polyfit(x, y, 1)
    return float(p), float(np.expm1(np.abs(y - (p * x + c)).max()))


def _axes(ax: Axes, ink: str, title: str, x: str, y: str) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title(title, color=ink, fontsize=11)
    ax.set_xlabel(x, color=ink)
    ax.set_ylabel(y, color=ink)
    ax.tick_params(which="both", colors=ink)
    ax.grid(True, which="major", color=ink, alpha=0.15)
    for spine in ax.spines.values():
        spine.set_color(ink)
        spine.set_alpha(0.5)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _sizes(ax: Axes, comparison: Comparison) -> None:
    """Write the sizes themselves below the axis, as many as fit."""
    from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

    sizes = sorted({record.size for record in comparison.records})
    every = max(1, -(-len(sizes) // 8))
    ax.xaxis.set_major_locator(FixedLocator([float(size) for size in sizes[::-every][::-1]]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(ScalarFormatter())


def _legend(ax: Axes, ink: str, comparison: Comparison | None = None) -> None:
    """Put the legend beside the curves; with a comparison, marks are shown with the dashes of their lines."""
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    looks = {} if comparison is None else {_text(name): look for look, name, _ in _series(comparison)}
    shown = [
        Line2D([], [], **looks[label]) if label in looks else handle
        for handle, label in zip(handles, labels, strict=True)
    ]
    if shown:
        beside(ax, shown, labels, ink)


def beside(ax: Axes, handles: Sequence[Any], labels: Sequence[str], ink: str) -> None:
    """Put a legend at the right of a plot, in as many columns as it takes."""
    ax.legend(
        handles, labels, loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0.0, handlelength=2.8,
        ncols=-(-len(labels) // LINES_OF_LEGEND), fontsize=8.5, frameon=False, labelcolor=ink,
    )  # fmt: skip
