"""Tests of `glla.testing`: every judge passes the right result and is shown to fail on a wrong one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from glla import testing as t

pytestmark = pytest.mark.filterwarnings("error")

TALL_AND_WIDE = [(1, 1), (2, 2), (7, 5), (5, 7), (33, 33), (64, 20), (20, 64)]
small_integers = hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-3, 3))


def make(name: str, m: int, n: int, seed: int = 0) -> t.Float32:
    """Make an input by name."""
    return t.MATRICES[name](m, n, np.random.default_rng(seed))


def plu(a: t.Array) -> tuple[t.Array, t.Array, t.Array]:
    """Factor in float32 with LAPACK; SciPy rejects empty matrices of some shapes."""
    p, lower, upper = scipy.linalg.lu(a)
    return p.astype(np.float32), lower, upper


def rejects(verdict: t.Verdict, words: str = "") -> bool:
    """Whether a verdict is a failure that says these words."""
    return not verdict.ok and verdict.ratio > 1 and words in str(verdict) and "FAILED" in str(verdict)


# Inputs and shapes


@pytest.mark.parametrize("name", t.MATRICES)
def test_every_input_works_at_every_shape(name: str) -> None:
    """The table's functions give finite, normal float32 numbers, the same ones for the same seed."""
    for shape in t.SHAPES:
        a = make(name, *shape)
        assert a.shape == shape and a.dtype == np.float32 and a.flags.c_contiguous
        assert np.isfinite(a).all() and (np.abs(a[a != 0]) >= t.SMALLEST_NORMAL).all()
        assert np.array_equal(a, make(name, *shape))


@pytest.mark.parametrize("name", t.NONSINGULAR)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (3, 5), (17, 16), (37, 37)])
def test_nonsingular_inputs_have_full_rank(name: str, shape: tuple[int, int]) -> None:
    """Each has a condition number that float32 can solve with, but for its scaling."""
    a = make(name, *shape).astype(np.float64)
    a /= np.abs(a).max()
    assert np.linalg.matrix_rank(a) == min(shape)
    if name != "graded":
        assert np.linalg.cond(a) < 1e5


def test_bad_pairs_have_no_block_of_rank_two() -> None:
    """Every aligned 2 x 2 block is singular, though the matrix is not."""
    a = t.bad_pairs(8, 8).astype(np.float64)
    blocks = a.reshape(4, 2, 4, 2).swapaxes(1, 2)
    assert (np.linalg.det(blocks) == 0).all() and abs(np.linalg.det(a)) == 1
    t.assert_exact(t.bad_pairs(4, 4), np.eye(4)[[0, 2, 1, 3]])


def test_conditioned_spd_and_graded_are_as_stated() -> None:
    """Condition numbers to three digits, definiteness, and exact scaling."""
    rng = np.random.default_rng(1)
    assert np.linalg.cond(t.conditioned(40, 30, rng, cond=1e4).astype(np.float64)) == pytest.approx(1e4, rel=1e-2)
    spd = t.spd(30, rng, cond=1e4).astype(np.float64)
    assert np.array_equal(spd, spd.T) and np.linalg.eigvalsh(spd)[0] == pytest.approx(1e-4, rel=1e-2)
    assert np.linalg.cond(t.graded(30, 30, rng).astype(np.float64)) > 1e4


@pytest.mark.parametrize("rank", [0, 1, 4, 9])
def test_singular_has_its_rank_exactly(rank: int) -> None:
    """The rank is that of exact arithmetic, and entries are integers that float32 holds."""
    a = t.singular(12, 9, np.random.default_rng(rank), rank=rank)
    assert len(t.exact_rref(a)[1]) == rank
    assert np.array_equal(a, np.round(a)) and np.abs(a).max() < 2**24


def test_wilkinson_grows_as_stated() -> None:
    """Partial pivoting doubles the last column at each step."""
    for order in (2, 12, 20):
        _, _, upper = plu(t.wilkinson_growth(32, 32, order=order))
        assert np.abs(upper).max() == 2.0 ** (order - 1)


