"""`glla study thesis`: print the sections, and write them as a page or as JSON."""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from glla._version import __version__
from glla.errors import OptionError
from glla.lab import machine
from glla.lab.plain import replace
from glla.lab.study import Report, Run, Study, at_least, option
from glla.thesis import appendix, claims, evaluation, published
from glla.thesis.document import Document
from glla.thesis.evaluation import AFTER, NAMES
from glla.thesis.measure import Place
from glla.thesis.parts import Section

OPTIONS = (
    option("--quick", action="store_true", help="tiny sizes, not for times"),
    option(
        "--section", action="append", choices=NAMES, metavar="NAME",
        help=f"only this one; may be given again: {', '.join(NAMES)}",
    ),
    option(
        "--only", action="append", choices=tuple(claims.GROUPS), metavar="GROUP",
        help="section claims: only this group of them, and what the sections before tell; may be given again: "
        f"{', '.join(claims.GROUPS)}",
    ),
    option(
        "--largest", type=at_least(8), metavar="N", help="no order above it (384 in software, 4096 on a GPU)",
    ),
)  # fmt: skip
SOURCES = option(
    "--from", type=Path, action="append", metavar="FILE", dest="sources",
    help="measure nothing: make the page of a .json that --out wrote, or of a file below benchmarks/results; may "
    "be given again: sections and claims of a later file replace those of the ones before",
)  # fmt: skip


def _read(options: argparse.Namespace) -> Report | None:
    """Make the report of a file, or of several of one device.

    Raises OptionError: it is no such file, or they are of different devices.
    """
    if options.sources is None:
        return None
    if not options.out:
        raise OptionError("thesis: --from needs --out FILE.html, the page to make")
    return _report(joined([Document.read(source) for source in options.sources]))


def _run(run: Run) -> Report:
    """Do the sections, print each when it is done, and keep the report so far after each."""
    options = run.options
    place = Place(run.device, options.quick, run.say, options.largest)
    tell = (lambda text: None) if getattr(options, "json", False) else partial(print, flush=True)
    return _report(evaluate(place, options.section, lambda done: run.keep(_report(done)), options.only, tell))


def _report(document: Document) -> Report:
    return Report("", document.plain(), draw=lambda path: replace(path, document.page()))


STUDY = Study(
    "thesis",
    "the evaluation of the thesis behind glla, done again on this device: theirs beside ours",
    _run,
    (*OPTIONS, SOURCES),
    endings=(".html",),
    read=_read,
)


def evaluate(
    place: Place,
    names: list[str] | None = None,
    keep: Callable[[Document], object] = lambda document: None,
    only: list[str] | None = None,
    tell: Callable[[str], object] = print,
) -> Document:
    """Do some sections, all by default; `tell` each when done, and pass the document so far to `keep`.

    Those that others are made of are done, too. `only`: groups of claims that are measured.
    """
    wanted = list(NAMES) if names is None else [name for name in NAMES if name in names]
    if unknown := set(names or ()) - set(NAMES):
        raise OptionError(f"thesis: section must be one of {', '.join(NAMES)}, got {', '.join(sorted(unknown))}")
    document = Document(f"A MATLAB Interface to the GPU (2007), done again by glla {__version__}", _about(place))
    tell("\n".join([document.title, *document.about]))
    needed = {part for name in wanted for part in AFTER.get(name, ())}
    done: dict[str, Section] = {}

    def take(name: str, make: Callable[[], Section]) -> None:
        start = time.perf_counter()
        done[name] = section = make()
        section.notes += place.repeats()
        section.seconds = round(time.perf_counter() - start, 2)
        if name in wanted:
            tell(f"\n{section.text()}\n\n{section.name}: {section.seconds:.1f} s")
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


# -- several runs on one device as one --------------------------------------------------------------------------------


def joined(documents: Sequence[Document]) -> Document:
    """Put sections of later documents in place of those of the ones before; claims one by one.

    Claims that follow from other sections are those of the sections that are left; tables A.1 to A.3 those of the
    newest runs that are kept.

    Raises OptionError: they are of different devices.
    """
    first, *others = documents
    for one in others:
        if one.device != first.device:
            raise OptionError(f"thesis: all --from must be of one device, got {first.device!r} and {one.device!r}")
    sections = {section.name: section for section in first.sections}
    later = dict[str, list[str]]()  # what is said of later documents -> their sections
    for one in others:
        for section in one.sections:
            sections[section.name] = _with(sections.get(section.name), section)
        names = ", ".join(section.name for section in one.sections)
        for line in one.about:
            if line not in first.about:
                later.setdefault(line, []).append(names)
    about = [*first.about, *(f"Later ({'; '.join(those)}): {line}" for line, those in later.items())]
    if "cluster" in sections:
        sections["cluster"] = appendix.anew(sections["cluster"], first.device.removeprefix("Ours: "))
    if "claims" in sections:
        own = sections["claims"]
        rows = [*own.tables[0].rows, *claims.following(sections)]
        sections["claims"] = dataclasses.replace(own, tables=[claims.table(rows)])
    complete = sections.keys() >= {*NAMES} or all(one.complete for one in documents)
    ordered = [sections[name] for name in NAMES if name in sections]
    return dataclasses.replace(first, about=about, sections=ordered, complete=complete)


def _with(old: Section | None, new: Section) -> Section:
    if old is None or new.name != "claims":
        return new
    rows = [row for section in (old, new) for table in section.tables for row in table.rows]
    return dataclasses.replace(old, tables=[claims.table(rows)], seconds=old.seconds + new.seconds)
