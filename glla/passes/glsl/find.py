"""GLSL text: finding it, `#include`, `#define`, and a table that leads from a line back to its file.

No OpenGL here. A *shader* is named by its path below ``shaders/`` without the suffix: ``plu/rank2/eliminate`` is the
fragment shader ``plu/rank2/eliminate.frag`` together with ``plu/rank2/eliminate.vert`` or, where there is none, with
``fullscreen.vert``, which draws one triangle that covers the target. ``matmul/compute_tiled`` is a compute shader,
``matmul/compute_tiled.comp``, the only kind that asks for more than GLSL 3.30. A fragment shader from elsewhere, a
user's own, is known by the name that `adopt` was given.

A file carries no ``#version``; it is written here. Parameters are in a file as ``#ifndef NAME / #define NAME
default``, and `resolve` puts the values asked for above them. The resolved text *is* the identity of a program: two
passes whose texts agree share one program, and nothing can drift from the source.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from threading import RLock

from glla.errors import ShaderError
from glla.passes.glsl import conditions

Define = int | float | str
VERSION = "#version 330 core"
COMPUTE_VERSION = "#version 430 core"

INCLUDE_NESTING = 100
"""Files that may include each other in a chain; far more than any shader needs, far less than Python's stack holds."""

_PACKAGED = Path(__file__).parents[2] / "_shaders"
_CHECKOUT = Path(__file__).parents[3] / "shaders"

_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"\s*(?:/\*.*?\*/\s*)*(?://.*)?$')
_NO_LINE_ENDS = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]")  # in GLSL; to Python they are
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")  # UTF-8 has none of these, or a compiler takes it for the end
_UNIFORM = re.compile(r"^[ \t]*uniform\s+(\w+)\s+(\w+)\s*(?:\[[^\]]*\]\s*)?;", re.MULTILINE)
_BLOCK = re.compile(r"^[ \t]*layout\s*\(\s*std140\s*\)\s*uniform\s+(\w+)\s*\{", re.MULTILINE)
_OUTPUT = re.compile(r"^[ \t]*layout\s*\(\s*location\s*=\s*(\d+)\s*\)\s*out\s+(\w+)\s+(\w+)\s*;", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<![\s.])\.(?=\s+[A-Z]|$)")  # and no product, no ellipsis
_COST = re.compile(r"^//.*?Cost per fragment: (.+)$", re.MULTILINE)
_WITH = re.compile(r"^// With ([^:\n]+): (.+)$", re.MULTILINE)
_FETCHES = re.compile(r"^// Fetches: (.+)\.$", re.MULTILINE)
_IMAGE = re.compile(
    r"^[ \t]*layout\s*\(\s*\w+\s*,\s*binding\s*=\s*(\d+)\s*\)\s*writeonly\s+uniform\s+(image2D)\s+(\w+)\s*;",
    re.MULTILINE,
)
_ERROR = re.compile(r"^[ \t]*#\s*error\b(.*)$", re.MULTILINE)


def root() -> Path:
    """Folder that holds the shaders: inside the package when installed, beside it in a checkout."""
    return _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT


def file(name: str) -> str:
    """File of the fragment stage of a shader, or of its compute stage: below ``shaders/``, or as it was adopted.

    >>> file("plu/rank2/eliminate")
    'plu/rank2/eliminate.frag'
    """
    if name in _ADOPTED:
        return _ADOPTED[name].file
    if "." in name.rpartition("/")[2]:
        raise ShaderError(
            f"shader: {name} is not kept: glla keeps the {MOST_ADOPTED} texts from elsewhere that were used last; make "
            "the plan again that draws with it"
        )
    return f"{name}.comp" if is_own(f"{name}.comp") else f"{name}.frag"


def is_own(file: str) -> bool:
    """Whether a file is below ``shaders/``; False for a name that no file can have, such as one of 300 letters.

    >>> is_own("lib/packed.glsl"), is_own("packed" * 50)
    (True, False)
    """
    return os.path.isfile(root() / file)


def is_text(source: object) -> bool:
    r"""Whether an argument is the text of a shader, not a path: a str with a line end, a semicolon or a block.

    >>> is_text("{mine}.frag"), is_text("// Mine.\nout vec4 r;"), is_text("void main() {}")
    (False, True, True)
    """
    return isinstance(source, str) and re.search(r"[\r\n;]|\)\s*\{", source) is not None


