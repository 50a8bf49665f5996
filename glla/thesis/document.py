"""The whole evaluation as it is kept in a file, and the page that is made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from glla.errors import OptionError
from glla.thesis.parts import Section

STYLE = "\n" + Path(__file__).with_name("page.css").read_text(encoding="utf-8")


@dataclass
class Document:
    """Sections, and their device."""

    title: str  # heading of the page
    about: list[str]  # lines below it
    sections: list[Section] = field(default_factory=list)  # those that are done
    complete: bool = False  # whether they are all that were asked for

    @property
    def device(self) -> str:
        """Name of the device, from the first line below the heading."""
        return self.about[0].partition(", OpenGL")[0] if self.about else ""

    def plain(self) -> dict[str, Any]:
        """Give it as plain data, as `of` takes it."""
        sections = [one.plain() for one in self.sections]
        return {"title": self.title, "about": self.about, "complete": self.complete, "sections": sections}

    @staticmethod
    def of(data: Mapping[str, Any]) -> Document:
        """Make it of plain data; of a file's other entries, the commit and the date are kept."""
        made = Document(data["title"], list(data["about"]), list(map(Section.of, data["sections"])), data["complete"])
        if "commit" in data:
            made.about.append(f"Measured {data['date'][:10]}, commit {data['commit']}.")
        if data.get("busy"):
            made.about.append(f"Mind: {data['busy']}.")
        return made

    @staticmethod
    def read(path: Path) -> Document:
        """Read a file of `glla study thesis --out` or ``python -m benchmarks thesis``.

        Raises OptionError: it is no such file.
        """
        try:
            return Document.of(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise OptionError(
                f"thesis: --from must be a file that glla study thesis --out wrote, got {str(path)!r} ({error})"
            ) from None

    def page(self) -> str:
        """Make one page of all sections; it asks for nothing from anywhere."""
        links = "".join(f'<a href="#{one.name}">{escape(one.title)}</a>' for one in self.sections)
        cut = [] if self.complete else ["It was ended before all sections were done."]
        lines = "".join(f"<p>{escape(line)}</p>" for line in (*self.about, *cut))
        body = "".join(one.html() for one in self.sections)
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>'
            f"<body><h1>{escape(self.title)}</h1>{lines}<nav>{links}</nav>{body}</body></html>\n"
        )
