"""The thesis's kind of peer: textbook loops without blocking.

MATLAB's `rref` eliminates row by row in its own language; the ratios of figure 4.7 are against such a loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Double = NDArray[np.float64]


def product(a: NDArray[Any], b: NDArray[Any]) -> list[list[float]]:
    """Multiply by three loops.

    >>> product(np.eye(2), np.ones((2, 1)))
    [[1.0], [1.0]]
    """
    rows, columns = a.tolist(), b.T.tolist()
    result = []
    for row in rows:
        line = []
        for column in columns:
            total = 0.0
            for k, value in enumerate(row):
                total += value * column[k]
            line.append(total)
        result.append(line)
    return result


def rref(a: NDArray[Any]) -> Double:
    """Reduce row by row, MATLAB's way, in float64.

    >>> rref(np.array([[2, 4], [1, 1]]))
    array([[1., 0.],
           [0., 1.]])
    """
    r = np.array(a, dtype=np.float64)
    m, n = r.shape
    tolerance = max(m, n) * np.finfo(np.float64).eps * float(np.abs(r).sum(axis=1).max(initial=0.0))
    i = 0
    for j in range(n):
        if i == m:
            break
        k = i + int(np.argmax(np.abs(r[i:, j])))
        if abs(r[k, j]) <= tolerance:
            r[i:, j] = 0
            continue
        r[[i, k], j:] = r[[k, i], j:]
        r[i, j:] /= r[i, j]
        for row in range(m):
            if row != i:
                r[row, j:] -= r[row, j] * r[i, j:]
        i += 1
    return r


def gradients(starts: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], b: NDArray[Any], steps: int) -> Double:
    """Take some steps of conjugate gradients entry by entry, for a matrix in compressed rows.

    >>> gradients(np.array([0, 1, 2]), np.array([0, 1]), np.array([2.0, 2.0]), np.array([4.0, 6.0]), 1)
    array([2., 3.])
    """
    first, at, entries = starts.tolist(), columns.tolist(), values.tolist()
    n = len(b)
    x, r = [0.0] * n, b.tolist()
    p, square = list(r), sum(value * value for value in r)
    for _ in range(steps):
        q = []
        for i in range(n):
            total = 0.0
            for k in range(first[i], first[i + 1]):
                total += entries[k] * p[at[k]]
            q.append(total)
        alpha = square / sum(p[i] * q[i] for i in range(n))
        for i in range(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * q[i]
        before, square = square, sum(value * value for value in r)
        for i in range(n):
            p[i] = r[i] + square / before * p[i]
    return np.array(x)
