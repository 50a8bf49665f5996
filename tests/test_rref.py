"""Reduced row echelon form: every shape and rank, exact pivots on integers, and a default tolerance that fits."""

from itertools import product

import numpy as np
import pytest

import glla
from glla import testing
from glla.operations.elimination import known
from glla.operations.elimination import rref as kernel
from glla.operations.elimination.rref import VARIANTS
from glla.passes import Limits
from tests.beside import spied

PIVOTINGS = ["harmonic", "geometric", "partial"]


def as_array(value):
    return np.array(value, dtype=np.float32)


def check_exact(a, pivoting="harmonic", variant=None):
    a = as_array(a)
    result = glla.rref(a, pivoting=pivoting, variant=variant)
    testing.assert_rref_exact(a, result.matrix, result.pivots)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("pivoting", PIVOTINGS)
def test_every_variant(variant, pivoting, rng):
    for m, n in testing.SHAPES:
        a = testing.normal(m, n, rng)
        result = glla.rref(a, pivoting=pivoting, variant=variant)
        testing.assert_rref(a, result.matrix, result.pivots)
        assert result.pivots == tuple(range(min(m, n)))
    for rank in range(6):  # blocked gives way
        check_exact(testing.singular(5, 7, rng, rank), pivoting, variant)


@pytest.mark.parametrize("variant", [None, *VARIANTS])
@pytest.mark.parametrize(("n", "seed"), [(129, 13), (301, 7)])
def test_block_pivoting_makes_no_pivot_of_rounding_errors(variant, n, seed):
    rng = np.random.default_rng(seed)
    a = testing.normal(n, n - 1, rng) @ testing.normal(n - 1, n, rng)  # what is left of the last column is about 0.01
    result = glla.rref(a, variant=variant)
    assert result.pivots == tuple(range(n - 1))
    testing.assert_rref(a, result.matrix, result.pivots)


@pytest.mark.parametrize("pivoting", ["harmonic", "geometric"])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 2), (5, 5), (6, 9), (9, 6), (31, 31), (30, 33), (64, 65), (100, 7)])
def test_the_elimination_by_two_columns_is_accepted_by_itself(pivoting, m, n, device, monkeypatch, rng):
    """An ordinary matrix needs neither factors nor float64: known columns tell that no pivot is a rounding error."""
    ran = spied(monkeypatch, device, "run")
    monkeypatch.setattr(kernel, "by_float64", lambda a: pytest.fail("float64 decided"))
    a = testing.normal(m, n, rng) + np.float32(4) * np.eye(m, n, dtype=np.float32)
    result = glla.rref(a, variant="rank2", pivoting=pivoting)
    testing.assert_rref(a, result.matrix, result.pivots)
    assert result.pivots == tuple(range(min(m, n)))
    ((plan,), *_) = ran
    assert not any("plu" in one.shader for one in plan.passes)
    assert plan.cost.passes <= 3 * kernel.steps((m, n), pivoting) + 11


@pytest.mark.parametrize(("m", "n"), [(2, 2), (7, 7), (6, 9), (40, 40), (100, 7)])
def test_known_columns_tell_rounding_errors_from_pivots(m, n, rng):
    """Without tolerances rounding errors are pivots, even large ones: then the coordinates found are far off."""
    order = min(m, n)
    for _ in range(5):
        a = testing.normal(m, n, rng)
        assert known.recovered((m, n), coordinates_found(a))
        a[:, order - 1] = a[:, : order - 1] @ testing.normal(order - 1, 1, rng)[:, 0]
        found = coordinates_found(a)
        assert not known.recovered((m, n), found)
        assert known.errors(found).max() > 0.05 or not np.isfinite(found).all()


def coordinates_found(a):
    """Coordinates of the known columns as an elimination in float32 finds them that takes any pivot."""
    rest = np.concatenate([a, a @ known.coordinates(a.shape)], axis=1)
    order = min(a.shape)
    with np.errstate(all="ignore"):
        for k in range(order):
            best = k + np.argmax(np.abs(rest[k:, k]))
            rest[[k, best]] = rest[[best, k]]
            rest[k] /= rest[k, k]
            others = np.arange(len(a)) != k
            rest[others] -= np.outer(rest[others, k], rest[k])
    return rest[:order, a.shape[1] :]


def test_a_matrix_too_wide_for_known_columns_is_judged_by_factors():
    limits = Limits(texture_size=16, software=True)
    fits, wide = (glla.plan("rref", (4, n), limits=limits, variant="rank2") for n in (28, 29))
    assert [any("plu" in one.shader for one in plan.passes) for plan in (fits, wide)] == [False, True]
    wide.check()


def test_a_small_pivot_that_is_no_rounding_error_stays(device, monkeypatch, rng):
    a = np.eye(40, dtype=np.float32) + np.triu(testing.normal(40, 40, rng), 1) / 40
    a[39] = a[38]
    a[39, 39] += 0.01
    monkeypatch.setattr("glla.linalg.execution.merged", lambda device, plan: plan)  # plans have their names
    run = spied(monkeypatch, device, "run", lambda plan: plan.operation)
    assert glla.rref(a).pivots == tuple(range(40))
    assert "rref[blocked, harmonic]" in run
    assert "rref[rank2, partial]" not in run


