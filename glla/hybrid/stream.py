"""The results of a stream of systems, in order, computed by two sides."""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from glla.errors import CoprocessorError, DeviceError, OptionError, OptionTypeError, real
from glla.hybrid.memory import Memory, folder
from glla.hybrid.share import Pace, cpu_takes, from_ratio, gpu_takes
from glla.hybrid.tasks import Clock, Cpu, Gpu, Outcome, Queued, Task, check_shared, checked, measure_pace
from glla.queue import Coprocessor, Coprocessors, coprocessor


@dataclass(frozen=True)
class Report:
    """Number of systems and times of each side, so far.

    Attributes
    ----------
    gpu_systems, cpu_systems : int
        Systems that each side has done.
    gpu_seconds, cpu_seconds : float
        Seconds of work on them.
    ratio_at_start, ratio : float or None
        t_GPU / t_CPU, of the last size: as measured, remembered or given, and as updated since. 0: the GPU works alone;
        inf: the CPU. None before the first system.
    source : str
        Source of the ratio at the start: "measured", "remembered", "given", "software" (the device is a software
        rasteriser: the CPU works alone), "one side" (the other one cannot do the operation) or "".
    measuring_seconds : float
        Seconds of measurements.
    """

    gpu_systems: int = 0
    cpu_systems: int = 0
    gpu_seconds: float = 0.0
    cpu_seconds: float = 0.0
    ratio_at_start: float | None = None
    ratio: float | None = None
    source: str = ""
    measuring_seconds: float = 0.0


