"""The public factorisations: plu and lu_factor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Matrix, upload
from glla.array.convert import Array, all_finite, finite_result, is_one_of
from glla.errors import OptionError, OutOfMemoryError, ShapeError
from glla.gl import Device
from glla.linalg import remedies
from glla.linalg.factors import accepted
from glla.linalg.members import factors_need_care
from glla.linalg.operands import device_of, known_variant, operand, refuse_nonfinite_largest, stored, two_dimensional
from glla.linalg.remedies import size_near_one
from glla.linalg.results import PLU
from glla.linalg.routes import batched, must_fit_a_texture, out_of_memory
from glla.operations import OPERATIONS
from glla.operations.elimination import pivot
from glla.operations.elimination import plu as kernel
from glla.passes import Form
from glla.registry import public

Pivots = NDArray[np.int32]


@public()
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
        A key of ``glla.operations.elimination.plu.VARIANTS``, for comparisons; by default the fastest. The block norms
        are for ``rank2`` and ``blocked``. ``row_operations_full`` is refused: it exchanges columns too, A = P L U Q,
        and there is no Q here; see `glla.lab.pivoting.pluq`.
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
    3 passes (``partial``) or 2 (block norms); large matrices are factored in blocks, see
    `glla.operations.elimination.plu`. Source: Brodtkorb 2007, section 4.1.3.

    Examples
    --------
    >>> import glla
    >>> P, L, U = glla.plu([[1, 2], [4, 4]])
    >>> U
    array([[4., 4.],
           [0., 1.]], dtype=float32)
    """
    value = operand("plu", "A", a, check_finite)
    two_dimensional("plu", "A", value)
    _known_pivoting("plu", pivoting, variant)
    m, n = value.shape
    k = min(m, n)
    if k == 0:
        empty = PLU(*(np.eye(*s, dtype=np.float32) for s in ((m, m), (m, 0), (0, n))))
        return empty if not isinstance(value, Matrix) else PLU(*(upload(part, value.device) for part in empty))
    target = device_of("plu", device, value)
    results, pivots = _factors("plu", value, pivoting, variant, target, check_finite)
    if "lu" in results:  # what the device may flush to zero stays on the host
        lu = results["lu"]
        parts: list[Any] = [np.tril(lu[:, :k], -1) + np.eye(m, k, dtype=np.float32), np.triu(lu[:k])]
        if isinstance(value, Matrix):
            parts = [upload(part, target) for part in parts]
    elif isinstance(value, Matrix):
        parts = [Matrix(target, results[name], shape) for name, shape in (("L", (m, k)), ("U", (k, n)))]
    else:
        parts = [results["L"], results["U"]]
    P = kernel.permutation_matrix(pivots, m) if "P" not in results else Matrix(target, results["P"], (m, m))
    if isinstance(value, Matrix):
        return PLU(P if isinstance(P, Matrix) else upload(P, target), *parts)
    return PLU(P, *(finite_result("plu", array, check_finite) for array in parts))


def _factors(
    function: str,
    a: Array | Matrix,
    pivoting: str,
    variant: str | None,
    device: Device,
    check_finite: bool,
    tried: str | None = None,
) -> tuple[dict[str, Any], Pivots]:
    """Factor one matrix, not empty; give the results of the plan, or the packed factors as ``lu``, and the pivots."""
    shape, k, packed = (a.shape[0], a.shape[1]), min(a.shape), function == "lu_factor"
    if isinstance(a, np.ndarray):
        must_fit_a_texture(function, a, device) if packed else None
    plan = kernel.whole((Form.of(a),), device.limits, variant=variant, pivoting=pivoting, packed=packed)
    results = device.run(plan, A=stored(a))
    if isinstance(a, Matrix) and check_finite:
        refuse_nonfinite_largest(function, "A", results["largest_A"])
    scale = float(results["largest_A"].flat[0])
    if pivoting != "partial" and not accepted(results["health_read"], scale, shape):
        return _factors(function, a, "partial", variant, device, check_finite, pivoting)
    pivots = kernel.exchanges(results["exchanges"], k)
    if size_near_one(scale) and scale > 0 and float(results["largest_U"].flat[0]) / scale <= pivot.allowed_growth(k):
        return results, pivots
    if not (np.isfinite(scale) and scale > 0) if isinstance(a, Matrix) else not (all_finite(a) and a.any()):
        return results, pivots  # let through on purpose, or zero
    host = a.numpy() if isinstance(a, Matrix) else a
    first = tried or pivoting
    names = [first, *(name for name in pivot.NORMS if name != first)]
    care = remedies.factors(function, host, names, _again(device, first, variant), check_finite)
    return {"lu": care.lu}, care.pivots


