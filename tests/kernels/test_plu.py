"""A = P L U, packed: LAPACK's choice of rows, exact where arithmetic is, bounded elsewhere."""

import numpy as np
import pytest
import scipy.linalg

from glla.errors import OptionError
from glla.kernels import permutation
from glla.kernels.pivot import NORMS, accepted
from glla.kernels.plu import VARIANTS, diagonal, factor, flops, plan, steps
from glla.testing import (
    MATRICES,
    ROUNDOFF,
    SHAPES,
    assert_exact,
    assert_plu,
    embedded,
    integers,
    normal,
    permutation_from_piv,
    unpack_lu,
)

WHOLE = [shape for shape in SHAPES if 0 not in shape]
# More than one chunk of rows (33, 131), more than 512 rows.
LARGE = [(131, 131), (1031, 5), (5, 1031)]
BLOCK_NORMS = sorted(set(NORMS) - {"partial"})
MULTIPLIER_LIMIT = 1 + 8 * ROUNDOFF  # of inexact division

every_shape = pytest.mark.parametrize("shape", WHOLE, ids=str)
every_pivoting = pytest.mark.parametrize("pivoting", NORMS)
every_matrix = pytest.mark.parametrize("name", MATRICES)


def factors(results, shape):
    """P, L, U and LAPACK's pivots out of what a plan hands out."""
    piv = results["records"][:, :2].reshape(-1)[: min(shape)].astype(int)
    return (permutation_from_piv(piv, shape[0]), *unpack_lu(results.matrix("LU", shape)), piv)


def healthy(results, a):
    """Whether the caller would let the result of a block norm stand."""
    return accepted(*results["health"][:2], float(np.abs(a).max()), min(a.shape))


def small_factors(m, n, rng):
    """L and U of small integers: partial pivoting finds every row in its place already, and all sums are exact."""
    k = min(m, n)
    lower = np.tril(integers(m, k, rng, limit=1), -1) + np.eye(m, k, dtype=np.float32)
    upper = np.triu(integers(k, n, rng), 1) + embedded(np.diag(rng.choice([1.0, -2.0, 4.0], k)), k, n)
    return lower, upper


def packed_factors(lower, upper):
    """L below the diagonal, U on and above it."""
    (m, k), n = lower.shape, upper.shape[1]
    return embedded(lower - np.eye(m, k), m, n) + embedded(upper, m, n)


# ---- exact -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", WHOLE + LARGE, ids=str)
def test_integer_factors_are_found_exactly(factorise, rng, shape):
    lower, upper = small_factors(*shape, rng)
    results = factorise(plan(shape), lower @ upper)
    assert_exact(results.matrix("LU", shape), packed_factors(lower, upper))
    assert factors(results, shape)[3].tolist() == list(range(min(shape)))


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 4), (9, 9), (16, 13), (37, 37)], ids=str)
def test_stop_gives_the_state_in_progress(factorise, rng, shape):
    lower, upper = small_factors(*shape, rng)
    for stop in range(1, steps(shape) + 1):
        done = 2 * stop
        expected = packed_factors(lower[:, :done], upper[:done])
        expected[done:, done:] = lower[done:, done:] @ upper[done:, done:]
        results = factorise(plan(shape, stop=stop), lower @ upper)
        assert_exact(results.matrix("LU", shape), expected)
        assert len(results["records"]) == stop


def test_stop_past_the_end_is_the_whole_factorisation():
    assert len(plan((5, 5), stop=99).steps) == len(plan((5, 5)).steps)


@every_pivoting
@every_shape
def test_identity_is_its_own_factors(factorise, shape, pivoting):
    eye = np.eye(*shape, dtype=np.float32)
    assert_exact(factorise(plan(shape, pivoting), eye).matrix("LU", shape), eye)


