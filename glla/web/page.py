"""The page: a document and the player, joined in one file that asks for nothing from anywhere."""

from __future__ import annotations

import json
import re
import zlib
from base64 import a85decode, a85encode
from html import escape
from typing import Any

from glla.display.colours import DARK, LIGHT
from glla.web import scripts
from glla.web.documents import Document
from glla.web.scripts import FOLDER

TABLE = 16
"""Sides up to which a matrix is a table in the page, see ``view.js``."""


def page(document: Document) -> str:
    """Write the page of a document."""
    template = scripts.unindented((FOLDER / "page.html").read_text(encoding="utf-8"))
    style, body = template.split("</style>")
    template = re.sub(r"(?<=[:;,{]) | (?=[{}])", "", style) + "</style>" + body
    first = document["plans"][0]
    values = {
        "title": escape(f"glla: {first['name']}, order {document['size']}"),
        "heading": escape(f"{first['name']}: {document['formula'] or document['operation']}"),
        "about": about(document),
        "course": _course(document.get("course")),
        "light": LIGHT,
        "dark": DARK,
        "version": escape(document["glla"]),
        "pictures": in_script(document.get("picture", {})),
        "data": packed({name: one for name, one in document.items() if name not in ("picture", "course")}),
        "scripts": scripts.joined(document["judge"], *_others(document)),
    }
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), template)


def _others(document: Document) -> list[str]:
    """Scripts that not every page needs, of `scripts.OTHERS`."""
    needed = {"loops": any(plan["loops"] for plan in document["plans"]), "large": _side(document) > TABLE}
    return [name for name in scripts.OTHERS if needed[name]]


def _side(document: Document) -> int:
    """Largest side of the matrices that a page shows: see ``gridOf`` in ``view.js``."""
    sides = [1]
    for slot in (slot for plan in document["plans"] for slot in plan["slots"].values()):
        sides += slot.get("shape") or slot.get("host") or slot.get("wrapped") or []
        sides += [slot["h"], slot["w"]] if slot.get("c") == 1 else []
    return max(sides)


PACKED = re.compile(r'<script type="text/plain" id="data">([^<]*)</script>')
"""Where a page holds its document."""


def packed(document: Document) -> str:
    """Document as a page holds it: JSON, deflated, in base 85. Shaders first, so that repeated text is near.

    >>> document_in(f'<script type="text/plain" id="data">{packed({"size": 8})}</script>')
    {'size': 8}
    """
    first = {name: document[name] for name in ("sources", "programs") if name in document}
    text = json.dumps(first | document, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return digits(zlib.compress(text.encode(), 9))


def digits(data: bytes) -> str:
    """Bytes in base 85: Ascii85 without its short form of zeros, and "v" for "<", which a script may not have.

    >>> digits(bytes(4)), digits(b"0123,"), len(digits(bytes(100)))
    ('!!!!!', '0JP==/-', 125)
    """
    return a85encode(data).decode().replace("z", "!!!!!").replace("<", "v")


def document_in(html: str) -> Document:
    """Document that a page holds."""
    found = PACKED.search(html)
    assert found is not None
    document: Document = json.loads(zlib.decompress(a85decode(found[1].replace("v", "<"))))
    return document


def in_script(data: Any) -> str:
    r"""JSON that may stand in a script element: no tag can end in it.

    >>> in_script({"x": "</script>"})
    '{"x":"\\u003c/script>"}'
    """
    return json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


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
