"""Claims about errors, and about results of shaders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glla import linalg
from glla.gl import selftest
from glla.linalg.echelon import eliminated
from glla.thesis import published
from glla.thesis.claims.claim import ALIKE, Claim, claim, collected
from glla.thesis.measure import Place, dominant, restored, uniform

LARGE = 10
"""Times the forward error from which a backward error is large."""

RANDOM, MATRICES = 512, 5
"""Largest order of the matrices that the two norms factor, and how many."""


def _integers(place: Place) -> Claim:
    n = place.compared[-1]
    a, b = (place.rng.integers(-99, 100, (n, n)).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    wrong = int(np.count_nonzero(np.asarray(linalg.matmul(a, b, device=place.device)) != exact))
    return claim("accuracy.integers", wrong == 0, n * n, wrong=wrong, n=n)


def _backward(place: Place) -> Claim:
    """Smallest change of A for which the product is exact, and the error of the product, both relative."""
    n = min(RANDOM, place.compared[-1])
    a, b = uniform(place, n, n), uniform(place, n, n)
    wide = b.astype(np.float64)
    error = np.asarray(linalg.matmul(a, b, device=place.device)) - a.astype(np.float64) @ wide
    change = np.linalg.solve(wide.T, error.T)
    size, other, off, moved = (float(np.linalg.norm(matrix)) for matrix in (a, b, error, change))
    forward, backward = off / (size * other), moved / size
    return claim("accuracy.backward", backward > LARGE * forward, backward=backward, forward=forward, n=n)


def _epsilon(place: Place) -> Claim:
    """The thesis's test of a pivot on a well conditioned matrix with small entries."""
    n = place.compared[0]
    a = (dominant(place, n) * np.float32(2.0**-40)).astype(np.float32)
    _, pivots, _ = eliminated(a, (published.EPSILON, 0.0), "harmonic", place.device)
    condition = float(np.linalg.cond(a.astype(np.float64)))
    return claim("accuracy.epsilon", len(pivots) == n, len(pivots), n=n, condition=condition)


def _norms(place: Place) -> Claim:
    n = place.up_to(RANDOM)
    found: dict[str, list[float]] = {"harmonic": [], "geometric": []}
    for _ in range(MATRICES):
        a = uniform(place, n, n)
        for pivoting, errors in found.items():
            errors.append(float(np.abs(restored(place, a, pivoting) - a).max()))
    harmonic, geometric = map(np.median, found.values())
    better = bool(geometric > ALIKE * harmonic)
    return claim("accuracy.norms", better, harmonic=harmonic, geometric=geometric, n=n)


# -- storage of fewer bits: rounded on the host, multiplied in float32 ------------------------------------------------


def _formats(place: Place) -> Iterator[Claim]:
    n = place.compared[-1]
    a, b = uniform(place, n, n), uniform(place, n, n)
    exact = a.astype(np.float64) @ b.astype(np.float64)

    def error(store: Callable[[Any], Any]) -> float:
        c = store(np.asarray(linalg.matmul(store(a), store(b), device=place.device)))
        return float((np.abs(c - exact) / exact).max())

    whole = error(lambda m: m)
    for name, store, theirs in (
        ("8 bits", eight_bits, "limited to 8 bits of precision"), ("half floats", half, published.NOT_PUBLISHED),
    ):  # fmt: skip
        found = error(store)
        yield claim("accuracy.formats", found > whole, name=name, theirs=theirs, found=found, whole=whole, n=n)


def eight_bits(m: Any) -> Any:
    """Round to 256 levels from 0 to the largest entry, as a fixed-point colour does.

    >>> eight_bits(np.array([0.0, 1.0, 2.004, 255.0])).tolist()
    [0.0, 1.0, 2.0, 255.0]
    """
    top = np.float32(m.max())
    return (np.round(m / top * 255) / 255 * top).astype(np.float32)


def half(m: Any) -> Any:
    """Round to float16, scaled by a power of two so that nothing overflows.

    >>> half(np.array([2049.0, 0.5, 1e6])).tolist()
    [2048.0, 0.5, 999936.0]
    """
    scale = np.float32(2.0 ** np.ceil(np.log2(m.max())))
    return ((m / scale).astype(np.float16).astype(np.float32) * scale).astype(np.float32)


# -- what the self-test finds -----------------------------------------------------------------------------------------


def _device(place: Place) -> Iterator[Claim]:
    findings = {one.name: one for one in selftest.examine(place.device)}
    longest = int(findings["loops"].figures["longest"])
    at_least = "at least " if findings["loops"].detail.startswith("run for") else ""
    yield claim("accuracy.loops", longest <= 256, at_least=at_least, longest=longest)
    wrong = int(findings["NaN and infinity"].figures["wrong_values"])
    yield claim("accuracy.nan", wrong > 0, wrong=wrong)
    contraction = findings["a * b + c"]
    yield claim("accuracy.fused", bool(contraction.figures["separate"]), contraction.detail)
    ulps = float(findings["division"].figures["max_ulps"])
    yield claim("accuracy.division", ulps > 0.5, ulps=ulps)


claims = collected(_integers, _backward, _norms, _epsilon, _formats, _device)
