"""Claims about possible gains: by tuning, by other packings, by algorithms of a lower order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glla import linalg
from glla.array.array import Array, asarray
from glla.thesis.claims.claim import ALIKE, Claim, claim, faster
from glla.thesis.measure import Place, dominant, uniform

COMPARABLE = 1.1
"""Ratio of times up to which "comparable performance" is reached."""

SEARCHED = 1024
"""Largest order of the factorisations that go column by column."""

BY_HAND = (
    "inner_product", "packed_4x1", "multi_pass", "blocked_output", "register_blocked", "virtual_cube_ping_pong",
)  # fmt: skip
"""Ways to a product that the thesis and its sources describe."""


def claims(place: Place) -> Iterator[Claim]:
    """Measure all."""
    n = place.compared[-1]
    a, b = uniform(place, n, n), uniform(place, n, n)
    times = {name: place.timed("matmul", a, b, variant=name) for name in (None, *BY_HAND)}
    yield _choice(times, n)
    yield _bound(place, times["inner_product"], n)
    yield _strassen(place, a, b)
    yield _padding(place, a, b, times["inner_product"])
    yield from _factorisations(place, times["inner_product"] / times[None], n)


def _choice(times: dict[str | None, float], n: int) -> Claim:
    best = min(BY_HAND, key=lambda name: times[name])
    ratio = times[None] / times[best]
    return claim("tuning.choice", ratio < COMPARABLE, len(BY_HAND), ratio=ratio, best=best, n=n)


def _bound(place: Place, seconds: float, n: int) -> Claim:
    fetched = 1e-9 * n**3 / 4 / seconds / place.rates["fetch"]
    computed = 2e-9 * n**3 / seconds / place.rates["four"]
    return claim("tuning.bound", fetched > computed, 100 * fetched, 100 * computed, n=n)


def strassen(a: Array, b: Array) -> tuple[Any, ...]:
    """Multiply by seven products of half the order, one level deep; gives the four quarters of the result.

    Strassen 1969; a and b on the device, of even order.
    """
    h = a.shape[0] // 2
    (a11, a12, a21, a22), (b11, b12, b21, b22) = (
        (m[:h, :h], m[:h, h:], m[h:, :h], m[h:, h:]) for m in (a, b)
    )  # fmt: skip
    m1, m2, m3 = (a11 + a22) @ (b11 + b22), (a21 + a22) @ b11, a11 @ (b12 - b22)
    m4, m5 = a22 @ (b21 - b11), (a11 + a12) @ b22
    m6, m7 = (a21 - a11) @ (b11 + b12), (a12 - a22) @ (b21 + b22)
    return m1 + m4 - m5 + m7, m3 + m5, m2 + m4, m1 - m2 + m3 + m6


def _strassen(place: Place, a: Any, b: Any) -> Claim:
    n, (left, right) = len(a), (asarray(m, place.device) for m in (a, b))
    ratio = place.finished(lambda: strassen(left, right)) / place.finished(lambda: linalg.matmul(left, right))
    return faster("tuning.strassen", ratio, 1, n=n)


def _padding(place: Place, a: Any, b: Any, even: float) -> Claim:
    n = len(a) - 1
    odd = place.timed("matmul", a[:n, :n], b[:n, :n], variant="inner_product") / even
    return claim("tuning.padding", odd < COMPARABLE, n + 1, odd=odd, n=n)


def _factorisations(place: Place, product: float, n: int) -> Iterator[Claim]:
    order = place.up_to(SEARCHED)
    d = dominant(place, order)
    times = {name: place.timed("plu", d, variant=name) for name in (None, "rank2", "row_vectors", "column_vectors")}
    ratio = min(times["row_vectors"], times["column_vectors"]) / times["rank2"]
    yield faster("tuning.all_round", ratio, order=order)
    lu_gpu, cpu = place.timed("plu", d, variant="row_operations"), place.cpu("plu", d)
    yield faster("tuning.lu_gpu", cpu / lu_gpu, 1, order=order)
    gain = times["rank2"] / times[None]
    yield claim("tuning.tuned", max(product, gain) > ALIKE, product=product, n=n, gain=gain, order=order)
