"""The laboratory: demonstrations and comparisons. Needs the extra ``glla[lab]``.

`compare` puts every variant of an operation side by side on this device, `register` lets a shader of your own take
part, `tune` finds the fastest variants and parameters. Names are loaded at their first use, so that importing the
laboratory costs nothing.
"""

from typing import TYPE_CHECKING

from glla.lazily import attach

if TYPE_CHECKING:
    from glla.lab.comparison import Comparison, Record, compare
    from glla.lab.custom import register
    from glla.lab.tuning import tune
    from glla.lab.web.export import export

PLACES = {
    "Comparison": "glla.lab.comparison:Comparison",
    "Record": "glla.lab.comparison:Record",
    "compare": "glla.lab.comparison:compare",
    "export": "glla.lab.web.export:export",
    "register": "glla.lab.custom:register",
    "tune": "glla.lab.tuning:tune",
}
"""Names that are imported when they are first used, each with its place."""

__getattr__, __dir__ = attach(__name__, PLACES)

__all__ = ["Comparison", "Record", "compare", "export", "register", "tune"]
