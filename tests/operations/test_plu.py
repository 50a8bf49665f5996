"""A = P L U, packed: LAPACK's choice of rows, exact where arithmetic is, bounded elsewhere."""

from itertools import cycle

import numpy as np
import pytest
import scipy.linalg

from glla.errors import OptionError
from glla.operations.acceptance import accepted
from glla.operations.elimination import plu
from glla.operations.elimination.pivot import NORMS, steps
from glla.operations.elimination.plu import MANNERS, VARIANTS, diagonal, pivotings
from glla.passes import Limits, Pass, resident
from glla.testing import (
    MATRICES,
    SHAPES,
    assert_exact,
    embedded,
    integers,
    normal,
    permutation_from_piv,
    unpack_lu,
    wilkinson_growth,
)
from tests.matrix import small_factors

SOFTWARE = Limits(software=True)  # where nothing is fused, and no loop written out, unless it is asked for
WHOLE = [shape for shape in SHAPES if 0 not in shape]
# More than one chunk of rows (33, 131), more than 512 rows.
LARGE = [(131, 131), (1031, 5), (5, 1031)]
# Panels of 64 columns, groups of 16 rows: about the edges of one and two panels, tall and wide.
PANELS = [(63, 64), (64, 64), (64, 65), (65, 65), (63, 129), (129, 63), (127, 128), (130, 130), (72, 200), (100, 300),
          (300, 100), (33, 200), (200, 33), (257, 70)]  # fmt: skip
# What goes column by column: about the edges of texels of four, of chunks and squares of a search, tall and wide.
SOME_SHAPES = [(8, 8), (9, 7), (37, 37), (70, 67), (67, 131)]
BLOCK_NORMS = sorted(set(NORMS) - {"partial"})
TWO_COLUMNS = [name for name in VARIANTS if name not in MANNERS]
ROWS_ONLY = [name for name in VARIANTS if "complete" not in pivotings(name)]
ONE_COLUMN = [name for name in ROWS_ONLY if name in MANNERS]
FULL = "row_operations_full"
CHOICES = [(name, pivoting) for name in VARIANTS for pivoting in pivotings(name) if pivoting != "none"]

every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_choice = pytest.mark.parametrize(("variant", "pivoting"), CHOICES)
exchanging_rows = pytest.mark.parametrize("variant", ROWS_ONLY)
by_two_columns = pytest.mark.parametrize("variant", TWO_COLUMNS)


def plan(shape, pivoting=None, variant="rank2", limits=SOFTWARE, **options):
    return plu.plan(resident(shape), limits, variant=variant, pivoting=pivoting, **options)


def factors(results, shape):
    """P, L, U and LAPACK's pivots out of what a plan hands out."""
    piv = results["records"][:, :2].reshape(-1)[: min(shape)].astype(int)
    return (permutation_from_piv(piv, shape[0]), *unpack_lu(results.matrix("LU", shape)), piv)


def healthy(results, a):
    """Whether the caller would accept the result of a block norm."""
    return accepted(*results["health"][:2], float(np.abs(a).max()), min(a.shape))


def packed_factors(lower, upper):
    """L below the diagonal, U on and above it."""
    (m, k), n = lower.shape, upper.shape[1]
    return embedded(lower - np.eye(m, k), m, n) + embedded(upper, m, n)


# ---- exact -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["rank2", *ONE_COLUMN])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 4), (9, 9), (16, 13)], ids=str)
def test_stop_gives_the_state_in_progress(factorise, rng, shape, variant):
    lower, upper = small_factors(*shape, rng)
    for stop in range(1, steps(shape) + 1):
        done = 2 * stop
        expected = packed_factors(lower[:, :done], upper[:done])
        expected[done:, done:] = lower[done:, done:] @ upper[done:, done:]
        results = factorise(plan(shape, stop=stop, variant=variant), lower @ upper)
        assert_exact(results.matrix("LU", shape), expected)
        assert len(results["records"]) == stop


@every_variant
def test_where_it_cannot_stop(variant):
    with pytest.raises(OptionError, match=r"^plu: stop must be at least 1, got 0$"):
        plan((5, 5), stop=0, variant=variant)
    if variant == "blocked":
        with pytest.raises(OptionError, match=r"^plu: variant blocked takes no stop, its columns .*; use rank2$"):
            plan((5, 5), stop=99, variant="blocked")


# ---- singular panels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "shape"),
    [(name, shape) for name in TWO_COLUMNS for shape in ((130, 130), (129, 200), (300, 100))]
    + [(name, (97, 99)) for name in ONE_COLUMN],
    ids=str,
)
@pytest.mark.parametrize("columns", [[0], [63], [64], [70], [64, 65, 66, 71], range(64, 96), range(60, 70)], ids=str)
def test_columns_without_a_pivot_are_found_exactly(factorise, rng, shape, columns, variant):
    """A zero on U's diagonal, with nothing but zeros in L's column below: elimination goes on as if nothing was."""
    columns = list(columns)
    lower, upper = small_factors(*shape, rng)
    upper[columns, columns] = 0
    lower[:, columns] = np.eye(*lower.shape)[:, columns]
    results = factorise(plan(shape, variant=variant), lower @ upper)
    assert_exact(results.matrix("LU", shape), packed_factors(lower, upper))
    assert factors(results, shape)[3].tolist() == list(range(min(shape)))


