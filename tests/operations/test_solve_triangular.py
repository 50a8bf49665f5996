"""`solve_triangular` and the inverse of a triangle: SciPy's in every argument, with a bound that holds near the limits.

Bounds are checked in exact arithmetic.
"""

from fractions import Fraction

import numpy as np
import pytest

import glla
from glla.errors import NonFiniteError
from glla.operations.triangles.solve_triangular import in_float64, lost
from glla.operations.triangles.triangular import VARIANTS

LET = {"check_finite": False}


def triangle(n, lower, unit, rng, *stack):
    """A well-conditioned triangle; and what is stored, NaN wherever it must not be read."""
    t = rng.standard_normal((*stack, n, n)) / n + 2 * np.eye(n)
    read = np.tri(n, k=-int(unit)) if lower else np.tri(n, k=-int(unit)).T
    whole = np.where(read, t, np.eye(n) if unit else 0).astype(np.float32)
    return whole, np.where(read, t, np.nan).astype(np.float32)


def within(t, x, b):
    """Whether |B - T X| <= (n + 4) u |T||X| + 2^-126 (2 n + |t_ii|), element by element, in exact arithmetic."""
    n = len(t)
    exact = [[Fraction(float(one)) for one in row] for row in t]
    for column, given in zip(x.T.tolist(), b.T.tolist(), strict=True):
        solved = [Fraction(one) for one in column]
        for i, (row, right) in enumerate(zip(exact, given, strict=True)):
            terms = [a * c for a, c in zip(row, solved, strict=True) if a and c]
            allowed = (n + 4) * sum(map(abs, terms)) / 2**24 + (2 * n + abs(row[i])) / Fraction(2) ** 126
            if abs(Fraction(right) - sum(terms)) > allowed:
                return False
    return True


# ---- the bound -------------------------------------------------------------------------------------------------------


def kahan(n, angle=1.2):
    """Kahan's upper triangle, ill-conditioned though no entry of the diagonal is small."""
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.diag(sine ** np.arange(n)) @ (np.eye(n) - cosine * np.triu(np.ones((n, n)), 1))


def graded(n, exponents):
    """Rows and columns of very different size."""
    t = np.triu(np.random.default_rng(n).uniform(0.5, 1, (n, n)))
    return np.ldexp(t, np.linspace(-exponents, exponents, n).astype(int)[:, np.newaxis])


