"""T X = B for every kind of triangle, right where only its own triangle is there to be read."""

from itertools import product

import numpy as np
import pytest

from glla.kernels.triangular import plan
from glla.testing import MATRICES, assert_exact, assert_solve, integers, normal

KINDS = list(product([False, True], repeat=3))
SYSTEMS = [(1, 1), (2, 2), (3, 1), (2, 3), (15, 16), (16, 5), (17, 17), (37, 131)]

every_kind = pytest.mark.parametrize(("upper", "unit", "transposed"), KINDS, ids=str)
every_system = pytest.mark.parametrize(("n", "columns"), SYSTEMS, ids=str)


def system(n, upper, unit, transposed, rng, make=MATRICES["lower"]):
    """The triangle that is solved with, and what is stored: NaN wherever it must not be read."""
    t = make(n, n, rng)
    t = np.tril(t, -1) + np.diag(np.ones(n) if unit else np.diagonal(t))
    t = (t.T if upper else t).astype(np.float32)
    stored = np.where(np.tri(n, k=-int(unit)).T if upper else np.tri(n, k=-int(unit)), t, np.nan)
    return t, (stored.T if transposed else stored).astype(np.float32)


def solve(run, stored, b, upper, unit, transposed):
    return run(plan(len(stored), b.shape[1], upper, unit, transposed), T=stored, B=b).matrix("X", b.shape)


def small_integers(n, columns, rng):
    """An integer triangle whose inverse is one too, with powers of two on its diagonal."""
    t = integers(n, columns, rng, limit=1)
    np.fill_diagonal(t, rng.choice([-2.0, -1.0, 1.0, 2.0, 4.0], n))
    return t


@every_kind
@every_system
def test_residual_is_small_and_the_other_triangle_is_not_read(run, rng, n, columns, upper, unit, transposed):
    t, stored = system(n, upper, unit, transposed, rng)
    b = normal(n, columns, rng)
    assert_solve(t, solve(run, stored, b, upper, unit, transposed), b)


@every_kind
@pytest.mark.parametrize("n", [1, 2, 3, 8, 9])
def test_integers_are_exact(run, rng, n, upper, unit, transposed):
    t, stored = system(n, upper, unit, transposed, rng, small_integers)
    x = integers(n, 5, rng)
    assert_exact(solve(run, stored, t @ x, upper, unit, transposed), x)


@every_kind
def test_packed_factors_serve_as_both_triangles(run, rng, upper, unit, transposed):
    lu = normal(13, 13, rng) / 13 + 2 * np.eye(13, dtype=np.float32)
    stored = lu.T if transposed else lu
    t = np.triu(lu) if upper else np.tril(lu)
    if unit:
        np.fill_diagonal(t, 1)
    b = normal(13, 3, rng)
    assert_solve(t, solve(run, stored, b, upper, unit, transposed), b)


@every_kind
@pytest.mark.parametrize("i", [0, 1, 4, 6])
def test_nan_reaches_later_rows_of_its_column_only(run, rng, i, upper, unit, transposed):
    t = np.tri(7, dtype=np.float32)
    t = t.T if upper else t
    stored = t.T if transposed else t
    b = normal(7, 5, rng)
    expected = solve(run, stored, b, upper, unit, transposed)
    expected[slice(None, i + 1) if upper else slice(i, None), 2] = np.nan
    b[i, 2] = np.nan
    np.testing.assert_array_equal(solve(run, stored, b, upper, unit, transposed), expected)


@every_kind
@every_system
def test_plan_keeps_the_rules(n, columns, upper, unit, transposed):
    made = plan(n, columns, upper, unit, transposed)
    made.check()
    assert len(made.steps) == (n + 1) // 2
    assert made.cost.flops == n * n * columns
    assert plan(n, columns, upper, unit, transposed) is made
