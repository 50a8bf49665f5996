"""Slots that share a texture: those of equal storage of which one is done with before the other is written."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from glla.passes.plan import Call, Plan, touched
from glla.passes.steps import Pass, Step, renamed
from glla.passes.storage import Slot


def shared(plan: Plan) -> Plan:
    """Return a flat plan with fewer slots: each takes the place of a temporary that no later step touches, if it can.

    A plan whose calls are put in their places (`Plan.flat`) holds the temporaries of all of them at once. Shared, they
    take about the memory that the calls take when they run one after the other.

    >>> from glla.operations import elementwise
    >>> from glla.passes import Draft, matrix
    >>> draft = Draft("-----A")
    >>> slot = draft.operand("A", matrix((4, 4)))
    >>> for _ in range(5):
    ...     slot = draft.call("negative", elementwise.unary((4, 4), "negative"), A=slot)["result"]
    >>> plan = draft.plan({"result": slot}).flat
    >>> len(plan.slots), len(shared(plan).slots)
    (6, 3)
    """
    steps: list[Step] = [step for step in plan.steps if not isinstance(step, Call)]
    last = {slot: number for number, step in enumerate(steps) for slot in touched(step)}
    behind = {slot for step in steps if isinstance(step, Pass) and step.barrier for slot in step.outputs}
    names = {slot: slot for slot in (*plan.operands, *behind)}  # the latter may get one texture of their own
    kept, free = {*names, *plan.results.values()}, defaultdict[Slot, list[str]](list)
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
    results = {name: names[slot] for name, slot in plan.results.items()}
    return replace(plan, slots=slots, results=results, steps=tuple(renamed(step, names) for step in steps))