def _again(device: Device, first: str, variant: str | None) -> remedies.Again:
    """Give what factors a scaled array with one pivoting after another."""

    def factored(scaled: Array, pivoting: str) -> tuple[Array, Pivots]:
        shape = (scaled.shape[0], scaled.shape[1])
        own = variant if pivoting == first else None
        plan = kernel.care(Form(shape), device.limits, pivoting, own, (), False)
        results = device.run(plan, A=scaled)
        if pivoting != "partial" and not accepted(results["health_read"], float(results["largest_A"].flat[0]), shape):
            results = device.run(kernel.care(Form(shape), device.limits, "partial", own, (), False), A=scaled)
        return results["LU"], kernel.exchanges(results["exchanges"], min(shape))

    return factored


def _known_pivoting(function: str, pivoting: str, variant: str | None) -> None:
    if not is_one_of(pivoting, pivot.NORMS):
        raise OptionError(f"{function}: pivoting must be one of {', '.join(pivot.NORMS)}, got {pivoting!r}")
    known_variant(function, OPERATIONS["plu"], variant)
    possible = (pivoting,) if variant is None else kernel.pivotings(variant)
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


@public()
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
        Real numbers; one plan serves a whole stack of small matrices, see `glla.linalg.stacks`.
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
    value = operand("lu_factor", "A", a, check_finite)
    if value.ndim < 2:
        raise ShapeError(f"lu_factor: A must be at least two-dimensional, got shape {value.shape}; reshape it")
    _known_pivoting("lu_factor", pivoting, variant)
    if isinstance(value, Matrix) and value.size:
        target = device_of("lu_factor", device, value)
        results, pivots = _factors("lu_factor", value, pivoting, variant, target, check_finite)
        if "lu" in results:
            return upload(results["lu"], target), pivots
        return Matrix(target, results["LU"], value.shape), pivots
    piv = np.zeros((*value.shape[:-2], min(value.shape[-2:])), dtype=np.int32)
    if isinstance(value, Matrix):
        return value.copy(), piv
    lu = np.empty(value.shape, dtype=np.float32)
    if value.size:
        target, flat = device_of("lu_factor", device), value.reshape(-1, *value.shape[-2:])
        packed, exchanges = _stack(flat, pivoting, variant, target, check_finite)
        lu, piv = packed.reshape(lu.shape), exchanges.reshape(piv.shape)
    return finite_result("lu_factor", lu, check_finite), piv


def _stack(a: Array, pivoting: str, variant: str | None, device: Device, check_finite: bool) -> tuple[Array, Pivots]:
    """Factor a stack: together where they are small, else one by one."""
    (m, n), k = a.shape[1:], min(a.shape[1:])
    records = None
    if pivoting == "partial" and variant is None:
        records = batched(device, OPERATIONS["lu_factor"], (a,), m * n + 3 * k)
    if records is None:
        each = [_packed(matrix, pivoting, variant, device, check_finite) for matrix in a]
        return np.stack([pair[0] for pair in each]), np.stack([pair[1] for pair in each])
    packed, exchanges = records[:, : m * n].reshape(a.shape), records[:, m * n + 2 * k :].astype(np.int32)
    for index in factors_need_care(a, packed):
        packed[index], exchanges[index] = _packed(a[index], pivoting, variant, device, check_finite)
    return packed, exchanges


def _packed(a: Array, pivoting: str, variant: str | None, device: Device, check_finite: bool) -> tuple[Array, Pivots]:
    try:
        results, pivots = _factors("lu_factor", a, pivoting, variant, device, check_finite)
    except OutOfMemoryError as error:
        raise out_of_memory("lu_factor", a, error) from None
    return results["lu" if "lu" in results else "LU_read"], pivots
