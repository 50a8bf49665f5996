"""Variants of `inv` that must be named: a formula for order 3, Gauss-Jordan elimination."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import Float32, finite_result
from glla.errors import NonFiniteError, OptionError, among
from glla.gl import DeviceLike
from glla.linalg.call import Call
from glla.linalg.operands import device_of, operand, square
from glla.operations.batches.stack import IN_REGISTERS
from glla.operations.routes import must_fit_a_texture

TINY = np.finfo(np.float32).tiny
"""Smallest normal float32, 2^-126: GPUs may flush smaller numbers to zero."""

FORMULAS = ("adjugate", "adjugate_fused")
"""Variants of `glla.operations.systems.inv3` that must be named in `inv`; the default is elimination."""


def inverse_by_variant(a: Any, variant: Any, device: DeviceLike | None, check_finite: bool) -> Array | Float32:
    """Invert by the way of this name. Raises OptionError: there is none."""
    if variant in FORMULAS:
        return inverse_by_formula(a, variant, device, check_finite)
    if variant == "gauss_jordan":
        return inverse_by_gauss_jordan(a, device, check_finite)
    known = among((*FORMULAS, "pivoted_small", "gauss_jordan"), variant)
    raise OptionError(f"inv: variant must be one of {known}; assume_a='pos' and triangles have variants of their own")


def must_be_small(value: Float32 | Array) -> None:
    """Raise OptionError for matrices that one fragment cannot eliminate."""
    if value.shape[-1] > IN_REGISTERS:
        raise OptionError(
            f"inv: variant 'pivoted_small' is for matrices of order {IN_REGISTERS} at most, got shape {value.shape}; "
            "leave it out"
        )


def inverse_by_formula(a: Any, variant: str, device: DeviceLike | None, check_finite: bool) -> Array | Float32:
    """Invert every 3 x 3 matrix of a stack by the adjugate formula.

    Of the shape of `a`. Synchronises; of matrices on a device six diagnostics each are read, and they stay there.
    `a`, (..., 3, 3): real numbers. `variant` ("adjugate", "adjugate_fused"): in two passes, as the source has it, or in
    one. `device`, `check_finite`: as in `matmul`.
    Raises SingularMatrixError: a determinant is no larger than its rounding error; names the matrix. Raises
    OptionError: the matrices are of another order. Raises NonFiniteError: an inverse is too large for float32, or too
    small.

    Error: abs(A X - I) <= 12 u abs(A) P / abs(det A), P the cofactors with all terms positive. So norm(A X - I) / (n
    norm(A) norm(X) u) may pass 30, the bound of `inv`, where two singular values are small: see
    `glla.operations.systems.inv3`.

    >>> inverse_by_formula([[[2, 0, 0], [0, 4, 0], [0, 0, 1]]], "adjugate", None, True)
    array([[[0.5 , 0.  , 0.  ],
            [0.  , 0.25, 0.  ],
            [0.  , 0.  , 1.  ]]], dtype=float32)
    """
    value = operand("inv", "A", a, check_finite)
    square("inv", "A", value)
    if value.shape[-1] != 3:
        raise OptionError(
            f"inv: variant {variant!r} is a formula for matrices of order 3, got shape {value.shape}; leave it out"
        )
    target = device_of("inv", device, value)
    if value.size == 0:
        return value.copy()
    call = Call("inv3", "inv", target, check_finite, ("A",), options={"mode": variant})
    x: Array | Float32 = call.named(value, as_batch=True)["X"]
    largest = x.vector_norm(np.inf, (-2, -1)).numpy() if isinstance(x, Array) else np.abs(x).max(axis=(-2, -1))
    finite_result("inv", largest, check_finite)
    lost = np.flatnonzero(largest < TINY)
    if len(lost):
        raise NonFiniteError(
            f"inv: the inverse must fit float32, got one below 2^-126 (matrix {lost[0]} of the stack); scale the matrix"
        )
    return x


def inverse_by_gauss_jordan(a: Any, device: DeviceLike | None, check_finite: bool) -> Array | Float32:
    """Invert as the author of `glla.operations.systems.gauss_jordan` does, three passes a column; matrices one by one.

    Raises ConvergenceError: norm(A X - I) / (n norm(A) norm(X) u) is beyond 30; names the column whose pivot was to
    blame. Raises SingularMatrixError: likewise, and a column depends on those before it.

    >>> inverse_by_gauss_jordan([[0, 2], [4, 0]], None, True)
    array([[0.  , 0.25],
           [0.5 , 0.  ]], dtype=float32)
    """
    value = operand("inv", "A", a, check_finite)
    square("inv", "A", value)
    if value.size == 0:
        return value.copy()
    target, n = device_of("inv", device, value), value.shape[-1]
    must_fit_a_texture("inv", (2 * n, 2 * n), target.limits)  # A and I stand side by side
    return Call("gauss_jordan", "inv", target, check_finite, ("A",))(value)
