"""`glla demo life` and `stencil`: the shaders of ``shaders/examples`` as kernels, checked against NumPy and drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import asarray
from glla.gl import Device
from glla.kernels.kernel import kernel
from glla.lab import photograph, plots
from glla.lab.restoration import degraded
from glla.lab.study import Report, Study
from glla.operations.record import Float32
from glla.passes import Plan
from glla.testing import ROUNDOFF

Pictures = list[tuple[str, Float32]]
"""Titles, each with the array that is drawn below it."""

LIFE, STENCIL, AUTOMATON = "examples/life", "examples/stencil", "examples/automaton"

GENERATIONS = (0, 10, 100, 1000)
"""Generations of the Game of Life that are drawn."""

ALIVE = 0.35
"""Part of the cells that live in generation 0."""

BLURS = 16
"""How often the photograph is blurred: the standard deviation of all together is 2.8 pixels."""

BLUR: Float32 = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]], dtype=np.float32) / np.float32(16)
EDGES: Float32 = np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]], dtype=np.float32)
SHARPEN: Float32 = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], dtype=np.float32)
"""Weights of stencils. What the sharper picture adds is its second derivative."""


def plans() -> Iterator[Plan]:
    """Give a plan of each example.

    >>> [plan.operation for plan in plans()]
    ['examples/life', 'examples/stencil', 'examples/automaton']
    """
    yield kernel(LIFE).plan(A=(4, 4))
    yield kernel(STENCIL).plan(A=(4, 4), weights=BLUR)
    yield kernel(AUTOMATON).plan(A=(16,), rule=30)


def life(device: Device, size: int, seed: int) -> tuple[Pictures, bool]:
    """Play the Game of Life on a square torus, and say whether each picture is as NumPy has it."""
    start = (np.random.default_rng(seed).random((size, size)) < ALIVE).astype(np.float32)
    step, cells, expected, pictures = kernel(LIFE), asarray(start, device), start, Pictures()
    right, before = True, 0
    for generation in GENERATIONS:
        if generation > before:
            cells = step(A=cells, repeat=generation - before)
        for _ in range(generation - before):
            expected = next_generation(expected)
        before = generation
        pictures.append((f"generation {generation}", cells.numpy()))
        right = right and bool((pictures[-1][1] == expected).all())
    return pictures, right


def next_generation(cells: Float32) -> Float32:
    """Next generation of cells on a torus, by NumPy.

    >>> next_generation(np.float32([[0, 0, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]))[:, 1].tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    near = np.sum([np.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)], axis=0)
    return np.asarray((near == 3) | ((near == 4) & (cells == 1)), dtype=np.float32)


def stencil(device: Device, size: int) -> tuple[Pictures, bool]:
    """Blur a photograph, find its edges and sharpen it, and say whether all is within its bound of NumPy's float64."""
    grey = photograph.picture(size).astype(np.float32)
    draw, given = kernel(STENCIL), asarray(grey, device)
    pictures, right = [("photograph", grey)], True
    for title, weights, repeat in (
        (f"blurred {BLURS} times", BLUR, BLURS),
        ("edges", EDGES, 1),
        ("sharpened", SHARPEN, 1),
    ):
        result = draw(A=given, weights=weights, repeat=repeat).numpy()
        expected, bound = grey.astype(np.float64), 0.0
        for _ in range(repeat):
            bound = float(np.abs(weights).sum()) * bound + 10 * ROUNDOFF * float(
                summed(np.abs(expected), abs(weights)).max()
            )
            expected = summed(expected, weights)
        right = right and bool((np.abs(result - expected) <= bound).all())
        pictures.append((title, np.abs(result) if title == "edges" else result))
    return pictures, right


def summed(a: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.float64]:
    """Sum of weights[p, q] a[i + p - 1, j + q - 1] in float64; beyond the edges the elements of the edges go on.

    >>> summed(np.array([[1.0, 2.0, 4.0]]), np.array([[0, 0, 0], [1, 0, 2], [0, 0, 0]])).tolist()
    [[5.0, 9.0, 10.0]]
    """
    return degraded(a.astype(np.float64), weights[::-1, ::-1], "nearest")


def _report(found: tuple[Pictures, bool], said: str, dpi: int) -> Report:
    pictures, right = found
    text = f"every {said.format('' if right else 'NOT ')}"
    look: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": max(1.0, float(pictures[0][1].max()))}
    return Report(text, {"right": right}, right, lambda path: plots.panels(path, pictures, 2.5, dpi=dpi, **look))


LIFE_STUDY = Study(
    "life",
    "the Game of Life, a kernel of ten lines: every cell is compared with NumPy's, and drawn",
    lambda run: _report(life(run.device, run.options.size, run.options.seed), "cell is {}as NumPy has it", 160),
    size=(128, "rows and columns"),
    seed=True,
    out="life.png",
    endings=(".png",),
)
STENCIL_STUDY = Study(
    "stencil",
    "3 x 3 stencils of a photograph, a kernel of ten lines: every pixel is held against its bound, and drawn",
    lambda run: _report(stencil(run.device, run.options.size), "pixel is {}within its bound of NumPy's float64", 80),
    size=(256, "rows and columns"),
    needs=("pywt", "scipy"),
    out="stencil.png",
    endings=(".png",),
)
