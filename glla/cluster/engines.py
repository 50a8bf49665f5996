"""Engines for a rank's products: NumPy, or a GPU through the coprocessor. Its steps run in order.

`trailing` and `columns` of an engine upload the part of a matrix that is not factored yet, `sum` adds up products.
Their calls return futures at once.
"""

from __future__ import annotations

import os
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from glla.array.array import Array, asarray, product
from glla.array.convert import Float32
from glla.cluster.resident import GpuColumns, GpuPart, HostColumns, Rows, done, gathered
from glla.errors import one_of
from glla.gl import list_egl_devices
from glla.hybrid.cores import own_cores
from glla.queue.single import Coprocessor, coprocessor

# -- NumPy ------------------------------------------------------------------------------------------------------------


class _HostTrailing:
    """The part of a matrix that is not factored yet: rows and columns behind the panel."""

    def __init__(self, values: Float32) -> None:
        self._values = values.copy()

    def rows(self, places: Rows) -> Future[Float32]:
        """Read rows back."""
        return done(self._values[places])

    def replace(self, places: Rows, values: Float32, drop: int, own: Rows | None = None) -> None:
        """Overwrite some rows, then drop the first `drop` rows.

        If the new values are rows of this part, `own` has their indices.
        """
        self._values[places] = values
        self._values = self._values[drop:]

    def update(self, lower: Float32, upper: Float32) -> Future[Any]:
        """Subtract a product."""
        self._values -= lower @ upper
        return done(None)

    def split(self, lower: Float32, upper: Float32) -> Future[Float32]:
        """Remove the first columns, as many as `upper` has, subtract their product, and read them back."""
        columns = upper.shape[1]
        first = self._values[:, :columns] - lower @ upper
        self._values = self._values[:, columns:]
        return done(first)


class _HostSum:
    """A sum of products."""

    def __init__(self, rows: int, columns: int) -> None:
        self._values = np.zeros((rows, columns), dtype=np.float32)

    def add(self, a: Float32, b: Float32) -> Future[Any]:
        self._values += a @ b
        return done(None)

    def read(self) -> Future[Float32]:
        return done(self._values)


class Host:
    """NumPy, in the caller's thread."""

    name, asynchronous, cuda = "NumPy", False, None
    trailing, columns, sum = _HostTrailing, HostColumns, _HostSum

    def close(self) -> None:
        """No effect."""


# -- a GPU ------------------------------------------------------------------------------------------------------------


LIVE = 0.85
"""Finished rows and columns are removed from the GPU's part once less than this fraction of it is unfinished."""


class _GpuTrailing(GpuPart):
    """Trailing matrix on the GPU. Rows are not moved: the host keeps their logical order.

    Finished rows and columns stay in the texture until enough of it is dead: a copy of the whole and a texture of
    another size for every panel would cost more than the products. L has zeros in dead rows, U in dead columns.

    Rows from other ranks are in separate parts below. Parts are accessed in the coprocessor's thread only; heights,
    order and dead columns already include all queued work.
    """

    def __init__(self, gpu: Coprocessor, values: Float32) -> None:
        super().__init__(gpu)
        self._parts: list[Array] = []
        self._heights, self._width = [len(values)], values.shape[1]
        self._order, self._dead = np.arange(len(values), dtype=np.int64), 0
        if values.size:
            self._submit(self._load, np.ascontiguousarray(values))

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self._order), self._width - self._dead

    def _load(self, values: Float32) -> None:
        self._parts.append(asarray(values, check_finite=False))

    def rows(self, places: Rows) -> Future[Float32]:
        if not len(places) or 0 in self._shape:
            return done(np.empty((len(places), self._shape[1]), dtype=np.float32))
        return self._submit(self._rows, self._order[places], self._dead)

    def _rows(self, places: Rows, dead: int) -> Float32:
        found = np.empty((len(places), self._parts[0].shape[1] - dead), dtype=np.float32)
        for part, first in self._placed():
            here = np.nonzero((places >= first) & (places < first + len(part)))[0]
            if len(here):
                found[here] = gathered(part, places[here] - first, dead - dead % 2).numpy()[:, dead % 2 :]
        return found

    def _placed(self) -> list[tuple[Array, int]]:
        """Parts, each with its first row."""
        return list(zip(self._parts, np.cumsum([0, *map(len, self._parts)]).tolist(), strict=False))

    def replace(self, places: Rows, values: Float32, drop: int, own: Rows | None = None) -> None:
        order = self._order.copy()
        if own is None and len(places) and self._shape[1]:
            order[places] = sum(self._heights) + np.arange(len(places))
            self._heights.append(len(places))
            self._submit(self._append, values, self._dead)
        elif own is not None:
            order[places] = self._order[own]
        self._order = order[drop:]
        live, held = self._shape[0] * self._shape[1], sum(self._heights) * self._width
        if not live:
            self._submit(self._parts.clear)
        elif live < LIVE * held:
            self._submit(self._compact, self._order, self._dead)
            self._heights, self._width, self._dead = [len(self._order)], self._shape[1], 0
            self._order = np.arange(len(self._order), dtype=np.int64)

    def _append(self, values: Float32, dead: int) -> None:
        self._parts.append(asarray(_behind(values, dead), check_finite=False))

    def _compact(self, order: Rows, dead: int) -> None:
        whole: Any = self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
        whole = whole[:, dead:] if dead else whole
        self._parts[:] = [whole[order]]

    def update(self, lower: Float32, upper: Float32) -> Future[Any]:
        return done(None) if 0 in self._shape else self._submit(self._update, lower, upper, self._order, self._dead)

    def _update(self, lower: Float32, upper: Float32, order: Rows, dead: int) -> None:
        left, right = self._placed_rows(lower, order), _uploaded(_behind(upper, dead))
        self._parts[:] = [_minus(part, left[first : first + len(part)], right) for part, first in self._placed()]

    def _placed_rows(self, lower: Float32, order: Rows) -> Float32:
        """L with its rows in the GPU's order, zeros elsewhere."""
        rows = sum(map(len, self._parts))
        if np.array_equal(order, np.arange(rows)):
            return lower
        found = np.zeros((rows, lower.shape[1]), dtype=np.float32)
        found[order] = lower
        return found

    def split(self, lower: Float32, upper: Float32) -> Future[Float32]:
        rows, dead, first = self._shape[0], self._dead, upper.shape[1]
        self._dead += first
        if not rows:
            return done(np.empty((0, first), dtype=np.float32))
        return self._submit(self._split, lower, upper, self._order, dead)

    def _split(self, lower: Float32, upper: Float32, order: Rows, dead: int) -> Float32:
        left, right = self._placed_rows(lower, order), _uploaded(upper)
        columns = slice(dead, dead + upper.shape[1])
        found = [
            _minus(part[:, columns], left[first : first + len(part)], right).numpy() for part, first in self._placed()
        ]
        return np.concatenate(found)[order]


