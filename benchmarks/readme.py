"""Write the README's table of speed; the site makes its tables of `parts`, and its plots of `drawn`.

The measurements are the newest results of each renderer.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import applications, cluster, differences, exact, hybrid, kernels, overlap, sources, sparse, thesis
from benchmarks.operations import measurements, of_peers, of_variants
from benchmarks.study import RESULTS, ROOT, Data, read, slug, warnings
from glla.lab import machine, plots
from glla.lab.comparison import Comparison
from glla.lab.measurement import Measurement
from glla.lab.table import digits, markdown, milliseconds
from glla.operations.product import matmul

README = ROOT / "README.md"
START, END = "<!-- speed: python -m benchmarks readme -->", "<!-- end of speed -->"
WHOLE = {"matmul", "plu", "rref", "solve", "inv"}
"""Operations that a run must have for its figures to stand for a renderer."""

SHOWN = WHOLE | {"det"}
"""Operations that the table shows."""
SPEED = ("matmul", "plu", "solve", "inv")
SPEED_HEAD = ("device", "operation", "n", "ms, resident", "x usual call", "x CPU at its best")
SMALL_SHOWN = {("small", 64), ("small", 256)}
SMALL_HEAD = (
    "device", "systems", "n", "glla ms", "peer ms", "x peer", "`numpy.linalg.solve` ms", "x usual call",
)  # fmt: skip

BEYOND = frozenset(name for name, variant in matmul.VARIANTS.items() if variant.needs)
"""Variants of the product that need more than OpenGL 3.3."""

PLOTTED = ("matmul", "plu", "rref", "solve")
INK = "#737b85"
"""Colour of text and axes; its contrast is 4.3 : 1 against white, 4.4 : 1 against GitHub's dark page."""

BUILT = "../../build/tables"
"""Folder of the drawn plots, from the pages that show them."""


def runs_of(results: Path) -> dict[str, list[Data]]:
    """Read all results with peers at their best, made neither in a hurry nor on a busy machine, oldest first."""
    return {
        name: [
            {**run, "records": measurements(run)}
            for run in runs
            if "peers" in run and not run["quick"] and not run["busy"]
        ]
        for name, runs in read(results, "operations").items()
    }


def whole(results: Path) -> list[Data]:
    """Give the newest complete results of each renderer."""
    found = []
    for runs in runs_of(results).values():
        complete = [i for i, run in enumerate(runs) if {one.operation for one in run["records"]} >= WHOLE]
        if complete:
            found.append(_mended(runs[complete[-1]], runs[complete[-1] + 1 :]))
    return found


def _mended(run: Data, later: Sequence[Data]) -> Data:
    """Put the figures of operations that were measured again later, by themselves, in place of a complete run's."""
    for other in later:
        again = {one.operation for one in other["records"]} & SHOWN
        if again and other["machine"]["cpu"] == run["machine"]["cpu"]:
            kept = [one for one in run["records"] if one.operation not in again]
            records = [*kept, *(one for one in other["records"] if one.operation in again)]
            note = f"{', '.join(sorted(again))}: commit {other['commit']}, {other['date'][:10]}"
            both = {"peers": {**run["peers"], **other["peers"]}, "mended": [*run.get("mended", []), note]}
            run = {**run, "records": records, **both}
    return run


def smalls(results: Path, run: Data) -> list[Data]:
    """Give the newest results with small systems on a run's renderer, for each setting of the rasteriser's threads."""
    found = [
        other
        for other in runs_of(results)[slug(run["renderer"])]
        if any(one.operation == "small" and one.ok for one in other["records"])
    ]
    return [by_threads for _, by_threads in sorted({setting(other): other for other in found}.items())]


def section(run: Data) -> str:
    """Give the Markdown of one run: its two largest sizes, operations with several variants first, and the peers."""
    shown = [one for one in run["records"] if one.operation in SHOWN]
    sizes = sorted({one.size for one in shown})[-2:]
    shown = [one for one in shown if one.size in sizes]
    ceiling = run["ceilings"]["ceilings"]["fragment_fma"]["value"]
    where = machine.written(run["machine"]) if "machine" in run else f"{run['cores']} CPU cores"
    keys = dict.fromkeys(one.ways["key"] for one in shown if one.ways)
    parts = [
        f"**{run['renderer']}**, {where}; commit {run['commit']}, {run['date'][:10]}; "
        f"fragment multiply-add ceiling of that run {ceiling:.4g} GFLOP/s.",
        *(f"In a run of its own: {text}." for text in run.get("mended", [])),
        *(f"Mind: {text}." for text in warnings(run)),
        markdown(*of_variants(shown)),
        markdown(*of_peers([run["peers"][key] for key in keys])),
    ]
    return "\n\n".join(parts)


def plotted(run: Data, small: Sequence[Data]) -> dict[str, Comparison]:
    """Comparisons of a run that are drawn, by the names of their plots; `small`: its small systems, see `smalls`."""
    records = {name: [one for one in run["records"] if one.operation == name] for name in PLOTTED}
    records["small"] = [
        replace(one, variant=f"glla{setting(other)}")
        for other in small
        for one in other["records"]
        if one.operation == "small"
    ]
    return {
        name: Comparison(name, records=[replace(one, variant=one.variant or "glla") for one in each],
                         ceilings=run["ceilings"]["ceilings"])
        for name, each in records.items()
    }  # fmt: skip


