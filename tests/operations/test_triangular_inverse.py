"""T X = I, X a triangle: exact where integers are, right where only its own triangle is there to be read."""

from itertools import product

import numpy as np
import pytest

from glla.operations.triangles import triangular_inverse as inverse
from glla.operations.triangles.triangular_inverse import VARIANTS
from glla.passes import PLAIN, Limits, Tuned, resident
from glla.testing import MATRICES, ROUNDOFF

SOFTWARE = Limits(software=True)
KINDS = list(product([False, True], repeat=2))
SIZES = [1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 67, 96, 130]

every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_kind = pytest.mark.parametrize(("lower", "unit"), KINDS, ids=str)


def stored(t, lower, unit):
    """The triangle, and the matrix that holds it: NaN wherever it must not be read."""
    t = np.tril(t, -1) + np.diag(np.ones(len(t)) if unit else np.diagonal(t))
    read = np.tri(len(t), k=-int(unit))
    both = t, np.where(read, t, np.nan)
    return tuple((one if lower else one.T).astype(np.float32) for one in both)


def inverted(run, variant, t, lower, unit, parameters=(), transposed=False):
    options = {"lower": lower, "unit_diagonal": unit, "transposed": transposed}
    plan = inverse.plan(resident(t.shape), SOFTWARE, variant=variant, parameters=parameters, **options)
    return run(plan, T=t).matrix("X", t.shape)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("rows", [None, 16, 32, 64])
def test_panels_update_all_columns_that_are_open(run, rng, rows, lower):
    """Of a matrix with several panels of several blocks, as a software rasteriser with buffers chooses them."""
    limits = Limits(software=True, buffer_texels=1 << 20)
    t, given = stored(MATRICES["lower"](260, 260, rng), lower, False)
    way = {} if rows is None else {"variant": "blocked", "parameters": (("ROWS", rows), ("BUFFERS", 1))}
    made = inverse.plan(resident(given.shape), limits, lower=lower, unit_diagonal=False, **way)
    assert any(step.shader == "matmul/register_blocked" for step in made.flat.steps if hasattr(step, "shader"))
    x = run(made, T=given).matrix("X", given.shape)
    limit = 264 * ROUNDOFF * (np.abs(t.astype(np.float64)) @ np.abs(x.astype(np.float64)))
    assert (np.abs(np.eye(260) - t.astype(np.float64) @ x) <= limit).all()


@every_variant
@every_kind
def test_error_is_that_of_substitution(run, rng, variant, lower, unit):
    for n in SIZES:
        t, given = stored(MATRICES["lower"](n, n, rng), lower, unit)
        x = inverted(run, variant, given, lower, unit)
        limit = (n + 4) * ROUNDOFF * (np.abs(t.astype(np.float64)) @ np.abs(x.astype(np.float64)))
        assert (np.abs(np.eye(n) - t.astype(np.float64) @ x) <= limit).all()
        assert not (np.triu(x, 1) if lower else np.tril(x, -1)).any()


@every_variant
@every_kind
@pytest.mark.parametrize("n", [3, 40])
def test_what_is_stored_may_be_the_transpose(run, rng, n, variant, lower, unit):
    _, given = stored(MATRICES["lower"](n, n, rng), lower, unit)
    expected = inverted(run, variant, given, lower, unit)
    assert (inverted(run, variant, given.T.copy(), lower, unit, transposed=True) == expected).all()


# ---- plans -----------------------------------------------------------------------------------------------------------


def test_what_is_chosen():
    small, large = resident((100, 100)), resident((1000, 1000))
    assert inverse.choose(large, PLAIN) == ("panel_broadcast", ())
    assert inverse.choose(small, PLAIN) == inverse.choose(large, SOFTWARE) == ("blocked", ())
    tuned = Limits(tuned=(Tuned("triangular", 1000, "blocked", (("ROWS", 32),)),))
    assert inverse.choose(large, tuned) == ("blocked", (("ROWS", 32),))
    without = Limits(tuned=(Tuned("triangular", 1000, "rank2", ()),))
    assert inverse.choose(large, without) == ("blocked", ())
