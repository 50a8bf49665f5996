"""The extension ``linalg`` of the array API, as far as it goes; see `glla.array_api` for what is left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla import linalg, protocols
from glla.array_api.datatypes import check_dtype
from glla.array_api.statistics import on_host
from glla.errors import OptionError, ShapeError
from glla.linalg import SlogdetResult
from glla.matrix import Matrix, asarray
from glla.resident.arithmetic import broadcast_shape
from glla.resident.reductions import as_axis


def det(x: Matrix, /) -> Any:
    """Determinant, without dimensions. Synchronises."""
    return on_host(linalg.det(x))


def diagonal(x: Matrix, /, *, offset: int = 0) -> Any:
    """Diagonal, a vector on the host. Synchronises."""
    return x.diagonal(offset)


def inv(x: Matrix, /) -> Any:
    """Inverse. Synchronises."""
    return linalg.inv(x)


def matmul(x1: Any, x2: Any, /) -> Any:
    """Product of matrices; with a vector, a vector on the host, which synchronises."""
    return linalg.matmul(x1, x2)


def matrix_norm(x: Matrix, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norm of a matrix: 'fro', 1, -1, inf or -inf. Synchronises."""
    return on_host(x.norm(ord, keepdims=keepdims))


def matrix_power(x: Matrix, n: int, /) -> Matrix:
    """Whole power of a square matrix."""
    result: Matrix = protocols.matrix_power(x, n)
    return result


def matrix_transpose(x: Matrix, /) -> Matrix:
    """Transpose, which shares the texture."""
    return x.T


def outer(x1: Any, x2: Any, /) -> Matrix:
    """Outer product of two vectors of the host, as a Matrix on the default device."""
    vectors = [np.asarray(vector) for vector in (x1, x2)]
    if any(vector.ndim != 1 for vector in vectors):
        raise ShapeError(f"outer: x1 and x2 must be vectors, got shapes {vectors[0].shape} and {vectors[1].shape}")
    result: Matrix = asarray(vectors[0][:, np.newaxis]) * asarray(vectors[1][np.newaxis])
    return result


def slogdet(x: Matrix, /) -> SlogdetResult:
    """Sign and logarithm of the determinant, without dimensions. Synchronises."""
    return SlogdetResult(*map(on_host, linalg.slogdet(x)))


def solve(x1: Matrix, x2: Any, /) -> Any:
    """Solve x1 X = x2; for a vector, a vector on the host. Synchronises."""
    return linalg.solve(x1, x2)


def tensordot(x1: Matrix, x2: Matrix, /, *, axes: Any = 2) -> Any:
    """Sum over one axis of each (a product of matrices) or over both (a number, which synchronises)."""
    pairs = {1: ([1], [0]), 2: ([0, 1], [0, 1])}.get(axes) if isinstance(axes, int) else axes
    if pairs is None or len(pairs) != 2:
        raise OptionError(f"tensordot: axes must be 1, 2 or two sequences, got {axes!r}")
    left, right = ([as_axis("tensordot", axis) for axis in part] for part in pairs)
    if len(left) != len(right) or not 1 <= len(left) <= 2 or len({*left}) < len(left) or len({*right}) < len(right):
        raise OptionError(
            f"tensordot: axes must pair one axis or two of each, so that no 4-D array results, got {axes!r}"
        )
    if len(left) == 1:
        return (x1 if left == [1] else x1.T) @ (x2 if right == [0] else x2.T)
    turned = x2 if left == right else x2.T
    if x1.shape != turned.shape:
        raise ShapeError(f"tensordot: axes that are summed over must have one length, got {x1.shape} and {x2.shape}")
    return on_host((x1 * turned).sum())


def trace(x: Matrix, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sum of a diagonal, without dimensions. Synchronises."""
    check_dtype("trace", dtype)
    return on_host(x.trace(offset))


def vecdot(x1: Matrix, x2: Matrix, /, *, axis: int = -1) -> Any:
    """Inner products of the rows of two matrices (axis 1) or of their columns (0), on the host. Synchronises."""
    over = as_axis("vecdot", axis)
    shape = broadcast_shape("vecdot", x1.shape, x2.shape)
    if over is None or x1.shape[over] != x2.shape[over]:
        raise ShapeError(
            f"vecdot: the axis must have one length in both, got shapes {x1.shape} and {x2.shape}, {shape}"
        )
    return on_host((x1 * x2).sum(over))


def vector_norm(x: Matrix, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norm of all elements as one vector, of the columns (axis 0) or of the rows (1). Synchronises."""
    return on_host(x.vector_norm(ord, axis, keepdims=keepdims))


__all__ = [
    "det",
    "diagonal",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "outer",
    "slogdet",
    "solve",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