def read(path: Path) -> str:
    """Text of a user's file. Raises ShaderError: it is not UTF-8. Raises OSError: it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        own = [one.relative_to(root()).with_suffix("").as_posix() for one in root().rglob("*.frag")]
        near = get_close_matches("/".join(path.with_suffix("").parts[-2:]), own, 1)
        hint = f"; did you mean glla's own {near[0]!r}?" if near else ""
        raise FileNotFoundError(error.errno, f"{error.strerror}{hint}", str(path)) from None
    except UnicodeDecodeError:
        raise ShaderError(f"{path}: a shader is UTF-8 text, this file is not") from None
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have such a name", str(path)) from None


def unix(text: str) -> str:
    r"""Text as `read` gives it, with Unix's line ends and without a byte order mark.

    >>> unix("\ufeffa\r\nb\rc")
    'a\nb\nc'
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


@dataclass(frozen=True)
class _Adopted:
    """A shader that is not below ``shaders/``: its text, whose vertex stage it draws with, its folder and its file.

    `kept`: never replaced by another of its file. `pinned`: whatever others come.
    """

    text: str
    vertex: str
    folder: Path | None
    file: str
    kept: bool
    pinned: bool = field(default=False, compare=False)


MOST_ADOPTED = 1024
"""Texts from elsewhere than ``shaders/`` that are kept, the most recently used ones; pinned ones come on top."""

_ADOPTED = OrderedDict[str, _Adopted]()
"""Adopted shaders by their names, the one that was used last at the end."""

_NAMES_GIVEN = Counter[str]()
"""Names that the shaders of a file have had: none is given again, as a plan may still draw with its first owner."""

_ADOPTING = RLock()


def adopt(name: str, text: str, vertex: str = "", folder: Path | None = None, *, keep: bool = False) -> str:
    r"""Adopt a fragment shader from outside ``shaders/``: from now on a pass may draw with it.

    It may include what glla's own shaders may, and what is in its own folder or below. One of the same name that was
    adopted before is replaced, unless it was to be kept; programs are known by their text, so none is mistaken for
    another. `MOST_ADOPTED` are kept in all: a plan that draws with an older one can no longer be shown, nor run on a
    device that has not run it.

    The name; with a number, ``my.frag (2)``, where another text is kept under it. Messages name the file.
    `name`: what it is called, in messages too: the path of its file, for example. It has a suffix, glla's own have
    none. `text`: GLSL, without ``#version``. `vertex`: name of a shader of glla's, whose vertex stage it takes over; by
    default one triangle that covers the target. `folder`: where its file is; a text without one includes glla's own
    files only. `keep`: never replace it, and replace none: plans that draw with it stay as they are when its file
    changes.
    Raises ShaderError: the name has no suffix, or a line is a ``#version``.

    >>> name = adopt("ones.frag", "layout(location = 0) out vec4 result;\nvoid main() { result = vec4(1.0); }")
    >>> resolve(name).outputs
    ('result',)
    """
    if "." not in name.rpartition("/")[2]:
        raise ShaderError(f"shader: a shader of your own has a suffix in its name, got {name!r}; call it {name}.frag")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*#\s*version\b", line):
            shown = line.strip()[: conditions.SHOWN]
            raise ShaderError(f"{name}:{number}: glla writes {VERSION} itself; remove the line\n      {shown}")
    own = _Adopted(text, vertex, folder, name, keep)
    with _ADOPTING:
        key = _name_of(own)
        is_known = _ADOPTED.get(key) == own
        if not is_known:
            _ADOPTED[key] = own
        touch(key)
        if is_known and folder is None:
            return key  # and no file that it includes may have changed
        loose = [one for one, adopted in _ADOPTED.items() if not adopted.pinned]
        for oldest in loose[: max(0, len(loose) - MOST_ADOPTED)]:
            del _ADOPTED[oldest]
    _resolve.cache_clear()
    return key


def _name_of(own: _Adopted) -> str:
    """Name of an adopted shader: that of the same one, or of the one that it replaces, or a new one."""
    for name, one in _ADOPTED.items():
        if one == own or (one.file == own.file and not one.kept and not own.kept):
            return name
    _NAMES_GIVEN[own.file] += 1
    number = _NAMES_GIVEN[own.file]
    return own.file if number == 1 else f"{own.file} ({number})"


def touch(name: str) -> bool:
    """Mark a shader as used just now, and tell whether it is there: glla's own always are."""
    with _ADOPTING:
        if name in _ADOPTED:
            _ADOPTED.move_to_end(name)
            return True
    return "." not in name.rpartition("/")[2]


def pin(name: str, pinned: bool = True) -> None:
    """Keep an adopted shader whatever others come; or, with False, no longer than others."""
    with _ADOPTING:
        if name in _ADOPTED:
            _ADOPTED[name] = replace(_ADOPTED[name], pinned=pinned)


