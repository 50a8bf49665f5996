"""Systems with more right-hand sides than fit at once: a matrix stays on the device, blocks of columns are streamed.

Each function has the name of its operation. It takes the call, the place of a matrix in its batch, and its operands,
arrays of the host; it gives X, by its name. `glla.linalg.tiling` moves the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glla.array.array import Array, upload
from glla.array.convert import Float32
from glla.gl import Device, Texture
from glla.gl.observers import host_step
from glla.linalg import tiling
from glla.linalg.batches import Index, Results
from glla.linalg.caller import Caller
from glla.linalg.execution import on_device, run_stages
from glla.linalg.factors import factorise, from_pivots
from glla.linalg.operands import explained
from glla.linalg.systems import Substitution
from glla.operations import OPERATIONS, acceptance
from glla.operations.acceptance import matrix_of_stack
from glla.operations.elimination import fallback
from glla.operations.elimination.plu import permutation_of
from glla.operations.record import FALLBACK, Continue
from glla.operations.systems import lu_scaling as scaling
from glla.operations.triangles import solve_triangular as triangles
from glla.passes import Plan, forms_of
from glla.passes import resident as on_the_device

FALLBACK_COLUMNS = 256
"""Columns of a block of right-hand sides that are solved by the fallback."""


def solve(call: Caller, index: Index, a: Float32, b: Float32 | None = None) -> Results:
    """Solve for all columns of `b`, or of the identity."""
    equilibrate = bool(call.options.get("equilibrate", True))
    with explained(call.function, a):
        factors = factorise(upload(a, call.device), equilibrate_first=equilibrate)
    order = len(a)
    columns = order if b is None else b.shape[1]
    x = np.empty((order, columns), dtype=np.float32)
    blocks = tiling.columns_of_identity(order) if b is None else tiling.columns_of(b)
    if factors.in_bounds(a) and (b is None or acceptance.largest_near_one(b)):
        factors.check_regular(call.function, matrix_of_stack(index))
        tiling.solve(factors, blocks, x)
        return {"X": x}
    for left in range(0, columns, FALLBACK_COLUMNS):
        place = slice(left, min(left + FALLBACK_COLUMNS, columns))
        values = {"A": a, "B": blocks(place), "function": call.function, "which": matrix_of_stack(index)}
        forms = forms_of((a, values["B"]))
        plan = fallback.fallback_plan(fallback.System(*forms[1].matrix, call.device.limits), forms, equilibrate)
        perform = on_device(call.device, plan)
        x[:, place] = run_stages(OPERATIONS[call.operation], forms, perform, values, FALLBACK)["X"]
    return {"X": x}


inv = solve


def lu_solve(call: Substitution, index: Index, lu: Float32, b: Float32) -> Results:
    """Solve for all columns of `b` with factors of the host."""
    piv, transposed = call.exchanges_of(index), bool(call.options["transposed"])
    left, right, exponents = host_step(scaling.SCALE)(scaling.scaled)(lu, b)
    if not scaling.safe_factors(left):
        return {"X": scaling.in_float64(lu, b, permutation_of(piv, len(lu)), transposed)}
    with explained("lu_solve", lu):
        factors = from_pivots(upload(left, call.device), piv)
    x = np.empty(b.shape, dtype=np.float32)
    tiling.solve(factors, tiling.columns_of(right), x, transposed=transposed)
    (x,) = host_step(scaling.BACK)(scaling.scaled_back)(x, exponents)
    return {"X": x}


def solve_triangular(call: Caller, index: Index, a: Float32, b: Float32) -> Results:
    """Solve for all columns of `b` with a triangle."""
    variant = call.variant if call.operation == "solve_triangular" else None
    operation, forms = OPERATIONS["solve_triangular"], forms_of((a, b))
    options = {"transposed": False, **call.options}
    with explained(call.function, a):
        triangle = Triangle(call.device, upload(a, call.device), variant, options)
    x = np.empty(b.shape, dtype=np.float32)
    tiling.solve(triangle, tiling.columns_of(b), x)
    values = {"T": a, "B": b, "function": call.function, "which": matrix_of_stack(index), **options}
    verdict = triangles.settle(forms, "", {**values, "X": x})
    if isinstance(verdict, Continue):
        again = triangles.fallback_plan(forms, call.device.limits, **options)
        x = run_stages(operation, forms, on_device(call.device, again), values, verdict.stage)["X"]
    return {"X": x}


def triangular_inverse(call: Caller, index: Index, a: Float32) -> Results:
    """Invert a triangle."""
    return solve_triangular(call, index, a, np.eye(len(a), dtype=np.float32))


@dataclass(frozen=True)
class Triangle:
    """A triangle on the device, past which blocks of right-hand sides stream: a `glla.linalg.tiling.Solver`."""

    device: Device
    a: Array
    variant: str | None
    options: dict[str, bool]

    @property
    def held(self) -> Texture:
        """Texture of the packed matrix."""
        return self.a.texture

    def solution(self, columns: int, transposed: bool = False) -> Plan:
        """Plan of the solution for as many right-hand sides."""
        n = self.a.shape[0]
        options = {**self.options, "transposed": self.options["transposed"] != transposed}
        forms = on_the_device((n, n), (n, columns))
        return triangles.solution(forms, self.device.limits, variant=self.variant, **options)

    def solve(self, b: Array, transposed: bool = False) -> Array:
        """Solve for right-hand sides on the device. Does not synchronise."""
        plan = self.solution(b.shape[1], transposed)
        return Array(self.device, self.device.run(plan, T=self.held, B=b.texture)["X"], b.value.matrix)
