"""Inputs by type, float64 and exact references, and error bounds: what tests, benchmarks and users judge a result with.

Three kinds of thing live here, and none of them needs a GPU or more than NumPy:

* *inputs*: one function per type of matrix, and the table `MATRICES` that lists them; `SHAPES` and `PRODUCT_SHAPES`
  hold the sizes at which packing and tiling go wrong;
* *references*: `product`, `exact_rref`, `unpack_lu`, `permutation_from_piv`;
* *judges*: ``judge_*`` compares a result with a bound and returns a `Verdict`; ``assert_*`` is the same and raises
  AssertionError; ``residual_*`` is the bare number.

No judge takes a relative tolerance. A tolerance such as 1e-3 accepts a product of length 1024 that lost a term and
rejects a good result whose inputs were scaled; a bound that is derived from the operands does neither. Before anything
is compared, a result must be an array, of the right shape, of the right dtype, and free of NaN and infinity.

Throughout, ``u = 2**-24`` is the unit roundoff of float32, `ROUNDOFF`.

Examples
--------
>>> rng = np.random.default_rng(0)
>>> a, b = uniform(40, 1024, rng), uniform(1024, 30, rng)
>>> assert_product(a @ b, a, b)
>>> lost = a[:, 1:] @ b[1:]
>>> judge_product(lost, a, b).ok
False
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from glla.errors import ShapeError

Array = NDArray[Any]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Maker = Callable[[int, int, np.random.Generator], Float32]

ROUNDOFF = 2.0**-24
"""Unit roundoff of float32, u."""

SMALLEST_NORMAL = 2.0**-126
"""Smallest normal float32; a GPU may flush anything smaller to zero."""

RESIDUAL_LIMIT = 30.0
"""The threshold of LAPACK's own test programs for a normalised residual."""


class BoundWarning(UserWarning):
    """A result is within its proved bound, but worse than rounding errors usually make it."""


# Inputs by type ----------------------------------------------------------------------------------------------------


def uniform(m: int, n: int, rng: np.random.Generator, high: float = 10.0) -> Float32:
    """Draw every entry from [0, high).

    Parameters
    ----------
    m, n : int
        Rows and columns.
    rng : numpy.random.Generator
        Source of randomness.
    high : float
        End of the interval.

    Returns
    -------
    ndarray of float32, (m, n)

    Examples
    --------
    >>> a = uniform(3, 4, np.random.default_rng(0))
    >>> a.shape, a.dtype, bool((a < 10).all())
    ((3, 4), dtype('float32'), True)
    """
    return rng.random((m, n), dtype=np.float32) * np.float32(high)


