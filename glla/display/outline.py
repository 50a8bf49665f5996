"""The outline of a plan: its steps by the scopes that they are in, with the turns of a loop laid upon each other.

For example, of a loop whose first turn copies nothing:

    step 0: search, eliminate                 3 times, step 0 to 2:
    step 1: search, eliminate, copy     -->       search
    step 2: search, eliminate, copy               eliminate
                                                  in 2 of 3: copy
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from glla.display.scopes import Node, tree
from glla.passes.plan import Call, Plan
from glla.passes.steps import Host, Step, Transfer

Pair = tuple[int, int]


@dataclass(frozen=True)
class Item:
    """A line of an outline: steps with the same shader, defines and inputs; or a scope, or a loop of scopes."""

    key: Hashable  # what it has in common with others that are laid upon it
    numbers: tuple[int, ...]  # its steps in the flat plan
    name: str = ""  # of the scope; "" for steps
    items: tuple[Item, ...] = ()  # what a scope is made of, in any of its turns
    loop: Pair | None = None  # numbers of the first turn and of the last; None if it is no loop
    # how often it runs, in words, where the device decides or the plan that it calls is a loop itself; "" for once
    often: str = ""
    runs: int = 1  # turns in all
    times: Pair = (1, 1)  # fewest and most of its kind in a row
    turns: int = 1  # turns of the loop around that have it

    def continued_by(self, other: Item) -> bool:
        """Whether an item that comes right behind this one has the same steps, or is the next turn of its loop."""
        if not self.name or not other.name:
            return other.key == self.key
        return self.loop is not None and (other.name, other.loop and other.loop[0]) == (self.name, self.loop[1] + 1)

    def then(self, other: Item) -> Item:
        """Put one that comes right behind into the same line."""
        return replace(self._with(other), times=(self.times[0] + other.times[0], self.times[1] + other.times[1]))

    def with_turn(self, other: Item) -> Item:
        """Merge this one with its counterpart in another turn of the loop."""
        return replace(self._with(other), times=_span(self.times, other.times), turns=self.turns + other.turns)

    def _with(self, other: Item) -> Item:
        loop = _span(self.loop, other.loop) if self.loop and other.loop else None
        numbers, items = self.numbers + other.numbers, _laid_upon(self.items, other.items)
        return replace(self, numbers=numbers, items=items, loop=loop, runs=self.runs + other.runs)


def outline(plan: Plan) -> tuple[Item, ...]:
    """Outline of a plan, those of the plans that it calls in their place.

    >>> from glla.operations.product import matmul
    >>> from glla.passes import resident
    >>> (loop,) = outline(matmul.plan(resident((4, 6), (6, 2)), variant="virtual_cube"))
    >>> loop.name, loop.loop, [(item.numbers, item.turns) for item in loop.items]
    ('slice', (0, 2), [((0,), 1), ((1, 2), 2)])
    """
    flat = plan.flat
    return _items(flat, tree(flat.scopes, 0, len(flat.steps)))


def _items(flat: Plan, nodes: Iterable[Node]) -> tuple[Item, ...]:
    items: list[Item] = []
    for node in nodes:
        for item in _of_node(flat, node):
            if items and items[-1].continued_by(item):
                items[-1] = items[-1].then(item)
            else:
                items.append(item)
    return tuple(items)


def _of_node(flat: Plan, node: Node) -> Iterable[Item]:
    scope = node.scope
    if scope is None:
        return (Item(_key(flat, flat.steps[number]), (number,)) for number in range(node.first, node.end))
    loop = None if scope.number is None else (scope.number, scope.number)
    name = re.sub(r" \d+$", "", scope.name)  # a plan that is called again has a number: its slots need one
    key = ("scope", name, scope.often, loop is None)
    return (Item(key, (*range(node.first, node.end),), name, _items(flat, node.inner), loop, scope.often),)


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
            result += [one.with_turn(other) for one, other in pairs]
        else:
            result += [*items[i:i_end], *turn[j:j_end]]
    return tuple(result)


def _span(one: Pair, other: Pair) -> Pair:
    return min(one[0], other[0]), max(one[1], other[1])
