"""Judges of eigenvalues and eigenvectors of symmetric matrices, by float64."""

from __future__ import annotations

import numpy as np

from glla.testing.bounds import RESIDUAL_LIMIT, ROUNDOFF
from glla.testing.references import Array, Float64, largest, quotients, wide
from glla.testing.verdicts import Verdict, failed, flaw_of


def symmetric(a: Array) -> Float64:
    """Return the symmetric matrix of the lower triangle of A, in float64.

    >>> symmetric(np.array([[1, 9], [2, 3]])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    lower = wide(np.tril(a))
    return np.asarray(lower + np.tril(lower, -1).T, dtype=np.float64)


def tridiagonal(d: Array, e: Array) -> Array:
    """Return the symmetric tridiagonal matrix of two diagonals.

    >>> tridiagonal(np.float32([1, 2]), np.float32([3])).tolist()
    [[1.0, 3.0], [3.0, 2.0]]
    """
    n = np.size(d)
    beside = np.ravel(e)[: n - 1]
    return np.diag(np.ravel(d)) + np.diag(beside, 1) + np.diag(beside, -1)


def reference(a: Array) -> Float64:
    """Return the eigenvalues of the symmetric matrix of the lower triangle of A, by LAPACK in float64."""
    return wide(np.linalg.eigvalsh(symmetric(a)))


def judge_values(a: Array, w: Array, name: str = "eigvalsh") -> Verdict:
    """Judge eigenvalues w of the lower triangle of A, (n, n), in ascending order.

    The error is max abs(w - w') / (sqrt(n) norm(A) u), with the 2-norm, and w' those of float64.

    >>> judge_values(np.diag([1, 2]), np.float32([1, 2])).error
    0.0
    """
    n = len(a)
    flaw = flaw_of("w", w, (n,), np.float32)
    if not flaw and (np.diff(w) < 0).any():
        flaw = "w is not in ascending order"
    if flaw:
        return failed(name, RESIDUAL_LIMIT, flaw)
    expected = reference(a)
    unit = np.sqrt(n) * np.abs(expected).max(initial=0.0) * ROUNDOFF + 2.0**-149
    return Verdict(name, largest(quotients(np.abs(wide(w) - expected), unit)), RESIDUAL_LIMIT)


def errors(a: Array, w: Array, v: Array) -> tuple[float, float]:
    """Return norm(A V - V diag(w)) / norm(A) and norm(V^T V - I), Frobenius's, both in n u.

    >>> errors(np.diag([1, 2]), np.array([1, 2]), np.eye(2))
    (0.0, 0.0)
    """
    whole, values, vectors, n = symmetric(a), wide(w), wide(v), max(len(a), 1)
    size = max(float(np.abs(whole).max(initial=0.0)), 2.0**-1000)  # whose square may leave the range
    residual = np.linalg.norm((whole @ vectors - vectors * values) / size)
    scale = np.linalg.norm(whole / size) * n * ROUNDOFF + 2.0**-149 / size
    apart = np.linalg.norm(vectors.T @ vectors - np.eye(len(a))) / (n * ROUNDOFF)
    return float(quotients(residual, scale)), float(apart)


def judge_eigh(a: Array, w: Array, v: Array) -> Verdict:
    """Judge eigenvalues w and eigenvectors V, in columns, of the lower triangle of A, (n, n).

    The error is the largest of that of the values, see `judge_values`, norm(A V - V diag(w)) / (n norm(A) u) and
    norm(V^T V - I) / (n u). Signs of columns are free.

    >>> judge_eigh(np.diag([1, 2]), np.float32([1, 2]), np.eye(2, dtype=np.float32)).error
    0.0
    """
    values = judge_values(a, w, "eigh")
    flaw = "" if values.ok else values.detail or str(values)
    flaw = flaw or flaw_of("V", v, np.shape(a), np.float32)
    if flaw:
        return failed("eigh", RESIDUAL_LIMIT, flaw)
    residual, apart = errors(a, w, v)
    detail = f"residual {residual:.3g}, orthogonality {apart:.3g}, values {values.error:.3g}"
    return Verdict("eigh", max(residual, apart, values.error), RESIDUAL_LIMIT, detail=detail)