# ---- health ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pivoting", BLOCK_NORMS)
@by_two_columns
def test_block_norms_say_whether_there_are_good_pairs(factorise, rng, pivoting, variant):
    for n in (4, 8, 17, 37, 130):
        for name in ("identity", "diagonal", "spd", "toeplitz", "lower", "bad_pairs", "ones", "zeros"):
            a = MATRICES[name](n, n, rng)
            good = name not in ("bad_pairs", "ones", "zeros")
            assert healthy(factorise(plan(a.shape, pivoting, variant=variant), a), a) == good, (name, n)


@every_choice
def test_a_bad_pair_in_the_second_panel_shows_in_the_health(factorise, pivoting, variant):
    a = np.eye(130, dtype=np.float32)
    a[100:102, 100:102] = 1e-4 * np.eye(2)
    a[101, 101] = 2.0
    results = factorise(plan(a.shape, pivoting, variant=variant), a)
    ratio, largest, smallest = results["health"]
    assert largest == 2
    if pivoting == "partial":  # of the second column of a pair only
        assert (ratio, smallest) == (1, 1)
        return
    if pivoting == "complete":  # the smallest pivots come last
        assert (ratio, smallest) == (1, np.float32(1e-4))
        return
    assert 1e-5 < ratio < 1.1e-4 and 5e-5 < smallest < 0.1
    assert not healthy(results, a)


# ---- one variant against the other -------------------------------------------------------------------------------


