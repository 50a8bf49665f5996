"""The README's tables of several GPUs against one, and of a rank's share replayed on one GPU.

They show the newest results of `python -m benchmarks.cluster` and `python -m benchmarks.cluster_share`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from glla.lab import machine

HEAD = (
    "| device | by | what | n | one s | several s | x one | measured / predicted: one, several | residual, of what is "
    "allowed |\n|---|---|---|---|---|---|---|---|---|"
)
SHARES = (
    "PLU: the share of one rank of several, replayed on one GPU (`python -m benchmarks.cluster_share`), not a run on\n"
    "several. The others' panels come at once, or as late as this rank was with its last one:\n\n"
    "| device | n | nb | rank | panels of the others | one rank with all columns, s | the share, s | x |\n"
    "|---|---|---|---|---|---|---|---|"
)
NOTHING = "No results yet."
KINDS = {"ranks": "MPI, a rank a GPU", "several": "one process"}
ALLOWED = {"product": 1.0}
"""Largest residual that passes: of a product as a multiple of its error bound; all else has HPL's, up to 16."""


def newest(results: Path, several: bool) -> list[dict[str, Any]]:
    """Newest run of each device, of those that held several ranks against one or of the others, on a quiet machine."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(results.glob("*/cluster/*.json"), key=lambda path: path.name):
        data = json.loads(path.read_text(encoding="utf-8"))
        fits = bool(data["speedups"]) == several and data["times_mean_something"] and not machine.busy(data["load"])
        if fits and not data.get("thesis"):
            found[f"{data['renderer']} {data['engine']} {len(data.get('gpus', ()))}"] = data
    return [found[name] for name in sorted(found)]


def table(results: Path) -> str:
    """Give the Markdown."""
    rows = [row for data in newest(results, True) for row in _rows(data)]
    rows += [row for data in newest(results, False) for row in _rows_of_one(data)]
    return "\n".join([HEAD, *rows]) if rows else NOTHING


def shares(results: Path) -> str:
    """Give the Markdown of the newest replayed shares of each device; nothing where there are none."""
    newest = dict[str, dict[str, Any]]()
    for path in sorted(results.glob("*/share/*.json"), key=lambda path: path.name):
        data = json.loads(path.read_text(encoding="utf-8"))
        newest[data["renderer"]] = data
    rows = []
    for _, data in sorted(newest.items()):
        whole, *lines = data["lines"]
        for line in (one for one in lines if "difference" in one):
            cells = [
                f"1 x {_device(data)}", line["n"], line["nb"], f"{line['rank']} of {line['ranks']}", line["messages"],
                f"{whole['seconds']:.3g}", f"{line['seconds']:.3g}", f"{whole['seconds'] / line['seconds']:.2f}",
            ]  # fmt: skip
            rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([SHARES, *rows]) if rows else ""


def _rows_of_one(data: dict[str, Any]) -> list[str]:
    """Rows of a run that had one rank alone: the best blocks of each size."""
    best: dict[tuple[str, int], dict[str, Any]] = {}
    for run in data["runs"]:
        key = run["what"], run["n"]
        best[key] = min(best.get(key, run), run, key=lambda one: float(one["seconds"]))
    found = []
    for (what, n), run in best.items():
        worst = run["residual"] / ALLOWED.get(what, 16.0)
        ratio = _short(run["ratio_to_predicted"])
        cells = [f"1 x {_device(data)}", "one rank", what, n, f"{run['seconds']:.3g}", "-", "-", ratio, f"{worst:.2g}"]
        found.append(f"| {' | '.join(map(str, cells))} |")
    return found


def _kind(data: dict[str, Any], kind: str, count: int) -> str:
    if data["engine"] == "numpy":
        return "MPI"
    gpus = len(data.get("gpus", ()))
    return f"MPI, {count} ranks that share {gpus} GPU" if kind == "ranks" and 0 < gpus < count else KINDS[kind]


def _device(data: dict[str, Any]) -> str:
    return f"NumPy, {data['cores']} cores" if data["engine"] == "numpy" else str(data["renderer"])


def _rows(data: dict[str, Any]) -> list[str]:
    found = []
    for gain in data["speedups"]:
        one, several = (_run(data, gain, *of) for of in ((1, "nb_of_one"), (gain["count"], "nb")))
        worst = max(one["residual"], several["residual"]) / ALLOWED.get(gain["what"], 16.0)
        ratios = ", ".join(_short(each["ratio_to_predicted"]) for each in (one, several))
        count, gpus = gain["count"], len(data.get("gpus", ()))
        cells = [
            f"{min(count, gpus or count)} x {_device(data)}", _kind(data, gain["kind"], count), gain["what"], gain["n"],
            f"{one['seconds']:.3g}", f"{several['seconds']:.3g}", f"{gain['speedup']:.2f}", ratios, f"{worst:.2g}",
        ]  # fmt: skip
        found.append(f"| {' | '.join(map(str, cells))} |")
    return found


def _run(data: dict[str, Any], gain: dict[str, Any], count: int, blocks: str) -> dict[str, Any]:
    """Find the run that a gain was taken from."""
    wanted = (gain["kind"], gain["what"], gain["n"], count, gain.get(blocks))  # older files have one size of blocks
    runs = [
        run for run in data["runs"] if tuple(run.get(name) for name in ("kind", "what", "n", "count", "nb")) == wanted
    ]
    return min(runs, key=lambda run: float(run["seconds"]))


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
