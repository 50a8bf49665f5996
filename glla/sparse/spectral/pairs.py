"""The public functions: eigsh and svds, as in `scipy.sparse.linalg`.

Source of the random block of svds: Halko, Martinsson and Tropp, "Finding structure with randomness: probabilistic
algorithms for constructing approximate matrix decompositions" (2011).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, upload
from glla.errors import (
    ConvergenceError,
    NonFiniteError,
    OptionError,
    ShapeError,
    SingularMatrixError,
    UnsupportedError,
    one_of,
)
from glla.gl import DeviceLike
from glla.linalg.factorise import lu_factor
from glla.linalg.spectral.singular import svd
from glla.linalg.spectral.symmetric import eigh
from glla.linalg.systems import lu_solve
from glla.operations.host.scaling import exponent_of
from glla.operations.sparse.compressed import Compressed
from glla.sparse.convert import is_scipy
from glla.sparse.linalg.operators import LinearOperator
from glla.sparse.linalg.vectors import elements
from glla.sparse.matrix import SparseMatrix, asarray
from glla.sparse.spectral.subspace import Float64, Symmetric, Wanted, block, ends, find, orthonormal

GUARD = 4
"""Columns besides those that are wanted: the last ones converge slowly."""

POWERS = 2
"""Products with A^T A of a random block."""

WHICH = ("LM", "SM", "LA", "SA", "BE")
"""Ends of the spectrum, by SciPy's names."""

FILTERS = 300
"""Filters at most by default."""

APART = 2.0**-18
"""Up to this product a vector of one end is orthogonal to one of the other end."""

DENSE = 64
"""Order up to which the dense matrix is taken; so is that of a block that would be half of the matrix."""


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0.0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    rng: Any = None,
    *,
    device: DeviceLike | None = None,
) -> Any:
    """Find k eigenvalues and eigenvectors of a sparse symmetric matrix, as `scipy.sparse.linalg.eigsh` does.

    Examples
    --------
    >>> import numpy as np
    >>> import glla
    >>> n = 200
    >>> A = glla.sparse.asarray(2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    >>> w = glla.sparse.linalg.eigsh(A, 3, which="LA", return_eigenvectors=False)
    >>> bool(np.abs(w - (2 - 2 * np.cos(np.pi * np.arange(n - 2, n + 1) / (n + 1)))).max() < 1e-5)
    True

    Parameters
    ----------
    A : SparseMatrix, sparse matrix of SciPy, array_like or Array, shape (n, n)
        Real and symmetric.
    k : int
        Number of eigenvalues, 1 to n - 1.
    M, Minv, OPinv, mode : None, None, None, "normal"
        Generalised problems are not solved, nor are inverses and other modes taken.
    sigma : float, optional
        Find the eigenvalues nearest to it, by a dense PLU factorisation of A - sigma I on the device.
    which : {"LM", "SM", "LA", "SA", "BE"}
        Largest or smallest magnitude (of a definite matrix), largest, smallest, or half from each end.
    v0, ncv : array_like of shape (n,), int, optional
        A vector to start from besides random ones; columns of the block, by default k + 4.
    rng : int or numpy.random.Generator, optional
        Of the random vectors; a fixed seed by default, so that calls are repeatable.
    maxiter, tol : int, float
        Filters at most, each of up to 150 products, by default 300. Residual relative to the eigenvalue.
    return_eigenvectors, device
        Also give the vectors; as in `glla.asarray`.

    Returns
    -------
    w, v : ndarray of float32, shapes (k,) and (n, k)
        In ascending order; orthonormal vectors in columns. Synchronises. Error, cost: ``docs/facts/methods.md``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, UnsupportedError, ConvergenceError
        Unfit operands; M, Minv, OPinv or a mode given; "SM" of an indefinite matrix; a residual remains above `tol`, or
        vectors of both ends are not orthogonal.
    """
    if M is not None:
        raise UnsupportedError("eigsh: generalised problems are not solved; pass M=None, and L^-1 A L^-T for M = L L^T")
    if Minv is not None or OPinv is not None or mode != "normal":
        raise UnsupportedError('eigsh: takes no Minv, OPinv or mode other than "normal"; leave them out')
    one_of("eigsh: which", which, WHICH)
    if _is_operator(A):
        raise UnsupportedError("eigsh: the entries of A must be known; scipy.sparse.linalg.eigsh takes operators")
    a, exponent = _scaled(asarray(A, device=device))
    n = a.shape[0]
    if a.shape[1] != n:
        raise ShapeError(f"eigsh: expected square matrix, but got shape={a.shape}")
    asked = _Asked("eigsh", k, n, ncv, v0, maxiter, tol, rng)
    near = None if sigma is None else float(np.ldexp(_number("eigsh: sigma", sigma), -exponent))
    if near is not None and which != "LM":
        raise OptionError(
            f'eigsh: with sigma the eigenvalues nearest to it are found: which must be "LM", got {which!r}'
        )
    if n <= max(DENSE, 2 * asked.columns):
        w, v = _dense(a, asked, which, near)
    else:
        w, v = _of_ends(a, asked, which) if near is None else _near(a, asked, near)
    order = np.argsort(w, kind="stable")
    values = _sized("eigsh", w[order], exponent)
    return (values, v[:, order]) if return_eigenvectors else values


