"""The inverse of a triangular matrix, T X = I: a triangle as well.

`gets` is the source's own method, a column a step. The others substitute into the identity as
`glla.operations.triangles.triangular` does, with updates that end at the edge of the triangle: n^3 / 3 flop instead of
n^3. The error is that of substitution, |I - T X| <= (n + 4) u |T||X|, whatever the condition of T.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np

from glla.operations.acceptance import FALLBACK, Values
from glla.operations.host.substitution import in_rounded_rows, of_given_factors
from glla.operations.layouts.blocks import read_diagonal
from glla.operations.layouts.crossing import at_home, bring_in, read_back, watch
from glla.operations.layouts.shapes import square
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Taken, Way, builder
from glla.operations.triangles import solve_triangular, triangular
from glla.operations.triangles.solve_triangular import IN_FLOAT64
from glla.operations.triangles.solved_blocks import Triangle
from glla.passes import PLAIN, Draft, Form, Forms, Limits, PingPong, Plan, Region, Variant, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels
from glla.passes.storage import matrix

VARIANTS = {
    "gets": Variant(
        "one column of T a step, in all rows below it",
        '"Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.3',
    ),
    "blocked": Variant(
        "a block of rows a step, as the substitution of that name, updates cut at the triangle's edge",
        "LAPACK trtri",
        parameters={"ROWS": (16, 32, 64), "UNROLL": (0, 1), "BUFFERS": (0, 1)},
        on_gpu={"ROWS": 64, "UNROLL": 1},
    ),
    "panel_broadcast": Variant(
        "64 rows a step, T in uniform blocks, as the substitution of that name, updates cut at the triangle's edge",
        "LAPACK trtri",
        parameters={"UNROLL": (0, 1)},
        on_gpu={"UNROLL": 1},
    ),
}


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: the tuned one, else that of a substitution with as many right-hand sides as rows."""
    shape = forms[0].matrix
    tuned = limits.tuning("triangular_inverse", *shape)
    if tuned is not None:
        return tuned.variant, tuned.parameters
    variant, parameters = triangular.choose(resident(shape, shape), limits)
    return (variant, parameters) if variant in VARIANTS else ("blocked", ())


def flops(forms: Forms) -> int:
    """Additions and multiplications: n^3 / 3."""
    return forms[0].count * (forms[0].shape[-1] ** 3 // 3)


@builder("triangular_inverse", VARIANTS, choose)
def plan(
    forms: Forms,
    limits: Limits,
    chosen: Chosen,
    lower: bool = False,
    unit_diagonal: bool = False,
    transposed: bool = False,
) -> Plan:
    """Plan of the inverse of an n x n triangle on the device, n > 0.

    Operand ``T``, result ``X`` with zeros in the other triangle, both packed. Passes: ``gets`` n; the others those of
    the substitution, and three that write the identity.

    `forms`: of T, of which a triangle is read. `lower`, `unit_diagonal`: T is lower triangular; its diagonal is one and
    is not read. `transposed`: what is stored is the transpose of T.
    """
    shape, variant = forms[0].matrix, chosen.variant
    draft = Draft(f"triangular_inverse[{variant}, {'lower' if lower else 'upper'}]")
    operand = draft.operand("T", matrix(shape))
    if variant == "gets":
        x = _gets(draft, operand, shape, lower, {"UNIT": int(unit_diagonal), "TRANSPOSED": int(transposed)})
    else:
        triangle = Triangle(not lower, unit_diagonal, transposed, inverse=True)
        (start,) = draft.draw("packing/identity", {}, {"I": matrix(shape)}, {"shape": shape})
        x = triangular.BUILDERS[variant](draft, operand, start, shape, triangle, chosen.values)
    return draft.plan({"X": x}, flops(forms))


def _gets(draft: Draft, operand: str, shape: Shape, lower: bool, stored: dict[str, int]) -> str:
    """A pass for each column of T. The first two write all of both textures: zeros behind the triangle's edge."""
    n, side = shape[0], texels(shape[0])
    rows = PingPong(draft, "X", matrix(shape), operand)  # the values it reads first are ignored
    defines = {"UPPER": int(not lower), **stored}
    for k in range(n):
        # A row of texels is final one step after its own, when both textures hold it.
        top, reached = (0, side) if k < 2 else ((k - 1) // 2, k // 2 + 1)
        region = Region(0, top, reached, side - top) if lower else Region(top, 0, side - top, reached)
        with draft.scope("column", k):
            draft.draw(
                "triangular_inverse/gets",
                {"T": operand, "X": rows.front},
                rows.back,
                {"k": k, "shape": shape},
                defines,
                region,
            )
        rows.swap()
    return rows.front


# -- plans of a call --------------------------------------------------------------------------------------------------


@cached_plan
def call_plan(
    forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, unit_diagonal: bool = False, **way: Unpack[Way]
) -> Plan:
    """Plan of a call: upload, inverse, read-back; of a matrix on the device T's diagonal and the largest entries."""
    (form,) = forms
    shape, results = form.matrix, dict[str, str]()
    draft = Draft("triangular_inverse")
    t = bring_in(draft, "T", form, limits)
    inner = plan(resident(shape), limits, **way, lower=lower, unit_diagonal=unit_diagonal)
    x = draft.call("inverse", inner, T=t)["X"]
    if form.resident:
        for name, slot in (("T", t), ("X", x)):
            watch(draft, name, slot, shape, results)
        if not unit_diagonal:
            results["diagonal"] = read_diagonal(draft, t, shape[0], limits, "diagonal of T")
    else:
        x = read_back(draft, x, shape, limits, "X")
    again = partial(fallback_plan, forms, limits, lower=lower, unit_diagonal=unit_diagonal)
    return draft.plan({**results, "X": x}, after=solve_triangular.after(again))


@cached_plan
def fallback_plan(forms: Forms, limits: Limits = PLAIN, **options: bool) -> Plan:
    """Plan of the inverse on the host, in float64."""
    (form,) = forms

    def inverse(t: Float32) -> tuple[Float32]:
        return (in_rounded_rows("inv", t, np.eye(len(t)), **options),)

    draft = Draft(FALLBACK)
    given = (at_home(draft, "T", form, limits),)
    return draft.plan(draft.host(IN_FLOAT64, inverse, given, {"X": form.matrix}), flops(forms))


def _was_lost(forms: Forms, values: Values) -> bool:
    sides = np.ones((1, forms[0].shape[-1]), dtype=np.float32)  # as large as those of I
    return solve_triangular.was_lost(forms, {**values, "B": sides})


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """An upper triangle that is well-conditioned."""
    return solve_triangular.example(n, rng)[:1]


def tiles(forms: Forms, limits: Limits = PLAIN, room: int | None = None, **options: Any) -> Plan | None:
    """Plan of the solutions of T X = I block by block, where there is a cap on memory; else None."""
    if room is None:
        return None
    kind = {name: one for name, one in options.items() if name not in ("variant", "parameters")}
    return solve_triangular.tiles((*forms, Form(forms[0].matrix)), limits, room, **kind)


TRIANGULAR_INVERSE = Operation(
    name="triangular_inverse",
    formula="T X = I",
    operands=("T",),
    results=("X",),
    check=partial(square, "triangular_inverse", name="T"),
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    settle=of_given_factors(partial(solve_triangular.singular, function="inv"), _was_lost),
    variants=VARIANTS,
    choose=choose,
    tiles=tiles,
    taken=Taken(fits=True),
    thesis="gets",
    function=Function(public=False),
)
