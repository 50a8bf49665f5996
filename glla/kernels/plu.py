"""PLU factorisation A = P L U, in the manner of Doolittle, and what follows from the packed factors."""

from __future__ import annotations

from functools import lru_cache

from glla.errors import OptionError
from glla.kernels._blocked import BlockedFactors
from glla.kernels._column_by_column import SIDE, ColumnByColumn, Manner
from glla.kernels.pivot import NORMS, FactorSearch, known
from glla.layout import Shape, texels
from glla.passes import Draft, Limits, Parameters, PingPong, Plan, Region, Storage, Variant, matrix

VARIANTS = {
    "rank2": Variant(
        "two columns a step, each step a rank-2 update of the whole rest of the matrix",
        "Brodtkorb 2007, section 4.1.3, listings 4.5 and 4.6",
    ),
    "blocked": Variant(
        "panels of 64 columns, a trailing update of rank 64 by the fast product, row exchanges fused into it",
        "LAPACK getrf",
    ),
    "row_operations": Variant(
        "one element in a texel; a pass each for search, normalisation, exchange and rank-1 elimination of a column",
        "Galoppo, Govindaraju, Henson and Manocha 2005 (LU-GPU), partial pivoting",
    ),
    "row_operations_full": Variant(
        "one element in a texel; the pivot is the largest of all that remains: A = P L U Q, Q in the result columns",
        "Galoppo, Govindaraju, Henson and Manocha 2005 (LU-GPU), full pivoting",
        parameters={"SIDE": (SIDE, 2, 4, 16)},
    ),
    "row_vectors": Variant(
        "four elements of a row in a texel (4x1 packing), one column a step",
        "Moravanszky 2003 (packing); LU-GPU 2005 (passes)",
    ),
    "column_vectors": Variant(
        "four elements of a column in a texel (1x4 packing), one column a step",
        "Moravanszky 2003 (packing); LU-GPU 2005 (passes)",
    ),
    "extra_column": Variant(
        "row vectors, and an extra column at the left: multipliers, and the next column ahead of the others",
        "Brodtkorb, Saetra and Fladby 2007, section A.3.2 (local algorithm); in Brodtkorb 2007, appendix A",
    ),
}

MANNERS = {
    "row_operations": Manner(),
    "row_operations_full": Manner(complete=True),
    "row_vectors": Manner(columns=4),
    "column_vectors": Manner(rows=4),
    "extra_column": Manner(columns=4, extra_column=True),
}
"""How the variants that take one column a step do it."""


BLOCKED_FROM = 256
"""Columns from which `blocked` is faster than `rank2`."""


def choose(shape: Shape, limits: Limits | None = None) -> str:
    """Pick the variant: `blocked` for large matrices, whose arithmetic outweighs its many passes.

    On an NVIDIA H200 it takes 3.3 ms against 3.5 of `rank2` at n = 256, 4.8 against 5.3 at 384, 5.6 against 8.1 at 512
    (in the newest run 4.1 against 3.1 at 256 and 8.9 against 8.7 at 512: small sizes differ from run to run), 13
    against 32 at 1024, 118 against 1300 at 4096; on llvmpipe with ``LP_NUM_THREADS=0`` 18 against 23 at n = 256, 48
    against 79 at 400, with two threads as long and 80 against 85. It would be no slower from 160 on, but has more
    shaders to compile. See ``benchmarks/results``. What was tuned on the device comes first.
    """
    tuned = None if limits is None else limits.tuning("plu", *shape)
    if tuned is not None:
        return tuned.variant
    return "blocked" if min(shape) >= BLOCKED_FROM else "rank2"


def flops(shape: Shape) -> int:
    """Additions and multiplications of an elimination of an m x n matrix: about 2/3 n^3 for a square one.

    >>> flops((2, 2))
    2
    """
    m, n = shape
    return sum(2 * (m - 1 - i) * (n - 1 - i) for i in range(min(m, n)))


def steps(shape: Shape) -> int:
    """Column pairs to eliminate.

    >>> steps((5, 9))
    3
    """
    return texels(min(shape))


def pivotings(variant: str) -> tuple[str, ...]:
    """Pivoting strategies that a variant knows, its default first.

    A block norm chooses two rows at once, so it is for variants that eliminate two columns at once.

    >>> pivotings("rank2"), pivotings("row_vectors"), pivotings("row_operations_full")
    (('partial', 'harmonic', 'geometric'), ('partial',), ('complete',))
    """
    if variant not in MANNERS:
        return tuple(NORMS)
    return ("complete",) if MANNERS[variant].complete else ("partial",)


