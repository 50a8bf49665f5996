"""A study: work on a device that is judged, timed and reported; demonstrations, studies and benchmarks are such.

`Study` holds all that a command needs before the work: options, packages, files. Its `run` returns a `Report`: the
text that is printed, the same as data, and a function that draws it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from glla.errors import OptionError
from glla.gl import Device
from glla.lab.extra import check_writable, require
from glla.lab.plain import plain
from glla.lab.samples import Samples

Say = Callable[[str], None]
"""Called with the next piece of work."""

Option = tuple[tuple[str, ...], dict[str, Any]]
"""Arguments of `argparse.ArgumentParser.add_argument`."""


def option(*names: str, **given: Any) -> Option:
    """Make an option of a study."""
    return names, given


def at_least(least: int) -> Callable[[str], int]:
    """Make a function that reads a whole number from `least` on.

    >>> at_least(8)("9")
    9
    """

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least}, got {text!r}")
        return int(text)

    return read


@dataclass(frozen=True)
class Run:
    """Where a study runs: the device, the options of the command, and functions that show progress and keep results.

    Attributes
    ----------
    device, options, say : Device, Namespace, callable
        The device is open; `say` shows the progress.
    dpi : int
        Dots per inch of pictures.
    keep : callable
        Takes the data so far: a run that is cut leaves them.
    """

    device: Device
    options: argparse.Namespace
    say: Say = lambda what: None
    dpi: int = 80
    keep: Callable[[dict[str, Any]], object] = lambda data: None


@dataclass
class Report:
    """Results of a study.

    Attributes
    ----------
    text : str
        For a terminal.
    data : dict
        For programs: ``--json`` prints it, and a file that ends in ``.json`` holds it.
    ok : bool
        Whether every result was right.
    draw : callable, optional
        Writes a picture to a path. The device is open then.
    """

    text: str
    data: dict[str, Any] = field(default_factory=dict)
    ok: bool = True
    draw: Callable[[Path], object] | None = None

    def write(self, path: Path) -> bool:
        """Write a file: its ending decides. Return whether there was something to write."""
        if path.suffix.lower() == ".json":
            path.write_text(json.dumps(plain(self.data), indent=1, allow_nan=False) + "\n", encoding="utf-8")
        elif self.draw is None:
            return False
        else:
            self.draw(path)
        return True


@dataclass(frozen=True)
class Study:
    """A study: its work, and all that a command must know before it runs.

    Attributes
    ----------
    name, about : str
        Its name on the command line, and a line about it.
    run : callable
        `Run` -> `Report`.
    options : tuple of Option
        Its own, beside those that all studies have.
    size : tuple of (int, str), optional
        Default of ``--size``, and its meaning.
    least : int
        Smallest size.
    seed : bool
        Whether it has random data.
    needs : tuple of str
        Packages.
    out : str
        File that is written unless others are named with ``--out``; ``""`` for none.
    endings : tuple of str
        Endings of pictures that it draws.
    """

    name: str
    about: str
    run: Callable[[Run], Report]
    options: tuple[Option, ...] = ()
    size: tuple[int, str] | None = None
    least: int = 1
    seed: bool = False
    needs: tuple[str, ...] = ()
    out: str = ""
    endings: tuple[str, ...] = ()

    def check(self, paths: Sequence[Path]) -> None:
        """Raise before the work the errors that would follow it.

        Raises
        ------
        MissingPackageError, OptionError, OSError
            A package is missing; no file has such an ending; a file cannot be written.
        """
        endings = (*self.endings, ".json")
        pictures = [path for path in paths if path.suffix.lower() != ".json"]
        require(self.name, *dict.fromkeys((*self.needs, *(("matplotlib",) if pictures else ()))))
        for path in paths:
            check_writable(path)
            if path.suffix.lower() not in endings:
                raise OptionError(f"{self.name}: a file must end in {', '.join(endings)}, got {path.name!r}")


def clock(
    work: Callable[[], Any],
    repeats: int,
    device: Device | None = None,
    most: float = float("inf"),
    warm: bool = False,
) -> Samples:
    """Time some work: once to warm up, unless it is `warm`, then `repeats` times, fewer where they exceed `most` s.

    Parameters
    ----------
    work : callable
        What is done.
    repeats : int
        Repeats at most; there is always one.
    device : Device, optional
        Waits for it; without, the work ends in NumPy arrays and so waits by itself.
    most : float
        Seconds of all repeats, after which there is no further one.

    Examples
    --------
    >>> len(clock(lambda: None, 3).times)
    3
    """

    def finish() -> None:
        if device is not None:
            device.finish()

    if not warm:
        work()
    times: list[float] = []
    while len(times) < repeats and sum(times) <= most:
        finish()
        start = time.perf_counter()
        work()
        finish()
        times.append(time.perf_counter() - start)
    return Samples.of(times)
