"""Common parts of Krylov methods: an operator as a plan, inner products, vectors of zeros."""

from __future__ import annotations

from collections.abc import Sequence

from glla.errors import PlanError
from glla.passes import Draft, Limits, Plan, Storage, texture
from glla.passes.glsl.find import Define

TEXEL = Storage(1, 1)
"""Storage of a scalar."""

BLOCK = 16
"""Side of the block of partial sums that one fragment adds, and on a software rasteriser of the texels that it sums."""

FEW = 4
"""Side of the block of texels that one fragment sums on a GPU, which needs many: each waits for its fetches. A step of
`gmres` takes an NVIDIA H100 0.096 ms with 4 and 0.133 with 8, of 4096 unknowns, an iteration of `bicgstab` 0.082 and
0.091 (nvidia-h100-80gb-hbm3-pcie-sse2/experiments/2026-11-28-krylov.json)."""

LEFT, LEFT_IN_SOFTWARE = 8, 16
"""Side of the partial sums that are left to those who read them."""

AT_ONCE = 32
"""Partial sums that a GPU fetches at once. A guess."""

VECTORS = 5
"""Vectors of which a pass gives inner products at most."""

Taken = tuple[Plan | None, dict[str, str]]
"""The plan of an operator, None for the identity, and the slots of its textures."""


def operator(draft: Draft, name: str, plan: Plan | None) -> Taken:
    """Add the textures of an operator: all operands of its plan but ``x``, called ``name.operand``."""
    if plan is None:
        return None, {}
    if "x" not in plan.operands or "y" not in plan.results:
        raise PlanError(f"krylov: the plan of an operator has an operand x and a result y, got {plan.operation}")
    slots = {one: draft.operand(f"{name}.{one}", plan.slots[one]) for one in plan.operands if one != "x"}
    return plan, slots


def applied(draft: Draft, words: str, taken: Taken, x: str) -> str:
    """Add an operator's product with a vector; give the slot of the result."""
    plan, slots = taken
    return x if plan is None else draft.call(words, plan, x=x, **slots)["y"]


def sampled(limits: Limits) -> dict[str, Define]:
    """Defines of ``lib/sampled.glsl``: by normalised coordinates a software rasteriser reads in half the time."""
    return {"SAMPLED": int(limits.software)}


def at_once(limits: Limits) -> dict[str, Define]:
    """Define of the partial sums that are fetched at once."""
    return {} if limits.software else {"AT_ONCE": AT_ONCE}


def dots(draft: Draft, name: str, pairs: Sequence[tuple[str, str]], limits: Limits) -> str:
    """Add inner products; give a slot of partial sums, `LEFT` texels a side at most, a channel for each product."""
    sums, vectors = "", list(dict.fromkeys(slot for pair in pairs for slot in pair))
    products = (
        f"DOT(sum_{c}, v{vectors.index(v)}, v{vectors.index(w)})" for c, (v, w) in zip("rgba", pairs, strict=False)
    )
    inputs = {f"V{number}": slot for number, slot in enumerate(vectors + (VECTORS - len(vectors)) * vectors[:1])}
    first, sizes = reduction(texture(draft.slots[vectors[0]]), limits)
    defines: dict[str, Define] = {
        "VECTORS": len(vectors), "DOTS": " ".join(products), "BLOCK": first, **sampled(limits),
    }  # fmt: skip
    for number, size in enumerate(sizes):
        target = draft.slot(f"{name} sums {number}", Storage(*size))
        if number:
            draft.draw("krylov/fold", {"sums": sums}, target, defines={"BLOCK": BLOCK, **at_once(limits)})
        else:
            draft.draw("krylov/dots", inputs, target, defines=defines)
        sums = target
    return sums


def reduction(whole: Storage, limits: Limits) -> tuple[int, list[tuple[int, int]]]:
    """Side of the block of texels that a fragment sums, and sizes of the partial sums, in turn.

    >>> reduction(Storage(300, 200), Limits())
    (4, [(76, 52), (5, 4)])
    """
    first = BLOCK if limits.software else FEW
    height, width = (min(side, 4 * -(-side // (4 * first))) for side in (whole.height, whole.width))
    sizes = [(height, width)]
    while max(sizes[-1]) > (LEFT_IN_SOFTWARE if limits.software else LEFT):
        height, width = -(-height // BLOCK), -(-width // BLOCK)
        sizes.append((height, width))
    return first, sizes


def zeros(draft: Draft, name: str, storage: Storage) -> str:
    """Add a vector of zeros."""
    slot = draft.slot(name, storage)
    draft.draw("krylov/zeros", {}, slot)
    return slot


def copied(draft: Draft, name: str, source: str, nothing: str) -> str:
    """Add a copy of a vector, beside one of zeros: a result of a plan is never its operand."""
    k = zeros(draft, f"no multiple for {name}", TEXEL)
    target = draft.slot(name, draft.slots[source])
    draft.draw("krylov/direction", {"u": source, "p": nothing, "K": k}, target)
    return target
