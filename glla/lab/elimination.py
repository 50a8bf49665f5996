"""`glla demo elimination`: Gauss-Jordan elimination of an integer matrix, a picture after every few passes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from glla.gl.recorder import Recorder
from glla.lab import plots
from glla.lab.study import Report, Run, Study
from glla.operations.elimination import rref
from glla.operations.record import Float32
from glla.passes import resident

STEP = "rref/eliminate"
"""Shader whose result is the matrix after a step of two columns."""

SHOWN = 5
"""Pictures, the matrix itself counted."""

LARGEST = 12.0
"""Magnitude that has the full colour, as have those above it."""


def matrix(n: int, seed: int) -> Float32:
    """Make an augmented matrix [A | b] of small integers, b = A times 1, 2, ..., n."""
    a = np.random.default_rng(seed).integers(-9, 10, (n, n))
    return np.column_stack([a, a @ np.arange(1, n + 1)]).astype(np.float32)


def _run(run: Run) -> Report:
    augmented = matrix(run.options.size, run.options.seed)
    n = len(augmented)
    plan = rref.plan(resident(augmented.shape), run.device.limits, variant="rank2")
    none = run.device.write_texels(np.zeros((1, 1, 2), dtype=np.float32))
    with Recorder(values=True) as recorded:
        results = run.device.run(plan, A=run.device.upload(augmented), tolerance=none)
    steps = [next(iter(one.values.values())) for one in recorded.passes if one.shader == STEP and one.values]
    reduced = run.device.download(results["R"], augmented.shape)
    x = reduced[:, -1]
    expected = np.column_stack([np.eye(n), np.arange(1, n + 1)])
    right = bool(np.abs(reduced - expected).max() < 1e-2)
    text = [
        f"[A | b], {n} x {n + 1} integers, to the identity in {len(steps)} steps of two columns, "
        f"{len(recorded.passes)} render passes",
        f"x = {' '.join(f'{one:.4g}' for one in x)}",
        f"x is {'' if right else 'NOT '}1, 2, ..., {n}",
    ]
    data = {"matrix": augmented.tolist(), "x": x.tolist(), "steps": len(steps), "passes": len(recorded.passes)}
    return Report("\n".join(text), data, right, lambda path: draw(path, [augmented, *steps], run.dpi))


def draw(path: Path, steps: list[Float32], dpi: int = 80) -> None:
    """Draw the matrix after some of the steps: blue positive, orange negative, lines around texels."""
    places = sorted({round(k * (len(steps) - 1) / (SHOWN - 1)) for k in range(SHOWN)})
    named = {f"after {place} steps" if place else "[A | b]": np.asarray(steps[place]) for place in places}
    pictures = [(name, np.sign(a) * np.sqrt(np.abs(a) / LARGEST)) for name, a in named.items()]
    plots.panels(path, pictures, 2.6, dpi=dpi, texels=True, cmap=plots.signed(), vmin=-1, vmax=1)


STUDY = Study(
    "elimination",
    "an elimination of integers in pictures: the identity grows, two columns a step",
    _run,
    size=(16, "rows of the matrix"),
    least=2,
    seed=True,
    out="elimination.png",
    endings=(".png", ".svg", ".pdf"),
)
