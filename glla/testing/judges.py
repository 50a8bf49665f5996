"""The judge of each public function: correctness of a result, its error, and the place of the error.

`JUDGES` is the table, from the name of a function to its `Judge`. Inputs are the function's operands as NumPy arrays, a
tuple; outputs are its results, as NumPy arrays: an array, a number, or the tuple of several.

Examples
--------
>>> a = np.array([[2, 0], [0, 4]], np.float32)
>>> JUDGES["inv"].verdict((a,), np.diag([0.5, 0.25]).astype(np.float32)).ok
True
>>> JUDGES["slogdet"].verdict((a,), (np.float32(-1), np.float32(np.log(8)))).detail
'the sign is -1.0, float64 says 1.0'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from glla.testing.bounds import (
    RESIDUAL_LIMIT,
    ROUNDOFF,
    judge_inverse,
    judge_plu,
    judge_product,
    judge_rref,
    judge_solve,
    product_ratios,
)
from glla.testing.references import (
    Array,
    Float64,
    five_points,
    largest,
    norm,
    of_diagonals,
    of_upper_band,
    permutation_from_piv,
    product,
    quotients,
    row_order,
    symmetric,
    unpack_lu,
    wide,
)
from glla.testing.spectral import judge_eigh, judge_values, reference, tridiagonal
from glla.testing.spectral.singular import judge_svd, product_of_svd
from glla.testing.verdicts import Verdict, failed, flaw_of, judged

Arrays = tuple[Array, ...]


@dataclass(frozen=True)
class Judge:
    """The tests of a function's results."""

    verdict: Callable[[Arrays, Any], Verdict]  # (inputs, outputs) -> `Verdict`: the error and its bound
    # (inputs, outputs) -> mean absolute error of an entry, against float64. NaN or infinity for a wrong result
    deviation: Callable[[Arrays, Any], float]
    error: str  # that deviation as a formula
    result: str = "X"  # name of the matrix to which `ratios` refers
    # (inputs, outputs) -> error over bound of each element of that matrix, or None without an elementwise bound
    ratios: Callable[[Arrays, Any], Float64 | None] = lambda inputs, outputs: None


def _mean(difference: Array) -> float:
    return float(np.abs(difference).mean(dtype=np.float64)) if difference.size else 0.0


# Factors -----------------------------------------------------------------------------------------------------------


class PackedFactors(NamedTuple):
    """Packed factors of the plans of ``plu``: P A Q = L U, L and U in one matrix."""

    LU: Array  # (m, n): L below the diagonal, U on and above it
    pivots: Array  # LAPACK's interchanges: row i was exchanged with row pivots[i]
    columns: Array | None = None  # interchanges of columns, after complete pivoting


def judge_packed_factors(a: Array, lu: Array, rows: Array, columns: Array | None = None) -> Verdict:
    """Judge packed factors by `judge_plu`, after a check of the interchanges.

    `a`, (m, n): the matrix that was factored. `lu`, (m, n): L and U in one matrix. `rows`, (min(m, n),): row i was
    exchanged with row rows[i]. `columns`: likewise, if columns were exchanged.

    >>> a = np.array([[0, 2], [4, 8]], np.float32)
    >>> judge_packed_factors(a, a[::-1], np.array([1, 1])).error
    0.0
    >>> judge_packed_factors(a, a[::-1], np.array([1, 2])).detail
    'piv[1] is 2, there are 2 rows'
    """
    m, n = np.shape(a)
    flaw = flaw_of("LU", lu, (m, n), np.float32) or _exchange_flaw("piv", "rows", rows, m, min(m, n))
    if columns is not None:
        flaw = flaw or _exchange_flaw("columns", "columns", columns, n, min(m, n))
    if flaw:
        return failed("plu", RESIDUAL_LIMIT, flaw)
    order = slice(None) if columns is None else row_order(columns, n)
    return judge_plu(np.asarray(a)[:, order], permutation_from_piv(rows, m), *unpack_lu(lu))


def _exchange_flaw(name: str, lines: str, places: Any, count: int, steps: int) -> str:
    """Describe a flaw in LAPACK's interchanges of `count` rows or columns, '' if there is none."""
    places = np.asarray(places)
    if places.shape != (steps,):
        return f"{name} must have shape {(steps,)}, got {places.shape}"
    if places.dtype.kind not in "iu":
        return f"{name} must be integers, got {places.dtype}"
    wrong = np.flatnonzero((places < 0) | (places >= count))
    return f"{name}[{wrong[0]}] is {places[wrong[0]]}, there are {count} {lines}" if wrong.size else ""


