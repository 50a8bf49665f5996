"""Claims about possible gains: by tuning, by other packings, by algorithms of a lower order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glla import linalg
from glla.array.array import Array, asarray
from glla.thesis import published
from glla.thesis.claims.claim import ALIKE, HERE, Claim
from glla.thesis.measure import Place, dominant, planned, uniform

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
    times = {name: _product(place, a, b, name) for name in (None, *BY_HAND)}
    yield _choice(times, n)
    yield _bound(place, times["inner_product"], n)
    yield _strassen(place, a, b)
    yield _padding(place, a, b, times["inner_product"])
    yield from _factorisations(place, times["inner_product"] / times[None], n)


def _product(place: Place, a: Any, b: Any, variant: str | None) -> float:
    return place.gpu(planned(place, "matmul", a.shape, b.shape, variant=variant), "matmul", a, b)


def _choice(times: dict[str | None, float], n: int) -> Claim:
    best = min(BY_HAND, key=lambda name: times[name])
    ratio = times[None] / times[best]
    return Claim(
        "A way that is chosen by measurements is comparable to one tuned by hand", "3.3.1", "comparable",
        f"{ratio:.2f} times the time of {best}, the fastest of {len(BY_HAND)} with their defaults, n = {n}",
        ratio < COMPARABLE, HERE,
        "glla chooses by thresholds that were measured; `glla tune` measures them anew.",
        "The thresholds were measured on another device; `glla tune` measures them anew.",
    )  # fmt: skip


def _bound(place: Place, seconds: float, n: int) -> Claim:
    fetched = 1e-9 * n**3 / 4 / seconds / place.rates["fetch"]
    computed = 2e-9 * n**3 / seconds / place.rates["four"]
    return Claim(
        "A product is bound by bandwidth", "3.3.1", published.NOT_PUBLISHED,
        f"{100 * fetched:.0f} % of the fetches of 64 x 64 texels that the device can do, {100 * computed:.0f} % of the "
        f"multiply-adds, inner product, n = {n}", fetched > computed, "glla ceilings; glla compare matmul",
        "A fetch for each multiply-add of four channels is more than the cache gives, though neighbours fetch the same "
        "texels.",
        "Fetches from the cache are as fast as the multiply-adds that go with them.",
    )  # fmt: skip


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

    def standard() -> None:
        linalg.matmul(left, right)
        place.device.finish()

    def faster() -> None:
        strassen(left, right)
        place.device.finish()

    ratio = place.host(faster) / place.host(standard)
    return Claim(
        "Algorithms of a lower order than n^3 have overheads that pay for gigantic n only", "4.1.1",
        published.NOT_PUBLISHED, f"one level of Strassen's takes {ratio:.2f} times as long, n = {n}", ratio > 1, HERE,
        "Seven products for eight save an eighth at most, and the 18 sums are passes that are bound by memory.",
        "An eighth of the work is more than 18 sums of a quarter of the matrix take at this order.",
    )  # fmt: skip


def _padding(place: Place, a: Any, b: Any, even: float) -> Claim:
    n = len(a) - 1
    odd = _product(place, a[:n, :n], b[:n, :n], "inner_product") / even
    return Claim(
        "Padding with zeros does not affect a product", "3.1.1", published.NOT_PUBLISHED,
        f"{odd:.2f} times as long at n = {n} as at {n + 1}", odd < COMPARABLE, HERE,
        "An odd order takes the texels of the next even one.",
        "What the cache holds, or how the driver lays a texture out, depends on its width.",
    )  # fmt: skip


def _factorisations(place: Place, product: float, n: int) -> Iterator[Claim]:
    order = max(n for n in place.compared if n <= max(SEARCHED, place.compared[0]))
    d = dominant(place, order)
    times = {
        name: place.gpu(planned(place, "plu", d.shape, variant=name), "plu", d)
        for name in (None, "rank2", "row_vectors", "column_vectors")
    }
    ratio = min(times["row_vectors"], times["column_vectors"]) / times["rank2"]
    yield Claim(
        "2 x 2 packing is a good all-round scheme", "3.1.1 and 4.1.1", published.NOT_PUBLISHED,
        f"a PLU of it is {ratio:.2f} times as fast as the better of 4 x 1 and 1 x 4, n = {order}", ratio > ALIKE, HERE,
        "A texel holds two rows and two columns, so a step eliminates both at once, which takes half the passes.",
        "Passes over four rows or columns at once take no longer than two columns a step.",
    )  # fmt: skip
    lu_gpu = place.gpu(planned(place, "plu", d.shape, variant="row_operations"), "plu", d)
    cpu = place.cpu("plu", d)
    yield Claim(
        "LU-GPU is faster than ATLAS", "3.3.2", "faster, in synthetic benchmarks",
        f"{cpu / lu_gpu:.2g} times as fast as LAPACK at its best, n = {order}", cpu > lu_gpu, HERE,
        "The device has so much more arithmetic that one column a step is enough.",
        "One column a step reads and writes the whole rest of the matrix for one multiply-add an element; LAPACK works "
        "in blocks, on all cores.",
    )  # fmt: skip
    gain = times["rank2"] / times[None]
    yield Claim(
        "Tuning the algorithms to the hardware further increases the efficiency", "7.3", published.NOT_PUBLISHED,
        f"glla's choice is {product:.2g} times as fast as the thesis's product (n = {n}), {gain:.2g} times as its PLU "
        f"(n = {order})", max(product, gain) > ALIKE, HERE,
        "Blocks of registers and panels of columns reuse what was fetched, and take fewer passes.",
        "At these orders glla's choice is the thesis's algorithm.",
    )  # fmt: skip
