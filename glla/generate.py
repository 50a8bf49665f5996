"""Generator of the files that follow from the public functions, for type checkers and editors.

    python -m glla.generate

`glla.linalg.public` lists every function that `glla.registry.public` decorates in a module of `glla.linalg`; its stub
has their overloads. Another stub has the methods of a coprocessor, see `glla.queue.methods`. A test compares all three
files with the generator's output.

The overloads follow from the annotation of the returned value, ``Array | Float32``: members of the union that name
`RESIDENT` are for calls with an Array among the operands, the others for calls with arrays only, a `NUMBER` for both,
`FLAGS` for calls with that option. Operands are the parameters without a default.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import glla
from glla import linalg
from glla.linalg.definite import LONG
from glla.operations import OPERATIONS
from glla.registry import PUBLIC

METHODS = Path(__file__).parent / "queue" / "methods.pyi"
PACKAGE = Path(__file__).with_name("__init__.pyi")
FUNCTIONS = Path(__file__).parent / "linalg" / "public.py"
STUB = FUNCTIONS.with_suffix(".pyi")

RESIDENT = "Array"
"""Annotation of an array on a device."""

NUMBER = "np.float32"
"""Annotation of a result that is a number for one matrix and an array for a batch: for calls of either kind."""

FLAGS = {"refine": ("RefinedSolution", "EighResult[Float64]")}
"""Options that, when True, change the returned type to that of these which is a member of the annotation."""

NOTE = "Written by ``python -m glla.generate``; do not edit."


def public() -> dict[str, Callable[..., Any]]:
    """Return the functions that are decorated in modules of `glla.linalg`, by name."""
    for found in walk_packages(linalg.__path__, f"{linalg.__name__}."):
        import_module(found.name)
    own = {name: one.function for name, one in PUBLIC.items()}
    return {name: own[name] for name in sorted(own) if own[name].__module__.startswith(linalg.__name__)}


# -- types ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Overload:
    """One signature: parameters' types that differ from the function's, the result's, an option without default."""

    types: dict[str, str]
    returns: str
    flag: str = ""


def overloads(function: Callable[..., Any]) -> Iterator[Overload]:
    """Yield the signatures of a function, the most specific one first."""
    operands = _operands(function)
    members = _members(inspect.signature(function).return_annotation)
    flags = [name for name in inspect.signature(function).parameters if name in FLAGS]
    special = {flag: member for flag in flags for member in members if member in FLAGS[flag]}
    plain = [member for member in members if member not in special.values()]
    there = [member for member in plain if RESIDENT in _names(member)]
    host = [member for member in plain if member not in there]
    resident = [member for member in plain if member in there or member == NUMBER] if there else []
    off = {flag: "Literal[False]" for flag in flags}
    for name, kind in operands.items():
        for one in _with("Overriding[Given]", kind):
            yield Overload({name: one}, "Given")
    for flag, member in special.items():
        yield Overload({flag: "Literal[True]"}, member, flag)
    for name, kind in operands.items() if resident else ():
        yield Overload({name: _with(RESIDENT, kind)[-1]} | off, " | ".join(resident))
    yield Overload(off, " | ".join(host))
    if flags:
        yield Overload({}, " | ".join(members))


def _operands(function: Callable[..., Any]) -> dict[str, str]:
    parameters = inspect.signature(function).parameters.values()
    plain = {one.name: one.annotation for one in parameters if one.default is one.empty}
    return {name: kind for name, kind in plain.items() if not kind.startswith("tuple[") or "Any" in kind}


def _with(kind: str, annotation: str) -> list[str]:
    """Annotations of an operand of a kind, or of a pair whose first member is of it."""
    pair = annotation.startswith("tuple[")
    return [kind, annotation.replace("Any", kind, 1)] if pair else [kind]


def _members(annotation: str) -> list[str]:
    """Members of a union.

    >>> _members("PLU[Array] | tuple[int | None, str] | float")
    ['PLU[Array]', 'tuple[int | None, str]', 'float']
    """
    node = ast.parse(annotation, mode="eval").body
    found: list[str] = []
    while isinstance(node, ast.BinOp):
        found.insert(0, ast.unparse(node.right))
        node = node.left
    return [ast.unparse(node), *found]


