"""Execution of a call: run a plan, let `settle` judge its results, run the stage it names, until done.

    run the plan of the call --> the operation's `settle` --> done, an error, or the name of the next plan
              ^                                                                    |
              +--------------------- run the next plan <---------------------------+

The next plan is one of `Plan.after`, which `glla.plan` shows as "if ...: then ...". That of a batch's retry among them
is run by `batches`, for the rejected matrices alone.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.value import Resident
from glla.errors import PlanError
from glla.gl import Device
from glla.gl.composed import Part
from glla.gl.observers import watching
from glla.linalg.operands import refuse_nonfinite_largest
from glla.linalg.recording import PlanRecorder
from glla.operations import Operation
from glla.operations.acceptance import BATCHED, Done, unless_error
from glla.passes import Call, Forms, Loop, Plan, Transfer, shared, touched
from glla.passes.plan import read, written

Perform = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""(stage, values) -> results of the stage, by name."""


def run_stages(
    operation: Operation, forms: Forms, perform: Perform, values: dict[str, Any], stage: str = ""
) -> dict[str, Any]:
    """Go from stage to stage until it is done. Synchronises where diagnostics are read back.

    The values, with all results, and with what `settle` found.
    `operation`: whose `settle` decides; without one it is done after the first plan. `forms`: of the operands.
    `perform`: does a stage: `on_device`, or a stand-in on the CPU. `values`: operands and options, by name. `stage`: to
    begin with; "" for the plan of the call.
    Raises GllaError: what `settle` gives.
    """
    while True:
        with np.errstate(all="ignore"):  # what leaves the range is looked at
            values = {**values, **perform(stage, values)}
            verdict = Done() if operation.settle is None else unless_error(operation.settle(forms, stage, values))
        values = {**values, **verdict.values}
        if isinstance(verdict, Done):
            if verdict.warning is not None:
                warnings.warn(verdict.warning, stacklevel=_frames_of_glla() + 1)
            return values
        stage = verdict.stage


def _frames_of_glla() -> int:
    """Frames between a warning and the user's call."""
    frame, count = sys._getframe(1), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("glla."):
        frame, count = frame.f_back, count + 1  # type: ignore[assignment]  # None at the bottom
    return count


def on_device(device: Device, plan: Plan, function: str = "", names: Mapping[str, str] | None = None) -> Perform:
    """Return an executor: its first call runs `plan`, later calls run the stage that is named.

    `plan`: of the stage to begin with; that of a batch has run before `BATCHED`. `function`, `names`: operands on the
    device that are refused if they are not finite, with their names in messages; by default none.
    """
    begins = True

    def perform(stage: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        nonlocal plan, begins
        plan, begins = plan if begins else following(plan, stage), False
        if stage == BATCHED:
            return {}
        results = run(device, plan, values)
        for name, words in (names or {}).items():
            if f"largest_{name}" in results:
                refuse_nonfinite_largest(function, words, results[f"largest_{name}"], values["which"])
        return results

    return perform


def following(plan: Plan, stage: str) -> Plan:
    """Make the plan of the stage that comes after another. Raises PlanError: it is none of those that are shown."""
    for then in plan.after:
        if then.stage == stage and then.plan is not None:
            return then.plan()
    known = ", ".join(then.stage for then in plan.after if then.plan is not None)
    raise PlanError(f"{plan.operation}: the next stage must be one of {known}, got {stage!r}")


def stored(value: Any) -> Any:
    """Return an operand as plans take it: of an Array the texture as stored, transposed or not; else itself."""
    return value.value.texture if isinstance(value, Array) else value


def run(device: Device, plan: Plan, values: Mapping[str, Any]) -> dict[str, Any]:
    """Run a plan on arrays of the host, Arrays and textures; results that are arrays on the device are Arrays."""
    given = {name: stored(values[name]) for name in plan.operands}
    found: dict[str, Any] = device.run(merged(device, plan), **given)
    for name, layout in plan.layouts.items():
        found[name] = Array._of(Resident.of_texture(device, found[name], layout))
    return found


# -- small plans of plans with fewer plans -----------------------------------------------------------------------------


MOST_BYTES = 2**20
"""Bytes of all slots of a plan up to which it is merged: one plan holds all of its temporaries until its end."""

MOST_STEPS = 512
"""Steps up to which it is merged."""

_MERGED: weakref.WeakKeyDictionary[Plan, Plan | None] = weakref.WeakKeyDictionary()


def merged(device: Device, plan: Plan) -> Plan:
    """Return a plan that runs the same passes; itself if it is large, shown or watched, or memory is capped."""
    if watching.observer is not None or isinstance(device, PlanRecorder) or device.room is not None:
        return plan
    if plan not in _MERGED:
        _MERGED[plan] = _merge(plan) if plan.composed and _is_small(plan) else None  # itself would live for ever
    return _MERGED[plan] or plan


def _is_small(plan: Plan) -> bool:
    sizes = sum(slot.nbytes for slot in plan.slots.values())
    return not isinstance(plan, Loop) and sizes <= MOST_BYTES and _steps(plan) <= MOST_STEPS


def _steps(plan: Plan) -> int:
    return sum(_steps(step.plan) if isinstance(step, Call) else 1 for step in plan.steps)


def _merge(plan: Plan) -> Plan:
    ordered, steps, end = list(_read_late(plan)), list[Part](), 0
    for on_device, group in groupby(ordered, _is_on_device):
        part = list(group)
        end += len(part)
        steps += [_joined(plan, part, ordered[end:])] if on_device and _written_once(part) else part
    return Plan(plan.operation, plan.slots, plan.operands, plan.results, tuple(steps), plan.flops)


def _is_on_device(step: Part) -> bool:
    return isinstance(step, Call) and not _loops(step.plan) and not step.plan.flat.composed


def _loops(plan: Plan) -> bool:
    """Whether a loop runs in it: flat, it would run once."""
    return isinstance(plan, Loop) or any(isinstance(step, Call) and _loops(step.plan) for step in plan.steps)


def _written_once(calls: list[Part]) -> bool:
    """Whether there are several calls, none of which writes a slot that another has read or written."""
    seen = set[str]()
    for step in calls:
        if not seen.isdisjoint(written(step)):
            return False
        seen.update(touched(step))
    return len(calls) > 1


def _read_late(plan: Plan) -> Iterator[Part]:
    """Put off read-backs until the host needs one of them, or their source is drawn anew."""
    waiting = list[Part]()
    for step in plan.steps:
        assert isinstance(step, Part)
        if isinstance(step, Transfer) and plan.slots[step.target].host:
            waiting.append(step)
            continue
        needed = {slot for one in waiting for slot in written(one)} & {*read(step)}
        if needed or {slot for one in waiting for slot in read(one)} & {*written(step)}:
            yield from waiting
            waiting.clear()
        yield step
    yield from waiting


def _joined(plan: Plan, calls: list[Part], left: list[Part]) -> Call:
    """Join calls that follow each other, before the steps that are `left`."""
    inside = dict.fromkeys(slot for step in calls for slot in written(step))
    outside = dict.fromkeys(slot for step in calls for slot in read(step) if slot not in inside)
    wanted = {*plan.results.values(), *(slot for step in left for slot in read(step))}
    results = {slot: slot for slot in inside if slot in wanted}
    slots = {slot: plan.slots[slot] for slot in (*outside, *inside)}
    whole = shared(Plan(plan.operation, slots, tuple(outside), results, tuple(calls)).flat)
    return Call(plan.operation, whole, {slot: slot for slot in outside}, results)
