"""Banded systems on the host, in float64: batched elimination with partial pivoting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

NOISE = 2.0**-40
"""A pivot below this fraction of the terms that it is the sum of is rounding error: errors of float64 are 2^-53 of
them, and earlier eliminations may have magnified them a thousandfold."""

SINGULAR_RATIO = 2.0**44
"""Ratio of largest unknown to largest right side, rows and columns scaled, of a matrix that is singular to float64."""

SWEEPS = 10
"""Iterations that bring the geometric means of rows and columns near 1; sparse matrices need 4 to 10."""


@np.errstate(all="ignore")
def pivoted(
    ab: Float64, lower: int, upper: int, b: Float64, definite: bool = False
) -> tuple[Float64, NDArray[np.intp]]:
    """Solve a stack of banded systems, all at once row by row.

    Results: `x`: unknowns, like `b`. `flaws`: for each system the first pivot that is zero, nothing but rounding error,
    or not above zero; -1 if all are accepted. Unknowns of a matrix that is not finite are NaN, and it has no flaw.
    `ab`, (count, lower + upper + 1, n): bands as SciPy has them: ab[u + i - j, j] = a[i, j]. What is outside of the
    matrix is not read. `lower`, `upper`: diagonals below and above the main one. `b`, (count, n, columns): right sides.
    `definite`: eliminate without pivoting; every pivot must be above zero.

    >>> x, flaws = pivoted(np.array([[[0, 1.0], [2, 1], [1, 0]]]), 1, 1, np.array([[[3.0], [2.0]]]))
    >>> x.ravel().tolist(), flaws.tolist()
    ([1.0, 1.0], [-1])
    """
    count, _, n = ab.shape
    width = lower + upper + 1
    rows = _rows(ab, lower, upper)
    factors, y = np.empty((count, n, width)), np.empty_like(b)
    flaws = np.full(count, -1, dtype=np.intp)
    # The rows that may be the next pivot's, aligned at its column, and the sizes of the terms that they are sums of.
    active = np.zeros((count, lower + 1, width))
    rhs = np.zeros((count, lower + 1, b.shape[2]))
    for i in range(min(lower, n)):
        active[:, i + 1, : width - lower + i] = rows[:, i, lower - i :]
        rhs[:, i + 1] = b[:, i]
    sizes, systems, kept = np.abs(active), np.arange(count), np.ones(count)
    for k in range(n):
        active[:, :-1], sizes[:, :-1], rhs[:, :-1] = active[:, 1:], sizes[:, 1:], rhs[:, 1:]
        if k + lower < n:
            active[:, -1], rhs[:, -1] = rows[:, k + lower], b[:, k + lower]
        else:
            active[:, -1], rhs[:, -1] = 0.0, 0.0
        sizes[:, -1] = np.abs(active[:, -1])
        if not definite:
            best = np.argmax(np.abs(active[:, :, 0]), axis=1)
            for part in (active, sizes, rhs):
                first = part[:, 0].copy()
                part[:, 0] = part[systems, best]
                part[systems, best] = first
        pivot = active[:, 0, 0]
        none = ~(pivot > NOISE * sizes[:, 0, 0]) if definite else ~(np.abs(pivot) > NOISE * sizes[:, 0, 0])
        flaws = np.where((flaws < 0) & none, k, flaws)
        kept = np.fmin(kept, np.abs(pivot) / sizes[:, 0, 0])
        multipliers = active[:, 1:, 0] / pivot[:, np.newaxis]
        factors[:, k], y[:, k] = active[:, 0], rhs[:, 0]
        active[:, 1:] -= multipliers[:, :, np.newaxis] * active[:, :1]
        sizes[:, 1:] += np.abs(multipliers)[:, :, np.newaxis] * sizes[:, :1]
        rhs[:, 1:] -= multipliers[:, :, np.newaxis] * rhs[:, :1]
        active[:, 1:, :-1], active[:, 1:, -1] = active[:, 1:, 1:].copy(), 0.0
        sizes[:, 1:, :-1], sizes[:, 1:, -1] = sizes[:, 1:, 1:].copy(), 0.0
    for k in range(n - 1, -1, -1):
        for j in range(1, min(width, n - k)):
            y[:, k] -= factors[:, k, j, np.newaxis] * y[:, k + j]
        y[:, k] /= factors[:, k, :1]
    e, f = _exponents(rows, lower)
    given = np.max(np.ldexp(np.abs(b), -e[:, :, np.newaxis]), axis=(1, 2), initial=0.0)
    huge = np.max(np.ldexp(np.abs(y), f[:, :, np.newaxis]), axis=(1, 2), initial=0.0) > SINGULAR_RATIO * given
    huge &= kept < 1  # where no pivot is a difference, as in a triangle, none is rounding error
    unknown = ~np.isfinite(rows).all(axis=(1, 2))
    y[unknown] = np.nan
    return y, np.where(unknown, -1, np.where((flaws < 0) & huge, n - 1, flaws))


def _exponents(rows: Float64, lower: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Exponents e and f that bring the largest entry of each row and column of A 2^-(e_i + f_j) near 1.

    An unknown has the unit of its column: what is large beside others may be so by its unit alone. As
    `glla.operations.scaling`, with sweeps, but for bands.
    """
    count, n, width = rows.shape
    sizes = np.log2(np.abs(rows))
    there = np.isfinite(sizes)
    f = np.zeros((count, n + width - 1))  # `lower` columns more on the left
    in_rows, in_columns = np.maximum(there.sum(axis=2), 1), np.maximum(_of_columns(np.add, there, 0.0), 1)
    for _ in range(SWEEPS):
        e = np.sum(sizes - _in_rows(f, width), axis=2, where=there) / in_rows
        f = _of_columns(np.add, np.where(there, sizes - e[:, :, np.newaxis], 0.0), 0.0) / in_columns
    e = np.max(sizes - _in_rows(f, width), axis=2, where=there, initial=-np.inf)
    e = np.where(np.isfinite(e), e, 0.0)
    f = _of_columns(np.maximum, np.where(there, sizes - e[:, :, np.newaxis], -np.inf), -np.inf)
    f = np.where(np.isfinite(f), f, 0.0)
    return e.astype(np.intp), f[:, lower : lower + n].astype(np.intp)


def _in_rows(columns: Float64, width: int) -> Float64:
    """Values of columns, for each entry of the rows of `_rows`."""
    return np.lib.stride_tricks.sliding_window_view(columns, width, axis=1)


def _of_columns(combine: np.ufunc, entries: NDArray[np.generic], start: float) -> Float64:
    """Combine values of the entries of rows, column by column."""
    count, n, width = entries.shape
    found = np.full((count, n + width - 1), start)
    for c in range(width):
        found[:, c : c + n] = combine(found[:, c : c + n], entries[:, :, c])
    return found


def _rows(ab: Float64, lower: int, upper: int) -> Float64:
    """Rows of matrices in bands, (count, n, lower + upper + 1), zero outside of the matrix."""
    count, _, n = ab.shape
    rows = np.zeros((count, n, lower + upper + 1))
    for offset in range(-lower, upper + 1):  # j - i
        first, last = max(0, -offset), min(n, n - offset)
        if first < last:
            rows[:, first:last, lower + offset] = ab[:, upper - offset, first + offset : last + offset]
    return rows
