"""Sorting of linear arrays along a dimension, and search in sorted ones.

Merge sort by bisection: log2(n) passes, any length, stable; NaN is last in either order.
"""

from __future__ import annotations

from dataclasses import replace

from glla.errors import PlanError
from glla.operations.linear.elementwise import draw_copy
from glla.operations.linear.move import copy
from glla.operations.linear.view import Over, View, integer, laid, operands
from glla.passes import Draft, PingPong, Plan, Uniform
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define


@cached_plan
def sort(a: View, axis: int, descending: bool, texture_size: int) -> Plan:
    """Plan that sorts along a dimension: operand ``A``, result ``result``.

    log2(n) passes for lines of n elements, and one for each copy: before, unless the dimension is the last one of an
    array in C order; behind, unless it is the last one.
    """
    axis %= max(a.ndim, 1)
    if a.ndim == 0 or a.shape[axis] < 2:
        return copy(a, texture_size)
    draft = Draft("sort")
    (slot,) = operands(draft, texture_size, A=a).values()
    lines = a.moved(axis, -1)
    if not lines.whole:
        slot = draw_copy(draft, "lines", lines, slot, texture_size)
    whole = View.of(lines.shape, a.dtype)
    storage = laid(lines.shape, a.dtype, texture_size)
    turns = PingPong(draft, "sorted", storage, slot)
    width = 1
    while width < a.shape[axis]:
        uniforms: dict[str, Uniform] = {"extent": (a.count, storage.width), "runs": (a.shape[axis], width)}
        defines: dict[str, Define] = {"PLACES": 0, "INTEGER": integer(a), "DESCENDING": int(descending), "RANK": 0}
        draft.draw("wrapped/merge", {"A": turns.front}, turns.back, uniforms, defines)
        turns.swap()
        width *= 2
    return draft.plan({"result": _moved_back(draft, whole, axis, turns.front, texture_size)}, flops=0)


@cached_plan
def argsort(a: View, axis: int, descending: bool, texture_size: int) -> Plan:
    """Plan of the places of elements along a dimension, as they are sorted: operand ``A``, result ``result``, int32.

    Equal elements stay in their order. log2(n) passes for lines of n elements, and a copy behind unless the dimension
    is the last one.
    """
    axis %= max(a.ndim, 1)
    draft = Draft("argsort")
    (slot,) = operands(draft, texture_size, A=a).values()
    lines = a.moved(axis, -1) if a.ndim else a.sliced(None)
    length = lines.shape[-1]
    over = Over(lines.shape, texture_size, straight=False, A=replace(lines, strides=(*lines.strides[:-1], 0)))
    turns = PingPong(draft, "places", laid(lines.shape, "int32", texture_size), "")
    width = 1
    while width < max(length, 2):
        uniforms: dict[str, Uniform] = {**over.uniforms, "runs": (max(length, 1), width), "step_": lines.strides[-1]}
        defines: dict[str, Define] = {"INTEGER": integer(a), "DESCENDING": int(descending), **over.defines}
        defines["PLACES"] = 2 if turns.front else 1
        inputs = {"A": slot, **({"P": turns.front} if turns.front else {})}
        draft.draw("wrapped/merge", inputs, turns.back, uniforms, defines)
        turns.swap()
        width *= 2
    whole = View.of(lines.shape, "int32")
    return draft.plan({"result": _moved_back(draft, whole, axis, turns.front, texture_size)}, flops=0)


def _moved_back(draft: Draft, whole: View, axis: int, slot: str, texture_size: int) -> str:
    """Move the last dimension back to its place."""
    if axis == whole.ndim - 1:
        return slot
    return draw_copy(draft, "moved back", whole.moved(-1, axis), slot, texture_size)


@cached_plan
def searchsorted(haystack: View, needles: View, right: bool, texture_size: int) -> Plan:
    """Plan of `numpy.searchsorted`: where elements go so that a sorted array stays sorted.

    Operands ``H`` and ``A``, result ``result``, int32. One pass.
    `haystack`: operand ``H``, one dimension, sorted, NaN last. `needles`: operand ``A``, of the same type. `right`:
    behind equal elements instead of before them.
    """
    if haystack.ndim != 1 or haystack.dtype != needles.dtype:
        raise PlanError(
            f"searchsorted: the sorted array has one dimension and the dtype of what is searched, got "
            f"{haystack.dtype} {haystack.shape} and {needles.dtype}"
        )
    draft = Draft("searchsorted")
    inputs = operands(draft, texture_size, H=haystack, A=needles)
    over = Over(needles.shape, texture_size, A=needles)
    made = {"result": laid(needles.shape, "int32", texture_size)}
    line = (haystack.count, haystack.strides[0], haystack.offset)
    defines: dict[str, Define] = {"RIGHT": int(right), "INTEGER": integer(needles), **over.defines}
    return draft.plan(draft.draw("wrapped/search", inputs, made, {**over.uniforms, "line": line}, defines), flops=0)
