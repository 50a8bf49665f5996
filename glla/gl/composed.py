"""Execution of a plan of plans: its calls, the work of the host, and the transfers between the two, in order.

A slot's value lives from the step that writes it to the last step that reads it. So a plan of plans takes no more
memory than its plans take when they run one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.errors import PlanError
from glla.gl.observers import watching
from glla.gl.pool import Texture
from glla.gl.staging import Machine
from glla.passes import Call, Host, HostArray, Plan, Transfer, texture, touched
from glla.passes.plan import written

Value = Texture | NDArray[Any]
"""Value of a slot: a texture, or an array of the host."""

Part = Call | Host | Transfer
"""A step of a plan of plans."""


@dataclass(frozen=True)
class Scheduled:
    """A step of a plan of plans, and the slots that no later step needs."""

    step: Part
    last: tuple[str, ...]


def schedule(plan: Plan) -> tuple[Scheduled, ...]:
    """Find the last step that uses each slot, except operands, which are the caller's, and results.

    Raises PlanError: a step draws, or writes an operand.
    """
    needed = {*plan.operands, *plan.results.values()}
    scheduled = list[Scheduled]()
    for number in reversed(range(len(plan.steps))):
        step = plan.steps[number]
        if not isinstance(step, Part):
            raise PlanError(f"{plan.operation}: step {number}: a plan of plans draws nothing itself, call a plan")
        if not set(plan.operands).isdisjoint(written(step)):
            raise PlanError(f"{plan.operation}: step {number}: an operand is never written, got {written(step)}")
        last = tuple(dict.fromkeys(slot for slot in touched(step) if slot not in needed))
        needed.update(last)
        scheduled.append(Scheduled(step, last))
    return tuple(reversed(scheduled))


def run(
    device: Machine,
    plan: Plan,
    scheduled: tuple[Scheduled, ...],
    operands: Mapping[str, Value],
    check_interrupted: Callable[[], None],
) -> dict[str, Value]:
    """Run a plan of plans.

    The results. If an exception ends the plan, all textures that it made are released.
    `device`: runs the called plans; its context is current. `plan`: the plan to run. `scheduled`: its `schedule`.
    `operands`: one for each operand, checked. They are only read, and never released. `check_interrupted`: called
    before each step; raises where the plan is to end.
    """
    values = dict(operands)

    def do(one: Scheduled) -> Mapping[str, Value]:
        check_interrupted()
        made = _made(device, plan, one.step, values)
        for slot in made.keys() & values.keys():
            _release(values[slot])
        values.update(made)
        for slot in one.last:
            _release(values.pop(slot))
        return made

    try:
        observer = watching.of(device)
        if observer is None:
            for one in scheduled:
                do(one)
        else:
            observer.watch_parts(device, plan, values, [partial(do, one) for one in scheduled])
    except BaseException:
        for slot in values.keys() - operands.keys():
            _release(values[slot])
        values.clear()  # whoever keeps the error keeps this frame, and must not keep the operands
        raise
    return {name: values[slot] for name, slot in plan.results.items()}


def _made(device: Machine, plan: Plan, step: Part, values: Mapping[str, Value]) -> dict[str, Value]:
    """Run a step and return the values that it writes."""
    if isinstance(step, Call):
        return _called(device, step, values)
    if isinstance(step, Host):
        arrays = step.function(*(values[slot] for slot in step.inputs))
        if len(arrays) != len(step.outputs):
            raise PlanError(f"{plan.operation}: {step.name} gives {step.outputs}, its function {len(arrays)} arrays")
        return dict(zip(step.outputs, arrays, strict=True))
    source, target = values[step.source], plan.slots[step.target]
    if isinstance(source, Texture):
        assert isinstance(target, HostArray)
        return {step.target: device.read(source).reshape(target.shape)}
    storage = texture(target)
    laid = np.ascontiguousarray(source.T if step.transposed else source, dtype=storage.dtype)
    texels = laid.reshape(storage.height, storage.width, storage.channels)
    return {step.target: device.write_texels(texels)}


def _called(device: Machine, step: Call, values: Mapping[str, Value]) -> dict[str, Value]:
    results = device.run(step.plan, **{name: values[slot] for name, slot in step.operands.items()})
    kept = {slot: results[name] for name, slot in step.results.items()}
    for name in results.keys() - step.results.keys():
        if not any(results[name] is one for one in kept.values()):
            _release(results[name])
    return kept


def _release(value: Value) -> None:
    if isinstance(value, Texture):
        value.release()
