"""The tables and plots of docs/facts/tables.md, and the README's table of speed: ``python -m benchmarks.readme``.

The measurements are the newest results of each renderer; the collection of variants is costed on the default device,
which must have what every variant needs. ``--measurements`` leaves the collection as it is, and needs no device.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import (
    differences,
    exact,
    history,
    kernels,
    plots,
    ranks_table,
    seeds,
    side_by_side,
    sparse_table,
    theirs,
    thesis,
)
from benchmarks.report import quartiles, slug, warnings
from glla import Device
from glla.lab import collection, machine, peers
from glla.lab.table import digits

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
README = ROOT / "docs" / "facts" / "tables.md"
FRONT = ROOT / "README.md"
WHOLE = {"matmul", "plu", "rref", "solve", "inv"}
"""Operations that a run must have for its figures to stand for a renderer."""

SHOWN = WHOLE | {"det"}
"""Operations that the table shows."""
HEAD = (
    "| operation | variant | n | passes | resident ms | quartiles | GFLOP/s | of the fragment ceiling | x peer "
    "| x usual call | x the thesis's |\n|---|---|---|---|---|---|---|---|---|---|---|"
)
PEERS_HEAD = (
    "| peer | size | fastest way to call it | ms | quartiles | usual call | ms | quartiles |\n"
    "|---|---|---|---|---|---|---|---|"
)
SPEED = ("matmul", "plu", "solve", "inv")
SPEED_HEAD = "| device | operation | n | ms, resident | x usual call | x CPU at its best |\n|---|---|---|---|---|---|"
SMALL_SHOWN = {("small", 64), ("small", 256)}
SMALL_HEAD = (
    "| device | systems | n | glla ms | peer ms | x peer | `numpy.linalg.solve` ms | x usual call |\n"
    "|---|---|---|---|---|---|---|---|"
)

SMALL = (
    "Small and many: `solve` from NumPy to NumPy, a system at a time and in stacks. The peer is the CPU's fastest\n"
    "way, with operands in the order of memory that suits it; not known (-) where a run is older than that search."
)

ONLY_USUAL = (
    "This run is older than the search for the fastest peers: it timed the usual calls alone ({calls}), so *x peer* is "
    "not known yet."
)

MULTIPROCESSORS = {"NVIDIA H200/PCIe/SSE2": (4, 132)}
"""By renderer, the multiprocessors that graphics work reaches, and all there are."""


def newest(results: Path) -> list[dict[str, Any]]:
    """Read the newest complete results of each renderer."""
    found = []
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        runs = _runs(folder)
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
    """Read the newest results with small systems on a run's renderer, for each setting of the rasteriser's threads.

    Where some have peers at their best, those that have not are left out.
    """
    found = [
        other
        for other in _runs(results / slug(run["renderer"]))
        if any(case["operation"] == "small" and case["ok"] for case in other["cases"])
    ]
    found = [other for other in found if history.has_best_peers(other)] or found
    return [by_threads for _, by_threads in sorted({plots.setting(other): other for other in found}.items())]


def _runs(folder: Path) -> list[dict[str, Any]]:
    """Read all results of a folder that were made neither in a hurry nor on a busy machine, oldest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return [history.read(run) for run in found if not run["quick"] and not history.is_busy(run)]


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
        "\n".join([HEAD, *(row(case, beyond) for case in shown)]),
        *([_beyond(run["renderer"])] if beyond else []),
        *_uneven(run, shown),
        _peers(run, shown),
    ]
    return "\n\n".join(parts)


