"""Judges of singular values and vectors, by float64."""

from __future__ import annotations

import numpy as np

from glla.testing.bounds import RESIDUAL_LIMIT, ROUNDOFF
from glla.testing.references import Array, Float64, largest, quotients, wide
from glla.testing.verdicts import Verdict, failed, flaw_of


def singular_values(a: Array) -> Float64:
    """Return the singular values of A, descending, by LAPACK in float64.

    >>> singular_values(np.diag([2, 3])).round(9).tolist()
    [3.0, 2.0]
    """
    return np.asarray(np.linalg.svd(wide(a), compute_uv=False), dtype=np.float64)


def product_of_svd(u: Array, s: Array, vh: Array) -> Float64:
    """Return U diag(s) Vh in float64, of as many columns and rows as there are values.

    >>> product_of_svd(np.eye(2), np.array([2]), np.eye(2)).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    k = len(s)
    return np.asarray(wide(u)[:, :k] * wide(s) @ wide(vh)[:k], dtype=np.float64)


def judge_singular_values(a: Array, s: Array, name: str = "svdvals") -> Verdict:
    """Judge singular values s of A, (m, n), in descending order.

    The error is max abs(s - s') / (sqrt(k) s'_0 u), s' those of float64, k = min(m, n).

    >>> judge_singular_values(np.diag([2, 3]), np.float32([3, 2])).ok
    True
    """
    k = min(np.shape(a))
    flaw = flaw_of("S", s, (k,), np.float32)
    if not flaw and ((np.diff(s) > 0).any() or (np.asarray(s) < 0).any()):
        flaw = "S is not in descending order, or below zero"
    if flaw:
        return failed(name, RESIDUAL_LIMIT, flaw)
    expected = singular_values(a)
    unit = np.sqrt(k) * expected.max(initial=0.0) * ROUNDOFF + 2.0**-149
    return Verdict(name, largest(quotients(np.abs(wide(s) - expected), unit)), RESIDUAL_LIMIT)


def judge_svd(a: Array, u: Array, s: Array, vh: Array) -> Verdict:
    """Judge A = U diag(s) Vh, with any number of columns of U and rows of Vh from min(m, n) on.

    The error is the largest of that of the values, see `judge_singular_values`, norm(A - U diag(s) Vh) / (n norm(A) u),
    norm(U^T U - I) / (n u) and norm(Vh Vh^T - I) / (n u), n = max(m, n). The largest entry of each column of U, the
    first among equals, must be positive.

    >>> judge_svd(np.diag([3, 2]), np.eye(2, dtype=np.float32), np.float32([3, 2]), np.eye(2, dtype=np.float32)).ok
    True
    """
    (m, n), k = np.shape(a), min(np.shape(a))
    values = judge_singular_values(a, s, "svd")
    flaw = "" if values.ok else values.detail or str(values)
    flaw = flaw or flaw_of("U", u, (m, np.shape(u)[-1]), np.float32)
    flaw = flaw or flaw_of("Vh", vh, (np.shape(vh)[0], n), np.float32)
    if not flaw and min(np.shape(u)[1], len(vh)) < k:
        flaw = f"U and Vh must have {k} columns and rows, got {np.shape(u)} and {np.shape(vh)}"
    if not flaw and u.size and (np.take_along_axis(u, np.abs(u).argmax(axis=0)[np.newaxis], 0) < 0).any():
        flaw = "the largest entry of a column of U is negative"
    if flaw:
        return failed("svd", RESIDUAL_LIMIT, flaw)
    size = max(float(np.abs(a).max(initial=0.0)), 2.0**-1000)  # whose square may leave the range
    left, right, unit = wide(u), wide(vh), max(m, n, 1) * ROUNDOFF
    scale = np.linalg.norm(wide(a) / size) * unit + 2.0**-149 / size
    residual = float(quotients(np.linalg.norm((wide(a) - product_of_svd(u, s, vh)) / size), scale))
    products = (left.T @ left, right @ right.T)
    apart = max(float(np.linalg.norm(one - np.eye(len(one))) / unit) for one in products)
    detail = f"residual {residual:.3g}, orthogonality {apart:.3g}, values {values.error:.3g}"
    return Verdict("svd", max(residual, apart, values.error), RESIDUAL_LIMIT, detail=detail)
