"""The picture of `glla demo`: a PLU factorisation in progress, and a photograph recovered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, asarray
from glla.display.colours import CHANGED
from glla.gl import Device
from glla.lab import plots
from glla.operations.elimination import pivot, plu
from glla.passes import resident

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUARTERS = 4
LEAST = 5
"""Per cent of the entries that are as white as 0; the others differ by the logarithm of their magnitude."""


TICKS = (-100, -10, -1, 0, 1, 10, 100)


def factorisation(device: Device, a: NDArray[np.float32]) -> list[tuple[int, NDArray[np.float32]]]:
    """Factor a square matrix again and again, each time a quarter further.

    Returns (int, ndarray): columns eliminated, and the matrix as it is then: L and U in their places, the rest still to
    do.
    """
    steps, matrix, found = pivot.steps((len(a), len(a))), asarray(a, device), [(0, a)]
    for stop in sorted({round(steps * quarter / QUARTERS) for quarter in range(1, QUARTERS + 1)} - {0}):
        plan = plu.plan(resident(a.shape), device.limits, variant="rank2", stop=stop)
        results = device.run(plan, A=matrix.texture)
        found.append((min(2 * stop, len(a)), Array(device, results["LU"], matrix.shape).numpy()))
    return found


def draw(
    path: Path,
    renderer: str,
    stages: Sequence[tuple[int, NDArray[np.float32]]],
    photographs: Sequence[tuple[str, NDArray[Any]]],
) -> None:
    """Write the picture.

    `path`: A PNG file. `renderer`: the device, for the title. `stages`, (int, ndarray): from `factorisation`.
    `photographs`, (str, ndarray): title and grey levels; a quarter of each is shown, from an eighth below the top on.
    """
    n = len(stages[0][1])
    recovered = (
        "A detail of the photograph X, its columns blurred by a known matrix B, and recovered by solving B X = Y"
    )
    with plots.drawn(path, (16, 9)) as figure:
        upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.25))
        upper.suptitle(f"A photograph as a {n} x {n} matrix A, and its PLU factorisation on {renderer}", fontsize=14)
        _draw_stages(upper, stages)
        lower.suptitle(recovered, fontsize=14)
        for ax, (title, grey) in zip(lower.subplots(1, len(photographs)), photographs, strict=True):
            n = len(grey)  # the half of the rows and of the columns that has the face
            detail = grey[n // 8 : n // 8 + n // 2, n // 4 : n // 4 + n // 2]
            ax.imshow(detail, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
            ax.set_title(title)
            ax.set_axis_off()


def _draw_stages(figure: Any, stages: Sequence[tuple[int, NDArray[np.float32]]]) -> None:
    from matplotlib.colors import SymLogNorm

    magnitudes = np.abs(np.concatenate([values.ravel() for _, values in stages]))
    low, high = np.percentile(magnitudes[magnitudes > 0], (LEAST, 99.9))
    scale = SymLogNorm(low, 0.1, vmin=-high, vmax=high)
    axes = figure.subplots(1, len(stages))
    for ax, (done, values) in zip(axes, stages, strict=True):
        image = ax.imshow(values, cmap=plots.signed(), norm=scale, interpolation="nearest")
        _draw_frontier(ax, done, len(values))
        ax.set_title(f"{done} of {len(values)} columns eliminated" if done else "A")
        ax.set_xticks([])
        ax.set_yticks([])
    figure.colorbar(image, ax=axes, label="an entry", extend="both", pad=0.01, ticks=TICKS, format="%g")


def _draw_frontier(ax: Axes, done: int, n: int) -> None:
    """Outline the trailing matrix, and part L from U."""
    if done == 0:
        return
    edge, last = done - 0.5, n - 0.5
    ax.plot([-0.5, edge], [-0.5, edge], color=CHANGED, linewidth=1.2, linestyle=":")
    _label(ax, "L", done * 0.3, done * 0.7)
    _label(ax, "U", done * 0.7, done * 0.3)
    if done < n:
        ax.plot([edge, last], [edge, edge], color=CHANGED, linewidth=2.5)
        ax.plot([edge, edge], [edge, last], color=CHANGED, linewidth=2.5)
        _label(ax, "to do", (done + n) / 2, (done + n) / 2)


def _label(ax: Axes, text: str, x: float, y: float) -> None:
    from matplotlib.patheffects import withStroke

    outline = [withStroke(linewidth=3, foreground="black")]
    ax.text(x, y, text, color="white", fontsize=14, ha="center", va="center", weight="bold", path_effects=outline)