HARD = {
    "Kahan": kahan(30),
    "graded": graded(20, 30),
    "graded beyond 2^-60": graded(20, 100),
    "tiny": np.ldexp(kahan(12), -115),
    "huge": np.ldexp(kahan(12), 120),
    "denormal entries": np.diag(np.full(6, 2.0**-100)) + np.triu(np.full((6, 6), 2.0**-140), 1),
    "a denormal diagonal": np.diag([1, 2.0**-130, 1]),
    "products that overflow": np.array([[2.0**60, 2.0**60], [0, 2.0**-40]]),
    "small times large": np.array([[1, 2.0**-130], [0, 2.0**-120]]),
    "a solution that is denormal": np.array([[2.0**-20, 2.0**120], [0, 2.0**126]]),
    "growth": 2 * np.eye(40) - np.triu(np.ones((40, 40))),
    "decay": 4 * np.eye(70) + np.diag(np.ones(69), 1),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("lower", [False, True])
def test_the_bound_holds(name, lower):
    t = HARD[name].astype(np.float32)
    t = np.ascontiguousarray(t.T) if lower else t
    rng, n = np.random.default_rng(1), len(t)
    size = 2.0 ** np.array([0, 40 if name == "huge" else -80, 20])
    b = (rng.uniform(0.5, 1, (n, 3)) * size).astype(np.float32)
    if name == "products that overflow":
        b[:] = np.float32([[2.0**60], [2.0**45]])
    x = glla.solve_triangular(t, b, lower=lower, **LET)
    fits = np.isfinite(x).all(axis=0)
    assert fits.any()
    assert within(t, x[:, fits], b[:, fits])
    exact = in_float64(t, b, lower=lower)[0]
    assert (np.isfinite(exact).all(axis=0) == fits).all()
    stacked = glla.solve_triangular(np.stack([t, np.eye(n)]), b, lower=lower, **LET)[0]
    assert within(t, stacked[:, fits], b[:, fits])
    on_device = glla.solve_triangular(glla.asarray(t), b, lower=lower, **LET).numpy(check_finite=False)
    if "denormal" not in name and "small" not in name and "beyond" not in name:
        assert within(t, on_device[:, :1][:, fits[:1]], b[:, :1][:, fits[:1]])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_solution_at_the_limits_is_that_of_float64(variant):
    """What a device may lose: 2^-130 times 2^120 is part of row 0; a diagonal that is denormal."""
    t, b = np.float32([[1, 2.0**-130], [0, 2.0**-110]]), np.float32([[1], [2.0**10]])
    assert (glla.solve_triangular(t, b, variant=variant) == np.float32([[1 - 2.0**-10], [2.0**120]])).all()
    t = np.float32([[2.0**-130, 0], [0, 1]])
    assert (glla.solve_triangular(t, np.float32([2.0**-120, 1]), variant=variant) == [2.0**10, 1]).all()


def test_a_denormal_diagonal_on_the_device_is_no_zero(device):
    t, b = glla.asarray(np.float32([[2.0**-130, 0], [0, 1]]), device), np.float32([2.0**-120, 1])
    assert glla.solve_triangular(t, b).tolist() == [2.0**10, 1]
    with pytest.raises(NonFiniteError, match=r"^inv: the result does not fit float32"):
        glla.inv(t, assume_a="upper triangular")


@pytest.mark.parametrize(
    ("t", "b", "x", "bad"),
    [
        ([[1, 1], [0, 1]], [1, 1], [0, 1], False),
        ([[1, 2.0**-130], [0, 1]], [1, 1], [1, 1], False),
        ([[1, 2.0**-130], [0, 1]], [1, 9], [1, 9], True),
        ([[1, 0], [9, 2.0**-130]], [1, 1], [1, 0], True),
        ([[2.0**-130, 1], [0, 1]], [1, 1], [0, 1], True),
        ([[2.0**-61, 0], [9, 1]], [1, 1], [2.0**61, 1], True),
        ([[1, 2.0**-61], [0, 1]], [2.0**-59, 0], [2.0**-59, 0], False),
        ([[1, 1], [0, 1]], [2.0**-61, 0], [2.0**-61, 0], True),
        ([[2.0**90, 0], [0, 1]], [1, 0], [2.0**-90, 0], True),
        ([[1, 1], [0, 1]], [0, 0], [0, 0], False),
        ([[1, 1], [0, 1]], [1, 1], [np.inf, 1], True),
        ([[1, np.inf], [0, 1]], [1, 1], [np.nan, 1], False),
        ([[1, 1], [np.nan, 1]], [1, 1], [np.nan, 1], True),
        ([[1, 1], [0, 1]], [1, np.nan], [np.nan, np.nan], False),
    ],
)
def test_what_counts_as_lost(t, b, x, bad):
    t, b, x = np.float32(t), np.float32(b)[:, np.newaxis], np.float32(x)[:, np.newaxis]
    assert lost(t, b, x) == bad
    assert lost(t.T, b, x, lower=True, transposed=True) == bad
    assert lost(t[::-1, ::-1], b[::-1], x[::-1], lower=True) == bad
    eye, one = np.eye(2, dtype=np.float32), np.ones((2, 1), dtype=np.float32)
    assert lost(np.stack([eye, t]), np.stack([one, b]), np.stack([one, x])).tolist() == [False, bad]


def test_many_right_hand_sides_stream(rng):
    whole, stored = triangle(40, True, False, rng)
    b = rng.standard_normal((40, 900)).astype(np.float32)
    with glla.Device(max_bytes=2**18) as small:
        x = glla.solve_triangular(stored, b, lower=True, device=small, **LET)
        np.testing.assert_allclose(whole @ x, b, atol=3e-5)
        x = glla.solve_triangular(np.float32(2.0**-120) * stored, b, lower=True, device=small, **LET)
        np.testing.assert_allclose(whole @ np.ldexp(x, -120), b, atol=3e-5)
        x = glla.inv(stored, assume_a="lower triangular", device=small, **LET)
        np.testing.assert_allclose(whole @ x, np.eye(40), atol=3e-6)
