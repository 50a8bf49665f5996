"""Shapes and orders of values on a device: views where possible, else one pass.

None synchronises, except for indices on a device: their range is read back.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import arithmetic, layouts
from glla.array.convert import as_real, promoted
from glla.array.reductions import place, places, reduced
from glla.array.value import Resident, from_array
from glla.errors import DTypeError, OptionError, PlaceError, ShapeError, integer
from glla.operations.linear import move, order
from glla.operations.linear.view import View
from glla.passes import Plan


def permute(function: str, a: Resident, axes: Sequence[Any]) -> Resident:
    """Permute the dimensions; the texture stays."""
    order_ = tuple(place(function, axis, a.ndim) for axis in axes)
    if sorted(order_) != list(range(a.ndim)):
        raise OptionError(f"{function}: axes must name each of {a.ndim} dimensions once, got {tuple(axes)!r}")
    if order_ == tuple(range(a.ndim)):
        return a
    if a.packed:
        return a.transpose
    source, view = layouts.view_of(a)
    return layouts.best(source.seen(view.permute(order_)))


def to_the_end(function: str, a: Resident, axis1: Any, axis2: Any) -> Resident:
    """Move two dimensions to the end."""
    if a.ndim < 2:
        return a
    last = places(function, (axis1, axis2), a.ndim)
    return permute(function, a, (*(axis for axis in range(a.ndim) if axis not in last), *last))


def reshape(a: Resident, shape: Sequence[Any]) -> Resident:
    """Reshape an array, in C order; one length may be -1."""
    lengths = [integer("reshape", "a length", length) for length in shape]
    known = prod(length for length in lengths if length != -1)
    if lengths.count(-1) == 1 and known and a.size % known == 0:
        lengths[lengths.index(-1)] = a.size // known
    if min(lengths, default=0) < 0 or prod(lengths) != a.size:
        raise ShapeError(f"reshape: an array of {a.size} elements, shape {a.shape}, has no shape {tuple(shape)}")
    return layouts.best(layouts.reshaped(a, tuple(lengths)))


def squeeze(a: Resident, axis: Any) -> Resident:
    """Remove dimensions of length 1."""
    dropped = (
        [number for number, length in enumerate(a.shape) if length == 1]
        if axis is None
        else list(places("squeeze", axis, a.ndim))
    )
    if any(a.shape[number] != 1 for number in dropped):
        raise ShapeError(f"squeeze: only dimensions of length 1 can be left out, got axis {axis!r} of {a.shape}")
    return reshape(a, [length for number, length in enumerate(a.shape) if number not in dropped])


def expand_dims(a: Resident, axis: Any) -> Resident:
    """Add dimensions of length 1, at these positions of the result."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    at = places("expand_dims", axes, a.ndim + len(axes))
    lengths = iter(a.shape)
    return reshape(a, [1 if number in at else next(lengths) for number in range(a.ndim + len(axes))])


def flip(a: Resident, axis: Any) -> Resident:
    """Reverse some dimensions, all by default."""
    source, view = layouts.view_of(a)
    if a.size == 0:
        return a
    return layouts.best(source.seen(view.flip(places("flip", axis, a.ndim))))


def concat(function: str, arrays: Sequence[Resident], axis: int | None) -> Resident:
    """Join arrays along a dimension; flattened first if it is None."""
    if not arrays:
        raise ShapeError(f"{function}: needs one array at least")
    arithmetic.same_device(function, *arrays)
    if axis is None:
        arrays, axis = [layouts.reshaped(one, (one.size,)) for one in arrays], 0
    first = arrays[0]
    if first.ndim == 0:
        raise ShapeError(f"{function}: arrays must have one dimension at least, got shape ()")
    at = place(function, axis, first.ndim)
    for one in arrays:
        if one.ndim != first.ndim or one.shape[:at] + one.shape[at + 1 :] != first.shape[:at] + first.shape[at + 1 :]:
            raise ShapeError(f"{function}: shapes must agree but for axis {axis}, got {first.shape} and {one.shape}")
    dtype = promoted(*(one.dtype for one in arrays))
    shape = (*first.shape[:at], sum(one.shape[at] for one in arrays), *first.shape[at + 1 :])
    parts = [layouts.as_type(one, dtype) for one in arrays if one.size]
    if len(parts) == 1:
        return layouts.best(layouts.wrapped(parts[0]))
    operands = {f"A{number}": one for number, one in enumerate(parts or arrays[:1])}

    def plan(*views_and_size: Any) -> Plan:
        *views, size = views_and_size
        return move.concat(tuple(views), at, size)

    return layouts.computed(plan, shape, dtype, **operands)


def stack(function: str, arrays: Sequence[Resident], axis: int) -> Resident:
    """Join arrays of one shape along a new dimension."""
    if len({one.shape for one in arrays}) > 1:
        raise ShapeError(f"{function}: shapes must be equal, got {', '.join(str(one.shape) for one in arrays)}")
    if not arrays:
        raise ShapeError(f"{function}: needs one array at least")
    at = place(function, axis, arrays[0].ndim + 1)
    return concat(function, [expand_dims(one, at) for one in arrays], at)


