"""Reductions of linear arrays over any axes: sums, extremes, counts, truths, and the indices of extremes.

A line is reduced to one element. It is split into chunks of `CHUNK` elements, which a fragment reduces; passes are
repeated until each line is one element, so a sum is a tree: `depth` is its height.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from glla.errors import PlanError
from glla.operations.linear.elementwise import draw_copy
from glla.operations.linear.view import Over, Shape, View, integer, laid, merged, operands
from glla.passes import Draft, Plan, Uniform
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define

CHUNK = 64
"""Elements of a line that one fragment reduces, so that five passes reduce 10^9."""

FOLDS: dict[str, tuple[str, int, str]] = {
    "sum": ("sum_of", 0, "itself"),
    "prod": ("product_of_two", 1, "itself"),
    "max": ("maximum_of", -2, "itself"),
    "min": ("minimum_of", 2, "itself"),
    "sum_magnitudes": ("sum_of", 0, "absolute"),
    "max_magnitude": ("maximum_of", 0, "absolute"),
    "min_magnitude": ("minimum_of", 2, "absolute"),
    "sum_squares": ("sum_of", 0, "squared"),
    "all": ("minimum_of", 1, "truth"),
    "any": ("maximum_of", 0, "truth"),
    "count_nonzero": ("sum_of", 0, "truth"),
}
"""Reductions by name: how two are combined, the initial value, and the function of an element."""

COUNTED = {"all": "bool", "any": "bool", "count_nonzero": "int32"}
"""Types of results that differ from the operand's."""

PLACES = ("argmax", "argmin")
"""Reductions to an index."""


def reduced_shape(shape: Shape, axes: Sequence[int]) -> Shape:
    """Shape that a reduction leaves.

    >>> reduced_shape((2, 3, 4), (0, -1))
    (3,)
    """
    gone = {axis % len(shape) for axis in axes}
    return tuple(length for axis, length in enumerate(shape) if axis not in gone)


def result_dtype(operation: str, dtype: str) -> str:
    """Type of a reduction's result: sums and products of bool are of int32.

    >>> result_dtype("sum", "bool"), result_dtype("all", "float32")
    ('int32', 'bool')
    """
    if operation in PLACES:
        return "int32"
    known = COUNTED.get(operation, dtype)
    return "int32" if known == "bool" and operation in ("sum", "prod") else known


