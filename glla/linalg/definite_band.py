"""Bands of symmetric positive definite matrices: `cholesky_banded`, `cho_solve_banded`, systems with a wide band."""

from __future__ import annotations

from typing import Any

from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import ShapeError
from glla.gl import DeviceLike
from glla.linalg.call import Call
from glla.linalg.operands import device_of, known_variant, operand, pair
from glla.operations import OPERATIONS
from glla.registry import public


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
    narrow band on a GPU. Bands of a stack go together, by as many passes as one. Source: LAPACK pbtrf.
    """
    function = "cholesky_banded"
    bands = operand(function, "ab", ab, check_finite)
    if bands.ndim < 2:
        raise ShapeError(f"{function}: ab must have shape (..., w + 1, n), got {bands.shape}")
    known_variant(function, OPERATIONS[function], variant)
    if bands.size == 0:  # without diagonals too, as SciPy has it
        return bands.copy()
    target, options = device_of(function, device, bands), {"lower": bool(lower)}
    call = Call(function, function, target, check_finite, ("ab",), variant, ("L",), "diagonal", options)
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
    call = Call(function, function, target, check_finite, ("cb", "b"), diagnostic="diagonal", options=options)
    return call(factor, rhs)


def solve_definite_band(
    function: str,
    ab: Any,
    b: Any,
    lower: bool = False,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Solve A x = b for a symmetric positive definite band, by its Cholesky factor: the way of wide bands.

    Of `scipy.linalg.solveh_banded(ab, b, lower=lower)` it is all that a band of any width needs; a function that has
    faster ways for few diagonals calls this for the others. In a plan of its own a caller puts
    `glla.operations.bands.definite_band.solution` instead, whose operands are on the device.

    Of the shape of `b`, or of all the stack. Synchronises.
    `function`: that calls, for messages. `ab`, (..., w + 1, n): as in `cholesky_banded`. `b`, (n,): right-hand sides,
    as in `cho_solve_banded`. `lower`, `variant`, `device`, `check_finite`: as in `cholesky_banded`.
    Raises NotPositiveDefiniteError, ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError:
    as `cholesky_banded` and `glla.solve`.

    Error: norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) stays below 30. Cost: n w^2 + 4 n w k flop; 5 n / 16
    passes, 3 n / 16 for a narrow band on a GPU, for a stack too.

    >>> solve_definite_band("solveh_banded", [[4, 5, 10], [2, 2, 0]], [6, 9, 12], lower=True)
    array([1., 1., 1.], dtype=float32)
    """
    bands, rhs = banded(function, "ab", ab, check_finite), operand(function, "b", b, check_finite)
    known_variant(function, OPERATIONS["solve_pos_banded"], variant)
    target, options = device_of(function, device, bands, rhs), {"lower": bool(lower)}
    call = Call("solve_pos_banded", function, target, check_finite, ("ab", "b"), variant, options=options)
    return call(bands, rhs)


# -- stacks -----------------------------------------------------------------------------------------------------------


def banded(function: str, name: str, ab: Any, check_finite: bool) -> Float32 | Array:
    """Take bands in LAPACK's storage: a row for each diagonal."""
    bands = operand(function, name, ab, check_finite)
    if bands.ndim < 2 or bands.shape[-2] == 0 < bands.shape[-1]:
        raise ShapeError(f"{function}: {name} must have shape (..., w + 1, n), got {bands.shape}")
    return bands
