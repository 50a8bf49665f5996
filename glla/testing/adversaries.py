"""Matrices on which elimination in float32 fails silently, and exact ranks to compare with.

They are integers, so their ranks are known exactly (`exact_pivots`). `glla.testing.matrices` has the types of matrices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glla.testing.references import exact_pivots

__all__ = [
    "combined_columns", "exact_pivots", "growing", "hidden_singular", "incidence", "laplacian", "product",
    "vandermonde",
]  # fmt: skip

Integers = NDArray[np.int64]


def combined_columns(m: int, k: int, rng: np.random.Generator) -> Integers:
    """Well conditioned integers b, and columns 2 b_i - b_j: the rank is k.

    Expansions of these columns in the first pivot columns have small results and large intermediate values.

    >>> combined_columns(9, 6, np.random.default_rng(0)).shape
    (9, 9)
    """
    b = rng.integers(-3, 4, (m, k))
    i, j = rng.integers(0, k, (2, k // 2))
    return np.hstack([b, 2 * b[:, i] - b[:, j]])


def product(m: int, n: int, rank: int, rng: np.random.Generator) -> Integers:
    """Multiply integers to an m x n matrix of this rank at most, with a repeated column and a difference of columns.

    >>> a = product(9, 9, 4, np.random.default_rng(0))
    >>> bool((a[:, 5] == a[:, 3]).all()), len(exact_pivots(a))
    (True, 4)
    """
    a = rng.integers(-3, 4, (m, rank)) @ rng.integers(-3, 4, (rank, n))
    if n > 7:
        a[:, 5], a[:, 7] = a[:, 3], a[:, 1] - a[:, 2]
    return a


def growing(n: int, below: float = -1.0) -> NDArray[np.float32]:
    """Wilkinson's matrix: its last column grows by 1 - `below` at each step of partial pivoting; its condition is n.

    >>> growing(3)
    array([[ 1.,  0.,  1.],
           [-1.,  1.,  1.],
           [-1., -1.,  1.]], dtype=float32)
    """
    a = np.eye(n) + below * np.tril(np.ones((n, n)), -1)
    a[:, -1] = 1
    return a.astype(np.float32)


def hidden_singular(n: int, rng: np.random.Generator, zero: bool = True) -> NDArray[np.float64]:
    """Multiply small integers by a unit triangle of -1, one of whose diagonal entries is 0 if `zero`.

    In float32 the pivot there is mere rounding error, of up to a fifth of its column.

    >>> len(exact_pivots(hidden_singular(20, np.random.default_rng(0))))
    19
    """
    triangle = np.eye(n) - np.triu(np.ones((n, n)), 1)
    if zero:
        place = rng.integers(0, n)
        triangle[place, place] = 0
    return np.asarray(rng.integers(-3, 4, (n, n)) @ triangle)


def incidence(nodes: int, edges: int, rng: np.random.Generator) -> Integers:
    """Incidence matrix of a random graph, edges x nodes: 1 where an edge begins, -1 where it ends.

    >>> incidence(5, 9, np.random.default_rng(0)).sum(axis=1).any()
    np.False_
    """
    a = np.zeros((edges, nodes), dtype=np.int64)
    ends = np.array([rng.choice(nodes, 2, replace=False) for _ in range(edges)])
    a[np.arange(edges), ends[:, 0]] = 1
    a[np.arange(edges), ends[:, 1]] = -1
    return a


def laplacian(nodes: int, edges: int, rng: np.random.Generator) -> Integers:
    """Laplacian of a random graph: its rank is the number of nodes less that of connected components.

    >>> laplacian(5, 9, np.random.default_rng(0)).sum(axis=1).any()
    np.False_
    """
    a = incidence(nodes, edges, rng)
    return a.T @ a


def vandermonde(nodes: int, degree: int) -> Integers:
    """Powers below `degree` of whole numbers around 0.

    >>> vandermonde(3, 3)
    array([[ 1, -1,  1],
           [ 1,  0,  0],
           [ 1,  1,  1]])
    """
    return np.vander(np.arange(-(nodes // 2), nodes - nodes // 2), degree, increasing=True)
