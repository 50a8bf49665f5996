"""Owner of each element: block-cyclic indices, as in ScaLAPACK. No values, no messages.

Blocks of nb x nb elements are distributed cyclically, rows of blocks over the P rows of a grid, columns of blocks over
its Q columns. A 5 x 5 matrix of blocks on a 2 x 2 grid, and the blocks of process (0, 1), side by side::

    (0,0) (0,1) (0,0) (0,1) (0,0)
    (1,0) (1,1) (1,0) (1,1) (1,0)        blocks 0,1  0,3
    (0,0) (0,1) (0,0) (0,1) (0,0)               2,1  2,3
    (1,0) (1,1) (1,0) (1,1) (1,0)               4,1  4,3
    (0,0) (0,1) (0,0) (0,1) (0,0)

So every process has work until the end of a factorisation, which a single block per process would not ensure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError, ShapeError, integer

Indices = NDArray[np.int64]


def near_square(size: int) -> tuple[int, int]:
    """Shape P x Q of a grid of a number of processes, P <= Q and nearly square.

    >>> near_square(6), near_square(7), near_square(1024)
    ((2, 3), (1, 7), (32, 32))
    """
    rows = next(p for p in range(math.isqrt(size), 0, -1) if size % p == 0)
    return rows, size // rows


def grid_shape(function: str, grid: object) -> tuple[int, int]:
    """Parse a grid, given as a pair, as "PxQ", or as a number of processes.

    >>> grid_shape("plan", "2x3"), grid_shape("plan", 4)
    ((2, 3), (2, 2))
    """
    shape: object = getattr(grid, "shape", grid)
    if isinstance(shape, str):
        parts = [int(part) if part.isdecimal() else 0 for part in shape.lower().split("x")]
        shape = parts if len(parts) > 1 else parts[0]
    if isinstance(shape, int | np.integer) and not isinstance(shape, bool) and shape > 0:
        return near_square(int(shape))
    if isinstance(shape, tuple | list) and len(shape) == 2 and all(integer(function, "grid", one) > 0 for one in shape):
        return int(shape[0]), int(shape[1])
    raise OptionError(
        f"{function}: grid must be (P, Q) with P and Q from 1, 'PxQ', or a number of processes, got {grid!r}"
    )


def local_count(k: int, nb: int, process: int, processes: int) -> int:
    """Count the rows below global row `k` that a process of a column owns: ScaLAPACK's numroc.

    It is also the first of its local rows that is at or after `k`.

    >>> [local_count(10, 4, p, 2) for p in (0, 1)]  # rows 0-3, 8, 9 and rows 4-7
    [6, 4]
    """
    full, rest = divmod(k, nb)
    turns, extra = divmod(full, processes)
    return turns * nb + (nb if process < extra else rest if process == extra else 0)


def owned(n: int, nb: int, process: int, processes: int) -> Indices:
    """Global rows of a process, in the order of its local rows.

    >>> owned(10, 4, 0, 2).tolist()
    [0, 1, 2, 3, 8, 9]
    """
    rows = np.arange(n, dtype=np.int64)
    mine: Indices = rows[rows // nb % processes == process]
    return mine


@dataclass(frozen=True)
class Layout:
    """Distribution of an m x n matrix over a grid of P x Q processes.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the whole.
    nb : int
        Rows and columns of a block: even, so that a block consists of whole texels.
    grid : (int, int)
        P and Q.

    Examples
    --------
    >>> whole = Layout((10, 6), 4, (2, 1))
    >>> whole.local_shape(0, 0), whole.local_shape(1, 0)
    ((6, 6), (4, 6))
    """

    shape: tuple[int, int]
    nb: int
    grid: tuple[int, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nb", integer("cluster", "nb", self.nb))
        try:
            rows, columns = self.shape
        except (TypeError, ValueError):
            raise ShapeError(f"cluster: a matrix has two sizes, got {self.shape!r}") from None
        object.__setattr__(self, "shape", (integer("cluster", "rows", rows), integer("cluster", "columns", columns)))
        if self.nb < 2 or self.nb % 2:
            raise OptionError(
                f"cluster: nb must be an even number from 2, so that blocks are whole texels, got {self.nb}"
            )
        if min(self.shape) < 0:
            raise ShapeError(f"cluster: a matrix has no negative sizes, got {self.shape}")

    @cached_property
    def panels(self) -> int:
        """Block columns that are factored: one for each diagonal block."""
        return -(-min(self.shape) // self.nb)

    def span(self, panel: int) -> tuple[int, int]:
        """First row of a diagonal block, and the row behind its last."""
        return panel * self.nb, min((panel + 1) * self.nb, *self.shape)

    def rows_from(self, k: int, p: int) -> int:
        """Count the rows from global row `k` on that process row `p` owns."""
        return self.local_shape(p, 0)[0] - self.rows_below(k, p)

    def columns_from(self, k: int, q: int) -> int:
        """Count the columns from global column `k` on that process column `q` owns."""
        return self.local_shape(0, q)[1] - self.columns_below(k, q)

    def rows_below(self, k: int, p: int) -> int:
        """Count the rows below global row `k` that process row `p` owns."""
        return local_count(min(k, self.shape[0]), self.nb, p, self.grid[0])

    def columns_below(self, k: int, q: int) -> int:
        """Count the columns below global column `k` that process column `q` owns."""
        return local_count(min(k, self.shape[1]), self.nb, q, self.grid[1])

    def width(self, panel: int) -> int:
        """Columns of a panel."""
        start, stop = self.span(panel)
        return stop - start

    def held(self, rows: Indices, p: int) -> tuple[Indices, Indices]:
        """Places of those of some global rows that process row `p` owns, and their local rows.

        >>> Layout((10, 6), 4, (2, 1)).held(np.array([8, 4, 9]), 0)
        (array([0, 2]), array([4, 5]))
        """
        nb, P = self.nb, self.grid[0]
        places = np.nonzero(rows // nb % P == p)[0]
        return places, rows[places] // nb // P * nb + rows[places] % nb

    def local_shape(self, p: int, q: int) -> tuple[int, int]:
        """Rows and columns of the part of process (p, q)."""
        (m, n), (P, Q) = self.shape, self.grid
        return local_count(m, self.nb, p, P), local_count(n, self.nb, q, Q)

    def rows(self, p: int) -> Indices:
        """Global rows of process row `p`."""
        return owned(self.shape[0], self.nb, p, self.grid[0])

    def columns(self, q: int) -> Indices:
        """Global columns of process column `q`."""
        return owned(self.shape[1], self.nb, q, self.grid[1])

    def descriptor(self, p: int, context: int = 0) -> tuple[int, ...]:
        """ScaLAPACK's nine integers: type, context, m, n, mb, nb, first process row and column, leading dimension.

        The leading dimension is that of the local array in Fortran order: ``matrix.local.ravel("F")``.
        """
        m, n = self.shape
        return 1, context, m, n, self.nb, self.nb, 0, 0, max(1, self.local_shape(p, 0)[0])
