"""Ways to do the same: judged first, then timed in turns, so that a machine that changes its mind does so for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from glla.gl import Device, Texture
from glla.gl.clock import clock, warm_up
from glla.gl.recorder import Recorder, TracedPass
from glla.lab.study import Option, Say, at_least, option
from glla.passes import Plan

Row = dict[str, Any]
"""Findings of a way, as results have them."""


@dataclass(frozen=True)
class Way:
    """One way to do something."""

    name: str  # its name, which says whether data are on the device
    call: Callable[[], Any]  # does it
    check: Callable[[], str] = lambda: ""  # does it once, and says what is wrong with the result, "" if nothing
    device: Device | None = None  # waits for it at the end of a run
    repeats: int = 1  # calls of a run
    flop: float = 0.0  # of a call, or of one of its iterations
    plan: tuple[Plan, Mapping[str, Texture]] | None = None  # of one of them, with its operands, for its limit
    noted: dict[str, Any] = field(default_factory=dict)  # findings of `check`, for the results: "iterations" of a call
    kind: str = ""  # of timing, where some ways have one name

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


def timed(
    ways: Sequence[Way], rounds: int, seconds: float, say: Say = lambda done: None, warm: float = 0.0
) -> list[Row]:
    """Judge ways, then time those that are right in turns: a row each.

    A row has the way's name as its variant, its flaw, all that `check` noted; and of a right one median and fastest
    seconds of one of its parts, seconds of this process's threads, the number of calls, and GFLOP/s.
    `rounds`, `seconds`: calls of each at most, and seconds of each after which it is called no more. Each is called
    once. `say`: called with what is done next. `warm`: seconds that each works, untimed, before a call is timed: a GPU
    that waited for the CPU's ways has a low clock.

    >>> (row,) = timed([Way("none", lambda: None)], 3, 1.0)
    >>> row["variant"], row["flaw"], row["calls"]
    ('none', '', 3)
    """
    rows: list[Row] = []
    for way in ways:
        say(f"{way.name}, judged")
        rows.append({"variant": way.name, "flaw": way.check(), **way.noted})
    spent: list[tuple[list[float], list[float]]] = [([], []) for _ in ways]
    for _ in range(rounds):
        for way, row, (wall, cpu) in zip(ways, rows, spent, strict=True):
            if row["flaw"] or (wall and sum(wall) + wall[-1] > seconds):
                continue
            say(f"{way.name}, call {len(wall) + 1} of {rounds} at most")
            warm_up(way.run, warm)
            before = time.process_time()
            wall.append(clock(way.run)[0])
            cpu.append(time.process_time() - before)
    for way, row, (wall, cpu) in zip(ways, rows, spent, strict=True):
        if wall:
            each = {"seconds": median(wall), "fastest": min(wall), "cpu_seconds": median(cpu)}
            row |= {name: value / way.parts for name, value in each.items()} | {"calls": len(wall)}
            row |= {"gflops": way.flop / row["seconds"] / 1e9} if way.flop else {}
    return rows


def recorded(run: Callable[[], dict[str, Any]], runs: int = 3) -> list[TracedPass]:
    """Record the passes of the quickest of some runs: whatever disturbs a run only adds to it."""
    found = []
    for _ in range(runs):
        with Recorder() as recorder:
            results = run()
        for one in results.values():
            one.release()
        found.append(recorder.passes)
    return min(found, key=lambda passes: sum(one.seconds for one in passes))


def options(rounds: int, seconds: float) -> tuple[Option, Option]:
    """Make the options ``--rounds`` and ``--seconds`` with these defaults."""
    return (
        option("--rounds", type=at_least(1), default=rounds, metavar="R", help=f"calls of each way at most ({rounds})"),
        option(
            "--seconds", type=float, default=seconds, metavar="S", help=f"of each way, about, at most ({seconds:g})"
        ),
    )
