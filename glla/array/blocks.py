"""Blocks of values on a device, by NumPy's indices; and diagonals.

Integers, slices, None and ... make a view without a pass in the linear layout, and one pass for a packed matrix. For
arrays of integers the flat indices of the elements are computed on the host; a mask is read back first.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import arithmetic, layouts, shaping
from glla.array.value import Resident, Shape, from_array, packs, run
from glla.errors import IndexingError, ShapeError, integer
from glla.operations.layouts import blocks
from glla.operations.linear import move
from glla.operations.linear.view import View

Place = tuple[int, int]
"""Row and column, or a number of rows and of columns."""

Places = tuple[Any, ...]
"""An index of NumPy's, a part for each dimension or None for a new one."""


def plain(index: Any) -> Places:
    """Convert an index to a tuple of integers, slices, None, ``...`` and arrays of the host.

    Raises IndexingError: a part is none of these.

    >>> plain((slice(1, None), np.int64(2)))
    (slice(1, None, None), 2)
    """
    return tuple(_member(part) for part in (index if isinstance(index, tuple) else (index,)))


def _member(part: Any) -> Any:
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        return slice(*(None if end is None else _whole(end) for end in (part.start, part.stop, part.step)))
    if isinstance(part, bool | np.bool_):
        return np.asarray(part)
    if hasattr(part, "shape") or isinstance(part, list | range):
        array = np.asarray(part)
        if array.size == 0 and not hasattr(part, "shape"):
            array = array.astype(np.int64)
        if array.dtype.kind not in "biu":
            raise IndexingError(f"Array: an index must hold integers or bool, got {array.dtype}")
        return int(array) if array.ndim == 0 and array.dtype.kind != "b" else array
    return _whole(part)


def _whole(part: Any) -> int:
    try:
        return operator.index(part)
    except TypeError:
        raise IndexingError(
            f"Array: an index must be an integer, a slice, ..., None, or an array of integers or bool, got "
            f"{type(part).__name__}"
        ) from None


def is_basic(index: Places) -> bool:
    """Whether an index makes a view: it holds no arrays."""
    return not any(isinstance(part, np.ndarray) for part in index)


def seen(view: View, index: Places) -> View:
    """View of a basic index. Raises IndexingError: too many indices, or one out of range."""
    try:
        return view.sliced(index)
    except IndexError as error:
        raise IndexingError(f"Array: {error}, shape {view.shape}") from None


def _region(shape: Shape, dtype: str, index: Places) -> View:
    """View of a basic index into a whole array; cached, as slicing takes a while."""
    frozen = tuple((part.start, part.stop, part.step) if isinstance(part, slice) else part for part in index)
    return _remembered(shape, dtype, frozen)


@lru_cache(maxsize=1024)
def _remembered(shape: Shape, dtype: str, frozen: tuple[Any, ...]) -> View:
    """See `_region`; slices, which have no hash, are tuples here."""
    return seen(View.of(shape, dtype), tuple(slice(*part) if isinstance(part, tuple) else part for part in frozen))


def take(a: Resident, index: Places) -> Resident:
    """Return elements of an array."""
    return basic(a, index) if is_basic(index) else _chosen(a, index)


def basic(a: Resident, index: Places) -> Resident:
    """Return a block: a view, or one pass for a packed matrix."""
    block = _region(a.shape, a.dtype, index)
    if block.count == 0:
        return layouts.best(Resident.wrapped(a.device, None, block.shape, a.dtype))
    if not a.packed:
        source, view = layouts.view_of(a)
        return layouts.best(source.seen(seen(view, index)))
    if block.shape == a.shape and block.strides == (a.shape[1], 1):
        return a
    count, origin, (down, right) = _lines(block, a.shape[1])
    if packs(block.shape, a.dtype, a.device):
        matrix, along, across = a.matrix, (down, 0), (0, right)
        if a.transposed:  # rows and columns of its texture are exchanged
            matrix, origin, along, across = matrix[::-1], origin[::-1], along[::-1], across[::-1]
        value = run(a.device, blocks.gather(matrix, count, origin, along, across), A=a)["block"]
        return value if value.shape == block.shape else layouts.best(layouts.reshaped(value, block.shape))
    return layouts.reshaped(layouts.taken(a, count, origin, (down, 0), (0, right)), block.shape)


def _lines(block: View, columns: int) -> tuple[Place, Place, Place]:
    """Rows and columns of a block of a matrix: their number, the first ones, and the steps.

    At most one dimension of a basic index steps along the rows, and one along the columns.
    """
    count, step = [1, 1], [1, 1]
    for length, stride in zip(block.shape, block.strides, strict=True):
        if length > 1:
            line = 0 if stride % columns == 0 else 1
            count[line], step[line] = length, stride // columns if line == 0 else stride
    return (count[0], count[1]), divmod(block.offset, columns), (step[0], step[1])


def _chosen(a: Resident, index: Places) -> Resident:
    """Return elements selected by arrays of integers or bool: their flat indices are computed on the host."""
    along = _along(a.shape, index)
    if along is None:
        return shaping.taken(layouts.reshaped(a, (a.size,)), from_array(_places(a.shape, index), a.device), 0)
    axis, numbers = along
    return shaping.taken(a, from_array(numbers, a.device), axis)


