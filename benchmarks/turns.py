"""Ways to do the same: judged first, then timed in turns, so that a machine that changes its mind does so for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from glla.lab.study import Option, Say, at_least, option


class Judged(Protocol):
    """A way that can say what is wrong with it: "" if nothing."""

    @property
    def check(self) -> Callable[[], str]:
        """Run it once, and judge what it gives."""


class Spent(NamedTuple):
    """Seconds of the calls of a way, in the order of the calls: by the clock, and of this process's threads."""

    wall: list[float]
    cpu: list[float]


def flaws(ways: Mapping[str, Judged], say: Say) -> dict[str, str]:
    """What is wrong with each of the ways, by name."""
    found = {}
    for name, way in ways.items():
        say(f"{name}, judged")
        found[name] = way.check()
    return found


def taken(
    runs: Mapping[str, Callable[[], Any]],
    rounds: int,
    seconds: float,
    say: Say,
    warm: Callable[[str], None] = lambda name: None,
) -> dict[str, Spent]:
    """Time calls in turns.

    Parameters
    ----------
    runs : mapping of str to callable
        What is called, by name.
    rounds, seconds : int, float
        Calls of each at most, and seconds of each after which it is called no more. Each is called once.
    say : callable
        Called with what is done next.
    warm : callable
        Called with the name before each call; it is not timed.

    Examples
    --------
    >>> spent = taken({"none": lambda: None}, 3, 1.0, lambda what: None)
    >>> len(spent["none"].wall), len(spent["none"].cpu)
    (3, 3)
    """
    spent = {name: Spent([], []) for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            wall, cpu = spent[name]
            if wall and sum(wall) + wall[-1] > seconds:
                continue
            say(f"{name}, call {len(wall) + 1} of {rounds} at most")
            warm(name)
            start, before = time.perf_counter(), time.process_time()
            run()
            wall.append(time.perf_counter() - start)
            cpu.append(time.process_time() - before)
    return spent


def options(rounds: int, seconds: float) -> tuple[Option, Option]:
    """Make the options ``--rounds`` and ``--seconds`` with these defaults."""
    return (
        option("--rounds", type=at_least(1), default=rounds, metavar="R", help=f"calls of each way at most ({rounds})"),
        option(
            "--seconds", type=float, default=seconds, metavar="S", help=f"of each way, about, at most ({seconds:g})"
        ),
    )
