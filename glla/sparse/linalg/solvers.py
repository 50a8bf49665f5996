"""Krylov methods with SciPy's signatures, all of them over the outer loop of `outer`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from glla.array.convert import is_one_of
from glla.errors import OptionError, one_of, real
from glla.gl import DeviceLike
from glla.operations.sparse import bicgstab as biconjugate
from glla.operations.sparse import cg as conjugate
from glla.operations.sparse import gmres as general
from glla.operations.sparse import minres as minimal
from glla.sparse.linalg import hosted
from glla.sparse.linalg.outer import Method, Task, rounds, solve, task


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

    Examples
    --------
    >>> import numpy as np
    >>> import glla
    >>> A = glla.sparse.asarray(2 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1))
    >>> x, info = glla.sparse.linalg.cg(A, np.ones(50))
    >>> info, bool(np.linalg.norm(A @ x - 1) <= 1e-5 * np.sqrt(50))
    (0, True)

    Parameters
    ----------
    A : SparseMatrix, sparse matrix of SciPy, array_like, LinearOperator
        n x n. A SparseMatrix stays on the device between calls. With an operator of SciPy's the iteration is SciPy's.
    b : array_like or glla.Array, shape (n,) or (n, 1)
        Right-hand side. If it is an Array, x stays on the device.
    x0 : array_like, glla.Array or "Mb", optional
        Initial guess; by default 0. "Mb" is M b.
    rtol, atol : float
        Convergence criterion: norm(b - A x) <= max(rtol norm(b), atol).
    maxiter, check_every : int, optional
        Iterations at most, by default 10 n, with `refine` 120 n; and between checks, which do not change the result.
    M : as A, optional
        Approximates the inverse of A; symmetric positive definite. See `jacobi`, `block_jacobi`, `chebyshev`.
    callback, progress : callable, optional
        Called as ``callback(xk)`` after each one, slowly; as ``progress(iterations, norm(r) / norm(b))`` after 64.
    variant : {"merged", "classic"}, optional
        One reduction per iteration, or two, which loses fewer digits. By default the size and `refine` decide.
    refine : bool
        Compute residuals and x in float64 on the host: reaches rtol = 1e-13 for condition numbers up to 1e6.
    device : Device, str or int, optional
        As in `glla.asarray`.

    Returns
    -------
    x : ndarray of float32 (refined: float64) or glla.Array, shape (n,)
        The solution; never NaN. Synchronises.
    info : int
        0: converged, by the true residual. Positive: iterations without convergence. -1: A is not positive definite.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, DeviceMismatchError
        Unfit or non-finite operands; unknown variant.
    """
    if variant is not None:
        one_of("cg: variant", variant, conjugate.VARIANTS)
    asked = task("cg", A, b, x0, rtol, atol, maxiter, M, callback, check_every, refine, device, progress)
    merged, classic = (_method(name, asked.m is not None) for name in ("merged", "classic"))
    steady = refine or conjugate.choose(asked.a.shape[0]) == "classic"
    if variant == "classic" or (variant is None and steady):
        return _solved(asked, classic)
    return _solved(asked, merged, classic if variant is None else None)


def _solved(asked: Task, method: Method, steadier: Method | None = None, **options: int) -> tuple[Any, int]:
    """Solve on the device, or by SciPy's iteration, with its options, where A or M is an operator of the host."""
    if hosted.is_hosted(asked):
        return hosted.solve(asked, **options)
    return solve(asked, method, steadier)


def _method(variant: str, preconditioned: bool) -> Method:
    begin, turn = (partial(make, variant=variant) for make in (conjugate.begin, conjugate.turn))
    return Method(begin, turn, conjugate.carried(variant, preconditioned))


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], object] | None = None,
    check_every: int | None = None,
    refine: bool = False,
    progress: Callable[[int, float], object] | None = None,
    device: DeviceLike | None = None,
) -> tuple[Any, int]:
    """Solve A x = b for any square A by stabilised biconjugate gradients; as `scipy.sparse.linalg.bicgstab` does.

    Examples
    --------
    >>> import numpy as np
    >>> x, info = bicgstab(np.array([[2.0, 1.0], [0.0, 1.0]]), [3.0, 1.0])
    >>> info, x.round(4).tolist()
    (0, [1.0, 1.0])

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, callback, check_every, refine, progress, device
        As in `cg`; A need not be symmetric.
    M : as A, optional
        Approximates the inverse of A, applied from the right.

    Returns
    -------
    x, info
        As in `cg`. -1 for a breakdown, which occurs for some A and b that have a solution; try `gmres`.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, DeviceMismatchError
        As `cg`.

    Notes
    -----
    *Cost.* An iteration takes two products, and 7 passes or more: 4 nnz + 24 n flop. Read-backs as in `cg`.

    Source: van der Vorst 1992.
    """
    asked = task("bicgstab", A, b, x0, rtol, atol, maxiter, M, callback, check_every, refine, device, progress)
    return _solved(asked, Method(biconjugate.begin, biconjugate.turn, biconjugate.CARRIED))