def _packed(outputs: Any) -> PackedFactors | None:
    """Return packed factors from a mapping or a record; None if the outputs are P, L and U."""
    if isinstance(outputs, Mapping):
        return PackedFactors(outputs["LU"], outputs["pivots"], outputs.get("columns"))
    if hasattr(outputs, "LU"):
        return PackedFactors(outputs.LU, outputs.pivots, getattr(outputs, "columns", None))
    return None


def _judge_plu(inputs: Arrays, outputs: Any) -> Verdict:
    packed = _packed(outputs)
    return judge_plu(inputs[0], *outputs) if packed is None else judge_packed_factors(inputs[0], *packed)


def _factor_error(inputs: Arrays, outputs: Any) -> tuple[Float64, Float64]:
    """L U - P A Q, and |L||U|; infinite for invalid interchanges."""
    a = wide(inputs[0])
    packed = _packed(outputs)
    if packed is None:
        p, lower, upper = (wide(factor) for factor in outputs)
        reordered = p.T @ a
    else:
        m, n = a.shape
        steps = min(m, n)
        rows, columns = packed.pivots, np.arange(steps) if packed.columns is None else packed.columns
        if _exchange_flaw("piv", "rows", rows, m, steps) or _exchange_flaw("columns", "columns", columns, n, steps):
            return np.full(a.shape, np.inf), np.zeros(a.shape)
        lower, upper = unpack_lu(wide(packed.LU))
        reordered = a[np.ix_(row_order(rows, m), row_order(columns, n))]
    return np.asarray(lower @ upper - reordered), np.asarray(np.abs(lower) @ np.abs(upper))


def _factor_ratios(inputs: Arrays, outputs: Any) -> Float64:
    """Elementwise |L U - P A Q| over (n + 4) u |L||U|: Higham 2002, theorem 9.3."""
    error, size = _factor_error(inputs, outputs)
    return quotients(np.abs(error), (min(error.shape) + 4) * ROUNDOFF * size)


_factors = Judge(
    verdict=_judge_plu,
    deviation=lambda inputs, outputs: _mean(_factor_error(inputs, outputs)[0]),
    error="|P L U - A|",
    result="L U",
    ratios=_factor_ratios,
)


# Systems -----------------------------------------------------------------------------------------------------------


def _solution(a: Array, b: Array) -> Float64:
    """A^-1 b in float64, NaN if A is singular."""
    try:
        return np.asarray(np.linalg.solve(wide(a), wide(b)))
    except np.linalg.LinAlgError:
        return np.full(np.shape(b), np.nan)


def _triangular_ratios(inputs: Arrays, x: Array) -> Float64:
    """Elementwise |T X - B| over (n + 4) u |T||X|: Higham 2002, theorem 8.5."""
    t, b = (wide(array) for array in inputs)
    size = np.abs(t) @ np.abs(wide(x))
    return quotients(np.abs(t @ wide(x) - b), (len(t) + 4) * ROUNDOFF * size)


def _with_interchanges(inputs: Arrays) -> Arrays:
    """Operands of `lu_solve`; without interchanges no rows were exchanged."""
    lu, *piv, b = inputs
    return lu, piv[0] if piv else np.arange(len(lu)), b


def _judge_lu_solve(inputs: Arrays, x: Array) -> Verdict:
    """Judge the solution of P L U x = b by its residual, over (|| |L||U| || ||x|| + ||b||) n u, of the worst column.

    Both substitutions are stable in |L||U|, which is larger than A where entries have grown: Higham 2002, theorem 9.4.
    """
    lu, piv, b = _with_interchanges(inputs)
    flaw = flaw_of("x", x, np.shape(b), np.float32)
    return judged("lu_solve", RESIDUAL_LIMIT, flaw, lambda: _by_factors(*unpack_lu(wide(lu)), x, b[row_order(piv)]))


def _by_factors(lower: Float64, upper: Float64, x: Array, b: Array) -> float:
    """Residual of L U x = b over (|| |L||U| || ||x|| + ||b||) n u, of the worst column."""
    x64, b64 = wide(x), wide(b)
    scale = norm(np.abs(lower) @ np.abs(upper)) * np.abs(x64).sum(axis=0) + np.abs(b64).sum(axis=0)
    return largest(quotients(np.abs(b64 - lower @ (upper @ x64)).sum(axis=0), scale * len(lower) * ROUNDOFF))