def take(a: Resident, indices: Any, axis: int | None) -> Resident:
    """Return slices at indices along a dimension; elements of the flat array if it is None."""
    if axis is None:
        a, axis = layouts.reshaped(a, (a.size,)), 0
    at = place("take", axis, a.ndim)
    return taken(a, as_places("take", indices, a, a.shape[at]), at)


def taken(a: Resident, chosen: Resident, at: int) -> Resident:
    """Return slices at indices along a dimension; the indices are in range."""
    shape = (*a.shape[:at], *chosen.shape, *a.shape[at + 1 :])
    if 0 in shape:
        return layouts.best(Resident.wrapped(a.device, None, shape, a.dtype))
    numbers, lines = layouts.reshaped(chosen, (chosen.size,)), (*a.shape[:at], chosen.size, *a.shape[at + 1 :])
    made = layouts.computed(lambda view, seen, size: move.take(view, seen, at, size), lines, a.dtype, A=a, I=numbers)
    return layouts.best(layouts.reshaped(made, shape))


def take_along_axis(a: Resident, indices: Any, axis: int) -> Resident:
    """Return elements at indices along a dimension, for each line of the others."""
    at = place("take_along_axis", axis, a.ndim)
    chosen = as_places("take_along_axis", indices, a, a.shape[at])
    if chosen.ndim != a.ndim:
        raise ShapeError(f"take_along_axis: A and indices need as many dimensions, got {a.shape} and {chosen.shape}")
    others = [(*one.shape[:at], 1, *one.shape[at + 1 :]) for one in (a, chosen)]
    rest = arithmetic.broadcast_shape("take_along_axis", *others)
    shape = (*rest[:at], chosen.shape[at], *rest[at + 1 :])
    lines = (*rest[:at], a.shape[at], *rest[at + 1 :])

    def plan(view: View, seen: View, size: int) -> Plan:
        return move.take_along_axis(view.broadcast_to(lines), seen.broadcast_to(shape), at, size)

    return layouts.computed(plan, shape, a.dtype, A=a, I=chosen)


def as_places(function: str, indices: Any, beside: Resident, length: int) -> Resident:
    """Copy indices to a device as int32; they must be in range, and may be negative.

    Of indices on the device the smallest and the largest are read back: that synchronises.

    Raises PlaceError: an index is out of range. Raises DTypeError: they are not integers.
    """
    if not isinstance(indices, Resident):
        places = host_places(function, indices, length)
        return from_array(places.astype(np.int32), beside.device)
    arithmetic.same_device(function, beside, indices)
    if indices.dtype != "int32":
        raise DTypeError(f"{function}: indices must be int32, got {indices.dtype}; use astype")
    if indices.size:
        least, largest = (int(reduced(end, indices).numpy()) for end in ("min", "max"))
        _must_be_in_range(function, least, largest, length)
    return indices


def host_places(function: str, indices: Any, length: int) -> NDArray[Any]:
    """Indices of slices of an array of the host, counted from the front; see `as_places`."""
    array = as_real(function, "indices", indices)
    if array.size == 0:
        return array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise DTypeError(f"{function}: indices must be integers, got {array.dtype}")
    _must_be_in_range(function, array.min(), array.max(), length)
    return np.where(array < 0, array + length, array)


def _must_be_in_range(function: str, least: int, largest: int, length: int) -> None:
    if not -length <= least <= largest < length:
        raise PlaceError(f"{function}: indices must be from {-length} to {length - 1}, got {least} to {largest}")


def roll(a: Resident, shift: int, axis: int) -> Resident:
    """Move elements along a dimension, cyclically."""
    if a.size == 0:
        return a
    return layouts.computed(lambda view, size: move.roll(view, shift, axis, size), a.shape, a.dtype, A=a)


def triangle(a: Resident, upper: bool, offset: int) -> Resident:
    """Keep the triangle on one side of a diagonal, with the diagonal; zeros elsewhere."""
    if a.ndim < 2:
        raise ShapeError(f"{'triu' if upper else 'tril'}: needs two dimensions at least, got shape {a.shape}")
    if a.size == 0:
        return a
    offset = max(-a.shape[-2], min(offset, a.shape[-1]))  # beyond the corners the result is the same
    return layouts.computed(lambda view, size: move.triangle(view, upper, offset, size), a.shape, a.dtype, A=a)


def sort(a: Resident, axis: int, descending: bool, numbers: bool) -> Resident:
    """Sort along a dimension, stably; return the elements, or their indices."""
    at = place("sort", axis, a.ndim)
    make, dtype = (order.argsort, "int32") if numbers else (order.sort, a.dtype)
    return layouts.computed(lambda view, size: make(view, at, descending, size), a.shape, dtype, A=a)
