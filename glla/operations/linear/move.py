"""Elements of linear arrays moved: copied, assigned, joined, taken by indices; and packed and unpacked.

A flip is a view and a copy.
"""

from __future__ import annotations

import math
from dataclasses import replace

from glla.errors import PlanError
from glla.operations.batches.stack import raw as raw_storage
from glla.operations.linear.elementwise import draw_copy, unary
from glla.operations.linear.view import (
    Index,
    Over,
    Shape,
    View,
    _range,
    broadcast_shapes,
    expanded,
    integer,
    laid,
    operands,
)
from glla.passes import Draft, Plan, Uniform, matrix, single_pass
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define

PARTS = 4
"""Arrays that one pass joins at most: a shader for more takes longer to compile than the saved passes."""

Box = tuple[tuple[int, int, int], ...]
"""First index, step of at least 1 and count in each dimension: a part of an array."""


def copy(a: View, texture_size: int) -> Plan:
    """Plan that writes a view out in C order: operand ``A``, result ``result``. One pass."""
    return unary(a, "positive", texture_size)


def box(shape: Shape, key: Index | tuple[Index, ...]) -> tuple[Box, Shape, tuple[int, ...]]:
    """Read a basic index as a part of an array to assign to.

    Results: `box`: with steps of at least 1. `selected`: shape of ``array[key]``, over which the value spreads.
    `backwards`: dimensions of `selected` that the index runs through backwards, so that the value is flipped there.
    `shape`: of the array. `key`: index.
    Raises IndexError: an integer is out of range, or there are too many indices.

    >>> box((4, 6), (1, slice(None, None, -2)))
    (((1, 1, 1), (1, 2, 3)), (3,), (0,))
    """
    parts, selected, backwards, axis = [], [], [], 0
    for index in expanded(key, len(shape)):
        if index is None:
            selected.append(1)
            continue
        first, step, count = _range(index, shape[axis], axis)
        if step < 0:
            first, step = first + (count - 1) * step, -step
            backwards.append(len(selected))
        parts.append((first if count else 0, step, count))
        if isinstance(index, slice):
            selected.append(count)
        axis += 1
    return tuple(parts), tuple(selected), tuple(backwards)


@cached_plan
def _assign(a: View, part: Box, value: View, texture_size: int) -> Plan:
    cut = tuple(axis for axis, (own, length) in enumerate(zip(part, a.shape, strict=True)) if own != (0, 1, length))
    seen = replace(value, shape=a.shape)  # over the box; where it is all of a dimension, over that
    over = Over(a.shape, texture_size, cut, straight=False, A=a, B=seen)
    uniforms: dict[str, Uniform] = {
        "first": over.filled({axis: part[axis][0] for axis in cut}, 0),
        "step_": over.filled({axis: part[axis][1] for axis in cut}, 1),
        "count": over.filled({axis: part[axis][2] for axis in cut}, 2**31 - 1),
    }
    return over.plan("assign", "wrapped/assign", a.dtype, uniforms=uniforms)


def assign(a: View, key: Index | tuple[Index, ...], value: View, texture_size: int) -> Plan:
    """Plan that assigns: result = a, but ``result[key] = value``.

    Operands ``A`` and ``B``, result ``result``. One pass over the whole of `a`.
    `key`: a basic index. `value`: operand ``B``, of the type of `a`; spreads over ``a[key]``.
    """
    if value.dtype != a.dtype:
        raise PlanError(f"assign: the value has the array's dtype, {a.dtype}, got {value.dtype}; cast it first")
    part, selected, backwards = box(a.shape, key)
    while value.ndim > len(selected) and value.shape[0] == 1:  # as NumPy lets ones be more
        value = value.sliced(0)
    spread = value.broadcast_to(selected).flip(backwards)
    left = iter(spread.strides)
    steps = [(index, 0 if isinstance(index, int) else next(left)) for index in expanded(key, a.ndim)]
    strides = tuple(step for index, step in steps if index is not None)
    return _assign(a, part, replace(spread, shape=a.shape, strides=strides), texture_size)


