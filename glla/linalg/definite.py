"""Structures of matrices, by the names of `assume_a`; and systems with Cholesky factors, and with definite bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array import shaping
from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import OptionError, ShapeError, among
from glla.gl import DeviceLike
from glla.linalg.caller import Caller
from glla.linalg.operands import as_float64, beside_factors, device_of, known_variant, operand, pair, square
from glla.operations import OPERATIONS
from glla.registry import public

TRIANGLES = ("lower triangular", "upper triangular")
"""Triangles by SciPy's names; the other half of such a matrix is never read."""

STRUCTURES = ("diagonal", "tridiagonal", "banded")
"""Structures of which only the diagonals inside the band are read."""

SYMMETRIC = ("sym", "her")
"""Real symmetric matrices, of which one half is read; they take PLU factors."""

ASSUMED = ("gen", *SYMMETRIC, "pos", *TRIANGLES, *STRUCTURES)
"""Values of `assume_a` in `solve`, by SciPy's names; the first three take PLU factors."""

LONG = {"general": "gen", "symmetric": "sym", "hermitian": "her", "positive definite": "pos"}
"""SciPy's longer names of some of them."""

OF_INVERSES = tuple(name for name in ASSUMED if name not in STRUCTURES)
"""Values of `assume_a` in `inv`, which has none for bands: the inverse of a band is full."""


def assumed(function: str, assume_a: Any, of: tuple[str, ...] = ASSUMED) -> str:
    """Normalise `assume_a` to its short name; None, with which SciPy detects structure, is "gen", which serves all.

    Raises OptionError: it can't be assumed.
    """
    if assume_a is None:
        return "gen"
    short = LONG.get(assume_a, assume_a) if isinstance(assume_a, str) else ""
    if short in of:
        return short
    if short in ASSUMED:
        raise OptionError(
            f"{function}: assume_a must be one of {', '.join(of)}, got {assume_a!r}, which `solve` alone takes; 'gen' "
            "inverts such matrices as well"
        )
    raise OptionError(f"{function}: assume_a must be one of {among(of, assume_a)}")


def by_half(function: str, a: Any, lower: bool, check_finite: bool, wide: bool = False) -> Any:
    """Take a symmetric matrix by one half alone, in float64 if `wide`: the other half is its mirror image."""
    matrix = as_float64(function, "A", a, check_finite) if wide else operand(function, "A", a, check_finite)
    square(function, "A", matrix)
    return mirrored(matrix, lower)


def mirrored(a: Any, lower: bool) -> Any:
    """Put the mirror image of one half of a matrix, or of each of a stack, into the other half."""
    beyond = -1 if lower else 1
    if isinstance(a, Array):
        half, rest = (Array._of(shaping.triangle(a.value, not lower, offset)) for offset in (0, beyond))
        return half + rest.mT
    keep = np.tril if lower else np.triu
    return keep(a) + np.swapaxes(keep(a, beyond), -1, -2)


