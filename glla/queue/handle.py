"""Lifetime of a worker: it lives while a Coprocessor or an unread Pending refers to it."""

from __future__ import annotations

import atexit
import inspect
import os
import weakref
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from glla.errors import DeviceMismatchError
from glla.queue.pending import Call, Pending, snapshot
from glla.queue.turns import QuickSwitches
from glla.queue.worker import Worker

PATIENCE_AT_EXIT = 10.0
"""Seconds that the interpreter's exit waits for each worker to leave its current call."""

_handles: weakref.WeakSet[Handle] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """At the interpreter's exit: cancel waiting calls, stop the running ones, and let the workers end."""
    workers = [handle.worker for handle in _handles]
    for worker in workers:
        worker.close(cancel=True, at_once=True)
    for worker in workers:
        worker.join(PATIENCE_AT_EXIT)


def _forget_all() -> None:
    """In a forked process: drop the workers, which are not here, and restore the switch interval."""
    global _handles
    _handles = weakref.WeakSet()  # the old one may have been half changed
    QuickSwitches.forget_all()


if hasattr(os, "register_at_fork"):  # Windows cannot fork
    os.register_at_fork(after_in_child=_forget_all)


class Handle:
    """Reference of a coprocessor and its results to the worker; the `Owner` of the results.

    When the last reference to it goes, the worker finishes the queued calls, and ends.

    `worker`: runs the calls. `copy`: copy arrays when they are passed in.
    """

    def __init__(self, worker: Worker, copy: bool) -> None:
        self.worker = worker
        self.fetch, self.value = worker.fetch, worker.value
        self.check_process, self.is_this_thread = worker.check_process, worker.is_this_thread
        self._copy = copy
        _handles.add(self)
        weakref.finalize(self, worker.abandon).atexit = False  # once there is no reference to the handle

    def put(self, call: Call) -> Pending:
        """Queue a call."""
        for needed in call.pendings():
            if needed.owner is not self:
                raise DeviceMismatchError(
                    f"{call.name}: operands must belong to one coprocessor; pass the result() of one of them"
                )
        pending = Pending(self, call)
        self.worker.put(pending)
        return pending

    def enqueue(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Pending:
        """Queue any function, with copies of its arguments."""
        return self.put(Call(name, function, self.kept(args), kwargs))

    def enqueue_operation(
        self, function: Callable[..., Any], operands: tuple[Any, ...], options: dict[str, Any]
    ) -> Pending:
        """Queue a function of glla: its operands are uploaded, and its result stays on the device."""
        name = function.__name__
        if options.pop("device", None) is not None:
            raise DeviceMismatchError(f"{name}: the coprocessor has a device of its own; leave device out")
        check_finite = bool(options.get("check_finite", True))
        function = inspect.unwrap(function)  # the operands are values, so there is nothing left to delegate
        return self.put(Call(name, function, self.kept(operands), options, True, check_finite))

    def delegated(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Pending:
        """Queue a function of glla, with the caller's arguments. Those without a default are operands."""
        declared = _declared(function)
        options = declared.bound(args, kwargs)
        if declared.named in options:  # operands by the user's own names
            named = options.pop(declared.named)
            options |= zip(named, self.kept(tuple(named.values())), strict=True)
        operands = tuple([options.pop(name) for name in declared.operands])
        return self.enqueue_operation(function, operands, options)

    def kept(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments, copied if asked for, so that the caller may change his arrays."""
        return tuple(map(snapshot, args)) if self._copy else args


class _Declared:
    """Signature of a function: its operands, which have no default, and whether it takes operands by any name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.signature = inspect.signature(function)
        given = self.signature.parameters.values()
        self.options = frozenset(one.name for one in given if one.kind is one.KEYWORD_ONLY)
        self.named = next((one.name for one in given if one.kind is one.VAR_KEYWORD), "")
        required = [one for one in given if one.default is one.empty and one.name != self.named]
        self.operands = tuple(one.name for one in required)
        self.plain = all(one.kind is one.POSITIONAL_OR_KEYWORD for one in required)

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name. `inspect` takes 8 us for that, so it is only called for rare signatures and for errors.

        Raises TypeError: the arguments do not fit the function.
        """
        if len(args) == len(self.operands) and self.plain and kwargs.keys() <= self.options:
            return {**dict(zip(self.operands, args, strict=True)), **kwargs}
        return self.signature.bind(*args, **kwargs).arguments


_declared = lru_cache(_Declared)
