"""LAPACK on a rank's host: pivots of a panel and triangular systems; and the largest magnitude."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32
from glla.errors import ClusterError
from glla.hybrid.cores import one_thread

Order = NDArray[np.int64]


def check_scipy() -> None:
    """Raise unless SciPy is installed, whose LAPACK factors the panels."""
    if find_spec("scipy") is None:
        raise ClusterError("grid: panels are factored by SciPy's LAPACK; pip install 'glla[cluster]'")


def permutation(exchanges: NDArray[Any], rows: int) -> Order:
    """Order of rows after sequential exchanges: row of A that becomes row i of P^T A.

    >>> permutation(np.array([2, 2]), 4).tolist()
    [2, 0, 1, 3]
    """
    at: dict[int, int] = {}  # row at a position, where it is not the original one
    for row, other in enumerate(exchanges.tolist()):
        at[row], at[other] = at.get(other, other), at.get(row, row)
    order = np.arange(rows)
    order[list(at)] = list(at.values())
    return order


def pivoted(a: Float32) -> tuple[Float32, Order]:
    """Factor a matrix with partial pivoting: its packed factors, and their row order."""
    from scipy.linalg import lapack

    if a.size == 0:
        return a.copy(), np.arange(len(a), dtype=np.int64)
    with one_thread:
        lu, exchanges, _ = lapack.sgetrf(a)
    return np.ascontiguousarray(lu), permutation(exchanges, len(a))


def pivoted_columns(columns: Float32) -> tuple[Float32, Order]:
    """Factor a panel stored by columns: an array whose row j is column j of the panel. It may be overwritten.

    LAPACK uses Fortran order, so no transposition is needed, which would take longer than the factorisation.

    Results: `factors`: packed, by columns. `exchanges`: row with which row i is exchanged, in sequence.
    """
    from scipy.linalg import lapack

    if columns.size == 0:
        return columns, np.arange(0, dtype=np.int64)
    with one_thread:
        lu, exchanges, _ = lapack.sgetrf(columns.T, overwrite_a=1)
    return lu.T, exchanges.astype(np.int64)


def inverse_lower(lower: Float32) -> Float32:
    """Invert L, with ones on its diagonal; elements above it are not read."""
    from scipy.linalg import lapack

    with one_thread:
        found, _ = lapack.strtri(np.asfortranarray(np.tril(lower, -1)), lower=1, unitdiag=1)
    np.fill_diagonal(found, 1)
    inverse: Float32 = np.ascontiguousarray(found)
    return inverse


def solve_lower(lower: Float32, b: Float32) -> Float32:
    """Solve L X = B, L with ones on its diagonal; elements above it are not read.

    BLAS uses Fortran order, so the transposes are passed, X' L' = B', without copies.
    """
    return _strsm(lower, b, side=1, lower=0, diag=1)


def right_upper(upper: Float32, b: Float32) -> Float32:
    """Solve X U = B. Where a pivot of U is zero, so is X, if that is a solution.

    X; NaN in the columns of a zero pivot below entries that are not zero.
    """
    zero = np.diagonal(upper) == 0
    filled = upper
    if zero.any():
        filled = upper.copy()
        np.fill_diagonal(filled, np.where(zero, 1, np.diagonal(upper)))
    x = _strsm(filled, b, side=0, lower=1)
    x[:, zero] = np.where(x[:, zero] == 0, 0, np.nan)
    return x


def _strsm(a: Float32, b: Float32, **options: int) -> Float32:
    from scipy.linalg.blas import strsm

    if b.size == 0:
        return b.copy()
    found: Float32 = strsm(1.0, a.T, b.T, **options).T
    return found


BAND = 1 << 18
"""Elements that are scanned together, so that they stay in the cache."""

SCANNING = 8
"""Threads at most that scan a large matrix; a few saturate the memory."""


def extreme(values: NDArray[Any], threads: int = 1) -> float:
    """Largest absolute value; NaN or infinity if there is one. It makes no copies.

    >>> extreme(np.array([1.0, -3.0])), extreme(np.array([1.0, np.nan, -np.inf])), extreme(np.empty((0, 2)))
    (3.0, nan, 0.0)
    >>> extreme(np.arange(-700_000, 600_000).reshape(-1, 1000), threads=4)
    700000.0
    """
    if values.size <= BAND:
        return _extreme(values)
    rows = max(1, BAND * len(values) // values.size)
    bands = [values[top : top + rows] for top in range(0, len(values), rows)]
    count = min(threads, SCANNING, len(bands))
    if count < 2:
        return float(np.max([_extreme(band) for band in bands]))
    with ThreadPoolExecutor(count) as pool:
        return float(np.max(list(pool.map(_extreme, bands))))


def _extreme(values: NDArray[Any]) -> float:
    return float(np.maximum(values.max(initial=0), abs(values.min(initial=0))))
