"""Does the CPU go on while the GPU works? NumPy and plain Python in the main thread, beside a busy queue.

For each kind of work on the queue (products; systems, of many small passes; products with their transfers) and on the
CPU (NumPy's product; a loop of plain Python), in turn, so that a machine that changes its mind does so for all:

- the rate of the CPU's work alone, and of the queue's alone while the main thread sleeps;
- both rates, side by side in one process: this is what a coprocessor is for;
- the CPU's rate with the same queue in *another process*, which shares the machine but not the interpreter lock: what
  is lost there as well (cores, caches, clock) is the machine's, the rest is the lock's.

A GPU leaves the cores alone but for the thread that drives it. A software rasteriser does not: it is given one core (it
draws in the worker's thread, LP_NUM_THREADS=0), and NumPy the others, in all measurements, so that they never compete
for one: `benchmarks.__main__` sets that before NumPy is loaded. It is a failure if NumPy keeps less than 90 % of its
rate.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from argparse import SUPPRESS, Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.study import DEVICE, Columns, laid_out, listed, newest, queue, some
from glla import Coprocessor, Pending
from glla.lab.study import Report, Run, at_least, option
from glla.lab.table import aligned, markdown

KEPT = 0.9
"""Fraction of its rate alone that NumPy must keep beside the queue."""

PYTHONS_INTERVAL = 0.005
"""Python's own switch interval, in seconds."""

AHEAD = 8
"""Calls that are kept waiting in the queue."""

SIZES = {
    True: {"product": 384, "systems": 96, "transfers": 256},
    False: {"product": 4096, "systems": 1024, "transfers": 2048},
}
"""Orders of the matrices on the queue, by kind of work; for a software rasteriser (True) and for a GPU (False)."""


# -- work on the queue ----------------------------------------------------------------------------------------------


class Feed:
    """Keeps a queue full: whenever a call is done, the worker enqueues the next one."""

    def __init__(self, gpu: Coprocessor, call: Callable[[], Pending]) -> None:
        self.gpu = gpu
        self.call = call
        self.done = 0
        self.going = False

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        """Keep the queue full in the block."""
        self.going = True
        for _ in range(AHEAD):
            self._enqueue()
        while self.done < AHEAD:  # the first ones compile
            time.sleep(0.01)
        try:
            yield
        finally:
            self.going = False
            self.gpu.finish()
            self.done = 0

    def _enqueue(self) -> None:
        self.call().add_done_callback(self._again)

    def _again(self, pending: Pending) -> None:
        self.done += 1
        if self.going:
            self._enqueue()


def feed(gpu: Coprocessor, work: str, size: int) -> Feed:
    """Make the feed of one kind of work."""
    rng = np.random.default_rng(2007)
    host = rng.standard_normal((size, size), dtype=np.float32) + 4 * size**0.5 * np.eye(size, dtype=np.float32)
    a, b = gpu.asarray(host), gpu.asarray(rng.standard_normal((size, 1), dtype=np.float32))
    calls: dict[str, Callable[[], Pending]] = {
        "product": lambda: gpu.matmul(a, a),
        "systems": lambda: gpu.solve(a, b),
        "transfers": lambda: gpu.matmul(host, host).prefetch(),
    }
    return Feed(gpu, calls[work])


# -- work on the CPU ------------------------------------------------------------------------------------------------


def python_loop() -> None:
    """Hold the interpreter lock all the time."""
    total = 0
    for number in range(20_000):
        total += number


MATRIX = np.random.default_rng(2007).standard_normal((512, 512), dtype=np.float32)
CPU_WORK: dict[str, Callable[[], object]] = {"numpy": partial(np.matmul, MATRIX, MATRIX), "python": python_loop}
"""NumPy gives up the interpreter lock while it multiplies."""


def rate(step: Callable[[], object], seconds: float) -> float:
    """Steps a second."""
    start = now = time.perf_counter()
    count = 0
    while now - start < seconds:
        step()
        count += 1
        now = time.perf_counter()
    return count / (now - start)


# -- measuring ------------------------------------------------------------------------------------------------------


def both(feed: Feed, step: Callable[[], object] | None, seconds: float) -> tuple[float, float]:
    """Rates of the CPU (0 if it sleeps) and the queue, side by side."""
    with feed.busy():
        before, start = feed.done, time.perf_counter()
        cpu = rate(step, seconds) if step else time.sleep(seconds) or 0.0
        return cpu, (feed.done - before) / (time.perf_counter() - start)