def called(name: str) -> str:
    """Name of a shader in messages: the file of an adopted one, the name of glla's own.

    >>> called("plu/rank2/eliminate")
    'plu/rank2/eliminate'
    """
    base, kind = _derivation(name)
    if kind:
        return called(base)
    return _ADOPTED[name].file if name in _ADOPTED else name


def is_adopted(name: str) -> bool:
    """Whether a shader is not below ``shaders/``, but was taken in by `adopt`."""
    return name in _ADOPTED


def source(name: str) -> str:
    """Read the fragment or compute shader of a name, as its file has it. Raises ShaderError: there is no such file."""
    base, kind = _derivation(name)
    if kind:
        return source(base)
    return _ADOPTED[name].text if name in _ADOPTED else _read(file(name))


def summary(name: str, defines: Mapping[str, Define] | None = None) -> str:
    """Summary of a shader: the first sentence of its header, or of the line ``With CONDITION:`` that holds.

    >>> summary("matmul/virtual_cube")
    'C += A[:, slice] B[slice, :]: one layer of the virtual cube of processors'
    >>> summary("pivot/block_norm", {"GEOMETRIC": 1})
    'Pivot search: the best two rows that share a texel, by the geometric norm of their block'
    """
    for match in _WITH.finditer(source(name)):
        if defines and conditions.value(match[1], macros(name, defines)):
            return _SENTENCE_END.split(match[2], maxsplit=1)[0]
    paragraph = takewhile(re.compile(r"//\s*\S").match, source(name).splitlines())
    lines = [line.removeprefix("//").strip() for line in paragraph]
    return _SENTENCE_END.split(" ".join(lines), maxsplit=1)[0].rstrip(":")


def cost(name: str) -> str:
    """Cost of one fragment of a shader, in the words of its header, or its fetches alone; empty if not stated.

    >>> cost("matmul/virtual_cube")
    '2 fetches (3 with PING_PONG) and 16 flop'
    """
    found, texels = _COST.search(source(name)), _FETCHES.search(source(name))
    if found:
        return found[1].rstrip(".")
    return f"{texels[1]} fetch{'' if texels[1] == '1' else 'es'}" if texels else ""


def fetches(name: str) -> tuple[str, str] | None:
    """Expressions for the fewest and the most texels that one fragment fetches, as a shader's header has them.

    A work group counts where there are no fragments. The names in them are those of macros and of uniforms, with ``_x``
    and ``_y`` for the two parts of one, and ``NAME_height`` and ``NAME_width`` of samplers and of ``region``, which is
    drawn. None if the header does not say.

    >>> fetches("matmul/virtual_cube")
    ('2 + PING_PONG', '2 + PING_PONG')
    >>> fetches("plu/blocked/update")
    ('20', '32')
    """
    found = _FETCHES.search(source(name))
    if found is None:
        return None
    least, _, most = found[1].partition(" to ")
    return least, most or least


def macros(name: str, defines: Mapping[str, Define] | None = None) -> dict[str, str | None]:
    """Values of macros in a shader's last stage with these defines, and by default.

    >>> macros("matmul/virtual_cube")["PING_PONG"]
    '0'
    """
    *_, last = resolve(name, defines).stages.values()
    known: conditions.Macros = {}
    conditions.active(last.text, last.where, known)
    return known


@dataclass(frozen=True)
class Stage:
    """One resolved shader stage."""

    text: str  # what the compiler gets
    # for each line of `text`, the file (relative to ``shaders/``) and the line in it
    lines: tuple[tuple[str, int], ...]

    def where(self, line: int) -> str:
        """File and line of the compiler's 1-based `line`."""
        if not 1 <= line <= len(self.lines):
            return f"line {line}"
        file, number = self.lines[line - 1]
        return f"{file}:{number}"


@dataclass(frozen=True)
class Shader:
    """A vertex and a fragment stage, or a compute stage, with its declarations."""

    name: str
    stages: Mapping[str, Stage]  # by their names, ``vertex``, ``fragment`` or ``compute``
    # names of the sampler uniforms, and of all others, that this set of defines leaves in the text
    samplers: frozenset[str]
    uniforms: frozenset[str]
    blocks: frozenset[str]  # names of the uniform blocks
    outputs: tuple[str, ...]  # colour outputs in the order of their locations, or images in the order of their bindings
    refusals: tuple[str, ...] = ()  # what ``#error`` says against this set of defines
    integers: frozenset[str] = frozenset()  # names of the samplers and of the outputs whose texels are integers
    buffers: frozenset[str] = frozenset()  # names of the samplers of buffers

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
        """Key of a program: its whole text."""
        return tuple(stage.text for stage in self.stages.values())


