"""T X = I, X a triangle: exact where integers are, right where only its own triangle is there to be read."""

import numpy as np
import pytest

from glla.operations.triangles import triangular_inverse as inverse
from glla.operations.triangles.triangular_inverse import VARIANTS
from glla.passes import Limits, resident
from glla.testing import MATRICES, ROUNDOFF

SOFTWARE = Limits(software=True)


def stored(t, lower, unit):
    """The triangle, and the matrix that holds it: NaN wherever it must not be read."""
    t = np.tril(t, -1) + np.diag(np.ones(len(t)) if unit else np.diagonal(t))
    read = np.tri(len(t), k=-int(unit))
    both = t, np.where(read, t, np.nan)
    return tuple((one if lower else one.T).astype(np.float32) for one in both)


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


def inverted(run, variant, t, lower, unit, transposed=False):
    options = {"lower": lower, "unit_diagonal": unit, "transposed": transposed}
    return run(inverse.plan(resident(t.shape), SOFTWARE, variant=variant, **options), T=t).matrix("X", t.shape)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lower", [False, True])
def test_every_kind_of_triangle(run, rng, variant, lower, unit):
    """Either half, with a diagonal of ones that is not stored, and where the transpose is stored."""
    for n in (3, 17, 67):
        t, given = stored(MATRICES["lower"](n, n, rng), lower, unit)
        x = inverted(run, variant, given, lower, unit)
        limit = (n + 4) * ROUNDOFF * (np.abs(t.astype(np.float64)) @ np.abs(x.astype(np.float64)))
        assert (np.abs(np.eye(n) - t.astype(np.float64) @ x) <= limit).all()
        assert not (np.triu(x, 1) if lower else np.tril(x, -1)).any()
        assert (inverted(run, variant, given.T.copy(), lower, unit, transposed=True) == x).all()