@contextlib.contextmanager
def neighbour(work: str, arguments: Sequence[str]) -> Iterator[None]:
    """Keep a queue full in another process."""
    command = [sys.executable, "-m", "benchmarks", "overlap", "--neighbour", work, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        if process.stdout.readline() != "busy\n":
            raise RuntimeError("overlap: the other process did not start; see its messages above")
        yield
        process.stdin.close()


def measure(options: Namespace, gpu: Coprocessor, work: str, size: int) -> list[dict[str, Any]]:
    """Measure one kind of work on the queue with each kind on the CPU."""
    fed = feed(gpu, work, size)
    both(fed, None, 0.1)  # compile
    found: dict[str, dict[str, list[float]]] = {
        name: {"cpu_alone": [], "gpu_alone": [], "cpu": [], "gpu": [], "cpu_beside_process": []} for name in CPU_WORK
    }
    for _ in range(options.rounds):
        for name, step in CPU_WORK.items():
            rates = found[name]
            rates["cpu_alone"].append(rate(step, options.seconds))
            rates["gpu_alone"].append(both(fed, None, options.seconds)[1])
            for key, value in zip(("cpu", "gpu"), both(fed, step, options.seconds), strict=True):
                rates[key].append(value)
    for name, step in CPU_WORK.items():
        with neighbour(work, _device_arguments(options)):
            found[name]["cpu_beside_process"] = [rate(step, options.seconds) for _ in range(options.rounds)]
    return [record(work, size, name, rates) for name, rates in found.items()]


def record(work: str, size: int, name: str, rates: dict[str, list[float]]) -> dict[str, Any]:
    """The figures of one pair; rates are steps a second."""
    middle = {key: median(values) for key, values in rates.items()}
    return {
        "queue": work,
        "n": size,
        "cpu": name,
        "cpu_kept": middle["cpu"] / middle["cpu_alone"],
        "cpu_kept_beside_process": middle["cpu_beside_process"] / middle["cpu_alone"],
        "gpu_kept": middle["gpu"] / middle["gpu_alone"],
        "rates": middle,
        "all_rates": rates,
    }


COLUMNS: Columns = {
    "on the queue": lambda row: row["queue"],
    "n": lambda row: str(row["n"]),
    "on the CPU": lambda row: row["cpu"],
    "CPU keeps": lambda row: f"{row['cpu_kept']:.0%}",
    "queue keeps": lambda row: f"{row['gpu_kept']:.0%}",
    "CPU beside another process": lambda row: f"{row['cpu_kept_beside_process']:.0%}",
}


def table(results: Path) -> str:
    """Give the Markdown of NumPy beside a busy queue, for each device that has it: complete runs, punctual or not."""
    runs = [
        run
        for wish in (False, True)
        for run in newest(
            results, "overlap", lambda run, wish=wish: {pair["queue"] for pair in run["pairs"]} >= SIZES[True].keys()
            and (run["switch_interval"] < PYTHONS_INTERVAL) == wish,
        )
    ]  # fmt: skip
    about: Columns = {**DEVICE, "interval us": lambda row: f"{1e6 * row['switch_interval']:.0f}"}
    rows = [
        {**run, **pair} for run in sorted(runs, key=lambda run: str(run["renderer"])) for pair in run["pairs"]
        if pair["cpu"] == "numpy"
    ]  # fmt: skip
    return markdown(*laid_out({**about, **COLUMNS}, rows))


def _device_arguments(options: Namespace) -> list[str]:
    given = {
        "--device": options.device, "--release-gil": options.release_gil, "--switch-interval": options.switch_interval,
    }  # fmt: skip
    arguments = [str(part) for name, value in given.items() if value is not None for part in (name, value)]
    return arguments + (["--punctual"] if options.punctual else [])


def _run(run: Run) -> Report:
    options = run.options
    if options.glthread:
        os.environ["mesa_glthread"] = "true"  # noqa: SIM112
    release_gil = {"auto": None, "yes": True, "no": False}[options.release_gil]
    with queue(
        options, capacity=2 * AHEAD, release_gil=release_gil, punctual=options.punctual,
        switch_interval=options.switch_interval,
    ) as gpu:  # fmt: skip
        interval, sizes = sys.getswitchinterval(), SIZES[gpu.info.software]
        if options.neighbour:
            with feed(gpu, options.neighbour, sizes[options.neighbour]).busy():
                print("busy", flush=True)
                sys.stdin.read()  # ends when the other process says so
            return Report("")
        records = []
        for work in options.work:
            for pair in measure(options, gpu, work, sizes[work]):
                records.append(pair)
                run.say(f"{work} beside {pair['cpu']}")
    data = {
        "switch_interval": interval, "release_gil": options.release_gil, "rounds": options.rounds,
        "seconds_each": options.seconds, "pairs": records,
    }  # fmt: skip
    kept = min(pair["cpu_kept"] for pair in records if pair["cpu"] == "numpy")
    said = f"NumPy keeps at least {100 * kept:.0f} % of its rate beside the queue"
    return Report("\n".join([aligned(*laid_out(COLUMNS, records)), said]), data, kept >= KEPT)


STUDY = listed(
    "overlap",
    _run,
    option("--seconds", type=float, default=2.0, help="of each measurement (2)"),
    option("--rounds", type=at_least(1), default=5, help="rounds, of whose counts the median is taken (5)"),
    some("--work", SIZES[True]),
    option("--release-gil", choices=("auto", "yes", "no"), default="auto", help="during draws (auto)"),
    option("--glthread", action="store_true", help="have Mesa issue GL calls in a thread of its own"),
    option("--punctual", action="store_true", help="as coprocessor(punctual=True)"),
    option("--switch-interval", type=float, metavar="S", help="as coprocessor(switch_interval=S)"),
    option("--neighbour", choices=list(SIZES[True]), help=SUPPRESS),
)
