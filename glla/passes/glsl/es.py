r"""GLSL ES 3.00 for a browser's WebGL 2, from the GLSL 3.30 that the resolver writes.

Four rules are enough for every shader of glla.

1.  The line ``#version 330 core`` becomes `HEAD`: ES has no default precision for floats in fragments, and a low one
    for samplers.
2.  No computed index into an output: browsers refuse it. glla's own shaders have none. In a shader of a user's the
    outputs get other names, and a new `main` copies into them what the old one has left in variables of their names.
3.  A point has a size: OpenGL's is 1 where a shader sets none, that of ES is anything. A new `main` sets it.
4.  ``step_of_pass()`` is a uniform, `STEP`, see ``lib/fullscreen.glsl``.

A translation is kept as a recipe: which lines of which files, so that files that many shaders include are written once;
only those that conditions such as ``#if`` leave in. Lines keep their order, so the line that a browser's compiler names
leads back to its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from glla.errors import ShaderError
from glla.passes.glsl.conditions import left_in, uncommented
from glla.passes.glsl.find import COMPUTE_VERSION, Stage

HEAD = (
    "#version 300 es",
    "precision highp float;",
    "precision highp int;",
    "precision highp sampler2D;",
    "precision highp isampler2D;",
)
"""Lines that every text begins with."""

STEP = "number_of_step"
"""Uniform that a pass's `step` goes into."""

MACROS = {"GL_ES": "1", "__VERSION__": "300"}
"""What the dialect defines."""

GENERATED = "(generated)"

_OUTPUT = re.compile(r"(layout\s*\(\s*location\s*=\s*\d+\s*\)\s*out\s+(\w+)\s+)(\w+)(\s*;)")
_MAIN = re.compile(r"\bvoid\s+main\s*\(\s*(?:void)?\s*\)")


@dataclass(frozen=True)
class Span:
    """Lines of a file: from `first` on, counted from 1, `count` of them."""

    file: str
    first: int
    count: int


Part = Span | str
"""Lines of a file, or one line that stands in no file as it is."""


def translated(stage: Stage, sources: Mapping[str, list[str]], points: bool = False) -> tuple[Part, ...]:
    r"""Translate a stage.

    What comes after `HEAD`.
    `stage`: a vertex or fragment stage, as `glla.passes.glsl.find.resolve` gives it. `sources`: lines of each file that
    it has lines of, by the names in `Stage.lines`. `points`: it is the vertex stage of a pass that draws points.
    Raises ShaderError: it is a compute shader: WebGL 2 has none.

    >>> from glla.passes.glsl.find import resolve, root
    >>> stage = resolve("packing/identity", {"N": 1}).fragment
    >>> lines = {name: (root() / name).read_text().splitlines() for name, _ in stage.lines if name != GENERATED}
    >>> parts = translated(stage, lines)
    >>> parts[0], text(parts, lines).splitlines()[-5:] == stage.text.splitlines()[-5:]
    ('#define N 1', True)
    """
    if stage.text.startswith(COMPUTE_VERSION):
        raise ShaderError("shader: WebGL 2 has no compute shaders; choose a variant that draws")
    parts: list[Part] = []
    for line, file, number in _left_in(stage, _sized(stage) if points else _copied(stage)):
        known = sources.get(file, [])
        if file == GENERATED or number > len(known) or known[number - 1] != line:
            parts.append(line)
            continue
        last = parts[-1] if parts else ""
        if isinstance(last, Span) and (last.file, last.first + last.count) == (file, number):
            parts[-1] = Span(file, last.first, last.count + 1)
        else:
            parts.append(Span(file, number, 1))
    return tuple(parts)


def _left_in(stage: Stage, translation: str) -> Iterator[tuple[str, str, int]]:
    """Lines that conditions leave in, but for the version, each with its file and its number there."""
    lines = translation.splitlines()
    for numbers, _ in left_in("\n".join(lines), stage.where, dict(MACROS)):
        for number in numbers:
            if number > 1:
                yield lines[number - 1], *(stage.lines[number - 1] if number <= len(stage.lines) else (GENERATED, 0))


def text(parts: tuple[Part, ...], sources: Mapping[str, list[str]]) -> str:
    """Write the text of a recipe, as the page itself does."""
    return "\n".join((*HEAD, *_lines(parts, sources))) + "\n"


def _lines(parts: tuple[Part, ...], sources: Mapping[str, list[str]]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        else:
            yield from sources[part.file][part.first - 1 : part.first - 1 + part.count]


def indexed_outputs(text: str) -> list[str]:
    r"""Outputs that a text indexes by other than a number.

    >>> indexed_outputs("layout(location = 0) out vec4 V;\nvoid main() { V = vec4(0.0); V[int(V.x)] = 1.0; }")
    ['V']
    """
    plain = uncommented(text)
    names = [match[3] for match in _OUTPUT.finditer(plain)]
    return [name for name in names if re.search(rf"\b{name}\s*\[\s*(?!\d+\s*\])", plain)]


def _copied(stage: Stage) -> str:
    """Text of a stage by the second rule; no line changes its place."""
    if not indexed_outputs(stage.text):
        return stage.text
    outputs = [match[3] for match in _OUTPUT.finditer(uncommented(stage.text))]
    body = _OUTPUT.sub(r"\1drawn_\3\4 \2 \3\4", stage.text)
    copies = " ".join(f"drawn_{name} = {name};" for name in outputs)
    return f"{_MAIN.sub('void computed()', body)}void main() {{ computed(); {copies} }}\n"


def _sized(stage: Stage) -> str:
    """Text of a vertex stage by the third rule; no line changes its place."""
    return f"{_MAIN.sub('void computed()', stage.text)}void main() {{ computed(); gl_PointSize = 1.0; }}\n"
