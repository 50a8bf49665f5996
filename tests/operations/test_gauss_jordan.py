"""[A | I] to [I | X] as the author has it: right where none are needed, elsewhere an error that names a column."""

import numpy as np
import pytest

import glla
from glla.errors import ConvergenceError, LimitError, NonFiniteError, SingularMatrixError
from glla.operations.systems import gauss_jordan
from glla.operations.systems.gauss_jordan import VARIANTS
from glla.passes import Limits, resident
from glla.testing import JUDGES, conditioned

SOFTWARE = Limits(software=True)


def spd(n, rng):
    return gauss_jordan.GAUSS_JORDAN.example(n, rng)[0]


def test_the_documented_failure(run):
    """Rows change places only for an exact zero: the passes give what they give, and `inv` refuses it."""
    bad = np.array([[1e-8, 1], [1, 1]], dtype=np.float32)
    x = run(gauss_jordan.device_plan(resident((2, 2)), SOFTWARE), A=bad).matrix("X", (2, 2))
    np.testing.assert_allclose(x, [[0, 1], [1, -1e-8]], rtol=1e-6)
    assert not JUDGES["inv"].verdict((bad,), x).ok
    with pytest.raises(ConvergenceError, match=r"^inv: .* column 0 one of 1e-08 times the largest.*leave variant out$"):
        glla.inv(bad, variant="gauss_jordan")
    assert JUDGES["inv"].verdict((bad,), glla.inv(bad)).ok


@pytest.mark.parametrize("place", [0, 6, 18])
def test_the_column_of_the_worst_pivot_is_named(rng, place):
    """A pivot of 1e-7 appears in one column of a matrix whose others are dominant."""
    a = spd(20, rng) / 8 + np.eye(20)
    left = a.astype(np.float64)
    for k in range(place):
        left[k + 1 :] -= np.outer(left[k + 1 :, k] / left[k, k], left[k])
    a[place, place] -= left[place, place] - 1e-6
    a[place + 1 :, place] += 1
    a = a.astype(np.float32)
    with pytest.raises(ConvergenceError, match=rf"in column {place} one of "):
        glla.inv(a, variant="gauss_jordan")
    assert JUDGES["inv"].verdict((a,), glla.inv(a)).ok


def test_whatever_comes_back_keeps_the_bound(rng):
    """Over matrices that want pivots, and some that are far from float32's middle: right, or an error."""
    refused = 0
    for trial in range(40):
        n = int(rng.integers(2, 20))
        a = conditioned(n, n, rng) if trial % 2 else rng.standard_normal((n, n)).astype(np.float32)
        a[0, 0] *= np.float32(10.0 ** -rng.integers(0, 9))
        a = (a * np.float32(10.0 ** rng.integers(-30, 30))).astype(np.float32)
        try:
            x = glla.inv(a, variant="gauss_jordan")
        except (ConvergenceError, NonFiniteError):
            refused += 1
        else:
            assert JUDGES["inv"].verdict((a,), x).ok
    assert 3 < refused < 37


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n", [3, 7, 16, 33])
def test_noise_in_place_of_a_pivot_is_refused(n, variant, rng):
    """The last column is a sum of others; float32 leaves some noise of it, whose inverse has a small residual."""
    for _ in range(5):
        a = rng.integers(-3, 4, (n, n))
        a[:, -1] = a[:, :-1] @ rng.integers(-2, 3, n - 1)
        for scale in (1.0, 2.0**-60):
            with pytest.raises(SingularMatrixError, match="column"):
                glla.inv((scale * a).astype(np.float32), variant=variant)
    rows = np.ldexp(spd(n, rng).astype(np.float64), -np.arange(n)[:, np.newaxis])
    x = glla.inv(rows.astype(np.float32), variant=variant)  # large, for the rows are small, but no noise
    assert JUDGES["inv"].verdict((rows.astype(np.float32),), x).ok


def test_long_queues_are_bounded():
    """3 n passes of all texels: where that is seconds of work, the device's throttle counts each of them."""
    from glla.gl import runner, throttle

    cost = gauss_jordan.device_plan(resident((700, 700)), Limits()).cost
    assert cost.passes == 3 * 700 + 2
    assert throttle.work(cost) > runner.HEAVY  # so its passes are counted one by one


def test_what_does_not_fit_is_refused():
    with glla.Device(max_texture_size=16) as small, pytest.raises(LimitError, match=r"^inv: A must fit a texture"):
        glla.inv(np.eye(20), variant="gauss_jordan", device=small)
