"""Stream a product too large for the memory allowed, tile by tile: is it right, and what does the streaming cost.

    python -m benchmarks.tiled [--m 40000 --k 8192 --n 40000] [--max-bytes 4e9] [--resident 4096] [--output DIR]

In one run, on random float32 matrices:

- the rate of a product of order RESIDENT whose operands and result stay on the device, without a cap;
- `glla.matmul` from NumPy to NumPy on a device with the cap: the rate that a user sees, checks for NaN included;
- the streaming alone, overlapped as always, and once more step by step, waiting for the GPU after each: that tells how
  the time divides into upload, compute and read-back, and what the overlap hides.

Blocks of the results, at the corners, at the seams of the tiles and at random, are judged against float64, and the peak
of the device's memory against the cap. The figures go to DIR/<renderer>/tiled/<UTC date-time>.json, progress to stderr;
the exit status is 1 if anything was wrong. With --files DIR the operands and the result are mapped from files there.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from benchmarks import report
from glla import Device, testing
from glla.lab import machine
from glla.linalg import tiling
from glla.operations import tiles
from glla.operations.matmul import KERNEL

Array = NDArray[np.float32]

SEED = 2007
SIDE = 8
"""Rows and columns of a block that is judged."""

ROWS_AT_ONCE = 1 << 24
"""Elements of an operand that are made at once."""

TIMED = 3
"""Repeats of the resident product; the fastest counts, since its clock is up then."""

ENVIRONMENT = ("GLLA_DEBUG", "LP_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; return the exit status."""
    options = _parser().parse_args(arguments)
    m, k, n = options.m, options.k, options.n
    flops = 2 * m * k * n
    open_device = partial(Device, options.backend, options.index, options.software)
    a, b, c = (_array(options.files, name, shape) for name, shape in (("A", (m, k)), ("B", (k, n)), ("C", (m, n))))
    rng = np.random.default_rng(SEED)
    for name, array in (("A", a), ("B", b)):
        _progress(f"{name}: {array.shape[0]} x {array.shape[1]} random numbers, {array.nbytes / 1e9:.3g} GB")
        _fill(array, rng)
    watch = machine.Watch()
    resident = _resident(open_device, options.resident)
    _progress(f"resident product of order {options.resident}: {resident['gflops']:.4g} GFLOP/s")
    runs: dict[str, Any] = {}
    with open_device(max_bytes=options.max_bytes, max_texture_size=options.max_texture_size) as device:
        info = device.info
        cut = tiles.choose(KERNEL, m, k, n, device.limits, device.room)
        _progress(
            f"tiles of A {cut.rows} x {cut.inner}, of B {cut.inner} x {cut.columns}, {cut.variant}, "
            f"{cut.counts[0]} x {cut.counts[2]} tiles of C, slabs: {cut.counts[1]}; {cut.nbytes} bytes on the device"
        )
        work: dict[str, Callable[[], dict[str, float]]] = {
            "public": lambda: _public(device, a, b, c),  # first: the others find everything compiled
            "streamed": lambda: _stream(device, a, b, c, cut, wait=False),
            "step by step": lambda: _stream(device, a, b, c, cut, wait=True),
        }
        for name, run in work.items():
            runs[name] = _run(run, a, b, c, cut, options.blocks)
            _progress(f"{name}: {runs[name]['seconds']:.3g} s, {runs[name]['gflops']:.4g} GFLOP/s")
        peak = device.stats().peak_bytes
    within = options.max_bytes is None or peak <= options.max_bytes
    data = {
        **report.about(info, options.commit, ENVIRONMENT, watch),
        "shape": [m, k, n],
        "flops": flops,
        "files": options.files is not None,
        "max_bytes": options.max_bytes,
        "max_texture_size": device.limits.texture_size,
        "peak_bytes": peak,
        "tile": [cut.rows, cut.inner, cut.columns],
        "tiles": list(cut.counts),
        "variant": cut.variant,
        "traffic_bytes": cut.traffic,
        "resident": resident,
        "runs": runs,
        "of_resident": runs["streamed"]["gflops"] / resident["gflops"],
        "hidden_by_overlap": 1 - runs["streamed"]["seconds"] / runs["step by step"]["seconds"],
    }
    path = report.save(data, options.output, "tiled")
    _show(data, path, within)
    return 0 if within and resident["ok"] and all(run["ok"] for run in runs.values()) else 1


