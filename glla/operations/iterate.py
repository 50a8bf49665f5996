"""Plans of the iterations of a loop, and its latch: a texel that counts iterations until one requests the stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from glla.passes import Call, Draft, Loop, Pass, Plan, Storage, shared, single_pass, texture
from glla.passes.cache import cached_plan
from glla.passes.glsl import find as shaders

LATCH = "(latch)"
"""Operand and result of an iteration that holds the state of the latch; no name that a user's operand can have."""

STATE = Storage(1, 1, dtype="int32")
"""The texel (iterations, stop requested, first channel of its stop texel as bits, 0): 16 bytes."""


@cached_plan
def latch(stop: Storage = Storage(1, 1)) -> Plan:  # noqa: B008  # is frozen
    """Plan of the count: operands ``stop`` and ``state``, result ``latched``, the state after one more iteration.

    Once a stop texel said stop the state stays as it is. One pass.
    """
    given, integers = {"stop": stop, "state": STATE}, {"INTEGERS": int(stop.dtype == "int32")}
    return single_pass("latch", "iterate/latch", given, {"latched": STATE}, {}, integers)


@cached_plan
def iteration(body: Plan, until: str | None) -> Plan:
    """Plan of an iteration: body, and latch in the pass of the stop texel or behind it. Flat unless it holds loops."""
    stop = None if until is None else latch(texture(body.slots[body.results[until]]))
    if _holds_loops(body):
        return body if stop is None else _called(body, stop, str(until))
    flat = body.flat
    if stop is None or until is None:
        return shared(flat)
    (count,) = stop.steps
    assert isinstance(count, Pass)
    texel, after = flat.results[until], f"{LATCH} next"
    steps = [step for step in flat.steps if not isinstance(step, Call)]
    for number, said in enumerate(steps):
        if isinstance(said, Pass) and texel in said.outputs and "LATCHED" in shaders.macros(said.shader, said.defines):
            inputs, defines = {**said.inputs, "latch": LATCH}, {**said.defines, "LATCHED": 1}
            steps[number] = replace(said, inputs=inputs, outputs=(*said.outputs, after), defines=defines)
            break
    else:
        steps.append(replace(count, inputs={"stop": texel, "state": LATCH}, outputs=(after,)))
    operands, slots = (*flat.operands, LATCH), {**flat.slots, LATCH: STATE, after: STATE}
    results = {**flat.results, LATCH: after}
    return shared(replace(flat, slots=slots, operands=operands, results=results, steps=tuple(steps)))


def _holds_loops(plan: Plan) -> bool:
    calls = [step.plan for step in plan.steps if isinstance(step, Call)]
    return isinstance(plan, Loop) or any(map(_holds_loops, calls))


def _called(body: Plan, stop: Plan, until: str) -> Plan:
    draft = Draft(body.operation)
    results = draft.call("body", body, **{name: draft.operand(name, body.slots[name]) for name in body.operands})
    state = draft.operand(LATCH, STATE)
    return draft.plan({**results, LATCH: draft.call("latch", stop, stop=results[until], state=state)["latched"]})


def several(plan: Plan, carry: Mapping[str, str], count: int) -> Plan:
    """Plan of several iterations, one list of passes; `carry`: result of each -> operand of the next one."""
    return plan if count == 1 else _several(plan, tuple(carry.items()), count)


@cached_plan
def _several(plan: Plan, carry: tuple[tuple[str, str], ...], count: int) -> Plan:
    draft, made = Draft(plan.operation), dict[str, str]()
    values = {name: draft.operand(name, plan.slots[name]) for name in plan.operands}
    for _ in range(count):
        made = draft.call("turn", plan, **values)
        values |= {operand: made[name] for name, operand in carry}
    return shared(draft.plan(made, count * plan.flops).flat)
