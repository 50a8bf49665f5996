"""Reductions of values on a device: sums, extremes, indices, norms, moments. None of them synchronises.

A packed matrix is reduced directly, over both dimensions or one; everything else by the plans of the linear layout.
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from glla.array import arithmetic, layouts
from glla.array.value import Resident, Shape, from_array, from_scalar, run
from glla.errors import AxisError, OptionError, OptionTypeError, ShapeError
from glla.operations import reduce
from glla.operations.linear import fold as folds
from glla.operations.linear import scan

NEEDS_ELEMENTS = ("max", "min", "argmax", "argmin", "max_magnitude", "min_magnitude")
"""Reductions that need at least one element."""


def place(function: str, axis: Any, ndim: int) -> int:
    """Check an axis, and count it from the front.

    >>> place("sum", -1, 3)
    2
    """
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise OptionTypeError(f"{function}: axis must be an integer, got {axis!r}")
    number = operator.index(axis)
    if ndim == 0:
        raise AxisError(f"{function}: a number has no axes, got axis {axis!r}; leave it out")
    if not -ndim <= number < ndim:
        raise AxisError(f"{function}: axis must be from {-ndim} to {ndim - 1}, got {axis!r}")
    return number % ndim


def places(function: str, axis: Any, ndim: int) -> tuple[int, ...]:
    """Check axes: None for all of them, an integer, or a tuple of integers; 0 and -1 for a number, as NumPy has it.

    >>> places("sum", None, 2), places("sum", (-1, 0), 3)
    ((0, 1), (2, 0))
    """
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, tuple | list):
        if ndim == 0 and type(axis) is int and axis in (0, -1):
            return ()
        return (place(function, axis, ndim),)
    found = tuple(place(function, one, ndim) for one in axis)
    if len(set(found)) < len(found):
        raise OptionError(f"{function}: axes must differ, got {tuple(axis)!r}")
    return found


def kept(shape: Shape, axes: tuple[int, ...]) -> Shape:
    """Shape of a reduction that keeps its dimensions.

    >>> kept((2, 3, 4), (1,))
    (2, 1, 4)
    """
    return tuple(1 if number in axes else length for number, length in enumerate(shape))


def reduced(operation: str, a: Resident, axis: Any = None, keepdims: bool = False) -> Resident:
    """Reduce an array over some of its dimensions. Raises ShapeError: a maximum or minimum over no elements."""
    places_ = operation in folds.PLACES
    if places_ and isinstance(axis, tuple):
        raise OptionTypeError(f"{operation}: axis must be an integer or None, got {axis!r}")
    axes = places(operation, axis, a.ndim)
    shape = kept(a.shape, axes)
    if operation in NEEDS_ELEMENTS and not prod(a.shape[number] for number in axes) and 0 not in shape:
        function = "norm" if operation == "min_magnitude" else operation
        raise ShapeError(f"{function}: a line without elements has no extremes, got shape {a.shape} and axis {axis}")
    result = _folded(operation, a, axes, shape)
    return result if keepdims else layouts.best(layouts.reshaped(result, folds.reduced_shape(a.shape, axes)))


def _folded(operation: str, a: Resident, axes: tuple[int, ...], shape: Shape) -> Resident:
    """Reduce, and keep the dimensions."""
    dtype = folds.result_dtype(operation, a.dtype)
    if 0 in shape:
        return layouts.best(Resident.wrapped(a.device, None, shape, dtype))
    if a.size == 0:
        neutral = np.full(shape, int(operation in ("prod", "all")), dtype=dtype)
        return from_array(neutral, a.device)
    if a.packed and operation in reduce.FOLDS and axes:
        return fold(operation, a, None if len(axes) == 2 else axes[0])
    if not axes and operation in ("sum", "prod", "max", "min"):
        return layouts.as_type(a, dtype)
    source, view = layouts.view_of(a)
    size, operands = a.device.limits.texture_size, {"A": source}
    if operation in folds.PLACES:
        plan = folds.place(view, operation, axes, size)
    else:
        plan = folds.fold(view, operation, axes, size)
    if operation == "sum_squares":
        operands["S"] = layouts.whole(_folded("max_magnitude", a, axes, shape))
    return layouts.best(layouts.made(source, plan, shape, dtype, **operands))


def fold(operation: str, a: Resident, axis: int | None = None) -> Resident:
    """Reduce a packed matrix that is not empty to `glla.operations.reduce.reduced_shape`."""
    texture_axis = axis if axis is None or not a.transposed else 1 - axis
    rows, columns = a.matrix
    shape = (columns, rows) if a.transposed else (rows, columns)
    plan = reduce.fold(shape, operation, texture_axis)
    operands = {"A": a}
    if operation == "sum_squares":
        operands["S"] = run(a.device, reduce.fold(shape, "max_magnitude", texture_axis), A=a)["total"]
    result = run(a.device, plan, **operands)["total"]
    return result.transpose if a.transposed else result


def cumulative(operation: str, a: Resident, axis: Any, include_initial: bool = False) -> Resident:
    """Cumulative sums or products along a dimension; of all elements in C order if it is None."""
    if axis is None:
        a, axis = layouts.reshaped(a, (a.size,)), 0
    at = place(f"cumulative_{operation}", axis, a.ndim)
    a = layouts.as_type(a, folds.result_dtype(operation, a.dtype))
    shape = (*a.shape[:at], a.shape[at] + include_initial, *a.shape[at + 1 :])
    if 0 in shape or not a.size:
        return from_array(np.full(shape, int(operation == "prod"), dtype=a.dtype), a.device)
    name = f"cumulative_{operation}"
    return layouts.computed(
        lambda view, size: scan.cumulative(view, name, at, size, include_initial), shape, a.dtype, A=a
    )


# -- moments ----------------------------------------------------------------------------------------------------------


def mean(a: Resident, axis: Any = None, keepdims: bool = False) -> Resident:
    """Mean over some dimensions, as float32; NaN of nothing."""
    count = _count("mean", a, axis)
    total = reduced("sum", layouts.as_type(a, "float32"), axis, keepdims)
    return arithmetic.binary("divide", total, from_scalar(count, a.device))


def variance(a: Resident, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Resident:
    """Mean squared difference from the mean, as float32; see `glla.Array.var`."""
    count = _count("var", a, axis)
    left = arithmetic.binary("subtract", layouts.as_type(a, "float32"), mean(a, axis, keepdims=True))
    total = reduced("sum", arithmetic.unary("square", left), axis, keepdims)
    return arithmetic.binary("divide", total, from_scalar(max(count - ddof, 0), a.device))


def _count(function: str, a: Resident, axis: Any) -> int:
    axes = places(function, axis, a.ndim)
    return prod(a.shape[one] for one in axes)


# -- norms ------------------------------------------------------------------------------------------------------------


def norm(a: Resident, order: Any, axis: Any, keepdims: bool) -> Resident:
    """Norm of an array, by the rules of `numpy.linalg.norm`."""
    axes = places("norm", axis, a.ndim)
    if axis is None and order is None:
        return vector_norm(a, None, None, keepdims)
    if len(axes) == 1:
        return vector_norm(a, order, axes[0], keepdims)
    if len(axes) != 2:
        raise OptionError(f"norm: axis must name one or two dimensions of {a.shape}, got {axis!r}; use vector_norm")
    return matrix_norm(a, order, (axes[0], axes[1]), keepdims)


def matrix_norm(a: Resident, order: Any, axes: tuple[int, int], keepdims: bool) -> Resident:
    """Norms of matrices, by the orders of `numpy.linalg.norm` that need no singular values."""
    if order in (None, "fro"):
        return vector_norm(a, None, axes, keepdims)
    sums = {1: 0, -1: 0, np.inf: 1, -np.inf: 1}
    if order not in sums:
        raise OptionError(f"norm: ord must be None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {order!r}")
    over, rest = axes[sums[order]], axes[1 - sums[order]]
    lines = reduced("sum_magnitudes", layouts.as_type(a, "float32"), over, keepdims=True)
    if order > 0 and not a.shape[rest]:  # all norms of nothing are 0
        found = reduced("sum", lines, rest, keepdims=True)
    else:
        found = reduced("max" if order > 0 else "min", lines, rest, keepdims=True)
    return found if keepdims else layouts.best(layouts.reshaped(found, folds.reduced_shape(a.shape, axes)))


def vector_norm(a: Resident, order: Any, axis: Any, keepdims: bool) -> Resident:
    """Norms of vectors along some dimensions, of all elements as one by default."""
    a = layouts.as_type(a, "float32")
    if order in (None, 2):
        return _euclidean(a, axis, keepdims)
    if order == 0:
        return layouts.as_type(reduced("count_nonzero", a, axis, keepdims), "float32")
    operations = {1: "sum_magnitudes", np.inf: "max_magnitude", -np.inf: "min_magnitude"}
    if order == np.inf and not a.size:
        return reduced("sum", a, axis, keepdims)  # all norms of nothing are 0
    if order in operations:
        return reduced(operations[order], a, axis, keepdims)
    if not isinstance(order, int | float | np.number) or order != order:
        raise OptionError(f"norm: ord of a vector must be None or a number, got {order!r}")
    return _of_powers(a, float(order), axis, keepdims)


def _of_powers(a: Resident, order: float, axis: Any, keepdims: bool) -> Resident:
    """Root of the sum of powers; magnitudes are divided by the largest, or the smallest, so that no power overflows."""
    sizes = arithmetic.unary("absolute", a)
    exponents = from_scalar(order, a.device), from_scalar(1.0 / order, a.device)
    if not a.size:
        powers = arithmetic.binary("power", sizes, exponents[0])
        return arithmetic.binary("power", reduced("sum", powers, axis, keepdims), exponents[1])
    edge = reduced("max_magnitude" if order > 0 else "min_magnitude", a, axis, keepdims=True)
    powers = arithmetic.binary("power", arithmetic.binary("divide", sizes, edge), exponents[0])
    roots = arithmetic.binary("power", reduced("sum", powers, axis, keepdims=True), exponents[1])
    inner = arithmetic.binary("logical_and", arithmetic.unary("isfinite", edge), layouts.as_type(edge, "bool"))
    found = arithmetic.where(inner, arithmetic.binary("multiply", roots, edge), edge)
    axes = places("norm", axis, a.ndim)
    return found if keepdims else layouts.best(layouts.reshaped(found, folds.reduced_shape(a.shape, axes)))


def _euclidean(a: Resident, axis: Any, keepdims: bool) -> Resident:
    """Root of the sum of squares, scaled by a power of two so that it overflows only if it does not fit."""
    if not a.size:
        return reduced("sum", a, axis, keepdims)
    total = reduced("sum_squares", a, axis, keepdims)
    largest = reduced("max_magnitude", a, axis, keepdims)
    return arithmetic.binary("scaled_root", total, largest)
