"""The engine of a worker: a device, or a substitute in tests of the queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from copy import copy
from typing import Any, Protocol

from glla.array.array import Array, upload
from glla.array.convert import as_float32, finite_result
from glla.errors import DeviceError, GllaError, ReleasedError
from glla.gl import Device, Fence, set_default_device
from glla.queue.pending import Call
from glla.queue.turns import QuickSwitches, make_waits_punctual

IN_FLIGHT = 4
"""Unfinished calls on the GPU when the next one is queued, at most. Enough to keep it busy; with many more the driver's
buffer fills up, and the driver waits for room while it holds the interpreter lock."""


class Engine(Protocol):
    """Interface of an engine. Made, used and closed in the worker's thread; `interrupt` is for any thread."""

    def run(self, call: Call) -> Any:
        """Run a call; its value may stay on the device."""

    def read(self, value: Any, name: str, check_finite: bool) -> Any:
        """Return a value as the host sees it; `name` and `check_finite` are those of the call that made it."""

    def check(self, error: BaseException) -> None:
        """After a failure: raise if the device is no longer usable."""

    def interrupt(self) -> None:
        """Stop the running call soon, by an `AbandonedError`. Values can still be read."""

    def close(self) -> None:
        """Release everything."""


class DeviceEngine:
    """Runs calls on a `Device` of its own, which is the default device of the worker's thread.

    `options`: arguments of `Device`, and the switch interval, see `glla.coprocessor`.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        options = dict(options)
        switch_interval = options.pop("switch_interval", None)
        self.device = Device(**options)
        self._quick_switches = QuickSwitches(switch_interval)
        if switch_interval is not None:
            make_waits_punctual()
        set_default_device(self.device)
        self.info = self.device.info
        self._fences: deque[Fence] = deque()

    def run(self, call: Call) -> Any:
        """Run a call, once the GPU is at most `IN_FLIGHT` calls behind."""
        args, kwargs = call.resolved()
        if call.on_device:
            args = self._resident(args, kwargs)
            kwargs["device"] = self.device
        value = call.function(*args, **kwargs)
        self._fences.append(self.device.fence())
        if len(self._fences) > IN_FLIGHT:
            self._fences.popleft().wait()
        return value

    def _resident(self, operands: list[Any], options: Mapping[str, Any]) -> list[Any]:
        """Upload 2-D arrays; operands that are no Array stay as they are (batches, float64, blocks)."""
        if options.get("refine"):
            return operands
        side = 2 * self.device.limits.texture_size
        arrays = {}
        for place, operand in enumerate(operands):
            if isinstance(operand, (Array, tuple)):
                continue
            try:
                arrays[place] = as_float32("", "", operand, options.get("check_finite", True))
            except GllaError:
                return operands  # the function itself has the best message
            if arrays[place].ndim not in (1, 2) or not 0 < max(arrays[place].shape) <= side or not arrays[place].size:
                return operands
        return [
            upload(arrays[place], self.device) if place in arrays and arrays[place].ndim == 2 else operand
            for place, operand in enumerate(operands)
        ]

    def read(self, value: Any, name: str, check_finite: bool) -> Any:
        """Read back matrices, alone or in a tuple or a dict; anything else is on the host already."""
        if isinstance(value, Array):
            with self.device.uninterrupted():  # a caller waits for it, and it takes a pass
                return finite_result(name, value.numpy(), check_finite)
        if isinstance(value, tuple):
            parts = [self.read(part, name, check_finite) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if isinstance(value, dict):  # results of a plan, by name; a loop's dict has attributes
            read = copy(value)
            read.update((key, self.read(part, name, check_finite)) for key, part in value.items())
            return read
        return value

    def check(self, error: BaseException) -> None:
        """Test, after an error of the driver, whether the device still answers; other errors do not concern it."""
        if isinstance(error, (DeviceError, ReleasedError)):
            self.device.finish()

    def interrupt(self) -> None:
        """Stop the running call between two passes."""
        self.device.interrupt()

    def close(self) -> None:
        """Release the device."""
        self._quick_switches.end()
        self._fences.clear()
        self.device.release()
