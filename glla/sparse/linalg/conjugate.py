"""Conjugate gradients with SciPy's signature."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from glla.errors import one_of
from glla.gl import DeviceLike
from glla.operations.sparse import cg as plans
from glla.sparse.linalg import hosted
from glla.sparse.linalg.outer import Method, solve, task


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], object] | None = None,
    variant: str | None = None,
    check_every: int | None = None,
    refine: bool = False,
    progress: Callable[[int, float], object] | None = None,
    device: DeviceLike | None = None,
) -> tuple[Any, int]:
    """Solve A x = b by conjugate gradients, A symmetric positive definite; as `scipy.sparse.linalg.cg` does.

    Parameters
    ----------
    A : SparseMatrix, sparse matrix of SciPy, array_like, LinearOperator
        n x n. A SparseMatrix stays on the device between calls; others are laid out anew each time. An operator of
        SciPy's works on the host: then the iteration is SciPy's, in float64; x and `info` are as for any other.
    b : array_like or glla.Array, shape (n,) or (n, 1)
        Right-hand side. For an Array x stays on the device.
    x0 : array_like, glla.Array or "Mb", optional
        Where to begin; by default at 0. "Mb" is M b.
    rtol, atol : float
        Converged is norm(b - A x) <= max(rtol norm(b), atol).
    maxiter : int, optional
        Iterations at most, by default 10 n; refined 120 n, for each round of a refinement begins anew.
    M : as A, optional
        Approximates the inverse of A; symmetric positive definite. See `jacobi`, `block_jacobi`, `chebyshev`.
    callback : callable, optional
        Called as ``callback(xk)`` after each iteration, which reads x back each time: slow.
    variant : {"merged", "classic"}, optional
        One reduction an iteration, or two, as Hestenes and Stiefel have it, which loses fewer digits. By default the
        first, which has fewer passes, and the other one where its recurrence breaks down, with `refine`, and for
        vectors from 2^18 elements on, where traffic counts for more.
    check_every : int, optional
        Iterations between looks whether it is done. By default the host looks late and does not wait. Results
        depend on neither.
    refine : bool
        Compute residuals in float64 on the host, by A as it was given, and x in float64: reaches rtol = 1e-13 for
        condition numbers up to 1e6, where a float64 x has such a residual; see the notes.
    progress : callable, optional
        Called as ``progress(iterations, residual)`` every 64 iterations, with the recurrence's norm(r) / norm(b): for a
        progress bar where the run is long. It changes nothing in the result.
    device : Device, str or int, optional
        As in `glla.asarray`.

    Returns
    -------
    x : ndarray of float32 (refined: float64) or glla.Array, shape (n,)
        The solution; never NaN. Synchronises.
    info : int
        0: converged, by the true residual, computed from x. Positive: iterations done, without reaching it, because
        they were as many as `maxiter`, or because float32 (refined: float64) holds no better x. -1: broken down, as A
        is not positive definite.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, DeviceMismatchError
        Operands that do not fit, or are not finite; unknown variant.

    Notes
    -----
    *Cost.* An iteration takes the passes of a product, and 3 to 5 more (``classic``: 6 to 10): 2 nnz + 14 n flop.
    *Read-backs.* 16 bytes for each look at the state, see `glla.iterate`; x at the end, or norms of 8 bytes each, if b
    lies on the device; b and x too, to judge x in float64, where `rtol` is near what float32 holds.
    *Accuracy.* The residual of a float32 x is about u norm(A) norm(x) at best, u = 2^-24; asking for less ends with
    info > 0, or takes refine=True. For an Array the residual is computed in float32, and its rounding errors, three
    times that much, are added to its norm, if A is a matrix; the norms of an operator are not known. Of a float64 x it
    is about 2^-53 norm(A) norm(x), whoever computes it: up to 1e-10 norm(b) at a condition number of 1e6. Where that is
    more than was asked for, info > 0, and x is near the best there is. SciPy's `cg` takes indefinite matrices without a
    word; this one says -1 if it notices.

    Sources: Hestenes and Stiefel 1952; Chronopoulos and Gear 1989; Bolz et al. 2003; Krüger and Westermann 2003.

    Examples
    --------
    >>> import numpy as np
    >>> import glla
    >>> A = glla.sparse.asarray(2 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1))
    >>> x, info = glla.sparse.linalg.cg(A, np.ones(50))
    >>> info, bool(np.linalg.norm(A @ x - 1) <= 1e-5 * np.sqrt(50))
    (0, True)
    >>> x, info = glla.sparse.linalg.cg(A, np.ones(50), rtol=1e-13, refine=True)
    >>> info, x.dtype.name
    (0, 'float64')
    """
    if variant is not None:
        one_of("cg: variant", variant, plans.VARIANTS)
    asked = task("cg", A, b, x0, rtol, atol, maxiter, M, callback, check_every, refine, device, progress)
    if hosted.is_hosted(asked):
        return hosted.solve(asked)
    merged, classic = (_method(name, asked.m is not None) for name in ("merged", "classic"))
    if variant is not None:
        return solve(asked, classic if variant == "classic" else merged)
    if refine or plans.choose(asked.a.shape[0]) == "classic":
        return solve(asked, classic)
    return solve(asked, merged, classic)


def _method(variant: str, preconditioned: bool) -> Method:
    begin, turn = (partial(make, variant=variant) for make in (plans.begin, plans.turn))
    return Method(begin, turn, plans.carried(variant, preconditioned))
