"""What a rank computes its products with: NumPy, or a GPU through the coprocessor. Its steps run in their order.

A `Trailing` is the part of a matrix that a factorisation has still to do. A `Sum` adds up products. Their calls return
at once; what they give is a future.
"""

from __future__ import annotations

import os
from concurrent.futures import Future
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Matrix, asarray, product
from glla.array.convert import Array
from glla.errors import one_of
from glla.gl import list_egl_devices
from glla.queue.coprocessor import Coprocessor, coprocessor

Rows = NDArray[np.int64]


class Trailing(Protocol):
    """The part of a matrix that is still to be factored, rows and columns behind the panel."""

    def rows(self, places: Rows) -> Future[Array]:
        """Read rows back."""

    def replace(self, places: Rows, values: Array, drop: int) -> None:
        """Put other values into some rows, then leave out the first `drop` rows."""

    def update(self, lower: Array, upper: Array) -> Future[Any]:
        """Subtract a product."""

    def split(self, lower: Array, upper: Array) -> Future[Array]:
        """Take the first columns off, as many as `upper` has, subtract their product, and read them back."""


class Sum(Protocol):
    """A sum of products."""

    def add(self, a: Array, b: Array) -> Future[Any]:
        """Add a product."""

    def read(self) -> Future[Array]:
        """Read it back."""


class Engine(Protocol):
    """What a rank computes with."""

    name: str
    asynchronous: bool
    """Whether it works while the host does something else."""
    cuda: int | None
    """CUDA's number of the GPU, where it has one."""

    def trailing(self, values: Array) -> Trailing:
        """Take a part of a matrix."""

    def sum(self, rows: int, columns: int) -> Sum:
        """Begin a sum with zeros."""

    def close(self) -> None:
        """Release what it holds."""


