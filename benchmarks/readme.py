"""Write the tables and plots of docs/facts/tables.md, and the README's table of speed.

The measurements are the newest results of each renderer; the collection of variants is costed on the default device,
which must have what every variant needs. ``--measurements`` leaves the collection as it is, and needs no device.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import differences, exact, kernels, plots, seeds, tables, thesis
from benchmarks.study import RESULTS, ROOT, between, quartiles, read, slug, warnings
from glla import Device
from glla.lab import collection, machine, peers
from glla.lab.table import digits, markdown

README = ROOT / "docs" / "facts" / "tables.md"
FRONT = ROOT / "README.md"
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
SMALL = (
    "Small and many: `solve` from NumPy to NumPy, a system at a time and in stacks. The peer is the CPU's fastest\n"
    "way, with operands in the order of memory that suits it."
)

MULTIPROCESSORS = {"NVIDIA H200/PCIe/SSE2": (4, 132)}
"""By renderer, the multiprocessors that graphics work reaches, and all there are."""


def runs_of(results: Path) -> dict[str, list[dict[str, Any]]]:
    """Read all results with peers at their best, made neither in a hurry nor on a busy machine, oldest first."""
    return {
        name: [run for run in runs if "peers" in run and not run["quick"] and not run["busy"]]
        for name, runs in read(results, "operations").items()
    }


def whole(results: Path) -> list[dict[str, Any]]:
    """Give the newest complete results of each renderer."""
    found = []
    for runs in runs_of(results).values():
        complete = [i for i, run in enumerate(runs) if {case["operation"] for case in run["cases"]} >= WHOLE]
        if complete:
            found.append(_mended(runs[complete[-1]], runs[complete[-1] + 1 :]))
    return found


def _mended(run: dict[str, Any], later: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the figures of operations that were measured again later, by themselves, in place of a complete run's."""
    for other in later:
        again = {case["operation"] for case in other["cases"]} & SHOWN
        if again and other["machine"]["cpu"] == run["machine"]["cpu"]:
            kept = [case for case in run["cases"] if case["operation"] not in again]
            cases = [*kept, *(case for case in other["cases"] if case["operation"] in again)]
            notes = [
                *run.get("mended", []),
                f"{', '.join(sorted(again))}: commit {other['commit']}, {other['date'][:10]}",
            ]
            run = {**run, "cases": cases, "peers": {**run["peers"], **other["peers"]}, "mended": notes}
    return run


