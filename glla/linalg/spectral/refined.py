"""Eigenpairs refined to float64, with one product of float64 on the host a step; all others are of float32.

    x --> r = A x - x diag(l), l_i = x_i . A x_i, in float64 --> E_ij = (x^T r)_ij / (l_j - l_i) --> x + x E
    ^                                                                                                  |
    +--------------------------------------------------------------------------------------------------+

Ogita and Aishima's step without its products of float64: off the diagonal x^T r is all that they compute. Values closer
than rounding errors of float32 are a cluster, in which Rayleigh and Ritz work, in float64 on a small block.

Source: Ogita and Aishima, "Iterative refinement for symmetric eigenvalue decomposition" (2018).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32
from glla.errors import ConvergenceError, GrowthWarning
from glla.operations.host.scaling import by_one

Float64 = NDArray[np.float64]
Product = Callable[[Float32, Float32], Float32]

UNIT, UNIT64 = 2.0**-24, 2.0**-53

MOST_STEPS = 5
"""Steps at most; two or three were needed, but for clusters."""

DONE = 10.0
"""Residual and loss of orthogonality, in n u of float64, at which it ends; a larger residual is an error."""

LOST = 1e4
"""Loss of orthogonality, in n u of float64, of which the user is warned."""


def refined(function: str, a: Float64, vectors: Float32, product: Product, which: str = "") -> tuple[Float64, Float64]:
    """Refine the eigenvectors of symmetric A, (n, n), n > 0; give values, ascending, and vectors in float64.

    `product`: of two matrices of float32. Raises ConvergenceError: the residual is above 10 n u of float64.
    """
    a, exponent = by_one(a)
    x, n, gap = vectors.astype(np.float64), len(a), 0.0
    size = np.linalg.norm(a) or 1.0
    for step in range(MOST_STEPS):
        x /= np.linalg.norm(x, axis=0)
        if step:
            x = _of_clusters(a, x, np.einsum("ij,ij->j", x, a @ x), gap)
        ax = a @ x
        values = np.einsum("ij,ij->j", x, ax)
        r = ax - x * values
        if not step:
            gap = 16 * np.sqrt(n) * UNIT * np.abs(values).max()
        residual = float(np.linalg.norm(r) / size / (n * UNIT64))
        lost = float(np.linalg.norm(x.T @ x - np.eye(n)) / (n * UNIT64))
        if max(residual, lost) <= DONE or step == MOST_STEPS - 1:
            break
        x = x + _times(product, x, _correction(product, x, r, values, gap))
    if not residual <= DONE:
        rule = f"the residual must come below {DONE:g} n u of float64, ended at {residual:.3g}"
        raise ConvergenceError(f"{function}: refinement{which}: {rule}; use numpy.linalg.eigh")
    if lost > LOST:
        words = f"eigenvectors{which} are orthogonal to {lost:.3g} n u of float64 only"
        warnings.warn(GrowthWarning(f"{function}: {words}"), stacklevel=2)
    order = np.argsort(values, kind="stable")
    x = x[:, order]
    largest = np.take_along_axis(x, np.abs(x).argmax(axis=0)[np.newaxis], 0)
    return np.ldexp(values[order], exponent), x * np.where(largest < 0, -1.0, 1.0)


def _times(product: Product, left: Float64, right: Float64) -> Float64:
    """Multiply in float32, the right factor scaled by its largest entry."""
    most = np.abs(right).max() or 1.0
    found: Float64 = product(left.astype(np.float32), (right / most).astype(np.float32)).astype(np.float64) * most
    return found


def _correction(product: Product, x: Float64, r: Float64, values: Float64, gap: float) -> Float64:
    """E_ij = (x^T r)_ij / (l_j - l_i), and 0 within clusters."""
    apart = values[np.newaxis, :] - values[:, np.newaxis]
    near = np.abs(apart) <= gap
    found: Float64 = np.where(near, 0.0, _times(product, np.ascontiguousarray(x.T), r) / np.where(near, 1.0, apart))
    return found


def _clusters(values: Float64, gap: float) -> Iterator[slice]:
    """Runs of ascending values that are closer than a gap, of two or more."""
    ends = np.flatnonzero(np.diff(values, append=np.inf) > gap) + 1
    starts = np.concatenate([[0], ends[:-1]])
    yield from (slice(start, end) for start, end in zip(starts, ends, strict=True) if end - start > 1)


def _of_clusters(a: Float64, x: Float64, values: Float64, gap: float) -> Float64:
    """Order columns by their values; of clusters take the orthonormal basis that diagonalises A there."""
    order = np.argsort(values, kind="stable")
    x, values = x[:, order], values[order]
    for own in _clusters(values, gap):
        basis = np.linalg.qr(x[:, own])[0]
        mean = values[own].mean()
        x[:, own] = basis @ np.linalg.eigh(basis.T @ (a @ basis - mean * basis))[1]
    return x
