"""svd and svdvals: bounds on matrices of every kind and shape, the certificate, and what is refused."""

import itertools

import numpy as np
import pytest

import glla
from glla import array_api
from glla.errors import ConvergenceError, LimitError, NonFiniteError
from glla.operations.spectral import certificate, hestenes, panels, svd
from glla.operations.spectral import svd as kernel
from glla.operations.spectral.svd import VARIANTS
from glla.passes import PLAIN, Limits, forms_of, resident
from glla.testing import JUDGES
from tests.spectral.measures import U, exact_singular_values

PLACES = (np.asarray, glla.asarray)
every_place = pytest.mark.parametrize("place", PLACES, ids=["host", "device"])
SHAPES = [
    (1, 1), (1, 9), (9, 1), (2, 2), (3, 3), (4, 3), (3, 4), (5, 5), (16, 16), (17, 17), (17, 9), (9, 17), (33, 32),
    (64, 20), (40, 65), (100, 3),
]  # fmt: skip


def orthogonal(n, rng):
    return np.linalg.qr(rng.standard_normal((n, n)))[0]


def _kinds(rng):
    b, k = rng.standard_normal((24, 24)), np.arange(24.0)
    q, p, d = orthogonal(24, rng), orthogonal(24, rng), 2.0 ** -np.arange(0, 48, 2)
    return {
        "zeros": np.zeros((8, 6)),
        "zero rows and columns": b * (k % 3 != 0) * (k % 5 != 0)[:, np.newaxis],
        "identity": np.eye(12),
        "ones": np.ones((9, 14)),
        "rank 3": b[:, :3] @ b[:3, :15],
        "rank 1": np.outer(b[0], b[1]),
        "orthogonal": q,
        "clusters": (q * np.repeat([1.0, 2.0], 12)) @ p,
        "geometric": (q * np.geomspace(1, 1e-7, 24)) @ p,
        "Kahan": np.diag(0.9**k) @ (np.eye(24) - 0.4 * np.triu(np.ones((24, 24)), 1)),
        "Hilbert": 1 / (np.add.outer(k[:12], k[:12]) + 1),
        "Vandermonde": np.vander(np.linspace(0.1, 1, 16), increasing=True),
        "graded columns": b * d,
        "graded rows": b[:, :17] * d[:, np.newaxis],
        "bidiagonal": np.diag(k) + np.eye(24, k=1),
        "permutation": np.eye(15)[::-1],
        "integers": np.round(2 * b[:, :11]),
        "nearly dependent": np.hstack([b[:, :6], b[:, :6] + 1e-7 * b[:, 6:12]]),
        "large": b[:, :10] * 2e37,
        "small": b[:10] * 1e-37,
        "denormal": b[:7, :7] * 1e-41,
    }


KINDS = _kinds(np.random.default_rng(0))


def judged(a, place=np.asarray, **options):
    a = np.float32(a)
    found = glla.svd(place(a), **options)
    assert {type(one) for one in found} == {glla.Array if place is glla.asarray else np.ndarray}
    u, s, vh = (np.asarray(one) for one in found)
    verdict = JUDGES["svd"].verdict((a,), (u, s, vh))
    assert verdict.ok, verdict
    full = options.get("full_matrices", True)
    assert (u.shape, s.shape, vh.shape) == tuple(
        one.shape for one in np.linalg.svd(np.zeros(a.shape), full_matrices=full)
    )
    return u, s, vh


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_matrix(kind, variant):
    judged(KINDS[kind], variant=variant)
    judged(KINDS[kind].T, glla.asarray, full_matrices=False, variant=variant)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape(shape, variant, rng):
    a = np.float32(rng.standard_normal(shape))
    for full in (True, False):
        _, s, _ = judged(a, full_matrices=full, variant=variant)
    values = glla.svdvals(a, variant=variant)
    assert np.abs(values - s).max() < 30 * min(shape) ** 0.5 * 2.0**-24 * s[0]
    assert np.array_equal(glla.svd(a, compute_uv=False, variant=variant), values)


