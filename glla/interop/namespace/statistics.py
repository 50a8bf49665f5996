"""Statistical, searching, sorting, set and utility functions of the array API.

Functions whose shape depends on values (`nonzero`, `unique_values` and others) run in NumPy on the host, and
synchronise; all others stay on the device. `take` and `take_along_axis` read back the range of indices on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from glla.array import array as arrays
from glla.array import reductions, shaping
from glla.array.array import Array, value_of
from glla.errors import OptionError, ShapeError
from glla.interop.functions import checked_dtype, with_an_array


def _reduction(name: str) -> Callable[..., Array]:
    """Function of the standard that is a method of an Array."""

    def function(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
        result: Array = getattr(x, name)(axis, keepdims=keepdims)
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"See `glla.Array.{name}`."
    return function


all, any, argmax, argmin, max, mean, min = map(_reduction, ("all", "any", "argmax", "argmin", "max", "mean", "min"))


def prod(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Products."""
    return x.prod(axis, dtype=checked_dtype("prod", dtype), keepdims=keepdims)


def sum(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
    """Sums."""
    return x.sum(axis, dtype=checked_dtype("sum", dtype), keepdims=keepdims)


def std(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Standard deviations."""
    return x.std(axis, ddof=correction, keepdims=keepdims)


def var(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
    """Variances."""
    return x.var(axis, ddof=correction, keepdims=keepdims)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Cumulative sums along a dimension."""
    return _cumulative("sum", x, axis, dtype, include_initial)


def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Cumulative products along a dimension."""
    return _cumulative("prod", x, axis, dtype, include_initial)


def _cumulative(operation: str, x: Array, axis: int | None, dtype: Any, include_initial: bool) -> Array:
    name = checked_dtype(f"cumulative_{operation}", dtype)
    if axis is None and x.ndim != 1:
        raise ShapeError(f"cumulative_{operation}: axis must be given for shape {x.shape}")
    value = x.value if name is None else x.astype(name, copy=False).value
    return Array._of(reductions.cumulative(operation, value, axis or 0 if axis is None else axis, include_initial))


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Elements sorted along a dimension."""
    return Array._of(shaping.sort(x.value, axis, descending, numbers=False))


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Indices of the elements in sorted order."""
    return Array._of(shaping.sort(x.value, axis, descending, numbers=True))


def take(x: Array, indices: Any, /, *, axis: int | None = None) -> Array:
    """Slices at indices along a dimension."""
    if axis is None and x.ndim != 1:
        raise ShapeError(f"take: axis must be given for shape {x.shape}")
    return x.take(value_of(indices), 0 if axis is None else axis)


def take_along_axis(x: Array, indices: Any, /, *, axis: int = -1) -> Array:
    """Elements at indices along a dimension, for each line of the others."""
    return Array._of(shaping.take_along_axis(x.value, value_of(indices), axis))


# -- by NumPy, on the host --------------------------------------------------------------------------------------------


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Indices of elements that are not zero. Synchronises."""
    if x.ndim == 0:
        raise OptionError("nonzero: a number has no places")
    return tuple(_int32(one, x) for one in np.nonzero(x.numpy()))


class _All(NamedTuple):
    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class _Counts(NamedTuple):
    values: Array
    counts: Array


class _Inverse(NamedTuple):
    values: Array
    inverse_indices: Array


def unique_all(x: Array, /) -> _All:
    """Unique elements, sorted, indices of their first occurrences, inverse indices, and counts. Synchronises."""
    values, *numbers = np.unique_all(x.numpy())
    return _All(_back(values, x), *(_int32(one, x) for one in numbers))


def unique_counts(x: Array, /) -> _Counts:
    """Unique elements, sorted, and their counts. Synchronises."""
    values, counts = np.unique_counts(x.numpy())
    return _Counts(_back(values, x), _int32(counts, x))


def unique_inverse(x: Array, /) -> _Inverse:
    """Unique elements, sorted, and the inverse indices. Synchronises."""
    values, inverse = np.unique_inverse(x.numpy())
    return _Inverse(_back(values, x), _int32(inverse, x))


def unique_values(x: Array, /) -> Array:
    """Unique elements, sorted, unlike NumPy's `unique_values`, which hashes. Synchronises."""
    return _back(np.unique(x.numpy(), equal_nan=False), x)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Whether each element is in the other array. Synchronises."""
    with_an_array("isin", x1, x2)
    beside = x1 if isinstance(x1, Array) else x2
    return _back(np.isin(np.asarray(x1), np.asarray(x2), invert=invert), beside)


def _back(array: Any, beside: Array) -> Array:
    return arrays.upload(np.asarray(array, order="C"), beside.device)


def _int32(array: Any, beside: Array) -> Array:
    return _back(array.astype(np.int32), beside)
