"""The method of minimal residuals with SciPy's signature."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from glla.errors import OptionError
from glla.gl import DeviceLike
from glla.operations.sparse import minres as plans
from glla.sparse.linalg import hosted
from glla.sparse.linalg.outer import Method, rounds, shifted, solve, task


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
    *Cost.* An iteration takes one product, and 10 passes or more: 2 nnz + 25 n flop. Read-backs as in `cg`.

    Source: Paige and Saunders 1975.

    Examples
    --------
    >>> import numpy as np
    >>> x, info = minres(np.diag([1.0, -1.0, 2.0]), [1.0, 1.0, 1.0])
    >>> info, x.round(4).tolist()
    (0, [1.0, -1.0, 0.5])
    """
    if not isinstance(shift, int | float | np.number) or not np.isfinite(shift):
        raise OptionError(f"minres: shift must be a number, got {shift!r}")
    asked = task("minres", A, b, x0, rtol, atol, maxiter, M, callback, check_every, refine, device, progress)
    if maxiter is None:
        asked = shifted(asked, 0.0, max(1, 5 * asked.a.shape[0] * rounds(refine)))
    asked = shifted(asked, float(shift), asked.maxiter)
    if hosted.is_hosted(asked):
        return hosted.solve(asked)
    scaled = float(shift) * 2.0**-asked.a.exponent
    return solve(asked, Method(plans.begin, partial(plans.turn, shift=scaled), plans.CARRIED))
