"""Solution of a system of Dask arrays with the factors of `glla.dask.factors`, refined once and checked."""

from __future__ import annotations

from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32
from glla.cluster import lapack
from glla.dask.factors import Factors, Key, block_size
from glla.dask.products import operand
from glla.errors import ConvergenceError, NonFiniteError, ShapeError, SingularMatrixError
from glla.operations.acceptance import UNIT_ROUNDOFF, keeps_promise

Double = NDArray[np.float64]

SIGN_COLUMNS = 2
"""Additional right-hand sides of random signs, for an estimate of the inverse's norm."""


def solve(a: Any, b: Any, nb: int | None = None) -> Any:
    """Solve A x = b for Dask arrays of any chunks, with tournament pivoting.

    Parameters
    ----------
    a : dask.array.Array, shape (n, n)
        Regular.
    b : dask.array.Array or array_like, shape (n,) or (n, k)
        Right-hand sides; workers pass them as one chunk of n x k.
    nb : int, optional
        As in `glla.dask.lu`.

    Returns
    -------
    dask.array.Array of float32, of the shape of `b`
        The chunks of its rows are the blocks.

    Raises
    ------
    ShapeError, DTypeError, OptionError
        At once.
    SingularMatrixError, NonFiniteError, ConvergenceError
        In ``compute``: a pivot is zero, or the inverse is larger than 2^24 / norm(A); values do not fit float32; the
        residual misses its bound even after refinement.

    Notes
    -----
    Error: norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) < 30, checked. Cost: as `lu`, and twice 2 n^2 (k + 2) flop
    for substitution on hosts, in float64, and as much for residuals.

    Examples
    --------
    >>> import dask.array as da
    >>> import glla.dask
    >>> A = da.from_array([[0, 2, 1], [4, 4, 2], [2, 3, 1]], chunks=(2, 1))
    >>> glla.dask.solve(A, [3, 10, 6]).compute(scheduler="synchronous")
    array([1., 1., 1.], dtype=float32)
    """
    lapack.check_scipy()
    left = operand("solve", "A", a)
    if left.shape[0] != left.shape[1]:
        raise ShapeError(f"glla.dask.solve: A must be square, got shape {left.shape}")
    right = operand("solve", "b", b, (1, 2))
    if right.shape[0] != left.shape[0]:
        raise ShapeError(f"glla.dask.solve: b must have {left.shape[0]} rows, got shape {right.shape}")
    wide = right.reshape(-1, 1) if right.ndim == 1 else right
    if 0 in wide.shape:
        return right.astype(np.float32)
    one = wide.rechunk(-1)
    found = Factors.of("solve", left, block_size("solve", nb, a))
    whole = found.put("b", (), _with_probes, (one.name, 0, 0))
    x = _substituted(found, "first", whole)
    residual = _residual(found, "first", whole, x)
    better = found.put("better", (), np.add, x, _substituted(found, "second", residual))
    checked = found.put("checked", (), _checked, better, _residual(found, "second", whole, better), whole, _norm(found))
    rows, columns = found.chunks[0], (wide.shape[1],)
    starts = found.starts[0]
    blocks = {(i, 0): (getitem, checked, slice(starts[i], starts[i + 1])) for i in range(len(rows))}
    result = found.collection("x", blocks, (rows, columns), one)
    return result[:, 0] if right.ndim == 1 else result


# -- graph ------------------------------------------------------------------------------------------------------------


def _substituted(found: Factors, what: str, right: Key) -> Key:
    """Substitute with both triangles, block by block."""
    panels, starts = found.panels, found.starts[0]
    permuted = found.put(f"{what}-permuted", (), getitem, right, found.order)
    parts: dict[int, Key] = {}
    for k in range(panels):
        part = found.put(f"{what}-cut", (k,), getitem, permuted, slice(starts[k], starts[k + 1]))
        others = [(found.blocks[k, j], parts[j]) for j in range(k)]
        parts[k] = _solved(found, f"{what}-forward", k, part, others, True)
    for k in reversed(range(panels)):
        others = [(found.blocks[k, j], parts[j]) for j in range(k + 1, panels)]
        parts[k] = _solved(found, f"{what}-back", k, parts[k], others, False)
    return found.put(what, (), np.concatenate, [parts[k] for k in range(panels)])


