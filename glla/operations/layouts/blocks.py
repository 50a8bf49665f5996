"""Blocks of a matrix, extracted and assigned.

A texture that holds a result is never drawn to again: assigning a block makes a new matrix.
"""

from __future__ import annotations

from glla.operations.elementwise import WHOLE, Placement, spread
from glla.operations.layouts.crossing import read_back
from glla.passes import Draft, Limits, Plan, Uniform, matrix, single_pass
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape


@cached_plan
def gather(source: Shape, shape: Shape, origin: Shape = (0, 0), down: Shape = (1, 0), right: Shape = (0, 1)) -> Plan:
    """Plan that takes a block out of a matrix: result[i, j] = A[origin + i down + j right].

    Operand ``A``, result ``block``. One pass.
    `source`, `shape`: rows and columns of A and of the result. `origin`: row and column of A that the first element
    comes from. `down`, `right`: offset, in rows and columns of A, from one row (one column) of the result to the next.
    Negative offsets go backwards; other pairs give the transpose or a diagonal.
    """
    uniforms: dict[str, Uniform] = {"origin": origin, "down": down, "right": right, "shape": shape}
    return single_pass("gather", "blocks/gather", {"A": matrix(source)}, {"block": matrix(shape)}, uniforms)


@cached_plan
def assign(
    shape: Shape, count: Shape, first: Shape = (0, 0), step: Shape = (1, 1), placement: Placement = WHOLE
) -> Plan:
    """Plan that puts a block into a copy of a matrix.

    Operands ``A`` and ``B``, result ``result``. One pass over the whole of A.
    `shape`, `count`: rows and columns of A and of the block. `first`, `step`: element (k, l) of the block goes to
    ``first + (k, l) step``; steps may be negative. `placement`: placement of the operand B over the block, see
    `glla.operations.elementwise.Placement`.
    """
    uniforms: dict[str, Uniform] = {
        "first": first, "step_": step, "count": count, "placement": placement, "shape": shape,
    }  # fmt: skip
    given = {"A": matrix(shape), "B": spread(count, placement)}
    return single_pass("assign", "blocks/assign", given, {"result": matrix(shape)}, uniforms)


@cached_plan
def beside(shape: Shape, columns: int) -> Plan:
    """Plan that puts B, with so many columns, to the right of A: operands ``A`` and ``B``, result ``C``. One pass."""
    (m, n), both = shape, (shape[0], shape[1] + columns)
    given = {"A": matrix(shape), "B": matrix((m, columns))}
    return single_pass("beside", "blocks/beside", given, {"C": matrix(both)}, {"split": n, "shape": both})


def read_diagonal(draft: Draft, a: str, n: int, limits: Limits, name: str) -> str:
    """Add the read-back of the diagonal of a packed n x n matrix; give the slot of the array, a column."""
    made = draft.call("diagonal", gather((n, n), (n, 1), down=(1, 1)), A=a)["block"]
    return read_back(draft, made, (n, 1), limits, name)
