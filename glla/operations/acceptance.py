"""Acceptance tests of factors and solutions: growth, small pivots, rounding errors, float32's limits.

Pure functions of diagnostics that plans have read back; and the verdicts that the `settle` of an operation gives.
Pivot check: a pivot that is small relative to its column, or any pivot if the inverse is large, is compared with its
rounding error, see `rounding_errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glla.errors import GllaError, NonFiniteError, SingularMatrixError
from glla.passes import Forms

T = TypeVar("T")
Floats = NDArray[np.floating]
Float64 = NDArray[np.float64]
Pivot = tuple[int, float, float]
"""A pivot that may be mere rounding error: its index, its value, and that error."""

SINGULAR = 5.0
"""A pivot of at most this number of expected rounding errors counts as zero. Last pivots of singular matrices stayed
below 3.5 (llvmpipe-llvm-15-0-6-256-bits/doubt/2026-11-22T044351Z.json); matrices of condition 10^6 have larger ones,
as `tests/test_solve.py` demands."""

SMALL = 2.0**-10
"""A pivot below this fraction of the entries of U above it is checked."""

GROWTH = 16.0, 4.0
"""Growth of entries that an elimination of n columns may show: the first, and the second times sqrt(n)."""

SMALLEST_RATIO = 2.0**-7
"""Smallest ratio of a block norm to the largest entry of its two columns with which factors are accepted."""

CHECK_PIVOTS_ABOVE = 1.0
"""Estimate norm(inverse) u sqrt(n) max abs(U) above which pivots are checked. Singular matrices had a zero pivot, or
1.4 or more; normal ones 0.004 at n = 512, the median of 40
(llvmpipe-llvm-15-0-6-256-bits/doubt/2026-11-23T113238Z.json)."""

CHECK_PIVOTS_ABOVE_IN_BATCHES = 2.0**-6
"""As `CHECK_PIVOTS_ABOVE`, for two probes in place of four: normal matrices of order 256 have at most 0.024
(llvmpipe-llvm-15-0-6-256-bits/doubt/2026-11-23T113238Z.json)."""

MOST_SUSPECTS = 512
"""Pivots that are checked at most, the smallest relative to their columns first; 4 n^2 flop each."""

PROMISED = 30.0
"""Largest normalised residual of factors, solutions and inverses, as norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u):
the threshold of LAPACK's tests."""

GOOD = 8.0
"""Largest normalised residual of a solution that needs no refinement."""

MOST_ROUNDS = 40
"""Most corrections of a refinement. An error that shrinks has shrunk enough by then."""

TARGET = 8.0 * 2.0**-53
"""Componentwise backward error that ends a refinement, near 1e-15."""

REFINED = 1e-14
"""Largest componentwise backward error of a refined solution that counts as converged."""

LOST = 8.0
"""Largest error of a column of a solution, in n u times its norm, that rounding it to float32 may leave."""

NEAR_ONE = 40
"""Entries between 2^-40 and 2^40 need no scaling on the host: sums and quotients stay far from float32's limits."""

TINY = 2.0**-60
"""Largest entry of a row of a triangle T, or of a column of B or X, below which T X = B is substituted in float64."""

NORMAL = 2.0**-126
"""Smallest normal float32: many GPUs flush smaller numbers to zero."""

FEW_DIGITS = "and too few of its digits are left: float32 loses them below 1.175e-38"
"""Words for an entry below `NORMAL`."""


THRESHOLDS = {
    "SINGULAR": SINGULAR, "SMALL": SMALL, "GROWTH": GROWTH, "SMALLEST_RATIO": SMALLEST_RATIO,
    "CHECK_PIVOTS_ABOVE": CHECK_PIVOTS_ABOVE,
    "PROMISED": PROMISED, "GOOD": GOOD, "MOST_ROUNDS": MOST_ROUNDS, "TARGET": TARGET, "REFINED": REFINED,
    "LOST": LOST, "NEAR_ONE": NEAR_ONE, "TINY": TINY, "NORMAL": NORMAL,
}  # fmt: skip
"""What the scripts of a page take from its document, by name."""


# -- verdicts ----------------------------------------------------------------------------------------------------------


Values = Mapping[str, Any]
"""Known values of a call: its operands and options, and the results of its plans so far, by name."""

BATCHED = "batched"
"""Stage of one matrix of a batch: its plan has run for all, and its own line of diagnostics is known."""

