"""Watching plans run, pass by pass: what a trace stands on. Costs one look while nobody watches."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from glla.device.textures import Texture
from glla.errors import TraceError
from glla.passes import Plan

if TYPE_CHECKING:
    from glla.device.device import Device

GL_QUERY_COUNTER_BITS, GL_QUERY_RESULT, GL_TIMESTAMP = 0x8864, 0x8866, 0x8E28


class Observer(Protocol):
    """What may watch plans run."""

    def watch(
        self, device: Device, plan: Plan, textures: Mapping[str, Texture], draws: Sequence[Callable[[], None]]
    ) -> None:
        """Run a plan: call each of `draws` once, in order; there is one for each step of the plan.

        The context is current. What happens between two draws must leave OpenGL's bindings alone: `Device.read` and
        `Device.finish` do. No plan may be run.
        """


class _Watching(threading.local):
    """Who watches the devices of a thread; a device belongs to one thread."""

    observer: Observer | None = None


watching = _Watching()


@contextmanager
def observe(observer: Observer) -> Iterator[None]:
    """Let an observer run the plans of all devices of this thread, for a while.

    Raises
    ------
    TraceError
        Another one does already.
    """
    if watching.observer is not None:
        raise TraceError("trace: one at a time in a thread, another is running; end its with block first")
    watching.observer = observer
    try:
        yield
    finally:
        watching.observer = None


class GPUClock:
    """The GPU's own clock, by timestamps queued among the passes and read when all is done.

    moderngl's queries keep 32 bits, which is 4.3 s, and wait for each result; these keep 64, and wait once.

    Parameters
    ----------
    load : callable
        Address of an OpenGL function; the context must be current, here and in every method.
    """

    def __init__(self, load: Callable[[str], int]) -> None:
        name, names = ctypes.c_uint, ctypes.POINTER(ctypes.c_uint)
        self._generate = ctypes.CFUNCTYPE(None, ctypes.c_int, names)(load("glGenQueries"))
        self._delete = ctypes.CFUNCTYPE(None, ctypes.c_int, names)(load("glDeleteQueries"))
        self._stamp = ctypes.CFUNCTYPE(None, name, name)(load("glQueryCounter"))
        self._result = ctypes.CFUNCTYPE(None, name, name, ctypes.POINTER(ctypes.c_uint64))(
            load("glGetQueryObjectui64v")
        )
        self._now = ctypes.CFUNCTYPE(None, name, ctypes.POINTER(ctypes.c_int64))(load("glGetInteger64v"))
        bits = ctypes.c_int(0)
        ask = ctypes.CFUNCTYPE(None, name, name, ctypes.POINTER(ctypes.c_int))(load("glGetQueryiv"))
        ask(GL_TIMESTAMP, GL_QUERY_COUNTER_BITS, ctypes.byref(bits))
        self.bits = bits.value
        self._queries: list[int] = []
        self._zero = 0.0

    def start(self) -> None:
        """Line both clocks up: from now on `read` gives what `time.perf_counter` would."""
        now = ctypes.c_int64(0)
        self._now(GL_TIMESTAMP, ctypes.byref(now))
        self._zero = perf_counter() - now.value * 1e-9

    def stamp(self) -> None:
        """Queue a timestamp: when everything before it is done."""
        query = ctypes.c_uint(0)
        self._generate(1, ctypes.byref(query))
        self._queries.append(query.value)
        self._stamp(query.value, GL_TIMESTAMP)

    def read(self) -> list[float]:
        """All timestamps since the last call, in seconds of `time.perf_counter`. Synchronises."""
        times = []
        for query in self._queries:
            result = ctypes.c_uint64(0)
            self._result(query, GL_QUERY_RESULT, ctypes.byref(result))
            times.append(self._zero + result.value * 1e-9)
        self.clear()
        return times

    def clear(self) -> None:
        """Forget all timestamps."""
        if self._queries:
            self._delete(len(self._queries), (ctypes.c_uint * len(self._queries))(*self._queries))
            self._queries.clear()
