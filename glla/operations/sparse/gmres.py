"""Generalised minimal residuals with restarts: a plan of a whole cycle, for `glla.iterate`; see `cg`.

A cycle is a basis of the Krylov space, orthogonalised by two rounds of Gram-Schmidt, four vectors at once; a small
triangular matrix from rotations; and its solution. Steps after convergence do not count.
"""

from __future__ import annotations

from glla.operations.sparse.krylov import TEXEL, applied, copied, dots, operator, zeros
from glla.operations.sparse.layout import vector
from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, texture
from glla.passes.cache import cached_plan

CARRIED = ("x", "last")
"""Results of `begin` and of `cycle` that are passed to the next cycle: x, and the residual's norm at its beginning."""

MOST = 64
"""Steps of a cycle at most: each stores a vector."""

GROUP = 4
"""Vectors of the basis in one pass."""


@cached_plan
def begin(a: Plan, m: Plan | None, n: int, limits: Limits) -> Plan:
    """Plan of the start, before the first cycle: x = 0, no residual, and ``rhs``, a copy of b that all cycles take."""
    draft = Draft("gmres begins")
    b = draft.operand("b", vector(n, limits))
    draft.operand("bound", TEXEL)
    nothing = zeros(draft, "x", vector(n, limits))
    last = zeros(draft, "last", TEXEL)
    return draft.plan({"x": nothing, "last": last, "rhs": copied(draft, "rhs", b, nothing)}, 0)


@cached_plan
def cycle(a: Plan, m: Plan | None, n: int, limits: Limits, *, steps: int) -> Plan:
    """Plan of a cycle.

    Operands ``x``, ``last``, ``rhs``, ``bound``, and those of the operators; results ``x``, ``last`` and ``state``, 3
    where it stalls. `steps` + 1 products, and about 2 passes of inner products and updates for each four vectors in
    each of two rounds.
    """
    draft, storage = Draft(f"gmres({steps})"), vector(n, limits)
    x, rhs = draft.operand("x", storage), draft.operand("rhs", storage)
    bound, last = draft.operand("bound", TEXEL), draft.operand("last", TEXEL)
    taken_a, taken_m = operator(draft, "A", a), operator(draft, "M", m)
    r = draft.slot("r", storage)
    draft.draw("elementwise/sum", {"a": rhs, "b": applied(draft, "A x", taken_a, x)}, r, defines={"SUBTRACT": 1})
    start = _norm(draft, "r", r, limits)
    basis, table = [_basis(draft, 0, r, start)], ""
    tables = PingPong(draft, "table", Storage(steps + 1, steps), "")
    for step in range(steps):
        with draft.scope("step", step):
            w = applied(draft, "A v", taken_a, applied(draft, "M v", taken_m, basis[-1]))
            sides = []
            for turn in (1, 2):
                w, side = _orthogonal(draft, f"{step} {turn}", w, basis, limits)
                sides.append(side)
            size = _norm(draft, f"w {step}", w, limits)
            inputs = {"h1": sides[0], "h2": sides[1], "size": size, "start": start, "bound": bound}
            inputs |= {"before": table} if table else {}
            defines = {"FIRST": int(not table), "STEPS": steps}
            draft.draw("krylov/gmres_rotate", inputs, tables.back, {"number": step}, defines)
            tables.swap()
            table = tables.front
            if step + 1 < steps:
                basis.append(_basis(draft, step + 1, w, size))
    y, states = draft.slot("y", Storage(1, steps)), draft.slot("state", Storage(1, steps))
    inputs = {"table": table, "start": start, "last": last, "bound": bound}
    draft.draw("krylov/gmres_solve", inputs, (y, states), defines={"STEPS": steps})
    if m is None:
        new = _combined(draft, "x'", x, basis, y)
    else:
        inside = _combined(draft, "z", zeros(draft, "nothing", storage), basis, y)
        new = draft.slot("x'", storage)
        draft.draw("elementwise/sum", {"a": x, "b": applied(draft, "M z", taken_m, inside)}, new)
    flops = (steps + 1) * a.flops + 8 * n * steps * (steps + 1) // 2
    return draft.plan({"x": new, "last": start, "state": states}, flops).flat


def _norm(draft: Draft, name: str, vector_: str, limits: Limits) -> str:
    size = draft.slot(f"norm of {name}", TEXEL)
    sums = dots(draft, f"square of {name}", [(vector_, vector_)], limits)
    draft.draw("krylov/gmres_sum", {"sums": sums}, size, defines={"ROOT": 1})
    return size


def _basis(draft: Draft, number: int, w: str, size: str) -> str:
    v = draft.slot(f"v {number}", texture(draft.slots[w]))
    draft.draw("krylov/gmres_basis", {"w": w, "size": size}, v)
    return v


def _orthogonal(draft: Draft, name: str, w: str, basis: list[str], limits: Limits) -> tuple[str, str]:
    """Orthogonalise w against the basis, four vectors at once; give it, and the inner products, a row."""
    groups = [basis[first : first + GROUP] for first in range(0, len(basis), GROUP)]
    products = draft.slot(f"h {name}", Storage(1, len(groups)))
    for number, group in enumerate(groups):
        sums = dots(draft, f"h {name} {number}", [(v, w) for v in group], limits)
        draft.draw("krylov/gmres_sum", {"sums": sums}, products, region=Region(number, 0, 1, 1))
        target = draft.slot(f"w {name} {number}", texture(draft.slots[w]))
        inputs = {"w": w, "C": products, **{f"V{k}": v for k, v in enumerate(group)}}
        defines = {"COUNT": len(group), "SIGN": -1.0, "PACKED": 1}
        draft.draw("krylov/gmres_combine", inputs, target, {"first": number}, defines)
        w = target
    return w, products


def _combined(draft: Draft, name: str, base: str, basis: list[str], y: str) -> str:
    """Add the sum of y_k v_k to a vector."""
    for first in range(0, len(basis), GROUP):
        group = basis[first : first + GROUP]
        target = draft.slot(f"{name} {first}", texture(draft.slots[base]))
        inputs = {"w": base, "C": y, **{f"V{k}": v for k, v in enumerate(group)}}
        draft.draw("krylov/gmres_combine", inputs, target, {"first": first}, {"COUNT": len(group)})
        base = target
    return base
