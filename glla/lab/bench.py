"""The bench: one contender at one size, verified, then timed; and the CPU beside it.

`Bench.verify` runs it cold and has the result judged; `Bench.time` is for what was right, and keeps every sample, by
the wall clock and, where the device has one, by the GPU's own. `Beside` times the CPU before and after the contenders
of a size: where its two figures are too far apart, the machine was busy with something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np

from glla.errors import GllaError, LimitError
from glla.gl import Device, GPUClock
from glla.gl.clock import clock, warm_up
from glla.lab import peers, samples
from glla.lab.measurement import Measurement, judged
from glla.lab.operations import Arrays, Job
from glla.lab.peers import BusyError, Figure, Peer
from glla.lab.samples import Samples, repeated
from glla.testing import Verdict

Judge = Callable[[Any], Verdict]
T = TypeVar("T")
J = TypeVar("J", bound=Job)

SEED = 2007
"""Seed of the random matrices, unless another is given."""

ATTEMPTS = 3
"""Times that a size is measured at most, until its peer's figures agree."""


@dataclass(frozen=True)
class Effort(samples.Effort):
    """How long to time; a GPU is warmed up, as its clock falls while the CPU verifies."""

    most: int = 9
    seconds: float = 2.0
    warm: float = 0.0
    peer: samples.Effort = field(default_factory=samples.Effort)  # how long to time the CPU, at either end of a size


EFFORTS = {  # (software, quick)
    (True, True): Effort(most=5, seconds=0.1, peer=peers.QUICK),
    (True, False): Effort(),
    (False, True): Effort(most=5, seconds=0.1, warm=0.2, peer=peers.QUICK),
    (False, False): Effort(seconds=1.0, warm=0.3),
}


@dataclass(frozen=True)
class Verified:
    """Judged runs: cold, and end to end."""

    verdict: Verdict  # the worse one of the two
    found: Any  # the result that it is about
    cold: float  # seconds of the first run: building the plan, compiling, running
    passes: int  # passes of that run


class Bench:
    """Measures jobs on a device. `effort`: how long to time."""

    def __init__(self, device: Device, effort: Effort) -> None:
        self.device, self.effort = device, effort
        self._gpu = device.gpu_clock()

    def measure(
        self,
        values: Mapping[str, Any],
        make: Callable[[], J],
        judge: Judge,
        look: Callable[[J, Verified], Mapping[str, Any]] = lambda job, checked: {},
    ) -> Measurement:
        """Verify a job and, if it is right, time it; the measurement says whatever goes wrong.

        `values`: fields that are known before. `make`: makes the job ready. `look`: adds fields of a job that ran.
        """
        known: dict[str, Any] = {"cost": {}, "timed": {}, **values}
        try:
            job = make()
            checked = self.verify(job, judge)
            known |= {"cost": {"passes": checked.passes, **known["cost"]}, **judged(checked.verdict)}
            known |= look(job, checked)
            if known.get("status", "ok") == "ok":
                known |= {"timed": {**known["timed"], **self.time(job)}, "cold_seconds": checked.cold}
        except LimitError as error:
            known |= {"status": "skipped", "reason": str(error)}
        except Exception as error:  # what cannot run is no reason to lose the others
            words = str(error) if isinstance(error, GllaError) else f"{type(error).__name__}: {error}"
            known |= {"status": "failed", "reason": words}
        return Measurement(**known)

    def verify(self, job: Job, judge: Judge) -> Verified:
        """Run a job for the first time, resident and end to end, and judge both results.

        `job`: made just now, after `Device.forget` or on a new device, so that its first run is a cold start. `judge`:
        result -> `Verdict`.
        """
        passes = self.device.stats().passes
        seconds, result = clock(job.run or job.end_to_end, self.device.finish)
        passes = self.device.stats().passes - passes
        found = result if job.run is None else job.fetch(result)
        del result
        runs = [(judge(found), found)]
        again = found if job.run is None else job.end_to_end()
        if not same(found, again):  # where they agree, one judgement, which takes its time, serves both
            runs.append((judge(again), again))
        verdict, found = max(runs, key=lambda one: (not one[0].ok, one[0].ratio))
        return Verified(verdict, found, job.building + seconds, passes)

    def time(self, job: Job) -> dict[str, Samples]:
        """Time a verified job: samples by their roles, see `glla.lab.measurement.Measurement`.

        Resident runs are warmed up again: between transfers a GPU idles.
        """
        warm_up(job.end_to_end, self.effort.warm, self.device.finish)
        whole = self._repeated(job.end_to_end)
        if job.run is None:
            return {"ours": whole, "whole": whole}
        warm_up(job.run, self.effort.warm, self.device.finish)
        if self._gpu is None:
            return {"ours": self._repeated(job.run), "whole": whole}
        timed, both = partial(both_clocks, job.run, self.device, self._gpu), list[tuple[float, float]]()

        def once() -> float:
            both.append(timed())
            return both[-1][0]

        return {"ours": repeated(once, self.effort), "whole": whole, "gpu": Samples.of(gpu for _, gpu in both)}

    def median(self, work: Callable[[], Any], hopeless: float = np.inf) -> float:
        """Time some work that has run before, by its median; once only if that takes more than `hopeless` seconds."""
        first, _ = clock(work, self.device.finish)
        if first > hopeless:
            return first
        return Samples.of([first, *self._repeated(work).times]).median

    def _repeated(self, work: Callable[[], Any]) -> Samples:
        """Time some work that has run before."""
        return repeated(lambda: clock(work, self.device.finish)[0], self.effort)


