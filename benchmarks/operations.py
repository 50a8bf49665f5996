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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from benchmarks.cases import OPERATIONS, Case, select
from benchmarks.study import QUICK, SIZES, Data, listed, some
from glla.cli.options import opened
from glla.gl import Device
from glla.lab import ceilings, machine, peers, saved, show
from glla.lab.bench import EFFORTS, Bench, Beside, Effort
from glla.lab.measurement import Measurement
from glla.lab.peers import BusyError
from glla.lab.roofline import Roof
from glla.lab.samples import NOISY, Samples
from glla.lab.study import Report, option
from glla.lab.study import Run as Place
from glla.lab.table import aligned, milliseconds, quartiles

# With these a cold start finds nothing that the driver kept on the disk. They are read when a context is made.
NO_SHADER_CACHE = {"__GL_SHADER_DISK_CACHE": "0", "MESA_SHADER_CACHE_DISABLE": "true"}

ORDERS = {  # (software, quick)
    (False, False): (256, 512, 1024, 2048, 4096),
    (False, True): (256, 1024),
    (True, False): (64, 128, 256, 512),
    (True, True): (64, 256),
}


class Run:
    """What was measured so far.

    `open_device`: () -> a device of its own: its first run is a cold start, no plan is made yet, and no program, unless
    the driver keeps it on the disk. `effort`: how long to time. `roof`: ceilings of the device. `tolerant`: go on where
    a peer's figures disagree. `say`: takes a line about what goes on.
    """

    def __init__(
        self,
        open_device: Callable[[], Device],
        effort: Effort,
        roof: Roof,
        tolerant: bool = False,
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.open_device, self.effort, self.roof = open_device, effort, roof
        self.beside = Beside(effort.peer, tolerant=tolerant, say=say)

    def measure_all(self, cases: Sequence[Case]) -> list[Measurement]:
        """Measure all variants of a subject at one size.

        Raises BusyError: the peer's figures disagree, again and again.
        """
        subject, n = OPERATIONS[cases[0].operation], cases[0].n
        size, operands = subject.peer_size(n), subject.peer_operands(n)
        return list(self.beside.between(subject.peer, size, operands, lambda figure: self._measured(cases)))

    def _measured(self, cases: Sequence[Case]) -> Iterator[Measurement]:
        thesis = None
        for case in cases:
            one = self.measure(case)
            if case.variant and case.variant == OPERATIONS[case.operation].thesis:
                thesis = one.seconds
            yield replace(one, thesis_seconds=thesis)

    def measure(self, case: Case) -> Measurement:
        """Verify a case and, if it is right, time it."""
        subject = OPERATIONS[case.operation]
        arrays = subject.operands(case.n)
        values = {
            "operation": case.operation, "variant": case.variant, "size": case.n, "ways": {"key": key_of(case)},
            "cost": {"flops": subject.flops(arrays)}, "roof": self.roof,
        }  # fmt: skip
        with self.open_device() as device:
            made = partial(subject.prepare, device, arrays, case.variant)
            return Bench(device, self.effort).measure(values, made, partial(subject.judge, arrays))


def key_of(case: Case) -> str:
    """Key of the figure of a case's peer."""
    subject = OPERATIONS[case.operation]
    return subject.peer.at(subject.peer_size(case.n))


def measurements(run: Data) -> list[Measurement]:
    """Read the measurements of a run, each right one with the one figure of its peer."""
    return [
        replace(one, **_of_cpu(one, run["peers"][one.ways["key"]])) if one.ok else one
        for one in map(saved.measurement, run["records"])
    ]


def _of_cpu(one: Measurement, peer: Data) -> Data:
    shown = {role: peer[kind] for role, kind in (("peer", "best"), ("usual", "usual")) if peer[kind]}
    timed = {role: Samples.summarised(each) for role, each in shown.items()}
    words = {role: peers.described(each) for role, each in shown.items()}
    return {"timed": {**one.timed, **timed}, "ways": {**one.ways, "baseline": peer["name"], **words}}


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
    roof = Roof.of(measured["ceilings"])
    run = Run(partial(opened, options), EFFORTS[kind], roof, options.tolerate_busy, place.say)
    cases = list(select(options.operations, sizes, info.software, info.limits))
    records: list[Measurement] = []
    given_up = []
    try:
        for _, group in groupby(cases, key=lambda case: (case.operation, case.n)):
            found = run.measure_all(list(group))
            records += found
            for record in found:
                place.say(f"{line(record)}; {len(records)} of {len(cases)} cases")
    except BusyError as error:
        given_up = [str(error)]
    data = {
        "quick": options.quick, "busy": [*run.beside.troubles, *given_up], "sizes": list(sizes), "ceilings": measured,
        "peers": {key: figure.as_dict() for key, figure in run.beside.figures.items()},
        "records": list(map(saved.plain_record, records)),
    }  # fmt: skip
    records = measurements(data)
    return Report(text(data, records), data, all(one.ok for one in records) and not given_up)


def line(one: Measurement) -> str:
    """Write the outcome of a case."""
    word = f"{one.gflops:.4g} GFLOP/s" if one.ok else f"FAILED: {one.reason}"
    return f"{Case(one.operation, one.variant, one.size)}: {word}"


def text(data: Data, records: Sequence[Measurement]) -> str:
    """Write ceilings, cases and peers as tables, and the verdict."""
    varied = sum(any(samples.noisy for samples in one.timed.values()) for one in records)
    noise = f"WARNING: {varied} of {len(records)} cases have a timing whose quartiles are more than {NOISY} times apart"
    failed = [one for one in records if not one.ok]
    return "\n".join(
        [
            ceilings.table(data["ceilings"]),
            aligned(*of_variants(records)),
            show.LEGEND,
            *(f"FAILED {line(one)}" for one in failed),
            aligned(*of_peers(list(data["peers"].values()))),
            *([noise] if varied else []),
            machine.written(machine.describe()),
            f"{len(failed)} of {len(records)} results FAILED" if failed else "every result was verified",
        ]
    )


def of_variants(records: Sequence[Measurement]) -> tuple[list[str], list[list[str]]]:
    """Give headings and rows of measurements, as `glla compare` has them, each with its operation."""
    head, rows = show.laid_out([replace(one, variant=one.variant or "-") for one in records])
    return ["operation", *head], [[one.operation, *row] for one, row in zip(records, rows, strict=True)]


def of_peers(figures: Sequence[Data]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Give headings and a row for each peer and size: its fastest way, and the usual call."""
    head = ("peer", "size", *(word for way in ("fastest way to call it", "usual call") for word in (way, *TIMED)))
    return head, [
        (one["name"], one["size"], *_timed(peers.described(one["best"]), one["best"]),
         *(_timed(one["usual"]["way"], one["usual"]) if one["usual"] else "---"))
        for one in figures
    ]  # fmt: skip


TIMED = ("ms", "quartiles")


def _timed(way: str, one: Data) -> tuple[str, str, str]:
    return f"`{way}`", milliseconds(one["seconds"]), quartiles(Samples.summarised(one))


STUDY = listed("operations", _run, QUICK,
        SIZES,
        some("--operations", OPERATIONS),
        option("--no-shader-cache", action="store_true", help="cold starts compile everything"),
        option(
            "--tolerate-busy", action="store_true",
            help="go on where repeated figures of a peer disagree, and mark the results as of a busy machine",
        ),
)  # fmt: skip
