"""What is timed as a ceiling is really computed: no compiler folds it away, no driver drops it."""

import numpy as np
import pytest

from glla.operations import ceilings

SIZES = [(1, 1), (3, 70), (65, 33)]
START = np.arange(1.0, 9.0, dtype=np.float32)[:, None] + np.array([0, 0.25, 0.5, 0.75], dtype=np.float32)


def tiled(texels, size):
    """What the fragments of a target of this size fetch from a 64 x 64 texture."""
    y, x = np.mgrid[: size[0], : size[1]]
    return texels[y % ceilings.SIDE, x % ceilings.SIDE]


def coordinates(size):
    y, x = np.mgrid[: size[0], : size[1]].astype(np.float32)
    return np.stack([x, y, y, x], axis=-1)


def added(s, factor, term, fused):
    """s * factor + term, with one rounding or two."""
    if not fused:
        return s * factor + term
    return (s.astype(np.float64) * factor + term).astype(np.float32)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("swizzled", [False, True])
def test_arithmetic_is_not_folded(run, rng, size, rounds, swizzled):
    """Every multiply-add rounds: the result is that of doing all of them, bit by bit, fused or not."""
    m, c = rng.uniform(0.5, 1, (2, ceilings.SIDE, ceilings.SIDE))
    given = np.stack([m, c, 1 / m, -c / m], axis=-1).astype(np.float32)
    result = run(ceilings.arithmetic(size, 2, rounds, swizzled=swizzled), coefficients=given)["result"]
    m, c, r, d = (tiled(given, size)[:, :, i, None, None] for i in range(4))
    equal = []
    for fused in (False, True):
        s = np.broadcast_to(START, (*size, 8, 4)).astype(np.float32)
        for _ in range(8 * rounds):
            for factor, term in ((m, c), (r, d)):
                s = added(s[..., [1, 2, 0, 3]] if swizzled else s, factor, term, fused)
        pairs = s[:, :, 0::2] + s[:, :, 1::2]
        fours = pairs[:, :, 0::2] + pairs[:, :, 1::2]
        equal.append(np.mean(fours[:, :, 0] + fours[:, :, 1] == result))
    assert max(equal) > 0.99
    places = np.roll(np.arange(3), -16 * rounds) if swizzled else np.arange(3)
    assert np.allclose(result, START.sum(axis=0)[[*places, 3]], rtol=1e-4)


def test_arithmetic_of_one_channel_leaves_the_others(run):
    given = np.broadcast_to(np.float32([0.5, 1, 1, 0]), (ceilings.SIDE, ceilings.SIDE, 4))
    result = run(ceilings.arithmetic((3, 3), 1, 1, channels=1), coefficients=given)["result"]
    left = START.sum(axis=0)
    left[0] = 8 * (2 + 2.0**-8 * (left[0] / 8 - 2))  # s <- s / 2 + 1, eight times
    assert np.allclose(result, left, rtol=1e-6)
    assert ceilings.arithmetic((3, 3), 1, 1, channels=1).flops == 9 * ceilings.FLOPS // 4


def test_arithmetic_stays_finite_and_normal(run, rng):
    m, c = rng.uniform(0.5, 1, (2, ceilings.SIDE, ceilings.SIDE))
    given = np.stack([m, c, 1 / m, -c / m], axis=-1).astype(np.float32)
    result = run(ceilings.arithmetic((8, 8), 1, 5000), coefficients=given)["result"]
    assert np.allclose(result, START.sum(axis=0), rtol=0.05)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("rounds", [1, 6])
def test_fetch(run, rng, size, channels, rounds):
    t = rng.integers(-9, 10, (ceilings.SIDE, ceilings.SIDE, channels)).astype(np.float32)
    result = run(ceilings.fetch(size, 2, rounds, channels), T=t)["result"]
    expected = np.zeros((*size, 4))
    for y, x in np.ndindex(*size):
        for k in range(rounds):
            top, left = y % 32 + (k & 28), x % 32
            expected[y, x, :channels] += t[top : top + 4, left : left + 4].sum(axis=(0, 1))
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("rounds", [1, 2, 65])
def test_uniform_fetch(run, rng, rounds):
    panel = rng.integers(-9, 10, (1, ceilings.BLOCK_TEXELS, 4)).astype(np.float32)
    result = run(ceilings.uniform_fetch((5, 3), 2, rounds), panel=panel)["result"]
    groups = panel.reshape(-1, ceilings.FETCHES, 4).sum(axis=1)
    expected = coordinates((5, 3)) + sum(groups[k % 64] for k in range(rounds))
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("targets", [1, 2, 4, 8])
def test_write(run, size, targets):
    results = run(ceilings.write(size, 3, targets))
    assert len(results) == targets
    for i in range(targets):
        expected = coordinates(size) * np.array(ceilings.SCALE, dtype=np.float32) + np.float32(i)
        np.testing.assert_allclose(results[f"result_{i}"], expected, rtol=1e-6)


@pytest.mark.parametrize("steps", [1, 7])
def test_blend(run, steps):
    plan = ceilings.blend((6, 5), steps)
    assert plan.cost.passes == 2 * (steps + 1)
    expected = (steps + 1) * coordinates((6, 5)) * np.array(ceilings.SCALE, dtype=np.float32)
    np.testing.assert_allclose(run(plan)["result"], expected, rtol=1e-6)


@pytest.mark.parametrize(("changing", "last"), [(False, 1), (True, 6)])
def test_draws(run, changing, last):
    plan = ceilings.draws(7, changing)
    assert plan.cost.passes == plan.cost.texels == 7
    assert run(plan)["dot"][0, 0].tolist() == [last] * 4


@pytest.mark.parametrize("steps", [1, 2, 9])
def test_ping_pong(run, steps):
    start = np.full((2, 2, 4), 3.0)
    assert run(ceilings.ping_pong(steps), start=start)["count"][0, 0].tolist() == [3 + steps] * 4


def test_copies(device, rng):
    texels = rng.random((6, 5, 4)).astype(np.float32)
    copied = device.run(ceilings.copies((6, 5), 2), texture=device.write_texels(texels))["copied"]
    with device.current():
        assert copied.gl.read() == texels.tobytes()
