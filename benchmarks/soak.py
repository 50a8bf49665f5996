"""Random work on the queue, from several threads, for a long time: results must be right, and memory flat.

Each thread enqueues products, sums, systems, factorisations and determinants of matrices that it keeps for a while on
the device, and cancels, drops, times out and reads back at random. Whatever is read is judged: integers exactly, the
rest by the bounds of `glla.testing`. Progress goes to stderr, once in five seconds. Memory is flat if neither the
process nor the device holds more in the last quarter than in the second, but for a small allowance. An error, a wrong
result, growth, or a texture that is left at the end is a failure.
"""

from __future__ import annotations

import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import CancelledError
from statistics import median
from typing import Any

import numpy as np

from benchmarks.study import listed, queue
from glla import Coprocessor, Pending
from glla.errors import CoprocessorError
from glla.lab.study import Report, Run, Say, at_least, option
from glla.testing import judge_exact, judge_plu, judge_solve

SIZES = (1, 2, 3, 17, 32, 65, 96)
"""Orders of the matrices."""

KEPT = 12
"""The most results that a thread keeps for further work."""

ALLOWANCE = 16 * 2**20
"""Bytes by which memory may grow from the second to the last quarter, by fragmentation and caches that fill up. In ten
minutes it grew by 1.3 MB: ``benchmarks/results/nvidia-h200-pcie-sse2/soak/2026-11-20T233612Z.json``."""

LARGEST = 2.0**24
"""float32 holds every integer up to this one exactly."""


