"""Systems with given factors: L U X = P^T B."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np
from numpy.typing import NDArray

from glla.errors import SingularMatrixError
from glla.operations.acceptance import FALLBACK, Values, each_near_one, matrix_of_stack, near_one, of_diagonal
from glla.operations.elimination import factors, plu_batches
from glla.operations.elimination.pivot import steps
from glla.operations.elimination.plu import exchanges, permutation_of, pivot_records
from glla.operations.host.substitution import of_given_factors
from glla.operations.layouts.crossing import (
    at_home,
    bring_in,
    read_back,
    records_of,
    texels_of,
    upload,
    watch,
)
from glla.operations.layouts.shapes import aligned, by_factors
from glla.operations.record import Batch, Filter, Float32, Function, Layout, Operation, Taken, Trial, unvaried
from glla.operations.systems import lu_scaling as scaling
from glla.operations.systems import streams
from glla.operations.triangles import triangle_batches
from glla.operations.triangles.triangular import flops_of_both
from glla.passes import PLAIN, Draft, Form, Forms, HostArray, Limits, Plan, Storage, Transition, Variant, texture
from glla.passes.cache import cached_plan

ZERO = Transition("U has a zero on its diagonal", error="SingularMatrixError: names the place")

FAR = "U or right-hand sides are near float32's limits"
"""The stage in float64, and its condition."""


@unvaried
def device_plan(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False, equilibrated: bool = False) -> Plan:
    """Plan of the solution on the device: operands ``LU``, ``pivots`` (records), ``B``."""
    n, columns = forms[1].matrix
    return factors.solution((n, n), columns, limits, transposed=transposed, equilibrated=equilibrated)


@unvaried
def call_plan(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of a call: upload, U's diagonal, substitution, read-back."""
    lu_form, b_form = forms
    n, columns = b_form.matrix
    draft = Draft("lu_solve")
    results: dict[str, str] = {}
    both_at_home = not (lu_form.resident or b_form.resident)
    named = list(zip(("LU", "B"), forms, strict=True))
    if both_at_home:
        exponents = scaling.add_scaled(draft, forms)
        slots = {name: upload(draft, f"scaled {name}", form.matrix, limits, form.transposed) for name, form in named}
    else:
        slots = {name: bring_in(draft, name, form, limits, results) for name, form in named}
    records = factors.upload_records(draft, steps((n, n)))
    made = factors.FactorSlots((n, n), slots["LU"], records)
    results["diagonal"] = factors.read_diagonal(draft, made)
    x = factors.substitute(draft, made, slots["B"], columns, limits, transposed=transposed)
    if both_at_home:
        x = scaling.add_scaled_back(draft, read_back(draft, x, (n, columns), limits, "X"), exponents)
    else:
        watch(draft, "X", x, (n, columns), results)
    far = Transition(FAR, FALLBACK, partial(fallback_plan, forms, limits, transposed=transposed))
    return draft.plan({**results, "X": x}, after=(ZERO, far))


