"""Messages between ranks, and what happens when a rank fails: every wait has an end, and all ranks raise one error.

A `Communicator` moves bytes: `glla.cluster.threads` between threads of one process, `glla.cluster.mpi` between
processes. `Channel` adds what a guest in a cluster needs:

- Whoever waits for a message also listens for alarms, and waits `timeout` seconds at most.
- A rank that fails, hears an alarm, or has waited too long tells all others once, and then hears all others for
  `grace` seconds. From what was said, each finds the same error: the earliest one that a rank raised, else that a rank
  did not answer. So all ranks raise the same error within `timeout + grace` seconds of the failure, and the time that
  one step on the host takes.
- Where all have answered, messages under way are dropped, and the ranks may go on with another operation. Where one has
  not, every later operation says so at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from glla import errors
from glla.errors import ClusterError, GllaError

Bytes = NDArray[np.uint8]

TAGS = (
    "candidates", "column", "pivots", "factors", "L", "rows", "U", "A", "B", "sums", "x", "part", "total", "local",
    "whole", "clean",
)  # fmt: skip
"""Names of messages; the place of a name is its tag."""

EPOCHS = 1000
"""Operations until tags begin anew: messages of one that failed cannot be taken for those of the next one."""


class Ticket(Protocol):
    """A message under way."""

    def done(self) -> bool:
        """Whether it has left the sender's memory, or is in the receiver's."""

    def cancel(self) -> None:
        """Receive it no more; does nothing for one that was sent."""


class Communicator(Protocol):
    """What moves bytes between ranks. All calls are made by one thread of each rank."""

    rank: int
    size: int
    host: tuple[int, int]
    """This rank's number among those on its machine, and how many they are."""
    one_process: bool
    """Whether all ranks are threads of this process."""

    def post(self, data: Bytes, to: int, tag: int) -> Ticket:
        """Send; the data must stay as they are until the ticket is done."""

    def expect(self, data: Bytes, source: int, tag: int) -> Ticket:
        """Receive into `data`, when it comes. Messages of one source and tag come in order."""

    def drop(self, tags: range) -> None:
        """Receive and forget all messages that have come with these tags, and that nobody expects."""

    def shout(self, text: bytes) -> None:
        """Send an alarm to all other ranks."""

    def heard(self) -> list[bytes]:
        """Alarms that have come since the last call."""

    def nudge(self) -> None:
        """Let messages under way go on: in many an MPI they do so within its calls alone."""

    def idle(self, looks: int) -> None:
        """Let others work; it was looked so often in vain."""


class Alone:
    """The communicator of one rank."""

    rank, size, host, one_process = 0, 1, (0, 1), False

    def post(self, data: Bytes, to: int, tag: int) -> Ticket:
        """There is nobody to send to."""
        raise ClusterError("cluster: one rank sends no messages")

    expect = post

    def drop(self, tags: range) -> None:
        """Nothing comes."""

    def shout(self, text: bytes) -> None:
        """Nobody hears."""

    def heard(self) -> list[bytes]:
        """Nobody shouts."""
        return []

    def nudge(self) -> None:
        """Nothing is under way."""

    def idle(self, looks: int) -> None:
        """Wait a moment for the engine."""
        time.sleep(1e-4 if looks > 100 else 0)


class Alarm(Exception):
    """Another rank has failed, or does not answer."""


class Channel:
    """Messages of one grid, with an end to every wait.

    Parameters
    ----------
    communicator : Communicator
        What moves bytes.
    timeout : float
        Seconds that a rank waits for a message.
    grace : float
        Seconds that a rank has to answer an alarm.
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

        Raises
        ------
        ClusterError
            A rank did not answer before.
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
        """Make room for a message that will come."""
        data = np.empty(nbytes, dtype=np.uint8)
        ticket = self.communicator.expect(data, source, self._tag(name))
        self._coming.append(ticket)
        return ticket, data

    def receive(self, expected: tuple[Ticket, Bytes], name: str, source: int) -> Bytes:
        """Wait for a message.

        Raises
        ------
        Alarm
            It did not come in time, or another rank has failed.
        """
        ticket, data = expected
        self.wait(ticket.done, f"waited {self.timeout:g} s for {name!r} of rank {source}")
        self._coming.remove(ticket)
        self.received += 1
        self.received_bytes += data.nbytes
        return data

    def wait(self, done: Callable[[], bool], otherwise: str | None) -> None:
        """Wait for something, at most `timeout` seconds, or as long as it takes where `otherwise` is None."""
        end, looks = time.monotonic() + self.timeout, 0
        while not done():
            self._listen()
            if otherwise is not None and time.monotonic() > end:
                raise Alarm(otherwise)
            self.communicator.idle(looks)
            looks += 1

    def finish(self) -> None:
        """Wait until all that was sent has left; an alarm that comes meanwhile is raised."""
        for ticket, _ in self._leaving:
            self.wait(ticket.done, f"waited {self.timeout:g} s for its own messages to leave")
        self._leaving.clear()
        self._listen()

    # -- failures

    def _listen(self) -> None:
        """Hear alarms, and raise for one of this operation. Those of the next one wait for it."""
        if self._hear():
            raise Alarm("heard an alarm")

    def _hear(self) -> dict[int, dict[str, Any]]:
        """What other ranks have said of this operation; what was said of earlier ones is known."""
        self._alarms += map(json.loads, self.communicator.heard())
        self._alarms = [said for said in self._alarms if said["epoch"] >= self.epoch]
        return {said["rank"]: said for said in self._alarms if said["epoch"] == self.epoch}

    def fail(self, error: BaseException, at: int) -> GllaError:
        """Tell all ranks of a failure, hear them, and find the error that all of them raise.

        Parameters
        ----------
        error : BaseException
            What happened here.
        at : int
            Number of the step, for the order of several errors.

        Returns
        -------
        GllaError
            To be raised.
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
        """Let messages under way arrive and drop them, until every rank has said that its own have left."""
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
    """Find the error that all ranks raise, from what all have said."""
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
