"""The default device of a thread, and its devices by the names that ``device=`` takes."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import TypeAlias
from weakref import WeakSet

from glla.errors import ThreadWarning
from glla.gl.device import Device
from glla.gl.forks import check_process
from glla.gl.select import requested

DeviceLike: TypeAlias = Device | str | int
"""Values of ``device=``: a device, ``"software"``, ``"hardware"``, or an index of `glla.devices`."""

_local = threading.local()
_implicit: WeakSet[Device] = WeakSet()  # made because none was given
_warned = False


def set_default_device(device: Device) -> None:
    """Set the default device of this thread, which must be the thread that made it."""
    device.check()
    _local.device = device


def default_device() -> Device:
    """Device used when none is given: made at the first need, one for each thread.

    Warns
    -----
    ThreadWarning
        Once in a process: a second thread gets its own device, with its own context, programs and memory, which takes
        no matrices of the first.

    Raises
    ------
    ContextError
        No context could be made.
    """
    check_process()
    device: Device | None = getattr(_local, "device", None)
    if device is None or device.released:
        known = [*_known()]
        device = _local.device = _once(Device())
        if device not in known:  # it was not asked for by its name before
            _warn_of_another()
        _implicit.add(device)
    return device


def _warn_of_another() -> None:
    """Warn if a second thread makes its own context, which was not requested."""
    global _warned
    if _warned or all(other.released for other in _implicit):
        return
    _warned = True
    frame: FrameType | None = sys._getframe()
    level = 1  # of the nearest frame outside glla, seen from here
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "glla":
        frame, level = frame.f_back, level + 1
    warnings.warn(
        "default_device: another thread has a default device already, and this one gets a second OpenGL context, with "
        "programs and memory of its own; share one among threads by glla.coprocessor(), or make glla.Device() in each "
        "thread and pass it as device=",
        ThreadWarning,
        stacklevel=level,
    )


def named_device(function: str, device: DeviceLike | None) -> Device:
    """Return the device that an argument ``device`` means: one for each name and thread.

    Names of the same renderer mean one device: where the default device is a software rasteriser, ``"software"`` is the
    default device, so matrices of both mix. A released device is made anew.
    `function`: name of the public function, for the messages. `device`: a device is returned as it is; None is the
    default device. ``"software"``, ``"hardware"`` and an index of `glla.devices` mean the same as in the
    environment variable ``GLLA_DEVICE``, which wins if it is set, as it does in `Device`.
    Raises OptionError, OptionTypeError: it is none of these; the message lists them. Raises ContextError: no such
    device opens.

    >>> device = named_device("example", 0)
    >>> named_device("example", 0) is device
    True
    """
    if isinstance(device, Device):
        return device
    if device is None:
        return default_device()
    check_process()
    found = _named().get(device) if type(device) in (str, int) else None  # True is not the index 1
    if found is None or found.released:
        index, software = requested(function, device, "a glla.Device, ")
        found = getattr(_local, "device", None)
        if index is not None or found is None or found.released or found.info.software != software:
            found = _once(Device(index=index, software=software))
        _named()[device] = found  # the default one is the first of its kind, as hardware comes first, then EGL's order
    return found


def _named() -> dict[str | int, Device]:
    """Devices of this thread, by their names."""
    named: dict[str | int, Device] = _local.__dict__.setdefault("named", {})
    return named


def _once(device: Device) -> Device:
    """Return this thread's device of the same backend and renderer in place of a second one, else the new device."""
    for other in _known():
        if (other.info.backend, other.info.renderer) == (device.info.backend, device.info.renderer):
            device.release()
            return other
    return device


def _known() -> Iterator[Device]:
    """Devices of this thread that are not released, the default one first."""
    for device in (getattr(_local, "device", None), *_named().values()):
        if device is not None and not device.released:
            yield device
