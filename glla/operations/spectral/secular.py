"""Divide and conquer of a symmetric tridiagonal matrix T: from parts of order 1 up, all blocks of a level at once.

    values of two parts --> in one order, groups deflated --> roots of the secular equation --> vectors --> Q X

A level is nine passes, whatever the values are: deflated values keep their place, so that no size depends on them.
"""

from __future__ import annotations

from glla.operations.product.register_blocks import Blocks
from glla.operations.spectral.symmetric import Subset
from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, Uniform, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import texels

TURNS = 24
"""Turns of the root finder at most. 5 to 17 were seen."""

BLOCKED_FROM = 512
"""Orders of joined parts from which Q X is multiplied by blocks in registers: an H100 takes 8.6 ms in place of 11.8 for
T of order 1024, 210 in place of 440 for 4096; llvmpipe 244 in place of 355 for 1024."""

LINES = {
    "order": ("S", "L Q T tolerance"),
    "place": ("P", "L"),
    "groups": ("G", "S T tolerance"),
    "roots": ("R", "G T"),
    "loewner": ("Z", "G R T"),
    "norms": ("N", "G R Z"),
    "sort": ("L", "R N"),
}
"""Passes of a level that draw a line, a texel for each index: the slot that each draws, and those it reads."""


def turns_at_once(order: int, limits: Limits) -> int:
    """Turns of the root finder in one pass, for blocks of an order: loops may be bounded."""
    return max(1, min(TURNS, limits.loop_trips // order - 2))


@cached_plan
def plan(n: int, limits: Limits, subset: Subset | None = None) -> Plan:
    """Plan of all eigenvalues of T, and of all eigenvectors, or of those of a subset.

    Operand ``T``, a line of texels (d_i, e_i, 0, 0). Results ``L``, a line of texels (lambda_i, ...), ascending, and
    ``Q``. 9 ceil(log2 n) + 3 passes; more where the turns of the root finder are split, or parts multiplied by blocks.
    """
    draft = Draft("divide and conquer")
    draft.operand("T", Storage(1, n))
    for name in ("L", *(made for made, _ in LINES.values() if made != "L"), "R before"):
        draft.slot(name, Storage(1, n))
    draft.slot("tolerance", Storage(1, 1))
    draft.slot("I", matrix((n, n)))
    draft.draw("packing/identity", {}, "I", {"shape": (n, n)})
    draft.draw("spectral/secular/largest", {"T": "T"}, "tolerance", {"n": n})
    draft.draw("spectral/secular/start", {"T": "T"}, "L")
    draft.slot("X", matrix((n, n)))
    products = Blocks.of(draft, (n, n), {})
    vectors, levels = PingPong(draft, "Q", matrix((n, n)), "I"), (n - 1).bit_length()
    for level in range(levels):
        with draft.scope("level", level):
            _add_roots(draft, vectors.front, level, n, limits)
            blocks = products if 2 ** (level + 1) >= BLOCKED_FROM else None
            if subset is None or level < levels - 1:
                _add_vectors(draft, vectors.front, ("X", vectors.back), level, n, Subset(0, n), blocks)
                vectors.swap()
            else:
                chosen = [draft.slot(f"chosen {name}", matrix((n, subset.count))) for name in "XQ"]
                _add_vectors(draft, vectors.front, (chosen[0], chosen[1]), level, n, subset, blocks)
                vectors.front = chosen[1]
    return draft.plan({"L": "L", "Q": vectors.front}, 4 * n**3 // 3)


def _add_roots(draft: Draft, q: str, level: int, n: int, limits: Limits) -> None:
    """Add the passes of a level that draw lines, to join parts of order 2^level, whose vectors are `q`."""
    parts: dict[str, Uniform] = {"n": n, "s": 2**level}
    turns = turns_at_once(min(n, 2 ** (level + 1)), limits)
    for name, (made, read) in LINES.items():
        inputs = {one: q if one == "Q" else one for one in read.split()}
        if name != "roots":
            draft.draw(f"spectral/secular/{name}", inputs, made, parts)
            continue
        count = -(-TURNS // turns)
        for number in range(count):
            last = (count - 1 - number) % 2 == 0
            before = {"R": "R before" if last else "R"} if number else {}
            defines = {"TURNS": turns, "CONTINUE": int(number > 0)}
            draft.draw("spectral/secular/roots", {**inputs, **before}, "R" if last else "R before", parts, defines)


def _add_vectors(
    draft: Draft, q: str, made: tuple[str, str], level: int, n: int, subset: Subset, blocks: Blocks | None
) -> None:
    """Add the passes to the vectors of a level: those of the rank-1 change, and their product with `q`."""
    parts: dict[str, Uniform] = {"n": n, "s": 2**level, "first": subset.first}
    chosen, (x, product) = {**parts, "count": subset.count}, made
    draft.draw("spectral/secular/vectors", {one: one for one in "GRZNLP"}, x, chosen)
    if blocks is None:
        draft.draw("spectral/secular/product", {"Q": q, "X": x}, product, parts)
        return
    for top in range(0, n, 2**level):  # rows of a part meet the columns of that part only
        first, left = top // 2, top // 2 ** (level + 1) * 2**level
        rows, across = texels(min(top + 2**level, n)) - first, texels(min(subset.count - 2 * left, 2 ** (level + 1)))
        slice_, place = {"first": first, "count": rows}, Region(left, first, across, rows)
        blocks.draw({"A": q, "B": x}, product, slice_, (n, subset.count), "", place)
