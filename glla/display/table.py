"""A plan as a table with a line per step, for ``print``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from glla import registry
from glla.display.scopes import Node, core, given, shortened, tree
from glla.passes.loop import Loop
from glla.passes.plan import Call, Plan, Scope, stages
from glla.passes.rates import HARDWARE, SOFTWARE, Rates
from glla.passes.steps import Dispatch, Host, Pass, Step, Transfer

HEAD = ("pass", "shader", "reads", "draws", "region (texels)", "uniforms")
"""Headings of the columns."""


def of_plan(plan: Plan, short: bool = False) -> str:
    """Write a plan, and below it the plans that may follow, as "if ...: then ...".

    A short text lacks temporaries, and has a line for each part of a call around the operation itself.
    """
    return "\n".join(_lines(plan, short))


def _lines(plan: Plan, short: bool) -> Iterator[str]:
    if plan.target:
        yield f"for {plan.target}"
    for stage, one in [("", plan)] if short else stages(plan):
        if stage:
            yield f"\n{stage}:"
        yield title(one)
        if one.rates:
            yield f"  {expected(one, one.rates)}"
        own = core(one) if short else None
        shown = {*one.operands, *given(one, own)}
        roles = [role for role in one.roles() if not short or role[1] in shown]
        yield from (f"  {role:9} {name}: {one.flat.slots[slot]}" for role, name, slot in roles)
        if isinstance(one, Loop):
            yield from (f"  carried   {operand} <- {name}" for name, operand in one.carry.items())
            yield from (f"  until     {name} is not 0" for name in (one.until,) if name is not None)
        yield from _rows(one.flat, own)
        yield from around(one, own) if own else ()
        yield from map(str, one.after)


def title(plan: Plan) -> str:
    """Summarise a plan and its cost in a line."""
    cost, often = plan.cost, f"{plan.often}: " if plan.often else ""
    return f"{often}{plan.operation}: {cost.passes} passes, {cost.flops} flop, {cost.nbytes} bytes written"


def expected(plan: Plan, rates: Rates) -> str:
    """Say how long a plan takes at least, which kind of work binds, and where the rates come from.

    >>> from glla.passes.rates import HARDWARE
    >>> expected(Plan("nothing", {}, (), {}, (), flops=19 * 10**9), HARDWARE)
    'at least 10 ms, of arithmetic (0 ms of issuing passes, 0 ms of writing), at assumed rates'
    """
    cost = plan.cost
    terms = rates.terms(cost.passes, cost.flops, cost.nbytes)
    longest, *others = sorted(terms, key=lambda name: -terms[name])
    times = {name: f"{1000 * plan.times * terms[name]:.3g} ms" for name in terms}
    beside = ", ".join(f"{times[name]} of {name}" for name in others)
    source = "assumed" if rates in (HARDWARE, SOFTWARE) else "measured"
    return f"at least {times[longest]}, of {longest} ({beside}), at {source} rates"


def _rows(flat: Plan, own: Scope | None = None) -> Iterator[str]:
    """Give the lines of the table; plans that are called have headings, and their slots no prefix below them.

    Of one scope alone where it is given.
    """
    steps = [step for step in flat.steps if not isinstance(step, Call)]
    cells = zip(steps, shortened(steps, flat.scopes, flat.slots), strict=True)
    rows = [(str(number), *step_cells(flat, *pair)) for number, pair in enumerate(cells)]
    first, end = (own.first, own.end) if own else (0, len(rows))
    head, *lines = table([HEAD, *rows[first:end]]).splitlines()
    yield head
    inner = [scope for scope in flat.scopes if first <= scope.first and scope.end <= end]
    yield from _headed(tree(inner, first, end), [""] * first + lines, "  ")


def around(plan: Plan, own: Scope) -> Iterator[str]:
    """Name the parts of a call before and after the operation itself."""
    flat = plan.flat
    yield f"The call around it, {len(flat.steps) - own.end + own.first} steps that scale, check and transfer:"
    for side, first, end in (("before", 0, own.first), ("after", own.end, len(flat.steps))):
        scopes = [scope for scope in flat.scopes if first <= scope.first and scope.end <= end]
        names: list[str] = []
        for node in tree(scopes, first, end):
            steps = [one for one in flat.steps[node.first : node.end] if isinstance(one, Step)]
            names += [node.scope.name] if node.scope else [step_cells(flat, one, one)[0] for one in steps]
        yield from wrap(f"{side}: {', '.join(names)}", 110, initial_indent="  ", subsequent_indent="    ")


def _headed(nodes: Iterable[Node], lines: Sequence[str], indent: str) -> Iterator[str]:
    for node in nodes:
        if node.scope is None:
            yield from lines[node.first : node.end]
        elif node.scope.number is not None:
            yield from _headed(node.inner, lines, indent)
        else:
            often = f" ({node.scope.often})" if node.scope.often else ""
            yield f"{indent}{node.scope.name}{often}:"
            yield from _headed(node.inner, lines, indent + "  ")


def step_cells(plan: Plan, own: Step, step: Step) -> tuple[str, ...]:
    """Write a step of a flat plan as cells of a table: its own slots say where it draws, others are shown."""
    if isinstance(own, Transfer) and isinstance(step, Transfer):
        kind = "(upload)" if plan.slots[own.source].host else "(transfer)"
        kind = "(read back)" if plan.slots[own.target].host else kind
        return (kind, step.source, step.target, str(step.region or ""), "")
    if isinstance(step, Host):
        return (f"(host) {step.name}", " ".join(step.inputs), " ".join(step.outputs), "", "")
    assert isinstance(step, Pass | Dispatch)
    assert isinstance(own, Pass | Dispatch)
    reads = " ".join(f"{sampler}={slot}" for sampler, slot in step.inputs.items())
    uniforms = " ".join(f"{name}={value}" for name, value in {**step.defines, **step.uniforms}.items())
    if isinstance(step, Dispatch):
        return (step.shader, reads, " ".join(step.outputs), "{} x {} groups".format(*step.groups), uniforms)
    uniforms += f" step={step.step}" if step.step else ""
    uniforms += f" points={step.points}" if step.points else ""
    reads += "".join(f" {name}={b.slot}[{b.first}:{b.first + b.count}]" for name, b in step.blocks.items())
    return (
        step.shader,
        reads,
        " ".join(step.outputs) + (" +=" if step.accumulate else ""),
        str(plan.drawn(own)),
        uniforms,
    )


def table(rows: list[tuple[str, ...]]) -> str:
    """Lay out rows of cells in columns, the first row being the head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


registry.announce("text of a plan", of_plan)