def both_clocks(work: Callable[[], object], device: Device, gpu: GPUClock) -> tuple[float, float]:
    """Run once: seconds by the wall clock, and by the GPU's, from its first command to its last."""

    def stamped() -> object:
        gpu.stamp()
        result = work()
        gpu.stamp()
        return result  # is released when the clock has stopped

    with device.current():
        wall, _ = clock(stamped, device.finish)
        first, last = gpu.read()
    return wall, max(0.0, last - first)


def same(one: Any, other: Any) -> bool:
    """Whether two results agree bit for bit."""
    if isinstance(one, dict):
        return all(same(one[name], other[name]) for name in one)
    if isinstance(one, tuple):
        return all(map(same, one, other))
    return bool(np.array_equal(one, other))


@dataclass
class Beside:
    """The CPU's figures of a run."""

    effort: samples.Effort  # how long to time it, before and after the contenders
    package: str | None = None  # only this package's ways to call it
    tolerant: bool = False  # go on where its figures disagree, and keep what is wrong in `troubles`
    say: Callable[[str], object] = lambda text: None  # takes a line about what goes on
    # by the name and the size of the work: operations that have a peer in common share its figure
    figures: dict[str, Figure] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)  # which figures disagree; empty unless `tolerant`

    def between(self, peer: Peer, size: str, arrays: Arrays, work: Callable[[Figure], Iterable[T]]) -> Iterator[T]:
        """Give the results of the work at one size, done between two measurements of the peer; again, if they disagree.

        A tolerant one gives each result as it comes. Raises BusyError: they disagreed `ATTEMPTS` times.
        """
        key = peer.at(size)
        agreed = self.figures[key].blocks if key in self.figures else 0
        for attempt in range(1, ATTEMPTS + 1):
            figure, found = self._started(peer, size, arrays, agreed), list[T]()
            for one in work(figure):
                if self.tolerant:
                    yield one
                else:
                    found.append(one)
            figure.time(arrays)
            apart = figure.disagreement()
            if not apart or self.tolerant:
                self.troubles += [apart] if apart else []
                self.say(f"{key}: {1e3 * figure.best.samples.median:.3g} ms ({figure.best})")
                yield from found
                return
            self.say(f"busy machine? {apart}; measured {attempt} of {ATTEMPTS} times")
        raise BusyError(
            f"benchmarks: a peer's figures must agree, got {apart}; the machine is busy with something else: "
            "let it come to rest, or mark the results as of a busy machine with --tolerate-busy"
        )

    def _started(self, peer: Peer, size: str, arrays: Arrays, agreed: int) -> Figure:
        """Time a peer before the contenders: anew with its fastest candidates, or after blocks that agreed."""
        figure = self.figures[peer.at(size)] if agreed else Figure(peer, size, arrays, self.effort, self.package)
        figure.keep(agreed)
        figure.time(arrays)
        self.figures[peer.at(size)] = figure
        return figure
