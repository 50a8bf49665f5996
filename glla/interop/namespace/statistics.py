"""Statistical, searching, sorting, set and utility functions of the array API.

Functions whose shape depends on values (`nonzero`, `unique_values` and others) run in NumPy on the host, and
synchronise; all others stay on the device. `take` and `take_along_axis` read back the range of indices on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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

    def typed(x: Array, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Array:
        result: Array = getattr(x, name)(axis, dtype=checked_dtype(name, dtype), keepdims=keepdims)
        return result

    def corrected(x: Array, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Array:
        result: Array = getattr(x, name)(axis, ddof=correction, keepdims=keepdims)
        return result

    others: dict[str, Callable[..., Array]] = {"prod": typed, "sum": typed, "std": corrected, "var": corrected}
    own = others.get(name, function)
    own.__name__ = own.__qualname__ = name
    own.__doc__ = f"See `glla.Array.{name}`."
    return own


all, any, argmax, argmin, max, mean, min = map(_reduction, ("all", "any", "argmax", "argmin", "max", "mean", "min"))
prod, std, sum, var = map(_reduction, ("prod", "std", "sum", "var"))


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


def _unique(name: str, about: str) -> Callable[[Array], Any]:
    """Function of the standard whose result is NumPy's named tuple."""

    def function(x: Array, /) -> Any:
        found = getattr(np, name)(x.numpy())
        numbers = {field: _int32(one, x) for field, one in found._asdict().items() if field != "values"}
        return found._replace(values=_back(found.values, x), **numbers)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Unique elements, sorted, {about}. Synchronises."
    return function


unique_all = _unique("unique_all", "indices of their first occurrences, inverse indices, and counts")
unique_counts = _unique("unique_counts", "and their counts")
unique_inverse = _unique("unique_inverse", "and the inverse indices")


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
