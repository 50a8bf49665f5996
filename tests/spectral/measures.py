"""Matrices with small eigenvalues that their entries determine, hostile ones at random, and references of 60 digits."""

from __future__ import annotations

import mpmath
import numpy as np

from tests.spectral.matrices import with_values

U = 2.0**-24


def symmetric(x):
    return ((np.asarray(x) + np.swapaxes(x, -1, -2)) / 2).astype(np.float32)


def graded(n, rng):
    """D B D, B near the identity, D from 1 to 2^-48 shuffled: its eigenvalues are known to relative accuracy."""
    d = 2.0 ** -(48 // n * rng.permutation(n))
    b = np.eye(n) + 0.06 * symmetric(rng.standard_normal((n, n)))
    return symmetric(d[:, np.newaxis] * b * d)


def hostile(rng):
    """A small matrix of one of many kinds, drawn at random."""
    n, kind = int(rng.integers(2, 41)), rng.integers(8)
    a, k = rng.standard_normal((n, n)), rng.integers(1, n + 1)
    d = 2.0 ** rng.integers(-24, 1, n)
    kinds = (
        lambda: a[:, :k] @ a[:, :k].T,
        lambda: with_values(rng.choice([-1.0, 1.0], n), rng),
        lambda: with_values(rng.choice([1.0, 1 + 1e-6, 3.0], n), rng),
        lambda: rng.integers(-2, 3, (n, n)),
        lambda: d[:, np.newaxis] * (a @ a.T / n + np.eye(n)) * d,
        lambda: d[:, np.newaxis] * symmetric(a) * d,
        lambda: a * (rng.random((n, n)) < 0.1),
        lambda: np.triu(np.tril(a, 1), -1),
    )
    return symmetric(kinds[kind]())


def exact_values(a):
    """Eigenvalues, ascending, correct to float64's last digits whatever their sizes are."""
    with mpmath.workdps(60):
        found = mpmath.eigsy(mpmath.matrix(a.astype(np.float64).tolist()), eigvals_only=True)
    return np.array(sorted(float(one) for one in found))


def exact_singular_values(a):
    """Singular values, descending, likewise."""
    with mpmath.workdps(60):
        found = mpmath.svd_r(mpmath.matrix(a.astype(np.float64).tolist()), compute_uv=False)
    return np.array(sorted((float(one) for one in found), reverse=True))
