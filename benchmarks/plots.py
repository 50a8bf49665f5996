"""The plots of the README, drawn from result files: SVG beside the figures that they show.

What a plot shows is data first (`Picture`), made from the results by pure functions; `svg` draws it. The file carries
the digest of that data, so whether it is current is known without drawing, whatever matplotlib is installed.
Lines, text and axes have colours that stand out from white and from near black, and the ground is transparent: one
file serves a light page and a dark one.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from glla.lab.measurement import Measurement
from glla.lab.plots import beside, style
from glla.operations.product import matmul

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Run = dict[str, Any]
Points = tuple[tuple[int, float], ...]

DRAWING = 2
"""Version of the plots' style, a part of every digest: with a new number all plots are drawn again."""

INK = "#737b85"
"""Colour of text and axes; its contrast is 4.3 : 1 against white, 4.4 : 1 against GitHub's dark page."""

SMALLEST_SHOWN = 2
"""Fewest points of a curve."""


@dataclass(frozen=True)
class Series:
    """A curve."""

    name: str  # for the legend
    points: Points  # (int, float): n, value
    # (float, float): of each point the quartiles of its repeats, as values
    bars: tuple[tuple[float, float], ...] = ()
    peer: str = ""  # ("", "best", "usual"): whether it is the CPU's: its fastest way, or the usual call


@dataclass(frozen=True)
class Panel:
    """A pair of axes, both logarithmic: title, what is upward, the curves, and a level with its name, if any."""

    title: str
    upward: str
    series: tuple[Series, ...]
    level: tuple[str, float] | None = None


@dataclass(frozen=True)
class Picture:
    """A file: its name, what it shows in a sentence, and its panels."""

    name: str
    alt: str
    panels: tuple[Panel, ...]

    @property
    def digest(self) -> str:
        """Of all that is shown."""
        shown = json.dumps([DRAWING, asdict(self)], sort_keys=True)
        return hashlib.sha256(shown.encode()).hexdigest()


# -- what is shown ----------------------------------------------------------------------------------------------------


def pictures(run: Run, smalls: Sequence[Run]) -> list[Picture]:
    """Make the pictures of one renderer.

    `run`: its newest complete results. `smalls`: the results whose small systems are shown, see
    `benchmarks.readme.smalls`.
    """
    return [products(run), systems(run, smalls)]


BEYOND = frozenset(name for name, variant in matmul.VARIANTS.items() if variant.needs)
"""Variants of the product that need more than OpenGL 3.3."""


def products(run: Run) -> Picture:
    """GFLOP/s of the matrix product against n, each variant, below the fragment ceiling of the same run."""
    ceiling = run["ceilings"]["ceilings"]["fragment_fma"]["value"]
    panel = Panel(
        f"Matrix product, operands on the device: {run['renderer']}",
        "GFLOP/s",
        (*_variants(run, "matmul", rate=True), *_peers(run, "matmul", rate=True)),
        ("fragment multiply-add ceiling", ceiling),
    )
    best = _best(run, "matmul")
    beside = "; ".join(
        f"{best.ways[role]} {best.cost['flops'] / best.timed[role].median / 1e9:.4g}"
        for role in PEERS
        if role in best.timed
    )
    alt = (
        f"GFLOP/s of each variant of the matrix product against n on {run['renderer']}: at n = {best.size} the fastest "
        f"of OpenGL 3.3, {best.variant}, reaches {best.gflops:.4g}, {best.gflops / ceiling:.0%} of the fragment "
        f"ceiling; on {run['cores']} CPU cores {beside}"
    )
    return Picture("products", alt, (panel,))


def systems(run: Run, smalls: Sequence[Run]) -> Picture:
    """Times of PLU, RREF, solve, and solve of small systems, beside the CPU."""
    panels = []
    for operation, title in (("plu", "PLU, n x n"), ("rref", "RREF, n x (n + 1)"), ("solve", "solve, n x n")):
        curves = _variants(run, operation)
        panels.append(Panel(f"{title}, operands on the device", "seconds", (*curves, *_peers(run, operation))))
    threads = [_series(small, "small", "whole", f"glla{setting(small)}") for small in smalls]
    if threads:
        panels.append(Panel("solve, from NumPy to NumPy", "seconds", (*threads, *_peers(smalls[0], "small"))))
    ratios = "; ".join(_ratio(run, operation) for operation in ("plu", "rref", "solve"))
    alt = f"Times of PLU, RREF and solve against n on {run['renderer']}, beside LAPACK on the CPU: {ratios}"
    return Picture("systems", alt, tuple(panels))


def setting(run: Run) -> str:
    """Say what a software rasteriser's threads were set to, if they were."""
    threads = run["environment"].get("LP_NUM_THREADS")
    return f", LP_NUM_THREADS={threads}" if threads is not None and run["software"] else ""


PEERS = ("peer", "usual")
"""Roles of the CPU: its fastest way, and the usual call."""


def _right(run: Run, operation: str) -> list[Measurement]:
    return [one for one in run["records"] if one.operation == operation and one.ok]


def _variants(run: Run, operation: str, rate: bool = False) -> tuple[Series, ...]:
    names = dict.fromkeys(one.variant for one in run["records"] if one.operation == operation)
    curves = (_series(run, operation, "ours", name or "glla", name, rate) for name in names)
    return tuple(curve for curve in curves if len(curve.points) >= SMALLEST_SHOWN)


