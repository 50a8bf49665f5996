"""Forward and backward substitution, T X = B."""

from __future__ import annotations

from functools import lru_cache

from glla.layout import Shape, texels
from glla.passes import Draft, PingPong, Plan, Region, Variant, matrix

VARIANTS = {
    "rank2": Variant("two rows a step, substituted into all open rows", "Brodtkorb 2007, section 4.1.3, equation 4.34"),
}


@lru_cache(maxsize=64)
def plan(n: int, columns: int, upper: bool = False, unit: bool = False, transposed: bool = False) -> Plan:
    """Plan of the solution of a triangular system.

    Parameters
    ----------
    n, columns : int
        Order of T, and number of right-hand sides; both > 0.
    upper : bool
        The matrix solved with is upper triangular: substitute backward. With `transposed` this speaks of the
        transpose.
    unit : bool
        Its diagonal is one and is not read.
    transposed : bool
        Solve with the transpose of what is stored.

    Returns
    -------
    Plan
        Operands ``T`` and ``B``, result ``X``, all packed. ceil(n / 2) passes, n^2 columns flop.
    """
    draft = Draft(f"triangular[rank2, {'upper' if upper else 'lower'}]")
    triangle = draft.operand("T", matrix((n, n)))
    start = draft.operand("B", matrix((n, columns)))
    result = substitute(draft, triangle, start, (n, columns), upper, unit, transposed)
    return draft.plan({"X": result}, flops=n * n * columns)


def substitute(
    draft: Draft, triangle: str, start: str, shape: Shape, upper: bool, unit: bool = False, transposed: bool = False
) -> str:
    """Add the passes of a substitution to a draft.

    Parameters
    ----------
    draft : Draft
        Where the passes go.
    triangle, start : str
        Slots of T (which may be part of a wider matrix) and of the right-hand sides.
    shape : tuple of int
        Of the right-hand sides.
    upper, unit, transposed : bool
        As in `plan`.

    Returns
    -------
    str
        Slot of the solution.
    """
    storage = matrix(shape)
    rows = PingPong(draft, "X", storage, start)
    height = texels(shape[0])
    for step in range(height):
        t = height - 1 - step if upper else step
        # A row is final one step after its own, when both textures hold it.
        if upper:
            region = Region(0, 0, storage.width, min(t + 2, height))
        else:
            region = _from_row(max(t - 1, 0), storage.width, height)
        draft.draw(
            "triangular/substitute",
            {"T": triangle, "B": rows.front},
            rows.back,
            {"t": t, "shape": shape},
            {"UPPER": int(upper), "UNIT": int(unit), "TRANSPOSED": int(transposed)},
            region,
        )
        rows.swap()
    return rows.front


def _from_row(y: int, width: int, height: int) -> Region:
    return Region(0, y, width, height - y)
