"""The product of a matrix and its transpose, C = A A^T; for a transposed matrix it is A^T A.

C is symmetric, so half of it is enough: `symmetric` and `symmetric_panels` compute the lower triangle and mirror it, m
(m + 1) k flop in place of 2 m^2 k. `glla.matmul(a, a.T)` uses this operation.

A course report of 2013 went through nine versions in CUDA. Here they are as variants:

======  ======================================================  ====================================================
v001    a thread an element, nothing is reused                  ``single_component``
v002    square tiles of both factors in shared memory           ``compute_tiled``; fragments have no shared memory
v003    sizes that are no multiple of a tile, tested within     the same: beyond the matrix a tile is filled with zeros
v004    the same, tested outside the inner loop                 the same
v005    only tiles on and below the diagonal, then mirrored     ``symmetric``
v006    a tile on the diagonal is loaded once                   ``symmetric`` with ``ONCE`` = 1
v007    unrolled 8 times                                        ``symmetric`` with ``UNROLL``, ``single_component`` too
v008    stripes of 8 columns, each added to all of C atomically ``stripes``: the blender adds them, in a fixed order
v009    the same, the stripe stored transposed                  ``stripes_transposed``
======  ======================================================  ====================================================

The report attributes the errors of its v008 and v009 to rounding; blocked sums round less than one long sum, so they
have another cause. A blended sum is the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Unpack

import numpy as np

from glla.errors import ShapeError
from glla.operations.layouts.crossing import called
from glla.operations.product import blocked_product as blocked
from glla.operations.product.fastest import by_rates
from glla.operations.product.register_blocks import BLOCK_COLUMNS, BLOCK_ROWS
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Taken, Way, builder
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, Uniform, Variant
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define
from glla.passes.layout import packed
from glla.passes.storage import Storage, matrix

SEED = '"COMP 633 Parallel Computing, PA2" (course report, 2013)'
"""Source of the author's variants."""

WIDTH = (8, 4, 16, 32, 64)
"""Columns of A in a stripe; the report found blocks of 8 best."""

VARIANTS = {
    "single_component": Variant(
        "one element to a texel; a fragment sums over the whole inner dimension",
        f"{SEED}, v001",
        parameters={"UNROLL": blocked.UNROLL},
    ),
    "symmetric": Variant(
        "a fragment computes 4 x 2 texels on or below the diagonal; the rest is mirrored",
        f"{SEED}, v005; v006 with ONCE, v007 with UNROLL",
        parameters={
            "ROWS": (BLOCK_ROWS, 1, 2, 8),
            "COLUMNS": (BLOCK_COLUMNS, 1, 4, 8),
            "UNROLL": blocked.UNROLL,
            "PASSES": blocked.PASSES[:3],
            "ONCE": (0, 1),
            "BUFFERS": (0, 1),
        },
        on_gpu={"ONCE": 1},
        rule="ROWS * COLUMNS must not exceed 8, a render target for each",
        keeps_rule=lambda values: values["ROWS"] * values["COLUMNS"] <= 8,
    ),
    "symmetric_panels": Variant(
        "16 rows of A in a uniform block, drawn as far as the diagonal; the rest is mirrored",
        "glla, after BLAS syrk",
        parameters={"DEPTH": (blocked.DEPTH, 16, 32, 64, 128)},
    ),
    "inner_product": Variant(
        "all of C in one pass over the packed matrix, which is read both ways",
        "Brodtkorb 2007, section 4.1.1, listing 4.1",
        parameters={"UNROLL": blocked.UNROLL},
    ),
    "stripes": Variant(
        "a pass for each stripe of columns, added to all of C by blending; four rows to a texel",
        f"{SEED}, v008",
        parameters={"WIDTH": WIDTH},
    ),
    "stripes_transposed": Variant(
        "as stripes, with four columns of the stripe to a texel: a dot product of texels",
        f"{SEED}, v009",
        parameters={"WIDTH": WIDTH},
    ),
    "compute_tiled": Variant(
        "a compute shader: tiles of A and its transpose in memory that a work group shares",
        f"{SEED}, v002 to v004",
        needs=("OpenGL 4.3",),
        parameters={"WORK": (2, 1, 4), "TILE": (16, 8)},
    ),
}

HALVES = ("symmetric", "symmetric_panels")
"""Variants that compute the lower triangle, and mirror it."""

IN_PLACE = ("single_component", "symmetric", "inner_product")
"""Variants that read A and its transpose from the same texture."""

BY_RATES = {
    "inner_product": "inner_product",
    "register_blocked": "symmetric",
    "panel_broadcast": "symmetric_panels",
}
"""Variants among which the rates of a device decide; `inner_product` computes both triangles."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant and its parameters: those that were tuned on the device, else the fastest by its rates."""
    m, k = forms[0].matrix
    return by_rates("syrk", (m, k, m), limits, BY_RATES, half=True)


