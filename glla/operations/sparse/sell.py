"""The format `sell`: slices of rows, sorted by their lengths within windows. What unstructured matrices lie in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.operations.sparse.compressed import Compressed, Integers
from glla.operations.sparse.layout import Rows, filled, in_passes, many, places, slices, vector
from glla.passes import Draft, Limits, Storage
from glla.passes.layout import Shape

TALL, LOW = 32, 4
"""Rows of a slice: usually, and for matrices whose rows differ so much in length that tall slices are mostly zeros."""

WINDOW = 1024
"""Rows of a window; rows are sorted by length within it."""

SORTED_FROM = 1.25
"""Rows are sorted by length if that makes all slices together smaller by at least this factor."""

WASTE = 3
"""Slices have LOW rows if TALL ones would hold more than this many times the matrix's entries."""


@dataclass(frozen=True)
class Sell:
    """A matrix lies in slices of rows.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    entries : int
        Of the matrix.
    slice : int
        Rows of a slice, a multiple of 4.
    filled : int
        Texels of all slices.
    longest : int
        Entries of the longest row.
    sorted : bool
        Whether rows lie in another order; then a pass puts y back into order.
    """

    name: ClassVar[str] = "sell"

    shape: Shape
    entries: int
    slice: int
    filled: int
    longest: int
    sorted: bool

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Sell:
        """Choose the height of slices, and whether rows are sorted."""
        tall, low = (_texels(_widths(rows.lengths[_order(rows.lengths)], height), height) for height in (TALL, LOW))
        height = LOW if 4 * tall > WASTE * max(rows.entries, 1) and tall > low else TALL
        sorted_texels = low if height == LOW else tall
        plain = _texels(_widths(rows.lengths, height), height)
        gains = rows.shape[0] > TALL and plain > SORTED_FROM * sorted_texels
        return Sell(
            rows.shape, rows.entries, height, sorted_texels if gains else plain, int(rows.lengths.max(initial=0)), gains
        )

    @property
    def _slices(self) -> int:
        return max(1, -(-self.shape[0] // self.slice))

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""
        slots = {
            "A": many("a matrix", self.filled, limits),
            "places": many("a matrix", self.filled, limits, dtype="int32"),
            "slices": many("a list of slices", self._slices, limits, 2, "int32"),
        }
        if self.sorted:
            own = vector(self.shape[0], limits)
            slots["order"] = Storage(own.height, own.width, dtype="int32")
        return slots

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """What they hold."""
        slots = self.slots(limits)
        order = _order(rows.lengths) if self.sorted else np.arange(self.shape[0])
        stands = np.empty_like(order)  # where each row stands
        stands[order] = np.arange(len(order))
        widths = _widths(rows.lengths[order], self.slice)
        starts = np.concatenate(([0], np.cumsum(widths)))[:-1] * (self.slice // 4)
        own = stands[rows.rows]
        number = np.arange(rows.entries) - rows.starts[rows.rows]  # of each entry in its row
        texel = starts[own // self.slice] + number * (self.slice // 4) + own % self.slice // 4
        values = np.zeros((self.filled, 4), dtype=np.float32)
        found = np.zeros((self.filled, 4), dtype=np.int32)
        values[texel, own & 3] = rows.values
        found[texel, own & 3] = places(rows.columns, vector(self.shape[1], limits).width)
        texels = {"A": filled(values, slots["A"]), "places": filled(found, slots["places"])}
        texels["slices"] = filled(np.stack((starts, widths), axis=1), slots["slices"])
        if self.sorted:
            texels["order"] = filled(places(stands, slots["order"].width), slots["order"])
        return texels

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product."""
        slots, own = self.slots(limits), vector(self.shape[0], limits)
        defines = {
            "SLICE": self.slice // 4, "SLICES": self._slices, "SLICES_WIDTH": slots["slices"].width,
            "A_WIDTH": slots["A"].width, "WIDTH": own.width,
        }  # fmt: skip
        inputs = {"A": "A", "places": "places", "slices": "slices", "x": x}
        parts = [({"trips": trips}, defines) for trips in slices(self.longest, limits.loop_trips)]
        made = in_passes(draft, "spmv/sell", inputs, own, parts)
        if not self.sorted:
            return made
        result = draft.slot("y", own)
        draft.draw(
            "spmv/gather", {"x": made, "places": "order"}, result, defines={"WIDTH": own.width, "ROWS": self.shape[0]}
        )
        return result

    def draw_rows(self, draft: Draft, limits: Limits, rows: Rows) -> str:
        """Add the passes of the product with a matrix."""
        slots, (own, other) = self.slots(limits), (vector(length, limits) for length in self.shape)
        defines = {
            "SLICE": self.slice // 4, "SLICES_WIDTH": slots["slices"].width, "A_WIDTH": slots["A"].width,
            "Y_VECTOR": own.width, "X_VECTOR": other.width, "SORTED": int(self.sorted),
        }  # fmt: skip
        parts = [({"trips": trips}, defines) for trips in slices(self.longest, limits.loop_trips)]
        return rows.in_passes(draft, "sell", slots, limits, parts)


def _order(lengths: Integers) -> Integers:
    """Rows in the order in which they lie: by falling length within windows."""
    window = np.arange(len(lengths)) // WINDOW
    return np.lexsort((-lengths, window))


def _widths(lengths: Integers, height: int) -> Integers:
    """Entries of the longest row of each slice, rows being in order."""
    if not len(lengths):
        return np.zeros(1, dtype=np.int64)
    return np.maximum.reduceat(lengths, np.arange(0, len(lengths), height))


def _texels(widths: Integers, height: int) -> int:
    return int(widths.sum()) * (height // 4)
