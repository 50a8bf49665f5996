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

from glla import stacks, tiling
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
    equilibrated,
    factorise,
    from_pivots,
    largest_magnitude,
    member_of_stack,
    permutation_of,
    sign_and_log,
)
from glla.kernels import equilibrate as equilibrate_kernel
from glla.kernels import matmul as matmul_kernel
from glla.kernels import pivot, triangular
from glla.kernels import plu as plu_kernel
from glla.kernels import rref as rref_kernel
from glla.layout import texels
from glla.matrix import (
    LARGEST,
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
from glla.refine import RefinedSolution, refined, scaling

EPSILON = 2.0**-23
"""Distance from 1 to the next float32."""

SMALLEST_BLOCK_NORM = 2.0**-8
"""Below this norm (largest entries being 1 to 2) a pivot that block pivoting found is looked at again by `partial`,
which tells rounding errors from small pivots."""

DOUBTFUL = 2.0**-11
"""So many times the order and the largest entry is what block pivoting may make of rounding errors alone, in place of a
pivot that is zero: at most 0.0017, 0.0028, 0.013, 0.021 of 1 to 2 with products of normal matrices, of rank n - 1, for
n = 33, 65, 129, 301 (see ``benchmarks/results``). Smaller pivots are looked at again."""

MOST_DOUBTFUL = 2.0**-3
"""Whatever the order: the smallest pivots of regular matrices do not grow with it; about 19 of 20 normal ones have
larger."""

SWEEPS = 6
"""Sweeps of the geometric mean, for matrices that lose rank without. Of integer matrices up to 12 x 12 whose rows and
columns were scaled by random powers 2^-40 to 2^40, 9 of 100 do, and none of 1500 with 6 sweeps; but west0156 of the
Harwell-Boeing collection has rank 155 with them (condition 3e8) and 156 without (2e3). `solve` and `det` do without:
the largest entry of each row being 1 gives smaller backward errors, row by row."""


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
        itself: the matrix is equilibrated by powers of two (largest entry of each row and column near 1; if a leading
        column has no pivot then, also by geometric means, and the better one counts), and what is left of column j,
        expanded in the r pivot columns before it, counts as zero up to
        ``2**-23 * (8 + sqrt(r)) * (1 + sum_i abs(R[i, j]))``, which is what rounding errors in those columns can make.
        Neither wide nor graded matrices lose rank.
    pivoting : {"harmonic", "geometric", "partial"}
        How a step chooses its two pivot rows; see `glla.kernels.pivot`. The first two take for granted that the
        leading columns are independent; where the device finds otherwise, or finds their pivots too small, the
        elimination is done again with ``partial``.
    variant : str, optional
        A key of ``glla.kernels.rref.VARIANTS``, ``rank2`` or ``blocked``; by default the shape decides. ``blocked`` is
        for matrices whose leading columns are independent, and gives way to ``rank2`` with ``partial`` for others.
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
    Element growth of up to 16 + 4 sqrt(min(m, n)), and pivot norms down to 1/128 of the largest entry of their two
    columns, are allowed before ``partial`` takes over. Cost: about n^3 flop for n x n; 3 passes for two columns, 4
    with ``partial``. Large matrices go by blocked factors and back substitution, see `glla.kernels.rref`.
    Source: Brodtkorb 2007, section 4.1.2.

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
    tol = (
        None if tol is None else min(real("rref", "tol", tol), LARGEST)
    )  # larger ones overflow on the way to the device
    if tol is not None and not tol >= 0:
        raise OptionError(f"rref: tol must be at least 0, got {tol!r}")
    if 0 in value.shape:
        return RREF(value.copy() if isinstance(value, Matrix) else np.zeros(value.shape, dtype=np.float32), ())
    matrix = _on(_device("rref", device, value), value)
    chosen = variant or rref_kernel.choose(matrix.shape, matrix.device.limits)
    if tol is None:
        result, pivots = _rref_equilibrated(matrix, pivoting, chosen)
    else:
        result, pivots = _rref(matrix, (tol, 0.0), pivoting, largest_magnitude(matrix), tol, chosen)
    if isinstance(value, Matrix):
        return RREF(result, pivots)
    return RREF(finite_result("rref", result.numpy(), check_finite), pivots)


def _rref_equilibrated(a: Matrix, pivoting: str, variant: str) -> tuple[Matrix, tuple[int, ...]]:
    """Echelon form of the equilibrated matrix, scaled back.

    Scaling the rows of A does not change R. Scaling its columns by 2^-f scales R's, and each row of R is then
    normalised by its own pivot: R[i, j] = R'[i, j] 2^(f_j - f_(pivot of row i)).

    No scaling is best for every matrix, and a bad one hides pivots among rounding errors, but makes none: if there are
    columns without a pivot among the leading ones, the geometric mean has its try, and the first columns win.
    """
    device = a.device
    attempts = []
    for sweeps in (0, SWEEPS):
        scaled, exponents = equilibrated(a, sweeps)
        result, pivots = _rref(scaled, (0.0, EPSILON), pivoting, 2.0, SMALLEST_BLOCK_NORM, variant)
        attempts.append((result, pivots, exponents))
        if pivots == tuple(range(min(a.shape))):
            break
    result, pivots, exponents = min(attempts, key=lambda attempt: (*attempt[1], a.shape[1]))
    columns = exponents["column_exponents"]
    f = device.read(columns)[:, 0, :2].reshape(-1)
    rows = np.zeros((texels(a.shape[0]), 1, 4), dtype=np.float32)
    of_row = np.zeros(2 * texels(a.shape[0]), dtype=np.float32)
    of_row[: len(pivots)] = f[list(pivots)]
    rows[:, 0, :2] = of_row.reshape(-1, 2)
    plan = equilibrate_kernel.scale(a.shape, rows=-1, columns=1)
    operands = {"A": result.texture, "row_exponents": device.write_texels(rows), "column_exponents": columns}
    return Matrix(device, device.run(plan, **operands)["scaled"], a.shape), pivots


def _rref(
    a: Matrix, limits: tuple[float, float], pivoting: str, scale: float, smallest: float, variant: str
) -> tuple[Matrix, tuple[int, ...]]:
    """Eliminate; what takes independent leading columns for granted gives way where it met a doubtful pivot.

    `limits` are the absolute and relative tolerance of the general way, `smallest` is the least pivot of the others.
    """
    order = min(a.shape)
    doubtful = scale * min(DOUBTFUL * order, MOST_DOUBTFUL)
    if variant == "blocked":
        blocked = _rref_blocked(a, pivoting, scale, smallest, doubtful)
        if blocked is not None:
            return blocked, tuple(range(order))
    elif pivoting != "partial":
        result, pivots, health = eliminated(a, (smallest, 0.0), pivoting)
        sound = health[2] > doubtful and pivot.accepted(*health[:2], scale, order)
        if len(pivots) == order and sound:
            return result, pivots
    result, pivots, _ = eliminated(a, limits, "partial")
    return result, pivots


def _rref_blocked(a: Matrix, pivoting: str, scale: float, smallest: float, doubtful: float) -> Matrix | None:
    """Echelon form by blocked factors, or None if a pivot is not above `smallest`, or a block norm did badly.

    Pivots up to `doubtful` are compared with the rounding error that is to be expected in them.
    """
    device, order = a.device, min(a.shape)
    results = device.run(rref_kernel.plan(a.shape, pivoting, "blocked", not device.limits.software), A=a.texture)
    u = np.abs(device.read(results["diagonal"])[:, 0, :2].reshape(-1)[:order])
    if not ((u > smallest) & (u < np.inf)).all():
        return None
    ratio, largest = device.read(results["health"])[0, :, :2].T
    if pivoting != "partial" and not pivot.accepted(ratio.min(), largest.max(), scale, order):
        return None
    places = np.flatnonzero(u <= doubtful)
    if len(places):
        leading = Matrix(device, results["LU"], a.shape)[:order, :order]
        noise = Factors(leading, results["pivots"]).largest_noise(places)
        if not (u[places] > noise).all():
            return None
    return Matrix(device, results["R"], a.shape)


def eliminated(
    a: Matrix, limits: tuple[float, float], pivoting: str
) -> tuple[Matrix, tuple[int, ...], tuple[float, float, float]]:
    """Run one elimination of `rref`, with one pivoting and nothing to fall back on; synchronises.

    Parameters
    ----------
    a : Matrix
        Not empty.
    limits : (float, float)
        Absolute and relative tolerance, see ``lib/threshold.glsl``.
    pivoting : str
        A key of `glla.kernels.pivot.NORMS`.

    Returns
    -------
    (Matrix, tuple of int, (float, float, float))
        The result, its pivot columns, and its health: smallest ratio, largest entry met, smallest norm.
    """
    device = a.device
    tolerance = device.write_texels(np.array([[limits]], dtype=np.float32))
    results = device.run(rref_kernel.plan(a.shape, pivoting), A=a.texture, tolerance=tolerance)
    steps = rref_kernel.steps(a.shape, pivoting)
    records = np.empty((steps, 4), dtype=np.float32)
    records[0::2] = device.read(results["pivots_even"])[0]
    if steps > 1:
        records[1::2] = device.read(results["pivots_odd"])[0, : steps // 2]
    pivots = tuple(2 * k + side for k in range(steps) for side in (0, 1) if records[k, side] >= 0)
    ratio, largest, smallest = (float(value) for value in device.read(results["health"])[0, (steps - 1) // 2, :3])
    return Matrix(device, results["R"], a.shape), pivots, (ratio, largest, smallest)


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
        `a` is not two-dimensional, not real, not finite; unknown pivoting or variant, or two that do not go together.

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
    matrix = _on(_device("plu", device, value), value)
    factors = factorise(matrix, pivoting, variant=variant)
    target = matrix.device
    P = np.zeros((m, m), dtype=np.float32)
    P[permutation_of(factors.pivots, m), np.arange(m)] = 1
    parts = [
        Matrix(target, target.run(plu_kernel.factor((m, n), which), LU=factors.lu.texture)[which], shape)
        for which, shape in (("L", (m, k)), ("U", (k, n)))
    ]
    if isinstance(value, Matrix):
        return PLU(upload(P, target), *parts)
    return PLU(P, *(finite_result("plu", part.numpy(), check_finite) for part in parts))


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
        factors = factorise(_on(_device("lu_factor", device, value), value), pivoting, variant=variant)
        return factors.lu, factors.pivots
    piv = np.zeros((*value.shape[:-2], min(value.shape[-2:])), dtype=np.int32)
    if isinstance(value, Matrix):
        return value.copy(), piv
    lu = np.empty(value.shape, dtype=np.float32)
    if value.size:
        target, flat = _device("lu_factor", device), value.reshape(-1, *value.shape[-2:])
        if pivoting == "partial" and variant is None and stacks.factors(target, *flat.shape[1:]):
            packed, exchanges = stacks.factor(target, flat)
        else:
            each = [factorise(upload(matrix, target), pivoting, variant=variant) for matrix in flat]
            packed, exchanges = np.stack([f.lu.numpy() for f in each]), np.stack([f.pivots for f in each])
        lu, piv = packed.reshape(lu.shape), exchanges.reshape(piv.shape)
    return finite_result("lu_factor", lu, check_finite), piv


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
        x = _lu_solve(_on(target, factors), exchanges, _on(target, _column(rhs)), trans)
        return x if rhs.ndim == 2 else finite_result("lu_solve", x.numpy()[:, 0], check_finite)

    def every(lefts: Array, rights: Array, stack: tuple[int, ...], swaps: NDArray[np.integer]) -> Array:
        target = _device("lu_solve", device)
        _refuse_zeros(np.diagonal(lefts, axis1=1, axis2=2).reshape(*stack, n))
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
        `refine`: the matrix is too ill-conditioned for float32 factors.
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    LimitError, OutOfMemoryError
        `a` is larger than a texture, or does not fit the device's memory with its factors.

    Notes
    -----
    Error: norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) stays below 30, u = 2^-24; with `refine` the componentwise
    backward error in float64 is below 1e-14. Cost: 2/3 n^3 + 2 n^2 k flop. Passes: up to order 256 about 5/8 n for one
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
        x = _solve("solve", _on(target, matrix), _on(target, _column(rhs)), equilibrate)
        return x if rhs.ndim == 2 else finite_result("solve", x.numpy()[:, 0], check_finite)

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


def _solve(function: str, a: Matrix, b: Matrix, equilibrate: bool, index: tuple[int, ...] = ()) -> Matrix:
    if 0 in b.shape:
        return b.copy()
    factors = factorise(a, equilibrate_first=equilibrate)
    x = factors.solve(b)  # queued before the check below waits for the GPU
    factors.check_regular(function, member_of_stack(index))
    factors.check_range(function, a)
    return x


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
        return _solve(function, upload(a, device), rhs, equilibrate, index).numpy()
    factors = _factors_that_stay(function, a, equilibrate, device)
    factors.check_regular(function, member_of_stack(index))
    factors.check_range(function, a)
    x = np.empty((order, columns), dtype=np.float32)
    tiling.solve(factors, tiling.columns_of_identity(order) if b is None else tiling.columns_of(b), x)
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
        rows, columns = scaling(left) if equilibrate else (0, 0)
        scaled = as_float32("solve", "A", np.ldexp(left, -rows - columns), check_finite)
        factors = factorise(upload(scaled, target))
        factors.check_regular("solve", member_of_stack(index))
        outcomes.append(refined("solve", factors, left, right, rows, columns))
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
        return value.copy() if 0 in value.shape else _inverse(value)
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


def _inverse(a: Matrix) -> Matrix:
    return _solve("inv", a, identity(a.shape, a.device), True)


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
        The determinant does not fit float32: use `slogdet`.
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
    if check_finite and not all_finite(result):
        raise NonFiniteError(
            f"det: the determinant does not fit float32, log(abs(det)) is {np.max(logarithm):.6g}; use slogdet"
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
    if not isinstance(value, Matrix) and stacks.factors(target, n, n):
        sign, logarithm = stacks.determinant(target, value.reshape(-1, n, n))
    else:
        matrices = [value] if isinstance(value, Matrix) else (upload(a, target) for a in value.reshape(-1, n, n))
        sign, logarithm = np.transpose([_sign_and_log_of_one(matrix) for matrix in matrices])
    return sign.reshape(stack), logarithm.reshape(stack)


def _sign_and_log_of_one(a: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    factors = factorise(a, equilibrate_first=True)
    return sign_and_log(factors.diagonal[0], factors.pivots, sum(map(np.sum, factors.exponents)))


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
    "rref",
    "slogdet",
    "solve",
]
