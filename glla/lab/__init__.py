"""The laboratory: demonstrations and comparisons. Needs the extra ``glla[lab]``.

`compare` puts every variant of an operation side by side on this device, `register` lets a shader of your own take
part, `tune` finds the fastest variants and parameters. Names are loaded at their first use, so that importing the
laboratory costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glla.lab.comparison import Comparison, Record, compare
    from glla.lab.custom import register
    from glla.lab.tuning import tune
    from glla.lab.web.export import export

_LAZY = {
    "compare": "glla.lab.comparison",
    "Comparison": "glla.lab.comparison",
    "Record": "glla.lab.comparison",
    "export": "glla.lab.web.export",
    "register": "glla.lab.custom",
    "tune": "glla.lab.tuning",
}
"""Public name -> module that has it."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


__all__ = ["Comparison", "Record", "compare", "export", "register", "tune"]
