"""`glla demo water`: waves in a basin as a film, live in a window, and the thesis's case with its table 5.1.

The thesis solves the tridiagonal systems of each half step as dense matrices, shared by CPU and GPU. That is done here
too, with its equations put right, as a demonstration of `glla.hybrid.map`; beside it stands what `ShallowWater` does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla import hybrid
from glla.applications import ShallowWater
from glla.gl import Device
from glla.gl.clock import clock
from glla.gl.window import Window
from glla.lab.study import Report, Run, Study, option
from glla.lab.table import titled
from glla.queue.single import Coprocessor, coprocessor

Field = NDArray[np.floating[Any]]
Bands = tuple[Field, Field, Field, Field]
"""Entries below the diagonal, on it, above it, and right sides, (n, systems) each."""

SIDE, STEPS, DT = 121, 10, 1.0
"""The thesis's case: cells a side, steps, and seconds of a step."""

SPACING, DEPTH, CHEZY, GRAVITY = 10.0, 10.0, 50.0, 9.81
"""Chosen here, as the thesis does not say: metres of a cell, metres of water, Chezy's coefficient, m/s^2."""

THEIRS = {"z": (1.47e-7, 4.48e-8), "u": (3.82e-10, 1.10e-6), "v": (2.85e-10, 1.13e-6)}
"""Table 5.1: mean and largest difference of CPU and hybrid after ten steps. The mean of z exceeds its maximum there."""

FRAMES, ZOOM, COLOURS, MILLISECONDS = 72, 4, 96, 60
"""Of the film: pictures, pixels for a cell, colours, and milliseconds of a picture."""


def hump(n: int) -> Field:
    """Make the elevation to begin with: one smooth hump of 1 m in the middle."""
    x = (np.arange(n) + 0.5 - n / 2) * SPACING
    return np.exp(-(x[:, np.newaxis] ** 2 + x**2) / (2 * (n / 2) ** 2))


# -- the thesis's way -------------------------------------------------------------------------------------------------

Solver = Callable[[Bands], Field]
"""(bands of all lines) -> changes of the elevation, (n, systems)."""


