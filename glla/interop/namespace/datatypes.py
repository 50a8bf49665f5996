"""Data types of the array API: float32, int32 and bool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import dtype_of
from glla.errors import OptionError
from glla.gl import Device, DeviceLike, default_device, named_device
from glla.interop import functions
from glla.interop.namespace import creation

float32 = np.dtype(np.float32)
int32 = np.dtype(np.int32)
bool = np.dtype(np.bool_)

LEFT_OUT = ("int8", "int16", "uint8", "uint16", "uint32", "uint64", "complex64", "complex128", "imag")
"""Types of the standard that an Array cannot have, and functions that only they need."""

WIDE = {"int64": np.dtype(np.int64), "float64": np.dtype(np.float64)}
"""Types that an Array cannot have either, but that libraries name without asking: to count, to compare."""


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: DeviceLike | None = None) -> Array:
    """Convert to another type; copy to another device on request. An array of the host becomes an Array."""
    if not isinstance(x, Array):
        return creation.asarray(x, dtype=dtype, device=device)
    result = x.astype(functions.checked_dtype("astype", dtype), copy=copy)
    return result if device is None else result.to_device(named_device("astype", device))


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether the standard promotes a type to another one: of these three each only to itself."""
    source = from_.dtype if isinstance(from_, Array) else np.dtype(from_)
    target = np.dtype(to)
    return source == target


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Type of a result: of two, the later one of bool, int32, float32."""
    found = [
        one.dtype
        if isinstance(one, Array)
        else np.dtype(dtype_of("result_type", "number", one) if isinstance(one, int | float) else one)
        for one in arrays_and_dtypes
    ]
    for dtype in found:
        functions.checked_dtype("result_type", dtype)
    return max(found, key=(bool, int32, float32).index)


@dataclass(frozen=True)
class FloatLimits:
    """Limits of float32: Python's numbers, as the standard asks."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> FloatLimits:
    """Limits of float32, see `numpy.finfo`."""
    found = np.finfo(type.dtype if isinstance(type, Array) else np.dtype(type))
    eps, largest, least, normal = (float(one) for one in (found.eps, found.max, found.min, found.smallest_normal))
    return FloatLimits(found.bits, eps, largest, least, normal, found.dtype)


def iinfo(type: Any, /) -> Any:
    """Limits of int32, as `numpy.iinfo`."""
    return np.iinfo(type.dtype if isinstance(type, Array) else np.dtype(type))


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is of a kind: a dtype, a name such as 'real floating', or a tuple of them."""
    return np.isdtype(dtype, kind)


class Info:
    """Capabilities of the namespace; see the standard's inspection API."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean indexing and data-dependent shapes, both through the host; up to 32 dimensions."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 32}

    def default_device(self) -> Device:
        """Return the default device of this thread."""
        return default_device()

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict[str, Any]:
        """Return float32 for reals, int32 for integers and indices."""
        return {"real floating": float32, "integral": int32, "indexing": int32}

    def devices(self) -> tuple[Device, ...]:
        """Return the default device; others are made with `glla.Device`."""
        return (default_device(),)

    def dtypes(self, *, device: DeviceLike | None = None, kind: Any = None) -> dict[str, Any]:
        """Return the dtypes of a kind, all by default."""
        try:
            return {dtype.name: dtype for dtype in (bool, int32, float32) if kind is None or np.isdtype(dtype, kind)}
        except (TypeError, ValueError):
            raise OptionError(f"dtypes: kind must be one of the standard's names, got {kind!r}") from None


def __array_namespace_info__() -> Info:
    """Return the capabilities of the namespace."""
    return Info()
