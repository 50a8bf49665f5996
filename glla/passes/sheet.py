"""Slots side by side in one texture, whose passes are ordered by a barrier in place of a change of the render target.

A chain of small passes waits for the changes of state between them. A pass with ``barrier=True`` may have the slot that
it draws to in one texture with the slots that it samples: then a barrier and a draw are all that is issued. So its
vertex stage places what is drawn, and its first vertex tells the step and the place of each slot, see
``lib/sheet.glsl``. The plan itself has a texture for each slot, and gives the same bits where there is no such barrier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from glla.errors import PlanError
from glla.passes.check import Since
from glla.passes.glsl import find as shaders
from glla.passes.plan import Call, Plan, touched
from glla.passes.steps import Dispatch, Pass, Region, Step
from glla.passes.storage import Storage, texture

PLACES, SAMPLERS = 8, 3
"""Slots in one texture at most, and samplers of a pass that draws to it."""

VERTICES = 12
"""Vertices of a draw to such a texture: two rectangles of two triangles."""


def in_one_texture(plan: Plan, side: int, defines: Mapping[str, shaders.Define]) -> Plan:
    """Put the slots that are drawn behind barriers side by side; the plan itself where they do not fit.

    They must be temporaries of one type that other steps sample at most. `side`: texels on a side of a texture at most.
    `defines`: for the passes behind barriers. Raises PlanError: another pass samples a slot, and cannot be told where.
    """
    behind = {step for step in plan.steps if isinstance(step, Pass) and step.barrier and step.parts is None}
    drawn = {slot for step in behind for slot in step.outputs}
    slots = {name: texture(slot) for name, slot in plan.slots.items() if name in drawn}
    kept = {*plan.operands, *plan.results.values()}
    for step in plan.steps:
        if step not in behind and not isinstance(step, Call):
            kept.update(step.outputs if isinstance(step, Pass | Dispatch) else touched(step))
    alike = len({(slot.channels, slot.dtype) for slot in slots.values()}) == 1
    if not alike or drawn & kept or max(len(step.inputs) for step in behind) > SAMPLERS or len(slots) > PLACES:
        return plan
    pitch = -(-max(slot.width for slot in slots.values()) // 2) * 2  # even, as fragments run in blocks of 2 x 2
    parts = {name: Region(pitch * i, 0, slot.width, slot.height) for i, (name, slot) in enumerate(slots.items())}
    first, last = next(iter(slots.values())), [*parts.values()][-1]
    sheet = replace(first, height=max(slot.height for slot in slots.values()), width=last.x + last.width, layout=None)
    if max(sheet.height, sheet.width) > side:
        return plan
    name = " + ".join(slots)
    given = {**defines, "SHEET": pitch}
    steps, since = list[Step | Call](), Since()
    for step in plan.steps:
        if isinstance(step, Pass) and step in behind:
            fetched = {parts[slot] for slot in step.inputs.values() if slot in parts}
            barrier = since.needs_barrier(parts[step.outputs[0]], fetched)
            steps.append(replace(_moved(step, name, sheet, parts, given), barrier=barrier))
        else:
            steps.append(_told(plan, step, name, parts))
            since = Since()
    others = {one: slot for one, slot in plan.slots.items() if one not in slots}
    return replace(plan, slots={**others, name: sheet}, steps=tuple(steps))


def _moved(
    step: Pass, name: str, sheet: Storage, parts: Mapping[str, Region], defines: Mapping[str, shaders.Define]
) -> Pass:
    """Pass behind a barrier, with the places of its slots in its number."""
    (target,) = step.outputs
    places, slots = list(parts), [target, *(slot for _, slot in sorted(step.inputs.items()))]
    digits = [places.index(slot) * PLACES**digit for digit, slot in enumerate(slots) if slot in parts]
    return replace(
        step,
        inputs={sampler: name if slot in parts else slot for sampler, slot in step.inputs.items()},
        outputs=(name,),
        uniforms={**step.uniforms, "sheet": (sheet.width, sheet.height)},
        defines={**step.defines, **defines},
        region=parts[target],
        step=step.step * PLACES ** (1 + SAMPLERS) + sum(digits),
        parts={sampler: parts[slot] for sampler, slot in step.inputs.items() if slot in parts},
    )


def _told(plan: Plan, step: Step | Call, name: str, parts: Mapping[str, Region]) -> Step | Call:
    """Another step, with the columns where its slots begin as defines."""
    if not isinstance(step, Pass) or not parts.keys() & step.inputs.values():
        return step
    defines = {f"{sampler}_AT": parts[slot].x for sampler, slot in step.inputs.items() if slot in parts}
    unknown = defines.keys() - shaders.macros(step.shader, step.defines).keys()
    if unknown:
        raise PlanError(f"{plan.operation}: {step.shader} samples what is drawn behind a barrier, but has no {unknown}")
    inputs = {sampler: name if slot in parts else slot for sampler, slot in step.inputs.items()}
    return replace(step, inputs=inputs, defines={**step.defines, **defines})
