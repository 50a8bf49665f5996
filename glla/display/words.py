"""`glla.explain`: a plan in words. The words for a pass are the first sentence of its shader's header.

Loops and parts are the scopes that the plan has, see `glla.display.outline`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from glla.display.outline import Item, outline
from glla.display.scopes import core, given, shortened
from glla.display.table import around
from glla.passes import (
    Buffer,
    Cost,
    Dispatch,
    Host,
    HostArray,
    Loop,
    Pass,
    Plan,
    Region,
    Scope,
    Step,
    Transfer,
    Wrapped,
    stages,
)
from glla.passes.glsl import find as shaders
from glla.passes.screen import screen

WIDTH = 110
"""Characters of a line, at most."""

MOST_SLOTS = 4
"""Slots that a line names, of those that a loop's passes take turns with."""


@dataclass(frozen=True)
class Explanation:
    """A plan in words, and its outline; `str` gives the words, `short` those of the operation itself."""

    plan: Plan
    items: tuple[Item, ...]

    @property
    def cost(self) -> Cost:
        """Passes, flops, texels and bytes."""
        return self.plan.cost

    def __str__(self) -> str:
        return self._text(short=False)

    @property
    def short(self) -> str:
        """The operation itself in words; the other steps of its call are named only."""
        return self._text(short=True)

    def _text(self, short: bool) -> str:
        parts = [f"for {self.plan.target}"] if self.plan.target else []
        known: dict[Hashable, str] = {}
        for stage, plan in [("", self.plan)] if short else stages(self.plan):
            parts += ["", f"{stage}:"] if stage else []
            items = self.items if plan is self.plan else outline(plan)
            parts += _Lines(plan, items, stage, known, core(plan) if short else None)
        return "\n".join(parts)

    def __repr__(self) -> str:
        return screen(self.short)

    def _repr_html_(self) -> str:
        """Let a notebook keep the lines as they are."""
        whole, short = (escape(one, quote=False) for one in (str(self), self.short))
        more = (
            f"<details><summary>all steps of the call</summary><pre>{whole}</pre></details>" if whole != short else ""
        )
        return f"<pre>{short}</pre>{more}"


