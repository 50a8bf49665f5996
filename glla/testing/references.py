"""References in float64 and in exact arithmetic, and the norms that errors are measured in."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]


def product(a: Array, b: Array) -> Float64:
    """Multiply in float64.

    >>> product(np.array([[1, 2]], np.float32), np.array([[3], [4]], np.float32)).tolist()
    [[11.0]]
    """
    return np.asarray(wide(a) @ wide(b))


def exact_rref(a: Array) -> tuple[Array, tuple[int, ...]]:
    """Reduce a matrix to row echelon form in exact rational arithmetic.

    Any finite matrix will do, since every float is a fraction; integers take well under a second at order 100.

    Results: `r`, (dtype object): the reduced form; ``r.astype(np.float64)`` rounds it. `pivots`: the pivot columns;
    their number is the rank.
    `a`, (m, n): finite integers, floats or Fractions.

    >>> r, pivots = exact_rref(np.array([[0, 3, 1], [0, 6, 2]]))
    >>> r.astype(np.float64).round(3).tolist(), pivots
    ([[0.0, 1.0, 0.333], [0.0, 0.0, 0.0]], (1,))
    """
    work = _integer_rows(np.asarray(a))
    m, n = work.shape
    pivots: list[int] = []
    divisor = 1  # Bareiss: every entry is a minor of a, so each division by the last pivot is exact
    for j in range(n):
        row = len(pivots)
        candidates = np.flatnonzero(work[row:, j])
        if not candidates.size:
            continue
        work[[row, row + candidates[0]]] = work[[row + candidates[0], row]]
        others = np.arange(m) != row
        work[others] = (work[row, j] * work[others] - np.outer(work[others, j], work[row])) // divisor
        divisor = work[row, j]
        pivots.append(j)
    fractions = [Fraction(value, divisor) for value in work.ravel().tolist()]
    return np.array(fractions, dtype=object).reshape(m, n), tuple(pivots)


def _integer_rows(a: Array) -> Array:
    """Scale each row of a rational matrix to Python integers, which does not change its reduced form."""
    result = np.zeros(a.shape, dtype=object)
    for i, row in enumerate(a.tolist()):
        fractions = [Fraction(value) for value in row]
        scale = math.lcm(*(value.denominator for value in fractions))
        result[i] = [int(value * scale) for value in fractions]
    return result


PRIME = 2**31 - 19
"""The prime of `exact_pivots`, whose products fit int64; `glla.operations.host.span` takes another one."""


def exact_pivots(a: ArrayLike) -> tuple[int, ...]:
    """Pivot columns of a matrix of integers, modulo a large prime: fast, and wrong only if the prime divides a minor.

    >>> exact_pivots([[1, 2, 3], [2, 4, 7]])
    (0, 2)
    """
    rows = np.asarray(a).astype(np.int64) % PRIME
    pivots: list[int] = []
    for j in range(rows.shape[1]):
        rank = len(pivots)
        candidates = rank + np.flatnonzero(rows[rank:, j])
        if not len(candidates):
            continue
        rows[[rank, candidates[0]]] = rows[[candidates[0], rank]]
        rows[rank] = rows[rank] * pow(int(rows[rank, j]), -1, PRIME) % PRIME
        below = rank + 1 + np.flatnonzero(rows[rank + 1 :, j])
        rows[below] = (rows[below] - rows[below, j, np.newaxis] * rows[rank]) % PRIME
        pivots.append(j)
    return tuple(pivots)


def row_order(piv: Array, m: int | None = None) -> NDArray[np.intp]:
    """Order of the rows after LAPACK's interchanges: row i of L U is row order[i] of A.

    The arguments are those of `permutation_from_piv`.

    >>> row_order(np.array([2, 2, 2])).tolist()
    [2, 0, 1]
    """
    order = np.arange(len(piv) if m is None else m)
    for i, j in enumerate(np.asarray(piv).tolist()):
        order[[i, j]] = order[[j, i]]
    return order


def permutation_from_piv(piv: Array, m: int | None = None) -> Float32:
    """Turn LAPACK's row interchanges into the matrix P of A = P L U.

    Of shape (m, m).
    `piv`, (k,): row i was exchanged with row piv[i], for i = 0, 1, ... in turn; counted from 0, as by
    `scipy.linalg.lu_factor`. `m`: rows of A, where it has more than k.

    >>> permutation_from_piv(np.array([2, 2, 2])).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    order = row_order(piv, m)
    p = np.zeros((len(order), len(order)), dtype=np.float32)
    p[order, np.arange(len(order))] = 1.0
    return p


