"""Measure the cases on the lab's bench, between two measurements of their peer, and write them as plain data.

The peer of an operation is timed at the start and at the end of each size, see `glla.lab.bench.Beside`, and every
variant is held against the one figure that comes of it. Where the two are too far apart the machine was busy with
something else: the size is measured again, and at last given up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.cases import OPERATIONS, Case
from glla.gl import Device
from glla.lab import peers
from glla.lab.bench import Bench, Beside, Effort, Timed, peer_key
from glla.lab.samples import Samples, is_noisy
from glla.testing import Verdict


class Run:
    """What was measured so far.

    Parameters
    ----------
    open_device : callable
        () -> a device of its own: its first run is a cold start, no plan is made yet, and no program, unless the driver
        keeps it on the disk.
    effort : Effort
        How long to time.
    fma : float
        The fragment multiply-add ceiling, GFLOP/s.
    tolerant : bool
        Go on where a peer's figures disagree.
    say : callable
        Takes a line about what goes on.
    """

    def __init__(
        self,
        open_device: Callable[[], Device],
        effort: Effort,
        fma: float,
        tolerant: bool = False,
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.open_device, self.effort, self.fma = open_device, effort, fma
        self.beside = Beside(effort.peer, tolerant=tolerant, say=say)
        self._thesis: dict[tuple[str, int], float] = {}

    def measure_all(self, cases: Sequence[Case]) -> list[dict[str, Any]]:
        """Measure all variants of a subject at one size.

        Raises
        ------
        BusyError
            The peer's figures disagree, again and again.
        """
        subject, n = OPERATIONS[cases[0].operation], cases[0].n
        return self.beside.between(
            subject.peer, subject.peer_size(n), subject.peer_operands(n), lambda: [self.measure(one) for one in cases]
        )

    def settle(self, records: Sequence[dict[str, Any]]) -> None:
        """Hold every record against its peer: the one figure that all of its measurements came to."""
        known = self.peers_as_dict()
        for record in records:
            if record["ok"]:
                key = key_of(Case(record["operation"], record["variant"], record["n"]))
                record |= beside(record, key, known[key])

    def peers_as_dict(self) -> dict[str, Any]:
        """All figures of peers, as plain data."""
        return {key: figure.as_dict() for key, figure in self.beside.figures.items()}

    def measure(self, case: Case) -> dict[str, Any]:
        """Verify a case and, if it is right, time it.

        Returns
        -------
        dict
            Plain data. A wrong result has ``ok`` False, and no time.
        """
        subject = OPERATIONS[case.operation]
        record = {"operation": case.operation, "variant": case.variant, "n": case.n, "flops": subject.flops(case.n)}
        with self.open_device() as device:
            try:
                arrays = subject.operands(case.n)
                job = subject.prepare(device, arrays, case.variant)
                bench = Bench(device, self.effort)
                checked = bench.verify(job, partial(subject.judge, arrays))
                record |= {"ok": checked.verdict.ok, "verdict": _verdict(checked.verdict), "passes": checked.passes}
                if checked.verdict.ok:
                    record |= self._figures(case, bench.time(job), checked.cold, record["flops"])
            except Exception as error:  # a case that cannot run is a failure, and no reason to lose the others
                record |= failure(f"{type(error).__name__}: {error}")
        return record

    def _figures(self, case: Case, timed: Timed, cold: float, flops: int) -> dict[str, Any]:
        thesis, base = OPERATIONS[case.operation].thesis, (case.operation, case.n)
        if case.variant == thesis:
            self._thesis[base] = timed.seconds
        rate = flops / timed.seconds / 1e9
        return {
            "resident": _samples(timed.resident),
            "gpu": _samples(timed.gpu),
            "end_to_end": _samples(timed.end_to_end),
            "cold_start": cold,
            "gflops": rate,
            "fraction_of_fma": rate / self.fma,
            "ratio_to_thesis": self._thesis[base] / timed.seconds if thesis and base in self._thesis else None,
        }


def key_of(case: Case) -> str:
    """Key of the figure of a case's peer."""
    subject = OPERATIONS[case.operation]
    return peer_key(subject.peer, subject.peer_size(case.n))


def beside(record: dict[str, Any], key: str, peer: dict[str, Any]) -> dict[str, Any]:
    """What a record says of its peer, as `Figure.as_dict` gives it: at its best, and as it is usually called."""
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


def _samples(samples: Samples | None) -> dict[str, Any] | None:
    return None if samples is None else samples.as_dict()


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