@cached_plan
def fold(a: View, operation: str, axes: tuple[int, ...], texture_size: int) -> Plan:
    """Plan of a reduction.

    Operand ``A``, for ``sum_squares`` also ``S``, the result of ``max_magnitude`` over the same axes; with e =
    floor(log2(S)) the squares are those of A 2^-e. Result ``total``, of `reduced_shape` and `result_dtype`, in C order.
    Of an empty line: what it begins with, 0 or 1, or the number that every other one beats.
    `operation`: a key of `FOLDS`. ``sum_squares`` is of float32. `axes`: dimensions that are reduced, each once.

    Sums of floats: abs(S - S^) <= d u sum(abs(a)), u = 2^-24, with d = `depth` of a line's length: 64
    for 64 elements, 316 for 10^9. Sums of int32 wrap around.
    """
    combine, neutral, entry = FOLDS[operation]
    dtype = result_dtype(operation, a.dtype)
    if operation == "sum_squares" and a.dtype != "float32":
        raise PlanError(f"sum_squares: is of float32, got {a.dtype}; cast it first")
    draft = Draft(operation)
    inputs = operands(draft, texture_size, A=a)
    rows = reduced_shape(a.shape, axes)
    lines, inputs["A"] = _lined_up(draft, a, axes, texture_size, inputs["A"])
    if operation == "sum_squares":
        inputs["S"] = draft.operand("S", laid(rows, "float32", texture_size))
    defines: dict[str, Define] = {"COMBINE": combine, "NEUTRAL": neutral, "CHUNK": CHUNK}
    defines |= {"RESULT_INTEGER": int(dtype != "float32")}
    while True:
        chunks = max(1, -(-lines.shape[-1] // CHUNK))
        over, uniforms, texels = _chunked(lines, chunks, texture_size)
        shape = rows if chunks == 1 else (*lines.shape[:-1], chunks)
        target = draft.slot(f"chunks_{len(draft.steps)}", laid(shape, dtype, texture_size))
        own: dict[str, Define] = {"ENTRY": entry, "INTEGER": integer(lines), "TEXELS": texels}
        own["SCALED"] = int("S" in inputs)
        draft.draw("wrapped/fold", inputs, target, uniforms, {**defines, **over.defines, **own})
        if chunks == 1:
            return draft.plan({"total": target}, flops=a.count)
        lines, inputs, entry = View.of((*lines.shape[:-1], chunks), dtype), {"A": target}, "itself"


@cached_plan
def place(a: View, operation: str, axes: tuple[int, ...], texture_size: int) -> Plan:
    """Plan that finds the largest or the smallest element of each line.

    Operand ``A``, result ``place``, int32, of `reduced_shape`.
    `a`: operand ``A``; lines have at least one element. `operation` ("argmax", "argmin"): NaN is beyond all numbers; of
    equal elements the first counts. `axes`: dimensions that make a line, in C order.
    """
    draft = Draft(operation)
    inputs = operands(draft, texture_size, A=a)
    lines, source = _lined_up(draft, a, axes, texture_size, inputs["A"])
    if lines.shape[-1] == 0:
        raise PlanError(f"{operation}: a line has at least one element, got shape {a.shape} and axes {axes}")
    inputs, candidates = {"A": source}, lines.shape[-1]
    while True:
        chunks = -(-candidates // CHUNK)
        starts = replace(lines, shape=(*lines.shape[:-1], chunks), strides=(*lines.strides[:-1], 0))
        over = Over(starts.shape, texture_size, straight=False, A=starts)
        shape = reduced_shape(a.shape, axes) if chunks == 1 else starts.shape
        target = draft.slot(f"chunks_{len(draft.steps)}", laid(shape, "int32", texture_size))
        uniforms: dict[str, Uniform] = {**over.uniforms, "line": (candidates, chunks, lines.strides[-1])}
        defines: dict[str, Define] = {"LEAST": int(operation == "argmin"), "INTEGER": integer(a), "CHUNK": CHUNK}
        defines |= {"FIRST": int("P" not in inputs), **over.defines}
        draft.draw("wrapped/place", inputs, target, uniforms, defines)
        if chunks == 1:
            return draft.plan({"place": target}, flops=0)
        inputs, candidates = {"A": source, "P": target}, chunks


def _lined_up(draft: Draft, a: View, axes: Sequence[int], texture_size: int, slot: str) -> tuple[View, str]:
    """View an array as lines along the last dimension; copy it first unless their elements are evenly spaced."""
    gone = [axis % a.ndim for axis in axes]
    if len(set(gone)) < len(gone):
        raise PlanError(f"{draft.operation}: each axis is reduced once, got {tuple(axes)}")
    kept = [axis for axis in range(a.ndim) if axis not in gone]
    moved = a.permute((*kept, *sorted(gone)))
    split = len(kept)
    length = math.prod(moved.shape[split:])
    if moved.count == 0:
        return replace(moved, shape=(*moved.shape[:split], length), strides=(0,) * (split + 1), offset=0), slot
    lengths, (steps,) = merged(moved.shape[split:], moved.strides[split:])
    if len(lengths) > 1:
        copy = draw_copy(draft, "lines", moved, slot, texture_size)
        return View.of((*moved.shape[:split], length), a.dtype), copy
    return replace(moved, shape=(*moved.shape[:split], length), strides=(*moved.strides[:split], *steps)), slot


def _chunked(lines: View, chunks: int, texture_size: int) -> tuple[Over, dict[str, Uniform], int]:
    """View of the first elements of all chunks, and whether the shader can read whole texels."""
    step = lines.strides[-1]
    shape = (*lines.shape[:-1], chunks)
    starts = replace(lines, shape=shape, strides=(*lines.strides[:-1], CHUNK * step))
    over = Over(shape, texture_size, straight=False, A=starts)
    uniforms: dict[str, Uniform] = {**over.uniforms, "line": (lines.shape[-1], chunks, step)}
    begins = [stride for stride, length in zip(starts.strides, shape, strict=True) if length > 1]
    texels = step == 1 and not any(number % 4 for number in (lines.offset, *begins))
    return over, uniforms, int(texels)


def depth(length: int) -> int:
    """Additions that an element passes through, at most, on its way into a sum over a line of this length.

    >>> depth(1), depth(64), depth(10**8)
    (1, 64, 262)
    """
    additions = 0
    while True:
        additions += min(length, CHUNK)
        length = -(-length // CHUNK)
        if length <= 1:
            return additions
