"""The reciprocal condition number, estimated from the factors.

norm(A^-1) is the largest norm(A^-1 x) of all x with norm 1. In the 1-norm it is a convex function on a polytope, so it
has its largest value at a corner: a unit vector. Hager's method climbs from corner to corner. Each step solves with A
and with its transpose; two or three steps are nearly always enough, and the estimate is seldom below a third.

Sources: Hager, "Condition estimates" (1984); Higham, "FORTRAN codes for estimating the one-norm of a real or complex
matrix" (1988), which is LAPACK's lacn2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations import acceptance
from glla.operations.acceptance import BATCHED, FALLBACK, Continue, Done, Values, Verdict
from glla.operations.elimination import factors, fallback
from glla.operations.elimination.pivot import flops as elimination_flops
from glla.operations.elimination.plu import SCALED, example, scaled_by_one
from glla.operations.host.scaling import Float64
from glla.operations.layouts.crossing import at_home, bring_in
from glla.operations.layouts.shapes import square
from glla.operations.product import residual
from glla.operations.record import Layout, Operation, Taken, Trial, unvaried
from glla.operations.systems import solve
from glla.passes import PLAIN, Draft, Form, Forms, HostArray, Limits, Plan, Transition, Variant
from glla.passes.cache import cached_plan

STEP, TRANSPOSED, LAST = "step of Hager's method", "with the transpose", "alternating signs"
"""Names of the stages after the factors."""

MOST_STEPS = 5
"""Steps of Hager's method, as in LAPACK."""


def flops(forms: Forms) -> int:
    """Additions and multiplications: those of the factors, and of two steps of Hager's method."""
    n = forms[0].shape[-1]
    return prod(forms[0].stack) * (elimination_flops((n, n)) + 8 * n * n)


