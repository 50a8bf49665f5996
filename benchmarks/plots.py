"""The plots of the README, drawn from result files: SVG beside the figures that they show.

What a plot shows is data first (`Picture`), made from the results by pure functions; `svg` draws it. The file carries
the digest of that data, so that whether it is current can be told without drawing, whatever matplotlib is installed.
Lines, text and axes have colours that are told from white and from near black, and the ground is transparent: one
file serves a light page and a dark one.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from glla.kernels import matmul
from glla.lab.plots import beside, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Run = dict[str, Any]
Points = tuple[tuple[int, float], ...]

DRAWING = 2
"""Part of every digest: a change of how plots look is a new number, so that all are drawn again."""

INK = "#737b85"
"""Of text and axes: 4.3 : 1 against white, 4.4 : 1 against GitHub's dark page."""

SMALLEST_SHOWN = 2
"""Points from which a curve is drawn."""


@dataclass(frozen=True)
class Series:
    """A curve: its name, its points (n, value), and whether it is the peer's, on the CPU."""

    name: str
    points: Points
    peer: bool = False


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

    Parameters
    ----------
    run : dict
        Its newest complete results.
    smalls : sequence of dict
        The results whose small systems are shown, see `benchmarks.readme.smalls`.
    """
    return [products(run), systems(run, smalls)]


BEYOND = frozenset(name for name, variant in matmul.VARIANTS.items() if variant.needs)
"""Variants of the product that need more than OpenGL 3.3."""


def products(run: Run) -> Picture:
    """GFLOP/s of the matrix product against n, each variant, below the fragment ceiling of the same run."""
    ceiling = run["ceilings"]["ceilings"]["fragment_fma"]["value"]
    curves = _variants(run, "matmul", lambda case: case["gflops"])
    peer = _curve(run, "matmul", lambda case: case["flops"] / case["peer"]["seconds"] / 1e9)
    panel = Panel(
        f"Matrix product, operands on the device: {run['renderer']}",
        "GFLOP/s",
        (*curves, Series(f"numpy.matmul, {run['cores']} cores", peer, peer=True)),
        ("fragment multiply-add ceiling", ceiling),
    )
    best = _best(run, "matmul")
    n, rate = best["n"], best["gflops"]
    alt = (
        f"GFLOP/s of each variant of the matrix product against n on {run['renderer']}: at n = {n} the fastest of "
        f"OpenGL 3.3, {best['variant']}, reaches {rate:.4g}, {rate / ceiling:.0%} of the fragment ceiling, and "
        f"numpy.matmul {dict(peer)[n]:.4g} on {run['cores']} cores"
    )
    return Picture("products", alt, (panel,))


def systems(run: Run, smalls: Sequence[Run]) -> Picture:
    """Times of PLU, RREF, solve, and solve of small systems, beside LAPACK."""
    panels = []
    for operation, title in (("plu", "PLU, n x n"), ("rref", "RREF, n x (n + 1)"), ("solve", "solve, n x n")):
        name = next(case["peer"]["name"] for case in run["cases"] if case["operation"] == operation and case["ok"])
        peer = Series(f"{name}, {run['cores']} cores", _curve(run, operation, _peer), peer=True)
        curves = _variants(run, operation, lambda case: case["resident"]["seconds"])
        panels.append(Panel(f"{title}, operands on the device", "seconds", (*curves, peer)))
    threads = [
        Series(f"glla{told(small)}", _curve(small, "small", lambda case: case["end_to_end"]["seconds"]))
        for small in smalls
    ]
    if threads:
        peer = Series("numpy.linalg.solve", _curve(smalls[0], "small", _peer), peer=True)
        panels.append(Panel("solve, from NumPy to NumPy", "seconds", (*threads, peer)))
    ratios = "; ".join(_ratio(run, operation) for operation in ("plu", "rref", "solve"))
    alt = f"Times of PLU, RREF and solve against n on {run['renderer']}, beside LAPACK on the CPU: {ratios}"
    return Picture("systems", alt, tuple(panels))


def told(run: Run) -> str:
    """Say what a software rasteriser's threads were set to, if they were."""
    threads = run["environment"].get("LP_NUM_THREADS")
    return f", LP_NUM_THREADS={threads}" if threads is not None and run["software"] else ""


def _peer(case: dict[str, Any]) -> float:
    seconds: float = case["peer"]["seconds"]
    return seconds


def _variants(run: Run, operation: str, value: Callable[[dict[str, Any]], float]) -> tuple[Series, ...]:
    names = dict.fromkeys(case["variant"] for case in run["cases"] if case["operation"] == operation)
    curves = (Series(name or "glla", _curve(run, operation, value, name)) for name in names)
    return tuple(curve for curve in curves if len(curve.points) >= SMALLEST_SHOWN)


def _curve(run: Run, operation: str, value: Callable[[dict[str, Any]], float], variant: str | None = None) -> Points:
    """Points of one variant, or those that all have in common."""
    points = {
        case["n"]: value(case)
        for case in run["cases"]
        if case["operation"] == operation and case["ok"] and variant in (None, case["variant"])
    }
    return tuple(sorted(points.items()))


def _ratio(run: Run, operation: str) -> str:
    """How much faster than the peer the fastest variant is, at the largest size."""
    best = _best(run, operation)
    return f"{operation} at n = {best['n']} {best['ratio_to_peer']:.3g} times as fast as {best['peer']['name']}"


def _best(run: Run, operation: str) -> dict[str, Any]:
    """Give the fastest case of the largest size; what needs more than OpenGL 3.3 is no fragment shader's doing."""
    cases = [
        case for case in run["cases"] if case["operation"] == operation and case["ok"] and case["variant"] not in BEYOND
    ]
    return max(cases, key=lambda case: (case["n"], case["gflops"]))


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
            ax.plot(*zip(*curve.points, strict=True), "x--", label=curve.name, color=INK, linewidth=1.5)
    if panel.level is not None:
        name, value = panel.level
        ax.axhline(value, color=INK, linewidth=1.8, linestyle=":", label=f"{name}, {value:.4g}")
    _axes(ax, panel)
    beside(ax, *ax.get_legend_handles_labels(), INK)


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
    ax.set_ylabel(panel.upward, color=INK)
    ax.tick_params(which="both", colors=INK)
    ax.grid(True, which="major", color=INK, alpha=0.2)
    for side, spine in ax.spines.items():
        spine.set_color(INK)
        spine.set_visible(side in ("left", "bottom"))
