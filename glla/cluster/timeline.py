"""Events of every rank, with times: recorded while a grid works, for a time line with messages as arrows."""

from __future__ import annotations

import json
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np

from glla.cluster.grids import Grid
from glla.cluster.model import Event
from glla.cluster.steps import Await, Receive, Send, Step, Work

_KINDS = {kind.__name__: kind for kind in (Work, Await, Send, Receive)}


class Timeline:
    """Events of all ranks; filled when `recording` ends, on rank 0 only.

    `events`: times in seconds since the recording began, when all ranks were ready.
    """

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self.events = list(events)

    def messages(self) -> Iterator[tuple[Event, Event]]:
        """Yield each message as the events of its sending and its receipt."""
        sent: dict[tuple[int, int, str], deque[Event]] = defaultdict(deque)
        ordered = sorted(self.events, key=lambda one: one.start)
        for event in ordered:
            if isinstance(event.step, Send):
                sent[event.rank, event.step.to, event.step.name].append(event)
        for event in ordered:
            if isinstance(event.step, Receive) and (line := sent[event.step.source, event.rank, event.step.name]):
                yield line.popleft(), event


@contextmanager
def recording(grid: Grid) -> Iterator[Timeline]:
    """Record the events of all ranks; called by all of them.

    >>> import glla
    >>> from glla.cluster.timeline import recording
    >>> with glla.cluster.grid(engine="numpy") as alone:
    ...     A = glla.cluster.DistributedMatrix.from_function(alone, lambda i, j: i == j, (4, 4), nb=2)
    ...     with recording(alone) as found:
    ...         lu, piv = glla.cluster.lu_factor(A)
    >>> found.events[0].step.name
    'load'
    """
    found = Timeline()
    with grid.operation():
        first = grid.total(np.array([time.perf_counter() if grid.rank == 0 else 0.0]))[0]
    one_clock = grid.channel.communicator.host[1] == grid.size  # else clocks are aligned only by this barrier
    start = float(first) if one_clock else time.perf_counter()
    grid.events = []
    try:
        yield found
    finally:
        events, grid.events = grid.events, None
    with grid.operation():
        mine = json.dumps([_written(event, start) for event in events if _counts(event)]).encode()
        found.events = [_read(one) for text in grid.collect(mine) for one in json.loads(text)]


def _counts(event: Event) -> bool:
    """Whether an event belongs to an algorithm: not to the sums over all ranks that end an operation."""
    return event.step.name not in ("part", "total", "add")


def _written(event: Event, start: float) -> tuple[Any, ...]:
    """Write an event as plain data, as `_read` takes it."""
    return event.rank, event.start - start, event.end - start, type(event.step).__name__, asdict(event.step)


def _read(written: Sequence[Any]) -> Event:
    rank, start, end, kind, fields = written
    step: Step = _KINDS[kind](**fields)
    return Event(rank, step, start, end)