@every_place
def test_a_single_number_is_exact(place):
    for a in np.float32([0, 3, -1 / 3, 3e38, -0.0, -2e-38]):
        for given, variant in (([[a]], "bidiagonal"), ([[a]], "one_sided"), ([[[a]]], None)):
            given = place(np.float32(given))
            found = [np.asarray(one).item() for one in (*glla.svd(given, variant=variant), glla.svdvals(given))]
            assert found == [1, abs(a), -1 if a < 0 else 1, abs(a)]


@pytest.mark.parametrize("shape", [(9, 9), pytest.param((20, 13), marks=pytest.mark.sweep)], ids=str)
def test_every_rank(shape, rng):
    b, c = rng.standard_normal((shape[0], shape[1])), rng.standard_normal((shape[1], shape[1]))
    for rank in range(shape[1] + 1):
        for variant in VARIANTS:
            judged(b[:, :rank] @ c[:rank], variant=variant)


@pytest.mark.sweep
@pytest.mark.parametrize("shape", [(127, 127), (128, 128), (129, 129), (256, 256), (1000, 64), (30, 700)], ids=str)
def test_large_shapes(shape, rng):
    judged(rng.standard_normal(shape))


@every_place
@pytest.mark.parametrize("shape", [(17000, 3), (4, 17000), (40000, 2)], ids=str)
def test_shapes_beyond_a_texture(shape, place, rng):
    a = rng.standard_normal(shape).astype(np.float32)
    _, s, _ = judged(a, place, full_matrices=False)
    assert np.abs(np.asarray(glla.svdvals(place(a))) - s).max() < 1e-4 * s[0]


@every_place
def test_a_symmetric_matrix_has_one_triangle(place, rng):
    a = rng.standard_normal((9, 9)).astype(np.float32)
    whole = np.tril(a) + np.tril(a, -1).T
    u, s, vh = (np.asarray(one) for one in glla.svd(place(a), hermitian=True))
    assert JUDGES["svd"].verdict((whole,), (u, s, vh)).ok
    assert np.abs(s - np.sort(np.abs(np.linalg.eigvalsh(whole)))[::-1]).max() < 1e-5


# -- batches ----------------------------------------------------------------------------------------------------------


def batch(count, m, n, rng):
    """Matrices of many kinds."""
    a = rng.standard_normal((count, m, n))
    a[1:9] = [
        np.zeros((m, n)), np.eye(m, n), np.ones((m, n)), a[1] * 1e37, a[2] * 1e-37, a[3] * 0.5 ** np.arange(6 * n)[::6],
        np.outer(a[4, :, 0], a[4, 0]), np.round(a[5] / 2),
    ]  # fmt: skip
    return a.astype(np.float32)


@every_place
@pytest.mark.parametrize(
    ("m", "n", "full"), [(1, 1, 1), (3, 3, 0), (5, 3, 1), (2, 7, 1), (2, 7, 0), (9, 8, 0), (1, 6, 1)]
)
def test_a_batch(m, n, full, place, rng):
    shape = m, n
    a = batch(12, *shape, rng)
    found = glla.svd(place(a.reshape(3, 4, *shape)), full)
    assert {type(one) for one in found} == {glla.Array if place is glla.asarray else np.ndarray}
    expected = np.linalg.svd(a.reshape(3, 4, *shape), full)
    assert [one.shape for one in found] == [one.shape for one in expected]
    u, s, vh = (np.asarray(one).reshape(12, *one.shape[2:]) for one in found)
    for one in zip(a, u, s, vh, strict=True):
        verdict = JUDGES["svd"].verdict(one[:1], one[1:])
        assert verdict.ok, verdict
    assert (np.take_along_axis(u, np.abs(u).argmax(axis=1, keepdims=True), 1) > 0).all(), "signs"
    assert (np.asarray(glla.svdvals(place(a))) == s).all()


@every_place
def test_what_follows_from_batches(place, rng):
    a = rng.standard_normal((5, 4, 4)).astype(np.float32)
    a[2, :, 1] = 0
    whole = np.tril(a) + np.swapaxes(np.tril(a, -1), 1, 2)
    assert list(glla.matrix_rank(place(a))) == [4, 4, 3, 4, 4]
    assert np.abs(np.asarray(glla.svd(place(a), hermitian=True).S) - np.linalg.svd(whole)[1]).max() < 1e-5
    wide = np.linalg.pinv(a.astype(float), rcond=1e-6)
    assert (
        np.abs(np.asarray(glla.pinv(place(a))) - wide) < 1e-5 * np.abs(wide).max(axis=(1, 2), keepdims=True) ** 2
    ).all()


