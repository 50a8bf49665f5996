"""Bands of symmetric positive definite matrices: `cholesky_banded`, and what systems with a wide band take."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Matrix, upload
from glla.array.convert import Array, finite_result
from glla.errors import ShapeError
from glla.gl import DeviceLike
from glla.linalg.operands import column, device_of, known_variant, operand, stored, two_dimensional
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS
from glla.operations.elimination import definite_band as kernel
from glla.passes import forms_of
from glla.registry import public


@public()
def cholesky_banded(
    ab: Any,
    *,
    lower: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix | Array:
    """Cholesky factor of a banded matrix in LAPACK's storage, with the semantics of `scipy.linalg.cholesky_banded`.

    Parameters
    ----------
    ab : array_like or Matrix, shape (w + 1, n)
        The main diagonal of a symmetric positive definite matrix and w beside it: those above it, a_ij at
        [w + i - j, j], or with `lower` those below it, a_ij at [i - j, j]. Corners that belong to no element are not
        used.
    lower : bool
        Which diagonals `ab` holds, and whether the factor is L of A = L L^T, or U of A = U^T U.
    variant : str, optional
        A key of `glla.operations.elimination.definite_band.VARIANTS`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Matrix, shape (w + 1, n)
        The factor in the same storage, zero in the corners. Synchronises.

    Raises
    ------
    NotPositiveDefiniteError
        A pivot is not above zero: names the leading minor.
    ShapeError, DTypeError, NonFiniteError, OptionError
        `ab` is no matrix, not real, not finite; unknown variant.
    LimitError, OutOfMemoryError
        `ab` is larger than a texture, or does not fit the device's memory.

    Notes
    -----
    Error: norm(A - L L^T) / (n norm(A) u) stays below 30, u = 2^-24. Cost: n w^2 flop; 3 n / 16 passes, n / 16 for a
    narrow band on a GPU. Source: LAPACK pbtrf.

    Examples
    --------
    >>> import glla
    >>> glla.cholesky_banded([[4, 5, 10], [2, 2, 0]], lower=True)
    array([[2., 2., 3.],
           [1., 1., 0.]], dtype=float32)
    """
    band = operand("cholesky_banded", "ab", ab, check_finite)
    two_dimensional("cholesky_banded", "ab", band)
    known_variant("cholesky_banded", OPERATIONS["cholesky_banded"], variant)
    if band.size == 0:
        return band.copy()
    target = device_of("cholesky_banded", device, band)
    forms, lower = forms_of((band,)), bool(lower)
    perform = on_device(target, kernel.whole(forms, target.limits, lower=lower, variant=variant))
    factor = walk(OPERATIONS["cholesky_banded"], forms, perform, {"A": stored(band), "lower": lower, "member": ""})["L"]
    if isinstance(band, Matrix):
        return factor if isinstance(factor, Matrix) else upload(factor, target)
    return finite_result("cholesky_banded", factor, check_finite)


def solve_definite_band(
    function: str,
    ab: Any,
    b: Any,
    lower: bool = False,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix | Array:
    """Solve A x = b for a symmetric positive definite band, by its Cholesky factor: what a wide band takes.

    Of `scipy.linalg.solveh_banded(ab, b, lower=lower)` it is all that a band of any width needs; a function that has
    faster ways for few diagonals calls this for the others. In a plan of its own a caller puts
    `glla.operations.elimination.definite_band.solution` instead, whose operands lie on the device.

    Parameters
    ----------
    function : str
        That calls, for messages.
    ab : array_like or Matrix, shape (w + 1, n)
        As in `cholesky_banded`.
    b : array_like or Matrix, shape (n,) or (n, k)
        Right-hand sides.
    lower, variant, device, check_finite
        As in `cholesky_banded`.

    Returns
    -------
    ndarray of float32, or Matrix where an operand is one
        Of the shape of `b`. Synchronises.

    Raises
    ------
    NotPositiveDefiniteError, ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As `cholesky_banded` and `glla.solve`.

    Notes
    -----
    Error: norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) stays below 30. Cost: n w^2 + 4 n w k flop; 5 n / 16
    passes, 3 n / 16 for a narrow band on a GPU.

    Examples
    --------
    >>> solve_definite_band("solveh_banded", [[4, 5, 10], [2, 2, 0]], [6, 9, 12], lower=True)
    array([1., 1., 1.], dtype=float32)
    """
    band, rhs = operand(function, "ab", ab, check_finite), operand(function, "b", b, check_finite)
    two_dimensional(function, "ab", band)
    if rhs.ndim not in (1, 2) or rhs.shape[0] != band.shape[1]:
        n = band.shape[1]
        raise ShapeError(f"{function}: b must have shape ({n},) or ({n}, k) for ab {band.shape}, got {rhs.shape}")
    known_variant(function, OPERATIONS["solve_pos_banded"], variant)
    target, operands = device_of(function, device, band, rhs), (band, column(rhs))
    if band.size == 0 or rhs.size == 0:
        nothing = np.empty(rhs.shape, dtype=np.float32)
        return upload(nothing, target) if any(isinstance(one, Matrix) for one in operands) else nothing
    forms, lower = forms_of(operands), bool(lower)
    names = {"A": "ab", "B": "b"} if check_finite else None
    perform = on_device(
        target, kernel.whole_solution(forms, target.limits, lower=lower, variant=variant), function, names
    )
    values = {name: stored(one) for name, one in zip("AB", operands, strict=True)}
    x = walk(OPERATIONS["solve_pos_banded"], forms, perform, {**values, "function": function, "member": ""})["X"]
    if any(isinstance(one, Matrix) for one in operands) and not isinstance(x, Matrix):
        x = upload(finite_result(function, x, check_finite), target)
    found: Matrix | Array = x if rhs.ndim > 1 else x[..., 0]
    return found if isinstance(found, Matrix) else finite_result(function, np.ascontiguousarray(found), check_finite)
