"""Forked processes: OpenGL must not be used after a fork if it was used before it."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from glla.errors import ThreadError

_FORKED = (
    "an OpenGL context was made before this process was forked, and OpenGL would hang here; "
    "use multiprocessing's 'spawn' start method"
)

# A fork has the memory of its parent, but of its threads only the one that forked. The driver's threads are missing,
# and locks that they held are held for ever. So OpenGL must not be touched there: not by us, which `check_process` sees
# to, and not by the driver's own functions that C's exit() calls, which may wait for such a lock or such a thread:
# beside NVIDIA's driver a forked process hung at its end. So exit() leaves out all that the parent had registered.

_opengl_used = False  # this process has started a driver, and with it the driver's threads
forked = False  # this process is a fork of one that had: those threads and their locks are broken here


def check_process() -> None:
    """Raise in a fork of a process that already used OpenGL.

    Raises ThreadError: a context was made before this process was forked.
    """
    if forked:
        raise ThreadError(_FORKED)


def mark_opengl_used() -> None:
    """Note that a driver is about to start; called before the first call that does so, even if that call then fails."""
    global _opengl_used
    check_process()
    _exit_functions()  # looked up here, as a forked process should do as little as it can
    _opengl_used = True


@functools.cache
def _exit_functions() -> tuple[Callable[..., Any], Callable[..., Any], int, int] | None:
    """on_exit, __cxa_atexit, and the addresses of _exit and fflush; None where the C library is not glibc."""
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    try:
        on_exit, at_exit = libc.on_exit, libc.__cxa_atexit
        leave, flush = (ctypes.cast(function, ctypes.c_void_p).value or 0 for function in (libc._exit, libc.fflush))
    except AttributeError:
        return None
    on_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    at_exit.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return on_exit, at_exit, leave, flush


def _leave_out_the_parents_exit() -> None:
    """Make C's exit() flush its files and leave before it calls the functions registered before the fork.

    The last registered function is called first. So Python ends normally, and functions registered from now on are
    called; the exit status is passed to `_exit`, as to any function that on_exit registers.
    """
    functions = _exit_functions()
    if functions is not None:
        on_exit, at_exit, leave, flush = functions
        on_exit(leave, None)
        at_exit(flush, None, None)  # fflush(NULL): all files


def _after_fork_in_child() -> None:
    global forked
    forked = _opengl_used
    if forked:
        _leave_out_the_parents_exit()


if hasattr(os, "register_at_fork"):  # Windows cannot fork
    os.register_at_fork(after_in_child=_after_fork_in_child)
