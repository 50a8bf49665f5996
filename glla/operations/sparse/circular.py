"""The format `circular`: diagonals -k and n - k of a square matrix joined to one vector of length n."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.diagonals import across, grid, in_grid, rows_of_diagonals, terms
from glla.operations.sparse.layout import Rows, Structure, in_passes, vector
from glla.passes import Draft, Limits, Storage
from glla.passes.glsl.find import Define


@dataclass(frozen=True)
class Circular(Structure):
    """A square matrix stored as circular diagonals: number d is A[i, (i + offsets[d]) mod n] at the place of row i."""

    name: ClassVar[str] = "circular"

    offsets: tuple[int, ...]  # from 0 to n - 1

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Circular:
        """Find the circular diagonals of a matrix. Raises OptionError: it is not square."""
        if rows.shape[0] != rows.shape[1]:
            raise OptionError(f"sparse: circular diagonals are of a square matrix, got {rows.shape}; use diagonals")
        offsets = sorted({offset % max(rows.shape[0], 1) for offset in rows.offsets})
        return Circular(rows.shape, rows.entries, tuple(offsets) or (0,))

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""
        return {"A": grid(self.shape[0], len(self.offsets), limits)}

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        number = np.searchsorted(self.offsets, (rows.columns - rows.rows) % max(self.shape[0], 1))
        return {"A": in_grid(rows, number, len(self.offsets), limits)}

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product."""
        own = vector(self.shape[0], limits)
        shared: dict[str, Define] = {
            "GRID": across(len(self.offsets)), "WIDTH": own.width, "HEIGHT": own.height, "ORDER": self.shape[0],
        }  # fmt: skip

        return in_passes(draft, "spmv/circular", {"A": "A", "x": x}, own, terms(self.offsets, shared))

    def draw_rows(self, draft: Draft, limits: Limits, rows: Rows) -> str:
        """Add the passes of the product with a matrix."""
        return rows_of_diagonals(draft, limits, rows, self.offsets, around=True)
