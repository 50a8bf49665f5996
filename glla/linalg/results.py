"""Results of public functions that are more than an array."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from glla.display.array import of_array, of_host
from glla.display.html import folded, line

Value = TypeVar("Value")
"""Type of the matrices: arrays of NumPy, or `glla.Array`."""

MOST_PIVOTS = 20
"""Pivots that a notebook shows, at most."""


def _part(matrix: Any) -> str:
    return of_host(matrix) if isinstance(matrix, np.ndarray) else of_array(matrix)


def _aligned(result: Any) -> str:
    """Show the parts of a result below one another."""
    parts = (
        f"  {name}={value!r}".replace("\n", "\n" + " " * (len(name) + 3)) for name, value in result._asdict().items()
    )
    return f"{type(result).__name__}(\n" + ",\n".join(parts) + ")"


class RREF(NamedTuple, Generic[Value]):
    """Result of `rref`.

    Attributes
    ----------
    matrix : ndarray of float32 or Array, shape (m, n)
        The reduced row echelon form.
    pivots : tuple of int
        Columns of the leading ones; the rank is their number.
    """

    matrix: Value
    pivots: tuple[int, ...]

    def __repr__(self) -> str:
        return _aligned(self)

    def _repr_html_(self) -> str:
        """Show it in a notebook. Of a matrix on a device it reads the corners back: synchronises."""
        pivots, more = ", ".join(map(str, self.pivots[:MOST_PIVOTS])), len(self.pivots) - MOST_PIVOTS
        listed = f"rank {len(self.pivots)}, pivots: {pivots or 'none'}{f' ... {more} more' if more > 0 else ''}"
        return line("reduced row echelon form") + _part(self.matrix) + line(listed)


class PLU(NamedTuple, Generic[Value]):
    """Result of `plu`: A = P @ L @ U.

    Attributes
    ----------
    P : shape (m, m)
        Permutation matrix.
    L : shape (m, k)
        Unit lower trapezoidal, k = min(m, n).
    U : shape (k, n)
        Upper trapezoidal.
    """

    P: Value
    L: Value
    U: Value

    def __repr__(self) -> str:
        return _aligned(self)

    def _repr_html_(self) -> str:
        """Show it in a notebook. Of matrices on a device it reads the corners back: synchronises."""
        parts = zip(("P: permutation", "L: unit lower", "U: upper"), self, strict=True)
        return line("A = P @ L @ U") + "".join(folded(name, _part(part), unfolded=True) for name, part in parts)


class QRResult(NamedTuple, Generic[Value]):
    """Result of `qr`: A = Q @ R.

    Attributes
    ----------
    Q : shape (..., m, k)
        Orthonormal columns, k = min(m, n), or m in mode "complete".
    R : shape (..., k, n)
        Upper triangular, or trapezoidal.
    """

    Q: Value
    R: Value

    def __repr__(self) -> str:
        return _aligned(self)

    def _repr_html_(self) -> str:
        """Show it in a notebook. Of matrices on a device it reads the corners back: synchronises."""
        parts = zip(("Q: orthonormal columns", "R: upper"), self, strict=True)
        return line("A = Q @ R") + "".join(folded(name, _part(part), unfolded=True) for name, part in parts)


class SlogdetResult(NamedTuple, Generic[Value]):
    """Result of `slogdet`: det(A) = sign * exp(logabsdet).

    Attributes
    ----------
    sign : float32, or array of them for a stack
        -1, 0 or 1.
    logabsdet : float32, or array of them for a stack
        -inf for a determinant of zero.
    """

    sign: np.float32 | Value
    logabsdet: np.float32 | Value


class RefinedSolution(np.ndarray[Any, np.dtype[np.float64]]):
    """A float64 solution that says how it was reached.

    Attributes
    ----------
    iterations : int
        Corrections that were applied to the first solution.
    backward_error : float
        max_i abs(b - A x)_i / (abs(A) abs(x) + abs(b))_i in float64: x solves a system whose entries differ from
        those given by no more than this relative amount each.
    """

    iterations: int
    backward_error: float

    def __array_finalize__(self, source: Any) -> None:
        self.iterations = getattr(source, "iterations", 0)
        self.backward_error = getattr(source, "backward_error", float("nan"))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return results computed from a solution as a plain array or scalar: they are no solutions."""
        if array is self:  # computed in place
            return self
        return np.asarray(array)[()]
