"""Zeros in the padding of a shader's targets, whatever it computes: ``NAME@padded``, ``NAME@spared``, ``NAME@truths``.

The padding of a packed matrix is always zero (`glla.passes.layout`), and so are the spare channels behind the last
element of a linear array; glla's own shaders see to that themselves. Nobody can be sure of a user's. A NaN that stayed
there would reach every product with the matrix, so its ``main`` is called by another one, which then chooses zeros for
elements outside of the result: no further pass, and a few instructions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from glla.passes.glsl import find as shaders

PADDED = "padded"
"""The shader NAME is ``NAME@padded`` with zeros in the padding of packed matrices; it declares `SHAPE` in addition."""

SPARED = "spared"
"""``NAME@spared`` has zeros behind the last element of linear arrays; it declares `EXTENT` in addition."""

TRUTHS = "truths"
"""``NAME@truths`` does the same, and makes its integers 0 or 1."""

SHAPE = "padded_shape"
"""Uniform: rows and columns of the result."""

EXTENT = "spared_extent"
"""Uniform: elements of the result, and texels in a row of its texture."""

Written = list[tuple[str, str]]
"""Type and name of each output."""

_MAIN = "main_without_padding"
_CHANNELS = "rgba"
_OUT = re.compile(r"^[ \t]*layout\s*\(\s*location\s*=\s*\d+\s*\)\s*out\s+(\w+)\s+(\w+)\s*;", re.MULTILINE)


def _padded(written: Written) -> Iterator[str]:
    """Lines that put zeros beyond the last row and column."""
    zeros = {"vec4": "vec2(0.0)", "ivec4": "ivec2(0)"}
    yield "    ivec2 padded_last = 2 * ivec2(gl_FragCoord.yx) + 1;  // row and column of the element in channel a"
    for kind, name in written:
        yield f"    if (padded_last.x >= {SHAPE}.x) {name}.ba = {zeros[kind]};"
        yield f"    if (padded_last.y >= {SHAPE}.y) {name}.ga = {zeros[kind]};"


def _spared(written: Written) -> Iterator[str]:
    """Lines that put zeros behind the last element."""
    yield f"    int spared_first = 4 * (int(gl_FragCoord.y) * {EXTENT}.y + int(gl_FragCoord.x));"
    for kind, name in written:
        zero = "0.0" if kind == "vec4" else "0"
        for place, channel in enumerate(_CHANNELS):
            yield f"    if (spared_first + {place} >= {EXTENT}.x) {name}.{channel} = {zero};"


def _truths(written: Written) -> Iterator[str]:
    """Lines that make integers 0 or 1, and put zeros behind the last one."""
    yield from (f"    {name} = ivec4(notEqual({name}, ivec4(0)));" for kind, name in written if kind == "ivec4")
    yield from _spared(written)


def _called(uniform: str, lines: Callable[[Written], Iterable[str]], stage: shaders.Stage) -> shaders.Stage:
    """Call the stage's ``main``, then do something to all that it wrote."""
    written = _OUT.findall(shaders.active_text(stage))
    tail = ["#undef main", f"uniform ivec2 {uniform};", "void main() {", f"    {_MAIN}();", *lines(written), "}"]
    version, *text = stage.text.splitlines()
    first, *places = stage.lines
    ours = [("(padding)", number) for number in range(len(tail) + 1)]
    whole = [version, f"#define main {_MAIN}", *text, *tail]
    return shaders.Stage("\n".join(whole) + "\n", (first, ours[0], *places, *ours[1:]))


shaders.derive(PADDED, partial(_called, SHAPE, _padded))
shaders.derive(SPARED, partial(_called, EXTENT, _spared))
shaders.derive(TRUTHS, partial(_called, EXTENT, _truths))