FALLBACK = "fallback"
"""Stage after a rejected result: scaled by powers of two, or in float64 on the host."""


@dataclass(frozen=True)
class Done:
    """It is done."""

    values: Values = field(default_factory=dict)  # what was found on the host, beside the results of the plans
    warning: Warning | None = None  # what the user is warned of


@dataclass(frozen=True)
class Continue:
    """Another plan comes."""

    stage: str  # its name in `Plan.after`
    values: Values = field(default_factory=dict)  # values for it, and for the decisions behind it


Verdict = Done | Continue | GllaError
"""Result of `settle`."""

Settle = Callable[[Forms, str, Values], Verdict]
"""(forms of the operands, name of the stage that has run, "" for the plan of the call, values) -> verdict."""


def unless_error(verdict: T | GllaError) -> T:
    """Return a verdict. Raises GllaError: it is an error."""
    if not isinstance(verdict, GllaError):
        return verdict
    try:
        raise verdict
    finally:
        del verdict  # its traceback holds this frame: as a cycle they would keep textures until garbage is collected


# -- float32's limits -------------------------------------------------------------------------------------------------


def side_by_side(stack: NDArray[Any]) -> NDArray[Any]:
    """Copy a stack of matrices so that its own axis is the last one: NumPy is slow at reducing a short last axis."""
    return np.ascontiguousarray(np.moveaxis(stack, 0, -1))


def near_one(a: Floats) -> bool:
    """Whether all entries are zero or between 2^-`NEAR_ONE` and 2^`NEAR_ONE`, or not finite.

    >>> near_one(np.array([0, -3.5, np.inf])), near_one(np.array([1e-30]))
    (True, False)
    """
    sizes = np.abs(a)
    least = np.min(sizes, initial=np.inf, where=sizes > 0)
    most = np.max(sizes, initial=0.0, where=sizes < np.inf)
    return bool(least >= 2.0**-NEAR_ONE and most <= 2.0**NEAR_ONE)


def each_near_one(stack: Floats) -> NDArray[np.bool_]:
    """As `near_one`, of each matrix of a stack.

    >>> each_near_one(np.array([[0, -3.5], [1, 1e-30]])).tolist()
    [True, False]
    """
    sizes = np.abs(side_by_side(stack))
    far = (sizes < 2.0**-NEAR_ONE) & (sizes > 0) | (sizes > 2.0**NEAR_ONE) & (sizes < np.inf)
    near: NDArray[np.bool_] = ~far.any(axis=tuple(range(far.ndim - 1)))
    return near


def size_near_one(size: float) -> bool:
    """As `near_one`, of a largest entry.

    >>> size_near_one(0.0), size_near_one(1e30)
    (True, False)
    """
    return size == 0 or 2.0**-NEAR_ONE <= size <= 2.0**NEAR_ONE


def largest_near_one(a: Floats) -> bool:
    """As `near_one`, of the largest entry of each column of each matrix alone.

    >>> largest_near_one(np.array([[1e-30, 1e30], [1.0, 2.0]]))
    False
    """
    return near_one(largest_of_columns(a))


def largest_of_columns(a: Floats) -> Floats:
    """Largest magnitude in each column of a matrix, or of each matrix of a stack; 0 in one without rows."""
    largest: Floats = np.maximum(np.max(a, axis=-2, initial=0.0), -np.min(a, axis=-2, initial=0.0))
    return largest


def finite(values: Values, name: str) -> bool:
    """Whether an operand is finite; of one on the device the plan has read back the largest entry."""
    value = values[name]
    return bool(np.isfinite(value if isinstance(value, np.ndarray) else values[f"largest_{name}"]).all())


# -- diagnostics of factors -------------------------------------------------------------------------------------------


def allowed_growth(order: int) -> float:
    """Element growth that a block-pivoted elimination of `order` columns may show.

    Growth of about sqrt(order) is what random matrices have with any pivoting: with the harmonic norm usually 2 at
    order 4 and 38 at 512, and up to 72 (see the experiments under ``benchmarks/results``). It costs no more accuracy
    than the bound n u norm(A) has room for.

    >>> allowed_growth(4), allowed_growth(256)
    (24.0, 80.0)
    """
    return GROWTH[0] + GROWTH[1] * sqrt(order)


