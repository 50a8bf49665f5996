"""Verify a case, then time it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks.cases import OPERATIONS, Case, Operation
from glla import Device
from glla.testing import Verdict


@dataclass(frozen=True)
class Effort:
    """How long to time.

    Attributes
    ----------
    repeats : int
        Repeats wanted; their median counts.
    fewest : int
        Repeats done even if they take long.
    seconds : float
        More than `fewest` only as long as all together take less.
    warm : float
        Seconds of the same work before a GPU is timed: its clock falls while the CPU verifies.
    """

    repeats: int
    fewest: int
    seconds: float
    warm: float


EFFORTS = {  # (software, quick)
    (True, True): Effort(repeats=5, fewest=3, seconds=0.1, warm=0.0),
    (True, False): Effort(repeats=7, fewest=3, seconds=2.0, warm=0.0),
    (False, True): Effort(repeats=5, fewest=3, seconds=0.1, warm=0.2),
    (False, False): Effort(repeats=9, fewest=2, seconds=1.0, warm=0.3),
}

SEED = 2007


@dataclass
class Bench:
    """Where, how long, and what was measured so far."""

    open_device: Callable[[], Device]
    effort: Effort
    fma: float  # GFLOP/s
    peers: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    thesis: dict[tuple[str, int], float] = field(default_factory=dict)

    def measure(self, case: Case) -> dict[str, Any]:
        """Verify a case and, if it is right, time it.

        A device of its own makes the first run a cold start: no plan is made yet, and no program, unless the driver
        keeps it on the disk. That run is judged; its time is kept only if it was right.

        Returns
        -------
        dict
            Plain data. A wrong result has ``ok`` False, and no time.
        """
        operation = OPERATIONS[case.operation]
        arrays = operation.operands(case.n, np.random.default_rng(SEED + case.n))
        record: dict[str, Any] = {
            "operation": case.operation,
            "variant": case.variant,
            "n": case.n,
            "flops": operation.flops(case.n),
        }
        with self.open_device() as device:
            try:
                self._measure(device, case, operation, arrays, record)
            except Exception as error:  # a case that cannot run is a failure, and no reason to lose the others
                record |= failure(f"{type(error).__name__}: {error}")
        return record

    def _measure(
        self, device: Device, case: Case, operation: Operation, arrays: tuple[Any, ...], record: dict[str, Any]
    ) -> None:
        end_to_end = partial(operation.end_to_end, device, arrays, case.variant)
        passes = device.stats().passes
        if operation.prepare is None:
            cold, result = _clock(device, end_to_end)
            passes = device.stats().passes - passes
            verdicts, run = [operation.judge(arrays, result)], None
        else:
            device.upload(arrays[0]).release()  # so that packing, which is not timed, is compiled
            start = time.perf_counter()
            plan = operation.build(device, case.n, case.variant) if operation.build else None
            building = time.perf_counter() - start
            work = operation.prepare(device, arrays, plan)
            passes, run = device.stats().passes, work.run
            seconds, result = _clock(device, run)
            cold = building + seconds
            passes = device.stats().passes - passes
            verdicts = [operation.judge(arrays, work.fetch(result)), operation.judge(arrays, end_to_end())]
        del result
        worst = max(verdicts, key=lambda verdict: (not verdict.ok, verdict.ratio))
        record |= {"ok": worst.ok, "verdict": _verdict(worst), "passes": passes}
        if worst.ok:
            record |= self._times(device, case, operation, arrays, run, end_to_end, cold)

    def _times(
        self,
        device: Device,
        case: Case,
        operation: Operation,
        arrays: tuple[Any, ...],
        run: Callable[[], Any] | None,
        end_to_end: Callable[[], Any],
        cold: float,
    ) -> dict[str, Any]:
        self._warm_up(device, end_to_end)
        whole = self._time(device, end_to_end)
        resident = self._time(device, run) if run else None
        peer = self._peer(case, operation, arrays)
        # What is only timed end to end is compared by that.
        seconds = (resident or whole)["seconds"]
        base = (case.operation, case.n)
        if case.variant == operation.thesis:
            self.thesis[base] = seconds
        rate = operation.flops(case.n) / seconds / 1e9
        return {
            "resident": resident,
            "end_to_end": whole,
            "cold_start": cold,
            "peer": peer,
            "gflops": rate,
            "fraction_of_fma": rate / self.fma,
            "ratio_to_peer": peer["seconds"] / seconds,
            "ratio_to_peer_end_to_end": peer["seconds"] / whole["seconds"],
            "ratio_to_thesis": self.thesis[base] / seconds if operation.thesis and base in self.thesis else None,
        }

    def _peer(self, case: Case, operation: Operation, arrays: tuple[Any, ...]) -> dict[str, Any]:
        """Time the peer, once for all variants."""
        key = (case.operation, case.n)
        if key not in self.peers:
            work = partial(operation.peer, *arrays)
            work()
            self.peers[key] = {"name": operation.peer_name, **self._time(None, work)}
        return self.peers[key]

    def _warm_up(self, device: Device, work: Callable[[], Any]) -> None:
        """Work for a while: a GPU's clock fell while the CPU judged the result."""
        end = time.perf_counter() + self.effort.warm
        while time.perf_counter() < end:
            _clock(device, work)

    def _time(self, device: Device | None, work: Callable[[], Any]) -> dict[str, Any]:
        """Time some work that has run before."""
        effort = self.effort
        times: list[float] = []
        while len(times) < effort.repeats and (len(times) < effort.fewest or sum(times) < effort.seconds):
            times.append(_clock(device, work)[0])
        return {"seconds": median(times), "fastest": min(times), "slowest": max(times), "repeats": len(times)}


def _clock(device: Device | None, work: Callable[[], Any]) -> tuple[float, Any]:
    """Run once: seconds until the device has finished, and the result."""
    if device is not None:
        device.finish()
    start = time.perf_counter()
    result = work()
    if device is not None:
        device.finish()
    return time.perf_counter() - start, result


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "error": float(verdict.error),
        "bound": float(verdict.bound),
        "suspicious": bool(verdict.suspicious),
        "detail": verdict.detail,
    }


def failure(detail: str) -> dict[str, Any]:
    """What a record says of a case that could not even be judged."""
    verdict = {"name": "", "error": float("inf"), "bound": 0.0, "suspicious": False, "detail": detail}
    return {"ok": False, "verdict": verdict, "passes": None}