@cached_plan
def fallback_plan(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of the solution on the host, in float64."""
    draft, n = Draft(FALLBACK), forms[0].matrix[0]
    given = [at_home(draft, name, form, limits) for name, form in zip(("LU", "B"), forms, strict=True)]
    given.append(draft.operand("pivots", texels_of(Storage(1, steps((n, n))))))

    def solved(lu: Float32, b: Float32, records: Float32) -> tuple[Float32]:
        return (scaling.in_float64(lu, b, permutation_of(exchanges(records, n), n), transposed),)

    made = draft.host(scaling.IN_FLOAT64, solved, tuple(given), {"X": forms[1].matrix})
    return draft.plan(made, flops_of_both(forms))


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of a stack of systems."""
    inner = plu_batches.substitute(forms, limits, transposed=transposed)
    (rows, columns), count = forms[1].matrix, forms[0].count
    factors_, solutions = (count, rows, rows), (count, rows, columns)

    def parted(raw: Float32) -> tuple[Float32, Float32, Float32]:
        lu, b, rest = np.split(raw.reshape(-1), (prod(factors_), prod(factors_) + prod(solutions)))
        return lu.reshape(factors_), b.reshape(solutions), rest

    def scaled(raw: Float32) -> tuple[Float32, NDArray[np.int32]]:
        *operands, rest = parted(raw)
        lu, b, exponents = scaling.scaled(*operands)
        return np.concatenate([lu.reshape(-1), b.reshape(-1), rest]), exponents

    def back(raw: Float32, elements: Float32, records: Float32, exponents: NDArray[np.int32]) -> tuple[Float32]:
        x = scaling.scaled_back(records.reshape(-1)[: prod(solutions)].reshape(solutions), exponents)[0]
        (lu, b, _), as_solved, as_given = parted(raw), parted(elements)[0], np.arange(rows)  # B's rows are in order
        lost = np.flatnonzero(~scaling.each_safe(as_solved))
        if len(lost):
            x = x.copy()
            x[lost] = scaling.in_float64(lu[lost], b[lost], as_given, transposed)
        return (x,)

    draft = Draft(inner.operation)
    storage = texture(inner.slots["raw"])
    raw = draft.operand("raw", texels_of(storage))
    shapes = {"scaled": texels_of(storage), "exponents": HostArray((count, 1, columns))}
    elements, exponents = draft.host(scaling.SCALE, scaled, (raw,), shapes)
    given = (raw, elements, records_of(draft, "substitute", inner, elements), exponents)
    (x,) = draft.host(scaling.BACK, back, given, {"X": solutions})
    return draft.plan({"records": x}, after=(ZERO,))


@cached_plan
def on_device(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of a batch on the device, with transitions for single matrices."""
    made = triangle_batches.with_factors(forms, limits, transposed=transposed)
    far = Transition(
        FAR, FALLBACK, partial(fallback_plan, tuple(Form(form.matrix) for form in forms), limits, transposed=transposed)
    )
    return replace(made, after=(ZERO, far))


def not_accepted(numbers: Mapping[str, Float32], **options: bool) -> NDArray[np.bool_]:
    """Which systems of a batch came near float32's limits, or have a zero on U's diagonal."""
    ends = [numbers[f"{end}_{name}"][:, 0] for name in "UB" for end in ("least", "most")]
    diagonal = numbers["diagonal"][:, 0]
    near = each_near_one(np.stack([*ends, diagonal], axis=1)) & np.isfinite(numbers["most_X"][:, 0])
    bad: NDArray[np.bool_] = ~near | (diagonal == 0)
    return bad


def _singular(forms: Forms, values: Values) -> SingularMatrixError | None:
    """Error if U has a zero on its diagonal, in any matrix of a batch.

    Before anything runs, `values` has ``diagonal`` as it is, later as texels, beside ``X``.
    """
    lu = values.get("LU")  # on the host it was scaled since
    if isinstance(lu, np.ndarray):
        given = np.diagonal(lu)
    else:
        given = of_diagonal(values["diagonal"], forms[0].shape[-1])[0] if "X" in values else values["diagonal"]
    zeros = np.argwhere(given == 0)
    if not len(zeros):
        return None
    *index, place = (int(i) for i in zeros[0])
    which = values.get("which") or matrix_of_stack(tuple(index))
    return SingularMatrixError(
        f"lu_solve: Singular matrix{which}: U is zero at place {place} of its diagonal; "
        "the system has no unique solution"
    )


def _lost(forms: Forms, values: Values) -> bool:
    near = near_one(values["largest_B"].flat[0]) if "largest_B" in values else True
    return not (near and scaling.safe(*of_diagonal(values["diagonal"], forms[0].shape[-1])))


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """Factors of a well-conditioned matrix without row exchanges, and a right-hand side."""
    lu = rng.uniform(-1, 1, (n, n)) / n + np.diag(rng.uniform(1, 2, n))
    return lu.astype(np.float32), rng.standard_normal((n, 1)).astype(np.float32)


LU_SOLVE = Operation(
    name="lu_solve",
    formula="L U X = B",
    about=Variant(
        "exchange the rows of B, then two substitutions: L Y = B and U X = Y", "LAPACK getrs; Higham 2002, chapter 8"
    ),
    operands=("lu", "B"),
    results=("X",),
    check=partial(by_factors, "lu_solve", name="lu"),
    flops=flops_of_both,
    device_plan=device_plan,
    call_plan=call_plan,
    example=example,
    settle=of_given_factors(_singular, _lost),
    trial=Trial(aside=lambda forms: {"pivots": pivot_records(np.arange(forms[0].shape[-1]))}),  # no exchanges
    function=Function(arguments=lambda lu, b: ((lu, np.arange(len(lu))), b), vectors={"B": 1}),
    taken=Taken(aligned=aligned, fits=True),
    batch=Batch(
        plu_batches.most_systems, batched, Layout(lambda forms: forms[1].matrix), Filter(lost=not_accepted), on_device
    ),
    tiles=streams.substitution,
)