@every_place
def test_a_rejected_matrix_of_a_batch_is_named(place, monkeypatch, rng):
    a = batch(13, 6, 5, rng)  # as many as no other test has: plans are cached
    for wrong, error in ((np.nan, "A must not hold NaN"), (3e38, "a singular value at .* does not fit float32")):
        bad = a.copy()
        bad[11] = wrong
        given = bad if place is np.asarray else glla.asarray(bad, check_finite=False)
        with pytest.raises(NonFiniteError, match=rf"^svd: {error}.*" if place is np.asarray else r"at index \(11\)"):
            glla.svd(given)
        for found in (glla.svdvals(given, check_finite=False), glla.svd(given, check_finite=False).S):
            found = found if place is np.asarray else found.numpy(check_finite=False)
            assert np.isfinite(found).all(axis=1).tolist() == [one != 11 for one in range(13)]
            assert wrong > 0 or np.isnan(found[11]).all()
    monkeypatch.setattr(hestenes, "MOST_SWEEPS", 1)
    b = batch(14, 6, 5, rng)
    for one in zip(b, *map(np.asarray, glla.svd(place(b))), strict=True):
        assert JUDGES["svd"].verdict(one[:1], one[1:]).ok
    monkeypatch.setattr(certificate, "ALARM", 1e-3)
    with pytest.raises(ConvergenceError, match=r"^svd: .* vectors at index \(\d+\) of the stack are not accepted"):
        glla.svd(place(b))


def test_large_matrices_of_batches_are_looped_with_the_bits_of_single_calls(rng):
    a = rng.standard_normal((2, 70, 66)).astype(np.float32)
    for whole, alone in zip(glla.svd(a), glla.svd(a[1]), strict=True):
        assert whole[1].tobytes() == alone.tobytes()


@every_place
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 0, 4), (0, 3, 4)], ids=str)
def test_nothing(shape, place):
    a = place(np.zeros(shape, np.float32))
    for full in (True, False):
        for one, expected in zip(glla.svd(a, full), np.linalg.svd(np.zeros(shape), full), strict=True):
            assert np.array_equal(np.asarray(one), expected)
    assert glla.svdvals(a).shape == (*shape[:-2], 0) or shape[0] == 0


def test_as_numpy_and_the_array_api_have_it(rng):
    a = rng.standard_normal((5, 3)).astype(np.float32)
    A, expected = glla.asarray(a), glla.svd(a, full_matrices=False)
    for found in (np.linalg.svd(A, full_matrices=False), array_api.linalg.svd(A, full_matrices=False)):
        for one, other in zip(found, expected, strict=True):
            assert isinstance(one, glla.Array) and one.numpy().tobytes() == other.tobytes()
    assert np.linalg.svd(A, compute_uv=False).shape == array_api.linalg.svdvals(A).shape == (3,)
    assert np.linalg.svdvals(A).numpy().tobytes() == glla.svdvals(a).tobytes()
    with pytest.raises(TypeError):
        array_api.linalg.svd(A, compute_uv=False)


def test_what_is_refused(rng):
    bad = rng.standard_normal((4, 3)).astype(np.float32)
    bad[1, 2] = np.nan
    for place in PLACES:
        A = bad if place is np.asarray else glla.asarray(bad, check_finite=False)
        with pytest.raises(NonFiniteError, match=r"^svd: A must not hold NaN or infinity"):
            glla.svd(A)
        with pytest.raises(NonFiniteError, match=r"^svdvals: A must not hold NaN or infinity"):
            glla.svdvals(A)
    with pytest.raises(LimitError, match="at most, both added, on this device"):
        kernel.call_plan(forms_of([(20000, 3)]), PLAIN)
    with glla.Device(max_texture_size=32) as narrow:
        for shape, function in itertools.product([(17, 17), (20, 40), (40, 20)], (glla.svdvals, glla.svd)):
            with pytest.raises(LimitError, match="A must have 32 rows and columns at most, both added"):
                function(rng.standard_normal(shape), device=narrow)