def zeros_and_ties(m, n, rng):
    """Columns without a pivot, and many equal candidates."""
    a = integers(m, n, rng, limit=1)
    a[:, rng.integers(n, size=1 + n // 4)] = 0
    return a


WAYS = [(norm, {"variant": "blocked", "parameters": ((way, 1),)}) for norm in NORMS for way in ("STRIPS", "BUFFERS")]
WAYS += [("partial", {"variant": name}) for name in ONE_COLUMN]


@pytest.mark.threaded
@pytest.mark.parametrize("make", [normal, zeros_and_ties])
@pytest.mark.parametrize(("pivoting", "way"), WAYS, ids=str)
def test_all_ways_have_the_bits_of_rank2(device, factorise, rng, pivoting, way, make):
    """They do the same operations in the same order; llvmpipe does as the text says, and contracts nothing."""
    if "llvmpipe" not in device.info.renderer:
        pytest.skip("another driver may contract one of them")
    blocked = way["variant"] == "blocked"
    for shape in [(1, 1), (5, 4), (4, 7), *LARGE, *(PANELS if blocked else SOME_SHAPES + WHOLE)]:
        a = make(*shape, rng)
        one, two = (factorise(plan(shape, pivoting, **options), a) for options in (way, {}))
        assert_exact(one.matrix("LU", shape), two.matrix("LU", shape))
        for name in ("pivots", "healths") if blocked else ("pivots",):
            np.testing.assert_array_equal(one[name], two[name])


# ---- complete pivoting -------------------------------------------------------------------------------------------


def complete_choice(a):
    """Exchanges of rows and columns, by NumPy: the largest entry of what remains, the first one row by row."""
    a = a.astype(np.float64)
    rows, columns = [], []
    for k in range(min(a.shape)):
        p, q = np.unravel_index(np.argmax(np.abs(a[k:, k:])), (a.shape[0] - k, a.shape[1] - k))
        rows.append(int(p) + k)
        columns.append(int(q) + k)
        a[[k, rows[-1]]] = a[[rows[-1], k]]
        a[:, [k, columns[-1]]] = a[:, [columns[-1], k]]
        if a[k, k]:
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return rows, columns


def exchanges(results, name, count):
    """The exchanges that a result records, two in a texel."""
    (records,) = results[name]
    assert records[:, 2].tolist() == list(range(0, 2 * len(records), 2)) and not records[:, 3].any()
    return records[:, :2].reshape(-1)[:count].astype(int).tolist()


@pytest.mark.threaded
@pytest.mark.parametrize("shape", WHOLE + SOME_SHAPES, ids=str)
def test_the_largest_of_all_that_remains_is_the_pivot(factorise, rng, shape):
    a = normal(*shape, rng)
    results = factorise(plan(shape, variant=FULL), a)
    found = tuple(exchanges(results, name, min(shape)) for name in ("pivots", "columns"))
    assert found == complete_choice(a)
    _, _, upper, _ = factors(results, shape)
    assert (np.abs(upper) <= np.abs(np.diagonal(upper))[:, None]).all()


@pytest.mark.parametrize("n", [9, 20, 40])
def test_of_equal_entries_the_first_row_wins(factorise, n):
    """More than a square of a search. All ones: the first is the pivot, and nothing remains."""
    for a in (np.ones((n, n)), np.fliplr(np.eye(n)), -np.ones((n, n)) + 2 * np.eye(n)[::-1]):
        results = factorise(plan((n, n), variant=FULL), a.astype(np.float32))
        # Only the first choice: later ones are among entries that rounding may have made different.
        p, q = (exchanges(results, name, n)[0] for name in ("pivots", "columns"))
        assert [p, q] == [int(one[0]) for one in np.nonzero(np.abs(a) == np.abs(a).max())]


@pytest.mark.parametrize("pivoting", [*NORMS, "complete"])
@pytest.mark.parametrize("variant", MANNERS)
def test_column_by_column_there_is_no_choice_of_pivoting(variant, pivoting):
    own, *others = pivotings(variant)
    if pivoting == own:
        assert plan((5, 5), pivoting, variant=variant).operation == f"plu[{variant}, {own}]"
        return
    with pytest.raises(OptionError) as caught:
        plan((5, 5), pivoting, variant=variant)
    assert str(caught.value) == (
        f"plu: variant {variant} goes column by column, so its pivoting must be {' or '.join([own, *others])}, "
        f"got {pivoting!r}; block norms are for rank2 and blocked"
    )


# ---- LAPACK ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Diagonal number:scipy.linalg.LinAlgWarning")
@pytest.mark.parametrize("name", ["normal", "uniform", "permutation", "graded", "diagonal", "antidiagonal"])
@exchanging_rows
def test_pivots_are_lapacks(factorise, rng, name, variant):
    large = [(131, 131), (1031, 5)] if name in ("normal", "graded") else []
    for shape in [(1, 1), (3, 3), (17, 17), (37, 37), (29, 13), (13, 29), *large]:
        a, other = MATRICES[name](*shape, rng), MATRICES[name](*shape, rng)
        other[:, shape[1] // 2] = 0  # no pivot there: the row stays
        for one in (a, other):
            piv = factors(factorise(plan(shape, variant=variant), one), shape)[3]
            assert piv.tolist() == scipy.linalg.lu_factor(one)[1].tolist(), shape


# ---- character ---------------------------------------------------------------------------------------------------


@exchanging_rows
@pytest.mark.parametrize("shape", [(6, 9), (130, 140), (70, 200), (200, 70)], ids=str)
def test_what_is_not_finite_leaves_the_columns_before_it_alone(factorise, rng, shape, variant):
    """L and U are final there but for the order of L's rows, which later pivots decide."""
    places = (0, 0), (3, 63), (68, 64), (30, 65), (1, 69), (69, 69), (3, -1), (4, -1)
    original = normal(*shape, rng)
    clean = factorise(plan(shape, variant=variant), original).matrix("LU", shape)
    for bad, (i, j) in zip(cycle((np.nan, np.inf)), places, strict=False):
        i, j = i % shape[0], j % shape[1]
        a = original.copy()
        a[i, j] = bad
        results = factorise(plan(shape, variant=variant), a)
        lu = results.matrix("LU", shape)
        done = min(j - j % 2, *shape)  # the two columns of a step are searched together
        np.testing.assert_array_equal(lu[:done, :done], clean[:done, :done])
        for c in range(done):
            np.testing.assert_array_equal(np.sort(lu[c + 1 :, c]), np.sort(clean[c + 1 :, c]))
        assert not np.isfinite(lu[:, j]).all()
        assert np.isfinite(results["records"]).all()


# ---- what follows from the factors -------------------------------------------------------------------------------


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


def test_the_extra_column_is_searched_before_the_rest_is_reduced():
    """And from nothing but itself: the search of step k + 1 reads nothing that the reduction of step k writes."""
    made = [step for step in plan((9, 9), variant="extra_column").steps if isinstance(step, Pass)]
    names = [step.shader for step in made]
    searches = [i for i, name in enumerate(names) if name == "plu/columns/search"]
    reductions = [i for i, name in enumerate(names) if name == "plu/columns/rank1"]
    assert all(search < reduction for search, reduction in zip(searches[1:], reductions, strict=False))
    assert all({*made[i].inputs.values()} <= {"extra", "extra_ping", "extra_pong"} for i in searches)


def test_complete_pivoting_does_not_grow(factorise):
    """Wilkinson's matrix: partial pivoting lets the last column grow to 2^19."""
    a = wilkinson_growth(20, 20, order=20)
    for variant, growth in (("row_operations", 2.0**19), (FULL, 2.0)):
        _, _, upper, _ = factors(factorise(plan(a.shape, variant=variant), a), a.shape)
        assert np.abs(upper).max() == growth
