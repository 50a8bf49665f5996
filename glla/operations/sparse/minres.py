"""The method of minimal residuals for symmetric matrices, as a plan that begins and one of an iteration; see `cg`."""

from __future__ import annotations

from glla.operations.sparse.krylov import TEXEL, applied, at_once, copied, dots, operator, zeros
from glla.operations.sparse.layout import vector
from glla.passes import Draft, Limits, Plan
from glla.passes.cache import cached_plan

CARRIED = ("x", "r1", "r2", "v", "w_old", "w", "K", "J")
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
    draft.draw("krylov/minres_scalars", {"sums": sums, "bound": bound}, targets, None, {"FIRST": 1, **at_once(limits)})
    moved = _stepped(draft, {"v": y, "w_old": nothing, "w": nothing, "x": nothing, "y": y, "L": "L", "K": "K"})
    return draft.plan({**moved, "r1": nothing, "r2": r, "K": "K", "J": "J", "state": "state"}, 6 * n).flat


@cached_plan
def turn(a: Plan, m: Plan | None, n: int, limits: Limits, *, shift: float = 0.0) -> Plan:
    """Plan of an iteration for A - shift I: one product, and two reductions."""
    draft = Draft("minres")
    storage = vector(n, limits)
    x, r1, r2, v, w_old, w = (draft.operand(name, storage) for name in CARRIED[:-2])
    k, j = draft.operand("K", TEXEL), draft.operand("J", TEXEL)
    taken_a, taken_m = operator(draft, "A", a), operator(draft, "M", m)
    q = applied(draft, "A v", taken_a, v)
    scalars = {"along": dots(draft, "v", [(v, q), (v, r1), (v, v)], limits), "K": k}
    new = (draft.slot("r2'", storage), draft.slot("r1'", storage))
    shifts, defines = {"shift": shift}, {**at_once(limits), **({} if shift else {"SHIFT": "0.0"})}
    draft.draw("krylov/minres_lanczos", {"q": q, "v": v, "r1": r1, "r2": r2, **scalars}, new, shifts, defines)
    y = applied(draft, "M r", taken_m, new[0])
    targets = tuple(draft.slot(name, TEXEL) for name in ("K'", "J'", "L", "state"))
    scalars |= {"sums": dots(draft, "r", [(new[0], y)], limits), "J": j}
    draft.draw("krylov/minres_scalars", scalars, targets, shifts, defines)
    moved = _stepped(draft, {"v": v, "w_old": w_old, "w": w, "x": x, "y": y, "L": "L", "K": "K'"})
    results = {**moved, "r1": new[1], "r2": new[0]}
    flops = a.flops + (m.flops if m is not None else 0) + 25 * n
    return draft.plan({**results, "K": "K'", "J": "J'", "state": "state"}, flops).flat


def _stepped(draft: Draft, inputs: dict[str, str]) -> dict[str, str]:
    """Add the pass of a step, which before the first iteration gives v and zeros; give its results by name."""
    moved = {name: draft.slot(f"{name}'", draft.slots[inputs["v"]]) for name in ("x", "w", "w_old", "v")}
    draft.draw("krylov/minres_step", inputs, tuple(moved.values()))
    return moved
