"""Events of every rank, with times: recorded while a grid works, for a time line with messages as arrows."""

from __future__ import annotations

import pickle
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from glla.cluster.grids import Grid
from glla.cluster.model import Event
from glla.cluster.steps import Receive, Send


class Timeline:
    """Events of all ranks; filled when `recording` ends, on rank 0 only.

    `events`: times in seconds since the recording began, when all ranks were ready.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []

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
        own = [replace(one, start=one.start - start, end=one.end - start) for one in events if _counts(one)]
        found.events = [event for data in grid.collect(pickle.dumps(own)) for event in pickle.loads(data)]


def _counts(event: Event) -> bool:
    """Whether an event belongs to an algorithm: not to the sums over all ranks that end an operation."""
    return event.step.name not in ("part", "total", "add")
