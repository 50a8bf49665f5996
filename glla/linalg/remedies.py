"""What the usual way may get wrong: entries that grow, pivots that may be noise, values near float32's limits.

The usual way (equilibrate on the device, partial pivoting, two substitutions) tells from a few figures when it must not
be trusted. The system then comes here, on the host, and goes up a ladder:

1.  Rows and columns are scaled by powers of two on the host, which can hold denormals, and so are the right-hand sides.
2.  Partial pivoting. A pivot that is nothing but rounding error: the matrix is singular. No growth: done.
3.  Growth: the residual, in float64, says whether the solution is good all the same; if not, it is refined. So it is
    where entries of a right-hand side differ by more than float32's range.
4.  If that does not converge either, complete pivoting: the columns are put into the order in which it takes them. Then
    2 and 3 again.
5.  An error.

What it costs is of no concern: no random matrix gets here.

Sources: Wilkinson 1961 (growth); Higham 2002, chapters 9 and 12.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Array
from glla.errors import ConvergenceError, GrowthWarning, NonFiniteError
from glla.gl import Device
from glla.gl.observe import host_step
from glla.linalg.factors import Factors, overflow
from glla.linalg.refine import RefinedSolution, refined
from glla.operations import care
from glla.operations.det import sign_and_log
from glla.operations.elimination.complete import complete_order
from glla.operations.elimination.noise import UNIT_ROUNDOFF
from glla.operations.elimination.pivot import allowed_growth
from glla.operations.elimination.plu import SCALED, permutation_of, scaled_by_one
from glla.operations.scaling import Integers, scaling

Float64 = NDArray[np.float64]

PROMISED = 30.0
"""Largest normalised residual of factors and solutions that is promised, the threshold of LAPACK's tests."""

GOOD = 8.0
"""Largest normalised residual of a solution that needs no refinement."""

SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)
"""Smallest normal float32; a GPU may take smaller numbers for zero."""

NEAR_ONE = 40
"""Entries between 2^-40 and 2^40 need no scaling on the host: sums and quotients stay far from float32's limits."""


def near_one(a: NDArray[np.floating]) -> bool:
    """Tell whether all entries are zero or between 2^-`NEAR_ONE` and 2^`NEAR_ONE`, or not finite.

    >>> near_one(np.array([0, -3.5, np.inf])), near_one(np.array([1e-30]))
    (True, False)
    """
    sizes = np.abs(a)
    least = np.min(sizes, initial=np.inf, where=sizes > 0)
    most = np.max(sizes, initial=0.0, where=sizes < np.inf)
    return bool(least >= 2.0**-NEAR_ONE and most <= 2.0**NEAR_ONE)


def size_near_one(size: float) -> bool:
    """As `near_one`, of a largest entry.

    >>> size_near_one(0.0), size_near_one(1e30)
    (True, False)
    """
    return size == 0 or 2.0**-NEAR_ONE <= size <= 2.0**NEAR_ONE


def largest_near_one(a: NDArray[np.floating]) -> bool:
    """As `near_one`, of the largest entry of each column of each matrix alone.

    >>> largest_near_one(np.array([[1e-30, 1e30], [1.0, 2.0]]))
    False
    """
    return near_one(np.maximum(np.max(a, axis=-2, initial=0.0), -np.min(a, axis=-2, initial=0.0)))


Again = Callable[[Array, str], tuple[Array, NDArray[np.int32]]]
"""Factors a matrix with one pivoting or another; gives packed factors, and LAPACK's pivots."""

Factorise = Callable[[Array], Factors]
"""Factors a matrix with partial pivoting: on a device, or by LAPACK."""


def on_device(device: Device) -> Factorise:
    """Give what factors a square array on a device."""

    def factored(a: Array) -> Factors:
        results = device.run(care.made_on_device(len(a), device.limits), A=a)
        return Factors.of(device, a.shape, results)

    return factored


@dataclass(frozen=True)
class Attempt:
    """Factors of A[:, order], and how much their entries grew."""

    factors: Factors
    order: NDArray[np.intp]
    growth: float
    last: bool

    @property
    def grew(self) -> bool:
        """Whether the entries grew more than those of random matrices do."""
        return not self.growth <= allowed_growth(len(self.order))


