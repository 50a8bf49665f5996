"""The method of minimal residuals for symmetric matrices, as a plan that begins and one of an iteration; see `cg`."""

from __future__ import annotations

from glla.operations.sparse.krylov import TEXEL, applied, copied, dots, operator, zeros
from glla.operations.sparse.layout import vector
from glla.passes import Draft, Limits, Plan
from glla.passes.cache import cached_plan

CARRIED = ("x", "r1", "r2", "y", "w_old", "w", "K", "J")
"""Results of `begin` and of `turn` that are passed to the next iteration."""


@cached_plan
def begin(a: Plan, m: Plan | None, n: int, limits: Limits) -> Plan:
    """Plan of the start, before the first iteration, see `glla.operations.sparse.cg.begin`."""
    draft = Draft("minres begins")
    b, bound = draft.operand("b", vector(n, limits)), draft.operand("bound", TEXEL)
    taken = operator(draft, "M", m)
    nothing = zeros(draft, "zeros", vector(n, limits))
    r = copied(draft, "r", b, nothing)
    y = applied(draft, "M r", taken, r)
    sums = dots(draft, "r", [(r, y), (r, r), (r, r)], limits)
    targets = tuple(draft.slot(name, TEXEL) for name in ("K", "J", "L", "state"))
    draft.draw("krylov/minres_scalars", {"sums": sums, "bound": bound}, targets, defines={"FIRST": 1})
    results = {"x": nothing, "r1": nothing, "r2": r, "y": y, "w_old": nothing, "w": nothing}
    return draft.plan({**results, "K": "K", "J": "J", "state": "state"}, 6 * n).flat


@cached_plan
def turn(a: Plan, m: Plan | None, n: int, limits: Limits, *, shift: float = 0.0) -> Plan:
    """Plan of an iteration for A - shift I: one product, and two reductions."""
    draft = Draft("minres")
    storage = vector(n, limits)
    x, r1, r2, y, w_old, w = (draft.operand(name, storage) for name in CARRIED[:-2])
    k, j = draft.operand("K", TEXEL), draft.operand("J", TEXEL)
    taken_a, taken_m = operator(draft, "A", a), operator(draft, "M", m)
    v = draft.slot("v", storage)
    draft.draw("krylov/minres_vector", {"y": y, "K": k}, v)
    q = applied(draft, "A v", taken_a, v)
    c = draft.slot("C", TEXEL)
    sums = dots(draft, "v", [(v, q), (v, r1), (v, v)], limits)
    draft.draw("krylov/minres_alpha", {"sums": sums, "K": k}, c, {"shift": shift})
    new = (draft.slot("r2'", storage), draft.slot("r1'", storage))
    draft.draw("krylov/minres_lanczos", {"q": q, "v": v, "r1": r1, "r2": r2, "C": c}, new)
    next_y = applied(draft, "M r", taken_m, new[0])
    targets = tuple(draft.slot(name, TEXEL) for name in ("K'", "J'", "L", "state"))
    inputs = {"sums": dots(draft, "r", [(new[0], next_y)], limits), "C": c, "K": k, "J": j}
    draft.draw("krylov/minres_scalars", inputs, targets)
    moved = tuple(draft.slot(name, storage) for name in ("x'", "w'", "w_old'"))
    draft.draw("krylov/minres_step", {"v": v, "w_old": w_old, "w": w, "x": x, "L": "L"}, moved)
    results = {"x": moved[0], "r1": new[1], "r2": new[0], "y": next_y, "w_old": moved[2], "w": moved[1]}
    flops = a.flops + (m.flops if m is not None else 0) + 25 * n
    return draft.plan({**results, "K": "K'", "J": "J'", "state": "state"}, flops).flat
