"""What one process of `benchmarks.cluster` does; a line of JSON for each thing that is measured, so none is lost.

    mpiexec -n 2 python -m benchmarks.cluster_rank LINES '{"kind": "ranks", "n": 16384, "blocks": [512], "limit": 90}'

`ranks`: the ranks' parameters are measured, what they predict is written down, then a product and PLU are run, with
look-ahead and without, and checked. `several`: products and right-hand sides that one process cuts among its devices.
`thesis`: cells of the tables of the thesis's appendix A, n by subsize: PLU, and its messages alone.
A process that takes longer than its limit ends itself.
"""

from __future__ import annotations

import faulthandler
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from glla import cluster, testing
from glla.cluster.bench import entries, hpl_residual, measure, product_residual, send_all
from glla.gl import list_egl_devices
from glla.gl.clock import clock

TIMEOUT = 30.0
"""Seconds that a rank waits for a message: more than any step takes."""

SIDE = 8
"""Rows and columns of the corners of a product that are judged."""


class Lines:
    """The file that results are added to, by rank 0 alone."""

    def __init__(self, path: Path, first: bool) -> None:
        self._path, self._first = path, first

    def write(self, what: str, **noted: Any) -> None:
        """Add a line, with the time."""
        if self._first:
            line = json.dumps({"what": what, "at": datetime.now(UTC).isoformat(timespec="milliseconds"), **noted})
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


def _begun(lines_file: Path, grid: cluster.Grid) -> Lines:
    """Open the file, and write who the ranks are."""
    lines = Lines(lines_file, grid.rank == 0)
    with grid.operation():
        who = [json.loads(text) for text in grid.collect(json.dumps(grid.describe()).encode())]
    lines.write("who", ranks=who)
    return lines


def ranks(
    lines_file: Path, n: int, blocks: Sequence[int], shape: str | None = None, engine: str = "glla", repeats: int = 2,
    plu: bool = False,
) -> None:  # fmt: skip
    """Measure, predict, run, check, on all ranks; the product with the first of the blocks alone, or not (`plu`)."""
    with cluster.grid(shape=shape, engine=engine, timeout=TIMEOUT) as grid:
        lines = _begun(lines_file, grid)
        b = np.cos(np.arange(n, dtype=np.float64))
        asynchronous = grid.engine.asynchronous
        for nb in blocks:
            first = nb == blocks[0]
            ways = [True, False] if asynchronous and first and not plu else [asynchronous]
            parameters = measure(grid, n, nb)
            noted = _predicted(n, nb, grid.shape, ways, parameters)
            lines.write("predicted", nb=nb, parameters=asdict(parameters), seconds=noted)
            a = cluster.DistributedMatrix.from_function(grid, entries, (n, n), nb)
            lines.write("ready", gpu_memory=gpu_memory())
            if first and not plu:
                found, seconds = _timed(grid, lambda a=a: cluster.matmul(a, a), repeats)
                lines.write("product", nb=nb, **seconds, residual=product_residual(a, a, found))
                del found
            for way in ways:
                grid.look_ahead = way
                factors, seconds = _timed(grid, lambda a=a: cluster.lu_factor(a), repeats)
                x = cluster.lu_solve(factors, b)
                lines.write(_plu(way), nb=nb, **seconds, residual=hpl_residual(a, x, b))
                del factors
        lines.write("end", gpu_memory=gpu_memory())


def _plu(look_ahead: bool) -> str:
    return "PLU, look-ahead" if look_ahead else "PLU, no look-ahead"


def _predicted(
    n: int, nb: int, shape: tuple[int, int], ways: Sequence[bool], parameters: cluster.Parameters
) -> dict[str, float]:
    """Seconds that the simulation gives, with what was measured."""
    found = {"product": cluster.simulate(cluster.plan("matmul", n, nb, shape), parameters).seconds}
    for way in ways:
        found[_plu(way)] = cluster.simulate(cluster.plan("plu", n, nb, shape, look_ahead=way), parameters).seconds
    return found


def _timed(grid: cluster.Grid, work: Callable[[], Any], repeats: int) -> tuple[Any, dict[str, list[float]]]:
    """Run it some times; the last result, and the seconds of the slowest rank each time, by the clock and of its CPU.

    On a busy machine the second ones tell more, but where ranks wait for each other: then they poll.
    """
    times, found = list[Any](), None
    for _ in range(repeats):
        found = None  # makes room
        with grid.operation():
            pass  # all begin together
        before = time.process_time()
        seconds, found = clock(work)
        own = np.array([seconds, time.process_time() - before])
        with grid.operation():
            times.append(grid.total(own, largest=True).tolist())
    wall, cpu = (list(each) for each in zip(*times, strict=True))
    return found, {"seconds": wall, "cpu_seconds": cpu}