def _attempts(factorise: Factorise, a: Array) -> Iterator[Attempt]:
    """Factor with partial pivoting, then with complete."""
    scale = float(np.max(np.abs(a)))
    for last in (False, True):
        columns = _complete_order(a) if last else np.arange(len(a))
        factors = factorise(np.ascontiguousarray(a[:, columns]))
        yield Attempt(factors, columns, factors.growth(scale), last)


def pivoted(factorise: Factorise, a: Array) -> Attempt:
    """Factor with partial pivoting, or with complete where the entries grew."""
    for attempt in _attempts(factorise, a):
        if not attempt.grew:
            break
    return attempt


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def solve(factorise: Factorise, function: str, a: Array, b: Array, equilibrate: bool = True, member: str = "") -> Array:
    """Solve A X = B with care.

    Parameters
    ----------
    factorise : callable
        Where.
    function, member : str
        For the messages: who asks, and which matrix of a stack this is.
    a, b : ndarray of float32, shapes (n, n) and (n, k)
        Finite, n > 0.
    equilibrate : bool
        Scale rows and columns by themselves; otherwise all by one power of two.

    Raises
    ------
    SingularMatrixError
        A pivot is zero, or nothing but rounding error.
    NonFiniteError, ConvergenceError
        Not even complete pivoting keeps the entries in range, or gives a small residual; the solution is too small.
    """
    wide = a.astype(np.float64)
    rows, columns = _scaling(wide) if equilibrate else _one_scale(wide)
    scaled = np.ldexp(wide, -rows - columns).astype(np.float32)
    rhs = np.ldexp(b.astype(np.float64), -rows)
    sizes = np.frexp(np.max(np.abs(rhs), axis=0, initial=0.0))[1]
    rhs = np.ldexp(rhs, -sizes)
    y = _solved(factorise, function, scaled, rhs, member)
    wide = np.ldexp(y, sizes - np.reshape(columns, (-1, 1)))
    x: Array = wide.astype(np.float32)
    _refuse_underflow(function, wide, x, member)
    return x


def _refuse_underflow(function: str, x: Float64, rounded: Array, member: str) -> None:
    """Raise if a solution is so small that float32 does not keep enough of it."""
    with np.errstate(invalid="ignore"):
        error, size = np.sum(np.abs(x - rounded), axis=0), np.sum(np.abs(x), axis=0)
        lost = np.isfinite(error) & (error > GOOD * len(x) * UNIT_ROUNDOFF * size)
    if lost.any():
        column = int(np.argmax(lost))
        raise NonFiniteError(
            f"{function}: the solution must fit float32, the largest entry of column {column}{member} is "
            f"{np.max(np.abs(x[:, column])):.4g}, the smallest float32 1.401e-45; scale b up, and the solution down"
        )


_scaling = host_step(care.SCALE)(scaling)
_complete_order = host_step(care.ORDER)(complete_order)


@host_step(care.SCALE)
def _one_scale(a: Float64) -> tuple[Integers, Integers]:
    """Exponents, as those of `scaling`, that bring the largest entry of all near 1."""
    e = np.full((len(a), 1), np.frexp(np.max(np.abs(a)))[1] - 1, dtype=np.int32)
    return e, np.zeros((1, len(a)), dtype=np.int32)


