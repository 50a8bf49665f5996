"""Pictures of a trace: for each pass its inputs, its targets, and the region drawn.

Matrices are heat maps in one scale for the whole trace; other textures (records of pivots, candidates, strips) show
their channels side by side, each in a scale of its own. Grey is what no pass has drawn yet.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from glla.display.colours import CHANGED, TEXELS, UNDRAWN
from glla.errors import TraceError
from glla.gl.recorder import Recorder, TracedPass
from glla.lab.plots import signed
from glla.operations.record import Float32
from glla.passes import Region, Slot, Storage
from glla.passes.glsl import find as shaders

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize

MOST = 500
"""Pictures of one trace; drawing one takes longer than most passes."""

SIZE, DPI = (14.0, 6.75), 80
"""Inches, and pixels for each."""

Box = tuple[float, float, float, float]
"""Left, bottom, width and height, as parts of the picture."""

LEFT = (0.028, 0.465)
"""Where what is read begins, and what is drawn."""

BOTTOM, HEIGHT, LARGE, SMALL = 0.145, 0.58, 0.28, 0.1
BAR: Box = (0.9, BOTTOM, 0.01, HEIGHT)
"""The colour bar; its numbers and its label stand at its right, and take up to 80 pixels."""

READ, DRAWN, NOTHING = "#1f6f8b", CHANGED, UNDRAWN
"""Colours: of what is read, of what is drawn, of what no pass has drawn yet."""

SMALL_PANELS = 4
"""Textures shown beside the largest one; a pass has up to 8 targets."""

NUMBERED, NUMBERED_SMALL = 10, 8
"""Cells on a side up to which a panel has its numbers written into it."""

GRID = 64
"""Texels on a side up to which their borders are drawn."""


def words(one: TracedPass) -> str:
    """Summary of a pass: the first sentence of its shader's header."""
    if one.draw is None:
        return "A texture, copied row by row into a buffer for uniform blocks"
    return shaders.summary(one.shader, one.defines)


def title(one: TracedPass) -> str:
    """Name a pass."""
    return f"{one.operation}   pass {one.number + 1} of {len(one.plan.passes)}:  {one.shader}"


def drawn(trace: Recorder) -> list[TracedPass]:
    """Records that have a picture: steps of the device, without work of the host and transfers."""
    return [one for one in trace.passes if one.on_device]


def pictures(trace: Recorder) -> Iterator[bytes]:
    """Draw every pass, as PNG; see `drawn`. Raises TraceError: there is nothing to draw, or too much."""
    passes = drawn(trace)
    if not passes:
        raise TraceError("trace: has no passes to draw; run something in its with block")
    if any(one.values is None for one in passes):
        raise TraceError("trace: has no values to draw; make it with glla.trace(values=True), or save it as .json")
    if len(passes) > MOST:
        raise TraceError(
            f"trace: at most {MOST} passes can be drawn, got {len(passes)}; take a smaller matrix, or save it as .json"
        )
    norm = _scale(passes)
    return (_picture(one, norm) for one in passes)


def _scale(passes: Sequence[TracedPass]) -> Normalize:
    """One scale for all matrices, symmetric about 0; the largest two in a hundred entries leave it."""
    from matplotlib.colors import FuncNorm

    matrices = [
        np.abs(array[np.isfinite(array)])
        for one in passes
        for arrays in (one.reads or {}, one.values or {})
        for slot, array in arrays.items()
        if _is_matrix(_lying(one.plan.slots[slot], array))
    ]
    entries = np.concatenate(matrices) if matrices else np.ones(1)
    entries = entries[entries > 0]
    most = float(np.percentile(entries, 98)) if entries.size else 1.0
    root = (lambda x: np.sign(x) * np.sqrt(np.abs(x)), lambda y: y * np.abs(y))  # small entries show, as in pages
    return FuncNorm(root, -most, most)


def _lying(slot: Slot, array: Float32) -> Storage:
    """Texture of a slot, or one with the contents of a buffer."""
    return slot if isinstance(slot, Storage) else Storage(array.shape[0], array.shape[1], math.prod(array.shape[2:]))


