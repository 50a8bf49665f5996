"""The delay until a thread of Python gets the interpreter lock.

A thread waits for `sys.getswitchinterval`, then requests the lock, and the other thread releases it at its next byte
code. Python's interval is 5 ms, in which a GPU draws a thousand small passes, and NumPy, which takes the lock back
after each operation, would wait as long each time. Linux adds to each such wait: a timer may be late by the thread's
timer slack, 50 us by default, so a much shorter wait is not possible.

On an NVIDIA H200 with 16 cores, beside a thread that never releases the lock, a wait of 0.18 ms outside Python takes
5.4 ms with Python's interval, 0.30 with 50 us, 0.26 with 5 us, and 0.20 with 5 us and no slack.

The interval is the process's, so it is set only on request (``coprocessor(punctual=True)``). The slack is a thread's:
the worker sets only its own, which ends with it. Setting another thread's slack needs a privilege (CAP_SYS_NICE), so
nothing is restored.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

INTERVAL = 1e-5
"""Switch interval of a punctual coprocessor, in seconds: the speed of NumPy and of the queue with it is in
``llvmpipe-llvm-15-0-6-256-bits/overlap/2026-11-22T110840Z.json``, without it in ``2026-11-22T110752Z.json`` there."""

SHORTEST_SLACK = 1
"""Timer slack of a punctual thread, in nanoseconds; 0 would mean the default."""

PR_SET_TIMERSLACK, PR_GET_TIMERSLACK = 29, 30
"""Options of Linux's prctl, from linux/prctl.h."""


class QuickSwitches:
    """Setting that makes Python switch threads more often, until `end`, which any thread may call.

    The setting is the process's. The shortest requested interval counts, and with the end of the last request the
    previous interval is restored. If other code sets the interval meanwhile, earlier requests are dropped: its value
    stays, and is restored after later requests.

    `interval`: seconds; None requests nothing.
    """

    _lock = threading.Lock()
    _wanted: ClassVar[list[QuickSwitches]] = []
    _before = 0.0
    _ours = 0.0  # as Python returns it, rounded to microseconds

    def __init__(self, interval: float | None) -> None:
        if interval is None:
            return
        self.interval = interval
        with self._lock:
            self._give_way()
            if not self._wanted:
                QuickSwitches._before = sys.getswitchinterval()
            self._wanted.append(self)
            self._set()

    def end(self) -> None:
        """End the request. A second call does nothing."""
        with self._lock:
            self._give_way()
            if self in self._wanted:
                self._wanted.remove(self)
                self._set()

    @classmethod
    def _give_way(cls) -> None:
        """Drop all requests if other code has set the interval."""
        if cls._wanted and sys.getswitchinterval() != cls._ours:
            cls._wanted.clear()

    @classmethod
    def _set(cls) -> None:
        sys.setswitchinterval(min([cls._before, *(one.interval for one in cls._wanted)]))
        QuickSwitches._ours = sys.getswitchinterval()

    @classmethod
    def forget_all(cls) -> None:
        """In a forked process, which has no coprocessor: restore the previous interval."""
        cls._lock = threading.Lock()
        cls._give_way()
        if cls._wanted:
            cls._wanted.clear()
            cls._set()


def make_waits_punctual() -> None:
    """Make Linux end the waits of this thread on time, for its lifetime; no effect elsewhere.

    Threads started by it inherit the setting.
    """
    _control(PR_SET_TIMERSLACK, SHORTEST_SLACK)


def _control(option: int, value: int) -> int:
    """Call Linux's prctl; -1 if it is missing."""
    prctl = _prctl()
    return -1 if prctl is None or value < 0 else int(prctl(option, value, 0, 0, 0))


@lru_cache
def _prctl() -> Callable[..., Any] | None:
    if not sys.platform.startswith("linux"):
        return None
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    return prctl
