"""Fallback stages of `solve` and `inv`, and the conditions that lead from one to the next.

The default plan (equilibrate on the device, partial pivoting, two substitutions) reads back diagnostics, which reject
its result for entries that grow, pivots that may be rounding error, values near float32's limits. Then come the stages:

fallback              Scale rows, columns and right-hand sides by powers of two on the host, which can hold
                      denormals; factor with partial pivoting.
probe                 No growth: is the inverse so large that a pivot may be mere rounding error?
pivot check           Compare them with their rounding errors: the matrix may be singular.
substitute            Solve. After growth the residual, in float64, decides whether the solution is accepted.
refine                It is not, or entries of a right-hand side differ by more than float32's range: residual in
                      float64, correction by the same factors; again and again.
complete pivoting     That does not converge either: the columns are permuted into the order of complete pivoting.
                      Then the same again; then an error.

Speed is secondary here: random matrices pass the fast path. `solve(refine=True)` starts with the second stage.

Sources: Wilkinson 1961 (growth); Higham 2002, chapters 9 and 12.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.errors import ConvergenceError
from glla.operations import acceptance
from glla.operations.acceptance import BATCHED, FALLBACK, UNIT_ROUNDOFF, Continue, Done, Values, Verdict
from glla.operations.elimination import factors
from glla.operations.host.refinement import Refinement, rescaled_residual, turned
from glla.operations.host.scaling import Float64, of_system, right_sides
from glla.operations.layouts.crossing import at_home, read_back, texels_of, upload
from glla.operations.record import Float32
from glla.passes import Draft, Forms, HostArray, Limits, Plan, Storage, Transition, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import texels

SCALE, ORDER, ERRORS, SCALE_RESIDUAL, RESIDUAL = (
    "scale rows and columns by powers of two",
    "order of complete pivoting",
    "rounding errors of the pivots",
    "scale the residual by powers of two",
    "residual in float64",
)
"""Work of the host, by its names in plans and traces."""

COMPLETE, PROBE, PIVOT_CHECK, SUBSTITUTE, REFINE = (
    "complete pivoting",
    "probe",
    "pivot check",
    "substitute",
    "refine",
)
"""Names of the stages."""

GREW = "entries grew, or rows, columns or right-hand sides are beyond 2^-40 to 2^40"
SMALL = "a pivot is small, or the inverse large"
ZERO = Transition("a pivot is zero", error="SingularMatrixError: names the pivot")
SINGULAR = Transition("a pivot is not above its rounding error", error="SingularMatrixError: names the pivot")
DIVERGED = "ConvergenceError: the matrix is too ill-conditioned for float32 factors"


@dataclass(frozen=True)
class System:
    """A system whose stages these are."""

    n: int  # its order, and its right-hand sides
    columns: int
    limits: Limits
    refine: bool = False  # whether a solution in float64 is asked for

    @property
    def solved(self) -> tuple[Transition, ...]:
        """Transition after accepted factors."""
        made = partial(refine if self.refine else substituted, self)
        return (Transition("the factors are accepted", REFINE if self.refine else SUBSTITUTE, made),)


def of_systems(forms: Forms, limits: Limits, equilibrate: bool) -> tuple[Transition, ...]:
    """Transitions after the usual solution of a system, or with A alone its inversion."""
    n, columns = forms[-1].matrix
    own = System(n, columns, limits)
    return (
        Transition(GREW, FALLBACK, partial(fallback_plan, own, forms, equilibrate)),
        Transition(SMALL, PIVOT_CHECK, partial(check_pivots, own, False)),
        ZERO,
    )


# -- plans ------------------------------------------------------------------------------------------------------------


@cached_plan
def made_on_device(n: int, limits: Limits) -> Plan:
    """Plan of the factors of an n x n array of the host, with U's diagonal read back."""
    draft = Draft("factors")
    a = upload(draft, draft.operand("A", HostArray((n, n))), (n, n), limits)
    made = factors.factor(draft, a, (n, n), limits)
    diagonal = factors.read_diagonal(draft, made)
    return draft.plan({"LU": made.lu, "pivots": made.records, "diagonal": diagonal})


def add_scaled(draft: Draft, forms: Forms, limits: Limits, equilibrate: bool = True) -> dict[str, str]:
    """Add a system scaled on the host; operands on the device are read back. Without B it is the identity."""
    n, columns = forms[-1].matrix
    given = [at_home(draft, name, form, limits) for name, form in zip("AB", forms, strict=False)]
    shapes = {"scaled A": (n, n), "row exponents": (n, 1), "column exponents": (1, n),
              "scaled B": (n, columns), "sizes": (columns,)}  # fmt: skip
    return draft.host(SCALE, partial(scaled_system, equilibrate=equilibrate), tuple(given), shapes)