@cached_plan
def concat(parts: tuple[View, ...], axis: int, texture_size: int) -> Plan:
    """Plan that joins arrays of one type along a dimension.

    Result ``result``. One pass for up to four; every fourfold number passes over the elements once more.
    `parts`: operands ``A0``, ``A1``, ...; their shapes agree but for `axis`. `axis`: dimension.
    """
    first = parts[0]
    axis %= max(first.ndim, 1)
    rest = {(*part.shape[:axis], *part.shape[axis + 1 :], part.ndim, part.dtype) for part in parts}
    if len(rest) > 1 or first.ndim == 0:
        raise PlanError(
            f"concat: arrays have one dtype and agree in shape but for axis {axis}, got "
            + ", ".join(f"{part.dtype} {part.shape}" for part in parts)
        )
    draft = Draft("concat")
    inputs = operands(draft, texture_size, **{f"A{number}": part for number, part in enumerate(parts)})
    left = list(zip(parts, inputs.values(), strict=True))
    while True:
        left = [
            draw_joined(draft, left[start : start + PARTS], axis, texture_size) for start in range(0, len(left), PARTS)
        ]
        if len(left) == 1:
            return draft.plan({"result": left[0][1]}, flops=0)


def draw_joined(draft: Draft, parts: list[tuple[View, str]], axis: int, texture_size: int) -> tuple[View, str]:
    """Add a pass that joins a few."""
    first, total = parts[0][0], sum(view.shape[axis] for view, _ in parts)
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    moved, ends, end = {}, [], 0
    for number, (view, _) in enumerate(parts):  # each is seen over the whole, and chosen where it is
        moved[f"A{number}"] = replace(view, shape=shape, offset=view.offset - end * view.strides[axis])
        end += view.shape[axis]
        ends.append(end)
    over = Over(shape, texture_size, (axis,), straight=False, **moved)
    own = [over.uniforms.pop(f"{name}_view") for name in moved]
    count = 2 if len(parts) <= 2 else PARTS
    none = count - len(parts)
    views = [number for view in (*own, *own[:1] * none) for number in view]  # type: ignore[union-attr]
    uniforms: dict[str, Uniform] = {**over.uniforms, "views": tuple(views), "axis": over.at[axis]}
    uniforms["ends"] = (*ends, *(2**31 - 1,) * none)
    slots = [slot for _, slot in parts]
    inputs = {f"A{number}": slot for number, slot in enumerate(slots + slots[:1] * none)}
    target = draft.slot(f"joined_{len(draft.steps)}", laid(shape, first.dtype, texture_size))
    defines: dict[str, Define] = {"PARTS": count, "INTEGER": integer(first), **over.defines}
    draft.draw("wrapped/concat", inputs, target, uniforms, defines)
    return View.of(shape, first.dtype), target


@cached_plan
def roll(a: View, shift: int, axis: int, texture_size: int) -> Plan:
    """Plan that moves elements along a dimension, round the end: operand ``A``, result ``result``. One pass."""
    draft = Draft("roll")
    (slot,) = operands(draft, texture_size, A=a).values()
    length = a.shape[axis]
    cut = -shift % length if length else 0
    before: tuple[Index, ...] = (slice(None),) * (axis % a.ndim)
    parts = [(a.sliced((*before, slice(cut, None))), slot), (a.sliced((*before, slice(0, cut))), slot)]
    return draft.plan({"result": draw_joined(draft, parts, axis % a.ndim, texture_size)[1]}, flops=0)


def take(a: View, indices: View, axis: int, texture_size: int) -> Plan:
    """Plan that takes elements along a dimension: result[..., k, ...] = a[..., indices[k], ...].

    Operands ``A`` and ``I`` (int32, one dimension), result ``result``. A negative index counts from the end; one that
    is out of range stops there. One pass.
    """
    axis %= max(a.ndim, 1)
    if indices.ndim != 1 or a.ndim == 0:
        raise PlanError(f"take: indices have one dimension and the array at least one, got {indices.shape}, {a.shape}")
    key: tuple[Index, ...] = (None,) * axis + (slice(None),) + (None,) * (a.ndim - axis - 1)
    return _take("take", a, indices.sliced(key), axis, texture_size)


def take_along_axis(a: View, indices: View, axis: int, texture_size: int) -> Plan:
    """Plan of `numpy.take_along_axis`: result[..., k, ...] = a[..., indices[..., k, ...], ...].

    Operands ``A`` and ``I`` (int32, as many dimensions), result ``result``. Out of range as in `take`. One pass.
    """
    if indices.ndim != a.ndim or a.ndim == 0:
        raise PlanError(f"take_along_axis: array and indices have as many dimensions, got {a.shape}, {indices.shape}")
    return _take("take_along_axis", a, indices, axis % a.ndim, texture_size)


@cached_plan
def _take(operation: str, a: View, indices: View, axis: int, texture_size: int) -> Plan:
    if indices.dtype != "int32":
        raise PlanError(f"{operation}: indices are int32, got {indices.dtype}; cast them")
    length, stride = a.shape[axis], a.strides[axis]
    if length == 0 and indices.count:
        raise PlanError(f"{operation}: there is nothing to take along axis {axis} of shape {a.shape}")
    still = replace(
        a, shape=(*a.shape[:axis], 1, *a.shape[axis + 1 :]), strides=(*a.strides[:axis], 0, *a.strides[axis + 1 :])
    )
    over = Over(broadcast_shapes(still.shape, indices.shape), texture_size, straight=False, A=still, I=indices)
    return over.plan(operation, "wrapped/take", a.dtype, uniforms={"along": (length, stride)})


