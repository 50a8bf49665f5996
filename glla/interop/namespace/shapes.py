"""Manipulation functions of the array API. None of them synchronises."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array import shaping
from glla.array.array import Array
from glla.errors import ShapeError
from glla.interop import functions


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Shape to which shapes broadcast."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(f"broadcast_shapes: shapes must be equal, or 1 where they differ, got {shapes}") from None


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Broadcast to the common shape."""
    shape = broadcast_shapes(*(array.shape for array in arrays))
    return tuple(functions.broadcast_to(array, shape) for array in arrays)


def squeeze(x: Array, /, axis: Any) -> Array:
    """Remove dimensions of length 1."""
    return x.squeeze(axis)


def permute_dims(x: Array, /, axes: Any) -> Array:
    """Permute the dimensions."""
    return Array._of(shaping.permute("permute_dims", x.value, tuple(axes)))


def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """Change the shape, in C order."""
    return x.reshape(shape)
