"""T X = B for every kind of triangle, right where only its own triangle is there to be read."""

from itertools import product

import numpy as np
import pytest

from glla.operations.triangles import triangular
from glla.operations.triangles.solved_blocks import Triangle
from glla.operations.triangles.triangular import VARIANTS, substitute
from glla.passes import Draft, Limits, matrix, resident
from glla.testing import MATRICES, ROUNDOFF, assert_exact, assert_solve, normal

SOFTWARE = Limits(software=True)  # where no loop is written out: one of 64 rows takes a rasteriser seconds to compile
KINDS = list(product([False, True], repeat=3))
SYSTEMS = [(1, 1), (2, 2), (3, 1), (2, 3), (15, 16), (16, 5), (17, 17), (37, 131)]
# About the edges of one and two blocks of 64 rows (16 in software), and of groups of 16.
EDGES = [(31, 2), (32, 1), (33, 3), (63, 9), (64, 8), (65, 1), (80, 7), (81, 2), (128, 1), (131, 10)]
DIVISION = 4  # roundoffs that the division of a GPU may be off, and one for the last subtraction

every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_kind = pytest.mark.parametrize(("upper", "unit", "transposed"), KINDS, ids=str)


def system(n, upper, unit, transposed, rng, make=MATRICES["lower"]):
    """The triangle that is solved with, and what is stored: NaN wherever it must not be read."""
    t = make(n, n, rng)
    t = np.tril(t, -1) + np.diag(np.ones(n) if unit else np.diagonal(t))
    t = (t.T if upper else t).astype(np.float32)
    stored = np.where(np.tri(n, k=-int(unit)).T if upper else np.tri(n, k=-int(unit)), t, np.nan)
    return t, (stored.T if transposed else stored).astype(np.float32)


def plan(n, columns, variant="rank2", limits=SOFTWARE, **options):
    return triangular.plan(resident((n, n), (n, columns)), limits, variant=variant, **options)


def solve(run, variant, stored, b, upper, unit, transposed, parameters=()):
    kind = {"upper": upper, "unit": unit, "transposed": transposed}
    made = plan(len(stored), b.shape[1], variant, parameters=parameters, **kind)
    return run(made, T=stored, B=b).matrix("X", b.shape)


def assert_substituted(t, x, b):
    """Row by row: |B - T X| <= (k + 4) u |T||X|, k the entries of the row. Inverted blocks would not keep to it."""
    t64, x64 = t.astype(np.float64), x.astype(np.float64)
    assert np.isfinite(x).all()
    limit = (np.count_nonzero(t, axis=1)[:, np.newaxis] + DIVISION) * ROUNDOFF * (np.abs(t64) @ np.abs(x64))
    wrong = np.argwhere(np.abs(b - t64 @ x64) > limit)
    assert not wrong.size, f"more than the limit at rows, columns {wrong[:9].tolist()}"


# ---- right -------------------------------------------------------------------------------------------------------


@every_variant
@every_kind
def test_error_is_that_of_substitution_and_the_other_triangle_is_not_read(run, rng, variant, upper, unit, transposed):
    for n, columns in SYSTEMS + EDGES:
        t, stored = system(n, upper, unit, transposed, rng)
        b = normal(n, columns, rng)
        x = solve(run, variant, stored, b, upper, unit, transposed)
        assert_solve(t, x, b)
        assert_substituted(t, x, b)
    t, stored = system(70, upper, unit, transposed, rng, normal)  # of a condition that grows like 2^n
    b = normal(70, 2, rng)
    assert_substituted(t, solve(run, variant, stored, b, upper, unit, transposed), b)


@every_variant
@every_kind
@pytest.mark.parametrize("n", [4, 5, 67, 130])
def test_part_of_a_wider_matrix(run, rng, n, variant, upper, unit, transposed):
    t, _ = system(n, upper, unit, transposed, rng)
    stored = np.full((n + 7, n + 9), np.nan, dtype=np.float32)
    if n % 2 and variant != "panel_broadcast":  # a texel that has entries of T and others is multiplied by zero
        stored = normal(*stored.shape, rng)
    stored[:n, :n] = t.T if transposed else t
    b = normal(n, 3, rng)
    draft = Draft("part")
    operands = draft.operand("T", matrix(stored.shape)), draft.operand("B", matrix(b.shape))
    result = substitute(draft, *operands, b.shape, Triangle(upper, unit, transposed), SOFTWARE, variant)
    x = run(draft.plan({"X": result}), T=stored, B=b).matrix("X", b.shape)
    assert_exact(x, solve(run, variant, stored[:n, :n], b, upper, unit, transposed))


@pytest.mark.parametrize(("upper", "unit", "transposed"), [(False, True, False), (True, False, True)], ids=str)
@pytest.mark.parametrize("n", [9, 16, 31])
def test_loops_that_are_written_out(run, rng, n, upper, unit, transposed):
    """Of 16 and 32 rows, as a GPU takes them."""
    t, stored = system(n, upper, unit, transposed, rng)
    b = normal(n, 3, rng)
    unrolled = (("ROWS", 64), ("UNROLL", 1))
    assert_substituted(t, solve(run, "blocked", stored, b, upper, unit, transposed, unrolled), b)


# ---- character ---------------------------------------------------------------------------------------------------


@every_variant
@every_kind
def test_nan_reaches_later_rows_of_its_column_only(run, variant, upper, unit, transposed):
    for n, i in ((7, 0), (7, 1), (7, 4), (7, 6), (67, 0), (67, 3), (67, 20), (67, 63), (67, 66)):
        t = np.tri(n, dtype=np.float32)
        t = t.T if upper else t
        stored = t.T if transposed else t
        b = np.arange(5 * n, dtype=np.float32).reshape(n, 5)
        expected = solve(run, variant, stored, b, upper, unit, transposed)
        expected[slice(None, i + 1) if upper else slice(i, None), 2] = np.nan
        b[i, 2] = np.nan
        np.testing.assert_array_equal(solve(run, variant, stored, b, upper, unit, transposed), expected)


@every_variant
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("n", "i"), [(1, 0), (6, 3), (70, 2), (70, 69)])
def test_zero_on_the_diagonal_gives_zero(run, rng, n, i, variant, upper):
    """As everywhere: a pivot of zero has multipliers of zero. The rows solved before do not notice."""
    t, stored = system(n, upper, False, False, rng)
    b = normal(n, 2, rng)
    expected = solve(run, variant, stored, b, upper, False, False)
    stored[i, i] = 0
    x = solve(run, variant, stored, b, upper, False, False)
    assert not x[i].any()
    before = slice(i + 1, None) if upper else slice(None, i)
    assert_exact(x[before], expected[before])
    others = np.arange(n) != i
    assert_substituted(t[others], x, b[others])