@cached_plan
def triangle(a: View, upper: bool, diagonal: int, texture_size: int) -> Plan:
    """Plan that keeps one side of a diagonal of the last two dimensions: operand ``A``, result ``result``. One pass."""
    if a.ndim < 2:
        raise PlanError(f"triangle: takes at least two dimensions, got shape {a.shape}")
    over, name = Over(a.shape, texture_size, (a.ndim - 2, a.ndim - 1), straight=False, A=a), "triu" if upper else "tril"
    return over.plan(name, "wrapped/triangle", a.dtype, {"UPPER": int(upper)}, {"diagonal": diagonal})


@cached_plan
def pack(a: View, texture_size: int) -> Plan:
    """Plan that packs a matrix: operand ``A``, a view of two dimensions and any strides, result ``packed``. One pass.

    Integers become floats, and so does a matrix of a stack: `a.sliced` is a view of it.
    """
    if a.ndim != 2:
        raise PlanError(f"pack: takes two dimensions, got shape {a.shape}")
    shape, given, defines = (a.shape[0], a.shape[1]), {"A": a.storage(texture_size)}, {"INTEGER": integer(a)}
    uniforms: dict[str, Uniform] = {"A_view": (*a.strides, a.offset), "shape": shape}
    return single_pass("pack", "wrapped/pack", given, {"packed": matrix(shape)}, uniforms, defines)


@cached_plan
def unpack(
    source: tuple[int, int],
    shape: tuple[int, int],
    texture_size: int,
    origin: tuple[int, int] = (0, 0),
    down: tuple[int, int] = (1, 0),
    right: tuple[int, int] = (0, 1),
) -> Plan:
    """Plan that takes a block out of a packed matrix: result[i, j] = M[origin + i down + j right], linear.

    Operand ``M``, result ``result``. One pass.
    `source`, `shape`: rows and columns of M as stored, and of the result. `origin`, `down`, `right`: as in
    `glla.operations.layouts.blocks.gather`; ``down=(0, 1), right=(1, 0)`` takes the transpose.
    """
    storage = laid(shape, "float32", texture_size)
    uniforms: dict[str, Uniform] = {"extent": (math.prod(shape), storage.width), "columns": shape[1]}
    uniforms |= {"origin": origin, "down": down, "right": right}
    return single_pass("unpack", "wrapped/unpack", {"M": matrix(source)}, {"result": storage}, uniforms, {"RANK": 0})


@cached_plan
def to_raw(parts: tuple[View, ...], texture_size: int) -> Plan:
    """Plan that lays one or two float32 arrays out as stacks travel: one element per texel, one array after the other.

    Operands ``A`` and ``B``, result ``raw``, see `glla.operations.batches.stack.raw`. One pass, and one for each view
    that is not in C order.
    """
    draft = Draft("to raw")
    given = operands(draft, texture_size, **dict(zip("AB", parts, strict=False)))
    inputs = {
        name: slot if view.whole else draw_copy(draft, f"{name} in order", view, slot, texture_size)
        for (name, slot), view in zip(given.items(), parts, strict=True)
    }
    elements = sum(view.count for view in parts)
    storage = raw_storage(max(elements, 1), texture_size)
    uniforms: dict[str, Uniform] = {"extent": (parts[0].count, elements, storage.width)}
    made = draft.draw("wrapped/to_raw", inputs, {"raw": storage}, uniforms, {"PARTS": len(parts)})
    return draft.plan(made, flops=0)


@cached_plan
def from_raw(shape: Shape, record: int, texture_size: int, start: int = 0, matrices: int = 1) -> Plan:
    """Plan that takes the matrices out of records that came from a stack.

    Operand ``raw``, result ``result``, linear, matrices one after the other. One pass.
    `shape`: of one matrix. `record`: elements of a record. `start`: place of the matrix in its record. `matrices`:
    records.
    """
    length, storage = math.prod(shape), laid((matrices, *shape), "float32", texture_size)
    uniforms: dict[str, Uniform] = {"extent": (length * matrices, storage.width), "part": (start, record, length)}
    given, made = {"raw": raw_storage(max(record * matrices, 1), texture_size)}, {"result": storage}
    return single_pass("from raw", "wrapped/from_raw", given, made, uniforms, {"RANK": 0})
