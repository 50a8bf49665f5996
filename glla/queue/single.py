"""The coprocessor: the public class, and the function that makes one."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

from glla.array.array import Array, asarray
from glla.array.convert import Float32
from glla.display import html
from glla.errors import CoprocessorError, OptionError
from glla.gl import Device, DeviceInfo, Stats, default_device
from glla.gl.select import requested
from glla.queue.engine import DeviceEngine, Engine
from glla.queue.handle import Handle
from glla.queue.methods import Methods
from glla.queue.pending import Call, Pending
from glla.queue.turns import INTERVAL
from glla.queue.worker import Worker

Result = TypeVar("Result")


class Coprocessor(Methods):
    """A device with a thread and a queue of its own; made by `coprocessor`.

    It has every function of glla as a method, with the same arguments except ``device``. Each returns a `Pending` at
    once; operands are checked when the call runs, and errors are raised by the result. Matrices among the operands are
    uploaded, and results stay on the device.

    All methods may be called from any thread. Use it as a context manager, or call `close`.

    Parameters
    ----------
    open_engine : callable
        Makes the `Engine`, in the worker's thread.
    capacity, timeout, copy
        As in `coprocessor`.
    """

    def __init__(
        self, open_engine: Callable[[], Engine], capacity: int = 64, timeout: float | None = None, copy: bool = True
    ) -> None:
        if not isinstance(capacity, int) or isinstance(capacity, bool) or capacity < 1:
            raise OptionError(f"coprocessor: capacity must be an int from 1, got {capacity!r}")
        if timeout is not None and not timeout >= 0:
            raise OptionError(f"coprocessor: timeout must be None or a number of seconds from 0, got {timeout!r}")
        self._worker = Worker(open_engine, capacity, timeout)
        self._engine = self._worker.engine
        self._handle = Handle(self._worker, copy)
        self._quiet = False  # True while there is no reference that could close it

    def __repr__(self) -> str:
        worker = self._worker
        state = "dead" if worker.cause is not None else "closed" if worker.closed else f"{worker.length} calls wait"
        return f"<glla.coprocessor: {state}>"

    def _repr_html_(self) -> str:
        """Show it in a notebook, with its device."""
        return html.facts(repr(self)[1:-1], {"device": self.info.renderer})

    # -- calls

    @overload
    def submit(self, function: Callable[..., Array], /, *args: Any, **kwargs: Any) -> Pending[Float32]: ...

    @overload
    def submit(self, function: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Pending[Result]: ...

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Pending[Any]:
        """Call any function in the worker's thread, where this device is the default one.

        Parameters
        ----------
        function : callable
            Gets an `Array` (or another result of an operation) in place of each Pending among its arguments.
        *args, **kwargs
            Passed unchanged: arrays are neither copied nor uploaded.

        Returns
        -------
        Pending
            Its value; an `Array`, alone or in a tuple, is read back by ``result``.

        Examples
        --------
        >>> import glla
        >>> def power(A, exponent):
        ...     result = A
        ...     for _ in range(exponent - 1):
        ...         result = result @ A
        ...     return result
        >>> with glla.coprocessor() as gpu:
        ...     gpu.submit(power, gpu.asarray([[1, 1], [0, 1]]), 5).result()
        array([[1., 5.],
               [0., 1.]], dtype=float32)
        """
        return self._handle.put(Call(getattr(function, "__name__", repr(function)), function, args, kwargs))

    def asarray(self, value: Any, *, check_finite: bool = True) -> Pending[Float32]:
        """Upload a matrix, as `glla.asarray`, to use it often."""
        return self._handle.enqueue("asarray", asarray, (value,), {"check_finite": check_finite})

    # -- state

    @property
    def info(self) -> DeviceInfo:
        """Description of the device."""
        info: DeviceInfo = self._engine.info  # type: ignore[union-attr]
        return info

    @property
    def closed(self) -> bool:
        """Whether it accepts no more calls."""
        return self._worker.closed

    @property
    def waiting(self) -> int:
        """Number of waiting calls."""
        return self._worker.length

    def stats(self, timeout: float | None = None) -> Stats:
        """Statistics of the device, when all calls queued now are done: see `Device.stats`."""
        stats: Stats = self.submit(_device_stats).result(timeout)
        return stats

    def finish(self, timeout: float | None = None) -> None:
        """Wait until the GPU has done all calls queued now.

        Raises
        ------
        TimeoutError
            The time ran out; the work goes on.
        """
        self.submit(_device_finish).result(timeout)

    # -- the end

    def close(self, cancel: bool = False, timeout: float | None = None) -> None:
        """Accept no more calls, finish, and release the device. A second call waits again, or does nothing.

        Parameters
        ----------
        cancel : bool
            False: run the queued calls, and read back every result that is still referred to. True: cancel the queued
            calls, and drop results that were not requested before.
        timeout : float, optional
            Seconds to wait; by default without limit.

        Raises
        ------
        TimeoutError
            The time ran out; the worker continues to its end.
        CoprocessorError
            The worker had died.
        """
        worker = self._worker
        worker.check_process()
        worker.close(cancel)
        if worker.is_this_thread():  # closed by a callback: the worker ends when it has returned
            return
        if not worker.join(timeout):
            raise TimeoutError(
                f"close: {worker.length} calls wait still after {timeout} s; close again, or with cancel=True"
            )
        if worker.cause is not None:
            raise worker.death("close:")

    def __enter__(self) -> Coprocessor:
        self._worker.check_process()
        self._worker.check_open("coprocessor")
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._worker.is_forked():  # after a fork both processes leave the block; there is nothing to close here
            return
        if error is not None:
            self._close_at_once()
            return
        try:
            self.close()
        except CoprocessorError:
            raise
        except BaseException:  # for example Ctrl-C, while the queue is finished
            self._close_at_once()
            raise

    def __del__(self) -> None:
        worker = getattr(self, "_worker", None)  # missing if the arguments were refused
        if worker is None or worker.closed or self._quiet or sys is None or sys.is_finalizing() or worker.is_forked():
            return
        warnings.warn(
            f"{self!r} was dropped without close(), and ends when its queue is done and its results are dropped; use "
            "it in a with block",
            ResourceWarning,
            source=self,
            stacklevel=2,
        )

    def _close_at_once(self) -> None:
        """Cancel the waiting calls, and stop the running one between two passes."""
        with contextlib.suppress(CoprocessorError):  # the exception that leaves the block is more informative
            self._worker.close(cancel=True, at_once=True)
            self.close(cancel=True)


def _request(device: str | int, index: int | None, software: bool | None) -> tuple[int | None, bool | None]:
    """Parse the name of a device as (index, software)."""
    if isinstance(device, Device):
        raise OptionError(
            f"coprocessor: device must be 'software', 'hardware' or an index, got {device!r}; "
            "the coprocessor makes one in its own thread"
        )
    if index is not None or software is not None:
        raise OptionError(
            f"coprocessor: device stands for index and software, got device {device!r}, index {index} and software "
            f"{software}; leave one of them out"
        )
    return requested("coprocessor", device)


def _device_stats() -> Stats:
    return default_device().stats()


def _device_finish() -> None:
    default_device().finish()


def coprocessor(
    backend: str = "auto",
    index: int | None = None,
    software: bool | None = None,
    *,
    device: str | int | None = None,
    capacity: int = 64,
    timeout: float | None = None,
    copy: bool = True,
    max_bytes: int | None = None,
    max_texture_size: int | None = None,
    max_idle_bytes: int | None = None,
    max_call_bytes: int | None = None,
    debug: bool = False,
    release_gil: bool | None = None,
    punctual: bool = False,
    switch_interval: float | None = None,
) -> Coprocessor:
    """Start a device with a thread and a queue of its own: calls return at once, the CPU goes on.

    Examples
    --------
    >>> import glla
    >>> import numpy as np
    >>> with glla.coprocessor() as gpu:
    ...     C = gpu.matmul([[2, 0], [0, 2]], [[1, 2], [3, 4]])
    ...     x = gpu.solve(C, [4, 8])  # neither is computed yet
    ...     on_the_cpu = np.linalg.det([[1.0, 2.0], [3.0, 4.0]])
    >>> x.result()
    array([0., 1.], dtype=float32)

    Parameters
    ----------
    backend, index, software, max_bytes, max_texture_size, max_idle_bytes, max_call_bytes, debug, release_gil
        Arguments of the `Device` that the thread makes. It must use EGL: GLFW makes windows in the main thread only.
    device : str or int, optional
        In place of `index` and `software`: ``"software"``, ``"hardware"`` or an index, as in ``GLLA_DEVICE``. No
        `Device`, which belongs to the thread that made it.
    capacity : int
        Calls that may wait in the queue, without read-backs; adding another one waits until there is room.
    timeout : float, optional
        Seconds of that wait before it raises TimeoutError; by default without limit.
    punctual : bool
        Make Python switch threads more often while it is open, in the whole process (`sys.setswitchinterval`, 10 us
        instead of 5 ms), and on Linux end the waits of its own thread on time. It pays beside pure Python code.
    switch_interval : float, optional
        That interval in seconds; implies `punctual`.
    copy : bool
        Copy arrays when they are passed in. Without it they must stay unchanged until the call is done.

    Returns
    -------
    Coprocessor
        A context manager: at its end the queue is finished, and results still referred to are read back. After an
        exception (also Ctrl-C) waiting calls are cancelled, and the running one is stopped between two passes.

    Raises
    ------
    ContextError, LimitError
        The device cannot be made.
    OptionError
        A capacity below 1, a negative timeout, an invalid switch interval or device; `device` with another selection.
    """
    if punctual and switch_interval is None:
        switch_interval = INTERVAL
    if switch_interval is not None and not 0 < switch_interval < float("inf"):
        raise OptionError(
            f"coprocessor: switch_interval must be None or a number of seconds above 0, got {switch_interval!r}"
        )
    if device is not None:
        index, software = _request(device, index, software)
    options = {
        "backend": backend,
        "index": index,
        "software": software,
        "max_bytes": max_bytes,
        "max_texture_size": max_texture_size,
        "max_idle_bytes": max_idle_bytes,
        "max_call_bytes": max_call_bytes,
        "debug": debug,
        "release_gil": release_gil,
        "switch_interval": switch_interval,
    }
    return Coprocessor(partial(DeviceEngine, options), capacity, timeout, copy)
