"""The tables and plots of the README: ``python -m benchmarks.readme``.

The measurements are the newest results of each renderer; the collection of variants is costed on the default device,
which must have what every variant needs. ``--measurements`` leaves the collection as it is, and needs no device.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import plots, side_by_side
from benchmarks.report import slug
from glla import Device
from glla.lab import collection

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
README = ROOT / "README.md"
WHOLE = {"matmul", "plu", "rref", "solve", "inv"}
"""Operations that a run must have for its figures to stand for a renderer."""

START, END = "<!-- measurements: python -m benchmarks.readme -->", "<!-- end of measurements -->"
PLOTS_START, PLOTS_END = "<!-- plots: python -m benchmarks.readme -->", "<!-- end of plots -->"
BESIDE_START, BESIDE_END = "<!-- side by side: python -m benchmarks.readme -->", "<!-- end of side by side -->"
VARIANTS_START, VARIANTS_END = "<!-- variants: python -m benchmarks.readme -->", "<!-- end of variants -->"
HEAD = (
    "| operation | variant | n | passes | resident ms | GFLOP/s | of the fragment ceiling | x peer | x the thesis's |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
SMALL_SHOWN = {("small", 64), ("small", 256)}
SMALL_HEAD = "| device | systems | n | glla ms | NumPy ms | x NumPy |\n|---|---|---|---|---|---|"


def newest(results: Path) -> list[dict[str, Any]]:
    """Read the newest complete results of each renderer."""
    found = []
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        complete = [run for run in _runs(folder) if {case["operation"] for case in run["cases"]} >= WHOLE]
        found += complete[-1:]
    return found


def smalls(results: Path, run: dict[str, Any]) -> list[dict[str, Any]]:
    """Read the newest results with small systems on a run's renderer, for each setting of the rasteriser's threads."""
    found = [
        other
        for other in _runs(results / slug(run["renderer"]))
        if any(case["operation"] == "small" and case["ok"] for case in other["cases"])
    ]
    return [by_threads for _, by_threads in sorted({plots.told(other): other for other in found}.items())]


def _runs(folder: Path) -> list[dict[str, Any]]:
    """Read all results of a folder that were not made in a hurry, oldest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return [run for run in found if not run["quick"]]


def section(run: dict[str, Any]) -> str:
    """Give the Markdown of one run: its two largest sizes, operations with several variants first."""
    shown = [case for case in run["cases"] if case["operation"] in WHOLE]
    sizes = sorted({case["n"] for case in shown})[-2:]
    peers = sorted({case["peer"]["name"] for case in shown if case.get("peer")})
    ceiling = run["ceilings"]["ceilings"]["fragment_fma"]["value"]
    rows = [row(case) for case in shown if case["n"] in sizes]
    return "\n".join(
        [
            f"**{run['renderer']}**, {run['cores']} CPU cores, commit {run['commit']}, {run['date'][:10]}; "
            f"fragment multiply-add ceiling of that run {ceiling:.4g} GFLOP/s; peers: {', '.join(peers)}.",
            "",
            HEAD,
            *rows,
        ]
    )


def row(case: dict[str, Any]) -> str:
    """Give one line of the table."""

    def figure(name: str, form: str) -> str:
        return form.format(case[name]) if case.get(name) is not None else "-"

    cells = [
        case["operation"],
        case["variant"] or "-",
        str(case["n"]),
        str(case["passes"]),
        f"{1e3 * case['resident']['seconds']:.4g}" if case.get("resident") else "-",
        figure("gflops", "{:.4g}"),
        figure("fraction_of_fma", "{:.1%}"),
        figure("ratio_to_peer", "{:.2f}"),
        figure("ratio_to_thesis", "{:.2f}"),
    ]
    return f"| {' | '.join(cells)} |"


def rewritten(readme: str, runs: list[dict[str, Any]]) -> str:
    """Put the tables of measurements between their two markers."""
    return _between(readme, START, "\n\n".join(section(run) for run in runs), END)


def with_plots(readme: str, results: Path) -> str:
    """Put the plots, and the table of small systems, between their two markers."""
    runs, pictures = newest(results), drawn(results)
    images = [
        f"**{run['renderer']}**\n\n"
        + "\n\n".join(
            f"![{picture.alt}]({path.relative_to(ROOT).as_posix()})"
            for path, picture in pictures.items()
            if path.parent.name == slug(run["renderer"])
        )
        for run in runs
    ]
    rows = [small for run in runs for other in smalls(results, run) for small in _small_rows(other)]
    table = "Small and many: `solve` from NumPy to NumPy, a system at a time and in stacks.\n\n" + "\n".join(
        [SMALL_HEAD, *rows]
    )
    return _between(readme, PLOTS_START, "\n\n".join([*images, table]), PLOTS_END)


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
        f"| {run['renderer']}{plots.told(run)} | {count} | {case['n']} | {1e3 * case['end_to_end']['seconds']:.3g} "
        f"| {1e3 * case['peer']['seconds']:.3g} | {case['ratio_to_peer_end_to_end']:.2g} |"
        for case, count in shown
    ]


def with_side_by_side(readme: str, results: Path) -> str:
    """Put the tables of GPU and CPU side by side between their two markers."""
    return _between(readme, BESIDE_START, side_by_side.tables(results), BESIDE_END)


def with_variants(readme: str, found: list[collection.Entry]) -> str:
    """Put the table of variants between its two markers."""
    return _between(readme, VARIANTS_START, collection.markdown(found), VARIANTS_END)


def _between(readme: str, start: str, content: str, end: str) -> str:
    before, rest = readme.split(start)
    _, after = rest.split(end)
    return f"{before}{start}\n\n{content}\n\n{end}{after}"


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
    README.write_text(with_side_by_side(text, RESULTS), encoding="utf-8")


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
