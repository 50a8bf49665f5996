"""GPU and CPU side by side: the newest figures of `benchmarks.overlap` and `benchmarks.hybrid`, as tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORK = {"product", "systems", "transfers"}
"""Kinds of work that a run of `benchmarks.overlap` must contain to represent a device."""

PYTHONS_INTERVAL = 0.005
"""Python's own switch interval, in seconds."""

OVERLAP = (
    "What is left of NumPy's rate in the main thread while the queue is kept full, and beside the same queue in\n"
    "another process, where only the machine is shared (`python -m benchmarks.overlap`); with Python's switch\n"
    "interval of 5000 us, and with that of `coprocessor(punctual=True)`, where it was measured:\n\n"
    "| device | cores | interval us | on the queue | n | NumPy keeps | queue keeps | NumPy beside another process |\n"
    "|---|---|---|---|---|---|---|---|"
)
HYBRID = (
    "Systems that GPU and CPU share by `glla.hybrid.map` (`python -m benchmarks.hybrid`, which also draws every fixed\n"
    "split, as the thesis does in figure 4.16). *CPU alone* is the CPU side of `glla.hybrid` itself; the fastest way\n"
    "has its operands in the order of memory that suits it from the start, and may destroy them, as no stream of\n"
    "systems comes; *x the better one* leaves it out, the last column does not:\n\n"
    "| device | cores | systems | n | CPU alone s | usual call s | fastest way s | GPU alone s | both s "
    "| x the better one | x with the fastest way |\n|---|---|---|---|---|---|---|---|---|---|---|"
)
OLD_HYBRID = (
    "A dash stands where a run is older than the search for the fastest way. The CPU side of such a run also spent\n"
    "up to half of its time on a conversion that is faster now, so less is to be gained than the table says."
)


def tables(results: Path) -> str:
    """Give the Markdown of both, for each device that has them."""
    overlaps = [
        run
        for punctual in (False, True)
        for run in _newest(results, "overlap", lambda run, wish=punctual: _stands_for_a_device(run, wish))
    ]
    overlaps.sort(key=lambda run: str(run["renderer"]))
    hybrids = _newest(results, "hybrid", lambda run: len(run["records"]) > 1 and not run["software"])
    rows = [line for run in overlaps for line in _overlap_rows(run)]
    shared = [line for run in hybrids for line in _hybrid_rows(run)]
    old = any("gain_over_best" not in record for run in hybrids for record in run["records"] if record["ok"])
    return "\n".join([OVERLAP, *rows, "", HYBRID, *shared, *(["", OLD_HYBRID] if old else [])])


def _newest(results: Path, kind: str, complete: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    found = []
    for folder in sorted(results.glob(f"*/{kind}")):
        runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
        found += [run for run in runs if complete(run)][-1:]
    return found


def _stands_for_a_device(run: dict[str, Any], punctual: bool) -> bool:
    """Whether a run of `benchmarks.overlap` is complete, and of a punctual coprocessor or of another one."""
    return {pair["queue"] for pair in run["pairs"]} >= WORK and (run["switch_interval"] < PYTHONS_INTERVAL) == punctual


def _overlap_rows(run: dict[str, Any]) -> list[str]:
    return [
        f"| {run['renderer']} | {run['cores']} | {1e6 * run['switch_interval']:.0f} | {pair['queue']} | {pair['n']} "
        f"| {pair['cpu_kept']:.0%} | {pair['gpu_kept']:.0%} | {pair['cpu_kept_beside_process']:.0%} |"
        for pair in run["pairs"]
        if pair["cpu"] == "numpy"
    ]


def _hybrid_rows(run: dict[str, Any]) -> list[str]:
    return [
        f"| {run['renderer']} | {run['cores']} | {record['count']} `{record['operation']}` | {record['n']} "
        f"| {' | '.join(_seconds(record['seconds'], name) for name in COLUMNS)} | {record['gain']:.2f} "
        f"| {format(record['gain_over_best'], '.2f') if 'gain_over_best' in record else '-'} |"
        for record in run["records"]
        if record["ok"]
    ]


COLUMNS = ("cpu", "cpu_usual", "cpu_best", "gpu", "pair")


def _seconds(found: dict[str, float], name: str) -> str:
    """Write a time; files up to 2026-11-21 call the usual call a peer."""
    value = found.get(name, found.get("cpu_peer") if name == "cpu_usual" else None)
    return "-" if value is None else f"{value:.3g}"