class _Lines:
    """Lines about one plan; `known` are the parts that were explained before, and where."""

    def __init__(
        self, plan: Plan, items: tuple[Item, ...], stage: str, known: dict[Hashable, str], own: Scope | None
    ) -> None:
        self.plan, self.flat, self.items, self.stage, self.known, self.own = plan, plan.flat, items, stage, known, own
        self.steps = [step for step in self.flat.steps if isinstance(step, Step)]
        self.shown = shortened(self.steps, self.flat.scopes, self.flat.slots)

    def __iter__(self) -> Iterator[str]:
        items = self.items
        if self.own is not None:
            items = tuple(one for one in items if self.own.first <= one.numbers[0] < self.own.end)
        yield from (*self._head(), "", *self._numbered(items, 1, "", ""), "")
        if self.own is not None:
            yield from (*around(self.plan, self.own), "")
        yield from self._totals()
        for then in self.plan.after:
            first, *others = textwrap.wrap(str(then), WIDTH)
            yield from (first, *(f"  {line}" for line in others))

    def _head(self) -> Iterator[str]:
        plan = self.plan
        often = f"{plan.often}: " if plan.often else ""
        waits = "" if plan.composed else ", queued without waiting for the host"
        passes = _count(len(plan.passes), "pass")
        if self.own is not None:
            passes = f"{self._steps(range(self.own.first, self.own.end))}; {passes} with the call around them"
        yield f"{often}{plan.operation}: {passes}{waits}"
        takes = f"  takes {', '.join(map(self._described, plan.operands)) or 'nothing'}"
        yield from textwrap.wrap(takes, WIDTH, subsequent_indent="    ")
        for name, slot in given(plan, self.own).items():
            yield f"  gives {self._described(slot)}" + ("" if name == slot else f" as {name}")
        if isinstance(plan, Loop):
            yield from (f"  then {name} takes the place of {operand}" for name, operand in plan.carry.items())
            if plan.until is not None:
                yield f"  until the first element of {plan.until} is not 0"

    def _described(self, slot: str) -> str:
        storage = self.flat.slots[slot]
        if isinstance(storage, Buffer):
            return f"{slot} ({storage})"
        if isinstance(storage, HostArray):
            return f"{slot} ({' x '.join(map(str, storage.shape)) or 'number'} array of the host)"
        if isinstance(storage.layout, Wrapped):
            return f"{slot} (array of shape {storage.layout.shape}, {storage.layout.dtype})"
        if storage.shape is not None:
            return f"{slot} ({storage.shape[0]} x {storage.shape[1]} matrix)"
        return f"{slot} ({storage.height} x {storage.width} texels of {_count(storage.channels, 'channel')})"

    def _numbered(self, items: Sequence[Item], runs: int, prefix: str, indent: str) -> Iterator[str]:
        """Number the items of a part that runs so often."""
        for place, item in enumerate(items, 1):
            yield from self._item(item, runs, f"{prefix}{place}.", indent)

    def _item(self, item: Item, runs: int, number: str, indent: str, before: str = "") -> Iterator[str]:
        if item.turns < runs:
            before += f"in {item.turns} of {runs}: "
        if not item.name:
            yield from self._explained(item, f"{indent}{number} ", before + _times(item.times))
            return
        title = before + (item.name if item.loop is None else _loop(item.name, item.loop, item.times))
        title += f", {item.often}" if item.often else ""
        if len(item.items) == 1 and not item.items[0].name:
            yield from self._item(item.items[0], item.runs, number, indent, f"{title}: ")
            return
        line = f"{indent}{number} {title} ({self._steps(item.numbers)})"
        here = number + (f" of {self.stage}" if self.stage else "")
        before_it = self.known.setdefault(self._likeness(item), here)
        if before_it != here:
            yield f"{line}: as {before_it}"
            return
        yield f"{line}:"
        yield from self._numbered(item.items, item.runs, number, indent + "   ")

    def _likeness(self, item: Item) -> Hashable:
        """Key that is equal for parts whose explanations differ in names of slots alone."""
        if item.name:
            return item.name, item.often, item.loop, item.runs, item.turns, tuple(map(self._likeness, item.items))
        draws = [step for step in (self.steps[number] for number in item.numbers) if isinstance(step, Pass | Dispatch)]
        return item.key, len(item.numbers), item.turns, tuple(map(self.flat.drawn, draws))

    def _steps(self, numbers: Sequence[int]) -> str:
        """Say which steps of the flat plan, and how many of them are passes."""
        passes = sum(isinstance(self.flat.steps[number], Pass | Dispatch) for number in numbers)
        return f"{_count(passes, 'pass')}, {_span(numbers)}" if passes else _span(numbers)

    def _explained(self, item: Item, label: str, before: str) -> Iterator[str]:
        name, words, figures = self._said(item.numbers)
        indent = " " * len(label)
        for number, line in enumerate([f"{before}{name} ({_span(item.numbers)}): {words}.", *figures]):
            start = indent if number else label
            yield from textwrap.wrap(line, WIDTH, initial_indent=start, subsequent_indent=indent)

    def _said(self, numbers: Sequence[int]) -> tuple[str, str, list[str]]:
        """Name, meaning and figures of steps that do the same."""
        first, steps = self.steps[numbers[0]], [self.shown[number] for number in numbers]
        if isinstance(first, Host):
            hosts = [step for step in steps if isinstance(step, Host)]
            reads = _names([slot for step in hosts for slot in step.inputs], " and ") or "nothing"
            makes = _names([slot for step in hosts for slot in step.outputs], " and ")
            return "host", first.name, [f"reads {reads}; makes {makes}"]
        if isinstance(first, Transfer):
            copies = [step for step in steps if isinstance(step, Transfer)]
            sources, targets = (_names([getattr(step, end) for step in copies]) for end in ("source", "target"))
            figures = [f"reads {sources}; fills {targets}"]
            if self.flat.slots[first.source].host:
                return "upload", "An array of the host, copied into a texture", figures
            if self.flat.slots[first.target].host:
                return "read back", "A texture, copied into an array of the host, which waits for it", figures
            into = "into a part of another" if first.region else "row by row into a buffer"
            return "transfer", f"A texture, copied {into}", figures
        draws = [step for step in steps if isinstance(step, Pass | Dispatch)]
        defines = ", ".join(f"{name} = {value}" for name, value in first.defines.items())
        words = shaders.summary(first.shader, first.defines) + (f" ({defines})" if defines else "")
        return first.shader, words, list(self._figures(draws, numbers))

    def _figures(self, draws: Sequence[Pass | Dispatch], numbers: Sequence[int]) -> Iterator[str]:
        """Describe inputs, targets and cost of a pass."""
        reads = []
        for place, sampler in enumerate(draws[0].inputs):
            slots = _names([list(step.inputs.values())[place] for step in draws])
            reads.append(slots if slots == sampler else f"{sampler} = {slots}")
        for name in draws[0].blocks:
            reads.append(f"{name} = part of {_names([step.blocks[name].slot for step in draws])}")
        targets = ", ".join(_names([step.outputs[place] for step in draws]) for place in range(len(draws[0].outputs)))
        verb = "adds to" if draws[0].accumulate else "draws"
        regions = [
            self.flat.drawn(step) for number in numbers if isinstance(step := self.steps[number], Pass | Dispatch)
        ]
        yield f"reads {', '.join(reads) or 'nothing'}; {verb} {targets}, {_areas(regions)}"
        cost = shaders.cost(draws[0].shader)
        if cost:
            yield f"cost per fragment: {cost}"

    def _totals(self) -> Iterator[str]:
        flat, cost = self.flat, self.plan.cost
        draws = [step for step in flat.steps if isinstance(step, Pass | Dispatch)]
        hosts = sum(isinstance(step, Host) for step in flat.steps)
        crossings = len(flat.steps) - len(self.plan.passes) - hosts
        with_host = f", {_count(crossings, 'upload or read-back', 'uploads and read-backs')}" if crossings else ""
        with_host += f", {_count(hosts, 'step', 'steps')} of the host" if hosts else ""
        yield (
            f"In all {_count(cost.passes, 'pass')}: {_count(len(draws), 'draw')}, "
            f"{_count(cost.passes - len(draws), 'transfer')}, {_count(len({step.shader for step in draws}), 'shader')}"
            + with_host
        )
        yield f"  {cost.texels} texels written, {cost.nbytes} bytes"
        storages = [flat.slots[slot] for slot in flat.temporaries if not flat.slots[slot].host]
        yield f"  {_count(len(storages), 'temporary', 'temporaries')}, {sum(s.nbytes for s in storages)} bytes"
        if cost.flops:
            yield f"  {cost.flops} flop of the algorithm, {cost.flops / max(cost.nbytes, 1):.3g} for each byte written"


