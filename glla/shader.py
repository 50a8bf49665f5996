"""GLSL text: finding it, `#include`, `#define`, and a table that leads from a line back to its file.

No OpenGL here. A *shader* is named by its path below ``shaders/`` without the suffix: ``plu/eliminate`` is the
fragment shader ``plu/eliminate.frag`` together with ``plu/eliminate.vert`` or, where there is none, with
``fullscreen.vert``, which draws one triangle that covers the target. ``matmul/compute_tiled`` is a compute shader,
``matmul/compute_tiled.comp``, the only kind that asks for more than GLSL 3.30. A fragment shader from elsewhere, a
user's own, is known by the name that `adopt` was given.

A file carries no ``#version``; it is written here. Parameters stand in a file as ``#ifndef NAME / #define NAME
default``, and `resolve` puts the values asked for above them. The resolved text *is* the identity of a program: two
passes whose texts agree share one program, and nothing can drift from the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from glla.errors import ShaderError

Define = int | float | str
VERSION = "#version 330 core"
COMPUTE_VERSION = "#version 430 core"

_PACKAGED = Path(__file__).parent / "_shaders"
_CHECKOUT = Path(__file__).parent.parent / "shaders"

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"\s*(?://.*)?$')
_UNIFORM = re.compile(r"^\s*uniform\s+(\w+)\s+(\w+)\s*;", re.MULTILINE)
_BLOCK = re.compile(r"^\s*layout\s*\(\s*std140\s*\)\s*uniform\s+(\w+)\s*\{", re.MULTILINE)
_OUTPUT = re.compile(r"^\s*layout\s*\(\s*location\s*=\s*(\d+)\s*\)\s*out\s+\w+\s+(\w+)\s*;", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<![\s.])\.(?=\s+[A-Z]|$)")  # and no product, no ellipsis
_COST = re.compile(r"^//.*?Cost per fragment: (.+)$", re.MULTILINE)
_IMAGE = re.compile(
    r"^\s*layout\s*\(\s*\w+\s*,\s*binding\s*=\s*(\d+)\s*\)\s*writeonly\s+uniform\s+image2D\s+(\w+)\s*;", re.MULTILINE
)
_ERROR = re.compile(r"^\s*#\s*error\b\s*(.*?)\s*$", re.MULTILINE)
_CONDITIONAL = re.compile(r"^\s*#\s*(if|ifdef|ifndef|else|elif|endif|define)\b\s*(.*)$")


def root() -> Path:
    """Folder that holds the shaders: inside the package when installed, beside it in a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def file(name: str) -> str:
    """File of the fragment stage of a shader, or of its compute stage: below ``shaders/``, or as it was adopted.

    Examples
    --------
    >>> file("plu/eliminate")
    'plu/eliminate.frag'
    """
    if name in _ADOPTED:
        return name
    return f"{name}.comp" if (root() / f"{name}.comp").is_file() else f"{name}.frag"


@dataclass(frozen=True)
class _Adopted:
    """The text of a shader that is not below ``shaders/``, and the shader whose vertex stage it draws with."""

    text: str
    vertex: str


_ADOPTED: dict[str, _Adopted] = {}


def adopt(name: str, text: str, vertex: str = "") -> str:
    r"""Take in a fragment shader that is not below ``shaders/``: from now on a pass may draw with it.

    It may include what glla's own shaders may. One of the same name that was adopted before is replaced; programs are
    known by their text, so none is mistaken for another.

    Parameters
    ----------
    name : str
        What it is called, in messages too: the path of its file, for example. It has a suffix, glla's own have none.
    text : str
        GLSL, without ``#version``.
    vertex : str
        Name of a shader of glla's, whose vertex stage it takes over; by default one triangle that covers the target.

    Returns
    -------
    str
        The name.

    Raises
    ------
    ShaderError
        The name has no suffix.

    Examples
    --------
    >>> name = adopt("ones.frag", "layout(location = 0) out vec4 result;\nvoid main() { result = vec4(1.0); }")
    >>> resolve(name).outputs
    ('result',)
    """
    if "." not in name.rpartition("/")[2]:
        raise ShaderError(f"shader: a shader of your own has a suffix in its name, got {name!r}; call it {name}.frag")
    _ADOPTED[name] = _Adopted(text, vertex)
    _resolve.cache_clear()
    return name


def source(name: str) -> str:
    """Read the fragment or compute shader of a name, as its file has it.

    Raises
    ------
    ShaderError
        There is no such file.
    """
    return _ADOPTED[name].text if name in _ADOPTED else _read(file(name))


def summary(name: str) -> str:
    """What a shader does: the first sentence of its header.

    Examples
    --------
    >>> summary("matmul/virtual_cube")
    'C += A[:, slice] B[slice, :]: one layer of the virtual cube of processors'
    """
    paragraph = takewhile(re.compile(r"//\s*\S").match, source(name).splitlines())
    lines = [line.removeprefix("//").strip() for line in paragraph]
    return _SENTENCE_END.split(" ".join(lines), maxsplit=1)[0].rstrip(":")


