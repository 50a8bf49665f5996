"""Ranks as threads of one process: a communicator without MPI, for tests, traces and first experiments."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from glla.cluster.messages import Bytes, Communicator, Ticket
from glla.errors import OptionError, integer

Result = TypeVar("Result")


class _Post:
    """The messages of all ranks."""

    def __init__(self, size: int) -> None:
        self.news = threading.Condition()
        self.count = 0  # of all arrived messages
        self.mail: dict[tuple[int, int, int], deque[Bytes]] = {}
        self.alarms: list[list[bytes]] = [[] for _ in range(size)]


class _Expected(Ticket):
    """An expected message; those of one source and tag are delivered in the order of the requests."""

    def __init__(self, post: _Post, line: deque[_Expected], key: tuple[int, int, int], data: Bytes) -> None:
        self._post, self._line, self._key, self._data = post, line, key, data
        self._here = False
        line.append(self)

    def done(self) -> bool:
        while not self._here:
            with self._post.news:
                box = self._post.mail.get(self._key)
                message = box.popleft() if box else None
            if message is None:
                return False
            self._line.popleft()._take(message)
        return True

    def _take(self, message: Bytes) -> None:
        np.copyto(self._data, message)
        self._here = True

    def cancel(self) -> None:
        if self in self._line:
            self._line.remove(self)


class _Threads(Communicator):
    """The communicator of one rank of several in this process."""

    one_process = True

    def __init__(self, post: _Post, rank: int, size: int) -> None:
        self._post = post
        self.rank, self.size = rank, size
        self.host = rank, size
        self._seen = -1
        self._lines: dict[tuple[int, int, int], deque[_Expected]] = {}

    def post(self, data: Bytes, to: int, tag: int) -> Ticket:
        with self._post.news:
            self._post.mail.setdefault((self.rank, to, tag), deque()).append(data)
            self._post.count += 1
            self._post.news.notify_all()
        return Ticket()

    def expect(self, data: Bytes, source: int, tag: int) -> _Expected:
        key = (source, self.rank, tag)
        return _Expected(self._post, self._lines.setdefault(key, deque()), key, data)

    def drop(self, tags: range) -> None:
        with self._post.news:
            for key, box in self._post.mail.items():
                if key[1] == self.rank and key[2] in tags and not self._lines.get(key):
                    box.clear()

    def shout(self, text: bytes) -> None:
        with self._post.news:
            for rank, alarms in enumerate(self._post.alarms):
                if rank != self.rank:
                    alarms.append(text)
            self._post.count += 1
            self._post.news.notify_all()

    def heard(self) -> list[bytes]:
        with self._post.news:
            said, self._post.alarms[self.rank] = self._post.alarms[self.rank], []
        return said

    def idle(self, looks: int) -> None:
        with self._post.news:
            if self._seen == self._post.count:
                self._post.news.wait(0.002)
            self._seen = self._post.count


def run(ranks: int, function: Callable[..., Result], *args: Any) -> list[Result]:
    """Call a function on several ranks, each a thread of this process: no MPI is needed.

    Parameters
    ----------
    ranks : int
        Number of ranks.
    function : callable
        Called with the rank's communicator, for `glla.cluster.grid`, and then `args`.
    *args
        The same for all ranks.

    Returns
    -------
    list
        Its result on each rank.

    Raises
    ------
    Exception
        Exception of a rank; of several that of the lowest one.

    Examples
    --------
    >>> run(3, lambda communicator: communicator.rank**2)
    [0, 1, 4]
    """
    size = integer("run", "ranks", ranks)
    if size < 1:
        raise OptionError(f"run: ranks must be at least 1, got {ranks}")
    post = _Post(size)
    found: list[Any] = [None] * size
    failed: list[BaseException | None] = [None] * size

    def work(rank: int) -> None:
        try:
            found[rank] = function(_Threads(post, rank, size), *args)
        except BaseException as error:
            failed[rank] = error

    threads = [threading.Thread(target=work, args=(rank,), name=f"rank {rank}", daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in failed:
        if error is not None:
            raise error
    return found