@cached_plan
def fallback_plan(system: System, forms: Forms, equilibrate: bool = True) -> Plan:
    """Plan of the factors of a system scaled on the host first; operands on the device are read back."""
    n, limits = system.n, system.limits
    draft = Draft(FALLBACK)
    if system.refine and not equilibrate:
        scaled, results = draft.operand("scaled A", HostArray((n, n))), {}
    else:
        results = add_scaled(draft, forms, limits, equilibrate)
        scaled = results["scaled A"]
    results |= draft.call("factors", made_on_device(n, limits), A=scaled)
    after: tuple[Transition, ...] = (
        Transition("entries grew, and a pivot is small or no number", COMPLETE, partial(complete, system)),
        Transition("no pivot is small", PROBE, partial(probe, system)),
        Transition("a pivot is small", PIVOT_CHECK, partial(check_pivots, system)),
        ZERO,
    )
    if system.refine:
        after += (Transition("entries are not finite, which was let through", error=DIVERGED),)
    return draft.plan(results, after=after)


@cached_plan
def complete(system: System) -> Plan:
    """Plan of the factors of a scaled matrix with its columns in the order of complete pivoting."""
    draft = Draft(COMPLETE)
    results = add_complete(draft, draft.operand("scaled A", HostArray((system.n, system.n))), system.n, system.limits)
    return draft.plan(
        results,
        after=(
            Transition("the factors are not finite", error="NonFiniteError: the factors do not fit float32"),
            *(() if system.refine else (Transition("nor were the first ones good", error=DIVERGED),)),
            Transition("no pivot is small", PROBE, partial(probe, system)),
            Transition("a pivot is small", PIVOT_CHECK, partial(check_pivots, system)),
            ZERO,
        ),
    )