def _solved(factorise: Factorise, function: str, a: Array, b: Float64, member: str) -> Float64:
    """Go up the ladder with a system that is scaled."""
    growth = np.inf
    right = b.astype(np.float32)
    lost = bool(((b != 0) & (np.abs(right) < SMALLEST_NORMAL)).any())  # beside larger ones in their column
    for attempt in _attempts(factorise, a):
        factors, order = attempt.factors, attempt.order
        growth = min(growth, attempt.growth)
        if np.isinf(attempt.growth):
            continue
        if not attempt.grew or attempt.last:
            factors.check_regular(function, member)
        elif factors.doubtful:
            continue
        x = np.empty(b.shape)
        x[order] = factors.solve_array(right)
        good = not attempt.grew or residual(a, x, b) <= GOOD
        if good and not lost:
            return x
        try:
            x[order] = refined(function, factors, a[:, order].astype(np.float64), b)
        except ConvergenceError:
            if not good:
                continue
        return x
    if np.isinf(growth):
        raise overflow(function)
    raise ConvergenceError(
        f"{function}: entries grow {growth:.3g} times in the elimination{member}, which costs more digits than float32 "
        "has; use numpy.linalg"
    )


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def refine(
    factorise: Factorise,
    function: str,
    a: Float64,
    b: Float64,
    scaled: Array,
    exponents: tuple[Integers, Integers],
    member: str,
) -> RefinedSolution:
    """Solve A X = B in float64, with partial pivoting or, where that does not converge, with complete.

    `scaled` is A 2^-(e_i + f_j), `exponents` are e (a column) and f (a row). Raises as `solve`.
    """
    rows, columns = exponents
    if not (np.isfinite(a).all() and np.isfinite(b).all()):  # let through on purpose; it does not converge
        return refined(function, factorise(scaled), a, b, rows, columns)
    for attempt in _attempts(factorise, scaled):
        factors, order = attempt.factors, attempt.order
        if not attempt.last and (np.isinf(attempt.growth) or (attempt.grew and factors.doubtful)):
            continue
        if np.isinf(attempt.growth):
            raise overflow(function)
        factors.check_regular(function, member)
        try:
            x = refined(function, factors, a[:, order], b, rows, columns[:, order])
        except ConvergenceError:
            if attempt.last or not attempt.grew:
                raise
        else:
            break
    return x[np.argsort(order)].view(RefinedSolution)


