"""What comes where the usual way must not be trusted: the stages of `glla.linalg.remedies`, as plans.

care                  scale on the host, factor with partial pivoting
complete pivoting     the same with the columns in another order
probe                 solve for random numbers: how large is the inverse?
look at the pivots    read the factors back, compare small pivots with their rounding errors
substitute            solve for the right-hand sides
refine                residual in float64 on the host, correction by the same factors; again and again
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from glla.operations import factors
from glla.operations.crossing import at_home, read_back, upload
from glla.operations.elimination.complete import complete_order
from glla.operations.elimination.noise import rounding_errors
from glla.operations.scaling import scaling
from glla.passes import Draft, Form, Forms, Limits, Next, Plan, host
from glla.passes.layout import Shape

SCALE, ORDER, ERRORS, RESIDUAL = (
    "scale rows and columns by powers of two",
    "order of complete pivoting",
    "rounding errors of the pivots",
    "residual in float64",
)
"""Work of the host, by the words that a plan and a trace have for it."""

GREW = "entries grew, or rows, columns or right-hand sides are beyond 2^-40 to 2^40"
SMALL = "a pivot is small, or the inverse large"
SINGULAR = "SingularMatrixError: a pivot may be nothing but rounding error"
OVERFLOW = "NonFiniteError: the factors do not fit float32"
DIVERGED = "ConvergenceError: entries grow too much"


def of_systems(forms: Forms, limits: Limits) -> tuple[Next, ...]:
    """What may come after a system was solved the usual way; with A alone it was inverted."""
    n, columns = forms[-1].matrix
    return (
        Next(GREW, "care", partial(care, n, columns, limits, forms=forms)),
        Next(SMALL, "look at the pivots", partial(look, n, columns, limits, None)),
    )


def factored(
    draft: Draft, source: str, shape: Shape, limits: Limits, pivoting: str = "partial", **options: object
) -> factors.FactorSlots:
    """Add upload and factorisation of an array of the host, and the read-back of the figures of its factors."""
    a = upload(draft, source, shape, limits)
    made = factors.factor(draft, a, shape, limits, pivoting=pivoting, **options)  # type: ignore[arg-type]
    return made


@lru_cache(maxsize=32)
def made_on_device(n: int, limits: Limits, after: tuple[Next, ...] = ()) -> Plan:
    """Plan of the factors of an n x n array of the host, with U's diagonal read back."""
    draft = Draft("factors")
    a = draft.operand("A", host((n, n)))
    made = factored(draft, a, (n, n), limits)
    diagonal = factors.read_diagonal(draft, made)
    return draft.plan({**made.results, "diagonal": diagonal}, after=after)


