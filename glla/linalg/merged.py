"""Small plans of plans with fewer plans: those that run one after the other are one plan, which is read back last.

A call of a small matrix is a plan of some twenty plans. Each costs the host more than its passes, and each read-back
between them waits for the device. Neither the passes nor their order change.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from itertools import groupby

from glla.gl import Device
from glla.gl.composed import Part, read, written
from glla.gl.observers import watching
from glla.linalg.recording import Recorder
from glla.passes import Call, Loop, Plan, Transfer

MOST_BYTES = 2**20
"""Bytes of all slots of a plan up to which it is merged: one plan holds all of its temporaries until its end."""

MOST_STEPS = 512
"""Steps up to which it is merged."""

_MERGED: weakref.WeakKeyDictionary[Plan, Plan | None] = weakref.WeakKeyDictionary()


def merged(device: Device, plan: Plan) -> Plan:
    """Give a plan that runs the same passes; itself if it is large, shown or watched, or memory is capped."""
    if watching.observer is not None or isinstance(device, Recorder) or device.room is not None:
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
    return isinstance(step, Call) and not isinstance(step.plan, Loop) and not step.plan.flat.composed


def _written_once(calls: list[Part]) -> bool:
    """Whether there are several calls, none of which writes a slot that another has read or written."""
    seen = set[str]()
    for step in calls:
        if not seen.isdisjoint(written(step)):
            return False
        seen.update(read(step), written(step))
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
    whole = Plan(plan.operation, slots, tuple(outside), results, tuple(calls)).flat
    return Call(plan.operation, whole, {slot: slot for slot in outside}, results)
