"""The claims of chapters 2 to 5 and 7 that can be measured: the thesis's figure, ours, and whether it holds here.

Each is measured by one function, and judged. A module is a group: `machine` has what the device can do, `passes` what a
pass, a transfer and a call cost, `ways` which of two ways is the faster, `tuning` what is left to gain, `counts` what
is fetched and kept, `iterations` sparse matrices and conjugate gradients, `solutions` systems of equations, `accuracy`
what is exact and what is not, `background` work beside the CPU, and `sections` what follows from the other sections of
the page. A ratio of times is of two things on the same device in the same minute.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from glla.thesis import published
from glla.thesis.claims import (
    accuracy,
    background,
    counts,
    iterations,
    machine,
    passes,
    sections,
    solutions,
    tuning,
    ways,
)
from glla.thesis.claims.claim import HERE, Claim
from glla.thesis.measure import Place
from glla.thesis.parts import Cell, Section, Table

GROUPS: dict[str, Callable[[Place], Iterator[Claim]]] = {
    one.__name__.rpartition(".")[-1]: one.claims
    for one in (machine, passes, ways, tuning, counts, iterations, solutions, accuracy, background)
}
"""What is measured for the table itself, by the name of the group."""


def claims(place: Place, done: dict[str, Section], only: Sequence[str] | None = None) -> Section:
    """Make the table, all of it or some groups; `done` has the other sections, as far as they are."""
    section = Section("claims", "The thesis's claims, checked", "chapters 2 to 5 and 7")
    rows = list[tuple[Cell, ...]]()
    for name in GROUPS if only is None else only:
        for claim in GROUPS[name](place):
            place.say(claim.says)
            rows.append(replace(claim, command=claim.command.replace(HERE, f"{HERE} --only {name}")).row)
    section.tables.append(table([*rows, *following(done)]))
    section.notes.append('"measured" stands where the thesis has a figure and no claim that could fail.')
    return section


def following(done: dict[str, Section]) -> list[tuple[Cell, ...]]:
    """Rows of the claims that follow from other sections, as far as they are done."""
    return [claim.row for claim in sections.claims(done)]


def table(rows: Iterable[tuple[Cell, ...]]) -> Table:
    """Put claims in the order of the thesis; of those with the same words the last one counts."""
    head = ("claim", "section", f"theirs ({published.DEVICE})", "ours", "verdict", "command", "why")
    ordered = sorted({row[0]: row for row in rows}.values(), key=lambda row: place_of(str(row[1])))
    verdicts = Counter(row[4] for row in ordered)
    counts = "; ".join(f"{name}: {count}" for name, count in verdicts.most_common())
    return Table(f"{len(ordered)} claims that can be measured ({counts})", head, tuple(ordered), cards=True)


def place_of(section: str) -> tuple[int, ...]:
    """Numbers of the first section that is named.

    >>> place_of("2.2.5 and 7.1"), place_of("4.1.1, equation 4.10")
    ((2, 2, 5), (4, 1, 1))
    """
    found = re.match(r"[\d.]*\d", section)
    return tuple(map(int, found.group().split("."))) if found else ()
