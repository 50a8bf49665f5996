"""The public functions: matmul, lu_factor, plu, lu_solve, solve of distributed matrices."""

from __future__ import annotations

import math
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.cluster.algorithms import VARIANTS, ColumnPLU, Place, Product, Substitution, factorisation
from glla.cluster.columns import ColumnFactoring
from glla.cluster.factoring import Factoring
from glla.cluster.grids import DistributedMatrix, Grid
from glla.cluster.grids import grid as made_grid
from glla.cluster.lapack import extreme, permutation
from glla.cluster.layout import Layout
from glla.cluster.parts import Double, Multiplying, Substituting
from glla.errors import (
    ConvergenceError,
    DeviceMismatchError,
    DTypeError,
    GrowthWarning,
    NonFiniteError,
    ShapeError,
    one_of,
)
from glla.hybrid.cores import one_thread, own_cores
from glla.linalg import PLU, RefinedSolution
from glla.operations import acceptance
from glla.operations.acceptance import rounding_errors
from glla.operations.elimination import factors
from glla.operations.host.refinement import backward_errors
from glla.operations.host.scaling import Integers, exponent_of, exponents

STRIP = 64
"""Rows that are processed together, so that intermediate results stay in the cache."""

CONVERTED = 1024
"""Rows that are converted to float64 at a time."""


def matmul(a: DistributedMatrix, b: DistributedMatrix) -> DistributedMatrix:
    """Product C = A B by SUMMA: panels of A are sent along the process rows, panels of B along the columns.

    Parameters
    ----------
    a, b : DistributedMatrix, shapes (m, k) and (k, n)
        On one grid, with one block size.

    Returns
    -------
    DistributedMatrix of float32, shape (m, n)

    Raises
    ------
    ShapeError, DeviceMismatchError
        Operands of unfit shapes, block sizes or grids.
    NonFiniteError
        An operand, or the product, does not fit float32.

    Notes
    -----
    Cost: 2 m k n / (P Q) flop per rank; it sends and receives about 4 k (m / P + n / Q) bytes. Error: as on one device,
    abs(C - C^) <= k u abs(A) abs(B). Synchronises. Source: van de Geijn and Watts 1997.

    Examples
    --------
    >>> import glla
    >>> with glla.cluster.grid(engine="numpy") as alone:
    ...     A = glla.cluster.DistributedMatrix.from_function(alone, lambda i, j: i + j, (2, 2))
    ...     glla.cluster.matmul(A, A).gather()
    array([[1., 2.],
           [2., 5.]], dtype=float32)
    """
    for one in (a, b):
        if not isinstance(one, DistributedMatrix):
            raise DTypeError(
                f"matmul: operands must be DistributedMatrix, got {type(one).__name__}; see its from_function and "
                "scatter"
            )
    if a.grid is not b.grid:
        raise DeviceMismatchError(f"matmul: operands must be of one grid, got {a.grid} and {b.grid}")
    if a.layout.nb != b.layout.nb:
        raise ShapeError(f"matmul: operands must have one block size, got {a.layout.nb} and {b.layout.nb}")
    if a.shape[1] != b.shape[0]:
        raise ShapeError(f"matmul: inner dimensions must agree, got A {a.shape} and B {b.shape}")
    grid = a.grid
    with grid.operation():
        at = Product(Layout((a.shape[0], b.shape[1]), a.layout.nb, grid.shape), grid.p, grid.q, a.shape[1])
        left, right = (each.float32("matmul", copy=False) for each in (a, b))
        actor = Multiplying(at, left, right, grid.engine)
        grid.run(at.steps(), actor)
        if not np.isfinite(extreme(actor.result, _scanning(grid))):
            raise NonFiniteError("matmul: the product does not fit float32; scale an operand")
        return DistributedMatrix(grid, at.layout, actor.result)


