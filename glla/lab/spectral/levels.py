"""`glla study convergence --operation secular`: divide and conquer of a tridiagonal matrix, level by level.

Two parts with eigenvalues d_i make one whose eigenvalues are the roots of f(x) = 1 + rho sum z_i^2 / (d_i - x): one
behind each pole, before the next. Where z_i is below the tolerance the pole is a root as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from glla.gl import Device
from glla.gl.recorder import Recorder
from glla.lab import plots
from glla.lab.table import aligned
from glla.operations.record import Float32
from glla.operations.spectral import secular

Level = dict[str, Any]
"""The first block of a level: ``poles``, their ``z``, ``roots``, which are ``live``, and ``rho``."""

SHADERS = {"spectral/secular/groups": "poles", "spectral/secular/roots": "roots"}
"""Those that draw the poles (d, z, ...) and the roots (lambda, offset, origin, live)."""


def levels(device: Device, n: int, seed: int) -> list[Level]:
    """Solve a tridiagonal matrix with a random diagonal; give the first block of each level."""
    t = np.zeros((1, n, 4), np.float32)
    t[0, :, 0], t[0, :-1, 1] = np.random.default_rng(seed).uniform(-1, 1, n), 0.5
    with Recorder(values=True) as recorded:
        device.run(secular.plan(n, device.limits), T=device.write_texels(t))
    lines: dict[str, list[Float32]] = {"poles": [], "roots": []}
    for one in recorded.passes:
        if one.shader in SHADERS and one.values:
            lines[SHADERS[one.shader]].append(next(iter(one.values.values())).reshape(n, 4).astype(np.float64))
    found = []
    for level, (poles, roots) in enumerate(zip(lines["poles"], lines["roots"], strict=True)):
        end, rho = min(2 << level, n), abs(float(t[0, (1 << level) - 1, 1]))
        poles, roots = poles[:end], roots[:end]
        found.append(
            {"poles": poles[:, 0], "z": poles[:, 1], "roots": roots[:, 0], "live": roots[:, 3] > 0, "rho": rho}
        )
    return found


def interlace(one: Level) -> bool:
    """Whether each root is between its pole and the next live one, but for rounding."""
    live = one["live"]
    d, x = one["poles"][live], one["roots"][live]
    slack = 1e-6 * max(1.0, np.abs(one["poles"]).max())
    return bool(
        (x >= d - slack).all() and (x[:-1] <= d[1:] + slack).all() and (one["roots"] == one["poles"])[~live].all()
    )


def table(found: Sequence[Level]) -> str:
    """Write the levels as text."""
    rows = [
        (str(number), str(len(one["poles"])), str(int((~one["live"]).sum())), f"{one['rho']:.3g}", str(interlace(one)))
        for number, one in enumerate(found, 1)
    ]
    return aligned(("level", "poles", "deflated", "rho", "roots and poles interlace"), rows)


def draw(found: Sequence[Level], path: Path) -> None:
    """Draw the secular function of each level with its poles and the roots that were found."""
    roots = np.concatenate([one["roots"] for one in found])
    low, high = roots.min() - 0.1, roots.max() + 0.1
    near = (1 + np.tanh(np.linspace(-6, 6, 200))) / 2  # of a pole, where f is steep
    title = "f(x) = 1 + rho sum z_i^2 / (d_i - x): poles d_i, eigenvalues of two parts (dotted); roots, of both"
    with plots.drawn(path, (12, 2.2 * len(found)), 110, title) as figure:
        for number, (ax, one) in enumerate(
            zip(figure.subplots(len(found), squeeze=False)[:, 0], found, strict=True), 1
        ):
            d, z, live = one["poles"], one["z"], one["live"]
            ends = [low, *d[live], high]
            for left, right in pairwise(ends):
                x = left + (right - left) * near
                ax.plot(
                    x, 1 + one["rho"] * (z**2 / (d - x[:, np.newaxis]))[:, live].sum(axis=1), color=plots.COLOURS[0]
                )
            ax.axhline(0, color="#888888", linewidth=0.8)
            ax.vlines(d[live], -4, 6, color=plots.COLOURS[1], linewidth=0.8, linestyle=":")
            ax.plot(
                one["roots"][live], np.zeros(live.sum()), "o", color=plots.COLOURS[3], markersize=5, label="root found"
            )
            ax.plot(d[~live], np.zeros((~live).sum()), "kx", markersize=6, label="deflated: a pole that is a root")
            ax.set(ylim=(-4, 6), xlim=(low, high), ylabel=f"level {number}: f(x)")
        figure.axes[0].legend(loc="upper right", fontsize=9)
