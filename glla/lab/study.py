"""A study: work on a device that is judged, timed and reported; demonstrations, studies and benchmarks are such.

`Study` holds all that a command needs before the work: options, packages, files. Its `run` returns a `Report`: the
text that is printed, the same as data, and a function that draws it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from glla.gl import Device
from glla.gl.clock import clock as once
from glla.lab.extra import check_files, require
from glla.lab.plain import save
from glla.lab.samples import Effort, Samples, repeated

Say = Callable[[str], None]
"""Called with the next piece of work."""

Option = tuple[tuple[str, ...], dict[str, Any]]
"""Arguments of `argparse.ArgumentParser.add_argument`."""


def option(*names: str, **given: Any) -> Option:
    """Make an option of a study."""
    return names, given


def at_least(least: int, most: float = inf) -> Callable[[str], int]:
    """Make a function that reads a whole number from `least` on, up to `most`.

    >>> at_least(8)("9")
    9
    """

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least}, got {text!r}")
        if int(text) > most:
            raise argparse.ArgumentTypeError(f"must be {most} at most, got {text!r}")
        return int(text)

    return read


@dataclass(frozen=True)
class Run:
    """Where a study runs: the device, the options of the command, and functions that show progress and keep results."""

    device: Device  # the device is open; `say` shows the progress
    options: argparse.Namespace
    say: Say = lambda what: None
    dpi: int = 80  # dots per inch of pictures
    keep: Callable[[Report], object] = lambda report: None  # takes the report so far: a run that is cut leaves it


@dataclass
class Report:
    """Results of a study."""

    text: str  # for a terminal
    # for programs: ``--json`` prints it, and a file that ends in ``.json`` holds it
    data: dict[str, Any] = field(default_factory=dict)
    ok: bool = True  # whether every result was right
    draw: Callable[[Path], object] | None = None  # writes a picture to a path. The device is open then

    def write(self, path: Path) -> bool:
        """Write a file: its ending decides. Return whether there was something to write."""
        if path.suffix.lower() == ".json":
            save(self.data, path)
        elif self.draw is None:
            return False
        else:
            self.draw(path)
        return True


@dataclass(frozen=True)
class Study:
    """A study: its work, and all that a command must know before it runs."""

    name: str  # its name on the command line, and a line about it
    about: str
    run: Callable[[Run], Report]  # `Run` -> `Report`
    options: tuple[Option, ...] = ()  # its own, beside those that all studies have
    size: tuple[int, str] | None = None  # default of ``--size``, and its meaning
    least: int = 1  # smallest size
    seed: bool = False  # whether it has random data
    needs: tuple[str, ...] = ()  # packages
    out: str = ""  # file that is written unless others are named with ``--out``; ``""`` for none
    endings: tuple[str, ...] = ()  # endings of pictures that it draws
    read: Callable[[argparse.Namespace], Report | None] = lambda options: None  # of files, where no device is needed

    def check(self, paths: Sequence[Path]) -> None:
        """Raise before the work the errors that would follow it, see `check_files`."""
        require(self.name, *self.needs)
        check_files(self.name, paths, {**dict.fromkeys(self.endings, ("matplotlib",)), ".json": ()})


def clock(
    work: Callable[[], Any],
    repeats: int,
    device: Device | None = None,
    most: float = float("inf"),
    warm: bool = False,
    least: float = 0.0,
) -> Samples:
    """Do some work once to warm up, unless it is `warm`, then `repeats` times: seconds of each.

    `device`: waits for it; without, the work ends in NumPy arrays and so waits by itself. `most`: seconds of all
    repeats, after which there is no further one. `least`: seconds of a repeat, for as many calls in a row as that
    takes, whose mean counts.

    >>> len(clock(lambda: None, 3).times)
    3
    """
    finish = device.finish if device else lambda: None
    if not warm:
        once(work, finish)
    calls = 1
    while least and (seconds := once(work, finish, calls)[0]) < least:
        calls *= max(2, min(16, round(least / max(seconds, 1e-6))))
    return repeated(lambda: once(work, finish, calls)[0] / calls, Effort(repeats, 1, most))
