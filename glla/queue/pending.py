"""Queued calls, and their future results."""

from __future__ import annotations

import asyncio
import logging
import operator
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from glla.display import html
from glla.errors import UnsupportedError
from glla.operations import OPERATIONS

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Result = TypeVar("Result", default=Any)  # a default is typing's own from Python 3.13 on
else:
    from typing import TypeVar

    Result = TypeVar("Result")


@dataclass(frozen=True)
class Call:
    """A call, with its arguments."""

    name: str  # name of the function, for messages
    function: Callable[..., Any]  # called with the arguments, once the Pendings among them are replaced by their values
    args: tuple[Any, ...] = ()  # the arguments
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    # a function of glla: matrices among its arguments are uploaded first, so that its result stays on the device
    on_device: bool = False
    check_finite: bool = False  # refuse a result outside float32's range when it is read

    def pendings(self) -> Iterator[Pending]:
        """Results among its arguments."""
        return _pendings((*self.args, *self.kwargs.values()))

    def resolved(self) -> tuple[list[Any], dict[str, Any]]:
        """Arguments with values in place of Pendings, which are all done."""
        return [value_of(a) for a in self.args], {name: value_of(a) for name, a in self.kwargs.items()}


def _pendings(argument: Any) -> Iterator[Pending]:
    if isinstance(argument, Pending):
        yield argument
    elif type(argument) in (tuple, list):
        for member in argument:
            yield from _pendings(member)


def value_of(argument: Any) -> Any:
    """Replace Pendings, which are all done, by their values."""
    if isinstance(argument, Pending):
        return Future.result(argument, 0)
    if any(True for _ in _pendings(argument)):  # otherwise the same object is passed
        return type(argument)(value_of(member) for member in argument)
    return argument


def snapshot(argument: Any) -> Any:
    """Copy arguments that the caller might change before the call runs."""
    if isinstance(argument, np.ndarray):
        return argument.copy()
    if type(argument) in (tuple, list):
        return type(argument)(snapshot(member) for member in argument)
    return argument


def _call_site() -> str:
    """Location of the user's call: the first frame outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "glla":
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


class Owner(Protocol):
    """The methods of a coprocessor that its results use."""

    def enqueue(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Pending:
        """Queue any function, with copies of its arguments."""

    def delegated(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Pending:
        """Queue a function of glla, with the caller's arguments."""

    def fetch(self, pending: Pending, waits: bool = True) -> Future[Any]:
        """Request the read-back of a result; return its future."""

    def value(self, pending: Pending) -> Any:
        """Wait for a value, which may be on the device."""

    def check_process(self) -> None:
        """Raise in a forked process, where there is no worker."""

    def is_this_thread(self) -> bool:
        """Whether the current thread is the worker's."""


def _unary(name: str, function: Callable[[Any], Any]) -> Callable[[Pending], Pending]:
    return lambda self: self._enqueue(name, function, self)


def _binary(
    name: str, function: Callable[[Any, Any], Any]
) -> tuple[Callable[[Pending, Any], Pending], Callable[[Pending, Any], Pending]]:
    """Make an operator of `Pending`, and its reflection, for a Pending on the right."""
    return (
        lambda self, other: self._enqueue(name, function, self, other),
        lambda self, other: self._enqueue(name, function, other, self),
    )