def _behind(values: Float32, dead: int) -> Float32:
    """Prepend columns of zeros."""
    return np.pad(values, ((0, 0), (dead, 0))) if dead else values


def _uploaded(values: Float32) -> Array:
    return asarray(np.ascontiguousarray(values), check_finite=False)


def _minus(a: Array, lower: Float32, upper: Array) -> Array:
    """Subtract a product; the sign is applied to L, which is exact."""
    return product("plu", _uploaded(-lower), upper, onto=a)


class _GpuSum(GpuPart):
    def __init__(self, gpu: Coprocessor, rows: int, columns: int) -> None:
        super().__init__(gpu)
        self._shape = rows, columns
        self._on_gpu: Array | None = None

    def add(self, a: Float32, b: Float32) -> Future[Any]:
        return done(None) if 0 in (*self._shape, a.shape[1]) else self._submit(self._add, a, b)

    def _add(self, a: Float32, b: Float32) -> None:
        left, right = asarray(a, check_finite=False), asarray(b, check_finite=False)
        self._on_gpu = product("matmul", left, right, onto=self._on_gpu)

    def read(self) -> Future[Float32]:
        return self._submit(self._read)

    def _read(self) -> Float32:
        if self._on_gpu is None:
            return np.zeros(self._shape, dtype=np.float32)
        return self._on_gpu.numpy()


SWITCHES = 2e-4
"""Seconds that Python makes the host's thread wait for the one that drives the GPU."""


class Gpu:
    """A device, in a coprocessor's thread.

    `device`: as in `glla.coprocessor`.
    """

    asynchronous = True
    """Whether it works in parallel with the host."""

    def __init__(self, device: str | int | None) -> None:
        # The host's thread makes many short calls meanwhile, each of which would wait 5 ms for the interpreter lock.
        self._gpu = coprocessor("egl" if device is not None else "auto", device=device, switch_interval=SWITCHES)
        self.name = self._gpu.info.renderer
        self.cuda = next((one.cuda for one in list_egl_devices() if one.index == _index(device)), None)
        self.trailing, self.columns = partial(_GpuTrailing, self._gpu), partial(GpuColumns, self._gpu)
        self.sum = partial(_GpuSum, self._gpu)

    def close(self) -> None:
        """Release the device."""
        self._gpu.close(cancel=True)


Engine: TypeAlias = Host | Gpu


def _index(device: str | int | None) -> int | None:
    """EGL index of a device that is requested by index; ``GLLA_DEVICE`` wins."""
    asked = os.environ.get("GLLA_DEVICE", "").strip() or str(device)
    return int(asked) if asked.isdecimal() else None


ENGINES = ("glla", "numpy")
"""Names of the engines of a grid."""


def device_of_rank(number: int) -> int | None:
    """EGL index of the GPU of a rank: the GPUs of a machine are distributed over its ranks. None without GPUs.

    ``CUDA_VISIBLE_DEVICES`` selects and orders the GPUs, whatever EGL's order is.

    `number`: number of the rank on its machine.
    """
    gpus = [device for device in list_egl_devices() if not device.software]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    order = [int(part) for part in visible.split(",") if part.strip().isdecimal()]
    chosen = [device for number in order for device in gpus if device.cuda == number]
    gpus = chosen or gpus
    return gpus[number % len(gpus)].index if gpus else None


def engine(name: str, device: str | int | None, host: tuple[int, int]) -> Engine:
    """Make the engine of a rank.

    `name` ("glla", "numpy"): the kind. `device`: for "glla": as in `glla.coprocessor`; None distributes the GPUs of the
    machine, or uses a software rasteriser. ``GLLA_DEVICE`` wins over it. `host`: number of the rank on its machine, and
    number of ranks there.
    """
    one_of("grid: engine", name, ENGINES)
    if name == "numpy":
        return Host()
    if not os.environ.get("GLLA_DEVICE", "").strip() and device is None:
        device = device_of_rank(host[0])
    if device in (None, "software"):
        # llvmpipe reads it with its first context, and would start a thread per core in every rank.
        share = own_cores() // host[1]
        os.environ.setdefault("LP_NUM_THREADS", str(share if share > 1 else 0))
    return Gpu(device)
