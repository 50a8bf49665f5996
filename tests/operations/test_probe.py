"""The probes compute what their headers say, on operands other than those of the self-test."""

import numpy as np
import pytest

from glla.operations import probe

pytestmark = pytest.mark.newer_gl

SIZES = [(1, 1), (1, 65), (33, 2), (7, 5)]


def integers(rng, size, channels=4):
    return rng.integers(-50, 51, (*size, channels)).astype(np.float32)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_answers(run, rng, size):
    a = integers(rng, size)
    result = run(probe.answers(size), A=a)["answers"]
    for y, x in np.ndindex(*size):
        mixed = 7 * x + 3 * y
        weighted = a[y, x] @ [1, 2, 3, 4]
        assert result[y, x].tolist() == [1000 * y + x, weighted, 100 * (mixed // 5) + mixed % 5, 16777215 - x]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_swizzle(run, rng, size):
    a, b = integers(rng, size), integers(rng, size)
    result = run(probe.swizzle(size), A=a, B=b)
    for y, x in np.ndindex(*size):
        assert result["reversed"][y, x].tolist() == a[y, x].tolist()[::-1]
        assert result["product"][y, x].tolist() == (a[y, x].reshape(2, 2) @ b[y, x].reshape(2, 2)).ravel().tolist()


@pytest.mark.parametrize("layers", [1, 2, 9])
def test_blending(run, rng, layers):
    given = {f"layer_{number}": integers(rng, (5, 3)) for number in range(layers)}
    result = run(probe.blending((5, 3), layers), **given)["sum"]
    assert np.array_equal(result, sum(given.values()))


def test_arithmetic(run, rng):
    pairs = integers(rng, (4, 6), channels=2)
    pairs[1, 2, 0] = np.nan
    pairs[2, 1, 1] = np.nan
    a, b = pairs[..., 0], pairs[..., 1]
    expected = np.stack([a + b, a * b, a, np.isnan(a)], axis=-1)
    assert np.array_equal(run(probe.arithmetic((4, 6)), pairs=pairs)["result"], expected, equal_nan=True)


def test_accuracy(run, rng):
    pairs = rng.uniform(1, 9, (4, 6, 2)).astype(np.float32)
    a, b = pairs[..., 0].astype(np.float64), pairs[..., 1].astype(np.float64)
    result = run(probe.accuracy((4, 6)), pairs=pairs)["result"]
    np.testing.assert_allclose(result[..., 0], a / b, rtol=2.0**-20)
    np.testing.assert_allclose(result[..., 1], a / b, rtol=2.0**-20)
    np.testing.assert_allclose(result[..., 2], np.sqrt(a), rtol=2.0**-20)
    assert not result[..., 3].any()


def test_glla_divides_by_the_largest_float(run):
    largest = np.finfo(np.float32).max
    pairs = np.array([[[largest, largest], [1e38, -largest]]], dtype=np.float32)
    result = run(probe.accuracy((1, 2)), pairs=pairs)["result"][0]
    np.testing.assert_allclose(result[:, 1], [1.0, -1e38 / float(largest)], rtol=2.0**-20)


def test_compiler(run):
    """With c and d of the size of a b and a, nothing depends on how it is rounded."""
    operands = np.array([[[2.0, 3.0, 4.0, 5.0], [-1.0, 8.0, 0.5, 2.0]]], dtype=np.float32)
    result = run(probe.compiler((1, 2)), operands=operands)["result"]
    assert result[0].tolist() == [[10.0, 5.0, 5.0, 0.0], [-7.5, 2.0, 2.0, 0.0]]


def test_loops(run):
    trips = (0, 1, 17, 60000)
    assert run(probe.loops(trips), unit=np.ones((1, 1, 1)))["counts"].ravel().tolist() == list(trips)