class Pending(Future[Result]):
    """The result of a queued call; a `concurrent.futures.Future`, and an operand for further calls.

    Every function of glla takes it, and so do the operators ``+ - * / @ **``, comparisons and indexing; their calls are
    queued too. Its truth, as in ``if p == q``, is that of the value, and waits; in dicts and sets it is hashed by
    identity. `result` returns the value with NumPy's types: an array for a matrix, a tuple of them for a factorisation.
    Until then the value is on the device, and is freed with the last reference.

    It is *done* as soon as its passes are queued on the GPU, or it has failed. ``wait`` and ``as_completed`` of
    `concurrent.futures`, ``await``, and callbacks work as with any future. Callbacks run in the worker's thread and
    block the queue meanwhile; those of a result that is cancelled, or done already, run in the caller's thread.
    Exceptions of callbacks are logged, as in `concurrent.futures`; in the worker's thread SystemExit, too.

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

    # NumPy's operators and glla's own defer to those below.
    __array_priority__ = 2000.0

    def __init__(self, owner: Owner, call: Call) -> None:
        super().__init__()
        self.owner = owner
        self._call: Call | None = call
        self._name = call.name
        self._check_finite = call.check_finite
        self._site = _call_site()
        self._number = 0  # set by the queue
        self._host: Future[Any] | None = None  # the value on the host; made at the first request

    def __reduce__(self) -> NoReturn:
        raise UnsupportedError(f"Pending: {self.label} cannot be copied or pickled; pass its result()")

    @property
    def label(self) -> str:
        """Name of the operation, for messages: its number, its function, and the calling line."""
        return f"operation {self._number} ({self._name}, {self._site})"

    def __repr__(self) -> str:
        state = "cancelled" if self.cancelled() else "running" if self.running() else "waiting"
        if self.done() and not self.cancelled():
            state = "done" if Future.exception(self, 0) is None else "failed"
        return f"<glla.Pending {self.label}: {state}>"

    def _repr_html_(self) -> str:
        """Show it in a notebook; with its error, if it failed. Reads nothing back."""
        error = Future.exception(self, 0) if self.done() and not self.cancelled() else None
        return html.facts(repr(self)[1:-1], {"error": error} if error else {})

    # -- waiting

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the value, and read it back. The same object every time.

        Parameters
        ----------
        timeout : float, optional
            Seconds; by default without limit.

        Returns
        -------
        ndarray, tuple or scalar
            The function's result for arrays.

        Raises
        ------
        TimeoutError
            The time ran out. Nothing is lost: wait again, or cancel.
        concurrent.futures.CancelledError
            It was cancelled.
        CoprocessorError
            The worker ended before the call.
        ThreadError
            Called by the worker itself, which would deadlock; or in a forked process.
        Exception
            The operation's exception. A result with a failed operand raises the operand's exception, with a note.
        """
        host = self.owner.fetch(self)
        try:
            value: Result = host.result(timeout)
            return value
        except TimeoutError:
            if host.done():  # the operation raised it
                raise
            raise self._late(timeout) from None
        except CancelledError:
            raise CancelledError(f"result: {self.label} was cancelled") from None
        finally:
            del self, host  # an exception keeps this frame, and must not keep the owner alive

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait as `result` does; return its exception, or None.

        Raises
        ------
        TimeoutError, concurrent.futures.CancelledError
            As `result`.
        """
        host = self.owner.fetch(self)
        try:
            return host.exception(timeout)
        except TimeoutError:
            raise self._late(timeout) from None
        except CancelledError:
            raise CancelledError(f"exception: {self.label} was cancelled") from None

    def _late(self, timeout: float | None) -> TimeoutError:
        return TimeoutError(f"result: {self.label} is not there after {timeout} s; wait again, or cancel() it")

    def prefetch(self) -> Pending[Result]:
        """Request the read-back as soon as the value is computed, so that `result` waits less. Returns itself."""
        self.owner.fetch(self, waits=False)
        return self

    def cancel(self) -> bool:
        """Cancel the call; False if it has begun. Calls that need its result fail."""
        self.owner.check_process()
        return super().cancel()

    def add_done_callback(self, fn: Callable[[Pending], object]) -> None:
        """Call a function with this result once it is done, has failed, or is cancelled."""
        self.owner.check_process()
        super().add_done_callback(partial(_call_back, fn))

    def __await__(self) -> Generator[Any, None, Result]:
        """Wait in an event loop. Cancelling the waiting task does not cancel the operation."""
        host = self.owner.fetch(self, waits=False)
        return asyncio.shield(asyncio.wrap_future(host)).__await__()

    # -- as an array

    def numpy(self) -> NDArray[Any]:
        """Return `result` as an array.

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
        """Shape of the result. Waits until it is computed, but does not read it back."""
        return tuple(np.shape(self.owner.value(self)))

    @property
    def ndim(self) -> int:
        """Number of dimensions; waits as `shape` does."""
        return len(self.shape)

    @property
    def T(self) -> Pending:
        """Transpose, queued."""
        return self._enqueue("transpose", operator.attrgetter("T"), self)

    def __getitem__(self, key: Any) -> Pending:
        return self._enqueue("getitem", operator.getitem, self, key)

    def __iter__(self) -> Iterator[Pending]:
        operation = OPERATIONS.get(self._name)
        if operation is None or operation.function.parts == 1:
            raise TypeError(
                f"Pending: {self.label} cannot be taken apart before it is there; iterate over its result()"
            )
        return (self[place] for place in range(operation.function.parts))

    def __bool__(self) -> bool:
        """Truth of the value. Waits, because a comparison is queued like any call."""
        return bool(self.result())

    # -- as an operand

    def _enqueue(self, name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Pending:
        return self.owner.enqueue(name, function, args, kwargs)

    @staticmethod
    def __glla_function__(
        name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Pending:
        """Queue a public function of glla behind its operands: see `glla.registry`."""
        first = next(_pendings((*args, *kwargs.values())))
        return first.owner.delegated(function, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if kwargs.get("out") is not None:  # it would be filled later
            return NotImplemented
        return self._enqueue(ufunc.__name__, getattr(ufunc, method), *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Pending:
        return self._enqueue(function.__name__, function, *args, **kwargs)

    __add__, __radd__ = _binary("add", operator.add)
    __sub__, __rsub__ = _binary("subtract", operator.sub)
    __mul__, __rmul__ = _binary("multiply", operator.mul)
    __truediv__, __rtruediv__ = _binary("divide", operator.truediv)
    __matmul__, __rmatmul__ = _binary("matmul", operator.matmul)
    __pow__, __rpow__ = _binary("power", operator.pow)
    __lt__, __le__ = _binary("less", operator.lt)[0], _binary("less_equal", operator.le)[0]
    __gt__, __ge__ = _binary("greater", operator.gt)[0], _binary("greater_equal", operator.ge)[0]
    __eq__ = _binary("equal", operator.eq)[0]  # type: ignore[assignment]
    __ne__ = _binary("not_equal", operator.ne)[0]  # type: ignore[assignment]
    __hash__ = Future.__hash__  # by identity
    __neg__ = _unary("negative", operator.neg)
    __pos__ = _unary("positive", operator.pos)
    __abs__ = _unary("absolute", operator.abs)


def _call_back(function: Callable[[Pending], object], pending: Any) -> None:
    """Call a callback. Its exception must not end the worker's thread, nor stop the other callbacks."""
    try:
        function(pending)
    except BaseException as error:
        if isinstance(error, Exception) or not pending.owner.is_this_thread():
            raise  # the future logs an Exception; others end the caller's thread
        logging.getLogger("concurrent.futures").exception("exception calling callback for %r", pending)
