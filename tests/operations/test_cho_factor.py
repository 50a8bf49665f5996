"""Cholesky factors by halves; what they are used for is in ``tests/test_definite.py``."""

import numpy as np

from glla.operations import OPERATIONS
from glla.testing import JUDGES


def test_the_judge_can_fail(rng):
    (a,) = OPERATIONS["cho_factor"].example(8, rng)
    factor, judge = np.linalg.cholesky(a), JUDGES["cho_factor"]
    noise = np.triu(np.ones((8, 8), dtype=np.float32), 1)
    for right in ((factor, True), (factor.T, False), (factor + noise, True), (factor.T + noise.T, False)):
        assert judge.verdict((a,), right).ok
        assert judge.deviation((a,), right) < 1e-6
    for wrong in ((factor, False), (factor.T, True), (-factor, True), (factor * np.float32(1.001), True)):
        assert not judge.verdict((a,), wrong).ok
