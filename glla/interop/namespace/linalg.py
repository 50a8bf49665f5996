"""The extension ``linalg`` of the array API, as far as it goes; `LEFT_OUT` names the rest.

A public function that names its counterpart in the standard (see `glla.registry.public`) is `offered` here by itself.
Written out are those whose arguments or results differ from the standard's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from glla import linalg, registry
from glla.array.arithmetic import broadcast_shape
from glla.array.array import Matrix, asarray
from glla.array.reductions import as_axis
from glla.errors import OptionError, ShapeError
from glla.interop import numpy as protocols
from glla.interop.namespace.datatypes import check_dtype
from glla.interop.namespace.statistics import on_host


def diagonal(x: Matrix, /, *, offset: int = 0) -> Any:
    """Diagonal, a vector on the host. Synchronises."""
    return x.diagonal(offset)


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


STANDARD = frozenset((
    "cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
    "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
))  # fmt: skip
"""Functions of the standard's extension, version 2025.12."""


@cache
def offered(public: registry.Public) -> Callable[..., Any]:
    """Give a public function the standard's form: operands by position alone, options by name, no bare numbers.

    Examples
    --------
    >>> def solve(a, b, *, refine=False, device=None):
    ...     return linalg.solve(a, b)
    >>> inspect.signature(offered(registry.Public(solve, namespace="solve")))
    <Signature (x1, x2, /)>
    """
    given = inspect.signature(public.function).parameters.values()
    operands = [parameter for parameter in given if parameter.default is parameter.empty]
    names = ["x"] if len(operands) == 1 else [f"x{place + 1}" for place in range(len(operands))]
    signature = inspect.Signature(
        [
            *(inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names),
            *(
                part.replace(kind=part.KEYWORD_ONLY, annotation=part.empty)
                for part in given
                if part.name in public.options
            ),
        ]
    )

    def function(*args: Any, **options: Any) -> Any:
        signature.bind(*args, **options)  # raises a TypeError for arguments that the standard has not
        result = public.function(*args, **options)
        return result._make(map(on_host, result)) if hasattr(result, "_fields") else on_host(result)

    name = public.function.__name__
    summary = (inspect.getdoc(public.function) or "").split("\n")[0]
    function.__name__ = function.__qualname__ = public.namespace or name
    function.__doc__ = f"{summary} See `glla.{name}`."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def __getattr__(name: str) -> Any:
    """Find a public function that names its counterpart here."""
    for public in registry.PUBLIC.values():
        if public.namespace == name:
            return offered(public)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
__all__ += sorted({public.namespace for public in registry.PUBLIC.values() if public.namespace} - {*__all__})

LEFT_OUT = sorted(STANDARD.difference(__all__))
"""Functions of the standard's extension that are not here."""