def _solved(found: Factors, what: str, k: int, part: Key, others: list[tuple[Key, Key]], lower: bool) -> Key:
    """Solve one block row: every product is a task of its own, so no task holds a whole row of the factors."""
    for number, (block, x) in enumerate(others):
        part = found.put(f"{what}-minus", (k, number), _minus, part, block, x)
    return found.put(what, (k,), _triangle, found.blocks[k, k], part, lower, found.starts[0][k])


def _residual(found: Factors, what: str, right: Key, x: Key) -> Key:
    rows, columns = found.starts
    parts = []
    for i in range(len(found.chunks[0])):
        part = found.put(f"{what}-right", (i,), getitem, right, slice(rows[i], rows[i + 1]))
        for j in range(len(found.chunks[1])):
            piece = found.put(f"{what}-piece", (i, j), getitem, x, slice(columns[j], columns[j + 1]))
            part = found.put(f"{what}-less", (i, j), _minus, part, (found.array.name, i, j), piece)
        parts.append(part)
    return found.put(f"{what}-residual", (), np.concatenate, parts)


def _norm(found: Factors) -> Key:
    """Largest row sum of magnitudes."""
    rows, columns = (range(len(part)) for part in found.chunks)
    parts = [[found.put("sum", (i, j), _row_sums, (found.array.name, i, j)) for j in columns] for i in rows]
    sums = [found.put("sums", (i,), np.sum, parts[i], 0) for i in rows]
    return found.put("norm", (), _largest, sums)


# -- tasks ------------------------------------------------------------------------------------------------------------


def _with_probes(b: Any) -> Double:
    """Right-hand sides in float64, with additional ones of random signs."""
    right = np.asarray(b, dtype=np.float64)
    if not np.isfinite(right).all():
        raise NonFiniteError("glla.dask.solve: b must be finite")
    signs = np.random.default_rng(2007).choice([-1.0, 1.0], size=(len(right), SIGN_COLUMNS))
    return np.concatenate([right, signs], axis=1)


def _minus(part: Double, block: Float32, x: Double) -> Double:
    found: Double = part - block.astype(np.float64) @ x
    return found


def _triangle(block: Float32, part: Double, lower: bool, start: int) -> Double:
    from scipy.linalg import solve_triangular

    if not lower and (np.diagonal(block) == 0).any():
        column = start + int(np.argmax(np.diagonal(block) == 0))
        raise SingularMatrixError(f"glla.dask.solve: the matrix is singular, the pivot of column {column} is zero")
    options = {"lower": lower, "unit_diagonal": lower, "check_finite": False}
    found: Double = solve_triangular(block.astype(np.float64), part, **options)
    return found


def _row_sums(block: Float32) -> Double:
    found: Double = np.abs(block.astype(np.float64)).sum(axis=1)
    return found


def _largest(sums: list[Double]) -> float:
    return float(max(part.max() for part in sums))


def _checked(x: Double, residual: Double, right: Double, norm: float) -> Float32:
    """Give the solution in float32, or say what is wrong with it."""
    largest = float(np.abs(x[:, -SIGN_COLUMNS:]).max())
    if not largest * norm < 1 / UNIT_ROUNDOFF:
        raise SingularMatrixError(
            f"glla.dask.solve: A is singular to float32, its condition number is at least {largest * norm:.3g}; "
            "if rows or columns differ much in size, scale them first"
        )
    x, residual, right = (one[:, :-SIGN_COLUMNS] for one in (x, residual, right))
    if not keeps_promise(norm, x, right, residual):
        raise ConvergenceError("glla.dask.solve: the residual misses its bound, as entries grow too much")
    with np.errstate(over="ignore"):
        found: Float32 = x.astype(np.float32)
    if not np.isfinite(found).all():
        raise NonFiniteError("glla.dask.solve: the solution does not fit float32; scale b")
    return found
