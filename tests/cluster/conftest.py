"""Matrices and ranks for the tests of clusters."""

from __future__ import annotations

import numpy as np
import pytest

from glla import cluster


def forced(n, seed):
    """Matrix, P, L, U whose pivots have no rival: small multipliers, powers of two as pivots; exact in float32."""
    rng = np.random.default_rng(seed)
    lower = np.tril(rng.integers(-1, 2, (n, n)) / 8, -1) * (rng.random((n, n)) < 0.3) + np.eye(n)
    upper = np.triu(rng.integers(-1, 2, (n, n)), 1) + np.diag(2.0 ** rng.integers(2, 5, n) * rng.choice([-1, 1], n))
    p = np.eye(n)[:, rng.permutation(n)]
    return (p @ lower @ upper).astype(np.float32), p, lower, upper


def uniform(m, n, seed):
    """Random matrix, as HPL's."""
    return np.random.default_rng(seed).uniform(-1, 1, (m, n)).astype(np.float32)


@pytest.fixture
def on_grid():
    """Give a function that calls another one with the grid on every rank, threads of this process."""

    def call(shape, function, *args, **options):
        def work(communicator):
            with cluster.grid(communicator, shape, **{"engine": "numpy", "timeout": 20, "grace": 5, **options}) as grid:
                return function(grid, *args)

        return cluster.run(shape[0] * shape[1], work)

    return call