def lu_factor(a: DistributedMatrix, *, variant: str = "tournament") -> tuple[DistributedMatrix, NDArray[np.int32]]:
    """Packed factors and exchanges of A = P L U, as LAPACK's getrf and ScaLAPACK's pgetrf.

    Parameters
    ----------
    a : DistributedMatrix, shape (m, n)
        Any shape and rank.
    variant : {"tournament", "partial", "local"}
        Pivoting variant, see `glla.cluster.VARIANTS`. With one process row all of them pivot partially.

    Returns
    -------
    lu : DistributedMatrix of float32
        L below the diagonal, U on and above it.
    piv : ndarray of int32
        Row i is exchanged with row ``piv[i]``, in sequence; the same on all ranks.

    Raises
    ------
    SingularMatrixError
        "local" finds no pivot among its rows; its block is named. "tournament", if its pivots are rejected for a block
        without full rank, which "partial" can factor.
    NonFiniteError
        Entries grow beyond float32's range.

    Warns
    -----
    GrowthWarning
        Entries grow more than in random matrices.

    Notes
    -----
    Cost: 2/3 n^3 / (P Q) flop per rank; messages exactly as in `glla.cluster.plan`. Error: as with partial pivoting,
    times the growth factor; that of "tournament" was at most 1.54 times as large on random matrices. A matrix near
    float32's limits is scaled by a power of two. Sources: Grigori, Demmel, Xiang 2011; Brodtkorb 2007, appendix A.
    """
    one_of("lu_factor: variant", variant, VARIANTS)
    with a.grid.operation():
        lu, piv, growth = _factored(a, "lu_factor", variant)
    most = acceptance.allowed_growth(max(a.shape))
    if growth > most:
        warnings.warn(
            f"lu_factor: entries grew {growth:.3g} times with variant {variant!r}, random matrices allow {most:.3g}; "
            "take 'partial', or solve(..., refine=True)",
            GrowthWarning,
            stacklevel=2,
        )
    return lu, piv


def _factored(a: DistributedMatrix, function: str, variant: str) -> tuple[DistributedMatrix, NDArray[np.int32], float]:
    """Factor, within an operation; also return the growth."""
    grid, layout = a.grid, a.layout
    at = factorisation(layout, grid.p, grid.q, variant, grid.look_ahead)
    by_columns = isinstance(at, ColumnPLU)  # does not modify the values
    values = a.float32(function, copy=not by_columns)
    scale = float(grid.total(np.array([extreme(values, _scanning(grid))]), largest=True)[0])
    if not np.isfinite(scale):
        raise NonFiniteError("lu_factor: values must be finite")
    exponent = 0 if acceptance.size_near_one(scale) else exponent_of(scale)
    local = np.ldexp(values, -exponent) if exponent else values
    kind = ColumnFactoring if by_columns else Factoring
    actor = kind(at, local, grid.engine)
    # With products on a GPU the host has panels only: BLAS is limited once, as some wake all threads when limited
    # again.
    with one_thread if grid.engine.asynchronous and by_columns else nullcontext():
        grid.run(at.steps(), actor)
    own = _scaled_back(at, actor.packed, exponent) if exponent else actor.largest
    if not np.isfinite(own):
        raise NonFiniteError("lu_factor: U does not fit float32; scale the matrix")
    grown = float(grid.total(np.array([own]), largest=True)[0])
    growth = grown / scale if scale else 1.0
    return DistributedMatrix(grid, layout, actor.packed), actor.exchanges.astype(np.int32), growth


def _scaled_back(at: Place, packed: NDArray[Any], exponent: int) -> float:
    """Scale U by a power of two, and return its largest magnitude."""
    rows, columns = at.layout.rows(at.p)[:, None], at.layout.columns(at.q)[None, :]
    largest = 0.0
    for start in range(0, len(rows), STRIP):
        strip, upper = packed[start : start + STRIP], rows[start : start + STRIP] <= columns
        with np.errstate(over="ignore"):
            strip[...] = np.where(upper, np.ldexp(strip, exponent), strip)
        largest = float(np.maximum(largest, extreme(np.where(upper, strip, 0))))
    return largest


def _scanning(grid: Grid) -> int:
    """Threads that scan a matrix."""
    communicator = grid.channel.communicator
    return 1 if communicator.one_process else own_cores(communicator.host[1])


