"""Failures: propagation of exceptions, with notes of the operations involved."""

from __future__ import annotations

import traceback
from concurrent.futures import Future

from glla.errors import CoprocessorError
from glla.queue.pending import Call, Pending


def failed(pending: Pending) -> bool:
    """Whether a finished result has no value."""
    return pending.cancelled() or Future.exception(pending, 0) is not None


def noted(error: BaseException, note: str) -> BaseException:
    """Add the name of the failed operation to an exception, and release its frames, with their textures."""
    trace = error.__traceback__
    error.__traceback__ = trace and trace.tb_next  # without the caller's frame, which refers to the exception's owner
    traceback.clear_frames(trace)
    error.add_note(note)
    return error


def passed_on(error: BaseException, note: str) -> BaseException:
    """Make another exception of the same class, for an operation that needed the failed one.

    Not by `copy`, which would call the class with the arguments that it passed to Exception: not always its own.
    """
    kind = type(error)
    try:
        passed = kind.__new__(kind, *error.args)
        passed.args = error.args
        passed.__dict__.update(error.__dict__)
        passed.__dict__.pop("__notes__", None)
        for earlier in getattr(error, "__notes__", ()):
            passed.add_note(earlier)
    except Exception:  # a class that cannot be made this way
        passed = CoprocessorError(f"{kind.__name__}: {error}")
    passed.add_note(note)
    passed.__cause__ = error
    return passed


def failure_of_operand(pending: Pending, call: Call) -> BaseException | None:
    """Exception of a call with a failed operand; None if none failed."""
    for needed in call.pendings():
        if needed.cancelled():
            return CoprocessorError(f"{pending.label} needs {needed.label}, which was cancelled")
        error = Future.exception(needed, 0)
        if error is not None:
            return passed_on(error, f"{pending.label} needed {needed.label}, which failed")
    return None
