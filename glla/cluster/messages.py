"""Messages between ranks, and handling of failures: every wait is bounded, and all ranks raise the same error.

A `Communicator` moves bytes: `glla.cluster.threads` between threads of one process, `glla.cluster.mpi` between
processes. `Channel` adds the handling of failures:

- A rank that waits for a message also listens for alarms, and waits at most `timeout` seconds.
- A rank that fails, hears an alarm, or has waited too long sends one alarm to all others, and then receives theirs for
  `grace` seconds. From these alarms, each rank derives the same error: the earliest one that a rank raised, else that a
  rank did not answer. So all ranks raise the same error within `timeout + grace` seconds of the failure, and the time
  of one step on the host.
- If all have answered, messages under way are dropped, and the ranks may start another operation. Otherwise every later
  operation raises at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla import errors
from glla.errors import ClusterError, GllaError

Bytes = NDArray[np.uint8]

TAGS = (
    "candidates", "column", "pivots", "factors", "L", "rows", "U", "A", "B", "sums", "x", "part", "total", "local",
    "whole", "clean",
)  # fmt: skip
"""Names of messages; the index of a name is its tag."""

EPOCHS = 1000
"""Operations until tags are reused: messages of a failed one cannot be confused with those of the next one."""


class Ticket:
    """A message under way; here one whose data was copied."""

    def done(self) -> bool:
        """Whether it has left the sender's memory, or is in the receiver's."""
        return True

    def cancel(self) -> None:
        """Cancel a receive; no effect on a sent message."""


class Communicator:
    """Transport of bytes between ranks; here that of a single rank. All calls are made by one thread of each rank."""

    rank, size = 0, 1
    host = 0, 1
    """This rank's number on its machine, and the number of ranks there."""
    one_process = False
    """Whether all ranks are threads of this process."""

    def post(self, data: Bytes, to: int, tag: int) -> Ticket:
        """Send; the data must stay unchanged until the ticket is done."""
        raise ClusterError("cluster: one rank sends no messages")

    def expect(self, data: Bytes, source: int, tag: int) -> Ticket:
        """Receive into `data`. Messages of one source and tag arrive in order."""
        return self.post(data, source, tag)

    def drop(self, tags: range) -> None:
        """Receive and drop all messages with these tags that have arrived and are not expected."""

    def shout(self, text: bytes) -> None:
        """Send an alarm to all other ranks."""

    def heard(self) -> list[bytes]:
        """Alarms received since the last call."""
        return []

    def nudge(self) -> None:
        """Progress messages under way: many an MPI does so within its calls only."""

    def idle(self, looks: int) -> None:
        """Yield to other threads, after `looks` checks without a result."""
        time.sleep(1e-4 if looks > 100 else 0)  # the engine works meanwhile


class Alarm(Exception):
    """Another rank has failed, or does not answer."""


