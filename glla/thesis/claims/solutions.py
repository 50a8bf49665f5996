"""Claims about systems of equations: benefits of pivoting, of kept factors, and of more precision."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from glla import linalg
from glla.array.array import asarray
from glla.errors import GllaError
from glla.testing import ROUNDOFF
from glla.thesis import published
from glla.thesis.claims.claim import HERE, Claim
from glla.thesis.measure import Place, uniform

HUGE = 5.0
"""Ratio of times from which a difference is "huge"."""

SMALL_PIVOT = 1e-8
"""Of the thesis's example in place of 1e-4, which float32 with its seven digits still holds."""


def claims(place: Place) -> Iterator[Claim]:
    """Measure all."""
    yield _bound(place)
    yield _pivoting(place)
    yield _kept(place)
    yield _refined(place)


def _bound(place: Place) -> Claim:
    """Equation 4.10, of entries with signs: sums of positive ones have small relative errors anyway."""
    n = place.compared[-1]
    a, b = (place.rng.uniform(-10, 10, (n, n)).astype(np.float32) for _ in range(2))
    wide = a.astype(np.float64), b.astype(np.float64)
    error = np.abs(np.asarray(linalg.matmul(a, b, device=place.device)) - wide[0] @ wide[1])
    gamma = n * ROUNDOFF / (1 - n * ROUNDOFF)
    part = float((error / (gamma * (np.abs(wide[0]) @ np.abs(wide[1])))).max())
    return Claim(
        "The error of a product is bounded by gamma_n abs(A) abs(B)", "4.1.1, equation 4.10", "1 at most",
        f"{part:.2g} of the bound at most, U(-10, 10), n = {n}", part <= 1, HERE,
        "The bound holds for sums in any order; rounding errors mostly cancel, so it is far from reached.",
        "Some operation rounds worse than IEEE 754 says.",
    )  # fmt: skip


def _factored(place: Place, a: Any, pivoting: str) -> float:
    """Largest error of P L U."""
    P, L, U = (np.asarray(part).astype(np.float64) for part in linalg.plu(a, pivoting, device=place.device))
    return float(np.abs(P @ L @ U - a).max())


def _pivoting(place: Place) -> Claim:
    n = place.compared[0]
    a = uniform(place, n, n)
    partial = _factored(place, a, "partial")
    small = np.array([[-SMALL_PIVOT, 1], [1, 1]], dtype=np.float32)
    x = linalg.solve(small, np.array([1, 2], dtype=np.float32), device=place.device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of entries that grow, which is what is measured
        without, example = (_or_refused(place, matrix) for matrix in (a, small))
    words = f"largest error {partial:.2g} with it, {without} without, n = {n}; (4.20) with {SMALL_PIVOT:g}: "
    return Claim(
        "Pivoting increases the numerical stability", "4.1.2, equation 4.20", "(1, 1) with it, (0, 1) without",
        f"{words}({x[0]:.3g}, {x[1]:.3g}) with it, {example} without",
        "refused" in without or float(without) > partial, HERE,
        "A small pivot makes large multipliers, whose rounding errors stay; glla refuses where a pivot is too small.",
        "This matrix happens to have large pivots as it is.",
    )  # fmt: skip


def _or_refused(place: Place, a: Any) -> str:
    """Largest error of factors without pivoting, or that glla gives none."""
    try:
        return f"{_factored(place, a, 'none'):.2g}"
    except GllaError:
        return "refused"


def _kept(place: Place) -> Claim:
    n = place.compared[-1]
    a, b = (asarray(m, place.device) for m in (uniform(place, n, n), uniform(place, n)))
    factors = linalg.lu_factor(a)

    def again() -> None:
        linalg.lu_solve(factors, b)
        place.device.finish()

    def anew() -> None:
        linalg.lu_factor(a)
        place.device.finish()

    ratio = place.host(anew) / place.host(again)
    return Claim(
        "Factors that are kept solve for further right-hand sides at little cost", "4.1.3",
        "n^2 against n^3 operations, a huge difference", f"{ratio:.2g} times faster than factoring, n = {n}",
        ratio > HUGE, HERE,
        "The work is quadratic, if in as many steps.",
        "The work is quadratic, but substitution goes step by step, and each step is a pass with little to do.",
    )  # fmt: skip


def _refined(place: Place) -> Claim:
    n = place.compared[-1]
    a = uniform(place, n, n).astype(np.float64)
    b = a.sum(axis=1)
    single, refined, cpu = (
        float(np.abs(np.asarray(x) - 1).mean())
        for x in (
            linalg.solve(a, b, device=place.device), linalg.solve(a, b, refine=True, device=place.device),
            np.linalg.solve(a, b),
        )
    )  # fmt: skip
    return Claim(
        "It takes hardware of double precision to make a GPU as accurate as a CPU", "7.1", published.NOT_PUBLISHED,
        f"mean error of x {single:.2g}, {refined:.2g} refined, {cpu:.2g} on the CPU in float64, n = {n}",
        refined > 10 * cpu, HERE,
        "Corrections in float32 do not reach it for this matrix.",
        "Residuals in float64 on the CPU, and corrections by the float32 factors on the GPU, reach it, too; OpenGL's "
        "fragments still compute in float32.",
    )  # fmt: skip