def smalls(results: Path, run: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the newest results with small systems on a run's renderer, for each setting of the rasteriser's threads."""
    found = [
        other
        for other in runs_of(results)[slug(run["renderer"])]
        if any(case["operation"] == "small" and case["ok"] for case in other["cases"])
    ]
    return [by_threads for _, by_threads in sorted({plots.setting(other): other for other in found}.items())]


def section(run: dict[str, Any]) -> str:
    """Give the Markdown of one run: its two largest sizes, operations with several variants first, and the peers."""
    shown = [case for case in run["cases"] if case["operation"] in SHOWN]
    sizes = sorted({case["n"] for case in shown})[-2:]
    shown = [case for case in shown if case["n"] in sizes]
    ceiling = run["ceilings"]["ceilings"]["fragment_fma"]["value"]
    beyond = not run["software"] and any(case["variant"] in plots.BEYOND for case in shown)
    where = machine.written(run["machine"]) if "machine" in run else f"{run['cores']} CPU cores"
    parts = [
        f"**{run['renderer']}**, {where}; commit {run['commit']}, {run['date'][:10]}; "
        f"fragment multiply-add ceiling of that run {ceiling:.4g} GFLOP/s.",
        *(f"In a run of its own: {text}." for text in run.get("mended", [])),
        *(f"Mind: {text}." for text in warnings(run)),
        markdown(HEAD, [row(case, beyond) for case in shown]),
        *([_beyond(run["renderer"])] if beyond else []),
        *_uneven(run, shown),
        _peers(run, shown),
    ]
    return "\n\n".join(parts)


def row(case: dict[str, Any], beyond: bool = False) -> tuple[str, ...]:
    """Give one line of the table; `beyond` marks what no fragment shader did."""
    resident, fraction = case.get("resident"), case.get("fraction_of_fma")
    mark = " (a)" if beyond and case["variant"] in plots.BEYOND else ""
    return (
        case["operation"],
        case["variant"] or "-",
        str(case["n"]),
        str(case["passes"]),
        f"{1e3 * resident['seconds']:.4g}" if resident else "-",
        quartiles(resident) if resident and "lower" in resident else "-",
        digits(case.get("gflops")),
        f"{fraction:.1%}{mark}" if fraction is not None else "-",
        digits(case.get("ratio_to_peer")),
        digits(case.get("ratio_to_usual")),
        digits(case.get("ratio_to_thesis")),
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


def _uneven(run: dict[str, Any], cases: Sequence[dict[str, Any]]) -> list[str]:
    """Say where a median is far from the fastest repeat: it tells of something else than the shader."""
    found = []
    for case in cases:
        one = case.get("resident")
        if one and one["seconds"] > UNEVEN * one["fastest"]:
            rate = case["flops"] / one["fastest"] / 1e9
            text = (
                f"`{case['operation']}[{case['variant']}]`, n = {case['n']}: its {one['repeats']} repeats took "
                f"{1e3 * one['fastest']:.3g} to {1e3 * one['slowest']:.3g} ms, and the table has their median; the "
                f"fastest is {digits(rate)} GFLOP/s."
            )
            smaller = [other["gflops"] for other in cases if _smaller(other, case)]
            known = NOT_THE_CACHE.get((run["renderer"], case["variant"], case["n"]))
            found.append(f"{text} {known}" if known and smaller and rate >= max(smaller) else text)
    return found


def _smaller(other: dict[str, Any], case: dict[str, Any]) -> bool:
    """Whether a case is the same at a smaller size."""
    same = all(other[name] == case[name] for name in ("operation", "variant"))
    return same and other["n"] < case["n"] and other["ok"]


def _peers(run: dict[str, Any], cases: Sequence[dict[str, Any]]) -> str:
    """Give the table of the peers that cases stand beside."""
    keys = dict.fromkeys(case["peer"]["key"] for case in cases if case.get("peer"))
    return markdown(PEERS_HEAD, [_peer_row(run["peers"][key]) for key in keys])


def _peer_row(peer: dict[str, Any]) -> tuple[str, ...]:
    best, usual = peer["best"], peer["usual"]
    return (
        peer["name"], peer["size"], f"`{peers.described(best)}`", f"{1e3 * best['seconds']:.4g}", quartiles(best),
        f"`{usual['way']}`", f"{1e3 * usual['seconds']:.4g}", quartiles(usual),
    )  # fmt: skip


def images(results: Path) -> str:
    """Give the plots of each renderer, and the table of small systems."""
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
    rows = [small for run in runs for other in smalls(results, run) for small in _small_rows(other)]
    return "\n\n".join([*shown, SMALL, markdown(SMALL_HEAD, rows)])


def drawn(results: Path) -> dict[Path, plots.Picture]:
    """List the pictures that there must be, by their files."""
    return {
        results / slug(run["renderer"]) / f"{picture.name}.svg": picture
        for run in whole(results)
        for picture in plots.pictures(run, smalls(results, run))
    }


def _small_rows(run: dict[str, Any]) -> list[tuple[str, ...]]:
    """Give the lines of single systems of n = 64 and 256, and of stacks."""
    shown = [
        (case, int(case["operation"].removeprefix("stack_")) if case["operation"].startswith("stack_") else 1)
        for case in run["cases"]
        if case["ok"] and (case["operation"].startswith("stack_") or (case["operation"], case["n"]) in SMALL_SHOWN)
    ]
    return [
        (
            f"{run['renderer']}{plots.setting(run)}", str(count), str(case["n"]),
            *(f"{1e3 * case[name]['seconds']:.3g}" for name in ("end_to_end", "peer")),
            f"{case['ratio_to_peer_end_to_end']:.2g}", f"{1e3 * case['usual']['seconds']:.3g}",
            f"{case['ratio_to_usual_end_to_end']:.2g}",
        )
        for case, count in shown
    ]  # fmt: skip


def speed(runs: Sequence[dict[str, Any]]) -> str:
    """Give the largest products, factorisations, systems and inverses of each device."""
    return markdown(SPEED_HEAD, [(run["renderer"], *_speed(run, operation)) for run in runs for operation in SPEED])


def _speed(run: dict[str, Any], operation: str) -> tuple[str, ...]:
    """Cells of the fastest fragment shaders for an operation, at the largest size of a run."""
    timed = [case for case in run["cases"] if case["operation"] == operation and case.get("resident")]
    timed = [case for case in timed if case["variant"] not in plots.BEYOND]
    case = min(timed, key=lambda case: (-case["n"], case["resident"]["seconds"]))
    ratios = [digits(case.get(name)) for name in ("ratio_to_usual", "ratio_to_peer")]
    return f"`{operation}`", str(case["n"]), digits(1e3 * case["resident"]["seconds"]), *ratios


def parts(results: Path) -> dict[str, str]:
    """Give every generated part that needs no device, by its name."""
    return {
        "measurements": "\n\n".join(section(run) for run in whole(results)),
        "plots": images(results),
        "side by side": tables.side_by_side(results),
        "restoration": tables.restored(results),
        "windows": tables.squared(results),
        "seeds": seeds.table(results),
        "exact": exact.table(results),
        "thesis": thesis.speedups(results),
        "cluster": tables.cluster(results),
        "kernels": kernels.table(results),
        "differences": differences.table(results),
        "sparse": tables.sparse(results),
        "speed": speed(whole(results)),
    }


def rewritten(page: str, made: dict[str, str]) -> str:
    """Put parts between their marks, where a page has these."""
    for name, content in made.items():
        page = between(page, name, content)
    return page


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the pages, and draw the plots."""
    parser = argparse.ArgumentParser("python -m benchmarks readme", description=__doc__)
    parser.add_argument("--measurements", action="store_true", help="leave the table of variants as it is")
    options = parser.parse_args(arguments)
    made = parts(RESULTS) | ({} if options.measurements else {"variants": collection.markdown(_collection())})
    for path, picture in drawn(RESULTS).items():
        if not path.exists() or not plots.is_current(path.read_text(encoding="utf-8"), picture):
            path.write_text(plots.svg(picture), encoding="utf-8")
    for page in (README, FRONT):
        page.write_text(rewritten(page.read_text(encoding="utf-8"), made), encoding="utf-8")
    thesis.CLAIMS.write_text(thesis.claims(RESULTS), encoding="utf-8")


def _collection() -> list[collection.Entry]:
    """Cost all variants."""
    with Device() as device:
        found = collection.entries(device)
    lacking = [entry.variant for entry in found if entry.fetches is None]
    if lacking:
        raise SystemExit(f"this device has not what {', '.join(lacking)} needs, so their fetches cannot be counted")
    return found
