"""Factorisation column by column: the row operations of LU-GPU, in texels of one element or four.

A step is a column: search its pivot (a reduction), normalise, exchange, and subtract a product of rank one from what
remains, each a pass or two. The thesis's own method, two columns a step in texels of 2x2, is
`glla.operations.elimination.plu`'s ``rank2``; this is what it was compared with.
"""

from __future__ import annotations

from dataclasses import dataclass

from glla.operations.elimination.pivot import searched_by
from glla.operations.layouts.packing import from_lanes, to_lanes
from glla.passes import Draft, PingPong, Region, Storage, Uniform, matrix, texture
from glla.passes.layout import Shape, texels


@dataclass(frozen=True)
class Manner:
    """How columns are eliminated."""

    rows: int = 1  # elements of the matrix in a texel, see ``plu/columns/vectors.glsl``
    columns: int = 1
    complete: bool = False  # search the whole rest of the matrix for each pivot, and exchange columns too
    extra_column: bool = False  # compute the next column with the multipliers, ahead of the rest of the matrix
    # take each pivot where it is: LU-GPU's LU, without its search and its exchange. With one element in a texel
    pivotless: bool = False


SIDE = 8
"""Side of the square that one fragment of a complete search reduces to its best element."""


class ColumnByColumn:
    """Adds a factorisation of the slot `source` to a draft, one column a step.

    `source`: slot of the packed matrix. `manner`: how. `count`: columns to eliminate. `side`: side of the squares by
    which a complete search is reduced. `branches`: whether that search compares by explicit tests. Attributes:
    `results`: slots of ``LU``, ``pivots``, ``health``, and after a complete search ``columns``.
    """

    def __init__(
        self, draft: Draft, source: str, shape: Shape, manner: Manner, count: int, side: int = SIDE, branches: int = 0
    ) -> None:
        self.draft, self.shape, self.manner = draft, shape, manner
        self.height, width = -(-shape[0] // manner.rows), -(-shape[1] // manner.columns)
        storage = Storage(self.height, width, manner.rows * manner.columns)
        self.packing = {"ROWS": manner.rows, "COLUMNS": manner.columns}
        self.complete = {"COMPLETE": int(manner.complete)}
        self.chunk = searched_by(self.height)
        self.branches = {"BRANCHES": branches} if manner.complete else {}
        self.square = (side, side) if manner.complete else None
        self.pivotless = {"PIVOTLESS": 1} if manner.pivotless else {}
        self.records = "" if manner.pivotless else draft.slot("records", Storage(1, count))
        start = draft.slot("vectors", storage)
        to_lanes(draft, source, start, shape, manner.rows, manner.columns)
        self.matrix = PingPong(draft, "vectors", storage, start)
        if manner.extra_column:
            extra = draft.slot("extra", Storage(self.height, 1))
            draft.draw("plu/columns/next_column", {"A": start}, extra, {}, {**self.packing, "START": 1})
            self.extra = PingPong(draft, "extra", Storage(self.height, 1), extra)
        else:
            self.multipliers = draft.slot("multipliers", Storage(self.height, 1, manner.rows))
        for k in range(count):
            with draft.scope("column", k):
                self._step(k, count)
        self.results = self._finish(count)

    def _step(self, k: int, count: int) -> None:
        """Eliminate column k."""
        if self.manner.extra_column:
            if k == 0:
                self._search(0)
            multipliers = self._next_column(k)
            if k + 1 < count:  # before the rest of the matrix is reduced: that is what the extra column is for
                self._search(k + 1)
        else:
            if not self.manner.pivotless:
                self._search(k)
            multipliers = self._multipliers(k)
        storage = texture(self.draft.slots[self.matrix.back])
        top, left = max(k - 1, 0) // self.manner.rows, k // self.manner.columns
        if self.manner.pivotless:
            left = max(left - 1, 0)
        elif left:
            self._exchange(k, Region(0, top, left, storage.height - top))
        if self.manner.complete and top:
            self._exchange(k, Region(left - 1, 0, storage.width - left + 1, top))
        self.draft.draw(
            "plu/columns/rank1",
            {"A": self.matrix.front, "l": multipliers, **self._pivot},
            self.matrix.back,
            {"k": k},
            {**self.packing, **self.complete, **self.pivotless},
            Region(left, top, storage.width - left, storage.height - top),
        )
        self.matrix.swap()

    def _exchange(self, k: int, region: Region) -> None:
        inputs = {"A": self.matrix.front, "records": self.records}
        self.draft.draw(
            "plu/columns/exchange", inputs, self.matrix.back, {"k": k}, {**self.packing, **self.complete}, region
        )

    def _multipliers(self, k: int) -> str:
        """Normalise column k."""
        inputs = {"A": self.matrix.front, **self._pivot}
        top = k // self.manner.rows
        region = Region(0, top, 1, self.height - top)
        defines = {**self.packing, **self.complete, **self.pivotless}
        self.draft.draw("plu/columns/multipliers", inputs, self.multipliers, {"k": k}, defines, region)
        return self.multipliers

    @property
    def _pivot(self) -> dict[str, str]:
        """Sampler of ``plu/columns/column_pivot.glsl``, unless pivots stay where they are."""
        return {} if self.manner.pivotless else {"records": self.records}

    def _next_column(self, k: int) -> str:
        """Normalise column k in the extra column, and reduce column k + 1 there."""
        inputs = {"A": self.matrix.front, "left": self.extra.front, "records": self.records}
        top = min(k + 1, self.height - 1)
        uniforms: dict[str, Uniform] = {"k": k, "columns": self.shape[1]}
        region = Region(0, top, 1, self.height - top)
        self.draft.draw(
            "plu/columns/next_column", inputs, self.extra.back, uniforms, {**self.packing, "START": 0}, region
        )
        self.extra.swap()
        return self.extra.front

    def _search(self, k: int) -> None:
        """Reduce column k, or all that remains, to its best candidate, which goes to texel k of the records."""
        left = self.manner.extra_column
        inputs = {"left": self.extra.front} if left else {"A": self.matrix.front}
        searched = (self.height - k // self.manner.rows, self.shape[1] - k if self.manner.complete else 1)
        block = self.square or (self.chunk, 1)
        extent = _grid(searched, block)
        target = self._candidates(0, extent)
        uniforms: dict[str, Uniform] = {"k": k, "block": block, "shape": self.shape}
        defines = {**self.packing, **self.complete, "LEFT": int(left), **self.branches}
        self.draft.draw("plu/columns/search", inputs, target, uniforms, defines, Region(0, 0, extent[1], extent[0]))
        self._reduce(k, target, extent)

    def _reduce(self, k: int, candidates: str, extent: Shape) -> None:
        """Reduce candidates to one."""
        level, done = 0, False
        while not done:
            level += 1
            block = self.square or extent
            grid = _grid(extent, block)
            done = grid == (1, 1)
            target, first = (self.records, k) if done else (self._candidates(level, grid), 0)
            uniforms: dict[str, Uniform] = {"first": first, "block": block, "extent": extent}
            region = Region(first, 0, grid[1], grid[0])
            self.draft.draw(
                "plu/columns/best_candidates", {"candidates": candidates}, target, uniforms, self.branches, region
            )
            candidates, extent = target, grid

    def _candidates(self, level: int, extent: Shape) -> str:
        """Slot of the candidates of a level; the first step has most of them."""
        name = f"candidates_{level}"
        return name if name in self.draft.slots else self.draft.slot(name, Storage(*extent))

    def _finish(self, count: int) -> dict[str, str]:
        """Pack the factors, and the records of two columns a texel."""
        lu = self.draft.slot("LU", matrix(self.shape))
        from_lanes(self.draft, self.matrix.front, lu, self.shape, self.manner.rows, self.manner.columns)
        names = ("pivots", "health", "columns") if self.manner.complete else ("pivots", "health")
        targets = tuple(self.draft.slot(name, Storage(1, texels(count))) for name in names)
        inputs = self._pivot or {"A": self.matrix.front}
        defines = {**self.complete, **self.pivotless}
        self.draft.draw("plu/columns/pair_records", inputs, targets, {"count": count}, defines)
        return {"LU": lu, **dict(zip(names, targets, strict=True))}


def _grid(extent: Shape, block: Shape) -> Shape:
    """Blocks that cover an extent, in rows and columns."""
    return -(-extent[0] // block[0]), -(-extent[1] // block[1])
