"""Results of the functions of eigenvalues."""

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
