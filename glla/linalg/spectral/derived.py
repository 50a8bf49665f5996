"""Functions that follow from singular values, and sqrtm, which follows from eigenvalues.

Values up to a part of the largest one, by default max(m, n) 2^-23, count as zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import OptionError, ShapeError, SingularMatrixError, UnsupportedError, one_of
from glla.gl import DeviceLike
from glla.linalg.operands import operand, placed, square
from glla.linalg.products import matmul
from glla.linalg.spectral.singular import svd, svdvals
from glla.linalg.spectral.symmetric import eigh
from glla.linalg.systems import inv
from glla.operations.acceptance import UNIT_ROUNDOFF
from glla.registry import public

SPACING = 2.0**-23
"""Of float32 beside 1."""

HUGE, DOWN = 2.0**100, 2.0**60
"""Matrices with an entry above `HUGE` are divided by `DOWN`: sums of squares fit then, and so do reciprocals, which
devices flush to zero below 2^-126. Entries that are flushed are below 2^-166 of the largest. Those without an entry
above 1 / `HUGE` are multiplied by it: reciprocals of denormal singular values are infinite."""


@public(numpy="linalg.pinv", namespace="pinv", options=("rtol",))
def pinv(
    a: Any,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Pseudo-inverse of A, V diag(1 / s) U^T without zeros of s, with the semantics of `numpy.linalg.pinv`.

    Examples
    --------
    >>> import glla
    >>> glla.pinv([[1, 0], [0, 0], [0, 2]]).round(4)
    array([[1. , 0. , 0. ],
           [0. , 0. , 0.5]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., m, n)
        Real numbers; any shape and rank.
    rcond, rtol : float or array_like, shape (...), optional
        Singular values up to so many times the largest one count as zero; one of the two. By default max(m, n) 2^-23:
        NumPy's default is that of float64, for float32 matrices too.
    hermitian : bool
        A is symmetric: only its lower triangle is read.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array, shape (..., n, m)
        Error: 60 n u norm(A) norm(A^+)^2 at most for a matrix of full rank, n = max(m, n). Of entries above 2^100, or
        all below 2^-100, on the device the result is scaled on the host, and may have entries below 2^-126.

    Raises
    ------
    OptionError, ShapeError, DTypeError, NonFiniteError, ConvergenceError, LimitError, OutOfMemoryError
        Both `rcond` and `rtol` are given; else as `svd`.
    """
    a = operand("pinv", "A", a, check_finite)
    scaled, up = _scaled(a)
    u, s, vh = _reduced("pinv", scaled, hermitian=hermitian, device=device, check_finite=check_finite)
    part = _part("pinv", a, rcond, rtol)
    if not a.size:
        empty = np.zeros((*a.shape[:-2], *a.shape[:-3:-1]), dtype=np.float32)
        result: Array | Float32 = placed("pinv", empty, check_finite, a)
        return result
    with np.errstate(all="ignore"):
        inverse = np.where(s > part * s[..., :1], 1 / s, np.float32(0))
        v = vh.swapaxes(-1, -2) * inverse[..., np.newaxis, :]
        x: Any = matmul(v, u.swapaxes(-1, -2), device=device, check_finite=False)
        x = x if scaled is a else np.asarray(x) / up  # a device would flush entries below 2^-126
    return placed("pinv", x, check_finite, a)  # type: ignore[no-any-return]


