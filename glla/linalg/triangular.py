"""The public solver of triangular systems, and the inverse of a triangle for `inv`."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from glla.array.array import Array, identity
from glla.array.convert import Float32, is_one_of
from glla.errors import OptionError
from glla.gl import DeviceLike
from glla.linalg.caller import Caller
from glla.linalg.operands import device_of, known_variant, operand, square
from glla.operations import OPERATIONS
from glla.passes import Form
from glla.registry import public

TRANSPOSED = {0: False, 1: True, 2: True, "N": False, "T": True, "C": True}
"""Values of `trans`, and whether they mean the transpose."""


@public()
def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Array | Float32:
    """Solve a x = b for a triangular matrix, as `scipy.linalg.solve_triangular`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.solve_triangular([[2, 0], [1, 4]], [2, 9], lower=True)
    array([1., 2.], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers. Only the upper triangle is read, with `lower` only the lower one.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector. Many columns stream through the device,
        as in `solve`.
    trans : {0, 1, 2, "N", "T", "C"}
        0 and "N": a x = b; the others: with the transpose of the triangle.
    lower : bool
        Take the lower triangle of `a`.
    unit_diagonal : bool
        Take ones for the diagonal, which is not read then.
    overwrite_b : bool
        Is taken as SciPy takes it, and changes nothing: `b` is never written to.
    check_finite : bool
        Refuse NaN and infinity anywhere. Without it the other triangle may hold anything.
    variant : str, optional
        A key of `glla.operations.triangles.triangular.VARIANTS`: then matrices of a stack are looped.
    device
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        Of the shape of `b`, or of all the stack; a 1-D `b` gives a 1-D array, beside an Array too. Synchronises.

    Raises
    ------
    SingularMatrixError
        The diagonal has a zero; names its place, as LAPACK's trtrs.
    ShapeError, DTypeError, NonFiniteError, OptionError
        As elsewhere; the solution does not fit float32, or would be rounded to zero.
    LimitError, OutOfMemoryError
        As `solve`.
    """
    matrix = operand("solve_triangular", "a", a, check_finite)
    rhs = operand("solve_triangular", "b", b, check_finite)
    square("solve_triangular", "a", matrix)
    known_variant("solve_triangular", OPERATIONS["solve_triangular"], variant)
    options = {"lower": bool(lower), "unit_diagonal": bool(unit_diagonal), "transposed": _transposed(trans)}
    target, names = device_of("solve_triangular", device, matrix, rhs), ("a", "b")
    call = Caller("solve_triangular", "solve_triangular", target, check_finite, names, variant, options=options)
    if 0 not in rhs.shape:
        _refuse_zeros(call, matrix)
    return call(matrix, rhs)


def _transposed(trans: Any) -> bool:
    """Whether the system is that of the transpose."""
    known = is_one_of(trans, ("N", "T", "C")) or (isinstance(trans, int | np.integer) and trans in (0, 1, 2))
    if not known:
        raise OptionError(
            f"solve_triangular: trans must be 0 or 'N' (a), or 1, 2, 'T' or 'C' (its transpose), got {trans!r}"
        )
    return TRANSPOSED[trans]


def _refuse_zeros(call: Caller, a: Float32 | Array) -> None:
    """Raise if a triangle of the host has a zero on its diagonal, before anything runs."""
    call.refuse(a, "T", lambda t: t.reshape(t.shape[-2:]) if t.shape[:-2] == (1,) else t)


# -- the inverse of a triangle ----------------------------------------------------------------------------------------


def inverse_of_triangle(
    a: Any,
    lower: bool = False,
    unit_diagonal: bool = False,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Inverse of a triangle, for `inv`: zeros in the other half.

    Of the shape of `a`. Synchronises.
    `a`, (..., n, n): real numbers. Only the upper triangle is read, with `lower` only the lower one. `lower`,
    `unit_diagonal`, `check_finite`, `device`: as in `solve_triangular`. `variant`: a key of
    `glla.operations.triangles.triangular_inverse.VARIANTS`: then matrices of a stack are looped.
    Raises SingularMatrixError: the diagonal has a zero; names its place. Raises ShapeError, DTypeError, NonFiniteError,
    OptionError, LimitError, OutOfMemoryError: as `solve_triangular`.

    Error: abs(I - a x) <= (n + 4) u abs(a) abs(x), element by element, beside what is lost below 2^-126, as in
    `solve_triangular`; and as there the work is done again in float64 on the CPU near float32's limits. Cost: n^3 / 3
    flop. Larger inverses than the device's memory holds stream as solutions of a x = I, of n^3 flop.

    >>> inverse_of_triangle([[2, 9], [0, 4]])
    array([[ 0.5  , -1.125],
           [ 0.   ,  0.25 ]], dtype=float32)
    """
    value = operand("inv", "A", a, check_finite)
    square("inv", "A", value)
    known_variant("inv", OPERATIONS["triangular_inverse"], variant)
    if value.size == 0:
        return value.copy()
    options = {"lower": bool(lower), "unit_diagonal": bool(unit_diagonal)}
    stack, n = value.shape[:-2], value.shape[-1]
    target, systems = device_of("inv", device, value), OPERATIONS["solve_triangular"].batch
    assert systems is not None
    small = systems.most((Form((prod(stack), n, n)), Form((prod(stack), n, n))), target.limits)
    if variant is None and prod(stack) > 1 and small:  # batched, as solutions of a x = I
        ones = identity((n, n), target) if isinstance(value, Array) else np.eye(n, dtype=np.float32)
        names, options = ("A", "b"), {**options, "transposed": False}
        call = Caller("solve_triangular", "inv", target, check_finite, names, options=options)
        given: tuple[Float32 | Array, ...] = value, ones
    else:
        call = Caller("triangular_inverse", "inv", target, check_finite, ("A",), variant, options=options)
        given = (value,)
    _refuse_zeros(call, value)
    return call(*given)
