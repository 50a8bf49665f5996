"""Where the seconds of a PLU on one rank go: the host's steps, the calls in the GPU's thread, the GPU by its own clock.

    python -m benchmarks.cluster_steps [--sizes 8192,16384] [--nb 256,512] [--repeats 2] [--seconds 80] [--output FILE]

For each size and each width of a block, with look-ahead and without, it prints a line of JSON: seconds of the best run;
what each kind of step took on the host, added up over the panels; for each kind of call in the GPU's thread how often
it was made, its seconds by the clock and of its CPU, and those of the GPU from its first pass to its last; of them
plans that were made ready and sets of textures that calls were bound to. Then what transfers, the panel on one and more
threads of BLAS, and the update of a panel at each DEPTH take alone. It ends when the time is up.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from cProfile import Profile
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from benchmarks.cluster import _numbers
from glla import cluster
from glla.cluster import engines, lapack, resident
from glla.cluster.engines import Gpu
from glla.cluster.grids import Grid
from glla.cluster.layout import Layout
from glla.cluster.model import Event
from glla.cluster.steps import Await, Receive, Send, Work
from glla.gl import default_device, runner
from glla.gl.clock import GPUClock
from glla.hybrid import cores
from glla.operations import matmul
from glla.passes import Plan
from glla.passes import resident as resident_forms

DEPTHS = (64, 96, 128)
"""Inner indices of a pass of the update that are tried."""


class Watch:
    """Sums of what was watched, by name: count, seconds by the clock, of the thread's CPU, of the GPU."""

    def __init__(self) -> None:
        self.clock: GPUClock | None = None
        self.profile: Profile | None = None
        self.loaded = 0.0
        """When the engine had the matrix, the last time."""
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.sums: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
        self._stamped: list[str] = []

    @contextmanager
    def of(self, name: str, stamps: bool = False) -> Iterator[None]:
        """Watch a block."""
        clocked = stamps and self.clock is not None
        if clocked:
            self._stamp()
            self._stamped.append(name)
        profile = self.profile if stamps else None
        start = time.perf_counter(), time.thread_time()
        if profile is not None:
            profile.enable()
        try:
            yield
        finally:
            if profile is not None:
                profile.disable()
            own = self.sums[name]
            own[0] += 1
            own[1] += time.perf_counter() - start[0]
            own[2] += time.thread_time() - start[1]
            if clocked:
                self._stamp()

    def _stamp(self) -> None:
        assert self.clock is not None
        with default_device().current():
            self.clock.stamp()

    def gpu(self) -> dict[str, float]:
        """Seconds of the GPU by name, and from its first pass to its last; in its thread."""
        if self.clock is None or not self._stamped:
            return {}
        with default_device().current():
            times = self.clock.read()
        found: dict[str, float] = defaultdict(float)
        for name, start, end in zip(self._stamped, times[::2], times[1::2], strict=True):
            found[name] += end - start
        found["from first to last"] = times[-1] - times[0]
        return dict(found)


watch = Watch()


class WatchedColumns(resident.GpuColumns):
    """Columns whose calls in the GPU's thread are watched."""

    def _attempt(self, function: Any, *args: Any) -> Any:
        try:
            with watch.of(function.__name__.strip("_"), stamps=True):
                return super()._attempt(function, *args)
        finally:
            if function.__name__ == "_load":
                watch.loaded = time.perf_counter()


@contextmanager
def watched() -> Iterator[None]:
    """Watch the engine's calls while the block runs."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(engines, "GpuColumns", WatchedColumns))
        for owner, name in ((runner.Runner, "_bind"), (runner, "prepare"), (resident._Fetched, "fetch")):
            stack.enter_context(mock.patch.object(owner, name, _watched(name, getattr(owner, name))))
        yield


def _watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **options: Any) -> Any:
        with watch.of(name.strip("_")):
            return function(*args, **options)

    return wrapper


@cache
def _values(n: int) -> NDArray[np.float32]:
    return np.random.default_rng(2007).random((n, n), dtype=np.float32) * 2 - 1


def factored(
    grid: Grid, a: cluster.DistributedMatrix, repeats: int, before: Callable[[], None] = lambda: None
) -> tuple[dict[str, Any], cluster.DistributedMatrix, NDArray[Any]]:
    """Factor a matrix some times; what is known of the best run, and the factors of the last one."""
    best, every = dict[str, Any](), list[float]()
    factors, piv = a, np.empty(0, dtype=np.int32)
    for _ in range(repeats):
        watch.clear()
        factors = a  # makes room
        before()
        events: list[Event] = []
        grid.events = events
        start = time.perf_counter(), time.process_time()
        factors, piv = cluster.lu_factor(a)
        seconds, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
        grid.events = None
        on_gpu = grid.engine._gpu.submit(watch.gpu).result() if isinstance(grid.engine, Gpu) else {}
        every.append(seconds)
        if not best or seconds < best["seconds"]:
            best = {
                "n": a.shape[0], "nb": a.layout.nb, "look_ahead": grid.look_ahead, "seconds": seconds, "cpu": cpu,
                **_of_host(events, start[0]), "gpu_clock": {name: round(one, 4) for name, one in on_gpu.items()},
                "calls": {name: [round(one, 4) for one in own] for name, own in watch.sums.items()},
            }  # fmt: skip
    return {**best, "every_run": [round(one, 4) for one in every]}, factors, piv


def _of_host(events: Sequence[Event], start: float) -> dict[str, Any]:
    """Seconds of the host's steps, added up; of each panel milliseconds that its steps took, and when L was there."""
    host: dict[str, float] = defaultdict(float)
    panels: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    there: dict[int, float] = {}
    for event in events:
        step = event.step
        if isinstance(step, Work) and step.engine:
            continue
        name = {Await: "wait for ", Receive: "receive ", Send: "send "}.get(type(step), "") + step.name
        if step.name in ("part", "total", "add"):
            continue
        host[name] += event.end - event.start
        panels[name][step.panel] += 1e3 * (event.end - event.start)
        if name in ("receive L", "pivots"):
            there[step.panel] = round(event.end - start, 4)
    return {
        "host": {name: round(one, 4) for name, one in host.items()},
        "panels_ms": {name: [round(one, 1) for one in own.values()] for name, own in panels.items()},
        "L_at": [there[panel] for panel in sorted(there)],
        "first_step_at": round(events[0].start - start, 4) if events else None,
        "last_step_at": round(max(event.end for event in events) - start, 4) if events else None,
    }


