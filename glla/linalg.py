"""The public functions: check the operands, run plans, wrap the results.

Every function takes arrays or `glla.Matrix`. Arrays in, arrays out; if an operand is a Matrix, the results that are
matrices are Matrix too. Nothing that is passed in is changed. Results are float32 unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glla import condition, gauss_jordan, remedies, stacks, tiling
from glla.device import Device, default_device
from glla.dispatch import delegating
from glla.errors import (
    DeviceMismatchError,
    DTypeError,
    LimitError,
    NonFiniteError,
    OptionError,
    OptionTypeError,
    OutOfMemoryError,
    ShapeError,
    SingularMatrixError,
    real,
)
from glla.factors import (
    Factors,
    factorise,
    from_pivots,
    largest_magnitude,
    member_of_stack,
    permutation_of,
    sign_and_log,
)
from glla.kernels import matmul as matmul_kernel
from glla.kernels import pivot, triangular
from glla.kernels import plu as plu_kernel
from glla.kernels import rref as rref_kernel
from glla.matrix import (
    Array,
    Matrix,
    all_finite,
    as_float32,
    as_real,
    checked_device,
    finite_result,
    identity,
    is_one_of,
    product,
    refuse_nonfinite,
    upload,
)
from glla.passes import Limits, Plan, Variant
from glla.refine import RefinedSolution, scaling

CAREFUL = 256
"""Right-hand sides that are solved with care at a time, where they stream through the device."""


class RREF(NamedTuple):
    """What `rref` returns.

    Attributes
    ----------
    matrix : ndarray of float32 or Matrix, shape (m, n)
        The reduced row echelon form.
    pivots : tuple of int
        Columns of the leading ones; the rank is their number.
    """

    matrix: Any
    pivots: tuple[int, ...]


class PLU(NamedTuple):
    """What `plu` returns: A = P @ L @ U.

    Attributes
    ----------
    P : shape (m, m)
        Permutation matrix.
    L : shape (m, k)
        Unit lower trapezoidal, k = min(m, n).
    U : shape (k, n)
        Upper trapezoidal.
    """

    P: Any
    L: Any
    U: Any


class SlogdetResult(NamedTuple):
    """What `slogdet` returns: det(A) = sign * exp(logabsdet)."""

    sign: Any
    logabsdet: Any


# -- operands -----------------------------------------------------------------------------------------------------


def _device(function: str, device: Device | None, *values: Any) -> Device:
    """Device to work on: that of the matrices among the operands, the one asked for, or the default one."""
    for value in values:
        if isinstance(value, Matrix):
            if device is not None and value.device is not device:
                raise DeviceMismatchError(f"{function}: operands must live on one device; pass numpy() of one of them")
            device = value.device
    return checked_device(function, device) or default_device()


def _operand(function: str, name: str, value: Any, check_finite: bool) -> Array | Matrix:
    return value if isinstance(value, Matrix) else as_float32(function, name, value, check_finite)


def _on(device: Device, value: Array | Matrix) -> Matrix:
    return value if isinstance(value, Matrix) else upload(value, device)


def _row(value: Any) -> Any:
    return value[np.newaxis, :] if value.ndim == 1 else value


def _column(value: Any) -> Any:
    return value[:, np.newaxis] if value.ndim == 1 else value


def _two_dimensional(function: str, name: str, value: Array | Matrix) -> None:
    if value.ndim != 2:
        raise ShapeError(f"{function}: {name} must be two-dimensional, got shape {value.shape}; reshape it")


def _square(function: str, name: str, value: NDArray[Any] | Matrix) -> None:
    if value.ndim < 2:
        raise ShapeError(f"{function}: {name} must be at least two-dimensional, got shape {value.shape}; reshape it")
    if value.shape[-1] != value.shape[-2]:
        raise ShapeError(f"{function}: the last two dimensions of {name} must be square, got shape {value.shape}")


def _refuse_nonfinite(function: str, **operands: Any) -> None:
    """Raise if a Matrix holds NaN or infinity: arithmetic on the device may have made them, as IEEE 754 has it.

    Synchronises. Arrays among the operands were looked at when they came in.
    """
    for name, value in operands.items():
        if isinstance(value, Matrix) and value.size and not np.isfinite(largest_magnitude(value)):
            raise NonFiniteError(
                f"{function}: {name} must not hold NaN or infinity, got a Matrix that does; find out which operation "
                "made them with its numpy(check_finite=True), or pass check_finite=False to let them through"
            )


def _known_variant(function: str, table: Mapping[str, Variant], variant: str | None) -> None:
    if variant is not None and not is_one_of(variant, table):
        raise OptionError(f"{function}: variant must be one of {', '.join(table)}, got {variant!r}")


# -- product ------------------------------------------------------------------------------------------------------


@delegating
def matmul(
    a: Any,
    b: Any,
    *,
    out: Any = None,
    variant: str | None = None,
    device: Device | None = None,
    check_finite: bool = True,
) -> Any:
    """Matrix product with the semantics of `numpy.matmul`.

    Parameters
    ----------
    a, b : array_like or Matrix, shapes (..., m, k) and (..., k, n)
        Real numbers. A 1-D `a` counts as a row, a 1-D `b` as a column, and that dimension is dropped from the result.
        Leading dimensions broadcast; one plan serves a whole stack of small matrices, see `glla.stacks`. Arrays may be
        larger than a texture, or than the device's memory: they are cut into tiles then, which stream through the
        device, see `glla.tiling`. They may be mapped from files (`numpy.memmap`); what is not float32 is converted as
        a whole first, in the host's memory.
    out : ndarray of float32, optional
        Where the result goes, of its shape; it may be mapped from a file. Not beside a Matrix.
    variant : str, optional
        A key of ``glla.kernels.matmul.VARIANTS``, for example ``inner_product`` or ``virtual_cube``; `glla variants`
        lists them. The products of a stack are then made one by one. By default `glla.kernels.matmul.choose` decides.
    device : Device, optional
        By default the device of a Matrix among the operands, or the default device.
    check_finite : bool
        Refuse NaN and infinity, in the operands and in the result.

    Returns
    -------
    ndarray of float32, shape (..., m, n), or Matrix
        An array synchronises, a Matrix does not. The product of a Matrix and a 1-D array is a 1-D array.

    Raises
    ------
    ShapeError
        Inner dimensions differ, leading ones do not broadcast, or an operand is a scalar; `out` has another shape.
    DTypeError, NonFiniteError
        Complex or object operands; NaN, infinity, or an overflow of float32 (`out`, if given, holds it then). `out` is
        not float32.
    OptionError
        No such variant; `out` is no array that can be written, or stands beside a Matrix.
    LimitError
        The variant needs more than this device has: ``compute_tiled`` needs OpenGL 4.3. Or a Matrix is larger than a
        texture.
    OutOfMemoryError
        Not even the smallest tile has room on the device.

    Notes
    -----
    Error: abs(C - C^) <= K u abs(A) abs(B) elementwise, u = 2^-24, and usually below 4 sqrt(K) u abs(A) abs(B).
    Integers are exact as long as all partial sums stay below 2^24. Cost: 2 m k n flop; 1 pass (``inner_product``),
    ceil(k / 2) (``virtual_cube``), or as the variant says. Source: Brodtkorb 2007, section 4.1.1.

    Examples
    --------
    >>> import glla
    >>> glla.matmul([[1, 2], [3, 4]], [[5], [6]])
    array([[17.],
           [39.]], dtype=float32)
    """
    _known_variant("matmul", matmul_kernel.VARIANTS, variant)
    left = _operand("matmul", "A", a, check_finite)
    right = _operand("matmul", "B", b, check_finite)
    for name, operand in (("A", left), ("B", right)):
        if operand.ndim == 0:
            raise ShapeError(f"matmul: {name} must have at least one dimension, got a scalar; use * to scale")
    if isinstance(left, Matrix) or isinstance(right, Matrix):
        if out is not None:
            raise OptionError("matmul: out must be None beside a Matrix, the result is a Matrix too; use its numpy()")
        rows, columns = _row(left), _column(right)
        _two_dimensional("matmul", "A", rows)
        _two_dimensional("matmul", "B", columns)
        target = _device("matmul", device, left, right)
        result = product("matmul", _on(target, rows), _on(target, columns), variant)
        return result if left.ndim == right.ndim else finite_result("matmul", result.numpy().reshape(-1), check_finite)
    result = _matmul_arrays(left, right, out, variant, device)
    return finite_result("matmul", result, check_finite)


def _matmul_arrays(a: Array, b: Array, out: Any, variant: str | None, device: Device | None) -> Any:
    left, right = _row(a), _column(b)
    if left.shape[-1] != right.shape[-2]:
        raise ShapeError(f"matmul: inner dimensions must agree, got A {a.shape} and B {b.shape}")
    try:
        stack = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise ShapeError(f"matmul: leading dimensions must broadcast, got A {a.shape} and B {b.shape}") from None
    full = (*stack, left.shape[-2], right.shape[-1])
    shape = (*stack, *(full[-2:-1] if a.ndim > 1 else ()), *(full[-1:] if b.ndim > 1 else ()))
    one = right.size == right.shape[-2] * right.shape[-1]  # one B for all: the rows of all A are those of one matrix
    flat = (1, prod(full[:-1]), full[-1]) if one else (prod(stack), *full[-2:])
    result = _target("matmul", out, shape, flat, (a, b))
    if result.size and left.shape[-1] == 0:
        result[...] = 0
    elif result.size:
        if one:
            pair = left.reshape(1, -1, left.shape[-1]), right.reshape(1, *right.shape[-2:])
        else:
            lefts, rights = (np.broadcast_to(part, (*stack, *part.shape[-2:])) for part in (left, right))
            pair = lefts.reshape(-1, *left.shape[-2:]), rights.reshape(-1, *right.shape[-2:])
        _products(*pair, variant, _device("matmul", device), result)
    if out is None:
        return result.reshape(shape)[()]
    if not np.may_share_memory(result, out):
        out[...] = result.reshape(shape)
    return out


def _target(
    function: str, out: Any, shape: tuple[int, ...], flat: tuple[int, ...], operands: tuple[Array, ...]
) -> Array:
    """Array of shape `flat` to compute into: `out` itself where it can be seen so and is none of the operands."""
    if out is None:
        return np.empty(flat, dtype=np.float32)
    rule = f"{function}: out must be a NumPy array that can be written"
    if not isinstance(out, np.ndarray):
        raise OptionTypeError(f"{rule}, got {type(out).__name__}")
    if not out.flags.writeable:
        raise OptionError(f"{rule}, got one that is read-only")
    if out.dtype != np.float32:
        raise DTypeError(f"{function}: out must be float32, got {out.dtype}; results are float32")
    if out.shape != shape:
        raise ShapeError(f"{function}: out must have the shape of the result, {shape}, got {out.shape}")
    if any(np.may_share_memory(out, operand) for operand in operands):
        return np.empty(flat, dtype=np.float32)
    return np.asarray(out).reshape(flat)


def _products(a: Array, b: Array, variant: str | None, device: Device, out: Array) -> None:
    """Multiply two stacks of as many matrices: by one plan, or, if a variant is asked for or they are large, singly."""
    if variant is None and stacks.multiplies(device, a.shape[1], a.shape[2], b.shape[2]):
        with suppress(OutOfMemoryError):  # of a single pair, which tiles may mend
            out[...] = stacks.matmul(device, a, b)
            return
    for left, right, result in zip(a, b, out, strict=True):
        if tiling.fits_whole(device, len(left), len(right), right.shape[1], variant):
            result[...] = product("matmul", upload(left, device), upload(right, device), variant).numpy()
        else:
            tiling.matmul(device, left, right, result, variant)


# -- reduced row echelon form ---------------------------------------------------------------------------------------


@delegating
def rref(
    a: Any,
    tol: float | None = None,
    pivoting: str = "harmonic",
    *,
    variant: str | None = None,
    device: Device | None = None,
    check_finite: bool = True,
) -> RREF:
    """Reduced row echelon form and pivot columns.

    Parameters
    ----------
    a : array_like or Matrix, shape (m, n)
        Real numbers.
    tol : float, optional
        A pivot of at most this magnitude counts as zero, which decides the rank. By default each column is judged by
        itself, with rows and columns scaled by powers of two (largest entry of each near 1; if a leading column has no
        pivot then, also by geometric means, and the better one counts). Column j depends on the r pivot columns before
        it if its distance from their span is at most ``2**-23 (4 + sqrt(r)) sqrt((m - r) / m) w``,
        ``w = sqrt(norm(a_j)**2 + sum_c (R[c, j] norm(a_c))**2)``, in the 2-norm: what entries are worth that were
        rounded to float32. Integers below 2^23 are exact, and so is their rank. See `glla.echelon`.
    pivoting : {"harmonic", "geometric", "partial"}
        How a step chooses its two pivot rows; see `glla.kernels.pivot`.
    variant : str, optional
        A key of ``glla.kernels.rref.VARIANTS``, ``rank2`` or ``blocked``; by default the shape decides.
    device : Device, optional
        Where to compute.
    check_finite : bool
        Refuse NaN and infinity, in `a` and in the result.

    Returns
    -------
    RREF
        ``matrix`` (float32, or Matrix) and ``pivots``. Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not two-dimensional, not real, not finite; unknown pivoting or variant, negative tol.

    Notes
    -----
    The elimination on the device stands if every leading column has a pivot that is surely none of rounding errors, and
    the entries grow by 16 + 4 sqrt(min(m, n)) at most. Any other matrix is decided in float64 on the CPU, which also
    gives R: about 6 m n r flop in large products there. Error: norm(A_j - A[:, pivots] R_j) / (max(m, n)
    norm(A[:, pivots]) norm(R_j) u) stays below 30 for each column. Cost on the device: about n^3 flop for n x n; 3
    passes for two columns, 4 with ``partial``; from 32 columns on by blocked factors and back substitution, see
    `glla.kernels.rref`. Source: Brodtkorb 2007, section 4.1.2.

    Examples
    --------
    >>> import glla
    >>> R, pivots = glla.rref([[1, 2, 3], [2, 4, 7]])
    >>> R
    array([[1., 2., 0.],
           [0., 0., 1.]], dtype=float32)
    >>> pivots
    (0, 2)
    """
    value = _operand("rref", "A", a, check_finite)
    _two_dimensional("rref", "A", value)
    if not is_one_of(pivoting, pivot.NORMS):
        raise OptionError(f"rref: pivoting must be one of {', '.join(pivot.NORMS)}, got {pivoting!r}")
    _known_variant("rref", rref_kernel.VARIANTS, variant)
    tol = None if tol is None else real("rref", "tol", tol)
    if tol is not None and not tol >= 0:
        raise OptionError(f"rref: tol must be at least 0, got {tol!r}")
    if 0 in value.shape:
        return RREF(value.copy() if isinstance(value, Matrix) else np.zeros(value.shape, dtype=np.float32), ())
    matrix = _on(_device("rref", device, value), value)
    if isinstance(value, Matrix) and check_finite:
        _refuse_nonfinite("rref", A=value)
    result, pivots = gauss_jordan.reduced(matrix, value, tol, pivoting, variant)
    if isinstance(value, Matrix):
        return RREF(result if isinstance(result, Matrix) else upload(result, matrix.device), pivots)
    array = result.numpy() if isinstance(result, Matrix) else result
    return RREF(finite_result("rref", array, check_finite), pivots)


# -- factorisation --------------------------------------------------------------------------------------------------


@delegating
def plu(
    a: Any,
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: Device | None = None,
    check_finite: bool = True,
) -> PLU:
    """PLU factorisation A = P @ L @ U, as `scipy.linalg.lu`.

    Parameters
    ----------
    a : array_like or Matrix, shape (m, n)
        Real numbers; any shape and rank.
    pivoting : {"partial", "harmonic", "geometric"}
        ``partial`` is LAPACK's: multipliers of magnitude 1 at most. The block norms of the thesis need fewer passes;
        where they do badly (see `rref`) they give way to ``partial``.
    variant : str, optional
        A key of ``glla.kernels.plu.VARIANTS``, for comparisons; by default the fastest. The block norms are for
        ``rank2`` and ``blocked``. ``row_operations_full`` is refused: it exchanges columns too, A = P L U Q, and there
        is no Q here; see `glla.lab.pivoting.pluq`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    PLU
        P (m x m), L (m x k), U (k x n), k = min(m, n). Synchronises (P is made from the pivots).

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not two-dimensional, not real, not finite, or its factors are not; unknown pivoting or variant, or two
        that do not go together.

    Warns
    -----
    GrowthWarning
        Entries grow so much that no row pivoting keeps the error below its bound.

    Notes
    -----
    Error: norm(P L U - A) / (max(m, n) norm(A) u) stays below 30, u = 2^-24. Cost: about 2/3 n^3 flop; for two columns
    3 passes (``partial``) or 2 (block norms); large matrices are factored in blocks, see `glla.kernels.plu`.
    Source: Brodtkorb 2007, section 4.1.3.

    Examples
    --------
    >>> import glla
    >>> P, L, U = glla.plu([[1, 2], [4, 4]])
    >>> U
    array([[4., 4.],
           [0., 1.]], dtype=float32)
    """
    value = _operand("plu", "A", a, check_finite)
    _two_dimensional("plu", "A", value)
    _known_pivoting("plu", pivoting, variant)
    m, n = value.shape
    k = min(m, n)
    if k == 0:
        empty = PLU(*(np.eye(*s, dtype=np.float32) for s in ((m, m), (m, 0), (0, n))))
        return empty if not isinstance(value, Matrix) else PLU(*(upload(part, value.device) for part in empty))
    target = _device("plu", device, value)
    lu, pivots = _factors("plu", value, pivoting, variant, target, check_finite)
    P = np.zeros((m, m), dtype=np.float32)
    P[permutation_of(pivots, m), np.arange(m)] = 1
    if isinstance(lu, Matrix):
        parts: list[Any] = [_part(lu, "L", (m, k)), _part(lu, "U", (k, n))]
    else:  # what the device may flush to zero stays on the host
        parts = [np.tril(lu[:, :k], -1) + np.eye(m, k, dtype=np.float32), np.triu(lu[:k])]
    if isinstance(value, Matrix):
        return PLU(upload(P, target), *(part if isinstance(part, Matrix) else upload(part, target) for part in parts))
    arrays = (part.numpy() if isinstance(part, Matrix) else part for part in parts)
    return PLU(P, *(finite_result("plu", array, check_finite) for array in arrays))


def _part(lu: Matrix, which: str, shape: tuple[int, int]) -> Matrix:
    """Take L or U out of packed factors."""
    device = lu.device
    return Matrix(device, device.run(plu_kernel.factor(lu.shape, which), LU=lu.texture)[which], shape)


def _factors(
    function: str, a: Array | Matrix, pivoting: str, variant: str | None, device: Device, check_finite: bool
) -> tuple[Matrix | Array, NDArray[np.int32]]:
    """Factor one matrix, not empty, on the device, or with care on the host; give the packed factors and the pivots."""
    if isinstance(a, Matrix) and check_finite:
        _refuse_nonfinite(function, A=a)
    matrix = _on(device, a)
    factors = factorise(matrix, pivoting, variant=variant)
    m, n = matrix.shape
    scale = largest_magnitude(matrix)
    if remedies.size_near_one(scale) and scale > 0:
        growth = largest_magnitude(_part(factors.lu, "U", (min(m, n), n))) / scale
        if growth <= pivot.allowed_growth(min(m, n)):
            return factors.lu, factors.pivots
    host = a.numpy() if isinstance(a, Matrix) else a
    if not (all_finite(host) and host.any()):  # let through on purpose, or zero
        return factors.lu, factors.pivots

    def again(scaled: Array, another: str) -> Factors:
        return factorise(upload(scaled, device), another, variant=variant if another == pivoting else None)

    others = [name for name in pivot.NORMS if name != pivoting]
    packed = remedies.factors(function, host, [pivoting, *others], again, check_finite)
    return packed.lu, packed.pivots


def _known_pivoting(function: str, pivoting: str, variant: str | None) -> None:
    if not is_one_of(pivoting, pivot.NORMS):
        raise OptionError(f"{function}: pivoting must be one of {', '.join(pivot.NORMS)}, got {pivoting!r}")
    _known_variant(function, plu_kernel.VARIANTS, variant)
    possible = (pivoting,) if variant is None else plu_kernel.pivotings(variant)
    if "complete" in possible:
        raise OptionError(
            f"{function}: variant must exchange rows only, got {variant!r}, whose A = P L U Q has a fourth factor; "
            "use glla.lab.pivoting.pluq"
        )
    if pivoting not in possible:
        raise OptionError(
            f"{function}: pivoting must be {', '.join(possible)} with variant {variant}, got {pivoting!r}; "
            "the block norms are for rank2 and blocked"
        )


@delegating
def lu_factor(
    a: Any,
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: Device | None = None,
    check_finite: bool = True,
) -> tuple[Any, NDArray[np.int32]]:
    """Packed PLU factors and LAPACK's pivots, as `scipy.linalg.lu_factor`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., m, n)
        Real numbers; one plan serves a whole stack of small matrices, see `glla.stacks`.
    pivoting, variant, device, check_finite
        As in `plu`.

    Returns
    -------
    lu : ndarray of float32 or Matrix, shape (..., m, n)
        L below the diagonal (its ones are not stored), U on and above it.
    piv : ndarray of int32, shape (..., min(m, n))
        Row i was exchanged with row ``piv[i]``. Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        As `plu`, `a` being at least two-dimensional. A singular matrix is no error: U has a zero on its diagonal.

    Warns
    -----
    GrowthWarning
        As `plu`.

    Examples
    --------
    >>> import glla
    >>> lu, piv = glla.lu_factor([[1, 2], [4, 4]])
    >>> lu
    array([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32)
    >>> piv
    array([1, 1], dtype=int32)
    """
    value = _operand("lu_factor", "A", a, check_finite)
    if value.ndim < 2:
        raise ShapeError(f"lu_factor: A must be at least two-dimensional, got shape {value.shape}; reshape it")
    _known_pivoting("lu_factor", pivoting, variant)
    if isinstance(value, Matrix) and value.size:
        target = _device("lu_factor", device, value)
        lu, pivots = _factors("lu_factor", value, pivoting, variant, target, check_finite)
        return lu if isinstance(lu, Matrix) else upload(lu, target), pivots
    piv = np.zeros((*value.shape[:-2], min(value.shape[-2:])), dtype=np.int32)
    if isinstance(value, Matrix):
        return value.copy(), piv
    lu = np.empty(value.shape, dtype=np.float32)
    if value.size:
        target, flat = _device("lu_factor", device), value.reshape(-1, *value.shape[-2:])
        if pivoting == "partial" and variant is None and stacks.factors(target, *flat.shape[1:]):
            packed, exchanges = stacks.factor(target, flat)
            for index in stacks.need_care(flat, packed):
                packed[index], exchanges[index] = _packed(flat[index], pivoting, variant, target, check_finite)
        else:
            each = [_packed(matrix, pivoting, variant, target, check_finite) for matrix in flat]
            packed, exchanges = np.stack([pair[0] for pair in each]), np.stack([pair[1] for pair in each])
        lu, piv = packed.reshape(lu.shape), exchanges.reshape(piv.shape)
    return finite_result("lu_factor", lu, check_finite), piv


def _packed(
    a: Array, pivoting: str, variant: str | None, device: Device, check_finite: bool
) -> tuple[Array, NDArray[np.int32]]:
    lu, pivots = _factors("lu_factor", a, pivoting, variant, device, check_finite)
    return (lu.numpy() if isinstance(lu, Matrix) else lu), pivots


@delegating
def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Any,
    trans: int = 0,
    *,
    device: Device | None = None,
    check_finite: bool = True,
) -> Any:
    """Solve A x = b from the factors of A, as `scipy.linalg.lu_solve`.

    Parameters
    ----------
    lu_and_piv : (lu, piv)
        Of a square matrix or a stack of them, from `lu_factor` or from `scipy.linalg.lu_factor`.
    b : array_like or Matrix, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast. Many columns stream through the device, as in `solve`.
    trans : {0, 1, 2}
        0: A x = b; 1 and 2: with the transpose of A.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Matrix
        As `solve`; a 1-D `b` gives a 1-D array, beside a Matrix too. Synchronises.

    Raises
    ------
    ShapeError
        The factors are not square, or their order is not the length of `b`.
    SingularMatrixError
        U has a zero on its diagonal.
    DTypeError, NonFiniteError, OptionError
        As elsewhere; `trans` is none of 0, 1, 2; `piv` holds no valid row.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    Cost: 2 n^2 k flop. Passes: n / 4 for a whole stack of small systems (see `glla.stacks`); otherwise for each system
    about n / 16 on a GPU, n^2 / 1024 with many right-hand sides there, n / 4 in software, see
    `glla.kernels.triangular`. Sources: Brodtkorb 2007, equation 4.34; LAPACK getrs.

    Examples
    --------
    >>> import glla
    >>> glla.lu_solve(glla.lu_factor([[1, 2], [4, 4]]), [3, 8])
    array([1., 1.], dtype=float32)
    """
    try:
        lu, piv = lu_and_piv
    except (TypeError, ValueError):
        raise ShapeError("lu_solve: the first argument must be the pair (lu, piv) of lu_factor") from None
    factors = _operand("lu_solve", "lu", lu, check_finite)
    rhs = _operand("lu_solve", "b", b, check_finite)
    _square("lu_solve", "lu", factors)
    n = factors.shape[-1]
    if rhs.ndim == 0 or _column(rhs).shape[-2] != n:
        raise ShapeError(f"lu_solve: b must have shape ({n},) or (..., {n}, k) for lu {factors.shape}, got {rhs.shape}")
    if trans not in (0, 1, 2):
        raise OptionError(f"lu_solve: trans must be 0 (A), 1 or 2 (its transpose), got {trans!r}")
    exchanges = np.asarray(piv)
    whole = exchanges.dtype.kind in "iu" or exchanges.size == 0
    if exchanges.shape != factors.shape[:-1] or not whole or ((exchanges < 0) | (exchanges >= n)).any():
        raise OptionError(f"lu_solve: piv must be {n} row numbers from 0 to {n - 1}, got {piv!r}")
    if isinstance(factors, Matrix) or isinstance(rhs, Matrix):
        _two_dimensional("lu_solve", "lu", factors)
        _two_dimensional("lu_solve", "b", _column(rhs))
        if rhs.size == 0:
            return rhs if isinstance(rhs, Matrix) else rhs.copy()
        target = _device("lu_solve", device, factors, rhs)
        if check_finite:
            _refuse_nonfinite("lu_solve", lu=factors, b=rhs)
        x = _lu_solve(_on(target, factors), exchanges, _on(target, _column(rhs)), trans)
        return x if rhs.ndim == 2 else finite_result("lu_solve", x.numpy()[:, 0], check_finite)

    def every(lefts: Array, rights: Array, stack: tuple[int, ...], swaps: NDArray[np.integer]) -> Array:
        target = _device("lu_solve", device)
        _refuse_zeros(np.diagonal(lefts, axis1=1, axis2=2).reshape(*stack, n))
        if not (remedies.largest_near_one(np.triu(lefts)) and remedies.largest_near_one(rights)):
            return remedies.within_range(
                lefts, rights, lambda lu, b: each(lu, b, swaps, target) if 0 not in b.shape else b
            )
        return each(lefts, rights, swaps, target)

    def each(lefts: Array, rights: Array, swaps: NDArray[np.integer], target: Device) -> Array:
        if stacks.solves(target, *rights.shape[1:]):
            with suppress(OutOfMemoryError):
                return _substituted(target, lefts, rights, permutation_of(swaps, n), trans)
        return _stacked([_lu_solve_arrays(*system, trans, target) for system in zip(lefts, swaps, rights, strict=True)])

    result = _stacked_solve("lu_solve", factors, rhs, every, np.dtype(np.float32), exchanges)
    return finite_result("lu_solve", result, check_finite)


def _substituted(device: Device, lu: Array, b: Array, order: NDArray[np.intp], trans: int) -> Array:
    """Solve with a stack of factors. Rows are put in order as they are uploaded, or come back."""
    if trans:
        return np.take_along_axis(stacks.substitute(device, lu, b, True), np.argsort(order)[:, :, np.newaxis], axis=1)
    return stacks.substitute(device, lu, np.take_along_axis(b, order[:, :, np.newaxis], axis=1))


def _lu_solve_arrays(lu: Array, piv: NDArray[np.integer], b: Array, trans: int, device: Device) -> Array:
    """Solve for all columns of `b`, block by block where they are too many to go at once."""
    _must_fit_a_texture("lu_solve", lu, device)
    if not _streams(device, b.shape[1]):
        return _lu_solve(upload(lu, device), piv, upload(b, device), trans).numpy()
    factors = from_pivots(upload(lu, device), piv)
    x = np.empty(b.shape, dtype=np.float32)
    tiling.solve(factors, tiling.columns_of(b), x, transposed=trans != 0)
    return x


def _lu_solve(lu: Matrix, piv: NDArray[np.integer], b: Matrix, trans: int) -> Matrix:
    factors = from_pivots(lu, piv)
    _refuse_zeros(factors.diagonal[0])
    return factors.solve(b, transposed=trans != 0)


def _refuse_zeros(diagonal: Array) -> None:
    """Raise if U has a zero on its diagonal, in any matrix of a stack."""
    if (diagonal != 0).all():
        return
    *member, place = (int(i) for i in np.argwhere(diagonal == 0)[0])
    raise SingularMatrixError(
        f"lu_solve: Singular matrix{member_of_stack(tuple(member))}: U is zero at place {place} of its diagonal; "
        "the system has no unique solution"
    )


# -- systems --------------------------------------------------------------------------------------------------------


@delegating
def solve(
    a: Any,
    b: Any,
    refine: bool = False,
    equilibrate: bool = True,
    *,
    device: Device | None = None,
    check_finite: bool = True,
) -> Any:
    """Solve A x = b with the semantics of `numpy.linalg.solve`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers, regular.
    b : array_like or Matrix, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector. If one `a` has more columns of `b`
        than a texture or the device's memory can hold, they stream through the device block by block, see
        `glla.tiling`; `a` must fit, with its factors.
    refine : bool
        Correct the solution to float64 grade, with residuals in float64 on the CPU and corrections from the same
        factors on the GPU. Equilibration is done in float64 too: `a` may leave float32's range.
    equilibrate : bool
        Scale rows and columns by powers of two before factoring, which rounds nothing.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32, or of float64 with `refine`, or Matrix
        With `refine` a `RefinedSolution`: an array that has the attributes ``iterations`` and ``backward_error``.
        A 1-D `b` gives a 1-D array, beside a Matrix too. Synchronises.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error.
    ConvergenceError
        `refine`: the matrix is too ill-conditioned for float32 factors. Or entries grow so much that neither refinement
        nor complete pivoting helps.
    ShapeError, DTypeError, NonFiniteError
        As elsewhere; the solution is too large for float32, or so small that it would be rounded to zero.
    LimitError, OutOfMemoryError
        `a` is larger than a texture, or does not fit the device's memory with its factors.

    Notes
    -----
    Error: norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) stays below 30, u = 2^-24; with `refine` the componentwise
    backward error in float64 is below 1e-14. Where entries grow, or come near float32's limits, the system is solved
    again with care, see `glla.remedies`. Cost: 2/3 n^3 + 2 n^2 k flop. Passes: up to order 256 about 5/8 n for one
    system and 9/8 n for a whole stack, see `glla.stacks`; else about 1.5 n for the factors (more where they are made in
    blocks), and those of `lu_solve`.
    Sources: Brodtkorb 2007, section 4.1.3; LAPACK gesvx (equilibration); Higham 2002, chapter 12 (refinement).

    Examples
    --------
    >>> import glla
    >>> glla.solve([[3, 1], [1, 2]], [9, 8])
    array([2., 3.], dtype=float32)
    """
    if refine:
        return _solve_refined(a, b, equilibrate, device, check_finite)
    matrix = _operand("solve", "A", a, check_finite)
    rhs = _operand("solve", "b", b, check_finite)
    _square("solve", "A", matrix)
    if isinstance(matrix, Matrix) or isinstance(rhs, Matrix):
        _two_dimensional("solve", "A", matrix)
        _two_dimensional("solve", "b", _column(rhs))
        _matching("solve", matrix, rhs)
        target = _device("solve", device, matrix, rhs)
        if check_finite:
            _refuse_nonfinite("solve", A=matrix, b=rhs)
        x = _solve("solve", _on(target, matrix), _on(target, _column(rhs)), equilibrate)
        if rhs.ndim == 2:
            return x if isinstance(x, Matrix) else upload(x, target)
        return finite_result("solve", (x.numpy() if isinstance(x, Matrix) else x)[:, 0], check_finite)

    def every(lefts: Array, rights: Array, stack: tuple[int, ...]) -> Array:
        target = _device("solve", device)
        if stacks.solves(target, *rights.shape[1:]):
            with suppress(OutOfMemoryError):  # of a single system, which blocks of right-hand sides may mend
                return stacks.solve(target, "solve", lefts, rights, equilibrate, stack)
        systems = zip(np.ndindex(stack), lefts, rights, strict=True)
        return _stacked([_solve_arrays("solve", a, b, equilibrate, target, i) for i, a, b in systems])

    result = _stacked_solve("solve", matrix, rhs, every, np.dtype(np.float32))
    return finite_result("solve", result, check_finite)


def _matching(function: str, a: Any, b: Any) -> None:
    rows = b.shape[0] if b.ndim == 1 else b.shape[-2]
    if rows != a.shape[-1]:
        raise ShapeError(f"{function}: b must have as many rows as A, got A {a.shape} and b {b.shape}")


def _stacked_solve(
    function: str,
    a: NDArray[Any],
    b: NDArray[Any],
    every: Callable[..., Any],
    dtype: np.dtype[Any],
    *vectors: NDArray[Any],
) -> Any:
    """Solve a stack of systems: every(all A, all b, the stack's shape, the vectors that go with A).

    If there is one A for all of them, they are one system with many right-hand sides.
    """
    if b.ndim == 0:
        raise ShapeError(f"{function}: b must have at least one dimension, got a scalar")
    _matching(function, a, b)
    rhs = _column(b)
    try:
        stack = np.broadcast_shapes(a.shape[:-2], rhs.shape[:-2])
    except ValueError:
        raise ShapeError(f"{function}: leading dimensions must broadcast, got A {a.shape} and b {b.shape}") from None
    result = np.empty((*stack, *rhs.shape[-2:]), dtype=dtype)
    if result.size:
        (n, columns), count = rhs.shape[-2:], prod(stack)
        rights = np.broadcast_to(rhs, result.shape)
        if a.size == n * n:
            wide = np.moveaxis(rights, -2, 0)  # n x stack x columns
            x = every(a.reshape(1, n, n), wide.reshape(1, n, -1), (), *(vector.reshape(1, n) for vector in vectors))
            result[...] = np.moveaxis(x.reshape(wide.shape), 0, -2)
        else:
            lefts = np.broadcast_to(a, (*stack, n, n)).reshape(count, n, n)
            beside = [np.broadcast_to(vector, (*stack, n)).reshape(count, n) for vector in vectors]
            x = every(lefts, rights.reshape(count, n, columns), stack, *beside)
            result[...] = x.reshape(result.shape)
    return result[..., 0] if b.ndim == 1 else result


def _solve(
    function: str,
    a: Matrix,
    b: Matrix,
    equilibrate: bool,
    index: tuple[int, ...] = (),
    host: tuple[Array, Array | None] | None = None,
) -> Matrix | Array:
    """Solve on the device, or with care on the host: the solution is where it was found.

    `host` are A and B on the host, where they are there already; B is None for the identity.
    """
    if 0 in b.shape:
        return b.copy()
    factors = factorise(a, equilibrate_first=equilibrate)
    x = factors.solve(b)  # queued before the checks below wait for the GPU
    if remedies.trusted(factors, lambda: largest_magnitude(a)) and _near_one(b, host):
        factors.check_regular(function, member_of_stack(index))
        return x
    left, right = (a.numpy(), b.numpy()) if host is None else host
    right = np.eye(len(left), dtype=np.float32) if right is None else right
    if not (all_finite(left) and all_finite(right)):
        return x  # let through on purpose
    return _with_care(function, left, right, equilibrate, a.device, index)


def _with_care(
    function: str, a: Array, b: Array, equilibrate: bool, device: Device, index: tuple[int, ...] = ()
) -> Array:
    return remedies.solve(remedies.on_device(device), function, a, b, equilibrate, member_of_stack(index))


def _near_one(b: Matrix, host: tuple[Array, Array | None] | None) -> bool:
    """Tell whether right-hand sides need no scaling on the host."""
    if host is None:
        return remedies.size_near_one(largest_magnitude(b))
    return host[1] is None or remedies.largest_near_one(host[1])


def _stacked(results: list[Array]) -> Array:
    """Put results one above the other, without a copy where there is only one."""
    return results[0][np.newaxis] if len(results) == 1 else np.stack(results)


def _solve_arrays(
    function: str, a: Array, b: Array | None, equilibrate: bool, device: Device, index: tuple[int, ...] = ()
) -> Array:
    """Solve for all columns of `b`, or for the identity's; block by block where they are too many to go at once."""
    order = len(a)
    columns = order if b is None else b.shape[1]
    _must_fit_a_texture(function, a, device)
    if not _streams(device, columns):
        rhs = identity(a.shape, device) if b is None else upload(b, device)
        x = _solve(function, upload(a, device), rhs, equilibrate, index, (a, b))
        return x.numpy() if isinstance(x, Matrix) else x
    factors = _factors_that_stay(function, a, equilibrate, device)
    x = np.empty((order, columns), dtype=np.float32)
    blocks = tiling.columns_of_identity(order) if b is None else tiling.columns_of(b)
    if remedies.trusted(factors, lambda: float(np.max(np.abs(a)))) and (b is None or remedies.largest_near_one(b)):
        factors.check_regular(function, member_of_stack(index))
        tiling.solve(factors, blocks, x)
    else:
        for left in range(0, columns, CAREFUL):
            place = slice(left, min(left + CAREFUL, columns))
            x[:, place] = _with_care(function, a, blocks(place), equilibrate, device, index)
    return x


def _streams(device: Device, columns: int) -> bool:
    """Whether right-hand sides go block by block: they are more than a texture holds, or there is a cap on memory."""
    return columns > 2 * device.limits.texture_size or device.room is not None


def _must_fit_a_texture(function: str, a: Array, device: Device) -> None:
    most = 2 * device.limits.texture_size
    if len(a) > most:
        raise LimitError(
            f"{function}: A must fit a texture, so be of order {most} at most on this device, got {a.shape}; only "
            "right-hand sides are cut into blocks",
            len(a),
            most,
        )


def _factors_that_stay(function: str, a: Array, equilibrate: bool, device: Device) -> Factors:
    """Factor a matrix that must fit the device as a whole."""
    try:
        return factorise(upload(a, device), equilibrate_first=equilibrate)
    except OutOfMemoryError as error:
        raise OutOfMemoryError(
            f"{function}: A {a.shape} must fit the device's memory with its factors, only right-hand sides are cut "
            f"into blocks; raise its max_bytes, or release matrices ({error})"
        ) from None


def _solve_refined(a: Any, b: Any, equilibrate: bool, device: Device | None, check_finite: bool) -> RefinedSolution:
    matrix, rhs = _as_float64("solve", "A", a, check_finite), _as_float64("solve", "b", b, check_finite)
    _square("solve", "A", matrix)
    target = _device("solve", device, a, b)
    outcomes: list[RefinedSolution] = []

    def one(left: NDArray[np.float64], right: NDArray[np.float64], index: tuple[int, ...] = ()) -> NDArray[np.float64]:
        none = np.zeros((len(left), 1), dtype=np.int32), np.zeros((1, len(left)), dtype=np.int32)
        rows, columns = scaling(left) if equilibrate else none
        scaled = as_float32("solve", "A", np.ldexp(left, -rows - columns), check_finite)
        where, member = remedies.on_device(target), member_of_stack(index)
        outcomes.append(remedies.refine(where, "solve", left, right, scaled, (rows, columns), member))
        return outcomes[-1]

    def every(lefts: NDArray[np.float64], rights: NDArray[np.float64], stack: tuple[int, ...]) -> NDArray[np.float64]:
        return np.stack([one(*system) for system in zip(lefts, rights, np.ndindex(stack), strict=True)])

    result: RefinedSolution
    result = _stacked_solve("solve", matrix, rhs, every, np.dtype(np.float64)).view(RefinedSolution)
    result.iterations = max((outcome.iterations for outcome in outcomes), default=0)
    result.backward_error = max((outcome.backward_error for outcome in outcomes), default=0.0)
    return result


def _as_float64(function: str, name: str, value: Any, check_finite: bool) -> NDArray[np.float64]:
    """Convert to float64 with the checks of `as_float32`, but without its rounding."""
    if isinstance(value, Matrix):
        return value.numpy().astype(np.float64)
    array = as_real(function, name, value)
    if check_finite:
        refuse_nonfinite(function, name, array)
    with np.errstate(over="ignore", under="ignore"):
        return array.astype(np.float64)


@delegating
def inv(a: Any, *, device: Device | None = None, check_finite: bool = True) -> Any:
    """Inverse with the semantics of `numpy.linalg.inv`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers, regular.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Matrix
        Of the shape of `a`. Synchronises.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error.
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    Solves A X = I, equilibrated, block by block of I where the whole does not fit. Error: norm(A X - I) / (n norm(A)
    norm(X) u) stays below 30. Cost: as `solve` with n right-hand sides, 8/3 n^3 flop.

    Examples
    --------
    >>> import glla
    >>> glla.inv([[2, 0], [0, 4]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    value = _operand("inv", "A", a, check_finite)
    _square("inv", "A", value)
    target = _device("inv", device, value)
    if isinstance(value, Matrix):
        if 0 in value.shape:
            return value.copy()
        if check_finite:
            _refuse_nonfinite("inv", A=value)
        inverse = _solve("inv", value, identity(value.shape, target), True)
        return inverse if isinstance(inverse, Matrix) else upload(inverse, target)
    if value.size == 0:
        return np.empty(value.shape, dtype=np.float32)
    stack, n = value.shape[:-2], value.shape[-1]
    flat = value.reshape(-1, n, n)
    inverses: Array | None = None
    if stacks.solves(target, n, n):
        with suppress(OutOfMemoryError):  # of a single matrix, which blocks of columns may mend
            inverses = stacks.solve(target, "inv", flat, None, stack=stack)
    if inverses is None:
        each = zip(np.ndindex(stack), flat, strict=True)
        inverses = _stacked([_solve_arrays("inv", matrix, None, True, target, index) for index, matrix in each])
    return finite_result("inv", inverses.reshape(value.shape), check_finite)


@delegating
def rcond(a: Any, *, device: Device | None = None, check_finite: bool = True) -> Any:
    """Reciprocal condition number in the 1-norm, as LAPACK's `getrf` and `gecon` estimate it.

    Near 1 for a matrix whose systems lose no digits, below 6e-8 for one that float32 cannot tell from a singular one;
    1 / rcond is about ``numpy.linalg.cond(a, 1)``.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack
        0 for a pivot of zero, infinity for an empty matrix. Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    An estimate, never below the true value by more than rounding, seldom above three times it; below 1e-7 it tells no
    more than that. Cost: 2/3 n^3 + 8 n^2 flop for each matrix, one by one: passes of `lu_factor`, and up to 11 times
    those of `lu_solve`. Sources: Hager 1984; Higham 1988; LAPACK gecon.

    Examples
    --------
    >>> import glla
    >>> glla.rcond([[1, 0], [0, 0.25]])
    np.float32(0.25)
    >>> glla.rcond([[1, 2], [2, 4]])
    np.float32(0.0)
    """
    value = _operand("rcond", "A", a, check_finite)
    _square("rcond", "A", value)
    stack, n = value.shape[:-2], value.shape[-1]
    if value.size == 0:
        return np.full(stack, np.inf, dtype=np.float32)[()]
    target = _device("rcond", device, value)
    if isinstance(value, Matrix) and check_finite:
        _refuse_nonfinite("rcond", A=value)
    array = value.numpy() if isinstance(value, Matrix) else value
    if array.shape[-1]:
        _must_fit_a_texture("rcond", array.reshape(-1, n, n)[0], target)
    where = remedies.on_device(target)
    results = [condition.reciprocal(where, one) if all_finite(one) else np.nan for one in array.reshape(-1, n, n)]
    return np.array(results, dtype=np.float32).reshape(stack)[()]


# -- determinants ---------------------------------------------------------------------------------------------------


@delegating
def slogdet(a: Any, *, device: Device | None = None, check_finite: bool = True) -> SlogdetResult:
    """Sign and logarithm of the determinant, as `numpy.linalg.slogdet`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    SlogdetResult
        ``sign`` (-1, 0 or 1) and ``logabsdet`` (-inf for a zero determinant), float32. Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.

    Examples
    --------
    >>> import glla
    >>> glla.slogdet([[0, 2], [2, 0]]).sign
    np.float32(-1.0)
    """
    sign, logarithm = _sign_and_log("slogdet", a, device, check_finite)
    if check_finite and not (logarithm < np.inf).all():
        raise NonFiniteError("slogdet: the factors do not fit float32, their entries grow; use numpy.linalg.slogdet")
    return SlogdetResult(sign.astype(np.float32)[()], logarithm.astype(np.float32)[()])


@delegating
def det(a: Any, *, device: Device | None = None, check_finite: bool = True) -> Any:
    """Determinant, as `numpy.linalg.det`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack
        Synchronises.

    Raises
    ------
    NonFiniteError
        The determinant does not fit float32, being too large, or so small that it would be rounded to zero: use
        `slogdet`.
    ShapeError, DTypeError
        As elsewhere.

    Notes
    -----
    The product of U's diagonal, multiplied in float64. Cost: 2/3 n^3 flop; n + 5 passes for a
    whole stack of matrices up to order 256, else about 1.5 n for each.

    Examples
    --------
    >>> import glla
    >>> glla.det([[2, 1], [4, 4]])
    np.float32(4.0)
    """
    sign, logarithm = _sign_and_log("det", a, device, check_finite)
    with np.errstate(over="ignore", under="ignore"):
        result = (sign * np.exp(logarithm)).astype(np.float32)
    misfits = ~np.isfinite(result) | ((result == 0) & (sign != 0))
    if check_finite and misfits.any():
        raise NonFiniteError(
            f"det: the determinant does not fit float32, log(abs(det)) is {logarithm[misfits].flat[0]:.6g}; use slogdet"
        )
    return result[()]


def _sign_and_log(
    function: str, a: Any, device: Device | None, check_finite: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    value = _operand(function, "A", a, check_finite)
    _square(function, "A", value)
    stack, n = value.shape[:-2], value.shape[-1]
    if value.size == 0:
        return np.ones(stack), np.zeros(stack)
    target = _device(function, device, value)
    if isinstance(value, Matrix) and check_finite:
        _refuse_nonfinite(function, A=value)
    if not isinstance(value, Matrix) and stacks.factors(target, n, n):
        sign, logarithm = stacks.determinant(target, value.reshape(-1, n, n))
    else:
        matrices = [value] if isinstance(value, Matrix) else value.reshape(-1, n, n)
        sign, logarithm = np.transpose([_sign_and_log_of_one(matrix, target) for matrix in matrices])
    return sign.reshape(stack), logarithm.reshape(stack)


def _sign_and_log_of_one(a: Matrix | Array, device: Device) -> tuple[Any, Any]:
    factors = factorise(_on(device, a), equilibrate_first=True)
    if remedies.trusted(factors, lambda: 1.0):
        return sign_and_log(factors.diagonal[0], factors.pivots, sum(map(np.sum, factors.exponents)))
    host = a.numpy() if isinstance(a, Matrix) else a
    if not all_finite(host):  # let through on purpose
        return np.nan, np.nan
    return remedies.determinant(remedies.on_device(device), host)


# -- plans ----------------------------------------------------------------------------------------------------------


def plan(operation: str, *shapes: tuple[int, int], limits: Limits | None = None, **options: Any) -> Plan:
    """Plan of an operation: its render passes, as data. Needs no GPU.

    Parameters
    ----------
    operation : {"matmul", "rref", "plu", "triangular"}
        Which one.
    *shapes : tuple of int
        Of the operands: two for ``matmul`` and ``triangular`` (the triangle, the right-hand sides), one for the others.
    limits : Limits, optional
        Made for these and checked against them; by default those of a common device.
    **options
        Passed on to the operation's ``plan`` in `glla.kernels`, for example ``variant="virtual_cube"``,
        ``pivoting="harmonic"`` or, for ``matmul``, the variant's ``parameters=(("UNROLL", 4),)``.

    Returns
    -------
    Plan
        ``print`` shows it as a table.

    Raises
    ------
    OptionError, ShapeError
        Unknown operation or option; shapes that do not fit.

    Examples
    --------
    >>> import glla
    >>> print(glla.plan("matmul", (4, 6), (6, 2)))
    matmul[inner_product]: 1 passes, 96 flop, 32 bytes written
      operand   A: 2x3x4
      operand   B: 3x1x4
      result    C: 2x1x4
    pass  shader                reads    draws   region (texels)  uniforms
    0     matmul/inner_product  A=A B=B  C_ping  x 0:1 y 0:2      CONTINUE=0 first=0 count=3 shape=(4, 2)
    """
    builders: dict[str, tuple[int, Callable[..., Plan]]] = {
        "matmul": (2, _matmul_plan),
        "rref": (1, rref_kernel.plan),
        "plu": (1, plu_kernel.plan),
        "triangular": (2, _triangular_plan),
    }
    if operation not in builders:
        raise OptionError(f"plan: operation must be one of {', '.join(builders)}, got {operation!r}")
    count, builder = builders[operation]
    if len(shapes) != count or any(np.shape(shape) != (2,) or min(shape) < 1 for shape in shapes):
        raise ShapeError(f"plan: {operation} takes {count} shape(s) (rows, columns) of at least 1, got {shapes}")
    if operation == "matmul":
        options = {"limits": limits, **options}  # the loop limit decides how many passes there are
    try:
        result = builder(*shapes, **options)
    except TypeError as error:
        raise OptionError(f"plan: {operation}: {error}") from None
    result.check(limits)
    return result


def _matmul_plan(a: tuple[int, int], b: tuple[int, int], **options: Any) -> Plan:
    if a[1] != b[0]:
        raise ShapeError(f"matmul: inner dimensions must agree, got A {a} and B {b}")
    return matmul_kernel.plan(a[0], a[1], b[1], **options)


def _triangular_plan(t: tuple[int, int], b: tuple[int, int], **options: Any) -> Plan:
    if t[0] != t[1] or t[1] != b[0]:
        raise ShapeError(f"triangular: T must be square and have as many rows as B, got T {t} and B {b}")
    return triangular.plan(t[0], b[1], **options)


__all__ = [
    "PLU",
    "RREF",
    "RefinedSolution",
    "SlogdetResult",
    "det",
    "inv",
    "lu_factor",
    "lu_solve",
    "matmul",
    "plan",
    "plu",
    "rcond",
    "rref",
    "slogdet",
    "solve",
]
