"""Bands of positive definite matrices: what no other operation has; the rest is in tests/matrix.py."""

import numpy as np
import pytest
import scipy.linalg

import glla
from glla.operations import OPERATIONS
from glla.operations.bands.definite_band import VARIANTS
from glla.passes import Limits, Tuned, resident
from tests.matrix import band, every_place, lowered

SIZES = [(1, 0), (1, 3), (2, 1), (5, 2), (5, 9), (16, 15), (17, 1), (33, 16), (40, 17), (70, 5), (100, 33), (64, 63)]
every_half = pytest.mark.parametrize("lower", [False, True], ids=["upper", "lower"])


def stored(a, w, lower=False, corner=0.0):
    """LAPACK's storage of a band, with a number in its corners."""
    n = len(a)
    ab = np.full((w + 1, n), corner, dtype=np.float32)
    for d in range(min(w + 1, n)):
        if lower:
            ab[d, : n - d] = np.diagonal(a, -d)
        else:
            ab[w - d, d:] = np.diagonal(a, d)
    return ab


def dominant(n, w, rng):
    """A band whose diagonal dominates, whole and in upper storage."""
    ab = band(w, n, rng, 0.9)[: w + 1] if w else rng.uniform(1, 2, (1, n)).astype(np.float32)
    a = sum(np.diag(ab[w - d, d:], d) for d in range(min(w + 1, n)))
    return a + np.triu(a, 1).T, ab


# -- wide bands, and corners ------------------------------------------------------------------------------------------


@every_place
@every_half
@pytest.mark.parametrize(("n", "w"), SIZES)
def test_integers_are_exact_whatever_the_corners_hold(n, w, lower, place, rng):
    """Also bands that are wider than a block of 16, or than the matrix."""
    b = np.tril(np.triu(rng.integers(-3, 4, (n, n)), -w), -1) + np.diag(2 ** rng.integers(0, 3, n))
    x = rng.integers(-3, 4, (n, 2))
    ab, right = place(stored(b @ b.T, w, lower, np.nan)), place((b @ b.T @ x).astype(np.float32))
    factor, options = stored(b if lower else b.T, w, lower, np.nan), {"check_finite": False}
    for variant in (None, *VARIANTS):
        found = np.asarray(glla.cholesky_banded(ab, lower=lower, variant=variant, **options))
        assert (found == np.nan_to_num(factor)).all()
    if w != 1:  # three bands are solved by cyclic reduction
        assert (np.asarray(glla.solveh_banded(ab, right, lower=lower, **options)) == x).all()
    for sign in (1, -1):  # L L^T all the same
        assert (np.asarray(glla.cho_solve_banded((place(sign * factor), lower), right, **options)) == x).all()


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("n", "w"), [(47, 9), (113, 40), (130, 16)])
def test_the_bits_are_those_of_the_whole_matrix(n, w, variant, device, rng):
    """In software, where nobody contracts additions and multiplications otherwise."""
    a, _ = dominant(n, w, rng)
    expected = stored(glla.cholesky(a, variant="block16", device=device), w, True)
    factor = glla.cholesky_banded(stored(a, w, True), lower=True, variant=variant, device=device)
    close = factor == expected if device.limits.software else np.abs(factor - expected) < 1e-6
    assert close.all()


@every_place
@every_half
@pytest.mark.parametrize(("n", "w"), [(1, 0), (3, 5), (17, 16), (33, 20)])
def test_a_matrix_of_a_batch_has_the_bits_of_one_alone(n, w, lower, place, device, rng):
    ab = np.stack([dominant(n, w, rng)[1] for _ in range(6)]).reshape(2, 3, w + 1, n)
    ab, b = lowered(ab) if lower else ab, rng.standard_normal((2, 3, n, 3)).astype(np.float32)
    factors = glla.cholesky_banded(place(ab), lower=lower)
    x = np.asarray(glla.cho_solve_banded((factors, lower), place(b)))
    factors = np.asarray(factors)
    for i in np.ndindex(2, 3):
        alone = glla.cholesky_banded(ab[i], lower=lower, variant="block16")
        for one, other in ((factors[i], alone), (x[i], glla.cho_solve_banded((factors[i], lower), b[i]))):
            assert (one == other).all() if device.limits.software else np.abs(one - other).max() < 1e-5


# -- nothing ----------------------------------------------------------------------------------------------------------


def test_nothing():
    for shape in ((3, 0), (0, 0), (0, 3)):  # as SciPy's
        assert glla.cholesky_banded(np.empty(shape)).shape == scipy.linalg.cholesky_banded(np.empty(shape)).shape
        assert glla.cholesky_banded(glla.asarray(np.empty(shape))).shape == shape


# -- plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cholesky_banded", "solve_pos_banded"])
def test_what_was_tuned_holds_for_bands_of_that_shape(name):
    tuned = Limits(tuned=(Tuned(name, 1024, "block16"),))
    choose = OPERATIONS[name].choose
    assert choose(resident((40, 1024)), Limits()) == ("sixteen", ())
    assert choose(resident((40, 1024)), tuned) == ("block16", ())
    assert choose(resident((9, 1024)), tuned) == ("sixteen", ())  # much narrower
    others = {"cholesky_banded", "solve_pos_banded"} - {name}
    assert all(OPERATIONS[one].choose(resident((40, 1024)), tuned) == ("sixteen", ()) for one in others)
    made = OPERATIONS[name].device_plan(resident((40, 1024), (1024, 1))[: len(OPERATIONS[name].operands)], tuned)
    assert made.operation == f"{name}[block16]"
