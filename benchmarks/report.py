"""The report of a run: a table, and a file of JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import glla
from glla.gl import DeviceInfo
from glla.lab import machine, peers
from glla.lab.plain import plain

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PACKAGES = ("numpy", "scipy", "moderngl", "glfw")

COLUMNS = (
    "operation", "variant", "n", "passes", "resident ms", "quartiles", "to end ms", "cold ms", "GFLOP/s", "of FMA",
    "peer ms", "quartiles", "usual ms", "x peer", "x usual", "x thesis", "error",
)  # fmt: skip
LEFT = ("operation", "variant")
WIDTH = 190
"""Columns of characters that the table is given where it goes to no terminal."""

LEGEND = """\
ms: medians; resident: operands and result on the device; to end: from NumPy to NumPy; cold: the first run, plan and
programs new; peer: the CPU's fastest way; usual: what a user types
quartiles: half of the repeats lie between them, ms; of resident (of to end where there is no resident), and of peer
of FMA: of the fragment multiply-add ceiling of this run; x peer, x usual, x thesis: times as fast (resident) as these
error: of the bound that a verdict allows (glla.testing); a wrong result is not timed"""


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


def versions() -> dict[str, str]:
    """Return the versions of what takes part."""
    found = {"glla": glla.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # put in place by hand
            found[package] = getattr(sys.modules.get(package), "__version__", "unknown")
    return found


def about(
    info: DeviceInfo, named: str | None, environment: Sequence[str] = (), watch: machine.Watch | None = None
) -> dict[str, Any]:
    """Tell what was measured and where: what all results begin with.

    Parameters
    ----------
    info : DeviceInfo
        Of the device.
    named : str or None
        What is measured, where there is no git to tell.
    environment : sequence of str
        Variables that change the figures.
    watch : machine.Watch, optional
        What was made when the run began.
    """
    load = {} if watch is None else {"load": watch.load()}
    return {
        "commit": named or commit(),
        "renderer": info.renderer,
        "driver": info.version,
        "backend": info.backend,
        "software": info.software,
        "cores": machine.cores(),
        "machine": machine.describe(),
        **load,
        "versions": versions(),
        "environment": {name: os.environ[name] for name in environment if name in os.environ},
    }


def save(data: dict[str, Any], folder: Path, kind: str = "", moment: datetime | None = None) -> Path:
    """Write a run to FOLDER/<renderer>/<kind>/<UTC date-time>.json; `moment` is now by default."""
    now = moment or datetime.now(UTC)
    data = {"date": now.isoformat(timespec="seconds"), **data}
    path = folder / slug(data["renderer"]) / kind / f"{now:%Y-%m-%dT%H%M%SZ}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_on_one_line(json.dumps(plain(data), indent=1, allow_nan=False)) + "\n", encoding="utf-8")
    return path


def _on_one_line(text: str) -> str:
    """Write lists of numbers without breaks: there are many samples."""
    return re.sub(r"\[\s+([-+.,eE\d\s]+?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text)


def show(records: Sequence[dict[str, Any]]) -> None:
    """Print the table."""
    rows = [cells(record) for record in records]
    try:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        print(plain_table(rows))
    else:
        table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        for name in COLUMNS:
            table.add_column(name, justify="left" if name in LEFT else "right", no_wrap=True)
        for row in rows:
            table.add_row(*map(Text, row))
        console = Console(highlight=False)
        if not console.is_terminal:
            console.width = WIDTH
        console.print(table)
    print(LEGEND)
    for record in records:
        if not record["ok"]:
            print(f"FAILED {record['operation']}[{record['variant']}] n = {record['n']}: {record['verdict']['detail']}")


def show_peers(data: dict[str, Any]) -> None:
    """Print who stood beside: for each peer and size the fastest way and the usual call."""
    for text in peer_lines(data):
        print(text)


def peer_lines(data: dict[str, Any]) -> list[str]:
    """Write a line for each peer and size."""
    lines = ["peers, at their best; usual call"] if data else []
    for key, one in data.items():
        usual = one["usual"]
        beside = "-" if usual is None else f"{usual['way']} {_timed(usual)}"
        lines.append(f"  {key}: {peers.described(one['best'])} {_timed(one['best'])}; {beside}")
    return lines


def _timed(one: dict[str, Any]) -> str:
    return f"{_milliseconds(one['seconds'])} ms ({quartiles(one)})"


def quartiles(one: dict[str, Any]) -> str:
    """Write the quartiles of a timing, in milliseconds.

    >>> quartiles({"lower": 0.00123, "upper": 0.00132})
    '1.23-1.32'
    """
    return f"{_milliseconds(one['lower'])}-{_milliseconds(one['upper'])}"


def warnings(data: dict[str, Any]) -> list[str]:
    """Say what speaks against the figures of a run: repeated figures that disagree, other processes."""
    load = machine.busy(data["load"]) if "load" in data else ""
    return [*data.get("busy", []), *([load] if load else [])]


def plain_table(rows: Sequence[Sequence[str]]) -> str:
    """Align the table without rich."""
    every = [COLUMNS, *rows]
    widths = [max(len(row[i]) for row in every) for i in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if name in LEFT else cell.rjust(width)
            for cell, width, name in zip(row, widths, COLUMNS, strict=True)
        ).rstrip()
        for row in every
    )


def cells(record: dict[str, Any]) -> tuple[str, ...]:
    """Write the columns of a case."""
    head = (record["operation"], record["variant"] or "-", str(record["n"]), _text(record["passes"], "d"))
    if not record["ok"]:
        return (*head, *("-" for _ in COLUMNS[len(head) : -1]), "FAILED")
    resident, verdict, peer, usual = (record[name] for name in ("resident", "verdict", "peer", "usual"))
    share = verdict["error"] / verdict["bound"] if verdict["bound"] else 0.0
    return (
        *head,
        _milliseconds(resident["seconds"]) if resident else "-",
        quartiles(resident or record["end_to_end"]),
        _milliseconds(record["end_to_end"]["seconds"]),
        _milliseconds(record["cold_start"]),
        f"{record['gflops']:.3g}" if record["gflops"] < 100 else f"{record['gflops']:.0f}",
        f"{100 * record['fraction_of_fma']:.1f} %",
        _milliseconds(peer["seconds"]),
        quartiles(peer),
        _milliseconds(usual["seconds"]),
        _text(record["ratio_to_peer"], ".3g"),
        _text(record["ratio_to_usual"], ".3g"),
        _text(record["ratio_to_thesis"], ".3g"),
        f"{share:.2g}",
    )


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3g}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def _text(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def whole_number(text: str) -> int:
    """Read an option that counts something."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)


