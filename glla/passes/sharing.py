"""Slots that share a texture: temporaries of equal storage of which one is done with before the other is written."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from glla.passes.plan import Call, Plan
from glla.passes.steps import Step, renamed, touched
from glla.passes.storage import Slot


def shared(plan: Plan) -> Plan:
    """Return a flat plan fewer temporaries: each takes the place of one that no later step touches, where there is one.

    A plan whose calls are put in their places (`Plan.flat`) holds the temporaries of all of them at once. Shared, they
    take about the memory that the calls take when they run one after the other.

    >>> from glla.operations import elementwise
    >>> from glla.passes import Draft, matrix
    >>> draft = Draft("-----A")
    >>> slot = draft.operand("A", matrix((4, 4)))
    >>> for _ in range(5):
    ...     slot = draft.call("negative", elementwise.unary((4, 4), "negative"), A=slot)["result"]
    >>> plan = draft.plan({"result": slot}).flat
    >>> len(plan.temporaries), len(shared(plan).temporaries)
    (4, 2)
    """
    steps: list[Step] = [step for step in plan.steps if not isinstance(step, Call)]
    last = {slot: number for number, step in enumerate(steps) for slot in touched(step)}
    names = {slot: slot for slot in plan.slots if slot not in plan.temporaries}
    kept, free = set(names), defaultdict[Slot, list[str]](list)
    for number, step in enumerate(steps):
        mine = dict.fromkeys(touched(step))
        for slot in mine:
            if slot not in names:
                idle = free[plan.slots[slot]]
                names[slot] = idle.pop() if idle else slot
        for slot in mine:
            if slot not in kept and last[slot] == number:
                free[plan.slots[slot]].append(names[slot])
    slots = {names[slot]: plan.slots[names[slot]] for slot in plan.slots if slot in names}
    return replace(plan, slots=slots, steps=tuple(renamed(step, names) for step in steps))
