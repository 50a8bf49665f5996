"""The public factorisations: plu and lu_factor."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import NotPositiveDefiniteError, OptionError, ShapeError, one_of
from glla.gl import DeviceLike
from glla.linalg import device_stacks
from glla.linalg.caller import Caller
from glla.linalg.operands import device_of, known_variant, operand, placed, square, turned, two_dimensional
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
        call = Caller("plu", "plu", target, check_finite, ("A",), variant, results, options={"pivoting": pivoting})
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
        call = Caller("lu_factor", "lu_factor", target, check_finite, names, variant, results, options=options)
        found = call.named(value)
        return placed("lu_factor", found["lu"], check_finite, value), found["piv"]
    nothing: Any = value.copy()
    return nothing, np.zeros((*value.shape[:-2], min(value.shape[-2:])), dtype=np.int32)


# -- definite matrices -------------------------------------------------------------------------------------------------


@public(numpy="linalg.cholesky", namespace="cholesky", options=("upper",))
def cholesky(
    a: Any,
    *,
    upper: bool = False,
    lower: None = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Cholesky factor with the semantics of `numpy.linalg.cholesky`: A = L L^T.

    Examples
    --------
    >>> import glla
    >>> glla.cholesky([[4, 2], [2, 5]])
    array([[2., 0.],
           [1., 2.]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric and positive definite. Only the lower half is read, with `upper` only the upper one.
    upper : bool
        Give U = L^T, with A = U^T U. NumPy's default is the lower factor; SciPy's is the upper one.
    lower : None
        SciPy's option, whose default is the other way round: refused, so that nobody gets the wrong half.
    variant : str, optional
        A key of `glla.operations.definite.cholesky.VARIANTS`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array, shape (..., n, n)
        The factor, with zeros in its other half. Synchronises.

    Raises
    ------
    NotPositiveDefiniteError
        A pivot is not above zero, as LAPACK has it: names the leading minor, and the matrix of a stack.
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not square, not real, not finite; unknown variant; `lower` is given.
    LimitError, OutOfMemoryError
        `a` is larger than a texture, or does not fit the device's memory.

    Notes
    -----
    Error: norm(A - L L^T) / (n norm(A) u) stays below 30, u = 2^-24. Cost: n^3 / 3 flop; ceil(n / 2)
    passes, n / 16 from order 64 on and about 3 n / 8 + n^2 / 3072 from 129 on (on a GPU). Small matrices of a stack go
    together, by ceil(n / 2) + 2 passes for all of them, or by one up to order 4. Sources: "Linear algebra on GPUs:
    applications in image restoration" (2012), section 5.2.2; LAPACK potrf.
    """
    if lower is not None:
        raise OptionError(
            f"cholesky: takes upper=, as NumPy's, whose default is the lower factor, got lower={lower!r}; SciPy's "
            f"default is the upper one: write upper={not lower}"
        )
    return _factored("cholesky", a, upper, variant, device, check_finite)


@public()
def cho_factor(
    a: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> tuple[Array, bool] | tuple[Float32, bool]:
    """Cholesky factor for `cho_solve`, with the semantics of `scipy.linalg.cho_factor`.

    Examples
    --------
    >>> import glla
    >>> c, lower = glla.cho_factor([[4, 2], [2, 5]])
    >>> c
    array([[2., 1.],
           [0., 2.]], dtype=float32)
    >>> glla.cho_solve((c, lower), [8, 12])
    array([1., 2.], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric and positive definite. Only the upper half is read, with `lower` only the lower one.
    lower : bool
        Give L of A = L L^T; otherwise U of A = U^T U. SciPy's default is the upper factor, NumPy's the lower one.
    overwrite_a : bool
        Is taken as SciPy takes it, and changes nothing: operands are never written to.
    variant, device, check_finite
        As in `cholesky`.

    Returns
    -------
    c : ndarray of float32 or Array, shape (..., n, n)
        The factor. Its other half holds zeros; SciPy's holds what A had there. Synchronises.
    lower : bool
        As it was given.

    Raises
    ------
    NotPositiveDefiniteError, ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As `cholesky`.

    Notes
    -----
    Error and cost are those of `cholesky`. Source: LAPACK potrf.
    """
    return _factored("cho_factor", a, not lower, variant, device, check_finite), bool(lower)  # type: ignore[return-value]


def _factored(
    function: str, a: Any, upper: bool, variant: str | None, device: DeviceLike | None, check_finite: bool
) -> Array | Float32:
    """Factor a matrix, or a stack."""
    value = operand(function, "A", a, check_finite)
    square(function, "A", value)
    known_variant(function, OPERATIONS[function], variant)
    target = device_of(function, device, value)
    call = Caller("cholesky", function, target, check_finite, ("A",), variant, ("L",), "diagonal")
    try:
        factor = call(turned(value) if upper else value)
    except NotPositiveDefiniteError as error:
        if check_finite and error.pivot is not None and not np.isfinite(error.pivot):
            device_stacks.refuse_nonfinite_there(function, "A", value)  # it may be one of A's
        raise
    return turned(factor, True) if upper else factor
