"""Claims about work that goes on beside the CPU, and about programs that use it: listing 4.7, chapters 5 and 7."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glla.gl.clock import clock
from glla.lab import water
from glla.queue import Coprocessor, coprocessor
from glla.thesis.claims.claim import Claim, claim, collected, faster
from glla.thesis.measure import Place, dominant, streamed, uniform

LARGER, LINES = 4, 32
"""Times the thesis's side of the basin that is "larger problems", and how many of its lines are solved."""

QUICK = 12
"""Side of the basin that shows that it runs."""

CLOSE = 0.01
"""Metres of a wave of 1 m by which equivalent schemes may differ."""

FREE = 1.1
"""Times as long as alone that the CPU may take where the GPU's work is virtually free."""

OVERLAP = 1.2
"""Times that two works take one after the other, over both at once, from which they overlap."""

FEW = 0.2
"""Part of the lines that are "a small number" of them."""

PROGRAM = """\
import numpy as xp
A = xp.asarray(matrix)
b = xp.asarray(right)
x = xp.linalg.solve(A, b)
residual = xp.max(xp.abs(A @ x - b))
answer = float(residual / xp.max(xp.abs(b)))
"""
"""Solves a system, and says how well."""

OURS = "import glla.array_api as xp"
"""Its first line on the GPU."""


# -- listing 4.7 ------------------------------------------------------------------------------------------------------


def _listing(place: Place) -> Iterator[Claim]:
    n = place.compared[-1]
    a, b = uniform(place, n, n), uniform(place, n, n)
    some = np.abs(a) + 1
    with coprocessor() as gpu:
        alone = place.host(lambda: _product_of_product(gpu, a, b, False))
        times = max(1, round(alone / place.host(lambda: np.log(some))))

        def busy() -> None:
            for _ in range(times):
                np.log(some)

        cpu = place.host(busy)
        late = place.host(lambda: _product_of_product(gpu, a, b, False, busy))
        early = place.host(lambda: _product_of_product(gpu, a, b, True, busy))
        beside = place.repeated(lambda: _beside(gpu, a, b, busy))
    both = min(late, early)
    yield claim("background.free", beside / cpu < FREE, beside / cpu, n=n)
    yield claim(
        "background.queued", (alone + cpu) / both > OVERLAP, *(1e3 * seconds for seconds in (alone, cpu, both)), n=n
    )
    yield faster("background.early", late / early, n=n)


def _product_of_product(gpu: Coprocessor, a: Any, b: Any, early: bool, busy: Callable[[], None] = lambda: None) -> None:
    """Run listing 4.7: two products queued, work on the CPU, and the result."""
    c = gpu.matmul(gpu.asarray(a), gpu.asarray(b))
    d = gpu.matmul(c, c)
    if early:
        d.prefetch()
    busy()
    d.numpy()


def _beside(gpu: Coprocessor, a: Any, b: Any, busy: Callable[[], None]) -> float:
    """Seconds of work on the CPU while products are queued that take longer."""
    c = gpu.matmul(gpu.asarray(a), gpu.asarray(b))
    for _ in range(4):
        last = gpu.matmul(c, c)
    seconds, _ = clock(busy)
    last.result()
    gpu.finish()
    return seconds


# -- applications -----------------------------------------------------------------------------------------------------


def _definite(place: Place) -> Claim:
    n = QUICK if place.quick else water.SIDE
    matrices = np.stack([matrix for matrix, _ in water.dense(_bands(n))]).astype(np.float64)
    skew = float(np.abs(matrices - matrices.transpose(0, 2, 1)).max())
    least, largest = (float(part(np.linalg.eigvalsh(matrices))) for part in (np.min, np.max))
    return claim("background.definite", skew == 0 and least > 0, len(matrices), least=least, largest=largest, n=n)


def _schemes(place: Place) -> Claim:
    n, steps = (QUICK, 2) if place.quick else (water.SIDE, water.STEPS)
    fields = []
    for scheme in ("adi", "semi_implicit"):
        simulation = water.resident(place.device, n, scheme)
        simulation.step(steps)
        fields.append(simulation.z.numpy().astype(np.float64))
    gap = float(np.abs(fields[0] - fields[1]).max())
    return claim("background.schemes", gap < CLOSE, gap=gap, n=n, steps=steps)


def _larger(place: Place) -> Claim:
    """Shallow water in the thesis's way: lines of a half step as dense systems, shared or not."""
    n = QUICK if place.quick else LARGER * water.SIDE
    systems = water.dense(_bands(n))
    with coprocessor() as gpu:
        cpu, both = (min(streamed("solve", systems, gpu, ratio) for _ in range(2)) for ratio in (np.inf, None))
    return faster("background.larger", cpu / both, n=n)


def _bands(n: int) -> water.Bands:
    """Bands of some lines of the first half step."""
    kept = list[water.Bands]()

    def solve(bands: water.Bands) -> water.Field:
        lower, diagonal, upper, right = (part[:, :LINES] for part in bands)
        kept.append((lower, diagonal, upper, right))
        return water.tridiagonal(bands)

    water.Reference(water.hump(n).astype(np.float32), solve).step()
    return kept[0]


def _lines(place: Place) -> Claim:
    """Run a program of NumPy's with the line altered that says where."""
    theirs = PROGRAM.splitlines()
    ours = [OURS, *theirs[1:]]
    n = place.compared[0]
    residuals = []
    for lines in (theirs, ours):
        names: dict[str, Any] = {"matrix": dominant(place, n), "right": uniform(place, n)}
        exec("\n".join(lines), names)
        residuals.append(names["answer"])
    altered = sum(line.startswith("+ ") for line in difflib.ndiff(theirs, ours))
    right = max(residuals) < 1e-4
    few = altered <= FEW * len(theirs)
    return claim("background.lines", right and few, len(theirs), *residuals, altered=altered, n=n)


claims = collected(_listing, _definite, _schemes, _larger, _lines)
