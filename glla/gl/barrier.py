"""Barriers between passes in one texture: whether a device has them, and whether they order the passes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from glla.errors import DeviceError, ShaderError
from glla.gl.hints import moderngl
from glla.operations.probe import chain
from glla.operations.record import Float32
from glla.passes import Pass, Plan
from glla.passes.check import Since
from glla.passes.glsl.find import Define
from glla.passes.sheet import in_one_texture
from glla.passes.steps import Step, renamed

VARIABLE, OFF = "GLLA_BARRIER", "off"

SINCE = 450
"""Version of OpenGL, times 100, that has ``glTextureBarrier``."""

EXTENSIONS = {"GL_ARB_texture_barrier", "GL_NV_texture_barrier"}
"""One must be listed: softpipe has an address for the function, and does nothing there."""

SIZE, STEPS = (4, 6), 64
"""Texels of the chain of passes that is tried, and its length."""

Form = Callable[[Plan], Plan]
"""Function from a plan to the form in which it runs."""


def form(context: moderngl.Context, side: int, run: Callable[[Plan, Float32], Float32]) -> Form:
    """Form of plans with barriers on this device: in one texture where a chain of passes gives the right numbers.

    `side`: texels on a side of a texture at most. `run`: runs `chain` from its operand.
    """
    listed = context.version_code >= SINCE or EXTENSIONS & context.extensions
    if not listed or os.environ.get(VARIABLE) == OFF:
        return lambda plan: plan
    tried = in_one_texture(chain(SIZE, STEPS), side, {"MEET": 1})
    try:
        counts = run(tried, np.zeros((*SIZE, 4), dtype=np.float32))
    except (DeviceError, ShaderError):
        return lambda plan: plan
    ordered, meeting = (counts[..., :2] == STEPS).all(axis=(0, 1))
    return partial(joined, side=side, defines={"MEET": int(meeting)}) if ordered else lambda plan: plan


def joined(plan: Plan, side: int, defines: Mapping[str, Define]) -> Plan:
    """The plan with slots `in_one_texture`; several targets of a pass are the slots they replace, see `Draft.draw`."""
    behind = {step for step in plan.passes if isinstance(step, Pass) and step.barrier and len(step.outputs) > 1}
    if not behind:
        return in_one_texture(plan, side, defines)
    drawn = {slot for step in behind for slot in step.outputs}
    names = {slot: slot for slot in plan.slots}
    steps, since = list[Step](), Since()
    for step in plan.passes:
        if not isinstance(step, Pass) or step not in behind:
            since = Since()
            steps.append(renamed(step, names))
            continue
        own = {sampler: None for sampler, slot in step.inputs.items() if slot in drawn}
        names |= {new: names[step.inputs[old]] for new, old in zip(step.outputs, own, strict=False)}
        region, inputs = plan.drawn(step), {sampler: names[slot] for sampler, slot in step.inputs.items()}
        since = since if own else Since()
        barrier = bool(own) and since.needs_barrier(region, {region})
        outputs = tuple(names[slot] for slot in step.outputs)
        steps.append(replace(step, inputs=inputs, outputs=outputs, barrier=barrier, parts=own or None))
    slots = {names[slot]: plan.slots[slot] for slot in plan.slots}
    return in_one_texture(replace(plan, slots=slots, steps=tuple(steps)), side, defines)
