"""The laboratory: demonstrations and comparisons. Needs the extra ``glla[lab]``.

`compare` puts every variant of an operation side by side on this device. Names are loaded at their first use, so that
importing the laboratory costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glla.lab.comparison import Comparison, Record, compare

_LAZY = {"compare": "glla.lab.comparison", "Comparison": "glla.lab.comparison", "Record": "glla.lab.comparison"}
"""Public name -> module that has it."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


__all__ = ["Comparison", "Record", "compare"]
