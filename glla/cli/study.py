"""`glla demo` and `glla study`: they list the studies of `glla.lab.study`, and run one."""

from __future__ import annotations

import argparse
from functools import partial
from importlib import import_module
from pathlib import Path

import glla
from glla.cli.options import document, opened, shared
from glla.lab import progress
from glla.lab.study import Report, Run, Study

DEMOS = {
    "operations": "glla.lab.demo:STUDY",
    "elimination": "glla.lab.elimination:STUDY",
    "life": "glla.lab.examples:LIFE_STUDY",
    "stencil": "glla.lab.examples:STENCIL_STUDY",
    "restoration": "glla.lab.restoration:STUDY",
    "windows": "glla.lab.windows:STUDY",
    "water": "glla.lab.water:STUDY",
}
STUDIES = {
    "pivoting": "glla.lab.pivoting:STUDY",
    "convergence": "glla.lab.convergence:STUDY",
    "sweeps": "glla.lab.sweeps:STUDY",
    "adjugate": "glla.lab.covariances:STUDY",
    "thesis": "glla.thesis.command:STUDY",
}
"""Places of the studies, by name."""


def found(place: str) -> Study:
    """Import a study."""
    module, _, name = place.partition(":")
    study: Study = getattr(import_module(module), name)
    return study


def demo(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla demo`, and of each demonstration; without a name it is that of the operations."""
    kinds = parser.add_subparsers(metavar="WHAT")
    for name, place in DEMOS.items():
        _add(kinds.add_parser(name, help=found(place).about), found(place))
    _add(parser, found(DEMOS["operations"]))


def study(parser: argparse.ArgumentParser) -> None:
    """Add the options of `glla study`, and of each study."""
    kinds = parser.add_subparsers(required=True, metavar="WHAT")
    for name, place in STUDIES.items():
        _add(kinds.add_parser(name, help=found(place).about), found(place))


def _add(parser: argparse.ArgumentParser, of: Study) -> None:
    """Add the options of a study."""
    for names, given in of.options:
        parser.add_argument(*names, **given)
    endings = ", ".join((*of.endings, ".json"))
    shared(
        parser, size=of.size, least=of.least, seed=of.seed, table=True,
        out=f"FILE, ending in {endings}{f' ({of.out})' if of.out else ''}",
    )  # fmt: skip
    parser.set_defaults(run=partial(_run, of))


def _run(of: Study, options: argparse.Namespace) -> int:
    """Run a study: check before the work, then print its report and write its files."""
    paths = options.out or ([Path(of.out)] if of.out else [])
    of.check(paths)
    files: list[str] = []

    def keep(report: Report) -> Report:
        files[:] = [str(path) for path in paths if report.write(path)]
        return report

    report, device, head = of.read(options), None, f"glla {glla.__version__}"
    if report is not None:
        keep(report)
    else:
        with opened(options) as device, progress.shown(of.name) as say:
            report = keep(of.run(Run(device, options, say, keep=keep)))
            head += f" on {device.info.renderer}, {device.info.backend}"
    if options.json:
        print(document(options, device, report.data | {"ok": report.ok, "files": files}))
        return 0 if report.ok else 1
    if report.text:
        print(f"{head}\n{report.text}")
    if files:
        print(f"written: {', '.join(files)}")
    return 0 if report.ok else 1
