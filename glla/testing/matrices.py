"""Test matrices, a function for each type, and critical shapes for packing and tiling.

`MATRICES` lists the types. Matrices for which elimination in float32 fails are in `glla.testing.adversaries`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from glla.errors import ShapeError
from glla.testing.references import Array, Float32, Float64

Maker = Callable[[int, int, np.random.Generator], Float32]
"""(rows, columns, random numbers) -> a matrix."""


def uniform(m: int, n: int, rng: np.random.Generator, high: float = 10.0) -> Float32:
    """Draw every entry from [0, high).

    Of shape (m, n). `rng`: source of randomness. `high`: end of the interval.

    >>> a = uniform(3, 4, np.random.default_rng(0))
    >>> a.shape, a.dtype, bool((a < 10).all())
    ((3, 4), dtype('float32'), True)
    """
    return rng.random((m, n), dtype=np.float32) * np.float32(high)


def normal(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Draw every entry from the standard normal distribution.

    >>> normal(3, 4, np.random.default_rng(0)).shape
    (3, 4)
    """
    return rng.standard_normal((m, n), dtype=np.float32)


def integers(m: int, n: int, rng: np.random.Generator, limit: int = 9) -> Float32:
    """Draw integers from -limit to limit.

    A product of two such matrices is exact in float32, whatever the order of the sums, while ``k * limit**2 <= 2**24``
    (k is the inner dimension).

    >>> a = integers(3, 4, np.random.default_rng(0), limit=2)
    >>> sorted(set(a.ravel().tolist())) <= [-2.0, -1.0, 0.0, 1.0, 2.0]
    True
    """
    return rng.integers(-limit, limit, size=(m, n), endpoint=True).astype(np.float32)


def embedded(block: Array, m: int, n: int) -> Float32:
    """Embed a block into the top left corner of an m x n matrix of zeros, truncated where it does not fit.

    The identity of order min(m, n), and any other nonsingular block of that order, so gives full rank.

    >>> embedded(np.array([[1, 2], [3, 4]]), 2, 3).tolist()
    [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]]
    """
    result = np.zeros((m, n), dtype=np.float32)
    block = block[:m, :n]
    result[: block.shape[0], : block.shape[1]] = block
    return result


