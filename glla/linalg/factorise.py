"""The public factorisations: plu and lu_factor."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32, finite_result
from glla.errors import OptionError, ShapeError, one_of
from glla.gl import DeviceLike
from glla.linalg.call import Call
from glla.linalg.operands import device_of, known_variant, operand, placed, two_dimensional
from glla.linalg.results import PLU
from glla.operations import OPERATIONS
from glla.operations.elimination import pivot
from glla.operations.elimination import plu as kernel
from glla.registry import public


@public()
def plu(
    a: Any,
    pivoting: str = "partial",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> PLU[Array] | PLU[Float32]:
    """PLU factorisation A = P @ L @ U, as `scipy.linalg.lu`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> P, L, U = glla.plu([[1, 2], [4, 4]])
    >>> U
    array([[4., 4.],
           [0., 1.]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (m, n)
        Real numbers; any shape and rank.
    pivoting : {"partial", "harmonic", "geometric", "none"}
        ``partial`` is LAPACK's: multipliers of magnitude 1 at most. The block norms of the thesis need fewer passes;
        where they do badly (see `rref`) they give way to ``partial``. ``none`` exchanges nothing, for matrices that
        need no exchange, such as diagonally dominant ones: its factors are judged by their residual, in float64 on
        the host, and refused where that is too large.
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
    SingularMatrixError
        ``pivoting="none"``, and a pivot is zero, or too small beside its column.

    Warns
    -----
    GrowthWarning
        Entries grow so much that no row pivoting keeps the error below its bound.
    """
    value = operand("plu", "A", a, check_finite)
    two_dimensional("plu", "A", value)
    _known_pivoting("plu", pivoting, variant)
    m, n = value.shape
    k = min(m, n)
    eye = partial(np.eye, dtype=np.float32)
    if k == 0:
        found: dict[str, Any] = {"P": eye(m), "L": eye(m, 0), "U": eye(0, n)}
    else:
        target, results = device_of("plu", device, value), ("L", "U", "P", "piv", "lu")
        call = Call("plu", "plu", target, check_finite, ("A",), variant, results, options={"pivoting": pivoting})
        found = call.one(value)
    if "lu" in found:  # what the device may flush to zero stays on the host; P there belongs to factors given up
        lu = found["lu"]
        found = {"piv": found["piv"], "L": np.tril(lu[:, :k], -1) + eye(m, k), "U": np.triu(lu[:k])}
    if "P" not in found:
        found["P"] = kernel.permutation_matrix(found["piv"], m)
    return PLU(*(placed("plu", found[name], check_finite, value) for name in "PLU"))


def _known_pivoting(function: str, pivoting: str, variant: str | None) -> None:
    one_of(f"{function}: pivoting", pivoting, (*pivot.NORMS, "none"))
    known_variant(function, OPERATIONS["plu"], variant)
    possible: tuple[str, ...] = (pivoting,) if variant is None else kernel.pivotings(variant)
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
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Array, NDArray[np.int32]] | tuple[Float32, NDArray[np.int32]]:
    """Packed PLU factors and LAPACK's pivots, as `scipy.linalg.lu_factor`.

    Examples
    --------
    >>> import glla
    >>> lu, piv = glla.lu_factor([[1, 2], [4, 4]])
    >>> lu
    array([[4.  , 4.  ],
           [0.25, 1.  ]], dtype=float32)
    >>> piv
    array([1, 1], dtype=int32)

    Parameters
    ----------
    a : array_like or Array, shape (..., m, n)
        Real numbers; one plan serves a whole stack of small matrices, see `glla.operations.batches.stack`.
    pivoting, variant, device, check_finite
        As in `plu`.

    Returns
    -------
    lu : ndarray of float32 or Array, shape (..., m, n)
        L below the diagonal (its ones are not stored), U on and above it.
    piv : ndarray of int32, shape (..., min(m, n))
        Row i was exchanged with row ``piv[i]``. Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        As `plu`, `a` being at least two-dimensional. A singular matrix is no error: U has a zero on its diagonal.
    SingularMatrixError
        As `plu`.

    Warns
    -----
    GrowthWarning
        As `plu`.
    """
    value = operand("lu_factor", "A", a, check_finite)
    if value.ndim < 2:
        raise ShapeError(f"lu_factor: A must be at least two-dimensional, got shape {value.shape}; reshape it")
    _known_pivoting("lu_factor", pivoting, variant)
    if value.size:
        target, options = device_of("lu_factor", device, value), {"pivoting": pivoting}
        names, results = ("A",), ("lu", "piv")
        call = Call("lu_factor", "lu_factor", target, check_finite, names, variant, results, options=options)
        found = call.named(value)
        if not isinstance(value, Array):
            finite_result("lu_factor", found["lu"], check_finite)
        return found["lu"], found["piv"]
    piv = np.zeros((*value.shape[:-2], min(value.shape[-2:])), dtype=np.int32)
    if isinstance(value, Array):
        return value.copy(), piv
    return np.empty(value.shape, dtype=np.float32), piv
