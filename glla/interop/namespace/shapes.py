"""Manipulation functions of the array API that make sense for two dimensions. None of them synchronises."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array import arithmetic
from glla.array.array import Matrix
from glla.array.reductions import as_axis
from glla.errors import ShapeError


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Shape that shapes broadcast to."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(f"broadcast_shapes: shapes must be equal, or 1 where they differ, got {shapes}") from None


def broadcast_to(x: Matrix, /, shape: Any) -> Matrix:
    """Repeat a row, a column or an element."""
    if len(shape) != 2 or any(own not in (1, count) for own, count in zip(x.shape, shape, strict=True)):
        raise ShapeError(f"broadcast_to: {x.shape} does not broadcast to {tuple(shape)}")
    return Matrix._of(arithmetic.spread(x.value, tuple(shape)))


def broadcast_arrays(*arrays: Matrix) -> tuple[Matrix, ...]:
    """Broadcast matrices to their common shape."""
    shape = broadcast_shapes(*(array.shape for array in arrays))
    return tuple(broadcast_to(array, shape) for array in arrays)


def flip(x: Matrix, /, *, axis: Any = None) -> Matrix:
    """Reverse the order of rows (axis 0), columns (1) or both."""
    over = as_axis("flip", axis)
    rows, columns = (slice(None, None, 1 if over == other else -1) for other in (1, 0))
    block: Matrix = x[rows, columns]
    return block


def permute_dims(x: Matrix, /, axes: Any) -> Matrix:
    """Transpose, for the axes (1, 0)."""
    result: Matrix = np.transpose(x, axes)  # type: ignore[assignment]
    return result
