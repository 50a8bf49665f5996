"""Echelon forms computed by the host in float64, column by column: for matrices that float32 cannot decide."""

from __future__ import annotations

import numpy as np

from glla.operations.host.scaling import both
from glla.operations.host.span import FLOAT32, FLOAT64, MOST_WORK, echelon, is_exact, pivots_modulo_prime
from glla.operations.record import Float32

Pivots = tuple[int, ...]

SWEEPS = 6
"""Sweeps by geometric means, for matrices that lose rank without: 9 of 100 integer matrices with rows and columns
scaled by random powers of two, and none of 1500 with 6 sweeps. west0156 loses rank with them, so both are tried."""


def by_float64(a: Float32) -> tuple[Float32, Pivots]:
    """Echelon form decided in float64.

    No scaling is best for every matrix, and a bad one hides pivots, but makes none: if there are columns without a
    pivot among the leading ones, the geometric mean has its try, and the first columns win.
    """
    wide = a.astype(np.float64)
    exact = is_exact(a)
    leading = tuple(range(min(a.shape)))
    forms = []
    for sweeps in (0,) if exact else (0, SWEEPS):
        rows, columns = both(wide, sweeps)
        form = echelon(np.ldexp(wide, -rows - columns), FLOAT64 if exact else FLOAT32)
        if exact and form.pivots != leading and a.size * len(form.pivots) <= MOST_WORK:
            form = echelon(np.ldexp(wide, -rows - columns), FLOAT64, pivots_modulo_prime(wide))
        forms.append((form, columns[0]))
        if form.pivots == leading:
            break
    form, columns = min(forms, key=lambda pair: (*pair[0].pivots, a.shape[1]))
    rows = np.zeros((len(a), 1), dtype=columns.dtype)
    rows[: len(form.pivots), 0] = columns[list(form.pivots)]
    return np.ldexp(form.matrix, columns - rows).astype(np.float32), form.pivots


def by_tolerance(a: Float32, tol: float) -> tuple[Float32, Pivots]:
    """Echelon form with partial pivoting in float64, of the matrix as it is, with an absolute tolerance.

    >>> by_tolerance(np.array([[1, 2], [2, 4.125]], dtype=np.float32), 0.125)[1]
    (0,)
    """
    rest = a.astype(np.float64)
    m, n = rest.shape
    pivots: list[int] = []
    for j in range(n):
        r = len(pivots)
        if r == m:
            break
        best = r + int(np.argmax(np.abs(rest[r:, j])))
        if not abs(rest[best, j]) > tol:
            rest[r:, j] = 0.0
            continue
        rest[[r, best], j:] = rest[[best, r], j:]
        multipliers = rest[r + 1 :, j] / rest[r, j]
        rest[r + 1 :, j:] -= np.outer(multipliers, rest[r, j:])
        rest[r + 1 :, j] = 0.0
        pivots.append(j)
    form = np.zeros((m, n), dtype=np.float32)
    if pivots:
        r = len(pivots)
        form[:r] = np.linalg.solve(rest[:r, pivots], rest[:r])
        form[:r][np.arange(n) < np.reshape(pivots, (-1, 1))] = 0.0
        form[:, pivots] = np.eye(m, r)
    return form, tuple(pivots)
