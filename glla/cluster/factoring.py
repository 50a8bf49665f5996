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
from glla.cluster.layout import Indices
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


def _in_order(parts: list[tuple[Indices, Float32]]) -> tuple[Indices, Float32]:
    """Join parts of a panel, in the order of the matrix; each has the global indices of its rows."""
    rows, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(rows)
    return rows[order], values[order]


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
        first = steps.block_columns(0).stop if steps.q == 0 and self.layout.panels else 0
        self._part = values[:, :first].copy()
        self._engine = engine.trailing(values[:, first:])
        self._winners: NDArray[np.int64] = np.empty(0, I64)
        self._lower = self._upper = self._diagonal = self._taken = self._factors = values[:0, :0]
        self._offer: tuple[NDArray[np.int64], Float32] = self._winners, values[:0, :0]
        self._column: list[tuple[NDArray[np.int64], Float32]] = []

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
        return self.rows[self.at.block_rows(panel).start :], self._part

    def candidates(self, panel: int) -> None:
        """Select b of the own rows, by partial pivoting among them."""
        rows, part = self._take_part(panel)
        self._match(panel, rows, part)

    def _match(self, panel: int, rows: NDArray[np.int64], values: Float32) -> None:
        """Keep the b rows that win, with their original values, in the order of their pivots."""
        order = lapack.pivoted(values)[1][: self.layout.width(panel)]
        self._offer = rows[order], values[order]
        self.slots["candidates", panel] = pack(*self._offer)

    def match(self, panel: int) -> None:
        """Match own candidates against those of another rank, in the order of the matrix."""
        b = self.layout.width(panel)
        count = len(self.heard[1]) // (4 * b + 8)
        rows, values = unpack(self.heard[1], (I64, (count,)), (F, (count, b)))
        self._match(panel, *_in_order([self._offer, (rows, values)]))

    def part(self, panel: int) -> None:
        """Pack the own part of the panel for the rank that factors it."""
        self.slots["column", panel] = pack(self._take_part(panel)[1])

    def pivots(self, panel: int) -> None:
        """Decide the pivot rows, and factor their block."""
        variant = self.at.pivoting
        b = self.layout.width(panel)
        if variant == "tournament":
            rows, values = self._offer
        else:
            rows, values = self._take_part(panel)
        if variant == "partial":
            rows, values = _in_order([(rows, values), *self._column])
            self._column = []
        self._factors, order = lapack.pivoted(values)
        self._winners, block = rows[order[:b]], self._factors[:b]
        if variant == "local" and (np.diagonal(block) == 0).any():
            start, stop = self.layout.span(panel)
            raise SingularMatrixError(
                f"plu: variant 'local' breaks down: process row {self.at.p} has no pivot for all of columns {start} to "
                f"{stop - 1} (block {panel}) among its own rows; take variant='tournament', which looks at all rows"
            )
        self.slots["pivots", panel] = pack(self._winners, block, self._part[:b])

    def hear_column(self, panel: int) -> None:
        """Keep a part of the panel."""
        source, data = self.heard
        rows = self.layout.rows(source // self.layout.grid[1])
        rows = rows[rows >= self.layout.span(panel)[0]]
        self._column.append((rows, unpack(data, (F, (len(rows), self.layout.width(panel))))[0]))

    def cut_factors(self, panel: int, p: int) -> None:
        """Pack the rows of L for another rank of the column."""
        self.slots["factors", panel] = pack(self._factors_of(panel, p))

    def _factors_of(self, panel: int, p: int) -> Float32:
        """Rows of L that a rank owns, after the exchange, if one rank has pivoted partially."""
        start, stop = self.layout.span(panel)
        rows = self.layout.rows(p)
        return self._factors[rows[rows >= stop] - start]

    def multipliers(self, panel: int) -> None:
        """Compute L = A U^-1 for the own rows, after the exchange."""
        b, block_rows = self.layout.width(panel), self.at.block_rows(panel)
        first, below = block_rows.start, block_rows.stop
        self._winners, block, top = unpack(self.slots["pivots", panel], (I64, (b,)), (F, (b, b)), (F, (b, b)))
        if self.at.pivoting == "partial":
            lower = self._partial_factors(panel, b)
        else:
            part = self._part.copy()
            places, rows = self._displaced(panel)
            part[places - first] = top[rows]
            lower = lapack.right_upper(block, part[below - first :])
        if not np.isfinite(lower).all():
            raise SingularMatrixError(
                f"plu: the pivots of block {panel} do not stand for all its rows, which have fewer independent ones "
                "than columns; take variant='partial'"
            )
        self.packed[below:, self.at.block_columns(panel)] = lower
        if self._is_root(panel):
            self.packed[block_rows, self.at.block_columns(panel)] = block
            self.largest = float(np.maximum(self.largest, lapack.extreme(np.triu(block))))
        self.slots["L", panel] = pack(self._winners, *([block] if self._is_root(panel) else []), lower)

    def _partial_factors(self, panel: int, b: int) -> Float32:
        if self._is_root(panel):
            return self._factors_of(panel, self.at.p)
        below = len(self.rows) - self.at.block_rows(panel).stop
        found: Float32 = unpack(self.slots["factors", panel], (F, (below, b)))[0] if below else self.packed[:0, :b]
        return found

    # -- rows

    def _displaced(self, panel: int) -> tuple[Indices, Indices]:
        """Local rows that rows of the block replace, and those rows. The exchanges are stored for the result."""
        start, stop = self.layout.span(panel)
        self.exchanges[start:stop], displaced = transpositions(self._winners, start)
        to, rows = np.array(displaced, dtype=np.int64).reshape(-1, 2).T
        mine, places = self.layout.held(to, self.at.p)
        return places, rows[mine]

    def take_rows(self, panel: int) -> Future[Float32]:
        """Read back the own pivot rows, and the block's rows that they replace."""
        b, root, block = self.layout.width(panel), self._is_root(panel), self.at.block_rows(panel)
        count = len(self.rows) - block.stop
        shapes: list[tuple[Any, tuple[int, ...]]] = [(I64, (b,)), *([(F, (b, b))] if root else []), (F, (count, b))]
        self._winners, *blocks, self._lower = unpack(self.slots["L", panel], *shapes)
        self._diagonal = blocks[0] if blocks else self.packed[:0, :0]
        _, places = self.layout.held(self._winners, self.at.p)
        return self._engine.rows(np.concatenate([places - block.start, np.arange(b if root else 0, dtype=np.int64)]))

    def pack_rows(self, panel: int) -> None:
        """Pack the own pivot rows at their positions among all b of them: zeros elsewhere."""
        b, left = self.layout.width(panel), self.at.block_columns(panel).start
        mine, places = self.layout.held(self._winners, self.at.p)
        own = np.zeros((b, left + self._taken.shape[1]), dtype=F)
        own[mine, :left] = self.packed[places, :left]
        own[mine, left:] = self._taken[: len(mine)]
        self.slots["rows", panel] = pack(own)

    def merge(self, panel: int) -> None:
        """Merge the rows of another rank: every row has one owner, so a bitwise or is exact."""
        own = self.slots["rows", panel]
        own |= self.heard[1]

    def solve_U(self, panel: int) -> None:
        """Compute U from all pivot rows."""
        b, left = self.layout.width(panel), self.at.block_columns(panel).start
        first = self.at.block_rows(panel).start
        whole = self.slots["rows", panel].view(F).reshape(b, -1)
        upper = lapack.solve_lower(self._diagonal, whole[:, left:])
        self.largest = float(np.maximum(self.largest, lapack.extreme(upper)))
        if not np.isfinite(self.largest):
            raise NonFiniteError(f"plu: entries grow past float32's range in block row {panel}; scale the matrix")
        mine, _ = self.layout.held(self._winners, self.at.p)
        self.slots["U", panel] = pack(self.packed[first : first + b, :left], self._taken[len(mine) :], upper)
        self.packed[first : first + b, :left] = whole[:, :left]
        self.packed[first : first + b, self.packed.shape[1] - upper.shape[1] :] = upper

    def put_rows(self, panel: int) -> None:
        """Store rows of the block at the positions of pivot rows."""
        b, left = self.layout.width(panel), self.at.block_columns(panel).start
        right = self._taken.shape[1]
        shapes = [(F, (b, left)), (F, (b, right)), (F, (b, right))]
        if ("U", panel) in self.slots:
            tops, top, self._upper = unpack(self.slots["U", panel], *shapes)
        else:  # there is only the panel
            tops, top, self._upper = (np.empty(shape, dtype=F) for _, shape in shapes)
        places, rows = self._displaced(panel)
        self.packed[places, :left] = tops[rows]
        block, own = self.at.block_rows(panel), rows if self._is_root(panel) else None
        self._engine.replace(places - block.start, top[rows], block.stop - block.start, own)

    # -- the update

    def update_panel(self, panel: int) -> Future[Float32]:
        """Subtract L U in the columns of the next panel, and read them back."""
        return self._engine.split(self._lower, self._upper[:, : self.at.next_width(panel)])

    def update_rest(self, panel: int) -> Future[Any]:
        """Subtract L U in the other columns."""
        return self._engine.update(self._lower, self._upper[:, self.at.next_width(panel) :])

    def assemble(self, panel: int) -> None:
        """Nothing remains to be stored."""
