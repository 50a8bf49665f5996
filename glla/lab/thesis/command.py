"""`glla thesis`: print the sections, and write them as a page or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from glla._version import __version__
from glla.errors import OptionError
from glla.gl import Device
from glla.lab import machine, progress
from glla.lab.extra import check_writable, require
from glla.lab.thesis import claims, evaluation, published
from glla.lab.thesis.measure import Place
from glla.lab.thesis.parts import Section, page

AFTER = {"speedups": ("product", "rref", "plu")}
"""Sections that are made of others."""

NAMES = (*evaluation.SECTIONS, *AFTER, "claims")
"""All sections."""


def add(commands: Any, add_device_options: Callable[[argparse.ArgumentParser], None]) -> argparse.ArgumentParser:
    """Add `glla thesis` to the commands of the command line."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "thesis",
        help="the evaluation of the thesis behind glla, done again on this device: theirs beside ours",
        description=f"Theirs: {published.DEVICE}. Ours: this device, the CPU by BLAS and LAPACK at their best.",
    )
    parser.add_argument(
        "--section", action="append", choices=NAMES, metavar="NAME",
        help=f"only this one; may be given again: {', '.join(NAMES)}",
    )  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="one page with plots, to be mailed")
    parser.add_argument("--json", type=Path, metavar="FILE", help="everything, for programs")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it runs, nothing of speed")
    add_device_options(parser)
    return parser


def run(device: Device, names: list[str] | None, html: Path | None, file: Path | None, quick: bool = False) -> None:
    """Do the sections, print each when it is done, and write the files.

    Raises
    ------
    OptionError
        There is no such section.
    MissingPackageError
        A page needs matplotlib.
    OSError
        A file cannot be written; that is found before the work.
    """
    if html is not None:
        require("thesis", "matplotlib")
    for path in filter(None, (html, file)):
        check_writable(path)
    title = f"A MATLAB Interface to the GPU (2007), done again by glla {__version__}"
    about = [
        f"Ours: {device.info.renderer}, OpenGL {device.info.version}; CPU: {machine.cpu_model()}, "
        f"{machine.cores()} cores.",
        f"Theirs: {published.DEVICE}.",
        *(["A quick run: it shows that everything runs, and nothing of speed."] if quick else []),
    ]
    print("\n".join([title, *about]))
    with progress.shown("thesis") as say:
        found = sections(Place(device, quick, say), names)
    if html is not None:
        html.write_text(page(found, title, about), encoding="utf-8")
        print(f"written: {html}")
    if file is not None:
        data = {"title": title, "about": about, "sections": [_without_fits(one) for one in found]}
        file.write_text(json.dumps(data, indent=1, allow_nan=False, default=float) + "\n", encoding="utf-8")
        print(f"written: {file}")


def sections(place: Place, names: list[str] | None = None) -> list[Section]:
    """Do some sections, all by default, and print each when it is done; those that others are made of are done, too."""
    wanted = list(NAMES) if names is None else [name for name in NAMES if name in names]
    if unknown := set(names or ()) - set(NAMES):
        raise OptionError(f"thesis: section must be one of {', '.join(NAMES)}, got {', '.join(sorted(unknown))}")
    needed = {part for name in wanted for part in AFTER.get(name, ())}
    done: dict[str, Section] = {}

    def take(name: str, make: Callable[[], Section]) -> None:
        done[name] = make()
        if name in wanted:
            print(f"\n{done[name].text()}", flush=True)

    for name, section in evaluation.SECTIONS.items():
        if name in wanted or name in needed:
            take(name, partial(section, place))
    if "speedups" in wanted:
        take("speedups", lambda: evaluation.speedups(place, done))
    if "claims" in wanted:
        take("claims", lambda: claims.claims(place, done))
    return [done[name] for name in wanted]


def _without_fits(section: Section) -> dict[str, Any]:
    """Give a section as plain data; its fits stand in its tables."""
    return {name: value for name, value in section.plain().items() if name != "values"}
