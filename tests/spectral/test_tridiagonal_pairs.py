"""eigh_tridiagonal: bounds on hostile matrices, selections as SciPy has them, and what is refused."""

import numpy as np
import pytest

import glla
from glla.errors import NonFiniteError, OptionError, ShapeError
from glla.operations.spectral import certificate
from glla.operations.spectral import tridiagonal_pairs as kernel
from glla.operations.spectral.symmetric import Subset
from glla.operations.spectral.tridiagonal_pairs import VARIANTS
from glla.passes import Limits, resident
from glla.testing import JUDGES
from tests.spectral.matrices import glued, hostile

PLACES = (np.asarray, glla.asarray)


def judged(d, e, place=np.asarray):
    d, e = np.float32(d), np.float32(e)
    w, v = glla.eigh_tridiagonal(place(d), place(e))
    assert type(w) is type(v) is (glla.Array if place is glla.asarray else np.ndarray)
    w, v = np.asarray(w), np.asarray(v)
    verdict = JUDGES["tridiagonal_pairs"].verdict((d, e), (w, v))
    assert verdict.ok, verdict
    assert (np.take_along_axis(v, np.abs(v).argmax(axis=0)[np.newaxis], 0) > 0).all(), "signs"
    return w, v


@pytest.mark.parametrize("variant", VARIANTS)
def test_hostile_matrices(variant):
    for seed in range(30):
        judged(*hostile(np.random.default_rng(seed), 60)[1:], PLACES[seed % 2])
    judged(np.diag(glued(1e-6)), np.diag(glued(1e-6), 1))


@pytest.mark.parametrize("factor", [1e-40, 1e-30, 1e30])
def test_ends_of_the_range(factor, rng):
    judged(factor * rng.standard_normal(9), factor * rng.standard_normal(8))
    with pytest.raises(NonFiniteError):
        glla.eigh_tridiagonal(np.full(9, 3e38, np.float32), np.full(8, 3e38, np.float32))


@pytest.mark.parametrize("place", PLACES)
def test_selections(place, rng):
    linalg = pytest.importorskip("scipy.linalg")
    d, e = rng.integers(-9, 10, 11), rng.integers(1, 5, 10)
    given = [place(np.float32(one)) for one in (d, e)]
    w, v = (np.asarray(one) for one in glla.eigh_tridiagonal(*given))
    values = np.asarray(glla.eigh_tridiagonal(*given, True))
    assert np.abs(values - w).max() <= 2.0**-18
    for select, chosen in (("i", (0, 10)), ("i", (3, 3)), ("i", (4, 8)), ("v", (-2.5, 4.5)), ("v", (50, 60))):
        expected = linalg.eigh_tridiagonal(d.astype(float), e.astype(float), True, select, chosen)
        alone = np.asarray(glla.eigh_tridiagonal(*given, eigvals_only=True, select=select, select_range=chosen))
        found = [np.asarray(one) for one in glla.eigh_tridiagonal(*given, select=select, select_range=chosen)]
        assert alone.shape == found[0].shape == expected.shape and found[1].shape == (11, len(expected))
        assert np.abs(alone - expected).max(initial=0) <= 2.0**-18
        first = int(np.searchsorted(w, found[0][0])) if len(expected) else 0
        assert (found[0] == w[first : first + len(expected)]).all()
        assert np.abs(found[1] - v[:, first : first + len(expected)]).max(initial=0) <= 2.0**-18


@pytest.mark.parametrize("place", PLACES)
def test_one_entry_and_none(place):
    one, none = place(np.float32([-3])), place(np.zeros(0, np.float32))
    w, v = glla.eigh_tridiagonal(one, none)
    assert np.asarray(w).tolist() == [-3] and np.asarray(v).tolist() == [[1]]
    assert np.asarray(glla.eigh_tridiagonal(one, none, True)).tolist() == [-3]
    assert glla.eigh_tridiagonal(none, none)[1].shape == (0, 0)


def test_what_is_refused():
    d, e = np.ones(4, np.float32), np.ones(3, np.float32)
    for bad in ((d, d), (d[:, None], e), (d, e[:, None]), (np.float32(1), e)):
        with pytest.raises(ShapeError, match=r"^eigh_tridiagonal: d must have shape \(n,\) and e \(n - 1,\), got"):
            glla.eigh_tridiagonal(*bad)
    for options in ({"select": "x"}, {"select": "i"}, {"select_range": (0, 1)}, {"select": "i", "select_range": (0, 4)},
                    {"select": "v", "select_range": (2, 1)}, {"select": "v", "select_range": 3}):  # fmt: skip
        with pytest.raises(OptionError, match=r"^eigh_tridiagonal: select"):
            glla.eigh_tridiagonal(d, e, **options)
    e[1] = np.nan
    for given in ((d, e), (glla.asarray(d), glla.asarray(e, check_finite=False))):
        with pytest.raises(NonFiniteError, match="must not hold NaN or infinity"):
            glla.eigh_tridiagonal(*given)
        w = glla.eigh_tridiagonal(*given, check_finite=False)[0]
        assert np.isnan(w if isinstance(w, np.ndarray) else w.numpy(check_finite=False)).all()


def test_passes_are_counted():
    form = resident((64, 1), (63, 1))
    assert kernel.plan(form, Limits()).cost.passes == 9 * 6 + 3 + 1 + 2 + 1 + 2 + 1  # T, largest, ...
    assert kernel.plan(form, Limits(), vectors=False).cost.passes == 1 + 2 + 1 + 5 + 1


def test_wrong_results_are_caught(device, rng):
    """A column replaced, a 2 x 2 block of the wrong sign, the largest value off by a thousandth."""
    n, t, values = 13, np.zeros((1, 13, 4), np.float32), np.zeros((1, 13, 4), np.float32)
    t[0, :, :2] = rng.standard_normal((n, 2))
    w, v = glla.eigh_tridiagonal(t[0, :, 0], t[0, :-1, 1])
    values[0, :, 0] = w
    column, block, value = v.copy(), v.copy(), values.copy()
    column[:, 3] = v[:, 4]
    block[4:6, 10:12] *= -1
    value[0, np.abs(w).argmax(), 0] *= np.float32(1.001)
    plan = certificate.plan(n, Subset(0, n), tridiagonal=True)
    for ok, line, vectors in ((True, values, v), (False, values, column), (False, values, block), (False, value, v)):
        V = device.matrix(vectors)
        given = {"T": device.write_texels(t), "L": device.write_texels(line), "V": V.value.texture}
        found = device.read(device.run(plan, **given)["certificate"])
        assert certificate.of(found, np.float32([1]), n).ok == ok


def test_the_judge_can_fail(rng):
    d, e = rng.standard_normal((2, 6)).astype(np.float32)
    w, v = glla.eigh_tridiagonal(d, e[:5])
    assert not JUDGES["tridiagonal_pairs"].verdict((d, e[:5]), (w, v[::-1])).ok
    assert not JUDGES["tridiagonal_pairs"].verdict((d, e[:5]), (w[::-1], v)).ok