def cost(name: str) -> str:
    """What one fragment of a shader costs, in the words of its header; empty if it does not say.

    Examples
    --------
    >>> cost("matmul/virtual_cube")
    '2 fetches (3 with PING_PONG) and 16 flop'
    """
    found = _COST.search(source(name))
    return found[1].rstrip(".") if found else ""


@dataclass(frozen=True)
class Stage:
    """One resolved shader stage.

    Attributes
    ----------
    text : str
        What the compiler gets.
    lines : tuple of (str, int)
        For each line of `text`, the file (relative to ``shaders/``) and the line in it.
    """

    text: str
    lines: tuple[tuple[str, int], ...]

    def where(self, line: int) -> str:
        """Say which file and line the compiler means by its 1-based `line`."""
        if not 1 <= line <= len(self.lines):
            return f"line {line}"
        file, number = self.lines[line - 1]
        return f"{file}:{number}"


@dataclass(frozen=True)
class Shader:
    """A vertex and a fragment stage, or a compute stage, and what they declare.

    Attributes
    ----------
    stages : mapping of str to Stage
        By their names, ``vertex``, ``fragment`` or ``compute``.
    samplers, uniforms : frozenset of str
        Names of the sampler uniforms, and of all others, that this set of defines leaves in the text.
    blocks : frozenset of str
        Names of the uniform blocks.
    outputs : tuple of str
        Colour outputs in the order of their locations, or images in the order of their bindings.
    refusals : tuple of str
        What ``#error`` says against this set of defines.
    """

    name: str
    stages: Mapping[str, Stage]
    samplers: frozenset[str]
    uniforms: frozenset[str]
    blocks: frozenset[str]
    outputs: tuple[str, ...]
    refusals: tuple[str, ...] = ()

    @property
    def vertex(self) -> Stage:
        """Vertex stage of a shader that draws."""
        return self.stages["vertex"]

    @property
    def fragment(self) -> Stage:
        """Fragment stage of a shader that draws."""
        return self.stages["fragment"]

    @property
    def key(self) -> tuple[str, ...]:
        """What a program is known by: its whole text."""
        return tuple(stage.text for stage in self.stages.values())


def resolve(name: str, defines: Mapping[str, Define] | None = None) -> Shader:
    """Read a shader, its includes and its defines into the text of one program.

    Parameters
    ----------
    name : str
        For example ``"matmul/inner_product"``.
    defines : mapping of str to int, float or str, optional
        Values for the parameters of the shader.

    Raises
    ------
    ShaderError
        The file, or one that it includes, is missing.

    Examples
    --------
    >>> shader = resolve("matmul/inner_product")
    >>> sorted(shader.samplers)
    ['A', 'B']
    """
    return _resolve(name, tuple(sorted((defines or {}).items())))


_DERIVED: dict[str, Callable[[Stage], Stage]] = {}


def derive(kind: str, rewrite: Callable[[Stage], Stage]) -> None:
    """Let ``NAME@KIND`` be the shader NAME with its last stage rewritten: for tools that look into a shader.

    Parameters
    ----------
    kind : str
        Name of what is derived.
    rewrite : callable
        From the resolved fragment or compute stage to the one that takes its place.

    Examples
    --------
    >>> derive("shouting", lambda stage: Stage(stage.text.upper(), stage.lines))
    >>> "VOID MAIN" in resolve("packing/identity@shouting").fragment.text
    True
    """
    _DERIVED[kind] = rewrite
    _resolve.cache_clear()


@lru_cache(maxsize=512)
def _resolve(name: str, defines: tuple[tuple[str, Define], ...]) -> Shader:
    base, kind = _derivation(name)
    stages = _stages(base, defines)
    if kind:
        if kind not in _DERIVED:
            raise ShaderError(f"shader: {name} is derived in no known way; known are: {', '.join(_DERIVED) or 'none'}")
        *_, last = stages
        stages[last] = _DERIVED[kind](stages[last])
    active = [_active(stage.text) for stage in stages.values()]
    declared = {match[2]: match[1] for text in active for match in _UNIFORM.finditer(text)}
    written = _IMAGE if "compute" in stages else _OUTPUT
    outputs = sorted((int(match[1]), match[2]) for match in written.finditer(active[-1]))
    return Shader(
        name=name,
        stages=stages,
        samplers=frozenset(n for n, kind in declared.items() if "sampler" in kind),
        uniforms=frozenset(n for n, kind in declared.items() if "sampler" not in kind),
        blocks=frozenset(match[1] for text in active for match in _BLOCK.finditer(text)),
        outputs=tuple(n for _, n in outputs),
        refusals=tuple(dict.fromkeys(match[1] for text in active for match in _ERROR.finditer(text))),
    )