def resolve(name: str, defines: Mapping[str, Define] | None = None) -> Shader:
    """Read a shader, its includes and its defines into the text of one program.

    `name`: for example ``"matmul/inner_product"``. `defines`: values for the parameters of the shader.
    Raises ShaderError: the file, or one that it includes, is missing.

    >>> shader = resolve("matmul/inner_product")
    >>> sorted(shader.samplers)
    ['A', 'B']
    """
    return _resolve(name, tuple(sorted((defines or {}).items())))


_DERIVED: dict[str, Callable[[Stage], Stage]] = {}


def derive(kind: str, rewrite: Callable[[Stage], Stage]) -> None:
    """Let ``NAME@KIND`` be the shader NAME with its last stage rewritten: for tools that look into a shader.

    `kind`: name of what is derived. `rewrite`: from the resolved fragment or compute stage to the one that takes its
    place.

    >>> derive("shouting", lambda stage: Stage(stage.text.upper(), stage.lines))
    >>> "VOID MAIN" in resolve("packing/identity@shouting").fragment.text
    True
    """
    _DERIVED[kind] = rewrite
    _resolve.cache_clear()


@lru_cache(maxsize=512)
def _resolve(name: str, defines: tuple[tuple[str, Define], ...]) -> Shader:
    stages = _stages(name, defines)
    known: conditions.Macros = {}  # a type may be one of them
    active = [active_text(stage, known) for stage in stages.values()]
    declared = {match[2]: known.get(match[1]) or match[1] for text in active for match in _UNIFORM.finditer(text)}
    written = _IMAGE if "compute" in stages else _OUTPUT
    outputs = sorted(
        (int(match[1]), match[3], known.get(match[2]) or match[2]) for match in written.finditer(active[-1])
    )
    return Shader(
        name=name,
        stages=stages,
        samplers=frozenset(n for n, kind in declared.items() if "sampler" in kind),
        uniforms=frozenset(n for n, kind in declared.items() if "sampler" not in kind),
        blocks=frozenset(match[1] for text in active for match in _BLOCK.finditer(text)),
        outputs=tuple(n for _, n, _ in outputs),
        integers=frozenset(n for _, n, kind in outputs if kind == "int" or kind.startswith("ivec"))
        | frozenset(n for n, kind in declared.items() if kind == "isampler2D"),
        buffers=frozenset(n for n, kind in declared.items() if kind == "samplerBuffer"),
        refusals=tuple(dict.fromkeys(match[1].strip() for text in active for match in _ERROR.finditer(text))),
    )


def _derivation(name: str) -> tuple[str, str]:
    """Cut NAME@KIND in two. The path of an adopted shader may have an @ of its own."""
    base, _, kind = (name, "", "") if name in _ADOPTED or "@" not in name else name.rpartition("@")
    return base, kind


def _stages(name: str, defines: tuple[tuple[str, Define], ...]) -> dict[str, Stage]:
    base, kind = _derivation(name)
    if kind:
        if kind not in _DERIVED:
            raise ShaderError(f"shader: {name} is derived in no known way; known are: {', '.join(_DERIVED) or 'none'}")
        stages = _stages(base, defines)
        *_, last = stages
        return stages | {last: _DERIVED[kind](stages[last])}
    if is_own(f"{name}.comp"):
        return {"compute": _stage(f"{name}.comp", defines, COMPUTE_VERSION)}
    touch(name)
    adopted = _ADOPTED.get(name)
    own = f"{adopted.vertex if adopted else name}.vert"
    vertex_file = own if is_own(own) else "fullscreen.vert"
    return {"vertex": _stage(vertex_file, defines), "fragment": _stage(file(name), defines, adopted=adopted)}


def _read(file: str) -> str:
    if not is_own(file):
        raise ShaderError(f"shader: no file {file}; shaders are looked for below {root().name}/")
    return (root() / file).read_text(encoding="utf-8")


Lines = list[tuple[str, tuple[str, int]]]
"""Lines of a text, each with its file and its number there."""


def _stage(
    file: str, defines: tuple[tuple[str, Define], ...], version: str = VERSION, adopted: _Adopted | None = None
) -> Stage:
    """Resolve the stage in a file, or an adopted one that is called so."""
    head = [version, *(f"#define {key} {_literal(value)}" for key, value in defines)]
    lines = [(text, ("(generated)", number)) for number, text in enumerate(head, 1)]
    if adopted is None:
        includes = _Includes(None)
        includes.seen.add((root() / file).resolve())
        lines += includes.expanded(file, _read(file))
    else:
        lines += _Includes(adopted.folder).expanded(file, adopted.text)
    whole = "\n".join(text for text, _ in lines) + "\n"
    if letter := _UNWRITABLE.search(whole):
        text, (origin, number) = lines[whole.count("\n", 0, letter.start())]
        shown = ascii(text.strip()[: conditions.SHOWN])[1:-1]
        problem = f"a shader is UTF-8 text, which has no {letter[0]!a}; remove it"
        raise ShaderError(f"{origin}:{number}: {problem}\n      {shown}")
    return Stage(whole, tuple(origin for _, origin in lines))