@pytest.mark.parametrize("name", ["permutation", "bad_pairs", "swapped_pairs", "antidiagonal"])
@every_shape
def test_permutations_are_exact(factorise, rng, shape, name):
    a = MATRICES[name](*shape, rng)
    p, lower, upper, _ = factors(factorise(plan(shape), a), shape)
    assert_exact(lower, np.eye(*lower.shape))
    assert_exact(p @ lower @ upper, a)


@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
@pytest.mark.parametrize("n", [2, 4, 5, 8, 17])
def test_block_norms_exchange_rows_within_a_texel(factorise, n, pivoting):
    a = MATRICES["swapped_pairs"](n, n, None)
    results = factorise(plan((n, n), pivoting), a)
    p, lower, upper, _ = factors(results, (n, n))
    assert healthy(results, a)
    assert_exact(p @ lower @ upper, a)


# ---- bounded -----------------------------------------------------------------------------------------------------


@every_matrix
@every_shape
def test_partial_is_within_its_bound(factorise, rng, name, shape):
    a = MATRICES[name](*shape, rng)
    p, lower, upper, _ = factors(factorise(plan(shape), a), shape)
    assert_plu(a, p, lower, upper, multiplier_limit=MULTIPLIER_LIMIT)


@pytest.mark.parametrize("shape", LARGE, ids=str)
@pytest.mark.parametrize("name", ["normal", "conditioned", "graded", "singular"])
def test_large_matrices_are_within_their_bound(factorise, rng, name, shape):
    a = MATRICES[name](*shape, rng)
    p, lower, upper, _ = factors(factorise(plan(shape), a), shape)
    assert_plu(a, p, lower, upper, multiplier_limit=MULTIPLIER_LIMIT)


@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
@every_matrix
def test_block_norms_are_within_the_bound_or_say_so(factorise, rng, name, pivoting):
    for shape in WHOLE:
        a = MATRICES[name](*shape, rng)
        results = factorise(plan(shape, pivoting), a)
        if healthy(results, a):
            assert_plu(a, *factors(results, shape)[:3])


@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
def test_no_small_matrix_passes_as_healthy_that_is_not(factorise, rng, pivoting):
    accepted_ones = 0
    for _ in range(200):
        m, n = rng.integers(2, 12, 2)
        a = normal(m, n, rng) * 10 ** rng.uniform(-3, 0, (m, n)).astype(np.float32)
        results = factorise(plan(a.shape, pivoting), a)
        if healthy(results, a):
            accepted_ones += 1
            assert_plu(a, *factors(results, a.shape)[:3])
    assert accepted_ones > 20


@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
@pytest.mark.parametrize("name", ["identity", "diagonal", "spd", "toeplitz", "lower"])
@pytest.mark.parametrize("n", [2, 3, 16, 37])
def test_block_norms_do_well_where_the_diagonal_does(factorise, rng, name, n, pivoting):
    a = MATRICES[name](n, n, rng)
    assert healthy(factorise(plan(a.shape, pivoting), a), a)


@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
@pytest.mark.parametrize("name", ["bad_pairs", "ones", "zeros"])
@pytest.mark.parametrize("n", [4, 8, 17])
def test_block_norms_say_that_there_is_no_good_pair(factorise, rng, name, n, pivoting):
    a = MATRICES[name](n, n, rng)
    assert not healthy(factorise(plan(a.shape, pivoting), a), a)


