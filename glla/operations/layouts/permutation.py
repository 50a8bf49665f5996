"""The permutation of a pivoted factorisation, and its application to other rows."""

from __future__ import annotations

from glla.errors import PlanError
from glla.passes import Draft, Plan, Storage, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels


@cached_plan
def trace(rows: int, steps: int, inverse: bool = False) -> Plan:
    """Plan that follows the row exchanges of a factorisation.

    Result ``rows``: a column of texels (row of 2y, row of 2y+1, 0, 0).
    `rows`: rows of the factored matrix. `steps`: steps of the factorisation; the operand ``pivots`` holds their
    records. `inverse`: where each original row went, instead of where each new row comes from.
    """
    draft = Draft("permutation_trace")
    draft.operand("pivots", Storage(1, steps))
    result = draft.slot("rows", Storage(texels(rows), 1))
    uniforms = {"first": 0, "end": steps}
    draft.draw("permutation/trace", {"pivots": "pivots"}, result, uniforms, {"INVERSE": int(inverse)})
    return draft.plan({"rows": result})


@cached_plan
def gather(shape: Shape, rows: int | None = None, left: int = 0, columns: int | None = None) -> Plan:
    """Plan that puts rows of ``A`` into an order.

    Operand ``rows``: a column of texels (source of row 2y, source of row 2y+1, 0, 0). Result ``B``.
    `shape`: rows and columns of ``A``. `rows`: how many of them; by default all. `left`: columns of ``A`` that are left
    out, even. `columns`: how many behind them are kept; by default all.
    """
    if left % 2:
        raise PlanError(f"permutation_gather: columns that are left out must be an even number, got {left}")
    chosen = (shape[0] if rows is None else rows, shape[1] - left if columns is None else columns)
    draft = Draft("permutation_gather")
    draft.operand("A", matrix(shape))
    draft.operand("rows", Storage(texels(chosen[0]), 1))
    result = draft.slot("B", matrix(chosen))
    draft.draw("permutation/gather", {"A": "A", "rows": "rows"}, result, {"shape": chosen, "left": left})
    return draft.plan({"B": result})