def accepted(ratio: float, largest: float, scale: float, order: int = 1) -> bool:
    """Decide from the health of a block-pivoted elimination whether its result is accepted.

    A multiplier is at most 2 / ratio, and an error made at a step is carried on by it; element growth is what the
    backward error of an elimination is proportional to. NaN never passes.

    `ratio`: smallest pivot norm over the largest entry in its column pair (its square, for the geometric norm): neither
    pivot is below half of it. `largest`: largest entry met in any column pair. `scale`: largest entry of the matrix.
    `order`: columns eliminated.

    >>> accepted(0.2, 3.0, 1.0), accepted(0.0, 3.0, 1.0), accepted(0.2, 300.0, 1.0)
    (True, False, False)
    """
    return ratio >= SMALLEST_RATIO and largest <= allowed_growth(order) * scale


def health_accepted(health: NDArray[np.float32], scale: float, order: int) -> bool:
    """As `accepted`, from the health of all steps as texels."""
    ratio, largest = health.reshape(-1, 4)[:, 0], health.reshape(-1, 4)[:, 1]
    return accepted(float(ratio.min()), float(largest.max()), scale, order)


def pairs(texels: NDArray[Any], count: int) -> NDArray[Any]:
    """The first two channels of a line of texels, one after the other: an element for each row, or column."""
    return texels.reshape(-1, 4)[:, :2].reshape(-1)[:count]


