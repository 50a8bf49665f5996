"""Symmetric and tridiagonal matrices that are hard for eigenvalue methods."""

import numpy as np


def normal(n, rng):
    b = rng.standard_normal((n, n))
    return (b + b.T) / 2


def with_values(values, rng):
    """A symmetric matrix with given eigenvalues, and random eigenvectors."""
    q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return (q * values) @ q.T


def tridiagonal(d, e):
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


def wilkinson(n=21):
    """Pairs of eigenvalues that agree to many digits."""
    return tridiagonal(np.abs(np.arange(n) - n // 2).astype(float), np.ones(n - 1))


def glued(gap, copies=5):
    """Wilkinson's matrices beside each other, coupled by a small number: clusters of 2 `copies` eigenvalues."""
    d = np.tile(np.abs(np.arange(-10.0, 11)), copies)
    return tridiagonal(d, np.tile(np.r_[np.ones(20), gap], copies)[:-1])


def symmetric(rng):
    """Matrices by name."""
    i = np.arange(40.0)
    b = rng.standard_normal((40, 40))
    q, graded = np.linalg.qr(rng.standard_normal((64, 64)))[0], 2.0 ** rng.permutation(np.linspace(0, -92, 24))
    return {
        "zeros": np.zeros((9, 9)),
        "identity": np.eye(12),
        "ones": np.ones((33, 33)),
        "rank 5": b[:, :5] @ b[:, :5].T,
        "two clusters": (q * np.repeat([1.0, 2.0], 32)) @ q.T,
        "orthogonal": (q * np.where(np.arange(64) % 2, 1.0, -1.0)) @ q.T,
        "geometric": (q * np.geomspace(1, 1e-7, 64)) @ q.T,
        "Wilkinson": wilkinson(),
        "glued": glued(1e-5),
        "Clement": tridiagonal(np.zeros(40), np.sqrt(np.arange(1.0, 40) * np.arange(39.0, 0, -1))),
        "minima": np.minimum.outer(i, i) + 1,
        "Hilbert": 1 / (np.add.outer(np.arange(12.0), np.arange(12)) + 1),
        "graded": normal(24, rng) * np.sqrt(np.outer(graded, graded)),
        "graded definite": (np.eye(24) + 0.1) * np.sqrt(np.outer(graded, graded)),
        "indefinite": np.block([[np.zeros((5, 5)), b[:5, :8]], [b[:5, :8].T, np.zeros((8, 8))]]),
        "sparse": np.where(rng.random((40, 40)) < 0.95, 0, b) + np.where(rng.random((40, 40)) < 0.95, 0, b).T,
        "one large entry": normal(17, rng) + np.where(np.arange(17) == 8, 1e6, 0) * np.eye(17),
        "below the threshold": np.eye(20) + 1e-9 * normal(20, rng),
        "permutation": np.eye(16)[::-1],
        "large": normal(20, rng) * 2e37,
        "small": normal(20, rng) * 1e-37,
        "denormal": normal(7, rng) * 1e-41,
    }


def hostile(rng, most=40):
    """A random tridiagonal matrix of one of many kinds: name, d, e."""
    n = int(rng.integers(2, most + 1))
    d, e = rng.standard_normal(n), rng.standard_normal(n - 1)
    s, k = 2.0 ** -np.arange(float(n)), int(rng.integers(3, 12))
    kinds = {
        "holes": (d, e * (rng.random(n - 1) < 0.6)),
        "tiny e": (d, e * 10.0 ** rng.uniform(-12, 0, n - 1)),
        "equal d": (np.ones(n), e * 10.0 ** rng.uniform(-8, 0)),
        "few d": (rng.choice([-1.0, 0, 1], n), rng.choice([0, 1e-7, 1e-4, 1.0], n - 1)),
        "graded": (d * s, e * np.sqrt(s[:-1] * s[1:])),
        "geometric e": (d, s[:-1]),
        "glued": (
            np.abs(np.arange(n) % k - k // 2).astype(float),
            np.where((np.arange(n - 1) + 1) % k == 0, 10.0 ** rng.uniform(-9, -2), 1.0),
        ),
        "clustered": (np.round(d) + 1e-6 * d, 1e-6 * e),
        "integers": (rng.integers(-5, 6, n).astype(float), rng.integers(-3, 4, n - 1).astype(float)),
        "one large e": (d, np.where(np.arange(n - 1) == n // 3, 1e6, e)),
        "zero d": (np.zeros(n), e * (rng.random(n - 1) < 0.9)),
        "signs": (np.sign(d), np.sign(e)),
    }
    name = str(rng.choice([*kinds]))
    return name, *(part.astype(np.float32) for part in kinds[name])
