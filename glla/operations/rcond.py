"""The reciprocal condition number, estimated from the factors: Hager's method climbs from corner to corner."""

from __future__ import annotations

from functools import lru_cache, partial
from math import prod

from glla.operations import care
from glla.operations.crossing import at_home
from glla.operations.elimination.counts import flops as elimination_flops
from glla.operations.elimination.plu import SCALED, scaled_by_one
from glla.operations.inverse import core, example, square
from glla.operations.record import Operation
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Next, Parameters, Plan, host


def flops(forms: Forms) -> int:
    """Additions and multiplications: those of the factors, and of two steps of Hager's method."""
    n = forms[0].shape[-1]
    return prod(forms[0].stack) * (elimination_flops((n, n)) + 8 * n * n)


@lru_cache(maxsize=64)
def whole(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    complete: bool = False,
    variant: None = None,
    parameters: Parameters = (),
) -> Plan:
    """Plan of the factors of a matrix that is scaled by a power of two; then come the steps of Hager's method."""
    (form,) = forms
    n = form.shape[-1]
    draft = Draft("complete pivoting" if complete else "rcond")
    a, scaled = at_home(draft, "A", form, limits), draft.slot("scaled A", host((n, n)))
    if complete:
        draft.host(care.ORDER, care._ordered, (a,), (scaled,), flops=2 * n**3 // 3)
    else:
        draft.host(SCALED, lambda a: (scaled_by_one(a)[0],), (a,), (scaled,))
    made = draft.call("factors", care.made_on_device(n, limits), A=scaled)
    further = Next("entries grew", "complete pivoting", partial(whole, (Form((n, n)),), limits, complete=True))
    climb = Next("no pivot is zero", "step of Hager's method", partial(step, n, limits, False))
    return draft.plan(made, flops(forms), after=(climb,) if complete else (further, climb))


def step(n: int, limits: Limits, transposed: bool) -> Plan:
    """Plan of a solution for one vector, with A or with its transpose."""
    plan = care.solution(n, 1, limits, transposed)
    draft = Draft("with the transpose" if transposed else "step of Hager's method")
    slots = {name: draft.operand(name, plan.slots[name]) for name in plan.operands}
    x = draft.call("solution", plan, **slots)["X"]
    if transposed:
        after = (
            Next(
                "another corner is higher, at most 5 times", "step of Hager's method", partial(step, n, limits, False)
            ),
        )
    else:
        after = (Next("the estimate grew", "with the transpose", partial(step, n, limits, True)),)
    last = Next(
        "it did not: for a vector of alternating signs, once", "step of Hager's method", partial(step, n, limits, False)
    )
    return draft.plan({"X": x}, after=(*after, last))


RCOND = Operation(
    name="rcond",
    formula="1 / (norm(A) norm(A^-1))",
    operands=("A",),
    results=("rcond",),
    check=partial(square, "rcond"),
    flops=flops,
    core=core,
    whole=whole,
    example=example,
    values=None,
)
