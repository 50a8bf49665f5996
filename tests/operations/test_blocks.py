"""Blocks taken out of packed matrices, at odd and even offsets; those that are put in are tested with arrays."""

import numpy as np
import pytest

from glla.errors import PlanError
from glla.operations.elimination import pivot
from glla.operations.layouts.blocks import gather
from glla.testing import assert_exact, normal


@pytest.mark.parametrize("top", [0, 1, 2, 3])
@pytest.mark.parametrize("left", [0, 1, 4])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2), (4, 4)], ids=str)
def test_gather(run, rng, top, left, shape):
    a = normal(7, 9, rng)
    got = run(gather(a.shape, shape, (top, left)), A=a).matrix("block", shape)
    assert_exact(got, a[top : top + shape[0], left : left + shape[1]])


def test_gather_transposes_and_diagonals(run, rng):
    a = normal(5, 6, rng)
    assert_exact(run(gather((5, 6), (6, 5), (0, 0), (0, 1), (1, 0)), A=a).matrix("block", (6, 5)), a.T)
    diagonal = run(gather((5, 6), (4, 1), (1, 0), (1, 1), (0, 0)), A=a).matrix("block", (4, 1))
    assert_exact(diagonal[:, 0], np.diagonal(a, -1))


def test_columns_of_chosen_rows_begin_at_a_texel():
    with pytest.raises(PlanError, match="columns that are left out must be an even number, got 3"):
        pivot.gather((9, 9), 5, 3)
