"""Verify, then time, every variant of every operation on this device.

For each case of `benchmarks.cases`: the result is judged by `glla.testing` first. Only then it is timed: GPU-resident,
end to end and cold, beside the CPU's fastest way to do the same and beside the usual call (`glla.lab.peers`), as a
fraction of the ceilings that the same run has measured.

The peer of an operation is timed at the start and at the end of each size, see `glla.lab.bench.Beside`, and every
variant is held against the one figure that comes of it. Where the two are too far apart the machine was busy with
something else: the size is measured again, and at last the run is given up. Its file holds what was measured before,
and says so, and no table shows it. With --tolerate-busy such a run goes on to its end, and is marked alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from benchmarks.cases import OPERATIONS, USUAL, Case, select
from benchmarks.study import QUICK, SIZES, milliseconds, quartiles, some
from glla.cli.options import opened
from glla.gl import Device
from glla.lab import ceilings, machine, peers
from glla.lab.bench import EFFORTS, Bench, Beside, Effort, Timed, peer_key
from glla.lab.peers import BusyError
from glla.lab.samples import NOISY, Samples, is_noisy
from glla.lab.study import Report, Study, option
from glla.lab.study import Run as Place
from glla.lab.table import aligned
from glla.testing import Verdict

# With these a cold start finds nothing that the driver kept on the disk. They are read when a context is made.
NO_SHADER_CACHE = {"__GL_SHADER_DISK_CACHE": "0", "MESA_SHADER_CACHE_DISABLE": "true"}

ORDERS = {  # (software, quick)
    (False, False): (256, 512, 1024, 2048, 4096),
    (False, True): (256, 1024),
    (True, False): (64, 128, 256, 512),
    (True, True): (64, 256),
}

COLUMNS = (
    "operation", "variant", "n", "passes", "resident ms", "quartiles", "to end ms", "cold ms", "GFLOP/s", "of FMA",
    "peer ms", "quartiles", "usual ms", "x peer", "x usual", "x thesis", "error",
)  # fmt: skip
LEGEND = """\
ms: medians; resident: operands and result on the device; to end: from NumPy to NumPy; cold: the first run, plan and
programs new; peer: the CPU's fastest way; usual: what a user types
quartiles: half of the repeats lie between them, ms; of resident (of to end where there is no resident), and of peer
of FMA: of the fragment multiply-add ceiling of this run; x peer, x usual, x thesis: times as fast (resident) as these
error: of the bound that a verdict allows (glla.testing); a wrong result is not timed"""


class Run:
    """What was measured so far.

    `open_device`: () -> a device of its own: its first run is a cold start, no plan is made yet, and no program, unless
    the driver keeps it on the disk. `effort`: how long to time. `fma`: the fragment multiply-add ceiling, GFLOP/s.
    `tolerant`: go on where a peer's figures disagree. `say`: takes a line about what goes on.
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

        Raises BusyError: the peer's figures disagree, again and again.
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


# -- the report -------------------------------------------------------------------------------------------------------


def _run(place: Place) -> Report:
    """Measure all cases that are asked for."""
    options, info = place.options, place.device.info
    os.environ["GLLA_TUNING"] = "off"  # figures of the defaults, which every user has
    if options.no_shader_cache:
        os.environ.update(NO_SHADER_CACHE)
    place.say("ceilings")
    measured = ceilings.report(place.device, options.quick)
    kind = (info.software, options.quick)
    sizes = options.size or ORDERS[kind]
    fma = measured["ceilings"]["fragment_fma"]["value"]
    run = Run(partial(opened, options), EFFORTS[kind], fma, options.tolerate_busy, place.say)
    cases = list(select(options.operations, sizes, info.software, info.limits))
    records: list[dict[str, Any]] = []
    given_up = []
    try:
        for _, group in groupby(cases, key=lambda case: (case.operation, case.n)):
            found = run.measure_all(list(group))
            records += found
            for record in found:
                place.say(f"{line(record)}; {len(records)} of {len(cases)} cases")
    except BusyError as error:
        given_up = [str(error)]
    run.settle(records)
    data = {
        "quick": options.quick, "busy": [*run.beside.troubles, *given_up], "sizes": list(sizes), "ceilings": measured,
        "peers": run.peers_as_dict(), "cases": records,
    }  # fmt: skip
    failed = sum(not record["ok"] for record in records)
    return Report(text(data, failed), data, not failed and not given_up)


