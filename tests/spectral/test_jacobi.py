"""Jacobi's method: small eigenvalues to relative accuracy, how many sweeps it takes, and batches by it."""

import numpy as np
import pytest

import glla
from glla.errors import ConvergenceError, NonFiniteError
from glla.operations.batches.stack import Stack
from glla.operations.spectral import certificate, jacobi, small
from glla.operations.spectral import eigh as kernel
from glla.passes import PLAIN, Form, Limits, resident
from glla.testing import JUDGES
from glla.web import documents
from tests.spectral.matrices import normal, with_values
from tests.spectral.measures import U, exact_values, graded, hostile, symmetric

PLACES = (np.asarray, glla.asarray)
every_place = pytest.mark.parametrize("place", PLACES, ids=["host", "device"])


def judged(a, w, v):
    verdict = JUDGES["eigh"].verdict((a,), (w, v))
    assert verdict.ok, verdict


def swept(device, a, **options):
    """Sweeps of a matrix until it is diagonal."""
    n = len(a) + len(a) % 2
    whole = np.zeros((n, n), np.float32)
    whole[: len(a), : len(a)] = a / np.abs(a).max(initial=1e-30)
    A, V = device.matrix(whole, check_finite=False), device.matrix(np.eye(n, dtype=np.float32))
    found = device.run(jacobi.sweeps(n, **options), A=A.value.texture, V=V.value.texture)
    assert found.stopped
    return found.iterations


@pytest.mark.parametrize("variant", ["jacobi", "jacobi_angles"])
def test_what_is_exact_stays_exact(variant):
    swap = np.eye(8, dtype=np.float32)[[1, 0, 3, 2, 5, 4, 7, 6]]
    for a, values in ((swap, np.repeat([-1, 1], 4)), ([[3, 4], [4, -3]], [-5, 5])):
        for found in (glla.eigh(a, variant=variant), glla.eigh([a])):
            assert (found.eigenvalues == values).all()


@pytest.mark.parametrize(
    "n", [2, 4, 5, 7, 16, 24, 48, *(pytest.param(n, marks=pytest.mark.sweep) for n in range(6, 48, 2))]
)
def test_small_eigenvalues_are_right_to_relative_accuracy(n, rng):
    """Of D B D, of which NumPy has some without a right digit, in double precision too."""
    a = graded(n, rng)
    exact, w = exact_values(a), glla.eigh(a, variant="jacobi").eigenvalues
    cond = np.linalg.cond(a / np.outer(*2 * [np.sqrt(np.diag(a).astype(np.float64))]))
    assert (np.abs(w / exact - 1) < 30 * n**0.5 * U * cond).all()
    if n == 24:
        assert np.abs(np.linalg.eigvalsh(a.astype(np.float64)) / exact - 1).max() > 1e3
    if n < 6:
        assert (np.abs(glla.eigh(a[np.newaxis]).eigenvalues[0] / exact - 1) < 30 * n**0.5 * U * cond).all()


@pytest.mark.parametrize("values", [(1.0, 2.0), (-1.0, 1.0)], ids=["two", "of +-1"])
def test_clusters_stop_because_rounding_errors_are_left_alone(values, device, rng):
    a = symmetric(with_values(np.repeat(values, 32), rng))
    assert swept(device, a) <= 9
    assert swept(device, a, skip=0.0) > 15


def test_sweeps(device, rng):
    for n in (4, 16, 64):
        assert swept(device, symmetric(normal(n, rng))) <= np.log2(n) + 3
    _hostile(device, rng, 40)


@pytest.mark.sweep
def test_sweeps_of_many_hostile_matrices(device):
    _hostile(device, np.random.default_rng(260), 260)


def _hostile(device, rng, count):
    for _ in range(count):
        a = hostile(rng)
        assert swept(device, a) <= 20
        judged(a, *glla.eigh(a, variant="jacobi"))


def test_the_bits_do_not_depend_on_when_the_host_looks(monkeypatch, rng):
    a = symmetric(normal(20, rng))
    found = []
    for length in (1, 4):
        monkeypatch.setattr("glla.gl.iterate.length", lambda done, length=length: length)
        found.append([one.tobytes() for one in glla.eigh(a, variant="jacobi")])
    assert found[0] == found[1]


