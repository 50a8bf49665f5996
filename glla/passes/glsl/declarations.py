"""Declarations of a user's fragment shader, each with its file and line; and values for its uniforms.

`glla.passes.glsl.find.Shader` knows names alone, and glla's own files are written so that it finds them. A stranger's
file may declare what it would overlook, such as two uniforms in a statement; OpenGL would set those to zero in silence.
So each such declaration is refused here, with its place.
"""

from __future__ import annotations

import operator
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from glla.errors import OptionError, OptionTypeError, ShaderError
from glla.passes.glsl import find as shaders
from glla.passes.glsl.conditions import SHOWN, uncommented
from glla.passes.steps import Uniform

SAMPLERS = {"sampler2D": "float32", "isampler2D": "int32"}
"""Kinds of samplers, with the dtype of the arrays that they read."""

OUTPUTS = {"vec4": "float32", "ivec4": "int32"}
"""Kinds of outputs, with the dtype of the arrays that they write."""

INDICES = ("int", "ivec2", "ivec3", "ivec4")
"""Kinds of uniforms that the shape of an array of 1, 2, 3 and 4 dimensions is given to."""

READING = re.compile(r"\b(texelFetchOffset|texture(1D|2D|3D|Cube)?(Proj|Lod|Grad|Gather)*(Offsets?)?)(?=\s*\()")
"""GLSL's functions that read a texture, but for texelFetch."""

_SCALARS = {"float": "f", "int": "i", "uint": "I", "bool": "?"}
_VECTOR = re.compile(r"([iub]?)vec([234])")
_MATRIX = re.compile(r"mat([234])(?:x([234]))?")
_PREFIXES = {"": "float", "i": "int", "u": "uint", "b": "bool"}

_STATEMENT = re.compile(r"(?:\blayout\s*\([^)]*\)\s*)?\b(uniform|out)\b([^;{]*)([;{])")
_PLAIN = re.compile(r"\s+(\w+)\s+(\w+)\s*")
_LOCATED = re.compile(r"layout\s*\(\s*location\s*=\s*(\d+)\s*\)\s*out\s+(\w+)\s+(\w+)\s*")
_PARAMETER = re.compile(r"[(,]\s*$")
"""What is before an ``out`` that belongs to a parameter of a function."""


@dataclass(frozen=True)
class Declared:
    """A sampler, a uniform or an output."""

    kind: str  # as GLSL has them: ``"sampler2D"``, ``"A"``
    name: str
    place: str  # ``"my.frag:3"``, and what is there
    line: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"

    def refuse(self, problem: str) -> NoReturn:
        """Raise a ShaderError that names the place."""
        raise ShaderError(f"{self.place}: {problem}\n      {self.line[:SHOWN]}")


@dataclass(frozen=True)
class Declarations:
    """Interface of a shader."""

    samplers: Mapping[str, Declared]  # by name, in the order of the file
    uniforms: Mapping[str, Declared]
    outputs: tuple[Declared, ...]  # in the order of their locations


def declarations(shader: shaders.Shader) -> Declarations:
    """Find a shader's declarations, and refuse those glla would overlook.

    Raises ShaderError: the file, the line, and what to do.

    >>> found = declarations(shaders.resolve("matmul/inner_product"))
    >>> str(found.samplers["A"]), found.samplers["A"].place.partition(":")[0]
    ('sampler2D A', 'matmul/inner_product.frag')
    """
    known: dict[str, Declared] = {}
    written: list[tuple[int, Declared]] = []
    for stage in shader.stages.values():
        for found in _statements(stage):
            keyword, name = found.match[1], found.plain[2] if found.plain else ""
            if keyword == "uniform":
                if found.plain is None or found.match[3] == "{" or name not in shader.samplers | shader.uniforms:
                    found.declared.refuse(
                        "a uniform is declared in a statement and a line of its own, without a value: "
                        "`uniform float scale;`; a table of numbers comes as an array, in a texture"
                    )
                known[name] = found.declared
            elif stage is shader.fragment:
                written.append((found.location, found.declared))
    _check_text(shader.fragment)
    return Declarations(
        {name: one for name, one in known.items() if name in shader.samplers and _is_known(one, SAMPLERS)},
        {name: one for name, one in known.items() if name in shader.uniforms and _is_uniform(one)},
        _outputs(shader, written),
    )


def takes_part(stage: shaders.Stage, file: str) -> bool:
    """Whether a stage includes a file, and no condition leaves it out.

    >>> takes_part(shaders.resolve("examples/life").fragment, "lib/packed.glsl")
    True
    """
    active = set(map(str.strip, shaders.active_text(stage).splitlines()))
    lines = zip(uncommented(stage.text).splitlines(), stage.lines, strict=False)
    return any("(" in line and line.strip() in active for line, (origin, _) in lines if origin == file)


@dataclass(frozen=True)
class _Statement:
    """A statement that declares a uniform or an output."""

    match: re.Match[str]
    plain: re.Match[str] | None
    location: int
    declared: Declared


