"""Condition numbers, estimated from the factors.

norm(A^-1) is the largest norm(A^-1 x) of all x with norm 1. In the 1-norm it is a convex function on a polytope, so it
has its largest value at a corner: a unit vector. Hager's method climbs from corner to corner. Each step solves with A
and with its transpose; two or three steps are nearly always enough, and the estimate is seldom below a third.

Sources: Hager, "Condition estimates" (1984); Higham, "FORTRAN codes for estimating the one-norm of a real or complex
matrix" (1988), which is LAPACK's lacn2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Array
from glla.gl.observe import host_step
from glla.linalg.remedies import Factorise, pivoted
from glla.operations.elimination.plu import SCALED, scaled_by_one

Float64 = NDArray[np.float64]

MOST_STEPS = 5
"""Steps of Hager's method, as in LAPACK."""


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def reciprocal(factorise: Factorise, a: Array) -> float:
    """Reciprocal condition number of a finite square matrix in the 1-norm; 0 for a pivot that is zero. Synchronises.

    Examples
    --------
    >>> import glla
    >>> from glla.linalg.remedies import on_device
    >>> reciprocal(on_device(glla.default_device()), np.diag([4, 1]).astype(np.float32))
    0.25
    """
    if not a.any():
        return 0.0
    scaled, _ = host_step(SCALED)(scaled_by_one)(a)
    attempt = pivoted(factorise, scaled)
    if np.isinf(attempt.growth) or not attempt.factors.diagonal[0].all():
        return 0.0

    def solved(x: Float64, transposed: bool) -> Float64:
        # Columns that were exchanged are rows of the inverse: the norm is the same.
        return attempt.factors.solve_array(x.astype(np.float32)[:, np.newaxis], transposed)[:, 0].astype(np.float64)

    norm = float(np.max(np.sum(np.abs(scaled.astype(np.float64)), axis=0)))
    return 1.0 / (norm * inverse_norm(len(a), solved)) if norm > 0 else 0.0


def inverse_norm(n: int, solved: Callable[[Float64, bool], Float64]) -> float:
    """Estimate the 1-norm of an inverse, from below.

    Parameters
    ----------
    n : int
        Order.
    solved : callable
        (x, transposed) -> A^-1 x, or A^-T x.

    Examples
    --------
    >>> inverse_norm(2, lambda x, transposed: x / np.array([4.0, 0.5]))
    2.0
    """
    with np.errstate(over="ignore", invalid="ignore"):
        x = np.full(n, 1.0 / n)
        estimate = 0.0
        for _ in range(MOST_STEPS):
            y = solved(x, False)
            size = float(np.sum(np.abs(y)))
            if not size > estimate:  # no higher corner, or no number
                break
            estimate = size
            slope = solved(np.where(y >= 0, 1.0, -1.0), True)
            steepest = int(np.argmax(np.abs(slope)))
            if np.abs(slope[steepest]) <= slope @ x:
                break
            x = np.zeros(n)
            x[steepest] = 1.0
        # What Hager's method may overlook: entries that cancel.
        alternating = np.where(np.arange(n) % 2, -1.0, 1.0) * (1.0 + np.arange(n) / max(n - 1, 1))
        other = 2.0 * float(np.sum(np.abs(solved(alternating, False)))) / (3.0 * n)
    finite = np.isfinite(estimate) and np.isfinite(other)
    return max(estimate, other) if finite else np.inf
