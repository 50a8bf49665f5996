"""Run times a + b n^3: recovered, compared."""

import pytest

from glla.lab.fits import Fit, crossover, fit, speedup


@pytest.mark.parametrize(("a", "b"), [(1.26e-2, 3.93e-10), (-1.74e-2, 7.93e-10), (0.0, 1e-12), (3.0, 0.0)])
def test_a_fit_recovers_what_was_put_in(a, b):
    sizes = [64, 128, 500, 1023, 2048]
    found = fit(sizes, [a + b * n**3 for n in sizes])
    assert found.a == pytest.approx(a, rel=1e-9, abs=1e-12)
    assert found.b == pytest.approx(b, rel=1e-9, abs=1e-20)
    assert (found.smallest, found.largest) == (64, 2048)
    assert found(1000) == pytest.approx(a + b * 1e9, rel=1e-9)


def test_a_fit_is_the_least_squares_one():
    """Sizes whose cubes are 1, 2, 3, 4: the line through (1, 1), (2, 3), (3, 2), (4, 4) is 0.5 + 0.8 x."""
    found = fit([1, 2 ** (1 / 3), 3 ** (1 / 3), 4 ** (1 / 3)], [1.0, 3.0, 2.0, 4.0])
    assert (found.a, found.b) == (pytest.approx(0.5), pytest.approx(0.8))
    # Differences -0.3, 0.9, -0.9, 0.3 from the line above: sqrt(1.8 / 2), and 0.9 of 2 at most.
    assert found.residual == pytest.approx(0.9**0.5)
    assert found.worst == pytest.approx(0.45)
    assert not found.poor
    assert fit([1, 2, 3, 4], [1.0, 0.1, 1.0, 1.0]).poor
    written = str(Fit(-0.0174, 7.93e-10, 1, 2, 0.0123, 0.25))
    assert written == "-0.0174 + 7.93e-10 n^3, residual 0.012, off by up to 25 %"
    assert str(Fit(0.5, -2e-9, 1, 2)).startswith("0.5 - 2e-09 n^3, ")


@pytest.mark.parametrize("sizes", [[], [8], [8, 8], [8, 16], [8, 16, 32], [8, 16, 16, 32]])
def test_fewer_than_four_sizes_are_no_line(sizes):
    assert fit(sizes, [1.0 + n for n in range(len(sizes))]) is None


def test_where_lines_cross():
    """Section 4.1.1 of the thesis: the speed-up of the inner product over MATLAB is 2.02."""
    cpu, gpu = Fit(-1.74e-2, 7.93e-10, 300, 2000), Fit(1.26e-2, 3.93e-10, 300, 2000)
    assert speedup(gpu, cpu) == pytest.approx(2.02, abs=0.01)
    n = crossover(gpu, cpu)
    assert gpu(n) == pytest.approx(cpu(n))
    assert gpu(n + 1) < cpu(n + 1)
    low, high = Fit(0.0, 1.0, 1, 9), Fit(1.0, 2.0, 1, 9)
    assert crossover(low, high) == 0.0
    assert crossover(high, low) is None
    assert crossover(low, low) is None
    assert speedup(low, Fit(0.0, -1.0, 1, 9)) is None
    assert speedup(Fit(0.0, 0.0, 1, 9), low) is None
    assert crossover(Fit(5.0, -1.0, 1, 9), low) is None
    assert crossover(low, Fit(5.0, -1.0, 1, 9)) is None
