"""Deadlock check of a schedule: every message has a receiver, and no ranks wait for each other in a cycle.

The ranks are run without values, each until it waits for a message that is not sent yet. If all unfinished ranks wait,
there is a deadlock. The order does not matter: a step that can run stays runnable.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from glla.cluster.steps import Await, Receive, Schedule, Send, Step, Work
from glla.errors import PlanError

Message = tuple[int, int, str]
"""Source, destination, name."""


def check(schedule: Schedule) -> None:
    """Raise unless every message is received with the size that was sent, and there is no deadlock.

    Raises
    ------
    PlanError
        The ranks and the messages are named.

    Notes
    -----
    Its time is proportional to the number of steps. Ranks exchange messages in the order of sending, as MPI guarantees
    for a pair of ranks and a tag.

    Examples
    --------
    >>> check(listing_a1())
    Traceback (most recent call last):
    ...
    glla.errors.PlanError: check: rank 0 sends 'data' to itself
    >>> check(listing_a1(mended=True))
    Traceback (most recent call last):
    ...
    glla.errors.PlanError: check: ranks wait in a circle: 0 waits for 'data 101' of 1, 1 waits for 'data 100' of 0
    """
    _check_ranks(schedule)
    places, waiting = _run(schedule.ranks)
    stuck = {rank: schedule.ranks[rank][place] for rank, place in enumerate(places) if rank in waiting}
    if stuck:
        raise PlanError(f"check: {_explained(stuck)}")


def _check_ranks(schedule: Schedule) -> None:
    size = len(schedule.ranks)
    for rank, steps in enumerate(schedule.ranks):
        queued = {(step.panel, step.name) for step in steps if isinstance(step, Work) and step.engine}
        for step in steps:
            if isinstance(step, Await) and (step.panel, step.name) not in queued:
                raise PlanError(f"check: rank {rank} awaits {step.name!r} of panel {step.panel}, which it never queues")
            if isinstance(step, Send | Receive):
                other = step.to if isinstance(step, Send) else step.source
                if other == rank:
                    verb, whither = ("sends", "to") if isinstance(step, Send) else ("receives", "from")
                    raise PlanError(f"check: rank {rank} {verb} {step.name.split()[0]!r} {whither} itself")
                if not 0 <= other < size:
                    raise PlanError(f"check: rank {rank} names rank {other}, there are {size}")


def _run(ranks: Sequence[Sequence[Step]]) -> tuple[list[int], set[int]]:
    """Run all ranks until they are done or blocked; return their positions, and the unfinished ones."""
    places = [0] * len(ranks)
    sent: dict[Message, deque[int]] = {}
    asks: dict[int, Message] = {}  # the message for which a rank waits
    waiting: set[int] = set()
    ready = deque(range(len(ranks)))
    while ready:
        rank = ready.popleft()
        waiting.discard(rank)
        for step in ranks[rank][places[rank] :]:
            if isinstance(step, Send):
                message = (rank, step.to, step.name)
                if step.blocking and asks.get(step.to) != message:
                    waiting.add(rank)
                    break
                sent.setdefault(message, deque()).append(step.nbytes)
                if step.to in waiting:
                    ready.append(step.to)
            elif isinstance(step, Receive):
                message = (step.source, rank, step.name)
                if not sent.get(message):
                    waiting.add(rank)
                    if asks.get(rank) != message and step.source in waiting:
                        ready.append(step.source)  # a blocking send may continue
                    asks[rank] = message
                    break
                asks.pop(rank, None)
                _check_size(step, rank, sent[message].popleft())
            places[rank] += 1
    left = [message for message, sizes in sent.items() if sizes]
    if left and not waiting:
        source, to, name = left[0]
        raise PlanError(f"check: rank {to} never receives {name!r} of rank {source}")
    return places, waiting


def _check_size(step: Receive, rank: int, nbytes: int) -> None:
    if nbytes != step.nbytes:
        raise PlanError(
            f"check: rank {step.source} sends {nbytes} bytes of {step.name!r} in panel {step.panel}, rank {rank} "
            f"expects {step.nbytes}"
        )


def _other(step: Step) -> int | None:
    return step.to if isinstance(step, Send) else step.source if isinstance(step, Receive) else None


def _explained(stuck: dict[int, Step]) -> str:
    """Describe the deadlock: a cycle, or a rank that has ended."""

    def says(rank: int) -> str:
        step = stuck[rank]
        return f"{rank} waits for {step.name!r} of {_other(step)}"

    rank = next(iter(stuck))
    chain: list[int] = []
    while rank in stuck and rank not in chain:
        chain.append(rank)
        other = _other(stuck[rank])
        assert other is not None
        rank = other
    if rank in chain:
        circle = chain[chain.index(rank) :]
        return f"ranks wait in a circle: {', '.join(map(says, circle))}"
    return f"rank {says(chain[-1])}, which never sends it"


def listing_a1(mended: bool = False) -> Schedule:
    """Schedule of listing A.1 of the thesis, an example of two processes that deadlock.

    As printed, both sends name their own sender as the destination; `mended` sends to the other process. Either way
    both processes receive first.
    """
    ints = 10 * 4
    ranks = (
        (Receive(0, "data 101", 1, ints), Send(0, "data 100", 1 if mended else 0, ints, blocking=True)),
        (Receive(0, "data 100", 0, ints), Send(0, "data 101", 0 if mended else 1, ints, blocking=True)),
    )
    return Schedule("Brodtkorb, Saetra and Fladby 2007, listing A.1", (1, 2), ranks)