@lru_cache(maxsize=32)
def plan(
    shape: Shape,
    pivoting: str | None = None,
    stop: int | None = None,
    variant: str = "rank2",
    unroll: bool = False,
    fused: bool | None = None,
    parameters: Parameters = (),
) -> Plan:
    """Plan of the factorisation of an m x n matrix, m, n > 0.

    Parameters
    ----------
    shape : tuple of int
        Rows and columns.
    pivoting : {"partial", "harmonic", "geometric", "complete"}, optional
        See `glla.kernels.pivot`, and `pivotings` for what a variant knows; by default the first of those.
    stop : int, optional
        End after so many steps, two columns each, to look at a factorisation in progress. Not ``blocked``.
    variant : str
        A key of `VARIANTS`.
    unroll : bool
        ``blocked`` on a GPU: write out the long loops, see ``plu/block_row.frag``.
    fused : bool, optional
        ``blocked`` on a GPU: do more in a pass, see ``plu/panel_step.frag``; by default as `unroll`.
    parameters : tuple of (str, int)
        Of the variant. ``SIDE`` of ``row_operations_full``: of the squares by which a search is reduced.

    Returns
    -------
    Plan
        Operand ``A`` (packed). Results: ``LU``, L below the diagonal and U on and above it; ``pivots`` and ``health``,
        a texel for each step, see ``pivot/factor_records.frag``; from ``row_operations_full`` also ``columns``, the
        exchanges of columns, recorded as those of rows. About 2/3 n^3 flop; per step of two columns ``rank2`` and
        ``blocked`` take an elimination pass and 1 (block norms) or 2 (partial) search passes, of which `fused` saves
        one; the variants that go column by column take 9 or 10, a complete search more.
    """
    if variant not in VARIANTS:
        raise OptionError(f"plu: variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    pivoting = _pivoting(variant, pivoting)
    chosen = VARIANTS[variant].settle(f"plu[{variant}]", parameters)
    if stop is not None and stop < 1:
        raise OptionError(f"plu: stop must be at least 1, got {stop}")
    if variant in MANNERS:
        draft = Draft(f"plu[{variant}, {pivoting}]")
        columns = min(shape) if stop is None else min(2 * stop, min(shape))
        source = draft.operand("A", matrix(shape))
        made = ColumnByColumn(draft, source, shape, MANNERS[variant], columns, chosen.get("SIDE", SIDE))
        return draft.plan(made.results, flops(shape))
    if variant == "blocked":
        if stop is not None:
            raise OptionError("plu: variant blocked takes no stop, its columns are not done two by two; use rank2")
        draft = Draft(f"plu[blocked, {pivoting}]")
        factors = BlockedFactors(
            draft, draft.operand("A", matrix(shape)), shape, pivoting, unroll, unroll if fused is None else fused
        )
        pivots, health = factors.records
        return draft.plan({"LU": factors.result, "pivots": pivots, "health": health}, flops(shape))
    count = steps(shape) if stop is None else min(stop, steps(shape))
    draft = Draft(f"plu[rank2, {pivoting}]")
    storage = matrix(shape)
    front = PingPong(draft, "LU", storage, draft.operand("A", storage))
    search = FactorSearch(draft, shape, pivoting)
    for k in range(count):
        search.step(k, front.front)
        draft.draw(
            "plu/eliminate",
            {"A": front.front, **search.inputs},
            front.back,
            search.uniforms(),
            search.defines,
            _from_row(max(k - 1, 0), storage),
            step=k,
        )
        front.swap()
    pivots, health = (draft.slot(name, Storage(1, count)) for name in ("pivots", "health"))
    search.records(count, (pivots, health))
    return draft.plan({"LU": front.front, "pivots": pivots, "health": health}, flops(shape))


def _pivoting(variant: str, pivoting: str | None) -> str:
    """Pivoting strategy of a plan: the one asked for, if the variant knows it."""
    possible = pivotings(variant)
    if pivoting is None:
        return possible[0]
    if pivoting not in possible:
        if variant not in MANNERS:
            known(pivoting)
        raise OptionError(
            f"plu: variant {variant} goes column by column, so its pivoting must be {possible[0]}, got {pivoting!r}; "
            "block norms are for rank2 and blocked"
        )
    return pivoting


def _from_row(y: int, storage: Storage) -> Region:
    """All texels from row y down: a row of texels is final one step after its own, when both textures hold it."""
    return Region(0, y, storage.width, storage.height - y)


@lru_cache(maxsize=64)
def diagonal(n: int) -> Plan:
    """Plan of U's diagonal beside the largest entries of U's columns: a pivot that is small beside it may be an error.

    Parameters
    ----------
    n : int
        Order of the (square, factored) matrix.

    Returns
    -------
    Plan
        Operand ``LU``, result ``diagonal``: a column of texels (u_2y, u_2y+1, s_2y, s_2y+1), s_i = max abs(u_ki).
    """
    draft = Draft("plu_diagonal")
    draft.operand("LU", matrix((n, n)))
    result = draft.slot("diagonal", Storage(texels(n), 1))
    draft.draw("plu/diagonal", {"LU": "LU"}, result)
    return draft.plan({"diagonal": result})


@lru_cache(maxsize=64)
def factor(shape: Shape, which: str) -> Plan:
    """Plan that takes one factor out of the packed ones: ``"L"``, m x min(m, n), or ``"U"``, min(m, n) x n."""
    m, n = shape
    small = (m, min(m, n)) if which == "L" else (min(m, n), n)
    draft = Draft(f"plu_{which}")
    draft.operand("LU", matrix(shape))
    result = draft.slot(which, matrix(small))
    draft.draw("plu/factor", {"LU": "LU"}, result, {"shape": small}, {"LOWER": int(which == "L")})
    return draft.plan({which: result})
