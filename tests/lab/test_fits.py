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
    """Of (0, 0), (1, 0), (1, 3) in n^3: the line through the mean of those that share a size."""
    found = fit([1, 2, 2], [0.0, 0.0, 3.0])
    assert found(2) == pytest.approx(1.5)
    assert found(1) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("sizes", "seconds"), [([], []), ([8], [1.0]), ([8, 8], [1.0, 2.0])])
def test_one_size_is_no_line(sizes, seconds):
    assert fit(sizes, seconds) is None


def test_the_thesis_s_own_figures():
    """Section 4.1.1: the speed-up of the inner product over MATLAB is 2.02."""
    cpu, gpu = Fit(-1.74e-2, 7.93e-10, 300, 2000), Fit(1.26e-2, 3.93e-10, 300, 2000)
    assert speedup(gpu, cpu) == pytest.approx(2.02, abs=0.01)
    n = crossover(gpu, cpu)
    assert gpu(n) == pytest.approx(cpu(n))
    assert gpu(n + 1) < cpu(n + 1)


def test_lines_that_never_cross():
    low, high = Fit(0.0, 1.0, 1, 9), Fit(1.0, 2.0, 1, 9)
    assert crossover(low, high) == 0.0
    assert crossover(high, low) is None
    assert crossover(low, low) is None
    assert speedup(low, Fit(0.0, -1.0, 1, 9)) is None
    assert speedup(Fit(0.0, 0.0, 1, 9), low) is None
    assert crossover(Fit(5.0, -1.0, 1, 9), low) is None
    assert crossover(low, Fit(5.0, -1.0, 1, 9)) is None


def test_a_fit_as_text():
    assert str(Fit(-0.0174, 7.93e-10, 1, 2)) == "-0.0174 + 7.93e-10 n^3"
    assert str(Fit(0.5, -2e-9, 1, 2)) == "0.5 - 2e-09 n^3"
