"""Claims about which of two ways is the faster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from glla import linalg
from glla.array.array import asarray
from glla.passes import Draft, Plan, Storage, matrix
from glla.passes.layout import packed
from glla.thesis import published
from glla.thesis.claims.claim import ALIKE, Claim, claim, collected, faster
from glla.thesis.measure import Place, dominant, uniform

SEARCHED = 1024
"""Largest order of the factorisations that search a pivot in all that remains: it is n^3 work with a small rate."""

MAJOR = 1.25
"""Ratio of times from which something is "a major bottleneck"."""

AS_MANY = 0.8
"""Part of a rate from which it is said to be the same."""

GAUSS_JORDAN = 1.5
"""Gauss-Jordan elimination takes n^3 flop, a factorisation 2 n^3 / 3."""


def _products(place: Place) -> Iterator[Claim]:
    n = place.compared[-1]
    a, b = uniform(place, n, n), uniform(place, n, n)

    @cache
    def product(variant: str) -> float:
        return place.timed("matmul", a, b, variant=variant)

    def compared(key: str, slow: str, fast: str, **named: float) -> Claim:
        return faster(f"ways.{key}", product(slow) / product(fast), n=n, **named)

    yield compared("channels", "single_component", "inner_product")
    yield compared("quads", "inner_product", "packed_4x1")
    part = place.gpu_plan(_repacking(n), {"M": a}) / product("inner_product")
    yield claim("ways.repacking", part > 0.1, 100 * part, n=n)
    yield compared("interpolated", "virtual_cube", "virtual_cube_interpolated")
    inner, cube = (published.FITS[f"product, {name}"][1] for name in ("inner product", "virtual cube"))
    yield compared("virtual_cube", "inner_product", "virtual_cube_ping_pong", theirs=inner / cube)
    yield compared("in_place", "virtual_cube_ping_pong", "virtual_cube")
    yield compared("passes", "inner_product", "multi_pass")
    yield compared("blocked_output", "inner_product", "blocked_output")
    yield compared("targets", "inner_product", "register_blocked")
    best, whole = place.cpu("matmul", a, b), place.host(lambda: linalg.matmul(a, b, device=place.device))
    flop, layers = 2e-9 * n**3, product("virtual_cube_ping_pong")
    yield claim("ways.atlas", best > AS_MANY * layers, flop / layers, flop / best, n=n)
    yield faster("ways.end_to_end", best / whole, n=n)


def _repacking(n: int) -> Plan:
    """Plan that brings a matrix from 2 x 2 to 4 x 1, and back."""
    draft = Draft("repack")
    quads, back = draft.slot("quads", Storage(-(-n // 4), n)), draft.slot("back", matrix((n, n)))
    source = {"M": draft.operand("M", matrix((n, n)))}
    draft.draw("packing/to_quads", source, quads, {"size": packed((n, n))}, {"ACROSS": 0})
    draft.draw("packing/from_quads", {"quads": quads}, back, {"shape": (n, n)}, {"ACROSS": 0})
    return draft.plan({"back": back})


def _eliminations(place: Place) -> Iterator[Claim]:
    n = place.up_to(SEARCHED)
    d = dominant(place, n)

    @cache
    def factors(variant: str, **options: Any) -> float:
        return place.timed("plu", d, variant=variant, **options)

    one, full = factors("row_operations"), factors("row_operations_full")
    branching, selecting = (factors("row_operations_full", parameters=(("BRANCHES", value),)) for value in (1, 0))
    yield faster("ways.unpivoted", one / factors("row_operations", pivoting="none"), n=n)
    yield faster("ways.full_pivoting", full / one, n=n)
    yield faster("ways.branches", branching / selecting, MAJOR, n=n)
    yield faster("ways.rank2", one / factors("rank2"), n=n)
    reduced = place.timed("rref", d, variant="rank2") / factors("rank2")
    theirs = published.FITS["RREF, GPU"][1] / published.FITS["PLU, GPU"][1]
    yield claim("ways.gauss_jordan", reduced < GAUSS_JORDAN * ALIKE, theirs=theirs, reduced=reduced, n=n)


def _division(place: Place) -> Claim:
    """MATLAB's mrdivide, X A = B: a solution with both transposed."""
    n = place.compared[-1]
    a, b = (asarray(m, place.device) for m in (dominant(place, n), uniform(place, n, n)))

    ratio = place.finished(lambda: linalg.solve(a.T, b.T).T) / place.finished(lambda: linalg.solve(a, b))
    return claim("ways.division", ratio < 1.25, ratio=ratio, n=n)


claims = collected(_products, _eliminations, _division)
