"""Reduced row echelon form by Gauss-Jordan elimination in ping-pong passes."""

from __future__ import annotations

from functools import lru_cache

from glla.errors import OptionError
from glla.kernels import triangular
from glla.kernels._blocked import BlockedFactors
from glla.kernels.pivot import EchelonSearch
from glla.layout import Shape, texels
from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, Variant, matrix

VARIANTS = {
    "rank2": Variant(
        "two columns a step, eliminated above and below at once",
        "Brodtkorb 2007, section 4.1.2, listings 4.3 and 4.4",
    ),
    "blocked": Variant(
        "blocked PLU of the whole matrix, then back substitution; for independent leading columns only",
        "LAPACK getrf and trtrs",
    ),
}


BLOCKED_FROM = 32
"""Columns from which `blocked` is faster than `rank2`."""


def choose(shape: Shape, limits: Limits | None = None) -> str:
    """Pick the variant to try first: `blocked` where the panels have fewer passes than the steps of the other.

    On an NVIDIA H200 it takes 1.1 ms against 1.5 of `rank2` at n = 64, 2.4 against 3.1 at 128, 2.6 against 4.7 at 256,
    4.4 against 8.2 at 512, 105 against 1358 at 4096; on llvmpipe with ``LP_NUM_THREADS=0`` as long up to n = 128, 21
    against 29 at 256, with two threads 9.6 against 10.8 at 64 and 40 against 47 at 256. See ``benchmarks/results``.
    What was tuned on the device comes first.
    """
    tuned = None if limits is None else limits.tuning("rref", *shape)
    if tuned is not None:
        return tuned.variant
    return "blocked" if min(shape) >= BLOCKED_FROM else "rank2"


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
def plan(shape: Shape, pivoting: str = "harmonic", variant: str = "rank2", unroll: bool = False) -> Plan:
    """Plan of the reduced row echelon form of an m x n matrix, m, n > 0.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.
    pivoting : {"harmonic", "geometric", "partial"}
        See `glla.kernels.pivot`.
    variant : str
        A key of `VARIANTS`. ``blocked`` gives other results, see `_blocked`.
    unroll : bool
        ``blocked`` on a GPU: write out the long loops, see ``plu/block_row.frag``.

    Returns
    -------
    Plan
        Operands ``A`` (packed) and ``tolerance`` (absolute and relative). Results: ``R``,
        ``pivots_even`` and ``pivots_odd``, the records, and ``health`` of the last step.
        About n^3 flop; per step one elimination pass and 2 (block norms) or 3 (partial) search passes.
    """
    if variant not in VARIANTS:
        raise OptionError(f"rref: variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    if variant == "blocked":
        return _blocked(shape, pivoting, unroll)
    count = steps(shape, pivoting)
    draft = Draft(f"rref[rank2, {pivoting}]")
    storage = matrix(shape)
    front = PingPong(draft, "R", storage, draft.operand("A", storage))
    search = EchelonSearch(draft, shape, count, pivoting)
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
    return draft.plan({"R": front.front, **search.slots.results(count)}, flops(shape))


def _blocked(shape: Shape, pivoting: str, unroll: bool) -> Plan:
    """Plan of [I X], X = U^-1 (the rest of U), for a matrix whose first min(m, n) columns are independent.

    Of such a matrix the echelon form is known but for the columns behind. Whether it is one, the caller must see from
    the results ``diagonal`` (U's, as `glla.kernels.plu.diagonal` has it) and ``health``, a texel for each step, and
    from the factors themselves, ``LU`` and ``pivots``.
    """
    m, n = shape
    draft = Draft(f"rref[blocked, {pivoting}]")
    factors = BlockedFactors(draft, draft.operand("A", matrix(shape)), shape, pivoting, unroll, fused=unroll)
    diagonal = draft.slot("diagonal", Storage(texels(min(shape)), 1))
    draft.draw("plu/diagonal", {"LU": factors.result}, diagonal)
    result = draft.slot("R", matrix(shape))
    if m < n:
        behind = (m, n - m)
        tail = draft.slot("tail", matrix(behind))
        draft.draw("rref/tail", {"LU": factors.result}, tail, {"left": m, "shape": behind})
        variant = triangular.choose(*behind, Limits(software=not unroll))
        upper = triangular.Triangle(upper=True)
        solution = triangular.substitute(draft, factors.result, tail, behind, upper, variant, unroll)
        draft.draw("rref/assemble", {"X": solution}, result, {"left": m, "shape": shape}, {"TAIL": 1})
    else:
        draft.draw("rref/assemble", {}, result, {"shape": shape}, {"TAIL": 0})
    results = {"R": result, "LU": factors.result, "pivots": factors.records[0], "health": factors.records[1]}
    return draft.plan({**results, "diagonal": diagonal}, flops(shape))
