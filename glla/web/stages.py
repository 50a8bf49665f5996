"""Stages after the passes of an operation in a page: diagnostics that a call reads back, and plans that follow.

A page shows the passes of an operation itself, the plan ``core`` of its record. The plan of a call, ``whole``, does
more: it looks for diagnostics, such as the largest entry, by which `settle` decides. `beside` is what it does more. The
plans that may come behind are those of `Plan.after`, from stage to stage; ``stages.js`` of the page decides as `settle`
does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from glla.errors import GllaError
from glla.operations import Operation
from glla.passes import Forms, Host, Limits, Pass, Plan, Transfer, stages, touched
from glla.passes.plan import read, written

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "cho_factor": {"lower": True},
    "inv_pos": {"lower": True},
    "solve": {"few": 0},
    "inv": {"few": 0},
}
"""Options with which the plan of a call runs the passes of the operation on the operand as it is."""

FROM_THE_PAGE = frozenset({"A in float64", "B in float64", "X so far", "residual", "e", "f", "B"})
"""Operands of plans that the decision before them makes."""


@dataclass(frozen=True)
class After:
    """A plan that comes after another."""

    stage: str  # its name; "" for what a call does beside the passes of the operation
    plan: Plan  # its plan
    shared: Mapping[str, str]  # slots of it that hold what slots of the plan of the operation hold
    # results of a call that slots of the plan of the operation hold, by name
    also: Mapping[str, str] = field(default_factory=dict)
    places: tuple[int, ...] = ()  # steps of the plan of a call that are those of the operation


def whole_of(found: Operation, forms: Forms, limits: Limits, variant: str | None) -> Plan | None:
    """Plan of a call on operands that lie on the device; None where there is none with this variant."""
    options = ({} if variant is None else {"variant": variant}) | dict(OPTIONS.get(found.name, {}))
    try:
        made: Plan = found.call_plan(tuple(one.on_device for one in forms), limits, **options)
        return made
    except GllaError:
        return None


def after(core: Plan, whole: Plan, hosts: frozenset[str], most: int) -> list[After] | None:
    """Plans that may come after the passes of an operation, the one first that a call does beside them, if it does any.

    None where the page cannot do what decides.
    `core`, `whole`: of the operation, and of a call. `hosts`: steps of the host that the page can do, in their words.
    `most`: passes of a plan at most.
    """
    found, known = list[After](), {*core.operands, *core.results}
    first = beside(core.flat, whole.flat)
    if first is not None and first.plan.steps:
        if not _runs(first.plan, hosts, most):
            return None
        found.append(first)
        known |= {*whole.results}
    waiting = [After(stage, plan, {}) for stage, plan in list(stages(whole))[1:] if _runs(plan, hosts, most)]
    while ready := [one for one in waiting if {*one.plan.operands} <= known | FROM_THE_PAGE]:
        found += ready  # a plan whose operands nothing makes cannot come
        known |= {name for one in ready for name in one.plan.results}
        waiting = [one for one in waiting if one not in ready]
    return found


def _runs(plan: Plan, hosts: frozenset[str], most: int) -> bool:
    """Whether a page can run a plan."""
    flat = plan.flat
    if not flat.steps or len(flat.steps) > most:
        return False
    hosted = all(step.name in hosts or not step.inputs for step in flat.steps if isinstance(step, Host))
    straight = not any(isinstance(step, Transfer) and step.transposed for step in flat.steps)
    return hosted and straight


def beside(core: Plan, whole: Plan) -> After | None:
    """Work of a call beside the passes of the operation; None where the call runs other passes."""
    places = _places(core, whole)
    if places is None:
        return None
    slots = {there: here for here, there in places[1].items()}
    uploads = {  # into operands of the operation, which a page has there already
        place
        for place, step in enumerate(whole.steps)
        if isinstance(step, Transfer) and step.source in whole.operands and slots.get(step.target) in core.operands
    }
    own = uploads | {*places[0]}
    steps = tuple(step for place, step in enumerate(whole.steps) if place not in own)
    last = {slot: place for place in sorted(own) for slot in written(whole.steps[place])}
    made: set[str] = set()
    shared: dict[str, str] = {}
    for place, step in enumerate(whole.steps):
        if place in own:
            continue
        for slot in read(step):
            if slot in slots and slot not in made:
                if last.get(slot, -1) > place:  # the passes draw over it afterwards
                    return None
                shared[slot] = slots[slot]
        made.update(written(step))
    also = {name: slots[slot] for name, slot in whole.results.items() if slot in slots and slot not in made}
    results = {name: slot for name, slot in whole.results.items() if slot in made}
    known = {slot for step in steps for slot in touched(step)}
    if not known <= made | {*shared}:
        return None
    plan = replace(
        whole,
        slots={name: one for name, one in whole.slots.items() if name in known},
        operands=tuple(shared),
        results=results,
        steps=steps,
        scopes=(),
        flops=0,
        after=(),
    )
    return After("", plan, shared, also, tuple(places[0]))


def _places(core: Plan, whole: Plan) -> tuple[list[int], dict[str, str]] | None:
    """Where the passes of one plan stand in another, in the same order, and which slot is which; None: they do not."""
    slots: dict[str, str] = {
        name: name for name in core.operands if name in whole.operands and core.slots[name] == whole.slots[name]
    }
    places, first = [], 0
    for step in core.steps:
        free = isinstance(step, Pass) and not step.inputs  # it may come earlier: it waits for nothing
        for place in range(0 if free else first, len(whole.steps)):
            found = _alike(step, whole.steps[place], slots) if place not in places else None
            if found is not None:
                slots |= found
                places.append(place)
                first = max(first, place + 1)
                break
        else:
            return None
    return places, slots


def _alike(one: Any, other: Any, slots: Mapping[str, str]) -> dict[str, str] | None:
    """Slots that are new, if two steps do the same to the same slots."""
    if type(one) is not type(other):
        return None
    if isinstance(one, Pass):
        names = ("shader", "uniforms", "defines", "region", "accumulate", "step", "points")
        if any(getattr(one, name) != getattr(other, name) for name in names):
            return None
        if {*one.inputs} != {*other.inputs} or {*one.blocks} != {*other.blocks}:
            return None
        pairs = [(slot, other.inputs[name]) for name, slot in one.inputs.items()]
        pairs += [(block.slot, other.blocks[name].slot) for name, block in one.blocks.items()]
        pairs += zip(one.outputs, other.outputs, strict=True)
    elif isinstance(one, Transfer):
        pairs = [(one.source, other.source), (one.target, other.target)]
    else:
        return None
    known = dict(slots)
    for here, there in pairs:
        if known.setdefault(here, there) != there:
            return None
    return known
