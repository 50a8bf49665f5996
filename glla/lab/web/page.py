"""The page: a document and the player, joined in one file that asks for nothing from anywhere."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from glla.lab.web.documents import Document

FOLDER = Path(__file__).parent

TABLE = 16
"""Sides up to which a matrix is a table in the page, see ``view.js``."""

_JUDGED = re.compile(r"\bJUDGES\.(\w+) =")
_INDENT = re.compile(r"^(?: {2})+", re.MULTILINE)
_NEEDS = re.compile(r"Needs (\w+\.js)")


def page(document: Document) -> str:
    """Write the page of a document."""
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    first = document["plans"][0]
    values = {
        "title": escape(f"glla: {first['name']}, order {document['size']}"),
        "heading": escape(f"{first['name']}: {document['formula'] or document['operation']}"),
        "about": about(document),
        "course": _course(document.get("course")),
        "version": escape(document["glla"]),
        "data": in_script(document),
        "scripts": scripts(document["judge"], large=_side(document) > TABLE),
    }
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), template)


def scripts(operation: str, large: bool = True) -> str:
    """Join the scripts of a page; of the judges it has the file with that of its operation, and what that needs."""
    found = [path for path in sorted((FOLDER / "judges").glob("*.js")) if operation in _JUDGED.findall(_read(path))]
    judges = [one for path in found for one in (*(path.with_name(name) for name in _NEEDS.findall(_read(path))), path)]
    names = ("player", "judge"), ("large", "view") if large else ("view",)
    first, last = ([FOLDER / f"{name}.js" for name in some] for some in names)
    files = [*first, *judges, *last]
    text = '"use strict";\n' + "".join(_read(path).removeprefix('"use strict";\n') for path in files)
    return _INDENT.sub(lambda match: "\t" * (len(match[0]) // 2), text)  # a byte for two


def _side(document: Document) -> int:
    """Largest side of a matrix of a page."""
    slots = (slot for plan in document["plans"] for slot in plan["slots"].values())
    return max((max(slot["shape"]) for slot in slots if "shape" in slot), default=1)


def in_script(data: Any) -> str:
    r"""JSON that may stand in a script element: no tag can end in it.

    >>> in_script({"x": "</script>"})
    '{"x":"\\u003c/script>"}'
    """
    return json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def about(document: Document) -> str:
    """The idea in a sentence, the source, the cost."""
    cost = document["plans"][0]["cost"]
    passes = "1 pass" if cost["passes"] == 1 else f"{cost['passes']} passes"
    idea = document["idea"][:1].upper() + document["idea"][1:]
    figures = f"{passes}, {cost['flops']} flop, {cost['bytes']} bytes written"
    words = [f"<p>{escape(idea)}.</p>"] if idea else []
    sources = ". ".join(filter(None, (document["source"], figures)))
    return "\n".join([*words, f'<p class="note">{escape(sources)}.</p>'])


def _course(course: dict[str, Any] | None) -> str:
    """Links to the page before, the index and the page after."""
    if not course:
        return ""
    links = [
        f'<a href="{escape(course[name][1])}" rel="{rel}">{escape(words)}{escape(course[name][0])}</a>'
        for name, rel, words in (("previous", "prev", "◀ "), ("index", "up", ""), ("next", "next", "Next: "))
        if course.get(name)
    ]
    return f'<nav aria-label="course"><p>{" · ".join(links)}</p></nav>'
