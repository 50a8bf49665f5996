"""Whether a user's shader keeps to its interface where a right result of some size does not show it.

Three things go unseen. What it writes into the padding of a matrix: `breach` reads the texels. What it fetches outside
of a texture, which OpenGL 3.3 leaves undefined and many a driver answers with zeros: the shader runs once more with
every such fetch a NaN, and the result must not change. And llvmpipe, which stops the loops of a fragment silently after
65535 trips in all: `stopped` runs it with a few more trips behind its own, and looks whether those were made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from glla.gl import Device, Texture
from glla.lab import fetches, operations
from glla.lab.custom import INTERFACES
from glla.lab.fetches import rewritten
from glla.lab.operations import Arrays, Contender
from glla.operations import Operation
from glla.passes import DeviceStep, Parameters, Pass, Plan, Storage, texture
from glla.passes.glsl import find as shaders
from glla.passes.layout import Shape

POISONED, STOPPED = "poisoned", "stopped"
"""A shader's name with ``@poisoned`` behind it fetches NaN outside of a texture; ``@stopped`` tells of its trips."""

SIZES = (1, 5, 18, 35)
"""Orders of the matrices that a shader is tried with: one element, odd and even orders, odd and even texels."""

LOOKED_AT = 16
"""Passes of a plan whose trips are looked at: their loops change slowly from pass to pass, if at all."""

SEED = 2007

_POISON = """\
vec4 glla_poisoned_fetch(sampler2D M, ivec2 at, int level) {
    bool inside = level == 0 && all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, textureSize(M, 0)));
    return inside ? texelFetch(M, at, level) : vec4(uintBitsToFloat(0x7fc00000u));
}
"""
_MORE_TRIPS = """\
layout(location = 1) out float glla_stopped;
void main() {
    glla_own_main();
    int wanted = 4 + int(gl_FragCoord.w), made = 0;  // 5, but no compiler knows
    for (int i = 0; i < wanted; ++i) made += i + 1;
    glla_stopped = made == 15 ? 0.0 : 1.0;
}
"""

shaders.derive(
    POISONED,
    lambda stage: rewritten(stage, _POISON, lambda line: re.sub(r"\btexelFetch\b", "glla_poisoned_fetch", line)),
)
shaders.derive(
    STOPPED, lambda stage: rewritten(stage, "", lambda line: re.sub(r"\bmain\b", "glla_own_main", line), _MORE_TRIPS)
)


def breach(device: Device, operation: str, contender: Contender, parameters: Parameters = ()) -> str:
    """Say how a user's shader breaks its interface with small matrices, '' if it does not. Synchronises.

    `operation`: one of `glla.lab.custom.INTERFACES`. `contender`: from `glla.lab.custom.contender`; of any other
    nothing is said. `parameters`: values for some of its parameters.
    """
    if not contender.text or operation not in INTERFACES:
        return ""
    found = operations.find(operation)
    for n in SIZES:
        arrays = operations.inputs(found, n, SEED)
        plan = contender.build(operations.forms(arrays), device.limits, parameters)
        reason = _wrong(device, found, plan, arrays)
        own = (replace(step, shader=f"{step.shader}@{POISONED}") if _is_own(step) else step for step in plan.passes)
        poisoned = Plan(plan.operation, plan.slots, plan.operands, plan.results, tuple(own), plan.flops)
        if not reason and _wrong(device, found, poisoned, arrays):
            operands = operations.uploaded(device, found, plan, arrays)
            outside = fetches.count(device, plan, operands, fetches.OUTSIDE, shaders.is_adopted)
            reason = (
                "the result depends on fetches outside of a texture, which OpenGL 3.3 leaves undefined: "
                f"{outside} of them"
            )
        if reason:
            return f"n = {n}: {reason}"
    return ""


def _wrong(device: Device, operation: Operation, plan: Plan, arrays: Arrays) -> str:
    """Error in the result of a plan or in its padding, '' if none."""
    interface = INTERFACES[operation.name]
    results = device.run(plan, **operations.uploaded(device, operation, plan, arrays))
    value = operations.fetched(device, operation, operations.forms(arrays), plan, results)
    verdict = operations.judge(operation.name).verdict(arrays, value)
    if not verdict.ok:
        return str(verdict)
    storage = plan.slots[plan.results[interface.result]]
    assert isinstance(storage, Storage) and storage.shape is not None
    return padding(device, results[interface.result], storage.shape, interface.result)


def padding(device: Device, texture: Texture, shape: Shape, name: str) -> str:
    """Say where the padding of a packed matrix is not zero, '' if it is. Synchronises."""
    rows, columns = shape
    texels = device.read(texture)
    height, width, _ = texels.shape
    elements = texels.reshape(height, width, 2, 2).transpose(0, 2, 1, 3).reshape(2 * height, 2 * width)
    wrong = elements != 0.0
    wrong[:rows, :columns] = False
    if not wrong.any():
        return ""
    row, column = np.argwhere(wrong)[0].tolist()
    beside = f"{name}[{min(row, rows - 1)}, {min(column, columns - 1)}]"
    return f"padding must be zero, got {elements[row, column]:g} beside {beside}"


def stopped(device: Device, plan: Plan, operands: Mapping[str, Texture]) -> str:
    """Say whether the device stopped the loops of a user's shader in a plan, '' if not. Synchronises."""
    own = [number for number, step in enumerate(plan.passes) if _is_own(step)]
    every = -(-len(own) // LOOKED_AT) if own else 1
    slots, steps = dict(plan.slots), list(plan.passes)
    seen = {}
    for number in {*own[::every], *own[-1:]}:
        step = steps[number]
        assert _is_own(step)
        target, slot = texture(plan.slots[step.outputs[0]]), f"stopped in step {number}"
        slots[slot] = Storage(target.height, target.width, 1)
        seen[slot] = plan.drawn(step)
        steps[number] = replace(step, shader=f"{step.shader}@{STOPPED}", outputs=(*step.outputs, slot), barrier=False)
    looking = Plan(f"{plan.operation}, trips", slots, plan.operands, {slot: slot for slot in seen}, tuple(steps))
    results = device.run(looking, **operands)
    for slot, region in seen.items():
        drawn = device.read(results[slot])[region.y : region.y + region.height, region.x : region.x + region.width]
        if drawn.any():
            return (
                "a fragment makes more loop trips than this device allows, and was stopped: "
                f"keep all its loops together below {device.limits.loop_trips} trips, or split the work into passes"
            )
    return ""


def _is_own(step: DeviceStep) -> TypeGuard[Pass]:
    return isinstance(step, Pass) and shaders.is_adopted(step.shader)
