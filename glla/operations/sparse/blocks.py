"""The format `blocks`: 2 x 2 blocks that are not all zero, a texel each, block row by block row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.operations.sparse.compressed import Compressed, Integers
from glla.operations.sparse.layout import Rows, Structure, filled, in_passes, many, places, slices, vector
from glla.passes import Draft, Limits, Storage
from glla.passes.layout import Shape


@dataclass(frozen=True)
class Blocks(Structure):
    """A matrix in 2 x 2 blocks."""

    name: ClassVar[str] = "blocks"

    blocks: int  # blocks with an entry
    longest: int  # blocks of the longest block row

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Blocks:
        """Count the blocks."""
        keys = np.unique(_keys(rows))
        counts = np.bincount(keys // _across(rows.shape))
        return Blocks(rows.shape, rows.entries, len(keys), int(counts.max(initial=0)))

    @property
    def _pairs(self) -> int:
        return max(1, -(-self.shape[0] // 4))

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""
        return {
            "A": many("a matrix", self.blocks, limits),
            "columns": many("a matrix", self.blocks, limits, 1, "int32"),
            "pointers": many("a list of rows", self._pairs, limits, dtype="int32"),
        }

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        slots, own = self.slots(limits), _keys(rows)
        keys, which = np.unique(own, return_inverse=True)
        values = np.zeros((self.blocks, 4), dtype=np.float32)
        values[which.reshape(-1), 2 * (rows.rows & 1) + (rows.columns & 1)] = rows.values
        side = _across(rows.shape)
        counts = np.bincount(keys // side, minlength=2 * self._pairs)
        starts = np.concatenate(([0], np.cumsum(counts)))[:-1]
        columns = places(2 * (keys % side), vector(self.shape[1], limits).width)
        return {
            "A": filled(values, slots["A"]),
            "columns": filled(columns, slots["columns"]),
            "pointers": filled(np.stack((starts, counts), axis=1), slots["pointers"]),
        }

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product."""
        slots, own = self.slots(limits), vector(self.shape[0], limits)
        defines = {
            "A_WIDTH": slots["A"].width, "POINTERS": self._pairs, "POINTERS_WIDTH": slots["pointers"].width,
            "WIDTH": own.width,
        }  # fmt: skip
        inputs = {"A": "A", "columns": "columns", "pointers": "pointers", "x": x}
        parts = [({"trips": trips}, defines) for trips in slices(self.longest, limits.loop_trips // 2)]
        return in_passes(draft, "spmv/blocks", inputs, own, parts)

    def draw_rows(self, draft: Draft, limits: Limits, rows: Rows) -> str:
        """Add the passes of the product with a matrix."""
        slots = self.slots(limits)
        defines = {
            "A_WIDTH": slots["A"].width, "POINTERS_WIDTH": slots["pointers"].width,
            "X_VECTOR": vector(self.shape[1], limits).width,
        }  # fmt: skip
        parts = [({"trips": trips}, defines) for trips in slices(self.longest, limits.loop_trips)]
        return rows.in_passes(draft, "blocks", slots, limits, parts)


def _across(shape: Shape) -> int:
    return max(1, (shape[1] + 1) // 2)


def _keys(rows: Compressed) -> Integers:
    """Number of the block of each entry, block row by block row."""
    keys: Integers = (rows.rows >> 1) * _across(rows.shape) + (rows.columns >> 1)
    return keys
