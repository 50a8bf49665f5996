"""Comparison of results with bounds: ``judge_*`` returns a `Verdict`, ``assert_*`` raises, ``residual_*`` a ratio."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from glla.testing.references import Array, Float64, exact_rref, largest, norm, norm_inf, product, quotients, wide
from glla.testing.verdicts import Verdict, asserting, departure, entry, failed, flaw_of, index_of_largest, judged

ROUNDOFF = 2.0**-24
"""Unit roundoff of float32, u: half the distance from 1 to the next larger float32."""

SMALLEST_NORMAL = 2.0**-126
"""Smallest normal float32; a GPU may flush anything smaller to zero."""

RESIDUAL_LIMIT = 30.0
"""Largest normalised residual that passes, in units of u: the threshold of LAPACK's own test programs."""


# Exact results -----------------------------------------------------------------------------------------------------


def judge_exact(actual: Array, expected: ArrayLike, *, dtype: DTypeLike = np.float32) -> Verdict:
    """Compare with ``==``; the error is the largest difference, the bound 0.

    An infinity equals itself; a NaN fails even where one is expected.

    `actual`: the result. `expected`: expected values, in any dtype. `dtype`: expected dtype of the result.

    >>> print(judge_exact(np.ones((2, 2), np.float32), np.eye(2)))
    exact: error 1, bound 0, ratio inf: FAILED (actual[0, 1] is 1.0, expected 0.0)
    """
    wanted = np.asarray(expected)
    flaw = flaw_of("actual", actual, wanted.shape, dtype, finite=False)
    if flaw:
        return failed("exact", 0.0, flaw)
    wrong = np.asarray(actual != wanted)
    if not wrong.any():
        return Verdict("exact", 0.0, 0.0)
    with np.errstate(invalid="ignore"):
        error = float(np.abs(wide(actual)[wrong] - wide(wanted)[wrong]).max())
    worst = index_of_largest(wrong)
    detail = f"{entry('actual', worst)} is {actual[worst]!s}, expected {wanted[worst]!s}"
    return Verdict("exact", error if error > 0 else math.inf, 0.0, detail=detail)


assert_exact = asserting(
    judge_exact, "a result has the expected shape and dtype, holds no NaN, and is equal entry for entry"
)


# Products ----------------------------------------------------------------------------------------------------------


def product_ratios(c: Array, a: Array, b: Array) -> Float64:
    """Error over bound of every element of a product, as `judge_product` has them.

    >>> product_ratios(np.array([[1.5]]), np.ones((1, 1)), np.ones((1, 1))) > 1
    array([[ True]])
    """
    error, bound, _ = _product_error(c, a, b)
    return quotients(error, bound)


def _product_error(c: Array, a: Array, b: Array) -> tuple[Float64, Float64, Float64]:
    """Error of every element, its bound, and its usual limit."""
    k = np.shape(a)[-1]
    magnitude = np.abs(wide(a)) @ np.abs(wide(b))
    slack = 2 * k * SMALLEST_NORMAL
    usual = np.asarray(4 * math.sqrt(k) * ROUNDOFF * magnitude + slack)
    bound = np.asarray(max(k, 4 * math.sqrt(k)) * ROUNDOFF * magnitude + slack)
    return np.asarray(np.abs(wide(c) - product(a, b))), bound, usual


def judge_product(c: Array, a: Array, b: Array, *, dtype: DTypeLike = np.float32) -> Verdict:
    """Judge a product elementwise, against the float64 one; the verdict is that of the worst entry.

    An inner product of length K, summed in whatever order, with or without fused multiply-add, is off by at most
    K u |A||B| to first order, and rounding errors that come at random seldom add up to more than 4 sqrt(K) u |A||B|.
    So an error above the second figure is suspicious and one above the first a failure. Below K = 16 the order of the
    two is the other way round; there 4 sqrt(K) is the bound, since the arithmetic of a GPU need not be correctly
    rounded, and nothing is suspicious. To all of these comes 2 K 2**-126, for each of the K products and K sums may
    have been flushed to zero. The operands' own entries must not be denormal.

    `c`, (m, n): the result. `a`, (m, K), and `b`, (K, n), or vectors: the operands. `dtype`: expected dtype of the
    result; the bound is always float32's.

    >>> a = np.ones((2, 100), np.float32)
    >>> judge_product(a @ a.T, a, a.T).error
    0.0
    """
    expected = product(a, b)
    flaw = flaw_of("C", c, expected.shape, dtype)
    if flaw:
        return failed("product", 0.0, flaw)
    error, bound, usual = _product_error(c, a, b)
    if not error.size:
        return Verdict("product", 0.0, 0.0)
    worst = index_of_largest(quotients(error, bound))
    detail = f"{entry('C', worst)} is {c[worst]!s}, float64 says {expected[worst]:.9g}"
    return Verdict("product", float(error[worst]), float(bound[worst]), float(usual[worst]), detail)


