"""Calls that are queued, and what stands for their results."""

from __future__ import annotations

import asyncio
import logging
import operator
import os
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glla.errors import CoprocessorError

if TYPE_CHECKING:
    from glla.queue.coprocessor import Coprocessor

PARTS = {"lu_factor": 2, "plu": 3, "rref": 2, "slogdet": 2}
"""Results that can be taken apart before they are there: ``P, L, U = gpu.plu(A)``."""


@dataclass(frozen=True)
class Call:
    """What is to be done, as it was asked for.

    Attributes
    ----------
    name : str
        For messages.
    function : callable
        Called with the arguments, once values stand in place of the Pendings among them.
    args, kwargs
        The arguments.
    on_device : bool
        A function of glla: matrices among its arguments are put onto the device first, so that its result stays there.
    check_finite : bool
        Refuse a result that left float32's range when it is read.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    on_device: bool = False
    check_finite: bool = False

    def pendings(self) -> Iterator[Pending]:
        """Results that it needs."""
        return _pendings((*self.args, *self.kwargs.values()))

    def resolved(self) -> tuple[list[Any], dict[str, Any]]:
        """Arguments with values in place of Pendings, all of which are done."""
        return [value_of(a) for a in self.args], {name: value_of(a) for name, a in self.kwargs.items()}


def _pendings(argument: Any) -> Iterator[Pending]:
    if isinstance(argument, Pending):
        yield argument
    elif type(argument) in (tuple, list):
        for member in argument:
            yield from _pendings(member)


def value_of(argument: Any) -> Any:
    """Put values in place of Pendings, all of which are done."""
    if isinstance(argument, Pending):
        return Future.result(argument, 0)
    if any(True for _ in _pendings(argument)):  # otherwise it stays the object that it is
        return type(argument)(value_of(member) for member in argument)
    return argument


def snapshot(argument: Any) -> Any:
    """Copy what the caller might change before the call runs."""
    if isinstance(argument, np.ndarray):
        return argument.copy()
    if type(argument) in (tuple, list):
        return type(argument)(snapshot(member) for member in argument)
    return argument


def _call_site() -> str:
    """Where the user's code is that enqueues: the first frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "glla":
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


