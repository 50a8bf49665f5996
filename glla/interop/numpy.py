"""NumPy's functions on a `glla.Matrix`: what runs on the device when `numpy.linalg.solve` and others are given one.

NumPy hands a call with a Matrix among its arguments to ``Matrix.__array_function__`` (NEP 18), which asks here for an
`implementation`. A function that has none raises `glla.errors.UnsupportedError`, a TypeError, instead of copying to the
host in silence. Universal functions (`numpy.add`, `numpy.matmul`, ...) go by ``Matrix.__array_ufunc__`` (NEP 13).

A public function that names its counterpart in NumPy (see `glla.registry.public`) needs nothing here. Written out are
those whose arguments differ from NumPy's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from glla import linalg, registry
from glla.array import arithmetic
from glla.array.array import Matrix, asarray, identity, upload, value_of
from glla.array.reductions import as_axis
from glla.array.value import as_resident, from_scalar
from glla.errors import OptionError, ShapeError, integer
from glla.gl import default_device

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""Implementations that are written out, by NumPy's functions; `implements` fills it."""


def implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what functions of NumPy do with a Matrix among their arguments.

    Options that the implementation does not have are refused in its name.

    Examples
    --------
    >>> @implements(np.ndim)
    ... def ndim(a):
    ...     return 2
    >>> np.ndim(asarray([[1, 2]]))
    2
    """

    def register(implementation: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, implementation))
        return implementation

    return register


def implementation(function: Any) -> Callable[..., Any] | None:
    """Find the implementation of one of NumPy's functions: one that is written out, else a public function of glla."""
    if function in FUNCTIONS:
        return FUNCTIONS[function]
    return next((public.function for public in registry.PUBLIC.values() if public.implements(function)), None)


registry.announce("numpy", implementation)

# -- functions of glla ----------------------------------------------------------------------------------


# -- products -------------------------------------------------------------------------------------------------------


@implements(np.dot)
def dot(a: Any, b: Any) -> Any:
    """Product, with numbers too."""
    return a * b if np.ndim(a) == 0 or np.ndim(b) == 0 else a @ b


@implements(np.linalg.matmul)
def matmul(x1: Any, x2: Any, /) -> Any:
    """Product."""
    return x1 @ x2


