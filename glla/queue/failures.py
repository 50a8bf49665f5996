"""Failures: how an exception is passed on, and what it says of the operations that it came by."""

from __future__ import annotations

import traceback
from concurrent.futures import Future

from glla.errors import CoprocessorError
from glla.queue.pending import Call, Pending


def failed(pending: Pending) -> bool:
    """Whether a result that is done has no value."""
    return pending.cancelled() or Future.exception(pending, 0) is not None


def noted(error: BaseException, note: str) -> BaseException:
    """Say in an exception which operation raised it, and let go of what its frames hold (textures, for one)."""
    trace = error.__traceback__
    error.__traceback__ = trace and trace.tb_next  # without the caller's frame, which keeps what keeps the exception
    traceback.clear_frames(trace)
    error.add_note(note)
    return error


def passed_on(error: BaseException, note: str) -> BaseException:
    """Make another exception of the same class, for an operation that needed the one that failed.

    Not by `copy`, which would call the class with the arguments that it passed on to Exception: not always its own.
    """
    kind = type(error)
    try:
        passed = kind.__new__(kind, *error.args)
        passed.args = error.args
        passed.__dict__.update(error.__dict__)
        passed.__dict__.pop("__notes__", None)
        for earlier in getattr(error, "__notes__", ()):
            passed.add_note(earlier)
    except Exception:  # a class that will not be made this way
        passed = CoprocessorError(f"{kind.__name__}: {error}")
    passed.add_note(note)
    passed.__cause__ = error
    return passed


def failure_of_operand(pending: Pending, call: Call) -> BaseException | None:
    """What a call fails with because something it needs has failed; None if nothing has."""
    for needed in call.pendings():
        if needed.cancelled():
            return CoprocessorError(f"{pending.label} needs {needed.label}, which was cancelled")
        error = Future.exception(needed, 0)
        if error is not None:
            return passed_on(error, f"{pending.label} needed {needed.label}, which failed")
    return None
