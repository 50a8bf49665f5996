"""Formats of single entries: `pointers`, row by row with a pointer to each row, as Bolz et al. have it; and `points`.

An entry of `points` is drawn as a point and added by blending, as Krüger and Westermann have it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.errors import LimitError
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.layout import Rows, Structure, filled, in_passes, many, places, slices, vector
from glla.passes import Draft, Limits, Storage

MOST_COLUMNS = 1 << 24
"""Columns at most: a column is stored beside its value as a float32, which is exact up to here."""


@dataclass(frozen=True)
class Pointers(Structure):
    """A matrix stored row by row."""

    name: ClassVar[str] = "pointers"

    longest: int  # entries of the longest row

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Pointers:
        """Find the longest row. Raises LimitError: there are more columns than float32 counts."""
        if rows.shape[1] > MOST_COLUMNS:
            raise LimitError(
                f"sparse: pointers hold columns as float32, {MOST_COLUMNS} at most, got {rows.shape[1]}; use sell",
                rows.shape[1],
                MOST_COLUMNS,
            )
        return Pointers(rows.shape, rows.entries, int(rows.lengths.max(initial=0)))

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""
        return {
            "A": many("a matrix", self.entries, limits, 2),
            "pointers": many("a list of rows", self.shape[0], limits, 2, "int32"),
        }

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        slots = self.slots(limits)
        entries = np.stack((rows.values, rows.columns.astype(np.float32)), axis=1)
        pointers = np.stack((rows.starts[:-1], rows.lengths), axis=1)
        return {"A": filled(entries, slots["A"]), "pointers": filled(pointers, slots["pointers"])}

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product."""
        slots, (own, other) = self.slots(limits), (vector(length, limits) for length in self.shape)
        defines = {
            "A_WIDTH": slots["A"].width, "POINTERS_WIDTH": slots["pointers"].width, "ROWS": self.shape[0],
            "WIDTH": own.width, "X_WIDTH": other.width,
        }  # fmt: skip
        parts = [({"trips": trips}, defines) for trips in slices(self.longest, limits.loop_trips // 4)]
        return in_passes(draft, "spmv/pointers", {"A": "A", "pointers": "pointers", "x": x}, own, parts)

    def draw_rows(self, draft: Draft, limits: Limits, rows: Rows) -> str:
        """Add the passes of the product with a matrix."""
        slots = self.slots(limits)
        defines = {"A_WIDTH": slots["A"].width, "POINTERS_WIDTH": slots["pointers"].width}
        parts = [({"trips": trips}, defines) for trips in slices(self.longest, limits.loop_trips)]
        return rows.in_passes(draft, "pointers", slots, limits, parts)


@dataclass(frozen=True)
class Points(Structure):
    """A matrix stored as a list of entries."""

    name: ClassVar[str] = "points"

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Points:
        """Count the entries."""
        return Points(rows.shape, rows.entries)

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""
        return {
            "A": many("a matrix", self.entries, limits, 1),
            "places": many("a matrix", self.entries, limits, 2, "int32"),
        }

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        slots = self.slots(limits)
        widths = (vector(length, limits).width for length in self.shape)
        ends = [places(one, width) for one, width in zip((rows.rows, rows.columns), widths, strict=True)]
        return {"A": filled(rows.values, slots["A"]), "places": filled(np.stack(ends, axis=1), slots["places"])}

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product: zeros, and the points."""
        own = vector(self.shape[0], limits)
        y = draft.slot("y", own)
        draft.draw("krylov/zeros", {}, y)
        if self.entries:
            defines = {"A_WIDTH": self.slots(limits)["A"].width, "WIDTH": own.width, "HEIGHT": own.height}
            inputs = {"A": "A", "places": "places", "x": x}
            draft.draw("spmv/points", inputs, y, defines=defines, accumulate=True, points=self.entries)
        return y
