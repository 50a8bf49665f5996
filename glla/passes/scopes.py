"""Scopes of a plan: loops, parts, and plans within a plan; and what slots are called within them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from glla.passes.steps import Step, renamed, touched


@dataclass(frozen=True)
class Scope:
    """Steps that belong together, by the name of what they do: one turn of a loop, or a plan within a plan.

    Attributes
    ----------
    name : str
        The same for all turns of a loop: ``"panel"``.
    number : int or None
        Which turn, from 0; None where there is no loop.
    first, end : int
        Its steps: from `first` to `end` - 1. Scopes lie within each other, or apart.
    often : str
        How often a plan within a plan runs, in words; "" for once.
    """

    name: str
    number: int | None
    first: int
    end: int
    often: str = ""


def shortened(steps: Sequence[Step], scopes: Sequence[Scope], slots: Collection[str]) -> tuple[Step, ...]:
    """Rename the slots of each step: without the longest prefix that its scopes give, where that is not ambiguous.

    Examples
    --------
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
