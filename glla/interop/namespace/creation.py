"""Creation functions of the array API. None of them synchronises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glla.array import array as arrays
from glla.array.array import Array
from glla.array.convert import as_dtype, as_real, dtype_of
from glla.errors import OptionError
from glla.gl import DeviceLike, named_device
from glla.interop import dlpack, functions
from glla.interop.functions import checked_dtype


def asarray(obj: Any, /, *, dtype: Any = None, device: DeviceLike | None = None, copy: bool | None = None) -> Array:
    """Copy an array to a device: bool and integers keep their kind, all else becomes float32.

    NaN and infinity are allowed. An Array is copied only on request.
    """
    kind = checked_dtype("asarray", dtype)
    if isinstance(obj, Array):
        result = obj if device is None else obj.to_device(named_device("asarray", device))
        if copy is False and (result is not obj or kind not in (None, obj.dtype.name)):
            raise OptionError("asarray: another type or device takes a copy; use copy=None or copy=True")
        result = result if kind is None else result.astype(kind, copy=False)
        return result.copy() if copy else result
    if copy is False:
        raise OptionError("asarray: what is on the host must be copied to the device; use copy=None or copy=True")
    host = _on_host(obj)
    array = as_dtype("asarray", "value", host, kind or dtype_of("asarray", "value", host))
    return arrays.upload(array, named_device("asarray", device))


def _on_host(obj: Any) -> Any:
    """Return nested sequences as an array of the host; Arrays among their elements are read back."""
    if isinstance(obj, list | tuple):
        return as_real("asarray", "value", [_on_host(one) for one in obj])
    return obj.numpy() if isinstance(obj, Array) else obj


def from_dlpack(x: Any, /, *, device: DeviceLike | None = None, copy: bool | None = None) -> Array:
    """Copy a tensor of another library to a device: bool and integers keep their kind; see `glla.from_dlpack`."""
    if isinstance(x, Array):
        return asarray(x, device=device, copy=copy)
    if copy is False:
        raise OptionError("from_dlpack: what is on the host must be copied to the device; use copy=None or copy=True")
    return asarray(dlpack.on_host(x), device=device)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: DeviceLike | None = None
) -> Array:
    """Numbers from a start up to a stop, which is left out, a step apart."""
    return functions.arange(start, stop, step, checked_dtype("arange", dtype), device)


def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: DeviceLike | None = None, endpoint: bool = True
) -> Array:
    """A number of places from a start to a stop, evenly apart."""
    return functions.linspace(start, stop, num, endpoint, checked_dtype("linspace", dtype), device)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: DeviceLike | None = None) -> Array:
    """Make an array of one number."""
    return functions.full(shape, fill_value, checked_dtype("full", dtype), device)


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: DeviceLike | None = None) -> Array:
    """Make an array of one number, in the shape and type of another, on its device."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=x.device if device is None else device)


def _of_one_number(number: int, name: str) -> tuple[Callable[..., Array], Callable[..., Array]]:
    """Functions that make an array of one number: of a shape, and of the shape and type of another array."""

    def made(shape: Any, *, dtype: Any = None, device: DeviceLike | None = None) -> Array:
        return full(shape, number, dtype=dtype or np.float32, device=device)

    def like(x: Array, /, *, dtype: Any = None, device: DeviceLike | None = None) -> Array:
        return full_like(x, number, dtype=dtype, device=device)

    made.__name__, like.__name__ = made.__qualname__, like.__qualname__ = name, f"{name}_like"
    made.__doc__ = f"Make an array of the number {number}."
    like.__doc__ = f"Make an array of the number {number}, in the shape and type of another, on its device."
    return made, like


zeros, zeros_like = _of_one_number(0, "zeros")
ones, ones_like = _of_one_number(1, "ones")
empty, empty_like = _of_one_number(0, "empty")


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: DeviceLike | None = None
) -> Array:
    """Make a matrix with ones on a diagonal, the `k`-th to the right of the main one."""
    return functions.eye(n_rows, n_cols, k, checked_dtype("eye", dtype), device)


def meshgrid(*arrays: Array, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinates of a grid, from the vectors of its sides."""
    if indexing not in ("xy", "ij"):
        raise OptionError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    count = len(arrays)
    shape = tuple(one.size for one in arrays)
    grids = [
        functions.broadcast_to(one.reshape((1,) * place + (one.size,) + (1,) * (count - place - 1)), shape)
        for place, one in enumerate(arrays)
    ]
    return tuple(one.swapaxes(0, 1) if indexing == "xy" and count > 1 else one for one in grids)
