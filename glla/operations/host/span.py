"""Linear dependence of columns, decided in float64 where float32 cannot.

An elimination in float32 carries the rounding errors of everything that it met on the way: entries that were large for
a while leave errors that the final entries do not show. An orthogonal basis has no such history. Column j is taken
apart into its share in the span of the pivot columns before it, and what is left:

    a_j = sum_c a_c x_c + rest        c: the r pivot columns before j        x: column j of the reduced echelon form

If the entries of A are wrong by u relatively, at random, then a_j - sum_c a_c x_c is wrong by about

    u weight_j,    weight_j = sqrt(|a_j|^2 + sum_c (x_c |a_c|)^2)    in the 2-norm,

and as the basis takes up what is in its span, the rest by sqrt((m - r) / m) of it. A rest below a few times that is
none. Entries that are exact have no such error; what is left then are the rounding errors of float64, which are bounded
alike with its own unit roundoff: the basis of an orthogonalisation is exact for columns that are off by a few of its
units each. Exact entries may have smaller rests even than that, which float64 takes for none (the last column of a
Frank matrix of order 40 has 10^-46): `pivots_modulo_prime` finds those of small integers.

The basis is built from left to right by halves: first the pivots among the left half of the columns, then the right
half is freed from its share in them, by large products, then come its own pivots.

Sources: Giraud, Langou, Rozloznik and van den Eshof, "Rounding error analysis of the classical Gram-Schmidt
orthogonalization process" (2005): twice is enough; Higham 2002, theorem 19.4 (errors column by column).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

FACTOR = 4.0
"""A rest of at most (4 + sqrt(r)) rounding errors of an entry counts as zero. A may be a product with inner dimension r
that was computed in float32; its errors grow like sqrt(r)."""

FLOAT32 = 2.0**-23
"""Relative error of an entry that was rounded to float32: one unit in the last place."""

FLOAT64 = 2.0**-50
"""Relative error of exact entries in an orthogonalisation in float64: its unit, times 4 for two products."""

LARGEST_EXACT = 2**23
"""Integers below this count as exact. A rounded number is seldom whole there, as float32 keeps fractions."""

PRIME = 2**31 - 1
"""Modulus, a prime; the product of two remainders fits a 64-bit integer."""

MOST_WORK = 2**27
"""Most products m n r of an elimination modulo the prime, about 1 s of one core; larger matrices use float64."""

LOST = 0.125
"""A column whose rest is below this part of its norm is freed from the basis a second time."""


@dataclass(frozen=True)
class Echelon:
    """A reduced row echelon form in float64."""

    matrix: Float64  # (m, n): the form
    pivots: tuple[int, ...]  # its pivot columns


def is_exact(a: NDArray[np.floating]) -> bool:
    """Whether the entries are exact: integers below `LARGEST_EXACT`.

    >>> is_exact(np.array([[1.0, -3.0]])), is_exact(np.array([[0.5]])), is_exact(np.array([[1e9]]))
    (True, False, False)
    """
    return bool((np.abs(a) < LARGEST_EXACT).all() and (a == np.rint(a)).all())


def echelon(a: Float64, unit: float = FLOAT32, pivots: tuple[int, ...] | None = None) -> Echelon:
    """Reduced row echelon form of a matrix whose rows and columns are scaled to magnitudes near 1.

    Entries that are within their own rounding error of zero are zero. About 6 m n r flop, nearly all in products.
    `a`, (m, n): finite. `unit`: relative uncertainty of an entry: `FLOAT32`, or `FLOAT64` for exact ones. Column j
    depends on the r pivot columns before it if its rest is at most unit (4 + sqrt(r)) sqrt((m - r) / m) weight_j.
    `pivots`: the pivot columns, where they are known already.

    >>> form = echelon(np.array([[1.0, 2, 3], [2, 4, 7]]), FLOAT64)
    >>> form.pivots
    (0, 2)
    >>> form.matrix
    array([[1., 2., 0.],
           [0., 0., 1.]])
    """
    growing = _Basis(a, unit, pivots)
    if a.shape[1]:
        growing.take(0, a.shape[1])
    return growing.result()


class _Basis:
    """An orthonormal basis Q of the pivot columns found so far, Q = A[:, pivots] T^-1, and A in terms of it.

    Column j is A[:, pivots] x_j + rest_j for the pivots that it has been freed from.
    """

    def __init__(self, a: Float64, unit: float, known: tuple[int, ...] | None) -> None:
        m, n = a.shape
        self.unit = unit
        self.known = None if known is None else frozenset(known)
        self.norms = np.sqrt(np.sum(np.square(a), axis=0))
        self.rest = np.array(a, order="F")
        self.vectors = np.empty((m, min(m, n)), order="F")
        self.inverse = np.zeros((min(m, n), min(m, n)))  # of T
        self.x = np.zeros((min(m, n), n))
        self.weights = np.zeros(n)
        self.pivots: list[int] = []

    @property
    def rank(self) -> int:
        return len(self.pivots)

    def take(self, left: int, right: int) -> None:
        """Find the pivots among some columns, which are freed from all before them."""
        if right - left == 1:
            self._decide(left)
            return
        middle, first = (left + right) // 2, self.rank
        self.take(left, middle)
        self._free(slice(middle, right), slice(first, self.rank))
        self.take(middle, right)

    def _free(self, columns: slice, vectors: slice) -> None:
        """Orthogonalise columns against vectors of the basis, twice; add the shares, in pivot columns, to `x`."""
        basis = self.vectors[:, vectors]
        for _ in range(2):
            shares = basis.T @ self.rest[:, columns]
            self.rest[:, columns] -= basis @ shares
            self.x[: self.rank, columns] += self.inverse[: self.rank, vectors] @ shares

    def _decide(self, j: int) -> None:
        """Classify the next column: pivot or dependent."""
        r = self.rank
        self.weights[j] = np.hypot(self.norms[j], np.linalg.norm(self.x[:r, j] * self.norms[self.pivots]))
        if r == len(self.rest):
            return
        length = float(np.linalg.norm(self.rest[:, j]))
        if length < LOST * self.norms[j]:
            self._free(slice(j, j + 1), slice(0, r))
            length = float(np.linalg.norm(self.rest[:, j]))
        if self._is_pivot(j, length):
            self.vectors[:, r] = self.rest[:, j] / length
            self.inverse[:r, r] = -self.x[:r, j] / length
            self.inverse[r, r] = 1 / length
            self.pivots.append(j)

    def _is_pivot(self, j: int, rest: float) -> bool:
        """Whether a column has a rest, of this length."""
        if self.known is not None:
            return j in self.known and rest > 0
        m, r = len(self.rest), self.rank
        outside = 1.0 if self.unit == FLOAT64 else np.sqrt((m - r) / m)
        return bool(rest > self.unit * (FACTOR + np.sqrt(r)) * outside * self.weights[j])

    def result(self) -> Echelon:
        """Assemble the form."""
        r, (m, n) = self.rank, self.rest.shape
        matrix = np.zeros((m, n))
        noise = FLOAT64 * (FACTOR + np.sqrt(r)) * np.linalg.norm(self.inverse[:r, :r], axis=1)
        x = self.x[:r]
        x[np.abs(x) <= np.outer(noise, self.weights)] = 0.0
        matrix[:r] = x
        matrix[:, self.pivots] = np.eye(m, r)
        # Row i has nothing before its pivot.
        matrix[:r][np.arange(n) < np.array(self.pivots, dtype=int).reshape(-1, 1)] = 0.0
        return Echelon(matrix, tuple(self.pivots))


# -- integers modulo a prime: nothing is rounded -----------------------------------------------------------------------
#
# Columns that are independent there are independent; columns that are dependent there are dependent unless the prime
# divides a minor that is not zero, which is one chance in two thousand million for each.


def pivots_modulo_prime(a: NDArray[np.floating]) -> tuple[int, ...]:
    """Pivot columns of a matrix of integers.

    `a`, (m, n): whole numbers below 2^53.

    >>> pivots_modulo_prime(np.array([[1.0, 2, 3], [2, 4, 7]]))
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
