"""The README's table of sparse systems beside SciPy and LAPACK, from results of `python -m benchmarks.sparse`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEAD = (
    "| device | what | size | ours, the fastest way | ms | GFLOP/s | of the limit | theirs, the fastest way | ms "
    "| x theirs | true residuals |\n|---|---|---|---|---|---|---|---|---|---|---|"
)
NOTHING = "No results yet."
THEIRS = ("SciPy", "LAPACK", "the same scheme")
"""First words of the names of ways that run on the CPU."""

BESIDE = ("columns",)
"""Words in the names of ways that compute something other than the rest of their system."""


def newest(results: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Newest run of each device that has a system of the largest size there is."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for path in sorted(results.glob("*/sparse/*.json"), key=lambda path: path.name):
        data = json.loads(path.read_text(encoding="utf-8"))
        for one in data["figures"]:
            found[data["renderer"], one["system"], one["size"]] = data
    largest = {place[:2]: max(each[2] for each in found if each[:2] == place[:2]) for place in found}
    return {place: data for place, data in found.items() if largest[place[:2]] == place[2]}


def table(results: Path) -> str:
    """Give the Markdown."""
    rows = [_row(*place, data) for place, data in newest(results).items()]
    return "\n".join([HEAD, *filter(None, rows)]) if any(rows) else NOTHING


def _row(renderer: str, system: str, size: int, data: dict[str, Any]) -> str:
    """Set the fastest way on the device beside the fastest on the CPU; nothing where one of them is missing.

    Of a software rasteriser seconds of the CPU count, all threads together: whoever else is busy adds nothing to them.
    """
    clock = "cpu_seconds" if data["software"] else "seconds"
    ways = [
        one
        for one in data["figures"]
        if (one["system"], one["size"]) == (system, size)
        and clock in one
        and not any(word in one["variant"] for word in BESIDE)
    ]
    ours, theirs = ([one for one in ways if one["variant"].startswith(THEIRS) == cpu] for cpu in (False, True))
    if not ours or not theirs:
        return ""
    one, other = (min(each, key=lambda one: float(one[clock])) for each in (ours, theirs))
    residuals = f"{one['residual']:.1e}, {other['residual']:.1e}" if "residual" in one else "-"
    cells = [
        renderer,
        system,
        size,
        one["variant"],
        f"{1e3 * one[clock]:.3g}",
        f"{one['gflops']:.3g}" if "gflops" in one and clock == "seconds" else "-",
        f"{100 * one['of_limit']:.0f} %" if "of_limit" in one and clock == "seconds" else "-",
        other["variant"],
        f"{1e3 * other[clock]:.3g}",
        f"{other[clock] / one[clock]:.2g}",
        residuals,
    ]
    return f"| {' | '.join(map(str, cells))} |"