def _statements(stage: shaders.Stage) -> Iterator[_Statement]:
    """Find the declarations of a stage that its conditions leave in."""
    text = uncommented(stage.text)
    lines, active = text.splitlines(), {line.strip() for line in shaders.active_text(stage).splitlines()}
    for match in _STATEMENT.finditer(text):
        number = text.count("\n", 0, match.start(1)) + 1
        line = lines[number - 1].strip()
        if line not in active or line.startswith("#") or _PARAMETER.search(text[: match.start()]):
            continue
        if match[1] == "out" and (text.count("{", 0, match.start()) != text.count("}", 0, match.start())):
            continue  # a matrix of something
        located = _LOCATED.fullmatch(match[0][:-1])
        plain = _PLAIN.fullmatch(match[2])
        kind, name = (plain[1], plain[2]) if plain else ("", "")
        declared = Declared(kind, name, stage.where(number), line)
        yield _Statement(match, plain, int(located[1]) if located else -1, declared)


def _outputs(shader: shaders.Shader, written: list[tuple[int, Declared]]) -> tuple[Declared, ...]:
    """Sort outputs by their locations, which must be 0, 1, ... without a gap."""
    example = "`layout(location = 0) out vec4 result;`"
    if not written:
        raise ShaderError(f"{shaders.called(shader.name)}: must declare an output, {example}")
    for location, one in written:
        if location < 0 or one.name not in shader.outputs:
            one.refuse(f"an output is declared with its location, on a line of its own: {example}")
        _is_known(one, OUTPUTS)
    ordered = sorted(written, key=lambda pair: pair[0])
    for expected, (location, one) in enumerate(ordered):
        if location != expected:
            one.refuse(f"the locations of outputs are 0, 1, 2, ... without a gap, got {location} for {expected}")
    return tuple(one for _, one in ordered)


def _check_text(stage: shaders.Stage) -> None:
    """Refuse text that makes a result depend on undefined values."""
    active = {line.strip() for line in shaders.active_text(stage).splitlines()}
    for number, line in enumerate(uncommented(stage.text).splitlines(), 1):
        if line.strip() not in active:
            continue
        here = Declared("", "", stage.where(number), line.strip())
        if re.match(r"\s*#\s*include\b", line):
            here.refuse('what is included stands in quotes, `#include "lib/packed.glsl"`')
        read = READING.search(line)
        if read is not None:
            here.refuse(f"textures are read by texelFetch alone, got {read[0]}")
        if re.search(r"\bdiscard\b", line):
            here.refuse("a fragment that is discarded leaves its texel undefined; write zeros, or what was there")


def _is_known(one: Declared, kinds: Mapping[str, str]) -> bool:
    if one.kind not in kinds:
        what = "a sampler" if kinds is SAMPLERS else "an output, the four elements of a texel,"
        one.refuse(f"{what} is a {' or '.join(f'{kind} ({dtype})' for kind, dtype in kinds.items())}, got {one.kind}")
    return True


def _is_uniform(one: Declared) -> bool:
    if one.kind not in _SCALARS and not _VECTOR.fullmatch(one.kind) and not _MATRIX.fullmatch(one.kind):
        one.refuse(f"a uniform is a number, a vector or a matrix of float, got {one.kind}")
    return True


# -- values -----------------------------------------------------------------------------------------------------------


def uniform_value(function: str, declared: Declared, value: Any) -> Uniform:
    """Convert a value for a uniform of a pass, or raise with the reason.

    `function`: for the messages. `declared`: the uniform. `value`: a number; for a vector as many; for a ``matCxR`` R
    rows of C numbers, as they are written down: GLSL's ``M[j][i]`` is the element of row i and column j.
    Raises OptionError: it has another shape, or does not fit. Raises OptionTypeError: it is not of numbers; or of
    floats, where the uniform holds integers.

    >>> uniform_value("doc", Declared("mat2", "M", "my.frag:1", "uniform mat2 M;"), [[1, 2], [3, 4]])
    (1.0, 3.0, 2.0, 4.0)
    """
    kind, shape = _form(declared.kind)
    at = f"{function}: {declared.name}, a {declared.kind} of {declared.place},"
    try:
        array = np.asarray(value)
    except ValueError:
        raise OptionError(f"{at} must have shape {shape}, got {value!r}") from None
    if array.dtype.kind not in ("b" if kind == "bool" else "bui" if kind != "float" else "buif"):
        wanted = {"float": "real numbers", "bool": "bool"}.get(kind, "integers")
        raise OptionTypeError(f"{at} must be {wanted}, got {value!r}")
    if array.shape != shape:
        what = f"shape {shape}" if shape else "a single number"
        raise OptionError(f"{at} must be {what}, got shape {array.shape}")
    convert = float if kind == "float" else bool if kind == "bool" else operator.index
    numbers = [convert(one) for one in array.T.ravel().tolist()]  # GLSL's matrices are column by column
    try:
        struct.pack(f"<{len(numbers)}{_SCALARS[kind]}", *numbers)
    except (struct.error, OverflowError):
        raise OptionError(f"{at} must fit 32 bits, got {value!r}") from None
    return tuple(numbers) if shape else numbers[0]


def _form(kind: str) -> tuple[str, tuple[int, ...]]:
    """Kind of the numbers of a uniform, and their shape."""
    vector, matrix = _VECTOR.fullmatch(kind), _MATRIX.fullmatch(kind)
    if vector:
        return _PREFIXES[vector[1]], (int(vector[2]),)
    if matrix:
        return "float", (int(matrix[2] or matrix[1]), int(matrix[1]))
    return kind, ()
