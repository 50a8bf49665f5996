"""The matrix with which formats are compared: five points of a square grid, given by its five diagonals."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from glla.errors import ShapeError
from glla.operations.record import Float32
from glla.operations.sparse.compressed import Compressed
from glla.passes.layout import Shape

POINTS = 5
"""A point of the grid and its neighbours: above, left, itself, right, below."""


def side_of(shape: tuple[int, ...]) -> int:
    """Points along a side of the grid, for the shape of its diagonals.

    Raises ShapeError: they are not those of a square grid.
    """
    side = math.isqrt(shape[-1])
    if len(shape) != 2 or shape[0] != POINTS or side**2 != shape[-1]:
        raise ShapeError(
            f"spmv: an array for A has the five diagonals of a square grid as rows, (5, n^2), got {tuple(shape)}; "
            "for any other matrix pass glla.sparse.asarray(A)"
        )
    return side


def entries(side: int) -> int:
    """Entries of the matrix.

    >>> entries(3)
    33
    """
    return POINTS * side**2 - 4 * side


@lru_cache(maxsize=4)
def pattern(side: int) -> Compressed:
    """The matrix with ones for its entries."""
    return of(np.ones((POINTS, side**2), dtype=np.float32))


def of(diagonals: Float32) -> Compressed:
    """The matrix of diagonals, of which row d holds A[i, i + offset] at i; places outside the grid are no entries."""
    side = side_of(diagonals.shape)
    count = side**2
    point = np.arange(count)
    across = point % side
    inside = np.stack(
        (point >= side, across > 0, np.full(count, True), across < side - 1, point < count - side), axis=1
    )
    columns = point[:, np.newaxis] + np.array([-side, -1, 0, 1, side])
    starts = np.concatenate(([0], np.cumsum(inside.sum(axis=1))))
    return Compressed((count, count), starts, columns[inside], np.ascontiguousarray(diagonals.T)[inside])


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A couples each point of an n x n grid to its four neighbours: its five diagonals as rows; all entries normal."""
    a = rng.standard_normal((POINTS, n * n), dtype=np.float32)
    shape: Shape = (n * n, 1)
    return a, rng.standard_normal(shape, dtype=np.float32)
