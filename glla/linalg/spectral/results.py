"""Results of the functions of eigenvalues and singular values."""

from __future__ import annotations

from typing import Generic, NamedTuple

from glla.linalg.results import Value


class EighResult(NamedTuple, Generic[Value]):
    """Result of `eigh`: A @ V = V * w, V.T @ V = I.

    Attributes
    ----------
    eigenvalues : shape (..., n)
        In ascending order.
    eigenvectors : shape (..., n, n)
        In columns, orthonormal; the largest entry of each, the first among equals, is positive.
    """

    eigenvalues: Value
    eigenvectors: Value


class SVDResult(NamedTuple, Generic[Value]):
    """Result of `svd`: A = (U * S) @ Vh.

    Attributes
    ----------
    U : shape (..., m, m) or (..., m, k)
        With orthonormal columns; the largest entry of each, the first among equals, is positive.
    S : shape (..., k)
        In descending order, k = min(m, n).
    Vh : shape (..., n, n) or (..., k, n)
        With orthonormal rows.
    """

    U: Value
    S: Value
    Vh: Value