def some_of(known: Collection[str]) -> Callable[[str], list[str]]:
    """Make the reader of an option that takes some names, with commas between."""

    def read(text: str) -> list[str]:
        names = text.split(",")
        if not set(names) <= set(known):
            raise argparse.ArgumentTypeError(f"must be some of {','.join(known)}, got {text!r}")
        return names

    return read


def add_systems(parser: argparse.ArgumentParser, known: Iterable[str]) -> None:
    """Add the systems that are to be timed; by default all."""
    names = list(known)

    def system(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(f"must be one of {', '.join(names)}, got {text!r}")
        return text

    what = f"some of {', '.join(names)} (all)"
    parser.add_argument("systems", nargs="*", type=system, default=names, metavar="SYSTEM", help=what)


def add_options(parser: argparse.ArgumentParser, *backends: str) -> None:
    """Add what every benchmark takes: where the results go, what is measured, and on which device."""
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="DIR", help="(benchmarks/results)")
    parser.add_argument("--commit", metavar="NAME", help="what is measured, where there is no git to tell")
    parser.add_argument("--backend", choices=("auto", *(backends or ("egl", "glfw"))), default="auto")
    parser.add_argument("--index", type=int, metavar="I", help="the EGL device, as `glla info` lists them")
    parser.add_argument("--software", action="store_true", default=None, help="a software rasteriser only")
