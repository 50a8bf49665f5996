"""Solvers for operators that run on the host: the iteration is SciPy's, in float64.

Its convergence is not trusted: the outer loop computes the residual of the x that is returned.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, upload
from glla.operations.host.scaling import exponent_of
from glla.operations.sparse.cg import BREAKDOWN
from glla.sparse.linalg import outer, vectors
from glla.sparse.linalg.operators import NEAR, Operator
from glla.sparse.linalg.outer import LOWER, NOTED, RESTARTS, Ended, Task

Floats = NDArray[np.float64]

REFUSALS = ("indefinite preconditioner", "non-symmetric matrix")
"""SciPy's messages in `minres` for a preconditioner that is not positive definite."""

FLOOR = 2.0**-40
"""Smallest fraction of the residual that a round aims at: SciPy divides by zero where nothing remains, and its `gmres`
runs to the last cycle where float64 holds no better d. Later rounds reduce it further."""


def is_hosted(asked: Task) -> bool:
    """Whether A or M is an operator of SciPy's."""
    return asked.a.plan is None or (asked.m is not None and asked.m.plan is None)


def solve(asked: Task, **options: Any) -> tuple[Any, int]:
    """Solve by SciPy's function of the same name; b and x of the device are copied to the host."""
    method = partial(_ended, **options)
    if not isinstance(asked.b, Array):
        return outer.solve(asked, method)
    b, device, callback = asked.b.numpy(), asked.a.device, asked.callback
    called = None if callback is None else lambda x: callback(upload(x, device))
    right = vectors.elements(asked.function, "b", b, len(b))
    x, info = outer.solve(replace(asked, b=right, callback=called), method)
    return upload(x, device), info


def _ended(asked: Task, state: Any, goal: float, before: int, **options: Any) -> Ended:
    """Solve A d = r to norm(r - A d) <= goal, scaled by a power of two, by a method of SciPy's with its options."""
    r, e = state.scaled_on_host()
    goal = max(float(np.ldexp(goal, -e)), FLOOR * vectors.norm(r))
    run = _to_estimates if asked.function == "minres" else _to_norms
    with np.errstate(all="ignore"):
        # A and M times powers of two that change the magnitude of r little: SciPy has absolute bounds near u
        asked = replace(asked, a=_near_one(asked.a, r), m=None if asked.m is None else _near_one(asked.m, r))
        watch = _Watch(asked, state, e - asked.a.exponent, before)
        d, broken = run(asked, r, goal, watch, options)
    return Ended(d, watch.exponent, watch.count, BREAKDOWN if broken else 0.0)


def _near_one(one: Operator, r: Floats) -> Operator:
    largest = float(np.abs(one.times(r)).max())
    e = exponent_of(largest, NEAR)
    return replace(one, plan=None, host=lambda x: np.ldexp(one.times(x), -e), exponent=e, shift=0.0)


def _to_norms(asked: Task, r: Floats, goal: float, watch: _Watch, options: dict[str, Any]) -> tuple[Floats, bool]:
    """Iterate until the norm of the residual is small; return d, and whether it broke down."""
    most = asked.maxiter - watch.before
    kind = {"callback_type": "x"} if asked.function == "gmres" else {}
    d, info = _call(asked, r, rtol=0.0, atol=goal, maxiter=most, callback=watch, **kind, **options)
    return d, info < 0


def _to_estimates(asked: Task, r: Floats, goal: float, watch: _Watch, options: dict[str, Any]) -> tuple[Floats, bool]:
    """The same where SciPy tests norm(r - A d) / (norm(A) norm(d)), tightened until the residual is small."""
    d, rtol = np.zeros_like(r), goal / vectors.norm(r)
    for _ in range(RESTARTS + 1):
        most = asked.maxiter - watch.before - watch.count
        if most < 1:
            break
        try:
            d, _ = _call(asked, r, d, rtol=rtol, maxiter=most, callback=watch, **options)
        except ValueError as refusal:
            if str(refusal) not in REFUSALS:
                raise
            return watch.last if watch.count else d, True
        found = vectors.norm(r - asked.a.times(d))
        if not found > goal:
            break
        rtol *= LOWER * goal / found
    return d, False


def _call(asked: Task, *given: Any, **options: Any) -> tuple[Floats, int]:
    from scipy.sparse import linalg

    m = None if asked.m is None else _operator(asked.m)
    return getattr(linalg, asked.function)(_operator(asked.a), *given, M=m, **options)  # type: ignore[no-any-return]


def _operator(one: Operator) -> Any:
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(one.shape, matvec=one.times, dtype=np.float64)


class _Watch:
    """Counter of iterations, which keeps the newest d, and passes x to the callbacks."""

    def __init__(self, asked: Task, state: Any, exponent: int, before: int) -> None:
        self._asked, self._state, self.exponent = asked, state, exponent
        self.before, self.count, self.last = before, 0, np.zeros(0)

    def __call__(self, d: Floats) -> None:
        """Record d after an iteration; SciPy may write to the same array in the next one."""
        self.count += 1
        self.last = d.copy()
        asked, state = self._asked, self._state
        if asked.callback is not None:
            asked.callback(state.moved(d, self.exponent).result)
        if asked.progress is not None and self.count % NOTED == 0:
            asked.progress(self.before + self.count, state.added(d, self.exponent).residual / state.size)
