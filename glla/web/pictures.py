"""NumPy's results for the operands of a page, in float64: shown where a browser cannot run the passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations.elimination import decided
from glla.testing.judges import window_sums
from glla.testing.references import unpack_lu

Float64 = NDArray[np.float64]


def of(operation: str, arrays: tuple[NDArray[np.float32], ...]) -> dict[str, Float64]:
    """Results of an operation by name, as its page shows them; none where the operands have no result.

    >>> of("solve", (np.float32([[2, 0], [0, 4]]), np.float32([[2], [2]])))["X"].tolist()
    [[1.0], [0.5]]
    >>> of("inv", (np.zeros((2, 2), np.float32),))
    {}
    >>> of("matmul", (np.float32([[np.inf, 0]]), np.float32([[0], [1]])))
    {}
    """
    if operation not in PICTURES or not all(np.isfinite(array).all() for array in arrays):
        return {}
    try:
        return dict(PICTURES[operation](*(array.astype(np.float64) for array in arrays)))
    except np.linalg.LinAlgError:
        return {}


def _factors(a: Float64) -> dict[str, Float64]:
    """P A = L U with partial pivoting, L and U in one matrix."""
    lu = a.copy()
    for k in range(min(a.shape)):
        p = k + int(np.argmax(np.abs(lu[k:, k])))
        lu[[k, p]] = lu[[p, k]]
        if lu[k, k] != 0:
            lu[k + 1 :, k] /= lu[k, k]
            lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return {"LU": lu}


def _factored(lu: Float64, b: Float64) -> Float64:
    lower, upper = unpack_lu(lu)
    return np.asarray(np.linalg.solve(lower @ upper, b))


def _symmetric(a: Float64) -> Float64:
    """The matrix of which the lower half is given."""
    return np.asarray(np.tril(a) + np.tril(a, -1).T)


def _banded(bands: Float64, above: int) -> Float64:
    """The matrix of some diagonals, the uppermost first: a_ij stands at [above + i - j, j].

    >>> _banded(np.array([[0.0, 1, 2], [3, 4, 5]]), 1).tolist()
    [[3.0, 1.0, 0.0], [0.0, 4.0, 2.0], [0.0, 0.0, 5.0]]
    """
    n = bands.shape[1]
    i, j = np.indices((n, n))
    row = above + i - j
    inside = (row >= 0) & (row < len(bands))
    return np.where(inside, bands[np.clip(row, 0, len(bands) - 1), j], 0.0)


def _definite(ab: Float64) -> Float64:
    """The symmetric matrix of which the diagonals on and above the main one are given."""
    return _symmetric(_banded(ab, len(ab) - 1).T)


def _banded_factor(ab: Float64) -> Float64:
    """The transpose of its Cholesky factor, stored as the band is."""
    upper, found = np.linalg.cholesky(_definite(ab)).T, np.zeros(ab.shape)
    for distance in range(len(ab)):
        found[len(ab) - 1 - distance, distance:] = np.diagonal(upper, distance)
    return found


def _five_points(a: Float64, x: Float64) -> Float64:
    """Product of the matrix of a square grid, whose five diagonals are the rows of a, with x."""
    side = round(len(x) ** 0.5)
    padded, entries = np.pad(x.reshape(side, side), 1), a.reshape(5, side, side)
    places = ((0, 1), (1, 0), (1, 1), (1, 2), (2, 1))
    terms = (
        one * padded[row : row + side, column : column + side]
        for one, (row, column) in zip(entries, places, strict=True)
    )
    return np.asarray(sum(terms)).reshape(-1, 1)


def _sign_and_log(a: Float64) -> dict[str, Float64]:
    sign, logarithm = np.linalg.slogdet(a)
    return {"sign": np.asarray(sign), "logabsdet": np.asarray(logarithm)}


PICTURES: dict[str, Callable[..., Mapping[str, Any]]] = {
    "cho_factor": lambda a: {"L": np.linalg.cholesky(a)},
    "cho_solve": lambda c, b: {"X": np.linalg.solve(np.tril(c) @ np.tril(c).T, b)},
    "cho_solve_banded": lambda c, b: {"X": np.linalg.solve(_banded(c, len(c) - 1).T @ _banded(c, len(c) - 1), b)},
    "cholesky": lambda a: {"L": np.linalg.cholesky(a)},
    "cholesky_banded": lambda ab: {"L": _banded_factor(ab)},
    "det": lambda a: {"det": np.linalg.det(a)},
    "gauss_jordan": lambda a: {"X": np.linalg.inv(a)},
    "inv": lambda a: {"X": np.linalg.inv(a)},
    "inv3": lambda a: {"X": np.linalg.inv(a.reshape(-1, 3, 3)).reshape(a.shape)},
    "inv_pos": lambda a: {"X": np.linalg.inv(_symmetric(a))},
    "lstsq": lambda a, b: {"X": np.linalg.lstsq(a, b)[0]},
    "lu_factor": _factors,
    "lu_solve": lambda lu, b: {"X": _factored(lu, b)},
    "matmul": lambda a, b: {"C": a @ b},
    "pentadiagonal": lambda ab, b: {"X": np.linalg.solve(_banded(ab, 2), b)},
    "plu": _factors,
    "qr": lambda a: dict(zip("QR", np.linalg.qr(a), strict=True)),
    "rcond": lambda a: {"rcond": float(1 / (np.linalg.norm(a, 1) * np.linalg.norm(np.linalg.inv(a), 1)))},
    "rref": lambda a: {"R": decided.by_float64(a.astype(np.float32))[0]},
    "slogdet": _sign_and_log,
    "solve": lambda a, b: {"X": np.linalg.solve(a, b)},
    "solve_pos": lambda a, b: {"X": np.linalg.solve(_symmetric(a), b)},
    "solve_pos_banded": lambda ab, b: {"X": np.linalg.solve(_definite(ab), b)},
    "solve_triangular": lambda t, b: {"X": np.linalg.solve(np.triu(t), b)},
    "spmv": lambda a, x: {"y": _five_points(a, x)},
    "syrk": lambda a: {"C": a @ a.T},
    "triangular": lambda t, b: {"X": np.linalg.solve(np.tril(t), b)},
    "triangular_inverse": lambda t: {"X": np.linalg.inv(np.triu(t))},
    "tridiagonal": lambda ab, b: {"X": np.linalg.solve(_banded(ab, 1), b)},
    "window_squares": lambda a: {"C": np.clip(window_sums(a.astype(np.float32)), 0, 65535)},
}
"""By the name of the operation: operands -> what its page would show."""
