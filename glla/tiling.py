"""Products, and systems with many right-hand sides, that exceed a texture or the memory allowed: cut and streamed.

    C = A B, tile by tile                    A: its row panel stays while the tiles of B pass by (or the other way
              +----+----+----+                  round, whichever moves less);
              | B0 | B1 | B2 |               K: if a panel is too long, slabs of the inner dimension add up on the
              +----+----+----+                  device, and both operands pass by;
       +----+ +----+----+----+               C: each tile is read back while the next one is computed.
       | A0 | | C  | C  | C  |
       +----+ +----+----+----+               A X = B, factored once: blocks of columns of B and X pass by.
       | A1 | | C  | C  | C  |
       +----+ +----+----+----+

What overlaps: commands are queued in this order, and only the last of them waits,

    upload tile t, compute tile t, read tile t back | fetch tile t - 1

so that the host fetches one tile and fills the staging buffer of the next while the GPU computes the one between. The
GPU itself keeps the order of its commands, so its textures serve every tile again; only the staging buffers are double.

All tiles of a product are of one size, so that one plan and one set of textures serve them: the last one of a row or
column overlaps the one before, and computes the same elements again. The last slab is filled up with zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from types import TracebackType
from typing import Any

import numpy as np

from glla.device import Device, Download, Uploads
from glla.errors import OutOfMemoryError
from glla.factors import Factors
from glla.kernels import matmul as kernel
from glla.layout import ELEMENT_BYTES
from glla.matrix import Array, Matrix, product
from glla.passes import Limits, Plan, Storage, matrix

SMALLEST = 16
"""Rows and columns of the smallest tile: below, nothing is gained."""

ALIGNED = 16
"""Sizes of larger tiles are multiples of this: a panel of `panel_broadcast` is that high."""

FASTEST_FIRST = ("panel_broadcast", "register_blocked", "inner_product")
"""What `glla.kernels.matmul.choose` may choose, in this order at the sizes that are worth a tile; see there. Every tile
moves once or twice over the bus, but computes for far longer: the faster variant counts more than the traffic."""

DEVICE_TO_BUS = 8
"""An NVIDIA H200 writes textures at 56 GB/s, and moves 6 GB/s over the bus."""

STEPS = 8
"""Of the numbers of tiles in a row beyond this, about every ninth-part larger one is tried."""

Watch = Callable[[str, int], None]
"""Told what was just done for which tile: "upload", "compute" and "read back" when it is queued, "fetch" when the
result has arrived in host memory."""


def _silent(what: str, tile: int) -> None:
    pass


# -- sizes ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tiling:
    """How a product is cut.

    Attributes
    ----------
    shape : (int, int, int)
        Rows of A, inner dimension, columns of B, of the whole.
    rows, inner, columns : int
        The same of a tile.
    variant : str
        Of the product of two tiles.
    nbytes : int
        What it takes on the device, staging buffers included.
    """

    shape: tuple[int, int, int]
    rows: int
    inner: int
    columns: int
    variant: str
    nbytes: int = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        """Tiles below each other, slabs of the inner dimension, tiles beside each other."""
        rows, inner, columns = (
            -(-whole // part) for whole, part in zip(self.shape, (self.rows, self.inner, self.columns), strict=True)
        )
        return rows, inner, columns

    @property
    def uploads(self) -> tuple[int, int, bool]:
        """Tiles of A and of B that travel, and whether the tiles of C go column by column."""
        rows, slabs, columns = self.counts
        tiles = rows * columns
        if slabs > 1:
            return tiles * slabs, tiles * slabs, False
        by_row = (rows, tiles if columns > 1 else 1)
        by_column = (tiles if rows > 1 else 1, columns)
        column_first = self._elements(*by_column) < self._elements(*by_row)
        return (*(by_column if column_first else by_row), column_first)

    def _elements(self, of_a: int, of_b: int) -> int:
        return of_a * self.rows * self.inner + of_b * self.inner * self.columns

    @property
    def traffic(self) -> int:
        """Bytes uploaded and read back."""
        of_a, of_b, _ = self.uploads
        return ELEMENT_BYTES * self._elements(of_a, of_b) + self._bytes_of_c

    @property
    def _bytes_of_c(self) -> int:
        rows, _, columns = self.counts
        return ELEMENT_BYTES * rows * columns * self.rows * self.columns

    @property
    def rank(self) -> int:
        """Place of the variant, the fastest first."""
        return FASTEST_FIRST.index(self.variant)

    @property
    def effort(self) -> float:
        """Bytes over the bus; those that slabs move within the device, to read C and write it again, count less."""
        return self.traffic + 2 * (self.counts[1] - 1) * self._bytes_of_c / DEVICE_TO_BUS

    def plan(self, limits: Limits) -> Plan:
        """Plan of the product of two tiles, added to that of the slabs before if there are any."""
        return kernel.plan(self.rows, self.inner, self.columns, self.variant, limits, self.counts[1] > 1)

    @property
    def largest_upload(self) -> int:
        """Elements of the larger one of a tile of A and one of B."""
        return self.inner * max(self.rows, self.columns)

    def order(self) -> Iterator[tuple[int, int]]:
        """First row and first column of each tile of C, in the order in which they are made."""
        tops, lefts = _starts(self.shape[0], self.rows), _starts(self.shape[2], self.columns)
        if self.uploads[2]:
            return ((top, left) for left in lefts for top in tops)
        return ((top, left) for top in tops for left in lefts)

    def least_bytes(self) -> int:
        """What every variant takes: the tiles, raw and packed, and the staging buffers."""
        shapes = ((self.rows, self.inner), (self.inner, self.columns), (self.rows, self.columns))
        return _bytes(Counter(matrix(shape) for shape in shapes) | _raw(*shapes)) + self._staging()

    def bytes_of(self, plan: Plan) -> int:
        """What the plan of a tile's product takes, besides what stands ready for the next one."""
        shapes = ((self.rows, self.inner), (self.inner, self.columns), (self.rows, self.columns))
        return _bytes(Counter(plan.slots.values()) | _raw(*shapes)) + self._staging()

    def _staging(self) -> int:
        return 2 * ELEMENT_BYTES * (self.largest_upload + self.rows * self.columns)