def tridiagonal(bands: Bands) -> Field:
    """Solve all lines by Thomas's algorithm, in NumPy."""
    lower, diagonal, upper, rhs = bands
    c, d = np.empty_like(rhs), np.empty_like(rhs)
    c[0], d[0] = upper[0] / diagonal[0], rhs[0] / diagonal[0]
    for i in range(1, len(rhs)):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i], d[i] = upper[i] / pivot, (rhs[i] - lower[i] * d[i - 1]) / pivot
    for i in range(len(rhs) - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d


def dense(bands: Bands) -> list[tuple[Field, Field]]:
    """Write each line as a dense system, as the thesis does."""
    lower, diagonal, upper, rhs = (band.T for band in bands)
    return [
        (np.diag(middle) + np.diag(below[1:], -1) + np.diag(above[:-1], 1), right[:, np.newaxis])
        for below, middle, above, right in zip(lower, diagonal, upper, rhs, strict=True)
    ]


def on_cpu(bands: Bands) -> Field:
    """Solve each line as a dense system by LAPACK."""
    return np.column_stack([np.linalg.solve(*system)[:, 0] for system in dense(bands)])


def shared(gpu: Coprocessor) -> Solver:
    """Solve the lines as dense systems, some on the CPU and some on the GPU."""
    return lambda bands: np.column_stack([x[:, 0] for x in hybrid.map("solve", dense(bands), gpu=gpu)])


class Reference:
    """The thesis's scheme in NumPy, without its errors: alternating directions on a staggered grid, closed walls.

    `z`, (nx, ny): elevation to begin with; its type is that of all arithmetic. `solve`: solves the lines of a half
    step.
    """

    def __init__(self, z: Field, solve: Solver = tridiagonal) -> None:
        self.z, self.solve = z, solve
        nx, ny = z.shape
        self.u, self.v = np.zeros((nx + 1, ny), z.dtype), np.zeros((nx, ny + 1), z.dtype)

    def step(self) -> None:
        """Make a step: x, then y, which is x of the transposed basin."""
        self.z, self.u = self._half(self.z, self.u, self.v)
        turned, v = self._half(self.z.T, self.v.T, self.u.T)
        self.z, self.v = np.ascontiguousarray(turned.T), np.ascontiguousarray(v.T)

    def _half(self, z: Field, w: Field, other: Field) -> tuple[Field, Field]:
        """Move the elevation and the velocity along the first direction by half a step."""
        kind, ratio = z.dtype.type, z.dtype.type(DT / SPACING)
        depth = kind(DEPTH) + z
        inner = (depth[1:] + depth[:-1]) / 2
        across = (other[1:, 1:] + other[1:, :-1] + other[:-1, 1:] + other[:-1, :-1]) / 4
        speed = np.sqrt(w[1:-1] ** 2 + across**2)
        r = 1 + kind(DT * GRAVITY / CHEZY**2) * speed / inner
        carried = self._carried(w, across, ratio)
        alpha = np.pad(inner / r, ((1, 1), (0, 0)))
        a = kind(GRAVITY * DT * DT / (2 * SPACING * SPACING)) * alpha
        sides = (depth[:, 1:] + depth[:, :-1]) / 2
        flux = np.pad(sides * other[:, 1:-1], ((0, 0), (1, 1)))
        slope = np.pad(z[1:] - z[:-1], ((1, 1), (0, 0)))
        rhs = -ratio / 2 * (flux[:, 1:] - flux[:, :-1])
        pushed = ratio / 2 * alpha * np.pad(carried, ((1, 1), (0, 0)))
        rhs = rhs - (pushed[1:] - pushed[:-1]) + a[1:] * slope[1:] - a[:-1] * slope[:-1]
        moved = z + self.solve((-a[:-1], 1 + a[:-1] + a[1:], -a[1:], rhs)).astype(z.dtype)
        new = np.zeros_like(w)
        new[1:-1] = (carried - kind(GRAVITY) * ratio * (moved[1:] - moved[:-1])) / r
        return moved, new

    @staticmethod
    def _carried(w: Field, across: Field, ratio: Any) -> Field:
        """The velocity at the feet of the streamlines that end on the inner faces."""
        from scipy import ndimage

        i, j = np.mgrid[1 : len(w) - 1, : w.shape[1]]
        found: Field = ndimage.map_coordinates(w, [i - ratio * w[1:-1], j - ratio * across], order=1, mode="nearest")
        return found


def differences(a: Any, b: Any) -> dict[str, tuple[float, float]]:
    """Mean and largest difference of each field of two simulations."""
    fields = {name: (np.asarray(getattr(one, name), np.float64) for one in (a, b)) for name in "zuv"}
    gaps = {name: np.abs(one - other) for name, (one, other) in fields.items()}
    return {name: (float(gap.mean()), float(gap.max())) for name, gap in gaps.items()}


def resident(device: Device, n: int, scheme: str = "adi", dt: float = DT) -> ShallowWater:
    """Make the thesis's case on a device, with steps of `dt` seconds."""
    water = ShallowWater(np.full((n, n), DEPTH), SPACING, dt, chezy=CHEZY, scheme=scheme, device=device)
    water.set(z=hump(n))
    return water


def case(device: Device, n: int, steps: int, say: Callable[[str], None] = lambda what: None) -> dict[str, Any]:
    """Run the thesis's case in every way.

    ``fields`` of the CPU and of the hybrid run, ``differences`` by name, ``milliseconds`` of a step by name.
    """
    start = hump(n).astype(np.float32)
    took: dict[str, float] = {}

    def timed(name: str, simulation: Any, finish: Callable[[], None] = lambda: None) -> Any:
        say(name)
        took[name] = 1000 * clock(simulation.step, finish, steps)[0] / steps
        return simulation

    cpu = timed("CPU, dense systems (LAPACK)", Reference(start, on_cpu))
    with coprocessor() as gpu:
        both = timed("CPU and GPU, dense systems", Reference(start, shared(gpu)))
    plain = timed("NumPy, tridiagonal, float32", Reference(start))
    resident(device, n).step()  # compiles
    found = {}
    for scheme in ("adi", "semi_implicit"):
        found[scheme] = timed(f"ShallowWater, {scheme}", resident(device, n, scheme), device.finish)
    exact = Reference(hump(n))
    for _ in range(steps):
        exact.step()
    return {
        "cpu": cpu,
        "hybrid": both,
        "differences": {
            "CPU and GPU against CPU": differences(both, cpu),
            "ShallowWater against CPU": differences(found["adi"], cpu),
            "ShallowWater against float64": differences(found["adi"], exact),
            "NumPy float32 against float64": differences(plain, exact),
        },
        "milliseconds": took,
    }


# -- the film ---------------------------------------------------------------------------------------------------------


def basin(device: Device, n: int) -> ShallowWater:
    """Make the scene of the film: a basin with a shoal, where waves are slower and bend, and two humps of water."""
    x = (np.arange(n) + 0.5) / n
    shoal = np.exp(-((x[:, np.newaxis] - 0.62) ** 2 + (x - 0.5) ** 2) / 0.02)
    depth = 20 - 16 * shoal
    water = ShallowWater(depth, SPACING, 0.6, chezy=60, splitting="alternate", device=device)
    water.set(z=sum(drop(n, *place) for place in ((0.22, 0.55, 3.0), (0.4, 0.2, 1.5))))
    return water


def drop(n: int, x: float, y: float, height: float = 1.0) -> Field:
    """A hump of water, at parts of the sides."""
    at = (np.arange(n) + 0.5) / n
    return height * np.exp(-((at[:, np.newaxis] - x) ** 2 + (at - y) ** 2) / 0.002)


def film(device: Device, n: int, output: Path, frames: int = FRAMES) -> None:
    """Write the film, a GIF."""
    from PIL import Image

    water, pictures = basin(device, n), []
    for _ in range(frames):
        pictures.append(Image.fromarray(water.picture(ZOOM)))
        water.step(2)
    together = Image.fromarray(np.vstack([np.asarray(one) for one in pictures[::6]]))
    palette = together.quantize(COLOURS)
    small = [one.quantize(COLOURS, palette=palette, dither=Image.Dither.NONE) for one in pictures]
    small[0].save(
        output, format="GIF", save_all=True, append_images=small[1:], duration=MILLISECONDS, loop=0, optimize=True
    )


def still(device: Device, n: int, output: Path, step: int = 36) -> None:
    """Write one picture of the film, a PNG."""
    from PIL import Image

    water = basin(device, n)
    water.step(step)
    Image.fromarray(water.picture(ZOOM)).save(output)


# -- the window -------------------------------------------------------------------------------------------------------


def live(device: Device, n: int, most: int | None = None) -> int:
    """Run in a window until it is closed; the mouse makes waves. Gives the pictures shown, `most` at most."""
    water = basin(device, n)
    window = Window(
        device, max(ZOOM * n, 512), max(ZOOM * n, 512), "glla: shallow water (press the mouse, Escape ends)"
    )
    shown = 0
    while not window.closed and shown != most:
        place = window.mouse()
        if place is not None:
            water.set(z=np.maximum(water.z.numpy() + drop(n, *place, 0.25), -2.0))
        water.step()
        window.show(water.paint(ZOOM))
        shown += 1
    return shown


# -- the report -------------------------------------------------------------------------------------------------------


def _run(run: Run) -> Report:
    """Report differences and times; right are fields of the device that are those of the CPU, to float32."""
    device, size = run.device, run.options.size
    if run.options.window:
        with Device(backend="glfw") as window:
            return Report(f"pictures shown: {live(window, size)}")
    found = case(device, size, STEPS, run.say)
    gaps = found["differences"]
    right = all(most < 1e-4 for name in gaps for _, most in gaps[name].values())
    rows = [
        (name, *(f"{mean:.2e} / {most:.2e}" for mean, most in fields.values()))
        for name, fields in [("theirs, CPU and GPU against CPU (table 5.1)", THEIRS), *gaps.items()]
    ]
    times = [(name, f"{milliseconds:.2f}") for name, milliseconds in found["milliseconds"].items()]
    text = [
        titled(f"differences after {STEPS} steps: mean / largest, m and m/s", ("", "z", "u", "v"), rows),
        titled(f"a step, on this machine's CPU and {device.info.renderer}", ("", "ms"), times),
        "theirs: the mean of z exceeds its maximum, so the two are exchanged, or an exponent is wrong; the thesis has "
        "no times of this size",
        "every field is that of the CPU" if right else "fields are NOT those of the CPU",
        "figure 5.4: glla study thesis --section water --out water.html",
    ]
    data = {
        "cells": [size, size], "steps": STEPS, "dt_s": DT,
        "differences": {
            name: {field: {"mean": mean, "max": most} for field, (mean, most) in fields.items()}
            for name, fields in [("thesis, table 5.1", THEIRS), *gaps.items()]
        },
        "milliseconds_a_step": found["milliseconds"], "right": right,
    }  # fmt: skip

    def draw(path: Path) -> None:
        (still if path.suffix == ".png" else film)(device, size, path)

    return Report("\n".join(text), data, right, draw)


STUDY = Study(
    "water",
    "waves in a basin as a film, and the thesis's case with its table 5.1",
    _run,
    (option("--window", action="store_true", help="run live in a window, where the mouse makes waves"),),
    size=(SIDE, "cells along a side"),
    least=8,
    needs=("matplotlib", "PIL", "scipy"),
    out="water.gif",
    endings=(".gif", ".png"),
)
