"""Taking turns: how soon a thread of Python that wants the interpreter lock gets it.

A thread that wants the lock waits for `sys.getswitchinterval`, then asks for it, and the other one gives it up at its
next byte code. Python's interval is 5 ms, in which a GPU draws a thousand small passes, and NumPy, which wants the lock
back after each operation, would wait as long each time. Linux adds to each such wait: a timer may be late by the
thread's timer slack, 50 us unless it is set, so that nothing much shorter is to be had.

On an NVIDIA H200 with 16 cores, beside a thread that never gives up the lock, a wait of 0.18 ms outside of Python takes
5.4 ms with Python's interval, 0.30 with 50 us, 0.26 with 5 us, and 0.20 with 5 us and no slack.
What the CPU and the queue keep of their rates is in ``benchmarks/results/nvidia-h200-pcie-sse2/overlap``:
``2026-11-21T010828Z.json`` with 10 us, ``2026-11-20T230103Z.json`` with 50 us.

Both settings come back with the last coprocessor that wanted them, unless somebody else has set another value
meanwhile, which stays.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

SHORTEST_SLACK = 1
"""Timer slack of a thread whose waits are punctual, in nanoseconds; 0 would mean the default."""

PR_SET_TIMERSLACK, PR_GET_TIMERSLACK = 29, 30
"""Options of Linux's prctl, from linux/prctl.h."""


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
    _ours = 0.0  # as Python gives it back, rounded to microseconds

    def __init__(self, interval: float | None) -> None:
        self.interval = interval
        if interval is not None:
            with self._lock:
                if not self._wanted or sys.getswitchinterval() != self._ours:
                    QuickSwitches._before = sys.getswitchinterval()
                self._wanted.append(interval)
                self._set()

    def end(self) -> None:
        """Want it no more."""
        if self.interval is not None:
            with self._lock:
                self._wanted.remove(self.interval)
                if sys.getswitchinterval() == self._ours:
                    self._set()
            self.interval = None

    @classmethod
    def _set(cls) -> None:
        sys.setswitchinterval(min([cls._before, *cls._wanted]))
        QuickSwitches._ours = sys.getswitchinterval()

    @classmethod
    def forget_all(cls) -> None:
        """In a forked process, where no coprocessor is."""
        cls._lock = threading.Lock()
        if cls._wanted and sys.getswitchinterval() == cls._ours:
            sys.setswitchinterval(cls._before)
        cls._wanted.clear()


class PunctualWaits:
    """Has Linux end the waits of the thread that makes this when they should, from now until `end`.

    Elsewhere it does nothing. The setting is the thread's; threads that it starts meanwhile get it too, and keep it.

    Another thread may call `end`. Linux lets it change the first one's setting if the process has CAP_SYS_NICE, as
    root has. Otherwise the first thread does so itself: the main thread at its next byte code, any other one when it
    next uses a coprocessor, or one of its results.
    """

    def __init__(self) -> None:
        self._slack = _Slack.of_this_thread()
        with _Slack.lock:
            self._slack.begin(self)

    def end(self) -> None:
        """Set back what was before, with the last one of the thread. A second call does nothing."""
        with _Slack.lock:
            self._slack.end(self)


class _Slack:
    """The timer slack of one thread: what it was, who wants it to be short, and how it comes back."""

    # Collecting garbage may run `end` anywhere, in the midst of `begin` too: it must not wait for its own thread.
    lock: ClassVar[threading.RLock] = threading.RLock()
    _of_thread: ClassVar[threading.local] = threading.local()

    def __init__(self) -> None:
        self._thread = threading.current_thread()
        self._ident = threading.get_ident()
        self._before = -1
        self._users: set[PunctualWaits] = set()
        self._overdue = False  # another thread has ended the last one, and could not set it back

    @classmethod
    def of_this_thread(cls) -> _Slack:
        try:
            slack: _Slack = cls._of_thread.slack
        except AttributeError:
            slack = cls._of_thread.slack = cls()
        return slack

    def begin(self, user: PunctualWaits) -> None:
        self.catch_up()
        now = _control(PR_GET_TIMERSLACK, 0)
        if not self._users or now != SHORTEST_SLACK:
            self._before = now
        self._users.add(user)
        _control(PR_SET_TIMERSLACK, SHORTEST_SLACK)

    def end(self, user: PunctualWaits) -> None:
        if user not in self._users:
            return
        self._users.remove(user)
        if self._users or self._before < 0:
            return
        self._overdue = True
        if threading.get_ident() == self._ident:
            self.catch_up()
        elif self._set_from_elsewhere():
            self._overdue = False
        elif self._thread is threading.main_thread():
            _call_in_main_thread()

    def catch_up(self) -> None:
        """In its own thread: do what no other one could."""
        if self._overdue:
            self._overdue = False
            if _control(PR_GET_TIMERSLACK, 0) == SHORTEST_SLACK:
                _control(PR_SET_TIMERSLACK, self._before)

    def _set_from_elsewhere(self) -> bool:
        """Ask Linux to; False where it is not allowed. A thread that has ended has nothing to be set."""
        number = self._thread.native_id
        if not os.path.exists(f"/proc/self/task/{number}"):  # its number may be another process's by now
            return True
        try:
            with open(f"/proc/{number}/timerslack_ns", "r+") as file:
                if int(file.read()) == SHORTEST_SLACK:
                    file.seek(0)
                    file.write(str(self._before))
        except (OSError, ValueError):
            return False
        return True

    @classmethod
    def forget_all(cls) -> None:
        """In a forked process, whose only thread has the setting of the one that forked."""
        cls.lock = threading.RLock()
        slack = cls.of_this_thread()
        slack._overdue = slack._overdue or bool(slack._users)
        slack._users.clear()
        slack.catch_up()


def catch_up() -> None:
    """Set this thread's timer slack back, if another one could not."""
    slack = getattr(_Slack._of_thread, "slack", None)
    if slack is not None and slack._overdue:
        with _Slack.lock:
            slack.catch_up()


def forget_all() -> None:
    """In a forked process: set back what coprocessors have set, none of which is there."""
    QuickSwitches.forget_all()
    _Slack.forget_all()


def _catch_up_in_main_thread(_: Any) -> int:
    catch_up()
    return 0


_PENDING_CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(_catch_up_in_main_thread)  # kept for whoever calls it


def _call_in_main_thread() -> None:
    """Have Python's main thread set its slack back at its next byte code, wherever that is."""
    add_pending_call = getattr(ctypes.pythonapi, "Py_AddPendingCall", None)
    if add_pending_call is not None:
        add_pending_call(_PENDING_CALL, None)


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