def _along(shape: Shape, index: Places) -> tuple[int, NDArray[np.int32]] | None:
    """Dimension, and indices of slices along it, of an index with one array; None for other indices.

    Raises IndexingError: NumPy refuses the index.
    """
    at = [number for number, part in enumerate(index) if isinstance(part, np.ndarray)]
    others = [part for number, part in enumerate(index) if number not in at]
    rest_is_whole = all(part is Ellipsis or (isinstance(part, slice) and part == slice(None)) for part in others)
    if len(at) != 1 or not rest_is_whole or len(index) > len(shape):
        return None
    chosen, dots = index[at[0]], any(part is Ellipsis for part in index[: at[0]])
    if chosen.ndim == 0 or (chosen.dtype.kind == "b" and chosen.ndim > 1):
        return None
    axis = len(shape) - (len(index) - at[0]) if dots else at[0]
    numbers = np.arange(shape[axis], dtype=np.int32).reshape((1,) * axis + (-1,))  # so that NumPy names the axis
    try:
        found = numbers[(*(slice(None),) * axis, chosen)]
        return axis, found.reshape(found.shape[axis:])
    except IndexError as error:
        raise IndexingError(f"Array: {error}") from None


def _places(shape: Shape, index: Places) -> NDArray[np.int32]:
    """Flat index, in C order, of each element that an index selects. Raises IndexingError: NumPy refuses the index."""
    every = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int32).reshape(shape)
    try:
        return np.asarray(every[index])
    except IndexError as error:
        raise IndexingError(f"Array: {error}") from None


def put(a: Resident, index: Places, b: Resident) -> Resident:
    """Copy an array, with B, which broadcasts, in place of a block, in one pass over all of it."""
    arithmetic.same_device("Array", a, b)
    if not is_basic(index):
        return _put_chosen(a, index, b)
    region = _region(a.shape, a.dtype, index)
    b = _fitting(b, region.shape)
    if region.count == 0:
        return a
    if a.packed:
        return _put_matrix(a, region, b)
    target, value = layouts.whole(a), layouts.as_type(b, a.dtype)
    return layouts.computed(
        lambda own, view, size: move.assign(own, index, view, size), a.shape, a.dtype, A=target, B=value
    )


def _put_chosen(a: Resident, index: Places, b: Resident) -> Resident:
    """Assign B where arrays of integers or bool select: slices along a dimension, or single elements.

    Besides B one number is uploaded for each slice along that dimension, or for each element.
    """
    along = _along(a.shape, index)
    axis, places = (0, _places(a.shape, index)) if along is None else along
    lines = (a.size,) if along is None else a.shape
    before, after = lines[:axis], lines[axis + 1 :]
    shape = (*before, *places.shape, *after)
    b = _fitting(b, shape)
    if 0 in shape:
        return a
    chosen = np.full(lines[axis], -1, dtype=np.int32)  # for each slice of A the slice of B that replaces it
    chosen[places.reshape(-1)] = np.arange(places.size, dtype=np.int32)
    source, zero = (from_array(one, a.device) for one in (chosen, np.zeros((), dtype=np.int32)))
    target, (value, view) = layouts.whole(a), layouts.view_of(layouts.as_type(b, a.dtype))
    spread = layouts.reshaped(value.seen(view.broadcast_to(shape)), (*before, places.size, *after))
    assert spread.view is not None
    assert source.view is not None
    plan = move.take(spread.view, source.view, axis, a.device.limits.texture_size)
    taken = layouts.made(spread, plan, lines, a.dtype, A=spread, I=source)
    stays = layouts.reshaped(arithmetic.binary("less", source, zero), (len(chosen), *(1,) * len(after)))
    old = target.seen(View.of(lines, a.dtype))
    return layouts.best(layouts.reshaped(arithmetic.where(stays, old, taken), a.shape))


def _fitting(b: Resident, shape: Shape) -> Resident:
    """Drop leading dimensions of length 1 that a block does not have, as NumPy does, and check the shape.

    A column may also be assigned to a block of one dimension, which NumPy refuses: it is a vector of a matrix.
    """
    if len(shape) == 1 and b.shape == (*shape, 1):
        return layouts.reshaped(b, shape)
    while b.ndim > len(shape) and b.shape[0] == 1:
        b = layouts.reshaped(b, b.shape[1:])
    fits = b.ndim <= len(shape) and all(
        own in (1, most) for own, most in zip(b.shape, shape[len(shape) - b.ndim :], strict=True)
    )
    if not fits:
        raise ShapeError(f"Array: what is assigned must broadcast to the block {shape}, got shape {b.shape}")
    return b


def _put_matrix(a: Resident, region: View, b: Resident) -> Resident:
    """Assign B to a block of a packed matrix."""
    count, origin, step = _lines(region, a.shape[1])
    if not (b.packed and region.shape == count):
        source, view = layouts.view_of(layouts.as_type(b, "float32"))
        b = layouts.packed("array", layouts.reshaped(source.seen(view.broadcast_to(region.shape)), count))
    plan = blocks.assign(a.matrix, count, origin, step, b.placement_over(count))
    return run(a.device, plan, A=a.settled(), B=b)["result"]


def diagonal(a: Resident, offset: int = 0) -> Resident:
    """Return the diagonal of each matrix; `offset` counts columns to the right of the main one."""
    offset = integer("diagonal", "offset", offset)
    if a.ndim < 2:
        raise ShapeError(f"diagonal: A must have two dimensions at least, got shape {a.shape}")
    top, left = max(-offset, 0), max(offset, 0)
    rows, columns = a.shape[-2:]
    count = max(0, min(rows - top, columns - left))
    if count == 0 or a.size == 0:
        return Resident.wrapped(a.device, None, (*a.shape[:-2], count), a.dtype)
    if a.packed:
        return layouts.reshaped(layouts.taken(a, (count, 1), (top, left), (1, 1), (0, 0)), (count,))
    source, view = layouts.view_of(a)
    down, right = view.strides[-2:]
    start = view.offset + top * down + left * right
    diagonal_ = View((*view.shape[:-2], count), (*view.strides[:-2], down + right), start, view.size, view.dtype)
    return layouts.best(source.seen(diagonal_))
