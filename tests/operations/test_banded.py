"""Systems by three or five bands on the device: bounds, exact answers, and the diagnostics of the check."""

import numpy as np
import pytest

from glla.operations.bands import banded as kernel
from glla.operations.bands.tridiagonal import VARIANTS, Systems
from glla.operations.batches.stack import Stack
from glla.passes import Draft, Storage, resident
from glla.testing import JUDGES

JUDGE = JUDGES["tridiagonal"]


def run(device, ab, b, **options):
    plan = kernel.plan(resident(ab.shape, b.shape), device.limits, **options)
    plan.check()
    found = device.run(plan, A=device.upload(ab), B=device.upload(b))
    return device.download(found["X"], b.shape), device.read(found["diagnostics"]).reshape(-1, 4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_integers_are_exact_where_no_division_rounds(device, variant, rng):
    """Bidiagonal matrices: only one side is eliminated."""
    for n in (1, 2, 7, 16, 33):
        ab = np.zeros((3, n), np.float32)
        ab[0, 1:] = rng.integers(-3, 4, n - 1)
        ab[1] = 1
        y = rng.integers(-8, 9, (n, 2)).astype(np.float32) % 3
        rhs = y.copy()
        rhs[:-1] += ab[0, 1:, np.newaxis] * y[1:]
        assert (run(device, ab, rhs, variant=variant)[0] == y).all()


@pytest.mark.parametrize("mu", [1.0, 1e4])
@pytest.mark.parametrize("n", [121, 700])
def test_stiff_definite_systems(device, mu, n, rng):
    """What an alternating-direction step solves: the backward error of cyclic reduction is below 30 u."""
    alpha = (rng.random(n + 1) + 0.5) * mu
    alpha[0] = alpha[-1] = 0
    ab = np.float32([np.append(0, -alpha[1:-1]), 1 + alpha[1:] + alpha[:-1], np.append(-alpha[1:-1], 0)])
    b = rng.standard_normal((n, 2)).astype(np.float32)
    x, diagnostics = run(device, ab, b, definite=True)
    assert JUDGE.verdict((ab, b), x).ok
    assert not kernel.fails(diagnostics, n).any()


def test_the_check_knows_the_backward_error(device, rng):
    """Diagnostics of the device beside float64: the error to four units, the sizes to the last bit."""
    n = 300  # more than one fragment looks at
    ab, _ = kernel.example(n, rng)
    b = rng.standard_normal((n, 2)).astype(np.float32)
    x, diagnostics = run(device, ab, b)
    a = np.diag(ab[1].astype(np.float64)) + np.diag(ab[0, 1:], 1) + np.diag(ab[2, :-1], -1)
    error = np.max(np.abs(a @ x - b) / (np.abs(a) @ np.abs(x) + np.abs(b)), axis=0)
    assert (np.abs(diagnostics[:2, 0] - error) < 4 * 2.0**-24).all()
    assert (diagnostics[:2, 3] == np.abs(x).max(axis=0)).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_pivots_that_are_none_are_seen(device, variant):
    ones = np.ones((5, 1), np.float32)
    zero = np.float32([[0] * 5, [1, 1, 0, 1, 1], [0] * 5])
    assert kernel.fails(run(device, zero, ones, variant=variant)[1], 5).all()
    neumann = np.float32([[0, -1, -1, -1, -1], [1, 2, 2, 2, 1], [-1, -1, -1, -1, 0]])
    assert kernel.fails(run(device, neumann, ones, variant=variant)[1], 5).all()
    indefinite = np.float32([[0] * 5, [1, 1, -1, 1, 1], [0] * 5])
    assert not kernel.fails(run(device, indefinite, ones, variant=variant)[1], 5).any()
    assert kernel.fails(run(device, indefinite, ones, variant=variant, definite=True)[1], 5).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_rows_that_are_not_dominant_are_reported(device, variant):
    """Their systems are judged by the size of the solution, too."""
    ab = np.float32([[0, 1, 1, 1], [3, 3, 1, 3], [1, 1, 1, 0]])
    assert (run(device, ab, np.ones((4, 1), np.float32), variant=variant)[1][0, 1]) <= 0.0625


def test_rows_that_scaling_would_spoil_are_rejected(device):
    for row in ([0, 1e-38, 0], [1e38, 1e38, 1e38], [0, 0, 0]):  # lost behind 2^127: GPUs flush such entries
        ab = np.float32([row, [1, 1e38, 1], row])
        b = np.float32([[1], [1e-38], [1]])
        assert kernel.fails(run(device, ab, b)[1], 3).all()
    five = np.zeros((5, 3), np.float32)
    five[2] = [1, 1e38, 1]
    assert kernel.fails(run(device, five, b, lines=2)[1], 3).all()


# -- five bands -------------------------------------------------------------------------------------------------------


def test_blocks_that_need_an_exchange(device):
    """Zeros on the diagonal, as long as the 2 x 2 blocks are regular."""
    ab = np.zeros((5, 6), np.float32)
    ab[1, 1::2], ab[3, 0::2] = 2, 4  # blocks (0 2; 4 0)
    b = np.arange(1.0, 7.0, dtype=np.float32)[:, np.newaxis]
    x, _ = run(device, ab, b, lines=2)
    assert (x[:, 0] == [0.5, 0.5, 1, 1.5, 1.5, 2.5]).all()


def test_pivots_of_five_bands_that_are_none_are_seen(device):
    zero = np.zeros((5, 7), np.float32)
    zero[2] = [1, 1, 1, 0, 1, 1, 1]
    assert kernel.fails(run(device, zero, np.ones((7, 1), np.float32), lines=2)[1], 7).all()


@pytest.mark.parametrize("block", [0, 1, 2])
def test_a_block_that_is_nearly_singular_is_seen(device, block):
    ab = np.zeros((5, 6), np.float32)
    ab[2] = 1
    i = 2 * block
    ab[1, i + 1] = ab[3, i] = 1
    ab[2, i + 1] = 1 + 1e-6
    assert kernel.fails(run(device, ab, np.ones((6, 1), np.float32), lines=2)[1], 6).all()


# -- systems in rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS)
def test_systems_in_rows_are_those_in_columns(device, variant, rng):
    """Without a transpose: the equations of a system side by side, as the second half of a step has them."""
    n, count = 21, 6
    equations = np.zeros((n, count, 4), np.float32)
    equations[..., 0], equations[..., 2] = rng.standard_normal((2, n, count))
    equations[0, :, 0] = equations[-1, :, 2] = 0
    equations[..., 1] = 0.5 + np.abs(equations[..., 0]) + np.abs(equations[..., 2])
    equations[..., 3] = rng.standard_normal((n, count))
    found = []
    for rows in (False, True):
        draft = Draft("systems")
        start = draft.operand("E", Storage(count, n) if rows else Storage(n, count))
        stack = Stack(count, 1, count, 16384) if rows else Stack(count, count, 1, 16384)
        systems = Systems(draft, stack, n, rows=rows, guard=variant == "thomas")
        x, _, _ = systems.solve(start, variant, VARIANTS[variant].settle(variant, ()))
        plan = draft.plan({"x": x})
        plan.check()
        texels = equations.swapaxes(0, 1) if rows else equations
        texture = device.run(plan, E=device.write_texels(np.ascontiguousarray(texels)))["x"]
        x = device.read(texture)[..., 0] if device.read(texture).ndim == 3 else device.read(texture)
        found.append(x.T if rows else x)
    assert (found[0] == found[1]).all()
