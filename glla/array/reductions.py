"""Reductions of values on a device: sums, extremes, norms. Those that give numbers synchronise."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from glla.array.convert import Array
from glla.array.value import Resident, from_array
from glla.errors import AxisError, OptionError, OptionTypeError, ShapeError
from glla.operations import reduce

Axis = Literal[0, 1] | None
"""What a reduction goes over: the rows, the columns, or both."""

LINES = {None: "a matrix", 0: "a column", 1: "a row"}
"""Names of what a reduction over an axis takes together, for messages."""


def as_axis(function: str, axis: Any) -> Axis:
    """Check an axis of a matrix: None or both for all of it, 0 or -2 over the rows, 1 or -1 over the columns.

    >>> as_axis("sum", -1), as_axis("sum", (0, 1))
    (1, None)
    """
    if axis is None:
        return None
    if isinstance(axis, tuple) and len(axis) == 2 and {as_axis(function, part) for part in axis} == {0, 1}:
        return None
    if isinstance(axis, tuple) and len(axis) == 1:
        axis = axis[0]
    whole = isinstance(axis, (int, np.integer)) and not isinstance(axis, bool)
    if not whole or not -2 <= axis < 2:
        error = AxisError if whole else OptionError if isinstance(axis, tuple) else OptionTypeError
        raise error(f"{function}: axis must be None, 0 or 1 (or counted from the end, -2 or -1), got {axis!r}")
    return 1 if axis % 2 else 0


def fold(operation: str, a: Resident, axis: Axis = None) -> Resident:
    """Reduce a matrix that is not empty to `glla.operations.reduce.reduced_shape`. Does not synchronise."""
    texture_axis = axis if axis is None or not a.transposed else 1 - axis
    shape = a.shape[::-1] if a.transposed else a.shape
    plan = reduce.fold(shape, operation, texture_axis)
    operands = {"A": a.texture}
    if operation == "sum_squares":
        operands["S"] = a.device.run(reduce.fold(shape, "max_magnitude", texture_axis), A=a.texture)["total"]
    total = a.device.run(plan, **operands)["total"]
    result = Resident(a.device, total, reduce.reduced_shape(shape, texture_axis))
    return result.transpose if a.transposed else result


def reduced(operation: str, a: Resident, axis: Axis = None) -> Resident:
    """Reduce any matrix, empty ones too; an empty line has a sum, but no extremes."""
    if 0 not in a.shape:
        return fold(operation, a, axis)
    shape = reduce.reduced_shape(a.shape, axis)
    if 0 in shape:
        return Resident(a.device, None, shape)
    if not operation.startswith("sum"):
        raise ShapeError(f"{operation}: {LINES[axis]} without elements has no extremes, got shape {a.shape}")
    return from_array(np.zeros(shape, dtype=np.float32), a.device)


def dropped(result: Array, axis: Axis) -> Any:
    """Drop the dimensions that were reduced: a number for all, a 1-D array for rows or columns."""
    return result[0, 0] if axis is None else result.reshape(-1)


def euclidean(a: Resident, axis: Axis = None) -> Array:
    """Root of the sum of squares, of everything or of each line, scaled so that it overflows only if it does not fit.

    Synchronises. The result keeps its dimensions.
    """
    if 0 in a.shape:
        return reduced("sum", a, axis).numpy()
    largest = fold("max_magnitude", a, axis).numpy()
    totals = fold("sum_squares", a, axis).numpy()
    exponents = np.where(np.isfinite(largest) & (largest > 0), np.frexp(largest)[1] - 1, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ldexp(np.sqrt(totals.astype(np.float64)), exponents).astype(np.float32)


def vector_norms(a: Resident, order: Any, axis: Axis) -> Array:
    """Norms of the rows, of the columns, or of all elements as one vector. Synchronises; dimensions are kept."""
    if order in (None, 2):
        return euclidean(a, axis)
    operations = {1: "sum_magnitudes", np.inf: "max_magnitude", -np.inf: "min_magnitude"}
    if order not in operations:
        raise OptionError(f"norm: ord of a vector must be None, 1, 2, inf or -inf, got {order!r}; use A.numpy()")
    if order == np.inf and 0 in a.shape:
        return reduced("sum", a, axis).numpy()  # all norms of nothing are 0
    return reduced(operations[order], a, axis).numpy()


def matrix_norm(a: Resident, order: Any) -> np.float32:
    """Norm of a matrix, by the orders of `numpy.linalg.norm` that need no singular values. Synchronises."""
    if order in (None, "fro"):
        value: np.float32 = euclidean(a)[0, 0]
        return value
    sums = {1: 0, -1: 0, np.inf: 1, -np.inf: 1}
    if order not in sums:
        raise OptionError(
            f"norm: ord must be None, 'fro', 1, -1, inf or -inf, got {order!r}; "
            "others need singular values: use numpy.linalg.norm(A.numpy(), ord)"
        )
    if 0 in a.shape:
        if order < 0 and a.shape[1 - sums[order]] == 0:
            raise ShapeError(f"norm: the smallest sum of no lines is not defined, got ord {order} and shape {a.shape}")
        return np.float32(0)
    lines = fold("sum_magnitudes", a, 1 if sums[order] else 0)
    result: np.float32 = fold("max" if order > 0 else "min", lines).numpy()[0, 0]
    return result
