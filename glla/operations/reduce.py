"""Reductions: sums and extremes of a whole matrix, of its rows or of its columns."""

from __future__ import annotations

from glla.operations.elementwise import spread
from glla.passes import Draft, Plan, Storage, Uniform, matrix
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, packed

CHUNK = 16
"""Side of the square of texels that one fragment reduces, so that three passes reduce 8192 x 8192 elements."""

FOLDS: dict[str, dict[str, Define]] = {
    "sum": {"COMBINE": "sum_of", "NEUTRAL": 0, "ENTRY": "itself"},
    "max": {"COMBINE": "maximum_of", "NEUTRAL": -1, "ENTRY": "itself"},
    "min": {"COMBINE": "minimum_of", "NEUTRAL": 1, "ENTRY": "itself"},
    "sum_magnitudes": {"COMBINE": "sum_of", "NEUTRAL": 0, "ENTRY": "absolute"},
    "max_magnitude": {"COMBINE": "maximum_of", "NEUTRAL": 0, "ENTRY": "absolute"},
    "min_magnitude": {"COMBINE": "minimum_of", "NEUTRAL": 1, "ENTRY": "absolute"},
    "sum_squares": {"COMBINE": "sum_of", "NEUTRAL": 0, "ENTRY": "squared"},
}
"""Reductions by name, each with the parameters of its shader. ``sum_squares`` scales by the largest magnitudes."""


@cached_plan
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


def reduced_shape(shape: Shape, axis: int | None) -> Shape:
    """Shape of a reduction that keeps its dimensions: axis 0 leaves a row, 1 a column, None a single element.

    >>> reduced_shape((5, 7), 0)
    (1, 7)
    """
    return (1 if axis in (0, None) else shape[0], 1 if axis in (1, None) else shape[1])


@cached_plan
def fold(shape: Shape, operation: str = "sum", axis: int | None = None) -> Plan:
    """Plan of a reduction.

    Operand ``A``, for ``sum_squares`` also ``S``, the result of ``max_magnitude`` along the same axis; with e =
    floor(log2(S)) the squares are those of A 2^-e. Result ``total``, packed, of `reduced_shape`.
    `shape`: rows and columns, at least 1. `operation`: a key of `FOLDS`. `axis` (None, 0, 1): None reduces the whole
    matrix to one element, 0 each column, 1 each row.

    Sums: abs(S - S^) <= d u sum(abs(a)), u = 2^-24, with d = `depth` (shape, axis), that is 32 for 16 x 16 texels and
    30 more for every factor of 16 in the longer side.
    """
    draft = Draft(operation)
    source, size = draft.operand("A", matrix(shape)), packed(shape)
    beside: dict[str, str] = {}
    first: dict[str, Uniform] = {"shape": shape}
    defines: dict[str, Define] = {**FOLDS[operation], "FIRST": 1, "SCALED": 0}
    if operation == "sum_squares":
        placement = (int(axis == 1), int(axis == 0), 0)
        beside = {"S": draft.operand("S", spread(shape, placement))}
        first["placement"] = placement
        defines["SCALED"] = 1
    goal, chunk = reduced_shape(shape, axis), _chunk(axis)
    while True:
        smaller = (-(-size[0] // chunk[0]), -(-size[1] // chunk[1]))
        last = smaller == packed(goal)
        uniforms: dict[str, Uniform] = {"chunk": chunk[::-1], "size": size, **first}
        if last:
            uniforms["result_shape"] = goal
        (target,) = draft.draw(
            "reduce/fold",
            {"A": source, **beside},
            {f"{smaller[0]}x{smaller[1]}": matrix(goal) if last else Storage(*smaller)},
            uniforms,
            {**defines, "LAST": {None: 1, 0: 2, 1: 3}[axis] if last else 0},
        )
        if last:
            return draft.plan({"total": target}, flops=shape[0] * shape[1])
        source, size, beside, first = target, smaller, {}, {}
        defines = {**defines, "ENTRY": "itself", "FIRST": 0, "SCALED": 0}


def _chunk(axis: int | None) -> Shape:
    """Texels down and across that one fragment reduces."""
    return (1 if axis == 1 else CHUNK, 1 if axis == 0 else CHUNK)


def depth(shape: Shape, axis: int | None = None) -> int:
    """Additions that an element passes through, at most, on its way into a sum.

    >>> depth((32, 32)), depth((512, 512)), depth((512, 512), 0)
    (34, 66, 33)
    """
    size, goal, chunk = packed(shape), packed(reduced_shape(shape, axis)), _chunk(axis)
    additions = 2 if axis is None else 1
    while True:
        additions += sum(min(step, count) for step, count in zip(chunk, size, strict=True) if step > 1)
        size = (-(-size[0] // chunk[0]), -(-size[1] // chunk[1]))
        if size == goal:
            return additions
