"""The course: a page for each operation and variant in the order in which the shaders are to be read, and an index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from glla._version import __version__
from glla.display.colours import DARK, LIGHT
from glla.errors import GllaError, OptionError
from glla.operations import OPERATIONS
from glla.passes.glsl import find as shaders
from glla.web.documents import SEED, Document, document
from glla.web.page import about, page
from glla.web.scripts import FOLDER

INDEX = "index.html"

TILES = 12
"""Passes that a picture of a plan shows at most, evenly chosen."""

SIDE = 30
"""Pixels of a pass in a picture."""


@dataclass(frozen=True)
class Lesson:
    """A page of the course: its document and file; or why there is none."""

    operation: str
    variant: str
    document: Document | None
    refusal: str = ""

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.operation}{'-' if self.variant else ''}{self.variant}.html"

    @property
    def title(self) -> str:
        """Text of links to it."""
        return f"{self.operation}: {self.variant}" if self.variant else self.operation


def write(folder: Path, size: int = 8, seed: int = SEED) -> list[Path]:
    """Write the course into a folder, which is made if it is not there.

    The index, and the pages in order.
    `folder`: it may hold an older course, whose files are replaced. `size`: order of the examples. `seed`: of the
    examples.
    Raises OptionError: the folder is a file. Raises OSError: a file cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"export: --all wants a folder, {folder} is a file")
    lessons = list(_lessons(size, seed))
    shown = [one for one in lessons if one.document is not None]
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / INDEX]
    files[0].write_text(index(lessons, size), encoding="utf-8")
    for place, one in enumerate(shown):
        assert one.document is not None
        links: dict[str, Any] = {"index": ["All operations", INDEX]}
        if place > 0:
            links["previous"] = [shown[place - 1].title, shown[place - 1].file]
        if place + 1 < len(shown):
            links["next"] = [shown[place + 1].title, shown[place + 1].file]
        files.append(folder / one.file)
        files[-1].write_text(page(one.document | {"course": links}), encoding="utf-8")
    return files


def _lessons(size: int, seed: int) -> Iterator[Lesson]:
    """Every operation and variant, in the reading order of the shader folders."""
    found = []
    for name, operation in OPERATIONS.items():
        for variant in [*operation.variants] or [""]:
            try:
                found.append(Lesson(name, variant, document(name, size, variant or None, seed=seed)))
            except GllaError as error:
                found.append(Lesson(name, variant, None, str(error).removeprefix("export: ")))
    order = _reading_order()
    places: dict[str, tuple[int, bool]] = {}
    for one in found:
        if one.document is not None:
            folder = _folder(one.document)
            places.setdefault(one.operation, (order.get(folder, len(order)), one.operation != folder))
    yield from sorted(found, key=lambda one: places.get(one.operation, (len(order), True)))


def _reading_order() -> dict[str, int]:
    """Folders of shaders by their places in the README that says in which order to read them."""
    text = (shaders.root() / "README.md").read_text(encoding="utf-8")
    return {name: place for place, name in enumerate(dict.fromkeys(re.findall(r"`(\w+)/`", text)))}


def _folder(made: Document) -> str:
    """Folder that most of the passes of a plan have their shaders from."""
    plan = made["plans"][0]
    draws = [plan["draws"][step["d"]] for step in plan["steps"] if "d" in step]
    names = (made["programs"][draw["p"]]["name"].partition("/")[0] for draw in draws)
    helpers = {"packing", "permutation", "pivot", "equilibrate", "strips", "blocks", "elementwise", "reduce"}
    counted = Counter(name for name in names)
    own = {name: count for name, count in counted.items() if name not in helpers} or counted
    return max(own, key=lambda name: own[name], default="")


# -- the index --------------------------------------------------------------------------------------------------------


def index(lessons: list[Lesson], size: int) -> str:
    """Write the index: for each operation its formula, for each variant a picture, the idea, the source, the cost."""
    sections = []
    for name in dict.fromkeys(one.operation for one in lessons):
        own = [one for one in lessons if one.operation == name]
        cards = "\n".join(_card(one) for one in own)
        formula = escape(OPERATIONS[name].formula)
        sections.append(f'<section id="{name}"><h2>{name}: {formula}</h2>\n<ul class="cards">{cards}</ul></section>')
    names = dict.fromkeys(one.operation for one in lessons)
    values = {
        "links": " ".join(f'<a href="#{name}">{name}</a>' for name in names),
        "sections": "\n".join(sections),
        "size": str(size),
        "version": escape(__version__),
    }
    values |= dict(zip(("light", "dark"), re.findall(r":root.*?\{(.*?)\n\}", _style(), re.DOTALL), strict=True))
    template = (FOLDER / "index.html").read_text(encoding="utf-8")
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), template)


def _style() -> str:
    text = (FOLDER / "page.html").read_text(encoding="utf-8")
    return text.replace("{light}", LIGHT).replace("{dark}", DARK)


def _card(one: Lesson) -> str:
    name = escape(one.variant or one.operation)
    if one.document is None:
        return f'<li class="refused"><h3>{name}</h3><p>Not in a browser: {escape(one.refusal)}.</p></li>'
    made = one.document
    return f'<li><h3><a href="{one.file}">{name}</a></h3>{picture(made)}{about(made)}</li>'


def picture(made: Document) -> str:
    """Draw the plan of a document: a tile for a pass, its target, and in it the region that the pass draws."""
    plan = made["plans"][0]
    steps = [step for step in plan["steps"] if "d" in step]
    count = min(TILES, len(steps))
    chosen = [steps[round(k * (len(steps) - 1) / max(1, count - 1))] for k in range(count)]
    tiles = []
    for place, step in enumerate(chosen):
        slot = plan["slots"][plan["draws"][step["d"]]["out"][0]]
        x, y, width, height = step.get("r", [0, 0, slot["w"], slot["h"]])
        unit = (SIDE - 4) / max(slot["w"], slot["h"])
        left = place % 6 * SIDE
        top = place // 6 * SIDE
        target = f'<rect x="{left}" y="{top}" width="{slot["w"] * unit:.2f}" height="{slot["h"] * unit:.2f}"/>'
        region = (
            f'<rect class="drawn" x="{left + x * unit:.2f}" y="{top + y * unit:.2f}" '
            f'width="{width * unit:.2f}" height="{height * unit:.2f}"/>'
        )
        tiles.append(target + region)
    rows = -(-count // 6)
    label = f"{len(steps)} passes, and the part of its target that each draws"
    size = f'width="{6 * SIDE}" height="{rows * SIDE}" viewBox="-1 -1 {6 * SIDE} {rows * SIDE}"'
    return f'<svg {size} role="img" aria-label="{label}">{"".join(tiles)}</svg>'
