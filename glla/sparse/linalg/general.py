"""Generalised minimal residuals with SciPy's signature."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from glla.array.convert import is_one_of
from glla.errors import OptionError
from glla.gl import DeviceLike
from glla.operations.sparse import gmres as plans
from glla.sparse.linalg import hosted
from glla.sparse.linalg.outer import Method, solve, task

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
    *Cost.* Step j of a cycle takes one product, and two rounds of Gram-Schmidt: 16 n flop and at least 3 passes in each
    for every four vectors of the basis. A cycle runs to its end; steps after convergence do not count. Read-backs as in
    `cg`. *Accuracy.* A cycle runs in float32: its result differs from that of SciPy's cycle by its rounding errors,
    magnified by A's condition number.

    Source: Saad and Schultz 1986.

    Examples
    --------
    >>> import numpy as np
    >>> x, info = gmres(np.array([[0.0, 1.0], [-1.0, 0.0]]), [1.0, 2.0])
    >>> info, x.round(4).tolist()
    (0, [-2.0, 1.0])
    """
    if restart is not None and (not isinstance(restart, int | np.integer) or not 1 <= restart <= plans.MOST):
        raise OptionError(f"gmres: restart must be a number of steps from 1 to {plans.MOST}, got {restart!r}")
    if callback_type is not None and not is_one_of(callback_type, ("x",)):
        raise OptionError(f'gmres: callback_type must be "x", got {callback_type!r}; norms are not read back')
    asked = task("gmres", A, b, x0, rtol, atol, maxiter, M, callback, check_every, refine, device, progress)
    steps = max(1, min(int(restart or RESTART), asked.a.shape[0]))
    if hosted.is_hosted(asked):
        return hosted.solve(asked, restart=steps)
    return solve(asked, Method(plans.begin, partial(plans.cycle, steps=steps), plans.CARRIED))