def row(case: dict[str, Any], beyond: bool = False) -> str:
    """Give one line of the table; `beyond` marks what no fragment shader did."""
    resident, fraction = case.get("resident"), case.get("fraction_of_fma")
    mark = " (a)" if beyond and case["variant"] in plots.BEYOND else ""
    cells = [
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
    ]
    return f"| {' | '.join(cells)} |"


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
        "the 50 MB of L2 nor a size that is a power of two make a difference (`python -m benchmarks.compute`, "
        "2026-11-22)."
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
    """Give the table of the peers that cases stand beside; of an old run, what it timed instead."""
    if not history.has_best_peers(run):
        calls = dict.fromkeys(f"`{case['usual']['way']}`" for case in cases if case.get("usual"))
        return ONLY_USUAL.format(calls=", ".join(calls))
    keys = dict.fromkeys(case["peer"]["key"] for case in cases if case.get("peer"))
    return "\n".join([PEERS_HEAD, *(_peer_row(run["peers"][key]) for key in keys)])


def _peer_row(peer: dict[str, Any]) -> str:
    best, usual = peer["best"], peer["usual"]
    cells = [peer["name"], peer["size"], f"`{peers.described(best)}`", f"{1e3 * best['seconds']:.4g}", quartiles(best)]
    cells += [f"`{usual['way']}`", f"{1e3 * usual['seconds']:.4g}", quartiles(usual)]
    return f"| {' | '.join(cells)} |"


def rewritten(readme: str, runs: list[dict[str, Any]]) -> str:
    """Put the tables of measurements between their two markers."""
    return _between(readme, "measurements", "\n\n".join(section(run) for run in runs))


def with_plots(readme: str, results: Path) -> str:
    """Put the plots, and the table of small systems, between their two markers."""
    runs, pictures = newest(results), drawn(results)
    images = [
        f"**{run['renderer']}**\n\n"
        + "\n\n".join(
            f"![{picture.alt}](../../{path.relative_to(ROOT).as_posix()})"
            for path, picture in pictures.items()
            if path.parent.name == slug(run["renderer"])
        )
        for run in runs
    ]
    rows = [small for run in runs for other in smalls(results, run) for small in _small_rows(other)]
    table = f"{SMALL}\n\n" + "\n".join([SMALL_HEAD, *rows])
    return _between(readme, "plots", "\n\n".join([*images, table]))


def drawn(results: Path) -> dict[Path, plots.Picture]:
    """List the pictures that there must be, by their files."""
    return {
        results / slug(run["renderer"]) / f"{picture.name}.svg": picture
        for run in newest(results)
        for picture in plots.pictures(run, smalls(results, run))
    }


def _small_rows(run: dict[str, Any]) -> list[str]:
    """Give the lines of single systems of n = 64 and 256, and of stacks."""
    shown = [
        (case, int(case["operation"].removeprefix("stack_")) if case["operation"].startswith("stack_") else 1)
        for case in run["cases"]
        if case["ok"] and (case["operation"].startswith("stack_") or (case["operation"], case["n"]) in SMALL_SHOWN)
    ]
    return [
        f"| {run['renderer']}{plots.setting(run)} | {count} | {case['n']} | {1e3 * case['end_to_end']['seconds']:.3g} "
        f"| {_or_dash(case['peer'] and 1e3 * case['peer']['seconds'], '.3g')} "
        f"| {_or_dash(case['ratio_to_peer_end_to_end'], '.2g')} "
        f"| {1e3 * case['usual']['seconds']:.3g} | {case['ratio_to_usual_end_to_end']:.2g} |"
        for case, count in shown
    ]


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def with_side_by_side(readme: str, results: Path) -> str:
    """Put the tables of GPU and CPU side by side between their two markers."""
    return _between(readme, "side by side", side_by_side.tables(results))


def with_applications(readme: str, results: Path) -> str:
    """Put the figures of applications beside those of their sources, each between its two markers."""
    text = _between(readme, "restoration", theirs.restored(results))
    return _between(text, "windows", theirs.squared(results))


def with_exact(readme: str, results: Path) -> str:
    """Put the table of exact factors between its two markers."""
    return _between(readme, "exact", exact.table(results))