assert_product = asserting(judge_product, "c is a @ b within its bound, or warn with `BoundWarning`")


# Factorisation -----------------------------------------------------------------------------------------------------


def residual_plu(a: Array, p: Array, l: Array, u: Array) -> float:  # noqa: E741
    """Return ||P L U - A|| / (max(m, n) ||A|| u) in the 1-norm; 0 for 0 / 0.

    >>> a = np.eye(3)
    >>> residual_plu(a, a, a, a)
    0.0
    """
    a64 = wide(a)
    difference = norm(wide(p) @ (wide(l) @ wide(u)) - a64)
    return float(quotients(difference, max(a64.shape) * norm(a64) * ROUNDOFF))


def judge_plu(
    a: Array,
    p: Array,
    l: Array,  # noqa: E741
    u: Array,
    *,
    multiplier_limit: float | None = None,
    dtype: DTypeLike = np.float32,
) -> Verdict:
    """Judge the factors of A = P L U by form, exactly, and by `residual_plu`, which must not pass 30.

    P must be a permutation matrix (m x m), L unit lower trapezoidal (m x k) and U upper trapezoidal (k x n), where
    k = min(m, n).

    `a`, (m, n): the matrix that was factored. `p`, `l`, `u`: the factors. `multiplier_limit`: largest magnitude of an
    entry of L: 1 under partial pivoting, or a few u more where the device's division is not exact. `dtype`: expected
    dtype of all three factors.

    >>> a, exchange = np.array([[0, 2], [4, 8]], np.float32), np.array([[0, 1], [1, 0]], np.float32)
    >>> l, u = np.eye(2, dtype=np.float32), np.array([[4, 8], [0, 2]], np.float32)
    >>> judge_plu(a, exchange, l, u).error
    0.0
    >>> judge_plu(a, l, l, u).ok
    False
    >>> judge_plu(a, exchange + l, l, u).detail
    'P is not a permutation matrix'
    """
    m, n = np.shape(a)
    k = min(m, n)
    flaw = flaw_of("P", p, (m, m), dtype) or flaw_of("L", l, (m, k), dtype) or flaw_of("U", u, (k, n), dtype)
    flaw = flaw or _plu_flaw(p, l, u, math.inf if multiplier_limit is None else multiplier_limit)
    return judged("plu", RESIDUAL_LIMIT, flaw, lambda: residual_plu(a, p, l, u))


def _plu_flaw(p: Array, l: Array, u: Array, multiplier_limit: float) -> str:  # noqa: E741
    """Describe a flaw in the form of the factors, '' if there is none."""
    is_permutation = np.isin(p, (0, 1)).all() and (p.sum(axis=0) == 1).all() and (p.sum(axis=1) == 1).all()
    if not is_permutation:
        return "P is not a permutation matrix"
    unit_lower = np.tril(l, -1) + np.eye(*l.shape, dtype=l.dtype)
    flaw = departure("L", l, unit_lower, "L is not unit lower trapezoidal")
    flaw = flaw or departure("U", u, np.triu(u), "U is not upper trapezoidal")
    return flaw or departure("L", l, l.clip(-multiplier_limit, multiplier_limit), f"above {multiplier_limit:.9g}")


assert_plu = asserting(judge_plu, "A = P L U, by form and within the bound")


# Systems and inverses ----------------------------------------------------------------------------------------------


def residual_solve(a: Array, x: Array, b: Array) -> float:
    """Return the largest ||b - A x|| / ((||A|| ||x|| + ||b||) n u) of any column, n = max(A.shape).

    In the 1-norm or the infinity-norm, whichever is larger.

    >>> residual_solve(np.eye(2), np.ones(2), np.ones(2))
    0.0
    """
    a64, x64, b64 = wide(a), wide(x), wide(b)
    difference, found = b64 - a64 @ x64, []
    for size, whole in ((np.sum, norm(a64)), (np.max, norm_inf(a64))):
        error, of_x, of_b = (size(np.abs(one), axis=0, initial=0.0) for one in (difference, x64, b64))
        found.append(largest(quotients(error, (whole * of_x + of_b) * max(a64.shape) * ROUNDOFF)))
    return max(found)


