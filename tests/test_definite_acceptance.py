"""What positive definite matrices must meet, of all sizes, conditions and gradings; the long ones are a sweep."""

import numpy as np
import pytest
import scipy.io
import scipy.linalg
from scipy.linalg.lapack import spotrf

import glla
from glla.errors import NotPositiveDefiniteError
from glla.operations.elimination.cholesky import VARIANTS
from glla.testing import JUDGES

SWEEP = [*range(1, 71), 127, 128, 129, 255, 256, 257, 1024]
KERNELS = {
    "mean of 3 x 3": np.full((3, 3), 1 / 9),
    "mean of 5 x 5": np.full((5, 5), 1 / 25),
}


def definite(n, rng, condition=10.0):
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    a = (q * np.geomspace(1, 1 / condition, n)) @ q.T
    return ((a + a.T) / 2).astype(np.float32)


def graded(n, rng, spread=20):
    d = np.ldexp(1.0, np.linspace(-spread, spread, n).astype(int))
    return (definite(n, rng) * np.outer(d, d)).astype(np.float32)


def blurring(side, kernel):
    """The normal matrix of a blur of side x side pixels, zero beyond the border."""
    rows, columns = kernel.shape
    h = np.zeros((side, side, side, side))
    for y in range(side):
        for x in range(side):
            for i in range(rows):
                for j in range(columns):
                    v, u = y + i - rows // 2, x + j - columns // 2
                    if 0 <= v < side and 0 <= u < side:
                        h[y, x, v, u] = kernel[i, j]
    h = h.reshape(side * side, side * side)
    return h.T @ h


def kept(a, variant=None):
    """Whether factor, solution and inverse of a matrix keep their bounds."""
    ones = np.ones((len(a), 1), np.float32)
    assert JUDGES["cholesky"].verdict((a,), glla.cholesky(a, variant=variant)).ok
    if variant is None:
        assert JUDGES["solve_pos"].verdict((a, ones), glla.solve(a, ones, assume_a="pos")).ok
        x = glla.inv(a, assume_a="pos")
        assert JUDGES["inv_pos"].verdict((a,), x).ok
        assert (x.view(np.int32) == np.ascontiguousarray(x.T).view(np.int32)).all()
    return True


@pytest.mark.sweep
@pytest.mark.parametrize("variant", [*VARIANTS, None])
@pytest.mark.parametrize("n", SWEEP)
def test_every_size_condition_and_grading(n, variant, rng):
    for condition in (1.0, 1e3, 1e6) if n < 1024 else (1e3,):
        assert kept(definite(n, rng, condition), variant)
    assert kept(graded(n, rng), variant)


@pytest.mark.parametrize("n", [70, 129])
def test_a_few_of_them(n, rng):
    assert kept(definite(n, rng, 1e6))
    assert kept(graded(n, rng))


@pytest.mark.parametrize("n", [200, pytest.param(1024, marks=pytest.mark.sweep)])
def test_the_mean_difference_is_below_the_authors(n, rng):
    """Theirs is 5.71e-6 at n = 4096, relative to MATLAB's in double precision."""
    a = definite(n, rng)
    exact = np.linalg.cholesky(a.astype(np.float64))
    half = np.tril_indices(n)
    found = glla.cholesky(a)[half]
    assert np.mean(np.abs(found - exact[half])) / np.mean(np.abs(exact[half])) < 1e-6


@pytest.mark.data
@pytest.mark.sweep
def test_a_real_matrix_of_condition_1e10(data):
    a = np.float32(scipy.io.mmread(data / "bcsstk13.mtx.gz").toarray())
    assert kept(a)


@pytest.mark.data
def test_an_indefinite_real_matrix_is_refused(data):
    a = np.float32(scipy.io.mmread(data / "can_144.mtx").toarray())
    assert np.linalg.eigvalsh(a.astype(float))[0] < -2
    _, minor = spotrf(a, lower=1)
    for call in (glla.cholesky, lambda one: glla.inv(one, assume_a="pos")):
        with pytest.raises(NotPositiveDefiniteError, match=rf"its leading minor of order {minor} is not"):
            call(a)


@pytest.mark.parametrize("name", KERNELS)
def test_blurs_without_a_weight_are_refused_as_lapack_does(name):
    """Singular to float32: where the first bad pivot lies is rounding, that there is one is not."""
    a = blurring(17 if name == "mean of 3 x 3" else 14, KERNELS[name]).astype(np.float32)
    _, minor = spotrf(a, lower=1)
    for call in (glla.cholesky, lambda one: glla.solve(one, one[0], assume_a="pos")):
        if minor:
            with pytest.raises(NotPositiveDefiniteError, match="its leading minor of order"):
                call(a)
        else:
            assert np.isfinite(call(a)).all()


def test_conditions_beyond_float32_raise_or_keep_their_bound(rng):
    """Never NaN: what passes is as good as the bound says."""
    refused = 0
    for n in (8, 33, 64):
        for condition in (1e8, 1e9, 1e10, 1e12):
            a = definite(n, rng, condition)
            try:
                kept(a)
            except NotPositiveDefiniteError as error:
                assert "its leading minor of order" in str(error)
                refused += 1
    assert refused >= 3


@pytest.mark.parametrize("order", [1, 2, 3, 40])
def test_the_minor_is_lapacks(order, rng):
    a = definite(40, rng)
    a[order - 1, order - 1] = -0.5
    _, minor = spotrf(a, lower=1)
    assert minor == order
    for variant in (*VARIANTS, None):
        with pytest.raises(NotPositiveDefiniteError, match=rf"its leading minor of order {order} is not, as pivot"):
            glla.cholesky(a, variant=variant)


def test_no_input_is_changed_and_nan_above_the_diagonal_is_harmless(rng):
    a = definite(33, rng)
    before = a.copy()
    expected = glla.cholesky(a)
    glla.inv(a, assume_a="pos")
    glla.solve(a, a, assume_a="pos")
    assert (a == before).all() and not np.triu(expected, 1).any()
    a[np.triu_indices(33, 1)] = np.nan
    for variant in VARIANTS:
        found = glla.cholesky(a, variant=variant, check_finite=False)
        assert np.abs(found - expected).max() < 1e-5