def test_nan_stops_at_once(device, rng):
    a = symmetric(normal(9, rng))
    a[3, 5] = a[5, 3] = np.nan
    assert swept(device, a) <= 3


def test_sweeps_that_are_written_out_are_those_of_the_loop(device, rng):
    """A page of five sweeps of seven steps with a test of two passes, and four passes around them."""
    plan = jacobi.plan(8, count=5)
    assert plan.cost.passes == 5 * (7 + 2) + 4
    A = device.matrix(symmetric(with_values(np.arange(1.0, 9), rng)) / 8)
    one, other = (device.run(made, A=A.value.texture) for made in (plan, jacobi.plan(8)))
    for name in ("L", "V"):
        assert device.read(one[name]).tobytes() == device.read(other[name]).tobytes()
    parameters = (("SWEEPS", 5),)
    whole = kernel.plan(resident((8, 8)), PLAIN, variant="jacobi", parameters=parameters)
    assert sum("/jacobi/step" in step.shader for step in whole.flat.steps) == 35
    for n, loops in ((8, 0), (9, 1)):
        page, *_ = (one for one in documents.document("eigh", n, "jacobi")["plans"] if "jacobi" in one["name"])
        assert len(page["loops"]) == loops


# -- batches ----------------------------------------------------------------------------------------------------------

KINDS = ("normal", "covariances", "rank 1", "ends of the range", "zeros")


def batch(kind, count, n, rng):
    a = rng.standard_normal((count, n, n)).astype(np.float32)
    d = 2.0 ** -rng.integers(0, 20, (count, n))
    made = {
        "normal": lambda: a,
        "covariances": lambda: d[:, :, np.newaxis] * (np.eye(n) + symmetric(a) / (9 * n)) * d[:, np.newaxis],
        "rank 1": lambda: a[:, :, :1] * a[:, :1],
        "ends of the range": lambda: a * np.float32(10.0) ** rng.integers(-37, 37, (count, 1, 1)),
        "zeros": lambda: a * (rng.random((count, n, n)) < 0.2),
    }
    return symmetric(made[kind]())


def test_how_batches_go(device):
    for n, passes in ((1, 1), (2, 2), (3, 2), (5, 2)):
        assert small.plan((Form((100, n, n)),), device.limits).cost.passes == passes
    for limits, largest in ((PLAIN, 64), (Limits(software=True), 24)):
        assert jacobi.most((Form((100, largest + 1, largest + 1)),), limits) == 0
        assert jacobi.most((Form((100, largest, largest)),), limits) > 0


@every_place
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "count"), [*((n, 60) for n in range(1, 6)), (6, 9), (9, 7), (16, 3), (17, 2)])
def test_a_batch(n, count, kind, place, rng):
    """Each matrix is scaled by a power of its own, and one triangle is read."""
    a = batch(kind, count, n, rng)
    w, v = (np.asarray(one) for one in glla.eigh(place(a)))
    for one in zip(a, w, v, strict=True):
        judged(*one)
    for uplo, part in (("L", np.tril), ("U", np.triu)):
        hidden = place(np.where(part(np.ones((n, n))) == 0, np.float32(1), a))
        found = glla.eigh(hidden, uplo)
        assert np.asarray(found.eigenvalues).tobytes() == w.tobytes()
        assert np.asarray(found.eigenvectors).tobytes() == v.tobytes()
        values = np.asarray(glla.eigvalsh(hidden, uplo))
        assert (np.abs(values - w) <= 4 * U * np.abs(w).max(axis=1, keepdims=True)).all()


@every_place
@pytest.mark.parametrize("n", [4, 9])
def test_a_variant_that_batches_take_anyway_is_not_looped(n, place, rng):
    a = place(batch("normal", 11, n, rng))
    for function, variant in ((glla.eigh, "jacobi"), (glla.svd, "one_sided"), (glla.svdvals, "one_sided")):
        found, passes = [], [glla.default_device().stats().passes]
        for one in (None, variant):
            found.append([np.asarray(part).tobytes() for part in function(a, variant=one)])
            passes.append(glla.default_device().stats().passes)
        assert found[0] == found[1] and passes[2] - passes[1] == passes[1] - passes[0]