@implements(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """Inner products of the rows of both; with numbers too."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    return a @ np.transpose(b)  # which leaves vectors as they are


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Matrix:
    """Raise a square matrix to a whole power: by squaring, of its inverse if n is negative.

    Parameters
    ----------
    a : Matrix
        Square.
    n : int
        Any whole number; 0 gives the identity.

    Returns
    -------
    Matrix
        Synchronises only for n < 0. At most 2 log2(n) products.
    """
    matrix = asarray(a)
    if matrix.shape[0] != matrix.shape[1]:
        raise ShapeError(f"matrix_power: A must be square, got shape {matrix.shape}")
    exponent = integer("matrix_power", "n", n)
    if matrix.size == 0:
        return matrix.copy()
    if exponent == 0:
        return identity(matrix.shape, matrix.device)
    square = linalg.inv(matrix) if exponent < 0 else matrix
    exponent, result = abs(exponent), None
    while True:
        if exponent & 1:
            result = square if result is None else result @ square
        exponent >>= 1
        if exponent == 0:
            assert result is not None
            return result.copy()
        square = square @ square


# -- reductions -----------------------------------------------------------------------------------------------------


@implements(np.sum)
def sum(a: Matrix, axis: Any = None, *, keepdims: bool = False) -> Any:
    """See `Matrix.sum`."""
    return a.sum(axis, keepdims=keepdims)


@implements(np.max, np.amax)
def max(a: Matrix, axis: Any = None, *, keepdims: bool = False) -> Any:
    """See `Matrix.max`."""
    return a.max(axis, keepdims=keepdims)


@implements(np.min, np.amin)
def min(a: Matrix, axis: Any = None, *, keepdims: bool = False) -> Any:
    """See `Matrix.min`."""
    return a.min(axis, keepdims=keepdims)


@implements(np.mean)
def mean(a: Matrix, axis: Any = None, *, keepdims: bool = False) -> Any:
    """See `Matrix.mean`."""
    return a.mean(axis, keepdims=keepdims)


@implements(np.linalg.norm)
def norm(x: Matrix, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """See `Matrix.norm`."""
    return x.norm(ord, axis, keepdims=keepdims)


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Matrix, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Norm of a matrix, see `Matrix.norm`."""
    return x.norm(ord, keepdims=keepdims)


@implements(np.linalg.vector_norm)
def vector_norm(x: Matrix, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Norm of all elements as one vector, or of the rows or columns, see `Matrix.norm`."""
    return x.vector_norm(ord, axis, keepdims=keepdims)


@implements(np.trace)
def trace(a: Matrix, offset: int = 0) -> Any:
    """See `Matrix.trace`."""
    return a.trace(offset)


@implements(np.linalg.trace)
def linalg_trace(x: Matrix, /, *, offset: int = 0) -> Any:
    """See `Matrix.trace`."""
    return x.trace(offset)


@implements(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and all elements are equal. Synchronises."""
    return np.shape(a1) == np.shape(a2) and bool(_equal(*_compared("array_equal", a1, a2), equal_nan).all())


@implements(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close: abs(a - b) <= atol + rtol abs(b), or equal infinities. Synchronises."""
    left, right = _compared("allclose", a, b)
    close = (abs(left - right) <= atol + rtol * abs(right)) & np.isfinite(right)  # infinity allows for anything
    return bool((close | _equal(left, right, equal_nan)).all())


def _compared(function: str, a: Any, b: Any) -> tuple[Matrix, Matrix]:
    """Put two operands onto the device of the one that is a Matrix, with their NaN and infinities."""
    device = a.device if isinstance(a, Matrix) else b.device
    left = as_resident(function, "A", value_of(a), device, check_finite=False)
    return Matrix._of(left), Matrix._of(as_resident(function, "B", value_of(b), device, check_finite=False))


def _equal(a: Matrix, b: Matrix, equal_nan: bool) -> Any:
    return (a == b) | (np.isnan(a) & np.isnan(b)) if equal_nan else a == b


# -- shapes and copies ----------------------------------------------------------------------------------------------


@implements(np.shape)
def shape(a: Matrix) -> tuple[int, int]:
    """Rows and columns."""
    return a.shape


@implements(np.ndim)
def ndim(a: Matrix) -> int:
    """Always 2."""
    return a.ndim


@implements(np.size)
def size(a: Matrix, axis: Any = None) -> int:
    """Elements, or the length of one dimension."""
    over = as_axis("size", axis)
    return a.size if over is None else a.shape[over]


@implements(np.transpose)
def transpose(a: Matrix, axes: Any = None) -> Matrix:
    """Transpose, or nothing for the axes (0, 1)."""
    return a.transpose() if axes is None else a.transpose(axes)


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Matrix, /) -> Matrix:
    """Transpose."""
    return x.T


@implements(np.diagonal)
def diagonal(a: Matrix, offset: int = 0) -> Any:
    """See `Matrix.diagonal`."""
    return a.diagonal(offset)


@implements(np.linalg.diagonal)
def linalg_diagonal(x: Matrix, /, *, offset: int = 0) -> Any:
    """See `Matrix.diagonal`."""
    return x.diagonal(offset)


@implements(np.copy)
def copy(a: Matrix) -> Matrix:
    """See `Matrix.copy`."""
    return a.copy()


@implements(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Keep elements between two bounds, which broadcast; each has two names."""
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise OptionError("clip: each bound must be given once; leave out a_min and a_max beside min and max")
    lower, upper = a_min if min is None else min, a_max if max is None else max
    result = a if lower is None else np.maximum(a, lower)
    return result if upper is None else np.minimum(result, upper)


@implements(np.zeros_like)
def zeros_like(a: Matrix) -> Matrix:
    """Zeros of its shape, on its device."""
    return filled(a.shape, 0.0, a.device)


@implements(np.ones_like)
def ones_like(a: Matrix) -> Matrix:
    """Ones of its shape, on its device."""
    return filled(a.shape, 1.0, a.device)


@implements(np.full_like)
def full_like(a: Matrix, fill_value: float) -> Matrix:
    """One number, in its shape, on its device."""
    return filled(a.shape, fill_value, a.device)


def filled(shape: Any, number: float, device: Any = None) -> Matrix:
    """Make a matrix whose elements are all one number: one texel travels, one pass spreads it.

    Examples
    --------
    >>> filled((2, 3), 7).sum()
    np.float32(42.0)
    """
    if np.shape(shape) != (2,) or any(count < 0 for count in shape):
        raise ShapeError(f"filled: a matrix has two dimensions, got shape {shape}")
    rows, columns = (operator.index(count) for count in shape)
    target = device or default_device()
    if 0 in (rows, columns):
        return upload(np.empty((rows, columns), dtype=np.float32), target)
    value = arithmetic.spread(from_scalar(float(np.float32(number)), target), (rows, columns))
    return Matrix._of(value)