@pytest.mark.parametrize("tile", [1, 2, 4, 8, 16, 32])
def test_shapes_surround_the_tile_and_are_few(tile: int) -> None:
    """No shape comes twice; the edges of the tile are among them."""
    for listed in (t.sizes(tile), t.shapes(tile), t.product_shapes(tile)):
        assert len(listed) == len(set(listed)) <= 30
    assert {tile - 1, tile, tile + 1} <= set(t.sizes(tile))
    assert {(tile, tile), (tile + 1, tile + 1)} <= set(t.shapes(tile))
    assert t.sizes(16) == t.SIZES and t.shapes(16) == t.SHAPES and t.product_shapes(16) == t.PRODUCT_SHAPES


# References


@settings(deadline=None, max_examples=60)
@given(small_integers)
def test_exact_rref_agrees_with_sympy(a: t.Array) -> None:
    """The same fractions and the same pivots, for integers and for the same numbers as floats."""
    expected, expected_pivots = sympy.Matrix(a.tolist()).rref()
    for given_as in (a, a.astype(np.float32), a.astype(object)):
        r, pivots = t.exact_rref(given_as)
        assert pivots == expected_pivots and all(type(j) is int for j in pivots)
        assert r.shape == a.shape and all(type(value) is Fraction for value in r.flat)
        assert [[int(v.p), int(v.q)] for v in expected] == [[v.numerator, v.denominator] for v in r.flat]


def test_exact_rref_of_fractions_and_empty_matrices() -> None:
    """A float is taken for the fraction that it is."""
    r, pivots = t.exact_rref(np.array([[0.5, 0.25], [0.1, 0.05]]))
    assert pivots == (0,) and r[0, 1] == Fraction(1, 2)
    for shape in [(0, 0), (0, 3), (3, 0)]:
        r, pivots = t.exact_rref(np.zeros(shape))
        assert r.shape == shape and pivots == ()
    with pytest.raises(ValueError, match="NaN"):
        t.exact_rref(np.array([[np.nan]]))


# Verdicts


def test_verdict_says_what_it_found() -> None:
    """NaN is never ok, nor does a ratio hide it."""
    assert str(t.Verdict("x", 1.0, 2.0)) == "x: error 1, bound 2, ratio 0.5: ok"
    assert str(t.Verdict("x", 3.0, 2.0, detail="here")) == "x: error 3, bound 2, ratio 1.5: FAILED (here)"
    assert "larger than usual" in str(t.Verdict("x", 1.5, 2.0, usual=1.0))
    assert t.Verdict("x", 0.0, 0.0).ok and t.Verdict("x", 0.0, 0.0).ratio == 0
    for error, bound in [(np.nan, 1.0), (1.0, np.nan), (np.nan, 0.0), (1e-30, 0.0), (np.inf, 1.0)]:
        verdict = t.Verdict("x", error, bound, usual=0.0)
        assert not verdict.ok and not verdict.suspicious and not verdict.ratio <= 1


def test_asserts_raise_what_judges_find() -> None:
    """Each assert passes the right result, and raises with the verdict's words on a wrong one."""
    a, wrong = t.identity(3, 3), 2 * t.identity(3, 3)
    calls = {
        "exact": lambda x: t.assert_exact(x, np.eye(3)),
        "product": lambda x: t.assert_product(x, a, a),
        "plu": lambda x: t.assert_plu(a, a, a, x),
        "solve": lambda x: t.assert_solve(a, x, a),
        "inverse": lambda x: t.assert_inverse(a, x),
        "rref": lambda x: t.assert_rref(a, x, (0, 1, 2)),
        "rref_exact": lambda x: t.assert_rref_exact(a, x, (0, 1, 2)),
    }
    assert calls.keys() == {name.removeprefix("assert_") for name in dir(t) if name.startswith("assert_")}
    assert calls.keys() == {name.removeprefix("judge_") for name in dir(t) if name.startswith("judge_")}
    for name, call in calls.items():
        call(a)
        with pytest.raises(AssertionError, match=f"^{name}: error .* FAILED"):
            call(wrong)