def thesis(lines_file: Path, cells: Sequence[tuple[int, int]], engine: str = "glla", repeats: int = 2) -> None:
    """PLU and its messages alone, for orders and blocks of appendix A."""
    with cluster.grid(engine=engine, timeout=TIMEOUT) as grid:
        lines = _begun(lines_file, grid)
        for n, nb in cells:
            a = cluster.DistributedMatrix.from_function(grid, entries, (n, n), nb)
            b = np.cos(np.arange(n, dtype=np.float64))
            factors, seconds = _timed(grid, lambda a=a: cluster.lu_factor(a), repeats)
            residual = hpl_residual(a, cluster.lu_solve(factors, b), b)
            network = [0.0]
            if grid.size > 1:
                network = _timed(grid, lambda n=n, nb=nb: send_all(grid, n, nb), repeats)[1]["seconds"]
            lines.write("cell", shape=[n, nb], **seconds, network=network, residual=residual)


def several(lines_file: Path, n: int, repeats: int = 2) -> None:
    """Products and right-hand sides, on all devices of this host, on two and on the first of them."""
    lines = Lines(lines_file, True)
    gpus: list[str | int] = [one.index for one in list_egl_devices() if not one.software]
    every = gpus if len(gpus) > 1 else (gpus or ["software"]) * 2
    rng = np.random.default_rng(2007)
    a, b = _uniform(rng, n, n), _uniform(rng, n, n)
    small = max(2, n // 4)
    system = _uniform(rng, small, small)
    for devices in (every[:count] for count in sorted({len(every), 2, 1}, reverse=True)):
        with glla.coprocessors(devices) as those:
            count = len(those)
            if count == len(every):
                lines.write("devices", devices=[one.info.renderer for one in those], names=devices)
            out = np.empty((n, n), dtype=np.float32)
            seconds = _repeated(lambda those=those, out=out: those.matmul(a, b, out=out).result(), repeats)
            lines.write("product", devices=count, shape=[n, n, n], seconds=seconds[1], **_judged_product(out, a, b))
            x, times = _repeated(lambda those=those: those.solve(system, b[:small]).result(), repeats)
            residual = _hpl(system, x[:, [0, -1]], b[:small, [0, -1]])
            lines.write("right-hand sides", devices=count, shape=[small, n], seconds=times, residual=residual)
            lines.write("memory", devices=count, gpu_memory=gpu_memory())


def _uniform(rng: np.random.Generator, m: int, n: int) -> NDArray[np.float32]:
    found = rng.random((m, n), dtype=np.float32)
    found *= 2
    found -= 1
    return found


def _repeated(work: Callable[[], Any], repeats: int) -> tuple[Any, list[float]]:
    times, results = zip(*(clock(work) for _ in range(repeats)), strict=True)
    return results[-1], list(times)


def _judged_product(c: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> dict[str, Any]:
    """Judge the corners of a product."""
    ends = slice(0, SIDE), slice(-SIDE, None)
    verdicts = [
        testing.judge_product(c[rows, columns].copy(), a[rows], b[:, columns]) for rows in ends for columns in ends
    ]
    worst = max(verdicts, key=lambda verdict: (not verdict.ok, verdict.ratio))
    return {"ok": worst.ok, "residual": worst.ratio}


def _hpl(a: NDArray[Any], x: NDArray[Any], b: NDArray[Any]) -> float:
    """HPL's residual, the worst of some columns."""
    wide, x, b = a.astype(np.float64), x.astype(np.float64), b.astype(np.float64)
    size = np.abs(wide).sum(axis=1).max() * np.abs(x).max(axis=0) + np.abs(b).max(axis=0)
    return float((np.abs(wide @ x - b).max(axis=0) / (2.0**-24 * size * len(a))).max())


def gpu_memory() -> list[int] | None:
    """MiB in use on each GPU of the host, whoever uses them; None without nvidia-smi."""
    if shutil.which("nvidia-smi") is None:
        return None
    asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        noted = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=True).stdout
        return [int(line) for line in noted.split()]
    except (subprocess.SubprocessError, ValueError):
        return None


KINDS = {"ranks": ranks, "thesis": thesis, "several": several}


def main(lines: str, work: str) -> None:
    """Do what is asked for, and end when its time is up."""
    given = json.loads(work)
    faulthandler.dump_traceback_later(given.pop("limit"), exit=True)
    KINDS[given.pop("kind")](Path(lines), **given)
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(*sys.argv[1:])