def _done(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


# -- NumPy ------------------------------------------------------------------------------------------------------------


class _HostTrailing:
    def __init__(self, values: Array) -> None:
        self._values = values.copy()

    def rows(self, places: Rows) -> Future[Array]:
        return _done(self._values[places])

    def replace(self, places: Rows, values: Array, drop: int) -> None:
        self._values[places] = values
        self._values = self._values[drop:]

    def update(self, lower: Array, upper: Array) -> Future[Any]:
        self._values -= lower @ upper
        return _done(None)

    def split(self, lower: Array, upper: Array) -> Future[Array]:
        columns = upper.shape[1]
        first = self._values[:, :columns] - lower @ upper
        self._values = self._values[:, columns:]
        return _done(first)


class _HostSum:
    def __init__(self, rows: int, columns: int) -> None:
        self._values = np.zeros((rows, columns), dtype=np.float32)

    def add(self, a: Array, b: Array) -> Future[Any]:
        self._values += a @ b
        return _done(None)

    def read(self) -> Future[Array]:
        return _done(self._values)


class Host:
    """NumPy, in the caller's thread."""

    name, asynchronous = "NumPy", False
    cuda: int | None = None

    def trailing(self, values: Array) -> Trailing:
        """Take a part of a matrix."""
        return _HostTrailing(values)

    def sum(self, rows: int, columns: int) -> Sum:
        """Begin a sum with zeros."""
        return _HostSum(rows, columns)

    def close(self) -> None:
        """Nothing is held."""


# -- a GPU ------------------------------------------------------------------------------------------------------------


class _GpuTrailing:
    """All but the shape is touched in the coprocessor's thread alone."""

    def __init__(self, gpu: Coprocessor, values: Array) -> None:
        self._gpu = gpu
        self._shape = values.shape
        self._on_gpu: Matrix | None = None
        if values.size:
            self._submit(self._load, np.ascontiguousarray(values))

    def _submit(self, function: Any, *args: Any) -> Future[Any]:
        return self._gpu.submit(function, *args)

    def _load(self, values: Array) -> None:
        self._on_gpu = asarray(values, check_finite=False)

    def rows(self, places: Rows) -> Future[Array]:
        if not len(places) or 0 in self._shape:
            return _done(np.empty((len(places), self._shape[1]), dtype=np.float32))
        return self._submit(self._rows, places)

    def _rows(self, places: Rows) -> Array:
        assert self._on_gpu is not None
        return self._on_gpu[places].numpy()

    def replace(self, places: Rows, values: Array, drop: int) -> None:
        rows, columns = self._shape
        self._shape = rows - drop, columns
        if 0 in self._shape:
            self._submit(self._forget)
        elif len(places) or drop:
            order = np.arange(rows, dtype=np.int64)
            order[places] = rows + np.arange(len(places))
            self._submit(self._replace, order[drop:], values)

    def _forget(self) -> None:
        self._on_gpu = None

    def _replace(self, order: Rows, values: Array) -> None:
        assert self._on_gpu is not None
        whole = self._on_gpu
        if len(values):
            whole = np.concatenate([whole, asarray(values, check_finite=False)])  # type: ignore[assignment]
        self._on_gpu = whole[order]

    def update(self, lower: Array, upper: Array) -> Future[Any]:
        return _done(None) if 0 in self._shape else self._submit(self._update, lower, upper)

    def _update(self, lower: Array, upper: Array) -> None:
        assert self._on_gpu is not None
        self._on_gpu = _minus(self._on_gpu, lower, upper)

    def split(self, lower: Array, upper: Array) -> Future[Array]:
        (rows, columns), first = self._shape, upper.shape[1]
        self._shape = rows, columns - first
        if not rows:
            return _done(np.empty((0, first), dtype=np.float32))
        return self._submit(self._split, lower, upper)

    def _split(self, lower: Array, upper: Array) -> Array:
        assert self._on_gpu is not None
        columns = upper.shape[1]
        first = _minus(self._on_gpu[:, :columns], lower, upper)
        self._on_gpu = self._on_gpu[:, columns:] if self._on_gpu.shape[1] > columns else None
        return first.numpy()


def _minus(a: Matrix, lower: Array, upper: Array) -> Matrix:
    """Subtract a product; the sign goes to L, which rounds nothing."""
    left, right = asarray(-lower, check_finite=False), asarray(np.ascontiguousarray(upper), check_finite=False)
    return product("plu", left, right, onto=a)


class _GpuSum:
    def __init__(self, gpu: Coprocessor, rows: int, columns: int) -> None:
        self._gpu = gpu
        self._shape = rows, columns
        self._on_gpu: Matrix | None = None

    def add(self, a: Array, b: Array) -> Future[Any]:
        return _done(None) if 0 in (*self._shape, a.shape[1]) else self._gpu.submit(self._add, a, b)

    def _add(self, a: Array, b: Array) -> None:
        left, right = asarray(a, check_finite=False), asarray(b, check_finite=False)
        self._on_gpu = product("matmul", left, right, onto=self._on_gpu)

    def read(self) -> Future[Array]:
        return self._gpu.submit(self._read)

    def _read(self) -> Array:
        if self._on_gpu is None:
            return np.zeros(self._shape, dtype=np.float32)
        return self._on_gpu.numpy()


class Gpu:
    """A device, in a coprocessor's thread.

    Parameters
    ----------
    device : str, int or None
        As for `glla.coprocessor`.
    """

    asynchronous = True

    def __init__(self, device: str | int | None) -> None:
        self._gpu = coprocessor("egl" if device is not None else "auto", device=device)
        self.name = self._gpu.info.renderer
        self.cuda = next((one.cuda for one in list_egl_devices() if one.index == _index(device)), None)

    def trailing(self, values: Array) -> Trailing:
        """Take a part of a matrix."""
        return _GpuTrailing(self._gpu, values)

    def sum(self, rows: int, columns: int) -> Sum:
        """Begin a sum with zeros."""
        return _GpuSum(self._gpu, rows, columns)

    def close(self) -> None:
        """Release the device."""
        self._gpu.close(cancel=True)


def _index(device: str | int | None) -> int | None:
    """EGL index of a device that is asked for by it; ``GLLA_DEVICE`` wins."""
    asked = os.environ.get("GLLA_DEVICE", "").strip() or str(device)
    return int(asked) if asked.isdecimal() else None


ENGINES = ("glla", "numpy")
"""What a grid may compute with."""


def device_of_rank(number: int) -> int | None:
    """EGL index of the GPU of a rank: the GPUs of a machine are dealt out to its ranks. None where there is none.

    ``CUDA_VISIBLE_DEVICES`` leaves out GPUs, and says in which order they are dealt out, whatever EGL's order is.

    Parameters
    ----------
    number : int
        Of the rank, among those on its machine.
    """
    gpus = [device for device in list_egl_devices() if not device.software]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    order = [int(part) for part in visible.split(",") if part.strip().isdecimal()]
    chosen = [device for number in order for device in gpus if device.cuda == number]
    gpus = chosen or gpus
    return gpus[number % len(gpus)].index if gpus else None


def engine(name: str, device: str | int | None, host: tuple[int, int]) -> Engine:
    """Make the engine of a rank.

    Parameters
    ----------
    name : {"glla", "numpy"}
        Which.
    device : str, int or None
        Of "glla": as for `glla.coprocessor`; None deals out the GPUs of the machine, or takes a software rasteriser.
        ``GLLA_DEVICE`` wins over it.
    host : (int, int)
        Number of the rank on its machine, and how many ranks there are.
    """
    one_of("grid: engine", name, ENGINES)
    if name == "numpy":
        return Host()
    if not os.environ.get("GLLA_DEVICE", "").strip() and device is None:
        device = device_of_rank(host[0])
    if device in (None, "software"):
        # llvmpipe reads it when it makes its first context, and would start a thread for every core in every rank.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        share = cores // host[1]
        os.environ.setdefault("LP_NUM_THREADS", str(share if share > 1 else 0))
    return Gpu(device)