def test_other_dtypes_are_judged_when_asked_for() -> None:
    """A float64 result passes only with ``dtype=np.float64``, and a float32 one then does not."""
    a = np.eye(3)
    for dtype, other in [(np.float64, np.float32), (np.float32, np.float64)]:
        x = a.astype(dtype)
        t.assert_exact(x, a, dtype=dtype)
        t.assert_product(x, a, a, dtype=dtype)
        t.assert_plu(a, x, x, x, dtype=dtype)
        t.assert_solve(a, x, a, dtype=dtype)
        t.assert_inverse(a, x, dtype=dtype)
        t.assert_rref(a, x, (0, 1, 2), dtype=dtype)
        t.assert_rref_exact(a, x, (0, 1, 2), dtype=dtype)
        assert rejects(t.judge_solve(a, x, a, dtype=other), "got")


# What passes and what does not: each row a judgement, and the words of its failure or None


def f32(*rows: object) -> t.Float32:
    return np.array(rows, np.float32)


def changed(a: t.Array, index: tuple[int, int], value: object) -> t.Float32:
    """The same but for one entry, or for its neighbour in float32."""
    a = a.copy()
    a[index] = np.nextafter(a[index], np.float32(np.inf)) if value == "next" else value
    return a


EYE, Z, ONES, ONE = t.identity(3, 3), t.zeros(3, 3), t.ones(3, 3), t.ones(1, 1)
BAD = changed(ONES, (1, 2), np.nan)
WHOLE = make("integers", 9, 9)
INFINITE = np.array([1, np.inf], np.float32)
BARELY = np.array([Fraction(10**20 + 1, 10**20)], dtype=object)
U, V = make("uniform", 64, 64), make("uniform", 64, 64, seed=1)
ORDER = np.r_[:10, 11, 10, 12:64]
M, X = make("normal", 9, 7), make("normal", 7, 1)[:, 0]
HALF = f32([0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1])
UNPIVOTED = f32([1, 2], [-3, 4]), t.identity(2, 2), f32([1, 0], [-3, 1]), f32([1, 2], [0, 10])
LARGE_AND_SMALL = f32([1, 0, 1e6, 1e-6], [0, 1, 1e6, 1e-6])
LATE = f32([0, 0, 1, 2], [0, 0, 0, 0])
OF_RANK_2, ITS_FORM = f32([1, 2, 3], [4, 5, 6], [5, 7, 9]), f32([1, 0, -1], [0, 1, 2], [0, 0, 0])
SECOND, DROPPED = f32([1, 1, 2], [2, 3, 4]), f32([1, 0], [0, 1e-4])
A20, B20 = t.conditioned(20, 20, np.random.default_rng(0)), make("normal", 20, 2) * f32(1, 1e-8)
X20 = np.linalg.solve(A20, B20)
A40, B40 = t.conditioned(40, 40, np.random.default_rng(0), cond=2.0), make("normal", 40, 3, seed=1)
X40 = np.linalg.solve(A40, B40)
TALL = make("normal", 30, 20) * np.float32(1e-30)
P30, L30, U30 = plu(TALL)
SINGULAR = t.singular(9, 9, np.random.default_rng(2), rank=8)
FORM_OF = t.singular(5, 7, np.random.default_rng(5), rank=3)
FRACTIONS, PIVOTS = t.exact_rref(FORM_OF)
FORM = FRACTIONS.astype(np.float32)


def judged(name: str, a: t.Array, *found: object) -> t.Verdict:
    """A verdict on numbers of a matrix, by the table of judges."""
    numbers = tuple(np.float32(one) for one in found)
    return t.JUDGES[name].verdict((a,), numbers if len(numbers) > 1 else numbers[0])