def _is_matrix(storage: Storage) -> bool:
    """Packed, or raw: one element to a texel."""
    return storage.shape is not None or (storage.channels == 1 and storage.height * storage.width > 1)


@dataclass(frozen=True)
class _Panel:
    """A texture of a pass: its name, its contents, and the region drawn, if it is drawn."""

    label: str
    storage: Storage
    array: Float32
    region: Region | None

    @property
    def is_matrix(self) -> bool:
        return _is_matrix(self.storage)

    @property
    def turned(self) -> bool:
        """A row of texels that are no part of a matrix is shown as a column, a texel to a line."""
        return not self.is_matrix and self.storage.height == 1

    @property
    def cells(self) -> Float32:
        """Values shown, in two dimensions."""
        if self.array.ndim == 2:
            return self.array
        height, width, channels = self.array.shape
        return self.array.reshape((width, channels) if self.turned else (height, width * channels))

    @property
    def texel(self) -> tuple[int, int]:
        """Rows and columns of cells in a texel."""
        if self.storage.shape is not None:
            return 2, 2
        return 1, self.storage.channels

    @property
    def outline(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the region, in cells; the half texel beyond an odd side is left out."""
        assert self.region is not None
        region = self.region
        if self.turned:
            region = Region(region.y, region.x, region.height, region.width)
        high, wide = self.texel
        rows, columns = self.cells.shape
        top, left = region.y * high, region.x * wide
        bottom, right = min(rows, top + region.height * high), min(columns, left + region.width * wide)
        return left - 0.5, top - 0.5, right - left, bottom - top


def _panels(one: TracedPass) -> tuple[list[_Panel], list[_Panel]]:
    """Textures read and textures drawn, the largest first."""

    def panels(labels: Mapping[str, str], arrays: Mapping[str, Float32], region: Region | None) -> list[_Panel]:
        made = [
            _Panel(label, _lying(one.plan.slots[slot], arrays[slot]), arrays[slot], region)
            for slot, label in labels.items()
        ]
        return sorted(made, key=lambda panel: (not panel.is_matrix, -panel.array.size))

    reads: dict[str, list[str]] = {}
    for name, slot in one.inputs.items():
        reads.setdefault(slot, []).append(name)
    labels = {slot: slot if names == [slot] else f"{', '.join(names)} = {slot}" for slot, names in reads.items()}
    drawn = panels({slot: slot for slot in one.outputs}, one.values or {}, one.region)
    return panels(labels, one.reads or {}, None), drawn


def _picture(one: TracedPass, norm: Normalize) -> bytes:
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, dpi=DPI, facecolor="white")
    figure.text(0.015, 0.955, title(one), fontsize=15, weight="bold", va="center")
    figure.text(
        0.015, 0.885, "\n".join(textwrap.wrap(words(one) + ".", 125)), fontsize=12, va="center", color="#333333"
    )
    figure.text(0.015, 0.055, _foot(one), fontsize=9.5, va="center", color="#555555", linespacing=1.5)
    for panels, colour, verb, left in zip(_panels(one), (READ, DRAWN), ("reads", "draws"), LEFT, strict=True):
        for panel, box in zip(panels, _boxes(left, panels), strict=False):
            _draw(figure.add_axes(box), panel, norm, colour, verb)
        hidden = len(panels) - 1 - SMALL_PANELS
        if hidden > 0:
            figure.text(
                left + LARGE + 0.03, BOTTOM - 0.05, f"{verb} {hidden} more like these", fontsize=9, color=colour
            )
    bar = figure.colorbar(ScalarMappable(norm, signed()), cax=figure.add_axes(BAR), extend="both")
    bar.set_label("entries of matrices", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    file = BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def _boxes(left: float, panels: Sequence[_Panel]) -> Iterator[Box]:
    """Places of panels, alike in every picture: a large one, and up to `SMALL_PANELS` in a column beside it.

    Two matrices, operands of one rank, stand one above the other.
    """
    gap = 0.095
    if len(panels) == 2 and all(panel.is_matrix for panel in panels):
        half = (HEIGHT - gap) / 2
        yield (left, BOTTOM + half + gap, LARGE, half)
        yield (left, BOTTOM, LARGE, half)
        return
    yield (left, BOTTOM, LARGE, HEIGHT)
    others = min(len(panels) - 1, SMALL_PANELS)
    height = (HEIGHT + gap) / max(others, 2) - gap
    for place in range(others):
        yield (left + LARGE + 0.03, BOTTOM + HEIGHT - place * (height + gap) - height, SMALL, height)


def settings(one: TracedPass) -> dict[str, str]:
    """Values that a pass was given, with the number of its step where it has one."""
    step = {} if one.draw is None or not one.draw.step else {"step": one.draw.step}
    return {name: str(value) for name, value in {**one.uniforms, **step}.items()}


def _foot(one: TracedPass) -> str:
    unit = "GPU" if one.gpu is not None else "wall"
    given = "  ".join(f"{name} = {value}" for name, value in {**one.defines, **settings(one)}.items())
    where = f"draws texels {one.region} of {', '.join(one.outputs)}; {1e6 * one.seconds:.0f} µs ({unit} time)"
    return (
        f"{where}    {textwrap.shorten(given, 100, placeholder=' ...')}\n"
        "outlined: what this pass draws    grey: no pass has drawn there yet    grey lines: borders of texels"
    )


def _draw(ax: Axes, panel: _Panel, norm: Normalize, colour: str, verb: str) -> None:
    from matplotlib import colormaps
    from matplotlib.ticker import MaxNLocator

    cells = panel.cells
    if panel.is_matrix:
        image = ax.imshow(cells, cmap=signed().with_extremes(bad=NOTHING), norm=norm, interpolation="nearest")
        ax.xaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
    else:
        own, finite = colormaps["Greens"].with_extremes(bad=NOTHING), cells[np.isfinite(cells)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        pale = high + (high - low) * 0.6 + 1e-30  # so that the numbers can be read
        image = ax.imshow(cells, cmap=own, interpolation="nearest", vmin=low, vmax=pale)
        ax.set_xticks(range(cells.shape[1]) if cells.shape[1] <= panel.storage.channels else [])
        ax.set_xticklabels(["r", "g", "b", "a"][: len(ax.get_xticks())])
        ax.set_aspect("auto")
        ax.set_box_aspect(min(1.5, max(0.16, 0.8 * cells.shape[0] / cells.shape[1])))
        ax.set_anchor("N")
    what = "x".join(map(str, panel.storage.shape or (panel.storage.height, panel.storage.width)))
    unit = "" if panel.storage.shape is not None else " texels"
    ax.set_title(f"{verb} {panel.label}\n{what}{unit}", color=colour, fontsize=11)
    ax.tick_params(labelsize=8, length=0)
    ax.yaxis.set_major_locator(MaxNLocator(10, integer=True, min_n_ticks=1))
    _draw_texels(ax, panel)
    large = ax.get_position().width > SMALL
    if max(cells.shape) <= (NUMBERED if large else NUMBERED_SMALL):
        _write_numbers(ax, cells, image, 3 if large else 2)
    for spine in ax.spines.values():
        spine.set_color(colour)
    if panel.region is not None:
        from matplotlib.patches import Rectangle

        left, top, width, height = panel.outline
        ax.add_patch(Rectangle((left, top), width, height, fill=False, color=DRAWN, linewidth=3.5, clip_on=False))


def _draw_texels(ax: Axes, panel: _Panel) -> None:
    rows, columns = panel.cells.shape
    high, wide = panel.texel
    if max(rows / high, columns / wide) > GRID:
        return
    lines: Any = {"color": TEXELS, "linewidth": 0.6}
    for row in range(high, rows, high):
        ax.axhline(row - 0.5, **lines)
    for column in range(wide, columns, wide):
        ax.axvline(column - 0.5, **lines)


def _write_numbers(ax: Axes, cells: Float32, image: Any, digits: int) -> None:
    size = 10.0 if cells.size <= 16 else 7.0
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            text = f"{value:.{digits}g}"
            ax.text(column, row, text, ha="center", va="center", fontsize=size, color="white" if dark else "black")