def _array(folder: Path | None, name: str, shape: tuple[int, int]) -> Array:
    if folder is None:
        return np.empty(shape, dtype=np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    return np.memmap(folder / f"{name}.float32", np.float32, "w+", shape=shape)


def _fill(array: Array, rng: np.random.Generator) -> None:
    """Random numbers from -1 to 1, some rows at a time."""
    step = max(1, ROWS_AT_ONCE // array.shape[1])
    for first in range(0, len(array), step):
        rows = array[first : first + step]
        rows[...] = 2 * rng.random(rows.shape, dtype=np.float32) - 1


def _resident(open_device: Callable[[], Device], order: int) -> dict[str, Any]:
    """Rate of a product that stays on the device, judged as well."""
    rng = np.random.default_rng(SEED)
    a, b = (np.empty((order, order), dtype=np.float32) for _ in range(2))
    _fill(a, rng)
    _fill(b, rng)
    times = []
    with open_device() as device:
        left, right = glla.asarray(a, device), glla.asarray(b, device)
        product = left @ right  # which compiles
        for _ in range(TIMED):
            device.finish()
            start = time.perf_counter()
            product = left @ right
            device.finish()
            times.append(time.perf_counter() - start)
        rows, columns = min(SIDE, order), min(SIDE, order)
        verdict = testing.judge_product(product.numpy()[:rows, :columns].copy(), a[:rows], b[:, :columns])
    return {
        "n": order,
        "seconds": min(times),
        "gflops": 2 * order**3 / min(times) / 1e9,
        "ok": verdict.ok,
        "verdict": str(verdict),
    }


def _run(
    run: Callable[[], dict[str, float]], a: Array, b: Array, c: Array, cut: tiles.Tiling, blocks: int
) -> dict[str, Any]:
    """Run, and judge what came out; what fails is a wrong result, and no reason to lose the others."""
    c[...] = np.nan
    steps: dict[str, float] = {}
    start = time.perf_counter()
    try:
        steps = run()
        failure = ""
    except glla.errors.GllaError as error:
        failure = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - start
    judged = _judge(a, b, c, cut, blocks)
    if failure:
        judged |= {"ok": False, "verdict": failure}
    m, k, n = cut.shape
    return {"seconds": seconds, "gflops": 2 * m * k * n / seconds / 1e9, "steps": steps, **judged}


def _public(device: Device, a: Array, b: Array, c: Array) -> dict[str, float]:
    glla.matmul(a, b, out=c, device=device)
    return {}


def _stream(device: Device, a: Array, b: Array, c: Array, cut: tiles.Tiling, wait: bool) -> dict[str, float]:
    """Stream the product; give the host's seconds in each step, which with `wait` are the GPU's too."""
    seconds: dict[str, float] = defaultdict(float)
    count, last = cut.counts[0] * cut.counts[2], time.perf_counter()

    def watch(what: str, tile: int) -> None:
        nonlocal last
        if wait:
            device.finish()
        now = time.perf_counter()
        seconds[what] += now - last
        last = now
        if what == "fetch" and (tile + 1) * 10 // count > tile * 10 // count:
            _progress(f"  tile {tile + 1} of {count}")

    tiling.matmul(device, a, b, c, watch=watch)
    return dict(seconds)


def _judge(a: Array, b: Array, c: Array, cut: tiles.Tiling, blocks: int) -> dict[str, Any]:
    """Judge blocks of the product against float64: the corners, the seams of the tiles, and some at random."""
    rng = np.random.default_rng(SEED)
    m, n = c.shape
    height, width = min(SIDE, m), min(SIDE, n)
    tops = {0, m - height, *(min(max(0, top - height // 2), m - height) for top, _ in cut.order())}
    lefts = {0, n - width, *(min(max(0, left - width // 2), n - width) for _, left in cut.order())}
    corners = [(top, left) for top in (0, m - height) for left in (0, n - width)]
    places = corners + [(int(rng.choice(sorted(tops))), int(rng.choice(sorted(lefts)))) for _ in range(blocks // 2)]
    while len(places) < max(blocks, len(corners)):
        places.append((int(rng.integers(m - height + 1)), int(rng.integers(n - width + 1))))
    verdicts = [
        testing.judge_product(
            np.array(c[top : top + height, left : left + width]),
            np.array(a[top : top + height]),
            np.array(b[:, left : left + width]),
        )
        for top, left in places
    ]
    worst = max(verdicts, key=lambda verdict: (not verdict.ok, verdict.ratio))
    return {"ok": worst.ok, "verdict": str(worst), "blocks": len(verdicts), "worst_ratio": worst.ratio}


def _show(data: dict[str, Any], path: Path, within: bool) -> None:
    runs = data["runs"]
    steps = runs["step by step"]["steps"]
    total = sum(steps.values()) or 1.0  # a run that failed has none
    shares = ", ".join(f"{name} {100 * seconds / total:.1f} %" for name, seconds in steps.items())
    cap = "no cap" if data["max_bytes"] is None else f"the cap of {data['max_bytes']}"
    m, k, n = data["shape"]
    print(f"{m} x {k} by {k} x {n} on {data['renderer']}, commit {data['commit']}")
    print(f"peak {data['peak_bytes']} bytes on the device, {'within' if within else 'FAILED: beyond'} {cap}")
    print(f"resident, n = {data['resident']['n']}: {data['resident']['gflops']:.4g} GFLOP/s")
    for name, run in runs.items():
        word = "" if run["ok"] else f" FAILED: {run['verdict']}"
        print(f"{name}: {run['seconds']:.4g} s, {run['gflops']:.4g} GFLOP/s, {run['blocks']} blocks judged{word}")
    print(f"of the time step by step: {shares}; the overlap hides {100 * data['hidden_by_overlap']:.1f} % of it")
    print(f"streamed: {100 * data['of_resident']:.1f} % of the resident product's rate; {path}")


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tiled", description=(__doc__ or "").splitlines()[0])
    for name, default in (("m", 40000), ("k", 8192), ("n", 40000)):
        parser.add_argument(f"--{name}", type=_whole, default=default, help=f"({default})")
    parser.add_argument("--max-bytes", type=_whole, default=4 * 10**9, help="cap on the device's memory (4e9)")
    parser.add_argument("--max-texture-size", type=_whole, help="cap on a texture's side, in texels")
    parser.add_argument("--resident", type=_whole, default=4096, metavar="N", help="order of that product (4096)")
    parser.add_argument("--blocks", type=_whole, default=300, help="blocks of each result that are judged (300)")
    parser.add_argument("--files", type=Path, metavar="DIR", help="map the matrices from files there")
    report.add_options(parser)
    return parser


def _whole(text: str) -> int:
    """Read a whole number from 1, also as 4e9.

    >>> _whole("4e9")
    4000000000
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value >= 1 or value % 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(value)


if __name__ == "__main__":
    sys.exit(main())
