"""GPU and CPU side by side: the newest figures of `benchmarks.overlap` and `benchmarks.hybrid`, as tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORK = {"product", "systems", "transfers"}
"""What the queue must have worked on for a run of `benchmarks.overlap` to stand for a device."""

OVERLAP = (
    "What is left of NumPy's rate in the main thread while the queue is kept full, and beside the same queue in\n"
    "another process, where only the machine is shared (`python -m benchmarks.overlap`):\n\n"
    "| device | cores | on the queue | n | NumPy keeps | beside another process |\n|---|---|---|---|---|---|"
)
HYBRID = (
    "Systems that GPU and CPU share by `glla.hybrid.map` (`python -m benchmarks.hybrid`, which also draws every fixed\n"
    "split, as the thesis does in figure 4.16):\n\n"
    "| device | cores | systems | n | CPU alone s | GPU alone s | both s | x the better one |\n"
    "|---|---|---|---|---|---|---|---|"
)


def tables(results: Path) -> str:
    """Give the Markdown of both, for each device that has them."""
    overlaps = _newest(results, "overlap", lambda run: {pair["queue"] for pair in run["pairs"]} >= WORK)
    hybrids = _newest(results, "hybrid", lambda run: len(run["records"]) > 1 and not run["software"])
    rows = [line for run in overlaps for line in _overlap_rows(run)]
    shared = [line for run in hybrids for line in _hybrid_rows(run)]
    return "\n".join([OVERLAP, *rows, "", HYBRID, *shared])


def _newest(results: Path, kind: str, complete: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    found = []
    for folder in sorted(results.glob(f"*/{kind}")):
        runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
        found += [run for run in runs if complete(run)][-1:]
    return found


def _overlap_rows(run: dict[str, Any]) -> list[str]:
    return [
        f"| {run['renderer']} | {run['cores']} | {pair['queue']} | {pair['n']} | {pair['cpu_kept']:.0%} "
        f"| {pair['cpu_kept_beside_process']:.0%} |"
        for pair in run["pairs"]
        if pair["cpu"] == "numpy"
    ]


def _hybrid_rows(run: dict[str, Any]) -> list[str]:
    return [
        f"| {run['renderer']} | {run['cores']} | {record['count']} `{record['operation']}` | {record['n']} "
        f"| {min(record['seconds']['cpu'], record['seconds']['cpu_peer']):.3g} | {record['seconds']['gpu']:.3g} "
        f"| {record['seconds']['pair']:.3g} | {record['gain']:.2f} |"
        for record in run["records"]
        if record["ok"]
    ]
