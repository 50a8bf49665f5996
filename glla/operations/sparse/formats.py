"""The formats of sparse matrices by name, and the default choice."""

from __future__ import annotations

import math

from glla.operations.sparse.blocks import Blocks
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.diagonals import Circular, Diagonals
from glla.operations.sparse.entries import Pointers, Points
from glla.operations.sparse.layout import Maker
from glla.operations.sparse.sell import Sell
from glla.operations.sparse.stencil import Stencil, few_others
from glla.passes import Limits

FORMATS: dict[str, Maker] = {
    "diagonals": Diagonals.of,
    "stencil": Stencil.of,
    "circular": Circular.of,
    "pointers": Pointers.of,
    "sell": Sell.of,
    "blocks": Blocks.of,
    "points": Points.of,
}
"""Constructors of the formats' structures."""

MOST_DIAGONALS = 64
"""Diagonals up to which a matrix may have that format."""

LEAST_FILLED = 0.5
"""Fraction of the places on its diagonals that a matrix must fill for that format."""


def chosen(rows: Compressed, limits: Limits) -> str:
    """Choose a format: diagonals, or the tuned one, where there are few, and those are full; else sell.

    In software it is stencil, where nearly all rows have the same entries on few diagonals; a GPU
    gained 10 % of a product and 5 % of an iteration of cg by it in the one run that was made
    (nvidia-h200-pcie-sse2/experiments/2026-11-23-stencil.json), and keeps diagonals.
    """
    offsets = rows.offsets
    if len(offsets) > MOST_DIAGONALS or rows.entries < LEAST_FILLED * len(offsets) * min(rows.shape):
        return "sell"
    if limits.software and few_others(rows):
        return "stencil"
    side = math.isqrt(max(rows.shape[0], 1))
    tuned = limits.tuning("spmv", side, side)
    return tuned.variant if tuned is not None and rows.shape[0] == rows.shape[1] else "diagonals"