def _lu_solve_deviation(inputs: Arrays, x: Array) -> float:
    lu, piv, b = _with_interchanges(inputs)
    return _mean(wide(x) - _solution(product(*unpack_lu(wide(lu))), np.asarray(b)[row_order(piv)]))


# Reduced row echelon form ------------------------------------------------------------------------------------------


def _expanded(a: Array, pivots: tuple[int, ...]) -> Float64:
    """The reduced form with these pivots, in float64: each column of A, expanded in the pivot columns."""
    a64 = wide(a)
    basis, result = a64[:, list(pivots)], np.zeros(a64.shape)
    if basis.shape[0] == basis.shape[1]:
        result[: len(pivots)] = _solution(basis, a64)
    elif pivots:
        result[: len(pivots)] = np.linalg.lstsq(basis, a64)[0]
    result[:, list(pivots)] = np.eye(len(a64), len(pivots))
    return result


def _rref_deviation(inputs: Arrays, outputs: Any) -> float:
    """Mean over the columns without a pivot: the others are exact, or the form is wrong."""
    (a,), (r, pivots) = inputs, outputs
    if not _judge_form(a, pivots):
        return math.inf
    free = np.setdiff1d(np.arange(np.shape(a)[1]), pivots)
    return _mean((wide(r) - _expanded(a, pivots))[: len(pivots), free])


def _judge_form(a: Array, pivots: Any) -> bool:
    """Whether pivots are valid: increasing column indices."""
    m, n = np.shape(a)
    return list(pivots) == sorted(set(pivots)) and len(pivots) <= m and all(0 <= j < n for j in pivots)


def _rref_ratios(inputs: Arrays, outputs: Any) -> Float64:
    """Elementwise |R - X|, X the form in float64: over the effect on X of an error of the verdict's size in A.

    With B the pivot columns that is 30 max(m, n) u |B^+| (|B||X| + |A|), and 0 for the pivot columns themselves.
    """
    (a,), (r, pivots) = inputs, outputs
    if not _judge_form(a, pivots):
        return np.full(np.shape(a), np.inf)
    a64, expected, rank = wide(a), _expanded(a, pivots), len(pivots)
    basis, bound = a64[:, list(pivots)], np.zeros(a64.shape)
    size = np.abs(basis) @ np.abs(expected[:rank]) + np.abs(a64)
    bound[:rank] = RESIDUAL_LIMIT * max(a64.shape) * ROUNDOFF * (np.abs(np.linalg.pinv(basis)) @ size)
    bound[:, list(pivots)] = 0.0
    return quotients(np.abs(wide(r) - expected), bound)


# Bands -------------------------------------------------------------------------------------------------------------