def with_kernels(readme: str, results: Path) -> str:
    """Put the tables of authors' kernels and errors, theirs and ours, each between its two markers."""
    text = _between(readme, "kernels", kernels.table(results))
    return _between(text, "differences", differences.table(results))


def with_speed(readme: str, runs: list[dict[str, Any]]) -> str:
    """Put the largest products, factorisations, systems and inverses of each device between their two markers."""
    rows = [f"| {run['renderer']} {_speed(run, operation)} |" for run in runs for operation in SPEED]
    return _between(readme, "speed", "\n".join([SPEED_HEAD, *rows]))


def _speed(run: dict[str, Any], operation: str) -> str:
    """Cells of the fastest fragment shaders for an operation, at the largest size of a run."""
    timed = [case for case in run["cases"] if case["operation"] == operation and case.get("resident")]
    timed = [case for case in timed if case["variant"] not in plots.BEYOND]
    case = min(timed, key=lambda case: (-case["n"], case["resident"]["seconds"]))
    ratios = [digits(case.get(name)) for name in ("ratio_to_usual", "ratio_to_peer")]
    return f"| `{operation}` | {case['n']} | {' | '.join([digits(1e3 * case['resident']['seconds']), *ratios])}"


def with_ranks(readme: str, results: Path) -> str:
    """Put the tables of several GPUs against one, and of a rank's share on one, between their two markers."""
    both = [ranks_table.table(results), ranks_table.shares(results)]
    return _between(readme, "cluster", "\n\n".join(one for one in both if one))


def with_sparse(readme: str, results: Path) -> str:
    """Put the table of sparse systems between its two markers."""
    return _between(readme, "sparse", sparse_table.table(results))


def with_thesis(readme: str, results: Path) -> str:
    """Put the thesis's speed-ups, theirs and ours, between their two markers."""
    return _between(readme, "thesis", thesis.speedups(results))


def with_variants(readme: str, found: list[collection.Entry]) -> str:
    """Put the table of variants between its two markers."""
    return _between(readme, "variants", collection.markdown(found))


def marks(name: str) -> tuple[str, str]:
    """Give the marks before and after a generated part."""
    return f"<!-- {name}: python -m benchmarks.readme -->", f"<!-- end of {name} -->"


def _between(readme: str, name: str, content: str) -> str:
    start, end = marks(name)
    before, rest = readme.split(start)
    return f"{before}{start}\n\n{content}\n\n{end}{rest.split(end)[1]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the README, and draw its plots."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.readme", description="Rewrite the README's figures.")
    parser.add_argument("--measurements", action="store_true", help="leave the table of variants as it is")
    options = parser.parse_args(arguments)
    text = README.read_text(encoding="utf-8")
    if not options.measurements:
        text = with_variants(text, _collection())
    for path, picture in drawn(RESULTS).items():
        if not path.exists() or not plots.is_current(path.read_text(encoding="utf-8"), picture):
            path.write_text(plots.svg(picture), encoding="utf-8")
    text = with_plots(rewritten(text, newest(RESULTS)), RESULTS)
    text = seeds.rewritten(with_applications(with_side_by_side(text, RESULTS), RESULTS), RESULTS)
    text = with_ranks(with_thesis(with_exact(text, RESULTS), RESULTS), RESULTS)
    text = with_sparse(with_kernels(text, RESULTS), RESULTS)
    README.write_text(text, encoding="utf-8")
    FRONT.write_text(with_speed(FRONT.read_text(encoding="utf-8"), newest(RESULTS)), encoding="utf-8")
    thesis.CLAIMS.write_text(thesis.claims(RESULTS), encoding="utf-8")


def _collection() -> list[collection.Entry]:
    """Cost all variants."""
    with Device() as device:
        found = collection.entries(device)
    lacking = [entry.variant for entry in found if entry.fetches is None]
    if lacking:
        raise SystemExit(f"this device has not what {', '.join(lacking)} needs, so their fetches cannot be counted")
    return found


if __name__ == "__main__":
    main()
