"""The format `sell`: rows side by side, cut where they are long, sorted where it pays; for unstructured matrices.

A is a product S B: rows of B are those of A, or pieces of them, in an order that suits a GPU, and S sums them up. A
fragment processes its rows sequentially: a row of a million entries would delay all the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.operations.sparse.compressed import Compressed, Integers
from glla.operations.sparse.layout import Rows, Structure, filled, fitting, places, vector
from glla.passes import Draft, Limits, Storage
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape

TILE = 4, 8
"""Texels of y in a tile, high and wide: those that a GPU shades together. Faster than 1 x 8, and no slower than larger
ones, in benchmarks/results/nvidia-h200-pcie-sse2/experiments/2026-11-23-sparse.json."""

TILE_IN_SOFTWARE = 4, 4
"""Those that llvmpipe shades together."""

WASTE = 3
"""A texel is a tile by itself if larger tiles would have this many times the entries."""

SHORT = 1 << 15
"""Columns are stored relative to their rows in 16 bits, sign included, if all differences are below this."""


@dataclass(frozen=True)
class Tiles:
    """Layout of the rows of a matrix, in an order in which they were put."""

    shape: Shape
    tile: tuple[int, int]  # texels of y in a tile, high and wide
    blocks: int  # of all tiles: one for each entry of the longest row of a tile
    longest: int  # entries of the longest row
    short: bool  # columns are counted from the own row, in 16 bits; otherwise they are places in x, of 32

    @staticmethod
    def of(rows: Compressed, of_rows: Integers, limits: Limits) -> Tiles:
        """Choose the tile, and how columns are counted; `of_rows`: places of the rows."""
        widths = texel_widths(rows.lengths, of_rows, limits)
        high, wide = TILE_IN_SOFTWARE if limits.software else TILE
        tile = min(high, widths.shape[0]), min(wide, widths.shape[1])
        blocks = int(_tile_widths(widths, tile).sum())
        if 4 * math.prod(tile) * blocks > WASTE * rows.entries:
            tile, blocks = (1, 1), int(widths.sum())
        away = rows.columns - np.repeat(of_rows, rows.lengths)
        short = bool(away.min(initial=0) >= -SHORT and away.max(initial=0) < SHORT)
        return Tiles(rows.shape, tile, blocks, int(rows.lengths.max(initial=0)), short)

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the rows."""
        own, (high, wide), across = vector(self.shape[0], limits), self.tile, self._across(limits)
        entries = Storage(high * -(-max(self.blocks, 1) // across), wide * across)
        return {
            "A": fitting("a matrix", high * wide * self.blocks, entries, limits),
            "columns": Storage(entries.height, entries.width, 2 if self.short else 4, dtype="int32"),
            "spans": Storage(own.height, own.width, 2, dtype="int32"),
        }

    def texels(self, rows: Compressed, of_rows: Integers, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        slots, widths = self.slots(limits), texel_widths(rows.lengths, of_rows, limits)
        first = self._first_blocks(widths)
        at = self._elements(rows, of_rows, first, slots["A"].width)
        values = np.zeros(4 * slots["A"].height * slots["A"].width, dtype=np.float32)
        values[at] = rows.values
        columns = np.zeros(len(values), dtype=np.int16 if self.short else np.int32)
        if self.short:
            columns[at] = rows.columns - np.repeat(of_rows, rows.lengths)
        else:
            columns[at] = places(rows.columns, vector(self.shape[1], limits).width)
        return {
            "A": filled(values, slots["A"]),
            "columns": filled(columns.view(np.int32), slots["columns"]),
            "spans": filled(np.stack((first, widths), axis=2), slots["spans"]),
        }

    def draw(self, draft: Draft, limits: Limits, textures: Mapping[str, str], x: str, y: str) -> str:
        """Add the pass of the product with a vector, from the slots of the textures and of x; give the slot of y."""
        own, other = (vector(length, limits) for length in self.shape)
        defines = {
            **self._defines(limits), "COLUMNS": max(1, self.shape[1]), "WIDTH": own.width, "X_WIDTH": other.width,
        }  # fmt: skip
        result = draft.slot(y, own)
        draft.draw("spmv/sell", {**textures, "x": x}, result, defines=defines)
        return result

    def draw_rows(self, draft: Draft, limits: Limits, textures: Mapping[str, str], given: Rows, y: str) -> str:
        """Add that of the product with a matrix."""
        own, other = (vector(length, limits) for length in self.shape)
        defines = {
            **self._defines(limits), **given.defines(limits), "Y_VECTOR": own.width, "X_VECTOR": other.width,
        }  # fmt: skip
        result = draft.slot(y, given.storage(self.shape[0], limits))
        draft.draw("spmm/sell", {**textures, "X": given.x}, result, defines=defines)
        return result

    def _defines(self, limits: Limits) -> dict[str, Define]:
        """Defines of ``lib/tiles.glsl``."""
        high, wide = self.tile
        return {
            "TILE_HEIGHT": high, "TILE_WIDTH": wide, "ACROSS": self._across(limits), "SHORT": int(self.short),
            "LONGEST": self.longest,
        }  # fmt: skip

    def _across(self, limits: Limits) -> int:
        """Blocks side by side in A: a power of two, for A to be about square."""
        (high, wide), most = self.tile, limits.texture_size // self.tile[1]
        return 1 << min(math.isqrt(self.blocks * high // wide).bit_length(), most.bit_length() - 1)

    def _first_blocks(self, widths: Integers) -> Integers:
        """First block of the tile of each texel of y."""
        of_tiles, (high, wide) = _tile_widths(widths, self.tile), self.tile
        first = np.cumsum(of_tiles).reshape(of_tiles.shape) - of_tiles
        whole: Integers = first.repeat(high, axis=0).repeat(wide, axis=1)[: widths.shape[0], : widths.shape[1]]
        return whole

    def _elements(self, rows: Compressed, of_rows: Integers, first: Integers, width: int) -> Integers:
        """Place of each entry among the elements of A, in a texture of this width."""
        (high, wide), texel = self.tile, of_rows >> 2
        across, (line, beside) = width // wide, np.divmod(texel, first.shape[1])
        within = 4 * (line % high * width + beside % wide) + (of_rows & 3)
        block = np.arange(rows.entries) + np.repeat(first.reshape(-1)[texel] - rows.starts[:-1], rows.lengths)
        corner = 4 * (block // across * (high * width) + block % across * wide)
        elements: Integers = corner + np.repeat(within, rows.lengths)
        return elements


def texel_widths(lengths: Integers, of_rows: Integers, limits: Limits) -> Integers:
    """Entries of the longest of the four rows of each texel of y."""
    own = vector(len(lengths), limits)
    padded = np.zeros((own.height, own.width, 4), dtype=np.int64)
    padded.reshape(-1)[of_rows] = lengths
    found: Integers = padded.max(axis=2)
    return found


def _tile_widths(widths: Integers, tile: tuple[int, int]) -> Integers:
    """Entries of the longest row of each tile."""
    high, wide = (-(-side // of_tile) for side, of_tile in zip(widths.shape, tile, strict=True))
    padded = np.zeros((high * tile[0], wide * tile[1]), dtype=np.int64)
    padded[: widths.shape[0], : widths.shape[1]] = widths
    found: Integers = padded.reshape(high, tile[0], wide, tile[1]).max(axis=(1, 3))
    return found


PIECE = 32
"""Entries of a row at most; longer ones are split. Twice as fast as 128 for rows by a power law, in
benchmarks/results/nvidia-h200-pcie-sse2/experiments/2026-11-23-sell.json."""

SORTING = 2
"""Fetches of entries, for each texel of y, that sorting must save; else rows stay in order. The pass that reorders y
takes as long as one fetch, and rows that are no longer neighbours cost another, by
benchmarks/results/nvidia-h200-pcie-sse2/experiments/2026-11-23-sparse.json."""


@dataclass(frozen=True)
class Sell(Structure):
    """A matrix in tiles of rows."""

    name: ClassVar[str] = "sell"

    tiles: Tiles  # its rows, or their pieces
    sorted: bool  # whether those are in another order
    sums: Sell | None  # what sums up pieces, and puts rows back into order; None where rows are whole, and in order

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Sell:
        """Choose whether rows are cut, whether they are sorted, and their layout."""
        pieces = _cut(rows, limits)
        places = np.arange(pieces.shape[0])
        widths = texel_widths(pieces.lengths, places, limits)
        gains = False
        if widths.sum() > pieces.entries / 4 + SORTING * widths.size:
            by_length = _sorted(pieces.lengths)
            saved = widths.sum() - texel_widths(pieces.lengths, by_length, limits).sum()
            gains = bool(saved > SORTING * widths.size)
            places = by_length if gains else places
        sums = Sell.of(_sums(rows, pieces, places), limits) if gains or pieces is not rows else None
        return Sell(rows.shape, rows.entries, Tiles.of(pieces, places, limits), gains, sums)

    @property
    def tallest(self) -> int:
        """Elements of x or y, or pieces of rows."""
        return max(*self.shape, self.tiles.shape[0])

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""
        slots = self.tiles.slots(limits)
        if self.sums is not None:
            slots |= {f"{name}_of_sums": storage for name, storage in self.sums.slots(limits).items()}
        return slots

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        pieces = _cut(rows, limits)
        places = _sorted(pieces.lengths) if self.sorted else np.arange(pieces.shape[0])
        texels = self.tiles.texels(pieces, places, limits)
        if self.sums is not None:
            of_sums = self.sums.texels(_sums(rows, pieces, places), limits)
            texels |= {f"{name}_of_sums": values for name, values in of_sums.items()}
        return texels

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product."""
        for number, (tiles, textures) in enumerate(self._factors(limits)):
            x = tiles.draw(draft, limits, textures, x, f"y_{number}")
        return x

    def draw_rows(self, draft: Draft, limits: Limits, rows: Rows) -> str:
        """Add the passes of the product with a matrix."""
        y = rows.x
        for number, (tiles, textures) in enumerate(self._factors(limits)):
            y = tiles.draw_rows(draft, limits, textures, Rows(y, rows.quads, tiles.shape), f"Y_{number}")
        return y

    def _factors(self, limits: Limits) -> list[tuple[Tiles, dict[str, str]]]:
        """Those of A, the last one first, with the slots of their textures."""
        own = self.tiles, {name: name for name in self.tiles.slots(limits)}
        if self.sums is None:
            return [own]
        others = self.sums._factors(limits)
        return [own, *((tiles, {name: f"{slot}_of_sums" for name, slot in slots.items()}) for tiles, slots in others)]


def _counts(lengths: Integers, limits: Limits) -> Integers:
    """Pieces of each row."""
    most = min(PIECE, limits.loop_trips)
    return -(-lengths // most)


def _cut(rows: Compressed, limits: Limits) -> Compressed:
    """Rows as they are if all are short; else cut into pieces, those of a row of equal lengths, give or take one."""
    counts = _counts(rows.lengths, limits)
    if counts.max(initial=0) <= 1:
        return rows
    first = np.cumsum(counts) - counts  # piece of each row
    row = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(row)) - first[row]
    starts = rows.starts[row] + number * rows.lengths[row] // counts[row]
    return Compressed((len(row), rows.shape[1]), np.concatenate((starts, rows.starts[-1:])), rows.columns, rows.values)


def _sums(rows: Compressed, pieces: Compressed, places: Integers) -> Compressed:
    """Matrix of ones that sums up the pieces of each row; `places`: those of the pieces."""
    starts = np.arange(rows.shape[0] + 1)
    if pieces is not rows:
        starts = np.searchsorted(pieces.starts, rows.starts)
    return Compressed((rows.shape[0], pieces.shape[0]), starts, places, np.ones(len(places), dtype=np.float32))


def _sorted(lengths: Integers) -> Integers:
    """Place of each row after a stable sort by falling length."""
    places = np.empty(len(lengths), dtype=np.int64)
    places[np.argsort(-lengths, kind="stable")] = np.arange(len(lengths))
    return places
