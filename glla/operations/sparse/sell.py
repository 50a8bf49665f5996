"""The format `sell`: tiles of rows, each as wide as its longest row. What unstructured matrices lie in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.operations.sparse.compressed import Compressed, Integers
from glla.operations.sparse.layout import Rows, filled, fitting, in_passes, places, slices, vector
from glla.passes import Draft, Limits, Storage
from glla.passes.layout import Shape
from glla.passes.shader import Define

TILE = 4, 8
"""Texels of y in a tile, high and wide: those that a GPU draws together. Faster than 1 x 8, and no slower than larger
ones, in benchmarks/results/nvidia-h200-pcie-sse2/experiments/2026-11-23-sparse.json."""

TILE_IN_SOFTWARE = 4, 4
"""Those that llvmpipe draws together."""

WASTE = 3
"""A texel is a tile by itself where tiles of `TILE` would hold this many times the entries."""

WINDOW = 1024
"""Rows among which they are sorted by their lengths."""

SORTING = 2
"""Rows are sorted where that saves so many fetches of entries for each texel of y: the pass that puts y back into order
takes as long as one of them, and rows that are no longer neighbours cost another, by the same file."""

SHORT = 1 << 15
"""A column minus its row has 16 bits, sign included, where all of them are less than this from zero."""


@dataclass(frozen=True)
class Sell:
    """A matrix lies in tiles of rows.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    entries : int
        Of the matrix.
    tile : tuple of int
        Texels of y in a tile, high and wide.
    blocks : int
        Of all tiles: one for each entry of the longest row of a tile.
    longest : int
        Entries of the longest row.
    short : bool
        Columns are counted from the own row, in 16 bits; otherwise they are places in x, of 32.
    sorted : bool
        Whether rows lie in another order; then a pass puts y back into order.
    """

    name: ClassVar[str] = "sell"

    shape: Shape
    entries: int
    tile: tuple[int, int]
    blocks: int
    longest: int
    short: bool
    sorted: bool

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Sell:
        """Choose whether rows are sorted, the tile, and how columns are counted."""
        own = vector(rows.shape[0], limits)
        widths, order = _widths(rows.lengths, own), np.arange(rows.shape[0])
        if gains := widths.sum() > rows.entries / 4 + SORTING * widths.size:
            by_length = _order(rows.lengths)
            sorted_widths = _widths(rows.lengths[by_length], own)
            if gains := widths.sum() > sorted_widths.sum() + SORTING * widths.size:
                widths, order = sorted_widths, by_length
        high, wide = TILE_IN_SOFTWARE if limits.software else TILE
        tile = min(high, own.height), min(wide, own.width)
        blocks = int(_of_tiles(widths, tile).sum())
        if 4 * math.prod(tile) * blocks > WASTE * rows.entries:
            tile, blocks = (1, 1), int(widths.sum())
        away = rows.columns - np.repeat(_inverse(order), rows.lengths)
        short = bool(away.min(initial=0) >= -SHORT and away.max(initial=0) < SHORT)
        return Sell(rows.shape, rows.entries, tile, blocks, int(rows.lengths.max(initial=0)), short, bool(gains))

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""
        own, (high, wide), across = vector(self.shape[0], limits), self.tile, self._across(limits)
        entries = Storage(high * -(-max(self.blocks, 1) // across), wide * across)
        slots = {
            "A": fitting("a matrix", high * wide * self.blocks, entries, limits),
            "columns": Storage(entries.height, entries.width, 2 if self.short else 4, dtype="int32"),
            "spans": Storage(own.height, own.width, 2, dtype="int32"),
        }
        if self.sorted:
            slots["order"] = Storage(own.height, own.width, dtype="int32")
        return slots

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """What they hold."""
        slots, own = self.slots(limits), vector(self.shape[0], limits)
        order = _order(rows.lengths) if self.sorted else np.arange(self.shape[0])
        stands, widths = _inverse(order), _widths(rows.lengths[order], own)
        first = self._first_blocks(widths)
        at = self._elements(rows, stands, first, slots["A"].width)
        values = np.zeros(4 * slots["A"].height * slots["A"].width, dtype=np.float32)
        columns = np.zeros(len(values), dtype=np.int16 if self.short else np.int32)
        values[at] = rows.values
        columns[at] = (
            rows.columns - np.repeat(stands, rows.lengths)
            if self.short
            else places(rows.columns, vector(self.shape[1], limits).width)
        )
        texels = {
            "A": filled(values, slots["A"]),
            "columns": filled(columns.view(np.int32), slots["columns"]),
            "spans": filled(np.stack((first, widths), axis=2), slots["spans"]),
        }
        if self.sorted:
            texels["order"] = filled(places(stands, own.width), slots["order"])
        return texels

    def _across(self, limits: Limits) -> int:
        """Blocks side by side in A: a power of two, for A to be about square."""
        (high, wide), most = self.tile, limits.texture_size // self.tile[1]
        return 1 << min((math.isqrt(self.blocks * high // wide)).bit_length(), most.bit_length() - 1)

    def _first_blocks(self, widths: Integers) -> Integers:
        """First block of the tile of each texel of y."""
        of_tiles, (high, wide) = _of_tiles(widths, self.tile), self.tile
        first = np.cumsum(of_tiles).reshape(of_tiles.shape) - of_tiles
        whole: Integers = first.repeat(high, axis=0).repeat(wide, axis=1)[: widths.shape[0], : widths.shape[1]]
        return whole

    def _elements(self, rows: Compressed, stands: Integers, first: Integers, width: int) -> Integers:
        """Where each entry stands among the elements of A, whose texture is so wide."""
        (high, wide), texel = self.tile, stands >> 2
        across, (line, beside) = width // wide, np.divmod(texel, first.shape[1])
        within = 4 * (line % high * width + beside % wide) + (stands & 3)
        block = np.arange(rows.entries) + np.repeat(first.reshape(-1)[texel] - rows.starts[:-1], rows.lengths)
        corner = 4 * (block // across * (high * width) + block % across * wide)
        elements: Integers = corner + np.repeat(within, rows.lengths)
        return elements

    def _defines(self, limits: Limits) -> dict[str, Define]:
        """Defines of ``lib/tiles.glsl``."""
        (high, wide), columns = self.tile, max(1, self.shape[1])
        return {
            "TILE_HEIGHT": high, "TILE_WIDTH": wide, "ACROSS": self._across(limits), "SHORT": int(self.short),
            "COLUMNS": columns,
        }  # fmt: skip

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product."""
        own, other = (vector(length, limits) for length in self.shape)
        defines = {**self._defines(limits), "WIDTH": own.width, "X_WIDTH": other.width}
        inputs = {"A": "A", "columns": "columns", "spans": "spans", "x": x}
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
        own, other = (vector(length, limits) for length in self.shape)
        defines = {
            **self._defines(limits), "Y_VECTOR": own.width, "X_VECTOR": other.width, "SORTED": int(self.sorted),
        }  # fmt: skip
        parts = [({"trips": trips}, defines) for trips in slices(self.longest, limits.loop_trips)]
        return rows.in_passes(draft, "sell", self.slots(limits), limits, parts)


def _order(lengths: Integers) -> Integers:
    """Rows in the order in which they lie: by falling length within windows."""
    window = np.arange(len(lengths)) // WINDOW
    return np.lexsort((-lengths, window))


def _inverse(order: Integers) -> Integers:
    """Where each row stands."""
    stands = np.empty_like(order)
    stands[order] = np.arange(len(order))
    return stands


def _widths(lengths: Integers, own: Storage) -> Integers:
    """Entries of the longest of the four rows of each texel of y."""
    padded = np.zeros((own.height, own.width, 4), dtype=np.int64)
    padded.reshape(-1)[: len(lengths)] = lengths
    found: Integers = padded.max(axis=2)
    return found


def _of_tiles(widths: Integers, tile: tuple[int, int]) -> Integers:
    """Entries of the longest row of each tile."""
    high, wide = (-(-side // of_tile) for side, of_tile in zip(widths.shape, tile, strict=True))
    padded = np.zeros((high * tile[0], wide * tile[1]), dtype=np.int64)
    padded[: widths.shape[0], : widths.shape[1]] = widths
    found: Integers = padded.reshape(high, tile[0], wide, tile[1]).max(axis=(1, 3))
    return found
