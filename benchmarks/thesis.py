"""The thesis's evaluation, kept.

It does what `glla study thesis` does; the file is written anew after each section: a run that is cut leaves what it has
done. ``glla study thesis --from FILE --out PAGE`` makes the page of it. The site has tables of speed-ups and of claims,
of the newest run of each renderer that has all sections and was not disturbed; claims of later runs that have only some
(``--section claims --only counts``) take the place of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.study import listed, read
from glla.lab import machine
from glla.lab.study import Report, Run
from glla.lab.table import markdown
from glla.thesis import claims as groups
from glla.thesis import command
from glla.thesis.document import Document


def _run(run: Run) -> Report:
    def reported(report: Report) -> Report:
        return Report("", {"quick": run.options.quick, "busy": "", **report.data})

    return reported(command.STUDY.run(replace(run, keep=lambda report: run.keep(reported(report)))))


STUDY = listed("thesis", _run, *command.OPTIONS)

EMPTY = "No run of all sections on a quiet machine is kept yet."


def speedups(results: Path) -> str:
    """Give the speed-ups of the newest whole run of each renderer, in Markdown."""
    runs = whole(results)
    if not runs:
        return EMPTY
    rows, head = [], list[str]()
    for run in runs:
        for row in _table(run, "speedups"):
            (n,) = {found[0] for name in row if (found := re.findall(r"n = (\d+)$", name))}
            head = ["device", *(re.sub(r",? (at )?n = \d+$", ", largest n", name) for name in row), "largest n"]
            values = [f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values()]
            rows.append((run["renderer"], *values, n))
    return "\n\n".join([_places(runs), markdown(head, rows)])


def claims(results: Path) -> str:
    """Give the claims of the newest whole run of each renderer, in Markdown: a row a claim, a column a device."""
    runs = whole(results)
    if not runs:
        return EMPTY
    found = [{row["claim"]: row for row in _table(run, "claims")} for run in runs]
    first = next(iter(found[0].values()))
    theirs = next(name for name in first if name.startswith("theirs"))
    rows = []
    first_of = {claim: row for one in reversed(found) for claim, row in one.items()}
    for claim in sorted(first_of, key=lambda name: groups.place_of(first_of[name]["section"])):
        ours = [f"{one[claim]['verdict']}: {one[claim]['ours']}" if claim in one else "-" for one in found]
        rows.append((claim, first_of[claim]["section"], first_of[claim][theirs], *ours))
    head = ("claim", "section", theirs, *(run["renderer"] for run in runs))
    return "\n\n".join([_places(runs), markdown(head, rows)])


def _places(runs: Sequence[dict[str, Any]]) -> str:
    lines = []
    for run in runs:
        later = "".join(
            f"; {', '.join(sorted(_names(one)))}: commit {one['commit']}, {one['date'][:10]}{_elsewhere(one, run)}"
            for one in run["later"]
        )
        about = f"**{run['renderer']}**, {machine.written(run['machine'])}"
        lines.append(f"{about}; commit {run['commit']}, {run['date'][:10]}{later}.")
    return "\n\n".join(lines)


def _elsewhere(one: dict[str, Any], run: dict[str, Any]) -> str:
    """Cores that a later run had, where the first one had others."""
    cores = one["machine"]["cores"]
    return "" if cores == run["machine"]["cores"] else f", {cores} cores"


def whole(results: Path) -> list[dict[str, Any]]:
    """Read the newest runs of each renderer that have all sections together, made neither in a hurry nor beside others.

    They are given as one: its sections are the newest ones, its claims the newest of each; ``later`` has all but the
    first of them.
    """
    found = []
    for runs in read(results, "thesis").values():
        used = list[dict[str, Any]]()
        for run in reversed(runs):
            if not (run["quick"] or run["busy"] or ("load" in run and machine.busy(run["load"]))):
                used.insert(0, run)
            if used and set().union(*map(_names, used)) == set(command.NAMES):
                found.append(_joined(used))
                break
    return found


def _joined(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """One run of several, the oldest first."""
    sections = command.joined([Document.of(run) for run in runs]).plain()["sections"]
    return {**runs[0], "later": runs[1:], "sections": sections}


def _names(run: dict[str, Any]) -> set[str]:
    return {section["name"] for section in run["sections"]}


def _table(run: dict[str, Any], section: str) -> list[dict[str, Any]]:
    """Rows of the first table of a section, by their headings."""
    table = next(part for part in run["sections"] if part["name"] == section)["tables"][0]
    return [dict(zip(table["headings"], row, strict=True)) for row in table["rows"]]