JUDGED = [
    # exact: an ulp is a difference; minus zero is not; an infinity equals itself only
    (lambda: t.judge_exact(changed(WHOLE, (4, 4), "next"), WHOLE), "actual[4, 4]"),
    (lambda: t.judge_exact(WHOLE[[1, 0, *range(2, 9)]], WHOLE), ""),
    (lambda: t.judge_exact(WHOLE.astype(float), WHOLE), "must be float32, got float64"),
    (lambda: t.judge_exact(WHOLE[:-1], WHOLE), "must have shape"),
    (lambda: t.judge_exact(WHOLE.tolist(), WHOLE), "must be a NumPy array, got list"),
    (lambda: t.judge_rref_exact(ONES, EYE.astype(float), (0, 1, 2)), "must be float32, got float64"),
    (lambda: t.judge_rref_exact(ONES, EYE[:-1], (0, 1, 2)), "must have shape"),
    (lambda: t.judge_rref_exact(ONES, BAD, (0, 1, 2)), "nan"),
    (lambda: t.judge_exact(-t.zeros(2, 2), np.zeros((2, 2), int)), None),
    (lambda: t.judge_exact(INFINITE, INFINITE), None),
    (lambda: t.judge_exact(-INFINITE, INFINITE), ""),
    (lambda: t.judge_exact(INFINITE, [1, 0]), ""),
    (lambda: t.judge_exact(f32(np.nan), [np.nan]), "nan"),
    (lambda: t.judge_exact(np.float32(3), 3), None),
    (lambda: t.judge_exact(f32(1), BARELY), ""),  # a difference that float64 rounds away
    # products: below K = 16 the bound is 4 sqrt(K) u; an empty sum is zero; vectors multiply as NumPy has it
    (lambda: t.judge_product(ONE + np.float32(4 * t.ROUNDOFF), ONE, ONE), None),
    (lambda: t.judge_product(ONE + np.float32(6 * t.ROUNDOFF), ONE, ONE), ""),
    (lambda: t.judge_product(t.zeros(2, 3), t.zeros(2, 0), t.zeros(0, 3)), None),
    (lambda: t.judge_product(np.full((2, 3), 1e-45, np.float32), t.zeros(2, 0), t.zeros(0, 3)), "C[0, 0]"),
    (lambda: t.judge_product(M @ X, M, X), None),
    (lambda: t.judge_product(np.asarray(X @ X), X, X), None),
    (lambda: t.judge_product(np.asarray(X @ X) * np.float32(1.001), X, X), ""),
    (lambda: t.judge_product(U @ V[ORDER], U, V), ""),  # two terms paired wrongly
    (lambda: t.judge_product((U @ V)[ORDER], U, V), ""),
    (lambda: t.judge_product(U.T @ V, U, V), ""),
    (lambda: t.judge_product(U @ V.T, U, V), ""),
    (lambda: t.judge_product(V @ U, U, V), ""),
    (lambda: t.judge_product(U @ V + np.outer(U[:, 63], V[63]), U, V), ""),  # a term taken twice
    # operands that are not finite cannot make a bound that everything meets
    (lambda: t.judge_product(ONES @ ONES, BAD, ONES), ""),
    (lambda: t.judge_plu(BAD, EYE, EYE, EYE), ""),
    (lambda: t.judge_solve(BAD, ONES, ONES), ""),
    (lambda: t.judge_inverse(BAD, ONES), ""),
    (lambda: t.judge_rref(BAD, EYE, (0, 1, 2)), ""),
    # factors: nothing divided by nothing is no error, something divided by nothing is
    *((lambda m=m, n=n: t.judge_plu(t.zeros(m, n), t.identity(m, m), t.identity(m, 0), t.zeros(0, n)), None)
      for m, n in ((0, 0), (0, 3), (3, 0))),
    (lambda: t.judge_plu(Z, EYE, EYE, Z), None),
    (lambda: t.judge_plu(Z, EYE, EYE, np.triu(ONES) * np.float32(1e-30)), "inf"),
    *((lambda p=p: t.judge_plu(Z, p, EYE, Z), "P is not a permutation matrix")
      for p in (ONES, Z, 2 * EYE, -EYE, EYE[[0, 0, 1]], EYE[:, [0, 0, 1]], HALF)),
    (lambda: t.judge_plu(TALL, P30, L30, U30), None),
    (lambda: t.judge_plu(TALL, P30.T, L30, U30), ""),  # scipy's P is not LAPACK's
    (lambda: t.judge_plu(TALL[:, ::-1], P30, L30, U30), ""),
    (lambda: t.judge_plu(TALL, P30, changed(L30, (3, 3), 1 + 2 * t.ROUNDOFF), U30), "1.0000001: L is not unit lower"),
    (lambda: t.judge_plu(TALL, P30, changed(L30, (2, 9), 1e-30), U30), "L[2, 9] is 1e-30: L is not unit lower"),
    (lambda: t.judge_plu(TALL, P30, changed(L30, (9, 2), 1e-2 + L30[9, 2]), U30), "error"),
    (lambda: t.judge_plu(TALL, P30, L30, changed(U30, (9, 2), 1e-36)), "U[9, 2]"),
    (lambda: t.judge_plu(TALL, P30, L30, changed(U30, (2, 9), 0)), "error"),
    (lambda: t.judge_plu(*UNPIVOTED), None),
    (lambda: t.judge_plu(*UNPIVOTED, multiplier_limit=3.0), None),
    (lambda: t.judge_plu(*UNPIVOTED, multiplier_limit=1.0), "L[1, 0] is -3.0: above 1"),
    # systems: each right-hand side is judged by its own norm; that of zeros has the solution zero
    (lambda: t.judge_solve(A20, X20, B20), None),
    (lambda: t.judge_solve(A20, X20 * f32(1, 0), B20), ""),
    (lambda: t.judge_solve(A40, X40 * np.float32(1.001), B40), ""),
    (lambda: t.judge_solve(A40, X40[:, ::-1], B40), ""),
    (lambda: t.judge_solve(A40, np.linalg.solve(A40.T, B40), B40), ""),
    (lambda: t.judge_solve(EYE, t.zeros(3, 2), t.zeros(3, 2)), None),
    (lambda: t.judge_solve(EYE, t.ones(3, 2) * np.float32(1e-30), t.zeros(3, 2)), ""),
    (lambda: t.judge_solve(Z, t.ones(3, 2), t.ones(3, 2)), ""),
    # echelon forms: what is left of a pivot, or below all
    (lambda: t.judge_rref(LATE, LATE, (2,)), None),
    (lambda: t.judge_rref(*[changed(LATE, (0, 1), 1e-6)] * 2, (2,)), "R[0, 1] is 1e-06: what is left"),
    (lambda: t.judge_rref(LATE, changed(LATE, (1, 3), 1e-6), (2,)), "R[1, 3]"),
    *((lambda judge=judge, at=at, change=change: judge(FORM_OF, changed(FORM, at, FORM[at] - change), PIVOTS), "")
      for judge in (t.judge_rref, t.judge_rref_exact)
      for at, change in (((0, PIVOTS[0]), t.ROUNDOFF), ((0, PIVOTS[1]), 1e-6), ((2, PIVOTS[0]), 1e-6), ((4, 6), 1e-6),
                         ((2, PIVOTS[1]), 1e-30), ((0, PIVOTS[-1] + 1), 0.01))),
    (lambda: t.judge_rref(FORM_OF, FORM[[1, 0, 2, 3, 4]], PIVOTS), "unit vector"),
    (lambda: t.judge_rref(FORM_OF[:, ::-1], FORM, PIVOTS), ""),
    # only a tuple of ints is right, and they are those of exact arithmetic
    (lambda: t.judge_rref(OF_RANK_2, ITS_FORM, (0, 1)), None),
    *((lambda judge=judge, pivots=pivots: judge(OF_RANK_2, ITS_FORM, pivots), "")
      for judge in (t.judge_rref, t.judge_rref_exact)
      for pivots in ([0, 1], (0,), (0, 1, 2), (1, 0), (0, 0), (0, 2), (1, 2), (-2, -1), (0, 9), (), (np.int64(0), 1),
                     (0.0, 1), None)),
    (lambda: t.judge_rref(SECOND, f32([1, 0, 2], [0, 1, 0]), (0, 1)), None),
    (lambda: t.judge_rref(SECOND, f32([1, 0, 0], [0, 0, 1]), (0, 2)), ""),  # the form of another matrix
    # full rank is a rounding error away, so only exact arithmetic can tell
    (lambda: t.judge_rref(ONES, EYE, (0, 1, 2)), None),
    (lambda: t.judge_rref_exact(ONES, EYE, (0, 1, 2)), "pivots must be (0,)"),
    (lambda: t.judge_rref(ONES, Z, ()), ""),
    # what the tolerance drops is no error, but only with that tolerance
    (lambda: t.judge_rref(DROPPED, f32([1, 0], [0, 0]), (0,), tol=1e-4), None),
    (lambda: t.judge_rref(DROPPED, f32([1, 0], [0, 0]), (0,)), ""),
    (lambda: t.judge_rref(DROPPED, f32([1, 0], [0, 0]), (0,), tol=1e-5), ""),
    # each column is judged by its own norm
    (lambda: t.judge_rref(LARGE_AND_SMALL, LARGE_AND_SMALL, (0, 1)), None),
    (lambda: t.judge_rref(LARGE_AND_SMALL, changed(LARGE_AND_SMALL, (0, 3), 1.01e-6), (0, 1)), ""),
    (lambda: t.judge_rref_exact(LARGE_AND_SMALL, changed(LARGE_AND_SMALL, (0, 3), 1.01e-6), (0, 1)), ""),
    # of a singular matrix the size of a determinant is judged, not its sign: it is what is left of a zero
    *((lambda det=det: judged("det", SINGULAR, det), None) for det in (0.0, 1e-4, -1e-4)),
    (lambda: judged("det", SINGULAR, 1e8), ""),
    (lambda: judged("det", t.zeros(0, 0), 1), None),
    (lambda: judged("slogdet", t.zeros(0, 0), 1, 0), None),
    (lambda: judged("slogdet", Z, 0, -np.inf), None),
    (lambda: judged("slogdet", Z, 1, 0), ""),
    *((lambda pair=pair: judged("slogdet", EYE, *pair), "")
      for pair in ((0, 0), (1, -np.inf), (2, 0), (1, np.nan), (np.nan, 0))),
    *((lambda a=a, right=right: judged("rcond", a, right), None)
      for a, right in ((Z, 0.0), (ONES, 1e-8), (EYE, 1.0), (t.zeros(0, 0), np.inf))),
    *((lambda a=a: judged("rcond", a, 0.5), "") for a in (Z, ONES, EYE, t.zeros(0, 0))),
]  # fmt: skip


