"""What a process of a cluster does, as data: four kinds of steps, and the schedule of all processes.

A step of the host's thread runs to its end before the next one begins. A step of the engine (a GPU's queue, or another
thread) is only queued, and the engine does its steps in the order in which they came; `Await` is where the host waits
for one of them. A message is sent without waiting, and received with waiting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Work:
    """Something that a process computes.

    Parameters
    ----------
    panel : int
        Number of the block column that it belongs to.
    name : str
        What.
    flop : int
        Operations.
    bus : int
        Bytes between host and engine.
    memory : int
        Bytes that the host's thread copies in its memory beside that.
    engine : bool
        Whether it is queued on the engine, in place of the host's thread.
    peer : int or None
        The rank for which it is done, where that matters.
    """

    panel: int
    name: str
    flop: int = 0
    bus: int = 0
    memory: int = 0
    engine: bool = False
    peer: int | None = None


@dataclass(frozen=True, slots=True)
class Await:
    """The host waits for a step that it has queued on the engine, by its name and panel."""

    panel: int
    name: str


@dataclass(frozen=True, slots=True)
class Send:
    """A message leaves.

    Parameters
    ----------
    panel : int
        Number of the block column.
    name : str
        What is sent; the receiver calls it the same.
    to : int
        Rank.
    nbytes : int
        How much.
    blocking : bool
        Whether the sender waits until it is received, as a large MPI_Send does. No plan of glla's does.
    """

    panel: int
    name: str
    to: int
    nbytes: int
    blocking: bool = False


@dataclass(frozen=True, slots=True)
class Receive:
    """A message is waited for."""

    panel: int
    name: str
    source: int
    nbytes: int


Step: TypeAlias = Work | Await | Send | Receive


def _amount(count: float, unit: str) -> str:
    """Write a number with its unit.

    >>> _amount(67108864, "B")
    '67.1 MB'
    """
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= factor:
            return f"{count / factor:.3g} {prefix}{unit}"
    return f"{count:g} {unit}"


def _line(step: Step) -> str:
    if isinstance(step, Work):
        each = (step.flop, "flop"), (step.bus, "B over the bus"), (step.memory, "B copied")
        amounts = [_amount(count, unit) for count, unit in each if count]
        return f"{'queue' if step.engine else 'do':8}{step.name:14}{', '.join(amounts)}"
    if isinstance(step, Await):
        return f"{'await':8}{step.name}"
    if isinstance(step, Send):
        return f"{'send':8}{step.name:14}{_amount(step.nbytes, 'B')} to rank {step.to}"
    return f"{'receive':8}{step.name:14}{_amount(step.nbytes, 'B')} from rank {step.source}"


@dataclass(frozen=True)
class Totals:
    """What a rank does in all: flop, messages and bytes that it sends, messages and bytes that it receives."""

    flop: int
    sent: int
    sent_bytes: int
    received: int
    received_bytes: int


def totals(steps: Sequence[Step]) -> Totals:
    """Add up what a rank does."""
    counts: Counter[str] = Counter()
    for step in steps:
        if isinstance(step, Work):
            counts["flop"] += step.flop
        elif isinstance(step, Send):
            counts["sent"] += 1
            counts["sent_bytes"] += step.nbytes
        elif isinstance(step, Receive):
            counts["received"] += 1
            counts["received_bytes"] += step.nbytes
    return Totals(**{name: counts[name] for name in Totals.__dataclass_fields__})


@dataclass(frozen=True)
class Schedule:
    """What every process of a grid does, step by step: print it, check it, simulate it, run it.

    Parameters
    ----------
    title : str
        What it is.
    grid : (int, int)
        Processes.
    ranks : tuple of tuple of Step
        The steps of each rank. Rank r is process (r // Q, r % Q).
    """

    title: str
    grid: tuple[int, int]
    ranks: tuple[tuple[Step, ...], ...]

    def totals(self, rank: int) -> Totals:
        """What a rank does in all."""
        return totals(self.ranks[rank])

    def lines(self) -> Iterator[str]:
        """Give the text of the schedule, line by line."""
        yield self.title
        for rank, steps in enumerate(self.ranks):
            p, q = divmod(rank, self.grid[1])
            all_ = self.totals(rank)
            yield (
                f"rank {rank}, process ({p}, {q}): {len(steps)} steps, {_amount(all_.flop, 'flop')}, sends {all_.sent} "
                f"messages with {all_.sent_bytes} bytes, receives {all_.received} with {all_.received_bytes}"
            )
            for step in steps:
                yield f"  {step.panel:4}  {_line(step)}".rstrip()

    def __str__(self) -> str:
        return "\n".join(self.lines())
