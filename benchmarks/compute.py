"""Why does `compute_tiled` fall from 28 to 7 TFLOP/s between n = 2048 and 4096? An experiment that decides.

    python -m benchmarks.compute [--sizes 2048 2560 ...] [--repeats 40] [--idle 1.0] [--variant NAME] [--output DIR]

What is known (NVIDIA H200, `benchmarks/results`): at n = 4096 nine repeats took 4.44 to 19.0 ms, median 18.8, on
2026-11-21, and 13.5 to 18.0 ms, median 13.6, the day before; the cold runs, compilation included, took only 5 ms longer
than those of n = 2048. 4.44 ms are 30.9 TFLOP/s, more than the 28.3 at n = 2048. So the shader itself does not fall:
not by the cache (50 MB of L2, 64 MB for each operand: even if each tile came from memory, 8.6 GB at the 4.8 TB/s of the
data sheet would take 1.8 ms), nor by its occupancy, which is the same for each repeat. Something slows down most
repeats. The candidates, and what would show them here:

- the clock, after an idle time: the first repeats of the history "idle" are slow, later ones fast;
- the clock, throttled under load: later repeats are slow, the clock falls, and zeros, which take less power, do not;
- memory for the result: "fresh result" is slow and the others are not; or wall time is slow, and the GPU's is not;
- transfers before, as in `python -m benchmarks`: only "after transfers" is slow;
- n itself, by bank or cache-set conflicts of a power of two: 4096 is slow, 4064 and 4128 are not; by the cache after
  all: the *fastest* repeat falls from the n on at which the operands leave the L2 (n = 2508: 2 x 25 MB).

For each size and history all repeats are timed, each by the wall clock and by the GPU's own (timestamps before and
after; none on a software rasteriser). Where there is `nvidia-smi`, clock, power and the reasons for a lower clock are
read every 20 ms meanwhile. Everything goes to DIR/<renderer>/compute/<UTC date-time>.json, a table to the screen.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

import glla
from benchmarks import report
from glla import Device, testing
from glla.gl import GPUClock
from glla.lab import bench, machine
from glla.operations import ceilings, matmul
from glla.passes import Plan, resident

SIZES = (2048, 2560, 3072, 3584, 4064, 4096, 4128, 5120)
SEED = 2007
BUSY = 0.5
"""Seconds of fragment work that bring the clock up."""

QUERY = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu", "clocks_event_reasons.active")
PERIOD = 20
"""Milliseconds between two readings of `nvidia-smi`."""


@dataclass
class Sensors:
    """What `nvidia-smi` reads while something runs: (seconds of `time.perf_counter`, one text for each of `QUERY`)."""

    readings: list[tuple[float, list[str]]] = field(default_factory=list)

    def between(self, start: float, end: float) -> list[list[str]]:
        """Give the readings of a span of time."""
        return [values for when, values in self.readings if start <= when <= end]


@contextlib.contextmanager
def sensors() -> Iterator[Sensors]:
    """Read the GPU's clock and power in the block; nothing without `nvidia-smi`."""
    found = Sensors()
    program = shutil.which("nvidia-smi")
    if program is None:
        yield found
        return
    command = [program, f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader,nounits", f"-lms={PERIOD}", "-i", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                found.readings.append((time.perf_counter(), [part.strip() for part in line.split(",")]))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            yield found
        finally:
            process.terminate()
            reader.join()


class Subject:
    """A product of one size on a device, and what can happen before it is timed.

    Parameters
    ----------
    device : Device
        Where.
    variant : str
        Of the product.
    n : int
        Order of the matrices.
    idle : float
        Seconds without work in the history "idle".
    """

    def __init__(self, device: Device, variant: str, n: int, idle: float) -> None:
        self.device, self.variant, self.n, self.idle = device, variant, n, idle
        rng = np.random.default_rng(SEED + n)
        self.arrays = testing.normal(n, n, rng), testing.normal(n, n, rng)
        self.plan = matmul.plan(resident((n, n), (n, n)), device.limits, variant=variant)
        self.operands = {name: device.upload(array) for name, array in zip("AB", self.arrays, strict=True)}
        zeros = np.zeros((n, n), dtype=np.float32)
        self.zeros = {name: device.upload(zeros) for name in "AB"}
        self.clock: GPUClock | None = device.gpu_clock()
        found = device.download(self.run(self.operands)["C"], (n, n))
        self.verdict = testing.judge_product(found, *self.arrays)

    def run(self, operands: dict[str, Any]) -> Any:
        """Enqueue the product."""
        return self.device.run(self.plan, **operands)

    def rest(self) -> None:
        """Let the GPU idle."""
        self.device.finish()
        time.sleep(self.idle)

    def transfer(self) -> None:
        """Multiply from NumPy to NumPy, as the benchmark does before it times what is resident."""
        for _ in range(4):
            glla.matmul(*self.arrays, variant=self.variant, device=self.device)

    def draw(self) -> None:
        """Have fragment shaders work, which reach a part of the chip only."""
        rng = np.random.default_rng(SEED)
        coefficients = self.device.write_texels(rng.uniform(0.5, 1, (ceilings.SIDE, ceilings.SIDE, 4)).astype("f4"))
        plan: Plan = ceilings.arithmetic((512, 512), 4, 4)
        end = time.perf_counter() + (0.0 if self.device.info.software else BUSY)
        while time.perf_counter() < end:
            self.device.run(plan, coefficients=coefficients)
            self.device.finish()

    def histories(self) -> dict[str, tuple[Callable[[], None], dict[str, Any], bool]]:
        """Name -> (what happens before, operands, whether each repeat gets a result texture that is new)."""
        return {
            "idle": (self.rest, self.operands, False),
            "idle, zeros": (self.rest, self.zeros, False),
            "after fragments": (self.draw, self.operands, False),
            "after transfers": (self.transfer, self.operands, False),
            "fresh result": (self.rest, self.operands, True),
        }

    def once(self, operands: dict[str, Any], fresh: bool) -> tuple[float, float | None]:
        """Time one product: seconds by the wall clock, and by the GPU's."""
        device = self.device
        if fresh:
            device.free()
        if self.clock is None:
            return bench.clock(lambda: self.run(operands), device)[0], None
        return bench.both_clocks(lambda: self.run(operands), device, self.clock)

    def measure(self, history: str, repeats: int, read: Sensors) -> dict[str, Any]:
        """Time the repeats of a history."""
        before, operands, fresh = self.histories()[history]
        before()
        start = time.perf_counter()
        times = [self.once(operands, fresh) for _ in range(repeats)]
        end = time.perf_counter()
        return {
            "n": self.n,
            "history": history,
            "flops": self.plan.flops,
            "wall_seconds": [wall for wall, _ in times],
            "gpu_seconds": None if self.clock is None else [gpu for _, gpu in times],
            "sensors": read.between(start, end),
        }


def line(record: dict[str, Any]) -> str:
    """Write a record: first, fastest, median and slowest repeat, and the clock."""
    times = record["gpu_seconds"] or record["wall_seconds"]
    fastest, middle = min(times), median(times)
    clocks = [float(values[0]) for values in record["sensors"] if values[0].replace(".", "").isdigit()]
    reasons = sorted({values[-1] for values in record["sensors"]})
    figures = (times[0], fastest, middle, max(times), median(record["wall_seconds"]))
    rates = (record["flops"] / fastest / 1e12, record["flops"] / middle / 1e12)
    clock = f"{min(clocks):.0f}-{max(clocks):.0f} MHz" if clocks else "-"
    return (
        f"{record['n']:6d}  {record['history']:16}"
        + "".join(f"{1e3 * seconds:10.3f}" for seconds in figures)
        + "".join(f"{rate:10.4g}" for rate in rates)
        + f"  {clock} {' '.join(reasons)}"
    )


HEAD = (
    f"{'n':>6}  {'history':16}"
    + "".join(f"{name:>10}" for name in ("first", "fastest", "median", "slowest", "wall"))
    + f"{'fastest':>10}{'median':>10}  SM clock, reasons for a lower one\n"
    + f"{'':24}"
    + "".join(f"{name:>10}" for name in ("ms", "ms", "ms", "ms", "ms", "TFLOP/s", "TFLOP/s"))
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiment; return the exit status."""
    options = _parser().parse_args(arguments)
    records: list[dict[str, Any]] = []
    wrong = 0
    watch = machine.Watch()
    with Device(options.backend, options.index, options.software) as device, sensors() as read:
        lacking = matmul.VARIANTS[options.variant].lacks(device.limits)
        if lacking:
            print(f"compute: {options.variant} cannot run here: {lacking}", file=sys.stderr)
            return 2
        info = device.info
        print(HEAD, flush=True)
        for n in options.sizes:
            subject = Subject(device, options.variant, n, options.idle)
            if not subject.verdict.ok:
                wrong += 1
                print(f"n = {n}: {subject.verdict}", file=sys.stderr)
                continue
            for history in subject.histories():
                records.append(subject.measure(history, options.repeats, read))
                print(line(records[-1]), flush=True)
            del subject
            device.free()
    data = {
        **report.about(info, options.commit, watch=watch),
        "variant": options.variant,
        "idle_seconds": options.idle,
        "sensors": QUERY,
        "records": records,
    }
    print(f"{info.renderer}; {report.save(data, options.output, 'compute')}")
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compute", description="What slows compute_tiled down?")
    parser.add_argument("--sizes", type=report.whole_number, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--repeats", type=report.whole_number, default=40, help="of each history (40)")
    parser.add_argument("--idle", type=float, default=1.0, metavar="S", help="seconds without work before (1.0)")
    parser.add_argument("--variant", choices=tuple(matmul.VARIANTS), default="compute_tiled", help="(compute_tiled)")
    report.add_options(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
