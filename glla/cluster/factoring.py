"""PLU of a distributed matrix: the work of one rank in each step of `glla.cluster.algorithms.PLU`.

Finished rows and columns are in the host's memory, in `packed`; the engine has the trailing matrix, and returns the
next panel's columns. Panels are factored by LAPACK on the host: a GPU would need a thousand small passes.
"""

from __future__ import annotations

from concurrent.futures import Future
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32
from glla.cluster import lapack
from glla.cluster.algorithms import PLU
from glla.cluster.engines import Engine
from glla.cluster.execute import Actor, pack, unpack
from glla.cluster.layout import Indices, local, owner
from glla.errors import NonFiniteError, SingularMatrixError

F, I64 = np.float32, np.int64


def transpositions(winners: NDArray[np.int64], first: int) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
    """Convert pivot rows to sequential exchanges, as LAPACK has them.

    Results: `exchanges`: row with which each of them is exchanged. `displaced`: rows that are moved out of the block:
    destination, and row of the block.
    `winners`: rows that become rows ``first``, ``first + 1``, ... `first`: first row of the panel.

    >>> transpositions(np.array([5, 4]), 4)
    (array([5, 5]), [])
    >>> transpositions(np.array([9, 4]), 4)
    (array([9, 9]), [(9, 1)])
    """
    at: dict[int, int] = {}  # row at a position
    place: dict[int, int] = {}  # position of a row
    exchanges = np.empty(len(winners), dtype=np.int64)
    for j, winner in enumerate(winners.tolist()):
        here, there = first + j, place.get(winner, winner)
        exchanges[j] = there
        moved = at.get(here, here)
        at[here], at[there] = winner, moved
        place[winner], place[moved] = here, there
    displaced = [(to, row - first) for to, row in at.items() if to >= first + len(winners)]
    return exchanges, displaced