def line(record: dict[str, Any]) -> str:
    """Write the outcome of a case."""
    word = f"{record['gflops']:.4g} GFLOP/s" if record["ok"] else f"FAILED: {record['verdict']['detail']}"
    return f"{Case(record['operation'], record['variant'], record['n'])}: {word}"


def text(data: dict[str, Any], failed: int) -> str:
    """Write ceilings, cases and peers as tables, and the verdict."""
    cases = data["cases"]
    varied = sum(record["ok"] and noisy(record) for record in cases)
    noise = f"WARNING: {varied} of {len(cases)} cases have a timing whose quartiles are more than {NOISY} times apart"
    return "\n".join(
        [
            ceilings.table(data["ceilings"]),
            aligned(COLUMNS, list(map(cells, cases))),
            LEGEND,
            *(f"FAILED {line(record)}" for record in cases if not record["ok"]),
            *peer_lines(data["peers"]),
            *([noise] if varied else []),
            machine.written(machine.describe()),
            f"{failed} of {len(cases)} results FAILED" if failed else "every result was verified",
        ]
    )


def peer_lines(data: dict[str, Any]) -> list[str]:
    """Write a line for each peer and size: its fastest way, and the usual call."""
    lines = ["peers, at their best; usual call"] if data else []
    for key, one in data.items():
        usual = one["usual"]
        beside = "-" if usual is None else f"{usual['way']} {_timed(usual)}"
        lines.append(f"  {key}: {peers.described(one['best'])} {_timed(one['best'])}; {beside}")
    return lines


def _timed(one: dict[str, Any]) -> str:
    return f"{milliseconds(one['seconds'])} ms ({quartiles(one)})"


def cells(record: dict[str, Any]) -> tuple[str, ...]:
    """Write the columns of a case."""
    head = (record["operation"], record["variant"] or "-", str(record["n"]), _form(record["passes"], "d"))
    if not record["ok"]:
        return (*head, *("-" for _ in COLUMNS[len(head) : -1]), "FAILED")
    resident, whole, verdict, peer, usual = (
        record[name] for name in ("resident", "end_to_end", "verdict", "peer", "usual")
    )
    share = verdict["error"] / verdict["bound"] if verdict["bound"] else 0.0
    return (
        *head, milliseconds(resident and resident["seconds"]), quartiles(resident or whole),
        milliseconds(whole["seconds"]), milliseconds(record["cold_start"]),
        f"{record['gflops']:.3g}" if record["gflops"] < 100 else f"{record['gflops']:.0f}",
        f"{100 * record['fraction_of_fma']:.1f} %", milliseconds(peer["seconds"]), quartiles(peer),
        milliseconds(usual["seconds"]),
        *(_form(record[f"ratio_to_{name}"], ".3g") for name in ("peer", "usual", "thesis")), f"{share:.2g}",
    )  # fmt: skip


def _form(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


STUDY = Study(
    "operations",
    "Verify every variant of every operation, then time it beside the CPU",
    _run,
    (
        QUICK,
        SIZES,
        some("--operations", OPERATIONS, USUAL),
        option("--no-shader-cache", action="store_true", help="cold starts compile everything"),
        option(
            "--tolerate-busy", action="store_true",
            help="go on where repeated figures of a peer disagree, and mark the results as of a busy machine",
        ),
    ),
)  # fmt: skip
