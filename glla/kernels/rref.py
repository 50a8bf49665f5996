"""Reduced row echelon form by Gauss-Jordan elimination in ping-pong passes."""

from __future__ import annotations

from functools import lru_cache

from glla.kernels.pivot import Search
from glla.layout import Shape, texels
from glla.passes import Draft, PingPong, Plan, Region, Variant, matrix

VARIANTS = {
    "rank2": Variant(
        "two columns a step, eliminated above and below at once",
        "Brodtkorb 2007, section 4.1.2, listings 4.3 and 4.4",
    ),
}


def flops(shape: Shape) -> int:
    """Additions and multiplications for an m x n matrix of full rank: about n^3 for a square one."""
    m, n = shape
    return sum(2 * (m - 1) * (n - 1 - j) for j in range(min(m, n)))


def steps(shape: Shape, pivoting: str) -> int:
    """Column pairs to eliminate.

    A block norm takes for granted that the first min(m, n) columns have the pivots (its health tells when not);
    ``partial`` looks at every column.

    >>> steps((4, 9), "harmonic"), steps((4, 9), "partial")
    (2, 5)
    """
    return texels(shape[1] if pivoting == "partial" else min(shape))


@lru_cache(maxsize=32)
def plan(shape: Shape, pivoting: str = "harmonic") -> Plan:
    """Plan of the reduced row echelon form of an m x n matrix, m, n > 0.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.
    pivoting : {"harmonic", "geometric", "partial"}
        See `glla.kernels.pivot`.

    Returns
    -------
    Plan
        Operands ``A`` (packed) and ``tolerance`` (absolute and relative). Results: ``R``,
        ``pivots_even`` and ``pivots_odd``, the records, and ``health`` of the last step.
        About n^3 flop; per step one elimination pass and 2 (block norms) or 4 (partial) search passes.
    """
    count = steps(shape, pivoting)
    draft = Draft(f"rref[rank2, {pivoting}]")
    storage = matrix(shape)
    front = PingPong(draft, "R", storage, draft.operand("A", storage))
    search = Search(draft, shape, count, pivoting, fixed=False)
    for k in range(count):
        pivots, slot = search.step(k, front.front)
        left = max(k - 1, 0)  # a finished column is final in both textures one step after its own
        draft.draw(
            "rref/eliminate",
            {"A": front.front, "pivots": pivots},
            front.back,
            {"k": k, "slot": slot, "shape": shape},
            region=Region(left, 0, storage.width - left, storage.height),
        )
        front.swap()
    return draft.plan({"R": front.front, **search.records.results(count)}, flops(shape))
