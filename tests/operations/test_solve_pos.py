"""Systems with a positive definite matrix; more is in ``tests/test_definite.py``."""

import numpy as np

from glla.operations import OPERATIONS
from glla.testing import JUDGES


def test_the_judge_can_fail(rng):
    a, b = OPERATIONS["solve_pos"].example(8, rng)
    x, judge = np.linalg.solve(a, b), JUDGES["solve_pos"]
    assert judge.verdict((a, b), x).ok
    assert judge.deviation((a, b), x) < 1e-6
    for wrong in (x * np.float32(1.001), x[::-1].copy(), np.full_like(x, np.nan)):
        assert not judge.verdict((a, b), wrong).ok