def drawn(results: Path) -> dict[str, str]:
    """Draw the plots of each renderer, as `glla compare` draws its own: SVG by the names of their files."""
    found = {}
    for run in whole(results):
        for name, one in plotted(run, smalls(results, run)).items():
            text = plots.svg(one, plots.rates if name == "matmul" else plots.times)
            found[f"{slug(run['renderer'])}-{name}.svg"] = text.replace("currentColor", INK)
    return found


def images(results: Path) -> str:
    """Give the plots of each renderer."""
    parts = []
    for run in whole(results):
        for name in (*PLOTTED, "small"):
            parts.append(f"**{name}, {run['renderer']}**")
            parts.append(f"![{name} against n]({BUILT}/{slug(run['renderer'])}-{name}.svg)")
    return "\n\n".join(parts)


def setting(run: Data) -> str:
    """Say what a software rasteriser's threads were set to, if they were."""
    threads = run["environment"].get("LP_NUM_THREADS")
    return f", LP_NUM_THREADS={threads}" if threads is not None and run["software"] else ""


def small(results: Path) -> str:
    """Give the table of small systems."""
    rows = [one for run in whole(results) for other in smalls(results, run) for one in _small_rows(other)]
    return markdown(SMALL_HEAD, rows)


def _small_rows(run: Data) -> list[tuple[str, ...]]:
    """Give the lines of single systems of n = 64 and 256, and of stacks."""
    shown = [
        (one, int(one.operation.removeprefix("stack_")) if one.operation.startswith("stack_") else 1)
        for one in run["records"]
        if one.ok and (one.operation.startswith("stack_") or (one.operation, one.size) in SMALL_SHOWN)
    ]
    rows = []
    for one, count in shown:
        ours, peer, usual = (one.timed[role].median for role in ("whole", "peer", "usual"))
        rows.append((
            f"{run['renderer']}{setting(run)}", str(count), str(one.size), f"{1e3 * ours:.3g}",
            f"{1e3 * peer:.3g}", f"{peer / ours:.2g}", f"{1e3 * usual:.3g}", f"{usual / ours:.2g}",
        ))  # fmt: skip
    return rows


def speed(runs: Sequence[Data]) -> str:
    """Give the largest products, factorisations, systems and inverses of each device."""
    best = [(run, _fastest(run, operation)[0]) for run in runs for operation in SPEED]
    return markdown(SPEED_HEAD, [(*_of(run, one), *_ratios(one)) for run, one in best])


def costs(runs: Sequence[Data]) -> str:
    """Give the same at two orders, from NumPy to NumPy and cold, too."""
    best = [(run, one) for run in runs for operation in SPEED for one in _fastest(run, operation)[1::-1]]
    rows = [(*_of(run, one), *map(milliseconds, (one.end_to_end_seconds, one.cold_seconds)), *_ratios(one))
            for run, one in best]  # fmt: skip
    return markdown((*SPEED_HEAD[:4], "ms, NumPy to NumPy", "ms, first call", *SPEED_HEAD[4:]), rows)


def _fastest(run: Data, operation: str) -> list[Measurement]:
    """Fastest fragment shaders for an operation: of each order, the largest first."""
    timed = [one for one in run["records"] if one.operation == operation and one.resident]
    timed = sorted((one for one in timed if one.variant not in BEYOND), key=lambda one: (-one.size, one.seconds))
    return list({one.size: one for one in reversed(timed)}.values())[::-1]


def _of(run: Data, one: Measurement) -> tuple[str, ...]:
    return run["renderer"], f"`{one.operation}`", str(one.size), digits(1e3 * one.seconds)


def _ratios(one: Measurement) -> tuple[str, ...]:
    return digits(one.ratio_to_usual), digits(one.ratio_to_baseline)


def parts(results: Path) -> dict[str, str]:
    """Give every table of the site, by its name, that needs no device."""
    return {
        "measurements": "\n\n".join(section(run) for run in whole(results)),
        "plots": images(results),
        "small": small(results),
        "costs": costs(whole(results)),
        "overlap": overlap.table(results),
        "hybrid": hybrid.table(results),
        **applications.tables(results),
        "sources": sources.table(results),
        "exact": exact.table(results),
        "thesis": thesis.speedups(results),
        "claims": thesis.claims(results),
        "cluster": cluster.table(results),
        "shares": cluster.shares(results),
        "kernels": kernels.table(results),
        "differences": differences.table(results),
        "sparse": sparse.table(results),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the README's table."""
    argparse.ArgumentParser("python -m benchmarks readme", description=__doc__).parse_args(arguments)
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")


def rewritten(page: str) -> str:
    """Put the table between its two marks."""
    before, rest = page.split(START)
    return f"{before}{START}\n\n{speed(whole(RESULTS))}\n\n{END}{rest.split(END)[1]}"
