"""Trailing matrix of the column-distributed PLU, with its rows of U, on the engine.

Three calls per panel, in this order: `exchange` passes L to the engine, which computes U; `split` removes the next
panel's columns; `update` subtracts L U from the others.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, asarray, product
from glla.array.convert import Float32
from glla.cluster import lapack
from glla.gl import default_device
from glla.operations.elimination import pivot
from glla.passes.layout import texels
from glla.queue.single import Coprocessor

Rows = NDArray[np.int64]


def done(value: Any) -> Future[Any]:
    """Return a future that is done."""
    future: Future[Any] = Future()
    future.set_result(value)
    return future


class HostColumns:
    """Trailing rows and columns with NumPy, in the caller's thread."""

    def __init__(self, values: Float32) -> None:
        self._values, self.loaded = values.copy(), done(None)
        self._lower = self._upper = values[:0]

    def exchange(self, order: Rows, block: Float32, lower: Float32) -> Future[Float32]:
        """Permute rows, and solve for the first of them, which are removed: U = L^-1 A.

        `order`: row that becomes row i. `block`, (b, b): L and U of the diagonal block, by columns. `lower`, (b, rows
        left): L below it, by columns. Must stay unchanged until the next panel.
        """
        moved = np.nonzero(order != np.arange(len(order)))[0]
        self._values[moved] = self._values[order[moved]]
        b = len(block)
        self._upper = upper = lapack.solve_lower(block.T, self._values[:b])
        self._values, self._lower = self._values[b:], lower.T
        return done(upper)

    def split(self, into: Float32) -> Future[Float32]:
        """Remove the first columns, subtract their part of L U, and read them back: by columns, as many as fit."""
        width = len(into)
        np.matmul(self._upper[:, :width].T, self._lower.T, out=into)
        np.subtract(self._values[:, :width].T, into, out=into)
        self._values, self._upper = self._values[:, width:], self._upper[:, width:]
        return done(into)

    def update(self) -> Future[Any]:
        """Subtract L U."""
        self._values -= self._lower @ self._upper
        return done(None)

    def finish(self) -> None:
        """Wait until all work is done: it is."""


# -- a GPU ------------------------------------------------------------------------------------------------------------

SHARE = 8
"""Rows, or columns, of the GPU's part are compacted when 1/8 of them is finished: finished ones are multiplied
needlessly, but every new size needs new textures and framebuffers, some 30 ms. PLU of n = 16384 on two H100s, seconds:
2.33 with 8, 2.42 with 16, 2.49 with 32 (nvidia-h100-80gb-hbm3-pcie-sse2/experiments/2026-11-24-share.json)."""

BAND = 1 << 24
"""Elements that are uploaded at a time."""

INVERTED = 128
"""Rows of a block from which U is a product with the inverse of L: below, the host solves, with less rounding error."""

SHORT = 2.0**12
"""Multipliers that are multiples of its reciprocal count as short: with them substitution may be exact, as for matrices
of small integers, and a product with the inverse is not."""

LARGEST_INVERSE = 1e4
"""Largest row sum of that inverse with which it is used: 190 for 512 random rows."""


class GpuPart:
    """A part of a matrix on the GPU. Its work runs in the coprocessor's thread, in order; after a failure, none."""

    def __init__(self, gpu: Coprocessor) -> None:
        self._gpu = gpu
        self._failure: BaseException | None = None

    def _submit(self, function: Any, *args: Any) -> Future[Any]:
        return self._gpu.submit(self._attempt, function, *args)

    def _attempt(self, function: Any, *args: Any) -> Any:
        """Run a function, unless earlier queued work has failed: then raise that error."""
        if self._failure is not None:
            raise self._failure
        try:
            return function(*args)
        except BaseException as error:
            self._failure = error
            raise


