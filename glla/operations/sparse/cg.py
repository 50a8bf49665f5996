"""Conjugate gradients, as a plan that begins and a plan of an iteration, for `glla.iterate`.

Both take the operators as plans with an operand ``x`` and a result ``y``: a sparse product, a stencil, anything. All
scalars stay on the device. The result ``state`` of an iteration is a texel whose first channel stops the loop: 1 where
the residual is within its bound, 2 where the curvature p . A p is not above zero, so that A is not positive definite.
"""

from __future__ import annotations

from glla.operations.sparse.krylov import TEXEL, Taken, applied, at_once, copied, dots, operator, sampled, zeros
from glla.operations.sparse.layout import vector
from glla.passes import Draft, Limits, Plan, Variant
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define

VARIANTS = {
    "merged": Variant("one reduction an iteration; A p by recurrence", "Chronopoulos and Gear 1989"),
    "classic": Variant("two reductions an iteration", "Hestenes and Stiefel 1952"),
}

WIDE = 1 << 18
"""Elements of a vector from which traffic dominates passes, of which the merged iteration has fewer: it writes five
vectors, the classic one four; 0.69 and 0.64 ms an iteration at 2^20 on an H200
(nvidia-h200-pcie-sse2/experiments/2026-11-23-banded.json), and 24 and 21 ms of two cores' time in software. A guess."""


def choose(n: int) -> str:
    """Pick the variant for vectors of n elements.

    >>> choose(1 << 20), choose(1 << 10)
    ('classic', 'merged')
    """
    return "classic" if n >= WIDE else "merged"


CONVERGED, BREAKDOWN = 1, 2
"""Values of the texel ``state`` that stop the loop."""


def carried(variant: str, preconditioned: bool) -> tuple[str, ...]:
    """Results of `begin` and of an iteration that the next iteration takes, under the same names."""
    if variant == "classic":
        return ("x", "r", "p", "K")
    return ("x", "r", "p", "s", "w", "K", *(("u",) if preconditioned else ()))


@cached_plan
def begin(a: Plan, m: Plan | None, n: int, limits: Limits, *, variant: str = "merged") -> Plan:
    """Plan of the start, before the first iteration.

    Operands ``b``, a vector; ``bound``, a texel with the square of the residual that is wanted; ``A.NAME`` and
    ``M.NAME``, the other operands of the operators. Results: what `carried` lists, and ``state``. x begins with 0.

    `a`, `m`: operators: A, and a preconditioner, an approximation of A's inverse, or None. `n`: elements of a vector.
    """
    draft = Draft(f"cg[{variant}] begins")
    b = draft.operand("b", vector(n, limits))
    bound = draft.operand("bound", TEXEL)
    taken_a = operator(draft, "A", a) if variant == "merged" else None
    taken_m = operator(draft, "M", m)
    nothing = zeros(draft, "zeros", vector(n, limits))
    r = copied(draft, "r", b, nothing)
    u = applied(draft, "M r", taken_m, r)
    results = {"x": nothing, "r": r, "p": u}
    pairs = [(r, u), (r, u), (r, r)]
    if taken_a is not None:
        w = applied(draft, "A u", taken_a, u)
        pairs[1] = (w, u)
        results |= {"p": nothing, "s": nothing, "w": w}
        if m is not None:
            results["u"] = u
    inputs = {"sums": dots(draft, "r", pairs, limits), "bound": bound}
    add_scalars(draft, inputs, {"MERGED": int(taken_a is not None), "FIRST": 1}, limits)
    return draft.plan({**results, "K": "K", "state": "state"}, 8 * n).flat


@cached_plan
def turn(a: Plan, m: Plan | None, n: int, limits: Limits, *, variant: str = "merged") -> Plan:
    """Plan of an iteration, see `begin`.

    Operands: those of `begin` but ``b``, and what `carried` lists. Results: what it lists, and ``state``. Passes, with
    those of the operators: ``merged`` 2 + 1 or 2 of a reduction, ``classic`` 3 + twice as many.
    """
    draft = Draft(f"cg[{variant}]")
    storage = vector(n, limits)
    names = carried(variant, m is not None)
    old = {name: draft.operand(name, TEXEL if name == "K" else storage) for name in names}
    bound = draft.operand("bound", TEXEL)
    taken_a = operator(draft, "A", a)
    taken_m = operator(draft, "M", m)
    if variant == "classic":
        results = _classic(draft, old, bound, taken_a, taken_m, limits)
    else:
        results = _merged(draft, old, bound, taken_a, taken_m, limits)
    return draft.plan({**results, "state": "state"}, a.flops + (m.flops if m is not None else 0) + 14 * n).flat


def _merged(draft: Draft, old: dict[str, str], bound: str, a: Taken, m: Taken, limits: Limits) -> dict[str, str]:
    new = {name: draft.slot(f"{name}'", draft.slots[old[name]]) for name in ("p", "s", "x", "r")}
    draft.draw(
        "krylov/cg_merged", old, tuple(new.values()), defines={"PRECONDITIONED": int("u" in old), **sampled(limits)}
    )
    u = applied(draft, "M r", m, new["r"])
    if "u" in old:
        new["u"] = u
    new["w"] = applied(draft, "A u", a, u)
    sums = dots(draft, "r", [(new["r"], u), (new["w"], u), (new["r"], new["r"])], limits)
    add_scalars(draft, {"sums": sums, "bound": bound, "before": old["K"]}, {"MERGED": 1}, limits)
    return {**new, "K": "K'"}


def _classic(draft: Draft, old: dict[str, str], bound: str, a: Taken, m: Taken, limits: Limits) -> dict[str, str]:
    q = applied(draft, "A p", a, old["p"])
    along = dots(draft, "p", [(old["p"], q)], limits)
    new = {name: draft.slot(f"{name}'", draft.slots[old[name]]) for name in ("x", "r")}
    inputs = {"x": old["x"], "r": old["r"], "p": old["p"], "q": q, "along": along, "K": old["K"]}
    draft.draw("krylov/cg_step", inputs, tuple(new.values()), defines={**sampled(limits), **at_once(limits)})
    u = applied(draft, "M r", m, new["r"])
    sums = dots(draft, "r", [(new["r"], u), (new["r"], u), (new["r"], new["r"])], limits)
    add_scalars(draft, {"sums": sums, "bound": bound, "along": along, "before": old["K"]}, {"MERGED": 0}, limits)
    new["p"] = draft.slot("p'", draft.slots[old["p"]])
    draft.draw("krylov/direction", {"u": u, "p": old["p"], "K": "K'"}, new["p"], defines=sampled(limits))
    return {**new, "K": "K'"}


def add_scalars(draft: Draft, inputs: dict[str, str], defines: dict[str, Define], limits: Limits) -> None:
    """Add the pass of the scalars, which draws ``K'`` (at first ``K``) and ``state``."""
    targets = (draft.slot("K'" if "before" in inputs else "K", TEXEL), draft.slot("state", TEXEL))
    draft.draw("krylov/cg_scalars", inputs, targets, defines={**defines, **at_once(limits)})
