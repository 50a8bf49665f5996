"""Inverses of definite matrices: every product that may be chosen, the limits of float32, what is nearly singular."""

from fractions import Fraction

import numpy as np
import pytest

import glla
from glla.errors import ConvergenceError, NotPositiveDefiniteError
from glla.operations.definite import definite_inverse as kernel
from glla.operations.definite.definite_inverse import VARIANTS
from glla.passes import PLAIN, Limits, resident
from glla.testing import JUDGES
from tests.matrix import unimodular

JUDGE = JUDGES["inv_pos"]
every_variant = pytest.mark.parametrize("variant", VARIANTS)


@every_variant
def test_every_product_that_may_be_chosen(run, rng, variant):
    """Those of a GPU, too, whose sums begin at the diagonal: 130 rows are two chunks of 96."""
    b, _ = unimodular(130, rng)
    a = (b @ b.T).astype(np.float32)
    for limits in (PLAIN, Limits(software=True)):
        plan = kernel.plan(resident(a.shape), limits, variant=variant)
        x = run(plan, A=a).matrix("X", a.shape)
        assert JUDGE.verdict((a,), x).ok


def test_float32_s_limits():
    for number in (1e-38, 3e38):
        a = np.float32([[number]])
        exact = 1 / Fraction(float(a[0, 0]))
        assert abs(Fraction(float(glla.inv(a, assume_a="pos")[0, 0])) / exact - 1) < Fraction(1, 2**22)


def test_nearly_singular_matrices_keep_their_bound_or_are_refused(rng):
    """Dependent rows of integers, summed up: what is left of the last pivot is an integer, or noise."""
    kept = 0
    for n in (3, 8, 21, 40):
        for seed in range(8):
            b = np.random.default_rng(seed).integers(-9, 10, (n, n - (seed % 2)))
            a = (b @ b.T).astype(np.float32)
            try:
                x = glla.inv(a, assume_a="pos")
            except NotPositiveDefiniteError:
                continue
            kept += 1
            assert JUDGE.verdict((a,), x).ok
    assert kept >= 16


def test_a_residual_that_is_too_large_is_an_error():
    one = np.ones((2, 1), np.float32)
    values = {"diagonal": one, "diagonal of X": one, "residual": np.array([31.0]), "function": "inv", "which": ""}
    error = kernel.settle((), "", values)
    assert isinstance(error, ConvergenceError) and "is 31 n norm(A) norm(X) u, more than 30" in str(error)
    assert np.isnan(kernel.residual(np.ones((2, 2)), np.full((2, 2), np.nan))[0]).all()
    assert kernel.residual(np.float32([[4, 9], [2, 2]]), np.float32([[0.5, -0.5], [-0.5, 1]]))[0] == 0