# ---- LAPACK ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Diagonal number:scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("name", ["normal", "uniform", "permutation", "graded", "diagonal", "antidiagonal"])
@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 3), (17, 17), (37, 37), (29, 13), (13, 29), (131, 131), (1031, 5)], ids=str
)
@pytest.mark.parametrize("zero_column", [False, True])
def test_pivots_are_lapacks(factorise, rng, name, shape, zero_column):
    a = MATRICES[name](*shape, rng)
    if zero_column:
        a[:, shape[1] // 2] = 0  # no pivot there: the row stays
    piv = factors(factorise(plan(shape), a), shape)[3]
    assert piv.tolist() == scipy.linalg.lu_factor(a)[1].tolist()


# ---- records -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (7, 5), (5, 7), (37, 37), (67, 3)], ids=str)
def test_records_lead_to_the_permutation(run, factorise, rng, shape):
    a = normal(*shape, rng)
    results = factorise(plan(shape), a)
    p, lower, upper, _ = factors(results, shape)
    order = p.argmax(axis=0)
    records = {"pivots_even": results["pivots_even"], "pivots_odd": results.get("pivots_odd", results["pivots_even"])}
    rows = run(permutation.trace(shape[0], steps(shape)), **records)["rows"]
    back = run(permutation.trace(shape[0], steps(shape), inverse=True), **records)["rows"]
    assert rows[:, 0, :2].reshape(-1)[: shape[0]].tolist() == order.tolist()
    assert back[:, 0, :2].reshape(-1)[: shape[0]].tolist() == np.argsort(order).tolist()
    permuted = run(permutation.gather(shape), A=a, rows=rows).matrix("B", shape)
    assert_exact(permuted, a[order])
    assert_plu(permuted, np.eye(shape[0], dtype=np.float32), lower, upper)


# ---- character ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 5), (6, 6), (5, 8), (6, 9)], ids=str)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 3, 4])
def test_not_finite_in_the_last_column_stays_there(factorise, rng, shape, bad, row):
    a = normal(*shape, rng)
    clean = factorise(plan(shape), a).matrix("LU", shape)
    a[row, -1] = bad
    lu = factorise(plan(shape), a).matrix("LU", shape)
    np.testing.assert_array_equal(lu[:, :-1], clean[:, :-1])
    assert not np.isfinite(lu[:, -1]).all()


# ---- what follows from the factors -------------------------------------------------------------------------------


@every_shape
def test_factors_are_taken_apart(run, rng, shape):
    lu = normal(*shape, rng)
    lower, upper = unpack_lu(lu)
    assert_exact(run(factor(shape, "L"), LU=lu).matrix("L", lower.shape), lower)
    assert_exact(run(factor(shape, "U"), LU=lu).matrix("U", upper.shape), upper)


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 37, 131])
@pytest.mark.parametrize("make", [integers, normal])
def test_diagonal_and_the_largest_of_each_column(run, rng, n, make):
    lu = make(n, n, rng)
    texels = run(diagonal(n), LU=lu)["diagonal"][:, 0]
    u, largest = texels[:, :2].reshape(-1), texels[:, 2:].reshape(-1)
    assert_exact(u[:n], lu.diagonal())
    assert_exact(largest[:n], np.abs(np.triu(lu)).max(axis=0))
    assert not u[n:].any() and not largest[n:].any()


# ---- the plan ----------------------------------------------------------------------------------------------------


@every_pivoting
@pytest.mark.parametrize("variant", VARIANTS)
def test_plan_keeps_the_rules(pivoting, variant):
    for shape in WHOLE + LARGE:
        made = plan(shape, pivoting)
        made.check()
        assert variant in made.operation and pivoting in made.operation
        assert sum(step.shader == "plu/eliminate" for step in made.steps) == steps(shape)
        plan(shape, pivoting, 1).check()
        assert plan(shape, pivoting) is made


def test_plans_of_what_follows_keep_the_rules():
    for shape in WHOLE:
        for made in (factor(shape, "L"), factor(shape, "U"), diagonal(shape[0])):
            made.check()
    assert factor((3, 4), "L") is factor((3, 4), "L") and diagonal(5) is diagonal(5)


@pytest.mark.parametrize(
    ("shape", "expected"), [((1, 1), 0), ((2, 2), 2), ((3, 3), 10), ((3, 2), 4), ((100, 100), 656700)]
)
def test_flops_are_counted(shape, expected):
    assert flops(shape) == expected
    assert plan(shape).cost.flops == expected


def test_unknown_pivoting():
    with pytest.raises(OptionError, match="pivoting: must be one of partial, harmonic, geometric, got 'complete'"):
        plan((2, 2), "complete")
