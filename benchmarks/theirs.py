"""The applications beside their sources: the newest figures of `benchmarks.applications`, as tables of the README."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.applications import KIND, PICTURES
from benchmarks.report import slug, warnings
from glla.lab import restoration, windows

ERRORS = (
    "Mean square errors of a {size} x {size} photograph, levels from 0 to 1; the source's kernels, noise and\n"
    "weights, and the size of its picture, are not published (`glla demo restoration`):\n\n"
    "| degradation | degraded, theirs | ours | restored, theirs | ours |\n|---|---|---|---|---|"
)
BORDERS = (
    "At the border the FFT is worse than doing nothing, as no photograph wraps around; where data do, it is the\n"
    "right method (blurred, errors of the whole and without 8 pixels at each side):\n\n"
    "| method | zero beyond the border: whole | inner | wraps around: whole | inner |\n|---|---|---|---|---|"
)
SECONDS = (
    "Seconds to restore a blurred image, from array to array. Theirs: MATLAB's `inv` alone, in double precision, on a\n"
    "CPU that is not named, 2012; a dash: not tried, as it takes longer than {most} s, or not published:\n\n"
)
SQUARES = (
    "Milliseconds of all 5 x 5 windows, image and result on the device (`glla demo windows`). Theirs: kernels\n"
    f"alone, on {windows.DEVICE_OF_THEIRS}. Levels below 64, as the source has them, do not keep the sums within\n"
    "16 bits; those up to 22 do:\n\n"
)


def newest(results: Path) -> list[dict[str, Any]]:
    """Read the newest run of each renderer."""
    found = []
    for folder in sorted(results.glob(f"*/{KIND}")):
        runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
        found += runs[-1:]
    return found


def pictures(results: Path, which: str) -> list[Path]:
    """Where the pictures of some application are, a renderer's each."""
    return [results / slug(run["renderer"]) / KIND / PICTURES[which] for run in newest(results)]


def restored(results: Path) -> str:
    """Give the Markdown of restoration."""
    runs = newest(results)
    (run,) = runs[-1:]
    measured = run["restoration"]
    pairs = [(place, whose) for place in (0, 1) for whose in ("theirs", "ours")]
    errors = [
        f"| {one['name']} | {' | '.join(f'{one[whose][place]:.3g}' for place, whose in pairs)} |"
        for one in measured["errors"]
    ]
    methods = zip(*measured["borders"].values(), strict=True)
    borders = [
        f"| {both[0]['method']} | {' | '.join(f'{one[part]:.3g}' for one in both for part in ('whole', 'inner'))} |"
        for both in methods
    ]
    return "\n\n".join(
        [
            _images(
                results, "restoration", "A photograph degraded in six ways and restored; the border by three methods"
            ),
            "\n".join([ERRORS.format(size=measured["size"]), *errors]),
            "\n".join([BORDERS, *borders]),
            *map(_seconds, runs),
        ]
    )


def _images(results: Path, which: str, alt: str) -> str:
    root = results.resolve().parents[1]
    path = pictures(results, which)[-1]
    return f"![{alt}](../../{path.resolve().relative_to(root).as_posix()})"


def _seconds(run: dict[str, Any]) -> str:
    """Give a table of seconds, a column for each side."""
    timings = run["restoration"]["timings"]
    sides = list(dict.fromkeys(one["side"] for one in timings))
    theirs = ["-" if (one := restoration.THEIR_INVERSIONS.get(side)) is None else f"{one:g}" for side in sides]
    rows = [("MATLAB inv (theirs)", theirs)]
    for way in dict.fromkeys(one["way"] for one in timings):
        found = {one["side"]: one["seconds"] for one in timings if one["way"] == way}
        cells = ["-" if found.get(side) is None else f"{found[side]:.3g}" for side in sides]
        rows.append((way if "." in way else f"glla {way}", cells))
    head = ["way", *(f"{side} x {side}" for side in sides)]
    return _headed(run, SECONDS.format(most=run["restoration"]["most"]), head, rows)


def _headed(run: dict[str, Any], text: str, head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    where = f"**{run['renderer']}**, {run['cores']} CPU cores, {run['date'][:10]}."
    mind = "".join(f" Mind: {one}." for one in warnings(run))
    lines = [f"| {' | '.join([name, *cells])} |" for name, cells in rows]
    return text + f"{where}{mind}\n\n" + "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *lines])


def squared(results: Path) -> str:
    """Give the Markdown of window squares."""
    parts = [_images(results, "windows", "The sum as it grows, where 16 bits do not hold it; a photograph and its sum")]
    for run in newest(results):
        times = run["windows"]["times"]
        first, *others = times
        rows = [
            (f"{name} (theirs)", [f"{sum(row):.3f}", *(restoration.NOT_PUBLISHED for _ in others)])
            for name, row in windows.THEIRS.items()
        ]
        rows += [(name, [f"{one[name]:.3g}" for one in times.values()]) for name in times[first]]
        parts.append(_headed(run, SQUARES, ["way", *times], rows))
    return "\n\n".join(parts)