def plu(a: DistributedMatrix, *, variant: str = "tournament") -> PLU[DistributedMatrix]:
    """A = P @ L @ U, as `glla.plu`, all three distributed.

    Parameters
    ----------
    a, variant
        As in `lu_factor`, which saves n / nb latencies and an n x n matrix.

    Returns
    -------
    PLU
        P (m, m), L (m, k) with ones on its diagonal, U (k, n), k = min(m, n); float32, of the block size of A.

    Raises
    ------
    SingularMatrixError, NonFiniteError
        As in `lu_factor`.

    Examples
    --------
    >>> import glla
    >>> with glla.cluster.grid(engine="numpy") as alone:
    ...     A = glla.cluster.DistributedMatrix.from_function(alone, lambda i, j: 4 * i + 2 * j - i * j, (2, 2))
    ...     P, L, U = glla.cluster.plu(A)
    ...     U.gather()
    array([[4., 5.],
           [0., 2.]], dtype=float32)
    """
    lu, piv = lu_factor(a, variant=variant)
    grid, nb, (m, n) = a.grid, a.layout.nb, a.shape
    k = min(m, n)
    order = permutation(piv, m)
    p = DistributedMatrix.from_function(grid, lambda i, j: i == order[j], (m, m), nb)
    left, right = Layout((m, k), nb, grid.shape), Layout((k, n), nb, grid.shape)
    rows, columns = a.layout.rows(grid.p)[:, None], a.layout.columns(grid.q)[None, :]
    lower = np.where(rows > columns, lu.local, (rows == columns).astype(np.float32))
    upper = np.where(rows <= columns, lu.local, np.float32(0))
    m_k, k_n = left.local_shape(grid.p, grid.q), right.local_shape(grid.p, grid.q)
    return PLU(
        p,
        DistributedMatrix(grid, left, np.ascontiguousarray(lower[:, : m_k[1]])),
        DistributedMatrix(grid, right, np.ascontiguousarray(upper[: k_n[0]])),
    )


def lu_solve(lu_and_piv: tuple[DistributedMatrix, Any], b: Any) -> NDArray[np.float32]:
    """Solve A x = b with the factors of `lu_factor`.

    Parameters
    ----------
    lu_and_piv : (DistributedMatrix, ndarray of int)
        Factors of a square matrix.
    b : array_like, shape (n,) or (n, k)
        The same on all ranks.

    Returns
    -------
    ndarray of float32
        The same on all ranks.

    Raises
    ------
    SingularMatrixError
        A pivot is zero; its column is named.
    ShapeError, NonFiniteError
        `b` has an unfit shape; the solution does not fit float32.

    Notes
    -----
    Substitution runs on the hosts in float64: 2 n^2 k / (P Q) flop per rank, 2 n / nb sums along process rows and
    broadcasts.
    """
    lu, given = lu_and_piv
    n = _square("lu_solve", lu)
    piv = np.asarray(given)
    if piv.dtype.kind not in "iu" or piv.shape != (n,) or (piv < 0).any() or (piv >= n).any():
        raise ShapeError(f"lu_solve: piv must be that of lu_factor, {n} integers from 0 to {n - 1}, got {given!r}")
    right, vector = _right("lu_solve", b, n)
    with lu.grid.operation():
        _check_alike("lu_solve", lu.grid, "b", right)
        _check_pivots("lu_solve", lu)
        return _shaped("lu_solve", _substituted(lu, piv, right), vector)


def _substituted(lu: DistributedMatrix, piv: NDArray[Any], right: Double) -> Double:
    """Substitute with both triangles, within an operation."""
    grid, x = lu.grid, right[permutation(piv, lu.shape[0])]
    for lower in (True, False):
        at = Substitution(lu.layout, grid.p, grid.q, x.shape[1], lower)
        actor = Substituting(at, lu.local, x)
        grid.run(at.steps(), actor)
        x = actor.x
    return x