def check(forms: Forms) -> None:
    """Raise ShapeError unless A is one matrix."""
    (a,) = forms
    if a.stack:
        raise ShapeError(f"syrk: A must be one matrix, got shape {a.shape}; matmul takes stacks")


def flops(forms: Forms) -> int:
    """Additions and multiplications as BLAS counts them, m (m + 1) k; a variant that computes both halves takes more.

    The report counts 2 m^2 k for all of its versions: so it sees v005 "almost double" the rate.
    """
    m, k = forms[0].matrix
    return forms[0].count * m * (m + 1) * k


@builder("syrk", VARIANTS, choose)
def plan(forms: Forms, limits: Limits, chosen: Chosen, upper: bool = False) -> Plan:
    """Plan of A A^T for an m x k matrix on the device, m, k > 0.

    Operand ``A`` as stored, result ``C``, m x m, both packed. The additions of c_ij and c_ji are the same in the same
    order; `symmetric` and `symmetric_panels` copy one from the other, so C is symmetric bit by bit. Passes:
    ``inner_product`` 1, ``single_component`` 3, ``symmetric`` 2, ``symmetric_panels`` 4 and (m / 16) (k / DEPTH) draws,
    ``stripes`` 2 + k / WIDTH; one more that writes out a transpose, where a variant is not in `IN_PLACE`.

    `forms`: of A. Where the texture holds the transpose, the product is that of the transpose of what is there.
    `upper`: A is upper triangular: variants in `HALVES` sum from its diagonal on, m (m + 1) (m + 2) / 3 flop. The
    others take no notice.
    """
    builders: dict[str, Callable[[blocked.Task], str]] = {
        "single_component": blocked.single_component,
        "symmetric": blocked.register_blocked,
        "symmetric_panels": blocked.panel_broadcast,
        "inner_product": lambda task: blocked.in_slices(task, task.limits.loop_trips),
        "stripes": partial(_stripes, transposed=0),
        "stripes_transposed": partial(_stripes, transposed=1),
        "compute_tiled": blocked.compute_tiled,
    }
    variant, (form,), (m, k) = chosen.variant, forms, forms[0].matrix
    draft = Draft(chosen.title)
    given = draft.operand("A", matrix((k, m) if form.transposed else (m, k)))
    left = right = given
    turned: dict[str, Define] = {}
    if variant in IN_PLACE:
        turned = {"TRANSPOSE_A": 1} if form.transposed else {"TRANSPOSE_B": 1}
    elif form.transposed or not variant.startswith("stripes"):  # stripes take A and nothing else
        other = blocked.write_out(draft, given, "transpose of A", (m, k) if form.transposed else (k, m))
        left, right = (other, given) if form.transposed else (given, other)
    half = variant in HALVES
    result = builders[variant](
        blocked.Task(draft, m, k, m, chosen.values, limits, "", turned, half, half and upper, left, right)
    )
    return draft.plan({"C": result}, m * (m + 1) * (m + 2) // 3 if half and upper else flops(forms))


def _stripes(task: blocked.Task, transposed: int) -> str:
    """Repack A; a pass for each stripe of its columns, blended onto C; repack C."""
    draft, m, k = task.draft, task.m, task.k
    rows, columns = -(-m // 4), -(-k // 4)
    stripe = draft.slot("quads_of_A", Storage(4 * rows, columns) if transposed else Storage(rows, k))
    draft.draw("packing/to_quads", {"M": task.left}, stripe, {"size": packed((m, k))}, {"ACROSS": transposed})
    target = draft.slot("quads_of_C", Storage(rows, m))
    width, trips = (task.values["WIDTH"] // 4, columns) if transposed else (task.values["WIDTH"], k)
    for number, first in enumerate(range(0, trips, width)):
        uniforms: dict[str, Uniform] = {"first": first, "count": min(width, trips - first)}
        with draft.scope("stripe", number):
            draft.draw(
                "syrk/stripe", {"A": stripe}, target, uniforms, {"TRANSPOSED": transposed}, accumulate=number > 0
            )
    made, uniforms = {"C": matrix((m, m))}, {"shape": (m, m)}
    return draft.draw("packing/from_quads", {"quads": target}, made, uniforms, {"ACROSS": 0})["C"]


@cached_plan
def call_plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of a call: upload A from the host, multiply, read back a host result."""
    (form,), m = forms, forms[0].matrix[0]
    return called(plan((form.on_device,), limits, **way), forms, limits, (m, m), "product")


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A matrix with normal entries."""
    return (rng.standard_normal((n, n)).astype(np.float32),)


SYRK = Operation(
    name="syrk",
    formula="C = A A^T",
    operands=("A",),
    results=("C",),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    variants=VARIANTS,
    choose=choose,
    taken=Taken(fits=True),
    thesis="single_component",
    function=Function(public=False),
)
