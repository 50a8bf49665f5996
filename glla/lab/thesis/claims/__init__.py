"""The claims of chapters 2 to 5 and 7 that can be measured: the thesis's figure, ours, and whether it holds here.

Each is measured by one function, and judged: `ways` has which of two ways is the faster, `accuracy` what is exact and
what is not, `machine` what the device can do, `passes` what a pass, a transfer and a call cost, `sections` what follows
from the other sections of the page. A ratio of times is of two things on the same device in the same minute.
"""

from __future__ import annotations

from glla.lab.thesis import published
from glla.lab.thesis.claims import accuracy, machine, passes, sections, ways
from glla.lab.thesis.measure import Place
from glla.lab.thesis.parts import Section, Table


def claims(place: Place, done: dict[str, Section]) -> Section:
    """Make the table; `done` has the other sections, as far as they are."""
    section = Section("claims", "The thesis's claims, checked", "chapters 2 to 5 and 7")
    rows = []
    for measured in (machine.claims, passes.claims, ways.claims, accuracy.claims):
        for claim in measured(place):
            place.say(claim.says)
            rows.append(claim.row)
    rows += [claim.row for claim in sections.claims(done)]
    head = ("claim", "section", f"theirs ({published.DEVICE})", "ours", "verdict", "command", "why")
    section.tables.append(Table("Claims that can be measured", head, tuple(rows), cards=True))
    section.notes.append('"measured" stands where the thesis has a figure and no claim that could fail.')
    return section
