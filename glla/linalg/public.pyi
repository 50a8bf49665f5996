"""The public functions, for each kind of operands. Written by ``python -m glla.generate``; do not edit."""

from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32
from glla.gl import DeviceLike
from glla.linalg.results import PLU, RREF, QRResult, RefinedSolution, SlogdetResult
from glla.linalg.spectral.refined import Float64
from glla.linalg.spectral.results import EighResult, SVDResult
from glla.registry import Overriding

Given = TypeVar("Given")
PLACES: dict[str, str]

__all__ = [
    "cho_factor",
    "cho_solve",
    "cho_solve_banded",
    "cholesky",
    "cholesky_banded",
    "cond",
    "det",
    "eigen_bounds",
    "eigh",
    "eigh_tridiagonal",
    "eigvalsh",
    "inv",
    "lstsq",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_rank",
    "null_space",
    "orth",
    "pinv",
    "plu",
    "polar",
    "qr",
    "rcond",
    "rref",
    "slogdet",
    "solve",
    "solve_banded",
    "solve_triangular",
    "solveh_banded",
    "sqrtm",
    "svd",
    "svdvals",
]

@overload
def cho_factor(a: Overriding[Given], lower: bool = False, overwrite_a: bool = False, check_finite: bool = True, *, variant: Literal["rank2", "blocked", "block16", "block16_rows"] | str | None = None, device: DeviceLike | None = None) -> Given:
    r"""Cholesky factor for `cho_solve`, with the semantics of `scipy.linalg.cho_factor`.

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
@overload
def cho_factor(a: Array, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True, *, variant: Literal["rank2", "blocked", "block16", "block16_rows"] | str | None = None, device: DeviceLike | None = None) -> tuple[Array, bool]: ...
@overload
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True, *, variant: Literal["rank2", "blocked", "block16", "block16_rows"] | str | None = None, device: DeviceLike | None = None) -> tuple[Float32, bool]: ...
@overload
def cho_solve(c_and_lower: Overriding[Given], b: Any, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Given:
    r"""Solve A x = b from the Cholesky factor of A, as `scipy.linalg.cho_solve`.

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
@overload
def cho_solve(c_and_lower: tuple[Overriding[Given], bool], b: Any, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Given: ...
@overload
def cho_solve(c_and_lower: tuple[Any, bool], b: Overriding[Given], overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Given: ...
@overload
def cho_solve(c_and_lower: tuple[Array, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Array: ...
@overload
def cho_solve(c_and_lower: tuple[Any, bool], b: Array, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Array: ...
@overload
def cho_solve(c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Float32: ...
@overload
def cho_solve_banded(cb_and_lower: Overriding[Given], b: Any, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Given:
    r"""Solve A x = b from the Cholesky factor of a band, as `scipy.linalg.cho_solve_banded`.

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
@overload
def cho_solve_banded(cb_and_lower: tuple[Overriding[Given], bool], b: Any, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Given: ...
@overload
def cho_solve_banded(cb_and_lower: tuple[Any, bool], b: Overriding[Given], overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Given: ...
@overload
def cho_solve_banded(cb_and_lower: tuple[Array, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Array: ...
@overload
def cho_solve_banded(cb_and_lower: tuple[Any, bool], b: Array, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Array: ...
@overload
def cho_solve_banded(cb_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True, *, device: DeviceLike | None = None) -> Float32: ...
@overload
def cholesky(a: Overriding[Given], *, upper: bool = False, lower: None = None, variant: Literal["rank2", "blocked", "block16", "block16_rows"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Cholesky factor with the semantics of `numpy.linalg.cholesky`: A = L L^T.

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
@overload
def cholesky(a: Array, *, upper: bool = False, lower: None = None, variant: Literal["rank2", "blocked", "block16", "block16_rows"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def cholesky(a: Any, *, upper: bool = False, lower: None = None, variant: Literal["rank2", "blocked", "block16", "block16_rows"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def cholesky_banded(ab: Overriding[Given], overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True, *, variant: Literal["block16", "sixteen"] | str | None = None, device: DeviceLike | None = None) -> Given:
    r"""Cholesky factor of a banded matrix in LAPACK's storage, with the semantics of `scipy.linalg.cholesky_banded`.

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
@overload
def cholesky_banded(ab: Array, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True, *, variant: Literal["block16", "sixteen"] | str | None = None, device: DeviceLike | None = None) -> Array: ...
@overload
def cholesky_banded(ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True, *, variant: Literal["block16", "sixteen"] | str | None = None, device: DeviceLike | None = None) -> Float32: ...
@overload
def cond(x: Overriding[Given], p: Any = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Condition number, norm(A) norm(A^-1), with the semantics of `numpy.linalg.cond`.

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
@overload
def cond(x: Array, p: Any = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array | np.float32: ...
@overload
def cond(x: Any, p: Any = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Float32: ...
@overload
def det(a: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Determinant, as `numpy.linalg.det`.

    Examples
    --------
    >>> import glla
    >>> glla.det([[2, 1], [4, 4]])
    np.float32(4.0)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack, an Array for a stack on a device
        Synchronises: reads 16 n bytes for each matrix, of a large stack on a device 4 n + 8.

    Raises
    ------
    NonFiniteError
        The determinant does not fit float32, being too large, or so small that it would be rounded to zero: use
        `slogdet`.
    ShapeError, DTypeError
        As elsewhere.

    Notes
    -----
    The product of U's diagonal, multiplied in float64. Cost: 2/3 n^3 flop; for a whole stack
    one pass up to order 4, n + 5 up to order 256, else about 1.5 n for each.
    """
@overload
def det(a: Array, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Array: ...
@overload
def det(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Float32: ...
@overload
def eigen_bounds(a: Overriding[Given], w: Any, v: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Bounds b of eigenpairs: an eigenvalue of A lies between w_i - b_i and w_i + b_i, for each i.

    Examples
    --------
    >>> import glla
    >>> a = [[2, 1], [1, 2]]
    >>> w, v = glla.eigh(a)
    >>> bool((glla.eigen_bounds(a, w, v) < 1e-5).all())
    True
    >>> float(glla.eigen_bounds(a, [2.5], [[1], [1]]).round(3)[0])
    0.5

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric; both triangles are read.
    w : array_like or Array, shape (..., k)
        Values, of `eigh` or of any other method.
    v : array_like or Array, shape (..., n, k)
        A vector for each value, in columns, of any length but zero.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    b : ndarray of float32 or Array, shape (..., k)
        norm(A v - w v) / norm(v), by one product in float32, and its own rounding error: (n + 8) u (norm(A) + abs(w)),
        with Frobenius's norm, and (n + 8) 2^-126 (1 + 2 n^(1/2) / norm(v)) for products that are flushed to zero.
        Nothing is said of the vectors, nor whether two intervals hold the same eigenvalue. Infinite, or NaN, where the
        product leaves float32's range, or a vector is zero.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        Shapes do not fit; not real, not finite.
    """
@overload
def eigen_bounds(a: Any, w: Overriding[Given], v: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def eigen_bounds(a: Any, w: Any, v: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def eigen_bounds(a: Array, w: Any, v: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def eigen_bounds(a: Any, w: Array, v: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def eigen_bounds(a: Any, w: Any, v: Array, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def eigen_bounds(a: Any, w: Any, v: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def eigh(a: Overriding[Given], UPLO: Literal["L", "U"] = "L", *, refine: bool = False, subset_by_index: tuple[int, int] | None = None, variant: Literal["tridiagonal", "jacobi", "jacobi_angles"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Eigenvalues and eigenvectors of a symmetric matrix, with the semantics of `numpy.linalg.eigh`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> w, V = glla.eigh([[2, 1], [1, 2]])
    >>> w.round(4)
    array([1., 3.], dtype=float32)
    >>> abs(V).round(4)
    array([[0.7071, 0.7071],
           [0.7071, 0.7071]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric: only the triangle that `UPLO` names is read.
    UPLO : {"L", "U"}
        The lower triangle, or the upper one.
    refine : bool
        Refine the pairs to float64, with a product of float64 on the host a step. `a` is taken in float64; results are
        arrays of float64 on the host.
    subset_by_index : (int, int), optional
        The first and the last pair, counted from 0 in ascending order, as in `scipy.linalg.eigh`.
    variant : str, optional
        A key of `glla.operations.spectral.eigh.VARIANTS`, for comparisons.
    device, check_finite
        As in `matmul`; ``check_finite=False`` leaves out the certificate and the repeat, too.

    Returns
    -------
    EighResult
        ``eigenvalues``, (..., n), ascending, and ``eigenvectors``, (..., n, n), in columns, each with its largest entry
        positive; or those of the subset. Of an Array both are Array. Synchronises, unless ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not square, not real, not finite, or an eigenvalue does not fit float32; unknown UPLO or variant, or a
        subset that is none.
    ConvergenceError
        Residual or orthogonality exceed 10 n u; with `refine` the residual exceeds 10 n u of float64.
    LimitError, OutOfMemoryError
        `a` is of an order above a texture's side, or does not fit the memory.
    """
@overload
def eigh(a: Any, UPLO: Literal["L", "U"] = "L", *, refine: Literal[True], subset_by_index: tuple[int, int] | None = None, variant: Literal["tridiagonal", "jacobi", "jacobi_angles"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> EighResult[Float64]: ...
@overload
def eigh(a: Array, UPLO: Literal["L", "U"] = "L", *, refine: Literal[False] = False, subset_by_index: tuple[int, int] | None = None, variant: Literal["tridiagonal", "jacobi", "jacobi_angles"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> EighResult[Array]: ...
@overload
def eigh(a: Any, UPLO: Literal["L", "U"] = "L", *, refine: Literal[False] = False, subset_by_index: tuple[int, int] | None = None, variant: Literal["tridiagonal", "jacobi", "jacobi_angles"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> EighResult[Float32]: ...
@overload
def eigh(a: Any, UPLO: Literal["L", "U"] = "L", *, refine: bool = False, subset_by_index: tuple[int, int] | None = None, variant: Literal["tridiagonal", "jacobi", "jacobi_angles"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> EighResult[Array] | EighResult[Float32] | EighResult[Float64]: ...
@overload
def eigh_tridiagonal(d: Overriding[Given], e: Any, eigvals_only: bool = False, select: Literal["a", "v", "i"] = "a", select_range: tuple[float, float] | None = None, check_finite: bool = True, *, device: DeviceLike | None = None) -> Given:
    r"""Eigenvalues and eigenvectors of a symmetric tridiagonal matrix, as `scipy.linalg.eigh_tridiagonal`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> w, v = glla.eigh_tridiagonal([2, 2, 2], [-1, -1])
    >>> w.round(4)
    array([0.5858, 2.    , 3.4142], dtype=float32)
    >>> glla.eigh_tridiagonal([2, 2, 2], [-1, -1], True, select="i", select_range=(1, 1)).round(4)
    array([2.], dtype=float32)

    Parameters
    ----------
    d : array_like or Array, shape (n,)
        The diagonal.
    e : array_like or Array, shape (n - 1,)
        The diagonal beside it.
    eigvals_only : bool
        Give eigenvalues alone, by bisection.
    select : {"a", "v", "i"}
        All; those in the half-open interval `select_range`, (low, high]; or those with numbers from the first to the
        last of `select_range`, from 0 in ascending order.
    select_range : (low, high), optional
        For `select` "v" and "i". With "v" the eigenvalues are read first.
    check_finite, device
        As in `matmul`; ``check_finite=False`` leaves out the certificate, too.

    Returns
    -------
    w, v : ndarray of float32 or Array, shapes (k,) and (n, k)
        Ascending, and orthonormal vectors in columns, each with its largest entry positive; or w alone. Of an Array
        both are Array. Synchronises, except for an Array with ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `d` and `e` are not one-dimensional, `e` has not one entry less; not real, not finite, or an eigenvalue does not
        fit float32; unknown `select`, or a range that is none.
    LimitError
        There are more entries than a texture is wide.
    """
@overload
def eigh_tridiagonal(d: Any, e: Overriding[Given], eigvals_only: bool = False, select: Literal["a", "v", "i"] = "a", select_range: tuple[float, float] | None = None, check_finite: bool = True, *, device: DeviceLike | None = None) -> Given: ...
@overload
def eigh_tridiagonal(d: Array, e: Any, eigvals_only: bool = False, select: Literal["a", "v", "i"] = "a", select_range: tuple[float, float] | None = None, check_finite: bool = True, *, device: DeviceLike | None = None) -> tuple[Array, Array] | Array: ...
@overload
def eigh_tridiagonal(d: Any, e: Array, eigvals_only: bool = False, select: Literal["a", "v", "i"] = "a", select_range: tuple[float, float] | None = None, check_finite: bool = True, *, device: DeviceLike | None = None) -> tuple[Array, Array] | Array: ...
@overload
def eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False, select: Literal["a", "v", "i"] = "a", select_range: tuple[float, float] | None = None, check_finite: bool = True, *, device: DeviceLike | None = None) -> tuple[Float32, Float32] | Float32: ...
@overload
def eigvalsh(a: Overriding[Given], UPLO: Literal["L", "U"] = "L", *, subset_by_index: tuple[int, int] | None = None, variant: Literal["bisection"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Eigenvalues of a symmetric matrix, with the semantics of `numpy.linalg.eigvalsh`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.eigvalsh([[2, 1], [1, 2]]).round(4)
    array([1., 3.], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric: only the triangle that `UPLO` names is read.
    UPLO : {"L", "U"}
        The lower triangle, or the upper one.
    subset_by_index : (int, int), optional
        The first and the last eigenvalue, counted from 0 in ascending order, as in `scipy.linalg.eigvalsh`.
    variant : str, optional
        A key of `glla.operations.spectral.eigvalsh.VARIANTS`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    w : ndarray of float32 or Array, shape (..., n)
        In ascending order. Synchronises, except for an Array with ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not square, not real, not finite, or an eigenvalue does not fit float32; unknown UPLO or variant, or a
        subset that is none.
    LimitError, OutOfMemoryError
        `a` is of an order above a texture's side, or does not fit the memory.
    """
@overload
def eigvalsh(a: Array, UPLO: Literal["L", "U"] = "L", *, subset_by_index: tuple[int, int] | None = None, variant: Literal["bisection"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def eigvalsh(a: Any, UPLO: Literal["L", "U"] = "L", *, subset_by_index: tuple[int, int] | None = None, variant: Literal["bisection"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def inv(a: Overriding[Given], *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, variant: Literal["rank2", "blocked"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Inverse with the semantics of `numpy.linalg.inv`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.inv([[2, 0], [0, 4]])
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, regular.
    assume_a : {"gen", "sym", "her", "pos", "lower triangular", "upper triangular"}
        What `a` is, as in `solve`. The other half of a triangle is never read, and zero in the inverse. "pos" takes
        Cholesky factors, 3/8 of the work; the inverse is symmetric bit by bit.
    lower : bool
        Of "pos", "sym" and "her" the lower half of `a` is used, otherwise the upper one.
    variant : str, optional
        With "pos" a key of `glla.operations.definite.definite_inverse.VARIANTS`, with a triangle one of
        `glla.operations.triangles.triangular_inverse.VARIANTS`. Otherwise ``adjugate`` or ``adjugate_fused`` for
        matrices of order 3, with an error bound of its own, see `glla.operations.systems.inv3`; ``pivoted_small``, the
        usual way up to order 4; or ``gauss_jordan``, which exchanges rows only where a pivot is exactly zero.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        Of the shape of `a`. Synchronises.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error.
    NotPositiveDefiniteError
        ``assume_a="pos"``, and a pivot is not above zero: names the leading minor, and the matrix of a stack.
    ConvergenceError
        ``gauss_jordan``, and the residual is beyond the bound: names the column of the worst pivot.
    ShapeError, DTypeError, NonFiniteError, OptionError
        As elsewhere; unknown `assume_a` or `variant`, or one that is for other matrices.
    LimitError, OutOfMemoryError
        As `solve`.
    """
@overload
def inv(a: Array, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, variant: Literal["rank2", "blocked"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def inv(a: Any, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, variant: Literal["rank2", "blocked"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def lstsq(a: Overriding[Given], b: Any, rcond: float | None = None, *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Least-squares solution of A x = b, of least norm, with the semantics of `numpy.linalg.lstsq`.

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
@overload
def lstsq(a: Any, b: Overriding[Given], rcond: float | None = None, *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def lstsq(a: Array, b: Any, rcond: float | None = None, *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> tuple[Array, Array, int, Array]: ...
@overload
def lstsq(a: Any, b: Array, rcond: float | None = None, *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> tuple[Array, Array, int, Array]: ...
@overload
def lstsq(a: Any, b: Any, rcond: float | None = None, *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> tuple[Float32, Float32, int, Float32]: ...
@overload
def lu_factor(a: Overriding[Given], pivoting: str = "partial", *, variant: Literal["rank2", "blocked", "row_operations", "row_operations_full", "row_vectors", "column_vectors", "extra_column"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Packed PLU factors and LAPACK's pivots, as `scipy.linalg.lu_factor`.

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
@overload
def lu_factor(a: Array, pivoting: str = "partial", *, variant: Literal["rank2", "blocked", "row_operations", "row_operations_full", "row_vectors", "column_vectors", "extra_column"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> tuple[Array, NDArray[np.int32]]: ...
@overload
def lu_factor(a: Any, pivoting: str = "partial", *, variant: Literal["rank2", "blocked", "row_operations", "row_operations_full", "row_vectors", "column_vectors", "extra_column"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> tuple[Float32, NDArray[np.int32]]: ...
@overload
def lu_solve(lu_and_piv: Overriding[Given], b: Any, trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Solve A x = b from the factors of A, as `scipy.linalg.lu_solve`.

    Examples
    --------
    >>> import glla
    >>> glla.lu_solve(glla.lu_factor([[1, 2], [4, 4]]), [3, 8])
    array([1., 1.], dtype=float32)

    Parameters
    ----------
    lu_and_piv : (lu, piv)
        Of a square matrix or a stack of them, from `lu_factor` or from `scipy.linalg.lu_factor`.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast. Many columns stream through the device, as in `solve`.
    trans : {0, 1, 2}
        0: A x = b; 1 and 2: with the transpose of A.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        As `solve`; a 1-D `b` gives a 1-D array, beside an Array too. Synchronises.

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
    Cost: 2 n^2 k flop. Passes: n / 4 for a stack of small systems (see `glla.operations.batches.stack`); otherwise for
    each system about n / 16 on a GPU, n^2 / 1024 with many right-hand sides there, n / 4 in software, see
    `glla.operations.triangles.triangular`. Where the diagonal of U, or right-hand sides, come near float32's limits,
    the substitution is done again in float64 on the CPU. Sources: Brodtkorb 2007, equation 4.34; LAPACK getrs.
    """
@overload
def lu_solve(lu_and_piv: tuple[Overriding[Given], Any], b: Any, trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def lu_solve(lu_and_piv: tuple[Any, Any], b: Overriding[Given], trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def lu_solve(lu_and_piv: tuple[Array, Any], b: Any, trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def lu_solve(lu_and_piv: tuple[Any, Any], b: Array, trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0, *, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def matmul(a: Overriding[Given], b: Any, *, out: Any = None, variant: Literal["inner_product", "virtual_cube", "virtual_cube_ping_pong", "virtual_cube_interpolated", "register_blocked", "panel_broadcast", "panel_groups", "rank_one", "single_component", "packed_4x1", "packed_1x4", "multi_pass", "blocked_output", "compute_tiled"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Matrix product with the semantics of `numpy.matmul`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.matmul([[1, 2], [3, 4]], [[5], [6]])
    array([[17.],
           [39.]], dtype=float32)

    Parameters
    ----------
    a, b : array_like or Array, shapes (..., m, k) and (..., k, n)
        Real numbers. A 1-D `a` counts as a row, a 1-D `b` as a column, and that dimension is dropped from the result.
        Leading dimensions broadcast. Arrays of the host may be larger than the device's memory, and mapped from files
        (`numpy.memmap`): they are cut into tiles, see `glla.linalg.tiling`. Other types are converted to float32 first.
    out : ndarray of float32, optional
        Where the result goes, of its shape; it may be mapped from a file. Not beside an Array.
    variant : str, optional
        For example ``inner_product``; `glla variants matmul` lists them. The products of a stack are then made one by
        one. By default `glla.operations.product.matmul.choose` decides.
    device : Device, str or int, optional
        A device, or its name (see `glla.gl.named_device`). By default that of an Array among the operands, or the
        default device.
    check_finite : bool
        Refuse NaN and infinity, in the operands and in the result.

    Returns
    -------
    ndarray of float32, shape (..., m, n), or Array
        An array synchronises, an Array does not.

    Raises
    ------
    ShapeError
        Inner dimensions differ, leading ones do not broadcast, or an operand is a scalar; `out` has another shape.
    DTypeError, NonFiniteError
        Complex or object operands; NaN, infinity, or an overflow of float32 (`out`, if given, holds it then). `out` is
        not float32.
    OptionError
        No such variant; `out` is no array that can be written, or is given beside an Array.
    LimitError, OutOfMemoryError
        The variant needs more than this device has; an Array is larger than a texture; no tile fits the memory.
    """
@overload
def matmul(a: Any, b: Overriding[Given], *, out: Any = None, variant: Literal["inner_product", "virtual_cube", "virtual_cube_ping_pong", "virtual_cube_interpolated", "register_blocked", "panel_broadcast", "panel_groups", "rank_one", "single_component", "packed_4x1", "packed_1x4", "multi_pass", "blocked_output", "compute_tiled"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def matmul(a: Array, b: Any, *, out: Any = None, variant: Literal["inner_product", "virtual_cube", "virtual_cube_ping_pong", "virtual_cube_interpolated", "register_blocked", "panel_broadcast", "panel_groups", "rank_one", "single_component", "packed_4x1", "packed_1x4", "multi_pass", "blocked_output", "compute_tiled"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def matmul(a: Any, b: Array, *, out: Any = None, variant: Literal["inner_product", "virtual_cube", "virtual_cube_ping_pong", "virtual_cube_interpolated", "register_blocked", "panel_broadcast", "panel_groups", "rank_one", "single_component", "packed_4x1", "packed_1x4", "multi_pass", "blocked_output", "compute_tiled"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def matmul(a: Any, b: Any, *, out: Any = None, variant: Literal["inner_product", "virtual_cube", "virtual_cube_ping_pong", "virtual_cube_interpolated", "register_blocked", "panel_broadcast", "panel_groups", "rank_one", "single_component", "packed_4x1", "packed_1x4", "multi_pass", "blocked_output", "compute_tiled"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def matrix_rank(A: Overriding[Given], tol: Any = None, hermitian: bool = False, *, rtol: Any = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Number of singular values that are not zero, with the semantics of `numpy.linalg.matrix_rank`.

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
@overload
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None, device: DeviceLike | None = None, check_finite: bool = True) -> np.int64 | NDArray[np.int64]: ...
@overload
def null_space(A: Overriding[Given], rcond: float | None = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Orthonormal basis of the vectors x with A x = 0, with the semantics of `scipy.linalg.null_space`.

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
@overload
def null_space(A: Array, rcond: float | None = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def null_space(A: Any, rcond: float | None = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def orth(A: Overriding[Given], rcond: float | None = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Orthonormal basis of the columns of A, with the semantics of `scipy.linalg.orth`.

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
@overload
def orth(A: Array, rcond: float | None = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def orth(A: Any, rcond: float | None = None, *, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def pinv(a: Overriding[Given], rcond: Any = None, hermitian: bool = False, *, rtol: Any = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Pseudo-inverse of A, V diag(1 / s) U^T without zeros of s, with the semantics of `numpy.linalg.pinv`.

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
@overload
def pinv(a: Array, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def plu(a: Overriding[Given], pivoting: Literal["partial", "harmonic", "geometric", "none"] = "partial", *, variant: Literal["rank2", "blocked", "row_operations", "row_operations_full", "row_vectors", "column_vectors", "extra_column"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""PLU factorisation A = P @ L @ U, as `scipy.linalg.lu`.

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
@overload
def plu(a: Array, pivoting: Literal["partial", "harmonic", "geometric", "none"] = "partial", *, variant: Literal["rank2", "blocked", "row_operations", "row_operations_full", "row_vectors", "column_vectors", "extra_column"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> PLU[Array]: ...
@overload
def plu(a: Any, pivoting: Literal["partial", "harmonic", "geometric", "none"] = "partial", *, variant: Literal["rank2", "blocked", "row_operations", "row_operations_full", "row_vectors", "column_vectors", "extra_column"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> PLU[Float32]: ...
@overload
def polar(a: Overriding[Given], side: Literal["right", "left"] = "right", *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Polar decomposition A = U P, or A = P U, with the semantics of `scipy.linalg.polar`.

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
@overload
def polar(a: Array, side: Literal["right", "left"] = "right", *, device: DeviceLike | None = None, check_finite: bool = True) -> tuple[Array, Array]: ...
@overload
def polar(a: Any, side: Literal["right", "left"] = "right", *, device: DeviceLike | None = None, check_finite: bool = True) -> tuple[Float32, Float32]: ...
@overload
def qr(a: Overriding[Given], mode: Literal["reduced", "complete", "r", "raw"] = "reduced", *, variant: Literal["householder", "blocked", "tsqr"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""QR factorisation A = Q R with the semantics of `numpy.linalg.qr`.

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
@overload
def qr(a: Array, mode: Literal["reduced", "complete", "r", "raw"] = "reduced", *, variant: Literal["householder", "blocked", "tsqr"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> QRResult[Array] | Array | tuple[Array, Array]: ...
@overload
def qr(a: Any, mode: Literal["reduced", "complete", "r", "raw"] = "reduced", *, variant: Literal["householder", "blocked", "tsqr"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> QRResult[Float32] | Float32 | tuple[Float32, Float32]: ...
@overload
def rcond(a: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Reciprocal condition number in the 1-norm, as LAPACK's `getrf` and `gecon` estimate it.

    Near 1 for a matrix whose systems lose no digits, below 6e-8 for one that float32 cannot tell from a singular one;
    1 / rcond is about ``numpy.linalg.cond(a, 1)``.

    Examples
    --------
    >>> import glla
    >>> glla.rcond([[1, 0], [0, 0.25]])
    np.float32(0.25)
    >>> glla.rcond([[1, 2], [2, 4]])
    np.float32(0.0)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack, an Array for a stack on a device
        0 for a pivot of zero, infinity for an empty matrix. Synchronises: reads diagnostics of each matrix.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    LimitError, OutOfMemoryError
        As `solve`.

    Notes
    -----
    An estimate, never below the true value by more than rounding, seldom above three times it; below 1e-7 it tells no
    more than that. Cost: 2/3 n^3 + 8 n^2 flop: passes of `lu_factor`, and up to 11 times those of `lu_solve`. Matrices
    of a stack up to order 256 are inverted as a batch, 8/3 n^3 flop for each, in the passes of `inv`. What is on the
    device stays there, unless entries grow or are near float32's limits. Norms are summed in float32 there, on the host
    in float64: the two results differ by at most 2 n u of themselves, u = 2^-24. Sources: Hager 1984; Higham 1988;
    LAPACK gecon.
    """
@overload
def rcond(a: Array, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Array: ...
@overload
def rcond(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Float32: ...
@overload
def rref(a: Overriding[Given], tol: float | None = None, pivoting: Literal["harmonic", "geometric", "partial"] = "harmonic", *, variant: Literal["rank2", "blocked"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Reduced row echelon form and pivot columns.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> R, pivots = glla.rref([[1, 2, 3], [2, 4, 7]])
    >>> R
    array([[1., 2., 0.],
           [0., 0., 1.]], dtype=float32)
    >>> pivots
    (0, 2)

    Parameters
    ----------
    a : array_like or Array, shape (m, n)
        Real numbers.
    tol : float, optional
        A pivot of at most this magnitude counts as zero, which decides the rank. By default each column is judged by
        itself, with rows and columns scaled by powers of two (largest entry of each near 1; if a leading column has no
        pivot then, also by geometric means, and the better one counts). Column j depends on the r pivot columns before
        it if its distance from their span is at most ``2**-23 (4 + sqrt(r)) sqrt((m - r) / m) w``,
        ``w = sqrt(norm(a_j)**2 + sum_c (R[c, j] norm(a_c))**2)``, in the 2-norm: what entries are worth that were
        rounded to float32. Integers below 2^23 are exact, and so is their rank. See `glla.operations.host.span`.
    pivoting : {"harmonic", "geometric", "partial"}
        How a step chooses its two pivot rows; see `glla.operations.elimination.pivot`.
    variant : str, optional
        A key of ``glla.operations.elimination.rref.VARIANTS``, ``rank2`` or ``blocked``; by default the shape decides.
    device : Device, str or int, optional
        Where to compute: a device, or its name (see `glla.gl.named_device`).
    check_finite : bool
        Refuse NaN and infinity, in `a` and in the result.

    Returns
    -------
    RREF
        ``matrix`` (float32, or Array) and ``pivots``. Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not two-dimensional, not real, not finite; unknown pivoting or variant, negative tol.
    """
@overload
def rref(a: Array, tol: float | None = None, pivoting: Literal["harmonic", "geometric", "partial"] = "harmonic", *, variant: Literal["rank2", "blocked"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> RREF[Array]: ...
@overload
def rref(a: Any, tol: float | None = None, pivoting: Literal["harmonic", "geometric", "partial"] = "harmonic", *, variant: Literal["rank2", "blocked"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> RREF[Float32]: ...
@overload
def slogdet(a: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Sign and logarithm of the determinant, as `numpy.linalg.slogdet`.

    Examples
    --------
    >>> import glla
    >>> glla.slogdet([[0, 2], [2, 0]]).sign
    np.float32(-1.0)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    SlogdetResult
        ``sign`` (-1, 0 or 1) and ``logabsdet`` (-inf for a zero determinant), float32: numbers, or arrays for a stack,
        which are an Array each for a stack on a device. Synchronises, as `det`.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    """
@overload
def slogdet(a: Array, *, device: DeviceLike | None = None, check_finite: bool = True) -> SlogdetResult[Array]: ...
@overload
def slogdet(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> SlogdetResult[Float32]: ...
@overload
def solve(a: Overriding[Given], b: Any, refine: bool = False, equilibrate: bool = True, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Solve A x = b with the semantics of `numpy.linalg.solve`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.solve([[3, 1], [1, 2]], [9, 8])
    array([2., 3.], dtype=float32)
    >>> A, B = glla.asarray([[4, 2], [0, 2]]), glla.asarray([[4, 6]])
    >>> glla.solve(A.T, B.T).T  # X A = B
    Array([[1., 2.]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, regular.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector. More columns than the device can hold
        are solved block by block, see `glla.linalg.tiling`; `a` must fit, with its factors.
    refine : bool
        Correct the solution to float64 by residuals on the CPU; `a` may leave float32's range.
    equilibrate : bool
        Scale rows and columns by powers of two before factoring, which rounds nothing.
    assume_a : {"gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded"}
        The structure of `a`, by SciPy's names, also the longer ones. "pos" takes Cholesky factors, half the work; of
        "pos", "sym" and "her" one half of `a` is read, of a triangle its own, then the band. None is "gen".
    lower : bool
        Of "pos", "sym" and "her" the lower half of `a` is read, otherwise the upper one.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32, or Array, or `RefinedSolution`
        With `refine` an array of float64 with ``iterations`` and ``backward_error``. Synchronises.

    Raises
    ------
    SingularMatrixError, NotPositiveDefiniteError
        A pivot is zero, or nothing but rounding error; with ``assume_a="pos"``, not above zero.
    ConvergenceError
        The matrix is too ill-conditioned for float32 factors.
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As `matmul`; the solution does not fit float32, or would be rounded to zero.
    """
@overload
def solve(a: Any, b: Overriding[Given], refine: bool = False, equilibrate: bool = True, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, device: DeviceLike | None = None, check_finite: bool = True) -> Given: ...
@overload
def solve(a: Any, b: Any, refine: Literal[True], equilibrate: bool = True, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, device: DeviceLike | None = None, check_finite: bool = True) -> RefinedSolution: ...
@overload
def solve(a: Array, b: Any, refine: Literal[False] = False, equilibrate: bool = True, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def solve(a: Any, b: Array, refine: Literal[False] = False, equilibrate: bool = True, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def solve(a: Any, b: Any, refine: Literal[False] = False, equilibrate: bool = True, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def solve(a: Any, b: Any, refine: bool = False, equilibrate: bool = True, *, assume_a: Literal["gen", "sym", "her", "pos", "lower triangular", "upper triangular", "diagonal", "tridiagonal", "banded", "general", "symmetric", "hermitian", "positive definite"] | None = "gen", lower: bool = False, device: DeviceLike | None = None, check_finite: bool = True) -> Array | Float32 | RefinedSolution: ...
@overload
def solve_banded(l_and_u: tuple[int, int], ab: Overriding[Given], b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Given:
    r"""Solve A x = b for a matrix in bands, as `scipy.linalg.solve_banded`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.solve_banded((1, 1), [[0, 1, 1], [2, 3, 2], [2, 2, 0]], [4, 11, 10])
    array([1., 2., 3.], dtype=float32)

    Parameters
    ----------
    l_and_u : (int, int)
        Diagonals below and above the main one: 0 to 2 each.
    ab : array_like or Array, shape (..., l + u + 1, n)
        The diagonals: ``ab[u + i - j, j] == a[i, j]``. The corners that belong to no entry are not used.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector, a stack of single right-hand sides is
        (..., n, 1), as SciPy has it. Large stacks stream through the device in pieces.
    overwrite_ab, overwrite_b : bool
        Are taken as SciPy takes them, and change nothing: operands are never written to.
    check_finite : bool
        Refuse NaN and infinity, wherever they are. Without it the unused corners may hold anything.
    variant : str, optional
        A key of `glla.operations.bands.tridiagonal.VARIANTS`, for three diagonals: then matrices of a batch
        are looped.
    device
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        Of the shape of `b`, or of all the stack; beside an Array an Array. Synchronises.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error in float64; names the matrix of a stack.
    ShapeError, DTypeError, NonFiniteError, OptionError
        Shapes do not fit together; not real; not finite, or the solution is too large for float32; unknown variant.
    UnsupportedError
        More diagonals; `scipy.linalg.solve_banded` solves those.
    LimitError
        n is larger than a texture is high.
    """
@overload
def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Overriding[Given], overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Given: ...
@overload
def solve_banded(l_and_u: tuple[int, int], ab: Array, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Array: ...
@overload
def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Array, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Array: ...
@overload
def solve_banded(l_and_u: tuple[int, int], ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Float32: ...
@overload
def solve_triangular(a: Overriding[Given], b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: Literal["rank2", "blocked", "chain", "panel_broadcast"] | str | None = None, device: DeviceLike | None = None) -> Given:
    r"""Solve a x = b for a triangular matrix, as `scipy.linalg.solve_triangular`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.solve_triangular([[2, 0], [1, 4]], [2, 9], lower=True)
    array([1., 2.], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers. Only the upper triangle is read, with `lower` only the lower one.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides. Leading dimensions broadcast; a 1-D `b` is one vector. Many columns stream through the device,
        as in `solve`.
    trans : {0, 1, 2, "N", "T", "C"}
        0 and "N": a x = b; the others: with the transpose of the triangle.
    lower : bool
        Take the lower triangle of `a`.
    unit_diagonal : bool
        Take ones for the diagonal, which is not read then.
    overwrite_b : bool
        Is taken as SciPy takes it, and changes nothing: `b` is never written to.
    check_finite : bool
        Refuse NaN and infinity anywhere. Without it the other triangle may hold anything.
    variant : str, optional
        A key of `glla.operations.triangles.triangular.VARIANTS`: then matrices of a stack are looped.
    device
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array
        Of the shape of `b`, or of all the stack; a 1-D `b` gives a 1-D array, beside an Array too. Synchronises.

    Raises
    ------
    SingularMatrixError
        The diagonal has a zero; names its place, as LAPACK's trtrs.
    ShapeError, DTypeError, NonFiniteError, OptionError
        As elsewhere; the solution does not fit float32, or would be rounded to zero.
    LimitError, OutOfMemoryError
        As `solve`.
    """
@overload
def solve_triangular(a: Any, b: Overriding[Given], trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: Literal["rank2", "blocked", "chain", "panel_broadcast"] | str | None = None, device: DeviceLike | None = None) -> Given: ...
@overload
def solve_triangular(a: Array, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: Literal["rank2", "blocked", "chain", "panel_broadcast"] | str | None = None, device: DeviceLike | None = None) -> Array: ...
@overload
def solve_triangular(a: Any, b: Array, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: Literal["rank2", "blocked", "chain", "panel_broadcast"] | str | None = None, device: DeviceLike | None = None) -> Array: ...
@overload
def solve_triangular(a: Any, b: Any, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False, check_finite: bool = True, *, variant: Literal["rank2", "blocked", "chain", "panel_broadcast"] | str | None = None, device: DeviceLike | None = None) -> Float32: ...
@overload
def solveh_banded(ab: Overriding[Given], b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Given:
    r"""Solve A x = b for a symmetric positive definite matrix in bands, as `scipy.linalg.solveh_banded`.

    Examples
    --------
    >>> import glla
    >>> glla.solveh_banded([[4, 3, 4], [2, 2, 0]], [8, 14, 16], lower=True)
    array([1., 2., 3.], dtype=float32)

    Parameters
    ----------
    ab : array_like or Array, shape (..., u + 1, n)
        The diagonals of the upper half, ``ab[u + i - j, j] == a[i, j]``; with `lower` those of the lower half,
        ``ab[i - j, j] == a[i, j]``. More than one diagonal takes Cholesky factors.
    b : array_like or Array, shape (n,) or (..., n, k)
        Right-hand sides, as in `solve_banded`.
    lower : bool
        Which half is given.
    overwrite_ab, overwrite_b, check_finite, variant, device
        As in `solve_banded`.

    Returns
    -------
    ndarray of float32 or Array
        As `solve_banded`.

    Raises
    ------
    NotPositiveDefiniteError
        A pivot is not above zero, or nothing but rounding error in float64: names the leading minor.
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError
        As `solve_banded`; `variant` with more than one diagonal.

    Notes
    -----
    Error and cost are those of `solve_banded`; with more than one diagonal those of `cholesky_banded`: the normalised
    residual stays below 30. Cyclic reduction is Gaussian elimination in another order of the
    unknowns, so it is backward stable for these matrices. Sources: Hockney 1965; LAPACK ptsv.
    """
@overload
def solveh_banded(ab: Any, b: Overriding[Given], overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Given: ...
@overload
def solveh_banded(ab: Array, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Array: ...
@overload
def solveh_banded(ab: Any, b: Array, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Array: ...
@overload
def solveh_banded(ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False, check_finite: bool = True, *, variant: str | None = None, device: DeviceLike | None = None) -> Float32: ...
@overload
def sqrtm(A: Overriding[Given], *, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Square root of a symmetric matrix without negative eigenvalues, as `scipy.linalg.sqrtm` gives it.

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
@overload
def sqrtm(A: Array, *, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def sqrtm(A: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
@overload
def svd(a: Overriding[Given], full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, *, variant: Literal["bidiagonal", "one_sided"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Singular values and vectors, A = U diag(s) Vh, with the semantics of `numpy.linalg.svd`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> U, S, Vh = glla.svd([[3, 0], [4, 5]])
    >>> S.round(4)
    array([6.7082, 2.2361], dtype=float32)
    >>> (U * S @ Vh).round(4) + 0
    array([[3., 0.],
           [4., 5.]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., m, n)
        Real numbers; any shape and rank.
    full_matrices : bool
        U and Vh are square, else they have k = min(m, n) columns and rows.
    compute_uv : bool
        Give U and Vh too, else the singular values alone.
    hermitian : bool
        A is symmetric: only its lower triangle is read.
    variant : str, optional
        A key of `glla.operations.spectral.svd.VARIANTS`; or "gram", of a tall well-conditioned A: s is off by up to 30
        sqrt(k) u s_1^2 / s, so below sqrt(u) s_1 = 2.4e-4 s_1 it is noise, and U^T U by 30 k u (s_1 / s_k)^2.
    device, check_finite
        As in `matmul`; ``check_finite=False`` leaves out the certificate and the repeat, too.

    Returns
    -------
    SVDResult
        ``U``, (..., m, m) or (..., m, k), ``S``, (..., k), descending, and ``Vh``, (..., n, n) or (..., k, n). The
        largest entry of each column of U is positive. Vectors of equal values are any orthonormal basis of their space.
    S : ndarray of float32 or Array, shape (..., k)
        Without `compute_uv`. Of an Array all are Array. Synchronises, unless ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not at least 2-D, not square though `hermitian`, not real, not finite, or a singular value does not fit
        float32; unknown variant.
    LimitError, OutOfMemoryError
        `a` has more rows and columns than a texture's side, and `full_matrices`; or does not fit the memory.
    """
@overload
def svd(a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, *, variant: Literal["bidiagonal", "one_sided"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> SVDResult[Array] | Array: ...
@overload
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False, *, variant: Literal["bidiagonal", "one_sided"] | str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> SVDResult[Float32] | Float32: ...
@overload
def svdvals(x: Overriding[Given], *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Given:
    r"""Singular values, descending, with the semantics of `numpy.linalg.svdvals`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.svdvals([[3, 0], [4, 5]]).round(4)
    array([6.7082, 2.2361], dtype=float32)

    Parameters
    ----------
    x : array_like or Array, shape (..., m, n)
        Real numbers; any shape and rank.
    variant : str, optional
        As in `svd`: of "gram" values below sqrt(u) s_1 = 2.4e-4 s_1 are noise.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array, shape (..., min(m, n))
        Synchronises, unless ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As `svd`.
    """
@overload
def svdvals(x: Array, *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Array: ...
@overload
def svdvals(x: Any, *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True) -> Float32: ...