def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    shift: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], object] | None = None,
    atol: float = 0.0,
    check_every: int | None = None,
    refine: bool = False,
    progress: Callable[[int, float], object] | None = None,
    device: DeviceLike | None = None,
) -> tuple[Any, int]:
    """Solve (A - shift I) x = b for a symmetric A, also indefinite, as `scipy.sparse.linalg.minres` does.

    Examples
    --------
    >>> import numpy as np
    >>> x, info = minres(np.diag([1.0, -1.0, 2.0]), [1.0, 1.0, 1.0])
    >>> info, x.round(4).tolist()
    (0, [1.0, -1.0, 0.5])

    Parameters
    ----------
    A, b, x0, maxiter, callback, check_every, refine, progress, device
        As in `cg`; A need not be positive definite. By default `maxiter` is 5 n, refined 60 n.
    rtol, atol : float
        As in `cg`. SciPy's rtol is relative to norm(A) norm(x), which is less strict.
    shift : float
        Subtracted from the diagonal.
    M : as A, optional
        Approximates the inverse of A; symmetric positive definite.

    Returns
    -------
    x, info
        As in `cg`. -1 where A - shift I is singular and b is not in its range, or M is not positive definite.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, DeviceMismatchError
        As `cg`.

    Notes
    -----
    *Cost.* An iteration takes one product, and 5 passes or more: 2 nnz + 25 n flop. Read-backs as in `cg`.

    Source: Paige and Saunders 1975.
    """
    if not np.isfinite(shift := real("minres", "shift", shift)):
        raise OptionError(f"minres: shift must be a number, got {shift!r}")
    asked = task("minres", A, b, x0, rtol, atol, maxiter, M, callback, check_every, refine, device, progress)
    most = max(1, 5 * asked.a.shape[0] * rounds(refine)) if maxiter is None else asked.maxiter
    asked = replace(asked, a=replace(asked.a, shift=float(shift)), maxiter=most)
    scaled = float(shift) * 2.0**-asked.a.exponent
    return _solved(asked, Method(minimal.begin, partial(minimal.turn, shift=scaled), minimal.CARRIED))


RESTART = 20
"""Steps of a cycle by default, as in SciPy."""


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], object] | None = None,
    callback_type: str | None = None,
    check_every: int | None = None,
    refine: bool = False,
    progress: Callable[[int, float], object] | None = None,
    device: DeviceLike | None = None,
) -> tuple[Any, int]:
    """Solve A x = b for any square A by generalised minimal residuals, as `scipy.sparse.linalg.gmres` does.

    Examples
    --------
    >>> import numpy as np
    >>> x, info = gmres(np.array([[0.0, 1.0], [-1.0, 0.0]]), [1.0, 2.0])
    >>> info, x.round(4).tolist()
    (0, [-2.0, 1.0])

    Parameters
    ----------
    A, b, x0, rtol, atol, check_every, refine, progress, device
        As in `cg`; A need not be symmetric.
    restart : int, optional
        Steps of a cycle, 1 to 64, each of which stores a vector; by default 20, and never more than n.
    maxiter : int, optional
        Cycles at most, by default 10 n; refined 120 n.
    M : as A, optional
        Approximates the inverse of A, applied from the right.
    callback : callable, optional
        Called after each cycle, with x; slow.
    callback_type : {"x"}, optional
        Its argument. SciPy's other types need norms at each step, which are not read back here.

    Returns
    -------
    x, info
        As in `cg`, in cycles; it also ends where a cycle begins with a residual no smaller than the last one did. -1
        where a cycle makes no progress: A may be singular, or `restart` too small.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, DeviceMismatchError
        As `cg`.

    Notes
    -----
    *Cost.* Step j of a cycle takes one product, 5 passes or more, and two rounds of Gram-Schmidt: 8 j n flop. A cycle
    runs to its end; steps after convergence do not count. Read-backs as in `cg`. *Accuracy.* A cycle runs in float32:
    its result differs from that of SciPy's cycle by its rounding errors, magnified by A's condition number: by 2 %
    (standard deviation, one rounding in each operation) where that is 2e12.

    Source: Saad and Schultz 1986.
    """
    if restart is not None and (not isinstance(restart, int | np.integer) or not 1 <= restart <= general.MOST):
        raise OptionError(f"gmres: restart must be a number of steps from 1 to {general.MOST}, got {restart!r}")
    if callback_type is not None and not is_one_of(callback_type, ("x",)):
        raise OptionError(f'gmres: callback_type must be "x", got {callback_type!r}; norms are not read back')
    asked = task("gmres", A, b, x0, rtol, atol, maxiter, M, callback, check_every, refine, device, progress)
    steps = max(1, min(int(restart or RESTART), asked.a.shape[0]))
    begin, cycle = (partial(make, steps=steps) for make in (general.begin, general.cycle))
    method = Method(begin, cycle, general.CARRIED)
    return _solved(asked, method, restart=steps)
