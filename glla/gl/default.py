"""The default device of a thread."""

from __future__ import annotations

import threading

from glla.gl.device import Device
from glla.gl.forks import check_process

_local = threading.local()


def set_default_device(device: Device) -> None:
    """Make a device the default one of this thread, which must be the one that made it."""
    device.check()
    _local.device = device


def default_device() -> Device:
    """Device that functions use when none is given: made at the first need, one for each thread.

    Raises
    ------
    ContextError
        No context could be made.
    """
    check_process()
    device: Device | None = getattr(_local, "device", None)
    if device is None or device.released:
        device = _local.device = Device()
    return device
