"""Write the README's table of speed, and the plots of docs/facts/tables.md, whose tables the site makes of `parts`.

The measurements are the newest results of each renderer.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks import differences, exact, kernels, plots, seeds, tables, thesis
from benchmarks.operations import measurements
from benchmarks.study import RESULTS, ROOT, Data, read, slug, warnings
from glla.lab import machine, peers
from glla.lab.measurement import Measurement
from glla.lab.samples import Samples
from glla.lab.table import digits, markdown, milliseconds, quartiles

README = ROOT / "README.md"
START, END = "<!-- speed: python -m benchmarks readme -->", "<!-- end of speed -->"
WHOLE = {"matmul", "plu", "rref", "solve", "inv"}
"""Operations that a run must have for its figures to stand for a renderer."""

SHOWN = WHOLE | {"det"}
"""Operations that the table shows."""
HEAD = (
    "operation", "variant", "n", "passes", "resident ms", "quartiles", "GFLOP/s", "of the fragment ceiling", "x peer",
    "x usual call", "x the thesis's",
)  # fmt: skip
PEERS_HEAD = ("peer", "size", "fastest way to call it", "ms", "quartiles", "usual call", "ms", "quartiles")
SPEED = ("matmul", "plu", "solve", "inv")
SPEED_HEAD = ("device", "operation", "n", "ms, resident", "x usual call", "x CPU at its best")
SMALL_SHOWN = {("small", 64), ("small", 256)}
SMALL_HEAD = (
    "device", "systems", "n", "glla ms", "peer ms", "x peer", "`numpy.linalg.solve` ms", "x usual call",
)  # fmt: skip

MULTIPROCESSORS = {"NVIDIA H200/PCIe/SSE2": (4, 132)}
"""By renderer, the multiprocessors that graphics work reaches, and all there are."""


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
    return [by_threads for _, by_threads in sorted({plots.setting(other): other for other in found}.items())]


def section(run: Data) -> str:
    """Give the Markdown of one run: its two largest sizes, operations with several variants first, and the peers."""
    shown = [one for one in run["records"] if one.operation in SHOWN]
    sizes = sorted({one.size for one in shown})[-2:]
    shown = [one for one in shown if one.size in sizes]
    ceiling = run["ceilings"]["ceilings"]["fragment_fma"]["value"]
    beyond = not run["software"] and any(one.variant in plots.BEYOND for one in shown)
    where = machine.written(run["machine"]) if "machine" in run else f"{run['cores']} CPU cores"
    parts = [
        f"**{run['renderer']}**, {where}; commit {run['commit']}, {run['date'][:10]}; "
        f"fragment multiply-add ceiling of that run {ceiling:.4g} GFLOP/s.",
        *(f"In a run of its own: {text}." for text in run.get("mended", [])),
        *(f"Mind: {text}." for text in warnings(run)),
        markdown(HEAD, [row(one, beyond) for one in shown]),
        *([_beyond(run["renderer"])] if beyond else []),
        *_uneven(run, shown),
        _peers(run, shown),
    ]
    return "\n\n".join(parts)


def row(one: Measurement, beyond: bool = False) -> tuple[str, ...]:
    """Give one line of the table; `beyond` marks what no fragment shader did."""
    mark = " (a)" if beyond and one.variant in plots.BEYOND else ""
    part = one.fraction_of_arithmetic
    return (
        one.operation,
        one.variant or "-",
        str(one.size),
        str(one.passes),
        f"{1e3 * one.seconds:.4g}" if one.resident else "-",
        quartiles(one.timed["ours"]) if one.resident else "-",
        digits(one.gflops),
        "-" if part is None else f"{part:.1%}{mark}",
        digits(one.ratio_to_baseline),
        digits(one.ratio_to_usual),
        digits(one.ratio_to_thesis),
    )


def _beyond(renderer: str) -> str:
    """Say why a compute shader can exceed the ceiling of fragments."""
    reached = (
        "{} of this GPU's {}".format(*MULTIPROCESSORS[renderer])
        if renderer in MULTIPROCESSORS
        else "on some GPUs a few of them"
    )
    return (
        "(a) A compute shader, which runs on all multiprocessors of the GPU; graphics work, and so the fragment "
        f"ceiling, reaches only those that rasterise: {reached}. The figure shows what fragment shaders cannot reach."
    )


UNEVEN = 2.0
"""Median of a timing over its fastest repeat, a ratio, from which the table says that the repeats do not agree."""


NOT_THE_CACHE = {
    ("NVIDIA H200/PCIe/SSE2", "compute_tiled", 4096): (
        "It is the clock: after a second without work the GPU runs at 390 to 510 MHz, and takes 21 ms for the first "
        "products of this order; at its full 1980 MHz they take 4.4 ms, 31 TFLOP/s, whatever ran before, and neither "
        "the 50 MB of L2 nor a size that is a power of two make a difference (measured 2026-11-22)."
    )
}
"""By renderer, variant and n, why repeats do not agree; shown where the fastest one beats the smaller sizes."""


def _uneven(run: Data, records: Sequence[Measurement]) -> list[str]:
    """Say where a median is far from the fastest repeat: it tells of something else than the shader."""
    found = []
    for one in records:
        if one.resident and one.seconds > UNEVEN * one.fastest:
            rate = one.cost["flops"] / one.fastest / 1e9
            text = (
                f"`{one.operation}[{one.variant}]`, n = {one.size}: its {one.repeats} repeats took "
                f"{1e3 * one.fastest:.3g} to {1e3 * one.slowest:.3g} ms, and the table has their median; the "
                f"fastest is {digits(rate)} GFLOP/s."
            )
            smaller = [other.gflops for other in records if _smaller(other, one)]
            known = NOT_THE_CACHE.get((run["renderer"], one.variant, one.size))
            found.append(f"{text} {known}" if known and smaller and rate >= max(smaller) else text)
    return found


def _smaller(other: Measurement, one: Measurement) -> bool:
    """Whether a measurement is of the same at a smaller size."""
    same = (other.operation, other.variant) == (one.operation, one.variant)
    return same and other.size < one.size and other.ok


def _peers(run: Data, records: Sequence[Measurement]) -> str:
    """Give the table of the peers that measurements stand beside."""
    keys = dict.fromkeys(one.ways["key"] for one in records if one.ways)
    return markdown(PEERS_HEAD, [_peer_row(run["peers"][key]) for key in keys])


def _peer_row(peer: Data) -> tuple[str, ...]:
    ways = ((peers.described(peer["best"]), peer["best"]), (peer["usual"]["way"], peer["usual"]))
    timed = [(f"`{way}`", Samples.summarised(one)) for way, one in ways]
    return (
        peer["name"], peer["size"],
        *(cell for way, one in timed for cell in (way, f"{1e3 * one.median:.4g}", quartiles(one))),
    )  # fmt: skip


def images(results: Path) -> str:
    """Give the plots of each renderer."""
    runs, pictures = whole(results), drawn(results)
    shown = [
        f"**{run['renderer']}**\n\n"
        + "\n\n".join(
            f"![{picture.alt}](../../{path.relative_to(ROOT).as_posix()})"
            for path, picture in pictures.items()
            if path.parent.name == slug(run["renderer"])
        )
        for run in runs
    ]
    return "\n\n".join(shown)


def small(results: Path) -> str:
    """Give the table of small systems."""
    rows = [one for run in whole(results) for other in smalls(results, run) for one in _small_rows(other)]
    return markdown(SMALL_HEAD, rows)


def drawn(results: Path) -> dict[Path, plots.Picture]:
    """List the pictures that there must be, by their files."""
    return {
        results / slug(run["renderer"]) / f"{picture.name}.svg": picture
        for run in whole(results)
        for picture in plots.pictures(run, smalls(results, run))
    }


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
            f"{run['renderer']}{plots.setting(run)}", str(count), str(one.size), f"{1e3 * ours:.3g}",
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
    timed = sorted((one for one in timed if one.variant not in plots.BEYOND), key=lambda one: (-one.size, one.seconds))
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
        "overlap": tables.overlap(results),
        "hybrid": tables.hybrid(results),
        **tables.restored(results),
        "seeds": seeds.table(results),
        "exact": exact.table(results),
        "thesis": thesis.speedups(results),
        "claims": thesis.claims(results),
        "cluster": tables.cluster(results),
        "shares": tables.shares(results),
        "kernels": kernels.table(results),
        "differences": differences.table(results),
        "sparse": tables.sparse(results),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the README's table, and draw the plots."""
    argparse.ArgumentParser("python -m benchmarks readme", description=__doc__).parse_args(arguments)
    for path, picture in drawn(RESULTS).items():
        if not path.exists() or not plots.is_current(path.read_text(encoding="utf-8"), picture):
            path.write_text(plots.svg(picture), encoding="utf-8")
    README.write_text(rewritten(README.read_text(encoding="utf-8")), encoding="utf-8")


def rewritten(page: str) -> str:
    """Put the table between its two marks."""
    before, rest = page.split(START)
    return f"{before}{START}\n\n{speed(whole(RESULTS))}\n\n{END}{rest.split(END)[1]}"