@pytest.mark.parametrize("pivoting", PIVOTINGS)
@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0)])
def test_empty(pivoting, shape):
    for place in (np.asarray, glla.asarray):
        result = glla.rref(place(np.zeros(shape, np.float32)), pivoting=pivoting)
        assert (type(result.matrix), result.pivots) == (type(place(0)), ())
        testing.assert_exact(np.asarray(result.matrix), np.zeros(shape))


# Families of integer matrices up to 12 x 12, small entries, of every rank; each is judged against exact rationals.
FAMILIES = {
    "full": lambda m, n, rng: rng.integers(-9, 10, (m, n)),
    "zero and one": lambda m, n, rng: rng.integers(0, 2, (m, n)),
    "product of low rank": lambda m, n, rng: testing.singular(m, n, rng, int(rng.integers(0, min(m, n) + 1))),
    "repeated rows": lambda m, n, rng: rng.integers(-9, 10, (k := rng.integers(1, m + 1), n))[rng.integers(0, k, m)],
    "repeated columns": lambda m, n, rng: FAMILIES["repeated rows"](n, m, rng).T,
    "zero columns": lambda m, n, rng: rng.integers(-9, 10, (m, n)) * rng.integers(0, 2, n),
    "sparse": lambda m, n, rng: rng.integers(-9, 10, (m, n)) * (rng.random((m, n)) < 0.3),
    "sum of two rows": lambda m, n, rng: np.vstack([top := rng.integers(-9, 10, (m - 1, n)), top[:2].sum(0)]),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pivoting", PIVOTINGS)
def test_rank_and_pivots_are_the_exact_ones(family, pivoting, rng):
    for _ in range(30):
        m, n = rng.integers(1, 13, 2)
        check_exact(FAMILIES[family](m, n, rng), pivoting)


# The default tolerance ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pivoting", "m", "n"),
    [("harmonic", 4, 1100), ("harmonic", 1100, 4), ("geometric", 2, 1500), ("partial", 4, 1100), ("partial", 1500, 2)],
)
def test_wide_and_tall_matrices_of_low_rank(pivoting, m, n, rng):
    for rank in range(min(m, n) + 1):
        a = testing.singular(m, n, rng, rank)
        result = glla.rref(a, pivoting=pivoting)
        testing.assert_rref(a, result.matrix, result.pivots)
        assert len(result.pivots) == rank


@pytest.mark.parametrize("spread", [20, 40])
@pytest.mark.parametrize("family", FAMILIES)
def test_graded_integers_keep_their_rank(family, spread, rng):
    """Rows and columns scaled by random powers of two: sweeps of maxima lose rank in 2 of 100, at 2^40 in 9."""
    for _ in range(60):
        m, n = rng.integers(2, 13, 2)
        a = as_array(FAMILIES[family](m, n, rng))
        rows, columns = rng.integers(-spread, spread + 1, (len(a), 1)), rng.integers(-spread, spread + 1, a.shape[1])
        R, pivots = glla.rref(np.ldexp(a, rows + columns))  # R's powers stay below 2^(2 spread): it fits float32
        _, expected = testing.exact_rref(a)
        assert pivots == tuple(expected), (a, rows, columns)
        assert np.isfinite(R).all()


# Explicit tolerance ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pivoting", PIVOTINGS)
@pytest.mark.parametrize(("tol", "rank"), [(0, 3), (1e-7, 3), (1e-5, 2), (0.4, 2), (0.6, 1), (4.5, 0), (1e300, 0)])
def test_tol_is_absolute(pivoting, tol, rank):
    a = np.diag([4, 0.5, 1e-6])
    result = glla.rref(a, tol=tol, pivoting=pivoting)
    assert result.pivots == tuple(range(rank))
    testing.assert_exact(result.matrix, np.diag([1.0] * rank + [0.0] * (3 - rank)))


def test_a_pivot_equal_to_tol_is_none():
    assert glla.rref([[0.5]], tol=0.5).pivots == ()
    assert glla.rref([[0.5]], tol=np.nextafter(np.float32(0.5), np.float32(0))).pivots == (0,)


# Results and errors ------------------------------------------------------------------------------------------------


def test_result_is_a_named_pair():
    matrix, pivots = result = glla.rref([[1, 2], [3, 4]])
    assert result.matrix is matrix
    assert result.pivots is pivots
    assert isinstance(result, glla.RREF)
    assert type(pivots) is tuple
    assert [type(j) for j in pivots] == [int, int]
    assert matrix.flags.c_contiguous
    assert matrix.flags.writeable


@pytest.mark.parametrize("pivoting", PIVOTINGS)
@pytest.mark.parametrize("tol", [None, 1e-6])
def test_nan_behind_the_pivots_stays_in_its_column(pivoting, tol):
    a = np.array([[1, 2, 0, 4], [0, 1, 3, 1], [2, 0, 1, np.nan]])
    result = glla.rref(a, tol, pivoting, check_finite=False)
    assert np.isnan(result.matrix[:, 3]).all()
    testing.assert_exact(result.matrix[:, :3], np.eye(3))
    assert result.pivots == (0, 1, 2)


@pytest.mark.parametrize("pivoting", PIVOTINGS)
@pytest.mark.parametrize("tol", [None, 1e-6])
def test_nan_among_the_pivots_is_not_lost(pivoting, tol):
    for bad, place in product((np.nan, np.inf), np.ndindex(3, 3)):
        a = np.array([[1.0, 2, 0], [0, 1, 3], [2, 0, 1]])
        a[place] = bad
        assert np.isnan(glla.rref(a, tol, pivoting, check_finite=False).matrix).any()