class Stream(Iterator[Any]):
    """Results of `map`: an iterator and a context manager. For one thread, the one that iterates.

    The CPU side works in ``next``; between two results only the GPU works. A system's error is raised in its turn, with
    a note that names the system; ``next`` then continues with the following one. An error of the stream itself is
    raised after all results before it.
    """

    def __init__(
        self,
        operation: str,
        systems: Iterable[Any],
        gpu: Gpu,
        cpu: Cpu,
        memory: Memory | None,
        ratio: float | None = None,
        copy: bool = True,
        software: bool = False,
        own: Coprocessor | None = None,
        clock: Clock = time.perf_counter,
        devices: int = 1,
    ) -> None:
        self._operation = operation
        self._systems = iter(systems)
        self._length = len(systems) if isinstance(systems, Sized) else 0
        self._gpu, self._cpu, self._memory, self._own, self._clock = gpu, cpu, memory, own, clock
        if own is not None:
            own._quiet = True  # a loop over the stream may be left early, as one over a generator
        self._given_ratio, self._copy, self._software = ratio, copy, software
        self._devices = devices
        self._waiting: deque[Task] = deque()  # taken from the stream
        self._tickets: deque[Queued] = deque()  # on the GPU
        self._outcomes: dict[int, Outcome] = {}  # done, and not returned yet
        self._taken = self._given = 0
        self._failure: BaseException | None = None  # of the stream
        self._exhausted = self._closed = False
        self._gpu_since = clock()  # start of the first of its tasks
        self._paces: dict[str, Pace] = {}
        self._first_paces: dict[str, Pace] = {}
        self._warm: set[str] = set()  # keys that the GPU has done
        self._learnt: set[str] = set()
        self._last = ""
        self._source = ""
        self._done = {"gpu": 0, "cpu": 0}
        self._seconds = {"gpu": 0.0, "cpu": 0.0}
        self._measuring = 0.0

    # -- for the caller

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Any:
        while not self._closed:
            self._collect()
            self._feed()
            if self._given in self._outcomes:
                index = self._given
                self._given += 1
                return self._outcomes.pop(index).get(index)
            if self._waiting and self._cpu_takes(self._waiting[0]):
                self._work()
            elif self._tickets:
                self._settle(self._tickets[0].outcome())
            elif self._exhausted:
                self.close()
                if self._failure is not None:
                    raise self._failure
        raise StopIteration

    @property
    def report(self) -> Report:
        """Number of systems and times of each side, so far."""
        first, now = self._first_paces.get(self._last), self._paces.get(self._last)
        return Report(
            self._done["gpu"],
            self._done["cpu"],
            self._seconds["gpu"],
            self._seconds["cpu"],
            None if first is None else first.ratio,
            None if now is None else now.ratio,
            self._source,
            self._measuring,
        )

    def close(self) -> None:
        """Take no more systems; cancel waiting ones, wait for running ones, and save the times. No effect when done."""
        if self._closed:
            return
        self._closed = True
        self._waiting.clear()
        for ticket in reversed(self._tickets):  # so that none of them begins meanwhile
            ticket.cancel()
        for ticket in self._tickets:
            ticket.outcome()
        self._tickets.clear()
        self._outcomes.clear()
        self._systems = iter(())
        if self._memory is not None and self._given_ratio is None:
            self._memory.put({key: self._paces[key] for key in self._learnt})
        if self._own is not None:
            with contextlib.suppress(CoprocessorError):  # it had died, and the lost results have raised it
                self._own.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- input

    def _feed(self) -> None:
        """Take systems from the stream as far ahead as useful, and queue the GPU's share of them."""
        try:
            while self._look_ahead() and self._gpu_takes(self._waiting[0]):
                if not self._tickets:
                    self._gpu_since = self._clock()
                self._tickets.append(self._gpu.start(self._waiting[0]))
                self._waiting.popleft()
        except CoprocessorError as error:  # it accepts no more; finished results are returned first
            self._exhausted, self._failure = True, error
            self._waiting.clear()

    def _look_ahead(self) -> bool:
        """Take the systems needed for decisions. True if a system waits."""
        while not self._exhausted and self._taken - self._given < self._ahead():
            self._take()
            if self._waiting:
                self._pace(self._waiting[0])
                self._last = self._waiting[0].key
        return bool(self._waiting)

    def _take(self) -> None:
        try:
            system = next(self._systems)
        except StopIteration:
            self._exhausted = True
            return
        except Exception as error:
            self._exhausted, self._failure = True, error
            return
        index = self._taken
        self._taken += 1
        try:
            self._waiting.append(checked(self._operation, index, system, self._copy))
        except Exception as error:
            self._outcomes[index] = Outcome(None, error)

    def _ahead(self) -> int:
        return self._paces[self._last].ahead if self._last else 1

    def _left(self) -> int:
        """Number of systems without a side, as far as known."""
        return len(self._waiting) + (0 if self._exhausted else max(0, self._length - self._taken))

    # -- distribution

    def _gpu_takes(self, task: Task) -> bool:
        return gpu_takes(self._left(), self._pace(task), self._gpu_busy(), len(self._tickets))

    def _cpu_takes(self, task: Task) -> bool:
        return cpu_takes(self._left(), self._pace(task), self._gpu_busy())

    def _gpu_busy(self) -> float:
        """Seconds until the GPU has finished its queue."""
        if not self._tickets:
            return 0.0
        each = [self._pace(ticket.task).gpu for ticket in self._tickets]
        return sum(each[1:]) + max(0.0, each[0] - (self._clock() - self._gpu_since))

    def _pace(self, task: Task) -> Pace:
        """Times of a task's operation and size; measured now if unknown."""
        key = task.key
        if key not in self._paces:
            self._paces[key] = self._first_paces[key] = replace(self._first_pace(task), devices=self._devices)
        return self._paces[key]

    def _first_pace(self, task: Task) -> Pace:
        if not self._cpu.can(self._operation):
            self._source = "one side"
            return from_ratio(0)
        if self._given_ratio is not None:
            self._source = "given"
            return from_ratio(self._given_ratio)
        if self._software:
            self._source = "software"
            return from_ratio(math.inf)
        remembered = None if self._memory is None else self._memory.get(task.key)
        if remembered is not None:
            self._source = "remembered"
            return remembered
        return self._measured(task)

    def _measured(self, task: Task) -> Pace:
        while self._tickets:  # they would disturb the measurement
            self._settle(self._tickets[0].outcome())
        start = self._clock()
        first = self._gpu.start(task).outcome()  # cold; fails if the GPU cannot do it at all
        if isinstance(first.error, (DeviceError, CoprocessorError)):
            self._source = "one side"
            pace = from_ratio(math.inf)
        else:
            self._source = "measured"
            self._warm.add(task.key)
            pace = measure_pace(task, self._gpu, self._cpu, self._clock)
            self._learnt.add(task.key)
        self._measuring += self._clock() - start
        return pace

    # -- output

    def _work(self) -> None:
        """Run the next system on the CPU."""
        task = self._waiting[0]
        outcome = self._cpu.run(task)
        self._waiting.popleft()  # not before: a keyboard interrupt loses nothing
        self._finish(task, outcome)

    def _collect(self) -> None:
        """Record the results that the GPU has finished."""
        while self._tickets and self._tickets[0].done():
            self._settle(self._tickets[0].outcome())

    def _settle(self, outcome: Outcome) -> None:
        """Record the outcome of the GPU's first task."""
        task = self._tickets.popleft().task
        self._gpu_since = outcome.end
        self._finish(task, outcome)

    def _finish(self, task: Task, outcome: Outcome) -> None:
        self._outcomes[task.index] = outcome
        if outcome.side:
            self._done[outcome.side] += 1
            self._seconds[outcome.side] += outcome.seconds
        if outcome.error is None:
            self._learn(task.key, outcome)

    def _learn(self, key: str, outcome: Outcome) -> None:
        """Update the times with those of a system."""
        pace = self._paces[key]
        if not math.isfinite(pace.gpu_alone + pace.cpu_alone):  # given, or there is no choice
            if pace.workers == "both" and outcome.side == "cpu":
                self._paces[key] = replace(from_ratio(pace.ratio, outcome.seconds), devices=self._devices)
            return
        if outcome.side == "gpu" and key not in self._warm:
            self._warm.add(key)  # the first one compiles
            return
        self._paces[key] = pace.corrected(outcome.side, outcome.seconds)
        self._learnt.add(key)