def judge_solve(a: Array, x: Array, b: Array, *, dtype: DTypeLike = np.float32) -> Verdict:
    """Judge a solution of A x = b, of one right-hand side or several, by `residual_solve`, which must not pass 30.

    A small residual says that x solves a system close to the given one, not that x is close to the true solution: the
    relative error of an x that passes may be up to about 30 n cond(A) u. So an error in x, such as a wrong entry, is
    sure to be seen only where A is well conditioned.

    `a`, (n, n): the matrix. `x` and `b`, (n,) or (n, r): the result, and the right-hand side. `dtype`: expected dtype
    of the result.

    >>> a, b = np.array([[2, 0], [0, 4]], np.float32), np.array([2, 2], np.float32)
    >>> judge_solve(a, np.array([1, 0.5], np.float32), b).ok
    True
    >>> judge_solve(a, np.array([1, 0.501], np.float32), b).ok
    False
    """
    flaw = flaw_of("x", x, (np.shape(a)[1], *np.shape(b)[1:]), dtype)
    return judged("solve", RESIDUAL_LIMIT, flaw, lambda: residual_solve(a, x, b))


assert_solve = asserting(judge_solve, "A x = b within the bound")


class BackwardError(NamedTuple):
    """How far A and b must be changed for x to solve them exactly, relatively; see `backward_error`."""

    normwise: float
    componentwise: float


def backward_error(a: Array, x: Array, b: Array) -> BackwardError:
    """Measure the backward error of a solution in float64, the largest of any right-hand side.

    Normwise it is ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity-norm (Rigal and Gaches), componentwise the
    largest entry of |b - A x| / (|A||x| + |b|) (Oettli and Prager). Neither can be measured below about n 2**-53.

    >>> backward_error(np.diag([1.0, 4.0]), np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    BackwardError(normwise=0.3333333333333333, componentwise=0.3333333333333333)
    """
    a64, x64, b64 = wide(a), wide(x), wide(b)
    residual = np.abs(b64 - a64 @ x64)
    norms = norm_inf(a64) * np.abs(x64).max(axis=0, initial=0.0) + np.abs(b64).max(axis=0, initial=0.0)
    normwise = quotients(residual.max(axis=0, initial=0.0), norms)
    componentwise = quotients(residual, np.abs(a64) @ np.abs(x64) + np.abs(b64))
    return BackwardError(largest(normwise), largest(componentwise))


def residual_inverse(a: Array, ainv: Array) -> float:
    """Return ||I - A X|| / (n ||A|| ||X|| u) in the 1-norm, X the inverse.

    >>> residual_inverse(np.diag([2.0, 4.0]), np.diag([0.5, 0.25]))
    0.0
    """
    a64, x64 = wide(a), wide(ainv)
    n = len(a64)
    difference = norm(np.eye(n) - a64 @ x64)
    return float(quotients(difference, n * norm(a64) * norm(x64) * ROUNDOFF))


def judge_inverse(a: Array, ainv: Array, *, dtype: DTypeLike = np.float32) -> Verdict:
    """Judge an inverse by `residual_inverse`, which must not pass 30.

    An error in X that is smaller than about 30 n cond(A) u, relatively, may pass; see `judge_solve`.

    >>> a = np.array([[0, 2], [4, 0]], np.float32)
    >>> judge_inverse(a, np.array([[0, 0.25], [0.5, 0]], np.float32)).ok
    True
    >>> judge_inverse(a, a).ok
    False
    """
    flaw = flaw_of("inverse", ainv, np.shape(a)[::-1], dtype)
    return judged("inverse", RESIDUAL_LIMIT, flaw, lambda: residual_inverse(a, ainv))


assert_inverse = asserting(judge_inverse, "ainv is the inverse of a within the bound")


# Reduced row echelon form ------------------------------------------------------------------------------------------


def residual_rref(a: Array, r: Array, pivots: tuple[int, ...], *, tol: float = 0.0) -> float:
    """Return how far A is from its pivot columns times R, normalised, for the worst column.

    With B = A[:, pivots] it is the largest ||A_j - B R_j|| / (max(m, n) ||B|| ||R_j|| u) in the infinity-norm. Where
    elimination took pivots up to `tol` for zero, what it dropped, at most m * tol, is no error and is taken off.

    >>> a = np.array([[2.0, 4.0], [1.0, 2.0]])
    >>> residual_rref(a, np.array([[1.0, 2.0], [0.0, 0.0]]), (0,))
    0.0
    """
    a64 = wide(a)
    basis, reduced = a64[:, list(pivots)], wide(r)[: len(pivots)]
    difference = np.abs(a64 - basis @ reduced).max(axis=0, initial=0.0)
    scale = max(a64.shape) * norm_inf(basis) * np.abs(reduced).max(axis=0, initial=0.0) * ROUNDOFF
    return largest(quotients((difference - a64.shape[0] * tol).clip(min=0.0), scale))


