"""The public solver of triangular systems, and the inverse of a triangle for `inv`."""

from __future__ import annotations

from dataclasses import replace
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


def inverse_of_triangle(call: Caller, a: Array | Float32) -> Array | Float32:
    """Inverse of a triangle, for `inv`: zeros in the other half. `call`: of `triangular_inverse`.

    Error: abs(I - a x) <= (n + 4) u abs(a) abs(x), element by element, beside what is lost below 2^-126, as in
    `solve_triangular`; and as there the work is done again in float64 on the CPU near float32's limits. Cost: n^3 / 3
    flop. Larger inverses than the device's memory holds stream as solutions of a x = I, of n^3 flop, and so do small
    ones of a batch without a variant.
    """
    if a.size == 0:
        return a.copy()
    _refuse_zeros(call, a)
    count, n, systems = prod(a.shape[:-2]), a.shape[-1], OPERATIONS["solve_triangular"].batch
    assert systems is not None
    if call.variant is not None or count == 1 or not systems.most((Form((count, n, n)),) * 2, call.device.limits):
        return call(a)
    ones = identity((n, n), call.device) if isinstance(a, Array) else np.eye(n, dtype=np.float32)
    options = {**call.options, "transposed": False}
    return replace(call, operation="solve_triangular", names=("A", "b"), options=options)(a, ones)
