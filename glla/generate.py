"""Writes the two files that follow from the public functions, so that type checkers and editors know all names.

    python -m glla.generate

`glla.linalg.public` lists every function that `glla.registry.public` decorates in a module of `glla.linalg`;
`glla.queue.methods` has a method of a coprocessor for each. A test compares both with what this writes.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from glla import linalg
from glla.registry import PUBLIC

METHODS = Path(__file__).parent / "queue" / "methods.py"
FUNCTIONS = Path(__file__).parent / "linalg" / "public.py"

WIDTH = 120
"""Characters of a line."""

HEAD = '''"""The functions of glla as methods. Written by ``python -m glla.generate``; do not edit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glla import linalg
{imports}from glla.queue.pending import Pending


class Methods:
    """The functions of glla, queued."""

    def _queue(self, function: Callable[..., Any], /, *operands: Any, **options: Any) -> Pending:
        """Queue one of them."""
        raise NotImplementedError
'''


def public() -> dict[str, Callable[..., Any]]:
    """The functions that are decorated in modules of `glla.linalg`, by name."""
    for found in iter_modules(linalg.__path__, f"{linalg.__name__}."):
        import_module(found.name)
    own = {name: one.function for name, one in PUBLIC.items()}
    return {name: own[name] for name in sorted(own) if own[name].__module__.startswith(linalg.__name__)}


def functions() -> str:
    """Text of `glla.linalg.public`."""
    modules: dict[str, list[str]] = {}
    for name, function in public().items():
        modules.setdefault(function.__module__, []).append(name)
    imports = "".join(f"from {module} import {', '.join(names)}\n" for module, names in sorted(modules.items()))
    listed = "".join(f'    "{name}",\n' for name in public())
    head = '"""The public functions. Written by ``python -m glla.generate``; do not edit."""'
    return f"{head}\n\n{imports}\n__all__ = [\n{listed}]\n"


def methods() -> str:
    """Text of `glla.queue.methods`."""
    offered = [name for name in public() if PUBLIC[name].coprocessor]
    names = {name for function in map(public().get, offered) if function for name in _imports(function)}
    imports = "".join(f"from {module} import {name}\n" for module, name in sorted(names))
    return HEAD.format(imports=imports) + "".join(map(_method, offered))


def _method(name: str) -> str:
    """Text of the method for a function."""
    function = public()[name]
    declared, passed = ["self"], [f"linalg.{name}"]
    keyword_only = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            declared.append("*")
            keyword_only = True
        if parameter.default is parameter.empty:  # an operand, which may be a Pending
            declared.append(f"{parameter.name}: Any")
            passed.append(parameter.name)
        else:
            declared.append(f"{parameter.name}: {parameter.annotation} = {_literal(parameter.default)}")
            passed.append(f"{parameter.name}={parameter.name}")
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    return (
        "\n"
        + _fitted(4, f"def {name}(", declared, ") -> Pending:")
        + f'        """{summary}\n\n        Queued; see `glla.{name}`.\n        """\n'
        + _fitted(8, "return self._queue(", passed, ")")
    )


def _literal(value: object) -> str:
    """Write a default as ruff does."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _fitted(indent: int, head: str, parts: Sequence[str], tail: str) -> str:
    """Break a line where it is too long, as ruff does."""
    outer, inner = " " * indent, " " * (indent + 4)
    joined = ", ".join(parts)
    if len(outer + head + joined + tail) <= WIDTH:
        return f"{outer}{head}{joined}{tail}\n"
    if len(inner + joined) <= WIDTH:
        return f"{outer}{head}\n{inner}{joined}\n{outer}{tail}\n"
    lines = "".join(f"{inner}{part},\n" for part in parts)
    return f"{outer}{head}\n{lines}{outer}{tail}\n"


def _imports(function: Callable[..., Any]) -> set[tuple[str, str]]:
    """Modules and names that the annotations of its options need."""
    parameters = inspect.signature(function).parameters.values()
    texts = [parameter.annotation for parameter in parameters if parameter.default is not parameter.empty]
    nodes = (node for text in texts for node in ast.walk(ast.parse(text, mode="eval")))
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - {"Any", *dir(builtins)}
    known = inspect.unwrap(function).__globals__
    return {(known[name].__module__, name) for name in names}


FILES = {METHODS: methods, FUNCTIONS: functions}
"""Each file that is written, and what makes its text."""

if __name__ == "__main__":
    for file, text in FILES.items():
        file.write_text(text(), encoding="utf-8")
