"""Claims about systems of equations: benefits of pivoting, of kept factors, and of more precision."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from glla import linalg
from glla.array.array import asarray
from glla.errors import GllaError
from glla.testing import ROUNDOFF
from glla.thesis.claims.claim import Claim, claim, collected, faster
from glla.thesis.measure import Place, restored, uniform

HUGE = 5.0
"""Ratio of times from which a difference is "huge"."""

SMALL_PIVOT = 1e-8
"""Of the thesis's example in place of 1e-4, which float32 with its seven digits still holds."""


def _bound(place: Place) -> Claim:
    """Equation 4.10, of entries with signs: sums of positive ones have small relative errors anyway."""
    n = place.compared[-1]
    a, b = (place.rng.uniform(-10, 10, (n, n)).astype(np.float32) for _ in range(2))
    wide = a.astype(np.float64), b.astype(np.float64)
    error = np.abs(np.asarray(linalg.matmul(a, b, device=place.device)) - wide[0] @ wide[1])
    gamma = n * ROUNDOFF / (1 - n * ROUNDOFF)
    part = float((error / (gamma * (np.abs(wide[0]) @ np.abs(wide[1])))).max())
    return claim("solutions.bound", part <= 1, part=part, n=n)


def _factored(place: Place, a: Any, pivoting: str) -> float:
    """Largest error of P L U."""
    return float(np.abs(restored(place, a, pivoting) - a).max())


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
    better = "refused" in without or float(without) > partial
    return claim("solutions.pivoting", better, *x, words=words, example=example)


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
    ratio = place.finished(lambda: linalg.lu_factor(a)) / place.finished(lambda: linalg.lu_solve(factors, b))
    return faster("solutions.kept", ratio, HUGE, n=n)


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
    return claim("solutions.refined", refined > 10 * cpu, single=single, refined=refined, cpu=cpu, n=n)


claims = collected(_bound, _pivoting, _kept, _refined)