@public(numpy="linalg.matrix_rank", namespace="matrix_rank", options=("rtol",))
def matrix_rank(
    A: Any,  # NumPy's name
    tol: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> np.int64 | NDArray[np.int64]:
    """Number of singular values that are not zero, with the semantics of `numpy.linalg.matrix_rank`.

    Examples
    --------
    >>> import glla
    >>> glla.matrix_rank([[1, 2], [2, 4]]), glla.matrix_rank([[1, 2], [2, 5]])
    (np.int64(1), np.int64(2))

    Parameters
    ----------
    A : array_like or Array, shape (..., m, n) or (n,)
        Real numbers. The rank of a vector is 0 or 1.
    tol : float or array_like, shape (...), optional
        Singular values up to it count as zero. By default `rtol` times the largest one.
    hermitian : bool
        A is symmetric: only its lower triangle is read.
    rtol : float or array_like, shape (...), optional
        In place of `tol`. By default max(m, n) 2^-23; errors of singular values are far below.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    int64, or ndarray of int64, shape (...)
        Synchronises.

    Raises
    ------
    OptionError, ShapeError, DTypeError, NonFiniteError, LimitError, OutOfMemoryError
        Both `tol` and `rtol` are given; else as `svd`.
    """
    a = operand("matrix_rank", "A", A, check_finite)
    if a.ndim < 2:
        return np.int64(np.asarray(a != 0).any())
    part = _part("matrix_rank", a, tol, rtol, "tol")
    a, up = _scaled(a)
    options: dict[str, Any] = {"device": device, "check_finite": check_finite}
    found: Any = svd(a, compute_uv=False, hermitian=True, **options) if hermitian else svdvals(a, **options)
    s = np.asarray(found)
    least = np.asarray(part) / up[..., 0].astype(np.float64) if tol is not None else part * s[..., :1]
    rank = np.count_nonzero(s > least, axis=-1)
    return np.int64(rank) if a.ndim == 2 else np.asarray(rank)


@public(numpy="linalg.cond")
def cond(
    x: Any, p: Any = None, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Array | np.float32 | Float32:
    """Condition number, norm(A) norm(A^-1), with the semantics of `numpy.linalg.cond`.

    Examples
    --------
    >>> import glla
    >>> glla.cond([[2, 0], [0, 4]]), glla.cond([[2, 0], [0, 4]], 1)
    (np.float32(2.0), np.float32(2.0))

    Parameters
    ----------
    x : array_like or Array, shape (..., m, n)
        Real numbers; square unless `p` is None, 2 or -2.
    p : {None, 2, -2, 1, -1, inf, -inf, 'fro'}
        Norm. By default the 2-norm: the largest singular value over the smallest; -2 gives its reciprocal.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, ndarray of float32, or Array, shape (...)
        Of a singular matrix infinite, or large where rounding leaves a smallest singular value, as NumPy's: here that
        is 14 u of the largest one at times, u = 2^-24, so that 10^6 and more may mean singular, see `matrix_rank`.
        `rcond` estimates the 1-norm's from factors, which is faster.

    Raises
    ------
    LinAlgError, ShapeError, DTypeError, NonFiniteError, LimitError, OutOfMemoryError
        `x` is empty, or not square where `p` asks for inverses; else as `svd`.
    """
    a = operand("cond", "x", x, check_finite)
    if a.ndim < 2 or not a.shape[-1] * a.shape[-2]:
        raise ShapeError(f"cond: is not defined on empty arrays and vectors, got shape {a.shape}")
    found: Any
    a, _ = _scaled(a)
    if p not in (None, 2, -2):
        found = _by_inverse(a, p, device, check_finite)
    else:
        s: Any = svdvals(a, device=device, check_finite=check_finite)
        above, below = (s[..., 0], s[..., -1]) if p != -2 else (s[..., -1], s[..., 0])
        with np.errstate(all="ignore"):
            found = np.where(s[..., 0] == 0, np.float32(np.inf), above / below)
    return found if isinstance(found, Array) else np.asarray(found, dtype=np.float32)[()]


@public()
def polar(
    a: Any, side: str = "right", *, device: DeviceLike | None = None, check_finite: bool = True
) -> tuple[Array, Array] | tuple[Float32, Float32]:
    """Polar decomposition A = U P, or A = P U, with the semantics of `scipy.linalg.polar`.

    Examples
    --------
    >>> import glla
    >>> U, P = glla.polar([[0, -2], [3, 0]])
    >>> U.round(4) + 0, P.round(4) + 0
    (array([[ 0., -1.],
           [ 1.,  0.]], dtype=float32), array([[3., 0.],
           [0., 2.]], dtype=float32))

    Parameters
    ----------
    a : array_like or Array, shape (..., m, n)
        Real numbers; any shape and rank.
    side : {"right", "left"}
        On which side of U the symmetric factor P is.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    U : ndarray of float32 or Array, shape (..., m, n)
        With orthonormal columns, or rows.
    P : shape (..., n, n), or of the left side (..., m, m)
        Symmetric but for rounding errors, without negative eigenvalues.

    Raises
    ------
    OptionError, ShapeError, DTypeError, NonFiniteError, ConvergenceError, LimitError, OutOfMemoryError
        Unknown side; else as `svd`.
    """
    one_of("polar: side", side, ("right", "left"))
    options: dict[str, Any] = {"device": device, "check_finite": check_finite}
    a = operand("polar", "A", a, check_finite)
    whole, up = _scaled(a)
    w, s, vh = _reduced("polar", whole, **options)
    factor, scaled = (vh, vh * s[..., :, np.newaxis]) if side == "right" else (w, w * s[..., np.newaxis, :])
    turned = factor.swapaxes(-1, -2)
    pair = (turned, scaled) if side == "right" else (scaled, turned)
    p: Any = matmul(*pair, device=device, check_finite=False)
    with np.errstate(over="ignore"):
        p = placed("polar", p if whole is a else p * up, check_finite, a)
    return matmul(w, vh, **options), p  # type: ignore[return-value]


@public()
def sqrtm(
    A: Any,  # SciPy's name
    *,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Square root of a symmetric matrix without negative eigenvalues, as `scipy.linalg.sqrtm` gives it.

    Examples
    --------
    >>> import glla
    >>> glla.sqrtm([[4, 0], [0, 9]]).round(4)
    array([[2., 0.],
           [0., 3.]], dtype=float32)

    Parameters
    ----------
    A : array_like or Array, shape (..., n, n)
        Real numbers, symmetric to 30 n u of the largest entry.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    S : ndarray of float32 or Array, shape (..., n, n)
        Symmetric but for rounding errors, with S S = A to about 60 n u norm(A), u = 2^-24. Eigenvalues of rounding size
        below zero, to -30 n u norm(A), count as zero. Synchronises.

    Raises
    ------
    UnsupportedError
        A is not symmetric, or has a negative eigenvalue: its root is complex.
    ShapeError, DTypeError, NonFiniteError, ConvergenceError, LimitError, OutOfMemoryError
        As `eigh`.
    """
    options: dict[str, Any] = {"device": device, "check_finite": check_finite}
    A = operand("sqrtm", "A", A, check_finite)
    square("sqrtm", "A", A)
    if A.size:  # SciPy's takes any matrix, so half of one is not read silently
        apart, sizes = (abs(one).max(axis=(-2, -1)) for one in (A - A.swapaxes(-1, -2), A))
        if (apart > 30 * A.shape[-1] * UNIT_ROUNDOFF * sizes).any():
            raise UnsupportedError("sqrtm: A is not symmetric; use scipy.linalg.sqrtm")
    w, v = eigh(A, **options)
    values = w.numpy() if isinstance(w, Array) else w
    largest = np.abs(values).max(axis=-1, initial=0.0, keepdims=True)
    if (values < -30 * v.shape[-1] * UNIT_ROUNDOFF * largest).any():
        raise UnsupportedError(
            f"sqrtm: A has the eigenvalue {values.min():.4g}: its root is complex; use scipy.linalg.sqrtm"
        )
    scaled = v * np.sqrt(np.maximum(values, 0))[..., np.newaxis, :]
    return matmul(scaled, v.swapaxes(-1, -2), **options)


@public()
def orth(
    A: Any,  # SciPy's name
    rcond: float | None = None,
    *,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Orthonormal basis of the columns of A, with the semantics of `scipy.linalg.orth`.

    Examples
    --------
    >>> import glla
    >>> glla.orth([[2, 0, 0], [0, 5, 5]]).round(4) + 0
    array([[0., 1.],
           [1., 0.]], dtype=float32)

    Parameters
    ----------
    A : array_like or Array, shape (m, n)
        Real numbers.
    rcond : float, optional
        Singular values up to so many times the largest one count as zero; max(m, n) 2^-23.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array, shape (m, rank)
        Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, ConvergenceError, LimitError, OutOfMemoryError
        `A` is not two-dimensional; else as `svd`.
    """
    a = _one("orth", A, check_finite)
    u, s, _ = _reduced("orth", a, device=device, check_finite=check_finite)
    result: Array | Float32 = u[:, : _count("orth", a, s, rcond)]
    return result


@public()
def null_space(
    A: Any,  # SciPy's name
    rcond: float | None = None,
    *,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Orthonormal basis of the vectors x with A x = 0, with the semantics of `scipy.linalg.null_space`.

    Examples
    --------
    >>> import glla
    >>> abs(glla.null_space([[1, 1], [1, 1]])).round(4)
    array([[0.7071],
           [0.7071]], dtype=float32)

    Parameters
    ----------
    A : array_like or Array, shape (m, n)
        Real numbers.
    rcond : float, optional
        Singular values up to so many times the largest one count as zero; max(m, n) 2^-23.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array, shape (n, n - rank)
        Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, ConvergenceError, LimitError, OutOfMemoryError
        `A` is not two-dimensional; else as `svd`.
    """
    a = _one("null_space", A, check_finite)
    _, s, vh = svd(a, device=device, check_finite=check_finite)
    result: Array | Float32 = vh[_count("null_space", a, s, rcond) :].swapaxes(0, 1)
    return result if isinstance(result, Array) else np.ascontiguousarray(result)


def _reduced(function: str, a: Float32 | Array, **options: Any) -> Any:
    """Give the factors of every matrix, without more columns than singular values."""
    if a.ndim < 2:
        raise ShapeError(f"{function}: A must be at least two-dimensional, got shape {a.shape}; reshape it")
    return svd(a, full_matrices=False, **options)


def _scaled(a: Any) -> tuple[Any, Float32]:
    """Divide every matrix by a power of two if it is beyond `HUGE` or 1 / `HUGE`; give the powers, too, (..., 1, 1)."""
    if a.ndim < 2 or not a.size:
        return a, np.ones((1, 1), dtype=np.float32)
    sizes = abs(a).max(axis=(-2, -1), keepdims=True)
    sizes = sizes.numpy(check_finite=False) if isinstance(sizes, Array) else sizes
    large, small = np.isfinite(sizes) & (sizes > HUGE), (sizes > 0) & (sizes < 1 / HUGE)
    up = np.select([large, small], [DOWN, 1 / DOWN], 1).astype(np.float32)
    return (a if (up == 1).all() else a * (1 / up)), up


def _one(function: str, a: Any, check_finite: bool) -> Float32 | Array:
    """Take a single matrix."""
    value = operand(function, "A", a, check_finite)
    if value.ndim != 2:
        raise ShapeError(f"{function}: A must be two-dimensional, got shape {value.shape}")
    return value


def _part(function: str, a: Float32 | Array, given: Any, rtol: Any, name: str = "rcond") -> Any:
    """Give the tolerance, beside the singular values of every matrix."""
    if given is not None and rtol is not None:
        raise OptionError(f"{function}: give either {name} or rtol, got {given!r} and {rtol!r}")
    part = given if given is not None else rtol
    if part is None:
        return np.float32(max(a.shape[-2:]) * SPACING)
    part = operand(function, name if given is not None else "rtol", part, check_finite=False)
    return part[..., np.newaxis]


def _count(function: str, a: Float32 | Array, s: Any, rcond: float | None) -> int:
    """Give the number of singular values that are not zero."""
    values = np.asarray(s)
    return int(np.count_nonzero(values > _part(function, a, rcond, None) * values[:1]))


def _by_inverse(a: Float32 | Array, p: Any, device: DeviceLike | None, check_finite: bool) -> Any:
    """Give the product of the norms of A and of its inverse."""
    square("cond", "x", a)
    size = _norm(a, p)
    try:
        inverse: Any = inv(a, device=device, check_finite=check_finite)
        return size * _norm(inverse, p)
    except SingularMatrixError:
        if a.ndim == 2:
            return size + np.inf
        each = [_by_inverse(matrix, p, device, check_finite) for matrix in a.reshape(-1, *a.shape[-2:])]
        return np.stack(each).reshape(size.shape)


def _norm(a: Float32 | Array, p: Any) -> Any:
    """Give the norm of every matrix: its squares may leave float32's range."""
    return np.linalg.norm(a if isinstance(a, Array) else a.astype(np.float64), p, axis=(-2, -1))
