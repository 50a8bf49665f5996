"""Rounding errors of pivots, computed by the host in float64, to detect pivots that are mere rounding error."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT_ROUNDOFF = 2.0**-24
"""Largest relative error of a rounding to float32."""

TRIANGLE = 64
"""Rows of a diagonal block of a substitution on the host."""


def rounding_errors(lu: NDArray[np.float32], places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Rounding error to be expected in some pivots, none of those before them being zero.

    Factors that were computed are those of A + E, where e_kj is the sum of the rounding errors of the products
    l_ki u_ij, each of about u |l_ki u_ij|. Such an E changes pivot i by w^T E z, where w^T = (-(L^-T l_i)^T, 1)
    and z = (-U^-1 u_i, 1) are what row and column i were reduced with. Errors that come at random add up as the
    root of the sum of their squares: Wilkinson's argument of 1961, and Higham's chapter 9 for E. A row that nothing
    was subtracted from (all its l are 0) has no error: a triangle is regular, however large its condition.

    All of it in float64, where neither w nor z leave the range; an error that does is infinite.

    `lu`, (..., n, n): packed factors, or a stack of them. `places`: which pivots.
    """
    factors = lu.astype(np.float64)
    turned = np.swapaxes(factors, -1, -2)
    rows = np.arange(lu.shape[-1])[:, np.newaxis]
    own, before = rows == places, rows < places
    with np.errstate(all="ignore"):
        z = _backward(factors, np.where(before, factors[..., places], 0.0), np.diagonal(factors, axis1=-2, axis2=-1))
        w = _backward(turned, np.where(before, turned[..., places], 0.0), np.ones(lu.shape[:-1]))
        np.square(factors, out=factors)
        to_the_right = np.triu(factors) @ (np.square(z) + own)
        weights = np.square(w) + own
        multipliers = np.tril(factors, -1)
        reduced = (multipliers != 0).any(axis=-1, keepdims=True)
        from_the_left = np.swapaxes(multipliers, -1, -2) @ weights + reduced * weights
        squares = np.sum(from_the_left * to_the_right, axis=-2)
        return np.where(np.isnan(squares), np.inf, UNIT_ROUNDOFF * np.sqrt(squares))


def _backward(triangle: NDArray[np.float64], b: NDArray[np.float64], diagonal: NDArray[np.float64]) -> Any:
    """Solve T X = B by blocks: T is the strict upper triangle of a matrix, and this diagonal."""
    x = b.copy()
    for end in range(x.shape[-2], 0, -TRIANGLE):
        block = slice(max(end - TRIANGLE, 0), end)
        own = np.triu(triangle[..., block, block], 1)
        own = np.where(np.eye(own.shape[-1], dtype=bool), diagonal[..., np.newaxis, block], own)
        x[..., block, :] = np.linalg.solve(own, x[..., block, :] - triangle[..., block, end:] @ x[..., end:, :])
    return x