class Pending(Future[Any]):
    """The result of a call that is queued; a `concurrent.futures.Future`, and an operand for further calls.

    Every function of glla takes it, and so do the operators ``+ - * / @ **`` and indexing; what they give is queued
    behind it. `result` gives the value as NumPy knows it: an array for a matrix, a tuple of them for a factorisation.
    Until then the value lives on the device, and goes when the last reference to it goes.

    It is *done* as soon as its passes are queued on the GPU, or it has failed. ``wait`` and ``as_completed`` of
    `concurrent.futures`, ``await``, and callbacks work as with any future. Callbacks run in the worker's thread and
    hold up the queue while they do; those of a result that is cancelled, or done already, run in the caller's. What a
    callback raises is logged, as `concurrent.futures` does; in the worker's thread that goes for SystemExit, too.

    Examples
    --------
    >>> import glla
    >>> with glla.coprocessor() as gpu:
    ...     C = gpu.matmul([[1, 1], [0, 1]], [[1, 2], [0, 1]])
    ...     D = C @ C  # C is not computed yet
    ...     D.result()
    array([[1., 6.],
           [0., 1.]], dtype=float32)
    """

    # NumPy's operators and glla's own leave the work to those below.
    __array_priority__ = 2000.0

    def __init__(self, coprocessor: Coprocessor, call: Call) -> None:
        super().__init__()
        self._coprocessor = coprocessor
        self._worker = coprocessor._worker
        self._call: Call | None = call
        self._name = call.name
        self._parts = PARTS.get(call.name)
        self._check_finite = call.check_finite
        self._site = _call_site()
        self._number = 0  # given by the queue
        self._host: Future[Any] | None = None  # what is read back; made when it is first asked for
        # The first of them: later ones may want the room.
        super().add_done_callback(self._worker.take_out)  # type: ignore[arg-type]

    @property
    def label(self) -> str:
        """Name of the operation, for messages: its number, its function, and the line that asked for it."""
        return f"operation {self._number} ({self._name}, {self._site})"

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled() else "running" if self.running() else "waiting"
        if self.done() and not self.cancelled():
            state = "done" if Future.exception(self, 0) is None else "failed"
        return f"<glla.Pending {self.label}: {state}>"

    # -- waiting

    def result(self, timeout: float | None = None) -> Any:
        """Wait for the value, and read it back. The same object every time.

        Parameters
        ----------
        timeout : float, optional
            Seconds; by default for as long as it takes.

        Returns
        -------
        ndarray, tuple or scalar
            What the function gives for arrays.

        Raises
        ------
        TimeoutError
            The time was up. Nothing is lost: wait again, or cancel.
        concurrent.futures.CancelledError
            It was cancelled.
        CoprocessorError
            The worker ended before.
        ThreadError
            Called by the worker itself, which would wait for itself; or in a forked process.
        Exception
            Whatever the operation raised. A result that needed one that failed raises the same, and says so in a note.
        """
        host = self._worker.fetch(self)
        try:
            return host.result(timeout)
        except TimeoutError:
            if host.done():  # it is the operation that raised it
                raise
            raise self._late(timeout) from None
        except CancelledError:
            raise CancelledError(f"result: {self.label} was cancelled") from None
        finally:
            del self, host  # an exception keeps this frame, and must not keep what keeps the exception

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait as `result` does; give what it would raise, or None.

        Raises
        ------
        TimeoutError, concurrent.futures.CancelledError
            As `result`.
        """
        host = self._worker.fetch(self)
        try:
            return host.exception(timeout)
        except TimeoutError:
            raise self._late(timeout) from None
        except CancelledError:
            raise CancelledError(f"exception: {self.label} was cancelled") from None

    def _late(self, timeout: float | None) -> TimeoutError:
        return TimeoutError(f"result: {self.label} is not there after {timeout} s; wait again, or cancel() it")

    def prefetch(self) -> Pending:
        """Have the value read back as soon as it is computed, so that `result` waits less. Returns itself."""
        self._worker.fetch(self, waits=False)
        return self

    def cancel(self) -> bool:
        """Take the call out of the queue; False if it has begun. What needs its result fails."""
        self._worker.check_process()
        return super().cancel()

    def add_done_callback(self, fn: Callable[[Pending], object]) -> None:
        """Have a function called with this result once it is done, has failed, or is cancelled."""
        self._worker.check_process()
        super().add_done_callback(partial(_call_back, fn))

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait in an event loop. Cancelling the task that waits leaves the operation alone."""
        host = self._worker.fetch(self, waits=False)
        return asyncio.shield(asyncio.wrap_future(host)).__await__()

    # -- as an array

    def numpy(self) -> NDArray[Any]:
        """Give `result` as an array.

        Raises
        ------
        TypeError
            The result is a tuple.
        """
        value = self.result()
        if isinstance(value, tuple):
            raise TypeError(f"numpy: {self.label} gives {type(value).__name__}, not an array; take a part of it: p[0]")
        return np.asarray(value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Pending: reading back always copies; use copy=None or copy=True")
        return np.array(self.numpy(), dtype=dtype, copy=True)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the result. Waits until it is computed, but does not read it back."""
        return tuple(np.shape(self._worker.value(self)))

    @property
    def ndim(self) -> int:
        """Length of `shape`, and waits as that does."""
        return len(self.shape)

    @property
    def T(self) -> Pending:
        """The transpose, queued."""
        return self._enqueue("transpose", operator.attrgetter("T"), self)

    def __getitem__(self, key: Any) -> Pending:
        return self._enqueue("getitem", operator.getitem, self, key)

    def __iter__(self) -> Iterator[Pending]:
        if self._parts is None:
            raise TypeError(
                f"Pending: {self.label} cannot be taken apart before it is there; iterate over its result()"
            )
        return (self[place] for place in range(self._parts))

    # -- as an operand

    def _enqueue(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Pending:
        return self._coprocessor._put(Call(name, function, self._coprocessor._kept(args), kwargs))

    @staticmethod
    def __glla_function__(
        name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Pending:
        """Do what a public function of glla was asked for, behind its operands: see `glla.dispatch`."""
        first = next(Call(name, function, args, kwargs).pendings())
        return first._coprocessor._put_function(name, function, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:  # it would be filled at some later time
            return NotImplemented
        return self._enqueue(ufunc.__name__, getattr(ufunc, method), *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Pending:
        return self._enqueue(function.__name__, function, *args, **kwargs)

    def __add__(self, other: Any) -> Pending:
        return self._enqueue("add", operator.add, self, other)

    def __radd__(self, other: Any) -> Pending:
        return self._enqueue("add", operator.add, other, self)

    def __sub__(self, other: Any) -> Pending:
        return self._enqueue("subtract", operator.sub, self, other)

    def __rsub__(self, other: Any) -> Pending:
        return self._enqueue("subtract", operator.sub, other, self)

    def __mul__(self, other: Any) -> Pending:
        return self._enqueue("multiply", operator.mul, self, other)

    def __rmul__(self, other: Any) -> Pending:
        return self._enqueue("multiply", operator.mul, other, self)

    def __truediv__(self, other: Any) -> Pending:
        return self._enqueue("divide", operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Pending:
        return self._enqueue("divide", operator.truediv, other, self)

    def __matmul__(self, other: Any) -> Pending:
        return self._enqueue("matmul", operator.matmul, self, other)

    def __rmatmul__(self, other: Any) -> Pending:
        return self._enqueue("matmul", operator.matmul, other, self)

    def __pow__(self, other: Any) -> Pending:
        return self._enqueue("power", operator.pow, self, other)

    def __rpow__(self, other: Any) -> Pending:
        return self._enqueue("power", operator.pow, other, self)

    def __neg__(self) -> Pending:
        return self._enqueue("negative", operator.neg, self)

    def __pos__(self) -> Pending:
        return self._enqueue("positive", operator.pos, self)

    def __abs__(self) -> Pending:
        return self._enqueue("absolute", operator.abs, self)


def _call_back(function: Callable[[Pending], object], pending: Any) -> None:
    """Call a callback. What it raises must not end the worker's thread, nor keep it from calling the others."""
    try:
        function(pending)
    except BaseException as error:
        if isinstance(error, Exception) or not pending._worker.is_this_thread():
            raise  # the future logs an Exception; what else ends the thread of a caller is his
        logging.getLogger("concurrent.futures").exception("exception calling callback for %r", pending)


# -- failures -------------------------------------------------------------------------------------------------------


def failed(pending: Pending) -> bool:
    """Tell whether a result that is done has no value."""
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
