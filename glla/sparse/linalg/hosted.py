"""Operators that work on the host leave nothing for the device to do: the solver is SciPy's then."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array, upload
from glla.sparse.linalg.operators import Operator
from glla.sparse.linalg.outer import Task


def is_hosted(asked: Task) -> bool:
    """Whether A or M is an operator of SciPy's."""
    return asked.a.plan is None or (asked.m is not None and asked.m.plan is None)


def solve(asked: Task, **options: Any) -> tuple[Any, int]:
    """Solve by SciPy's function of the same name, in float64."""
    from scipy.sparse import linalg

    b, x0 = (one.numpy() if isinstance(one, Array) else one for one in (asked.b, asked.x0))
    options = {"rtol": asked.rtol, "maxiter": asked.maxiter, "callback": asked.callback, **options}
    if asked.function != "minres":
        options["atol"] = asked.atol
    m = None if asked.m is None else _operator(asked.m)
    x, info = getattr(linalg, asked.function)(_operator(asked.a), b, x0, M=m, **options)
    if isinstance(asked.b, Array):
        return upload(x.astype(np.float32), asked.a.device), info
    return (x if asked.refine else x.astype(np.float32)), info


def _operator(one: Operator) -> Any:
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(one.shape, matvec=one.times, dtype=np.float64)
