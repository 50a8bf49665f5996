"""Forward and backward substitution, T X = B."""

from __future__ import annotations

from functools import lru_cache

from glla.layout import texels
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
    draft.operand("T", matrix((n, n)))
    storage = matrix((n, columns))
    rows = PingPong(draft, "X", storage, draft.operand("B", storage))
    height = texels(n)
    for step in range(height):
        t = height - 1 - step if upper else step
        # A row is final one step after its own, when both textures hold it.
        region = (
            Region(0, 0, storage.width, min(t + 2, height))
            if upper
            else _from_row(max(t - 1, 0), storage.width, height)
        )
        draft.draw(
            "triangular/substitute",
            {"T": "T", "B": rows.front},
            rows.back,
            {"t": t, "shape": (n, columns)},
            {"UPPER": int(upper), "UNIT": int(unit), "TRANSPOSED": int(transposed)},
            region,
        )
        rows.swap()
    return draft.plan({"X": rows.front}, flops=n * n * columns)


def _from_row(y: int, width: int, height: int) -> Region:
    return Region(0, y, width, height - y)
