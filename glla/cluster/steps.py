"""Steps of a process, as data: four kinds, and the schedule of all processes.

A step of the host's thread runs to its end before the next one begins. A step of the engine (a GPU's queue, or another
thread) is only queued, and the engine runs its steps in order; `Await` makes the host wait for one of them. A message
is sent without waiting, and received with waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Work:
    """A computation of a process."""

    panel: int  # number of the block column that it belongs to
    name: str  # name of the computation
    flop: int = 0  # operations
    bus: int = 0  # bytes between host and engine
    memory: int = 0  # further bytes that the host's thread copies in its memory
    engine: bool = False  # it is queued on the engine, instead of the host's thread
    peer: int | None = None  # the rank for which it is done, if that matters


@dataclass(frozen=True, slots=True)
class Await:
    """Wait of the host for a step that it has queued on the engine, by its name and panel."""

    panel: int
    name: str


@dataclass(frozen=True, slots=True)
class Send:
    """Sending of a message."""

    panel: int  # number of the block column
    name: str  # name of the data, the same for the receiver
    to: int  # destination rank
    nbytes: int  # size
    blocking: bool = False  # the sender waits until it is received, as a large MPI_Send does. No plan of glla's does


@dataclass(frozen=True, slots=True)
class Receive:
    """Wait for a message."""

    panel: int
    name: str
    source: int
    nbytes: int


Step: TypeAlias = Work | Await | Send | Receive


def _amount(count: float, unit: str) -> str:
    """Format a number with its unit.

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
    """Totals of a rank: flop, messages and bytes sent, messages and bytes received."""

    flop: int
    sent: int
    sent_bytes: int
    received: int
    received_bytes: int


@dataclass(frozen=True)
class Schedule:
    """The steps of every process of a grid: print it, check it, simulate it, run it.

    Parameters
    ----------
    title : str
        Description.
    grid : (int, int)
        Processes.
    ranks : tuple of tuple of Step
        The steps of each rank. Rank r is process (r // Q, r % Q).
    """

    title: str
    grid: tuple[int, int]
    ranks: tuple[tuple[Step, ...], ...]

    def totals(self, rank: int) -> Totals:
        """Totals of a rank."""
        steps = self.ranks[rank]
        sent = [step.nbytes for step in steps if isinstance(step, Send)]
        received = [step.nbytes for step in steps if isinstance(step, Receive)]
        flop = sum(step.flop for step in steps if isinstance(step, Work))
        return Totals(flop, len(sent), sum(sent), len(received), sum(received))

    def lines(self) -> Iterator[str]:
        """Yield the lines of the schedule's text."""
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