class Factoring(Actor):
    """The state of one rank.

    `steps`: its position and its steps. `values`: its part of the matrix; overwritten by its part of the packed
    factors. `engine`: computes the products.
    """

    def __init__(self, steps: PLU, values: Float32, engine: Engine) -> None:
        super().__init__()
        self.at, self.layout = steps, steps.layout
        self.packed = values
        self.exchanges = np.empty(min(self.layout.shape), dtype=np.int64)
        self.largest = 0.0
        """Largest magnitude in the own part of U."""
        _, columns = self._span_of_columns(0)
        mine = self.at.q == 0 and self.layout.panels > 0
        self._part = values[:, : columns.stop].copy() if mine else values[:, :0]
        self._engine = engine.trailing(values[:, columns.stop if mine else 0 :])
        self._winners: NDArray[np.int64] = np.empty(0, I64)
        self._lower = self._upper = self._diagonal = self._taken = self._own_rows = values[:0, :0]
        self._offer: tuple[NDArray[np.int64], Float32] = self._winners, values[:0, :0]
        self._column: list[tuple[NDArray[np.int64], Float32]] = []
        self._factors: tuple[NDArray[np.int64], Float32] = self._winners, values[:0, :0]

    def take(self, name: str, result: Any) -> None:
        """Keep a result of the engine: the next panel, or rows."""
        if name == "update panel":
            self._part = result
        elif name == "take rows":
            self._taken = result

    # -- indices

    @cached_property
    def rows(self) -> Indices:
        """Global indices of the local rows."""
        return self.layout.rows(self.at.p)

    def _span_of_columns(self, panel: int) -> tuple[int, slice]:
        """Width of a panel, and its local columns."""
        if panel >= self.layout.panels:
            return 0, slice(0, 0)
        start, stop = self.layout.span(panel)
        return stop - start, self.layout.panel_columns(panel, self.at.q)

    def _first(self, panel: int) -> int:
        """First local row of a panel."""
        return self.layout.rows_below(self.layout.span(panel)[0], self.at.p)

    def _below(self, panel: int) -> int:
        """First local row below a panel's block."""
        return self.layout.rows_below(self.layout.span(panel)[1], self.at.p)

    def _is_root(self, panel: int) -> bool:
        return self.at.owner(panel)[0] == self.at.p

    # -- the panel

    def _take_part(self, panel: int) -> tuple[NDArray[np.int64], Float32]:
        """Own part of the panel, with the global indices of its rows."""
        if not np.isfinite(self._part).all():
            raise NonFiniteError(
                f"plu: entries grow past float32's range in block column {panel}; scale the matrix, or take "
                "variant='partial'"
            )
        return self.rows[self._first(panel) :], self._part

    def candidates(self, panel: int) -> None:
        """Select b of the own rows, by partial pivoting among them."""
        rows, part = self._take_part(panel)
        self._match(panel, rows, part)

    def _match(self, panel: int, rows: NDArray[np.int64], values: Float32) -> None:
        """Keep the b rows that win, with their original values, in the order of their pivots."""
        b, _ = self._span_of_columns(panel)
        order = lapack.pivoted(values)[1][:b]
        self._offer = rows[order], values[order]
        self.slots["candidates", panel] = pack(*self._offer)

    def match(self, panel: int) -> None:
        """Match own candidates against those of another rank, in the order of the matrix."""
        b, _ = self._span_of_columns(panel)
        count = len(self.heard[1]) // (4 * b + 8)
        rows, values = unpack(self.heard[1], (I64, (count,)), (F, (count, b)))
        rows, values = np.concatenate([self._offer[0], rows]), np.concatenate([self._offer[1], values])
        order = np.argsort(rows)
        self._match(panel, rows[order], values[order])

    def part(self, panel: int) -> None:
        """Pack the own part of the panel for the rank that factors it."""
        self.slots["column", panel] = pack(self._take_part(panel)[1])

    def pivots(self, panel: int) -> None:
        """Decide the pivot rows, and factor their block."""
        variant = self.at.pivoting
        b, _ = self._span_of_columns(panel)
        if variant == "tournament":
            rows, values = self._offer
        else:
            rows, values = self._take_part(panel)
        if variant == "partial":
            rows, values = self._whole_column(panel, rows, values)
        factors, order = lapack.pivoted(values)
        self._factors = rows[order], factors
        self._winners, block = rows[order[:b]], factors[:b]
        if variant == "local" and (np.diagonal(block) == 0).any():
            start, stop = self.layout.span(panel)
            raise SingularMatrixError(
                f"plu: variant 'local' breaks down: process row {self.at.p} has no pivot for all of columns {start} to "
                f"{stop - 1} (block {panel}) among its own rows; take variant='tournament', which looks at all rows"
            )
        self.slots["pivots", panel] = pack(self._winners, block, self._part[:b])

    def _whole_column(self, panel: int, rows: NDArray[np.int64], values: Float32) -> tuple[NDArray[np.int64], Float32]:
        """Assemble the panel from the received parts, in the order of the matrix."""
        parts = [(rows, values), *self._column]
        self._column = []
        rows, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        order = np.argsort(rows)
        return rows[order], values[order]

    def hear_column(self, panel: int) -> None:
        """Keep a part of the panel."""
        b, _ = self._span_of_columns(panel)
        source, data = self.heard
        rows = self.layout.rows(source // self.layout.grid[1])
        rows = rows[rows >= self.layout.span(panel)[0]]
        self._column.append((rows, unpack(data, (F, (len(rows), b)))[0]))

    def cut_factors(self, panel: int, p: int) -> None:
        """Pack the rows of L for another rank of the column."""
        self.slots["factors", panel] = pack(self._factors_of(panel, p))

    def _factors_of(self, panel: int, p: int) -> Float32:
        """Rows of L that a rank owns, after the exchange, if one rank has pivoted partially."""
        start, stop = self.layout.span(panel)
        rows = self.layout.rows(p)
        return self._factors[1][rows[rows >= stop] - start]

    def multipliers(self, panel: int) -> None:
        """Compute L = A U^-1 for the own rows, after the exchange."""
        b, columns = self._span_of_columns(panel)
        first, below = self._first(panel), self._below(panel)
        self._winners, block, top = unpack(self.slots["pivots", panel], (I64, (b,)), (F, (b, b)), (F, (b, b)))
        if self.at.pivoting == "partial":
            lower = self._partial_factors(panel, b)
        else:
            part = self._part.copy()
            for place, row in self._displaced(panel):
                part[place - first] = top[row]
            lower = lapack.right_upper(block, part[below - first :])
        if not np.isfinite(lower).all():
            raise SingularMatrixError(
                f"plu: the pivots of block {panel} do not stand for all its rows, which have fewer independent ones "
                "than columns; take variant='partial'"
            )
        self.packed[below:, columns] = lower
        if self._is_root(panel):
            self.packed[first:below, columns] = block
            self.largest = float(np.maximum(self.largest, lapack.extreme(np.triu(block))))
        self.slots["L", panel] = pack(self._winners, *([block] if self._is_root(panel) else []), lower)

    def _partial_factors(self, panel: int, b: int) -> Float32:
        if self._is_root(panel):
            return self._factors_of(panel, self.at.p)
        below = len(self.rows) - self._below(panel)
        found: Float32 = unpack(self.slots["factors", panel], (F, (below, b)))[0] if below else self.packed[:0, :b]
        return found

    # -- rows

    def _displaced(self, panel: int) -> list[tuple[int, int]]:
        """Local rows that rows of the block replace, and those rows. The exchanges are stored for the result."""
        start, stop = self.layout.span(panel)
        exchanges, displaced = transpositions(self._winners, start)
        self.exchanges[start:stop] = exchanges
        nb, P = self.layout.nb, self.layout.grid[0]
        places = np.array([to for to, _ in displaced], dtype=np.int64)
        here = owner(places, nb, P) == self.at.p
        return [
            (int(place), row)
            for place, mine, (_, row) in zip(local(places, nb, P), here, displaced, strict=True)
            if mine
        ]

    def _own_winners(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Indices of the local pivot rows, among the pivots and in the local matrix."""
        nb, P = self.layout.nb, self.layout.grid[0]
        mine = np.nonzero(owner(self._winners, nb, P) == self.at.p)[0]
        return mine, local(self._winners[mine], nb, P)

    def take_rows(self, panel: int) -> Future[Float32]:
        """Read back the own pivot rows, and the block's rows that they replace."""
        b, _ = self._span_of_columns_of_any(panel)
        root, first, below = self._is_root(panel), self._first(panel), self._below(panel)
        count = len(self.rows) - below
        shapes: list[tuple[Any, tuple[int, ...]]] = [(I64, (b,)), *([(F, (b, b))] if root else []), (F, (count, b))]
        self._winners, *blocks, self._lower = unpack(self.slots["L", panel], *shapes)
        self._diagonal = blocks[0] if blocks else self.packed[:0, :0]
        _, places = self._own_winners()
        wanted = np.concatenate([places - first, np.arange(b if root else 0, dtype=np.int64)])
        return self._engine.rows(wanted)

    def _span_of_columns_of_any(self, panel: int) -> tuple[int, slice]:
        """Width of a panel, and the local columns left of it, for a rank of any column."""
        start, stop = self.layout.span(panel)
        return stop - start, slice(0, self.layout.columns_below(start, self.at.q))

    def pack_rows(self, panel: int) -> None:
        """Pack the own pivot rows at their positions among all b of them: zeros elsewhere."""
        b, left = self._span_of_columns_of_any(panel)
        mine, places = self._own_winners()
        self._own_rows = np.zeros((b, left.stop + self._taken.shape[1]), dtype=F)
        self._own_rows[mine, left] = self.packed[places, left]
        self._own_rows[mine, left.stop :] = self._taken[: len(mine)]
        self.slots["rows", panel] = pack(self._own_rows)

    def merge(self, panel: int) -> None:
        """Merge the rows of another rank: every row has one owner, so a bitwise or is exact."""
        own = self.slots["rows", panel]
        own |= self.heard[1]

    def solve_U(self, panel: int) -> None:
        """Compute U from all pivot rows."""
        b, left = self._span_of_columns_of_any(panel)
        first = self._first(panel)
        whole = self.slots["rows", panel].view(F).reshape(self._own_rows.shape)
        upper = lapack.solve_lower(self._diagonal, whole[:, left.stop :])
        self.largest = float(np.maximum(self.largest, lapack.extreme(upper)))
        if not np.isfinite(self.largest):
            raise NonFiniteError(f"plu: entries grow past float32's range in block row {panel}; scale the matrix")
        mine, _ = self._own_winners()
        self.slots["U", panel] = pack(self.packed[first : first + b, left], self._taken[len(mine) :], upper)
        self.packed[first : first + b, left] = whole[:, left]
        self.packed[first : first + b, self.packed.shape[1] - upper.shape[1] :] = upper

    def put_rows(self, panel: int) -> None:
        """Store rows of the block at the positions of pivot rows."""
        b, left = self._span_of_columns_of_any(panel)
        right = self._taken.shape[1]
        below = self._below(panel)
        shapes = [(F, (b, left.stop)), (F, (b, right)), (F, (b, right))]
        if ("U", panel) in self.slots:
            tops, top, self._upper = unpack(self.slots["U", panel], *shapes)
        else:  # there is only the panel
            tops, top, self._upper = (np.empty(shape, dtype=F) for _, shape in shapes)
        displaced = self._displaced(panel)
        places = np.array([place for place, _ in displaced], dtype=np.int64)
        rows = np.array([row for _, row in displaced], dtype=np.int64)
        self.packed[places, left] = tops[rows]
        first = self._first(panel)
        own = rows if self._is_root(panel) else None
        self._engine.replace(places - first, top[rows], below - first, own)

    # -- the update

    def _next_width(self, panel: int) -> int:
        if panel + 1 >= self.layout.panels or self.at.owner(panel + 1)[1] != self.at.q:
            return 0
        start, stop = self.layout.span(panel + 1)
        return stop - start

    def update_panel(self, panel: int) -> Future[Float32]:
        """Subtract L U in the columns of the next panel, and read them back."""
        return self._engine.split(self._lower, self._upper[:, : self._next_width(panel)])

    def update_rest(self, panel: int) -> Future[Any]:
        """Subtract L U in the other columns."""
        return self._engine.update(self._lower, self._upper[:, self._next_width(panel) :])

    def assemble(self, panel: int) -> None:
        """Nothing remains to be stored."""
