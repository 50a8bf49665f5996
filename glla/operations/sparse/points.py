"""The format `points`: each entry is drawn as a point and added by blending, as Krüger and Westermann have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.layout import Structure, filled, many, places, vector
from glla.passes import Draft, Limits, Storage


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
