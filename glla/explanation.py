"""`glla.explain`: a plan in words. The words for a pass are the first sentence of its shader's header.

Passes that repeat are folded into loops, and loops that repeat into loops of loops, whatever the numbers in them: a
plan says nothing of its loops, so they are found by looking.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from glla import shader as shaders
from glla.passes import Cost, Dispatch, Pass, Plan, Step, Transfer

WIDTH = 110
LONGEST_PERIOD = 64
"""Steps of a loop's body, after the loops in it are folded."""

MOST_SLOTS = 4
"""Slots that a line names, of those that a loop's passes take turns with."""


@dataclass(frozen=True)
class Steps:
    """One pass of a loop's body: all steps of the plan that it stands for.

    Attributes
    ----------
    numbers : tuple of int
        Of the steps, in the plan.
    """

    key: tuple[Any, ...]
    numbers: tuple[int, ...]

    def merged(self, other: Steps) -> Steps:
        """One for both."""
        return Steps(self.key, self.numbers + other.numbers)


@dataclass(frozen=True)
class Loop:
    """A body that runs several times in a row, not always the same number of times.

    Attributes
    ----------
    body : tuple of Steps or Loop
        What is repeated.
    times : tuple of int
        Fewest and most.
    """

    body: tuple[Item, ...]
    times: tuple[int, int]

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two loops the same: their bodies, not how often they run."""
        return ("loop", *(item.key for item in self.body))

    @property
    def numbers(self) -> tuple[int, ...]:
        """All steps of the plan that it stands for."""
        return tuple(number for item in self.body for number in item.numbers)

    def merged(self, other: Loop) -> Loop:
        """One for both."""
        times = (min(self.times[0], other.times[0]), max(self.times[1], other.times[1]))
        return Loop(_merged(self.body, other.body), times)


Item = Steps | Loop


def _merged(one: Sequence[Item], other: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(a.merged(b) for a, b in zip(one, other, strict=True))  # type: ignore[arg-type]  # the keys agree


def folded(items: Sequence[Item]) -> list[Item]:
    """Fold what repeats, short bodies first, until nothing does.

    Examples
    --------
    >>> loop, last = folded([Steps((name,), (i,)) for i, name in enumerate("ababc")])
    >>> loop.times, [item.numbers for item in loop.body], last.numbers
    ((2, 2), [(0, 2), (1, 3)], (4,))
    """
    result = list(items)
    period = 1
    while period <= min(LONGEST_PERIOD, len(result) // 2):
        shorter = _folded_by(result, period)
        period = period + 1 if len(shorter) == len(result) else 1
        result = shorter
    return result


def _folded_by(items: list[Item], period: int) -> list[Item]:
    """Fold bodies of one length, wherever one follows itself."""
    keys = [item.key for item in items]
    result: list[Item] = []
    at = 0
    while at < len(items):
        body, end = keys[at : at + period], at + period
        while keys[end : end + period] == body:
            end += period
        times = (end - at) // period
        if times < 2:
            result.append(items[at])
            at += 1
            continue
        merged = tuple(items[at : at + period])
        for again in range(at + period, end, period):
            merged = _merged(merged, items[again : again + period])
        result.append(Loop(merged, (times, times)))
        at = end
    return result


@dataclass(frozen=True)
class Explanation:
    """A plan in words; `str` gives them.

    Attributes
    ----------
    plan : Plan
        What is explained.
    items : tuple of Steps or Loop
        Its passes, those that repeat folded into loops.
    """

    plan: Plan
    items: tuple[Item, ...]

    @property
    def cost(self) -> Cost:
        """Passes, flops, texels and bytes."""
        return self.plan.cost

    def __str__(self) -> str:
        parts = [*self._head(), *self._numbered(self.items, "", ""), *self._totals()]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        """Let a notebook keep the lines as they are."""
        text = str(self).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f"<pre>{text}</pre>"

    def _head(self) -> Iterator[str]:
        plan = self.plan
        yield f"{plan.operation}: {_count(len(plan.steps), 'pass')}, queued without waiting for the host"
        yield f"  takes {', '.join(map(self._described, plan.operands)) or 'nothing'}"
        yield "  gives " + ", ".join(
            self._described(slot) + ("" if name == slot else f" as {name}") for name, slot in plan.results.items()
        )
        yield ""

    def _described(self, slot: str) -> str:
        storage = self.plan.slots[slot]
        if storage.shape is not None:
            return f"{slot} ({storage.shape[0]} x {storage.shape[1]} matrix)"
        return f"{slot} ({storage.height} x {storage.width} texels of {_count(storage.channels, 'channel')})"

    def _numbered(self, items: Sequence[Item], prefix: str, indent: str) -> Iterator[str]:
        for place, item in enumerate(items, 1):
            label = f"{indent}{prefix}{place}. "
            if isinstance(item, Steps):
                yield from self._explained(item, label)
            elif len(item.body) == 1 and isinstance(item.body[0], Steps):
                yield from self._explained(item.body[0], label, f"{_times(item)}: ")
            else:
                yield f"{label}{_times(item)} ({_count(len(item.numbers), 'pass')}, {_span(item.numbers)}):"
                yield from self._numbered(item.body, f"{prefix}{place}.", indent + "   ")

    def _explained(self, item: Steps, label: str, times: str = "") -> Iterator[str]:
        steps = [self.plan.steps[number] for number in item.numbers]
        first = steps[0]
        indent = " " * len(label)
        name = "transfer" if isinstance(first, Transfer) else first.shader
        words = "A texture, copied row by row into a buffer" if isinstance(first, Transfer) else _words(first)
        lines = [f"{times}{name} ({_span(item.numbers)}): {words}.", *self._figures(steps)]
        for number, line in enumerate(lines):
            start = indent if number else label
            yield from textwrap.wrap(line, WIDTH, initial_indent=start, subsequent_indent=indent)

    def _figures(self, steps: Sequence[Step]) -> Iterator[str]:
        """Say what a pass reads and draws, and what that costs."""
        draws = [step for step in steps if not isinstance(step, Transfer)]
        if not draws:
            copies = [step for step in steps if isinstance(step, Transfer)]
            sources, targets = (_names([getattr(step, end) for step in copies]) for end in ("source", "target"))
            yield f"reads {sources}; fills {targets}"
            return
        reads = []
        for place, sampler in enumerate(draws[0].inputs):
            slots = _names([list(step.inputs.values())[place] for step in draws])
            reads.append(slots if slots == sampler else f"{sampler} = {slots}")
        for name in draws[0].blocks:
            reads.append(f"{name} = part of {_names([step.blocks[name].slot for step in draws])}")
        targets = ", ".join(_names([step.outputs[place] for step in draws]) for place in range(len(draws[0].outputs)))
        verb = "adds to" if draws[0].accumulate else "draws"
        yield f"reads {', '.join(reads) or 'nothing'}; {verb} {targets}, {self._areas(draws)}"
        cost = shaders.cost(draws[0].shader)
        if cost:
            yield f"cost per fragment: {cost}"

    def _areas(self, draws: Sequence[Pass | Dispatch]) -> str:
        regions = [self.plan.drawn(step) for step in draws]
        ends = [f"{region.height} x {region.width}" for region in (regions[0], regions[-1])]
        total = sum(region.width * region.height for region in regions)
        if len(set(regions)) == 1 or ends[0] == ends[1]:
            return f"{ends[0]} texels" + (" each time" if len(regions) > 1 else "")
        return f"{ends[0]} texels at first, {ends[1]} at last, {total} in all"

    def _totals(self) -> Iterator[str]:
        plan, cost = self.plan, self.plan.cost
        transfers = sum(isinstance(step, Transfer) for step in plan.steps)
        yield ""
        yield (
            f"In all {_count(cost.passes, 'pass')}: {_count(cost.passes - transfers, 'draw')}, "
            f"{_count(transfers, 'transfer')}, {_count(len({_name(step) for step in plan.steps} - {''}), 'shader')}"
        )
        yield f"  {cost.texels} texels written, {cost.nbytes} bytes"
        storages = [plan.slots[slot] for slot in plan.temporaries]
        yield f"  {_count(len(storages), 'temporary', 'temporaries')}, {sum(s.nbytes for s in storages)} bytes"
        if cost.flops:
            yield f"  {cost.flops} flop of the algorithm, {cost.flops / max(cost.nbytes, 1):.3g} for each byte written"


def _name(step: Step) -> str:
    return "" if isinstance(step, Transfer) else step.shader


def _words(step: Pass | Dispatch) -> str:
    """What the shader says of itself, and the defines that make it this pass and no other."""
    defines = ", ".join(f"{name} = {value}" for name, value in step.defines.items())
    return shaders.summary(step.shader, step.defines) + (f" ({defines})" if defines else "")


def _names(slots: Sequence[str]) -> str:
    """Name each slot once, in the order of their first turns."""
    distinct = list(dict.fromkeys(slots))
    if len(distinct) > MOST_SLOTS:
        distinct[MOST_SLOTS - 1 :] = [f"{len(distinct) - MOST_SLOTS + 1} more"]
    return " or ".join(distinct)


def _times(loop: Loop) -> str:
    fewest, most = loop.times
    return f"{most} times" if fewest == most else f"{fewest} to {most} times"


def _count(number: int, word: str, plural: str = "") -> str:
    """Write a number with its noun.

    >>> _count(1, "pass"), _count(2, "pass"), _count(0, "draw")
    ('1 pass', '2 passes', '0 draws')
    """
    return f"{number} {word if number == 1 else plural or word + ('es' if word.endswith('s') else 's')}"


def _span(numbers: Sequence[int]) -> str:
    """Say which passes of the plan.

    >>> _span([3]), _span([0, 3, 6]), _span([4, 5])
    ('pass 3', 'passes 0, 3 ... 6', 'passes 4 and 5')
    """
    ordered = sorted(numbers)
    if len(ordered) == 1:
        return f"pass {ordered[0]}"
    if len(ordered) == 2:
        return f"passes {ordered[0]} and {ordered[1]}"
    if ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"passes {ordered[0]} to {ordered[-1]}"
    return f"passes {ordered[0]}, {ordered[1]} ... {ordered[-1]}"


def explain(plan: Plan) -> Explanation:
    """Say in words what a plan does: its passes, what each reads, draws and costs, and the sums.

    Parameters
    ----------
    plan : Plan
        From `glla.plan`, or from a function in `glla.kernels`.

    Returns
    -------
    Explanation
        ``print`` it. What a pass does is the first sentence of its shader's header; passes that repeat are folded.

    Notes
    -----
    Needs no GPU.

    Examples
    --------
    >>> import glla
    >>> print(glla.explain(glla.plan("matmul", (8, 8), (8, 8), variant="virtual_cube")))
    matmul[virtual_cube]: 4 passes, queued without waiting for the host
      takes A (8 x 8 matrix), B (8 x 8 matrix)
      gives C (8 x 8 matrix)
    <BLANKLINE>
    1. matmul/virtual_cube (pass 0): C += A[:, slice] B[slice, :]: one layer of the virtual cube of processors
       (PING_PONG = 0).
       reads A, B; draws C, 4 x 4 texels
       cost per fragment: 2 fetches (3 with PING_PONG) and 16 flop
    2. 3 times: matmul/virtual_cube (passes 1 to 3): C += A[:, slice] B[slice, :]: one layer of the virtual cube
       of processors (PING_PONG = 0).
       reads A, B; adds to C, 4 x 4 texels each time
       cost per fragment: 2 fetches (3 with PING_PONG) and 16 flop
    <BLANKLINE>
    In all 4 passes: 4 draws, 0 transfers, 1 shader
      64 texels written, 1024 bytes
      0 temporaries, 0 bytes
      1024 flop of the algorithm, 1 for each byte written
    """
    keys: list[tuple[Any, ...]] = [
        ("transfer",)
        if isinstance(step, Transfer)
        else (step.shader, tuple(sorted(step.defines.items())), step.accumulate, len(step.inputs))
        for step in plan.steps
    ]
    return Explanation(plan, tuple(folded([Steps(key, (number,)) for number, key in enumerate(keys)])))
