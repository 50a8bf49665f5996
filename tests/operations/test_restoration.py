"""The normal equations of a degraded image, bit by bit. The rest is tested in tests/applications."""

import numpy as np

from glla.operations import restoration


def test_the_normal_matrix_is_symmetric_bit_by_bit(run, rng):
    kernel = rng.standard_normal((5, 4)).astype(np.float32)
    n = run(restoration.normal((9, 8), (5, 4), (2, 2), 0.1), K=kernel).matrix("N", (72, 72))
    assert n.any() and (n == n.T).all()


def test_corners_of_the_band_are_zero(run, rng):
    """Beyond the matrix: solvers may read them."""
    shape, psf = (4, 5), (3, 3)
    rows, pixels = restoration.diagonals(shape, psf), 20
    kernel = rng.integers(1, 9, psf).astype(np.float32)
    band = run(restoration.normal(shape, psf, (1, 1), 0.5, True), K=kernel).matrix("ab", (rows, pixels))
    assert band[:, 0].any() and not any(band[k, pixels - k :].any() for k in range(rows))
