"""NumPy's results for the operands of a page, in float64: shown where a browser cannot run the passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations.elimination import decided
from glla.testing.judges import window_sums
from glla.testing.references import (
    five_points,
    of_diagonals,
    of_upper_band,
    product,
    symmetric,
    textbook_plu,
    unpack_lu,
)

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


def _by_factor(lower: Float64, b: Float64) -> Float64:
    return np.asarray(np.linalg.solve(lower @ lower.T, b))


def _banded_factor(ab: Float64) -> Float64:
    """The transpose of its Cholesky factor, stored as the band is."""
    upper, found = np.linalg.cholesky(of_upper_band(ab)).T, np.zeros(ab.shape)
    for distance in range(len(ab)):
        found[len(ab) - 1 - distance, distance:] = np.diagonal(upper, distance)
    return found


def _sign_and_log(a: Float64) -> dict[str, Float64]:
    sign, logarithm = np.linalg.slogdet(a)
    return {"sign": np.asarray(sign), "logabsdet": np.asarray(logarithm)}


PICTURES: dict[str, Callable[..., Mapping[str, Any]]] = {
    "cho_factor": lambda a: {"L": np.linalg.cholesky(a)},
    "cho_solve": lambda c, b: {"X": _by_factor(np.tril(c), b)},
    "cho_solve_banded": lambda c, b: {"X": _by_factor(of_diagonals(c, len(c) - 1).T, b)},
    "cholesky": lambda a: {"L": np.linalg.cholesky(a)},
    "cholesky_banded": lambda ab: {"L": _banded_factor(ab)},
    "det": lambda a: {"det": np.linalg.det(a)},
    "gauss_jordan": lambda a: {"X": np.linalg.inv(a)},
    "inv": lambda a: {"X": np.linalg.inv(a)},
    "inv3": lambda a: {"X": np.linalg.inv(a.reshape(-1, 3, 3)).reshape(a.shape)},
    "inv_pos": lambda a: {"X": np.linalg.inv(symmetric(a))},
    "lstsq": lambda a, b: {"X": np.linalg.lstsq(a, b)[0]},
    "lu_factor": lambda a: {"LU": textbook_plu(a)[0]},
    "lu_solve": lambda lu, b: {"X": np.linalg.solve(product(*unpack_lu(lu)), b)},
    "matmul": lambda a, b: {"C": a @ b},
    "pentadiagonal": lambda ab, b: {"X": np.linalg.solve(of_diagonals(ab, 2), b)},
    "plu": lambda a: {"LU": textbook_plu(a)[0]},
    "qr": lambda a: dict(zip("QR", np.linalg.qr(a), strict=True)),
    "rcond": lambda a: {"rcond": float(1 / (np.linalg.norm(a, 1) * np.linalg.norm(np.linalg.inv(a), 1)))},
    "rref": lambda a: {"R": decided.by_float64(a.astype(np.float32))[0]},
    "slogdet": _sign_and_log,
    "solve": lambda a, b: {"X": np.linalg.solve(a, b)},
    "solve_pos": lambda a, b: {"X": np.linalg.solve(symmetric(a), b)},
    "solve_pos_banded": lambda ab, b: {"X": np.linalg.solve(of_upper_band(ab), b)},
    "solve_triangular": lambda t, b: {"X": np.linalg.solve(np.triu(t), b)},
    "spmv": lambda a, x: {"y": five_points(a, x)},
    "syrk": lambda a: {"C": a @ a.T},
    "triangular": lambda t, b: {"X": np.linalg.solve(np.tril(t), b)},
    "triangular_inverse": lambda t: {"X": np.linalg.inv(np.triu(t))},
    "tridiagonal": lambda ab, b: {"X": np.linalg.solve(of_diagonals(ab, 1), b)},
    "window_squares": lambda a: {"C": np.clip(window_sums(a.astype(np.float32)), 0, 65535)},
}
"""By the name of the operation: operands -> what its page would show."""
