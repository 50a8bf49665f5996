"""Arrays made on the device: of one number, of numbers evenly spaced, identity matrices."""

from __future__ import annotations

import math

from glla.operations.linear.view import Shape, laid
from glla.passes import Draft, Plan, Uniform, single_pass
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define

Number = int | float | bool

NEVER = (2**31 - 1, 0)
"""Sentinel of a sequence that is never counted from its end: first such element, and the last index."""


@cached_plan
def full(shape: Shape, value: Number, dtype: str, texture_size: int) -> Plan:
    """Plan of an array of one number: no operand, result ``result``. One pass.

    >>> full((2, 3), 1.5, "float32", 16).cost.passes
    1
    """
    return _sequence("full", shape, (value, value, 0), NEVER, dtype, texture_size)


@cached_plan
def arange(start: Number, step: Number, count: int, dtype: str, texture_size: int) -> Plan:
    """Plan of start + i step for i < count: no operand, result ``result``. One pass.

    Of float32 the error is at most 4 u (abs(start) + i abs(step)), u = 2^-24; whole numbers below 2^24 are exact. Of
    int32 it wraps around.
    """
    return _sequence("arange", (count,), (start, start, step), NEVER, dtype, texture_size)


@cached_plan
def linspace(
    start: float, stop: float, count: int, texture_size: int, endpoint: bool = True, dtype: str = "float32"
) -> Plan:
    """Plan of numbers evenly spaced from start to stop: no operand, result ``result``. One pass.

    Both ends are exact; the error between them is at most 4 u max(abs(start), abs(stop)), u = 2^-24. Without the end
    point the numbers are the same as with it, and one more.
    """
    gaps = max(count - 1 if endpoint else count, 1)
    ends = start, stop, stop / gaps - start / gaps
    return _sequence("linspace", (count,), ends, (gaps // 2 + 1, gaps), dtype, texture_size)


def _sequence(
    name: str, shape: Shape, ends: tuple[Number, ...], turn: tuple[int, int], dtype: str, texture_size: int
) -> Plan:
    draft = Draft(name)
    numbers = _numbers(dtype, *ends)
    return draft.plan({"result": _draw_sequence(draft, "result", shape, numbers, turn, dtype, texture_size)}, flops=0)


def draw_full(draft: Draft, name: str, shape: Shape, value: Number, dtype: str, texture_size: int) -> str:
    """Add a pass that makes an array of one number; give the slot that it makes."""
    ends = _numbers(dtype, value, value, 0)
    return _draw_sequence(draft, name, shape, ends, NEVER, dtype, texture_size)


def _draw_sequence(
    draft: Draft, name: str, shape: Shape, ends: Uniform, turn: tuple[int, int], dtype: str, texture_size: int
) -> str:
    storage = laid(shape, dtype, texture_size)
    uniforms: dict[str, Uniform] = {"extent": (math.prod(shape), storage.width), "turn": turn, "ends": ends}
    defines: dict[str, Define] = {"DIAGONAL": 0, "RESULT_INTEGER": int(dtype != "float32"), "RANK": 0}
    return draft.draw("wrapped/create", {}, {name: storage}, uniforms, defines)[name]


@cached_plan
def eye(shape: Shape, dtype: str, texture_size: int, diagonal: int = 0) -> Plan:
    """Plan of ones on a diagonal of the last two dimensions: no operand, result ``result``. One pass."""
    storage = laid(shape, dtype, texture_size)
    uniforms: dict[str, Uniform] = {"extent": (math.prod(shape), storage.width)}
    uniforms |= {"diagonal": (*shape[-2:], diagonal), "ends": _numbers(dtype, 1, 0, 0)}
    defines: dict[str, Define] = {"DIAGONAL": 1, "RESULT_INTEGER": int(dtype != "float32"), "RANK": 0}
    return single_pass("eye", "wrapped/create", {}, {"result": storage}, uniforms, defines)


def _numbers(dtype: str, *values: Number) -> Uniform:
    """Write numbers as uniforms of a type."""
    if dtype == "float32":
        return tuple(float(value) for value in values)
    return tuple((int(bool(value)) if dtype == "bool" else int(value)) for value in values)
