"""QR and least squares of matrices taller than a texture: block by block, to the same bounds."""

import numpy as np
import pytest

import glla
from glla import testing
from glla.errors import LimitError, NonFiniteError, ShapeError
from glla.testing import JUDGES


@pytest.fixture(scope="module")
def small():
    """A device whose textures hold 32 rows."""
    with glla.Device(max_texture_size=16) as device:
        yield device


SHAPES = [(33, 1), (64, 5), (97, 16), (200, 5), (700, 15)]
"""Up to a triangle of triangles that is too tall itself, again and again."""

MOST = 16 * 16 * 4
"""Elements of an Array on that device."""

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)
both_places = pytest.mark.parametrize("resident", [False, True])


@every_shape
@both_places
def test_factors_keep_the_bounds(shape, resident, small, rng):
    if resident and shape[0] * shape[1] > MOST:
        pytest.skip("more than a texture of that device holds")
    a = testing.conditioned(*shape, rng)
    A = glla.asarray(a, small) if resident else a
    Q, R = glla.qr(A, device=small)
    assert type(Q) is type(R) is type(glla.qr(A, "r", device=small)) is (glla.Array if resident else np.ndarray)
    q, r = np.asarray(Q), np.asarray(R)
    assert (q.shape, r.shape) == (shape, (shape[1], shape[1]))
    verdict = JUDGES["qr"].verdict((a,), (q, r))
    assert verdict.ok, verdict
    testing.assert_exact(np.asarray(glla.qr(A, "r", device=small)), r)


@every_shape
@both_places
@pytest.mark.parametrize("columns", [None, 2])
def test_least_squares_are_lapacks(shape, resident, columns, small, rng):
    if shape[1] + (columns or 1) > 16 or (resident and shape[0] * (shape[1] + (columns or 1)) > MOST):
        pytest.skip("two triangles of [A b] do not fit, or it does not")
    a = testing.conditioned(*shape, rng)
    b = rng.standard_normal((shape[0],) if columns is None else (shape[0], columns)).astype(np.float32)
    given = (glla.asarray(a, small), b) if resident else (a, b)
    x, residuals, rank, s = glla.lstsq(*given, device=small)
    exact = np.linalg.lstsq(a.astype(np.float64), b.astype(np.float64))
    assert type(x) is (glla.Array if resident else np.ndarray)
    assert (x.shape, residuals.shape, s.shape, rank) == (exact[0].shape, exact[1].shape, exact[3].shape, exact[2])
    verdict = JUDGES["lstsq"].verdict((a, b), (np.asarray(x),))
    assert verdict.ok, verdict
    np.testing.assert_allclose(np.asarray(residuals), exact[1], rtol=1e-4)
    np.testing.assert_allclose(np.asarray(s), exact[3], rtol=1e-4)


def test_rank_is_that_of_the_whole(small, rng):
    a = testing.integers(200, 4, rng)
    a[:, 3] = a[:, 0] + a[:, 1]
    b = a @ np.float32([1, 2, 3, 0])
    x, residuals, rank, _ = glla.lstsq(a, b, device=small)
    exact = np.linalg.lstsq(a.astype(np.float64), b.astype(np.float64), rcond=1e-6)
    assert rank == exact[2] == 3 and residuals.shape == (0,)
    np.testing.assert_allclose(x, exact[0], atol=1e-3)


def test_what_does_not_go(small, rng):
    a = testing.normal(200, 3, rng)
    for call in (
        lambda: glla.qr(a, "complete", device=small),
        lambda: glla.qr(a, "raw", device=small),
        lambda: glla.qr(testing.normal(200, 20, rng), device=small),  # two triangles are as tall as a block
    ):
        with pytest.raises(LimitError, match="qr"):
            call()
    with pytest.raises(ShapeError, match=r"^lstsq: b must have as many rows as A, got A \(200, 3\) and b \(199, 1\)$"):
        glla.lstsq(a, a[1:, 0], device=small)
    a[150, 1] = np.nan
    with pytest.raises(NonFiniteError, match="lstsq: A must not hold NaN or infinity"):
        glla.lstsq(glla.asarray(a, small, check_finite=False), np.ones(200))
