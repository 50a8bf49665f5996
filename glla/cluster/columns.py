"""PLU of a matrix of which each process has whole columns: what one rank does in each step of `ColumnPLU`.

Panels travel and are factored by columns, as LAPACK wants them: an array whose row j is column j of the panel.
Finished rows and columns go to `packed` while the engine updates what is behind the panel.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Array
from glla.cluster import lapack
from glla.cluster.algorithms import PLU
from glla.cluster.engines import Engine
from glla.cluster.execute import Actor
from glla.errors import NonFiniteError

F, I64 = np.float32, np.int64

STRIP = 32
"""Rows that are turned at a time where columns are stored as rows: they stay in the cache."""

SLAB = 2048
"""Columns in which rows change places at a time; between two of them messages go on."""


def order_of(exchanges: NDArray[np.int64], rows: int) -> NDArray[np.int64]:
    """Order of rows after exchanges, one after the other.

    Examples
    --------
    >>> order_of(np.array([2, 2]), 4).tolist()
    [2, 0, 1, 3]
    """
    at: dict[int, int] = {}  # row that now stands in a place, where it is another one
    for row, other in enumerate(exchanges.tolist()):
        at[row], at[other] = at.get(other, other), at.get(row, row)
    order = np.arange(rows)
    order[list(at)] = list(at.values())
    return order


def exchange_rows(values: Array, order: NDArray[np.int64], between: Callable[[], None]) -> None:
    """Put rows into an order; only those that move are touched."""
    moved = np.nonzero(order != np.arange(len(order)))[0]
    for left in range(0, values.shape[1], SLAB):
        slab = values[:, left : left + SLAB]
        slab[moved] = slab[order[moved]]
        between()


def store_columns(target: Array, columns: Array, between: Callable[[], None]) -> None:
    """Put columns, given as rows, into their place."""
    for top in range(0, len(target), STRIP):
        target[top : top + STRIP] = columns[:, top : top + STRIP].T
        between()


class ColumnFactoring(Actor):
    """The state of one rank.

    Parameters
    ----------
    steps : PLU
        Its place and its plan.
    values : ndarray of float32
        Its columns of the matrix; are overwritten by those of the packed factors.
    engine : Engine
        Has what is behind the panel.
    """

    def __init__(self, steps: PLU, values: Array, engine: Engine) -> None:
        super().__init__()
        self.at, self.layout, self.packed = steps, steps.layout, values
        self.exchanges = np.empty(min(self.layout.shape), dtype=np.int64)
        first = self._columns(0).stop if self.at.q == 0 and self.layout.panels else 0
        self._part = np.ascontiguousarray(values[:, :first].T)
        self._engine = engine.columns(values[:, first:])
        self.largest = 0.0
        """Largest value of the own part of U."""
        self._factors = self._taken = self._part
        self._order: NDArray[np.int64] = np.empty(0, I64)

    def take(self, name: str, result: Any) -> None:
        """Keep what the engine gave: the next panel, or rows of U."""
        if name == "update panel":
            self._part = result
        elif name == "exchange rows":
            self._taken = result

    def load(self, panel: int) -> Future[Any]:
        """The engine takes what is behind the first panel."""
        return self._engine.loaded

    def _columns(self, panel: int) -> slice:
        """Local columns of a panel; none where another process has it."""
        start, stop = self.layout.span(panel)
        return slice(self.layout.columns_below(start, self.at.q), self.layout.columns_below(stop, self.at.q))

    def pivots(self, panel: int) -> None:
        """Factor the panel, and pack it for the others."""
        if not np.isfinite(self._part).all():
            raise NonFiniteError(f"plu: entries grow past float32's range in block column {panel}; scale the matrix")
        self._factors, exchanges = lapack.pivoted_columns(self._part)
        b = len(self._factors)
        message = np.empty(exchanges.nbytes + self._factors.nbytes, dtype=np.uint8)
        where, block, lower = self._unpacked(message, b)
        where[...], block[...], lower[...] = exchanges, self._factors[:, :b], self._factors[:, b:]
        self.slots["L", panel] = message

    def _unpacked(self, message: NDArray[np.uint8], b: int) -> tuple[NDArray[np.int64], Array, Array]:
        """Exchanges, the block of the diagonal, and L below it, both by columns."""
        ends = 8 * b, 8 * b + 4 * b * b
        where, block, lower = message[: ends[0]], message[ends[0] : ends[1]], message[ends[1] :]
        return where.view(I64), block.view(F).reshape(b, b), lower.view(F).reshape(b, -1)

    def exchange_rows(self, panel: int) -> Future[Array]:
        """Have the engine exchange rows, and find U."""
        start, stop = self.layout.span(panel)
        exchanges, block, lower = self._unpacked(self.slots["L", panel], stop - start)
        self.exchanges[start:stop] = start + exchanges
        self._order = order_of(exchanges, self.layout.shape[0] - start)
        return self._engine.exchange(self._order, block, lower)

    def update_panel(self, panel: int) -> Future[Array]:
        """Subtract L U in the columns of the next panel, and read them back."""
        columns = self._columns(panel + 1)
        return self._engine.split(columns.stop - columns.start)

    def update_rest(self, panel: int) -> Future[Any]:
        """Subtract L U in the other columns."""
        return self._engine.update()

    def store_L(self, panel: int) -> None:
        """Put the panel into place, and exchange the rows of L left of it."""
        start, columns = self.layout.span(panel)[0], self._columns(panel)
        exchange_rows(self.packed[start:, : columns.start], self._order, self.between)
        if columns.stop > columns.start:
            store_columns(self.packed[start:, columns], self._factors, self.between)
            block = self.packed[start : start + len(self._factors), columns]
            self.largest = float(np.maximum(self.largest, lapack.extreme(np.triu(block))))

    def store_U(self, panel: int) -> None:
        """Put rows of U into place."""
        start, stop = self.layout.span(panel)
        right = self.layout.columns_below(stop, self.at.q)
        self.packed[start:stop, right:] = self._taken
        self.largest = float(np.maximum(self.largest, lapack.extreme(self._taken)))

    def assemble(self, panel: int) -> None:
        """All is in place."""
