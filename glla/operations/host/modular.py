"""Exact linear dependence of the columns of an integer matrix: elimination modulo a prime.

Modulo a prime nothing is rounded. Columns that are independent there are independent; columns that are dependent there
are dependent unless the prime divides a minor that is not zero, which is one chance in two thousand million for each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PRIME = 2**31 - 1
"""Modulus, a prime; the product of two remainders fits a 64-bit integer."""

MOST_WORK = 2**27
"""Most products m n r of an elimination modulo the prime, about 1 s of one core; larger matrices use float64."""


def is_small(shape: tuple[int, int], rank: int) -> bool:
    """Tell whether a matrix of about this rank can be eliminated modulo a prime in a second or so."""
    return shape[0] * shape[1] * rank <= MOST_WORK


def pivot_columns(a: NDArray[np.floating]) -> tuple[int, ...]:
    """Pivot columns of a matrix of integers.

    `a`, (m, n): whole numbers below 2^53.

    >>> pivot_columns(np.array([[1.0, 2, 3], [2, 4, 7]]))
    (0, 2)
    """
    rows = a.astype(np.int64) % PRIME
    pivots: list[int] = []
    for j in range(rows.shape[1]):
        rank = len(pivots)
        if rank == len(rows):
            break
        candidates = np.flatnonzero(rows[rank:, j])
        if not len(candidates):
            continue
        first = rank + candidates[0]
        rows[[rank, first]] = rows[[first, rank]]
        rows[rank, j:] = rows[rank, j:] * pow(int(rows[rank, j]), -1, PRIME) % PRIME
        below = rank + candidates[1:] if first == rank else rank + 1 + np.flatnonzero(rows[rank + 1 :, j])
        rows[below, j:] = (rows[below, j:] - rows[below, j, np.newaxis] * rows[rank, j:] % PRIME) % PRIME
        pivots.append(j)
    return tuple(pivots)
