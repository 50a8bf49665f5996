"""eigvalsh: bounds on matrices of every kind, subsets, and what is refused."""

import numpy as np
import pytest

import glla
from glla import array_api
from glla.errors import NonFiniteError
from glla.operations.spectral import eigvalsh as kernel
from glla.operations.spectral.eigvalsh import VARIANTS
from glla.operations.spectral.symmetric import Subset
from glla.passes import Limits, resident
from glla.testing import JUDGES
from tests.spectral.matrices import normal, symmetric

PLACES = (np.asarray, glla.asarray)
KINDS = symmetric(np.random.default_rng(0))


def judged(a, variant=None, place=np.asarray):
    a = np.float32(a)
    w = glla.eigvalsh(place(a), variant=variant)
    assert type(w) is (glla.Array if place is glla.asarray else np.ndarray)
    verdict = JUDGES["eigvalsh"].verdict((a,), np.asarray(w))
    assert verdict.ok, verdict
    return np.asarray(w)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_matrix(kind, variant):
    a = np.float32(KINDS[kind])
    w, n = judged(a, variant), len(a)
    with_vectors = glla.eigh(a).eigenvalues  # as close as both are to the truth
    assert np.abs(w - with_vectors).max() <= 4 * n * 2.0**-24 * np.abs(with_vectors).max() + 2.0**-149 * n


@pytest.mark.parametrize("n", [*range(1, 10), 32, 33, 100, 130])
def test_every_order(n, rng):
    judged(normal(n, rng))
    judged(normal(n, rng), place=glla.asarray)


@pytest.mark.parametrize("place", PLACES)
def test_subsets_are_those_of_the_whole(place, rng):
    a = np.float32([normal(12, rng) for _ in range(2)])
    for given, variant in ((a[0], None), (a, "bisection")):
        whole = np.asarray(glla.eigvalsh(place(given), variant=variant))
        for first, last in ((0, 11), (0, 0), (3, 7), (11, 11), (np.int64(1), True)):
            found = np.asarray(glla.eigvalsh(place(given), subset_by_index=(first, last), variant=variant))
            assert (found == whole[..., first : int(last) + 1]).all()
    assert (np.asarray(glla.eigvalsh(place(a[0].T * np.tri(12).T), "U")) == glla.eigvalsh(a[0])).all()


def test_nothing_and_ends_of_the_range():
    for place in PLACES:
        assert glla.eigvalsh(place(np.zeros((2, 0, 0), np.float32))).shape == (2, 0)
        assert (np.asarray(glla.eigvalsh(place(np.zeros((3, 3), np.float32)))) == 0).all()
        assert (np.asarray(glla.eigvalsh(place(np.eye(9, dtype=np.float32)))) == 1).all()
        d = np.arange(-4, 5, dtype=np.float32)  # a middle of an interval is a value: q is zero, and so is e
        assert np.abs(np.asarray(glla.eigvalsh(place(np.diag(d[::-1])))) - d).max() <= 2.0**-22
        with pytest.raises(NonFiniteError):
            glla.eigvalsh(place(np.full((3, 3), 2e38, np.float32)))
    assert np.isinf(glla.eigvalsh(np.full((3, 3), 2e38, np.float32), check_finite=False)[-1])


def test_as_numpy_and_the_array_api_have_it(rng):
    a = np.float32(normal(7, rng))
    A, expected = glla.asarray(a), glla.eigvalsh(a)
    for found in (np.linalg.eigvalsh(A), np.linalg.eigvalsh(A, "U"), array_api.linalg.eigvalsh(A)):
        assert isinstance(found, glla.Array) and (found.numpy() == expected).all()


def test_what_is_refused(rng):
    a = np.float32(normal(4, rng))
    a[2, 1] = np.inf
    for A in (a, glla.asarray(a, check_finite=False)):
        with pytest.raises(NonFiniteError, match=r"^eigvalsh: A must not hold NaN or infinity"):
            glla.eigvalsh(A)


@pytest.mark.parametrize(("n", "halving"), [(1, 1), (18, 1), (33, 2), (256, 14), (600, 28)])
def test_passes_are_counted(n, halving):
    plan = kernel.plan(resident((n, n)), Limits(software=True))
    reduced = 1 + (n > 32) + (n > 512)  # of the search for the largest entry
    form = 2 * max(n - 2, 0) if n <= 256 else 3 * (n - 1) + 5 * -(-n // 16) - 3
    assert plan.cost.passes == form + reduced + halving + 5
    assert plan.cost.passes == kernel.plan(resident((n, n)), Limits(software=True), subset=Subset(0, 1)).cost.passes


def test_the_judge_can_fail(rng):
    a = np.float32(normal(6, rng))
    w = glla.eigvalsh(a)
    for wrong in (w[::-1], w * np.float32(1.001), w[1:], np.where(w == w[2], np.nan, w)):
        assert not JUDGES["eigvalsh"].verdict((a,), np.float32(wrong)).ok
