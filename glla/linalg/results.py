"""What the public functions return where that is more than an array."""

from __future__ import annotations

from typing import Any, NamedTuple


class RREF(NamedTuple):
    """What `rref` returns.

    Attributes
    ----------
    matrix : ndarray of float32 or Matrix, shape (m, n)
        The reduced row echelon form.
    pivots : tuple of int
        Columns of the leading ones; the rank is their number.
    """

    matrix: Any
    pivots: tuple[int, ...]


class PLU(NamedTuple):
    """What `plu` returns: A = P @ L @ U.

    Attributes
    ----------
    P : shape (m, m)
        Permutation matrix.
    L : shape (m, k)
        Unit lower trapezoidal, k = min(m, n).
    U : shape (k, n)
        Upper trapezoidal.
    """

    P: Any
    L: Any
    U: Any


class SlogdetResult(NamedTuple):
    """What `slogdet` returns: det(A) = sign * exp(logabsdet)."""

    sign: Any
    logabsdet: Any
