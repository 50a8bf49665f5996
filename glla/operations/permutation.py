"""The permutation that a pivoted factorisation has made, and its use on other rows."""

from __future__ import annotations

from glla.passes import Draft, Plan, Storage, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels


@cached_plan
def trace(rows: int, steps: int, inverse: bool = False) -> Plan:
    """Plan that follows the row exchanges of a factorisation.

    Parameters
    ----------
    rows : int
        Rows of the factored matrix.
    steps : int
        Steps of the factorisation; the operand ``pivots`` holds their records.
    inverse : bool
        Where each original row went, instead of where each new row comes from.

    Returns
    -------
    Plan
        Result ``rows``: a column of texels (row of 2y, row of 2y+1, 0, 0).
    """
    draft = Draft("permutation_trace")
    draft.operand("pivots", Storage(1, steps))
    result = draft.slot("rows", Storage(texels(rows), 1))
    uniforms = {"first": 0, "end": steps}
    draft.draw("permutation/trace", {"pivots": "pivots"}, result, uniforms, {"INVERSE": int(inverse)})
    return draft.plan({"rows": result})


@cached_plan
def gather(shape: Shape) -> Plan:
    """Plan that puts the rows of ``A`` into the order that ``rows`` gives; result ``B``."""
    draft = Draft("permutation_gather")
    draft.operand("A", matrix(shape))
    draft.operand("rows", Storage(texels(shape[0]), 1))
    result = draft.slot("B", matrix(shape))
    draft.draw("permutation/gather", {"A": "A", "rows": "rows"}, result, {"shape": shape})
    return draft.plan({"B": result})