@every_place
@pytest.mark.parametrize("n", [3, 8])
def test_the_bad_matrix_of_a_batch_is_named(n, place, rng):
    a = batch("normal", 900, n, rng) if n == 3 else batch("normal", 20, n, rng)
    a[-7, 1, 0] = np.nan
    given = a if place is np.asarray else glla.asarray(a, check_finite=False)
    with pytest.raises(NonFiniteError, match=rf"^eigh: A must not hold NaN or infinity.*{len(a) - 7}"):
        glla.eigh(given)
    w = np.asarray(glla.eigh(given, check_finite=False).eigenvalues)
    good = np.arange(len(a)) != len(a) - 7
    assert np.isfinite(w[good]).all() and not np.isfinite(w[-7]).all()
    a[-7] = 3e38
    with pytest.raises(NonFiniteError, match="float32"):
        glla.eigh(place(a))


@every_place
def test_rejected_matrices_of_a_batch_are_found_anew(place, monkeypatch, rng):
    monkeypatch.setattr(small, "SWEEPS", (0, 1, 2, 2, 2))
    a = batch("normal", 61, 4, rng)  # as many as no other test has: plans are cached
    marked = np.asarray(glla.eigh(place(a), check_finite=False).eigenvalues)
    assert np.isnan(marked[:, 0]).sum() > 30
    for one in zip(a, *map(np.asarray, glla.eigh(place(a))), strict=True):
        judged(*one)
    monkeypatch.setattr(certificate, "ALARM", 1e-3)
    with pytest.raises(ConvergenceError, match=r"^eigh: the eigenvectors at index \(\d+\) of the stack are not"):
        glla.eigh(place(a))


def test_a_spoilt_matrix_of_a_batch_is_marked(device, rng):
    """A column replaced, a block of the wrong sign, NaN; the largest value off by a thousandth."""
    a = batch("normal", 12, 8, rng)
    cells = Stack.of(12, (5, 8), device.limits.texture_size)
    raw = np.zeros((cells.raw(64).height, cells.raw(64).width), np.float32)
    raw.reshape(-1)[: a.size] = a.reshape(-1)
    given = device.run(jacobi._brought_in(8, cells), raw=device.write(raw))
    found = device.run(jacobi.sweeps(8, cells=cells), A=given["scaled"], V=given["I"])
    for spoil in ("nothing", "column", "block", "hole", "value"):
        slots = {"A": found["A next"], "V": found["V next"]}
        texels = {name: device.read(one).copy() for name, one in slots.items()}
        A, V = (one[5 // cells.across :: cells.down, 5 % cells.across :: cells.across] for one in texels.values())
        if spoil == "column":
            V[..., ::2] = V[..., 1::2]
        elif spoil == "block":
            V[1, 2] *= -1
        elif spoil == "hole":
            V[2, 1, 3] = np.nan
        elif spoil == "value":
            A[0, 0, 0] += np.float32(1e-3) * np.abs(A).max()
        slots = {name: device.write_texels(one) for name, one in texels.items()}
        rest = {name: given[name] for name in ("largest", "scaled")}
        records = device.read(device.run(jacobi._records(8, cells), **slots, **rest)["records"])
        first = records.reshape(-1)[: 12 * 72 : 72]
        assert np.flatnonzero(np.isnan(first)).tolist() == [5] * (spoil != "nothing")


@pytest.mark.sweep
def test_a_thousand_of_order_16(rng):
    for kind in KINDS:
        a = batch(kind, 1000, 16, rng)
        for one in zip(a, *glla.eigh(a), strict=True):
            judged(*one)


@pytest.mark.sweep
@pytest.mark.parametrize("n", range(1, 6))
def test_a_hundred_thousand(n, rng):
    for kind in KINDS:
        a = batch(kind, 10**5, n, rng)
        w, v = glla.eigh(a)
        a64, vectors = a.astype(np.float64), v.astype(np.float64)
        bound = 10 * n * U * np.linalg.norm(a64, axis=(1, 2)) + 2.0**-124  # of numbers that no longer are normal
        assert (np.linalg.norm(a64 @ vectors - vectors * w[:, np.newaxis], axis=(1, 2)) <= bound).all()
        assert (np.linalg.norm(np.swapaxes(v, 1, 2) @ vectors - np.eye(n), axis=(1, 2)) < 10 * n * U).all()
        assert (np.abs(w - np.linalg.eigvalsh(a64)).max(axis=1) <= bound).all()