def _best(work: Callable[[], Any], repeats: int = 4) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def alone(n: int, nb: int) -> dict[str, Any]:
    """What the parts take alone, of a panel n x nb; in the GPU's thread."""
    device, columns = default_device(), np.zeros((nb, n), dtype=np.float32)
    found: dict[str, Any] = {"n": n, "nb": nb}

    def uploaded() -> None:
        device.upload(columns.T).release()
        device.finish()

    found["upload"] = _best(uploaded)
    texture = device.upload(columns)
    found["download"] = _best(lambda: device.download_later(texture, columns.shape).result())
    a, b, c = (device.upload(np.ones(shape, np.float32)) for shape in ((n, nb), (nb, n), (n, n)))
    for depth in DEPTHS:
        plan = matmul.plan(
            resident_forms((n, nb), (nb, n)), device.limits,
            variant="panel_broadcast", parameters=(("DEPTH", depth),), onto=True,
        )  # fmt: skip
        found[f"update, DEPTH {depth}"] = _updated(plan, {"A": a, "B": b, "C0": c})
    return found


def _updated(plan: Plan, operands: dict[str, Any]) -> dict[str, Any]:
    """Seconds of an update, those in which it is issued, and its rate."""
    device, issued = default_device(), 0.0

    def updated() -> None:
        nonlocal issued
        start = time.perf_counter()
        device.run(plan, **operands)["C"].release()
        issued = time.perf_counter() - start
        device.finish()

    seconds = _best(updated)
    return {"seconds": seconds, "issue": issued, "GFLOP/s": plan.cost.flops / seconds / 1e9, "steps": len(plan.steps)}


def panels(n: int, nb: int) -> dict[str, float]:
    """Seconds of a panel's factorisation by threads of BLAS."""
    from scipy.linalg import lapack as direct

    values = np.random.default_rng(1).standard_normal((nb, n)).astype(np.float32)
    found = {"as in a factorisation": _best(lambda: lapack.pivoted_columns(values.copy()))}
    threads = cores.control()
    for count in (1, 2, 4, 8) if threads is not None else ():
        if count <= cores.own_cores():
            with threads.limit(limits=count, user_api="blas"):
                found[f"{count} threads"] = _best(lambda: direct.sgetrf(values.T.copy(order="F"), overwrite_a=1))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_steps")
    parser.add_argument("--sizes", type=_numbers, default=[8192, 16384], metavar="N,N")
    parser.add_argument("--nb", type=_numbers, default=[256, 512], metavar="B,B")
    parser.add_argument("--repeats", type=report.whole_number, default=2)
    parser.add_argument("--seconds", type=float, default=80, metavar="S")
    parser.add_argument("--output", type=Path, metavar="FILE", help="lines go there, too")
    options = parser.parse_args(arguments)
    end, lines = time.monotonic() + options.seconds, []

    def say(what: str, figures: dict[str, Any]) -> None:
        lines.append(json.dumps({"what": what, **figures}))
        print(lines[-1], flush=True)
        if options.output is not None:
            options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")

    with watched(), cluster.grid() as grid:
        assert isinstance(grid.engine, Gpu)
        gpu = grid.engine._gpu
        watch.clock = gpu.submit(lambda: default_device().gpu_clock()).result()
        order = [(n, nb, way) for way in (True, False) for nb in options.nb for n in sorted(options.sizes)]
        for number, (n, nb, way) in enumerate(order):
            if number == len(options.nb) * len(options.sizes):
                for width in options.nb:
                    say("alone", gpu.submit(alone, max(options.sizes), width).result())
                    say("panels", panels(max(options.sizes), width))
            if time.monotonic() > end:
                say("not run", {"n": n, "nb": nb, "look_ahead": way})
                continue
            grid.look_ahead = way
            a = cluster.DistributedMatrix(grid, Layout((n, n), nb, grid.shape), _values(n))
            say("PLU", factored(grid, a, options.repeats)[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
