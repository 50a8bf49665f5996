"""Claims about fetches, writes, memory of algorithms: counted, not timed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np

from glla import linalg
from glla.array.array import asarray
from glla.lab import fetches
from glla.lab.operations import uploaded
from glla.operations import OPERATIONS
from glla.passes import Pass, Plan, texture
from glla.passes.glsl import find as shader
from glla.passes.storage import matrix
from glla.thesis import published
from glla.thesis.claims.claim import HERE, Claim
from glla.thesis.measure import Array, Place, dominant, planned, uniform

ORDER = 128
"""Order at most of what is counted: counts are polynomials in n, and leading terms show by then."""

FLOATS = 4
"""Floats of a texel."""

LESS = 0.75
"""Part of the bytes that "25 % less data transfer" leaves."""

NEAR = 1.1
"""Times a count of the thesis up to which ours is the same: the lower powers of n count, too."""


def claims(place: Place) -> Iterator[Claim]:
    """Count all."""
    n = min(ORDER, place.compared[-1])
    a, b, d = uniform(place, n, n), uniform(place, n, n), dominant(place, n)
    yield from _products(place, a, b)
    yield _three_floats(place, d)
    yield _one_texture(place, n)
    yield _in_vertices(place, n)
    yield _host_memory(place)


def _counted(place: Place, operation: str, variant: str | None, *arrays: Array, shaders: str) -> tuple[Plan, int]:
    """Plan of an operation, and texels that its passes with such shaders fetch."""
    made = planned(place, operation, *(a.shape for a in arrays), variant=variant)
    operands = uploaded(place.device, OPERATIONS[operation], made, arrays)
    return made, fetches.count(place.device, made, operands, chosen=lambda name: name.startswith(shaders))


def _products(place: Place, a: Array, b: Array) -> Iterator[Claim]:
    n = len(a)
    names = "single_component", "inner_product", "virtual_cube_ping_pong"
    (_, single), (_, inner), (cube, layers) = (
        _counted(place, "matmul", name, a, b, shaders="matmul/") for name in names
    )
    part = FLOATS * inner / single
    yield Claim(
        "Packing 2 x 2 transfers 25 % less data than a single channel does", "3.3.1", f"{100 * (1 - LESS):.0f} % less",
        f"{100 * (1 - part):.0f} % less ({16 * inner / n**3:.2g} against {4 * single / n**3:.2g} n^3 bytes fetched), "
        f"n = {n}", part <= LESS, HERE,
        "A fetched block takes part in two products for each of its elements, an element alone in one.",
        "The blocks are fetched more often than elements alone.",
    )  # fmt: skip
    vectors = n**3 / FLOATS
    best, chosen = _counted(place, "matmul", None, a, b, shaders="matmul/")
    yield Claim(
        "The inner product fetches a texel for each multiply-add of four channels", "4.1.1", "1:1",
        f"{inner / vectors:.2g}:1; {best.operation}, glla's choice at this order, {chosen / vectors:.2g}:1, n = {n}",
        inner <= NEAR * vectors, HERE, "Two blocks are fetched for a product of two multiply-adds.",
        "Blocks are fetched more than once for a product.",
    )  # fmt: skip
    target, halves = texture(cube.slots[cube.results["C"]]), n / 2
    texels = target.height * target.width
    reads, writes = layers / texels / halves, cube.cost.texels / texels / halves
    yield Claim(
        "The virtual cube has 3 n reads and n writes for a fragment, the inner product 2 n and one", "4.1.1",
        "3 n and n, n columns of blocks", f"{reads:.2g} n and {writes:.2g} n; {inner / texels / halves:.2g} n and one, "
        f"n = {n:.0f} / 2", 2 < reads <= 3 and writes <= NEAR, HERE,
        "Each layer reads a block of A, one of B and the sum so far (the first has none), and writes the sum.",
        "Layers read or write more than that.",
    )  # fmt: skip
    kept = sum(texture(slot).nbytes for name, slot in cube.slots.items() if name not in cube.operands)
    whole = FLOATS * n**3
    yield Claim(
        "To sum as it goes takes a factor n of the virtual cube's memory away", "4.1.1", "n times less",
        f"{whole / kept:.3g} times less ({kept / 1024:.4g} against {whole / 1024:.4g} KiB), n = {n}",
        NEAR * whole >= n / 2 * kept, HERE,
        "Two layers that take turns stay of n, so that half of the factor is what is left.",
        "More than two layers are kept.",
    )  # fmt: skip


def _three_floats(place: Place, d: Array) -> Claim:
    n = len(d)
    multiply_adds = sum(k * k for k in range(n))
    (_, single), (_, every), (_, blocks) = (
        _counted(place, "plu", variant, d, shaders=shaders)
        for variant, shaders in (
            ("row_operations", "plu/columns/rank1"), ("row_operations", ""), ("rank2", "plu/rank2/"),
        )
    )  # fmt: skip
    return Claim(
        "LU-GPU fetches 3 floats for each multiply-add", "3.3.2", "3",
        f"{single / multiply_adds:.2g} fetches of one in the elimination, {every / multiply_adds:.2g} with search and "
        f"exchange; {blocks / multiply_adds:.2g}, of four floats, in 2 x 2 texels, two columns a step; n = {n}",
        single >= 3 * multiply_adds, HERE,
        "The element, its multiplier and the pivot row's are fetched anew for each column, and ours reads the record "
        "of the pivot besides.",
        "A fetch serves several multiply-adds.",
    )  # fmt: skip


def _one_texture(place: Place, n: int) -> Claim:
    made = planned(place, "plu", (n, n), variant="rank2")
    packed = sum(texture(made.slots[slot]).nbytes for slot in made.results.values())
    apart = sum(np.asarray(part).nbytes for part in linalg.plu(uniform(place, n, n), device=place.device))
    return Claim(
        "L and U in one texture more than halve the memory", "4.1.3", "more than half is saved",
        f"{packed / 1024:.3g} KiB with the pivots, {apart / 1024:.3g} for P, L and U apart, n = {n}",
        packed < apart / 2, HERE,
        "L's diagonal is known and its other half is U's place, so both take the room of A; P is a texel a column.",
        "Padding takes more than is saved.",
    )  # fmt: skip


def _in_vertices(place: Place, n: int) -> Claim:
    """Passes that fetch in their vertex stage."""
    passes = [step for step in planned(place, "rref", (n, n + 1), variant="rank2").flat.steps if isinstance(step, Pass)]
    vertices = (shader.active_text(shader.resolve(step.shader, step.defines).vertex) for step in passes)
    fetching = sum("texelFetch(" in text for text in vertices)
    return Claim(
        "A vertex stage fetches from special formats only, by normalised coordinates", "2.2.5",
        "needs both", f"{fetching} of {len(passes)} passes of RREF fetch four floats there by whole numbers, n = {n}",
        not fetching, HERE, "No vertex stage fetches anything here.",
        "OpenGL 3.3 promises texelFetch and all formats to both stages: the pivot is looked up there, once a pass.",
    )  # fmt: skip


def _host_memory(place: Place) -> Claim:
    """Memory of the host that a factorisation on the device takes, beside a copy of the matrix."""
    n = place.compared[-1]
    resident = asarray(dominant(place, n), place.device)
    linalg.lu_factor(resident)
    tracemalloc.start()
    try:
        linalg.lu_factor(resident)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    whole = matrix((n, n)).nbytes
    return Claim(
        "What the GPU computes takes no main memory", "7.3", published.NOT_PUBLISHED,
        f"{peak / 1024:.0f} KiB for factors of {whole / 1024:.0f} KiB, n = {n}", peak < whole / 4, HERE,
        "Matrix and factors stay in textures (which are main memory with a software rasteriser); the host has a plan "
        "and the pivots.",
        "Plan and pivots are as large as a matrix of this order.",
    )  # fmt: skip
