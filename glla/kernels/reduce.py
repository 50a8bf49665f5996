"""Reductions of a whole matrix to one figure."""

from __future__ import annotations

from functools import lru_cache

from glla.layout import Shape, packed
from glla.passes import Draft, Plan, Storage, matrix

CHUNK = 16
"""Texels on a side that one fragment reduces: three passes reach 8192 x 8192 elements."""


@lru_cache(maxsize=64)
def max_magnitude(shape: Shape) -> Plan:
    """Plan of max |a_ij| of an m x n matrix: operand ``A``, result ``max`` (1x1, in the red channel)."""
    draft = Draft("max_magnitude")
    source, size = draft.operand("A", matrix(shape)), packed(shape)
    while True:
        smaller = (-(-size[0] // CHUNK), -(-size[1] // CHUNK))
        target = draft.slot(f"max_{smaller[0]}x{smaller[1]}", Storage(*smaller))
        draft.draw("reduce/max_magnitude", {"A": source}, target, {"chunk": CHUNK, "size": size})
        if smaller == (1, 1):
            return draft.plan({"max": target}, flops=shape[0] * shape[1])
        source, size = target, smaller