class GpuColumns(GpuPart):
    """Trailing columns on the GPU. Rows are not moved: the host keeps their logical order.

    Finished rows and columns stay, too, and are computed with, but never read. The host reads nothing back before the
    whole update of a panel is queued, so that the GPU works while it copies.

    The GPU's side is accessed in the coprocessor's thread only; order and dead columns already include all queued work.
    """

    def __init__(self, gpu: Coprocessor, values: Float32) -> None:
        super().__init__(gpu)
        self._shape: tuple[int, int] = values.shape[0], values.shape[1]
        self._order, self._dead = np.arange(len(values), dtype=np.int64), 0
        self._spare = [max(2, size // SHARE) for size in values.shape]
        self._asked: list[_Fetched] = []
        self._most = 0  # most elements of L in one upload
        self.loaded: Future[Any] = self._submit(self._load, values) if values.size else done(None)

    @property
    def _columns(self) -> int:
        return self._shape[1] - self._dead

    def _ask(self, function: Any, *args: Any) -> Future[Float32]:
        """Run a function; its result is read back once the update is queued."""
        asked = _Fetched()
        self._gpu.submit(asked.begin, self._attempt, function, *args)
        self._asked.append(asked)
        return asked.future

    def exchange(self, order: Rows, block: Float32, lower: Float32) -> Future[Float32]:
        """Exchange rows, and compute U."""
        b, order = len(block), self._order[order]
        winners, self._order = order[:b], order[b:]
        if not self._columns:
            return done(np.empty((b, 0), dtype=np.float32))
        if len(self._order):
            self._submit(self._take_lower, lower, self._shape[0])
        return self._ask(self._solve, winners, block, useful_inverse(block), self._dead)

    def split(self, into: Float32) -> Future[Float32]:
        """Remove the first columns."""
        dead = self._dead
        self._dead += len(into)
        if not len(self._order):
            return done(into)
        return self._ask(self._split, self._order, dead, into)

    def update(self) -> Future[Any]:
        """Subtract L U, and then read back the earlier requests.

        If the GPU has already computed U by then, it keeps up with the host, which waits for the next panel: that is
        read back before the update is queued.
        """
        last: Future[Any] = done(None)
        if len(self._asked) > 1:
            upper, panel = self._asked
            self._gpu.submit(panel.fetch, upper)
        if self._columns and len(self._order):
            last = self._submit(self._update, self._order)
        for asked in reversed(self._asked):  # the host waits for the next panel's columns
            self._gpu.submit(asked.fetch).add_done_callback(asked.fail)
        self._asked = []
        rows, dead_rows = len(self._order), self._shape[0] - len(self._order)
        spare = dead_rows >= self._spare[0] or self._dead >= self._spare[1]
        if spare and rows and self._columns and self._dead % 2 == 0:
            self._submit(self._pack, self._order, self._dead)
            self._shape = rows, self._columns
            self._order, self._dead = np.arange(rows, dtype=np.int64), 0
        return last

    def finish(self) -> None:
        """Wait until all work is done."""
        self._gpu.finish()

    # -- in the coprocessor's thread

    def _load(self, values: Float32) -> None:
        """Upload everything, some rows at a time, so that the only copy is to the driver's memory."""
        device, columns = default_device(), values.shape[1]
        rows = max(2, BAND // columns // 2 * 2)
        with device.uploads(min(rows, len(values)) * columns) as uploads:
            bands = [values[top : top + rows] for top in range(0, len(values), rows)]
            parts = [Array(device, uploads.upload(band), band.shape) for band in bands]
        self._whole: Array = parts[0] if len(parts) == 1 else np.concatenate(parts)  # type: ignore[assignment]

    def _pack(self, order: Rows, dead: int) -> None:
        self._whole = gathered(self._whole, order, dead)

    def _take_lower(self, lower: Float32, rows: int) -> None:
        """Upload L in the order of the panel, with as many rows as on the GPU, so that textures are reused."""
        device, shape = default_device(), (rows, len(lower))
        self._most = max(self._most, rows * len(lower))
        with device.uploads(self._most) as uploads:  # the same buffers for all panels
            self._lower: Array = Array(device, uploads.upload(lower.T, shape), shape)

    def _solve(self, winners: Rows, block: Float32, inverse: Float32 | None, dead: int) -> _Later:
        """Compute -U, dead columns included."""
        rows = gathered(self._whole, winners)
        if inverse is None:
            upper = lapack.solve_lower(block.T, rows.numpy())
            self._upper: Array = asarray(-upper, check_finite=False)
            return _Later(lambda: upper[:, dead:])
        self._upper = product("plu", asarray(-inverse, check_finite=False), rows)
        download = default_device().download_later(self._upper.texture, rows.value.matrix)

        def fetched() -> Float32:
            upper = download.result()
            return np.negative(upper, out=upper)[:, dead:]

        return _Later(fetched, download.ready)

    def _split(self, order: Rows, dead: int, into: Float32) -> _Later:
        left, width = len(order), len(into)
        variant = None if default_device().info.software else "register_blocked"  # few passes
        padded = np.zeros(len(self._lower), dtype=np.int64)
        padded[:left] = order
        first = gathered(self._whole, padded, dead, width)
        first = product("plu", self._lower, self._upper[:, dead : dead + width], variant=variant, onto=first)
        download = default_device().download_later(first.T.texture, (width, len(padded)))
        return _Later(lambda: download.corner(into), download.ready)

    def _update(self, order: Rows) -> None:
        places = np.zeros(len(self._lower), dtype=np.int64)
        places[order] = np.arange(len(order))
        self._whole = product("plu", gathered(self._lower, places), self._upper, onto=self._whole)


class _Later(NamedTuple):
    """A read-back from the GPU, and whether it returns without waiting."""

    fetch: Callable[[], Float32]
    ready: Callable[[], bool] = lambda: True


class _Fetched:
    """A computation on the GPU whose result is read back later."""

    def __init__(self) -> None:
        self.future: Future[Float32] = Future()
        self._result: _Later | None = None

    def begin(self, function: Callable[..., _Later], *args: Any) -> None:
        try:
            self._result = function(*args)
        except BaseException as error:
            self.future.set_exception(error)
            raise

    def fetch(self, after: _Fetched | None = None) -> None:
        """Read back the result, unless it must come `after` another one that the GPU has not done yet."""
        near = after is None or (after._result is not None and after._result.ready())
        if self._result is not None and near and not self.future.done():
            self.future.set_result(self._result.fetch())

    def fail(self, call: Future[Any]) -> None:
        if not self.future.done():
            error = CancelledError() if call.cancelled() else Future.exception(call)
            self.future.set_exception(error or RuntimeError("nothing was fetched"))


def useful_inverse(block: Float32) -> Float32 | None:
    """Inverse of the L of a packed block, by columns; None if substitution is preferable."""
    if len(block) < INVERTED or is_short(block):
        return None
    inverse = lapack.inverse_lower(block.T)
    return inverse if np.abs(inverse).sum(axis=1).max() < LARGEST_INVERSE else None


def is_short(block: Float32) -> bool:
    """Whether all multipliers of a packed block, by columns, are short fractions.

    >>> is_short(np.array([[3, 0.25], [7, 1.1]], dtype=np.float32)), is_short(np.array([[3, 0.1], [7, 1]]))
    (True, False)
    """
    scaled = np.triu(block, 1) * SHORT
    return bool((scaled == np.rint(scaled)).all())


def gathered(a: Array, rows: Rows, left: int = 0, columns: int | None = None) -> Array:
    """Gather rows of a matrix, and of these `columns` entries from `left`, an even index: one pass."""
    m, n = a.shape
    pairs = np.zeros((2 * texels(len(rows)), 2), dtype=np.float32)
    pairs[::2] = np.pad(rows, (0, len(rows) % 2)).reshape(-1, 2)  # a texel holds the sources of two rows
    plan = pivot.gather((m, n), len(rows), left, columns)
    made = a.device.run(plan, A=a.texture, rows=a.device.upload(pairs))["B"]
    return Array(a.device, made, (len(rows), n - left if columns is None else columns))