@public()
def cho_solve(
    c_and_lower: tuple[Any, bool],
    b: Any,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Array | Float32:
    """Solve A x = b from the Cholesky factor of A, as `scipy.linalg.cho_solve`.

    Examples
    --------
    >>> import glla
    >>> glla.cho_solve(glla.cho_factor([[4, 2], [2, 5]]), [8, 12])
    array([1., 2.], dtype=float32)

    Parameters
    ----------
    c_and_lower : (c, lower)
        Of a matrix or a stack of them, shape (..., n, n), from `cho_factor` or from `scipy.linalg.cho_factor`: the
        lower or the upper factor. The other triangle of `c` is not used.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector.
    overwrite_b : bool
        Is taken as SciPy takes it, and changes nothing: operands are never written to.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        As `solve`; a 1-D `b` gives a 1-D array, beside an Array too. Synchronises.

    Raises
    ------
    SingularMatrixError
        The factor has a zero on its diagonal.
    ShapeError
        The factor is not square, or its order is not the length of `b`; or the first argument is no pair.
    DTypeError, NonFiniteError
        As elsewhere; both triangles of `c` are looked at.
    LimitError, OutOfMemoryError
        `c` is larger than a texture, or the operands do not fit the device's memory.

    Notes
    -----
    Error: norm(b - A x) / ((norm(abs(L) abs(L^T)) norm(x) + norm(b)) n u) stays below 30, u = 2^-24. Cost: 2 n^2 k
    flop; passes as `lu_solve`; small matrices of a stack are batched: n / 4 + 3 passes. Source: LAPACK
    potrs.
    """
    c, lower = pair("cho_solve", c_and_lower, "(c, lower) of cho_factor")
    factor = operand("cho_solve", "c", c, check_finite)
    rhs = operand("cho_solve", "b", b, check_finite)
    beside_factors("cho_solve", "c", factor, rhs)
    target = device_of("cho_solve", device, factor, rhs)
    options = {"lower": bool(lower)}
    call = Caller("cho_solve", "cho_solve", target, check_finite, ("c", "b"), diagnostic="diagonal", options=options)
    return call(factor, rhs)


# -- bands -------------------------------------------------------------------------------------------------------------


@public()
def cholesky_banded(
    ab: Any,
    overwrite_ab: bool = False,
    lower: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> Array | Float32:
    """Cholesky factor of a banded matrix in LAPACK's storage, with the semantics of `scipy.linalg.cholesky_banded`.

    Examples
    --------
    >>> import glla
    >>> glla.cholesky_banded([[4, 5, 10], [2, 2, 0]], lower=True)
    array([[2., 2., 3.],
           [1., 1., 0.]], dtype=float32)

    Parameters
    ----------
    ab : array_like or Array, shape (..., w + 1, n)
        The main diagonal of a symmetric positive definite matrix and w beside it: those above it, a_ij at
        [w + i - j, j], or with `lower` those below it, a_ij at [i - j, j]. Corners that belong to no element are not
        used.
    overwrite_ab : bool
        Is taken as SciPy takes it, and changes nothing: operands are never written to.
    lower : bool
        Which diagonals `ab` holds, and whether the factor is L of A = L L^T, or U of A = U^T U.
    variant : str, optional
        A key of `glla.operations.bands.definite_band.VARIANTS`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array, shape (..., w + 1, n)
        The factor in the same storage, zero in the corners. Synchronises.

    Raises
    ------
    NotPositiveDefiniteError
        A pivot is not above zero: names the leading minor, and the matrix of a stack.
    ShapeError, DTypeError, NonFiniteError, OptionError
        `ab` has fewer than two dimensions, not real, not finite; unknown variant.
    LimitError, OutOfMemoryError
        `ab` is larger than a texture, or does not fit the device's memory.

    Notes
    -----
    Error: norm(A - L L^T) / (n norm(A) u) stays below 30, u = 2^-24. Cost: n w^2 flop; 3 n / 16 passes, n / 16 for a
    narrow band on a GPU. Bands of a stack are batched: as many passes as one. Source: LAPACK pbtrf.
    """
    function = "cholesky_banded"
    bands = operand(function, "ab", ab, check_finite)
    if bands.ndim < 2:
        raise ShapeError(f"{function}: ab must have shape (..., w + 1, n), got {bands.shape}")
    known_variant(function, OPERATIONS[function], variant)
    if bands.size == 0:  # without diagonals too, as SciPy has it
        return bands.copy()
    target, options = device_of(function, device, bands), {"lower": bool(lower)}
    call = Caller(function, function, target, check_finite, ("ab",), variant, ("L",), "diagonal", options)
    return call(bands)


@public()
def cho_solve_banded(
    cb_and_lower: tuple[Any, bool],
    b: Any,
    overwrite_b: bool = False,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> Array | Float32:
    """Solve A x = b from the Cholesky factor of a band, as `scipy.linalg.cho_solve_banded`.

    Examples
    --------
    >>> import glla
    >>> cb = glla.cholesky_banded([[4, 5, 10], [2, 2, 0]], lower=True)
    >>> glla.cho_solve_banded((cb, True), [6, 9, 12])
    array([1., 1., 1.], dtype=float32)

    Parameters
    ----------
    cb_and_lower : (cb, lower)
        The factor of a matrix or of a stack of them, shape (..., w + 1, n), from `cholesky_banded` or SciPy's, and
        which diagonals it holds: L's (True), or those of U = L^T. Corners that belong to no element are not used.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector.
    overwrite_b : bool
        Is taken as SciPy takes it, and changes nothing: operands are never written to.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        Of the shape of `b`, or of all the stack; beside an Array an Array. Synchronises.

    Raises
    ------
    SingularMatrixError
        The factor has a zero on its diagonal; names the matrix of a stack.
    ShapeError
        Shapes do not fit together, or the first argument is no pair.
    DTypeError, NonFiniteError
        Not real; not finite, or the solution is too large for float32, or so small that it would be rounded to zero.
    LimitError, OutOfMemoryError
        `cb` is larger than a texture, or the operands do not fit the device's memory.

    Notes
    -----
    Error: norm(b - A x) / ((norm(abs(L) abs(L^T)) norm(x) + norm(b)) n u) stays below 30, u = 2^-24. Cost: 4 n w k
    flop, and n / 8 passes, for a stack too. Source: LAPACK pbtrs.
    """
    function = "cho_solve_banded"
    cb, lower = pair(function, cb_and_lower, "(cb, lower) of cholesky_banded")
    factor, rhs = banded(function, "cb", cb, check_finite), operand(function, "b", b, check_finite)
    target = device_of(function, device, factor, rhs)
    options = {"lower": bool(lower)}
    call = Caller(function, function, target, check_finite, ("cb", "b"), diagnostic="diagonal", options=options)
    return call(factor, rhs)


def solve_definite_band(
    function: str, ab: Any, b: Any, lower: bool = False, device: DeviceLike | None = None, check_finite: bool = True
) -> Array | Float32:
    """Solve A x = b for a symmetric positive definite band of any width, by its Cholesky factor: `solveh_banded`.

    In a plan of its own a caller puts `glla.operations.bands.definite_band.solution` instead, whose operands are on the
    device. `function`: that calls, for messages. Others as in `cholesky_banded` and `cho_solve_banded`.

    Error: norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) stays below 30. Cost: n w^2 + 4 n w k flop; 5 n / 16
    passes, 3 n / 16 for a narrow band on a GPU, for a stack too.
    """
    bands, rhs = banded(function, "ab", ab, check_finite), operand(function, "b", b, check_finite)
    target, options = device_of(function, device, bands, rhs), {"lower": bool(lower)}
    return Caller("solve_pos_banded", function, target, check_finite, ("ab", "b"), options=options)(bands, rhs)


def banded(function: str, name: str, ab: Any, check_finite: bool) -> Float32 | Array:
    """Take bands in LAPACK's storage: a row for each diagonal."""
    bands = operand(function, name, ab, check_finite)
    if bands.ndim < 2 or bands.shape[-2] == 0 < bands.shape[-1]:
        raise ShapeError(f"{function}: {name} must have shape (..., w + 1, n), got {bands.shape}")
    return bands
