"""PLU factors of any matrix: plu, lu_factor and lu_solve, beside SciPy's."""

from itertools import cycle, product

import numpy as np
import pytest
import scipy.linalg

import glla
from glla import testing
from glla.operations.elimination import plu as kernel
from glla.passes import resident

PIVOTINGS = ["partial", "harmonic", "geometric"]
CHOICES = [(None, norm) for norm in PIVOTINGS] + [
    (variant, norm)
    for variant in kernel.VARIANTS
    for norm in kernel.pivotings(variant)
    if norm not in ("complete", "none")
]

MULTIPLIERS = 1 + 4 * testing.ROUNDOFF
"""Multipliers are at most 1 under partial pivoting, but for a division that is a few units off."""


def assert_factors(a, pivoting="partial", variant=None):
    """Factor in both ways; the two must agree."""
    P, L, U = glla.plu(a, pivoting, variant=variant)
    limit = MULTIPLIERS if pivoting == "partial" else None
    testing.assert_plu(a, P, L, U, multiplier_limit=limit)
    lu, piv = glla.lu_factor(a, pivoting, variant=variant)
    for packed, factor in zip(testing.unpack_lu(lu), (L, U), strict=True):
        testing.assert_exact(packed, factor)
    testing.assert_exact(testing.permutation_from_piv(piv, len(a)), P)
    assert piv.dtype == np.int32
    assert (piv >= np.arange(len(piv))).all()
    return P, L, U


@pytest.mark.parametrize(("variant", "pivoting"), CHOICES)
def test_every_shape_and_type(variant, pivoting, rng):
    """Shapes in turn, each with the next types."""
    kinds = cycle(sorted(testing.MATRICES))
    for (m, n), _ in product(testing.SHAPES, range(2 if variant is None else 1)):
        assert_factors(testing.MATRICES[next(kinds)](m, n, rng), pivoting, variant)


def test_stacks_go_by_the_variant(device, rng):
    a = rng.standard_normal((3, 6, 6)).astype(np.float32)
    before = device.stats().passes
    lu, _ = glla.lu_factor(a, variant="row_vectors")
    # Pack, factor, the largest entries of A and U (one pass each, and U taken out), unpack.
    assert device.stats().passes - before == 3 * (len(kernel.plan(resident((6, 6)), variant="row_vectors").steps) + 5)
    testing.assert_exact(lu[1], glla.lu_factor(a[1], variant="row_vectors")[0])


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (3, 0)])
def test_empty(m, n):
    P, L, U = glla.plu(np.zeros((m, n)))
    testing.assert_exact(P, np.eye(m))
    testing.assert_exact(L, np.zeros((m, 0)))
    testing.assert_exact(U, np.zeros((0, n)))
    lu, piv = glla.lu_factor(np.zeros((m, n)))
    testing.assert_exact(lu, np.zeros((m, n)))
    assert (piv.shape, piv.dtype) == ((0,), np.int32)


def test_exchanges_are_those_of_the_accepted_factors():
    """On the device a third of these pivots is flushed to zero; the factors of the fallback exchange other rows."""
    a = np.ldexp(testing.hilbert(4, 4), -120)
    P, L, U = (part.numpy() for part in glla.plu(glla.asarray(a)))
    testing.assert_plu(a, P, L, U, multiplier_limit=MULTIPLIERS)


# lu_solve ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_lu_solve(trans, rng):
    for n, columns in product((1, 2, 3, 8, 17, 40), (None, 0, 1, 5)):
        a = testing.conditioned(n, n, rng)
        b = testing.normal(n, columns if columns is not None else 1, rng)
        b = b[:, 0] if columns is None else b
        x = glla.lu_solve(glla.lu_factor(a), b, trans)
        testing.assert_solve(a.T if trans else a, x, b)
        # With SciPy's factors, and SciPy with ours.
        testing.assert_solve(a.T if trans else a, glla.lu_solve(scipy.linalg.lu_factor(a), b, trans=trans), b)
        testing.assert_solve(a.T if trans else a, scipy.linalg.lu_solve(glla.lu_factor(a), b, trans=trans), b)


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("piv", [[2, 0, 1], [0, 0, 0], [2, 2, 2], [0, 1, 2], [1, 0, 2]])
def test_any_exchanges_are_followed(trans, piv):
    """LAPACK's own exchanges never go upward; those of others may."""
    lu = np.array([[2, 1, 0], [0.5, 4, 1], [0.25, 0.5, 8]], np.float32)
    b = np.array([1, 2, 4], np.float32)
    expected = scipy.linalg.lu_solve((lu.astype(np.float64), np.array(piv)), b, trans=trans)
    testing.assert_exact(glla.lu_solve((lu, piv), b, trans), expected)


LIMITS = {
    "all entries small": np.ldexp(testing.hilbert(3, 3), -120),
    "a small pivot": np.float32([[1, 1], [0, 2.0**-130]]),
    "a large entry beside small ones": np.float32([[1e-20, 1e30], [0, 1e-30]]),
}


@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("name", LIMITS)
def test_lu_solve_near_the_limits_of_float32(name, trans, device):
    """A quotient that a GPU flushes to zero must not leave a solution of zeros."""
    lu, piv = scipy.linalg.lu_factor(LIMITS[name].astype(np.float64))
    lu, n = lu.astype(np.float32), len(lu)
    wide = (np.tril(lu, -1) + np.eye(n)) @ np.triu(lu).astype(np.float64)
    a = testing.permutation_from_piv(piv) @ wide
    given = a.T if trans else a
    b = (given @ np.linspace(1, 2, n)).astype(np.float32)
    for way in (np.asarray, lambda one: glla.asarray(one, device)):
        alone = np.asarray(glla.lu_solve((way(lu), piv), way(b), trans, device=device))
        stack = np.stack([lu, np.eye(n, dtype=np.float32)]), np.stack([piv, np.arange(n)])
        stacked = np.asarray(glla.lu_solve((way(stack[0]), stack[1]), way(np.stack([b, b])[..., None]), trans))
        for x in (alone, stacked[0, :, 0]):
            backward = np.abs(given @ x - b) / (np.abs(given) @ np.abs(x) + np.abs(b))
            assert backward.max() < 30 * n * testing.ROUNDOFF, x


# Errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (6, 4), (3, 9), (40, 40)], ids=str)
def test_without_pivoting(shape, rng):
    a = rng.uniform(0, 10, shape).astype(np.float32)
    a[np.arange(min(shape)), np.arange(min(shape))] += 10 * max(shape)
    for given in (a, np.asfortranarray(a), glla.asarray(a)):
        P, L, U = (np.asarray(factor) for factor in glla.plu(given, "none"))
        testing.assert_exact(P, np.eye(shape[0]))
        testing.assert_plu(a, P, L, U)


def test_without_pivoting_ends_of_the_range():
    for a in ([[1e-38, 1e-38], [1e-38, 3e-38]], [[3e38, 1.0], [1.0, 3e38]], [[1.0, 1.0], [1.0, 1.0]]):
        given = np.array(a, np.float32)
        testing.assert_plu(given, *glla.plu(given, "none"))
    _, _, U = glla.plu([[np.nan, 1], [1, 2]], "none", check_finite=False)
    assert np.isnan(U[0, 0])