def residual(a: NDArray[np.floating], x: Float64, b: NDArray[np.floating]) -> float:
    """Largest norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) of a column, in the 1-norm and in float64.

    Infinite where it is not a number. That of a solution of zeros for zeros is 0.

    >>> residual(np.eye(2), np.ones((2, 1)), np.ones((2, 1)))
    0.0
    """
    wide = np.asarray(a, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.sum(np.abs(b - wide @ x), axis=0)
        scale = np.max(np.sum(np.abs(wide), axis=0)) * np.sum(np.abs(x), axis=0) + np.sum(np.abs(b), axis=0)
        ratios = error / np.where(scale == 0, 1.0, scale * len(wide) * UNIT_ROUNDOFF)
    return float(np.max(np.where(np.isfinite(ratios), ratios, np.inf), initial=0.0))


@dataclass(frozen=True)
class Packed:
    """Packed factors on the host, and how good they are.

    Attributes
    ----------
    lu, pivots : ndarray
        As LAPACK's getrf has them.
    growth : float
        Largest entry of U beside that of A.
    residual : float
        norm(P L U - A) / (max(m, n) norm(A) u), in the 1-norm; infinite where the factors are not finite.
    """

    lu: Array
    pivots: NDArray[np.int32]
    growth: float
    residual: float


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def factors(
    function: str,
    a: Array,
    pivotings: Sequence[str],
    again: Again,
    check_finite: bool = True,
) -> Packed:
    """Factor with care: scaled by a power of two, with the first pivoting that meets the bound.

    Parameters
    ----------
    function : str
        For the warning.
    a : ndarray of float32, shape (m, n)
        Finite, not empty.
    pivotings : sequence of str
        Which to try, in this order.
    again : callable
        (A, pivoting) -> packed factors, and LAPACK's pivots.
    check_finite : bool
        Factors that are not finite are an error.

    Raises
    ------
    NonFiniteError
        Entries leave float32's range with every pivoting.

    Warns
    -----
    GrowthWarning
        None does; the best one is returned.
    """
    scaled, exponent = host_step(SCALED)(scaled_by_one)(a)
    best: Packed | None = None
    for pivoting in pivotings:
        packed = _judged(scaled, *again(scaled, pivoting))
        if best is None or packed.residual < best.residual:
            best = packed
        if best.residual <= PROMISED:
            break
    assert best is not None, "no pivoting was asked for"
    if np.isinf(best.residual) and check_finite:
        raise overflow(function)
    if not best.residual <= PROMISED:
        warnings.warn(
            f"{function}: entries grow {best.growth:.3g} times in the elimination, and the residual norm(P L U - A) / "
            f"(max(m, n) norm(A) u) is {best.residual:.3g}, {PROMISED:g} is promised; glla.solve, inv and det may "
            "exchange columns too, scipy.linalg.lu has float64",
            GrowthWarning,
            stacklevel=4,
        )
    upper = np.triu(np.ones(a.shape, dtype=bool))
    return replace(best, lu=np.ldexp(best.lu, np.where(upper, exponent, 0)))


def _judged(a: Array, lu: Array, pivots: NDArray[np.int32]) -> Packed:
    order = permutation_of(pivots, len(a))
    k = min(a.shape)
    wide = lu.astype(np.float64)
    upper = np.triu(wide[:k])
    growth = float(np.max(np.abs(upper)) / np.max(np.abs(a), initial=np.finfo(np.float32).tiny))
    with np.errstate(over="ignore", invalid="ignore"):
        difference = (np.tril(wide[:, :k], -1) + np.eye(len(a), k)) @ upper - a[order]
        error = float(np.max(np.sum(np.abs(difference), axis=0)))
    norm = float(np.max(np.sum(np.abs(a.astype(np.float64)), axis=0)))
    residual = error / (max(a.shape) * norm * UNIT_ROUNDOFF) if norm > 0 else 0.0
    return Packed(lu, pivots, growth, residual if np.isfinite(residual) else np.inf)


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def determinant(factorise: Factorise, a: Array) -> tuple[float, float]:
    """Sign and logarithm of a determinant, with care; a finite matrix of order at least 1.

    Where not even complete pivoting keeps the entries in range, the logarithm is infinite.
    """
    wide = a.astype(np.float64)
    rows, columns = _scaling(wide)
    scaled = np.ldexp(wide, -rows - columns).astype(np.float32)
    exponents = int(rows.sum() + columns.sum())
    attempt = pivoted(factorise, scaled)
    u, pivots = attempt.factors.diagonal[0], attempt.factors.pivots
    if np.isinf(attempt.growth):
        return float("nan"), float("inf")
    sign, logarithm = sign_and_log(u, pivots, exponents)
    return float(sign) * _parity(attempt.order), float(logarithm)


def _parity(order: NDArray[np.intp]) -> int:
    """Sign of a permutation.

    >>> _parity(np.array([0, 1, 2])), _parity(np.array([1, 0, 2]))
    (1, -1)
    """
    left, sign = [int(i) for i in order], 1
    for i in range(len(left)):
        while left[i] != i:
            j = left[i]
            left[i], left[j] = left[j], left[i]
            sign = -sign
    return sign


def trusted(factors: Factors, scale: Any) -> bool:
    """Tell whether the entries of some factors stayed in bounds, and so did the exponents of their scaling.

    Synchronises. `scale` gives the largest entry of the matrix; it is asked only if the matrix was not equilibrated.
    """
    if factors.row_exponents is None:
        size = float(scale())
        near = size_near_one(size)
    else:
        size = 1.0
        near = max(int(np.max(np.abs(part))) for part in factors.exponents) <= NEAR_ONE
    return near and factors.growth(size) <= allowed_growth(factors.shape[0])


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def within_range(lu: Array, b: Array, solve: Callable[[Array, Array], Array]) -> Array:
    """Solve with packed factors whose entries, or right-hand sides, are near float32's limits; both are stacks.

    Powers of two are taken out of U and out of the columns of B, and put into the solution: solve(LU, B).
    """
    upper = np.triu(np.ones(lu.shape[1:], dtype=bool))
    of_factors = np.frexp(np.max(np.abs(np.triu(lu)), axis=(1, 2)))[1][:, np.newaxis, np.newaxis]
    of_columns = np.frexp(np.max(np.abs(b), axis=1, keepdims=True, initial=0.0))[1]
    x = solve(np.ldexp(lu, np.where(upper, -of_factors, 0)), np.ldexp(b, -of_columns))
    result: Array = np.ldexp(x.astype(np.float64), of_columns - of_factors).astype(np.float32)
    return result
