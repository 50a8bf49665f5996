"""Ways to do the same: judged first, then timed in turns, so that a machine that changes its mind does so for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

from glla.gl import Device, Texture
from glla.gl.clock import clock
from glla.lab.study import Option, Say, at_least, option
from glla.passes import Plan


@dataclass(frozen=True)
class Way:
    """One way to do something."""

    name: str  # its name, which says whether data are on the device
    call: Callable[[], Any]  # does it
    check: Callable[[], str]  # does it once, and says what is wrong with the result, "" if nothing
    device: Device | None = None  # waits for it at the end of a run
    repeats: int = 1  # calls of a run
    flop: float = 0.0  # of a call, or of one of its iterations
    plan: tuple[Plan, Mapping[str, Texture]] | None = None  # of one of them, with its operands, for its limit
    noted: dict[str, Any] = field(default_factory=dict)  # findings of `check`, for the results: "iterations" of a call

    def run(self) -> None:
        """Do it `repeats` times, to the end."""
        for _ in range(self.repeats):
            self.call()
        if self.device is not None:
            self.device.finish()

    @property
    def parts(self) -> int:
        """Calls of a run, or their iterations, after `check`."""
        return self.repeats * int(self.noted.get("iterations", 1))


class Spent(NamedTuple):
    """Seconds of the calls of a way, in the order of the calls: by the clock, and of this process's threads."""

    wall: list[float]
    cpu: list[float]

    def per(self, count: int = 1) -> dict[str, float]:
        """Median and fastest seconds of one of `count` parts of a call, and those of the CPU."""
        wall, cpu = (median(times) / count for times in self)
        return {"seconds": wall, "fastest": min(self.wall) / count, "cpu_seconds": cpu}


def timed(
    ways: Mapping[str, Way],
    rounds: int,
    seconds: float,
    say: Say = lambda done: None,
    warm: Callable[[str], None] = lambda name: None,
) -> tuple[dict[str, str], dict[str, Spent]]:
    """Judge ways, then time those that are right in turns, see `taken`; flaws of all, and seconds, by name."""
    flaws = {}
    for name, way in ways.items():
        say(f"{name}, judged")
        flaws[name] = way.check()
    sound = {name: way.run for name, way in ways.items() if not flaws[name]}
    return flaws, taken(sound, rounds, seconds, say, warm)


def taken(
    runs: Mapping[str, Callable[[], Any]],
    rounds: int,
    seconds: float,
    say: Say,
    warm: Callable[[str], None] = lambda name: None,
) -> dict[str, Spent]:
    """Time calls in turns.

    `runs`: what is called, by name. `rounds`, `seconds`: calls of each at most, and seconds of each after which it is
    called no more. Each is called once. `say`: called with what is done next. `warm`: called with the name before each
    call; it is not timed.

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
            before = time.process_time()
            wall.append(clock(run)[0])
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
