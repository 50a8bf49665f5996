"""Blocks taken out of matrices and put into them, at odd and even offsets."""

from itertools import product

import numpy as np
import pytest

from glla.operations.layouts.blocks import assign, gather
from glla.testing import assert_exact, normal

PLACEMENTS = list(product((0, 1), (0, 1), (0, 1)))


@pytest.mark.parametrize("top", [0, 1, 2, 3])
@pytest.mark.parametrize("left", [0, 1, 4])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2), (4, 4)], ids=str)
def test_gather(run, rng, top, left, shape):
    a = normal(7, 9, rng)
    got = run(gather(a.shape, shape, (top, left)), A=a).matrix("block", shape)
    assert_exact(got, a[top : top + shape[0], left : left + shape[1]])


@pytest.mark.parametrize("steps", [(1, 2), (3, 1), (-1, 1), (-2, -3), (2, 2)], ids=str)
def test_gather_with_steps(run, rng, steps):
    a = normal(7, 9, rng)
    part = a[:: steps[0], :: steps[1]]
    origin = tuple(0 if step > 0 else count - 1 for step, count in zip(steps, a.shape, strict=True))
    plan = gather(a.shape, part.shape, origin, (steps[0], 0), (0, steps[1]))
    assert_exact(run(plan, A=a).matrix("block", part.shape), part)


def test_gather_transposes_and_diagonals(run, rng):
    a = normal(5, 6, rng)
    assert_exact(run(gather((5, 6), (6, 5), (0, 0), (0, 1), (1, 0)), A=a).matrix("block", (6, 5)), a.T)
    diagonal = run(gather((5, 6), (4, 1), (1, 0), (1, 1), (0, 0)), A=a).matrix("block", (4, 1))
    assert_exact(diagonal[:, 0], np.diagonal(a, -1))


@pytest.mark.parametrize("placement", PLACEMENTS, ids=str)
@pytest.mark.parametrize(
    "index",
    [np.s_[:, :], np.s_[1:4, 2:7], np.s_[0:1, 8:9], np.s_[::2, 1::3], np.s_[::-1, 5:0:-2], np.s_[6:7, ::-1]],
    ids=str,
)
def test_assign(run, rng, placement, index):
    a = normal(7, 9, rng)
    ranges = [range(*part.indices(count)) for part, count in zip(index, a.shape, strict=True)]
    count = tuple(map(len, ranges))
    b = normal(*count, rng)[: None if placement[0] else 1, : None if placement[1] else 1]
    first, step = tuple(part.start for part in ranges), tuple(part.step for part in ranges)
    plan = assign(a.shape, count, first, step, placement)
    got = run(plan, A=a, B=b.T if placement[2] else b).matrix("result", a.shape)
    expected = a.copy()
    expected[index] = b
    assert_exact(got, expected)
