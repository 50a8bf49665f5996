"""Applications of the operations: whole tasks from the sources that glla grew from.

Nothing here needs more than the core. `glla.lab` draws them: ``glla demo restoration``, ``glla demo windows``.
"""

from glla.applications.restoration import restore
from glla.applications.shallow_water import ShallowWater
from glla.applications.windows import window_squares

__all__ = ["ShallowWater", "restore", "window_squares"]
