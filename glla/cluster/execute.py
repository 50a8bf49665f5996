"""Execution of a rank's steps: work by an actor, messages by the channel, exactly those of the plan."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.cluster.messages import Bytes, Channel, Ticket
from glla.cluster.model import Event
from glla.cluster.steps import Await, Receive, Send, Step, Work
from glla.errors import PlanError

AHEAD = 4
"""Receives that are posted in advance; their messages arrive while the host works."""

REDUCED = ("candidates", "column", "rows", "sums", "part", "local")
"""Messages that are merged with local data; others are kept, to be forwarded and used."""


class Actor:
    """The work of the steps: a method for each name, with ``_`` for blanks.

    A method of a step of the engine returns a future. Data to send is in `slots` under its name.
    """

    def __init__(self) -> None:
        self.slots: dict[tuple[str, int], Bytes] = {}
        self.heard: tuple[int, Bytes] = (0, np.empty(0, dtype=np.uint8))
        """Source and content of the last message to be merged."""
        self.between: Callable[[], None] = lambda: None
        """Called regularly during long work, to progress messages."""

    def take(self, name: str, result: Any) -> None:
        """Keep a result of the engine; most steps have none."""
        del name, result

    def forget(self, panel: int) -> None:
        """Drop sent and received data of finished panels."""
        for key in [key for key in self.slots if abs(key[1] - panel) > 2]:
            del self.slots[key]


def pack(*arrays: NDArray[Any]) -> Bytes:
    """Concatenate arrays as bytes."""
    parts = [np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in arrays]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint8)


def unpack(data: Bytes, *shapes: tuple[Any, tuple[int, ...]]) -> list[Any]:
    """Split bytes into arrays, each of a dtype and a shape.

    >>> packed = pack(np.arange(2, dtype=np.int64), np.ones((1, 2), dtype=np.float32))
    >>> [part.tolist() for part in unpack(packed, (np.int64, (2,)), (np.float32, (1, 2)))]
    [[0, 1], [[1.0, 1.0]]]
    """
    found, start = [], 0
    for dtype, shape in shapes:
        nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        found.append(data[start : start + nbytes].view(dtype).reshape(shape))
        start += nbytes
    return found


class _Post:
    """Posts receives in the order of the waits."""

    def __init__(self, channel: Channel, steps: Sequence[Step]) -> None:
        self._channel = channel
        self._expected: deque[Receive] = deque(step for step in steps if isinstance(step, Receive))
        self._open: deque[tuple[Ticket, Bytes]] = deque()

    def take(self, step: Receive) -> Bytes:
        while self._expected and len(self._open) < AHEAD:
            coming = self._expected.popleft()
            self._open.append(self._channel.expect(coming.name, coming.nbytes, coming.source))
        return self._channel.receive(self._open.popleft(), step.name, step.source)


def execute(channel: Channel, steps: Iterable[Step], actor: Actor, events: list[Event] | None = None) -> None:
    """Do all steps.

    `channel`: messages to the other ranks. `steps`: steps of this rank. `actor`: the work of the steps. `events`: the
    events are appended to it.
    Raises Failure: has the exception, and its panel.
    """
    steps, actor.between = tuple(steps), channel.communicator.nudge
    post, queued, panel = _Post(channel, steps), dict[tuple[int, str], Future[Any]](), 0
    for step in steps:
        start = time.perf_counter()
        try:
            if step.panel != panel and isinstance(step, Work):
                panel = step.panel
                actor.forget(panel)
            if isinstance(step, Work):
                method = getattr(actor, step.name.replace(" ", "_"))
                future = method(step.panel) if step.peer is None else method(step.panel, step.peer)
                if step.engine:
                    queued[step.panel, step.name] = future
                    if events is not None:
                        _watch(future, channel.rank, step, start, events)
                        continue
            elif isinstance(step, Await):
                future = queued.pop((step.panel, step.name))
                channel.wait(future.done, None)
                actor.take(step.name, future.result())
            elif isinstance(step, Send):
                data = actor.slots[step.name, step.panel]
                if data.nbytes != step.nbytes:
                    raise PlanError(f"cluster: {step.name} has {data.nbytes} bytes, its plan says {step.nbytes}")
                channel.send(step.name, data, step.to)
            else:
                data = post.take(step)
                if step.name in REDUCED:
                    actor.heard = step.source, data
                else:
                    actor.slots[step.name, step.panel] = data
        except BaseException as error:
            raise Failure(error, step.panel) from error
        if events is not None:
            events.append(Event(channel.rank, step, start, time.perf_counter()))
    try:
        for name, future in queued.items():
            panel = name[0]
            channel.wait(future.done, None)
            future.result()
    except BaseException as error:
        raise Failure(error, panel) from error


class Failure(Exception):
    """Exception of a step, with its panel."""

    def __init__(self, error: BaseException, panel: int) -> None:
        super().__init__(str(error))
        self.error, self.panel = error, panel


def _watch(future: Future[Any], rank: int, step: Step, start: float, events: list[Event]) -> None:
    future.add_done_callback(lambda _: events.append(Event(rank, step, start, time.perf_counter())))
