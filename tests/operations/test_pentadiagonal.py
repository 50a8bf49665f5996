"""Pentadiagonal systems: bounds, exact answers, the diagnostics of the check, and a comparison with LAPACK."""

import numpy as np
import pytest

from glla.operations.bands import banded as kernel
from glla.passes import resident
from glla.testing import JUDGES

JUDGE = JUDGES["pentadiagonal"]


def run(device, ab, b, **options):
    plan = kernel.five(resident(ab.shape, b.shape), device.limits, **options)
    plan.check()
    found = device.run(plan, A=device.upload(ab), B=device.upload(b))
    return device.download(found["X"], b.shape), device.read(found["diagnostics"]).reshape(-1, 4)


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 17, 64, 65, 300])
def test_the_bound_is_kept(device, n, refine, rng):
    ab, _ = kernel.example_of_five(n, rng)
    b = rng.standard_normal((n, 3)).astype(np.float32)
    x, diagnostics = run(device, ab, b, refine=refine)
    assert JUDGE.verdict((ab, b), x).ok
    assert not kernel.fails(diagnostics, n).any()


def test_blocks_that_need_an_exchange(device):
    """Zeros on the diagonal, as long as the 2 x 2 blocks are regular."""
    ab = np.zeros((5, 6), np.float32)
    ab[1, 1::2], ab[3, 0::2] = 2, 4  # blocks (0 2; 4 0)
    b = np.arange(1.0, 7.0, dtype=np.float32)[:, np.newaxis]
    x, _ = run(device, ab, b)
    assert (x[:, 0] == [0.5, 0.5, 1, 1.5, 1.5, 2.5]).all()


def test_pivots_that_are_none_are_seen(device):
    zero = np.zeros((5, 7), np.float32)
    zero[2] = [1, 1, 1, 0, 1, 1, 1]
    assert kernel.fails(run(device, zero, np.ones((7, 1), np.float32))[1], 7).all()
    free = np.zeros((5, 40), np.float32)  # the biharmonic of a free beam: rows sum to zero
    a = np.diff(np.eye(40), 2, axis=0)
    a = a.T @ a
    for offset in range(-2, 3):
        band = np.diag(a, offset)
        free[2 - offset, max(offset, 0) : 40 + min(offset, 0)] = band
    assert kernel.fails(run(device, free, np.ones((40, 1), np.float32))[1], 40).all()


@pytest.mark.parametrize("block", [0, 1, 2])
def test_a_block_that_is_nearly_singular_is_seen(device, block):
    ab = np.zeros((5, 6), np.float32)
    ab[2] = 1
    i = 2 * block
    ab[1, i + 1] = ab[3, i] = 1
    ab[2, i + 1] = 1 + 1e-6
    assert kernel.fails(run(device, ab, np.ones((6, 1), np.float32))[1], 6).all()


def test_rows_that_scaling_would_spoil_are_rejected(device):
    ab = np.zeros((5, 4), np.float32)
    ab[2] = [1, 1e38, 1, 1]
    b = np.float32([[1], [1e-38], [1], [1]])
    assert kernel.fails(run(device, ab, b)[1], 4).all()
