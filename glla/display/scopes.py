"""Scopes of a plan as a tree: loops, parts, and plans within a plan; and names of slots within them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from glla.passes.plan import Call, Plan, Scope, touched
from glla.passes.steps import Step, renamed


@dataclass(frozen=True)
class Node:
    """Steps in a row, from `first` to `end` - 1: those of a scope, with the nodes in it, or those that are in none."""

    scope: Scope | None
    first: int
    end: int
    inner: tuple[Node, ...] = ()


def tree(scopes: Sequence[Scope], first: int, end: int) -> Iterator[Node]:
    """Part steps into their outermost scopes and those between, in order.

    >>> [(one.first, one.end, len(one.inner)) for one in tree([Scope("a", 0, 1, 3), Scope("b", None, 1, 2)], 0, 4)]
    [(0, 1, 0), (1, 3, 2), (3, 4, 0)]
    """
    place = 0
    while first < end:
        start = scopes[place].first if place < len(scopes) else end
        if first < start:
            yield Node(None, first, start)
            first = start
            continue
        scope, outer = scopes[place], place
        place += 1
        while place < len(scopes) and scopes[place].end <= scope.end:
            place += 1
        yield Node(scope, first, scope.end, tuple(tree(scopes[outer + 1 : place], first, scope.end)))
        first = scope.end


def core(plan: Plan) -> Scope | None:
    """Find the operation itself in the plan of a call: the one plan that it calls of its own name.

    The other steps are what a call needs besides: transfers, scaling, checks.
    """
    call = _called(plan)
    if call is None:
        return None
    return next(scope for scope in plan.flat.scopes if scope.name == call.name and scope.number is None)


def given(plan: Plan, own: Scope | None) -> dict[str, str]:
    """Results of a plan and their slots; with the scope of the operation itself, those that this has, too."""
    call = _called(plan) if own else None
    return {name: slot for name, slot in plan.results.items() if call is None or name in call.plan.results}


def _called(plan: Plan) -> Call | None:
    name = re.split(r"[\[ ]", plan.operation)[0]
    calls = [one for one in plan.steps if isinstance(one, Call) and one.plan.operation.startswith(f"{name}[")]
    return calls[0] if len(calls) == 1 else None


def shortened(steps: Sequence[Step], scopes: Sequence[Scope], slots: Collection[str]) -> tuple[Step, ...]:
    """Rename the slots of each step: without the longest prefix that its scopes give, where that is not ambiguous.

    >>> from glla.passes.steps import Transfer
    >>> step, = shortened([Transfer("A", "factor.raw")], [Scope("factor", None, 0, 1)], ["A", "factor.raw"])
    >>> step.source, step.target
    ('A', 'raw')
    """
    known = set(slots)
    prefixes: list[list[str]] = [[""] for _ in steps]
    for scope in scopes:
        for within in prefixes[scope.first : scope.end]:
            prefix = f"{within[-1]}{scope.name}."
            if any(slot.startswith(prefix) for slot in known):
                within.append(prefix)

    def short(slot: str, within: list[str]) -> str:
        longest = next(prefix for prefix in reversed(within) if slot.startswith(prefix))
        name = slot.removeprefix(longest)
        return name if sum(prefix + name in known for prefix in within) == 1 else slot

    return tuple(
        renamed(step, {slot: short(slot, within) for slot in touched(step)})
        for step, within in zip(steps, prefixes, strict=True)
    )
