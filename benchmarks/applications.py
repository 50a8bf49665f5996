"""Time the applications beside the figures of their sources, and draw them.

    python -m benchmarks.applications [--size 64] [--largest 128] [--seconds 20] [--output DIR]

Restoration: mean square errors in the six ways of the source's table 6.3, what the border does to the FFT, seconds of
every variant and of the CPU's ways at growing sides, and the source's inversions. Window squares: milliseconds of each
frame, of every variant, and of NumPy. The figures go to DIR/<renderer>/applications/<UTC date-time>.json, the pictures
beside them, progress to stderr; the exit status is 1 if a result was wrong. `python -m benchmarks.readme` puts them
into the README.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from glla import Device
from glla.applications import window_squares
from glla.lab import machine, progress, restoration, windows
from glla.operations.window_squares import on_host

SIDES = (16, 32, 64, 80, 96, 128)
KIND = "applications"
ENVIRONMENT = ("GLLA_DEBUG", "LP_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
PICTURES = {"restoration": "restoration.png", "windows": "windows.png"}


def restored(device: Device, size: int, largest: int, most: float, folder: Path, say: Any) -> dict[str, Any]:
    """Measure and draw restoration."""
    picture = restoration.load(None, size)
    found = restoration.outcomes(device, picture, say)
    borders = restoration.borders(device, picture)
    largest = min(largest, 64 if device.info.software else max(SIDES))
    timed = restoration.timings(
        device, partial(restoration.load, None), [side for side in SIDES if side <= largest], most, say
    )
    order = 512 if device.info.software else 4096
    inversions = restoration.methods(device, order, say)
    restoration.draw(folder / PICTURES["restoration"], device.info.renderer, picture, found, borders["zero"], dpi=60)
    return {
        "size": size,
        "most": most,
        "errors": [
            {"name": one.row.name, "balance": one.row.balance, "theirs": one.row.theirs, "ours": one.errors}
            for one in found
        ],
        "borders": {
            border: [{"method": one.method, "whole": one.whole, "inner": one.inner} for one in ways]
            for border, ways in borders.items()
        },
        "timings": [
            {"way": one.way, "side": one.side, "seconds": one.seconds, "error": one.error, "reason": one.reason}
            for one in timed
        ],
        "inversions": {"order": order, "seconds": inversions},
    }


def squared(device: Device, folder: Path, say: Any) -> dict[str, Any]:
    """Measure and draw window squares."""
    small = windows.image()
    large = np.round(255 * restoration.load(None, 512)).astype(np.uint8)
    sums, frames = windows.frames(device, small)
    times = {f"{a.shape[0]} x {a.shape[1]}": windows.timings(device, a, say) for a in (small, large.astype(np.float32))}
    right = bool((window_squares(large, device=device) == on_host(large.astype(np.float64))).all())
    unlimited = np.asarray(window_squares(large, limit=None, device=device))
    windows.draw(folder / PICTURES["windows"], device.info.renderer, sums, large, unlimited, dpi=60)
    return {"frames": frames, "times": times, "ok": right}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.applications", description="Time the applications.")
    parser.add_argument("--size", type=report.whole_number, default=restoration.SIDE, help="rows of the picture (64)")
    parser.add_argument(
        "--largest", type=report.whole_number, default=max(SIDES), help=f"largest side timed ({max(SIDES)})"
    )
    parser.add_argument("--seconds", type=report.whole_number, default=20, help="leave out what takes longer (20)")
    report.add_options(parser)
    options = parser.parse_args(arguments)
    watch = machine.Watch()
    with Device(options.backend, options.index, options.software) as device, progress.shown(KIND) as say:
        folder = options.output / report.slug(device.info.renderer) / KIND
        folder.mkdir(parents=True, exist_ok=True)
        measured = {
            "restoration": restored(device, options.size, options.largest, options.seconds, folder, say),
            "windows": squared(device, folder, say),
        }
        about = report.about(device.info, options.commit, ENVIRONMENT, watch)
    print(report.save({**about, **measured}, options.output, KIND))
    return 0 if measured["windows"]["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
