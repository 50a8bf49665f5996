"""QR: bounds on matrices of every kind, LAPACK's signs, all modes, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import glla
from glla.operations.orthogonal import qr as kernel
from glla.operations.orthogonal.qr import MODES, VARIANTS
from glla.operations.orthogonal.qr_pairs import slices
from glla.passes import Limits, resident
from glla.passes.layout import texels
from glla.testing import JUDGES

JUDGE = JUDGES["qr"]
SHAPES = ((1, 1), (2, 2), (3, 3), (5, 4), (4, 5), (1, 9), (9, 1), (31, 17), (16, 33), (64, 64), (65, 65), (130, 20))
PLACES = (np.asarray, glla.asarray)


def judged(a, mode="reduced", **options):
    factors = glla.qr(a, mode, **options)
    verdict = JUDGE.verdict((a,), tuple(np.asarray(one) for one in factors))
    assert verdict.ok, verdict
    return factors


@pytest.fixture(scope="module")
def gpu():
    """A device that takes itself for a GPU, which cuts sums into slices."""
    device = glla.Device()
    device.limits = replace(device.limits, software=False)
    yield device
    device.release()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_factors_keep_their_bounds_and_lapacks_signs(shape, variant, device, rng):
    a = rng.standard_normal(shape).astype(np.float32)
    for mode in ("reduced", "complete")[: 1 + (variant != "tsqr")]:
        _, r = judged(a, mode, variant=variant, device=device)
        expected = np.linalg.qr(a.astype(np.float64), mode)[1]
        assert np.abs(np.abs(r) - np.abs(expected)).max() < 1e-4
        assert variant == "tsqr" or (np.sign(np.diagonal(r)) == np.sign(np.diagonal(expected))).all()


@pytest.mark.parametrize("shape", [(300, 5), (270, 33)], ids=str)
def test_a_gpu_sums_in_slices(shape, gpu, rng):
    assert slices(texels(shape[0]), gpu.limits)[0] > 2
    judged(rng.standard_normal(shape).astype(np.float32), device=gpu)
    a, b = rng.standard_normal((600, 5)).astype(np.float32), rng.standard_normal((600, 2)).astype(np.float32)
    assert judged(a, device=gpu).Q.shape == (600, 5)  # by a tree
    assert np.abs(glla.lstsq(a, b, device=gpu)[0] - np.linalg.lstsq(a, b)[0]).max() < 1e-5


@pytest.mark.parametrize("variant", ["householder", "tsqr"])
@pytest.mark.parametrize("rows", [5000, 32768, 50_000])
def test_columns_of_one_sign_keep_a_bound_without_their_length(rows, variant, device, gpu):
    """Their rounding errors all have one direction, and a running sum is off by as many as it has terms."""
    for a in (np.ones((rows, 1)), np.full((rows, 1), 0.3), np.stack([np.ones(rows), np.arange(rows)], axis=1)):
        judged(a.astype(np.float32), variant=variant, device=device)
        judged(a.astype(np.float32), variant=variant, device=gpu)


@pytest.mark.parametrize("shape", [(1000, 48), (2048, 32)], ids=str)
def test_panels_of_like_entries_keep_a_bound_without_their_length(shape, device, gpu):
    for one in (device, gpu):
        judged(np.ones(shape, np.float32), variant="blocked", device=one)


@pytest.mark.parametrize("rows", [5000, 32768])
def test_tau_of_a_constant_column(rows, device):
    h, tau = glla.qr(np.ones((rows, 1)), "raw", device=device)
    assert tau[0] == pytest.approx(1 + rows**-0.5, rel=2.0**-20)
    assert h[0, 0] == pytest.approx(-(rows**0.5), rel=2.0**-20)


def _spread(count, rng):
    return np.ldexp(1.0, rng.permutation(np.linspace(-60, 60, count).astype(int)))


def _kinds(rng):
    g = rng.standard_normal((21, 12))
    hole = g.copy()
    hole[:, [0, 5, 11]] = 0
    near = np.hstack([g[:, :6], g[:, :6] + 1e-7 * g[:, 6:]])
    return {
        "graded columns": g * _spread(12, rng),
        "graded rows": g * _spread(21, rng)[:, np.newaxis],
        "graded both": g * np.sqrt(np.outer(_spread(21, rng), _spread(12, rng))),
        "huge": g / np.abs(g).max() * 5e37,
        "near the largest": np.full((1, 5), -1.5e38),
        "small": g * 1e-37,
        "denormal": g * 1e-42,
        "smallest": np.full((3, 3), 2.0**-149),
        "zeros": np.zeros((5, 3)),
        "zero columns": hole,
        "rank 1": np.outer(g[:, 0], g[0]),
        "rank 3": g[:, :3] @ g[:3],
        "ones": np.ones((9, 10)),
        "nearly dependent": near,
        "Lauchli": np.vstack([np.ones(5), 1e-8 * np.eye(5)]),
        "Kahan": np.eye(30) - np.triu(np.ones((30, 30)), 1),
        "Hilbert": 1 / (np.arange(12)[:, np.newaxis] + np.arange(12) + 1.0),
        "triangular": np.triu(g[:12]),
        "below squares": [[1, 1], [2.0**-70, 2.0**-70], [2.0**-70, 0]],
        "below a zero": [[0, 1], [2.0**-66, 1], [0, 2.0**-90]],
        "permutation": np.eye(9)[::-1],
        "identity": np.eye(8),
    }


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", _kinds(np.random.default_rng(0)))
def test_every_kind_of_matrix(kind, variant, device, rng):
    a = np.asarray(_kinds(rng)[kind], dtype=np.float32)
    before = a.copy()
    judged(a, variant=variant, device=device)
    judged(a.T, variant=variant, device=device)
    judged(np.asfortranarray(a), "reduced" if variant == "tsqr" else "complete", variant=variant, device=device)
    assert (a == before).all()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5), (5, 2), (7, 4), (4, 7), (17, 17), (33, 6)], ids=str)
def test_a_stack_goes_through_one_plan(shape, place, device, rng):
    a = rng.standard_normal((3, 4, *shape)).astype(np.float32)
    a[0, 1] = np.outer(a[0, 1, :, 0], a[0, 1, 0])
    a[1, 2] *= np.float32(1e30)
    a[2, 3] *= np.float32(1e-42)
    a[2, 0, :, 0] = 0
    for mode in MODES:
        found = glla.qr(place(a), mode, device=device)
        factors = [np.asarray(one) for one in (found if mode != "r" else (found,))]
        for index in np.ndindex(3, 4):
            one = [part[index] for part in factors]
            single = glla.qr(a[index], mode, device=device)
            pairs = list(zip(one, single if mode != "r" else (single,), strict=True))
            if device.limits.software:
                assert all((x == y).all() for x, y in pairs)
            elif mode == "r":  # a GPU sums a single matrix's columns in slices
                assert all(np.abs(x - y).max() <= 1e-4 * np.abs(y).max() + 1e-37 for x, y in pairs)
            if mode in ("reduced", "complete"):
                verdict = JUDGE.verdict((a[index],), tuple(np.ascontiguousarray(part) for part in one))
                assert verdict.ok, (index, verdict)


def test_exact_where_roots_and_quotients_are(device):
    q, r = glla.qr(np.float32([[3, 1], [4, 2], [0, 0]]), device=device)
    assert r[0, 0] == -5
    assert (q[2] == 0).all()
    assert (glla.qr([[3e38, -3e38]], "r", device=device) == np.float32([[3e38, -3e38]])).all()
    for a in (np.eye(5), np.diag([1.0, -2, 3]), np.triu(np.ones((4, 4)))):  # nothing below the diagonal: H = I
        q, r = glla.qr(a, device=device)
        assert (q == np.eye(len(a))).all()
        assert (r == a).all()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 2, 4, 3), (0, 3), (3, 0), (2, 0, 3), (0, 3, 2)], ids=str)
def test_modes_are_numpys(shape, mode, place, device, rng):
    a = rng.standard_normal(shape).astype(np.float32)
    expected = np.linalg.qr(a, mode)
    found = glla.qr(a, mode, device=device) if place is np.asarray else np.linalg.qr(glla.asarray(a, device), mode)
    assert isinstance(found, tuple) is isinstance(expected, tuple)
    assert getattr(found, "_fields", None) == getattr(expected, "_fields", None)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        assert isinstance(one, np.ndarray if place is np.asarray else glla.Array)
        assert one.shape == other.shape
        assert one.dtype == np.float32
        assert np.abs(np.asarray(one) - other).max(initial=0) < 1e-5


def test_large_matrices_go_in_panels():
    for limits, least in ((Limits(), 128), (Limits(software=True), 96)):
        assert kernel.choose(resident((least - 1, 500)), limits) == ("householder", ())
        assert kernel.choose(resident((least, least)), limits) == ("blocked", ())
    for rows, variant in ((64 * 128, "blocked"), (64 * 128 + 1, "householder")):
        assert kernel.choose(resident((rows, 128)), Limits(software=True)) == (variant, ())
    tall = resident((4000, 9))
    assert [kernel.choose(tall, Limits(), mode)[0] for mode in MODES] == ["tsqr", "householder", "tsqr", "householder"]
    assert kernel.choose(tall, Limits(software=True)) == ("householder", ())


def test_raw_factors_of_panels_are_lapacks(device, rng):
    a = rng.standard_normal((90, 70)).astype(np.float32)
    h, tau = glla.qr(a, "raw", variant="blocked", device=device)
    expected = np.linalg.qr(a.astype(np.float64), "raw")
    assert np.abs(h - expected[0]).max() < 1e-4
    assert np.abs(tau - expected[1]).max() < 1e-4
