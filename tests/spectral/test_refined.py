"""eigh(refine=True), in float64, and bounds of given pairs."""

import warnings

import numpy as np
import pytest

import glla
from glla.errors import ConvergenceError, GrowthWarning
from glla.linalg.spectral import refined
from glla.testing.spectral import symmetric as lower_half
from tests.spectral.matrices import normal, symmetric, with_values

UNIT, UNIT64 = 2.0**-24, 2.0**-53
KINDS = {name: a for name, a in symmetric(np.random.default_rng(0)).items() if name != "denormal"}


def judged(a, **options):
    """Residual and loss of orthogonality in n u, and values in u norm(A), of float64."""
    a, (w, v) = lower_half(a), glla.eigh(a, refine=True, **options)
    assert w.dtype == v.dtype == np.float64 and (np.diff(w) >= 0).all()
    assert (np.take_along_axis(v, np.abs(v).argmax(axis=0)[np.newaxis], 0) > 0).all(), "signs"
    size, n = np.abs(a).max() or 1.0, len(a)
    expected = np.linalg.eigvalsh(a / size)
    residual = np.linalg.norm(a / size @ v - v * (w / size)) / (np.linalg.norm(a / size) or 1) / (n * UNIT64)
    values = np.abs(w / size - expected).max() / (np.abs(expected).max() or 1) / UNIT64
    return residual, np.linalg.norm(v.T @ v - np.eye(n)) / (n * UNIT64), values


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_matrix(kind):
    residual, apart, values = judged(KINDS[kind])
    assert residual <= refined.DONE and apart <= refined.LOST and values <= 60  # LAPACK is off by half of it


@pytest.mark.parametrize("n", [1, 2, 3, 40, 90])
def test_well_separated_values_take_few_steps(n, monkeypatch, rng):
    monkeypatch.setattr(refined, "MOST_STEPS", 3)  # of which two refine
    residual, apart, values = judged(normal(n, rng))
    assert residual <= refined.DONE and apart <= 10 * refined.DONE and values <= 60  # close values take one more


def test_what_float32_cannot_hold(rng):
    a = normal(12, rng)
    for factor in (1e-300, 1e300):
        assert max(judged(factor * a)[:2]) <= refined.DONE
    close = with_values(1 + 1e-12 * np.arange(12), rng)
    found = glla.eigh(close, refine=True).eigenvalues
    assert np.abs(found - np.linalg.eigvalsh(close)).max() <= 30 * UNIT64
    assert judged(a + np.tril(1e-13 * a))[2] <= 30


def test_stacks_arrays_triangles_and_subsets(rng):
    a = np.stack([normal(6, rng) for _ in range(3)])
    w, v = glla.eigh(a, refine=True)
    assert w.shape == (3, 6) and v.shape == a.shape and type(w) is np.ndarray
    assert (glla.eigh(a[2], refine=True).eigenvalues == w[2]).all()
    half = np.where(np.tri(6) == 0, np.nan, a[0])
    for given, uplo in ((half, "L"), (half.T, "U")):
        assert (glla.eigh(given, uplo, refine=True, check_finite=False).eigenvectors == v[0]).all()
    chosen = glla.eigh(a, refine=True, subset_by_index=(1, 3))
    assert (chosen.eigenvalues == w[:, 1:4]).all() and (chosen.eigenvectors == v[:, :, 1:4]).all()
    rounded = np.float32(a[1])
    for given in (rounded, glla.asarray(rounded)):
        assert (glla.eigh(given, refine=True).eigenvalues == glla.eigh(rounded.astype(float), refine=True)[0]).all()
    assert glla.eigh(np.zeros((2, 0, 0)), refine=True).eigenvectors.shape == (2, 0, 0)


def test_what_is_refused(monkeypatch, rng):
    a = normal(5, rng)
    monkeypatch.setattr(refined, "LOST", 0.0)
    with pytest.warns(GrowthWarning, match=r"^eigh: eigenvectors are orthogonal to .* n u of float64 only"):
        glla.eigh(a, refine=True)
    monkeypatch.setattr(refined, "MOST_STEPS", 1)
    with pytest.raises(ConvergenceError, match=r"^eigh: refinement at index \(1\) of the stack: the residual must"):
        glla.eigh([np.eye(5), a], refine=True)


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [np.asarray, glla.asarray])
def test_each_interval_holds_an_eigenvalue(place, rng):
    for kind in ("two clusters", "Wilkinson", "geometric", "zeros", "Hilbert"):
        a = np.float32(lower_half(KINDS[kind]))
        w, v = glla.eigh(a)
        exact = np.linalg.eigvalsh(a.astype(float))
        for values in (w, w + np.float32(0.01), w[::-1]):
            found = glla.eigen_bounds(place(a), place(values), place(v))
            assert type(found) is (glla.Array if place is glla.asarray else np.ndarray)
            distance = np.abs(exact[:, np.newaxis] - values.astype(float)).min(axis=0)
            assert (distance <= np.asarray(found)).all()
        assert (np.asarray(glla.eigen_bounds(a, w, v)) <= 12 * len(a) * UNIT * np.linalg.norm(a) + 1e-30).all()


def test_bounds_of_any_vectors(rng):
    a = np.float32([normal(7, rng) for _ in range(2)])
    w, v = np.float32(rng.standard_normal((2, 3))), np.float32(rng.standard_normal((2, 7, 3)))
    expected = np.linalg.norm(a @ v - v * w[:, np.newaxis], axis=1) / np.linalg.norm(v, axis=1)
    assert glla.eigen_bounds(a, w, v) == pytest.approx(expected, rel=1e-4)
    assert glla.eigen_bounds([[1e-36]], [0.0], [[1e-3]]) > 1e-36  # whose product a device flushes to zero
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not np.isfinite(glla.eigen_bounds(a[0], w[0], 0 * v[0])).any()
