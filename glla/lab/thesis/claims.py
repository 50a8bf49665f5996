"""The claims of chapters 2 to 5 and 7 that can be measured: the thesis's figure, ours, and whether it holds here.

Each is one function: it measures, and judges. A ratio of times is of two plans on the same device in the same minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from glla import linalg
from glla.lab.thesis import published
from glla.lab.thesis.measure import Place, dominant, planned, uniform
from glla.lab.thesis.parts import Section, Table

ALIKE = 1.05
"""Ratio of times below which two ways are as fast: a smaller gain is noise."""


@dataclass(frozen=True)
class Claim:
    """What the thesis says, and what is found here.

    Attributes
    ----------
    says, where : str
        The claim, and its section.
    theirs, ours : str
        Figures with their units.
    holds : bool or None
        None where it is neither right nor wrong.
    command : str
        What measures it.
    why : str
        One sentence.
    """

    says: str
    where: str
    theirs: str
    ours: str
    holds: bool | None
    command: str
    why: str

    @property
    def verdict(self) -> str:
        """One word."""
        return {True: "holds", False: "does not hold", None: "depends"}[self.holds]


def claims(place: Place, done: dict[str, Section]) -> Section:
    """Make the table."""
    section = Section("claims", "The thesis's claims, checked", "chapters 2 to 5 and 7")
    rows = []
    for measured in (speeds, numbers, formats, manners):
        for claim in measured(place):
            place.say(claim.says)
            rows.append(_row(claim))
    rows += [_row(claim) for claim in _of_sections(done)]
    head = ("claim", "section", f"theirs ({published.DEVICE})", "ours", "verdict", "command", "why")
    section.tables.append(Table("Claims that can be measured", head, tuple(rows)))
    return section


def _row(claim: Claim) -> tuple[str, ...]:
    return claim.says, claim.where, claim.theirs, claim.ours, claim.verdict, claim.command, claim.why


# -- ratios of times --------------------------------------------------------------------------------------------------


def speeds(place: Place) -> Iterator[Claim]:
    """Claims about which of two ways is the faster."""
    n = place.compared[-1]
    a, b = uniform(place, n, n), uniform(place, n, n)
    d = dominant(place, n)
    seconds: dict[str, float] = {}

    def product(variant: str) -> float:
        if variant not in seconds:
            made = planned(place, "matmul", a.shape, b.shape, variant=variant)
            seconds[variant] = place.gpu(made, "matmul", a, b)
        return seconds[variant]

    def factors(**options: Any) -> float:
        return place.gpu(planned(place, "plu", d.shape, **options), "plu", d)

    compare = f"glla compare matmul --sizes {n} --variants"

    def faster(says: str, where: str, theirs: str, slow: float, fast: float, command: str, why: str) -> Claim:
        ratio = slow / fast
        return Claim(says, where, theirs, f"{ratio:.2f} times, n = {n}", ratio > ALIKE, command, why)

    yield faster(
        "Four elements in a texel use the whole of the arithmetic", "3.1.1", "4 times (a channel is 25 %)",
        product("single_component"), product("inner_product"), f"{compare} single_component,inner_product",
        "A fetch brings four elements whatever the arithmetic units are, so packing saves fetches even where they are "
        "scalar.",
    )  # fmt: skip
    yield faster(
        "The 4 x 1 packing would be optimal, but has to be repacked", "4.1.1", published.NOT_PUBLISHED,
        product("packed_4x1"), product("inner_product"), f"{compare} packed_4x1,inner_product",
        "Repacking is quadratic and the product cubic; what decides is five fetches for sixteen multiply-adds against "
        "two for eight.",
    )  # fmt: skip
    yield faster(
        "Texture coordinates prepared before the fragment speed it up", "3.2", "up to 1.25 times",
        product("virtual_cube"), product("virtual_cube_interpolated"),
        f"{compare} virtual_cube,virtual_cube_interpolated",
        "Both fetch the same texels; what differs is a little arithmetic of addresses against an interpolation.",
    )  # fmt: skip
    yield faster(
        "The virtual cube is faster than the inner product, in spite of its traffic", "4.1.1",
        f"{published.FITS['product, inner product'][1] / published.FITS['product, virtual cube'][1]:.2f} times",
        product("inner_product"), product("virtual_cube_ping_pong"),
        f"{compare} inner_product,virtual_cube_ping_pong",
        "A layer reads and writes all of C for 16 flop a fragment, so memory bandwidth binds it wherever loops in a "
        "shader are cheap.",
    )  # fmt: skip
    yield faster(
        "Blocking by passes raises the hit ratio of the cache", "3.2", published.NOT_PUBLISHED,
        product("inner_product"), product("multi_pass"), f"{compare} inner_product,multi_pass",
        "A pass over a slice pays for reading and writing C; it gains only where the cache is smaller than a row and a "
        "column.",
    )  # fmt: skip
    plu = f"glla compare plu --sizes {n} --variants"
    yield faster(
        "Without pivoting LU-GPU leaves out two of its five steps", "3.3.2", published.NOT_PUBLISHED,
        factors(variant="row_operations"), factors(variant="row_operations", pivoting="none"),
        'glla thesis --section claims (glla.plu(A, "none"))',
        "The search and the exchange are passes of few fragments, which cost their issue more than their work.",
    )  # fmt: skip
    yield faster(
        "Full pivoting is far more complicated than partial pivoting", "3.3.2", published.NOT_PUBLISHED,
        factors(variant="row_operations_full"), factors(variant="row_operations"),
        f"{plu} row_operations,row_operations_full",
        "It searches all that remains in each step, so the search is as much work as the elimination.",
    )  # fmt: skip
    yield faster(
        "Explicit tests in the search of a pivot are a major bottleneck", "4.1.2", published.NOT_PUBLISHED,
        factors(variant="row_operations_full", parameters=(("BRANCHES", 1),)),
        factors(variant="row_operations_full", parameters=(("BRANCHES", 0),)),
        f"{plu} row_operations_full --param BRANCHES=0,1",
        "Compilers turn a short if into the very selection that the thesis wrote by hand.",
    )  # fmt: skip
    yield faster(
        "Two columns a step in 2 x 2 texels are faster than LU-GPU's one", "3.3.2 and 4.1.3", published.NOT_PUBLISHED,
        factors(variant="row_operations"), factors(variant="rank2"), f"{plu} row_operations,rank2",
        "Half the passes, and each writes a quarter of the texels.",
    )  # fmt: skip


# -- accuracy ---------------------------------------------------------------------------------------------------------


def numbers(place: Place) -> Iterator[Claim]:
    """Claims about errors."""
    n = place.compared[-1]
    command = "glla thesis --section claims"
    a, b = (place.rng.integers(-99, 100, (n, n)).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    wrong = int(np.count_nonzero(np.asarray(linalg.matmul(a, b, device=place.device)) != exact))
    yield Claim(
        "Products of integers are exact", "4.1.1", "exact up to 2^24", f"{wrong} of {n * n} wrong", wrong == 0, command,
        "float32 has 24 bits, and sums below 2^24 are not rounded in any order.",
    )  # fmt: skip
    a = uniform(place, n, n)
    found = {}
    for pivoting in ("harmonic", "geometric"):
        P, L, U = (np.asarray(f).astype(np.float64) for f in linalg.plu(a, pivoting, device=place.device))
        found[pivoting] = float(np.abs(P @ L @ U - a).max())
    yield Claim(
        "The harmonic norm is the better one in single precision", "4.1.2", published.NOT_PUBLISHED,
        f"largest error {found['harmonic']:.2g} against {found['geometric']:.2g}, n = {n}",
        found["harmonic"] <= found["geometric"], "glla pivoting",
        "It avoids one small pivot beside a large one; that is a matter of the matrix, and of chance in a random one.",
    )  # fmt: skip
    yield Claim(
        "Loops of a shader end after 256 trips, without an error", "2.2.5", "256 trips",
        f"{place.device.limits.loop_trips} trips", place.device.limits.loop_trips <= 256, "glla info",
        "Loops have become true branches; glla still splits its sums by a limit, which llvmpipe has.",
    )  # fmt: skip


def formats(place: Place) -> Iterator[Claim]:
    """Storage of fewer bits, as what it does to the error of a product: rounded on the host, multiplied in float32."""
    n = place.compared[-1]
    a, b = uniform(place, n, n), uniform(place, n, n)
    exact = a.astype(np.float64) @ b.astype(np.float64)

    def error(store: Callable[[Any], Any]) -> float:
        c = store(np.asarray(linalg.matmul(store(a), store(b), device=place.device)))
        return float((np.abs(c - exact) / exact).max())

    whole = error(lambda m: m)
    for name, store, where in (("8 bits", _eight_bits, "3.3.1"), ("half floats", _half, "3.3.1")):
        found = error(store)
        yield Claim(
            f"With {name} in a texel the product loses its accuracy", where,
            "limited to 8 bits of precision" if "8" in name else published.NOT_PUBLISHED,
            f"relative error {found:.2g}, {whole:.2g} with float32, n = {n}", found > whole,
            "glla thesis --section claims",
            "Operands and result are rounded once each, which no arithmetic in between can mend.",
        )  # fmt: skip


def _eight_bits(m: Any) -> Any:
    """Round to 256 levels from 0 to the largest entry, as a fixed-point colour does."""
    top = np.float32(m.max())
    return (np.round(m / top * 255) / 255 * top).astype(np.float32)


def _half(m: Any) -> Any:
    """Round to float16, scaled by a power of two so that nothing overflows."""
    scale = np.float32(2.0 ** np.ceil(np.log2(m.max())))
    return (m / scale).astype(np.float16).astype(np.float32) * scale


# -- passes and queues ------------------------------------------------------------------------------------------------


def manners(place: Place) -> Iterator[Claim]:
    """Claims about passes and calls that return at once."""
    n = place.compared[-1]
    tiny = planned(place, "matmul", (2, n), (n, 2), variant="virtual_cube")
    a, b = uniform(place, 2, n), uniform(place, n, 2)
    each = 1e6 * place.gpu(tiny, "matmul", a, b) / tiny.cost.passes
    yield Claim(
        "Starting a computation has a large overhead", "4.1.1", published.NOT_PUBLISHED, f"{each:.1f} us a pass", None,
        "glla ceilings", "It is a few microseconds, which thousands of passes feel and one large pass does not.",
    )  # fmt: skip
    a, b = uniform(place, n, n), uniform(place, n, n)
    made, device = planned(place, "matmul", a.shape, b.shape), place.device
    alone = place.gpu(made, "matmul", a, b)
    whole = place.host(lambda: linalg.matmul(a, b, device=device))
    yield Claim(
        "Transfer, packing and read-back cost little beside a product", "3.3.1 and 4.1.1",
        "not in its times", f"{1e3 * (whole - alone):.2g} of {1e3 * whole:.2g} ms, n = {n}", whole < 2 * alone,
        "glla compare matmul (end to end)",
        "They are quadratic and the product cubic, so it is a matter of n.",
    )  # fmt: skip
    textures = {"A": device.upload(a), "B": device.upload(b)}
    device.run(made, **textures)
    device.finish()
    start = time.perf_counter()
    result = device.run(made, **textures)
    issued = time.perf_counter() - start
    device.finish()
    total = time.perf_counter() - start
    del result
    yield Claim(
        "A call returns at once, and the CPU goes on", "4.2.1", "virtually free",
        f"{1e6 * issued:.0f} of {1e6 * total:.0f} us until the call returns, n = {n}", issued < total / 2,
        "glla thesis --section claims",
        "OpenGL queues what a GPU draws; a software rasteriser draws on the same cores, some of it within the call.",
    )  # fmt: skip


def _of_sections(done: dict[str, Section]) -> Iterator[Claim]:
    """Claims that other sections have measured, if they were."""
    for name, where, what in (
        ("product", "4.1.1", "the product"), ("rref", "4.1.2", "RREF"), ("plu", "4.1.3", "PLU"),
    ):  # fmt: skip
        if name in done:
            found, kind = (done[name].values[key] for key in ("relative error", "of"))
            yield Claim(
                f"The relative error of {what} is negligible", where, "below 0.001 %", f"{100 * found:.2g} % ({kind})",
                found < published.RELATIVE_ERROR, f"glla thesis --section {name}",
                "Errors grow with n and with the condition of the matrix, and float32 starts at 0.000006 %.",
            )  # fmt: skip
    gains = done["sharing"].values["gains"] if "sharing" in done else []
    if gains:
        yield Claim(
            "CPU and GPU together are faster than either", "4.2.4", published.NOT_PUBLISHED,
            f"{min(gains):.2f} to {max(gains):.2f} times the better one", max(gains) > ALIKE,
            "glla thesis --section sharing",
            "They add up where they are two devices of like speed; a software rasteriser shares the CPU's cores.",
        )  # fmt: skip