@dataclass
class _Includes:
    """Puts includes in their places, each file once: those below ``shaders/``, and below the folder of a user's file.

    What a user's file names comes from whoever wrote it, so nothing else is read, not by way of a symbolic link either.
    """

    folder: Path | None
    seen: set[Path] = field(default_factory=set)

    def expanded(self, file: str, text: str, depth: int = 0) -> Lines:
        """Lines of a text with its includes in their places; a comment keeps those that are written in it."""
        lines: Lines = []
        for include, number, own in _parts(file, text):
            if include is None:
                lines += own
                continue
            if depth == INCLUDE_NESTING:
                raise ShaderError(f"{file}:{number}: includes are nested more than {INCLUDE_NESTING} deep")
            path = self._found(include, f"{file}:{number}", own[0][0])
            if path not in self.seen:
                self.seen.add(path)
                lines += self.expanded(include, _text(path, include, f"{file}:{number}"), depth + 1)
        return lines

    def _found(self, name: str, asked_by: str, line: str) -> Path:
        """File that an include names, without symbolic links: glla's own, or else the user's."""
        folders = [root()] if self.folder is None else [root(), self.folder]
        candidates = [path for folder in folders if (path := _resolved(folder / name)) is not None]
        allowed = [folder.resolve() for folder in folders]
        inside = [path for path in candidates if any(path.is_relative_to(folder) for folder in allowed)]
        for path in inside:
            if path.is_file():
                return path
        if len(inside) < len(candidates):
            where = "glla's shaders/" + (f" and the folder of your file, {self.folder}" if self.folder else "")
            got = f'got "{name[: conditions.SHOWN]}"\n      {line.strip()[: conditions.SHOWN]}'
            raise ShaderError(f"{asked_by}: an include stays below {where}; copy the file there, {got}")
        where = f"{root().name}/" + (f" and {self.folder}" if self.folder else "")
        problem = f"shader: no file {name[: conditions.SHOWN]}, which {asked_by} includes"
        raise ShaderError(f"{problem}; shaders are looked for below {where}")


@lru_cache(maxsize=64)  # most shaders have the same files of shaders/lib
def _parts(file: str, text: str) -> list[tuple[str | None, int, Lines]]:
    """Lines of a text, each include by itself: the name that it has, its number, and the lines."""
    parts = list[tuple[str | None, int, Lines]]()
    found = _NO_LINE_ENDS.sub(" ", text).splitlines()
    for numbers, _ in conditions.whole_lines("\n".join(found)) if found else ():
        own = [(found[number - 1], (file, number)) for number in numbers]
        include = _INCLUDE.match(own[0][0])
        if include is not None or not parts or parts[-1][0] is not None:
            parts.append((include and include[1], numbers.start, own))
        else:
            parts[-1][2].extend(own)
    return parts


def _resolved(path: Path) -> Path | None:
    """Path without symbolic links; None for one that no file can have."""
    try:
        resolved = path.resolve()
        resolved.is_file()  # raises for a name that is too long
        return resolved
    except (OSError, RuntimeError, ValueError):  # links that lead in a circle raise RuntimeError
        return None


def _text(path: Path, name: str, asked_by: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ShaderError(f"{asked_by}: a shader is UTF-8 text, {name} is not") from None
    except OSError as error:
        raise ShaderError(f"{asked_by}: {name} cannot be read: {error.strerror}") from None


def _literal(value: Define) -> str:
    """Write a define as GLSL: a float keeps its point, so that 1.0 does not become an int."""
    if isinstance(value, bool):
        return str(int(value))
    return repr(float(value)) if isinstance(value, float) else str(value)


def active_text(stage: Stage, macros: conditions.Macros | None = None) -> str:
    """Text without comments, and without the lines that `#if` leaves out; `macros` gets those that it defines."""
    version = re.match(r"#version (\d+) core\b", stage.text)
    known: conditions.Macros = {"__VERSION__": version[1], "GL_core_profile": "1"} if version else {}
    text = conditions.active(stage.text, stage.where, known)
    if macros is not None:
        macros.update(known)
    return text
