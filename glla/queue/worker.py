"""The queue, and its worker thread."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import traceback
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from glla.errors import AbandonedError, CoprocessorError, ThreadError
from glla.queue.engine import Engine
from glla.queue.pending import Call, Pending, value_of

Todo = Callable[[Pending], BaseException | None]
"""One action for a call: run it, or read its value back. Returns the exception, if it failed."""


class Worker:
    """The waiting calls, their thread, and its end. See the rules at `glla.queue`.

    It has no reference to the `Coprocessor`, so that one without references can be collected while the worker waits.

    `open_engine`: makes the `Engine`, in the worker's thread. `capacity`: calls that may wait. `timeout`: seconds for
    which a call waits for room.
    """

    def __init__(self, open_engine: Callable[[], Engine], capacity: int, timeout: float | None) -> None:
        self.capacity = capacity
        self.timeout = timeout
        self.engine: Engine | None = None
        self.cause: BaseException | None = None  # the exception that ended the worker
        self._process = os.getpid()
        self._lock = threading.Condition()  # guards the attributes below; its waiters wait for room
        self._waiting: OrderedDict[Pending, None] = OrderedDict()
        self._reads: deque[Pending] = deque()  # computed, and requested
        self._entering: deque[object] = deque()  # a ticket for each thread that waits for room
        self._count = 0
        self._closing = False
        self._drains = True
        self._ended = False
        self._abandoned = False
        self._unread: weakref.WeakValueDictionary[int, Pending] = weakref.WeakValueDictionary()
        # A lock as a flag that can be waited for: locked means no news. Unlike an Event's, its operations cannot be
        # interrupted half-way, so that a finalizer may set the flag, wherever the garbage collector runs it.
        self._news = threading.Lock()
        self._news.acquire()
        self._gone = threading.Event()  # the engine is closed, and its settings are restored
        opened: Future[None] = Future()
        self.thread = threading.Thread(target=self._work, args=(open_engine, opened), name="glla", daemon=True)
        self.thread.start()
        try:
            opened.result()
        except BaseException:
            self.close(cancel=True)
            raise

    # -- from any thread

    def put(self, pending: Pending) -> None:
        """Add a call to the queue, when there is room.

        Raises TimeoutError: there was no room in time. Raises CoprocessorError, ThreadError: the queue accepts no more
        calls.
        """
        self.check_process()
        # The first callback: later ones may need the room.
        Future.add_done_callback(pending, self._take_out)  # type: ignore[arg-type]
        with self._lock:
            if not self.is_this_thread():
                self._wait_for_room(pending)
            self.check_open(pending._name)
            self._count += 1
            pending._number = self._count
            self._waiting[pending] = None
        self.wake()

    def _wait_for_room(self, pending: Pending) -> None:
        """Wait for room, behind earlier threads."""
        ticket = object()
        self._entering.append(ticket)

        def may_enter() -> bool:
            has_room = self._entering[0] is ticket and len(self._waiting) < self.capacity
            return has_room or self._closing or self._ended

        try:
            if not self._lock.wait_for(may_enter, self.timeout):
                raise TimeoutError(
                    f"{pending._name}: the coprocessor's queue is full since {self.timeout} s ({self.capacity} calls "
                    "wait); call again later, cancel some, or raise capacity or timeout"
                )
        finally:
            self._entering.remove(ticket)
            self._lock.notify_all()

    def _take_out(self, pending: Pending) -> None:
        """Remove a cancelled call from the queue, and wake the threads that wait for its result.

        It is cancelled first, in one step under the future's own lock: so the worker, which may run at any moment,
        finds a call either waiting or cancelled. If the worker is faster, it wakes them itself.
        """
        if not pending.cancelled():
            return
        with self._lock:
            if pending not in self._waiting:
                return
            del self._waiting[pending]
            self._lock.notify_all()
        pending._call = None
        pending.set_running_or_notify_cancel()
        self._settle(pending)

    def fetch(self, pending: Pending, waits: bool = True) -> Future[Any]:
        """Request the read-back of a result; return its future.

        Raises ThreadError: `waits` is set, and the worker would wait for itself.
        """
        self.check_process()
        if waits:
            self._check_wait(pending)
        with self._lock:
            if pending._host is None:
                pending._host = Future()
                if self._ended or (pending.done() and failed(pending)):
                    self._settle(pending)
                elif pending.done():
                    self._reads.append(pending)
        if self.is_this_thread() and pending.done():
            self._read(pending)
        self.wake()
        return pending._host

    def _check_wait(self, pending: Pending) -> None:
        if self.is_this_thread() and not pending.done():
            raise ThreadError(
                f"result: {pending.label} is awaited in the coprocessor's own thread, which would wait for itself; "
                "pass it to the next call as it is, or use add_done_callback"
            )

    def value(self, pending: Pending) -> Any:
        """Wait for a value, which may be on the device."""
        self.check_process()
        self._check_wait(pending)
        return Future.result(pending)

    def close(self, cancel: bool, at_once: bool = False) -> None:
        """Accept no more calls; run the waiting ones, or cancel them. Does not wait for the worker.

        `cancel`: cancel the waiting calls. The worker then begins no more calls. `at_once`: also stop the running call,
        as soon as possible.
        """
        with self._lock:
            self._closing = True
            self._drains = self._drains and not cancel
            waiting = [*self._waiting] if cancel else []
            self._lock.notify_all()
        with contextlib.ExitStack() as stack:  # continues where a callback raises; last in, first out
            stack.callback(self.wake)
            for pending in reversed(waiting):
                stack.callback(pending.cancel)
            if at_once and (engine := self.engine) is not None:
                engine.interrupt()

    def abandon(self) -> None:
        """Close, once no caller has a reference. Takes no lock: it is called by the garbage collector."""
        self._abandoned = True
        self.wake()

    def wake(self) -> None:
        """Wake the worker to check the queue."""
        with contextlib.suppress(RuntimeError):  # it has not checked since the last call
            self._news.release()

    @property
    def closed(self) -> bool:
        """Whether it accepts no more calls."""
        return self._closing or self._ended

    @property
    def length(self) -> int:
        """Number of waiting calls."""
        return len(self._waiting)

    def is_this_thread(self) -> bool:
        """Whether the current thread is the worker's."""
        return threading.current_thread() is self.thread

    def check_process(self) -> None:
        """Raise in a forked process. Before any lock: another thread may have held it during the fork."""
        if self.is_forked():
            raise ThreadError(
                "coprocessor: was made before this process was forked, and its thread is not here; "
                "make one in this process, started by multiprocessing's 'spawn' method"
            )

    def is_forked(self) -> bool:
        """Whether this process is a fork of the worker's."""
        return os.getpid() != self._process

    def check_open(self, function: str) -> None:
        """Raise, with the reason, if it accepts no more calls."""
        if self._ended and self.cause is not None:
            raise self.death(f"{function}:")
        if self.closed:
            raise CoprocessorError(f"{function}: the coprocessor is closed; make another one")

    def death(self, what: str) -> CoprocessorError:
        """Return an exception with the cause of the worker's death."""
        error = CoprocessorError(
            f"{what} the coprocessor's thread has ended ({type(self.cause).__name__}: {self.cause}); make another one"
        )
        error.__cause__ = self.cause
        return error

    def join(self, timeout: float | None = None) -> bool:
        """Wait until its thread has ended; whether it has.

        Python before 3.13 considers a thread ended when a signal interrupts `Thread.join`, so this waits for `_gone`,
        too.
        """
        if not self._gone.wait(timeout):
            return False
        self.thread.join()
        return True

    # -- in the worker's thread

    def _work(self, open_engine: Callable[[], Engine], opened: Future[None]) -> None:
        try:
            self._open_and_work(open_engine, opened)
        finally:
            self._gone.set()

    def _open_and_work(self, open_engine: Callable[[], Engine], opened: Future[None]) -> None:
        try:
            self.engine = open_engine()
        except BaseException as error:
            self._end(error)
            opened.set_exception(error)
            return
        opened.set_result(None)
        del opened
        running: Pending | None = None
        failure: BaseException | None = None
        try:
            while (work := self._next()) is not None:
                todo, running = work
                del work  # or the result would live until the next call
                failure = self._attempt(todo, running)
                running = None
                if failure is not None:
                    self.engine.check(failure)
                    failure = None
            self._end(None)
        except BaseException as error:
            self._end(error, running)
        running = failure = None
        try:
            self.engine.close()
        except BaseException as error:
            self.cause = self.cause or error
        self.engine = None

    def _attempt(self, todo: Todo, pending: Pending) -> BaseException | None:
        """Run one action for a call, and set its outcome whatever is raised, so that the next call is unaffected."""
        try:
            return todo(pending)
        except BaseException as error:  # for example an exception that takes no note
            self._fail(pending, error)
            return error
        finally:
            del pending, todo  # an exception keeps the frames above its own, this one too

    def _fail(self, pending: Pending, error: BaseException) -> None:
        """Set an exception for a call without outcome, and for the requests of its result."""
        pending._call = None
        if not pending.done() and (pending.running() or pending.set_running_or_notify_cancel()):
            pending.set_exception(error)
        host = pending._host
        if host is not None and not host.done() and not failed(pending):
            host.set_exception(error)
        self._settle(pending)

    def _next(self) -> tuple[Todo, Pending] | None:
        """Wait for the next action: reads first, because a caller waits for them. None at the end.

        It returns the action, too: until it runs, a call may be cancelled, and then looks like one to read.
        """
        while True:
            with self._lock:
                if not self._reads and not self._waiting and self._closing and self._drains:
                    self._read_what_is_left()
                if self._reads:
                    return self._read, self._reads.popleft()
                if self._waiting:
                    pending, _ = self._waiting.popitem(last=False)
                    self._lock.notify_all()
                    return self._run, pending
                if self._closing or self._abandoned:
                    self._ended = True
                    return None
            self._news.acquire()

    def _read_what_is_left(self) -> None:
        """Before the device is closed: request every result that is still referred to."""
        for reference in self._unread.valuerefs():
            pending = reference()
            if pending is not None and pending._host is None:
                pending._host = Future()
                self._reads.append(pending)
        self._unread.clear()

    def _run(self, pending: Pending) -> BaseException | None:
        call = pending._call
        if not self._drains:  # closed with cancel=True: `close` may not have cancelled this one yet
            pending.cancel()
        if call is None or not pending.set_running_or_notify_cancel():
            pending._call = None
            self._settle(pending)
            return None
        assert self.engine is not None
        failure: BaseException | None = None
        error = failure_of_operand(pending, call)
        value = None
        if error is None:
            try:
                value = self.engine.run(call)
            except BaseException as raised:
                error = failure = noted(raised, f"raised by {pending.label}")
                if isinstance(raised, AbandonedError) and self._closing:
                    error = CoprocessorError(
                        f"{pending.label} was abandoned between two passes, as an exception, or the end of the "
                        "program, closed the coprocessor"
                    )
        pending._call = call = None  # and with it, the operands
        if error is not None:
            pending.set_exception(error)
            self._settle(pending)
            del pending  # as in `_attempt`
            return failure
        pending.set_result(value)
        value = None
        with self._lock:
            if pending._host is None:
                self._unread[pending._number] = pending
            else:
                self._reads.appendleft(pending)
        return None

    def _read(self, pending: Pending) -> BaseException | None:
        host = pending._host
        assert host is not None
        if host.done():
            return None
        if self.engine is None or failed(pending):
            self._settle(pending)
            return None
        try:
            result = self.engine.read(value_of(pending), pending._name, pending._check_finite)
        except BaseException as error:
            failure = noted(error, f"raised when {pending.label} was read back")
            host.set_exception(failure)
            del pending, host  # as in `_attempt`
            return failure
        host.set_result(result)
        return None

    def _settle(self, pending: Pending) -> None:
        """Set an exception for the requests of a result that will never exist."""
        with self._lock:
            host = pending._host
            if host is None or host.done():
                return
            if pending.cancelled():
                host.cancel()
                host.set_running_or_notify_cancel()
            elif pending.done() and (error := Future.exception(pending, 0)) is not None:
                host.set_exception(error)
            elif self.cause is not None:
                host.set_exception(self.death(f"result: {pending.label} is lost:"))
            else:
                host.set_exception(
                    CoprocessorError(
                        f"result: {pending.label} was not read before the coprocessor was closed with cancel=True; "
                        "prefetch() it before"
                    )
                )

    def _end(self, cause: BaseException | None, running: Pending | None = None) -> None:
        """End all waits; after an orderly end there are none."""
        with self._lock:
            self._ended = True
            self.cause = cause
            begun = [*([] if running is None else [running]), *self._reads]
            waiting = [*self._waiting]
            self._waiting.clear()
            self._reads.clear()
            self._lock.notify_all()
        for pending in waiting:
            pending.set_running_or_notify_cancel()
        for pending in (*begun, *waiting):
            try:
                if pending.done():
                    self._settle(pending)
                else:
                    self._fail(pending, self.death(f"{pending.label} was not done:"))
            except BaseException:  # the others must be settled, too
                logging.getLogger(__name__).exception("%s could not be settled at the end of its worker", pending.label)


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
