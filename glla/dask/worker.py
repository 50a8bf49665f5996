"""The worker side of tasks: one coprocessor for each process, with a bounded cache of operands on its device."""

from __future__ import annotations

import atexit
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glla.array.array import Array, asarray, product
from glla.array.convert import Float32
from glla.errors import NonFiniteError
from glla.queue.single import Coprocessor, coprocessor

MOST_BYTES = 256 << 20
"""Bytes of operands cached on a worker's device between tasks; GLLA_DASK_CACHE_BYTES sets another bound."""


class _Residents:
    """LRU cache of operands on the device. Used in the coprocessor's thread only.

    The key of an operand is a hash of its bytes, so that equal chunks are found wherever they come from.
    """

    def __init__(self, most: int) -> None:
        self._most, self.nbytes = most, 0
        self._held: OrderedDict[bytes, Array] = OrderedDict()

    def get(self, array: Float32) -> Array:
        salt = f"{array.shape[0]:x},{array.shape[1]:x}".encode()[:16]
        key = hashlib.blake2b(array.data if array.size else b"", digest_size=16, salt=salt).digest()
        if key not in self._held:
            self._held[key] = asarray(array, check_finite=False)
            self.nbytes += array.nbytes
        self._held.move_to_end(key)
        found = self._held[key]
        while self.nbytes > self._most and len(self._held) > 1:
            self.nbytes -= self._held.popitem(last=False)[1].nbytes
        return found


class _Worker:
    """The coprocessor of this process, made at the first need."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gpu: Coprocessor | None = None
        self._process = 0
        self.residents = _Residents(MOST_BYTES)

    def gpu(self) -> Coprocessor:
        """Return it. A forked process makes its own."""
        with self._lock:
            if self._gpu is None or self._process != os.getpid() or self._gpu.closed:
                self._gpu, self._process = coprocessor(), os.getpid()
                self.residents = _Residents(int(os.environ.get("GLLA_DASK_CACHE_BYTES", MOST_BYTES)))
            return self._gpu

    def close(self) -> None:
        """Release the device; the next task makes another one."""
        with self._lock:
            gpu, self._gpu = self._gpu, None
            self.residents = _Residents(0)
        if gpu is not None and self._process == os.getpid():
            gpu.close(cancel=True)


_WORKER = _Worker()
close = _WORKER.close
atexit.register(close)


def on_device(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function in the thread of this process's coprocessor, and wait."""
    return _WORKER.gpu().submit(function, *args, **kwargs).result()


def float32(function: str, chunk: Any) -> Float32:
    """Return a chunk as finite float32 in C order.

    Raises NonFiniteError: a value is NaN or infinite, or does not fit.
    """
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(chunk, dtype=np.float32)
    if not np.isfinite(found).all():
        raise NonFiniteError(f"glla.dask.{function}: values must be finite, and fit float32")
    return found


def contract(left: Sequence[Float32], right: Sequence[Float32]) -> Float32:
    """Sum of the products of a row of chunks with a column of chunks; C is read back once."""
    pairs = [(float32("matmul", a), float32("matmul", b)) for a, b in zip(_listed(left), _listed(right), strict=True)]
    shape = len(pairs[0][0]), pairs[0][1].shape[1]
    full = [(a, b) for a, b in pairs if a.shape[1]]
    if 0 in shape or not full:
        return np.zeros(shape, dtype=np.float32)
    found: Float32 = on_device(_contract, full)
    if not np.isfinite(found).all():
        raise NonFiniteError("glla.dask.matmul: the product does not fit float32; scale an operand")
    return found


def _listed(chunks: Any) -> list[Float32]:
    return list(chunks) if isinstance(chunks, list | tuple) else [chunks]


def _contract(pairs: list[tuple[Float32, Float32]]) -> Float32:
    total: Array | None = None
    held = _WORKER.residents
    for a, b in pairs:
        total = product("matmul", held.get(a), held.get(b), onto=total)
    assert total is not None
    return total.numpy()


def minus_product(a: Float32, lower: Float32, upper: Float32) -> Float32:
    """A - L U; the sign is applied to L, which is exact."""
    if 0 in a.shape or not lower.shape[1]:
        return a
    found: Float32 = on_device(_minus_product, a, lower, upper)
    return found


def _minus_product(a: Float32, lower: Float32, upper: Float32) -> Float32:
    held = _WORKER.residents
    start = asarray(a, check_finite=False)  # used once, so not cached
    return product("lu", held.get(-lower), held.get(upper), onto=start).numpy()


def qr(a: Float32) -> tuple[Float32, Float32]:
    """Reduced QR of a chunk."""
    from glla.linalg import orthogonal

    given = float32("tsqr", a)
    if not given.size:
        q, r = np.linalg.qr(given)
        return q, r
    q, r = on_device(orthogonal.qr, given)
    return q, r