@pytest.mark.parametrize(("judge", "words"), JUDGED)
def test_what_passes_and_what_does_not(judge: Callable[[], t.Verdict], words: str | None) -> None:
    verdict = judge()
    assert verdict.ok if words is None else not verdict.ok and not verdict.ratio <= 1 and words in str(verdict), verdict


# Products


def test_long_products_pass_without_a_warning() -> None:
    """K = 1024 and 4096, summed by BLAS, and one term after another."""
    for k in (1024, 4096):
        a, b = make("uniform", 60, k), make("uniform", k, 50, seed=1)
        t.assert_product(a @ b, a, b)
        t.assert_product(np.cumsum(a[:, :, None] * b[:, :5], axis=1, dtype=np.float32)[:, -1], a, b[:, :5])


@pytest.mark.parametrize("scale", [1.0, 2.0**-50, 2.0**60])
@pytest.mark.parametrize("name", ["uniform", "normal"])
def test_product_catches_a_dropped_term_at_1024(name: str, scale: float) -> None:
    """One of 1024 terms, anywhere, in any scaling; that is 0.1 %, within the tolerance that is often used."""
    a, b = make(name, 30, 1024) * np.float32(scale), make(name, 1024, 20, seed=1)
    right = a @ b
    for term in (0, 511, 1023):
        kept = np.arange(1024) != term
        assert rejects(t.judge_product(a[:, kept] @ b[kept], a, b))
        wrong = right.copy()
        wrong[7, 3] -= np.float32(2) * scale
        assert rejects(t.judge_product(wrong, a, b), "C[7, 3]")


