"""Data types of the array API: float32, and bool for results on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Matrix
from glla.errors import OptionError, UnsupportedError
from glla.gl import Device, default_device

float32 = np.dtype(np.float32)
bool = np.dtype(np.bool_)


def check_dtype(function: str, dtype: Any) -> None:
    """Refuse a dtype that a Matrix cannot have."""
    if dtype is not None and np.dtype(dtype) != float32:
        raise UnsupportedError(f"{function}: a Matrix is float32, got dtype {np.dtype(dtype)}; use NumPy for others")


def astype(x: Matrix, dtype: Any, /, *, copy: Any = True, device: Device | None = None) -> Any:
    """Convert to float32, the only dtype; copy to another device if asked."""
    result = x.astype(dtype, copy=copy)
    return result if device is None else result.to_device(device)


def finfo(type: Any, /) -> Any:
    """Limits of float32, as `numpy.finfo`."""
    dtype = type.dtype if isinstance(type, Matrix) else np.dtype(type)
    check_dtype("finfo", dtype)
    return np.finfo(dtype)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether a dtype is of a kind: a dtype, a name such as 'real floating', or a tuple of them."""
    return np.isdtype(dtype, kind)


class Info:
    """What the namespace can do; see the standard's inspection API."""

    def capabilities(self) -> dict[str, Any]:
        """No boolean indexing, no shapes that depend on data, at most (and at least) two dimensions."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 2}

    def default_device(self) -> Device:
        """Give the default device of this thread."""
        return default_device()

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, Any]:
        """Give float32, for reals; there are no others."""
        return {"real floating": float32}

    def devices(self) -> list[Device]:
        """Give the default device; others are made with `glla.Device`."""
        return [default_device()]

    def dtypes(self, *, device: Device | None = None, kind: Any = None) -> dict[str, Any]:
        """Give the dtypes of a kind (all by default): float32, if it is one."""
        try:
            wanted = kind is None or np.isdtype(float32, kind)
        except (TypeError, ValueError):
            raise OptionError(f"dtypes: kind must be one of the standard's names, got {kind!r}") from None
        return {"float32": float32} if wanted else {}


def __array_namespace_info__() -> Info:
    """Say what the namespace can do."""
    return Info()
