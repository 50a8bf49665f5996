"""`glla demo windows`: the squares of all windows of an image, frame by frame as the source adds them, and at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.applications import window_squares
from glla.array.array import asarray
from glla.gl import Device
from glla.gl.recorder import Recorder
from glla.lab import plots, restoration
from glla.lab.peers import WINDOWS
from glla.lab.study import Report, Run, Study, clock, option
from glla.lab.table import digits, titled
from glla.operations.record import Float32
from glla.operations.window_squares import LIMIT, VARIANTS, WINDOW, on_host, plan
from glla.passes import resident

SIDE = 15
"""Rows and columns of the source's image."""

LEVELS = 64
"""The source keeps its elements below this number, so that no product overflows 16 bits; sums of 125 do."""

SHOWN = (0, 2, 5, 10)
"""Frames of the source's image after which the sum is drawn, as in its figures 5 to 8."""

REPEATS = 21

DEVICE_OF_THEIRS = "NVIDIA RTX 2060 (2019)"

THEIRS = {
    "global memory": (
        0.444416, 0.468608, 0.450464, 0.480352, 0.438496, 1.070016, 0.438368, 0.442368, 0.441632, 0.444576, 0.438272,
    ),
    "shared memory": (
        0.554592, 0.562240, 0.584736, 0.575488, 1.177600, 0.582368, 0.573696, 1.362240, 0.579360, 1.279552, 0.660128,
    ),
}  # fmt: skip
"""Milliseconds of the source's kernel for each frame, tables 1 and 2."""


def image(seed: int = 2007) -> Float32:
    """Make an image as the source has it: 15 x 15 random levels below 64."""
    return np.random.default_rng(seed).integers(0, LEVELS, (SIDE, SIDE)).astype(np.float32)


def frames(device: Device, a: Float32) -> tuple[list[Float32], list[float]]:
    """Give the sum after each frame, without the limit, and the milliseconds of each frame's pass."""
    made = plan(resident(a.shape), device.limits, variant="frames", limit=None)
    texture = asarray(a, device).value.texture
    device.run(made, A=texture)
    with Recorder() as recorded:
        device.run(made, A=texture)
        device.finish()
    times = [1000 * one.seconds for one in recorded.passes if one.draw is not None]
    rows = (a[top : top + WINDOW] for top in range(len(a) - WINDOW + 1))
    total, sums = np.zeros_like(a), []
    for top, frame in enumerate(rows):
        total = total.copy()
        total[top : top + WINDOW] += window_squares(frame, limit=None, device=device)
        sums.append(total)
    return sums, times


def timings(device: Device, a: Float32, say: Callable[[str], None] = lambda what: None) -> dict[str, float]:
    """Milliseconds of each variant with operands on the device, and of NumPy's ways."""
    found = {}
    texture = asarray(a, device).value.texture
    for variant in VARIANTS:
        say(f"{variant}, {a.shape[0]} x {a.shape[1]}")
        made = plan(resident(a.shape), device.limits, variant=variant)
        found[f"glla {variant}"] = _milliseconds(partial(device.run, made, A=texture), device)
    for way in WINDOWS.ways:
        say(way.label)
        found[f"NumPy, {way.label}"] = _milliseconds(partial(way.bind(), a))
    return found


def _milliseconds(work: Callable[[], Any], device: Device | None = None) -> float:
    return 1e3 * clock(work, REPEATS, device, most=5.0).median


