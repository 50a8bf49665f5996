"""Passes over a positive definite band stored by columns of 16 x 16 blocks: of a single band, or of a batch.

LAPACK's storage --> columns of blocks --> L, likewise --> diagonals in LAPACK's storage, or substitutions
"""

from __future__ import annotations

from collections.abc import Callable

from glla.operations.batches.stack import SINGLE, Cells
from glla.operations.definite.cholesky_blocks import SIDE
from glla.passes import Draft, PingPong, Uniform, matrix
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, texels

SIXTEEN, BLOCK16 = "sixteen", "block16"
"""Variants of the factorisation, see `glla.operations.bands.definite_band.VARIANTS`."""


class Band:
    """Adds the work on a band to a draft.

    `shape`: of the band in LAPACK's storage, (w + 1, n). `cells`: one band, or a stack of them.
    """

    def __init__(self, draft: Draft, shape: Shape, cells: Cells = SINGLE) -> None:
        self.draft, self.shape, self.cells = draft, shape, cells
        rows, self.n = shape
        self.reach = -(-(min(rows, self.n) - 1) // (2 * SIDE))  # blocks below the one on the diagonal
        self.height, self.width = SIDE * (self.reach + 1), texels(self.n)
        self.storage = cells.storage(self.height, self.width)

    def lay(self, source: str, target: str, upper: bool) -> None:
        """Lay the band by columns of blocks."""
        uniforms: dict[str, Uniform] = {"shape": self.shape, **self.cells.grid}
        defines: dict[str, Define] = {"UPPER": int(upper), **self.cells.defines}
        self.draft.draw("definite_band/to_columns", {"ab": source}, target, uniforms, defines)

    def diagonals(self, factor: str, name: str, rows: int, upper: bool) -> str:
        """Extract diagonals of a factor, in LAPACK's storage; return their slot."""
        shape = rows, self.n
        target = self.draft.slot(name, self.cells.matrix(shape))
        uniforms: dict[str, Uniform] = {"shape": shape, **self.cells.grid}
        defines: dict[str, Define] = {"UPPER": int(upper), **self.cells.defines}
        self.draft.draw("definite_band/to_diagonals", {"M": factor}, target, uniforms, defines)
        return target

    def factor(self, source: str, upper: bool, variant: str) -> str:
        """Add the factorisation; give the slot of L, by columns of blocks."""
        rest = PingPong(self.draft, "rest", self.storage, "")
        for _ in range(2):  # what a step first reaches is in either texture
            self.lay(source, rest.back, upper)
            rest.swap()
        return self._sixteen(rest) if variant == SIXTEEN else self._block16(rest)

    def _steps(self) -> list[tuple[int, int, int]]:
        """First column of texels of each step, how many there are, and how many after them are within reach."""
        firsts = range(0, self.width, SIDE)
        return [
            (first, min(SIDE, self.width - first), max(min(SIDE * self.reach, self.width - first - SIDE), 0))
            for first in firsts
        ]

    def _sixteen(self, rest: PingPong) -> str:
        shape = 2 * self.height, self.n
        for number, (first, count, after) in enumerate(self._steps()):
            left = max(first - SIDE, 0)  # columns are final one step after their own, when both textures hold them
            with self.draft.scope("block column", number):
                self.draft.draw(
                    "cholesky/sixteen",
                    {"A": rest.front},
                    rest.back,
                    {"corner": (first, 0), "shape": shape, "height": self.height, **self.cells.grid},
                    {"BANDED": 1, **self.cells.defines},
                    self.cells.region(left, 0, first - left + count + after, self.height),
                )
            rest.swap()
        return rest.front

    def _block16(self, rest: PingPong) -> str:
        draft, shape = self.draft, (2 * self.height, self.n)
        block, result = draft.slot("D", self.cells.storage(SIDE, SIDE)), draft.slot("L by columns", self.storage)
        for number, (first, count, after) in enumerate(self._steps()):
            corner: dict[str, Uniform] = {"corner": (first, 0), **self.cells.grid}
            place, square = self.cells.region(first, 0, count, self.height), self.cells.region(0, 0, count, SIDE)
            defines = self.cells.defines
            with draft.scope("block column", number):
                draft.draw("cholesky/diagonal", {"A": rest.front}, block, corner, defines, square)
                operands = {"A": rest.front, "D": block}
                draft.draw("cholesky/strip", operands, result, {**corner, "shape": shape}, defines, place)
                if after:
                    draft.draw(
                        "cholesky/update",
                        {"A": rest.front, "L": result},
                        rest.back,
                        {**corner, "height": self.height},
                        {"BANDED": 1, **defines},
                        self.cells.region(first + SIDE, 0, after, SIDE * self.reach),
                    )
                    rest.swap()
        return result

    def substitute(self, factor: str, columns: int, copy: Callable[[str], None]) -> str:
        """Add both substitutions, a pass for 16 rows each; give the slot of the solution.

        `copy` adds a pass that writes the right-hand sides, n x columns, to a slot.
        """
        shape = self.n, columns
        storage = matrix(shape)  # of one
        rows = PingPong(self.draft, "X", self.cells.matrix(shape), "")
        for _ in range(2):  # what a step first reaches is in either texture
            copy(rows.back)
            rows.swap()
        reach = SIDE * (self.reach + 1)
        firsts = list(range(0, storage.height, SIDE))
        for backward in (False, True):
            for number, first in enumerate(reversed(firsts) if backward else firsts):
                count = min(SIDE, storage.height - first)
                # Rows are final one step after their own, when both textures hold them.
                top = max(first - SIDE * self.reach if backward else first - SIDE, 0)
                end = min(first + (2 * SIDE if backward else reach), storage.height)
                with self.draft.scope("backward" if backward else "forward", number):
                    self.draft.draw(
                        "definite_band/substitute",
                        {"L": factor, "B": rows.front},
                        rows.back,
                        {"block": (first, count), "shape": shape, **self.cells.grid},
                        {"BACKWARD": int(backward), **self.cells.defines},
                        self.cells.region(0, top, storage.width, end - top),
                    )
                rows.swap()
        return rows.front
