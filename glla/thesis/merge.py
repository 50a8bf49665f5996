"""Several runs on one device as one: sections of later runs win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from glla.errors import OptionError
from glla.thesis import appendix, claims
from glla.thesis.document import Document
from glla.thesis.evaluation import NAMES
from glla.thesis.parts import Section


def joined(documents: Sequence[Document]) -> Document:
    """Put sections of later documents in place of those of the ones before; claims one by one.

    Claims that follow from other sections are those of the sections that are left; tables A.1 to A.3 those of the
    newest runs that are kept.

    Raises OptionError: they are of different devices.
    """
    first, *others = documents
    for one in others:
        if one.device != first.device:
            raise OptionError(f"thesis: all --from must be of one device, got {first.device!r} and {one.device!r}")
    sections = {section.name: section for section in first.sections}
    later = dict[str, list[str]]()  # what is said of later documents -> their sections
    for one in others:
        for section in one.sections:
            sections[section.name] = _with(sections.get(section.name), section)
        names = ", ".join(section.name for section in one.sections)
        for line in one.about:
            if line not in first.about:
                later.setdefault(line, []).append(names)
    about = [*first.about, *(f"Later ({'; '.join(those)}): {line}" for line, those in later.items())]
    if "cluster" in sections:
        sections["cluster"] = appendix.anew(sections["cluster"], first.device.removeprefix("Ours: "))
    if "claims" in sections:
        own = sections["claims"]
        rows = [*own.tables[0].rows, *claims.following(sections)]
        sections["claims"] = replace(own, tables=[claims.table(rows)])
    complete = sections.keys() >= {*NAMES} or all(one.complete for one in documents)
    ordered = [sections[name] for name in NAMES if name in sections]
    return replace(first, about=about, sections=ordered, complete=complete)


def _with(old: Section | None, new: Section) -> Section:
    if old is None or new.name != "claims":
        return new
    rows = [row for section in (old, new) for table in section.tables for row in table.rows]
    return replace(old, tables=[claims.table(rows)], seconds=old.seconds + new.seconds)
