"""Stream a product too large for the memory allowed, tile by tile: is it right, and what does the streaming cost.

In one run, on random float32 matrices:

- the rate of a product of order RESIDENT whose operands and result stay on the device, without a cap;
- `glla.matmul` from NumPy to NumPy on a device with the cap: the rate that a user sees, checks for NaN included;
- the streaming alone, overlapped as always, and once more step by step, waiting for the GPU after each: that tells how
  the time divides into upload, compute and read-back, and what the overlap hides.

Blocks of the results, at the corners, at the seams of the tiles and at random, are judged against float64, and the peak
of the device's memory against the cap. With --files DIR the operands and the result are mapped from files there.
"""

from __future__ import annotations

import time
from argparse import ArgumentTypeError
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import glla
from benchmarks.study import listed
from glla import Device, testing
from glla.cli.options import opened
from glla.lab.study import Report, Run, Say, clock, option
from glla.lab.table import aligned
from glla.linalg import tiling
from glla.operations.product import tiles

Array = NDArray[np.float32]

SEED = 2007
SIDE = 8
"""Rows and columns of a block that is judged."""

ROWS_AT_ONCE = 1 << 24
"""Elements of an operand that are made at once."""

TIMED = 3
"""Repeats of the resident product; the fastest counts, since its clock is up then."""


def _run(place: Run) -> Report:
    """Time a resident product and the streamed one."""
    options, say = place.options, place.say
    m, k, n = options.m, options.k, options.n
    flops = 2 * m * k * n
    a, b, c = (_array(options.files, name, shape) for name, shape in (("A", (m, k)), ("B", (k, n)), ("C", (m, n))))
    rng = np.random.default_rng(SEED)
    for name, array in (("A", a), ("B", b)):
        say(f"{name}: {array.shape[0]} x {array.shape[1]} random numbers, {array.nbytes / 1e9:.3g} GB")
        _fill(array, rng)
    resident = _resident(place.device, options.resident)
    say(f"resident product of order {options.resident}: {resident['gflops']:.4g} GFLOP/s")
    runs: dict[str, Any] = {}
    with opened(options, max_bytes=options.max_bytes, max_texture_size=options.max_texture_size) as device:
        cut = tiles.choose(m, k, n, device.limits, device.room)
        say(
            f"tiles of A {cut.rows} x {cut.inner}, of B {cut.inner} x {cut.columns}, {cut.variant}, "
            f"{cut.counts[0]} x {cut.counts[2]} tiles of C, slabs: {cut.counts[1]}; {cut.nbytes} bytes on the device"
        )
        work: dict[str, Callable[[], dict[str, float]]] = {
            "public": lambda: _public(device, a, b, c),  # first: the others find everything compiled
            "streamed": lambda: _stream(device, a, b, c, cut, False, say),
            "step by step": lambda: _stream(device, a, b, c, cut, True, say),
        }
        for name, run in work.items():
            runs[name] = _judged(run, a, b, c, cut, options.blocks)
            say(f"{name}: {runs[name]['seconds']:.3g} s, {runs[name]['gflops']:.4g} GFLOP/s")
        peak = device.stats().peak_bytes
    within = options.max_bytes is None or peak <= options.max_bytes
    data = {
        "shape": [m, k, n], "flops": flops, "files": options.files is not None, "max_bytes": options.max_bytes,
        "max_texture_size": device.limits.texture_size, "peak_bytes": peak,
        "tile": [cut.rows, cut.inner, cut.columns], "tiles": list(cut.counts), "variant": cut.variant,
        "traffic_bytes": cut.traffic, "resident": resident, "runs": runs,
        "of_resident": runs["streamed"]["gflops"] / resident["gflops"],
        "hidden_by_overlap": 1 - runs["streamed"]["seconds"] / runs["step by step"]["seconds"],
    }  # fmt: skip
    return Report(text(data, within), data, within and resident["ok"] and all(run["ok"] for run in runs.values()))


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


def _resident(device: Device, order: int) -> dict[str, Any]:
    """Rate of a product that stays on the device, judged as well."""
    rng = np.random.default_rng(SEED)
    a, b = (np.empty((order, order), dtype=np.float32) for _ in range(2))
    _fill(a, rng)
    _fill(b, rng)
    left, right = glla.asarray(a, device), glla.asarray(b, device)
    seconds = min(clock(lambda: left @ right, TIMED, device).times)
    found = (left @ right).numpy()[:SIDE, :SIDE].copy()
    verdict = testing.judge_product(found, a[:SIDE], b[:, :SIDE])
    return {
        "n": order, "seconds": seconds, "gflops": 2 * order**3 / seconds / 1e9, "ok": verdict.ok,
        "verdict": str(verdict),
    }  # fmt: skip


def _judged(
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


def _stream(device: Device, a: Array, b: Array, c: Array, cut: tiles.Tiling, wait: bool, say: Say) -> dict[str, float]:
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
            say(f"tile {tile + 1} of {count}")

    with patch.object(tiling, "seen", watch):
        tiling.matmul(device, a, b, c)
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


def text(data: dict[str, Any], within: bool) -> str:
    """Write the rates, the time of each step, and the peak of memory."""
    runs = data["runs"]
    steps = runs["step by step"]["steps"]
    total = sum(steps.values()) or 1.0  # a run that failed has none
    shares = ", ".join(f"{name} {100 * seconds / total:.1f} %" for name, seconds in steps.items())
    cap = "no cap" if data["max_bytes"] is None else f"the cap of {data['max_bytes']}"
    rows = [
        (name, f"{run['seconds']:.4g}", f"{run['gflops']:.4g}", "" if run["ok"] else f"FAILED: {run['verdict']}")
        for name, run in ((f"resident, n = {data['resident']['n']}", data["resident"]), *runs.items())
    ]
    return "\n".join(
        [
            " x ".join(map(str, data["shape"])),
            f"peak {data['peak_bytes']} bytes on the device, {'within' if within else 'FAILED: beyond'} {cap}",
            aligned(("product", "s", "GFLOP/s", ""), rows),
            f"of the time step by step: {shares}; the overlap hides {100 * data['hidden_by_overlap']:.1f} % of it",
            f"streamed: {100 * data['of_resident']:.1f} % of the resident product's rate",
        ]
    )


def whole(text: str) -> int:
    """Read a whole number from 1, also as 4e9.

    >>> whole("4e9")
    4000000000
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value >= 1 or value % 1:
        raise ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(value)


STUDY = listed(
    "tiled",
    _run,
    option("--m", type=whole, default=40000, help="(40000)"),
    option("--k", type=whole, default=8192, help="(8192)"),
    option("--n", type=whole, default=40000, help="(40000)"),
    option("--max-bytes", type=whole, default=4 * 10**9, help="cap on the device's memory (4e9)"),
    option("--max-texture-size", type=whole, help="cap on a texture's side, in texels"),
    option("--resident", type=whole, default=4096, metavar="N", help="order of that product (4096)"),
    option("--blocks", type=whole, default=300, help="blocks of each result that are judged (300)"),
    option("--files", type=Path, metavar="DIR", help="map the matrices from files there"),
)
