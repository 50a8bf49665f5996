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

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6675; --paper: #fff; --line: #dde3ea; --accent: #1f6aa8;
  --shade: #1d243033; --good: #1d7d4f; --bad: #b3261e; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ef; --soft: #9aa7b6; --paper: #12161c; --line: #2d3642; --accent: #6fb3ec; --good: #5cc795;
    --bad: #ff8f86; --shade: #ffffff33; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "Liberation Sans", sans-serif; max-width: 66rem; margin: 0 auto; padding: 2rem 1rem;
  background: var(--paper); color: var(--ink); overflow-wrap: break-word; }
h1 { font-size: 1.8rem; line-height: 1.2; }
h2 { font-size: 1.35rem; line-height: 1.3; margin-top: 3rem; padding-top: .6rem; border-top: 1px solid var(--line); }
h2 small { display: block; color: var(--soft); font-weight: 400; font-size: .95rem; }
a { color: var(--accent); }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; }
.drawings { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr)); gap: 1.5rem; }
figure { margin: 1rem 0 0; min-width: 0; max-width: 34rem; break-inside: avoid; }
figcaption, h3 { font-size: 1rem; line-height: 1.4; font-weight: 600; margin: 0; padding-bottom: .3rem; }
figure svg { display: block; width: 100%; height: auto; }
.tables { display: flex; flex-wrap: wrap; gap: 1.6rem 3rem; margin: 1.4rem 0; align-items: flex-start; }
.table { max-width: 100%; min-width: 0; }
.table h3 { width: 0; min-width: max(100%, 16rem); }
.table:has(.cards) { width: 100%; }
.wide { overflow-x: auto; background: linear-gradient(to right, var(--paper) 1rem, transparent 3rem) local,
  linear-gradient(to left, var(--paper) 1rem, transparent 3rem) local,
  linear-gradient(to right, var(--shade), transparent .8rem), linear-gradient(to left, var(--shade), transparent .8rem);
}
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); vertical-align: bottom; }
.number { text-align: right; }
td.number { white-space: nowrap; }
td.good { color: var(--good); font-weight: 600; }
td.bad { color: var(--bad); font-weight: 600; }
sup { line-height: 0; font-size: .75em; }
.cards { width: 100%; }
.cards :is(thead, tbody) { display: block; }
.cards tr { display: grid; grid-template-columns: 2.2fr .8fr 1.4fr 1.7fr .9fr 2.4fr; break-inside: avoid;
  border-bottom: 1px solid var(--line); padding: .3rem 0; }
.cards :is(th, td) { border: 0; padding: .1rem .5rem; overflow-wrap: anywhere; }
.cards [data-label="command"] { grid-row: 2; grid-column: 1 / -1; color: var(--soft);
  font: .8rem/1.5 ui-monospace, "Liberation Mono", monospace; }
.cards th[data-label="command"] { display: none; }
.cards td:first-child { font-weight: 600; }
@media screen and (max-width: 50rem) {
  th, td { padding: .28rem .45rem; font-size: .85rem; }
  .cards thead { display: none; }
  .cards tr { display: block; }
  .cards td { display: block; }
  .cards td:not(:first-child):not([data-label="command"])::before { content: attr(data-label) ": ";
    color: var(--soft); font-weight: 400; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 12px; }
  .wide { overflow: visible; background: none; }
  nav { display: none; }
  h2, h3, figcaption { break-after: avoid; }
}
"""


@dataclass
class Document:
    """Sections, and their device.

    Attributes
    ----------
    title : str
        Heading of the page.
    about : list of str
        Lines below it.
    sections : list of Section
        Those that are done.
    complete : bool
        Whether they are all that were asked for.
    """

    title: str
    about: list[str]
    sections: list[Section] = field(default_factory=list)
    complete: bool = False

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
        """Read a file of `glla thesis --json` or ``python -m benchmarks.thesis``.

        Raises
        ------
        OptionError
            It is no such file.
        """
        try:
            return Document.of(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise OptionError(
                f"thesis: --from must be a file that glla thesis --json wrote, got {str(path)!r} ({error})"
            ) from None

    def write(self, html: Path | None = None, file: Path | None = None) -> None:
        """Write it as a page and as JSON, in place of existing files."""
        if html is not None:
            _replace(html, self.page())
        if file is not None:
            _replace(file, json.dumps(self.plain(), indent=1, allow_nan=False, default=float) + "\n")

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


def _replace(path: Path, text: str) -> None:
    """Write a file so that a reader, or an end in between, finds the old one or the new one."""
    beside = path.with_name(f"{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