@dataclass(frozen=True)
class _Asked:
    """Arguments that both functions have, checked."""

    function: str
    k: int
    n: int  # order of the operator
    ncv: Any
    v0: Any
    maxiter: Any
    tol: Any
    rng: Any

    def __post_init__(self) -> None:
        """Raise where they do not fit."""
        if not self.n:
            raise ShapeError(f"{self.function}: A must not be empty")
        _whole(f"{self.function}: k", self.k, 1, max(1, self.n - 1))
        if self.ncv is not None:
            _whole(f"{self.function}: ncv", self.ncv, self.k + 1, self.n)
        if self.maxiter is not None:
            _whole(f"{self.function}: maxiter", self.maxiter, 1, 2**31 - 1)
        if not 0 <= _number(f"{self.function}: tol", self.tol) < 1:
            raise OptionError(f"{self.function}: tol must be from 0 to 1, got {self.tol!r}")
        try:
            np.random.default_rng(self.rng)
        except (TypeError, ValueError):
            rule = "rng must be a seed or a numpy.random.Generator"
            raise OptionError(f"{self.function}: {rule}, got {self.rng!r}") from None
        if self.v0 is not None:
            elements(self.function, "v0", self.v0, self.n)

    @property
    def columns(self) -> int:
        """Columns of the block: a multiple of four."""
        return -(-(self.k + GUARD if self.ncv is None else int(self.ncv)) // 4) * 4

    def find(
        self, b: Symmetric, wanted: Wanted, step: Callable[[Array], Array] | None = None
    ) -> tuple[Float64, NDArray[np.float32]]:
        """Iterate."""
        first = None if self.v0 is None else elements(self.function, "v0", self.v0, self.n)
        first = first.numpy() if isinstance(first, Array) else first
        start = block(self.n, self.columns, first, self.rng, b.factors[0].device)
        most = FILTERS if self.maxiter is None else int(self.maxiter)
        return find(b, wanted, start, float(self.tol), most, self.function, step)


def _dense(a: SparseMatrix, asked: _Asked, which: str, near: float | None) -> tuple[Float64, NDArray[np.float32]]:
    """All pairs of a small matrix, of which those that are wanted stay."""
    found_all: Any = eigh(a.toarray(), device=a.device)
    w, v = found_all
    values, k = w.astype(np.float64), asked.k
    if which == "BE":
        found = np.r_[: k // 2, len(w) - (k - k // 2) : len(w)]
    elif which == "SM":
        found = np.argsort(np.abs(values), kind="stable")[:k]
    else:
        found = Wanted(k, which, near).order(values)[:k]
    return values[found], v[:, found]


def _of_ends(a: SparseMatrix, asked: _Asked, which: str) -> tuple[Float64, NDArray[np.float32]]:
    """Pairs of an end of the spectrum, or of both."""
    b = Symmetric((a,), ends(a.rows))
    if which == "BE":
        low, high = asked.k // 2, asked.k - asked.k // 2
        parts = [asked.find(b, Wanted(count, end)) for count, end in ((low, "SA"), (high, "LA")) if count]
        if low and not _overlap(*parts) <= APART:  # an eigenvalue is at both ends, or a cluster
            parts[1] = asked.find(replace(b, below=upload(parts[0][1], a.device)), Wanted(high, "LA"))
            if not _overlap(*parts) <= APART:
                raise ConvergenceError("eigsh: vectors of both ends are not orthogonal; take each end by itself")
        return np.concatenate([w for w, _ in parts]), np.concatenate([v for _, v in parts], axis=1)
    w, v = asked.find(b, Wanted(asked.k, "SA" if which == "SM" else which))
    if which == "SM" and not w.min() > 0:
        raise UnsupportedError('eigsh: which="SM" takes a positive definite matrix; pass sigma=0')
    return w, v


def _overlap(low: Any, high: Any) -> float:
    """Give the largest product of a vector of one end with one of the other."""
    return float(np.abs(low[1].T @ high[1]).max())


def _near(a: SparseMatrix, asked: _Asked, sigma: float) -> tuple[Float64, NDArray[np.float32]]:
    """Pairs near a number: by products with (A - sigma I)^-1, of dense factors."""
    moved = a.toarray().astype(np.float64) - sigma * np.eye(asked.n)
    factors = lu_factor(upload(moved.astype(np.float32), a.device))
    solve: Any = partial(lu_solve, factors)
    try:
        return asked.find(Symmetric((a,), ends(a.rows)), Wanted(asked.k, "LM", sigma), solve)
    except SingularMatrixError:
        raise SingularMatrixError("eigsh: A - sigma I is singular: sigma is an eigenvalue; move it a little") from None


def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0.0,
    which: str = "LM",
    v0: Any = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | str = True,
    solver: str = "filtered",
    rng: Any = None,
    *,
    device: DeviceLike | None = None,
) -> Any:
    """Find the k largest singular values and vectors of a sparse matrix, as `scipy.sparse.linalg.svds` does.

    Examples
    --------
    >>> import numpy as np
    >>> import glla
    >>> A = glla.sparse.asarray(np.diag(np.arange(1.0, 101.0)))
    >>> u, s, vh = glla.sparse.linalg.svds(A, 2)
    >>> s.round(3), u.shape, vh.shape
    (array([ 99., 100.], dtype=float32), (100, 2), (2, 100))

    Parameters
    ----------
    A : SparseMatrix, sparse matrix of SciPy, array_like or Array, shape (m, n)
        Real numbers.
    k, ncv, tol, v0, maxiter, rng
        As in `eigsh`, of the smaller one of A^T A and A A^T.
    which : {"LM"}
        The largest. The smallest are beyond float32 by products: use `glla.svd` of the dense matrix.
    return_singular_vectors : bool, "u" or "vh"
        Also give the vectors; of one side alone the other one is None.
    solver : {"filtered", "randomized"}
        To convergence, or by two products with A^T A of a random block, and no test: for values that fall off.
    device : Device, str or int, optional
        As in `glla.asarray`.

    Returns
    -------
    u, s, vh : ndarray of float32, shapes (m, k), (k,), (k, n)
        Ascending, with orthonormal vectors. Synchronises. Error, cost, sources: ``docs/facts/methods.md``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, UnsupportedError, ConvergenceError
        Unfit operands; `which` is another end; a residual remains above `tol`.
    """
    one_of("svds: solver", solver, ("filtered", "randomized"))
    one_of("svds: return_singular_vectors", return_singular_vectors, (True, False, "u", "vh"))
    if which != "LM":
        raise UnsupportedError(
            f'svds: only the largest singular values are found, which="LM", got {which!r}; use glla.svd'
        )
    if _is_operator(A):
        raise UnsupportedError("svds: the entries of A must be known; scipy.sparse.linalg.svds takes operators")
    a, exponent = _scaled(asarray(A, device=device))
    wide = a.shape[0] < a.shape[1]
    a = a.T if wide else a
    asked = _Asked("svds", k, a.shape[1], ncv, v0, maxiter, tol, rng)
    if asked.n <= max(DENSE, 2 * asked.columns):
        found: Any = svd(a.toarray(), full_matrices=False, device=a.device)
        u, s, vh = found
    else:
        b = Symmetric((a, a.T), (0.0, a.rows.norm_of_magnitudes**2))
        v = upload(asked.find(b, Wanted(asked.k, "LA"))[1], a.device) if solver == "filtered" else _random(b, asked)
        found = svd(a @ v, full_matrices=False)
        u, s, vh = found[0].numpy(), found[1].numpy(), (found[2] @ v.T).numpy()
    order = slice(k - 1, None, -1) if k < len(s) else slice(None, None, -1)
    u, s, vh = u[:, order], _sized("svds", s[order], exponent), vh[order]
    u, vh = (vh.T, u.T) if wide else (u, vh)
    if return_singular_vectors is False:
        return s
    return (None if return_singular_vectors == "vh" else u), s, (None if return_singular_vectors == "u" else vh)


def _random(b: Symmetric, asked: _Asked) -> Array:
    """Orthonormal columns that hold most of the right singular vectors of the largest values."""
    x = block(asked.n, asked.columns, None, asked.rng, b.factors[0].device)
    for _ in range(POWERS):
        x = orthonormal(b.times(orthonormal(x)))
    return x


# -- arguments --------------------------------------------------------------------------------------------------------


def _is_operator(a: Any) -> bool:
    """Whether it multiplies, without entries that are known."""
    return isinstance(a, LinearOperator) or (hasattr(a, "matvec") and not is_scipy(a))


def _scaled(a: SparseMatrix) -> tuple[SparseMatrix, int]:
    """A 2^-e with a norm near 1, in a format that multiplies blocks, and e."""
    exponent = exponent_of(float(a.rows.norm_of_magnitudes))
    if not exponent and a.format != "points":
        return a, 0
    values = np.ldexp(a.rows.values, -exponent)
    rows = Compressed(a.rows.shape, a.rows.starts, a.rows.columns, values)
    return SparseMatrix(rows, a.device, None if a.format == "points" else a.format), exponent


def _sized(function: str, values: NDArray[Any], exponent: int) -> NDArray[np.float32]:
    """Values times 2^exponent. Raises NonFiniteError: one does not fit float32."""
    with np.errstate(over="ignore"):
        found: NDArray[np.float32] = np.ldexp(values, exponent).astype(np.float32)
    if not np.isfinite(found).all():
        raise NonFiniteError(f"{function}: a value does not fit float32; divide A by a power of two")
    return found


def _number(name: str, value: Any) -> float:
    """Check a finite number."""
    if not isinstance(value, int | float | np.number) or not np.isfinite(float(value)):
        raise OptionError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def _whole(name: str, value: Any, least: int, most: int) -> None:
    """Check a whole number."""
    try:
        good = least <= operator.index(value) <= most
    except TypeError:
        good = False
    if not good:
        raise OptionError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