def _names(annotation: str) -> set[str]:
    """Names in an annotation: for ``np.float32`` it is ``np``."""
    return {node.id for node in ast.walk(ast.parse(annotation, mode="eval")) if isinstance(node, ast.Name)}


def _origin(function: Callable[..., Any], name: str) -> str:
    """Import statement of a name, as in the module of a function."""
    module = function.__module__
    for node in ast.walk(ast.parse(inspect.getsource(import_module(module)))):
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if (alias.asname or alias.name) == name:
                start = f"from {node.module} import " if isinstance(node, ast.ImportFrom) else "import "
                return start + (f"{alias.name} as {alias.asname}" if alias.asname else alias.name)
    return f"from {module} import {name}"


# -- the list, and its stub -------------------------------------------------------------------------------------------


def functions() -> str:
    """Text of `glla.linalg.public`."""
    places = "".join(f'    "{name}": "{function.__module__}:{name}",\n' for name, function in public().items())
    return (
        f'"""The public functions, imported when they are first used. {NOTE}"""\n\n'
        f"from glla.lazily import attach\n\nPLACES = {{\n{places}}}\n\n__all__ = [*PLACES]\n\n"
        "__getattr__, __dir__ = attach(__name__, PLACES)\n"
    )


def stub() -> str:
    """Text of the stub of `glla.linalg.public`: an overload per line, so that those of a function are adjacent."""
    lines = {"from typing import TypeVar, overload", "from glla.registry import Overriding"}
    text = ""
    for name, function in public().items():
        for one in overloads(function):
            declared = _declared(function, one)
            lines |= {"from typing import Literal"} if "Literal" in " ".join(declared) else set()
            used = set().union(*map(_names, _annotations(function, one)))
            known = {"Given", "Overriding", "Literal", *dir(builtins)}
            lines |= {_origin(inspect.unwrap(function), word) for word in used - known}
            # editors show the docstring of the first
            told = "" if f"\ndef {name}(" in text else f'\n    r"""{function.__doc__}"""'
            text += f"@overload\ndef {name}({', '.join(declared)}) -> {one.returns}:{told or ' ...'}\n"
    head = f'"""The public functions, for each kind of operands. {NOTE}"""\n\n'
    own = '\nGiven = TypeVar("Given")\nPLACES: dict[str, str]\n'
    return head + _sorted_imports(lines) + own + _listed() + f"\n{text}"


def package() -> str:
    """Text of the stub of `glla` itself, whose names are imported when they are first used."""
    lines, places = [], glla.PLACES | glla.ROOMS
    others = places.keys() - {*public(), *linalg.public.PLACES}  # which may lack a function that is new
    for name in sorted(others):
        module, _, member = places[name].partition(":")
        start, _, end = module.rpartition(".")
        lines.append(f"from {module if member else start} import {member or end} as {name}\n")
    lines += ["from glla._version import __version__\n", "from glla.linalg.public import *\n"]
    names = sorted({"__version__", *(others - glla.ROOMS.keys()), *public()})
    head = f'"""{glla.__doc__}"""\n\n# {NOTE}\n\n{"".join(lines)}\nPLACES: dict[str, str]\nROOMS: dict[str, str]\n\n'
    return head + f"__all__ = [{', '.join(map(_literal, names))}]\n"


def _listed() -> str:
    return "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in public()) + "]\n"


def _annotations(function: Callable[..., Any], one: Overload) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [one.types.get(each.name) or _kind(function, each) for each in parameters] + [one.returns]


