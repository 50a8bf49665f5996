"""Cumulative sums and products of linear arrays along a dimension."""

from __future__ import annotations

import math

from glla.errors import PlanError
from glla.operations.linear.create import draw_full
from glla.operations.linear.elementwise import draw_copy
from glla.operations.linear.move import draw_joined
from glla.operations.linear.view import View, integer, laid, operands
from glla.passes import Draft, PingPong, Plan, Uniform
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define

SCANS = {"cumulative_sum": 0, "cumulative_prod": 1}
"""Cumulative reductions, each with its initial value."""


@cached_plan
def cumulative(a: View, operation: str, axis: int, texture_size: int, include_initial: bool = False) -> Plan:
    """Plan of a running sum or product.

    Operand ``A``, result ``result``. log2(n) passes for n elements along the dimension, and a copy first unless the
    operand is in C order.
    `a`: operand ``A``; bool counts as int32. `operation`: a key of `SCANS`. `axis`: dimension along which it runs.
    `include_initial`: begin with 0, or 1 for products, and so be one element longer.

    Each element of a sum passes through at most log2(n) + 1 additions; its error is at most that many u times the sum
    of the magnitudes, u = 2^-24. Of int32 it wraps around.
    """
    if a.ndim == 0 or operation not in SCANS:
        raise PlanError(f"{operation}: runs along a dimension, got shape {a.shape}")
    axis %= a.ndim
    draft = Draft(operation)
    (slot,) = operands(draft, texture_size, A=a).values()
    shape = a.shape
    if include_initial:
        one = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
        initial = draw_full(draft, "initial", one, SCANS[operation], a.dtype, texture_size)
        joined, slot = draw_joined(draft, [(View.of(one, a.dtype), initial), (a, slot)], axis, texture_size)
        shape = joined.shape
    elif not a.whole or a.shape[axis] < 2:
        slot = draw_copy(draft, "in order", a, slot, texture_size)
    storage = laid(shape, a.texel_dtype, texture_size)
    turns = PingPong(draft, "sums", storage, slot)
    back, inner = 1, math.prod(shape[axis + 1 :])
    while back < shape[axis]:
        uniforms: dict[str, Uniform] = {"extent": (math.prod(shape), storage.width)}
        uniforms["line"] = (shape[axis], max(inner, 1), back)
        defines: dict[str, Define] = {"PRODUCT": SCANS[operation], "INTEGER": integer(a), "RANK": 0}
        draft.draw("wrapped/scan", {"A": turns.front}, turns.back, uniforms, defines)
        turns.swap()
        back *= 2
    return draft.plan({"result": turns.front}, flops=math.prod(shape) * max(shape[axis] - 1, 1).bit_length())
