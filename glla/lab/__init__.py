"""The laboratory: demonstrations and comparisons. Needs the extra ``glla[lab]``.

`compare` puts every variant of an operation side by side on this device, `register` lets a shader of your own take
part, `tune` finds the fastest variants and parameters. Names are loaded at their first use, so that importing the
laboratory costs nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glla.lazily import attach

if TYPE_CHECKING:
    from glla.lab.comparison import Comparison, compare
    from glla.lab.custom import register
    from glla.lab.measurement import Measurement
    from glla.lab.tuning import tune

    export: Callable[..., dict[str, Any]]  # of a room above, which nothing here imports: known by its place

PLACES = {
    "Comparison": "glla.lab.comparison:Comparison",
    "Measurement": "glla.lab.measurement:Measurement",
    "compare": "glla.lab.comparison:compare",
    "export": "glla.web.export:export",
    "register": "glla.lab.custom:register",
    "tune": "glla.lab.tuning:tune",
}
"""Names that are imported when they are first used, each with its place."""

__getattr__, __dir__ = attach(__name__, PLACES)

__all__ = ["Comparison", "Measurement", "compare", "export", "register", "tune"]
