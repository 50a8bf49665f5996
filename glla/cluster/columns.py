"""PLU of a matrix in whole columns: the work of one rank in each step of `ColumnPLU`.

Panels are sent and factored by columns, as LAPACK stores them: an array whose row j is column j of the panel. Finished
rows and columns are stored in `packed` while the engine updates the trailing matrix; with a GPU a separate thread
stores them, and the host continues with the next panel.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32, all_finite
from glla.cluster import lapack
from glla.cluster.algorithms import PLU
from glla.cluster.engines import Engine
from glla.cluster.execute import Actor
from glla.cluster.messages import Bytes
from glla.errors import NonFiniteError
from glla.hybrid.cores import own_cores

F, I64 = np.float32, np.int64

STRIP = 512
"""Rows that are transposed at a time when columns are stored as rows; between two strips messages are progressed."""

TOUCHING = 4
"""Threads at most that touch the memory of the factors: the system clears each page, 1 GB in 0.35 s with one thread."""

MESSAGES = 3
"""Own panels whose messages are kept: one being sent, one being stored, one being factored."""

SLAB = 2048
"""Columns in which rows are exchanged at a time; between two slabs messages are progressed."""


def exchange_rows(values: Float32, order: NDArray[np.int64], between: Callable[[], None]) -> None:
    """Permute rows; only those that move are touched."""
    moved = np.nonzero(order != np.arange(len(order)))[0]
    for left in range(0, values.shape[1], SLAB):
        slab = values[:, left : left + SLAB]
        slab[moved] = slab[order[moved]]
        between()


def store_columns(target: Float32, columns: Float32, between: Callable[[], None]) -> None:
    """Store columns, given as rows."""
    for top in range(0, len(target), STRIP):
        target[top : top + STRIP] = columns[:, top : top + STRIP].T
        between()


class ColumnFactoring(Actor):
    """The state of one rank.

    `steps`: its position and its steps. `values`: its columns of the matrix, which are not modified. `engine`: has the
    trailing matrix.
    """

    def __init__(self, steps: PLU, values: Float32, engine: Engine) -> None:
        super().__init__()
        self.at, self.layout = steps, steps.layout
        self.packed = np.empty(values.shape, dtype=F)  # every element is stored once
        self.exchanges = np.empty(min(self.layout.shape), dtype=np.int64)
        first = steps.block_columns(0).stop if self.at.q == 0 and self.layout.panels else 0
        self._engine = engine.columns(values[:, first:])
        self._storing = ThreadPoolExecutor(1, "glla stores factors") if engine.asynchronous else None
        self._stored: list[Future[None]] = []
        self._later(self._touch)
        self.largest = 0.0
        """Largest magnitude in the own part of U."""
        self._messages: list[tuple[Bytes, int]] = []  # each with its panel
        self._lower_stored: dict[int, Future[None]] = {}
        self._message: Bytes = np.empty(0, dtype=np.uint8)
        self._factors = self._taken = np.empty((0, 0), dtype=F)
        if first:
            self._factors = self._next_message(0)
            for top in range(0, len(values), STRIP):
                self._factors[:, top : top + STRIP] = values[top : top + STRIP, :first].T
        self._order: NDArray[np.int64] = np.empty(0, I64)

    def take(self, name: str, result: Any) -> None:
        """Keep a result of the engine: the next panel, or rows of U."""
        if name == "update panel":
            self._factors = result
        elif name == "exchange rows":
            self._taken = result

    def load(self, panel: int) -> Future[Any]:
        """Return the future of the upload of the trailing matrix."""
        return self._engine.loaded

    def pivots(self, panel: int) -> None:
        """Factor the panel in place, in the message for the others."""
        if not all_finite(self._factors):
            raise NonFiniteError(f"plu: entries grow past float32's range in block column {panel}; scale the matrix")
        where, factors = self._unpacked(self._message, len(self._factors))
        found, where[...] = lapack.pivoted_columns(factors)
        if not np.may_share_memory(found, factors):
            factors[...] = found
        self.slots["L", panel] = self._message

    def _next_message(self, panel: int) -> Float32:
        """Allocate the message of an own panel; return the array of the panel in it, by columns.

        The memory of the third last message is reused: whoever factored a later panel has received it, as all have.
        """
        start, stop = self.layout.span(panel)
        b, rows = stop - start, self.layout.shape[0] - start
        nbytes = 8 * b + 4 * b * rows
        if len(self._messages) < MESSAGES:
            memory = np.empty(nbytes, dtype=np.uint8)
        else:
            memory, stored = self._messages.pop(0)
            if stored in self._lower_stored:
                self._lower_stored.pop(stored).result()  # usually done long ago
        self._messages.append((memory, panel))
        self._message = memory[:nbytes]
        return self._unpacked(self._message, b)[1]

    def _unpacked(self, message: Bytes, b: int) -> tuple[NDArray[np.int64], Float32]:
        """Exchanges, and the panel by columns: L and U of the diagonal block, then L below it."""
        return message[: 8 * b].view(I64), message[8 * b :].view(F).reshape(b, -1)

    def exchange_rows(self, panel: int) -> Future[Float32]:
        """Queue the row exchanges and the computation of U on the engine."""
        start, stop = self.layout.span(panel)
        b = stop - start
        exchanges, factors = self._unpacked(self.slots["L", panel], b)
        self.exchanges[start:stop] = start + exchanges
        self._order = lapack.permutation(exchanges, self.layout.shape[0] - start)
        return self._engine.exchange(self._order, factors[:, :b], factors[:, b:])

    def update_panel(self, panel: int) -> Future[Float32]:
        """Subtract L U in the columns of the next panel, and read them back."""
        return self._engine.split(self._next_message(panel + 1))

    def update_rest(self, panel: int) -> Future[Any]:
        """Subtract L U in the other columns."""
        return self._engine.update()

    def store_L(self, panel: int) -> None:
        """Store the panel, and exchange the rows of L left of it."""
        stored = self._later(self._put_lower, panel, self._order, self._factors)
        if stored is not None:
            self._lower_stored[panel] = stored

    def _put_lower(self, panel: int, order: NDArray[np.int64], factors: Float32) -> None:
        start, columns = self.layout.span(panel)[0], self.at.block_columns(panel)
        exchange_rows(self.packed[start:, : columns.start], order, self._between)
        if columns.stop > columns.start:
            store_columns(self.packed[start:, columns], factors, self._between)
            block = self.packed[start : start + len(factors), columns]
            self.largest = float(np.maximum(self.largest, lapack.extreme(np.triu(block))))

    def store_U(self, panel: int) -> None:
        """Store rows of U."""
        self._later(self._put_upper, panel, self._taken)

    def _put_upper(self, panel: int, rows: Float32) -> None:
        start, stop = self.layout.span(panel)
        self.packed[start:stop, self.layout.columns_below(stop, self.at.q) :] = rows
        self.largest = float(np.maximum(self.largest, lapack.extreme(rows)))

    def assemble(self, panel: int) -> None:
        """Wait until everything is stored."""
        for stored in self._stored:
            stored.result()
        if self._storing is not None:
            self._storing.shutdown()

    def _later(self, function: Callable[..., None], *args: Any) -> Future[None] | None:
        """Run a function in the storing thread, in order; without such a thread run it now."""
        if self._storing is None:
            function(*args)
            return None
        self._stored.append(self._storing.submit(function, *args))
        return self._stored[-1]

    def _between(self) -> None:
        """Progress messages, if this is the host's thread: no other one may call MPI."""
        if self._storing is None:
            self.between()

    def _touch(self) -> None:
        """Write to every page of the memory of the factors, by several threads if there are cores."""
        threads = min(TOUCHING, own_cores(self.layout.grid[1]) - 2)
        if self._storing is None or threads < 2 or not self.packed.size:
            return
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda band: band.fill(0), np.array_split(self.packed.reshape(-1), 4 * threads)))
