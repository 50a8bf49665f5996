"""Claims about errors, and about results of shaders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glla import linalg
from glla.gl import selftest
from glla.linalg.echelon import eliminated
from glla.thesis import published
from glla.thesis.claims.claim import ALIKE, HERE, Claim
from glla.thesis.measure import Place, dominant, uniform

LARGE = 10
"""Times the forward error from which a backward error is large."""

RANDOM, MATRICES = 512, 5
"""Largest order of the matrices that the two norms factor, and how many."""


def claims(place: Place) -> Iterator[Claim]:
    """Measure all."""
    yield _integers(place)
    yield _backward(place)
    yield _norms(place)
    yield _epsilon(place)
    yield from _formats(place)
    yield from _device(place)


def _integers(place: Place) -> Claim:
    n = place.compared[-1]
    a, b = (place.rng.integers(-99, 100, (n, n)).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    wrong = int(np.count_nonzero(np.asarray(linalg.matmul(a, b, device=place.device)) != exact))
    return Claim(
        "Products of integers are exact", "4.1.1", "exact up to 2^24", f"{wrong} of {n * n} wrong, n = {n}", wrong == 0,
        HERE, "float32 has 24 bits, and sums below 2^24 are not rounded in any order.",
        "The device does not add integers below 2^24 exactly.",
    )  # fmt: skip


def _backward(place: Place) -> Claim:
    """Smallest change of A for which the product is exact, and the error of the product, both relative."""
    n = min(RANDOM, place.compared[-1])
    a, b = uniform(place, n, n), uniform(place, n, n)
    wide = b.astype(np.float64)
    error = np.asarray(linalg.matmul(a, b, device=place.device)) - a.astype(np.float64) @ wide
    change = np.linalg.solve(wide.T, error.T)
    size, other, off, moved = (float(np.linalg.norm(matrix)) for matrix in (a, b, error, change))
    forward, backward = off / (size * other), moved / size
    return Claim(
        "The forward error of a product is bounded, the backward error is large", "4.1.1, equation 4.11", "large",
        f"{backward:.2g} of A's norm against {forward:.2g} of both norms', n = {n}", backward > LARGE * forward,
        HERE, "All columns share one A, so that the change which explains them all grows with the condition of B.",
        "B happens to be well conditioned.",
    )  # fmt: skip


def _epsilon(place: Place) -> Claim:
    """The thesis's test of a pivot on a well conditioned matrix with small entries."""
    n = place.compared[0]
    a = (dominant(place, n) * np.float32(2.0**-40)).astype(np.float32)
    _, pivots, _ = eliminated(a, (published.EPSILON, 0.0), "harmonic", place.device)
    condition = float(np.linalg.cond(a.astype(np.float64)))
    return Claim(
        "A norm below epsilon means a matrix that is singular, or nearly", "4.1.2", "singular, or nearly",
        f"rank {len(pivots)} of {n} is found for entries times 2^-40, of condition {condition:.2g}",
        len(pivots) == n, HERE, "The pivots are far above the machine's epsilon.",
        "A norm is as large as the entries are, whatever the condition; glla judges a pivot by its row and column.",
    )  # fmt: skip


def _norms(place: Place) -> Claim:
    n = max(n for n in place.compared if n <= max(RANDOM, place.compared[0]))
    found: dict[str, list[float]] = {"harmonic": [], "geometric": []}
    for _ in range(MATRICES):
        a = uniform(place, n, n)
        for pivoting, errors in found.items():
            P, L, U = (np.asarray(f).astype(np.float64) for f in linalg.plu(a, pivoting, device=place.device))
            errors.append(float(np.abs(P @ L @ U - a).max()))
    harmonic, geometric = map(np.median, found.values())
    return Claim(
        "The harmonic norm is the better one in single precision", "4.1.2", published.NOT_PUBLISHED,
        f"largest error {harmonic:.2g} against {geometric:.2g}, medians of {MATRICES} matrices of U[0, 10), n = {n}",
        bool(geometric > ALIKE * harmonic), "glla pivoting", "It avoids one small pivot beside a large one.",
        "Random matrices offer pairs of which both are large, so either norm does.",
    )  # fmt: skip


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
        yield Claim(
            f"With {name} in a texel the product loses its accuracy", "3.3.1", theirs,
            f"relative error {found:.2g}, {whole:.2g} with float32, n = {n}", found > whole, HERE,
            "Operands and result are rounded once each, which no arithmetic in between can mend.",
            "Sums of this length lose as much in float32.",
        )  # fmt: skip


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
    yield Claim(
        "Loops of a shader end after 256 trips, without an error", "2.2.5", "256 trips", f"{at_least}{longest} trips",
        longest <= 256, "glla info", "The driver ends them.",
        "Loops have become true branches; glla still splits its sums, as llvmpipe ends them after 65535 trips.",
    )  # fmt: skip
    wrong = int(findings["NaN and infinity"].figures["wrong_values"])
    yield Claim(
        "NaN and infinity deviate from IEEE 754", "2.2.5 and 7.1", published.NOT_PUBLISHED, f"{wrong} wrong values",
        wrong > 0, "glla info", "The device does not follow IEEE 754 there.",
        "GPUs have followed IEEE 754 in sums and products since they were built for computing.",
    )  # fmt: skip
    contraction = findings["a * b + c"]
    yield Claim(
        "A multiply-add rounds twice, but for newer hardware", "2.2.5", "twice on NVIDIA, once on ATI",
        contraction.detail, bool(contraction.figures["separate"]), "glla info",
        "This compiler keeps the two operations apart.", "The units fuse both, and the compiler makes use of it.",
    )  # fmt: skip
    ulps = float(findings["division"].figures["max_ulps"])
    yield Claim(
        "A division has two rounding errors", "4.1.2", "a reciprocal, then a product", f"up to {ulps:.3g} ulp",
        ulps > 0.5, "glla info", "A quotient is still made of a reciprocal, so its last bit is not sure.",
        "Quotients are correctly rounded here.",
    )  # fmt: skip
