"""Claims about which of two ways is the faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glla import linalg
from glla.array.array import asarray
from glla.passes import Draft, Plan, Storage, matrix
from glla.passes.layout import packed
from glla.thesis import published
from glla.thesis.claims.claim import ALIKE, HERE, Claim
from glla.thesis.measure import Place, dominant, planned, uniform

SEARCHED = 1024
"""Largest order of the factorisations that search a pivot in all that remains: it is n^3 work with a small rate."""

MAJOR = 1.25
"""Ratio of times from which something is "a major bottleneck"."""

AS_MANY = 0.8
"""Part of a rate from which it is said to be the same."""

GAUSS_JORDAN = 1.5
"""Gauss-Jordan elimination takes n^3 flop, a factorisation 2 n^3 / 3."""


def faster(
    says: str, where: str, theirs: str, ratio: float, n: int, command: str, because: str, although: str,
    least: float = ALIKE,
) -> Claim:  # fmt: skip
    """Make a claim that holds if a ratio of times is above 1 by more than noise, or above `least`."""
    return Claim(says, where, theirs, f"{ratio:.2f} times, n = {n}", ratio > least, command, because, although)


def claims(place: Place) -> Iterator[Claim]:
    """Measure all."""
    yield from _products(place)
    yield from _eliminations(place)
    yield _division(place)


def _products(place: Place) -> Iterator[Claim]:
    n = place.compared[-1]
    a, b = uniform(place, n, n), uniform(place, n, n)
    known: dict[str, float] = {}

    def product(variant: str) -> float:
        if variant not in known:
            made = planned(place, "matmul", a.shape, b.shape, variant=variant)
            known[variant] = place.gpu(made, "matmul", a, b)
        return known[variant]

    def compared(says: str, where: str, theirs: str, slow: str, fast: str, because: str, although: str) -> Claim:
        command = f"glla compare matmul --sizes {n} --variants {slow},{fast}"
        return faster(says, where, theirs, product(slow) / product(fast), n, command, because, although)

    yield compared(
        "Four elements in a texel use the whole of the arithmetic", "3.1.1", "4 times (a channel is 25 %)",
        "single_component", "inner_product",
        "A fetch brings four elements, so packing saves three fetches in four, even where the units are scalar.",
        "The units are scalar, and fetches are no bottleneck here.",
    )  # fmt: skip
    yield compared(
        "The 4 x 1 packing is optimal for a product, even if it has to be repacked", "4.1.1", published.NOT_PUBLISHED,
        "inner_product", "packed_4x1",
        "Repacking is quadratic and the product cubic; five fetches for sixteen multiply-adds beat two for eight.",
        "Five fetches for sixteen multiply-adds, against two for eight, are too little to gain, or the cache holds "
        "less of it.",
    )  # fmt: skip
    there_and_back = place.gpu_plan(_repacking(n), {"M": a})
    yield Claim(
        "Repacking from 2 x 2 to 4 x 1 is a substantial overhead", "4.1.1", published.NOT_PUBLISHED,
        f"{100 * there_and_back / product('inner_product'):.2g} % of a product, n = {n}",
        there_and_back > 0.1 * product("inner_product"), HERE,
        "Two passes over a matrix take long beside a product of this order.",
        "A pass over a matrix is quadratic work, a product cubic: what it takes vanishes with n.",
    )  # fmt: skip
    yield compared(
        "Texture coordinates prepared before the fragment speed it up", "3.2", "up to 1.25 times",
        "virtual_cube", "virtual_cube_interpolated",
        "Interpolated coordinates save integer arithmetic in each fragment.",
        "Fetches by integers need no coordinates to be prepared: there is nothing to save.",
    )  # fmt: skip
    yield compared(
        "The virtual cube is faster than the inner product, in spite of its traffic", "4.1.1",
        f"{published.FITS['product, inner product'][1] / published.FITS['product, virtual cube'][1]:.2f} times",
        "inner_product", "virtual_cube_ping_pong",
        "Memory keeps up with a layer that reads and writes all of C for 16 flop a fragment.",
        "A layer reads and writes all of C for 16 flop a fragment, so memory bandwidth binds it wherever loops in a "
        "shader are cheap.",
    )  # fmt: skip
    yield compared(
        "A pass that reads what the last one wrote has to flush the pipeline, one that adds in place has not", "2.2.4",
        published.NOT_PUBLISHED, "virtual_cube_ping_pong", "virtual_cube",
        "Blending adds in place, so no pass waits for the one before.",
        "Blending float32 is slow here: it costs more than the exchange of two buffers.",
    )  # fmt: skip
    yield compared(
        "Blocking by passes raises the hit ratio of the cache", "3.2", published.NOT_PUBLISHED,
        "inner_product", "multi_pass",
        "A slice of A and B stays in the cache, which pays for the reading and writing of C.",
        "The cache holds a row and a column as they are, so the passes only add reading and writing of C.",
    )  # fmt: skip
    yield compared(
        "Blocking of the output leaves few misses of the cache", "3.3.1", "less than 6 % misses",
        "inner_product", "blocked_output",
        "What a block reads is read again before it leaves the cache.",
        "The rasteriser goes through the output in tiles anyway, so blocks add passes and save nothing.",
    )  # fmt: skip
    yield compared(
        "Several render targets are worth tuning for", "3.3.1", published.NOT_PUBLISHED,
        "inner_product", "register_blocked",
        "A fragment that computes several blocks of C uses each fetch several times.",
        "The fetches are cheap here beside the arithmetic.",
    )  # fmt: skip
    best, whole = (
        place.cpu("matmul", a, b),
        place.host(lambda: linalg.matmul(a, b, device=place.device)),
    )
    flop = 2e-9 * n**3
    cube = product("virtual_cube_ping_pong")
    yield Claim(
        "A product of many passes does as many operations a second as ATLAS", "3.3.1", "the same number",
        f"{flop / cube:.3g} against {flop / best:.3g} GFLOP/s of BLAS at its best, n = {n}", best > AS_MANY * cube,
        f"glla compare matmul --sizes {n} --variants virtual_cube_ping_pong",
        "Memory keeps up with a layer for each column of blocks, and the device has more arithmetic.",
        "Each layer reads and writes all of C, so that memory binds it; BLAS computes in registers, on all cores.",
    )  # fmt: skip
    yield faster(
        "A product on the GPU is faster than ATLAS even with transfer and packing", "3.3.1", published.NOT_PUBLISHED,
        best / whole, n, f"glla compare matmul --sizes {n} (end to end)",
        "The device has more arithmetic than the CPU, and n is large enough for the transfers.",
        "BLAS uses all cores and their wide registers now; fragments reach a part of a GPU, or are drawn by the CPU.",
    )  # fmt: skip


def _repacking(n: int) -> Plan:
    """Plan that brings a matrix from 2 x 2 to 4 x 1, and back."""
    draft = Draft("repack")
    quads, back = draft.slot("quads", Storage(-(-n // 4), n)), draft.slot("back", matrix((n, n)))
    source = {"M": draft.operand("M", matrix((n, n)))}
    draft.draw("packing/to_quads", source, quads, {"size": packed((n, n))}, {"ACROSS": 0})
    draft.draw("packing/from_quads", {"quads": quads}, back, {"shape": (n, n)}, {"ACROSS": 0})
    return draft.plan({"back": back})


def _eliminations(place: Place) -> Iterator[Claim]:
    n = max(n for n in place.compared if n <= max(SEARCHED, place.compared[0]))
    d = dominant(place, n)
    known: dict[tuple[Any, ...], float] = {}

    def factors(*key: Any, **options: Any) -> float:
        if key not in known:
            known[key] = place.gpu(planned(place, "plu", d.shape, variant=key[0], **options), "plu", d)
        return known[key]

    full = ("row_operations_full",)
    compare = f"glla compare plu --sizes {n} --variants"
    yield faster(
        "Without pivoting LU-GPU leaves out two of its five steps", "3.3.2", published.NOT_PUBLISHED,
        factors("row_operations") / factors("row_operations", "none", pivoting="none"), n, HERE,
        "The search and the exchange are passes of few fragments, which cost their issue more than their work.",
        "The search and the exchange are small beside the elimination of a whole matrix.",
    )  # fmt: skip
    yield faster(
        "Full pivoting is far more complicated than partial pivoting", "3.3.2", published.NOT_PUBLISHED,
        factors(*full) / factors("row_operations"), n, f"{compare} row_operations,{full[0]}",
        "It searches all that remains in each step, so the search is as much work as the elimination.",
        "The search of all that remains is fetched from a cache, and hides behind the elimination.",
    )  # fmt: skip
    yield faster(
        "Explicit tests in the search of a pivot are a major bottleneck", "4.1.2", published.NOT_PUBLISHED,
        factors(*full, 1, parameters=(("BRANCHES", 1),)) / factors(*full, 0, parameters=(("BRANCHES", 0),)), n,
        f"{compare} {full[0]} --param BRANCHES=0,1",
        "Fragments that are drawn together still take both sides of a branch.",
        "Compilers turn a short if into the very selection that the thesis wrote by hand.", MAJOR,
    )  # fmt: skip
    yield faster(
        "Two columns a step in 2 x 2 texels are faster than LU-GPU's one", "3.3.2 and 4.1.3", published.NOT_PUBLISHED,
        factors("row_operations") / factors("rank2"), n, f"{compare} row_operations,rank2",
        "Half the passes, and each writes a quarter of the texels.",
        "The passes are bound by arithmetic, which is the same.",
    )  # fmt: skip
    reduced = place.gpu(planned(place, "rref", d.shape, variant="rank2"), "rref", d) / factors("rank2")
    gpu = {name: published.FITS[f"{name}, GPU"][1] for name in ("RREF", "PLU")}
    yield Claim(
        "Gauss-Jordan elimination is slightly more complex than Gaussian elimination, but fits the GPU better", "4.1.2",
        f"{gpu['RREF'] / gpu['PLU']:.2f} times its time", f"{reduced:.2f} times, n = {n}",
        reduced < GAUSS_JORDAN * ALIKE, f"glla thesis --section rref --section plu (n = {n})",
        f"It has {GAUSS_JORDAN:g} times the flop and draws the same passes, without a triangle to leave out.",
        f"It has {GAUSS_JORDAN:g} times the flop, and writes the whole matrix in each pass, where the other shrinks.",
    )  # fmt: skip


def _division(place: Place) -> Claim:
    """MATLAB's mrdivide, X A = B: a solution with both transposed."""
    n = place.compared[-1]
    a, b = (asarray(m, place.device) for m in (dominant(place, n), uniform(place, n, n)))

    def left() -> None:
        linalg.solve(a, b)
        place.device.finish()

    def right() -> None:
        linalg.solve(a.T, b.T).T  # noqa: B018 - the transpose is a part of it
        place.device.finish()

    ratio = place.host(right) / place.host(left)
    return Claim(
        "All of MATLAB's operators come along: X A = B is B / A", "2.3.2", published.NOT_PUBLISHED,
        f"{ratio:.2f} times the time of A X = B, n = {n}", ratio < 1.25, "glla.solve(A.T, B.T).T, arrays on the device",
        "A transpose of an array on the device moves nothing, so that it is a solution like any other.",
        "The transposes are made in passes of their own, which is felt at this order.",
    )  # fmt: skip
