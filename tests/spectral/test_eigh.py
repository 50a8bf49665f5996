"""eigh: bounds on matrices of every kind and order, exact results, the certificate, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import glla
from glla import array_api
from glla.errors import LimitError, NonFiniteError
from glla.operations.orthogonal import qr_pairs
from glla.operations.spectral import back, certificate, panels
from glla.operations.spectral import eigh as kernel
from glla.operations.spectral.eigh import VARIANTS
from glla.operations.spectral.symmetric import Subset
from glla.passes import PLAIN, Limits, forms_of, resident
from glla.testing import JUDGES
from glla.testing.spectral import errors
from glla.testing.spectral import symmetric as lower_half
from tests.spectral.matrices import normal, symmetric, with_values

JUDGE = JUDGES["eigh"]
PLACES = (np.asarray, glla.asarray)
KINDS = symmetric(np.random.default_rng(0))


@pytest.fixture
def certificates(monkeypatch):
    """Certificates of the calls of a test."""
    found, real = [], certificate.of
    monkeypatch.setattr(certificate, "of", lambda *texels: found.append(real(*texels)) or found[-1])
    return found


def judged(a, variant=None, place=np.asarray, check_finite=False):  # without a second run by another variant
    a = np.float32(a)
    w, v = glla.eigh(place(a), variant=variant, check_finite=check_finite)
    assert type(w) is type(v) is (glla.Array if place is glla.asarray else np.ndarray)
    w, v = np.asarray(w), np.asarray(v)
    verdict = JUDGE.verdict((a,), (w, v))
    assert verdict.ok, verdict
    assert (np.take_along_axis(v, np.abs(v).argmax(axis=0)[np.newaxis], 0) > 0).all(), "signs"
    return w, v


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_matrix(kind, variant, certificates):
    judged(KINDS[kind], variant, check_finite=True)
    assert [one.ok for one in certificates] == [True]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    "n",
    [
        *range(1, 18),
        31,
        32,
        33,
        64,
        127,
        128,
        129,
        *(pytest.param(n, marks=pytest.mark.sweep) for n in (*range(18, 31), 256)),
    ],
)
def test_every_order(n, variant, rng):
    judged(normal(n, rng), variant)
    judged(with_values(np.round(np.geomspace(1, 9, n)), rng), variant, glla.asarray)


@pytest.mark.sweep
def test_a_large_order(rng):
    judged(normal(1024, rng))
    judged(with_values(np.geomspace(1, 1e-7, 1024), rng), place=glla.asarray)


@pytest.mark.sweep
def test_beside_lapack():
    """Residuals, orthogonality and values of ssyevd, in the same measures; it fails on matrices of denormal numbers."""
    linalg = pytest.importorskip("scipy.linalg")
    for kind, a in KINDS.items():
        if kind == "denormal":
            continue
        a = lower_half(np.float32(a)).astype(np.float32)
        theirs = JUDGE.verdict((a,), linalg.eigh(a, driver="evd")).error
        for variant in VARIANTS:
            ours = JUDGE.verdict((a,), glla.eigh(a, variant=variant)).error
            assert ours <= 4 * max(theirs, 1), (kind, variant, ours, theirs)


@pytest.mark.parametrize("variant", VARIANTS)
def test_diagonal_matrices_are_exact(variant, rng):
    for d in (np.zeros(7), np.ones(8), rng.integers(-9, 9, 21), rng.permutation(30)):
        w, v = judged(np.diag(d), variant)
        assert (w == np.sort(d)).all() and set(np.unique(v)) <= {0.0, 1.0}
    w, v = judged([[0.0, 0], [0, -0.0]], variant)
    assert (w == 0).all() and (v == np.eye(2)).all()


@pytest.mark.parametrize("place", PLACES)
def test_one_triangle_is_read(place, rng):
    a = np.float32(normal(9, rng))
    expected = glla.eigh(a)
    for uplo, other, part in (("L", "U", np.tril), ("l", "u", np.tril), ("U", "L", np.triu), ("u", "l", np.triu)):
        half = place(np.where(part(np.ones((9, 9))) == 0, np.float32(1e30), a))
        for given, name in ((half, uplo), (half.T, other)):
            w, v = glla.eigh(given, name)
            assert (np.asarray(w) == expected.eigenvalues).all() and (np.asarray(v) == expected.eigenvectors).all()
    half = np.where(np.tri(9) == 0, np.float32(np.nan), a)
    assert (glla.eigh(half, check_finite=False).eigenvalues == expected.eigenvalues).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("place", PLACES)
def test_subsets_are_those_of_the_whole(place, variant, rng):
    a = np.float32([normal(13, rng) for _ in range(2)])
    for given in (a[0], a):
        w, v = (np.asarray(one) for one in glla.eigh(place(given), variant=variant))
        for first, last in ((0, 12), (0, 0), (3, 7), (4, 5), (12, 12)):
            found = glla.eigh(place(given), subset_by_index=(first, last), variant=variant)
            assert (np.asarray(found.eigenvalues) == w[..., first : last + 1]).all()
            assert np.abs(np.asarray(found.eigenvectors) - v[..., first : last + 1]).max() <= 2.0**-20


@pytest.mark.parametrize("place", PLACES)
def test_large_matrices_of_batches_are_looped_with_the_bits_of_single_calls(place, rng):
    a = np.float32([[normal(66, rng) for _ in range(3)] for _ in range(2)])
    w, v = (np.asarray(one) for one in glla.eigh(place(a)))
    assert w.shape == (2, 3, 66) and v.shape == (2, 3, 66, 66)
    alone = glla.eigh(a[1, 2])
    assert (w[1, 2] == alone.eigenvalues).all() and (v[1, 2] == alone.eigenvectors).all()


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 4, 4)])
@pytest.mark.parametrize("place", PLACES)
def test_nothing(shape, place):
    w, v = glla.eigh(place(np.zeros(shape, np.float32)))
    assert tuple(w.shape) == shape[:-1] and tuple(v.shape) == shape


def test_as_numpy_and_the_array_api_have_it(rng):
    a = np.float32(normal(7, rng))
    A, expected = glla.asarray(a), glla.eigh(a)
    for found in (np.linalg.eigh(A), np.linalg.eigh(A, "U"), array_api.linalg.eigh(A)):
        w, v = found
        assert isinstance(w, glla.Array) and isinstance(found.eigenvectors, glla.Array)
        assert (w.numpy() == expected.eigenvalues).all() and (v.numpy() == expected.eigenvectors).all()
    w, v = np.linalg.eigh(a.astype(float))
    assert np.abs(expected.eigenvalues - w).max() < 1e-6
    assert np.abs(np.abs(expected.eigenvectors) - np.abs(v)).max() < 1e-5


def test_what_is_refused(rng):
    bad = np.float32(normal(4, rng))
    bad[1, 2] = np.nan
    for place in PLACES:
        A = np.asarray(bad) if place is np.asarray else place(bad, check_finite=False)
        with pytest.raises(NonFiniteError, match=r"^eigh: A must not hold NaN or infinity"):
            glla.eigh(A, "U")
        w = glla.eigh(A, "U", check_finite=False).eigenvalues
        assert np.isnan(w if place is np.asarray else w.numpy(check_finite=False)).any()
    with pytest.raises(LimitError, match="of order 16384 at most"):
        kernel.call_plan(forms_of([(20000, 20000)]), PLAIN)


@pytest.mark.parametrize("n", [1, 2, 3, 33, 70, 256])
def test_passes_are_counted_and_nothing_is_read_on_the_way(n):
    """Of the form 2 (n - 2), or by panels, of T 9 for each level, of the way back a third of n; three to certify."""
    levels, form = (n - 1).bit_length(), resident((n, n))
    plan = kernel.plan(form, Limits(software=True))
    way = back.plan((n, n - 1), n, Limits(software=True)).cost.passes if n > 2 else 0
    assert way <= max(n / 2, 9)
    form_passes = 2 * max(n - 2, 0) if n <= 256 else 3 * (n - 1) + 5 * (n // 16) - 3
    bare = plan.cost.passes - 9 * levels - form_passes - way
    assert bare == 3 + (n > 32) + 4 + 3 + (n > 2)  # scaled, T, values and signs, reflectors
    assert kernel.plan(form, Limits(software=True), certified=True).cost.passes == plan.cost.passes + 3
    assert not any(slot.host for slot in plan.flat.slots.values())
    call = kernel.call_plan(form, PLAIN)
    assert sum(call.slots[step.target].host for step in call.flat.steps if hasattr(step, "target")) == 2


def test_a_gpu_has_wider_panels(rng):
    """A device that takes itself for a GPU."""
    device = glla.Device()
    device.limits = replace(device.limits, software=False)
    a = np.float32(normal(259, rng))
    verdict = JUDGE.verdict((a,), glla.eigh(a, device=device, check_finite=False))
    assert verdict.ok, verdict
    device.release()


def form_error(a, width, device):
    """Of A = Q T Q^T, T and the reflectors of Q from the tridiagonal form by panels, in units of n u norm(A)."""
    n, a = len(a), np.tril(np.float32(a)).astype(float)
    a += np.tril(a, -1).T
    h = device.run(panels.plan(n, device.limits, 1, width), A=device.matrix(a).value.texture)["H"]
    blocks = device.read(h).astype(float).reshape(-1, (n + 1) // 2, 2, 2)
    h.release()
    lower = np.tril(np.moveaxis(blocks, 1, 2).reshape(2 * len(blocks), -1)[:n, :n])
    product = np.diag(lower.diagonal()) + np.diag(lower.diagonal(-1), -1) + np.diag(lower.diagonal(-1), 1)
    for k in reversed(range(n - 2)):
        v = np.r_[np.zeros(k + 1), 1, lower[k + 2 :, k]]
        reflector = np.eye(n) - (2 * np.outer(v, v) / (v @ v) if v[k + 2 :].any() else 0)
        product = reflector @ product @ reflector
    return np.linalg.norm(a - product) / (n * np.linalg.norm(a) * 2.0**-24 + 1e-300)


@pytest.mark.parametrize("n", [3, 4, 5, 8, 9, 10, 63, 64, 65, 66, pytest.param(129, marks=pytest.mark.sweep)])
def test_the_form_by_panels_at_their_borders(n, device, rng):
    for width in (2, 8, 32):
        assert form_error(normal(n, rng), width, device) < 2


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("large", "small", "denormal")])
def test_the_form_of_every_kind_of_matrix_by_panels(kind, device):
    assert form_error(KINDS[kind] / max(np.abs(KINDS[kind]).max(), 1), 6, device) < 2


@pytest.mark.parametrize("shape", [(3, 2), (9, 8), (33, 32), (34, 33), (70, 40), (100, 99)])
def test_the_way_back_is_the_same_by_pairs_and_by_panels(shape, device, rng):
    h, b = (device.matrix(np.float32(rng.standard_normal(size))) for size in (shape, (shape[0], 21)))
    given = {"H": h.value.texture, "B": b.value.texture}
    plans = [back.by_panels(shape, 21, width, device.limits) for width in (16, 32)]
    with_pairs = qr_pairs.applied(shape, 21, device.limits)
    taus = device.run(qr_pairs.pairs(shape), H=given["H"])["T"]
    made = [device.run(with_pairs, T=taus, **given), *(device.run(plan, **given) for plan in plans)]
    expected, *others = (np.asarray(device.read(one["B"])) for one in made)
    for found in others:
        assert np.abs(found - expected).max() <= 2.0**-18 * np.abs(expected).max()
    for texture in (taus, *(one["B"] for one in made)):
        texture.release()


def test_the_judge_can_fail(rng):
    a = np.float32(normal(6, rng))
    w, v = glla.eigh(a)
    wrong = v.copy()
    wrong[2:4, 2:4] *= -1
    swapped = w.copy()
    swapped[:2] = swapped[1::-1]
    for found in ((w, wrong), (swapped, v), (w * np.float32(1.001), v), (w, v.T), (w[:5], v)):
        assert not JUDGES["eigh"].verdict((a,), found).ok


# -- the certificate --------------------------------------------------------------------------------------------------


def certified(a, w, v, device):
    n = len(a)
    values = np.zeros((1, n, 4), np.float32)
    values[0, :, 0] = w
    A, V, L = device.matrix(a), device.matrix(v, check_finite=False), device.write_texels(values)
    texel = device.run(certificate.plan(n, Subset(0, n)), A=A.value.texture, V=V.value.texture, L=L)["certificate"]
    found = certificate.of(np.asarray(device.read(texel)), np.float32([1]), n)
    L.release()
    texel.release()
    return found


def test_the_certificate_estimates_both_errors(device, rng):
    a = np.float32(normal(50, rng))
    w, v = glla.eigh(a)
    assert certified(a, w, v, device).ok
    for size in (1e-5, 1e-3):
        moved, wide = v + np.float32(size * rng.standard_normal(v.shape)), w + np.float32(size) * np.abs(w).max()
        for values, vectors in ((w, moved), (wide, v)):
            found, expected = certified(a, values, vectors, device), errors(a, values, vectors)
            for estimate, true in zip(found, expected, strict=False):
                assert true < 0.1 or true / 3 < estimate < 3 * true
            assert found.ok == (max(found[:2]) <= certificate.ALARM)


@pytest.mark.sweep
def test_right_results_are_no_alarm(certificates):
    for seed in range(100):
        for a in symmetric(np.random.default_rng(seed)).values():
            glla.eigh(np.float32(a))
    assert len(certificates) == len(KINDS) * 100 and all(one.ok for one in certificates)


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 120), marks=pytest.mark.sweep)], ids=len)
def test_wrong_results_are_caught(seeds, device):
    """A column replaced, a 2 x 2 block of the wrong sign, the largest value off by a thousandth, NaN."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        a = np.float32(normal(24, rng))
        w, v = glla.eigh(a)
        assert certified(a, w, v, device).ok
        column, block, value, holes = v.copy(), v.copy(), w.copy(), v.copy()
        column[:, 3] = v[:, 4]
        block[4:6, 10:12] *= -1
        value[np.abs(w).argmax()] *= np.float32(1.001)
        holes[3, 3] = np.nan
        for values, vectors in ((w, column), (w, block), (value, v), (w, holes)):
            assert not certified(a, values, vectors, device).ok