def _raw(*shapes: tuple[int, int]) -> Counter[Storage]:
    """One raw texture of each shape; equal ones are the same texture."""
    return Counter({Storage(*shape, 1): 1 for shape in shapes})


def _bytes(storages: Counter[Storage]) -> int:
    return sum(storage.nbytes * count for storage, count in storages.items())


def _fits_textures(plan: Plan, limits: Limits) -> bool:
    sides = (max(storage.height, storage.width) for storage in plan.slots.values() if not storage.buffer)
    return max(sides) <= limits.texture_size


def _starts(length: int, size: int) -> list[int]:
    """Where parts of one size begin that cover a length; the last one overlaps the one before.

    >>> _starts(10, 4)
    [0, 4, 6]
    """
    return [min(start, length - size) for start in range(0, length, size)]


def _part(length: int, parts: int) -> int:
    """Size of so many equal parts, rounded up to a good number where there is room for it.

    >>> _part(1000, 7), _part(100, 7)
    (144, 15)
    """
    size = -(-length // parts)
    return min(length, -(-size // ALIGNED) * ALIGNED if size > 4 * ALIGNED else size)


def _cuts(length: int, smallest: int, largest: int) -> Iterator[int]:
    """Numbers of parts to try for a length, from the fewest that no part exceeds `largest` to those of `smallest`."""
    parts, most = -(-length // largest), -(-length // min(smallest, largest))
    while parts < most:
        yield parts
        parts += max(1, parts // STEPS)
    yield most


def _candidates(m: int, k: int, n: int, side: int) -> Iterator[tuple[int, int, int]]:
    """Sizes of tiles to try, all of which go through raw textures: square ones of C where it has the room."""
    longest = max(m, n)
    slabs = -(-k // side)
    while True:
        inner = -(-k // slabs)
        inner += inner % 2 if slabs > 1 and inner < side else 0
        for parts in _cuts(longest, SMALLEST, side):
            size = -(-longest // parts)
            rows, columns = (_part(length, -(-length // size)) for length in (m, n))
            if max(rows, columns) <= side:
                yield rows, inner, columns
        if inner <= SMALLEST:
            return
        slabs = min(2 * slabs, -(-k // min(SMALLEST, side)))


@lru_cache(maxsize=256)
def choose(m: int, k: int, n: int, limits: Limits, room: int | None = None, variant: str | None = None) -> Tiling:
    """Choose the tiles of a product: the fastest variant that has room, and of its sizes the one that moves least.

    Parameters
    ----------
    m, k, n : int
        Rows of A, inner dimension, columns of B; all > 0.
    limits : Limits
        No texture of a tile's plan is larger than they allow.
    room : int, optional
        Bytes that everything on the device may take, staging buffers included.
    variant : str, optional
        A key of `glla.kernels.matmul.VARIANTS`; by default `glla.kernels.matmul.choose` decides tile by tile size.

    Raises
    ------
    OutOfMemoryError
        Even the smallest tile needs more; the message says how much.
    LimitError
        The variant needs larger textures even for that one.

    Examples
    --------
    >>> tiling = choose(40000, 8192, 40000, Limits(texture_size=32768), 4 * 10**9)
    >>> tiling.rows, tiling.inner, tiling.columns, tiling.variant
    (5728, 8192, 5728, 'panel_broadcast')
    >>> tiling.nbytes < 4e9
    True
    """
    tilings = []
    for rows, inner, columns in _candidates(m, k, n, limits.texture_size):
        chosen = variant or kernel.choose(rows, inner, columns, limits)
        tilings.append(Tiling((m, k, n), rows, inner, columns, chosen))
    smallest = tilings[-1]
    possible = [tiling for tiling in tilings if room is None or tiling.least_bytes() <= room]
    for tiling in sorted(possible, key=lambda tiling: (variant is None and tiling.rank, tiling.effort)):
        plan = tiling.plan(limits)
        nbytes = tiling.bytes_of(plan)
        if _fits_textures(plan, limits) and (room is None or nbytes <= room):
            return replace(tiling, nbytes=nbytes)
    plan = smallest.plan(limits)
    plan.check(limits)
    raise OutOfMemoryError(
        f"matmul: the smallest tile, {smallest.rows} x {smallest.inner} times {smallest.inner} x {smallest.columns}, "
        f"takes {smallest.bytes_of(plan)} bytes on the device, {room} are left; raise its max_bytes, or release "
        "matrices"
    )


def fits_whole(device: Device, m: int, k: int, n: int, variant: str | None = None) -> bool:
    """Whether a product need not be cut. Costs nothing where the device has no cap and no variant is asked for."""
    limits, room = device.limits, device.room
    if max(m, k, n) > 2 * limits.texture_size:
        return False
    if room is None and variant is None:
        return True
    plan = kernel.plan(m, k, n, variant or kernel.choose(m, k, n, limits), limits)
    (a, raw_a), (b, raw_b), (c, raw_c) = (
        (matrix((rows, columns)).nbytes, ELEMENT_BYTES * rows * columns) for rows, columns in ((m, k), (k, n), (m, n))
    )
    computing = sum(storage.nbytes for storage in plan.slots.values())
    needed = max(a + raw_a, a + b + raw_b, computing, c + raw_c)  # one after the other
    return _fits_textures(plan, limits) and (room is None or needed <= room)


# -- streaming --------------------------------------------------------------------------------------------------------


class _Results:
    """Tiles on their way back: one is fetched when the next one is queued. A context manager, which fetches the last.

    If anything fails, none is waited for.
    """

    def __init__(self, device: Device, watch: Watch) -> None:
        self._device = device
        self._watch = watch
        self._open: tuple[int, Download, Array] | None = None

    def __enter__(self) -> _Results:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._fetch()
        elif self._open is not None:
            self._open[1].release()

    def queue(self, tile: int, result: Matrix, target: Array) -> None:
        """Queue the read-back of a tile, and fetch the one before."""
        download = self._device.download_later(result.texture, result.shape)
        self._watch("read back", tile)
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
            self._watch("fetch", tile)


class _Operand:
    """An operand that passes by tile by tile: the tile that was used last stays until another one is asked for."""

    def __init__(self, device: Device, uploads: Uploads, array: Array, shape: tuple[int, int], watch: Watch) -> None:
        self._device = device
        self._uploads = uploads
        self._array = array
        self._shape = shape
        self._watch = watch
        self._held: tuple[tuple[int, int], Matrix] | None = None

    def at(self, top: int, left: int, tile: int) -> Matrix:
        """Give the tile that begins there, for tile so-and-so of the result."""
        if self._held is None or self._held[0] != (top, left):
            self._held = None  # what is queued still reads it, and comes before what will be written to it
            rows, columns = self._shape
            texture = self._uploads.upload(self._array[top : top + rows, left : left + columns], self._shape)
            self._held = ((top, left), Matrix(self._device, texture, self._shape))
            self._watch("upload", tile)
        return self._held[1]


def matmul(
    device: Device, a: Array, b: Array, out: Array, variant: str | None = None, watch: Watch = _silent
) -> Tiling:
    """Multiply two matrices tile by tile. Synchronises.

    Parameters
    ----------
    device : Device
        Its `room` is kept to.
    a, b : ndarray of float32, shapes (m, k) and (k, n)
        Not empty; of any strides, or mapped from files.
    out : ndarray of float32, shape (m, n)
        Where the product goes. Shares no memory with the operands.
    variant : str, optional
        A key of `glla.kernels.matmul.VARIANTS`.
    watch : callable, optional
        Told of every step, see `Watch`.

    Returns
    -------
    Tiling
        How it was cut.

    Raises
    ------
    OutOfMemoryError, LimitError
        As `choose`. Where the device's memory ends before its cap does, smaller tiles are tried first.

    Notes
    -----
    Error: as of a product in one piece, abs(C - C^) <= K u abs(A) abs(B), K the inner dimension: slabs add up in
    another order, no more often.
    """
    shape = (a.shape[0], a.shape[1], b.shape[1])
    tiling = choose(*shape, device.limits, device.room, variant)
    while True:
        try:
            _stream(device, a, b, out, tiling, watch)
            return tiling
        except OutOfMemoryError as error:
            tiling = _smaller(shape, tiling, device, variant, error)


def _smaller(
    shape: tuple[int, int, int], tiling: Tiling, device: Device, variant: str | None, error: OutOfMemoryError
) -> Tiling:
    """Tiles that take half as much; if there are none, the error that asks for them is raised."""
    try:
        return choose(*shape, device.limits, tiling.nbytes // 2, variant)
    except OutOfMemoryError:
        raise error from None


def _stream(device: Device, a: Array, b: Array, out: Array, tiling: Tiling, watch: Watch) -> None:
    rows, inner, columns = tiling.rows, tiling.inner, tiling.columns
    with (
        device.current(),
        device.uploads(tiling.largest_upload) as uploads,
        _Results(device, watch) as results,
    ):
        left_operand = _Operand(device, uploads, a, (rows, inner), watch)
        right_operand = _Operand(device, uploads, b, (inner, columns), watch)
        for tile, (top, left) in enumerate(tiling.order()):
            total: Matrix | None = None
            for first in range(0, a.shape[1], inner):
                slab_a = left_operand.at(top, first, tile)
                slab_b = right_operand.at(first, left, tile)
                total = product("matmul", slab_a, slab_b, tiling.variant, total)
                del slab_a, slab_b  # held by the operands alone, which let go of them before the next upload
                watch("compute", tile)
            assert total is not None
            results.queue(tile, total, out[top : top + rows, left : left + columns])
            del total


def width(factors: Factors, columns: int, transposed: bool = False) -> int:
    """Most right-hand sides at a time that a system can be solved for on the factors' device.

    Raises
    ------
    OutOfMemoryError
        There is no room for a single one.
    """
    device, order = factors.device, factors.shape[0]
    room, needed = device.room, 0
    for parts in _cuts(columns, 1, device.limits.texture_size):
        size = _part(columns, parts)
        if size > device.limits.texture_size:
            continue
        storage = matrix((order, size))
        least = 4 * ELEMENT_BYTES * order * size + Storage(order, size, 1).nbytes + 3 * storage.nbytes
        if room is not None and least > room and size > 1:
            continue
        taken = _raw((order, size))
        for plan in factors.plans(size, transposed):
            taken |= Counter(plan.slots.values()) + Counter([storage])  # the block itself is held by who solves
        needed = _bytes(taken) + 4 * ELEMENT_BYTES * order * size - factors.lu.texture.storage.nbytes
        if room is None or needed <= room:
            return size
    raise OutOfMemoryError(
        f"solve: beside its factors, of order {order}, a single right-hand side takes {needed} bytes on the device, "
        f"{room} are left; raise its max_bytes, or release matrices"
    )


def solve(
    factors: Factors,
    block: Callable[[slice], Array],
    out: Array,
    transposed: bool = False,
    watch: Watch = _silent,
) -> None:
    """Solve A X = B, or with the transpose of A, block by block of B's columns. Synchronises.

    Parameters
    ----------
    factors : Factors
        Of a regular matrix of order n.
    block : callable
        Gives some columns of B.
    out : ndarray of float32, shape (n, k)
        Where X goes.
    transposed : bool
        Solve with the transpose.
    watch : callable, optional
        Told of every step, see `Watch`.

    Raises
    ------
    OutOfMemoryError
        There is no room beside the factors for a single right-hand side.
    """
    size = width(factors, out.shape[1], transposed)
    while True:
        try:
            return _stream_columns(factors, block, out, transposed, size, watch)
        except OutOfMemoryError:  # the device's memory ended before its cap did
            if size == 1:
                raise
            size = -(-size // 2)


def _stream_columns(
    factors: Factors, block: Callable[[slice], Array], out: Array, transposed: bool, size: int, watch: Watch
) -> None:
    device, (order, columns) = factors.device, out.shape
    with device.current(), device.uploads(order * size) as uploads, _Results(device, watch) as results:
        for tile, left in enumerate(_starts(columns, size)):
            place = slice(left, left + size)
            b = Matrix(device, uploads.upload(block(place)), (order, size))
            watch("upload", tile)
            x = factors.solve(b, transposed)
            del b
            watch("compute", tile)
            results.queue(tile, x, out[:, place])
            del x


def columns_of(b: Array) -> Callable[[slice], Array]:
    """Give blocks of an array's columns, for `solve`."""
    return lambda place: b[:, place]


def columns_of_identity(order: int) -> Callable[[slice], Array]:
    """Give blocks of the identity's columns, for `solve`.

    >>> columns_of_identity(3)(slice(1, 3)).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """

    def block(place: slice) -> Any:
        return np.eye(order, place.stop - place.start, -place.start, dtype=np.float32)

    return block
