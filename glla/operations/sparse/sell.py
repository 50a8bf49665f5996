"""The format `sell`: rows side by side, cut where they are long, sorted where it pays; for unstructured matrices.

A is a product S B: rows of B are those of A, or pieces of them, in an order that suits a GPU, and S sums them up. A
fragment processes its rows sequentially: a row of a million entries would delay all the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.operations.sparse.compressed import Compressed, Integers
from glla.operations.sparse.layout import Rows, Structure
from glla.operations.sparse.tiles import Tiles, texel_widths
from glla.passes import Draft, Limits, Storage

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
