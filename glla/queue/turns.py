"""Taking turns: how soon a thread of Python that wants the interpreter lock gets it.

A thread that wants the lock waits for `sys.getswitchinterval`, then asks for it, and the other one gives it up at its
next byte code. Python's interval is 5 ms, in which a GPU draws a thousand small passes, and NumPy, which wants the lock
back after each operation, would wait as long each time. Linux adds to each such wait: a timer may be late by the
thread's timer slack, 50 us unless it is set, so that nothing much shorter is to be had.

On an NVIDIA H200 with 16 cores, beside a thread that never gives up the lock, a wait of 0.18 ms outside of Python takes
5.4 ms with Python's interval, 0.30 with 50 us, 0.26 with 5 us, and 0.20 with 5 us and no slack.
See ``benchmarks/results``.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

SHORTEST_SLACK = 1
"""Nanoseconds; 0 would mean the default."""

PR_SET_TIMERSLACK, PR_GET_TIMERSLACK = 29, 30


class QuickSwitches:
    """Has Python change threads more often, from now until `end`.

    The setting is the process's: the shortest that an open coprocessor wants counts, and with the last one the interval
    from before comes back.

    Parameters
    ----------
    interval : float or None
        Seconds; None wants nothing.
    """

    _lock = threading.Lock()
    _wanted: ClassVar[list[float]] = []
    _before = 0.0

    def __init__(self, interval: float | None) -> None:
        self.interval = interval
        if interval is not None:
            with self._lock:
                if not self._wanted:
                    QuickSwitches._before = sys.getswitchinterval()
                self._wanted.append(interval)
                sys.setswitchinterval(min(self._before, *self._wanted))

    def end(self) -> None:
        """Want it no more."""
        if self.interval is not None:
            with self._lock:
                self._wanted.remove(self.interval)
                sys.setswitchinterval(min([self._before, *self._wanted]))
            self.interval = None


class PunctualWaits:
    """Has Linux end the waits of the thread that makes this when they should, from now until `end`.

    Elsewhere it does nothing. The setting is the thread's; threads that it starts meanwhile get it too.
    """

    _of_thread = threading.local()

    def __init__(self) -> None:
        self._thread: int | None = threading.get_ident()
        state = self._of_thread
        if not getattr(state, "count", 0):
            state.count, state.before = 0, _control(PR_GET_TIMERSLACK, 0)
            _control(PR_SET_TIMERSLACK, SHORTEST_SLACK)
        state.count += 1

    def end(self) -> None:
        """Set back what was before, with the last one of the thread. In another thread, or again, it does nothing."""
        if self._thread != threading.get_ident():
            return
        self._thread = None
        self._of_thread.count -= 1
        if not self._of_thread.count:
            _control(PR_SET_TIMERSLACK, self._of_thread.before)


def _control(option: int, value: int) -> int:
    """Call Linux's prctl; -1 where there is none."""
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