def of_diagonal(texels: NDArray[Any], n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """U's diagonal, and the largest magnitude in U's columns, as texels hold them."""
    rows = texels.reshape(-1, 4)
    return rows[:, :2].reshape(-1)[:n].copy(), rows[:, 2:].reshape(-1)[:n].copy()


def growth(u: Floats, largest: Floats, scale: float) -> float:
    """Largest entry of U beside `scale`, that of the matrix; infinite if the factors are not finite."""
    most = float(np.max(largest, initial=0.0))
    if not (np.isfinite(u).all() and np.isfinite(most)):
        return inf
    return most / scale if scale > 0 else 0.0


def grew(growth: float, order: int) -> bool:
    """Whether the entries grew more than those of random matrices do."""
    return not growth <= allowed_growth(order)


def in_bounds(values: Values, n: int) -> bool:
    """Whether the factors of A kept their entries in bounds, and so did the exponents of A's scaling, if any."""
    u, largest = of_diagonal(values["diagonal"], n)
    scales = [values[f"{line}_exponents_read"] for line in ("row", "column") if f"{line}_exponents_read" in values]
    if scales:
        size, near = 1.0, max(np.max(np.abs(pairs(scale, n))) for scale in scales) <= NEAR_ONE
    else:
        a, read = values["A"], values.get("largest_A")
        size = float(np.max(np.abs(a)) if read is None else read.flat[0])
        near = size_near_one(size) and (read is None or size > 0)  # a device reads denormals as 0
    return bool(near) and not grew(growth(u, largest, size), n)


@np.errstate(all="ignore")
def lost_columns(wide: Floats, x: Floats) -> NDArray[np.bool_]:
    """Columns of solutions of which too little is left in float32, see `underflow`."""
    stack = (-1, *wide.shape[-2:])
    own, error = side_by_side(np.abs(wide).reshape(stack)), side_by_side(np.abs(wide - x).reshape(stack))
    lost = np.zeros(own.shape[1:], dtype=bool)
    for size in (np.sum, np.max):  # in the 1-norm and in the infinity-norm
        errors, sizes = (size(one, axis=0, initial=0.0) for one in (error, own))
        lost |= np.isfinite(errors) & (errors > LOST * x.shape[-2] * UNIT_ROUNDOFF * sizes)
    return np.moveaxis(lost, -1, 0).reshape(*wide.shape[:-2], wide.shape[-1])


@np.errstate(all="ignore")
def underflow(function: str, wide: Floats, x: Floats, which: str = "") -> NonFiniteError | None:
    """Error for a column of a solution of which float32 keeps less than the bound of `solve` allows, or None.

    `function`, `which`: for the message. `wide`, `x`: the solution, one matrix or a stack, before and after it was
    rounded to float32.

    >>> wide = np.array([[2.0**-149], [1e-46]])
    >>> underflow("solve", wide, wide.astype(np.float32)) is None
    False
    >>> underflow("solve", wide[:1], wide[:1].astype(np.float32)) is None
    True
    """
    lost = lost_columns(wide, x)
    if not lost.any():
        return None
    place = tuple(int(i) for i in np.argwhere(lost)[0])
    largest = np.max(np.abs(np.moveaxis(wide, -2, -1)[place]))
    return NonFiniteError(
        f"{function}: the solution must fit float32, the largest entry of column {place[-1]}{which} is {largest:.4g}, "
        f"{FEW_DIGITS}; scale b up, and the solution down"
    )


def in_float32(function: str, wide: Float64, which: str = "") -> NDArray[np.float32]:
    """Round a solution to float32.

    Raises NonFiniteError: so little of a column is left that the bound of `solve` is missed, see `underflow`.
    """
    with np.errstate(all="ignore"):  # what is too large is looked at afterwards
        x: NDArray[np.float32] = wide.astype(np.float32)
    unless_error(underflow(function, wide, x, which))
    return x


def not_finite(function: str, name: str, which: str = "") -> NonFiniteError:
    """Make the error for an Array, or a matrix of a stack, that holds NaN or infinity: `which` by `matrix_of_stack`.

    Arithmetic on the device may have made them, as IEEE 754 has it. Arrays of the host were looked at as they came in.
    """
    return NonFiniteError(
        f"{function}: {name} must not hold NaN or infinity, got an Array {f'whose matrix{which}' if which else 'that'} "
        "does; find out which operation made them with its numpy(check_finite=True), or pass check_finite=False to let "
        "them through"
    )


def overflow(function: str) -> NonFiniteError:
    """Error for factors of finite matrices that are not finite."""
    return NonFiniteError(
        f"{function}: the factors do not fit float32, their entries grow; equilibrate the matrix, or use numpy.linalg"
    )


@np.errstate(all="ignore")
def keeps_promise(norm: float, x: Floats, b: Floats, residual: Floats) -> bool:
    """Whether each column of a solution has a normalised residual of at most `PROMISED`, in the infinity-norm."""
    of_x, of_b, error = (np.abs(one).max(axis=0) for one in (x, b, residual))
    return bool((error <= PROMISED * len(b) * UNIT_ROUNDOFF * (norm * of_x + of_b)).all())


# -- pivots that may be rounding errors -------------------------------------------------------------------------------


def some_small(u: Floats, largest: Floats) -> bool:
    """Whether a pivot is small beside its column, or no number."""
    return not (np.abs(u) > SMALL * largest).all()


@np.errstate(all="ignore")
def norm_of_probes(solutions: Floats) -> float:
    """Estimate of the Frobenius norm of an inverse, from solutions for `operations.elimination.factors.probes`.

    Infinite where a solution is not finite.
    """
    norm = np.sqrt(np.sum(np.square(solutions.astype(np.float64))) / solutions.shape[1])
    return float(norm) if np.isfinite(norm) else inf


def inverse_is_large(inverse_norm: Any, largest: Floats, above: float = CHECK_PIVOTS_ABOVE) -> Any:
    """Whether the inverse is so large that any pivot may be a rounding error; of a stack, for each matrix."""
    return ~(inverse_norm * UNIT_ROUNDOFF * np.sqrt(largest.shape[-1]) * np.max(largest, axis=-1) <= above)


def needs_pivot_check(values: Values, u: Floats, largest: Floats) -> bool:
    """Whether a pivot is small beside its column, or the inverse large, by the solutions for random numbers."""
    return some_small(u, largest) or bool(inverse_is_large(norm_of_probes(values["probe_solutions"]), largest))


def suspects(u: Floats, largest: Floats) -> NDArray[np.intp]:
    """Places of the pivots that a close look compares with their rounding errors; none where one of them is zero."""
    places = np.flatnonzero(np.isfinite(u))
    if not u.all():
        return places[:0]
    if len(places) > MOST_SUSPECTS:
        sizes = np.abs(u[places]) / largest[places]
        places = np.sort(places[np.argsort(sizes, kind="stable")[:MOST_SUSPECTS]])
    return places


def errors_of_suspects(lu: NDArray[np.float32], diagonal: NDArray[Any]) -> tuple[Float64]:
    """Rounding errors of the `suspects` among the pivots of packed factors: the work of a close look."""
    return (rounding_errors(lu, suspects(*of_diagonal(diagonal, len(lu)))),)


def zero_pivot(u: Floats) -> Pivot | None:
    """The first pivot that is zero."""
    zeros = np.flatnonzero(u == 0)
    return (int(zeros[0]), 0.0, 0.0) if len(zeros) else None


def first_rounded_off(u: Floats, largest: Floats, errors: Floats, margin: float = 1.0) -> Pivot | None:
    """The first of the `suspects` that is at most `margin` times `SINGULAR` of its rounding errors."""
    places, error = suspects(u, largest), margin * SINGULAR * errors
    bad = np.flatnonzero(~(np.abs(u[places]) > error))
    return (int(places[bad[0]]), float(u[places[bad[0]]]), float(error[bad[0]])) if len(bad) else None


def singular(function: str, order: int, pivot: Pivot, which: str = "") -> SingularMatrixError:
    """Error for a pivot that is zero, or nothing but rounding error.

    >>> print(singular("inv", 1, (0, 0.0, 0.0)))
    inv: Singular matrix: pivot 0 of 1 is 0; remove dependent rows or columns, or find them with rref
    """
    place, value, error = pivot
    why = f", which may all be rounding error (up to {error:.3g})" if error else ""
    return SingularMatrixError(
        f"{function}: Singular matrix{which}: pivot {place} of {order} is {value:.3g}{why}; remove dependent rows or "
        "columns, or find them with rref"
    )


def matrix_of_stack(index: tuple[int, ...]) -> str:
    """Words for a message: which matrix of a stack is meant; none if there is no stack.

    >>> matrix_of_stack((2, 1)), matrix_of_stack(())
    (' at index (2, 1) of the stack', '')
    """
    return f" at index ({', '.join(map(str, index))}) of the stack" if index else ""


# -- rounding errors of pivots -----------------------------------------------------------------------------------------


UNIT_ROUNDOFF = 2.0**-24
"""Largest relative error of a rounding to float32."""

TRIANGLE = 64
"""Rows of a diagonal block of a substitution on the host."""


def rounding_errors(lu: NDArray[np.float32], places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Rounding error to be expected in some pivots, none of those before them being zero.

    Factors that were computed are those of A + E, where e_kj is the sum of the rounding errors of the products
    l_ki u_ij, each of about u |l_ki u_ij|. Such an E changes pivot i by w^T E z, where w^T = (-(L^-T l_i)^T, 1)
    and z = (-U^-1 u_i, 1) are what row and column i were reduced with. Errors that come at random add up as the
    root of the sum of their squares: Wilkinson's argument of 1961, and Higham's chapter 9 for E. A row that nothing
    was subtracted from (all its l are 0) has no error: a triangle is regular, however large its condition.

    All of it in float64, where neither w nor z leave the range; an error that does is infinite.

    `lu`, (..., n, n): packed factors, or a stack of them. `places`: which pivots.
    """
    factors = lu.astype(np.float64)
    turned = np.swapaxes(factors, -1, -2)
    rows = np.arange(lu.shape[-1])[:, np.newaxis]
    own, before = rows == places, rows < places
    with np.errstate(all="ignore"):
        z = _backward(factors, np.where(before, factors[..., places], 0.0), np.diagonal(factors, axis1=-2, axis2=-1))
        w = _backward(turned, np.where(before, turned[..., places], 0.0), np.ones(lu.shape[:-1]))
        np.square(factors, out=factors)
        to_the_right = np.triu(factors) @ (np.square(z) + own)
        weights = np.square(w) + own
        multipliers = np.tril(factors, -1)
        reduced = (multipliers != 0).any(axis=-1, keepdims=True)
        from_the_left = np.swapaxes(multipliers, -1, -2) @ weights + reduced * weights
        squares = np.sum(from_the_left * to_the_right, axis=-2)
        return np.where(np.isnan(squares), np.inf, UNIT_ROUNDOFF * np.sqrt(squares))


def _backward(triangle: NDArray[np.float64], b: NDArray[np.float64], diagonal: NDArray[np.float64]) -> Any:
    """Solve T X = B by blocks: T is the strict upper triangle of a matrix, and this diagonal."""
    x = b.copy()
    for end in range(x.shape[-2], 0, -TRIANGLE):
        block = slice(max(end - TRIANGLE, 0), end)
        own = np.triu(triangle[..., block, block], 1)
        own = np.where(np.eye(own.shape[-1], dtype=bool), diagonal[..., np.newaxis, block], own)
        x[..., block, :] = np.linalg.solve(own, x[..., block, :] - triangle[..., block, end:] @ x[..., end:, :])
    return x
