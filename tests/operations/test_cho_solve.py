"""Systems with Cholesky factors; what they are used for is in ``tests/test_definite.py``."""

import numpy as np

from glla.operations import OPERATIONS
from glla.testing import JUDGES


def test_the_judge_can_fail(rng):
    factor, b = OPERATIONS["cho_solve"].example(8, rng)
    lower, judge = np.tril(factor).astype(np.float64), JUDGES["cho_solve"]
    x = np.linalg.solve(lower @ lower.T, b).astype(np.float32)
    for inputs in ((factor, True, b), (factor.T, False, b), (factor, b)):
        assert judge.verdict(inputs, x).ok
        assert judge.deviation(inputs, x) < 1e-6
    for wrong in (x * np.float32(1.001), x[::-1].copy(), x[:, 0], np.full_like(x, np.nan)):
        assert not judge.verdict((factor, True, b), wrong).ok
    assert not judge.verdict((factor, False, b), x).ok