@pytest.mark.parametrize("n", [1, 2, 3, 20, 33])
def test_passes_are_counted_and_nothing_is_read_on_the_way(n):
    """Of the form 6 n - 3 and 6 for each panel, of the last one 2; 9 for each level of order 2 n."""
    if n > 1:
        form = panels.plan(n, Limits(software=True), 2)
        assert form.cost.passes == 6 * n - 3 + 6 * -(-n // 16) - 4
    plan = kernel.plan(resident((n, n)), Limits(software=True))
    assert not any(slot.host for slot in plan.flat.slots.values())
    assert kernel.plan(resident((n, n)), Limits(software=True), certified=True).cost.passes == plan.cost.passes + 5
    call = kernel.call_plan(resident((n, n)), PLAIN)
    assert sum(call.slots[step.target].host for step in call.flat.steps if hasattr(step, "target")) == 2


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 10, 33, 34, 63, 64, 65, 66])
def test_the_form_by_panels_at_their_borders(n, device, rng):
    """A = Q B P^T, B and the reflectors of Q and P as they are left in H."""
    a = rng.standard_normal((n, n)).astype(np.float32)
    given = device.matrix(a).value.texture
    for width in (2, 8, 32):
        h = device.run(panels.plan(n, device.limits, 2, width), A=given)["H"]
        blocks = np.asarray(device.read(h), float).reshape(-1, (n + 1) // 2, 2, 2)
        h.release()
        h = np.moveaxis(blocks, 1, 2).reshape(2 * len(blocks), -1)[:n, :n]
        product = np.diag(np.diag(h)) + np.diag(np.diag(h, 1), 1)
        for k in reversed(range(n - 1)):
            product @= reflector(h[k], k + 1)
            product = reflector(h[:, k], k) @ product
        assert np.linalg.norm(a - product) / (n * np.linalg.norm(a) * U) < 2


def reflector(column, first):
    """I - 2 v v^T / v^T v, v = 1 in its first row, below it as the column; I where that is zero."""
    v = np.where(np.arange(len(column)) > first, column, 0.0)
    if not v.any():
        return np.eye(len(v))
    v[first] = 1
    return np.eye(len(v)) - 2 * np.outer(v, v) / (v @ v)


def test_the_judge_can_fail(rng):
    a = rng.standard_normal((6, 5)).astype(np.float32)
    u, s, vh = glla.svd(a, full_matrices=False)
    wrong, swapped = u.copy(), s.copy()
    wrong[:, 1:2] *= -1
    swapped[:2] = swapped[1::-1]
    for found in ((wrong, s, vh), (u, -s, vh), (u, swapped, vh), (u, s * np.float32(1.001), vh), (u[:, :4], s, vh)):
        assert not JUDGES["svd"].verdict((a,), found).ok


@pytest.mark.parametrize(
    "shape",
    [(6, 6), (40, 20), (16, 30), *(pytest.param((n + 3, n), marks=pytest.mark.sweep) for n in range(4, 44, 2))],
    ids=str,
)
def test_small_singular_values_are_right_to_relative_accuracy(shape, rng):
    """Of B D, which LAPACK and the bidiagonal form have without a right digit."""
    m, n = max(shape), min(shape)
    d = 2.0 ** -(48 // n * rng.permutation(n))
    b = rng.standard_normal((m, n)).astype(np.float32)
    a = (b * d).astype(np.float32)
    exact, cond = exact_singular_values(a), np.linalg.cond(b.astype(np.float64))
    a = a if shape[0] == m else np.ascontiguousarray(a.T)
    bound = 30 * n**0.5 * U * cond
    assert np.abs(glla.svdvals(a, variant="one_sided") / exact - 1).max() < bound
    assert np.abs(glla.svdvals(a) / exact - 1).max() > 100 * bound
    judged(a, variant="one_sided")


@every_place
@pytest.mark.parametrize("shape", [(60, 7), (7, 60), (2, 30, 5), (9, 9)], ids=str)
def test_the_bound_of_gram_is_that_of_a_square(shape, place, rng):
    k, large = min(shape[-2:]), np.float32(1e30)
    a = rng.standard_normal(shape).astype(np.float32)
    exact = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    u, s, vh = (np.asarray(one) for one in glla.svd(place(a), full_matrices=False, variant="gram"))
    assert (np.abs(s - exact) * exact < 30 * k**0.5 * U * exact[..., :1] ** 2).all()
    assert np.abs(u * s[..., np.newaxis, :] @ vh - a).max() < 100 * U * np.abs(a).max()
    for one, wide in (
        (u.swapaxes(-1, -2) @ u, shape[-2] < shape[-1]),
        (vh @ vh.swapaxes(-1, -2), shape[-2] >= shape[-1]),
    ):
        grown = 1 if wide else (exact[..., 0] / exact[..., -1]).max() ** 2
        assert np.abs(one - np.eye(k)).max() < 30 * k * U * grown
    values = np.asarray(glla.svdvals(place(large * a), variant="gram"))
    assert (np.abs(values / large - exact) * exact < 30 * k**0.5 * U * exact[..., :1] ** 2).all()


def test_noise_of_gram(rng):
    a = (orthogonal(40, rng)[:, :9] * np.geomspace(1, 1e-7, 9)) @ orthogonal(9, rng)
    s = glla.svdvals(a, variant="gram")
    assert (np.abs(s - np.geomspace(1, 1e-7, 9)) < 2e-3).all() and (s[np.geomspace(1, 1e-7, 9) < 1e-4] < 2e-3).all()
    u, s, _ = glla.svd(np.ones((6, 2)), False, variant="gram")
    assert s[1] < 1e-3 and np.isfinite(u).all()


def test_sweeps(device, rng):
    for n in (4, 16, 40):
        start = np.vstack([np.linalg.qr(rng.standard_normal((n, n)))[1].T, np.eye(n)]).astype(np.float32)
        A = device.matrix(start)
        found = device.run(hestenes.sweeps((2 * n, n), n), A=A.value.texture)
        assert found.stopped and found.iterations <= np.log2(n) + 5
    assert glla.svdvals([[3.0]], variant="one_sided") == 3
    assert (glla.svdvals(np.eye(9), variant="one_sided") == 1).all()


# -- the certificate --------------------------------------------------------------------------------------------------


def certified(a, u, s, vh, device):
    (m, n), values = a.shape, np.zeros((1, len(s), 4), np.float32)
    values[0, :, 0] = s
    given = {"A": a, "U": u, "V": np.ascontiguousarray(vh.T)}
    made = {name: device.matrix(one, check_finite=False) for name, one in given.items()}
    line = device.write_texels(values)
    plan = svd.certificate((m, n), u.shape[1])
    texel = device.run(plan, S=line, **{name: one.value.texture for name, one in made.items()})["certificate"]
    found = certificate.of(np.asarray(device.read(texel)), np.float32([1]), m)
    line.release()
    texel.release()
    return found


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 110), marks=pytest.mark.sweep)], ids=len)
def test_wrong_results_are_caught(seeds, full, device):
    """A column replaced, of a value of zero too, a block of the wrong sign, a value off by a thousandth, NaN."""
    for seed in seeds:
        a = np.random.default_rng(seed).standard_normal((25, 19)).astype(np.float32)
        a[:, 15:] = 0
        u, s, vh = glla.svd(a, full)
        assert certified(a, u, s, vh, device).ok
        spoilt = []
        for place in (0, 2):
            for spoil in ("column", "useless", "block", "hole"):
                parts = [u.copy(), s.copy(), vh.copy()]
                one = parts[place] if place == 0 else parts[place].T
                if spoil == "column":
                    one[:, 3] = one[:, 4]
                elif spoil == "useless":
                    one[:, 18] = one[:, 17]
                elif spoil == "block":
                    one[4:6, 10:12] *= -1
                else:
                    one[3, 3] = np.nan
                spoilt.append(parts)
        spoilt.append([u, s * np.where(np.arange(19) == 0, np.float32(1.001), np.float32(1)), vh])
        assert not any(certified(a, *parts, device).ok for parts in spoilt)
