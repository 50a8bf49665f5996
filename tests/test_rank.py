"""The rank that rref finds, against exact arithmetic: integer matrices on which rounding errors pass for pivots."""

import itertools

import numpy as np
import pytest

import glla
from glla import testing
from glla.operations.elimination.pivot import NORMS
from glla.operations.elimination.rref import VARIANTS
from glla.testing.adversaries import (
    combined_columns,
    exact_pivots,
    growing,
    hidden_singular,
    incidence,
    laplacian,
    product,
    vandermonde,
)


def check(a, **options):
    a = np.asarray(a, dtype=np.float32)
    result = glla.rref(a, **options)
    assert result.pivots == exact_pivots(a)
    testing.assert_rref(a, result.matrix, result.pivots)


@pytest.mark.parametrize(("m", "k"), [(60, 40), (100, 60), (150, 100), (200, 100)])
def test_combined_columns(m, k, rng):
    """Expansions of these columns are small in the end, and large on the way."""
    check(combined_columns(m, k, rng))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rank", [*range(1, 12), 31, 32, 33, 47, 63, 64])
def test_products(rank, transposed, rng):
    a = product(70, 90, rank, rng)
    check(a.T if transposed else a)


def test_products_with_dependent_blocks_of_columns(rng):
    left = product(200, 100, 60, rng)
    check(np.hstack([left, left[:, ::-1], left @ rng.integers(-1, 2, (100, 100))]))


STRUCTURED = {
    "incidence, tall": incidence(40, 80, np.random.default_rng(1)),
    "incidence, wide": incidence(60, 30, np.random.default_rng(2)),
    "laplacian": laplacian(60, 90, np.random.default_rng(3)),
    "laplacian of a forest": laplacian(80, 50, np.random.default_rng(4)),
    "vandermonde 8": vandermonde(8, 8),
    "vandermonde 11 x 7": vandermonde(11, 7),
    "vandermonde of 7": np.vander(np.arange(1, 8)),
    "kronecker": np.kron(vandermonde(5, 5), [[1, 2], [2, 4]]),
    "path": 2 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1) - np.diag([1] + 48 * [0] + [1]),
    "counting": np.arange(900).reshape(30, 30),
    "Frank": [[40 - max(i, j) if j >= i - 1 else 0 for j in range(40)] for i in range(40)],
    "growth 2^128": growing(129),
    "growth 2^199": growing(200),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_integers(name):
    check(STRUCTURED[name])


@pytest.mark.parametrize("zero", [True, False])
@pytest.mark.parametrize("n", [20, 30, 45, 64])
def test_condition_beyond_float64(n, zero, rng):
    """Condition 2^n: not even float64 tells whether the rest of a column is zero, so integers are taken for exact."""
    a = hidden_singular(n, rng, zero).astype(np.float32)
    assert glla.rref(a).pivots == exact_pivots(a)


def test_condition_beyond_float64_beside_more_columns(rng):
    """The columns behind make up for the rank, so that a wrong decision does not show in it."""
    for _ in range(8):
        a = np.hstack([hidden_singular(60, rng), rng.integers(-3, 4, (60, 30))]).astype(np.float32)
        assert glla.rref(a).pivots == exact_pivots(a)


@pytest.mark.parametrize("k", [32, 128, 300])
def test_products_computed_in_float32_keep_their_rank(k, rng):
    """Their entries are off by sqrt(k) roundings each; that must not count as rank."""
    a = testing.normal(k + 1, k, rng) @ testing.normal(k, k + 5, rng)
    result = glla.rref(a)
    assert result.pivots == tuple(range(k))
    testing.assert_rref(a, result.matrix, result.pivots)


@pytest.mark.parametrize("exponent", [-140, -100, 100])
def test_rank_near_the_limits_of_float32(exponent, rng):
    """Entries that a GPU flushes to zero, or whose products overflow."""
    a = product(12, 14, 5, rng)
    assert glla.rref(np.ldexp(a.astype(np.float32), exponent)).pivots == exact_pivots(a)


def test_tolerance_is_not_lost_in_rounding_errors(rng):
    """With an absolute tolerance, too, what is left of a dependent column is zero and no rounding error."""
    a = combined_columns(150, 100, rng).astype(np.float32)
    for tol in (1e-9, 1e-4):
        result = glla.rref(a, tol=tol)
        assert result.pivots == exact_pivots(a)
        testing.assert_rref(a, result.matrix, result.pivots)
    assert glla.rref(growing(129), tol=1e-6).pivots == tuple(range(129))


def test_entries_that_are_zero_come_out_as_zero(rng):
    a = rng.integers(-3, 4, (40, 20))
    a = np.hstack([a, 2 * a[:, [3]] - a[:, [7]]])
    expected = np.zeros(20)
    expected[[3, 7]] = 2, -1
    testing.assert_exact(glla.rref(a).matrix[:20, 20], expected.astype(np.float32))


FAMILIES = {
    "product": lambda m, n, rng: product(m, n, int(rng.integers(1, min(m, n) + 1)), rng),
    "columns": lambda m, n, rng: combined_columns(m, max(2, min(m, n) // 2), rng),
    "incidence": incidence,
    "laplacian": laplacian,
    "sparse": lambda m, n, rng: rng.integers(-1, 2, (m, n)) * (rng.random((m, n)) < 0.2),
    "rows": lambda m, n, rng: product(m, n, min(m, n) // 2 + 1, rng) * 2 ** rng.integers(0, 11, (m, 1)),
    "hidden": lambda m, n, rng: hidden_singular(min(m, n, 28), rng, bool(rng.integers(0, 2))),
}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", [3, pytest.param(300, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("family", FAMILIES)
def test_many_shapes_in_every_way(family, count, rng):
    for variant, pivoting, _ in itertools.product(VARIANTS, NORMS, range(count)):
        m, n = (int(side) for side in rng.integers(2, 90, 2))
        a = FAMILIES[family](m, n, rng).astype(np.float32)
        assert glla.rref(a, variant=variant, pivoting=pivoting).pivots == exact_pivots(a), (m, n, variant, pivoting)
