"""The stabilised method of biconjugate gradients with SciPy's signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glla.gl import DeviceLike
from glla.operations.sparse import bicgstab as plans
from glla.sparse.linalg import hosted
from glla.sparse.linalg.outer import Method, solve, task


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
    *Cost.* An iteration takes two products, and 13 passes or more: 4 nnz + 24 n flop. Read-backs as in `cg`.

    Source: van der Vorst 1992.

    Examples
    --------
    >>> import numpy as np
    >>> x, info = bicgstab(np.array([[2.0, 1.0], [0.0, 1.0]]), [3.0, 1.0])
    >>> info, x.round(4).tolist()
    (0, [1.0, 1.0])
    """
    asked = task("bicgstab", A, b, x0, rtol, atol, maxiter, M, callback, check_every, refine, device, progress)
    if hosted.is_hosted(asked):
        return hosted.solve(asked)
    return solve(asked, Method(plans.begin, plans.turn, plans.CARRIED))
