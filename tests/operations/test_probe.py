"""The probes compute what their headers say where the self-test does not tell: exact parts of rounded arithmetic."""

import numpy as np
import pytest

from glla.operations import probe

pytestmark = pytest.mark.newer_gl


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