def _run(run: Run) -> Report:
    """Report times beside the source's; whether every result is that of the definition."""
    device, renderer = run.device, run.device.info.renderer
    small = image()
    large = np.round(255 * restoration.load(run.options.data, run.options.size)).astype(np.uint8)
    sums, times = frames(device, small)
    images = (small, large.astype(np.float32))
    tables = {f"{len(a)} x {a.shape[1]}": timings(device, a, run.say) for a in images}
    right = bool((window_squares(large, device=device) == on_host(large.astype(np.float64))).all())
    for variant in VARIANTS:
        found = window_squares(small, variant=variant, device=device)
        right = right and bool((found == np.minimum(sums[-1], LIMIT)).all())
    unlimited = np.asarray(window_squares(large, limit=None, device=device))
    saturated = int((sums[-1] > LIMIT).sum())
    named = {f"theirs, {name}": row for name, row in THEIRS.items()} | {"ours, frames": times}
    text = [
        titled(
            f"Milliseconds of each frame, 15 x 15; theirs: kernels on {DEVICE_OF_THEIRS}; ours: passes on {renderer}",
            ("", *map(str, range(len(times))), "all"),
            [(name, *(f"{one:.3f}" for one in (*row, sum(row)))) for name, row in named.items()],
        ),
        titled(
            f"Milliseconds of all windows; theirs on {DEVICE_OF_THEIRS}, kernels alone; ours on {renderer}, image and "
            "result on the device",
            *sized(tables),
        ),
        f"levels below {LEVELS} keep products within 16 bits, but {saturated} of {small.size} sums exceed {LIMIT:.0f} "
        f"(largest {sums[-1].max():.0f}); levels up to 22 are safe",
        f"every element is {'' if right else 'NOT '}that of the definition",
    ]
    data = {"frames": times, "times": tables, "right": right}
    return Report("\n".join(text), data, right, lambda path: draw(path, renderer, sums, large, unlimited, run.dpi))


def sized(tables: Mapping[str, dict[str, float]]) -> restoration.Columns:
    """Milliseconds by the size of the image: headings, and a row for each way."""
    others = [restoration.NOT_PUBLISHED] * (len(tables) - 1)
    rows = [(f"{name} (theirs)", f"{sum(row):.3f}", *others) for name, row in THEIRS.items()]
    ways = next(iter(tables.values()))
    return ("way", *tables), rows + [(name, *(digits(one[name]) for one in tables.values())) for name in ways]


def draw(
    path: Path, renderer: str, sums: list[Float32], large: NDArray[Any], result: NDArray[Any], dpi: int = 80
) -> None:
    """Draw the sum as it grows, and a photograph with its sum."""
    with plots.drawn(path, (14, 6.6), dpi) as figure:
        left, right = figure.subfigures(1, 2, width_ratios=(1.6, 1))
        left.suptitle(f"C after some of its {len(sums)} frames, and where 16 bits do not hold it")
        axes = left.subplots(2, 3).ravel()
        most = float(sums[-1].max())
        for ax, frame in zip(axes, SHOWN, strict=False):
            shown = ax.imshow(sums[frame], **plots.values(sums[frame], most), interpolation="nearest")
            ax.set_title(f"after frame {frame}", fontsize=9)
        left.colorbar(shown, ax=list(axes), label="sum of squares of windows", pad=0.01)
        axes[4].imshow(sums[-1] > LIMIT, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
        axes[4].set_title(f"above {LIMIT:.0f}: black", fontsize=9)
        axes[5].imshow(np.minimum(sums[-1], LIMIT), **plots.values(sums[-1], most), interpolation="nearest")
        axes[5].set_title("cut to 16 bits", fontsize=9)
        right.suptitle(f"A photograph, and the root of its C, on {renderer.split('(')[0].strip()}")
        for ax, shown in zip(right.subplots(2, 1), (large, np.sqrt(result)), strict=True):
            ax.imshow(shown, cmap="gray", interpolation="nearest")
            ax.set_axis_off()
        for ax in axes:
            ax.set_xticks([])
            ax.set_yticks([])


STUDY = Study(
    "windows",
    "the squares of all windows of an image, frame by frame as the source adds them, and at once",
    _run,
    (option("--data", type=Path, metavar="FILE", help="a picture of your own"),),
    size=(512, "rows and columns of the photograph"),
    least=8,
    needs=("pywt",),
    out="windows.png",
    endings=(".png",),
)