def _peers(run: Run, operation: str, rate: bool = False) -> tuple[Series, ...]:
    """Curves of the CPU."""
    cores = f"{run['cores']} core{'' if run['cores'] == 1 else 's'}"
    found = []
    for role, peer in zip(PEERS, ("best", "usual"), strict=True):
        ways = next((one.ways for one in _right(run, operation) if role in one.timed), None)
        if ways:
            name = f"{ways['baseline']}, {cores}, fastest way" if peer == "best" else f"usual call: {ways['usual']}"
            found.append(replace(_series(run, operation, role, name, rate=rate), peer=peer))
    return tuple(found)


def _series(run: Run, operation: str, role: str, name: str, variant: str | None = None, rate: bool = False) -> Series:
    """Draw samples of one variant, or some that all have in common, against n: seconds, or GFLOP/s."""
    known = {one.size: one for one in _right(run, operation) if variant in (None, one.variant) and role in one.timed}

    def value(one: Measurement, seconds: float) -> float:
        return one.cost["flops"] / seconds / 1e9 if rate else seconds

    chosen = [(known[n], known[n].timed[role]) for n in sorted(known)]
    points = tuple((one.size, value(one, samples.median)) for one, samples in chosen)
    ends = [(samples.upper, samples.lower) if rate else (samples.lower, samples.upper) for _, samples in chosen]
    bars = tuple((value(one, low), value(one, high)) for (one, _), (low, high) in zip(chosen, ends, strict=True))
    return Series(name, points, bars)


def _ratio(run: Run, operation: str) -> str:
    """How fast the fastest variant is beside the CPU, at the largest size."""
    best = _best(run, operation)
    beside = [
        f"{best.timed[role].median / best.seconds:.3g} times as fast as {best.ways[role]}"
        for role in PEERS
        if role in best.timed
    ]
    return f"{operation} at n = {best.size} {', '.join(beside)}"


def _best(run: Run, operation: str) -> Measurement:
    """Give the fastest case of the largest size; what needs more than OpenGL 3.3 is no fragment shader's doing."""
    known = [one for one in _right(run, operation) if one.variant not in BEYOND]
    return max(known, key=lambda one: (one.size, one.gflops))


# -- how it is drawn --------------------------------------------------------------------------------------------------


def svg(picture: Picture) -> str:
    """Draw a picture: text as text, nothing that changes from day to day, and the digest in its description."""
    import matplotlib
    from matplotlib.figure import Figure

    columns = min(2, len(picture.panels))
    rows = -(-len(picture.panels) // columns)
    size = (8.6, 4.6) if len(picture.panels) == 1 else (7.2 * columns, 3.9 * rows)
    quiet = {"Date": None, "Creator": None, "Type": None, "Format": None}
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": picture.name, "font.family": "sans-serif"}
    file = io.StringIO()
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=size, layout="constrained", facecolor="none")
        axes: Any = figure.subplots(rows, columns, squeeze=False)
        for ax in axes.flat[len(picture.panels) :]:
            ax.remove()
        for ax, panel in zip(axes.flat, picture.panels, strict=False):
            _draw(ax, panel)
        figure.savefig(file, format="svg", metadata={**quiet, "Description": _mark(picture)})
    return re.sub(r"[ \t]+\n", "\n", file.getvalue())


def is_current(text: str, picture: Picture) -> bool:
    """Tell whether the text of a file shows a picture's data."""
    return _mark(picture) in text


def _mark(picture: Picture) -> str:
    return f"data {picture.digest}"


def _draw(ax: Axes, panel: Panel) -> None:
    ax.set_facecolor("none")
    own = [curve for curve in panel.series if not curve.peer]
    for i, curve in enumerate(own):
        ax.plot(*zip(*curve.points, strict=True), label=curve.name, **style(i))
    for curve in panel.series:
        if curve.peer and curve.points:
            mark = {"best": "x--", "usual": "+:"}[curve.peer]
            ax.plot(*zip(*curve.points, strict=True), mark, label=curve.name, color=INK, linewidth=1.5)
        if curve.bars:
            _bars(ax, curve)
    if panel.level is not None:
        name, value = panel.level
        ax.axhline(value, color=INK, linewidth=1.8, linestyle=":", label=f"{name}, {value:.4g}")
    _axes(ax, panel)
    beside(ax, *ax.get_legend_handles_labels(), INK)


def _bars(ax: Axes, curve: Series) -> None:
    """Draw from quartile to quartile of each point, in the colour of its curve, which is there."""
    colour = next(line.get_color() for line in ax.get_lines() if line.get_label() == curve.name)
    low, high = zip(*curve.bars, strict=True)
    ax.vlines([n for n, _ in curve.points], low, high, color=colour, linewidth=3, alpha=0.6)


def _axes(ax: Axes, panel: Panel) -> None:
    from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

    ax.set_xscale("log")
    ax.set_yscale("log")
    sizes = sorted({n for curve in panel.series for n, _ in curve.points})
    ax.xaxis.set_major_locator(FixedLocator([float(n) for n in sizes]))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.set_title(panel.title, color=INK, fontsize=10)
    ax.set_xlabel("n", color=INK)
    bars = any(curve.bars for curve in panel.series)
    ax.set_ylabel(f"{panel.upward} (bars: quartiles)" if bars else panel.upward, color=INK)
    ax.tick_params(which="both", colors=INK)
    ax.grid(True, which="major", color=INK, alpha=0.2)
    for side, spine in ax.spines.items():
        spine.set_color(INK)
        spine.set_visible(side in ("left", "bottom"))