@pytest.mark.parametrize("scales", [(1e-30, 1e30), (1e30, 1e-30), (1e-30, 1.0), (1e-5, 1e-30), (1e18, 1e18)])
def test_scaled_products_pass(scales: tuple[float, float]) -> None:
    """A bound that follows the operands takes any scaling."""
    a, b = (make("normal", 50, 50, seed) * np.float32(scale) for seed, scale in enumerate(scales))
    t.assert_product(a @ b, a, b)
    assert rejects(t.judge_product(a[:, 1:] @ b[1:], a, b)), "a dropped term"


def test_products_that_underflow_pass_as_zero() -> None:
    """Terms that float32 holds only as denormals may be flushed; what it holds as normal numbers may not."""
    a, b = make("tiny", 20, 30), make("tiny", 30, 20, seed=1)
    t.assert_product(np.zeros((20, 20), np.float32), a, b)
    borderline = np.full((30, 20), 2e-8, np.float32)
    flushed = np.where(np.abs(a[:, :, None] * borderline) < t.SMALLEST_NORMAL, 0, a[:, :, None] * borderline)
    t.assert_product(flushed.sum(axis=1, dtype=np.float32), a, borderline)
    wrong = np.full((20, 20), 100 * t.SMALLEST_NORMAL, np.float32)
    assert rejects(t.judge_product(wrong, a, b))


