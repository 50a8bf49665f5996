"""The stabilised method of biconjugate gradients, as a plan that begins and a plan of an iteration; see `cg`."""

from __future__ import annotations

from glla.operations.sparse.cg import add_scalars
from glla.operations.sparse.krylov import TEXEL, applied, at_once, copied, dots, operator, zeros
from glla.operations.sparse.layout import vector
from glla.passes import Draft, Limits, Plan
from glla.passes.cache import cached_plan

CARRIED = ("x", "r", "p", "v", "K")
"""Results of `begin` and of `turn` that are passed to the next iteration."""


@cached_plan
def begin(a: Plan, m: Plan | None, n: int, limits: Limits) -> Plan:
    """Plan of the start, before the first iteration, see `glla.operations.sparse.cg.begin`.

    Beside `CARRIED` and ``state`` there is a result ``shadow``, r~ = r, which all iterations take.
    """
    draft = Draft("bicgstab begins")
    b, bound = draft.operand("b", vector(n, limits)), draft.operand("bound", TEXEL)
    nothing = zeros(draft, "zeros", vector(n, limits))
    r = copied(draft, "r", b, nothing)
    sums = dots(draft, "r", [(r, r), (r, r), (r, r)], limits)
    add_scalars(draft, {"sums": sums, "bound": bound}, {"MERGED": 0, "FIRST": 1}, limits)  # beta 0, and rho
    results = {"x": nothing, "r": r, "p": nothing, "v": nothing, "shadow": r, "K": "K", "state": "state"}
    return draft.plan(results, 4 * n)


@cached_plan
def turn(a: Plan, m: Plan | None, n: int, limits: Limits) -> Plan:
    """Plan of an iteration: two products, and six inner products in three reductions."""
    draft = Draft("bicgstab")
    storage = vector(n, limits)
    x, r, p, v = (draft.operand(name, storage) for name in CARRIED[:-1])
    before, shadow, bound = draft.operand("K", TEXEL), draft.operand("shadow", storage), draft.operand("bound", TEXEL)
    taken_a, taken_m = operator(draft, "A", a), operator(draft, "M", m)
    direction = draft.slot("p'", storage)
    draft.draw("krylov/bicgstab_direction", {"r": r, "p": p, "v": v, "K": before}, direction)
    along = applied(draft, "M p", taken_m, direction)
    image = applied(draft, "A M p", taken_a, along)
    scalars, defines = {"K": before, "along": dots(draft, "v", [(shadow, image)], limits)}, at_once(limits)
    s = draft.slot("s", storage)
    draft.draw("krylov/bicgstab_step", {"r": r, "v": image, **scalars}, s, None, {**defines, "HALF": 1})
    z = applied(draft, "M s", taken_m, s)
    t = applied(draft, "A M s", taken_a, z)
    scalars |= {"second": dots(draft, "t", [(t, s), (t, t), (s, s)], limits), "bound": bound}
    new = (draft.slot("r'", storage), draft.slot("x'", storage))
    draft.draw("krylov/bicgstab_step", {"r": s, "v": t, "x": x, "p": along, "z": z, **scalars}, new, None, defines)
    scalars["sums"] = dots(draft, "r", [(shadow, new[0]), (new[0], new[0]), (new[0], new[0])], limits)
    draft.draw("krylov/bicgstab_scalars", scalars, (draft.slot("K'", TEXEL), draft.slot("state", TEXEL)), None, defines)
    results = {"x": new[1], "r": new[0], "p": direction, "v": image, "K": "K'", "state": "state"}
    return draft.plan(results, 2 * a.flops + (2 * m.flops if m is not None else 0) + 24 * n).flat