def normal(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Draw every entry from the standard normal distribution.

    Examples
    --------
    >>> normal(3, 4, np.random.default_rng(0)).shape
    (3, 4)
    """
    return rng.standard_normal((m, n), dtype=np.float32)


def integers(m: int, n: int, rng: np.random.Generator, limit: int = 9) -> Float32:
    """Draw integers from -limit to limit.

    A product of two such matrices is exact in float32, whatever the order of the sums, while ``k * limit**2 <= 2**24``
    (k is the inner dimension).

    Examples
    --------
    >>> a = integers(3, 4, np.random.default_rng(0), limit=2)
    >>> sorted(set(a.ravel().tolist())) <= [-2.0, -1.0, 0.0, 1.0, 2.0]
    True
    """
    return rng.integers(-limit, limit, size=(m, n), endpoint=True).astype(np.float32)


def embedded(block: Array, m: int, n: int) -> Float32:
    """Put a block into the top left corner of an m x n matrix of zeros, cut off where it does not fit.

    The identity of order min(m, n), and any other nonsingular block of that order, so gives full rank.

    Examples
    --------
    >>> embedded(np.array([[1, 2], [3, 4]]), 2, 3).tolist()
    [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]
    """
    result = np.zeros((m, n), dtype=np.float32)
    block = block[:m, :n]
    result[: block.shape[0], : block.shape[1]] = block
    return result


def diagonal(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a diagonal matrix with entries of either sign and magnitude in [1, 10).

    Examples
    --------
    >>> a = diagonal(2, 3, np.random.default_rng(0))
    >>> np.flatnonzero(a).tolist()
    [0, 4]
    """
    return embedded(np.diag(_signed(min(m, n), 1, rng, 1.0, 10.0)[:, 0]), m, n)


def lower(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a lower trapezoidal matrix, well conditioned at any order.

    The diagonal has magnitude in [1, 2) and the rest is normal, divided by min(m, n): a plain random triangle has a
    condition number that grows as 2**n.

    Examples
    --------
    >>> a = lower(4, 3, np.random.default_rng(0))
    >>> bool(np.all(a == np.tril(a)))
    True
    """
    k = min(m, n)
    off_diagonal = np.tril(normal(m, n, rng), -1) / np.float32(max(k, 1))
    return off_diagonal + embedded(np.diag(_signed(k, 1, rng, 1.0, 2.0)[:, 0]), m, n)


def upper(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make an upper trapezoidal matrix, well conditioned at any order: the transpose of `lower`.

    Examples
    --------
    >>> a = upper(3, 4, np.random.default_rng(0))
    >>> bool(np.all(a == np.triu(a)))
    True
    """
    return np.ascontiguousarray(lower(n, m, rng).T)


def conditioned(m: int, n: int, rng: np.random.Generator, cond: float = 100.0) -> Float32:
    """Make a matrix of full rank with a given 2-norm condition number, through random orthogonal factors.

    The singular values run geometrically from 1 to 1 / cond. Rounding to float32 moves each by up to about u, so keep
    cond well below 1 / u = 1.7e7.

    Examples
    --------
    >>> a = conditioned(6, 4, np.random.default_rng(0), cond=1000)
    >>> round(float(np.linalg.cond(a.astype(np.float64))))
    1000
    """
    k = min(m, n)
    left, right = _orthonormal(m, k, rng), _orthonormal(n, k, rng)
    return ((left * np.geomspace(1.0, 1.0 / cond, k)) @ right.T).astype(np.float32)


def spd(n: int, rng: np.random.Generator, cond: float = 100.0) -> Float32:
    """Make a symmetric positive definite matrix of order n with a given 2-norm condition number.

    Keep cond below about 1 / (n u), or rounding to float32 may cost it its definiteness.

    Examples
    --------
    >>> a = spd(5, np.random.default_rng(0), cond=50)
    >>> bool(np.all(a == a.T)), round(float(np.linalg.cond(a.astype(np.float64))))
    (True, 50)
    """
    q = _orthonormal(n, n, rng)
    a = (q * np.geomspace(1.0, 1.0 / cond, n)) @ q.T
    return ((a + a.T) / 2).astype(np.float32)


def singular(m: int, n: int, rng: np.random.Generator, rank: int | None = None) -> Float32:
    """Make an integer matrix of exactly the given rank, which float32 holds exactly.

    It is the product of two integer factors, each of which hides an identity among entries from -3 to 3, so its rank is
    known without computing it. The default rank is half of min(m, n), rounded down.

    Raises
    ------
    ShapeError
        If an m x n matrix cannot have that rank.

    Examples
    --------
    >>> a = singular(7, 5, np.random.default_rng(0), rank=3)
    >>> len(exact_rref(a)[1])
    3
    """
    rank = min(m, n) // 2 if rank is None else rank
    if not 0 <= rank <= min(m, n):
        raise ShapeError(f"singular: rank must be from 0 to min(m, n), got {rank} for {m} x {n}")
    left = np.vstack([np.eye(rank), rng.integers(-3, 4, (m - rank, rank))])
    right = np.hstack([np.eye(rank), rng.integers(-3, 4, (rank, n - rank))])
    return np.asarray(rng.permutation(left) @ rng.permutation(right, axis=1), dtype=np.float32)


def graded(m: int, n: int, rng: np.random.Generator, k: int = 10) -> Float32:
    """Scale the rows and the columns of a well conditioned matrix by random powers of two from 2**-k to 2**k.

    The scaling is exact, so what equilibration undoes is a matrix of condition number 10.

    Examples
    --------
    >>> a = graded(20, 20, np.random.default_rng(0))
    >>> bool(np.linalg.cond(a) > 1e3)
    True
    """
    rows = rng.integers(-k, k, size=(m, 1), endpoint=True)
    columns = rng.integers(-k, k, size=(1, n), endpoint=True)
    return np.asarray(np.ldexp(conditioned(m, n, rng, cond=10.0), rows + columns), dtype=np.float32)


def tiny(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a matrix of entries of either sign near 1e-30: normal numbers, whose squares are not.

    Examples
    --------
    >>> a = tiny(3, 4, np.random.default_rng(0))
    >>> bool((np.abs(a) > 0.4e-30).all() and (np.abs(a) < 2.1e-30).all())
    True
    """
    return _signed(m, n, rng, 0.5e-30, 2e-30)


def huge(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a matrix of entries of either sign near 1e30: finite numbers, whose squares are not.

    Examples
    --------
    >>> a = huge(3, 4, np.random.default_rng(0))
    >>> bool((np.abs(a) > 0.4e30).all() and (np.abs(a) < 2.1e30).all())
    True
    """
    return _signed(m, n, rng, 0.5e30, 2e30)


def permutation(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a random permutation matrix of order min(m, n), padded with zeros.

    Examples
    --------
    >>> permutation(3, 3, np.random.default_rng(0)).sum(axis=0).tolist()
    [1.0, 1.0, 1.0]
    """
    return _permuted_identity(rng.permutation(min(m, n)), m, n)


def bad_pairs(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make a nonsingular matrix whose rows pair badly: e0, e2, e1, e3, then the same four columns on, and so forth.

    The 2 x 2 blocks of each group of four rows all have rank one, so a pivot search that takes whole blocks, and never
    two rows out of different blocks, finds no pivot.

    Examples
    --------
    >>> bad_pairs(4, 4).argmax(axis=1).tolist()
    [0, 2, 1, 3]
    """
    return _permuted_identity(_swapped(min(m, n), first=1, step=4), m, n)


def swapped_pairs(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make a block diagonal matrix of blocks [[0, 1], [1, 0]], with a last 1 where min(m, n) is odd.

    Elimination that looks at row order only between texels of 2 x 2 divides by zero here.

    Examples
    --------
    >>> swapped_pairs(2, 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return _permuted_identity(_swapped(min(m, n), first=0, step=2), m, n)


def antidiagonal(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make the identity of order min(m, n) upside down, padded with zeros.

    Examples
    --------
    >>> antidiagonal(2, 3).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    return _permuted_identity(np.arange(min(m, n))[::-1], m, n)


def hilbert(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make the Hilbert matrix, 1 / (i + j + 1): of full rank on paper, singular to float32 from order 7 on.

    Examples
    --------
    >>> hilbert(1, 4).tolist() == [[1.0, 0.5, float(np.float32(1 / 3)), 0.25]]
    True
    """
    return (1.0 / (np.arange(m)[:, None] + np.arange(n) + 1.0)).astype(np.float32)


def wilkinson_growth(m: int, n: int, rng: np.random.Generator | None = None, order: int = 12) -> Float32:
    """Make Wilkinson's matrix, whose entries grow by 2**(order - 1) under partial pivoting.

    Its leading block has 1 on the diagonal and in the last column and -1 below the diagonal; beyond `order` the
    diagonal goes on alone. Twelve costs 11 of float32's 24 bits, which the residual limits still allow; at an order of
    25 no correct digit is left, and past 128 the last pivot overflows.

    Examples
    --------
    >>> wilkinson_growth(3, 3).tolist()
    [[1.0, 0.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]]
    """
    k = min(m, n, order)
    result = np.eye(m, n, dtype=np.float32)
    result[:k, :k] -= np.tril(np.ones((k, k), dtype=np.float32), -1)
    result[:k, k - 1 : k] = 1.0
    return result


def toeplitz(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make the second-difference matrix: 2 on the diagonal, -1 on either side. Its condition number is about 0.4 n**2.

    Examples
    --------
    >>> toeplitz(3, 3).tolist()
    [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]
    """
    return (2 * np.eye(m, n) - np.eye(m, n, 1) - np.eye(m, n, -1)).astype(np.float32)


def identity(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make the identity, padded with zeros where m and n differ.

    Examples
    --------
    >>> identity(2, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    return np.eye(m, n, dtype=np.float32)


def zeros(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make a matrix of zeros, of rank 0.

    Examples
    --------
    >>> zeros(1, 2).tolist()
    [[0.0, 0.0]]
    """
    return np.zeros((m, n), dtype=np.float32)


def ones(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make a matrix of ones, of rank 1: the smallest case in which a division that is not exact invents a pivot.

    Examples
    --------
    >>> ones(1, 2).tolist()
    [[1.0, 1.0]]
    """
    return np.ones((m, n), dtype=np.float32)


def _signed(m: int, n: int, rng: np.random.Generator, low: float, high: float) -> Float32:
    """Draw entries of either sign with magnitudes from low to high."""
    return np.asarray(rng.uniform(low, high, (m, n)) * rng.choice([-1.0, 1.0], (m, n)), dtype=np.float32)


def _orthonormal(m: int, k: int, rng: np.random.Generator) -> Float64:
    """Draw an m x k matrix with orthonormal columns, k <= m."""
    return np.linalg.qr(rng.standard_normal((m, k)))[0]


def _permuted_identity(order: NDArray[np.intp], m: int, n: int) -> Float32:
    """Make the matrix whose row i is the unit vector e_order[i], padded with zeros."""
    return embedded(np.eye(len(order))[order], m, n)


def _swapped(k: int, first: int, step: int) -> NDArray[np.intp]:
    """Make 0 .. k - 1 with entries i and i + 1 exchanged for i = first, first + step, ..."""
    order = np.arange(k)
    i = np.arange(first, k - 1, step)
    order[i], order[i + 1] = i + 1, i
    return order


MATRICES: dict[str, Maker] = {
    "uniform": uniform,
    "normal": normal,
    "integers": integers,
    "diagonal": diagonal,
    "lower": lower,
    "upper": upper,
    "spd": lambda m, n, rng: embedded(spd(min(m, n), rng), m, n),
    "conditioned": conditioned,
    "singular": singular,
    "graded": graded,
    "tiny": tiny,
    "huge": huge,
    "permutation": permutation,
    "bad_pairs": bad_pairs,
    "swapped_pairs": swapped_pairs,
    "antidiagonal": antidiagonal,
    "hilbert": hilbert,
    "wilkinson_growth": wilkinson_growth,
    "toeplitz": toeplitz,
    "identity": identity,
    "zeros": zeros,
    "ones": ones,
}
"""Every type of input, by name: ``MATRICES[name](m, n, rng)`` works for any m, n >= 0."""

NONSINGULAR = tuple(name for name in MATRICES if name not in {"integers", "singular", "hilbert", "zeros", "ones"})
"""The types that have full rank, and can be solved with in float32, at any order.

`integers` is left out because a small one now and then is singular.
"""


# Shapes ------------------------------------------------------------------------------------------------------------


def sizes(tile: int = 16) -> list[int]:
    """List the orders at which packing and tiling go wrong: 0 to 3, about the tile, a prime, past two tiles.

    Parameters
    ----------
    tile : int
        The block size whose edges are to be tried.

    Examples
    --------
    >>> sizes(8)
    [0, 1, 2, 3, 7, 8, 9, 17, 37]
    """
    return sorted({0, 1, 2, 3, tile - 1, tile, tile + 1, 2 * tile + 1, 37})


def shapes(tile: int = 16) -> list[tuple[int, int]]:
    """List the awkward shapes (m, n): empty, odd, about the tile, prime, tall and wide.

    Examples
    --------
    >>> len(shapes()), (0, 3) in shapes(), (9, 8) in shapes(8)
    (25, True, True)
    """
    t = tile
    empty = [(0, 0), (0, 3), (3, 0)]
    small = [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2), (3, 3)]
    tiled = [(t - 1, t - 1), (t, t), (t + 1, t + 1), (t - 1, t + 1), (t + 1, t), (2 * t + 1, t - 1), (t, 2 * t + 1)]
    prime = [(37, 37), (13, 29), (29, 13)]
    slim = [(1, t + 1), (t + 1, 1), (2, 67), (67, 3), (3, 131)]
    return list(dict.fromkeys(empty + small + tiled + prime + slim))


def product_shapes(tile: int = 16) -> list[tuple[int, int, int]]:
    """List awkward shapes (m, k, n) of a product of an m x k and a k x n matrix.

    Examples
    --------
    >>> len(product_shapes()), (2, 0, 3) in product_shapes()
    (27, True)
    """
    t = tile
    empty = [(0, 0, 0), (0, 3, 2), (2, 3, 0), (2, 0, 3), (0, 0, 5)]
    small = [(1, 1, 1), (1, 2, 1), (2, 1, 2), (2, 2, 2), (3, 3, 3), (1, 3, 2), (2, 3, 1), (3, 2, 3)]
    tiled = [(t - 1, t, t + 1), (t, t + 1, t - 1), (t + 1, t - 1, t), (t, t, t), (t + 1, t + 1, t + 1)]
    prime = [(37, 37, 37), (13, 29, 31), (31, 13, 5)]
    slim = [(1, 131, 1), (131, 1, 131), (1, 67, 131), (131, 67, 1), (3, 257, 2), (2 * t + 1, 3, 2 * t + 1)]
    return list(dict.fromkeys(empty + small + tiled + prime + slim))


SIZES = sizes()
"""The orders to try, for a tile of 16."""

SHAPES = shapes()
"""The shapes (m, n) to try, for a tile of 16."""

PRODUCT_SHAPES = product_shapes()
"""The shapes (m, k, n) to try, for a tile of 16."""


# References --------------------------------------------------------------------------------------------------------


def product(a: Array, b: Array) -> Float64:
    """Multiply in float64.

    Examples
    --------
    >>> product(np.array([[1, 2]], np.float32), np.array([[3], [4]], np.float32)).tolist()
    [[11.0]]
    """
    return np.asarray(_wide(a) @ _wide(b))


def exact_rref(a: Array) -> tuple[Array, tuple[int, ...]]:
    """Reduce a matrix to row echelon form in exact rational arithmetic.

    Any finite matrix will do, since every float is a fraction; integers take well under a second at order 100.

    Parameters
    ----------
    a : array_like, (m, n)
        Finite integers, floats or Fractions.

    Returns
    -------
    r : ndarray of Fraction (dtype object), (m, n)
        The reduced form; ``r.astype(np.float64)`` rounds it.
    pivots : tuple of int
        The pivot columns; their number is the rank.

    Examples
    --------
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
    """Scale each row of a rational matrix to Python integers, which leaves its reduced form as it was."""
    result = np.zeros(a.shape, dtype=object)
    for i, row in enumerate(a.tolist()):
        fractions = [Fraction(value) for value in row]
        scale = math.lcm(*(value.denominator for value in fractions))
        result[i] = [int(value * scale) for value in fractions]
    return result


def permutation_from_piv(piv: Array, m: int | None = None) -> Float32:
    """Turn LAPACK's row interchanges into the matrix P of A = P L U.

    Parameters
    ----------
    piv : array_like of int, (k,)
        Row i was exchanged with row piv[i], for i = 0, 1, ... in turn; counted from 0, as by `scipy.linalg.lu_factor`.
    m : int, optional
        Rows of A, where it has more than k.

    Returns
    -------
    ndarray of float32, (m, m)

    Examples
    --------
    >>> permutation_from_piv(np.array([2, 2, 2])).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    order = np.arange(len(piv) if m is None else m)
    for i, j in enumerate(np.asarray(piv).tolist()):
        order[[i, j]] = order[[j, i]]
    p = np.zeros((len(order), len(order)), dtype=np.float32)
    p[order, np.arange(len(order))] = 1.0
    return p


def unpack_lu(lu: Array) -> tuple[Array, Array]:
    """Split packed factors into L (m x k, unit lower trapezoidal) and U (k x n, upper), k = min(m, n).

    Examples
    --------
    >>> l, u = unpack_lu(np.array([[4.0, 3.0], [0.5, 2.0]]))
    >>> l.tolist(), u.tolist()
    ([[1.0, 0.0], [0.5, 1.0]], [[4.0, 3.0], [0.0, 2.0]])
    """
    m, n = lu.shape
    k = min(m, n)
    return np.tril(lu[:, :k], -1) + np.eye(m, k, dtype=lu.dtype), np.triu(lu[:k])


# Verdicts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What a judge found.

    Attributes
    ----------
    name : str
        What was judged.
    error, bound : float
        The error and the most it may be. The error is infinite where the result has the wrong shape, dtype or form, and
        for a NaN.
    usual : float
        The error that a sound result seldom passes, where that is less than the bound.
    detail : str
        The worst entry, or what is wrong with the form.

    Examples
    --------
    >>> verdict = Verdict("plu", 0.6, 30.0)
    >>> verdict.ok, verdict.ratio
    (True, 0.02)
    >>> print(verdict)
    plu: error 0.6, bound 30, ratio 0.02: ok
    """

    name: str
    error: float
    bound: float
    usual: float = math.inf
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Whether the error is within the bound; an error or a bound that is NaN is not."""
        return self.error <= self.bound

    @property
    def suspicious(self) -> bool:
        """Whether the error is within the bound, yet larger than usual."""
        return self.ok and self.error > self.usual

    @property
    def ratio(self) -> float:
        """The error over the bound; above 1 is a failure."""
        return float(_quotients(self.error, self.bound))

    def __str__(self) -> str:
        """Say all of it in a line."""
        word = "larger than usual" if self.suspicious else "ok" if self.ok else "FAILED"
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.name}: error {self.error:.3g}, bound {self.bound:.3g}, ratio {self.ratio:.3g}: {word}{detail}"


def _enforce(verdict: Verdict) -> None:
    """Raise for a verdict that is not ok, warn for a suspicious one."""
    __tracebackhide__ = True
    if not verdict.ok:
        raise AssertionError(str(verdict))
    if verdict.suspicious:
        warnings.warn(str(verdict), BoundWarning, stacklevel=3)


def _wide(a: Any) -> Float64:
    """Convert to float64, in which neither the largest nor the smallest float32 overflow in a norm or a product."""
    return np.asarray(a, dtype=np.float64)


def _norm(a: Float64) -> float:
    """Return the 1-norm, the largest sum of a column; 0 for an empty matrix."""
    return float(np.abs(a).sum(axis=0).max(initial=0.0))


def _norm_inf(a: Float64) -> float:
    """Return the infinity-norm, the largest sum of a row; 0 for an empty matrix."""
    return _norm(a.T)


def _quotients(error: Any, scale: Any) -> Float64:
    """Divide elementwise, with 0 / 0 = 0 and x / 0 = inf; a NaN never turns into a number."""
    error, scale = np.broadcast_arrays(_wide(error), _wide(scale))
    result = np.where(error == 0, 0.0, np.inf)
    np.divide(error, scale, out=result, where=(scale > 0) | np.isnan(scale))
    return np.asarray(result)


def _largest(values: Float64) -> float:
    """Return the largest value, NaN if there is one, 0 if there are none."""
    return float(values.max(initial=0.0))


def _entry(name: str, index: tuple[Any, ...]) -> str:
    """Name an entry of a matrix, such as ``C[3, 5]``."""
    return f"{name}[{', '.join(str(int(i)) for i in index)}]"


def _argmax(values: Array) -> tuple[Any, ...]:
    """Return the index of the largest entry: the first NaN, if there is one, or the first True."""
    return np.unravel_index(int(np.argmax(values)), values.shape)


def _flaw(name: str, a: object, shape: tuple[int, ...], dtype: DTypeLike, finite: bool = True) -> str:
    """Say what keeps a result from being compared at all: its type, shape, dtype, a NaN or an infinity; else ''."""
    if not isinstance(a, np.ndarray | np.generic):
        return f"{name} must be a NumPy array, got {type(a).__name__}"
    if a.shape != shape:
        return f"{name} must have shape {shape}, got {a.shape}"
    if a.dtype != dtype:
        return f"{name} must be {np.dtype(dtype)}, got {a.dtype}"
    values = np.asarray(a)
    bad = np.asarray(~np.isfinite(values) if finite else np.isnan(values))
    return f"{_entry(name, _argmax(bad))} is {values[_argmax(bad)]!s}" if bad.any() else ""


def _difference(name: str, a: Array, expected: Array, rule: str) -> str:
    """Say where a matrix departs from the form it must have exactly; '' where it does not."""
    wrong = a != expected
    return f"{_entry(name, _argmax(wrong))} is {a[_argmax(wrong)]!s}: {rule}" if wrong.any() else ""


def _failed(name: str, bound: float, flaw: str) -> Verdict:
    return Verdict(name, math.inf, bound, detail=flaw)


# Exact results -----------------------------------------------------------------------------------------------------


def judge_exact(actual: Array, expected: ArrayLike, *, dtype: DTypeLike = np.float32) -> Verdict:
    """Compare with ``==``; the error is the largest difference, the bound 0.

    An infinity equals itself; a NaN fails even where one is expected.

    Parameters
    ----------
    actual : ndarray
        The result.
    expected : array_like
        What it must be, in any dtype.
    dtype : dtype
        What the result's dtype must be.

    Examples
    --------
    >>> print(judge_exact(np.ones((2, 2), np.float32), np.eye(2)))
    exact: error 1, bound 0, ratio inf: FAILED (actual[0, 1] is 1.0, expected 0.0)
    """
    wanted = np.asarray(expected)
    flaw = _flaw("actual", actual, wanted.shape, dtype, finite=False)
    if flaw:
        return _failed("exact", 0.0, flaw)
    wrong = np.asarray(actual != wanted)
    if not wrong.any():
        return Verdict("exact", 0.0, 0.0)
    with np.errstate(invalid="ignore"):
        error = float(np.abs(_wide(actual)[wrong] - _wide(wanted)[wrong]).max())
    worst = _argmax(wrong)
    detail = f"{_entry('actual', worst)} is {actual[worst]!s}, expected {wanted[worst]!s}"
    return Verdict("exact", error if error > 0 else math.inf, 0.0, detail=detail)


def assert_exact(actual: Array, expected: ArrayLike, *, dtype: DTypeLike = np.float32) -> None:
    """Assert that a result has the expected shape and the given dtype, holds no NaN, and is equal entry for entry.

    Examples
    --------
    >>> assert_exact(np.eye(2, dtype=np.float32), [[1, 0], [0, 1]])
    """
    __tracebackhide__ = True
    _enforce(judge_exact(actual, expected, dtype=dtype))


# Products ----------------------------------------------------------------------------------------------------------


def product_ratios(c: Array, a: Array, b: Array) -> Float64:
    """Error over bound of every element of a product, as `judge_product` has them.

    Examples
    --------
    >>> product_ratios(np.array([[1.5]]), np.ones((1, 1)), np.ones((1, 1))) > 1
    array([[ True]])
    """
    error, bound, _ = _product_error(c, a, b)
    return _quotients(error, bound)


def _product_error(c: Array, a: Array, b: Array) -> tuple[Float64, Float64, Float64]:
    """Error of every element, its bound, and what it seldom passes."""
    k = np.shape(a)[-1]
    magnitude = np.abs(_wide(a)) @ np.abs(_wide(b))
    slack = 2 * k * SMALLEST_NORMAL
    usual = np.asarray(4 * math.sqrt(k) * ROUNDOFF * magnitude + slack)
    bound = np.asarray(max(k, 4 * math.sqrt(k)) * ROUNDOFF * magnitude + slack)
    return np.asarray(np.abs(_wide(c) - product(a, b))), bound, usual


def judge_product(c: Array, a: Array, b: Array, *, dtype: DTypeLike = np.float32) -> Verdict:
    """Judge a product elementwise, against the float64 one; the verdict is that of the worst entry.

    An inner product of length K, summed in whatever order, with or without fused multiply-add, is off by at most
    K u |A||B| to first order, and rounding errors that come at random seldom add up to more than 4 sqrt(K) u |A||B|.
    So an error above the second figure is suspicious and one above the first a failure. Below K = 16 the order of the
    two is the other way round; there 4 sqrt(K) is the bound, since the arithmetic of a GPU need not be correctly
    rounded, and nothing is suspicious. To all of these comes 2 K 2**-126, for each of the K products and K sums may
    have been flushed to zero. The operands' own entries must not be denormal.

    Parameters
    ----------
    c : ndarray, (m, n)
        The result.
    a, b : ndarray, (m, K) and (K, n), or vectors where ``a @ b`` allows them
        The operands.
    dtype : dtype
        What the result's dtype must be; the bound is float32's whatever it is.

    Examples
    --------
    >>> a = np.ones((2, 100), np.float32)
    >>> judge_product(a @ a.T, a, a.T).error
    0.0
    """
    expected = product(a, b)
    flaw = _flaw("C", c, expected.shape, dtype)
    if flaw:
        return _failed("product", 0.0, flaw)
    error, bound, usual = _product_error(c, a, b)
    if not error.size:
        return Verdict("product", 0.0, 0.0)
    worst = _argmax(_quotients(error, bound))
    detail = f"{_entry('C', worst)} is {c[worst]!s}, float64 says {expected[worst]:.9g}"
    return Verdict("product", float(error[worst]), float(bound[worst]), float(usual[worst]), detail)


def assert_product(c: Array, a: Array, b: Array, *, dtype: DTypeLike = np.float32) -> None:
    """Assert that c is a @ b within the bound of `judge_product`; warn with `BoundWarning` where it is suspicious.

    Examples
    --------
    >>> a = np.array([[0.1, 0.2]], np.float32)
    >>> assert_product(a @ a.T, a, a.T)
    """
    __tracebackhide__ = True
    _enforce(judge_product(c, a, b, dtype=dtype))


# Factorisation -----------------------------------------------------------------------------------------------------


def residual_plu(a: Array, p: Array, l: Array, u: Array) -> float:  # noqa: E741
    """Return ||P L U - A|| / (max(m, n) ||A|| u) in the 1-norm; 0 for 0 / 0.

    Examples
    --------
    >>> a = np.eye(3)
    >>> residual_plu(a, a, a, a)
    0.0
    """
    a64 = _wide(a)
    difference = _norm(_wide(p) @ (_wide(l) @ _wide(u)) - a64)
    return float(_quotients(difference, max(a64.shape) * _norm(a64) * ROUNDOFF))


def judge_plu(
    a: Array,
    p: Array,
    l: Array,  # noqa: E741
    u: Array,
    *,
    multiplier_limit: float | None = None,
    dtype: DTypeLike = np.float32,
) -> Verdict:
    """Judge the factors of A = P L U by form, exactly, and by `residual_plu`, which must not pass 30.

    P must be a permutation matrix (m x m), L unit lower trapezoidal (m x k) and U upper trapezoidal (k x n), where
    k = min(m, n).

    Parameters
    ----------
    a : ndarray, (m, n)
        The matrix that was factored.
    p, l, u : ndarray
        The factors.
    multiplier_limit : float, optional
        The most that the magnitude of an entry of L may be: 1 under partial pivoting, or a few u more where the
        device's division is not exact.
    dtype : dtype
        What the dtype of all three factors must be.

    Examples
    --------
    >>> a = np.array([[0, 2], [4, 8]], np.float32)
    >>> l, u = identity(2, 2), np.array([[4, 8], [0, 2]], np.float32)
    >>> judge_plu(a, antidiagonal(2, 2), l, u).error
    0.0
    >>> judge_plu(a, identity(2, 2), l, u).ok
    False
    >>> judge_plu(a, ones(2, 2), l, u).detail
    'P is not a permutation matrix'
    """
    m, n = np.shape(a)
    k = min(m, n)
    flaw = _flaw("P", p, (m, m), dtype) or _flaw("L", l, (m, k), dtype) or _flaw("U", u, (k, n), dtype)
    flaw = flaw or _plu_flaw(p, l, u, math.inf if multiplier_limit is None else multiplier_limit)
    if flaw:
        return _failed("plu", RESIDUAL_LIMIT, flaw)
    return Verdict("plu", residual_plu(a, p, l, u), RESIDUAL_LIMIT)


def _plu_flaw(p: Array, l: Array, u: Array, multiplier_limit: float) -> str:  # noqa: E741
    """Say what is wrong with the form of the factors, '' if nothing."""
    is_permutation = np.isin(p, (0, 1)).all() and (p.sum(axis=0) == 1).all() and (p.sum(axis=1) == 1).all()
    if not is_permutation:
        return "P is not a permutation matrix"
    unit_lower = np.tril(l, -1) + np.eye(*l.shape, dtype=l.dtype)
    flaw = _difference("L", l, unit_lower, "L is not unit lower trapezoidal")
    flaw = flaw or _difference("U", u, np.triu(u), "U is not upper trapezoidal")
    return flaw or _difference("L", l, l.clip(-multiplier_limit, multiplier_limit), f"above {multiplier_limit:.9g}")


def assert_plu(
    a: Array,
    p: Array,
    l: Array,  # noqa: E741
    u: Array,
    *,
    multiplier_limit: float | None = None,
    dtype: DTypeLike = np.float32,
) -> None:
    """Assert that A = P L U, by form and within the bound of `judge_plu`.

    Examples
    --------
    >>> a = np.array([[4, 8], [2, 5]], np.float32)
    >>> p = np.eye(2, dtype=np.float32)
    >>> assert_plu(a, p, np.array([[1, 0], [0.5, 1]], np.float32), np.array([[4, 8], [0, 1]], np.float32))
    """
    __tracebackhide__ = True
    _enforce(judge_plu(a, p, l, u, multiplier_limit=multiplier_limit, dtype=dtype))


# Systems and inverses ----------------------------------------------------------------------------------------------


def residual_solve(a: Array, x: Array, b: Array) -> float:
    """Return the largest ||b - A x|| / ((||A|| ||x|| + ||b||) n u) of any column, in the 1-norm, n = max(A.shape).

    Examples
    --------
    >>> residual_solve(np.eye(2), np.ones(2), np.ones(2))
    0.0
    """
    a64, x64, b64 = _wide(a), _wide(x), _wide(b)
    difference = np.abs(b64 - a64 @ x64).sum(axis=0)
    scale = _norm(a64) * np.abs(x64).sum(axis=0) + np.abs(b64).sum(axis=0)
    return _largest(_quotients(difference, scale * max(a64.shape) * ROUNDOFF))


def judge_solve(a: Array, x: Array, b: Array, *, dtype: DTypeLike = np.float32) -> Verdict:
    """Judge a solution of A x = b, of one right-hand side or several, by `residual_solve`, which must not pass 30.

    A small residual says that x solves a system close to the given one, not that x is close to the true solution: the
    relative error of an x that passes may be up to about 30 n cond(A) u. So an error in x, such as a wrong entry, is
    sure to be seen only where A is well conditioned.

    Parameters
    ----------
    a : ndarray, (n, n)
        The matrix.
    x : ndarray, (n,) or (n, r)
        The result.
    b : ndarray, (n,) or (n, r)
        The right-hand side.
    dtype : dtype
        What the result's dtype must be.

    Examples
    --------
    >>> a, b = np.array([[2, 0], [0, 4]], np.float32), np.array([2, 2], np.float32)
    >>> judge_solve(a, np.array([1, 0.5], np.float32), b).ok
    True
    >>> judge_solve(a, np.array([1, 0.501], np.float32), b).ok
    False
    """
    flaw = _flaw("x", x, (np.shape(a)[1], *np.shape(b)[1:]), dtype)
    if flaw:
        return _failed("solve", RESIDUAL_LIMIT, flaw)
    return Verdict("solve", residual_solve(a, x, b), RESIDUAL_LIMIT)


def assert_solve(a: Array, x: Array, b: Array, *, dtype: DTypeLike = np.float32) -> None:
    """Assert that A x = b within the bound of `judge_solve`.

    Examples
    --------
    >>> a, b = np.eye(2, dtype=np.float32), np.ones((2, 3), np.float32)
    >>> assert_solve(a, b, b)
    """
    __tracebackhide__ = True
    _enforce(judge_solve(a, x, b, dtype=dtype))


class BackwardError(NamedTuple):
    """How far A and b must be changed for x to solve them exactly, relatively; see `backward_error`."""

    normwise: float
    componentwise: float


def backward_error(a: Array, x: Array, b: Array) -> BackwardError:
    """Measure the backward error of a solution in float64, the largest of any right-hand side.

    Normwise it is ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity-norm (Rigal and Gaches), componentwise the
    largest entry of |b - A x| / (|A||x| + |b|) (Oettli and Prager). Neither can be measured below about n 2**-53.

    Examples
    --------
    >>> backward_error(np.diag([1.0, 4.0]), np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    BackwardError(normwise=0.3333333333333333, componentwise=0.3333333333333333)
    """
    a64, x64, b64 = _wide(a), _wide(x), _wide(b)
    residual = np.abs(b64 - a64 @ x64)
    norms = _norm_inf(a64) * np.abs(x64).max(axis=0, initial=0.0) + np.abs(b64).max(axis=0, initial=0.0)
    normwise = _quotients(residual.max(axis=0, initial=0.0), norms)
    componentwise = _quotients(residual, np.abs(a64) @ np.abs(x64) + np.abs(b64))
    return BackwardError(_largest(normwise), _largest(componentwise))


def residual_inverse(a: Array, ainv: Array) -> float:
    """Return ||I - A X|| / (n ||A|| ||X|| u) in the 1-norm, X the inverse.

    Examples
    --------
    >>> residual_inverse(np.diag([2.0, 4.0]), np.diag([0.5, 0.25]))
    0.0
    """
    a64, x64 = _wide(a), _wide(ainv)
    n = len(a64)
    difference = _norm(np.eye(n) - a64 @ x64)
    return float(_quotients(difference, n * _norm(a64) * _norm(x64) * ROUNDOFF))


def judge_inverse(a: Array, ainv: Array, *, dtype: DTypeLike = np.float32) -> Verdict:
    """Judge an inverse by `residual_inverse`, which must not pass 30.

    An error in X that is smaller than about 30 n cond(A) u, relatively, may pass; see `judge_solve`.

    Examples
    --------
    >>> a = np.array([[0, 2], [4, 0]], np.float32)
    >>> judge_inverse(a, np.array([[0, 0.25], [0.5, 0]], np.float32)).ok
    True
    >>> judge_inverse(a, a).ok
    False
    """
    flaw = _flaw("inverse", ainv, np.shape(a)[::-1], dtype)
    if flaw:
        return _failed("inverse", RESIDUAL_LIMIT, flaw)
    return Verdict("inverse", residual_inverse(a, ainv), RESIDUAL_LIMIT)


def assert_inverse(a: Array, ainv: Array, *, dtype: DTypeLike = np.float32) -> None:
    """Assert that ainv is the inverse of a within the bound of `judge_inverse`.

    Examples
    --------
    >>> assert_inverse(np.eye(2), np.eye(2, dtype=np.float32))
    """
    __tracebackhide__ = True
    _enforce(judge_inverse(a, ainv, dtype=dtype))


# Reduced row echelon form ------------------------------------------------------------------------------------------


def residual_rref(a: Array, r: Array, pivots: tuple[int, ...], *, tol: float = 0.0) -> float:
    """Return how far A is from its pivot columns times R, normalised, for the worst column.

    With B = A[:, pivots] it is the largest ||A_j - B R_j|| / (max(m, n) ||B|| ||R_j|| u) in the infinity-norm. Where
    elimination took pivots up to `tol` for zero, what it dropped, at most m * tol, is no error and is taken off.

    Examples
    --------
    >>> a = np.array([[2.0, 4.0], [1.0, 2.0]])
    >>> residual_rref(a, np.array([[1.0, 2.0], [0.0, 0.0]]), (0,))
    0.0
    """
    a64 = _wide(a)
    basis, reduced = a64[:, list(pivots)], _wide(r)[: len(pivots)]
    difference = np.abs(a64 - basis @ reduced).max(axis=0, initial=0.0)
    scale = max(a64.shape) * _norm_inf(basis) * np.abs(reduced).max(axis=0, initial=0.0) * ROUNDOFF
    return _largest(_quotients((difference - a64.shape[0] * tol).clip(min=0.0), scale))


def judge_rref(
    a: Array, r: Array, pivots: tuple[int, ...], *, tol: float = 0.0, dtype: DTypeLike = np.float32
) -> Verdict:
    """Judge a reduced row echelon form by its form, exactly, and by `residual_rref`, which must not pass 30.

    The form: the pivots are a tuple of ints that increase; each row starts with its pivot, 1; a pivot's column is 0
    elsewhere; the rows past the last pivot are 0.

    A rank that is too small shows in the residual, one that is too large does not, since a matrix of full rank may be
    arbitrarily close. Where the rank is known, compare it too; `judge_rref_exact` does.

    Parameters
    ----------
    a : ndarray, (m, n)
        The matrix that was reduced.
    r : ndarray, (m, n)
        The result.
    pivots : tuple of int
        The pivot columns.
    tol : float
        The absolute tolerance below which a pivot was taken for zero.
    dtype : dtype
        What the result's dtype must be.

    Examples
    --------
    >>> a = np.array([[2, 4], [1, 2]], np.float32)
    >>> r = np.array([[1, 2], [0, 0]], np.float32)
    >>> judge_rref(a, r, (0,)).ok
    True
    >>> judge_rref(a, r, (1,)).detail
    'R[0, 1] is 2.0: column 1 of a pivot is not a unit vector'
    """
    flaw = _flaw("R", r, np.shape(a), dtype) or _rref_flaw(r, pivots)
    if flaw:
        return _failed("rref", RESIDUAL_LIMIT, flaw)
    return Verdict("rref", residual_rref(a, r, pivots, tol=tol), RESIDUAL_LIMIT)


def _rref_flaw(r: Array, pivots: tuple[int, ...]) -> str:
    """Say what keeps a matrix from being in reduced row echelon form with these pivots, '' if nothing."""
    m, n = r.shape
    if not isinstance(pivots, tuple) or any(type(j) is not int for j in pivots):
        return f"pivots must be a tuple of int, got {pivots!r}"
    if list(pivots) != sorted(set(pivots)) or len(pivots) > m or any(not 0 <= j < n for j in pivots):
        return f"pivots must increase, at most {m} of them, from 0 to {n - 1}, got {pivots}"
    expected = r.copy()
    for i, j in enumerate(pivots):
        expected[:, j] = np.eye(m, dtype=r.dtype)[i]
        flaw = _difference("R", r, expected, f"column {j} of a pivot is not a unit vector")
        if flaw:
            return flaw
        expected[i, :j] = 0
    expected[len(pivots) :] = 0
    return _difference("R", r, expected, "what is left of a pivot, or below the last one, must be 0")


def assert_rref(
    a: Array, r: Array, pivots: tuple[int, ...], *, tol: float = 0.0, dtype: DTypeLike = np.float32
) -> None:
    """Assert that (r, pivots) is the reduced row echelon form of a, by form and within the bound of `judge_rref`.

    Examples
    --------
    >>> assert_rref(np.array([[0, 5]], np.float32), np.array([[0, 1]], np.float32), (1,))
    """
    __tracebackhide__ = True
    _enforce(judge_rref(a, r, pivots, tol=tol, dtype=dtype))


def judge_rref_exact(a: Array, r: Array, pivots: tuple[int, ...], *, dtype: DTypeLike = np.float32) -> Verdict:
    """Judge a reduced row echelon form against `exact_rref`: the same pivots, and entries within a bound.

    Let X be the exact form and B = A[:, pivots], which has full column rank. If R passes `judge_rref`, then
    ||B (R_j - X_j)|| <= 30 max(m, n) ||B|| ||R_j|| u for each column j, hence
    ||R_j - X_j|| <= 30 max(m, n) cond(B) ||R_j|| u, and ||R_j|| is ||X_j|| to first order. So the error is the largest
    ||R_j - X_j|| / (max(m, n) cond(B) ||X_j|| u), in the infinity-norm and with cond(B) = ||B|| ||pinv(B)||, and the
    bound 30. It says nothing of the entries once cond(B) nears 1 / u; the pivots and the form are still compared
    exactly.

    Parameters
    ----------
    a : ndarray, (m, n)
        The matrix that was reduced, of integers or anything else that float32 holds exactly.
    r, pivots, dtype
        As in `judge_rref`.

    Examples
    --------
    >>> judge_rref_exact(ones(2, 2), identity(2, 2), (0, 1)).detail
    'pivots must be (0,), got (0, 1)'
    >>> judge_rref_exact(ones(2, 2), np.array([[1, 1], [0, 0]], np.float32), (0,)).error
    0.0
    """
    name = "rref_exact"
    flaw = _flaw("R", r, np.shape(a), dtype) or _rref_flaw(r, pivots)
    if flaw:
        return _failed(name, RESIDUAL_LIMIT, flaw)
    fractions, exact_pivots = exact_rref(a)
    if pivots != exact_pivots:
        return _failed(name, RESIDUAL_LIMIT, f"pivots must be {exact_pivots}, got {pivots}")
    exact, basis = fractions.astype(np.float64), _wide(a)[:, list(pivots)]
    cond = _norm_inf(basis) * _norm_inf(_wide(np.linalg.pinv(basis)))
    difference = np.abs(_wide(r) - exact).max(axis=0, initial=0.0)
    scale = max(exact.shape) * cond * np.abs(exact).max(axis=0, initial=0.0) * ROUNDOFF
    return Verdict(name, _largest(_quotients(difference, scale)), RESIDUAL_LIMIT)


def assert_rref_exact(a: Array, r: Array, pivots: tuple[int, ...], *, dtype: DTypeLike = np.float32) -> None:
    """Assert that r has exactly the pivots of `exact_rref`, and its entries within the bound of `judge_rref_exact`.

    Examples
    --------
    >>> assert_rref_exact(np.array([[3, 6]]), np.array([[1, 2]], np.float32), (0,))
    """
    __tracebackhide__ = True
    _enforce(judge_rref_exact(a, r, pivots, dtype=dtype))
