"""Manipulation functions of the array API. None of them synchronises."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array import shaping
from glla.array.array import Array
from glla.errors import ShapeError
from glla.interop import functions


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Shape that shapes broadcast to."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(f"broadcast_shapes: shapes must be equal, or 1 where they differ, got {shapes}") from None


def broadcast_to(x: Array, /, shape: Any) -> Array:
    """Spread over a shape."""
    return functions.broadcast_to(x, shape)


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Spread over their common shape."""
    shape = broadcast_shapes(*(array.shape for array in arrays))
    return tuple(broadcast_to(array, shape) for array in arrays)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """Joined along a dimension; flattened first if it is None."""
    return functions.concat(list(arrays), axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Array:
    """Joined along a new dimension."""
    return functions.stack(list(arrays), axis)


def unstack(x: Array, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Slices along a dimension."""
    return functions.unstack(x, axis)


def expand_dims(x: Array, /, axis: Any) -> Array:
    """With new dimensions of length 1."""
    return Array._of(shaping.expand_dims(x.value, axis))


def squeeze(x: Array, /, axis: Any) -> Array:
    """Without dimensions of length 1."""
    return x.squeeze(axis)


def flip(x: Array, /, *, axis: Any = None) -> Array:
    """Some dimensions reversed, all by default."""
    return Array._of(shaping.flip(x.value, axis))


def moveaxis(x: Array, source: Any, destination: Any, /) -> Array:
    """Dimensions moved to other places."""
    return functions.moveaxis(x, source, destination)


def permute_dims(x: Array, /, axes: Any) -> Array:
    """Dimensions in another order."""
    return Array._of(shaping.permute("permute_dims", x.value, tuple(axes)))


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Each element several times."""
    return functions.repeat(x, repeats, axis)


def reshape(x: Array, /, shape: Any, *, copy: bool | None = None) -> Array:
    """Another shape, in C order."""
    return x.reshape(shape)


def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Elements moved along dimensions, round the end."""
    return functions.roll(x, shift, axis)


def tile(x: Array, repetitions: Any, /) -> Array:
    """Repeated along the dimensions."""
    return functions.tile(x, repetitions)
