"""`glla study convergence --operation eigh`: the part of A off its diagonal after each step of Jacobi's method.

It falls slowly first and then by squares: flat, then a cliff. Clusters show why rounding errors are left alone: turned,
they make new ones, and the sweeps go on. A ``.gif`` is a film of log|A|.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glla.gl import Device
from glla.gl.recorder import Recorder
from glla.lab import plots
from glla.lab.extra import require
from glla.lab.table import aligned
from glla.operations.record import Float32
from glla.operations.spectral import jacobi

STEP = "spectral/jacobi/step"
"""Shader whose first target is the matrix after a step."""

RULES = {"left alone": jacobi.LEFT_ALONE, "turned": 0.0}
"""Parts of sqrt(a_ii a_jj) up to which an entry is not turned, by what is done to rounding errors."""

DECADES, SIDE, MILLISECONDS = 8, 384, 90
"""Of a film: powers of ten below the largest entry, pixels of its matrix, and the time of a frame."""


def matrices(n: int, seed: int) -> dict[str, Float32]:
    """A normal matrix and one with two clusters of eigenvalues, of even order."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((n, n))
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    made = {"normal": normal, "two clusters": (q * np.repeat([1.0, 2.0], n // 2)) @ q.T}
    return {name: ((a + a.T) / np.abs(a + a.T).max()).astype(np.float32) for name, a in made.items()}


def mass(a: Float32) -> float:
    """norm(A off its diagonal) / norm(A)."""
    return float(np.linalg.norm(a - np.diag(np.diag(a))) / np.linalg.norm(a))


def histories(
    device: Device, n: int, seed: int, say: Callable[[str], object] = lambda name: None
) -> tuple[list[dict[str, Any]], list[Float32]]:
    """Turn each matrix by each rule: its ``matrix``, ``rule``, ``stopped``, ``sweeps``, and ``masses`` at each step.

    Also gives A, the first one, before and after each step.
    """
    found, film = list[dict[str, Any]](), list[Float32]()
    for name, a in matrices(n + n % 2, seed).items():
        for rule, skip in RULES.items():
            say(f"{name}, {rule}")
            plan, start = jacobi.sweeps(len(a), skip=skip), np.eye(len(a), dtype=np.float32)
            with Recorder(values=True, limit=2**31) as recorded:
                turned = device.run(plan, A=device.upload(a), V=device.upload(start))
            steps = [next(iter(one.values.values())) for one in recorded.passes if one.shader == STEP and one.values]
            steps = steps[: turned.iterations * (len(a) - 1)]  # a device may run sweeps before it learns that A is done
            film = film or [a, *steps]
            result = {"stopped": turned.stopped, "sweeps": turned.iterations, "masses": [*map(mass, [a, *steps])]}
            found.append({"matrix": name, "rule": rule, **result})
    return found, film


def table(found: Sequence[dict[str, Any]], n: int) -> str:
    """Write the histories as text."""
    head = ("matrix", "rounding errors", "sweeps", "norm(A off its diagonal) / norm(A) after each")
    rows = []
    for one in found:
        shown = [f"{mass:.0e}" for mass in one["masses"][n - 1 :: n - 1]]
        count = str(one["sweeps"]) if one["stopped"] else f"> {one['sweeps']}"
        rows.append((one["matrix"], one["rule"], count, " ".join(shown[:9]) + " ..." * (len(shown) > 9)))
    return f"Jacobi's method, order {n}, {n - 1} steps a sweep\n{aligned(head, rows)}"


def draw(found: Sequence[dict[str, Any]], film: Sequence[Float32], path: Path) -> None:
    """Draw the histories, or write the film."""
    if path.suffix.lower() == ".gif":
        return write_film(film, path)
    from matplotlib.ticker import MaxNLocator

    n = len(film[0])
    with plots.drawn(path, plots.SIZE) as figure:
        ax = figure.subplots()
        for number, one in enumerate(found):
            look: dict[str, Any] = {
                "color": plots.COLOURS[number // len(RULES)],
                "linestyle": "-:"[number % len(RULES)],
            }
            label = f"{one['matrix']}, rounding errors {one['rule']}: {one['sweeps']} sweeps"
            ax.plot(np.arange(len(one["masses"])) / (n - 1), one["masses"], label=label, linewidth=2, **look)
        ax.set(yscale="log", xlabel=f"sweeps, of {n - 1} steps", ylabel="norm(A off its diagonal) / norm(A)")
        ax.set_title(f"Jacobi's method, order {n}, float32")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.grid(axis="x", color="#dddddd")
        ax.legend(loc="upper right")
    return None


def write_film(film: Sequence[Float32], path: Path) -> None:
    """Write log|A| after each step: dark is large, white `DECADES` powers of ten smaller, or zero."""
    require("convergence", "PIL")
    from matplotlib import colormaps
    from PIL import Image, ImageDraw

    n, largest = len(film[0]), float(np.abs(film[0]).max())
    side, frames = n * max(1, SIDE // n), []
    for number, a in enumerate(film):
        strength = 1 + np.log10(np.maximum(np.abs(a) / largest, 1e-30)) / DECADES
        cells = np.where(strength[..., np.newaxis] > 0, colormaps["viridis_r"](strength)[..., :3], 1)
        whole = Image.new("RGB", (side, side + 24), "white")
        whole.paste(Image.fromarray(np.uint8(255 * cells)).resize((side, side), Image.Resampling.NEAREST))
        text = f"step {number}, sweep {number / (n - 1):.1f}: {mass(a):.1e} of norm(A) off the diagonal"
        ImageDraw.Draw(whole).text((4, side + 6), f"{text}; white: < 1e-{DECADES}", fill="black")
        frames.append(whole.quantize(64, dither=Image.Dither.NONE))
    durations = [MILLISECONDS] * (len(frames) - 1) + [3000]
    frames[0].save(path, format="GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0)