def solve(
    a: Any,
    b: Any,
    refine: bool = False,
    *,
    equilibrate: bool = True,
    variant: str = "tournament",
    grid: Grid | None = None,
) -> NDArray[Any]:
    """Solve A x = b, as `glla.solve`.

    Parameters
    ----------
    a : DistributedMatrix or array_like, shape (n, n)
        Regular. It is not modified. An array must be the same on all ranks, each of which uses its own part.
    b : array_like, shape (n,) or (n, k)
        Right-hand sides, the same on all ranks.
    refine : bool
        Refine the solution to float64 accuracy: residuals in float64 with the distributed A, corrections from the
        factors. Above n = 30 000 float32 alone leaves few digits.
    equilibrate : bool
        Scale rows and columns by powers of two first.
    variant : str
        As in `lu_factor`.
    grid : Grid, optional
        Of an array: its processes; by default all ranks, with a grid for this call alone.

    Returns
    -------
    ndarray of float32, or with `refine` a `glla.RefinedSolution` of float64
        The same on all ranks.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or mere rounding error by the rule of `glla.solve`; or variant "local" breaks down.
    ConvergenceError
        The residual does not reach its bound.
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.

    Notes
    -----
    Error: norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) < 30, checked for every solution, which is refined if need
    be; with `refine` the componentwise backward error is below 1e-14. Cost: `lu_factor`, then for each round `lu_solve`
    and 2 n^2 k / (P Q) flop in float64 on the hosts. If a pivot is small, or the inverse large, rank 0 gathers the
    factors for the pivot check of `glla.solve`: some 30 n^2 bytes there, 4 n^2 flop per pivot.

    Examples
    --------
    >>> import glla
    >>> with glla.cluster.grid(engine="numpy") as alone:
    ...     A = glla.cluster.DistributedMatrix.from_function(alone, lambda i, j: 2 * (i == j) + (i < j), (2, 2))
    ...     glla.cluster.solve(A, [4, 2])
    array([1.5, 1. ], dtype=float32)
    """
    one_of("solve: variant", variant, VARIANTS)
    if not isinstance(a, DistributedMatrix):
        with nullcontext(grid) if grid is not None else made_grid() as processes:
            a = _dealt(processes, a)
            return solve(a, b, refine, equilibrate=equilibrate, variant=variant)
    if grid not in (None, a.grid):
        raise DeviceMismatchError(f"solve: grid must be that of A, {a.grid}, got {grid}")
    n = _square("solve", a)
    right, vector = _right("solve", b, n)
    grid = a.grid
    with grid.operation():
        _check_alike("solve", grid, "b", right)
        if 0 in right.shape:
            return right.reshape(-1) if vector else right
        e, f = _scaling(a) if equilibrate else (np.zeros(n, np.int32), np.zeros(n, np.int32))
        rows, columns = a.layout.rows(grid.p), a.layout.columns(grid.q)
        exact = np.ldexp(a.local.astype(np.float64), -e[rows][:, None] - f[columns][None, :])
        scaled = DistributedMatrix(grid, a.layout, exact)
        lu, piv, _ = _factored(scaled, "solve", variant)
        u, largest = _check_pivots("solve", lu)
        _check_noise(lu, piv, u, largest)
        x, rounds, error = _solved(scaled, lu, piv, np.ldexp(right, -e[:, None]), refine)
        with np.errstate(over="ignore"):
            x = np.ldexp(x, -f[:, None])
        if not refine:
            return _shaped("solve", x, vector)
        if not np.isfinite(x).all():
            raise NonFiniteError("solve: the solution does not fit float64")
        result = (x[:, 0] if vector else x).view(RefinedSolution)
        result.iterations, result.backward_error = rounds, error
        return result


def _dealt(grid: Grid, values: Any) -> DistributedMatrix:
    """Distribute a square array that is the same on all ranks."""
    with grid.operation():
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise DTypeError(f"solve: A must be a DistributedMatrix or hold real numbers, got {array.dtype}")
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise ShapeError(f"solve: A must be square, got shape {array.shape}")
        _check_alike("solve", grid, "A", array)
    return DistributedMatrix.load(grid, array)


def times(a: DistributedMatrix, x: NDArray[Any], absolute: bool = False) -> Double:
    """A x, or abs(A) x, in float64 on the hosts, within an operation; a strip of rows at a time."""
    rows, columns = a.layout.rows(a.grid.p), a.layout.columns(a.grid.q)
    product, own = np.zeros((a.shape[0], *x.shape[1:])), x[columns]
    for start in range(0, len(rows), CONVERTED):
        strip = a.local[start : start + CONVERTED].astype(np.float64)
        product[rows[start : start + CONVERTED]] = (np.abs(strip, out=strip) if absolute else strip) @ own
    return a.grid.total(product)


def _solved(
    a: DistributedMatrix, lu: DistributedMatrix, piv: NDArray[Any], b: Double, refine: bool
) -> tuple[Double, int, float]:
    """Solution of a scaled system, rounds of refinement, and backward error."""
    norm = float(times(a, np.ones(len(b)), absolute=True).max(initial=0))
    x = _substituted(lu, piv, b)
    error, rounds, before = math.inf, 0, math.inf
    while True:
        if not np.isfinite(x).all():
            raise ConvergenceError("solve: the factors are of no use, entries grow too much; take variant='partial'")
        stored = x if refine else x.astype(np.float32).astype(np.float64)
        tried = stored if np.isfinite(stored).all() else x
        residual = b - times(a, tried)
        if not refine and acceptance.keeps_promise(norm, x, b, residual):
            return x, rounds, error
        size = times(a, np.abs(x), absolute=True) + np.abs(b)
        error = float(backward_errors(residual, size).max(initial=0))  # componentwise
        if refine and error < acceptance.REFINED:
            return x, rounds, error
        if (error > 0.9 * before and rounds > 1) or rounds == acceptance.MOST_ROUNDS:
            raise ConvergenceError(
                f"solve: refinement stopped after {rounds} rounds at a backward error of {error:.3g}; A is "
                "too ill-conditioned for float32 factors, or entries grow too much: take variant='partial', or "
                "numpy.linalg.solve"
            )
        before, rounds = error, rounds + 1
        x = x + _substituted(lu, piv, residual)


