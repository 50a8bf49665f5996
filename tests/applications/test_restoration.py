"""`glla.applications.restore`: against float64 by the definition, at borders, with noise, where nothing can help."""

import numpy as np
import pytest

import glla
from glla.applications import restore
from glla.applications.restoration import VARIANTS, Model, choose
from glla.errors import (
    ConvergenceError,
    LimitError,
    NonFiniteError,
    NotPositiveDefiniteError,
)
from glla.testing import judge_solve

ndimage = pytest.importorskip("scipy.ndimage")
EVERY = sorted(VARIANTS)
SHARPEN = 10 * np.outer([0, 1, 0], [0, 1, 0]) - np.ones((3, 3))
MILD = np.array([[0, 0.1, 0.05], [0.1, 0.6, 0.1], [0, 0.1, 0]])
MOTION = np.array([[0.4, 0.3, 0.15, 0.1, 0.05]])


def gaussian(side, sigma):
    line = np.exp(-0.5 * ((np.arange(side) - side // 2) / sigma) ** 2)
    return np.outer(line, line) / line.sum() ** 2


def blurred(f, psf, model="convolve"):
    return getattr(ndimage, model)(np.asarray(f, dtype=np.float64), psf, mode="constant")


def error(found, f):
    return float(np.mean((np.asarray(found, dtype=np.float64) - f) ** 2))


@pytest.fixture(scope="module")
def camera():
    """The photograph in 64 x 64 block means, from 0 to 1."""
    pywt = pytest.importorskip("pywt")
    return pywt.data.camera().astype(np.float64).reshape(64, 8, 64, 8).mean(axis=(1, 3)) / 255


@pytest.mark.parametrize("place", [np.asarray, glla.asarray])
def test_what_float32_cannot_hold_is_refused_as_solve_does(place):
    """1.4 2^-150 would be rounded to the smallest denormal, 43 % too large; and 1e50 to infinity."""
    small, large = (1.4 * 2.0**-60, 2.0**90, "the solution must fit float32"), (1e20, 1e-30, "does not fit")
    for image, psf, message in (small, large):
        with pytest.raises(NonFiniteError, match=message):
            restore(place(np.full((4, 4), image, dtype=np.float32)), [[psf]])
    kept = restore(place(np.full((4, 4, 2), 2.0**-60, dtype=np.float32)), [[2.0**89]])
    assert (np.asarray(kept) == 2.0**-149).all()


@pytest.mark.parametrize("model", ["convolve", "correlate"])
@pytest.mark.parametrize("variant", EVERY)
@pytest.mark.parametrize(("shape", "psf"), [((6, 7), (3, 5)), ((7, 5), (2, 3)), ((5, 6), (4, 2)), ((3, 3), (1, 1))])
def test_it_is_the_least_squares_solution(device, rng, shape, psf, variant, model):
    """An asymmetric PSF: convolution and correlation differ, and so do H^T H and H H^T."""
    v, w = (rng.uniform(0.1, 0.3, side) for side in psf)
    v[psf[0] // 2], w[psf[1] // 2] = 1, 1
    weights = np.outer(v, w).astype(np.float32).astype(np.float64)
    units = np.eye(shape[0] * shape[1]).reshape(-1, *shape)
    h = np.stack([blurred(one, weights, model).ravel() for one in units], axis=1)  # column by column, by SciPy
    g = rng.uniform(0, 1, shape).astype(np.float32)
    for balance in (0.0, 0.25):
        found = restore(g, weights, balance, variant, model=model, device=device)
        normal, right = h.T @ h + balance * np.eye(h.shape[1]), h.T @ g.ravel().astype(np.float64)
        verdict = judge_solve(normal.astype(np.float32), found.reshape(-1, 1), right[:, None].astype(np.float32))
        assert verdict.ok, verdict
        expected = np.linalg.solve(normal, right)
        # A generous constant times the condition of N: what an inverse may lose.
        bound = 10 * len(right) * 2.0**-24 * np.linalg.cond(normal, 1) * np.abs(expected).max()
        assert np.abs(found.ravel() - expected).max() <= bound


@pytest.mark.parametrize("variant", EVERY)
def test_channels_and_arrays(device, rng, variant):
    psf = gaussian(3, 0.5)
    g = rng.uniform(0, 1, (6, 7, 3)).astype(np.float32)
    each = np.stack([restore(g[:, :, k], psf, 0.01, variant, device=device) for k in range(3)], axis=2)
    together = restore(g, psf, 0.01, variant, device=device)
    np.testing.assert_allclose(together, each, atol=1e-5)
    for given, expected in ((g, together), (g[:, :, 0], each[:, :, 0]), (g[:, :, 0].T, None)):
        resident = restore(glla.asarray(given, device), psf, 0.01, variant)
        assert isinstance(resident, glla.Array)
        expected = restore(given, psf, 0.01, variant, device=device) if expected is None else expected
        assert (resident.numpy() == expected).all()


# The setting of this project, as image and noise of the source are not given: float64's own mean square errors, which
# these must meet within 10 %, on the mean over some noise.
@pytest.mark.parametrize(
    ("noise", "balance", "degraded", "restored"),
    [("none", 1e-3, 3.0e-3, 9.5e-5), ("salt and pepper", 0.1, 9.8e-3, 1.2e-2), ("Gaussian", 0.1, 4.5e-3, 6.2e-3)],
)
def test_the_sources_table(device, camera, noise, balance, degraded, restored):
    from glla.lab import restoration

    seen = [restoration.noisy(blurred(camera, gaussian(3, 0.8)), noise, seed) for seed in range(12)]
    assert np.mean([error(g, camera) for g in seen]) == pytest.approx(degraded, rel=0.1)
    found = restore(np.stack(seen, axis=2), gaussian(3, 0.8), balance, device=device)
    assert error(found, camera[:, :, None]) == pytest.approx(restored, rel=0.1)
    if noise == "none":  # float64 by SciPy, within 1 %
        reference = restoration.peers(balance)["scipy.linalg.solveh_banded"](seen[0], gaussian(3, 0.8))
        assert error(found[:, :, 0], camera) == pytest.approx(error(reference, camera), rel=0.01)


def test_the_border_is_where_fourier_fails(device, camera):
    """The same inside; over all, the FFT is worse than doing nothing, as the picture does not wrap around."""
    from glla.lab import restoration

    psf = gaussian(3, 0.8)
    g = blurred(camera, psf)
    ours, fourier = restore(g, psf, 1e-3, device=device), restoration.by_fourier(g, psf, 1e-3)
    assert error(ours, camera) < error(g, camera) / 20 < error(g, camera) < error(fourier, camera)
    inner = slice(8, -8)
    assert error(ours[inner, inner], camera[inner, inner]) < 1.05 * error(fourier[inner, inner], camera[inner, inner])


def test_pictures_of_many_pixels_and_of_few(device, camera):
    """Sharpening is undone; rank 1 goes by sides."""
    f = camera.reshape(32, 2, 32, 2).mean(axis=(1, 3))
    g = blurred(f, SHARPEN)
    assert error(restore(g, SHARPEN, device=device), f) < 1.0408e-11 * 10  # the source's figure, at its order
    # By cg where the PSF has rank 2 and pixels are more than a texture of llvmpipe has rows; rank 1 goes by sides.
    f = np.kron(camera, np.ones((3, 3)))
    assert error(restore(blurred(f, MILD), MILD, device=device), f) < 1e-8
    large, psf = np.kron(camera, np.ones((4, 4)))[:182, :182], gaussian(3, 0.8)
    assert error(restore(blurred(large, psf), psf, 1e-4, device=device), large) < 1e-5


def test_the_order_of_the_source_is_wrong_for_one_sided_blurs(device, camera):
    f = camera.reshape(16, 4, 16, 4).mean(axis=(1, 3))
    g = blurred(f, MOTION, "correlate")
    right = restore(g, MOTION, 1e-3, "inverse", model="correlate", device=device)
    printed = restore(g, MOTION, 1e-3, "inverse", model="correlate", as_printed=True, device=device)
    assert error(right, f) < 0.02
    assert error(printed, f) > 10
    psf = gaussian(3, 0.8)
    g = blurred(f, psf)
    both = [restore(g, psf, 1e-2, "inverse", as_printed=one, device=device) for one in (True, False)]
    np.testing.assert_allclose(*both, atol=1e-3)


@pytest.mark.parametrize("variant", sorted(EVERY))
@pytest.mark.parametrize("side", [3, 5])
def test_means_extinguish_patterns(device, rng, variant, side):
    """On 32 x 32 these are singular, and the smaller one on 11 x 11: noise is no answer."""
    slow = variant in ("inverse", "cg")
    if slow and side == 5:
        pytest.skip("the same in a second")
    g = rng.uniform(0, 1, (11, 11) if slow else (32, 32))
    psf = np.full((side, side), side**-2.0)
    with pytest.raises(NotPositiveDefiniteError, match=r"restore: H\^T H \+ balance I is singular .* larger balance"):
        restore(g, psf, variant=variant, device=device)
    assert np.isfinite(restore(g, psf, 0.01, "separable", device=device)).all()


@pytest.mark.parametrize("variant", ["cholesky", "separable"])
@pytest.mark.parametrize("exponent", [-100, -60, 60, 100])
def test_units_of_psf_and_image_do_not_matter(device, rng, variant, exponent):
    psf, f = gaussian(3, 0.5), rng.uniform(0.5, 1, (6, 6))
    g = blurred(f, psf)
    plain = restore(g, psf, 0.01, variant, device=device)
    scale = 2.0**exponent
    found = restore(g, psf * scale, 0.01 * scale**2, variant, device=device)
    np.testing.assert_allclose(found * np.float64(scale), plain, rtol=1e-5)
    found = restore(g * scale, psf, 0.01, variant, device=device)
    np.testing.assert_allclose(found / scale, plain, rtol=1e-5)


BIG = np.ones((180, 180)), np.eye(180)


@pytest.mark.parametrize(
    ("image", "psf", "variant", "message"),
    [
        (np.ones((300, 300)), SHARPEN, "cholesky", "an image may have 32768 pixels .* 90000"),
        (*BIG, "banded", "a PSF may have 16383 weights .* 180"),
        (*BIG, "cg", "a PSF may have 16383 weights .* 180"),
    ],
)
def test_what_is_too_large(device, image, psf, variant, message):
    if device.limits.texture_size != 16384:
        pytest.skip("the figure is llvmpipe's")
    with pytest.raises(LimitError, match=message):
        restore(image, psf, variant=variant, device=device)


def test_a_band_goes_along_the_shorter_side(device, rng):
    f, psf = rng.uniform(0, 1, (4, 60)), np.array([[0.1, 0.2, 0], [0.1, 1, 0.3], [0, 0, 0.1]])
    for image, weights in ((f, psf), (f.T, psf.T)):
        found = restore(blurred(image, weights), weights, variant="banded", device=device)
        assert error(found, image) < 1e-10
        plain = restore(blurred(image, weights), weights, variant="cholesky", device=device)
        np.testing.assert_allclose(found, plain, atol=1e-4)


def test_conjugate_gradients_refuse_a_singular_matrix_that_has_a_solution(device, rng):
    """A blurred image lies where the matrix of means, which is singular, has solutions."""
    psf = np.full((3, 3), 1 / 9)
    seen = blurred(rng.uniform(0, 1, (8, 8)), psf)
    with pytest.raises(NotPositiveDefiniteError, match=r"restore: H\^T H \+ balance I is singular .* larger balance"):
        restore(seen, psf, variant="cg", device=device)
    assert np.isfinite(restore(seen, psf, 1e-4, "cg", device=device)).all()


def test_an_explicit_inverse_is_corrected_until_its_residual_is_small(device, rng):
    """Its condition number is near 1e6; the product alone misses the bound."""
    psf, p = np.eye(3), 21
    seen = blurred(rng.uniform(0, 1, (3, 7)), psf)
    f = np.asarray(restore(seen, psf, 1e-5, "inverse", device=device), dtype=np.float64)
    h = np.array([blurred(one.reshape(3, 7), psf).ravel() for one in np.eye(p)]).T
    normal, right = h.T @ h + 1e-5 * np.eye(p), h.T @ np.float32(seen).ravel()
    left = np.abs(right - normal @ f.ravel()).max()
    assert left <= 30 * p * 2.0**-24 * (np.abs(normal).sum(axis=1).max() * np.abs(f).max() + np.abs(right).max())


@pytest.mark.parametrize(
    ("most", "variant", "psf", "message"),
    [
        ("MOST_CORRECTIONS", "inverse", np.eye(3), "with balance=1e-06 is too ill-conditioned for an explicit"),
        ("MOST_ITERATIONS", "cg", SHARPEN, "conjugate gradients reached .* after 1 iterations"),
    ],
)
def test_what_is_not_reached_is_refused(device, rng, monkeypatch, most, variant, psf, message):
    monkeypatch.setattr(f"glla.applications.restoration.{most}", int(variant == "cg"))
    with pytest.raises(ConvergenceError, match=f"restore: .*{message}"):
        restore(blurred(rng.uniform(0, 1, (3, 7)), psf), psf, 1e-6, variant, device=device)


def test_the_choice(device):
    def chosen(shape, psf):
        weights = np.asarray(psf, dtype=np.float32)
        return choose(Model(shape, weights, (0, 0), 0.0, device))

    assert chosen((64, 64), gaussian(3, 0.8)) == "separable"
    assert chosen((64, 64), SHARPEN) == "banded"
    assert chosen((4, 60), SHARPEN) == chosen((60, 4), SHARPEN) == "banded"
    assert chosen((16, 16), np.eye(9)) == "cholesky"
    assert chosen((2 * device.limits.texture_size, 2), SHARPEN) == "cg"
