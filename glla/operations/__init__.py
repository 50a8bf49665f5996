"""Operations: one file for each, which ends in its record. `OPERATIONS` is the only list of them.

An operation is made of plans, pure functions of forms and limits. Plans of a pass or two that others are made of have
files of their own: packing, permutation, equilibrate, elementwise, reduce, blocks. Read `record` first, then `matmul`.
"""

from importlib import import_module
from pkgutil import walk_packages

from glla.operations.record import Operation


def _found() -> dict[str, Operation]:
    """Every record that a file of this folder ends in, by name."""
    modules = [import_module(found.name) for found in walk_packages(__path__, f"{__name__}.")]
    records = {one for module in modules for one in vars(module).values() if isinstance(one, Operation)}
    return {record.name: record for record in sorted(records, key=lambda record: record.name)}


OPERATIONS: dict[str, Operation] = _found()
"""Every operation, by name."""

__all__ = ["OPERATIONS", "Operation"]
