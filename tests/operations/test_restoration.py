"""The model of a degraded image: H by its definition, products with it, its normal equations; integers are exact."""

import numpy as np
import pytest
from scipy import ndimage

from glla.operations import restoration

SHAPES = [((1, 1), (1, 1)), ((4, 5), (3, 3)), ((5, 4), (3, 5)), ((7, 3), (2, 3)), ((6, 6), (4, 2)), ((3, 4), (3, 4))]


def by_definition(shape, kernel, centre):
    """H, entry by entry."""
    m, n = shape
    h = np.zeros((m * n, m * n))
    for i in np.ndindex(shape):
        for r in np.ndindex(shape):
            t = (r[0] - i[0] + centre[0], r[1] - i[1] + centre[1])
            if 0 <= t[0] < kernel.shape[0] and 0 <= t[1] < kernel.shape[1]:
                h[i[0] * n + i[1], r[0] * n + r[1]] = kernel[t]
    return h


@pytest.mark.parametrize(("shape", "psf"), SHAPES)
def test_the_system_its_products_and_its_normal_equations(run, rng, shape, psf):
    kernel = rng.integers(-9, 10, psf).astype(np.float32)
    pixels = shape[0] * shape[1]
    for centre in {(0, 0), (psf[0] // 2, psf[1] // 2), (psf[0] - 1, psf[1] - 1)}:
        h = by_definition(shape, kernel, centre)
        found = run(restoration.system(shape, psf, centre), K=kernel).matrix("H", h.shape)
        assert (found == h).all()
        n = run(restoration.normal(shape, psf, centre, 0.5), K=kernel).matrix("N", h.shape)
        assert (n == h.T @ h + 0.5 * np.eye(pixels)).all()
        rows = restoration.diagonals(shape, psf)
        assert not np.tril(n, -rows).any()
        band = run(restoration.normal_band(shape, psf, centre, 0.5), K=kernel).matrix("ab", (rows, pixels))
        assert all((band[k] == np.pad(np.diag(n, -k), (0, k))).all() for k in range(rows))
        for columns in (1, 3):
            f = rng.integers(-99, 100, (pixels, columns)).astype(np.float32)
            for adjoint, matrix in ((False, h), (True, h.T)):
                plan = restoration.apply(shape, psf, centre, columns, adjoint)
                assert (run(plan, K=kernel, F=f).matrix("B", f.shape) == matrix @ f).all()


def test_the_model_is_that_of_scipy(run, rng):
    """An asymmetric kernel of 3 x 5, so that correlation and convolution differ."""
    kernel, image = rng.integers(-9, 10, (3, 5)).astype(np.float32), rng.integers(0, 99, (8, 9)).astype(np.float32)
    flat = image.reshape(-1, 1)
    found = run(restoration.apply(image.shape, (3, 5), (1, 2)), K=kernel, F=flat).matrix("B", flat.shape)
    assert (found.reshape(image.shape) == ndimage.correlate(image, kernel, mode="constant")).all()
    found = run(restoration.apply(image.shape, (3, 5), (1, 2)), K=kernel[::-1, ::-1], F=flat).matrix("B", flat.shape)
    assert (found.reshape(image.shape) == ndimage.convolve(image, kernel, mode="constant")).all()


def test_the_normal_matrix_is_symmetric_bit_by_bit(run, rng):
    kernel = rng.standard_normal((5, 4)).astype(np.float32)
    n = run(restoration.normal((9, 8), (5, 4), (2, 2), 0.1), K=kernel).matrix("N", (72, 72))
    assert (n == n.T).all()
    h = by_definition((9, 8), kernel.astype(np.float64), (2, 2))
    bound = 22 * 2.0**-24 * (np.abs(h).T @ np.abs(h) + 0.1 * np.eye(72))
    assert (np.abs(n - (h.T @ h + 0.1 * np.eye(72))) <= bound).all()


@pytest.mark.parametrize(("shape", "psf"), SHAPES)
def test_the_stencil_needs_no_matrix(run, rng, shape, psf):
    kernel = rng.integers(-9, 10, psf).astype(np.float32)
    pixels = shape[0] * shape[1]
    x = rng.integers(-99, 100, pixels).astype(np.float32)
    for centre in {(0, 0), (psf[0] // 2, psf[1] // 2), (psf[0] - 1, psf[1] - 1)}:
        h = by_definition(shape, kernel, centre)
        for side in (1 << 14, 4):  # 4: the vector wraps around in its texture
            plan = restoration.normal_stencil(shape, psf, centre, 0.5, side)
            plan.check()
            given = {name: laid(value, plan.slots[name]) for name, value in (("K", kernel), ("x", x))}
            y = run(plan, **given)["y"].ravel()
            assert (y[:pixels] == h.T @ (h @ x) + 0.5 * x).all()
            assert not y[pixels:].any()
            y = run(restoration.adjoint_stencil(shape, psf, centre, side), **given)["y"].ravel()
            assert (y[:pixels] == h.T @ x).all()


def laid(values, storage):
    """Texels of a wrapped vector."""
    texels = np.zeros((storage.height, storage.width, 4), dtype=np.float32)
    texels.reshape(-1)[: values.size] = values.ravel()
    return texels
