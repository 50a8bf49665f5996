"""Systems with more right-hand sides than fit at once: a matrix stays on the device, blocks of columns are streamed.

Each function has the name of its operation. It takes the call, the place of a matrix in its batch, and its operands,
arrays of the host; it gives X, by its name. `glla.linalg.tiling` moves the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from glla.array.array import upload
from glla.array.convert import Float32
from glla.gl import Device, Texture
from glla.gl.observers import host_step
from glla.linalg import tiling
from glla.linalg.batches import Index, Results
from glla.linalg.caller import Caller
from glla.linalg.execution import on_device, run_stages, stored
from glla.linalg.operands import explained
from glla.linalg.systems import Substitution
from glla.operations import OPERATIONS, Operation
from glla.operations.acceptance import FALLBACK, Continue, Done, Values, Verdict, matrix_of_stack, unless_error
from glla.operations.elimination import fallback
from glla.operations.elimination.plu import permutation_of, pivot_records
from glla.operations.systems import lu_scaling as scaling
from glla.operations.systems import streams
from glla.operations.systems.lu_solve import device_plan as lu_solve_plan
from glla.operations.systems.streams import EXPONENTS, FACTORS
from glla.operations.triangles import solve_triangular as triangles
from glla.passes import Forms, Plan, forms_of
from glla.passes import resident as on_the_device

FALLBACK_COLUMNS = 256
"""Columns of a block of right-hand sides that are solved by the fallback."""


def solve(call: Caller, index: Index, a: Float32, b: Float32 | None = None) -> Results:
    """Solve for all columns of `b`, or of the identity."""
    operands = (a,) if b is None else (a, b)
    forms, equilibrate = forms_of(operands), bool(call.options.get("equilibrate", True))
    plan, values = streams.factored(forms, call.device.limits, equilibrate=equilibrate), call._values(operands, index)
    with explained(call.function, a):
        found = run_stages(_until_fallback(call.record), forms, on_device(call.device, plan), values)
    order, columns = forms[-1].matrix
    x = np.empty((order, columns), dtype=np.float32)
    if not found.get(FALLBACK):
        factors = {name: stored(found[name]) for name in FACTORS + EXPONENTS if name in found}
        tiling.solve(held_factors(call.device, factors, order), b, x)
        return {"X": x}
    for left in range(0, columns, FALLBACK_COLUMNS):
        place = slice(left, min(left + FALLBACK_COLUMNS, columns))
        values["B"] = tiling.some_columns(b, order, place)
        forms = forms_of((a, values["B"]))
        again = fallback.fallback_plan(fallback.System(*forms[1].matrix, call.device.limits), forms, equilibrate)
        x[:, place] = run_stages(call.record, forms, on_device(call.device, again), values, FALLBACK)["X"]
    return {"X": x}


def _until_fallback(operation: Operation) -> Operation:
    """Let `settle` judge the factors, and end where it asks for the fallback, which goes block by block."""

    def settle(forms: Forms, stage: str, values: Values) -> Verdict:
        assert operation.settle is not None
        verdict = operation.settle(forms, stage, values)
        return Done({FALLBACK: True}) if verdict == Continue(FALLBACK) else verdict

    return replace(operation, settle=settle)


inv = solve


def lu_solve(call: Substitution, index: Index, lu: Float32, b: Float32) -> Results:
    """Solve for all columns of `b` with factors of the host."""
    piv, transposed = call.exchanges_of(index), bool(call.options["transposed"])
    left, right, exponents = host_step(scaling.SCALE)(scaling.scaled)(lu, b)
    if not scaling.each_safe(left[np.newaxis])[0]:
        return {"X": scaling.in_float64(lu, b, permutation_of(piv, len(lu)), transposed)}
    with explained("lu_solve", lu):
        held = upload(left, call.device).texture
        records = call.device.write_texels(pivot_records(piv))
        factors = held_factors(call.device, {"LU": held, "pivots": records}, len(lu), transposed)
    x = np.empty(b.shape, dtype=np.float32)
    tiling.solve(factors, right, x)
    (x,) = host_step(scaling.BACK)(scaling.scaled_back)(x, exponents)
    return {"X": x}


def solve_triangular(call: Caller, index: Index, a: Float32, b: Float32) -> Results:
    """Solve for all columns of `b` with a triangle."""
    variant = call.variant if call.operation == "solve_triangular" else None
    operation, forms = OPERATIONS["solve_triangular"], forms_of((a, b))
    options = {"transposed": False, **call.options}
    with explained(call.function, a):
        held = upload(a, call.device).texture

    def solution(columns: int) -> Plan:
        own = on_the_device(a.shape, (len(a), columns))
        return triangles.solution(own, call.device.limits, variant=variant, **options)

    x = np.empty(b.shape, dtype=np.float32)
    tiling.solve(tiling.Held(call.device, {"T": held}, solution), b, x)
    values = {"T": a, "B": b, "function": call.function, "which": matrix_of_stack(index), **options}
    verdict = unless_error(triangles.settle(forms, "", {**values, "X": x}))
    if isinstance(verdict, Continue):
        again = triangles.fallback_plan(forms, call.device.limits, **options)
        x = run_stages(operation, forms, on_device(call.device, again), values, verdict.stage)["X"]
    return {"X": x}


def triangular_inverse(call: Caller, index: Index, a: Float32) -> Results:
    """Invert a triangle."""
    return solve_triangular(call, index, a, np.eye(len(a), dtype=np.float32))


def held_factors(device: Device, operands: Mapping[str, Texture], order: int, transposed: bool = False) -> tiling.Held:
    """Factors on the device, by the names of `FACTORS` and `EXPONENTS`; of the transpose, if it is asked for."""

    def solution(columns: int) -> Plan:
        forms = on_the_device((order, order), (order, columns))
        scaled = len(operands) > len(FACTORS)
        return lu_solve_plan(forms, device.limits, transposed=transposed, equilibrated=scaled)

    return tiling.Held(device, operands, solution)
