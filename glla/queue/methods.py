"""The functions of glla as methods of a coprocessor: those with `coprocessor` set in `glla.registry.public`.

Type checkers and editors read the stub beside this file, which ``python -m glla.generate`` writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from glla import lazily, linalg
from glla.linalg import public
from glla.queue.handle import Handle
from glla.queue.pending import Pending
from glla.registry import PUBLIC


class Methods:
    """The functions of glla, queued."""

    _handle: Handle


def queued(name: str) -> Callable[..., Pending]:
    """Make the method that queues a function of this name."""
    function = getattr(linalg, name)

    def method(self: Methods, *args: Any, **options: Any) -> Pending:
        return self._handle.delegated(getattr(linalg, name), args, options)

    signature = inspect.signature(function)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__name__, method.__qualname__ = name, f"Methods.{name}"
    method.__doc__ = f"{(inspect.getdoc(function) or '').partition(chr(10))[0]}\n\nQueued; see `glla.{name}`."
    method.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])  # type: ignore[attr-defined]
    return method


lazily.load(linalg)
for _name in public.__all__:
    if PUBLIC[_name].coprocessor:
        setattr(Methods, _name, queued(_name))