def _banded_residual(inputs: Arrays, x: Array) -> tuple[Float64, Float64]:
    """|A x - b|, and |A| |x| + |b|, for as many bands above the diagonal as below it, the uppermost first."""
    x64, b64, a = wide(x), wide(inputs[1]), of_diagonals(inputs[0], len(inputs[0]) // 2)
    return np.abs(a @ x64 - b64), np.abs(a) @ np.abs(x64) + np.abs(b64)


def _judge_bands(name: str, inputs: Arrays, x: Array) -> Verdict:
    """Judge a solution by its componentwise backward error (Oettli and Prager 1964), in u.

    Cyclic reduction without refinement may lose some u with each of its log2(n) levels.
    """
    flaw, limit = flaw_of("x", x, np.shape(inputs[1]), np.float32), _bands_limit(inputs)

    def error() -> float:
        residual, size = _banded_residual(inputs, x)
        return largest(quotients(residual, size * ROUNDOFF))

    return judged(name, limit, flaw, error)


def _bands_limit(inputs: Arrays) -> float:
    return max(RESIDUAL_LIMIT, 8.0 * math.log2(inputs[0].shape[-1] + 1))


def _of_bands(name: str) -> Judge:
    return Judge(
        verdict=lambda inputs, x: _judge_bands(name, inputs, x),
        deviation=lambda inputs, x: _mean(_banded_residual(inputs, x)[0]),
        error="|A X - B|",
        result="A X",
        ratios=lambda inputs, x: quotients(*_banded_residual(inputs, x)) / (_bands_limit(inputs) * ROUNDOFF),
    )


# Numbers -----------------------------------------------------------------------------------------------------------


def _judge_determinant(name: str, a: Array, sign: float, logarithm: float) -> Verdict:
    """Judge sign and logarithm of a determinant.

    An error E in A changes log(abs(det A)) by at most ||A^-1|| ||E|| (Frobenius norms) to first order; E is what the
    judge of a factorisation allows, and float32 rounds the logarithm. Of a matrix that is singular to float32 only the
    size is judged: its determinant may be no larger than that of a matrix within E.
    """
    a64 = wide(a)
    n = len(a64)
    singular = np.linalg.svd(a64, compute_uv=False)
    if singular.min(initial=math.inf) <= n * ROUNDOFF * singular.max(initial=0.0):
        moved = singular + RESIDUAL_LIMIT * n * ROUNDOFF * np.linalg.norm(a64)
        most = float(np.log(moved).sum()) if moved.all() else -math.inf
        return Verdict(name, 0.0 if logarithm <= most else math.inf, 0.0, detail=f"log(abs(det)) is at most {most:.9g}")
    expected_sign, expected = np.linalg.slogdet(a64)
    allowed = RESIDUAL_LIMIT * n * ROUNDOFF * np.linalg.norm(a64) * np.linalg.norm(1.0 / singular)
    bound = float(allowed + ROUNDOFF * abs(expected))
    if sign != expected_sign:
        return failed(name, bound, f"the sign is {sign}, float64 says {expected_sign}")
    return Verdict(name, float(abs(logarithm - expected)), bound)


def _judge_slogdet(inputs: Arrays, outputs: Any) -> Verdict:
    sign, logarithm = outputs
    flaw = flaw_of("sign", sign, (), np.float32) or flaw_of("logabsdet", logarithm, (), np.float32, finite=False)
    zero = sign == 0
    if not flaw and (float(sign) not in (-1.0, 0.0, 1.0) or zero != (logarithm == -np.inf)):
        flaw = f"no determinant has sign {sign} and logarithm {logarithm}"
    return failed("slogdet", 0.0, flaw) if flaw else _judge_determinant("slogdet", inputs[0], sign, float(logarithm))


def _judge_det(inputs: Arrays, det: Any) -> Verdict:
    flaw = flaw_of("det", det, (), np.float32)
    if flaw:
        return failed("det", 0.0, flaw)
    logarithm = math.log(abs(float(det))) if det else -math.inf
    return _judge_determinant("det", inputs[0], np.sign(det), logarithm)


def _rcond(a: Array) -> float:
    """Reciprocal condition number in the 1-norm, in float64; 0 for a singular matrix, infinity for an empty one."""
    a64 = wide(a)
    if not a64.size:
        return math.inf
    try:
        condition = norm(a64) * norm(wide(np.linalg.inv(a64)))
    except np.linalg.LinAlgError:
        return 0.0
    return 1.0 / condition if condition else 0.0


OVERESTIMATE = 10.0
"""An estimate of rcond may be this many times the true value; Hager's method is seldom off by more than three."""


def _judge_rcond(inputs: Arrays, estimate: Any) -> Verdict:
    """Judge an estimate of 1 / (||A|| ||A^-1||), which must be between the true value and `OVERESTIMATE` times it.

    1 / cond(A) is the relative distance to the nearest singular matrix, so an error of 30 n ||A|| u, which the judge of
    a factorisation allows, moves it by no more than 30 n u, to first order; the bound is twice that.
    """
    exact, n = _rcond(inputs[0]), len(inputs[0])
    bound = 2 * RESIDUAL_LIMIT * n * ROUNDOFF
    flaw = flaw_of("rcond", estimate, (), np.float32, finite=n > 0)
    if flaw:
        return failed("rcond", bound, flaw)
    value = float(estimate)
    outside = 0.0 if value == exact else max(exact - value, value / OVERESTIMATE - exact, 0.0)
    detail = f"rcond is {value:.6g}, float64 says {exact:.6g}"
    return failed("rcond", bound, detail) if value < 0 else Verdict("rcond", outside, bound, detail=detail)


# A matrix and its transpose ------------------------------------------------------------------------------------------


def _judge_syrk(inputs: Arrays, c: Array) -> Verdict:
    """Judge A A^T as a product, which is symmetric bit by bit."""
    (a,) = inputs
    verdict = judge_product(c, a, np.transpose(a))
    if verdict.ok and not np.array_equal(c, np.transpose(c), equal_nan=True):
        i, j = np.argwhere(c != np.transpose(c))[0]
        return failed("syrk", verdict.bound, f"C[{i}, {j}] is {c[i, j]!r}, C[{j}, {i}] is {c[j, i]!r}")
    return verdict


# Inverses of many -----------------------------------------------------------------------------------------------------


def _judge_inv3(inputs: Arrays, x: Array) -> Verdict:
    """Judge the inverses of rows of nine numbers, each separately: the worst one counts."""
    flaw = flaw_of("X", x, np.shape(inputs[0]), np.float32)
    if flaw:
        return failed("inv3", RESIDUAL_LIMIT, flaw)
    pairs = zip(*(np.reshape(one, (-1, 3, 3)) for one in (inputs[0], x)), strict=True)
    verdicts = [judge_inverse(a, inverse) for a, inverse in pairs]
    return max(verdicts, key=lambda verdict: verdict.ratio, default=Verdict("inv3", 0.0, RESIDUAL_LIMIT))


def _inv3_deviation(inputs: Arrays, x: Array) -> float:
    a, inverse = (wide(np.reshape(one, (-1, 3, 3))) for one in (inputs[0], x))
    return _mean(a @ inverse - np.eye(3))


# Cholesky ----------------------------------------------------------------------------------------------------------


def _judge_cholesky(inputs: Arrays, factor: Array) -> Verdict:
    """Judge L of A = L L^T, whose lower half is given: a lower triangle with positive diagonal."""
    (a,) = inputs
    bound = RESIDUAL_LIMIT * len(a) * ROUNDOFF * norm(symmetric(a))
    flaw = flaw_of("L", factor, a.shape, np.float32)
    if not flaw and np.triu(factor, 1).any():
        flaw = "L has entries above the diagonal"
    if not flaw and not (np.diagonal(factor) > 0).all():
        flaw = "the diagonal of L is not above zero"
    return judged("cholesky", bound, flaw, lambda: norm(product(factor, factor.T) - symmetric(a)))


def _judge_cho_factor(inputs: Arrays, outputs: tuple[Array, bool]) -> Verdict:
    """Judge (c, lower), of which one triangle counts, by the corresponding half of A."""
    (a,), (c, lower) = inputs, outputs
    if lower:
        return _judge_cholesky(inputs, np.tril(c))
    return _judge_cholesky((np.transpose(a),), np.transpose(np.triu(c)))


def _cho_factor_deviation(inputs: Arrays, outputs: tuple[Array, bool]) -> float:
    (a,), (c, lower) = inputs, outputs
    found = np.tril(c) if lower else np.transpose(np.triu(c))
    return _mean(wide(found) - np.linalg.cholesky(wide(a) if lower else wide(a).T))


def _judge_cho_solve(inputs: tuple[Any, ...], x: Array) -> Verdict:
    """Judge the solution of L L^T x = b by its residual, over (|| |L||L^T| || ||x|| + ||b||) n u."""
    factor, b = _half_and_right(inputs)
    flaw = flaw_of("x", x, np.shape(b), np.float32)
    return judged("cho_solve", RESIDUAL_LIMIT, flaw, lambda: _by_factors(factor, factor.T, x, b))


def _half_and_right(inputs: tuple[Any, ...]) -> tuple[Float64, Array]:
    """L from a factor and the name of its half (L by default), and b."""
    c, lower, b = inputs if len(inputs) == 3 else (inputs[0], True, inputs[1])
    return np.tril(wide(c)) if lower else np.triu(wide(c)).T, b


def _cho_solve_deviation(inputs: tuple[Any, ...], x: Array) -> float:
    factor, b = _half_and_right(inputs)
    return _mean(wide(x) - _solution(factor @ factor.T, b))


def _band_of_factor(inputs: tuple[Any, ...]) -> tuple[Array, bool, Array]:
    """Operands of `cho_solve`: L as a full matrix, from a factor's band and the name of its half (U by default), b."""
    cb, lower, b = inputs if len(inputs) == 3 else (inputs[0], False, inputs[1])
    if lower:  # convert lower to upper storage
        cb = np.stack([np.roll(row, distance) for distance, row in enumerate(cb)])[::-1]
    return np.tril(of_upper_band(cb)), True, b


def _judge_cholesky_banded(inputs: Arrays, factor: Array) -> Verdict:
    """Judge U of A = U^T U, both in LAPACK's storage: its corners are zero."""
    (ab,) = inputs
    flaw = flaw_of("U", factor, np.shape(ab), np.float32)
    corners = np.arange(np.shape(ab)[1]) < np.arange(len(ab) - 1, -1, -1)[:, np.newaxis]
    if not flaw and np.asarray(factor)[corners].any():
        flaw = "the corners of U's storage are not zero"
    if flaw:
        return failed("cholesky_banded", RESIDUAL_LIMIT, flaw)
    lower = np.tril(of_upper_band(factor)).astype(np.float32)
    return _judge_cholesky((of_upper_band(ab).astype(np.float32),), lower)


# Orthogonal factors ------------------------------------------------------------------------------------------------


def judge_qr(a: Array, q: Array, r: Array) -> Verdict:
    """Judge A = Q R, Q with orthonormal columns, R upper trapezoidal.

    The error is the larger of norm(A - Q R) / (k (norm(A) u + 2^-149)) and norm(Q^T Q - I) / (k u): R's entries are
    whole multiples of 2^-149, the smallest denormal.

    `a`, (m, n): the matrix that was factored. `q`, `r`, (m, k): the factors, k = min(m, n), or m.

    >>> judge_qr(np.eye(2, dtype=np.float32), -np.eye(2, dtype=np.float32), -np.eye(2, dtype=np.float32)).error
    0.0
    >>> judge_qr(np.eye(2, dtype=np.float32), 2 * np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32) / 2).ok
    False
    """
    m, n = np.shape(a)
    k = m if np.shape(q)[-1:] == (m,) else min(m, n)
    flaw = flaw_of("Q", q, (m, k), np.float32) or flaw_of("R", r, (k, n), np.float32)
    if not flaw and np.tril(r, -1).any():
        flaw = "R has entries below the diagonal"
    if flaw:
        return failed("qr", RESIDUAL_LIMIT, flaw)
    residual = quotients(
        np.array([norm(product(q, r) - wide(a))]), np.array([k * (norm(wide(a)) * ROUNDOFF + 2.0**-149)])
    )
    slant = norm(product(q.T, q) - np.eye(k)) / (k * ROUNDOFF)
    detail = f"norm(A - Q R) is {largest(residual):.3g} of its unit, norm(Q^T Q - I) is {slant:.3g}"
    return Verdict("qr", max(largest(residual), slant), RESIDUAL_LIMIT, detail=detail)


def judge_lstsq(a: Array, b: Array, x: Array) -> Verdict:
    """Judge a least-squares solution by its normal equations.

    The error is norm(A^T (b - A x)) / (norm(A^T) (norm(A) norm(x) + norm(b)) min(m, n) u), the largest of all columns.

    `a`, `b`, (m, n): the system. `x`, (n, k): the solution.

    >>> a, b = np.float32([[1], [1]]), np.float32([[1], [3]])
    >>> judge_lstsq(a, b, np.float32([[2]])).error, judge_lstsq(a, b, np.float32([[1]])).ok
    (0.0, False)
    """
    m, n = np.shape(a)
    b, x = (one[:, np.newaxis] if np.ndim(one) == 1 else one for one in (b, x))
    flaw = flaw_of("x", x, (n, b.shape[1]), np.float32)
    if flaw:
        return failed("lstsq", RESIDUAL_LIMIT, flaw)
    a64, b64, x64 = wide(a), wide(b), wide(x)
    scale = norm(a64) * np.abs(x64).sum(axis=0) + np.abs(b64).sum(axis=0)
    left = np.abs(product(a64.T, b64 - product(a64, x64))).sum(axis=0)
    return Verdict("lstsq", largest(quotients(left, norm(a64.T) * scale * min(m, n) * ROUNDOFF)), RESIDUAL_LIMIT)


# Windows -----------------------------------------------------------------------------------------------------------


def window_sums(a: Array, w: int = 5) -> Float64:
    """Sum the matrix squares of all w x w windows at their positions, in float64, directly by the definition.

    >>> window_sums(np.ones((3, 3)), 2).tolist()
    [[2.0, 4.0, 2.0], [4.0, 8.0, 4.0], [2.0, 4.0, 2.0]]
    """
    image = wide(a)
    result = np.zeros(image.shape)
    for top in range(image.shape[0] - w + 1):
        for left in range(image.shape[1] - w + 1):
            window = image[top : top + w, left : left + w]
            result[top : top + w, left : left + w] += window @ window
    return result


def _limited_sums(a: Array) -> Float64:
    return np.clip(window_sums(a), 0, 65535)


def _most_of_sums(a: Array) -> Float64:
    """Error in u that a sum may have: (w^2 + 2 w) times the sum of magnitudes."""
    return 35 * window_sums(np.abs(a))


# All ---------------------------------------------------------------------------------------------------------------


def _by_elements(
    name: str, result: str, limit: float, exact: Callable[..., Float64], size: Callable[..., Float64], error: str
) -> Judge:
    """Judge of a result by a bound of each element: `limit` u times its size, which is made of the operands."""

    def ratios(inputs: Arrays, found: Array) -> Float64:
        return quotients(np.abs(wide(found) - exact(*inputs)), limit * ROUNDOFF * size(*inputs))

    def verdict(inputs: Arrays, found: Array) -> Verdict:
        flaw = flaw_of(result, found, exact(*inputs).shape, np.float32)
        return judged(name, limit, flaw, lambda: limit * largest(ratios(inputs, found)))

    return Judge(verdict, lambda inputs, found: _mean(wide(found) - exact(*inputs)), error, result, ratios)


def _of_solution(matrix: Callable[[Array], Array] = np.asarray) -> Judge:
    """Judge of a solution with a matrix that is made of the first operand."""
    return Judge(
        verdict=lambda inputs, x: judge_solve(matrix(inputs[0]), x, inputs[1]),
        deviation=lambda inputs, x: _mean(wide(x) - _solution(matrix(inputs[0]), inputs[1])),
        error="|x - A^-1 b|",
        result="x",
    )


def _of_triangle(matrix: Callable[[Array], Array] = np.asarray) -> Judge:
    """Judge of a solution with a triangle."""
    return Judge(
        verdict=lambda inputs, x: judge_solve(matrix(inputs[0]), x, inputs[1]),
        deviation=lambda inputs, x: _mean(product(matrix(inputs[0]), x) - inputs[1]),
        error="|T X - B|",
        result="T X",
        ratios=lambda inputs, x: _triangular_ratios((matrix(inputs[0]), inputs[1]), x),
    )


def _of_inverse(matrix: Callable[[Array], Array] = np.asarray, **options: Any) -> Judge:
    """Judge of the inverse of a matrix that is made of the operand."""
    return Judge(
        verdict=lambda inputs, x: judge_inverse(matrix(inputs[0]), x),
        deviation=lambda inputs, x: _mean(product(matrix(inputs[0]), x) - np.eye(len(x))),
        **{"error": "|A X - I|", **options},
    )


JUDGES: dict[str, Judge] = {
    "spmv": _by_elements(
        "spmv", "y", 7.0, five_points, lambda a, x: five_points(np.abs(a), np.abs(x)) + 2.0**-96 / 7, "|y - A x|"
    ),
    "window_squares": _by_elements("window_squares", "C", 1.0, _limited_sums, _most_of_sums, "|C - sum of W W|"),
    "matmul": Judge(
        verdict=lambda inputs, c: judge_product(c, *inputs),
        deviation=lambda inputs, c: _mean(wide(c) - product(*inputs)),
        error="|C - A B|",
        result="C",
        ratios=lambda inputs, c: product_ratios(c, *inputs),
    ),
    "syrk": Judge(
        verdict=_judge_syrk,
        deviation=lambda inputs, c: _mean(wide(c) - product(inputs[0], np.transpose(inputs[0]))),
        error="|C - A A^T|",
        result="C",
        ratios=lambda inputs, c: product_ratios(c, inputs[0], np.transpose(inputs[0])),
    ),
    "rref": Judge(
        verdict=lambda inputs, outputs: judge_rref(inputs[0], *outputs),
        deviation=_rref_deviation,
        error="|R - B^-1 A|, B the pivot columns of A",
        result="R",
        ratios=_rref_ratios,
    ),
    "plu": _factors,
    "lu_factor": Judge(
        verdict=lambda inputs, outputs: _factors.verdict(inputs, PackedFactors(*outputs)),
        deviation=lambda inputs, outputs: _factors.deviation(inputs, PackedFactors(*outputs)),
        error=_factors.error,
        result=_factors.result,
        ratios=lambda inputs, outputs: _factors.ratios(inputs, PackedFactors(*outputs)),
    ),
    "lu_solve": Judge(verdict=_judge_lu_solve, deviation=_lu_solve_deviation, error="|x - (P L U)^-1 b|", result="x"),
    "cholesky": Judge(
        verdict=_judge_cholesky,
        deviation=lambda inputs, factor: _mean(wide(factor) - np.linalg.cholesky(wide(inputs[0]))),
        error="|L - chol(A)|",
        result="L",
    ),
    "cho_factor": Judge(verdict=_judge_cho_factor, deviation=_cho_factor_deviation, error="|L - chol(A)|", result="c"),
    "cho_solve": Judge(
        verdict=_judge_cho_solve, deviation=_cho_solve_deviation, error="|x - (L L^T)^-1 b|", result="x"
    ),
    "cho_solve_banded": Judge(
        verdict=lambda inputs, x: _judge_cho_solve(_band_of_factor(inputs), x),
        deviation=lambda inputs, x: _cho_solve_deviation(_band_of_factor(inputs), x),
        error="|x - (L L^T)^-1 b|",
        result="x",
    ),
    "cholesky_banded": Judge(
        verdict=_judge_cholesky_banded,
        deviation=lambda inputs, u: _mean(np.tril(of_upper_band(u)) - np.linalg.cholesky(of_upper_band(inputs[0]))),
        error="|U - chol(A)|",
        result="U",
    ),
    "solve_pos_banded": _of_solution(of_upper_band),
    **{name: _of_bands(name) for name in ("tridiagonal", "pentadiagonal")},
    "qr": Judge(
        verdict=lambda inputs, outputs: judge_qr(inputs[0], *outputs),
        deviation=lambda inputs, outputs: _mean(product(*outputs) - wide(inputs[0])),
        error="|Q R - A|",
        result="Q R",
    ),
    "eigh": Judge(
        verdict=lambda inputs, outputs: judge_eigh(inputs[0], *outputs),
        deviation=lambda inputs, outputs: _mean(wide(outputs[0]) - reference(inputs[0])),
        error="|w - eigvalsh(A)|",
        result="w",
    ),
    "tridiagonal_pairs": Judge(
        verdict=lambda inputs, outputs: judge_eigh(tridiagonal(*inputs), *outputs),
        deviation=lambda inputs, outputs: _mean(wide(outputs[0]) - reference(tridiagonal(*inputs))),
        error="|w - eigvalsh(T)|",
        result="w",
    ),
    "eigvalsh": Judge(
        verdict=lambda inputs, w: judge_values(inputs[0], w),
        deviation=lambda inputs, w: _mean(wide(w) - reference(inputs[0])),
        error="|w - eigvalsh(A)|",
        result="w",
    ),
    "svd": Judge(
        verdict=lambda inputs, outputs: judge_svd(inputs[0], *outputs),
        deviation=lambda inputs, outputs: _mean(product_of_svd(*outputs) - wide(inputs[0])),
        error="|U diag(S) Vh - A|",
        result="U diag(S) Vh",
    ),
    "lstsq": Judge(
        verdict=lambda inputs, outputs: judge_lstsq(inputs[0], inputs[1], outputs[0]),
        deviation=lambda inputs, outputs: _mean(
            wide(outputs[0]) - np.linalg.lstsq(wide(inputs[0]), wide(inputs[1]), rcond=1e-6)[0]
        ),
        error="|x - A^+ b|",
        result="x",
    ),
    "solve_pos": _of_solution(),
    "inv_pos": _of_inverse(symmetric),
    "triangular": _of_triangle(),
    "solve_triangular": _of_triangle(np.triu),
    "triangular_inverse": _of_inverse(
        np.triu,
        error="|T X - I|",
        result="T X",
        ratios=lambda inputs, x: _triangular_ratios((np.triu(inputs[0]), np.eye(len(x), dtype=np.float32)), x),
    ),
    "solve": _of_solution(),
    "inv": _of_inverse(),
    "inv3": Judge(verdict=_judge_inv3, deviation=_inv3_deviation, error="|A_i X_i - I|"),
    "gauss_jordan": _of_inverse(),
    "det": Judge(
        verdict=_judge_det,
        deviation=lambda inputs, det: abs(float(det) - float(np.linalg.det(wide(inputs[0])))),
        error="|d - det A|",
        result="d",
    ),
    "slogdet": Judge(
        verdict=_judge_slogdet,
        deviation=lambda inputs, outputs: abs(float(outputs[1]) - float(np.linalg.slogdet(wide(inputs[0]))[1])),
        error="|d - log abs(det A)|",
        result="d",
    ),
    "rcond": Judge(
        verdict=_judge_rcond,
        deviation=lambda inputs, estimate: abs(float(estimate) - _rcond(inputs[0])),
        error="|r - 1 / cond A|, in the 1-norm",
        result="r",
    ),
}
"""The judge of each public function, by its name.

======================  ====================================  ================================================"""
