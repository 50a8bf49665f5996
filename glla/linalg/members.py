"""Members of a stack: which of them must not be trusted, by the figures that the plan of all has read back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Array
from glla.linalg.factors import SMALL
from glla.linalg.remedies import NEAR_ONE, largest_near_one, near_one
from glla.operations import stack as kernel
from glla.operations.elimination.noise import UNIT_ROUNDOFF
from glla.operations.elimination.pivot import allowed_growth

DOUBTFUL = 2.0**-6
"""As `glla.linalg.factors.DOUBTFUL`, for two probes in place of four: normal matrices of order 256 have at most 0.024
(llvmpipe-llvm-15-0-6-256-bits/doubt)."""


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def factors_need_care(a: Array, lu: Array) -> NDArray[np.intp]:
    """Which matrices of a stack, shape (count, m, n), have factors that must not be trusted.

    What becomes of them is described in `glla.linalg.remedies`.
    """
    k = min(a.shape[1:])
    scales = np.max(np.abs(a), axis=(1, 2)).astype(np.float64)
    grown = np.max(np.abs(np.triu(lu[:, :k])), axis=(1, 2))
    sound = (grown <= allowed_growth(k) * scales) & (scales >= 2.0**-NEAR_ONE) & (scales <= 2.0**NEAR_ONE)
    return np.flatnonzero(~sound & (scales > 0))


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def solutions_need_care(
    a: Array, b: Array | None, equilibrate: bool, u: Array, largest: Array, squares: Array
) -> NDArray[np.bool_]:
    """Tell of each system of a stack whether its solution must not be trusted: see `glla.linalg.remedies`."""
    growth = np.max(largest, axis=1) / (1.0 if equilibrate else np.max(np.abs(a), axis=(1, 2)))
    norms = np.sqrt(np.sum(squares, axis=1, dtype=np.float64) / kernel.PROBES)
    small = np.abs(u) <= SMALL * largest
    error = norms * UNIT_ROUNDOFF * np.sqrt(u.shape[1]) * np.max(largest, axis=1)
    sound = np.isfinite(u).all(axis=1) & (growth <= allowed_growth(u.shape[1])) & (error <= DOUBTFUL)
    care: NDArray[np.bool_] = ~sound | small.any(axis=1)
    if not (near_one(a) and (b is None or largest_near_one(b))):
        care |= [not (near_one(left) and (b is None or largest_near_one(b[i]))) for i, left in enumerate(a)]
    return care


def determinants_need_care(a: Array, u: Array, largest: Array) -> NDArray[np.intp]:
    """Which determinants of a stack are made again, from U's diagonals and the largest entries of U's columns."""
    grew = ~(np.max(largest, axis=1) <= allowed_growth(a.shape[-1])) | ~np.isfinite(u).all(axis=1)
    return np.flatnonzero(grew | [not near_one(matrix) for matrix in a] if not near_one(a) else grew)
