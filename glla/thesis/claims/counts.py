"""Claims about fetches, writes, memory of algorithms: counted, not timed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np

from glla import linalg
from glla.array.array import asarray
from glla.array.convert import Float32
from glla.lab import fetches
from glla.lab.operations import uploaded
from glla.operations import OPERATIONS
from glla.passes import Pass, Plan, texture
from glla.passes.glsl import find as shader
from glla.passes.storage import matrix
from glla.thesis.claims.claim import Claim, claim
from glla.thesis.measure import Place, dominant, planned, uniform

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


def _counted(place: Place, operation: str, variant: str | None, *arrays: Float32, shaders: str) -> tuple[Plan, int]:
    """Plan of an operation, and texels that its passes with such shaders fetch."""
    made = planned(place, operation, *(a.shape for a in arrays), variant=variant)
    operands = uploaded(place.device, OPERATIONS[operation], made, arrays)
    return made, fetches.count(place.device, made, operands, chosen=lambda name: name.startswith(shaders))


def _products(place: Place, a: Float32, b: Float32) -> Iterator[Claim]:
    n = len(a)
    names = "single_component", "inner_product", "virtual_cube_ping_pong"
    (_, single), (_, inner), (cube, layers) = (
        _counted(place, "matmul", name, a, b, shaders="matmul/") for name in names
    )
    part = FLOATS * inner / single
    yield claim("counts.packing", part <= LESS, 100 * (1 - part), 16 * inner / n**3, 4 * single / n**3, n=n)
    vectors = n**3 / FLOATS
    best, chosen = _counted(place, "matmul", None, a, b, shaders="matmul/")
    yield claim("counts.inner_product", inner <= NEAR * vectors, inner / vectors, best.operation, chosen / vectors, n=n)
    target, halves = texture(cube.slots[cube.results["C"]]), n / 2
    texels = target.height * target.width
    reads, writes = layers / texels / halves, cube.cost.texels / texels / halves
    as_many = 2 < reads <= 3 and writes <= NEAR
    yield claim("counts.virtual_cube", as_many, inner / texels / halves, reads=reads, writes=writes, n=n)
    kept = sum(texture(slot).nbytes for name, slot in cube.slots.items() if name not in cube.operands)
    whole = FLOATS * n**3
    yield claim("counts.layers", NEAR * whole >= n / 2 * kept, whole / kept, kept / 1024, whole / 1024, n=n)


def _three_floats(place: Place, d: Float32) -> Claim:
    n = len(d)
    multiply_adds = sum(k * k for k in range(n))
    (_, single), (_, every), (_, blocks) = (
        _counted(place, "plu", variant, d, shaders=shaders)
        for variant, shaders in (
            ("row_operations", "plu/columns/rank1"), ("row_operations", ""), ("rank2", "plu/rank2/"),
        )
    )  # fmt: skip
    each = (count / multiply_adds for count in (single, every, blocks))
    return claim("counts.three_floats", single >= 3 * multiply_adds, *each, n=n)


def _one_texture(place: Place, n: int) -> Claim:
    made = planned(place, "plu", (n, n), variant="rank2")
    packed = sum(texture(made.slots[slot]).nbytes for slot in made.results.values())
    apart = sum(np.asarray(part).nbytes for part in linalg.plu(uniform(place, n, n), device=place.device))
    return claim("counts.one_texture", packed < apart / 2, packed / 1024, apart / 1024, n=n)


def _in_vertices(place: Place, n: int) -> Claim:
    """Passes that fetch in their vertex stage."""
    passes = [step for step in planned(place, "rref", (n, n + 1), variant="rank2").flat.steps if isinstance(step, Pass)]
    vertices = (shader.active_text(shader.resolve(step.shader, step.defines).vertex) for step in passes)
    fetching = sum("texelFetch(" in text for text in vertices)
    return claim("counts.in_vertices", not fetching, len(passes), fetching=fetching, n=n)


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
    return claim("counts.host_memory", peak < whole / 4, peak / 1024, whole / 1024, n=n)