def _check_noise(lu: DistributedMatrix, piv: NDArray[Any], u: Double, largest: Double) -> None:
    """Raise for a matrix with a pivot that is mere rounding error: the rule of `glla.solve`."""
    solutions = _substituted(lu, piv, factors.probes(len(u)).astype(np.float64))
    if not acceptance.some_small(u, largest) and not acceptance.inverse_is_large(
        acceptance.norm_of_probes(solutions), largest
    ):
        return
    places = acceptance.suspects(u, largest)
    whole = lu.gathered(root=0)
    errors = lu.grid.total(np.zeros(len(places)) if whole is None else rounding_errors(whole, places))
    noise = acceptance.first_rounded_off(u, largest, errors)
    if noise is not None:
        raise acceptance.singular("solve", len(u), noise)


def _scaling(a: DistributedMatrix) -> tuple[Integers, Integers]:
    """Exponents e, f of powers of two: 2^-(e_i + f_j) a_ij has rows and columns whose largest entry is near 1."""
    grid, (m, n) = a.grid, a.shape
    rows, columns = a.layout.rows(grid.p), a.layout.columns(grid.q)
    size = np.abs(a.local.astype(np.float64))
    most = np.zeros(m)
    most[rows] = size.max(axis=1, initial=0)
    e = exponents(grid.total(most, largest=True))
    size = np.ldexp(size, -e[rows][:, None])
    most = np.zeros(n)
    most[columns] = size.max(axis=0, initial=0)
    return e, exponents(grid.total(most, largest=True))


def _check_pivots(function: str, lu: DistributedMatrix) -> tuple[Double, Double]:
    """U's diagonal and the largest magnitude in U's columns, on all ranks; raise for the first zero pivot."""
    grid, n = lu.grid, lu.shape[0]
    rows, columns = lu.layout.rows(grid.p), lu.layout.columns(grid.q)
    here, row, column = np.intersect1d(rows, columns, assume_unique=True, return_indices=True)
    u, largest = np.zeros(n), np.zeros(n)
    u[here] = lu.local[row, column]
    for start in range(0, len(rows), STRIP):
        strip, upper = lu.local[start : start + STRIP], rows[start : start + STRIP, None] <= columns
        largest[columns] = np.maximum(largest[columns], np.abs(strip).max(axis=0, initial=0, where=upper))
    u, largest = grid.total(u), grid.total(largest, largest=True)
    zero = acceptance.zero_pivot(u)
    if zero is not None:
        raise acceptance.singular(function, n, zero)
    return u, largest


def _check_alike(function: str, grid: Grid, name: str, values: NDArray[Any]) -> None:
    """Raise unless an operand is the same on all ranks."""
    if not grid.alike(repr(values.shape).encode() + (values.astype(np.float64) + 0.0).tobytes()):  # -0 + 0 is 0
        raise ShapeError(f"{function}: {name} must be the same on all ranks")


def _square(function: str, a: DistributedMatrix) -> int:
    if not isinstance(a, DistributedMatrix):
        raise DTypeError(
            f"{function}: A must be a DistributedMatrix, got {type(a).__name__}; see its from_function and scatter"
        )
    if a.shape[0] != a.shape[1]:
        raise ShapeError(f"{function}: A must be square, got shape {a.shape}")
    return a.shape[0]


def _right(function: str, b: Any, n: int) -> tuple[Double, bool]:
    """Right-hand sides as float64, n x k, and whether they are one vector."""
    right = np.asarray(b)
    if right.dtype.kind not in "biuf":
        raise DTypeError(f"{function}: b must hold real numbers, got {right.dtype}")
    if right.ndim not in (1, 2) or len(right) != n:
        raise ShapeError(f"{function}: b must have shape ({n},) or ({n}, k), got {right.shape}")
    wide = right.astype(np.float64).reshape(n, 1 if right.ndim == 1 else right.shape[1])
    if not np.isfinite(wide).all():
        raise NonFiniteError(f"{function}: b must be finite")
    return wide, right.ndim == 1


def _shaped(function: str, x: Double, vector: bool) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        found = x.astype(np.float32)
    if not np.isfinite(found).all():
        raise NonFiniteError(f"{function}: the solution does not fit float32; take refine=True, or scale b")
    if x.any() and not found.any():
        raise NonFiniteError(f"{function}: the solution would be rounded to zero; take refine=True, or scale b")
    result: NDArray[np.float32] = found[:, 0] if vector else found
    return result
