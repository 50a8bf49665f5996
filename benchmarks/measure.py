"""Verify a case, then time it, between two measurements of its peer.

The peer of an operation is timed at the start and at the end of each size, see `glla.lab.peers`, and every variant is
held against the one figure that comes of it. Where the two are too far apart the machine was busy with something else:
the size is measured again, and at last given up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import OPERATIONS, Case, Operation
from glla import Device
from glla.lab import peers
from glla.lab.peers import BusyError, Figure
from glla.lab.samples import Samples, is_noisy
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
    peer : peers.Effort
        How long to time the CPU, at either end of a size.
    """

    repeats: int
    fewest: int
    seconds: float
    warm: float
    peer: peers.Effort


QUICK = peers.Effort(seconds=0.05, warm=0.02)
EFFORTS = {  # (software, quick)
    (True, True): Effort(repeats=5, fewest=3, seconds=0.1, warm=0.0, peer=QUICK),
    (True, False): Effort(repeats=9, fewest=3, seconds=2.0, warm=0.0, peer=peers.Effort()),
    (False, True): Effort(repeats=5, fewest=3, seconds=0.1, warm=0.2, peer=QUICK),
    (False, False): Effort(repeats=9, fewest=3, seconds=1.0, warm=0.3, peer=peers.Effort()),
}

SEED = 2007

ATTEMPTS = 3
"""Times that a size is measured, until its peer's figures agree."""


@dataclass
class Bench:
    """Where, how long, and what was measured so far.

    Attributes
    ----------
    open_device : callable
        () -> a device of its own.
    effort : Effort
        How long to time.
    fma : float
        The fragment multiply-add ceiling, GFLOP/s.
    tolerant : bool
        Go on where a peer's figures disagree, and keep what is wrong in `troubles`.
    tell : callable
        Takes a line about what goes on.
    figures : dict
        The peers', by the name and the size of their work: operations that have a peer in common share its figure.
    troubles : list of str
        Which peers' figures disagree; empty unless `tolerant`.
    """

    open_device: Callable[[], Device]
    effort: Effort
    fma: float
    tolerant: bool = False
    tell: Callable[[str], object] = lambda text: None
    figures: dict[str, Figure] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    thesis: dict[tuple[str, int], float] = field(default_factory=dict)

    def measure_all(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """Measure all variants of an operation at one size, between two measurements of the peer.

        Raises
        ------
        BusyError
            The peer's figures disagree, `ATTEMPTS` times.
        """
        case = cases[0]
        operation = OPERATIONS[case.operation]
        arrays = operation.peer_operands(*operation.operands(case.n, np.random.default_rng(SEED + case.n)))
        key = peer_key(case)
        agreed = self.figures[key].blocks if key in self.figures else 0
        for attempt in range(1, ATTEMPTS + 1):
            if agreed:
                self.figures[key].keep(agreed)
            else:  # also what seemed fastest is chosen anew
                self.figures[key] = Figure(operation.peer, operation.peer_size(case.n), arrays, self.effort.peer)
            figure = self.figures[key]
            figure.time(arrays)
            records = [self.measure(one) for one in cases]
            figure.time(arrays)
            apart = figure.disagreement()
            if not apart:
                break
            if self.tolerant:
                self.troubles.append(apart)
                break
            self.tell(f"busy machine? {apart}; measured {attempt} of {ATTEMPTS} times")
        else:
            raise BusyError(
                f"benchmarks: a peer's figures must agree, got {apart}; the machine is busy with something else: "
                "let it come to rest, or mark the results as of a busy machine with --tolerate-busy"
            )
        best = figure.best
        self.tell(f"{figure.peer.name} {figure.size}: {1e3 * best.samples.median:.3g} ms ({best})")
        return records

    def settle(self, records: Sequence[dict[str, Any]]) -> None:
        """Hold every record against its peer: the one figure that all of its measurements came to."""
        told = {key: figure.told() for key, figure in self.figures.items()}
        for record in records:
            if record["ok"]:
                key = peer_key(Case(record["operation"], record["variant"], record["n"]))
                record |= beside(record, key, told[key])

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
            record |= self._times(device, case, operation, run, end_to_end, cold)

    def _times(
        self,
        device: Device,
        case: Case,
        operation: Operation,
        run: Callable[[], Any] | None,
        end_to_end: Callable[[], Any],
        cold: float,
    ) -> dict[str, Any]:
        self._warm_up(device, end_to_end)
        whole = self._time(device, end_to_end)
        if run:
            self._warm_up(device, run)  # again: between transfers a GPU idles
        resident = self._time(device, run) if run else None
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
            "gflops": rate,
            "fraction_of_fma": rate / self.fma,
            "ratio_to_thesis": self.thesis[base] / seconds if operation.thesis and base in self.thesis else None,
        }

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
        return Samples.of(times).as_dict()


def peer_key(case: Case) -> str:
    """Name and size of the peer's work: what has them in common has one figure in a run."""
    operation = OPERATIONS[case.operation]
    return f"{operation.peer.name}, {operation.peer_size(case.n)}"


def beside(record: dict[str, Any], key: str, peer: dict[str, Any]) -> dict[str, Any]:
    """What a record says of its peer, as `Figure.told` gives it: at its best, and as it is usually called."""
    whole = record["end_to_end"]["seconds"]
    seconds = (record["resident"] or record["end_to_end"])["seconds"]
    found: dict[str, Any] = {"peer": {"key": key, "name": peer["name"], **peers.brief(peer["best"])}}
    found["usual"] = peers.brief(peer["usual"])
    for name in ("peer", "usual"):
        found[f"ratio_to_{name}"] = found[name]["seconds"] / seconds
        found[f"ratio_to_{name}_end_to_end"] = found[name]["seconds"] / whole
    return found


def noisy(record: dict[str, Any]) -> bool:
    """Whether a timing of glla's or of a peer's varies too much within itself."""
    timed = [record[name] for name in ("resident", "end_to_end", "peer", "usual") if record.get(name)]
    return any(is_noisy(one["lower"], one["upper"]) for one in timed)


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
