"""The reduced row echelon form: of integers exactly, of floats within its bound; and block norms that own up."""

import numpy as np
import pytest

from glla.errors import OptionError
from glla.operations.acceptance import accepted
from glla.operations.elimination import rref
from glla.operations.elimination.pivot import NORMS
from glla.operations.elimination.rref import VARIANTS
from glla.passes import PLAIN, Limits, Pass, resident
from glla.testing import MATRICES, SHAPES, assert_exact, assert_rref, integers, normal

SOFTWARE = Limits(software=True)
WHOLE = [shape for shape in SHAPES if 0 not in shape]
LARGE = [(131, 131), (1031, 5), (5, 300)]
BLOCK_NORMS = sorted(set(NORMS) - {"partial"})
EPSILON = 2.0**-23

every_pivoting = pytest.mark.parametrize("pivoting", NORMS)
every_block_norm = pytest.mark.parametrize("pivoting", BLOCK_NORMS)


def plan(shape, pivoting="harmonic", variant="rank2", limits=SOFTWARE):
    return rref.plan(resident(shape), limits, variant=variant, pivoting=pivoting)


def reduced(results, shape):
    """R, and the pivot columns that the records name."""
    found = results["records"][:, :2].reshape(-1) >= 0
    return results.matrix("R", shape), tuple(int(j) for j in np.flatnonzero(found))


def healthy(results, a):
    """Whether the caller would accept the result of a block norm."""
    rank = len(reduced(results, a.shape)[1])
    return rank == min(a.shape) and accepted(*results["health"][:2], float(np.abs(a).max()), rank)


def echelon(m, n, rank, rng):
    """An echelon form of small integers, with pivots in random columns."""
    pivots = np.sort(rng.choice(n, rank, replace=False))
    r = np.zeros((m, n), dtype=np.float32)
    for i, j in enumerate(pivots):
        r[i, j + 1 :] = rng.integers(-3, 4, n - j - 1)
    r[:, pivots] = np.eye(m, rank)
    return r, tuple(pivots.tolist())


def hidden(r, rng):
    """A matrix with this echelon form; partial pivoting finds each pivot row in its place, and all sums are exact."""
    m = len(r)
    lower = np.tril(integers(m, m, rng, limit=1), -1) + np.eye(m, dtype=np.float32)
    return lower @ r


# ---- exact -------------------------------------------------------------------------------------------------------


@pytest.mark.threaded
@pytest.mark.parametrize("shape", WHOLE + LARGE, ids=str)
def test_integers_are_exact(factorise, rng, shape):
    for deficiency in (0, 1, 2, 5):
        r, pivots = echelon(*shape, max(min(shape) - deficiency, 0), rng)
        result, found = reduced(factorise(plan(shape, "partial"), hidden(r, rng)), shape)
        assert_exact(result, r)
        assert found == pivots


# ---- bounded -----------------------------------------------------------------------------------------------------


@every_block_norm
@pytest.mark.parametrize("name", ["spd", "diagonal", "toeplitz", "lower"])
@pytest.mark.parametrize("n", [2, 3, 16, 37])
def test_block_norms_do_well_where_the_diagonal_does(factorise, rng, name, n, pivoting):
    a = MATRICES[name](n, n, rng)
    assert healthy(factorise(plan(a.shape, pivoting), a), a)


@every_block_norm
@pytest.mark.parametrize(
    "a",
    [
        np.eye(4)[[0, 2, 1, 3]],  # nonsingular, but every texel of its rows is singular
        np.ones((2, 2)),
        np.zeros((3, 3)),
        [[0, 1, 0], [0, 0, 1]],  # the leading columns are dependent
        [[1, 1, 0], [1, 1, 1], [1, 1, 2]],
        [[1, 0], [0, 1e-4]],
    ],
    ids=["e0 e2 e1 e3", "ones", "zeros", "late pivots", "equal columns", "small pivot"],
)
def test_block_norms_say_that_there_is_no_good_pair(factorise, a, pivoting):
    a = np.array(a, dtype=np.float32)
    assert not healthy(factorise(plan(a.shape, pivoting), a), a)


# ---- tolerance ---------------------------------------------------------------------------------------------------


def test_tolerance_judges_a_column_by_what_was_summed_in_it(factorise):
    a = np.array([[1, 1000, 0], [0, 1e-4, 1e-4]], dtype=np.float32)
    assert reduced(factorise(plan((2, 3), "partial"), a, relative=EPSILON), (2, 3))[1] == (0, 2)


# ---- the plan ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_unknown_pivoting(variant):
    with pytest.raises(OptionError, match="pivoting: must be one of partial, harmonic, geometric, got 'complete'"):
        plan((2, 2), "complete", variant)


# ---- blocked ------------------------------------------------------------------------------------------------------

BLOCKED_SHAPES = [(1, 1), (1, 3), (3, 1), (2, 2), (5, 9), (9, 5), (63, 64), (64, 65), (65, 64), (129, 200), (200, 129)]


def blocked(run, a, pivoting="partial"):
    """R of the blocked variant, and whether the caller would accept it."""
    results = run(plan(a.shape, pivoting, "blocked"), A=a)
    order = min(a.shape)
    u = results["diagonal"][:, 0, :2].reshape(-1)[:order]
    ratio, largest = results["health"][0, :, 0].min(), results["health"][0, :, 1].max()
    healthy = pivoting == "partial" or accepted(ratio, largest, float(np.abs(a).max()), order)
    return results.matrix("R", a.shape), bool((np.abs(u) > 2.0**-8).all()) and healthy


@pytest.mark.threaded
@every_pivoting
@pytest.mark.parametrize("shape", BLOCKED_SHAPES, ids=str)
def test_blocked_is_within_its_bound_where_it_is_accepted(run, rng, shape, pivoting):
    a = normal(*shape, rng)
    r, accepted = blocked(run, a, pivoting)
    assert accepted or pivoting != "partial" or min(shape) > 60  # a random matrix rarely has so small a pivot
    if accepted:
        assert_rref(a, r, tuple(range(min(shape))))


@pytest.mark.parametrize("columns", [70, 4096])
def test_blocked_substitutes_as_a_gpu_does_when_it_runs_on_one(columns):
    made = plan((70, 70 + columns), "partial", "blocked", PLAIN)
    made.check()
    shaders = {step.shader for step in made.steps if isinstance(step, Pass)}
    assert ("triangular/panels" in shaders) == (columns == 4096)


@pytest.mark.parametrize(("m", "n"), [(66, 70), (70, 66), (3, 5)])
def test_blocked_is_rejected_when_leading_columns_depend(run, rng, m, n):
    a = normal(m, n, rng)
    a[:, 1] = a[:, 0]
    assert not blocked(run, a)[1]
