"""A fence: a point in the GPU's queue, and whether the GPU has reached it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from glla.errors import DeviceError
from glla.gl.calls import (
    GL_SYNC_FLUSH_COMMANDS_BIT,
    GL_SYNC_GPU_COMMANDS_COMPLETE,
    GL_TIMEOUT_EXPIRED,
    GL_WAIT_FAILED,
    Calls,
)

FOR_EVER = 2**63
"""Nanoseconds that a wait without a timeout takes at most: 292 years."""


class Fence:
    """A point in a device's queue, made by `Device.fence`. Belongs to the device's thread.

    `calls`: of the context, which is current. `current`: makes the context current for a block; by default it must be
    current in every call.
    Raises DeviceError: the driver makes none.

    >>> import glla
    >>> with glla.Device() as device:
    ...     product = glla.asarray([[2]], device) @ glla.asarray([[3]], device)
    ...     device.fence().wait()
    True
    """

    __slots__ = ("_calls", "_current", "_sync")

    def __init__(self, calls: Calls, current: Callable[[], AbstractContextManager[object]] = nullcontext) -> None:
        self._calls, self._current = calls, current
        self._sync: int | None = calls.fence_sync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
        calls.flush()  # otherwise the fence stays in the driver's buffer, and is never reached
        if not self._sync:
            raise DeviceError("fence: the driver gives none; call finish instead")

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the GPU has reached this point; other threads of Python run meanwhile.

        False if the time ran out. `timeout`: seconds; 0 does not wait. Without it the wait has no limit.
        Raises DeviceError: the driver cannot wait: the context is lost.
        """
        if self._sync is None:
            return True
        with self._current():
            nanoseconds = FOR_EVER if timeout is None else int(timeout * 1e9)
            answer = self._calls.client_wait_sync(self._sync, GL_SYNC_FLUSH_COMMANDS_BIT, nanoseconds)
            if answer == GL_WAIT_FAILED:
                raise DeviceError("fence: the driver cannot wait for it; the context is lost, make another Device")
            if answer != GL_TIMEOUT_EXPIRED:
                self.delete()
        return self._sync is None

    def delete(self) -> None:
        """Delete the fence: it counts as reached. The context must be current."""
        if self._sync is not None:
            self._calls.delete_sync(self._sync)
            self._sync = None