def _derivation(name: str) -> tuple[str, str]:
    """Cut NAME@KIND in two. The path of an adopted shader may have an @ of its own."""
    base, _, kind = (name, "", "") if name in _ADOPTED or "@" not in name else name.rpartition("@")
    return base, kind


def _stages(name: str, defines: tuple[tuple[str, Define], ...]) -> dict[str, Stage]:
    if (root() / f"{name}.comp").is_file():
        return {"compute": _stage(f"{name}.comp", defines, COMPUTE_VERSION)}
    own = f"{_ADOPTED[name].vertex if name in _ADOPTED else name}.vert"
    vertex_file = own if (root() / own).is_file() else "fullscreen.vert"
    own_text = _ADOPTED[name].text if name in _ADOPTED else None
    return {"vertex": _stage(vertex_file, defines), "fragment": _stage(file(name), defines, text=own_text)}


def _read(file: str, asked_by: str = "") -> str:
    path = root() / file
    if not path.is_file():
        raise ShaderError(f"shader: no file {file}{asked_by}; shaders are looked for below {root().name}/")
    return path.read_text(encoding="utf-8")


def _stage(
    file: str, defines: tuple[tuple[str, Define], ...], version: str = VERSION, text: str | None = None
) -> Stage:
    """Resolve the stage in a file, or one of the given text that is called so."""
    head = [version, *(f"#define {key} {_literal(value)}" for key, value in defines)]
    lines = [(text, ("(generated)", number)) for number, text in enumerate(head, 1)]
    lines += _included(file, seen=set()) if text is None else _with_includes(file, text, seen=set())
    return Stage("\n".join(text for text, _ in lines) + "\n", tuple(origin for _, origin in lines))


def _included(file: str, seen: set[str], asked_by: str = "") -> list[tuple[str, tuple[str, int]]]:
    """Lines of a file with its includes in their places, each file once."""
    if file in seen:
        return []
    seen.add(file)
    return _with_includes(file, _read(file, asked_by), seen)


def _with_includes(file: str, whole: str, seen: set[str]) -> list[tuple[str, tuple[str, int]]]:
    """Lines of a text with its includes in their places."""
    lines: list[tuple[str, tuple[str, int]]] = []
    for number, text in enumerate(whole.splitlines(), 1):
        include = _INCLUDE.match(text)
        if include:
            lines += _included(include[1], seen, f", which {file}:{number} includes")
        else:
            lines.append((text, (file, number)))
    return lines


def _literal(value: Define) -> str:
    """Write a define as GLSL: a float keeps its point, so that 1.0 does not become an int."""
    if isinstance(value, bool):
        return str(int(value))
    return repr(float(value)) if isinstance(value, float) else str(value)


def _active(text: str) -> str:
    """Drop the lines that `#if` leaves out, for the conditions our shaders use (``#if NAME [== VALUE]``).

    Only the declarations matter here; GL does the real preprocessing. Comments are dropped too, because they may
    quote declarations.
    """
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    macros: dict[str, str] = {}
    taken: list[bool] = []  # for each open #if: is its present branch taken?
    done: list[bool] = []  # for each open #if: was one of its branches taken before?
    kept = []
    for line in text.splitlines():
        directive = _CONDITIONAL.match(line)
        if directive is None:
            if all(taken):
                kept.append(line)
            continue
        kind, rest = directive[1], directive[2].strip()
        if kind == "define":
            if all(taken):
                key, _, value = rest.partition(" ")
                macros[key] = value.strip()
        elif kind == "endif":
            taken.pop()
            done.pop()
        elif kind == "else":
            taken[-1] = not done[-1]
        elif kind == "elif":
            taken[-1] = not done[-1] and _holds(rest, macros)
            done[-1] = done[-1] or taken[-1]
        else:
            taken.append(_holds(rest, macros) if kind == "if" else (rest in macros) == (kind == "ifdef"))
            done.append(taken[-1])
    return "\n".join(kept)


def _holds(condition: str, macros: Mapping[str, str]) -> bool:
    """Evaluate a preprocessor condition made of integers, names, comparisons, ``&&``, ``||`` and ``!``."""
    for _ in range(8):  # a macro may stand for another one
        condition = re.sub(r"defined\s*\(\s*(\w+)\s*\)", lambda m: str(int(m[1] in macros)), condition)
        condition = re.sub(r"[A-Za-z_]\w*", lambda m: macros.get(m[0], "0") or "0", condition)
        if not re.search(r"[A-Za-z_]", condition):
            break
    if not re.fullmatch(r"[\d\s.<>=!&|()+*/%-]*", condition):
        raise ShaderError(f"shader: cannot evaluate the condition #if {condition}; use integers and comparisons")
    python = condition.replace("&&", " and ").replace("||", " or ")
    python = re.sub(r"!(?!=)", " not ", python)
    return bool(eval(python, {"__builtins__": {}}))  # digits and operators only, checked above
