"""Blocks of values on a device, by NumPy's indices; and diagonals. None of the functions synchronises."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from glla.array.arithmetic import same_device
from glla.array.value import Resident
from glla.errors import IndexingError, ShapeError, integer
from glla.operations import blocks
from glla.passes.layout import Shape


@dataclass(frozen=True)
class Line:
    """The places that an index takes from one dimension: `count` of them from `first` on, `step` apart.

    An integer takes one and drops the dimension: `single`.
    """

    first: int
    step: int
    count: int
    single: bool = False


Block = tuple[Line, Line]
"""Rows and columns that a block takes from a matrix."""


def parsed(index: Any, shape: Shape) -> Block:
    """Turn an index into the rows and the columns that it takes.

    Parameters
    ----------
    index : int, slice, Ellipsis, or a tuple of them
        As NumPy's basic indexing has it.
    shape : tuple of int
        Of the matrix.

    Raises
    ------
    IndexingError
        None, arrays, lists and masks; more than two indices; an integer out of range.

    Examples
    --------
    >>> parsed((slice(1, None, 2), -1), (5, 4))
    (Line(first=1, step=2, count=2, single=False), Line(first=3, step=1, count=1, single=True))
    """
    indices = list(index) if isinstance(index, tuple) else [index]
    gaps = [place for place, part in enumerate(indices) if part is Ellipsis]
    if len(gaps) > 1:
        raise IndexingError("Matrix: an index holds '...' once at most")
    if len(indices) - len(gaps) > 2:
        raise IndexingError(f"Matrix: at most two indices, got {len(indices) - len(gaps)}")
    missing = [slice(None)] * (2 - len(indices) + len(gaps))
    place = gaps[0] if gaps else len(indices)
    both = [*indices[:place], *missing, *indices[place + 1 :]]
    return _line(both[0], shape[0], "row"), _line(both[1], shape[1], "column")


def _line(index: Any, length: int, name: str) -> Line:
    if isinstance(index, slice):
        places = range(*index.indices(length))
        return Line(places.start, places.step, len(places))
    kind = type(index).__name__
    if index is None or isinstance(index, bool) or kind == "bool" or not hasattr(index, "__index__"):
        raise IndexingError(_refusal(kind))
    try:
        place = operator.index(index)
    except TypeError:  # an array that holds several
        raise IndexingError(_refusal(kind)) from None
    if not -length <= place < length:
        raise IndexingError(f"Matrix: {name} must be from {-length} to {length - 1}, got {place}")
    return Line(place % length, 1, 1, single=True)


def _refusal(kind: str) -> str:
    return f"Matrix: an index must be an integer, a slice or ..., got {kind}; for others index A.numpy()"


def block_shape(block: Block) -> Shape:
    """Rows and columns of a block; a dimension that an integer picks counts as 1."""
    return block[0].count, block[1].count


def take(a: Resident, block: Block) -> Resident:
    """Take a block out of a matrix, in one pass; none if it is the whole matrix."""
    shape, (rows, columns) = block_shape(block), block
    if 0 in shape:
        return Resident(a.device, None, shape)
    if shape == a.shape and rows.step == columns.step == 1:
        return a
    return _gathered(a, shape, (rows.first, columns.first), (rows.step, 0), (0, columns.step))


def _gathered(a: Resident, shape: Shape, origin: Shape, down: Shape, right: Shape) -> Resident:
    """Gather from a value; places in a texture that holds the transpose are those of the matrix, turned round."""
    source = a.shape
    if a.transposed:
        source, origin, down, right = source[::-1], origin[::-1], down[::-1], right[::-1]
    plan = blocks.gather(source, shape, origin, down, right)
    return Resident(a.device, a.device.run(plan, A=a.texture)["block"], shape)


def put(a: Resident, block: Block, b: Resident) -> Resident:
    """Copy a matrix with B, which broadcasts to the block, put into it, in one pass over all of it."""
    same_device("Matrix", a, b)
    count, (rows, columns) = block_shape(block), block
    if any(own not in (1, most) for own, most in zip(b.shape, count, strict=True)):
        raise ShapeError(f"Matrix: what is assigned must broadcast to the block {count}, got shape {b.shape}")
    if 0 in count:
        return a
    plan = blocks.assign(
        a.shape, count, (rows.first, columns.first), (rows.step, columns.step), b.placement_over(count)
    )
    target = a.settled()
    return Resident(a.device, a.device.run(plan, A=target.texture, B=b.texture)["result"], a.shape)


def diagonal(a: Resident, offset: int = 0) -> Resident:
    """Take a diagonal out of a matrix, as a column; `offset` counts columns to the right of the main one."""
    offset = integer("diagonal", "offset", offset)
    top, left = max(-offset, 0), max(offset, 0)
    count = max(0, min(a.shape[0] - top, a.shape[1] - left))
    if count == 0:
        return Resident(a.device, None, (0, 1))
    return _gathered(a, (count, 1), (top, left), (1, 1), (0, 0))