def care(n: int, columns: int, limits: Limits, complete: bool = False, forms: Forms = (), scaled: bool = True) -> Plan:
    """Plan of the factors of a system that is scaled on the host first; what is on the device is read back."""
    draft = Draft("complete pivoting" if complete else "care")
    a, *_ = [at_home(draft, name, form, limits) for name, form in zip("AB", forms or (Form((n, n)),), strict=False)]
    start = draft.slot("scaled A", host((n, n))) if complete or scaled else a
    if complete:
        draft.host(ORDER, _ordered, (a,), (start,), flops=2 * n**3 // 3)
    elif scaled:
        draft.host(SCALE, _scaled, (a,), (start,))
    inner = made_on_device(n, limits)
    made = draft.call("factors", inner, A=start)
    further = Next("entries grew", "complete pivoting", partial(care, n, columns, limits, True))
    grew = () if complete else (further,)
    last = (Next("the factors are not finite", error=OVERFLOW),) if complete else ()
    return draft.plan(made, after=(*grew, *last, _probe(n, columns, limits), _look(n, columns, limits)))


def _probe(n: int, columns: int, limits: Limits) -> Next:
    return Next("no pivot is small", "probe", partial(probe, n, columns, limits))


def _look(n: int, columns: int, limits: Limits) -> Next:
    return Next("a pivot is small", "look at the pivots", partial(look, n, columns, limits, columns))


@lru_cache(maxsize=32)
def probe(n: int, columns: int, limits: Limits) -> Plan:
    """Plan of the solutions for random numbers, by factors that are there."""
    draft = Draft("probe")
    x = factors.probe(draft, factors.operands(draft, (n, n), False), limits)
    return draft.plan(
        {"probe_solutions": x},
        after=(
            Next("the inverse is large", "look at the pivots", partial(look, n, columns, limits, columns)),
            Next(
                "the inverse is large, and entries grew", "complete pivoting", partial(care, n, columns, limits, True)
            ),
            Next("the factors stand", "substitute", partial(substituted, n, columns, limits)),
            Next("the factors stand, for refinement", "refine", partial(refine, n, columns, limits)),
        ),
    )


def look(n: int, columns: int, limits: Limits, then: int | None) -> Plan:
    """Plan of a close look at the pivots."""
    draft = Draft("look at the pivots")
    lu = factors.operands(draft, (n, n), False).lu
    array = read_back(draft, lu, (n, n), limits, "LU of the host")
    errors = draft.slot("errors", host((n,)))
    draft.host(ERRORS, lambda lu: (rounding_errors(lu, np.arange(len(lu))),), (array,), (errors,), flops=4 * n**3)
    singular = Next("a pivot is not above its rounding error", error=SINGULAR)
    if then is None:
        return draft.plan({"errors": errors}, after=(singular,))
    substitute_ = Next("the factors stand", "substitute", partial(substituted, n, columns, limits))
    refine_ = Next("the factors stand, for refinement", "refine", partial(refine, n, columns, limits))
    return draft.plan({"errors": errors}, after=(singular, substitute_, refine_))


def substituted(n: int, columns: int, limits: Limits) -> Plan:
    """Plan of the solution for right-hand sides of the host, by factors that are there."""
    plan = solution(n, columns, limits)
    draft = Draft("substitute")
    slots = {name: draft.operand(name, plan.slots[name]) for name in plan.operands}
    x = draft.call("solution", plan, **slots)["X"]
    refine_ = Next(
        "entries grew and the residual is above 8, or part of B was lost", "refine", partial(refine, n, columns, limits)
    )
    return draft.plan({"X": x}, after=(refine_,))


@lru_cache(maxsize=32)
def solution(n: int, columns: int, limits: Limits, transposed: bool = False, equilibrated: bool = False) -> Plan:
    """Plan of A X = B from host to host, by factors that are there."""
    draft = Draft("solution")
    made = factors.operands(draft, (n, n), equilibrated)
    b = upload(draft, draft.operand("B", host((n, columns))), (n, columns), limits)
    x = factors.substitute(draft, made, b, columns, limits, transposed=transposed)
    return draft.plan({"X": read_back(draft, x, (n, columns), limits, "solution")})


def refine(n: int, columns: int, limits: Limits) -> Plan:
    """Plan of one correction: residual on the host, correction on the device."""
    plan = solution(n, columns, limits)
    draft = Draft("refine")
    slots = {name: draft.operand(name, plan.slots[name]) for name in plan.operands if name != "B"}
    given = tuple(
        draft.operand(name, host(shape))
        for name, shape in (("A", (n, n)), ("X so far", (n, columns)), ("B", (n, columns)))
    )
    residual = draft.slot("residual", host((n, columns)))
    draft.host(RESIDUAL, lambda a, x, b: (b - a @ x,), given, (residual,), flops=2 * n * n * columns)
    x = draft.call("correction", plan, **slots, B=residual)["X"]
    return draft.plan(
        {"correction": x},
        after=(
            Next("the backward error went down, at most 40 times", "refine", partial(refine, n, columns, limits)),
            Next(
                "it does not come down, and entries grew", "complete pivoting", partial(care, n, columns, limits, True)
            ),
            Next("it does not come down", error=DIVERGED),
        ),
    )


def _scaled(a: NDArray[np.float32]) -> tuple[NDArray[np.float32]]:
    wide = a.astype(np.float64)
    rows, columns = scaling(wide)
    return (np.ldexp(wide, -rows - columns).astype(np.float32),)


def _ordered(a: NDArray[np.float32]) -> tuple[NDArray[np.float32]]:
    return (np.ascontiguousarray(a[:, complete_order(a)]),)