class Channel:
    """Messages of one grid, with an end to every wait.

    `communicator`: transport of bytes. `timeout`: seconds that a rank waits for a message. `grace`: seconds that a rank
    has to answer an alarm.
    """

    def __init__(self, communicator: Communicator, timeout: float, grace: float) -> None:
        self.communicator = communicator
        self.rank, self.size = communicator.rank, communicator.size
        self.timeout, self.grace = timeout, grace
        self.epoch = 0
        self.sent = self.sent_bytes = self.received = self.received_bytes = 0
        self.broken: ClusterError | None = None
        self._leaving: list[tuple[Ticket, Bytes]] = []
        self._coming: list[Ticket] = []
        self._alarms: list[dict[str, Any]] = []

    # -- messages

    def begin(self) -> None:
        """Begin an operation.

        Raises ClusterError: a rank did not answer before.
        """
        if self.broken is not None:
            raise ClusterError(str(self.broken))
        self.epoch += 1
        self._coming.clear()

    def _tag(self, name: str) -> int:
        return (self.epoch % EPOCHS) * len(TAGS) + TAGS.index(name)

    def send(self, name: str, data: Bytes, to: int) -> None:
        """Send a message, without waiting for it to arrive."""
        self._leaving = [one for one in self._leaving if not one[0].done()]
        self._leaving.append((self.communicator.post(data, to, self._tag(name)), data))
        self.sent += 1
        self.sent_bytes += data.nbytes

    def expect(self, name: str, nbytes: int, source: int) -> tuple[Ticket, Bytes]:
        """Post the receive of a message."""
        data = np.empty(nbytes, dtype=np.uint8)
        ticket = self.communicator.expect(data, source, self._tag(name))
        self._coming.append(ticket)
        return ticket, data

    def receive(self, expected: tuple[Ticket, Bytes], name: str, source: int) -> Bytes:
        """Wait for a message.

        Raises Alarm: it did not arrive in time, or another rank has failed.
        """
        ticket, data = expected
        self.wait(ticket.done, f"waited {self.timeout:g} s for {name!r} of rank {source}")
        self._coming.remove(ticket)
        self.received += 1
        self.received_bytes += data.nbytes
        return data

    def wait(self, done: Callable[[], bool], otherwise: str | None) -> None:
        """Wait for a condition, at most `timeout` seconds, or without limit if `otherwise` is None."""
        end, looks = time.monotonic() + self.timeout, 0
        while not done():
            self._listen()
            if otherwise is not None and time.monotonic() > end:
                raise Alarm(otherwise)
            self.communicator.idle(looks)
            looks += 1

    def finish(self) -> None:
        """Wait until all sent messages have left; an alarm meanwhile is raised."""
        for ticket, _ in self._leaving:
            self.wait(ticket.done, f"waited {self.timeout:g} s for its own messages to leave")
        self._leaving.clear()
        self._listen()

    # -- failures

    def _listen(self) -> None:
        """Receive alarms, and raise for one of this operation. Those of the next one are kept."""
        if self._hear():
            raise Alarm("heard an alarm")

    def _hear(self) -> dict[int, dict[str, Any]]:
        """Alarms of other ranks for this operation; those of earlier ones are dropped."""
        self._alarms += map(json.loads, self.communicator.heard())
        self._alarms = [said for said in self._alarms if said["epoch"] >= self.epoch]
        return {said["rank"]: said for said in self._alarms if said["epoch"] == self.epoch}

    def fail(self, error: BaseException, at: int) -> GllaError:
        """Send an alarm to all ranks, receive theirs, and derive the error that all of them raise.

        To be raised. `error`: the error of this rank. `at`: number of the step, for the order of several errors.
        """
        own = {
            "epoch": self.epoch,
            "rank": self.rank,
            "at": at,
            "raised": not isinstance(error, Alarm),
            "type": type(error).__name__,
            "text": str(error),
        }
        self.communicator.shout(json.dumps(own).encode())
        said = {self.rank: own}
        end, looks = time.monotonic() + self.grace, 0
        while len(said) < self.size and time.monotonic() < end:
            said |= self._hear()
            self.communicator.idle(looks)
            looks += 1
        silent = sorted(set(range(self.size)) - set(said))
        verdict = _verdict(said, silent, self.grace)
        late = [one["verdict"] for one in said.values() if "verdict" in one]
        if late:  # the others have decided without this rank, long ago
            verdict = ClusterError(late[0])
        elif silent:
            self.communicator.shout(json.dumps(own | {"verdict": str(verdict)}).encode())
        if late or silent or not self._drained():
            self.broken = ClusterError(f"cluster: this grid can do no more; before: {verdict}")
        self._leaving.clear()
        return verdict

    def _drained(self) -> bool:
        """Receive and drop messages under way, until every rank has reported that its own have left."""
        for ticket in self._coming:
            ticket.cancel()
        self._coming.clear()
        others = [rank for rank in range(self.size) if rank != self.rank]
        tags = range(self._tag(TAGS[0]), self._tag("clean"))
        clean = [self.expect("clean", 1, rank) for rank in others]
        announced, end, looks = False, time.monotonic() + self.grace, 0
        while time.monotonic() < end:
            self.communicator.drop(tags)
            if not announced and all(ticket.done() for ticket, _ in self._leaving):
                self._leaving = [
                    (self.communicator.post(data, rank, self._tag("clean")), data)
                    for rank in others
                    for data in [np.zeros(1, dtype=np.uint8)]
                ]
                announced = True
            if announced and all(ticket.done() for ticket, _ in [*self._leaving, *clean]):
                self._coming.clear()
                return True
            self.communicator.idle(looks)
            looks += 1
        return False


def _verdict(said: dict[int, dict[str, Any]], silent: Sequence[int], grace: float) -> GllaError:
    """Derive the error that all ranks raise, from their alarms."""
    raised = [one for one in said.values() if one["raised"]]
    if raised:
        first = min(raised, key=lambda one: (one["at"], one["rank"]))
        kind = getattr(errors, first["type"], None)
        text = f"rank {first['rank']}: {first['text']}"
        if isinstance(kind, type) and issubclass(kind, GllaError) and kind is not errors.LimitError:
            return kind(text)
        return ClusterError(f"rank {first['rank']}: {first['type']}: {first['text']}")
    late = "; ".join(f"rank {rank} {one['text']}" for rank, one in sorted(said.items()) if "waited" in one["text"])
    if silent:
        names = " and ".join(f"rank {rank}" for rank in silent)
        return ClusterError(f"cluster: {names} did not answer within {grace:g} s ({late}): dead, or hanging")
    return ClusterError(
        f"cluster: {late}, and all ranks are alive; raise the grid's timeout for steps that take longer"
    )