@unvaried
def call_plan(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the factors of a matrix, and of its norm; then come the steps of Hager's method.

    A matrix of the host is scaled by a power of two first. One on the device stays there: only if its entries are near
    float32's limits, or grow, it is read back and scaled.
    """
    (form,) = forms
    if not form.resident:
        return replace(fallback_plan(form, limits), operation="rcond")
    shape, n = form.matrix, form.shape[-1]
    draft, results = Draft("rcond"), dict[str, str]()
    a = bring_in(draft, "A", form, limits, results)
    results["norm_read"] = residual.add_norm(draft, a, shape, "norm_read")
    made = factors.factor(draft, a, shape, limits)
    results |= {"LU": made.lu, "pivots": made.records, "diagonal": factors.read_diagonal(draft, made)}
    return draft.plan(results, flops(forms), after=(_to_fallback(form, limits), _climb(n, limits)))


def _to_fallback(form: Form, limits: Limits) -> Transition:
    return Transition("entries grew, or are beyond 2^-40 to 2^40", FALLBACK, partial(fallback_plan, form, limits))


@cached_plan
def fallback_plan(form: Form, limits: Limits) -> Plan:
    """Plan of the factors of a matrix that is scaled by a power of two on the host."""
    n = form.shape[-1]
    draft = Draft(FALLBACK)
    a = at_home(draft, "A", form, limits)
    (scaled,) = draft.host(SCALED, lambda a: (scaled_by_one(a)[0],), (a,), {"scaled A": (n, n)})
    made = draft.call("factors", fallback.made_on_device(n, limits), A=scaled)
    further = Transition("entries grew", fallback.COMPLETE, partial(complete, n, limits))
    return draft.plan({"scaled A": scaled, **made}, flops((form,)), after=(further, _climb(n, limits)))


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the inverses of a batch, with transitions for single matrices."""
    form = forms[0].single
    when = "entries grew, a pivot is small, or entries are beyond 2^-40 to 2^40"
    then = replace(_to_fallback(form, limits), when=when)
    return replace(solve.batched(forms, limits), operation="stack[rcond]", after=(then,))


def most_batched(forms: Forms, limits: Limits) -> int:
    """Matrices of a stack that one plan may invert at once; 0: they are looped, as a matrix alone does."""
    return solve.most_batched(forms, limits) if forms[0].stack else 0


def of_norms(norm: Any, inverse_norm: Any) -> NDArray[np.float32]:
    """Reciprocal condition numbers of a stack; 0 for a norm of zero, NaN for one that is not finite."""
    wide = np.asarray(norm, dtype=np.float64)
    with np.errstate(all="ignore"):
        found = np.where(wide == 0, 0.0, 1.0 / (wide * inverse_norm))
        return np.where(np.isfinite(wide), found, np.nan).astype(np.float32)


def results(known: Mapping[str, Any]) -> dict[str, NDArray[np.float32]]:
    """Reciprocal condition numbers of a batch, from the norms of its matrices and of their inverses."""
    if "norms" in known:
        return {"rcond": of_norms(*known["norms"].T)}
    (a,) = known["operands"]
    return {"rcond": of_norms(norms(a), norms(known["matrices"]))}


def norms(a: NDArray[np.floating]) -> NDArray[np.float64]:
    """Norms of the matrices of a stack: their largest sums of a column's magnitudes.

    >>> norms(np.float32([[[1, -2], [3, 4]]]))
    array([6.])
    """
    largest: NDArray[np.float64] = np.max(np.sum(np.abs(a.astype(np.float64)), axis=-2), axis=-1)
    return largest


def _climb(n: int, limits: Limits) -> Transition:
    return Transition("no pivot is zero", STEP, partial(step, n, limits, STEP))


@cached_plan
def complete(n: int, limits: Limits) -> Plan:
    """Plan of the factors with the columns in the order of complete pivoting."""
    draft = Draft(fallback.COMPLETE)
    made = fallback.add_complete(draft, draft.operand("scaled A", HostArray((n, n))), n, limits)
    return draft.plan(made, after=(_climb(n, limits),))


@cached_plan
def step(n: int, limits: Limits, name: str) -> Plan:
    """Plan of a solution for one vector, with A or with its transpose."""
    plan = fallback.solution(n, 1, limits, name == TRANSPOSED)
    draft = Draft(name)
    slots = {name: draft.operand(name, plan.slots[name]) for name in plan.operands}
    x = draft.call("solution", plan, **slots)["X"]
    further = {
        STEP: (TRANSPOSED, "the estimate grew"),
        TRANSPOSED: (STEP, "another corner is higher, at most 5 times"),
    }
    stages = [further[name], (LAST, "it did not: for a vector of alternating signs")] if name in further else []
    after = (Transition(when, stage, partial(step, n, limits, stage)) for stage, when in stages)
    return draft.plan({"X": x}, after=tuple(after))


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Verdict on the factors, or on a step of Hager's method; `Done` has ``rcond``."""
    if stage in ("", BATCHED) and not acceptance.finite(values, "A"):
        return Done({"rcond": np.nan})  # let through on purpose
    if stage == BATCHED:
        return Continue(FALLBACK) if values["A"].any() else Done({"rcond": 0.0})
    n = forms[0].shape[-1]
    if stage in ("", FALLBACK, fallback.COMPLETE):
        return _factored(stage, values, n)
    solution = values["X"][:, 0].astype(np.float64)
    if stage == STEP:
        size = float(np.sum(np.abs(solution)))
        if not size > values["estimate"]:  # no higher corner, or no number
            return _last(n)
        signs = np.where(solution >= 0, 1.0, -1.0)
        return Continue(TRANSPOSED, {"estimate": size, "B": _vector(signs), "steps": values["steps"] + 1})
    if stage == TRANSPOSED:
        steepest = int(np.argmax(np.abs(solution)))
        if np.abs(solution[steepest]) <= solution @ values["corner"] or values["steps"] == MOST_STEPS:
            return _last(n)
        corner = np.zeros(n)
        corner[steepest] = 1.0
        return Continue(STEP, {"corner": corner, "B": _vector(corner)})
    other = 2.0 * float(np.sum(np.abs(solution))) / (3.0 * n)
    finite = np.isfinite(values["estimate"]) and np.isfinite(other)
    inverse_norm = max(values["estimate"], other) if finite else np.inf
    return Done({"rcond": 1.0 / (values["norm"] * inverse_norm) if values["norm"] > 0 else 0.0})


def _factored(stage: str, values: Values, n: int) -> Verdict:
    u, largest = acceptance.of_diagonal(values["diagonal"], n)
    if "scaled A" in values:
        scaled = values["scaled A"]
        # Columns that were exchanged are rows of the inverse: the norm is the same.
        size, norm = float(np.max(np.abs(scaled))), float(norms(scaled))
    else:
        size, norm = (float(values[name].flat[0]) for name in ("largest_A", "norm_read"))
        if size == 0 or not acceptance.size_near_one(size):
            return Continue(FALLBACK)  # zeros may be denormals
    if size == 0:
        return Done({"rcond": 0.0})
    growth = acceptance.growth(u, largest, size)
    if stage != fallback.COMPLETE and acceptance.grew(growth, n):
        return Continue(fallback.COMPLETE if "scaled A" in values else FALLBACK)
    if np.isinf(growth) or not u.all():
        return Done({"rcond": 0.0})
    corner = np.full(n, 1.0 / n)
    return Continue(STEP, {"norm": norm, "corner": corner, "B": _vector(corner), "estimate": 0.0, "steps": 0})


def _last(n: int) -> Continue:
    """Last step, for entries that cancel in Hager's method."""
    alternating = np.where(np.arange(n) % 2, -1.0, 1.0) * (1.0 + np.arange(n) / max(n - 1, 1))
    return Continue(LAST, {"B": _vector(alternating)})


def _vector(x: Float64) -> NDArray[np.float32]:
    return x.astype(np.float32)[:, np.newaxis]


RCOND = Operation(
    name="rcond",
    formula="1 / (norm(A) norm(A^-1))",
    about=Variant(
        "Hager's method climbs from unit vector to unit vector, solving with A and with its transpose",
        "Hager 1984; Higham 1988, LAPACK lacn2",
    ),
    operands=("A",),
    results=("rcond",),
    check=partial(square, "rcond"),
    flops=flops,
    device_plan=solve.inverse_plan,
    call_plan=call_plan,
    example=example,
    trial=Trial(values=None),
    settle=settle,
    batch=replace(
        solve.SYSTEMS,
        most=most_batched,
        records_plan=batched,
        layout=Layout(lambda forms: forms[0].matrix, 3, results=results),
        filter=replace(solve.SYSTEMS.filter, extras=("least", "norms")),
    ),
    taken=Taken(fits=True),
)