def test_products_between_the_two_bounds_warn() -> None:
    """At K = 1024: 4 sqrt(K) = 128, so 100 u is silent, 200 u warns and 1100 u fails."""
    a, b = t.ones(1, 1024), t.ones(1024, 1)
    unit = 1024 * t.ROUNDOFF
    right = np.array([[1024]], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        t.assert_product((right + 100 * unit).astype(np.float32), a, b)
    with pytest.warns(t.BoundWarning, match="larger than usual") as caught:
        t.assert_product((right + 200 * unit).astype(np.float32), a, b)
    assert caught[0].filename == __file__
    with pytest.raises(AssertionError, match=r"C\[0, 0\] is 1024.067"):
        t.assert_product((right + 1100 * unit).astype(np.float32), a, b)


# Systems and inverses


def test_backward_errors_are_the_least_changes() -> None:
    """Of float64 solutions they are near 1e-16; of float32 ones near u; of wrong ones what was put in."""
    rng = np.random.default_rng(0)
    a, b = t.conditioned(80, 80, rng, cond=1e3).astype(np.float64), rng.standard_normal((80, 3))
    x = np.linalg.solve(a, b)
    assert max(t.backward_error(a, x, b)) < 1e-14
    single = t.backward_error(a, x.astype(np.float32), b)
    assert 1e-10 < single.normwise <= single.componentwise < 1e-6
    changed = np.linalg.solve(a * (1 + 1e-6 * rng.choice([-1, 1], a.shape)), b)
    assert 1e-8 < t.backward_error(a, changed, b).componentwise <= 1e-6
    assert max(t.backward_error(a, x[:, 0], b[:, 0])) < 1e-14
    assert t.backward_error(a, np.zeros((80, 3)), b) == (1.0, 1.0)
    assert np.isnan(t.backward_error(a, np.full((80, 3), np.nan), b)).all()
    assert t.backward_error(np.eye(0), np.zeros((0, 2)), np.zeros((0, 2))) == (0.0, 0.0)


def test_componentwise_sees_what_normwise_does_not() -> None:
    """A small equation solved wrongly, beside a large one."""
    a, b = np.diag([1.0, 1e-12]), np.array([1.0, 1e-12])
    error = t.backward_error(a, np.array([1.0, 2.0]), b)
    assert error.normwise < 1e-12 and error.componentwise == pytest.approx(1 / 3)


# Reduced row echelon form


@settings(deadline=None, max_examples=60)
@given(small_integers, st.integers(-90, 90))
def test_exact_forms_pass_and_other_pivots_fail(a: t.Array, exponent: int) -> None:
    """Whatever the power of two that scales the matrix."""
    a = np.ldexp(a.astype(np.float32), exponent)
    fractions, pivots = t.exact_rref(a)
    r = fractions.astype(np.float32)
    t.assert_rref(a, r, pivots)
    t.assert_rref_exact(a, r, pivots)
    if pivots:
        assert rejects(t.judge_rref(a, r, pivots[:-1]))
        assert rejects(t.judge_rref(a, r, (*pivots[:-1], pivots[-1] + 1)))
        assert rejects(t.judge_rref(a, np.zeros_like(r), ()))


# The table of judges, each of which passes a right result and refuses mistakes: see tests/test_bounded.py


def test_ratios_of_pivots_that_are_none_are_infinite() -> None:
    """Everywhere; rows that are none for exchanges likewise."""
    a = make("normal", 5, 5)
    form, factors = t.JUDGES["rref"], t.JUDGES["lu_factor"]
    assert np.isinf(form.ratios((a,), (t.identity(5, 5), (1, 0)))).all()
    assert np.isinf(form.deviation((a,), (t.identity(5, 5), (1, 0))))
    lu, piv = scipy.linalg.lu_factor(a)
    assert np.isinf(factors.ratios((a,), (lu, piv + 5))).all()


@pytest.mark.parametrize("shape", TALL_AND_WIDE)
def test_packed_factors_are_judged_with_their_exchanges(shape: tuple[int, int]) -> None:
    """By mapping or by record, with exchanged columns too, of any shape."""
    m, n = shape
    a = make("normal", m, n)
    judge = t.JUDGES["plu"]
    swaps = np.arange(min(m, n))
    half = min(n // 2, len(swaps))
    swaps[:half] = n - 1 - swaps[:half]
    exchanged = a[:, t.references.row_order(swaps, n)]
    lu, piv = scipy.linalg.lu_factor(exchanged)
    for outputs in (t.PackedFactors(lu, piv, swaps), {"LU": lu, "pivots": piv, "columns": swaps}):
        assert judge.verdict((a,), outputs).ok
        assert judge.deviation((a,), outputs) < 1e-5
        assert judge.ratios((a,), outputs).max() <= 1
    if half:
        assert rejects(judge.verdict((a,), t.PackedFactors(lu, piv)))
        assert rejects(judge.verdict((a,), t.PackedFactors(lu, piv, swaps + n)), "columns")
    assert rejects(judge.verdict((exchanged,), t.PackedFactors(lu, piv - m)), "piv[0]")
    assert rejects(judge.verdict((exchanged,), t.PackedFactors(lu, piv.astype(np.float32))), "must be integers")
    assert rejects(judge.verdict((exchanged,), t.PackedFactors(lu, piv[:-1])), "must have shape")


def test_lu_solve_is_judged_by_the_size_of_its_factors() -> None:
    """Where entries grow, a solution is no better than |L||U| allows, and right all the same."""
    rng = np.random.default_rng(4)
    lower, upper = np.tril(np.full((9, 9), -1.0), -1) + np.eye(9), np.triu(np.ones((9, 9)))
    lu = (np.tril(lower, -1) + upper).astype(np.float32)
    piv, b = np.arange(9, dtype=np.int32), t.normal(9, 1, rng)
    x = scipy.linalg.lu_solve((lu, piv), b)
    assert t.JUDGES["lu_solve"].verdict((lu, piv, b), x).ok
    assert rejects(t.JUDGES["lu_solve"].verdict((lu, np.roll(piv, 1), b), x))
    assert rejects(t.JUDGES["lu_solve"].verdict((lu, piv, b), scipy.linalg.lu_solve((lu, piv), b, trans=1)))