def map(
    op: str,
    systems: Iterable[Any],
    *,
    gpu: Coprocessor | Coprocessors | None = None,
    device: str | int | None = None,
    ratio: float | None = None,
    copy: bool | None = None,
    remember: bool = False,
) -> Stream:
    """Solve or factor a stream of systems on the GPU and the CPU together.

    Examples
    --------
    >>> import glla
    >>> import numpy as np
    >>> systems = [(k * np.eye(3), np.ones(3)) for k in (1, 2, 4)]
    >>> for x in glla.hybrid.map("solve", systems, ratio=1):
    ...     print(x)
    [1. 1. 1.]
    [0.5 0.5 0.5]
    [0.25 0.25 0.25]

    Parameters
    ----------
    op : str
        A function of glla that has a counterpart on the CPU: ``solve``, ``lu_factor``, ``plu``, ``inv``, ``det``,
        ``rref``, ``matmul`` and more; the error for an unknown one lists them.
    systems : iterable
        Pairs (A, b) for ``solve``, (A, B) for ``matmul``, else matrices A. It may be endless: at most 20 are taken
        ahead.
    gpu : Coprocessor or Coprocessors, optional
        The device, or devices, to use; stays open. Several share the GPU's systems. By default a new one, closed at the
        end.
    device : str or int, optional
        For a new one: ``"software"``, ``"hardware"`` or an index, as in `glla.coprocessor`.
    ratio : float, optional
        Systems on the CPU for each one on the GPU, instead of measured times: 0 for the GPU alone, infinity the CPU.
    copy : bool, optional
        Copy systems when they are taken. By default those from an iterator are copied; others must stay unchanged.
    remember : bool
        Keep the times in a file of the user's cache folder. ``GLLA_HYBRID=on`` and ``off`` override it.

    Returns
    -------
    Stream
        Iterator over the results, in order, each as the function returns it for arrays (float32 on both sides). A
        context manager with a `report`, and `close` to stop early.

    Raises
    ------
    OptionError, ContextError
        Unknown `op`; a `ratio` below 0; an invalid device, or one beside `gpu`; no OpenGL device.
    SingularMatrixError, ShapeError, DTypeError, NonFiniteError, ...
        From ``next``, in the system's turn: the function's errors, with a note that names the system.
    """
    check_shared(op)
    if ratio is not None and not real("hybrid.map", "ratio", ratio) >= 0:
        raise OptionError(f"hybrid.map: ratio must be None or a number from 0, got {ratio!r}")
    if gpu is not None and device is not None:
        raise OptionError(f"hybrid.map: device is of its own coprocessor, got {device!r} beside gpu; leave one out")
    if copy is None:
        copy = not isinstance(systems, (Sequence, np.ndarray))
    if not isinstance(gpu, Coprocessor | Coprocessors | None):
        raise OptionTypeError(f"hybrid.map: gpu must be a coprocessor, or several, got {gpu!r}")
    if gpu is not None and gpu.closed:
        raise CoprocessorError("hybrid.map: the coprocessor is closed; make another one, or leave gpu out")
    folder(remember)  # raises for a bad environment variable before a device is opened
    clock = time.perf_counter
    worker = gpu if gpu is not None else coprocessor(device=device)
    members = [*worker] if isinstance(worker, Coprocessors) else [worker]
    info = members[0].info
    gpu_side = Gpu(members, clock)
    return Stream(
        op,
        systems,
        gpu_side,
        Cpu(clock, gpu_side.busy),
        Memory(info, remember) if len(members) == 1 else None,  # stored times are those of one device
        ratio,
        copy,
        all(member.info.software for member in members),
        members[0] if gpu is None else None,
        clock,
        len(members),
    )
