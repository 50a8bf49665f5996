"""Product of Dask arrays, and the alignment of their chunks."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np

from glla.dask import worker
from glla.errors import DTypeError, GllaError, ShapeError

BLOCK = 1024
"""Rows and columns of a block of `lu` and `solve` at most, by default."""


class MissingDaskError(GllaError, ImportError):
    """Dask is not installed."""


def dask_array(function: str) -> Any:
    """Return the module `dask.array`; raise with an installation hint if it is missing."""
    for package in ("dask", "scipy"):
        if find_spec(package) is None:
            raise MissingDaskError(f"glla.dask.{function}: needs {package}; pip install 'glla[dask]'")
    import dask.array

    return dask.array


def operand(function: str, name: str, value: Any, dimensions: tuple[int, ...] = (2,)) -> Any:
    """Check a Dask array: real numbers, known chunks; another array becomes one of one chunk.

    Raises ShapeError, DTypeError: other dimensions, unknown chunks, or values that are not real.
    """
    da = dask_array(function)
    array = value if isinstance(value, da.Array) else da.from_array(np.asarray(value), chunks=-1)
    if array.ndim not in dimensions:
        wanted = " or ".join(map(str, dimensions))
        raise ShapeError(f"glla.dask.{function}: {name} must have {wanted} dimensions, got shape {array.shape}")
    if any(math.isnan(length) for length in array.shape):
        raise ShapeError(
            f"glla.dask.{function}: {name} has chunks of unknown sizes, {array.shape}; call compute_chunk_sizes() first"
        )
    if array.dtype.kind not in "biuf":
        raise DTypeError(f"glla.dask.{function}: {name} must hold real numbers, got {array.dtype}")
    return array.map_blocks(np.asarray, dtype=array.dtype, meta=np.empty((0,) * array.ndim, dtype=array.dtype))


def matmul(a: Any, b: Any) -> Any:
    """Product of two Dask arrays; every chunk of C is computed by one task, and read back once.

    Parameters
    ----------
    a, b : dask.array.Array, shapes (m, k) and (k, n)
        Of any chunks; those of `b`'s rows are aligned with those of `a`'s columns.

    Returns
    -------
    dask.array.Array of float32, shape (m, n)
        Its chunks are those of `a`'s rows and `b`'s columns.

    Raises
    ------
    ShapeError, DTypeError
        At once, for unfit shapes or chunks of unknown sizes.
    NonFiniteError
        In ``compute``: a value is not finite, or does not fit float32.

    Notes
    -----
    A task holds a row of chunks of `a` and a column of chunks of `b` in its worker's memory. Error: as of
    `glla.matmul`.

    Examples
    --------
    >>> import dask.array as da
    >>> import glla.dask
    >>> A = da.from_array([[1, 2, 3], [4, 5, 6]], chunks=(1, 2))
    >>> glla.dask.matmul(A, A.T).compute(scheduler="synchronous")
    array([[14., 32.],
           [32., 77.]], dtype=float32)
    """
    da = dask_array("matmul")
    left, right = operand("matmul", "A", a), operand("matmul", "B", b)
    if left.shape[1] != right.shape[0]:
        raise ShapeError(f"glla.dask.matmul: inner dimensions must agree, got A {left.shape} and B {right.shape}")
    right = right.rechunk({0: left.chunks[1]})
    return da.blockwise(
        worker.contract, "ij", left, "ik", right, "kj", dtype=np.float32, concatenate=False,
        meta=np.empty((0, 0), dtype=np.float32),
    )  # fmt: skip