def _areas(regions: Sequence[Region]) -> str:
    first, last = (f"{one.height} x {one.width}" for one in (regions[0], regions[-1]))
    if first == last:
        return f"{first} texels" + (" each time" if len(regions) > 1 else "")
    total = sum(one.width * one.height for one in regions)
    return f"{first} texels at first, {last} at last, {total} in all"


def _names(slots: Sequence[str], between: str = " or ") -> str:
    """Name each slot once, in the order of their first turns."""
    distinct = list(dict.fromkeys(slots))
    if len(distinct) > MOST_SLOTS:
        distinct[MOST_SLOTS - 1 :] = [f"{len(distinct) - MOST_SLOTS + 1} more"]
    return between.join(distinct)


def _times(times: tuple[int, int]) -> str:
    fewest, most = times
    if most == 1:
        return ""
    return f"{most} times: " if fewest == most else f"{fewest} to {most} times: "


def _loop(name: str, turns: tuple[int, int], times: tuple[int, int]) -> str:
    """Say which turns of a loop, and how many at a time.

    >>> _loop("panel", (0, 7), (8, 8)), _loop("step", (0, 31), (4, 28)), _loop("slice", (0, 0), (1, 1))
    ('8 times, panel 0 to 7', '4 to 28 times, step 0 to 31', 'slice 0')
    """
    if turns[0] == turns[1]:
        return f"{name} {turns[0]}"
    return f"{_times(times).removesuffix(': ')}, {name} {turns[0]} to {turns[1]}".removeprefix(", ")


def _count(number: int, word: str, plural: str = "") -> str:
    """Write a number with its noun.

    >>> _count(1, "pass"), _count(2, "pass"), _count(0, "draw")
    ('1 pass', '2 passes', '0 draws')
    """
    return f"{number} {word if number == 1 else plural or word + ('es' if word.endswith('s') else 's')}"


def _span(numbers: Sequence[int]) -> str:
    """Say which lines of the plan's table.

    >>> _span([3]), _span([0, 3, 6]), _span([4, 5]), _span([4, 5, 6])
    ('step 3', 'steps 0, 3 ... 6', 'steps 4 and 5', 'steps 4 to 6')
    """
    ordered = sorted(numbers)
    if len(ordered) == 1:
        return f"step {ordered[0]}"
    if len(ordered) == 2:
        return f"steps {ordered[0]} and {ordered[1]}"
    if ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"steps {ordered[0]} to {ordered[-1]}"
    return f"steps {ordered[0]}, {ordered[1]} ... {ordered[-1]}"


def explain(plan: Plan) -> Explanation:
    """Explain a plan in words: its passes, their inputs, targets and costs, the sums, and the transitions.

    ``print`` it. What a pass does is the first sentence of its shader's header. The turns of a loop are laid upon each
    other; what is not in each of them says in how many.
    `plan`: from `glla.plan`, or from a function in `glla.operations`.

    Needs no GPU.

    >>> from glla.operations.product import matmul
    >>> from glla.passes import resident
    >>> print(explain(matmul.plan(resident((8, 8), (8, 8)), variant="virtual_cube")))
    matmul[virtual_cube]: 4 passes, queued without waiting for the host
      takes A (8 x 8 matrix), B (8 x 8 matrix)
      gives C (8 x 8 matrix)
    <BLANKLINE>
    1. 4 times, slice 0 to 3 (4 passes, steps 0 to 3):
       1.1. in 1 of 4: matmul/virtual_cube (step 0): C += A[:, slice] B[slice, :]: one layer of the virtual cube
            of processors (PING_PONG = 0).
            reads A, B; draws C, 4 x 4 texels
            cost per fragment: 2 fetches (3 with PING_PONG) and 16 flop
       1.2. in 3 of 4: matmul/virtual_cube (steps 1 to 3): C += A[:, slice] B[slice, :]: one layer of the virtual
            cube of processors (PING_PONG = 0).
            reads A, B; adds to C, 4 x 4 texels each time
            cost per fragment: 2 fetches (3 with PING_PONG) and 16 flop
    <BLANKLINE>
    In all 4 passes: 4 draws, 0 transfers, 1 shader
      64 texels written, 1024 bytes
      0 temporaries, 0 bytes
      1024 flop of the algorithm, 1 for each byte written
    """
    return Explanation(plan, outline(plan))
