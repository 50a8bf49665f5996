"""The inverse, as the solution of A X = I."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from glla.operations.elimination import fallback
from glla.operations.elimination.factors import factor, substitute
from glla.operations.elimination.plu import SOLVERS
from glla.operations.layouts import packing
from glla.operations.layouts.shapes import square
from glla.operations.record import Array, Function, Operation, Taken
from glla.operations.systems import solve
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, matrix
from glla.passes.cache import cached_plan


def flops(forms: Forms) -> int:
    """Additions and multiplications as LAPACK counts an inverse, 2 n^3; substituting into all of I takes 8/3 n^3."""
    return 2 * forms[0].count * forms[0].shape[-1] ** 3


@cached_plan
def device_plan(
    forms: Forms, limits: Limits = PLAIN, *, variant: str | None = None, parameters: tuple[tuple[str, int], ...] = ()
) -> Plan:
    """Plan of the inverse on the device: factors, then substitution into the identity. `variant` is one of `plu`."""
    shape = forms[0].matrix
    draft = Draft("inv")
    a = draft.operand("A", matrix(shape))
    made = factor(draft, a, shape, limits, equilibrated=True, variant=variant or None, parameters=parameters)
    b = draft.call("I", packing.identity(shape))["I"]
    return draft.plan({"X": substitute(draft, made, b, shape[0], limits)}, flops(forms))


def example(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """A matrix with entries between 0 and 10, as the thesis has them."""
    return (rng.uniform(0, 10, (n, n)).astype(np.float32),)


INV = Operation(
    name="inv",
    formula="A X = I",
    operands=("A",),
    results=("X",),
    check=partial(square, "inv"),
    flops=flops,
    device_plan=device_plan,
    call_plan=partial(solve.call_plan, inverse=True),
    example=example,
    variants=SOLVERS,
    thesis="rank2",
    settle=fallback.settle,
    batch=replace(solve.SYSTEMS, layout=replace(solve.SYSTEMS.layout, matrix=lambda forms: forms[0].matrix)),
    tiles=solve.streamed,
    taken=Taken(fits=True),
    function=Function(host="glla.hybrid.host:inv"),
)
