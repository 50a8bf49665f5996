"""Studies whose results are kept: `perform` runs one and saves its data, `newest` reads them.

A benchmark is a `glla.lab.study.Study` in a module of its own. Its data go to
DIR/<renderer>/<name>/<UTC date-time>.json with all that a reader must know of the machine: device, commit, versions,
processors, other processes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import glla
from benchmarks import STUDIES
from glla.cli.options import chosen, opened, shared, sizes
from glla.gl import DeviceInfo
from glla.lab import machine, progress
from glla.lab.plain import written
from glla.lab.study import Option, Report, Run, Study, option

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
Data = dict[str, Any]
"""Results of a run, as its file has them."""

SIZES = option("--size", type=sizes, metavar="SIZES", help="orders in place of the usual ones: 64,128 or 64:512:64")
QUICK = option("--quick", action="store_true", help="few sizes, few repeats")


# -- running ----------------------------------------------------------------------------------------------------------


def perform(study: Study, arguments: Sequence[str] | None = None) -> int:
    """Run a study and save its data; return the exit status: 1 if a result was wrong."""
    options = parser(study).parse_args(arguments)
    watch, moment, start = machine.Watch(), datetime.now(UTC), time.perf_counter()
    path: list[Path] = []
    with opened(options) as device, progress.shown(study.name) as line:

        def say(done: str) -> None:
            line(done)
            print(f"{time.perf_counter() - start:6.1f} s  {done}", file=sys.stderr, flush=True)

        def keep(report: Report) -> None:
            whole = {**about(device.info, options.commit, watch), "seconds": round(time.perf_counter() - start, 1)}
            path[:] = [save({**whole, **report.data}, options.output, study.name, moment)]

        report = study.run(Run(device, options, say, 60, keep))
        if report.data:
            keep(report)
            if report.draw is not None:
                report.draw(path[0].with_suffix(".png"))
    print(report.text)
    for trouble in warnings(json.loads(path[0].read_text(encoding="utf-8"))) if path else ():
        print(f"WARNING: {trouble}")
    print(*path)
    return 0 if report.ok else 1


def listed(name: str, run: Callable[[Run], Report], *options: Option, size: tuple[int, str] | None = None) -> Study:
    """Make a study of `benchmarks.STUDIES`."""
    return Study(name, STUDIES[name], run, options, size=size)


def parser(study: Study) -> argparse.ArgumentParser:
    """Build the parser of a study: its own options, and those that all have."""
    made = argparse.ArgumentParser(f"python -m benchmarks {study.name}", description=f"{study.about}.")
    for names, given in study.options:
        made.add_argument(*names, **given)
    shared(made, size=study.size, least=study.least, seed=study.seed)
    made.add_argument("--output", type=Path, default=RESULTS, metavar="DIR", help="(benchmarks/results)")
    made.add_argument("--commit", metavar="NAME", help="what is measured, where there is no git to tell")
    return made


def some(name: str, known: Collection[str], **given: Any) -> Option:
    """Make an option that takes some of the known names, with commas between; all by default."""

    def read(text: str) -> list[str]:
        names = text.split(",")
        if not set(names) <= set(known):
            raise argparse.ArgumentTypeError(f"must be some of {','.join(known)}, got {text!r}")
        return names

    about = f"some of {','.join(known)} (all)"
    return option(name, **{"type": read, "default": list(known), "metavar": "NAMES", "help": about, **given})


def queue(options: argparse.Namespace, **given: Any) -> glla.Coprocessor:
    """Open a coprocessor on the device that is asked for."""
    return glla.coprocessor("auto", *chosen(options), **given)


# -- files ------------------------------------------------------------------------------------------------------------


def slug(renderer: str) -> str:
    """Make a folder's name of a renderer's.

    >>> slug("NVIDIA H200/PCIe/SSE2")
    'nvidia-h200-pcie-sse2'
    """
    return re.sub(r"[^a-z0-9]+", "-", renderer.lower()).strip("-")


def commit() -> str:
    """Return the commit that is checked out, with "+" if files differ from it; "unknown" without git."""
    try:
        short = _git("rev-parse", "--short", "HEAD")
        return short + ("+" if _git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def about(info: DeviceInfo, named: str | None, watch: machine.Watch) -> Data:
    """Tell what was measured and where: all results begin with it.

    `named`: commit, where there is no git to tell. `watch`: made when the run began.
    """
    return {"commit": named or commit(), **machine.place(info), "load": watch.load()}


KINDS = {"operations": ""}
"""Folders of studies that are not named like their study; that of the operations is the renderer's own."""


def save(data: Data, folder: Path, name: str, moment: datetime) -> Path:
    """Write a run to FOLDER/<renderer>/<name>/<UTC date-time>.json, lists of numbers on one line."""
    data = {"date": moment.isoformat(timespec="seconds"), **data}
    path = folder / slug(data["renderer"]) / KINDS.get(name, name) / f"{moment:%Y-%m-%dT%H%M%SZ}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = written(data)
    text = re.sub(r"\[\s+([-+.,eE\d\s]+?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def read(results: Path, name: str) -> dict[str, list[Data]]:
    """Read the runs of a study: of each folder of a renderer all, oldest first."""
    kind = KINDS.get(name, name)
    folders = sorted(path for path in results.iterdir() if path.is_dir()) if results.is_dir() else []
    found = {folder.name: sorted((folder / kind).glob("*.json")) for folder in folders}
    return {
        name: [json.loads(path.read_text(encoding="utf-8")) for path in paths] for name, paths in found.items() if paths
    }


def newest(results: Path, name: str, fits: Callable[[Data], bool] = lambda run: True) -> list[Data]:
    """Read the newest run of each renderer, of those that fit."""
    chosen = ([run for run in runs if fits(run)] for runs in read(results, name).values())
    return [runs[-1] for runs in chosen if runs]


# -- tables and words -------------------------------------------------------------------------------------------------


NOTHING = "No results yet."
Columns = Mapping[str, Callable[[Data], str]]
"""Headings, and the cell of a row below each."""

DEVICE: Columns = {"device": lambda row: row["renderer"], "cores": lambda row: str(row["cores"])}


def laid_out(columns: Columns, rows: Iterable[Data]) -> tuple[list[str], list[list[str]]]:
    """Give headings and cells."""
    return list(columns), [[cell(row) for cell in columns.values()] for row in rows]


def warnings(data: Data) -> list[str]:
    """Say what speaks against the figures of a run: repeated figures that disagree, other processes."""
    load = machine.busy(data["load"]) if "load" in data else ""
    troubles = data.get("busy", [])
    return [*(troubles if isinstance(troubles, list) else [troubles] if troubles else []), *([load] if load else [])]
