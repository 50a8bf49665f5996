"""Verify, then time, every variant of every operation on this device.

    python -m benchmarks [--quick] [--sizes 256 512 ...] [--operations matmul,plu,...] [--output DIR]

For each case of `benchmarks.cases`: the result is judged by `glla.testing` first. Only then it is timed: GPU-resident,
end to end and cold, beside the CPU's fastest way to do the same and beside the usual call (`glla.lab.peers`), as a
fraction of the ceilings that the same run has measured. The figures go to DIR/<renderer>/<UTC date-time>.json, a table
to the screen, progress to stderr. The exit status is 1 if any result was wrong, and 3 if the machine was too busy: then
the file holds what was measured before, and says so, and the README does not show it. With --tolerate-busy such a run
goes on to its end, and is marked alike.

Needs NumPy, SciPy, moderngl and glfw; rich, if it is there, draws the table.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.cases import OPERATIONS, USUAL, select
from benchmarks.measure import Run, noisy
from glla import Device
from glla.lab import ceilings, machine
from glla.lab.bench import EFFORTS
from glla.lab.peers import BusyError
from glla.lab.samples import NOISY

# With these a cold start finds nothing that the driver kept on the disk. They are read when a context is made.
NO_SHADER_CACHE = {"__GL_SHADER_DISK_CACHE": "0", "MESA_SHADER_CACHE_DISABLE": "true"}

ENVIRONMENT = (*NO_SHADER_CACHE, "GLLA_DEBUG", "LP_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Environment variables that change the figures."""

BUSY = 3
"""Exit status of a run that was given up because the machine was busy."""

SIZES = {  # (software, quick)
    (False, False): (256, 512, 1024, 2048, 4096),
    (False, True): (256, 1024),
    (True, False): (64, 128, 256, 512),
    (True, True): (64, 256),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; return the exit status."""
    options = _parser().parse_args(arguments)
    os.environ["GLLA_TUNING"] = "off"  # figures of the defaults, which every user has
    if options.no_shader_cache:
        os.environ.update(NO_SHADER_CACHE)
    open_device = partial(Device, options.backend, options.index, options.software)
    start = time.perf_counter()
    watch = machine.Watch()
    with open_device() as device:
        info = device.info
        _progress(f"ceilings of {info.renderer}")
        measured = ceilings.report(device, options.quick)
    kind = (info.software, options.quick)
    sizes = options.sizes or SIZES[kind]
    fma = measured["ceilings"]["fragment_fma"]["value"]
    run = Run(open_device, EFFORTS[kind], fma, options.tolerate_busy, _progress)
    cases = list(select(options.operations, sizes, info.software, info.limits))
    records: list[dict[str, Any]] = []
    given_up = ""
    try:
        for _, group in groupby(cases, key=lambda case: (case.operation, case.n)):
            began = time.perf_counter()
            found = run.measure_all(list(group))
            records += found
            for record in found:
                _progress(_line(record))
            _progress(f"{len(records)} of {len(cases)} cases ({time.perf_counter() - began:.1f} s)")
    except BusyError as error:
        given_up = str(error)
    run.settle(records)
    data = {
        **report.about(info, options.commit, ENVIRONMENT, watch),
        "quick": options.quick,
        "busy": [*run.beside.troubles, *([given_up] if given_up else [])],
        "sizes": list(sizes),
        "seconds": round(time.perf_counter() - start, 1),
        "ceilings": measured,
        "peers": run.peers_as_dict(),
        "cases": records,
    }
    path = report.save(data, options.output)
    failed = sum(not record["ok"] for record in records)
    _show(data, path, failed)
    return BUSY if given_up else 1 if failed else 0


def _line(record: dict[str, Any]) -> str:
    """Write what became of a case."""
    variant = f"[{record['variant']}]" if record["variant"] else ""
    word = f"{record['gflops']:.4g} GFLOP/s" if record["ok"] else f"FAILED: {record['verdict']['detail']}"
    return f"  {record['operation']}{variant} n = {record['n']}: {word}"


def _show(data: dict[str, Any], path: Path, failed: int) -> None:
    print(ceilings.table(data["ceilings"]))
    report.show(data["cases"])
    report.show_peers(data["peers"])
    for text in report.warnings(data):
        print(f"WARNING: {text}")
    varied, count = sum(record["ok"] and noisy(record) for record in data["cases"]), len(data["cases"])
    if varied:
        print(f"WARNING: {varied} of {count} cases have a timing whose quartiles are more than {NOISY} times apart")
    print(machine.written(data["machine"]))
    wrong = f"{failed} of {len(data['cases'])} results FAILED" if failed else "every result was verified"
    print(f"{wrong}; {data['cores']} CPU cores, commit {data['commit']}, {data['seconds']} s; {path}")


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Verify glla, then time it.")
    parser.add_argument("--quick", action="store_true", help="few sizes, few repeats")
    parser.add_argument("--sizes", type=report.whole_number, nargs="+", metavar="N", help="orders of the matrices")
    parser.add_argument(
        "--operations", type=report.some_of(OPERATIONS), default=list(USUAL), metavar="NAMES",
        help=f"some of {','.join(OPERATIONS)} ({','.join(USUAL)})",
    )  # fmt: skip
    parser.add_argument(
        "--no-shader-cache", action="store_true",
        help="cold starts compile everything, instead of what the driver has not kept on the disk",
    )  # fmt: skip
    parser.add_argument(
        "--tolerate-busy", action="store_true",
        help="go on where repeated figures of a peer disagree, and mark the results as of a busy machine",
    )  # fmt: skip
    report.add_options(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