def add_complete(draft: Draft, a: str, n: int, limits: Limits) -> dict[str, str]:
    """Add the factors of a matrix of the host with its columns in the order of complete pivoting."""
    ordered, order = draft.host(ORDER, _ordered, (a,), {"A in order": (n, n), "order": (n,)}, flops=2 * n**3 // 3)
    return {"order": order, **draft.call("factors", made_on_device(n, limits), A=ordered)}


@cached_plan
def probe(system: System) -> Plan:
    """Plan of the solutions for random numbers, by factors that are there."""
    draft = Draft(PROBE)
    x = factors.probe(draft, factors.operands(draft, (system.n, system.n), False), system.limits)
    after = (
        Transition("the inverse is large", PIVOT_CHECK, partial(check_pivots, system)),
        Transition("the inverse is large, and entries grew", COMPLETE, partial(complete, system)),
        *system.solved,
    )
    return draft.plan({"probe_solutions": x}, after=after)


@cached_plan
def check_pivots(system: System, solve: bool = True) -> Plan:
    """Plan of a close pivot check; then the system is solved, or it was before."""
    draft = Draft(PIVOT_CHECK)
    errors = add_pivot_check(draft, system.n, system.limits)
    return draft.plan({"errors": errors}, after=(SINGULAR, *(system.solved if solve else ())))


def add_pivot_check(draft: Draft, n: int, limits: Limits) -> str:
    """Add the read-back of packed factors that are there, and the rounding errors of their small pivots."""
    lu = draft.operand("LU", matrix((n, n)))
    diagonal = draft.operand("diagonal", texels_of(Storage(texels(n), 1)))
    array = read_back(draft, lu, (n, n), limits, "LU of the host")
    work = acceptance.errors_of_suspects
    return draft.host(ERRORS, work, (array, diagonal), {"errors": (n,)}, flops=4 * n**3)["errors"]


@cached_plan
def substituted(system: System) -> Plan:
    """Plan of the solution for right-hand sides of the host, by factors that are there."""
    draft = Draft(SUBSTITUTE)
    x = _solution(draft, system, draft.operand("scaled B", HostArray((system.n, system.columns))))
    return draft.plan(
        {"X": x},
        after=(
            Transition(
                "entries grew and the residual is above 8, or part of B was lost", REFINE, partial(refine, system)
            ),
            Transition("X is too small", error="NonFiniteError: the solution must fit float32"),
        ),
    )


@cached_plan
def solution(n: int, columns: int, limits: Limits, transposed: bool = False) -> Plan:
    """Plan of A X = B from host to host, by factors that are there."""
    draft = Draft("solution")
    made = factors.operands(draft, (n, n), False)
    b = upload(draft, draft.operand("B", HostArray((n, columns))), (n, columns), limits)
    x = factors.substitute(draft, made, b, columns, limits, transposed=transposed)
    return draft.plan({"X": read_back(draft, x, (n, columns), limits, "solution")})


def _solution(draft: Draft, system: System, b: str) -> str:
    """Add the solution for right-hand sides of the host, by factors that are operands."""
    plan = solution(system.n, system.columns, system.limits)
    slots = {name: draft.operand(name, plan.slots[name]) for name in plan.operands if name != "B"}
    return draft.call("solution", plan, **slots, B=b)["X"]


@cached_plan
def refine(system: System) -> Plan:
    """Plan of one correction, by factors that are there, and of the residual that is left."""
    draft = Draft(REFINE)
    made = add_correction(draft, system.n, system.columns, partial(_solution, draft, system))
    after: tuple[Transition, ...] = (
        Transition("the backward error went down, at most 40 times", REFINE, partial(refine, system)),
        Transition("it does not come down, and entries grew", COMPLETE, partial(complete, system)),
        Transition("it does not come down", error=DIVERGED),
    )
    if not system.refine:
        after += (Transition("X is too small", error="NonFiniteError: the solution must fit float32"),)
    return draft.plan(made, after=after)


def add_correction(draft: Draft, n: int, columns: int, solution: Callable[[str], str]) -> dict[str, str]:
    """Add a correction, which `solution` adds for a residual of the host, and the residual that is left."""
    shapes = {"A in float64": (n, n), "B in float64": (n, columns), "X so far": (n, columns), "residual": (n, columns),
              "e": (n, 1), "f": (1, n)}  # fmt: skip
    given = {name: draft.operand(name, HostArray(shape)) for name, shape in shapes.items()}
    names = {"scaled residual": (n, columns), "sizes of the residual": (columns,)}
    scaled, sizes = draft.host(SCALE_RESIDUAL, rescaled_residual, (given["residual"], given["e"]), names)
    inputs = (*(given[name] for name in ("A in float64", "B in float64", "X so far")), solution(scaled), sizes)
    made = dict.fromkeys(("corrected X", "residual left"), (n, columns))
    return draft.host(RESIDUAL, turned, (*inputs, given["f"]), made, flops=2 * n * n * columns)


# -- work of the host -------------------------------------------------------------------------------------------------


def scaled_system(a: NDArray[Any], b: NDArray[Any] | None = None, equilibrate: bool = True) -> tuple[Any, ...]:
    """Scale a system by powers of two: A 2^-(e_i + f_j), and B likewise, its columns by their sizes, too.

    Gives A in float32, e, f, B in float64, and the sizes.
    """
    wide, rows, columns = of_system(a, equilibrate)
    return wide.astype(np.float32), rows, columns, *right_sides(np.eye(len(a)) if b is None else b, rows)


def _ordered(a: Float32) -> tuple[Float32, NDArray[np.intp]]:
    order = complete_order(a)
    return np.ascontiguousarray(a[:, order]), order


# -- which stage comes when -------------------------------------------------------------------------------------------


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Verdict on a stage of a system, or of an inverse.

    `Done` has ``X`` where it was found on the host; of a refined solution also ``iterations`` and ``backward_error``.
    `forms`: of A, and of B if there is one. `stage`: that has run; "" for the plan of the call. `values`: ``A`` and
    ``B``; ``function`` and ``which``, for messages; ``refine``; and all results so far.
    """
    if not stage and "rejected" in values:  # a small system was read back: a batch of one
        if not values["rejected"]:
            return Done()
        stage = BATCHED
    if stage == BATCHED:
        finite = all(acceptance.finite(values, name) for name, _ in zip("AB", forms, strict=False))
        return Continue(FALLBACK) if finite else Done()  # let through on purpose
    if not stage and not values.get("refine"):
        return _usual(forms, values)
    u, largest = acceptance.of_diagonal(values["diagonal"], forms[0].shape[-1])
    if stage == PROBE:
        return _probed(values, largest)
    if stage == PIVOT_CHECK:
        return _checked(values, u, largest)
    if stage == SUBSTITUTE:
        return _substituted(values)
    if stage == REFINE:
        return _turn(values, {}, values["refinement"], values["corrected X"], values["residual left"])
    return _factored(values, stage == COMPLETE, u, largest)


def _usual(forms: Forms, values: Values) -> Verdict:
    """Judge the solution of the first stage."""
    n = forms[0].shape[-1]
    if acceptance.in_bounds(values, n) and (len(forms) == 1 or _right_near_one(values)):
        u, largest = acceptance.of_diagonal(values["diagonal"], n)
        return _zero_or_check(values, u, {}) if acceptance.needs_pivot_check(values, u, largest) else Done()
    if not all(acceptance.finite(values, name) for name, _ in zip("AB", forms, strict=False)):
        return Done()  # let through on purpose
    return Continue(FALLBACK)


def _right_near_one(values: Values) -> bool:
    """Whether right-hand sides need no scaling on the host."""
    b = values["B"]
    if isinstance(b, np.ndarray):
        return acceptance.largest_near_one(b)
    return acceptance.size_near_one(float(values["largest_B"].flat[0]))


def _zero_or_check(values: Values, u: acceptance.Floats, known: Values) -> Verdict:
    """Go on to the pivot check, unless a pivot is zero."""
    zero = acceptance.zero_pivot(u)
    return (
        Continue(PIVOT_CHECK, known)
        if zero is None
        else acceptance.singular(values["function"], len(u), zero, values["which"])
    )


def _factored(values: Values, last: bool, u: acceptance.Floats, largest: acceptance.Floats) -> Verdict:
    """After the factors of the scaled system, with partial pivoting, or with complete pivoting, the `last` resort."""
    refining = bool(values.get("refine"))
    if refining and not (np.isfinite(values["A"]).all() and np.isfinite(values["B"]).all()):
        return Refinement(best_error=np.nan).error(values["function"])  # let through on purpose
    growth = acceptance.growth(u, largest, float(np.max(np.abs(values["scaled A"]))))
    grew = acceptance.grew(growth, len(u))
    known = {"grew": grew, "last": last, "least": min(growth, values.get("least", np.inf))}
    if np.isinf(growth):
        if not last:
            return Continue(COMPLETE, known)
        return acceptance.overflow(values["function"]) if refining else _hopeless({**values, **known})
    if not acceptance.some_small(u, largest):
        return Continue(PROBE, known)
    if grew and not last:
        return Continue(COMPLETE, known)
    return _zero_or_check(values, u, known)


def _probed(values: Values, largest: acceptance.Floats) -> Verdict:
    if not acceptance.inverse_is_large(acceptance.norm_of_probes(values["probe_solutions"]), largest):
        return _begin(values)
    return Continue(COMPLETE) if values["grew"] and not values["last"] else Continue(PIVOT_CHECK)


def _checked(values: Values, u: acceptance.Floats, largest: acceptance.Floats) -> Verdict:
    found = acceptance.first_rounded_off(u, largest, values["errors"])
    if found is not None:
        return acceptance.singular(values["function"], len(u), found, values["which"])
    return _begin(values) if "grew" in values else Done()


def _begin(values: Values) -> Verdict:
    """Once the factors are accepted."""
    return _begun(values) if values.get("refine") else Continue(SUBSTITUTE)


def _order(values: Values) -> NDArray[np.intp]:
    """Columns of A, as they were factored."""
    order: NDArray[np.intp] = values["order"] if values.get("last") else np.arange(len(values["scaled A"]))
    return order


def _substituted(values: Values) -> Verdict:
    a, b = values["scaled A"], values["scaled B"]
    x = np.empty(b.shape)
    x[_order(values)] = values["X"]
    good = not values["grew"] or residual(a, x, b) <= acceptance.GOOD
    lost = (b != 0) & (np.abs(b.astype(np.float32)) < acceptance.NORMAL)  # beside larger ones, in a column
    if good and not lost.any():
        return scaled_back(values, x)
    return _begun({**values, "fallback": x if good else None})


def _begun(values: Values) -> Verdict:
    """Begin to refine: from zero."""
    n = len(values["scaled A"])
    if values.get("refine"):
        order = _order(values)
        a, b = np.asarray(values["A"])[:, order], values["B"]
        rows, columns = values["row exponents"], values["column exponents"][:, order]
    else:
        a, b = values["scaled A"][:, _order(values)].astype(np.float64), values["scaled B"]
        rows, columns = np.zeros((n, 1), dtype=np.int32), np.zeros((1, n), dtype=np.int32)
    x = np.zeros_like(b)
    given = {"A in float64": a, "B in float64": b, "e": rows, "f": columns}
    return _turn({**values, **given}, given, Refinement(), x, b - a @ x)


def _turn(values: Values, given: Values, so_far: Refinement, x: Float64, residual: Float64) -> Verdict:
    """After a solution of a refinement: it is good enough, another correction comes, or it got no better."""
    now = turn(values, given, so_far, x, residual)
    if isinstance(now, Continue):
        return now
    if not now.converged:
        return _not_converged(values, now)
    assert now.best is not None
    back = now.best[np.argsort(_order(values))]
    return refined(values, now, back) if values.get("refine") else scaled_back(values, back)


def turn(values: Values, given: Values, so_far: Refinement, x: Float64, residual: Float64) -> Continue | Refinement:
    """Judge a solution of a refinement: another correction comes, or that is all."""
    now, pending = so_far.judged(values["A in float64"], values["B in float64"], x, residual)
    if pending is None:
        return now
    known = {"fallback": values["fallback"]} if "fallback" in values else {}
    return Continue(REFINE, {**given, **known, "refinement": now, "X so far": x, "residual": pending})


def refined(values: Values, now: Refinement, x: Float64 | None) -> Verdict:
    """Return a refined solution; an error if it did not converge."""
    if not now.converged:
        return now.error(values["function"])
    return Done({"X": x, "iterations": now.iterations, "backward_error": now.best_error})


def _not_converged(values: Values, now: Refinement) -> Verdict:
    if values.get("refine"):
        return now.error(values["function"]) if values["last"] or not values["grew"] else Continue(COMPLETE)
    if values["fallback"] is not None:
        return scaled_back(values, values["fallback"])
    return _hopeless(values) if values["last"] else Continue(COMPLETE)


def _hopeless(values: Values) -> Verdict:
    """Error after complete pivoting, the last fallback."""
    if np.isinf(values["least"]):
        return acceptance.overflow(values["function"])
    return ConvergenceError(
        f"{values['function']}: entries grow {values['least']:.3g} times in the elimination{values['which']}, which "
        "costs more digits than float32 has; use numpy.linalg"
    )


def scaled_back(values: Values, y: Float64) -> Verdict:
    """Return the solution of the system as it was; so small that float32 keeps not enough of it, it is an error."""
    wide = np.ldexp(y, values["sizes"] - np.reshape(values["column exponents"], (-1, 1)))
    x: Float32 = wide.astype(np.float32)
    return acceptance.underflow(values["function"], wide, x, values["which"]) or Done({"X": x})


def residual(a: NDArray[np.floating], x: Float64, b: NDArray[np.floating]) -> float:
    """Largest norm(b - A x) / ((norm(A) norm(x) + norm(b)) n u) of a column, in float64.

    In the 1-norm or the infinity-norm, whichever is larger. Infinite where it is not a number. That of a solution of
    zeros for zeros is 0.

    >>> residual(np.eye(2), np.ones((2, 1)), np.ones((2, 1)))
    0.0
    """
    wide, most = np.asarray(a, dtype=np.float64), 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        left = b - wide @ x
        for order in (1, np.inf):
            error, of_x, of_b = (np.linalg.norm(one, order, axis=0) for one in (left, x, b))
            scale = np.linalg.norm(wide, order) * of_x + of_b
            ratios = error / np.where(scale == 0, 1.0, scale * len(wide) * UNIT_ROUNDOFF)
            most = max(most, float(np.max(np.where(np.isfinite(ratios), ratios, np.inf), initial=0.0)))
    return most


def complete_order(a: NDArray[np.float32]) -> NDArray[np.intp]:
    """Order in which complete pivoting takes the columns of a square matrix: elimination in float64.

    >>> complete_order(np.array([[1, 2], [3, 4]], dtype=np.float32))
    array([1, 0])
    """
    rest = a.astype(np.float64)
    n = len(rest)
    order = np.arange(n)
    for k in range(n - 1):
        row, column = divmod(int(np.argmax(np.abs(rest[k:, k:]))), n - k)
        rest[[k, k + row]] = rest[[k + row, k]]
        rest[:, [k, k + column]] = rest[:, [k + column, k]]
        order[[k, k + column]] = order[[k + column, k]]
        if rest[k, k] == 0:
            break
        rest[k + 1 :, k + 1 :] -= np.outer(rest[k + 1 :, k] / rest[k, k], rest[k, k + 1 :])
    return order
