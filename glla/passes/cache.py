"""Plans are kept for the next call: one cache for all of their builders, bounded in bytes.

An entry is found by its builder and the arguments. The one that was used longest ago goes first; the one that was made
last stays, however large it is, so that what runs again and again is built once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from functools import partial, wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from glla.errors import OptionError
from glla.passes.plan import Call, Plan

MOST_PLAN_BYTES = 128 << 20
"""Bytes that kept plans take at most, unless another number is set: five factorisations of n = 4096, with what solves
from them (``llvmpipe-llvm-15-0-6-256-bits/manners/2026-11-22T092455Z.json``)."""

MOST_PLANS = 2048
"""Plans that are kept at most. Ever other small shapes would fill the bytes with plans that hardly one call uses again:
over 10 000 of them the process took 680 MB without this number, and 470 with a cache of 64 for each builder."""

ENTRY_BYTES = 2000
"""Bytes of an entry beside its steps: its key, slots and scopes."""

STEP_BYTES = 1000
"""Bytes that a step of a plan counts as; 880 to 1230 were measured (``python -m benchmarks manners``)."""

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def byte_limit(name: str, value: int | None, usual: T) -> int | T:
    """Limit in bytes: as asked for, of the environment (``GLLA_`` and the name), or the default.

    Raises OptionError: it is no number of bytes.
    """
    variable = f"GLLA_{name.upper()}"
    given = os.environ.get(variable, "") if value is None else value
    if given == "":
        return usual
    if isinstance(given, str) and given.isdecimal():
        return int(given)
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    where = variable if value is None else name
    raise OptionError(f"{where}: must be a number of bytes from 0, got {given!r}; leave it out for the usual one")


def estimate(value: Any) -> int:
    """Bytes that a kept value takes, nearly: a plan's by its steps.

    A plan of plans has copies of the steps of the plans that it calls once it was checked (`Plan.flat`). The plans
    themselves count where they are kept.
    """
    return ENTRY_BYTES + STEP_BYTES * _steps(value) if isinstance(value, Plan) else ENTRY_BYTES


def _steps(plan: Plan) -> int:
    called = [step.plan for step in plan.steps if isinstance(step, Call)]
    return len(plan.steps) + sum(map(_steps, called))


_NAMED = object()
"""Separates in a key arguments that are given by position from those by name."""


class Entry:
    """A kept value, its estimate in bytes, and when it was used last: twice the entries made until then."""

    __slots__ = ("nbytes", "used", "value")

    def __init__(self, value: Any, used: int) -> None:
        self.value, self.used, self.nbytes = value, used, estimate(value)


Entries = dict[Hashable, Entry]
"""What one builder has made, by its arguments."""


class Cache:
    """Plans of all builders, bounded in bytes. Any thread may use it.

    A hit takes no lock: it is a look-up and a store, as what a small call costs is Python. The order of use is sorted
    out where something must go, which is where something was built, at a thousand times the cost.
    """

    def __init__(self) -> None:
        self.builders: list[Entries] = []
        self.clock = 0
        self.nbytes = self.count = 0
        self._lock = threading.RLock()  # collecting garbage in the midst of it may run a builder, too
        self._most: int | None = None

    @property
    def most(self) -> int:
        """Bytes that all entries together take at most."""
        if self._most is None:
            self._most = byte_limit("max_plan_bytes", None, MOST_PLAN_BYTES)
        return self._most

    def limit(self, nbytes: int | None) -> None:
        """Set another bound, see `set_max_plan_bytes`."""
        with self._lock:
            self._most = byte_limit("max_plan_bytes", nbytes, MOST_PLAN_BYTES)
            self._shrink()

    def keep(self, entries: Entries, key: Hashable, value: Any) -> Any:
        """Keep a value; where another thread was quicker, its value serves."""
        with self._lock:
            entry = entries.get(key)
            if entry is None:
                self.clock += 2
                entry = entries[key] = Entry(value, self.clock - 1)  # what is used from now on is younger
                self.nbytes += entry.nbytes
                self.count += 1
                self._shrink(entry)
            return entry.value

    def forget(self, entries: Entries) -> None:
        """Forget the plans of a builder."""
        with self._lock:
            for key in [*entries]:
                self._drop(entries, key)

    def _drop(self, entries: Entries, key: Hashable) -> None:
        self.nbytes -= entries.pop(key).nbytes
        self.count -= 1

    def _shrink(self, newest: Entry | None = None) -> None:
        """Drop the least recently used entries, down to seven eighths, so that sorting is rare."""
        if self.nbytes <= self.most and self.count <= MOST_PLANS:
            return
        kept = [(entry.used, number, key) for number, made in enumerate(self.builders) for key, entry in made.items()]
        for _, number, key in sorted(kept, key=lambda item: item[0]):
            if self.nbytes <= self.most * 7 // 8 and self.count <= MOST_PLANS * 7 // 8:
                break
            if self.builders[number][key] is not newest:
                self._drop(self.builders[number], key)

    def renew_lock(self) -> None:
        """In a forked process: another thread may have held the lock."""
        self._lock = threading.RLock()


PLANS = Cache()
"""All plans that are kept in this process."""

if hasattr(os, "register_at_fork"):  # Windows cannot fork
    os.register_at_fork(after_in_child=PLANS.renew_lock)


class CachedPlan(Protocol[P, R]):
    """A builder whose values are kept, see `cached_plan`."""

    __wrapped__: Callable[..., R]
    cache_clear: Callable[[], None]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Find the result for these arguments, or build it."""


def cached_plan(function: Callable[P, R]) -> CachedPlan[P, R]:
    """Cache the results of a builder by its arguments, which must be hashable, and must not change.

    ``__wrapped__`` is the function itself; ``cache_clear()`` forgets what it has built.
    `function`: a pure function that gives a `Plan`, or what is chosen for one.

    >>> @cached_plan
    ... def twice(n):
    ...     print("built")
    ...     return (n, n)
    >>> twice(3) is twice(3)
    built
    True
    """
    entries: Entries = {}
    PLANS.builders.append(entries)
    find = entries.get

    @wraps(function)
    def cached(*args: P.args, **kwargs: P.kwargs) -> R:
        key = (*args, _NAMED, *kwargs.items()) if kwargs else args
        entry = find(key)
        if entry is None:
            return PLANS.keep(entries, key, function(*args, **kwargs))  # type: ignore[no-any-return]
        entry.used = PLANS.clock
        return entry.value  # type: ignore[no-any-return]

    cached.cache_clear = partial(PLANS.forget, entries)  # type: ignore[attr-defined]
    return cast(CachedPlan[P, R], cached)


def set_max_plan_bytes(nbytes: int | None) -> None:
    """Bound the memory of the plans that this process keeps for later calls; there are 2048 at most.

    Examples
    --------
    >>> import glla
    >>> glla.gl.set_max_plan_bytes(32 << 20)
    >>> glla.default_device().stats().max_plan_bytes
    33554432
    >>> glla.gl.set_max_plan_bytes(None)

    Parameters
    ----------
    nbytes : int or None
        Bytes, as `estimate` counts them, from 0; None for the usual 128 MiB, or what ``GLLA_MAX_PLAN_BYTES`` says. The
        plan that was made last is kept, however large.

    Raises
    ------
    OptionError
        No number of bytes.
    """
    PLANS.limit(nbytes)
