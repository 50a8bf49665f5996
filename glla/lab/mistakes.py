"""Where a wrong result is wrong: each element's error over its bound, as a picture."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glla.lab.extra import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Float64 = NDArray[np.float64]

RIGHT, UNDEFINED = "#dfe7ef", "#7b1fa2"
"""Colours of an element within its bound, and of one that is no finite number or has no error allowed."""

SHADES = "YlOrRd"
LIGHTEST = 0.35
"""Where in the colours an element begins that is just outside of its bound: it looks different from the right ones."""

MOST = 400
"""Cells on a side of the picture; of a larger matrix a cell is a square of elements, and shows the worst of them."""

CHANNELS = {(0, 0): "r", (0, 1): "g", (1, 0): "b", (1, 1): "a"}


@dataclass(frozen=True, eq=False)
class Mistake:
    """A wrong result."""

    variant: str  # whose
    size: int  # order of the matrices
    matrix: str  # what the elements are of
    # error over bound of each element, wrong above 1; None where it was read from a file, which does not hold them
    ratios: Float64 | None
    words: str  # all of it in words

    @property
    def file_name(self) -> str:
        """Name for its picture."""
        plain = re.sub(r"[^A-Za-z0-9_.=-]+", "-", self.variant).strip("-")
        return f"wrong-{plain}-{self.size}.png"


def off_by_one(arrays: Sequence[Any], c: Any, judged: Callable[[Float64], Float64 | None]) -> str:
    """Say whether a product lacks the first or the last texel of its inner dimension, or has one twice.

    `arrays`: A and B, or A alone for A times its transpose. `judged`: error over bound of each element of a product.
    """
    a = np.asarray(arrays[0], dtype=np.float64)
    b = np.asarray(arrays[1], dtype=np.float64) if len(arrays) > 1 else a.T
    last = a.shape[1] - (a.shape[1] % 2 or 2)
    for (name, first), (fault, sign) in product({"first": 0, "last": last}.items(), FAULTS.items()):
        ratios = judged(c + sign * (a[:, first : first + 2] @ b[first : first + 2]))
        if ratios is not None and (ratios <= 1.0).all():
            return f"one texel of the inner dimension {fault}, the {name} one: an index of a loop is off by one"
    return ""


FAULTS = {"is missing": 1, "is taken twice": -1}


def find(variant: str, size: int, matrix: str, ratios: Float64, cause: str = "") -> Mistake:
    """Say where a result is wrong, and its cause if that is known.

    >>> ratios = np.zeros((4, 4))
    >>> ratios[0, 3] = ratios[2, 1] = 7.0
    >>> find("mine", 4, "C", ratios).words
    'mine, n = 4: 2 of 16 elements of C are wrong; the worst is C[0, 3], 7 times its bound; all lie in channel g'
    """
    wrong = ~(ratios <= 1.0)
    places = np.argwhere(wrong)
    if not len(places):
        words = f"{variant}, n = {size}: each element of {matrix} is within its bound"
        return Mistake(variant, size, matrix, ratios, words)
    row, column = np.unravel_index(np.argmax(np.where(np.isnan(ratios), np.inf, ratios)), ratios.shape)
    worst = f"{ratios[row, column]:.3g} times its bound" if np.isfinite(ratios[row, column]) else "beyond any bound"
    name = matrix if matrix.isalpha() else f"({matrix})"
    words = (
        f"{variant}, n = {size}: {len(places)} of {ratios.size} elements of {matrix} are wrong; "
        f"the worst is {name}[{row}, {column}], {worst}"
    )
    channels = sorted({CHANNELS[i % 2, j % 2] for i, j in places.tolist()}, key="rgba".index)
    if len(channels) < len(CHANNELS) and len(places) > 1:
        words += f"; all lie in channel{'s' if len(channels) > 1 else ''} {' and '.join(channels)}"
    words += f"; {cause}" if cause else ""
    return Mistake(variant, size, matrix, ratios, words)


def colours(ratios: Float64) -> tuple[Float64, float]:
    """Colour each element, as rows of (red, green, blue); and the ratio that has the darkest."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgb

    counted = np.isfinite(ratios) & (ratios > 1.0)
    most = max(float(ratios[counted].max(initial=1.0)), 10.0)
    depth = np.log(np.where(counted, ratios, 1.0)) / np.log(most)
    image: Float64 = colormaps[SHADES](LIGHTEST + (1 - LIGHTEST) * depth)[..., :3]
    image[ratios <= 1.0] = to_rgb(RIGHT)
    image[~np.isfinite(ratios)] = to_rgb(UNDEFINED)
    return image, most


def pooled(ratios: Float64) -> tuple[Float64, int]:
    """Make a large matrix smaller: the worst of each square of elements, and the square's side."""
    side = -(-max(ratios.shape) // MOST)
    height, width = (-(-length // side) for length in ratios.shape)
    padded = np.zeros((height * side, width * side))
    padded[: ratios.shape[0], : ratios.shape[1]] = np.where(np.isnan(ratios), np.inf, ratios)
    return padded.reshape(height, side, width, side).max(axis=(1, 3)), side


def figure(mistake: Mistake) -> Figure:
    """Draw a mistake that holds its ratios."""
    require("compare: a picture of what is wrong", "matplotlib")
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, LogNorm
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    assert mistake.ratios is not None
    cells, side = pooled(mistake.ratios)
    image, most = colours(cells)
    drawn = Figure(figsize=(8.4, 7.6), layout="constrained")
    ax = drawn.subplots()
    extent = (-0.5, cells.shape[1] * side - 0.5, cells.shape[0] * side - 0.5, -0.5)
    ax.imshow(image, interpolation="nearest", extent=extent)
    ax.set_xlabel("column")
    ax.set_ylabel("row")
    ax.set_title(mistake.words.replace("; ", ";\n"), fontsize=11, parse_math=False)
    shades = ListedColormap(colormaps[SHADES](np.linspace(LIGHTEST, 1.0, 256)))
    drawn.colorbar(ScalarMappable(LogNorm(1.0, most), shades), ax=ax, label="error over bound", shrink=0.8)
    names = {RIGHT: "within its bound", UNDEFINED: "no number, or no error allowed"}
    kinds = [Patch(color=colour, label=name) for colour, name in names.items()]
    ax.legend(handles=kinds, loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=2, frameon=False)
    return drawn


def png(mistake: Mistake) -> bytes:
    """Draw a mistake that holds its ratios, as a PNG file."""
    file = io.BytesIO()
    figure(mistake).savefig(file, format="png", dpi=100)
    return file.getvalue()


def save(mistake: Mistake, folder: Path) -> Path:
    """Write the picture into a folder; give its path."""
    path = folder / mistake.file_name
    path.write_bytes(png(mistake))
    return path
