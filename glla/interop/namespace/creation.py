"""Creation functions of the array API. None of them synchronises."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array import array as matrices
from glla.array.array import Matrix, identity, upload
from glla.errors import OptionError, ShapeError
from glla.gl import Device, default_device
from glla.interop import dlpack
from glla.interop.namespace.datatypes import check_dtype
from glla.interop.numpy import filled


def asarray(obj: Any, /, *, dtype: Any = None, device: Device | None = None, copy: bool | None = None) -> Matrix:
    """Put an array of two dimensions onto a device, see `glla.asarray`. A Matrix is copied only if asked."""
    check_dtype("asarray", dtype)
    if isinstance(obj, Matrix):
        result: Matrix = obj if device is None else obj.to_device(device)
        return result.copy() if copy else result
    if copy is False:
        raise OptionError("asarray: what is on the host must be copied to the device; use copy=None or copy=True")
    return matrices.asarray(obj, device)


def from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Matrix:
    """Put a tensor of another library onto a device, see `glla.from_dlpack`."""
    if copy is False and not isinstance(x, Matrix):
        raise OptionError("from_dlpack: what is on the host must be copied to the device; use copy=None or copy=True")
    result = dlpack.from_dlpack(x, device)
    return result.copy() if copy else result


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Device | None = None) -> Matrix:
    """Make a matrix of one number."""
    check_dtype("full", dtype)
    return filled(shape, fill_value, device)


def zeros(shape: Any, *, dtype: Any = None, device: Device | None = None) -> Matrix:
    """Make a matrix of zeros."""
    return full(shape, 0.0, dtype=dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Device | None = None) -> Matrix:
    """Make a matrix of ones."""
    return full(shape, 1.0, dtype=dtype, device=device)


def empty(shape: Any, *, dtype: Any = None, device: Device | None = None) -> Matrix:
    """Make a matrix of any numbers; these are zeros."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(x: Matrix, /, fill_value: Any, *, dtype: Any = None, device: Device | None = None) -> Matrix:
    """Make a matrix of one number, in the shape of another, on its device."""
    return full(x.shape, fill_value, dtype=dtype, device=device or x.device)


def zeros_like(x: Matrix, /, *, dtype: Any = None, device: Device | None = None) -> Matrix:
    """Make a matrix of zeros, in the shape of another, on its device."""
    return full_like(x, 0.0, dtype=dtype, device=device)


def ones_like(x: Matrix, /, *, dtype: Any = None, device: Device | None = None) -> Matrix:
    """Make a matrix of ones, in the shape of another, on its device."""
    return full_like(x, 1.0, dtype=dtype, device=device)


def empty_like(x: Matrix, /, *, dtype: Any = None, device: Device | None = None) -> Matrix:
    """Make a matrix of any numbers, in the shape of another; these are zeros."""
    return zeros_like(x, dtype=dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Device | None = None
) -> Matrix:
    """Make a matrix with ones on a diagonal, the `k`-th to the right of the main one."""
    check_dtype("eye", dtype)
    rows, columns = n_rows, n_rows if n_cols is None else n_cols
    target = device or default_device()
    if rows < 0 or columns < 0:
        raise ShapeError(f"eye: rows and columns must be at least 0, got {rows} and {columns}")
    if 0 in (rows, columns):
        return upload(np.empty((rows, columns), dtype=np.float32), target)
    if not -rows < k < columns:
        return filled((rows, columns), 0.0, target)
    below, beside = max(k, 0), max(-k, 0)  # a block of a larger identity
    larger = identity((rows + below, columns + beside), target)
    block: Matrix = larger[below:, beside:]
    return block
