"""Variants of `inv` that must be named: a formula for order 3, Gauss-Jordan elimination."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, upload
from glla.array.convert import Float32, finite_result
from glla.errors import GllaError, NonFiniteError, OptionError, among
from glla.gl import Device, DeviceLike
from glla.linalg import resident
from glla.linalg.call import Call
from glla.linalg.operands import device_of, operand, square
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS
from glla.operations.acceptance import member_of_stack
from glla.operations.batches.stack import IN_REGISTERS
from glla.operations.routes import must_fit_a_texture, pieces
from glla.operations.systems.inv3 import BATCHES, most_together, settle, whole
from glla.passes import forms_of

TINY = np.finfo(np.float32).tiny
"""Smallest normal float32, 2^-126: GPUs may flush smaller numbers to zero."""

FORMULAS = ("adjugate", "adjugate_fused")
"""Variants of `glla.operations.systems.inv3` that must be named in `inv`; the default is elimination."""


def inverse_by_variant(a: Any, variant: Any, device: DeviceLike | None, check_finite: bool) -> Array | Float32:
    """Invert by the way of this name.

    Raises
    ------
    OptionError
        There is none.
    """
    if variant in FORMULAS:
        return inverse_by_formula(a, variant, device, check_finite)
    if variant == "gauss_jordan":
        return inverse_by_gauss_jordan(a, device, check_finite)
    known = among((*FORMULAS, "pivoted_small", "gauss_jordan"), variant)
    raise OptionError(f"inv: variant must be one of {known}; other ones are for assume_a='pos' and triangles")


def must_be_small(value: Float32 | Array) -> None:
    """Raise OptionError for matrices that one fragment cannot eliminate."""
    if value.shape[-1] > IN_REGISTERS:
        raise OptionError(
            f"inv: variant 'pivoted_small' is for matrices of order {IN_REGISTERS} at most, got shape {value.shape}; "
            "leave it out"
        )


def inverse_by_formula(a: Any, variant: str, device: DeviceLike | None, check_finite: bool) -> Array | Float32:
    """Invert every 3 x 3 matrix of a stack by the adjugate formula.

    Parameters
    ----------
    a : array_like or Array, shape (..., 3, 3)
        Real numbers.
    variant : {"adjugate", "adjugate_fused"}
        In two passes, as the source has it, or in one.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        Of the shape of `a`. Synchronises; of matrices on a device six diagnostics each are read, and they stay there.

    Raises
    ------
    SingularMatrixError
        A determinant is no larger than its rounding error; names the matrix.
    OptionError
        The matrices are of another order.
    NonFiniteError
        An inverse is too large for float32, or too small.

    Notes
    -----
    Error: abs(A X - I) <= 12 u abs(A) P / abs(det A), P the cofactors with all terms positive. So norm(A X - I) / (n
    norm(A) norm(X) u) may pass 30, the bound of `inv`, where two singular values are small: see
    `glla.operations.systems.inv3`.

    Examples
    --------
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
    if isinstance(value, Array):
        return _of_residents(value, variant, target, check_finite)
    return finite_result("inv", _inverses(value, variant, target), check_finite)


def _of_residents(a: Array, variant: str, device: Device, check_finite: bool) -> Array:
    """Invert matrices on a device: of each the diagnostics are read back, and the largest entry of the inverse."""
    stack = a.shape[:-2]
    operation = replace(OPERATIONS["inv"], batch=BATCHES[variant])
    found = resident.together(device, operation, (resident.spread(a, stack or (1,)),), check_finite)
    if found is None or found.matrices is None:
        return upload(_inverses(a.numpy(), variant, device), device)
    verdict = settle((a.value.form,), "", {"diagnostics": found.diagnostics[:, 0], "members": partial(_member, stack)})
    if isinstance(verdict, GllaError):
        raise verdict
    x = resident.shaped(found.matrices, a.shape)
    largest = x.vector_norm(np.inf, (-2, -1)).numpy().reshape(-1)
    finite_result("inv", largest, check_finite)
    _refuse_lost(np.flatnonzero(largest < TINY))
    return x


def _member(stack: tuple[int, ...], index: int) -> str:
    return member_of_stack(tuple(int(i) for i in np.unravel_index(index, stack)) if stack else ())


def _inverses(a: Float32, variant: str, device: Device) -> Float32:
    stack, rows = a.shape[:-2], np.ascontiguousarray(a).reshape(-1, 9)
    x = np.empty(rows.shape, dtype=np.float32)
    for first, end in pieces(len(rows), most_together(device.limits)):
        part = rows[first:end]

        def member(index: int, first: int = first) -> str:
            return _member(stack, first + index)

        forms = forms_of((part,))
        perform = on_device(device, whole(forms, device.limits, variant=variant))
        x[first:end] = walk(OPERATIONS["inv3"], forms, perform, {"A": part, "members": member})["X"]
    _refuse_lost(np.flatnonzero((np.abs(x) < TINY).all(axis=1)))
    return x.reshape(a.shape)


def _refuse_lost(places: NDArray[np.intp]) -> None:
    """Raise NonFiniteError for inverses of which nothing is left in float32."""
    if len(places):
        raise NonFiniteError(
            f"inv: the inverse must fit float32, got one below 2^-126 (matrix {places[0]} of the stack); scale the "
            "matrix"
        )


def inverse_by_gauss_jordan(a: Any, device: DeviceLike | None, check_finite: bool) -> Array | Float32:
    """Invert as the author of `glla.operations.systems.gauss_jordan` does, three passes a column; matrices one by one.

    Raises
    ------
    ConvergenceError
        norm(A X - I) / (n norm(A) norm(X) u) is beyond 30; names the column whose pivot was to blame.
    SingularMatrixError
        Likewise, and a column depends on those before it.

    Examples
    --------
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
