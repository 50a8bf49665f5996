"""Operations: one file for each, which ends in its record. `OPERATIONS` is the only list of them.

An operation is made of plans, pure functions of forms and limits. Plans of a pass or two that others are made of have
files of their own: elementwise, reduce, and those in `layouts`. Read `record` first, then `product/matmul`.

`host` has the numerics of the host, `layouts` the layouts of matrices and transfers, `linear` arrays in the linear
layout, `batches` batches of matrices. The families of operations: `product`, `elimination`, `triangles`, `systems`,
`definite`, `bands`, `orthogonal`, `spectral`, `sparse`.

Terms of this code base; in brackets the names that some identifiers have:

batch               matrices along leading dimensions (stack); a matrix of the batch is one of them
batched, looped     one plan for all matrices of a batch, or one plan for each
layout              places of elements in a texture: packed, 2 x 2 elements to a texel, or linear
linear              four elements to a texel in C order, or a view of such a texture (wrapped)
device plan         passes of an operation alone
call plan           device plan with transfers and work of the host
stage               a plan of a call: the first one, or a fallback that a result leads to
transition          condition under which a stage comes next (`Plan.after`, `Transition`)
diagnostics         numbers read back with a result, from which it is judged
accepted, rejected  judged good enough to be returned, or not
fallback            stages after a rejected result
pivot check         comparison of pivots with their rounding errors
rounding error      value of a pivot that should be zero
"""

import sys
from collections import UserDict
from functools import cached_property
from importlib import import_module
from pathlib import Path

from glla.operations.record import Operation


class Operations(UserDict[str, Operation]):
    """Records by the names of their operations: all files are imported when the list is first looked at."""

    def __init__(self) -> None:
        self._found = dict[str, Operation]()  # not `UserDict.__init__`, which looks at all of them

    @cached_property
    def data(self) -> dict[str, Operation]:  # type: ignore[override]
        """Every record that a file of this folder ends in."""
        from pkgutil import walk_packages  # which a product has no use for

        modules = [import_module(found.name) for found in walk_packages(__path__, f"{__name__}.")]
        records = {one for module in modules for one in vars(module).values() if isinstance(one, Operation)}
        return {record.name: record for record in sorted(records, key=lambda record: record.name)}

    def __getitem__(self, name: str) -> Operation:
        """The record of an operation. A file of its name is the only one that is imported; without one all are."""
        if "data" in vars(self):
            return super().__getitem__(name)
        if name not in self._found:
            for file in Path(__path__[0]).rglob(f"{name}.py") if name.isidentifier() else ():
                import_module(".".join([__name__, *file.relative_to(__path__[0]).with_suffix("").parts]))
            loaded = [module for place, module in sys.modules.items() if place.startswith(f"{__name__}.")]
            records = (vars(module).get(name.upper()) for module in loaded)
            found = next((one for one in records if isinstance(one, Operation)), None)
            self._found[name] = super().__getitem__(name) if found is None else found
        return self._found[name]

    def __missing__(self, name: str) -> Operation:
        raise KeyError(f"no file of glla/operations ends in a record: {name.upper()} = Operation(name={name!r}, ...)")


OPERATIONS = Operations()
"""Every operation, by name."""

__all__ = ["OPERATIONS", "Operation"]
