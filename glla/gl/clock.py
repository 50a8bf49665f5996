"""The clocks: that of the CPU, which times whatever is measured, and the GPU's own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

from glla.gl.calls import GL_QUERY_COUNTER_BITS, GL_QUERY_RESULT, GL_TIMESTAMP, Calls

T = TypeVar("T")


def clock(work: Callable[[], T], finish: Callable[[], object] = lambda: None, calls: int = 1) -> tuple[float, T]:
    """Do some work: seconds until all calls are finished, and the result of the last one; the others are dropped.

    `finish`: waits for a device, before the work and as its end; without it, the work must wait by itself.
    """
    finish()
    start = perf_counter()
    for _ in range(calls - 1):
        work()
    result = work()
    finish()
    return perf_counter() - start, result


def warm_up(work: Callable[[], object], seconds: float, finish: Callable[[], object] = lambda: None) -> None:
    """Do some work, untimed, until it has taken so long: the clock of a GPU falls while nothing is to be done."""
    end = perf_counter() + seconds
    while perf_counter() < end:
        clock(work, finish)


class GPUClock:
    """Timestamps of the GPU, queued among the passes and read when all passes are done.

    moderngl's queries keep 32 bits, which is 4.3 s, and wait for each result; these keep 64, and wait once.

    `calls`: of a context, which must be current here and in every method. Attributes: `bits`: bits of a timestamp; 0
    where the driver has none.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        bits = ctypes.c_int(0)
        calls.get_query(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS, ctypes.byref(bits))
        self.bits = bits.value
        self._queries: list[int] = []
        self._zero = 0.0

    def start(self) -> None:
        """Synchronise both clocks: from now on `read` returns times of `time.perf_counter`."""
        now = ctypes.c_int64(0)
        self._calls.get_integer(GL_TIMESTAMP, ctypes.byref(now))
        self._zero = perf_counter() - now.value * 1e-9

    def stamp(self) -> None:
        """Queue a timestamp, taken when everything before it is done."""
        query = ctypes.c_uint(0)
        self._calls.gen_queries(1, ctypes.byref(query))
        self._queries.append(query.value)
        self._calls.query_counter(query.value, GL_TIMESTAMP)

    def read(self) -> list[float]:
        """All timestamps since the last call, in seconds of `time.perf_counter`. Synchronises."""
        times = []
        for query in self._queries:
            result = ctypes.c_uint64(0)
            self._calls.get_query_object(query, GL_QUERY_RESULT, ctypes.byref(result))
            times.append(self._zero + result.value * 1e-9)
        self.clear()
        return times

    def clear(self) -> None:
        """Forget all timestamps."""
        if self._queries:
            self._calls.delete_queries(len(self._queries), (ctypes.c_uint * len(self._queries))(*self._queries))
            self._queries.clear()
