"""The largest magnitude of a matrix, in one level of reduction, two and three."""

import numpy as np
import pytest

from glla.kernels.reduce import CHUNK, max_magnitude
from glla.testing import MATRICES, SHAPES, normal

WHOLE = [shape for shape in SHAPES if 0 not in shape]
LEVELS = [((1, 1), 1), ((32, 32), 1), ((33, 2), 2), ((2, 33), 2), ((512, 3), 2), ((513, 3), 3), ((3, 1031), 3)]


def largest(run, a):
    """The result; the other three channels must be zero, they are reduced further."""
    texel = run(max_magnitude(a.shape), A=a)["max"][0, 0]
    assert texel[1:].tolist() == [0, 0, 0]
    return texel[0]


@pytest.mark.parametrize("shape", WHOLE, ids=str)
def test_every_shape(run, rng, shape):
    a = normal(*shape, rng)
    assert largest(run, a) == np.abs(a).max()


@pytest.mark.parametrize("name", MATRICES)
def test_every_kind_of_matrix(run, rng, name):
    a = MATRICES[name](37, 41, rng)
    assert largest(run, a) == np.abs(a).max()


@pytest.mark.parametrize("shape", [shape for shape, _ in LEVELS], ids=str)
@pytest.mark.parametrize("bad", [7.0, -7.0, np.inf, -np.inf, np.nan])
def test_each_corner_counts(run, shape, bad):
    for i, j in {(0, 0), (0, -1), (-1, 0), (-1, -1)}:
        a = np.ones(shape, dtype=np.float32)
        a[i, j] = bad
        np.testing.assert_equal(largest(run, a), np.float32(abs(bad)))


def test_nan_beats_infinity(run):
    a = np.full((40, 40), np.inf, dtype=np.float32)
    a[17, 3] = np.nan
    assert np.isnan(largest(run, a))


@pytest.mark.parametrize(("shape", "levels"), LEVELS, ids=str)
def test_levels(shape, levels):
    plan = max_magnitude(shape)
    plan.check()
    assert len(plan.steps) == levels
    assert plan.cost.flops == shape[0] * shape[1]
    assert CHUNK == 16


def test_plan_is_made_once():
    assert max_magnitude((5, 6)) is max_magnitude((5, 6))
