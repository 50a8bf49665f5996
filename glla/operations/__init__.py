"""Operations: one file for each, which ends in its record. `OPERATIONS` is the only list of them.

An operation is made of plans, pure functions of forms and limits. Plans of a pass or two that others are made of have
files of their own: packing, permutation, equilibrate, elementwise, reduce, blocks. Read `record` first, then `matmul`.
"""

from collections import UserDict
from functools import cached_property
from importlib import import_module
from pkgutil import walk_packages

from glla.operations.record import Operation


class Operations(UserDict[str, Operation]):
    """Records by the names of their operations: all files are imported when the list is first looked at."""

    def __init__(self) -> None:
        pass  # not `UserDict.__init__`, which looks at it

    @cached_property
    def data(self) -> dict[str, Operation]:  # type: ignore[override]
        """Every record that a file of this folder ends in."""
        modules = [import_module(found.name) for found in walk_packages(__path__, f"{__name__}.")]
        records = {one for module in modules for one in vars(module).values() if isinstance(one, Operation)}
        return {record.name: record for record in sorted(records, key=lambda record: record.name)}


OPERATIONS = Operations()
"""Every operation, by name."""

__all__ = ["OPERATIONS", "Operation"]
