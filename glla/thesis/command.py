"""`glla study thesis`: print the sections, and write them as a page or as JSON."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from glla._version import __version__
from glla.errors import OptionError
from glla.gl import Device
from glla.lab import machine, progress
from glla.lab.extra import check_writable, require
from glla.lab.study import at_least
from glla.thesis import claims, evaluation, published
from glla.thesis.document import Document
from glla.thesis.evaluation import AFTER, NAMES
from glla.thesis.measure import Place
from glla.thesis.merge import joined
from glla.thesis.parts import Section

ABOUT = "the evaluation of the thesis behind glla, done again on this device: theirs beside ours"
DESCRIPTION = (
    f"Theirs: {published.DEVICE}. Ours: this device, the CPU by BLAS and LAPACK at their best. Files are written after "
    "each section: a run that is cut leaves what it has done."
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla study thesis` that no other command has."""
    parser.add_argument(
        "--section", action="append", choices=NAMES, metavar="NAME",
        help=f"only this one; may be given again: {', '.join(NAMES)}",
    )  # fmt: skip
    parser.add_argument(
        "--only", action="append", choices=tuple(claims.GROUPS), metavar="GROUP",
        help="section claims: only this group of them, and what the sections before tell; may be given again: "
        f"{', '.join(claims.GROUPS)}",
    )  # fmt: skip
    parser.add_argument(
        "--from", type=Path, action="append", metavar="FILE", dest="sources",
        help="measure nothing: make the page of a .json that --out wrote, or of a file below benchmarks/results; may "
        "be given again: sections and claims of a later file replace those of the ones before",
    )  # fmt: skip
    about = "no order above it (384 in software, 4096 on a GPU)"
    parser.add_argument("--largest", type=at_least(8), metavar="N", help=about)


def run(
    device: Device,
    names: list[str] | None,
    html: Path | None = None,
    file: Path | None = None,
    quick: bool = False,
    largest: int | None = None,
    only: list[str] | None = None,
) -> None:
    """Do the sections, print each when it is done, and write the files anew after each.

    Raises OptionError: there is no such section. Raises MissingPackageError: a page needs matplotlib. Raises OSError: a
    file cannot be written; that is found before the work.
    """
    check_files(html, file)
    with progress.shown("thesis") as say:
        place = Place(device, quick, say, largest)
        evaluate(place, names, lambda document: document.write(html, file), only)
    for path in filter(None, (html, file)):
        print(f"written: {path}")


def draw(sources: list[Path], html: Path) -> None:
    """Make the page of a file, or of several of one device.

    Raises OptionError: it is no such file, or they are of different devices. Raises MissingPackageError, OSError: as
    `run`.
    """
    document = joined([Document.read(source) for source in sources])
    check_files(html)
    document.write(html)
    print(f"written: {html}")


def check_files(html: Path | None, file: Path | None = None) -> None:
    """Raise early the errors of writing them."""
    if html is not None:
        require("thesis", "matplotlib")
    for path in filter(None, (html, file)):
        check_writable(path)


def evaluate(
    place: Place,
    names: list[str] | None = None,
    keep: Callable[[Document], None] = lambda document: None,
    only: list[str] | None = None,
) -> Document:
    """Do some sections, all by default; print each when done, and pass the document so far to `keep`.

    Those that others are made of are done, too. `only`: groups of claims that are measured.
    """
    wanted = list(NAMES) if names is None else [name for name in NAMES if name in names]
    if unknown := set(names or ()) - set(NAMES):
        raise OptionError(f"thesis: section must be one of {', '.join(NAMES)}, got {', '.join(sorted(unknown))}")
    document = Document(f"A MATLAB Interface to the GPU (2007), done again by glla {__version__}", _about(place))
    print("\n".join([document.title, *document.about]))
    needed = {part for name in wanted for part in AFTER.get(name, ())}
    done: dict[str, Section] = {}

    def take(name: str, make: Callable[[], Section]) -> None:
        start = time.perf_counter()
        done[name] = section = make()
        section.notes += place.repeats()
        section.seconds = round(time.perf_counter() - start, 2)
        if name in wanted:
            print(f"\n{section.text()}\n\n{section.name}: {section.seconds:.1f} s", flush=True)
            document.sections.append(section)
            document.complete = name == wanted[-1]
            keep(document)

    for name, section in evaluation.SECTIONS.items():
        if name in wanted or name in needed:
            take(name, partial(section, place))
    if "speedups" in wanted:
        take("speedups", lambda: evaluation.speedups(place, done))
    if "claims" in wanted:
        take("claims", lambda: claims.claims(place, done, only))
    return document


def _about(place: Place) -> list[str]:
    info = place.device.info
    return [
        f"Ours: {info.renderer}, OpenGL {info.version}; CPU: {machine.written(machine.describe())}.",
        f"Theirs: {published.DEVICE}.",
        *(["A quick run: it shows that everything runs, and nothing of speed."] if place.quick else []),
    ]
