"""The public QR factorisation, and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import Float32, finite_result
from glla.errors import NonFiniteError, ShapeError, one_of, real
from glla.gl import DeviceLike
from glla.linalg import device_stacks
from glla.linalg.caller import Caller
from glla.linalg.operands import column, device_of, known_variant, on_host, operand, placed, turned
from glla.linalg.results import QRResult
from glla.operations import OPERATIONS
from glla.operations.orthogonal import lstsq as squares
from glla.operations.orthogonal import qr as kernel
from glla.passes import Form
from glla.registry import public

RESULTS = {"reduced": ("Q", "R"), "complete": ("Q", "R"), "r": ("R",), "raw": ("h", "tau", "H", "T")}
"""Results by mode; of mode "raw" a batch has the first two, a matrix the others."""


@public(numpy="linalg.qr", namespace="qr", options=("mode",))
def qr(
    a: Any,
    mode: str = "reduced",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> QRResult[Array] | Array | tuple[Array, Array] | QRResult[Float32] | Float32 | tuple[Float32, Float32]:
    """QR factorisation A = Q R with the semantics of `numpy.linalg.qr`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> Q, R = glla.qr([[3, 1], [4, 2]])
    >>> R.round(3)
    array([[-5. , -2.2],
           [ 0. ,  0.4]], dtype=float32)
    >>> (Q @ R).round(3)
    array([[3., 1.],
           [4., 2.]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., m, n)
        Real numbers; any shape and rank.
    mode : {"reduced", "complete", "r", "raw"}
        What is given, see below; k = min(m, n).
    variant : str, optional
        A key of `glla.operations.orthogonal.qr.VARIANTS`, for comparisons. ``tsqr`` has modes "reduced" and "r" alone.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    QRResult
        Of modes "reduced" and "complete": Q, (..., m, k) or (..., m, m), with orthonormal columns, and R, (..., k, n)
        or (..., m, n), upper triangular. R's diagonal has LAPACK's signs, mostly negative, except with `tsqr`.
    R : ndarray of float32 or Array, shape (..., k, n)
        Of mode "r".
    (h, tau) : tuple
        Of mode "raw": the transpose of R with the reflectors below its diagonal, (..., n, m), and their factors,
        (..., k), as LAPACK's geqrf has them.

    Of an Array all of them are Array. Synchronises, unless ``check_finite=False``.

    Raises
    ------
    OptionError, ShapeError, DTypeError, NonFiniteError
        Unknown mode or variant; `a` is not at least 2-D, not real, not finite; R does not fit float32.
    LimitError, OutOfMemoryError
        `a` is wider than a texture, or, except in modes "reduced" and "r", taller; or does not fit the memory.
    """
    value = operand("qr", "A", a, check_finite)
    if value.ndim < 2:
        raise ShapeError(f"qr: A must be at least two-dimensional, got shape {value.shape}; reshape it")
    one_of("qr: mode", mode, kernel.MODES)
    known_variant("qr", OPERATIONS["qr"], variant)
    shape, results = value.shape[-2:], RESULTS[mode]
    if value.size == 0:
        empty: Any = np.linalg.qr(np.empty(value.shape, dtype=np.float32), mode=mode)  # type: ignore[call-overload]
        found = dict(zip(results, empty if isinstance(empty, tuple) else (empty,), strict=False))
    else:
        target, options = device_of("qr", device, value), {"mode": mode, "watched": check_finite}
        try:
            found = Caller("qr", "qr", target, check_finite, ("A",), variant, results, options=options).named(value)
        except NonFiniteError:
            device_stacks.refuse_nonfinite_there("qr", "A", value, named=False)  # it may be one of A's
            raise
    if "H" in found:
        found = {"h": turned(found["H"]), "tau": kernel.taus(found["T"], min(shape))}
    parts = tuple(placed("qr", part, check_finite, value) for part in found.values())
    if mode in ("reduced", "complete"):
        return QRResult(*parts)
    return parts[0] if mode == "r" else (parts[0], parts[1])


@public(numpy="linalg.lstsq")
def lstsq(
    a: Any,
    b: Any,
    rcond: float | None = None,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> tuple[Array, Array, int, Array] | tuple[Float32, Float32, int, Float32]:
    """Least-squares solution of A x = b, of least norm, with the semantics of `numpy.linalg.lstsq`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> x, residuals, rank, s = glla.lstsq([[0, 1], [1, 1], [2, 1], [3, 1]], [-1, 0.2, 0.9, 2.1])
    >>> x.round(4), rank
    (array([ 1.  , -0.95], dtype=float32), 2)

    Parameters
    ----------
    a : array_like or Array, shape (m, n)
        Real numbers; any shape and rank.
    b : array_like or Array, shape (m,) or (m, k)
        Right-hand sides.
    rcond : float, optional
        Singular values up to `rcond` times the largest one count as zero. By default max(m, n) 2^-23: the spacing of
        float32, in which A is factored. NumPy's default is that of float64, for float32 matrices too. A negative one
        stands for 2^-23.
    variant : str, optional
        A key of `glla.operations.orthogonal.qr.VARIANTS`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    x : ndarray of float32 or Array, shape (n,) or (n, k)
        The solution; where the rank is below n, the one of least norm. Synchronises.
    residuals : shape (k,), or (1,) for a 1-D `b`, or (0,)
        Squared norms of b - A x; none where the rank is below n, or m <= n, as in NumPy. Those below u^2 norm(b)^2 are
        rounding errors.
    rank : int
        Of A, as `rcond` has it.
    s : shape (min(m, n),)
        Singular values of A, the largest first.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        Shapes do not fit; not real, not finite; x, squared residuals or singular values are too large for float32, or x
        so small that it would be rounded to zero; unknown variant.
    LimitError, OutOfMemoryError
        A, beside b, is wider than a texture, or does not fit the device's memory.
    """
    left, right = operand("lstsq", "A", a, check_finite), operand("lstsq", "b", b, check_finite)
    if left.ndim != 2 or right.ndim not in (1, 2):
        raise ShapeError(
            f"lstsq: A must be two-dimensional and b one- or two-dimensional, got A {left.shape} and b {right.shape}"
        )
    squares.check((Form(left.shape), Form(right.shape if right.ndim == 2 else (*right.shape, 1))))
    known_variant("lstsq", OPERATIONS["qr"], variant)
    if left.size:  # which has a rank and singular values all the same if b has no columns
        zeros = np.zeros((len(left), 1), dtype=np.float32)
        sides = column(right) if right.size else placed("lstsq", zeros, False, right)
        target = device_of("lstsq", device, left, right)
        options = {"rcond": None if rcond is None else real("lstsq", "rcond", rcond)}
        results = OPERATIONS["lstsq"].results
        call = Caller("lstsq", "lstsq", target, check_finite, ("A", "b"), variant, results, options=options)
        x, residuals, (rank, *_), s = call.one(left, sides).values()
        finite_result("lstsq", x, check_finite)
        x = x[:, 0] if right.ndim == 1 else x[:, : right.shape[1]]
        residuals = residuals if rank == left.shape[1] and right.size else residuals[:0]
    else:
        x, residuals, rank, s = _of_nothing(left.shape, right)
    parts: list[Any] = [placed("lstsq", part, False, left, right) for part in (x, residuals, s)]
    return parts[0], parts[1], int(rank), parts[2]


def _of_nothing(shape: tuple[int, ...], b: Float32 | Array) -> tuple[Float32, Float32, int, Float32]:
    """Solution for a matrix without entries: where it has rows, all of b is left over."""
    x, residuals, rank, s = np.linalg.lstsq(np.zeros(shape), on_host(b).astype(np.float64))
    return x.astype(np.float32), residuals.astype(np.float32), int(rank), s.astype(np.float32)