def diagonal(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a diagonal matrix with entries of either sign and magnitude in [1, 10).

    >>> a = diagonal(2, 3, np.random.default_rng(0))
    >>> np.flatnonzero(a).tolist()
    [0, 4]
    """
    return embedded(np.diag(_signed(min(m, n), 1, rng, 1.0, 10.0)[:, 0]), m, n)


def lower(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a lower trapezoidal matrix, well conditioned at any order.

    The diagonal has magnitude in [1, 2) and the rest is normal, divided by min(m, n): a plain random triangle has a
    condition number that grows as 2**n.

    >>> a = lower(4, 3, np.random.default_rng(0))
    >>> bool(np.all(a == np.tril(a)))
    True
    """
    k = min(m, n)
    off_diagonal = np.tril(normal(m, n, rng), -1) / np.float32(max(k, 1))
    return off_diagonal + embedded(np.diag(_signed(k, 1, rng, 1.0, 2.0)[:, 0]), m, n)


def upper(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make an upper trapezoidal matrix, well conditioned at any order: the transpose of `lower`.

    >>> a = upper(3, 4, np.random.default_rng(0))
    >>> bool(np.all(a == np.triu(a)))
    True
    """
    return np.ascontiguousarray(lower(n, m, rng).T)


def conditioned(m: int, n: int, rng: np.random.Generator, cond: float = 100.0) -> Float32:
    """Make a matrix of full rank with a given 2-norm condition number, through random orthogonal factors.

    The singular values run geometrically from 1 to 1 / cond. Rounding to float32 moves each by up to about u, so keep
    cond well below 1 / u = 1.7e7.

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

    Raises ShapeError: if an m x n matrix cannot have that rank.

    >>> from glla.testing.references import exact_rref
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

    The scaling is exact, so equilibration leads back to a matrix of condition number 10.

    >>> a = graded(20, 20, np.random.default_rng(0))
    >>> bool(np.linalg.cond(a) > 1e3)
    True
    """
    rows = rng.integers(-k, k, size=(m, 1), endpoint=True)
    columns = rng.integers(-k, k, size=(1, n), endpoint=True)
    return np.asarray(np.ldexp(conditioned(m, n, rng, cond=10.0), rows + columns), dtype=np.float32)


def tiny(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a matrix of entries of either sign near 1e-30: normal numbers, whose squares are not.

    >>> a = tiny(3, 4, np.random.default_rng(0))
    >>> bool((np.abs(a) > 0.4e-30).all() and (np.abs(a) < 2.1e-30).all())
    True
    """
    return _signed(m, n, rng, 0.5e-30, 2e-30)


def huge(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a matrix of entries of either sign near 1e30: finite numbers, whose squares are not.

    >>> a = huge(3, 4, np.random.default_rng(0))
    >>> bool((np.abs(a) > 0.4e30).all() and (np.abs(a) < 2.1e30).all())
    True
    """
    return _signed(m, n, rng, 0.5e30, 2e30)


def permutation(m: int, n: int, rng: np.random.Generator) -> Float32:
    """Make a random permutation matrix of order min(m, n), padded with zeros.

    >>> permutation(3, 3, np.random.default_rng(0)).sum(axis=0).tolist()
    [1.0, 1.0, 1.0]
    """
    return _permuted_identity(rng.permutation(min(m, n)), m, n)


def bad_pairs(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make a nonsingular matrix whose rows pair badly: e0, e2, e1, e3, then the same four columns on, and so forth.

    The 2 x 2 blocks of each group of four rows all have rank one, so a pivot search that takes whole blocks, and never
    two rows out of different blocks, finds no pivot.

    >>> bad_pairs(4, 4).argmax(axis=1).tolist()
    [0, 2, 1, 3]
    """
    return _permuted_identity(_swapped(min(m, n), first=1, step=4), m, n)


def swapped_pairs(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make a block diagonal matrix of blocks [[0, 1], [1, 0]], with a last 1 where min(m, n) is odd.

    Elimination that exchanges rows only between texels of 2 x 2 divides by zero here.

    >>> swapped_pairs(2, 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return _permuted_identity(_swapped(min(m, n), first=0, step=2), m, n)


def antidiagonal(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make the reversed identity of order min(m, n), padded with zeros.

    >>> antidiagonal(2, 3).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    return _permuted_identity(np.arange(min(m, n))[::-1], m, n)


def hilbert(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make the Hilbert matrix, 1 / (i + j + 1): of full rank on paper, singular to float32 from order 7 on.

    >>> hilbert(1, 4).tolist() == [[1.0, 0.5, float(np.float32(1 / 3)), 0.25]]
    True
    """
    return (1.0 / (np.arange(m)[:, None] + np.arange(n) + 1.0)).astype(np.float32)


def wilkinson_growth(m: int, n: int, rng: np.random.Generator | None = None, order: int = 12) -> Float32:
    """Make Wilkinson's matrix, whose entries grow by 2**(order - 1) under partial pivoting.

    Its leading block has 1 on the diagonal and in the last column and -1 below the diagonal; beyond `order` the
    diagonal continues alone. Twelve costs 11 of float32's 24 bits, which the residual limits still allow; at an order
    of 25 no correct digit is left, and past 128 the last pivot overflows.

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

    >>> toeplitz(3, 3).tolist()
    [[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]]
    """
    return (2 * np.eye(m, n) - np.eye(m, n, 1) - np.eye(m, n, -1)).astype(np.float32)


def identity(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make the identity, padded with zeros where m and n differ.

    >>> identity(2, 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    return np.eye(m, n, dtype=np.float32)


def zeros(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make a matrix of zeros, of rank 0.

    >>> zeros(1, 2).tolist()
    [[0.0, 0.0]]
    """
    return np.zeros((m, n), dtype=np.float32)


def ones(m: int, n: int, rng: np.random.Generator | None = None) -> Float32:
    """Make a matrix of ones, of rank 1: the smallest case in which a division that is not exact invents a pivot.

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


_MAKERS = (
    uniform, normal, integers, diagonal, lower, upper, conditioned, singular, graded, tiny, huge, permutation,
    bad_pairs, swapped_pairs, antidiagonal, hilbert, wilkinson_growth, toeplitz, identity, zeros, ones,
)  # fmt: skip

MATRICES: dict[str, Maker] = {
    **{maker.__name__: maker for maker in _MAKERS},
    "spd": lambda m, n, rng: embedded(spd(min(m, n), rng), m, n),
}
"""Every type of input, by name: ``MATRICES[name](m, n, rng)`` works for any m, n >= 0."""

NONSINGULAR = tuple(name for name in MATRICES if name not in {"integers", "singular", "hilbert", "zeros", "ones"})
"""The types that have full rank, and can be solved with in float32, at any order.

`integers` is excluded because a small one is sometimes singular.
"""


# Shapes ----------------------------------------------------------------------------------------------------


def sizes(tile: int = 16) -> list[int]:
    """List critical orders for packing and tiling: 0 to 3, about the tile, a prime, past two tiles.

    `tile`: the block size whose edges are to be tested.

    >>> sizes(8)
    [0, 1, 2, 3, 7, 8, 9, 17, 37]
    """
    return sorted({0, 1, 2, 3, tile - 1, tile, tile + 1, 2 * tile + 1, 37})


def shapes(tile: int = 16) -> list[tuple[int, int]]:
    """List the awkward shapes (m, n): empty, odd, about the tile, prime, tall and wide.

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
"""The orders to test, for a tile of 16."""

SHAPES = shapes()
"""The shapes (m, n) to test, for a tile of 16."""

PRODUCT_SHAPES = product_shapes()
"""The shapes (m, k, n) to test, for a tile of 16."""