def unpack_lu(lu: Array) -> tuple[Array, Array]:
    """Split packed factors into L (m x k, unit lower trapezoidal) and U (k x n, upper), k = min(m, n).

    >>> l, u = unpack_lu(np.array([[4.0, 3.0], [0.5, 2.0]]))
    >>> l.tolist(), u.tolist()
    ([[1.0, 0.0], [0.5, 1.0]], [[4.0, 3.0], [0.0, 2.0]])
    """
    m, n = lu.shape
    k = min(m, n)
    return np.tril(lu[:, :k], -1) + np.eye(m, k, dtype=lu.dtype), np.triu(lu[:k])


def textbook_plu(a: Array) -> tuple[Float64, NDArray[np.intp]]:
    """Factor column by column with partial pivoting, unblocked; packed factors and the order of the rows.

    >>> lu, order = textbook_plu(np.array([[1.0, 2.0], [4.0, 4.0]]))
    >>> lu.tolist(), order.tolist()
    ([[4.0, 4.0], [0.25, 1.0]], [1, 0])
    """
    lu, order = np.array(a, dtype=np.float64), np.arange(len(a))
    for k in range(min(lu.shape)):
        p = k + int(np.argmax(np.abs(lu[k:, k])))
        lu[[k, p]], order[[k, p]] = lu[[p, k]], order[[p, k]]
        if lu[k, k]:
            lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return lu, order


# Matrices of which a part is stored --------------------------------------------------------------------------


def symmetric(a: Array) -> Float64:
    """The symmetric matrix of a lower half."""
    lower = np.tril(wide(a))
    return lower + np.tril(lower, -1).T


def of_diagonals(bands: Array, above: int) -> Float64:
    """The matrix of some diagonals, the uppermost first: a_ij is in [above + i - j, j].

    >>> of_diagonals(np.array([[0.0, 1, 2], [3, 4, 5]]), 1).tolist()
    [[3.0, 1.0, 0.0], [0.0, 4.0, 2.0], [0.0, 0.0, 5.0]]
    """
    n = bands.shape[1]
    a = np.zeros((n, n))
    for offset, band in zip(range(above, -n, -1), wide(bands), strict=False):
        i = np.arange(max(0, -offset), max(0, min(n, n - offset)))
        a[i, i + offset] = band[i + offset]
    return a


def of_upper_band(ab: Array) -> Float64:
    """The symmetric matrix of a band in LAPACK's upper storage; for a factor U, L + U."""
    return symmetric(of_diagonals(np.asarray(ab), len(ab) - 1).T)


def five_points(a: Array, x: Array) -> Float64:
    """Product of the matrix whose five diagonals are the rows of `a`, those of a square grid, and of x; float64."""
    side = math.isqrt(a.shape[1])
    grid, entries = wide(x).reshape(side, side), wide(a).reshape(5, side, side)
    result = entries[2] * grid
    result[1:] += entries[0, 1:] * grid[:-1]
    result[:, 1:] += entries[1, :, 1:] * grid[:, :-1]
    result[:, :-1] += entries[3, :, :-1] * grid[:, 1:]
    result[:-1] += entries[4, :-1] * grid[1:]
    return np.asarray(result.reshape(x.shape))


# Norms -----------------------------------------------------------------------------------------------------


def wide(a: Any) -> Float64:
    """Convert to float64, in which neither the largest nor the smallest float32 overflow in a norm or a product."""
    return np.asarray(a, dtype=np.float64)


def norm(a: Float64) -> float:
    """Return the 1-norm, the largest sum of a column; 0 for an empty matrix."""
    return float(np.abs(a).sum(axis=0).max(initial=0.0))


def norm_inf(a: Float64) -> float:
    """Return the infinity-norm, the largest sum of a row; 0 for an empty matrix."""
    return norm(a.T)


def quotients(error: Any, scale: Any) -> Float64:
    """Divide elementwise, with 0 / 0 = 0 and x / 0 = inf; a NaN never turns into a number."""
    error, scale = np.broadcast_arrays(wide(error), wide(scale))
    result = np.where(error == 0, 0.0, np.inf)
    np.divide(error, scale, out=result, where=(scale > 0) | np.isnan(scale))
    return np.asarray(result)


def largest(values: Float64) -> float:
    """Return the largest value, NaN if there is one, 0 if there are none."""
    return float(values.max(initial=0.0))