def resident_bytes() -> int:
    """Memory of this process now, in bytes; 0 where Linux's files are missing."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class Client(threading.Thread):
    """One thread's random work, and what came of it."""

    def __init__(self, gpu: Coprocessor, seed: int, stop: threading.Event) -> None:
        super().__init__(name=f"soak {seed}")
        self.gpu = gpu
        self.rng = np.random.default_rng(seed)
        self.stop = stop
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.kept: list[tuple[Pending, np.ndarray[Any, Any]]] = []
        self.work = [self.upload, self.upload, self.product, self.product, self.sum, self.read, self.read,
                     self.system, self.factors, self.determinant, self.cancel, self.drop, self.hurry]  # fmt: skip

    def run(self) -> None:
        """Work until asked to stop."""
        while not self.stop.is_set():
            step = self.work[self.rng.integers(len(self.work))]
            try:
                step()
            except (CancelledError, CoprocessorError) as error:  # it was cancelled, or what it needed
                if "cancelled" not in str(error):
                    self.problems.append(f"{step.__name__}: {error}")
                self.counts["of cancelled operands"] += 1
            except Exception as error:
                self.problems.append(f"{step.__name__}: {type(error).__name__}: {error}")
            self.counts[step.__name__] += 1
            del self.kept[:-KEPT]
        self.kept.clear()

    def integers(self, n: int) -> np.ndarray[Any, Any]:
        """Make a matrix of small integers."""
        return self.rng.integers(-2, 3, (n, n)).astype(np.float32)

    def pick(self) -> tuple[Pending, np.ndarray[Any, Any]]:
        """Choose a result that is kept, or make one."""
        if not self.kept:
            self.upload()
        return self.kept[self.rng.integers(len(self.kept))]

    def judge(self, what: str, verdict: Any) -> None:
        """Note a result that is wrong."""
        self.counts["judged"] += 1
        if not verdict.ok:
            self.problems.append(f"{what}: {verdict}")

    def upload(self) -> None:
        """Put a matrix onto the device."""
        value = self.integers(int(self.rng.choice(SIZES)))
        self.kept.append((self.gpu.asarray(value), value))

    def product(self) -> None:
        """Multiply what is kept, as long as it stays exact."""
        a, x = self.pick()
        y = self.integers(len(x))
        if len(x) * np.abs(x).max() * 2 < LARGEST:
            self.kept.append((a @ y, x @ y))

    def sum(self) -> None:
        """Add to what is kept."""
        a, x = self.pick()
        self.kept.append((a - 2 * a, x - 2 * x))

    def read(self) -> None:
        """Read back, and compare."""
        a, x = self.pick()
        self.judge("read", judge_exact(a.result(), x))

    def system(self) -> None:
        """Solve a system."""
        n = int(self.rng.choice(SIZES))
        a, b = self.integers(n) + 8 * np.eye(n, dtype=np.float32) * n**0.5, self.integers(n)
        self.judge("solve", judge_solve(a, self.gpu.solve(a, b).result(), b))

    def factors(self) -> None:
        """Factor, and take the result apart before it is there."""
        a = self.integers(int(self.rng.choice(SIZES)))
        parts = [part.prefetch() for part in self.gpu.plu(a)]
        self.judge("plu", judge_plu(a, *(part.numpy() for part in parts)))

    def determinant(self) -> None:
        """Compute what needs a read-back in between."""
        self.judge("det", judge_exact(np.asarray(self.gpu.det(np.eye(5) * 2).result()), np.float32(32)))

    def cancel(self) -> None:
        """Cancel what is kept, if it is not done."""
        self.counts["cancelled"] += self.kept.pop()[0].cancel() if self.kept else 0

    def drop(self) -> None:
        """Drop half of what is kept."""
        del self.kept[: len(self.kept) // 2]

    def hurry(self) -> None:
        """Wait for too short a time."""
        a, x = self.pick()
        try:
            self.judge("hurry", judge_exact((a + x).result(1e-4), x + x))
        except TimeoutError:
            self.counts["timed out"] += 1


def watch(gpu: Coprocessor, clients: Sequence[Client], seconds: float, say: Say) -> list[dict[str, float]]:
    """Take a sample once a second; print a line every five."""
    samples = []
    start, printed = time.perf_counter(), 0.0
    while (now := time.perf_counter() - start) < seconds:
        stats = gpu.stats()
        done = sum(sum(client.counts.values()) for client in clients)
        samples.append({
            "time": round(now, 2), "steps": done, "resident_bytes": resident_bytes(),
            "device_bytes": stats.bytes + stats.idle_bytes, "textures": stats.textures, "plans": stats.plans,
        })  # fmt: skip
        if now - printed >= 5:
            printed = now
            problems = sum(len(client.problems) for client in clients)
            memory, device = (samples[-1][key] / 2**20 for key in ("resident_bytes", "device_bytes"))
            say(
                f"of {seconds:.0f} s: {done} steps, {stats.plans} plans, {memory:.0f} MiB, device {device:.1f} MiB, "
                f"{stats.textures} textures, {problems} problems"
            )
        time.sleep(min(1.0, seconds / 20))
    return samples


def growth(samples: Sequence[dict[str, float]], key: str) -> float:
    """Bytes by which the last quarter's median is above the second's."""
    quarter = max(1, len(samples) // 4)
    second, last = samples[quarter : 2 * quarter] or samples, samples[-quarter:]
    return median(s[key] for s in last) - median(s[key] for s in second)


def _run(run: Run) -> Report:
    options, stop = run.options, threading.Event()
    with queue(options, capacity=32) as gpu:
        clients = [Client(gpu, seed, stop) for seed in range(options.threads)]
        for client in clients:
            client.start()
        try:
            samples = watch(gpu, clients, 60 * options.minutes, run.say)
        finally:
            stop.set()
            for client in clients:
                client.join()
        gc.collect()
        left = gpu.stats()
    counts: Counter[str] = sum((client.counts for client in clients), Counter())
    problems = [problem for client in clients for problem in client.problems]
    grown = {key: growth(samples, key) for key in ("resident_bytes", "device_bytes")}
    flat = all(value <= ALLOWANCE for value in grown.values())
    data = {
        "minutes": options.minutes, "threads": options.threads, "counts": dict(counts), "plans": left.plans,
        "passes": left.passes, "problems": problems[:100], "problem_count": len(problems),
        "textures_left": left.textures, "growth": grown, "flat": flat, "samples": samples,
    }  # fmt: skip
    said = (
        f"{left.plans} plans ({left.passes} passes), {counts['judged']} results judged, "
        f"{counts['cancelled']} cancelled, {counts['timed out']} timed out; "
        f"{len(problems)} problems, {left.textures} textures left; growth "
        f"{grown['resident_bytes'] / 2**20:.1f} MiB, device {grown['device_bytes'] / 2**20:.1f} MiB"
    )
    text = "\n".join([said, *(f"PROBLEM {problem}" for problem in problems[:10])])
    return Report(text, data, flat and not problems and not left.textures)


STUDY = listed(
    "soak",
    _run,
    option("--minutes", type=float, default=10.0, help="(10)"),
    option("--threads", type=at_least(1), default=4, help="that enqueue (4)"),
)
