"""Products, and systems with many right-hand sides, that exceed a texture or the memory limit: tiled and streamed.

    C = A B, tile by tile                    A: its row panel stays while the tiles of B pass by (or the other way
              +----+----+----+                  round, whichever moves less);
              | B0 | B1 | B2 |               K: if a panel is too long, slabs of the inner dimension add up on the
              +----+----+----+                  device, and both operands pass by;
       +----+ +----+----+----+               C: each tile is read back while the next one is computed.
       | A0 | | C  | C  | C  |
       +----+ +----+----+----+               A X = B, factored once: blocks of columns of B and X pass by.
       | A1 | | C  | C  | C  |
       +----+ +----+----+----+

Overlap: commands are queued in this order, and only the last of them waits,

    upload tile t, compute tile t, read tile t back | fetch tile t - 1

so that the host reads back one tile and fills the staging buffer of the next while the GPU computes the one between.
The GPU executes commands in order, so its textures are reused for every tile; only the staging buffers are double.

All tiles of a product have one size, so that one plan and one set of textures serve them: the last one of a row or
column overlaps the one before, and computes the same elements again. The last slab is padded with zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from glla.array.array import Array, product
from glla.array.convert import Float32
from glla.errors import OutOfMemoryError
from glla.gl import Device, Download, Texture, Uploads
from glla.operations.product.tiles import Tiling, choose, columns_at_once, starts
from glla.operations.record import Way
from glla.passes import Plan, texture


@dataclass(frozen=True)
class Held:
    """A matrix on a device, or its factors, past which blocks of right-hand sides stream."""

    device: Device
    operands: Mapping[str, Texture]  # of the plan of a solution, by name, the matrix first
    solution: Callable[[int], Plan]  # (columns) -> plan of the solution for as many right-hand sides, a plan of plans


def seen(what: str, tile: int) -> None:
    """Called after each step of a tile: "upload", "compute" and "read back" when it is queued, "fetch" at its end.

    Tests and benchmarks put a function of theirs in its place.
    """


# -- streaming --------------------------------------------------------------------------------------------------------


class _Results:
    """Tiles on their way back: one is fetched when the next one is queued. A context manager, which fetches the last.

    If anything fails, none is waited for.
    """

    def __init__(self, device: Device) -> None:
        self._device = device
        self._open: tuple[int, Download, Float32] | None = None

    def __enter__(self) -> _Results:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._fetch()
        elif self._open is not None:
            self._open[1].release()

    def queue(self, tile: int, result: Array, target: Float32) -> None:
        """Queue the read-back of a tile, and fetch the one before."""
        download = self._device.download_later(result.texture, result.value.matrix)
        seen("read back", tile)
        try:
            self._fetch()
        except BaseException:
            download.release()
            raise
        self._open = (tile, download, target)

    def _fetch(self) -> None:
        if self._open is not None:
            tile, download, target = self._open
            self._open = None
            try:
                download.result(target)
            finally:
                download.release()
            seen("fetch", tile)


class _Operand:
    """An operand that passes by tile by tile: the tile that was used last stays until another one is asked for."""

    def __init__(self, device: Device, uploads: Uploads, array: Float32, shape: tuple[int, int]) -> None:
        self._device = device
        self._uploads = uploads
        self._array = array
        self._shape = shape
        self._held: tuple[tuple[int, int], Array] | None = None

    def at(self, top: int, left: int, tile: int) -> Array:
        """Return the tile that begins there, for tile so-and-so of the result."""
        if self._held is None or self._held[0] != (top, left):
            self._held = None  # what is queued still reads it, and comes before what will be written to it
            rows, columns = self._shape
            texture = self._uploads.upload(self._array[top : top + rows, left : left + columns], self._shape)
            self._held = ((top, left), Array(self._device, texture, self._shape))
            seen("upload", tile)
        return self._held[1]


def matmul(device: Device, a: Float32, b: Float32, out: Float32, variant: str | None = None) -> Tiling:
    """Multiply two matrices tile by tile. Synchronises.

    How it was cut.
    `device`: its `room` is kept to. `a`, `b`, (m, k): not empty; of any strides, or mapped from files. `out`, (m, n):
    where the product goes. Shares no memory with the operands. `variant`: a key of
    `glla.operations.product.matmul.VARIANTS`.
    Raises OutOfMemoryError, LimitError: as `choose`. Where the device's memory ends before its cap does, smaller tiles
    are tried first.

    Error: as of a product in one piece, abs(C - C^) <= K u abs(A) abs(B), K the inner dimension: slabs add up in
    another order, no more often.
    """
    shape = (a.shape[0], a.shape[1], b.shape[1])
    tiling = choose(*shape, device.limits, device.room, variant)
    while True:
        try:
            _stream(device, a, b, out, tiling)
            return tiling
        except OutOfMemoryError as error:
            try:
                tiling = choose(*shape, device.limits, tiling.nbytes // 2, variant)  # that take half as much
            except OutOfMemoryError:
                raise error from None


def _stream(device: Device, a: Float32, b: Float32, out: Float32, tiling: Tiling) -> None:
    rows, inner, columns = tiling.rows, tiling.inner, tiling.columns
    with device.current(), device.uploads(tiling.largest_upload) as uploads, _Results(device) as results:
        left_operand = _Operand(device, uploads, a, (rows, inner))
        right_operand = _Operand(device, uploads, b, (inner, columns))
        for tile, (top, left) in enumerate(tiling.order()):
            total: Array | None = None
            for first in range(0, a.shape[1], inner):
                slab_a = left_operand.at(top, first, tile)
                slab_b = right_operand.at(first, left, tile)
                way: Way = {"variant": tiling.variant, "parameters": tiling.parameters}
                total = product("matmul", slab_a, slab_b, total, **way)
                del slab_a, slab_b  # held by the operands alone, which let go of them before the next upload
                seen("compute", tile)
            assert total is not None
            results.queue(tile, total, out[top : top + rows, left : left + columns])
            del total


def solve(factors: Held, b: Float32 | None, out: Float32) -> None:
    """Solve A X = B block by block of B's columns. Synchronises.

    `factors`: of a regular matrix of order n. `b`: None for the identity. `out`, (n, k): where X goes.
    Raises OutOfMemoryError: there is no room beside the factors for a single right-hand side.
    """
    device, (order, columns) = factors.device, out.shape
    size = columns_at_once(
        (order, columns),
        device.limits,
        device.room,
        factors.solution,
        texture(next(iter(factors.operands.values())).storage),
    )
    while True:
        try:
            return _stream_columns(factors, b, out, size)
        except OutOfMemoryError:  # the device's memory ended before its cap did
            if size == 1:
                raise
            size = -(-size // 2)


def _stream_columns(factors: Held, b: Float32 | None, out: Float32, size: int) -> None:
    device, (order, columns) = factors.device, out.shape
    with device.current(), device.uploads(order * size) as uploads, _Results(device) as results:
        for tile, left in enumerate(starts(columns, size)):
            place = slice(left, left + size)
            right = Array(device, uploads.upload(some_columns(b, order, place)), (order, size))
            seen("upload", tile)
            made = device.run(factors.solution(size), **factors.operands, B=right.texture)
            x = Array(device, made.pop("X"), (order, size))
            del right
            seen("compute", tile)
            results.queue(tile, x, out[:, place])
            del x


def some_columns(b: Float32 | None, order: int, place: slice) -> Float32:
    """Take columns of B, or of the identity in its place.

    >>> some_columns(None, 3, slice(1, 3)).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    return np.eye(order, place.stop - place.start, -place.start, dtype=np.float32) if b is None else b[:, place]
