"""A system, the two sides that can solve it, and the benchmark that measures their times."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from glla import linalg
from glla.array.convert import Float32, as_float32
from glla.errors import CoprocessorError, ShapeError, one_of
from glla.hybrid import cores, host
from glla.hybrid.share import GAIN, MOST_AHEAD, Pace
from glla.operations import OPERATIONS
from glla.passes import forms_of
from glla.queue import Coprocessor, Pending

Clock = Callable[[], float]

SHARED = tuple(name for name, operation in OPERATIONS.items() if operation.function.host and operation.function.public)
"""Names of the operations that the CPU side implements, too."""

WARM = 0.3
"""Seconds of work after which a GPU counts as warm: its clock rate is low while it idles."""


@dataclass(frozen=True)
class Task:
    """A checked system."""

    index: int  # its number in the stream
    operation: str  # one of `SHARED`
    arrays: tuple[Float32, ...]  # operands, float32 and finite, of fitting shapes

    @property
    def key(self) -> str:
        """Operation and size, to half an octave: systems of about the same time on either side.

        >>> Task(0, "inv", (np.eye(1000, dtype=np.float32),)).key
        'inv 1024 x 1024'
        """
        return _key(self.operation, tuple(side for array in self.arrays for side in array.shape))


@lru_cache
def _key(operation: str, sides: tuple[int, ...]) -> str:
    rounded = (round(2 ** (round(2 * math.log2(max(side, 1))) / 2)) for side in sides)
    return f"{operation} {' x '.join(map(str, rounded))}"


def checked(operation: str, index: int, system: Any, copy: bool) -> Task:
    """Make a task from an item of the stream.

    Raises ShapeError, DTypeError, NonFiniteError: as the operation itself, for one matrix.
    """
    names = OPERATIONS[operation].operands
    try:
        values = dict(zip(names, system if len(names) > 1 else (system,), strict=True))
    except (TypeError, ValueError):
        raise ShapeError(f"{operation}: a system must be a pair ({', '.join(names)})") from None
    arrays = [as_float32(operation, name, value) for name, value in values.items()]
    _check_shapes(operation, *arrays)
    return Task(index, operation, tuple(np.array(array, copy=True) if copy else array for array in arrays))


def _check_shapes(operation: str, a: Float32, *others: Float32) -> None:
    """Raise ShapeError unless a matrix, and right-hand sides if there are any, are operands of one call."""
    if a.ndim != 2:
        raise ShapeError(
            f"{operation}: A must be one matrix, two-dimensional, got shape {a.shape}; iterate over a stack"
        )
    for b in others:
        if b.ndim not in (1, 2):
            raise ShapeError(f"{operation}: b must be a vector or a matrix, got shape {b.shape}; iterate over a stack")
    columns = (b[:, np.newaxis] if b.ndim == 1 else b for b in others)
    OPERATIONS[operation].check(forms_of((a, *columns)))


@dataclass(frozen=True)
class Outcome:
    """Outcome of a task: a value or an error, the seconds it took, and its end time."""

    value: Any
    error: Exception | None
    seconds: float = 0.0
    end: float = 0.0
    side: str = ""  # the side that did it: "gpu", "cpu", or "" for an invalid system

    def get(self, index: int) -> Any:
        """Return the value, or raise the error with a note that names the system."""
        if self.error is None:
            return self.value
        self.error.add_note(f"raised by system {index} of hybrid.map")
        try:
            raise self.error
        finally:
            del self  # an exception keeps this frame, and must not keep the exception's owner alive


def attempt(function: Callable[..., Any], arrays: tuple[Float32, ...], clock: Clock, side: str) -> Outcome:
    """Run a task, and time it."""
    start = clock()
    try:
        value, error = function(*arrays), None
    except Exception as raised:
        value, error = None, raised.with_traceback(None)  # whose frames hold textures
    end = clock()
    return Outcome(value, error, end - start, end, side)


class Queued:
    """Future result of a task on the GPU side, one of a number of `devices` that each run a task in its time."""

    def __init__(self, task: Task, pending: Pending, devices: int = 1) -> None:
        self.task, self._pending, self._devices = task, pending, devices
        self.done, self.cancel = pending.done, pending.cancel  # cancelled is only what has not begun

    def outcome(self) -> Outcome:
        """Wait for the outcome."""
        try:
            outcome: Outcome = self._pending.result()
        except (CoprocessorError, CancelledError) as error:  # the worker died, or was closed
            lost = error if isinstance(error, CoprocessorError) else CoprocessorError(str(error))
            return Outcome(None, lost)
        return replace(outcome, seconds=outcome.seconds / self._devices)


class Gpu:
    """The GPU side: coprocessors, which upload, compute and read back while the caller continues.

    Each task goes to the one with the shortest queue. A task's time is divided by the number of devices: each of them
    runs one in that time.
    """

    def __init__(self, members: Sequence[Coprocessor], clock: Clock) -> None:
        self._members, self._clock = members, clock
        self._given: list[deque[Queued]] = [deque() for _ in members]

    def start(self, task: Task) -> Queued:
        """Start a task; raises CoprocessorError if none is accepted any more."""
        for given in self._given:
            while given and given[0].done():
                given.popleft()
        number = min(range(len(self._members)), key=lambda one: len(self._given[one]))
        function = getattr(linalg, task.operation)
        pending = self._members[number].submit(attempt, function, task.arrays, self._clock, "gpu")
        self._given[number].append(Queued(task, pending, len(self._members)))
        return self._given[number][-1]

    def busy(self) -> bool:
        """Whether one of them has unfinished work."""
        return any(given and not given[-1].done() for given in self._given)


class Cpu:
    """The CPU side: LAPACK, with all threads of `for_blas`, less one while the GPU is `busy`."""

    def __init__(self, clock: Clock, busy: Callable[[], bool] = lambda: False) -> None:
        self._clock = clock
        self._busy = busy

    def can(self, operation: str) -> bool:
        """Whether it implements the operation."""
        return host.counterpart(operation) is not None

    def run(self, task: Task) -> Outcome:
        """Run a task that it `can` do."""
        function = host.counterpart(task.operation)
        assert function is not None
        with cores.for_blas() if self._busy() else nullcontext():
            return attempt(function, task.arrays, self._clock, "cpu")


def measure_pace(task: Task, gpu: Gpu, cpu: Cpu, clock: Clock) -> Pace:
    """Measure the time of a task on either side, alone and together: the short benchmark of equation 4.46.

    The first times are not used: they include compilation, and low clock rates.
    """
    alone = _alone(task, gpu, cpu, clock)
    if _hopeless(alone):
        return alone
    count = min(MOST_AHEAD, math.ceil(alone.cpu / alone.gpu) + 1)
    tickets = [gpu.start(task) for _ in range(count)]
    cpu_times: list[float] = []
    while not cpu_times or not tickets[-1].done():
        cpu_times.append(cpu.run(task).seconds)
    gpu_times = [ticket.outcome().seconds for ticket in tickets]
    return Pace(alone.gpu, alone.cpu, sum(gpu_times) / len(gpu_times), sum(cpu_times) / len(cpu_times))


def _alone(task: Task, gpu: Gpu, cpu: Cpu, clock: Clock) -> Pace:
    cpu.run(task)
    cpu_seconds = min(cpu.run(task).seconds for _ in range(2))
    gpu_times = [gpu.start(task).outcome().seconds]
    start = clock()
    while len(gpu_times) < 3 or (len(gpu_times) < 10 and clock() - start < WARM):
        gpu_times.append(gpu.start(task).outcome().seconds)
        if _hopeless(Pace(gpu_times[-1], cpu_seconds, gpu_times[-1], cpu_seconds)) and gpu_times[-1] > WARM:
            break  # further runs hardly warm it up
    gpu_seconds = min(gpu_times[-2:])
    shortest = 1e-9  # for clocks that return 0
    times = max(gpu_seconds, shortest), max(cpu_seconds, shortest)
    return Pace(*times, *times)


def _hopeless(alone: Pace) -> bool:
    """Whether both sides together would not be faster by `GAIN` even without contention."""
    return max(alone.gpu / alone.cpu, alone.cpu / alone.gpu) > 1 / (GAIN - 1)


def check_shared(operation: str) -> None:
    """Raise for an operation that the CPU side does not implement."""
    one_of("hybrid.map: op", operation, SHARED)
