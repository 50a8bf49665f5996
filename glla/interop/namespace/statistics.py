"""Statistical functions of the array API, see `glla.Matrix.sum`. With ``keepdims`` they do not synchronise."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Matrix
from glla.interop.namespace.datatypes import check_dtype


def on_host(result: Any) -> Any:
    """Make an array without dimensions of a number; matrices and arrays stay."""
    return result if isinstance(result, Matrix) else np.asarray(result)


def max(x: Matrix, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Largest elements."""
    return on_host(x.max(axis, keepdims=keepdims))


def mean(x: Matrix, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Means."""
    return on_host(x.mean(axis, keepdims=keepdims))


def min(x: Matrix, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Smallest elements."""
    return on_host(x.min(axis, keepdims=keepdims))


def sum(x: Matrix, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Sums."""
    check_dtype("sum", dtype)
    return on_host(x.sum(axis, keepdims=keepdims))
