"""Observation of plans, pass by pass: the basis of traces. Costs one test where there is no observer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from glla.errors import TraceError
from glla.gl.pool import Texture
from glla.gl.staging import Machine
from glla.passes import Plan

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Observer(Protocol):
    """Interface of an object that watches plans run."""

    def watch(
        self, device: Machine, plan: Plan, textures: Mapping[str, Texture], draws: Sequence[Callable[[], None]]
    ) -> None:
        """Run a plan: call each of `draws` once, in order; there is one for each step of the plan.

        The context is current. Code between two draws must leave OpenGL's bindings alone, as `Device.read` and
        `Device.finish` do. No plan may be run.
        """

    def watch_parts(
        self, device: Machine, plan: Plan, values: Mapping[str, Any], parts: Sequence[Callable[[], Mapping[str, Any]]]
    ) -> None:
        """Run a plan of plans: call each of `parts` once, in order; there is one for each step of the plan.

        A plan that is called comes to `watch`, or to here. `values` holds the slots' values so far, textures and arrays
        of the host; a part returns the values that it wrote.
        """

    def watch_host(self, name: str, work: Callable[[], Any]) -> Any:
        """Run work of the host between plans, and return its result."""


class _Watching(threading.local):
    """Observer of the devices of a thread; a device belongs to one thread."""

    observer: Observer | None = None
    device: Machine | None = None

    def of(self, device: Machine) -> Observer | None:
        """Observer of the plans of a device."""
        return self.observer if self.device in (None, device) else None


watching = _Watching()


def host_step(name: str) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Show an observer a function of the host that runs between plans, under its name in plans.

    >>> @host_step("halve")
    ... def halved(a):
    ...     return a / 2
    >>> halved(4.0)
    2.0
    """

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(function)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            if watching.observer is None:
                return function(*args, **kwargs)
            result: Result = watching.observer.watch_host(name, lambda: function(*args, **kwargs))
            return result

        return call

    return decorate


@contextmanager
def observe(observer: Observer, device: Machine | None = None) -> Iterator[None]:
    """Let an observer run the plans of all devices of this thread, or of one, within a block.

    Raises TraceError: there is an observer already.
    """
    if watching.observer is not None:
        raise TraceError("trace: one at a time in a thread, another is running; end its with block first")
    watching.observer, watching.device = observer, device
    try:
        yield
    finally:
        watching.observer = watching.device = None
