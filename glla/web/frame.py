"""The player of a plan in a notebook: a frame beside the plan's table."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

from glla import registry
from glla.errors import GllaError
from glla.operations import OPERATIONS
from glla.passes import Host, HostArray, Plan, Transfer
from glla.web.documents import MOST_PASSES, Document, of_plan, of_shapes
from glla.web.page import page

HEIGHT = 900
"""Pixels of the frame."""


def framed(plan: Plan) -> str:
    """Offer the player of a plan, folded: markup, or nothing where a browser cannot run the plan.

    Of a plan that uploads and reads back what happens between is shown; of one with steps of the host, the passes of
    its operation on operands of the same shapes.
    """
    if len(plan.steps) > MOST_PASSES:  # before it is flattened, which takes its time
        return ""
    try:
        made = _document(plan)
    except GllaError:
        return ""
    frame = (
        f'<iframe sandbox="allow-scripts" width="100%" height="{HEIGHT}" loading="lazy" title="the passes, in this '
        f'browser" srcdoc="{escape(page(made))}"></iframe>'
    )
    return f'<details class="player"><summary>Run the passes in this browser</summary>{frame}</details>'


def _document(plan: Plan) -> Document:
    flat = plan.flat
    if any(isinstance(step, Host) for step in flat.steps):
        name = re.split(r"[\[ ]", plan.operation)[0]
        slots = [flat.slots[operand] for operand in flat.operands]
        shapes = [(one.shape[0], one.shape[1]) for one in slots if isinstance(one, HostArray) and len(one.shape) == 2]
        if name in OPERATIONS and shapes:
            return of_shapes(name, shapes)
    return of_plan(_between(flat))


def _between(flat: Plan) -> Plan:
    """A plan without its uploads, whose targets become operands, and read-backs, whose sources become results."""
    crossing = [step for step in flat.steps if isinstance(step, Transfer) and flat._crosses(step)]
    if not crossing:
        return flat
    filled = tuple(step.target for step in crossing if flat.slots[step.source].host)
    read = {name: slot for name, slot in flat.results.items() if not flat.slots[slot].host}
    read |= {step.target: step.source for step in crossing if flat.slots[step.target].host}
    steps = tuple(step for step in flat.steps if step not in crossing)
    kept = tuple(name for name in flat.operands if not flat.slots[name].host)
    slots = {name: slot for name, slot in flat.slots.items() if not slot.host}
    return replace(flat, slots=slots, operands=(*kept, *filled), results=read, steps=steps, scopes=(), after=())


registry.announce("player of a plan", framed)
