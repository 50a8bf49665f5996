"""The outline of a plan: its steps by the scopes that they lie in, with the turns of a loop laid upon each other.

For example, of a loop whose first turn copies nothing:

    step 0: search, eliminate                 3 times, step 0 to 2:
    step 1: search, eliminate, copy     -->       search
    step 2: search, eliminate, copy               eliminate
                                                  in 2 of 3: copy
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from glla.passes.plan import Call, Plan
from glla.passes.scopes import Scope
from glla.passes.steps import Host, Step, Transfer

Pair = tuple[int, int]


@dataclass(frozen=True)
class Steps:
    """Steps with the same shader, defines and inputs, as one line of an outline.

    Attributes
    ----------
    key : hashable
        What they have in common.
    numbers : tuple of int
        Of the steps, in the flat plan.
    times : (int, int)
        Fewest and most of them in a row.
    turns : int
        Turns of the loop around that have them.
    """

    key: Hashable
    numbers: tuple[int, ...]
    times: Pair = (1, 1)
    turns: int = 1

    def continued_by(self, other: Item) -> bool:
        """Whether an item that comes right behind this one goes on with it."""
        return isinstance(other, Steps) and other.key == self.key

    def then(self, other: Steps) -> Steps:
        """Put one that comes right behind into the same line."""
        return replace(self, numbers=self.numbers + other.numbers, times=_added(self.times, other.times))

    def with_turn(self, other: Steps) -> Steps:
        """Lay upon this one what another turn of the loop around has in its place."""
        times = _span(self.times, other.times)
        return Steps(self.key, self.numbers + other.numbers, times, self.turns + other.turns)


@dataclass(frozen=True)
class Part:
    """A scope, or a loop of scopes.

    Attributes
    ----------
    name : str
        Of the scope.
    items : tuple of Steps or Part
        What it is made of, in any of its turns.
    loop : (int, int) or None
        Numbers of the first turn and of the last; None if it is no loop.
    runs : int
        Turns in all.
    times : (int, int)
        Fewest and most turns in a row.
    turns : int
        Turns of the loop around that have it.
    often : str
        How often it runs, in words, where the device decides or the plan that it calls is a loop itself; "" for once.
    """

    name: str
    items: tuple[Item, ...]
    loop: Pair | None = None
    runs: int = 1
    times: Pair = (1, 1)
    turns: int = 1
    often: str = ""

    @property
    def key(self) -> Hashable:
        """What makes parts of two turns the same."""
        return self.name, self.often, self.loop is None

    @property
    def numbers(self) -> tuple[int, ...]:
        """All steps of the flat plan in it."""
        return tuple(sorted(number for item in self.items for number in item.numbers))

    def continued_by(self, other: Item) -> bool:
        """Whether an item that comes right behind this one is the next turn of its loop."""
        if not isinstance(other, Part) or self.loop is None or other.loop is None:
            return False
        return other.name == self.name and other.loop[0] == self.loop[1] + 1

    def then(self, other: Part) -> Part:
        """Add the next turns."""
        return replace(self._upon(other), times=_added(self.times, other.times))

    def with_turn(self, other: Part) -> Part:
        """Lay upon this one what another turn of the loop around has in its place."""
        times = _span(self.times, other.times)
        return replace(self._upon(other), times=times, turns=self.turns + other.turns)

    def _upon(self, other: Part) -> Part:
        loop = _span(self.loop, other.loop) if self.loop and other.loop else None
        return replace(self, items=_laid_upon(self.items, other.items), loop=loop, runs=self.runs + other.runs)


Item = Steps | Part


def outline(plan: Plan) -> tuple[Item, ...]:
    """Outline of a plan, those of the plans that it calls in their place.

    Examples
    --------
    >>> from glla.operations import matmul
    >>> from glla.passes import resident
    >>> (loop,) = outline(matmul.plan(resident((4, 6), (6, 2)), variant="virtual_cube"))
    >>> loop.name, loop.loop, [(item.numbers, item.turns) for item in loop.items]
    ('slice', (0, 2), [((0,), 1), ((1, 2), 2)])
    """
    flat = plan.flat
    return _items(flat, flat.scopes, 0, len(flat.steps))


def _items(plan: Plan, scopes: Sequence[Scope], first: int, end: int) -> tuple[Item, ...]:
    """Outline of the steps from `first` to `end` of a flat plan, in which these scopes lie."""
    items: list[Item] = []
    while first < end:
        if scopes and scopes[0].first == first:
            scope, *rest = scopes
            inside = [one for one in rest if one.end <= scope.end]
            scopes = rest[len(inside) :]
            loop = None if scope.number is None else (scope.number, scope.number)
            name = re.sub(r" \d+$", "", scope.name)  # a plan that is called again has a number: its slots need one
            item: Item = Part(name, _items(plan, inside, first, scope.end), loop, often=scope.often)
            first = scope.end
        else:
            item = Steps(_key(plan, plan.steps[first]), (first,))
            first += 1
        if items and items[-1].continued_by(item):
            items[-1] = items[-1].then(item)  # type: ignore[arg-type]  # which is of the same kind
        else:
            items.append(item)
    return tuple(items)


def _key(plan: Plan, step: Step | Call) -> Hashable:
    assert not isinstance(step, Call)
    if isinstance(step, Host):
        return step.name
    if isinstance(step, Transfer):
        return plan.slots[step.source].host, plan.slots[step.target].host
    return step.shader, tuple(sorted(step.defines.items())), step.accumulate, tuple(step.inputs)


def _laid_upon(items: tuple[Item, ...], turn: tuple[Item, ...]) -> tuple[Item, ...]:
    """Lay the items of one more turn upon those of the turns before."""
    keys, others = [item.key for item in items], [item.key for item in turn]
    result: list[Item] = []
    for kind, i, i_end, j, j_end in SequenceMatcher(None, keys, others, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs = zip(items[i:i_end], turn[j:j_end], strict=True)
            result += [one.with_turn(other) for one, other in pairs]  # type: ignore[arg-type]  # of the same key
        else:
            result += [*items[i:i_end], *turn[j:j_end]]
    return tuple(result)


def _added(one: Pair, other: Pair) -> Pair:
    return one[0] + other[0], one[1] + other[1]


def _span(one: Pair, other: Pair) -> Pair:
    return min(one[0], other[0]), max(one[1], other[1])