def _kind(function: Callable[..., Any], each: inspect.Parameter) -> str:
    """Annotation of a parameter: of an option the values that its docstring lists, of `variant` those of glla too."""
    listed = re.search(rf"^ *{each.name} : (\{{\".*\}})$", function.__doc__ or "", re.MULTILINE)
    known: tuple[str, ...] = ast.literal_eval(listed[1].replace("{", "(").replace("}", ",)")) if listed else ()
    if each.name == "variant" and function.__name__ in OPERATIONS:
        known = tuple(OPERATIONS[function.__name__].variants)
    kind = str(each.annotation)
    if not known:
        return kind
    longer = tuple(LONG) if each.name == "assume_a" else ()
    values = f"Literal[{', '.join(map(_literal, known + longer))}]"
    return f"{values} | {kind}" if each.name == "variant" else kind.replace("str", values)


def _declared(function: Callable[..., Any], one: Overload) -> list[str]:
    """Parameters in a stub."""
    declared: list[str] = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in declared:
            declared.append("*")
        text = f"{each.name}: {one.types.get(each.name) or _kind(function, each)}"
        bare = each.default is each.empty or each.name == one.flag
        declared.append(text if bare else f"{text} = {_literal(each.default)}")
    return declared


# -- the methods of a coprocessor -------------------------------------------------------------------------------------


def methods() -> str:
    """Text of the stub of `glla.queue.methods`, an overload per line."""
    offered = {name: function for name, function in public().items() if PUBLIC[name].coprocessor}
    lines = {
        "from typing import Any, Literal, overload",
        "from glla.queue.handle import Handle",
        "from glla.queue.pending import Pending",
    }
    text = ""
    for name, function in offered.items():
        anything = dict.fromkeys(_operands(function), "Any")  # may be a Pending
        ways = [Overload(one.types | anything, one.returns, one.flag) for one in _queued(function)]
        for one in ways:
            declared = ", ".join(["self", *_declared(function, one)])
            text += "    @overload\n" if len(ways) > 1 else ""
            text += f"    def {name}({declared}) -> Pending[{one.returns}]: ...\n"
            used = set().union(*map(_names, _annotations(function, one))) - {"Any", "Literal", *dir(builtins)}
            lines |= {_origin(inspect.unwrap(function), word) for word in used}
    head = f'"""The functions of glla as methods of a coprocessor. {NOTE}"""\n\n{_sorted_imports(lines)}'
    return f"{head}\nclass Methods:\n    _handle: Handle\n{text}"


def _queued(function: Callable[..., Any]) -> list[Overload]:
    """Signatures of a queued function: its results for arrays, because they are read back."""
    ways = [one for one in overloads(function) if one.returns != "Given" and RESIDENT not in _names(one.returns)]
    if len(ways) == 1:
        return ways
    host = list(dict.fromkeys(one.returns for one in ways))
    return [*ways, Overload({}, " | ".join(reversed(host)))]


# -- the project's style ----------------------------------------------------------------------------------------------


def _literal(value: object) -> str:
    """Format a default as ruff does."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _sorted_imports(lines: set[str]) -> str:
    """Join and sort imports as ruff does: Python's own, NumPy's, glla's."""
    modules: dict[str, set[str]] = {}
    for line in lines:
        module, _, names = line.removeprefix("from ").partition(" import ")
        modules.setdefault(module, set()).update(names.split(", ") if names else ())
    blocks = []
    for block in (lambda top: top not in ("numpy", "glla"), lambda top: top == "numpy", lambda top: top == "glla"):
        inside = [module for module in modules if block(module.removeprefix("import ").split(" ")[0].partition(".")[0])]
        plain = sorted(module for module in inside if not modules[module])
        named = sorted(module for module in inside if modules[module])
        texts = [*plain, *(f"from {one} import {', '.join(sorted(modules[one], key=_place))}" for one in named)]
        blocks += ["\n".join(texts) + "\n"] if texts else []
    return "\n".join(blocks)


def _place(name: str) -> tuple[int, str]:
    """Sort key of a name in an import: constants, classes, functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2), name


FILES = {PACKAGE: package, METHODS: methods, FUNCTIONS: functions, STUB: stub}
"""Generated files, each with the function that makes its text."""

if __name__ == "__main__":
    for file, text in FILES.items():
        file.write_text(text(), encoding="utf-8")