def judge_rref(
    a: Array, r: Array, pivots: tuple[int, ...], *, tol: float = 0.0, dtype: DTypeLike = np.float32
) -> Verdict:
    """Judge a reduced row echelon form by its form, exactly, and by `residual_rref`, which must not pass 30.

    The form: the pivots are a tuple of ints that increase; each row starts with its pivot, 1; a pivot's column is 0
    elsewhere; the rows past the last pivot are 0.

    A rank that is too small shows in the residual, one that is too large does not, since a matrix of full rank may be
    arbitrarily close. Where the rank is known, compare it too; `judge_rref_exact` does.

    `a`, (m, n): the matrix that was reduced. `r`, (m, n): the result. `pivots`: the pivot columns. `tol`: the absolute
    tolerance below which a pivot was taken for zero. `dtype`: expected dtype of the result.

    >>> a = np.array([[2, 4], [1, 2]], np.float32)
    >>> r = np.array([[1, 2], [0, 0]], np.float32)
    >>> judge_rref(a, r, (0,)).ok
    True
    >>> judge_rref(a, r, (1,)).detail
    'R[0, 1] is 2.0: column 1 of a pivot is not a unit vector'
    """
    flaw = flaw_of("R", r, np.shape(a), dtype) or _rref_flaw(r, pivots)
    return judged("rref", RESIDUAL_LIMIT, flaw, lambda: residual_rref(a, r, pivots, tol=tol))


def _rref_flaw(r: Array, pivots: tuple[int, ...]) -> str:
    """Describe a deviation from the reduced row echelon form with these pivots, '' if there is none."""
    m, n = r.shape
    if not isinstance(pivots, tuple) or any(type(j) is not int for j in pivots):
        return f"pivots must be a tuple of int, got {pivots!r}"
    if list(pivots) != sorted(set(pivots)) or len(pivots) > m or any(not 0 <= j < n for j in pivots):
        return f"pivots must increase, at most {m} of them, from 0 to {n - 1}, got {pivots}"
    columns, rank = list(pivots), len(pivots)
    expected = r.copy()
    expected[:, columns] = np.eye(m, rank, dtype=r.dtype)
    broken = (r != expected).any(axis=0)
    if broken.any():
        return departure("R", r, expected, f"column {int(np.argmax(broken))} of a pivot is not a unit vector")
    expected[:rank][np.arange(n) < np.array(columns, dtype=int)[:, np.newaxis]] = 0
    expected[rank:] = 0
    return departure("R", r, expected, "what is left of a pivot, or below the last one, must be 0")


assert_rref = asserting(judge_rref, "(r, pivots) is the reduced row echelon form of a, by form and within the bound")


def judge_rref_exact(a: Array, r: Array, pivots: tuple[int, ...], *, dtype: DTypeLike = np.float32) -> Verdict:
    """Judge a reduced row echelon form against `exact_rref`: the same pivots, and entries within a bound.

    Let X be the exact form and B = A[:, pivots], which has full column rank. If R passes `judge_rref`, then
    ||B (R_j - X_j)|| <= 30 max(m, n) ||B|| ||R_j|| u for each column j, hence
    ||R_j - X_j|| <= 30 max(m, n) cond(B) ||R_j|| u, and ||R_j|| is ||X_j|| to first order. So the error is the largest
    ||R_j - X_j|| / (max(m, n) cond(B) ||X_j|| u), in the infinity-norm and with cond(B) = ||B|| ||pinv(B)||, and the
    bound 30. It says nothing of the entries once cond(B) nears 1 / u; the pivots and the form are still compared
    exactly.

    `a`, (m, n): the matrix that was reduced, of integers or anything else that float32 holds exactly. `r`, `pivots`,
    `dtype`: as in `judge_rref`.

    >>> ones = np.ones((2, 2))
    >>> judge_rref_exact(ones, np.eye(2, dtype=np.float32), (0, 1)).detail
    'pivots must be (0,), got (0, 1)'
    >>> judge_rref_exact(ones, np.array([[1, 1], [0, 0]], np.float32), (0,)).error
    0.0
    """
    name = "rref_exact"
    flaw = flaw_of("R", r, np.shape(a), dtype) or _rref_flaw(r, pivots)
    if flaw:
        return failed(name, RESIDUAL_LIMIT, flaw)
    fractions, exact_pivots = exact_rref(a)
    if pivots != exact_pivots:
        return failed(name, RESIDUAL_LIMIT, f"pivots must be {exact_pivots}, got {pivots}")
    exact, basis = fractions.astype(np.float64), wide(a)[:, list(pivots)]
    cond = norm_inf(basis) * norm_inf(wide(np.linalg.pinv(basis)))
    difference = np.abs(wide(r) - exact).max(axis=0, initial=0.0)
    scale = max(exact.shape) * cond * np.abs(exact).max(axis=0, initial=0.0) * ROUNDOFF
    return Verdict(name, largest(quotients(difference, scale)), RESIDUAL_LIMIT)


assert_rref_exact = asserting(
    judge_rref_exact, "r has the pivots of `exact_rref`, and its entries are within the bound"
)
