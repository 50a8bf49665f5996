"""The tables of the README: ``python -m benchmarks.readme``.

The measurements are the newest results of each renderer; the collection of variants is costed on the default device,
which must have what every variant needs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from glla import Device
from glla.lab import collection

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- measurements: python -m benchmarks.readme -->", "<!-- end of measurements -->"
VARIANTS_START, VARIANTS_END = "<!-- variants: python -m benchmarks.readme -->", "<!-- end of variants -->"
HEAD = (
    "| operation | variant | n | passes | resident ms | GFLOP/s | of the fragment ceiling | x peer | x the thesis's |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def newest(results: Path) -> list[dict[str, Any]]:
    """Read the newest complete results of each renderer."""
    runs = []
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
        complete = [run for run in found if not run["quick"]]
        runs += complete[-1:]
    return runs


def section(run: dict[str, Any]) -> str:
    """Give the Markdown of one run: its two largest sizes, operations with several variants first."""
    shown = [case for case in run["cases"] if case["operation"] != "small"]
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


def with_variants(readme: str, found: list[collection.Entry]) -> str:
    """Put the table of variants between its two markers."""
    return _between(readme, VARIANTS_START, collection.markdown(found), VARIANTS_END)


def _between(readme: str, start: str, content: str, end: str) -> str:
    before, rest = readme.split(start)
    _, after = rest.split(end)
    return f"{before}{start}\n\n{content}\n\n{end}{after}"


def main() -> None:
    """Rewrite the README."""
    with Device() as device:
        found = collection.entries(device)
    lacking = [entry.variant for entry in found if entry.fetches is None]
    if lacking:
        raise SystemExit(f"this device has not what {', '.join(lacking)} needs, so their fetches cannot be counted")
    text = README.read_text(encoding="utf-8")
    README.write_text(with_variants(rewritten(text, newest(RESULTS)), found), encoding="utf-8")


if __name__ == "__main__":
    main()
