"""Run times as the thesis fits them: t(n) = a + b n^3, by least squares (Brodtkorb 2007, section 4.1, equation 4.7).

The constant a stands for what does not depend on the size, such as compiling and issuing passes; b decides for large
matrices, so the thesis calls b_CPU / b_GPU the speed-up. As there, every measurement weighs the same in seconds: the
large sizes decide, and a may well come out negative. A line through two or three points says little and always fits: no
fit goes through fewer than `FEWEST` sizes, and each says how far the measurements lie from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 4
"""Different sizes that a fit needs: two more than it has parameters, so that its residual means something."""

POOR = 0.5
"""Relative distance of a measurement from the line above which the line is called a rough guess."""


@dataclass(frozen=True)
class Fit:
    """A run time a + b n^3.

    >>> Fit(0.5, 2.0, 1, 10)(10)
    2000.5
    """

    a: float  # seconds, and seconds per n^3
    b: float
    smallest: float  # the sizes that it was fitted to
    largest: float
    # seconds by which measurements differ from the line: root of the sum of squares over the number of measurements
    # less two
    residual: float = 0.0
    worst: float = 0.0  # largest difference of a measurement from the line, relative to the measurement

    @property
    def poor(self) -> bool:
        """Whether some measurement lies further than `POOR` from the line."""
        return self.worst > POOR

    def __call__(self, n: float) -> float:
        """Seconds at size n."""
        return self.a + self.b * n**3

    def __str__(self) -> str:
        """Write it as the thesis does, with the residual in seconds, and how far a measurement is off at most."""
        line = f"{self.a:.3g} {'-' if self.b < 0 else '+'} {abs(self.b):.3g} n^3"
        return f"{line}, residual {self.residual:.2g}, off by up to {per_cent(self.worst)}"


def per_cent(part: float) -> str:
    """Write a relative difference.

    >>> per_cent(0.0123), per_cent(0.25), per_cent(12.0)
    ('1.2 %', '25 %', '1200 %')
    """
    return f"{100 * part:.2g} %" if part < 0.1 else f"{100 * part:.0f} %"


def fit(sizes: Sequence[float], seconds: Sequence[float]) -> Fit | None:
    """Fit a + b n^3 by least squares.

    None for fewer than `FEWEST` different sizes. `sizes`, `seconds`: the measurements.

    >>> f = fit([10, 20, 30, 40], [1.001, 1.008, 1.027, 1.064])
    >>> round(f.a, 9), round(f.b, 12)
    (1.0, 1e-06)
    """
    if len(set(sizes)) < FEWEST:
        return None
    times = np.asarray(seconds, dtype=np.float64)
    cubes = np.asarray(sizes, dtype=np.float64) ** 3
    scale = cubes.max()  # columns of like size: n^3 alone would leave the constant to rounding errors
    columns = np.column_stack([np.ones_like(cubes), cubes / scale])
    found = np.linalg.lstsq(columns, times, rcond=None)[0]
    off = np.abs(times - columns @ found)
    residual = float(np.sqrt((off**2).sum() / (len(times) - 2)))
    a, b = float(found[0]), float(found[1] / scale)
    return Fit(a, b, min(sizes), max(sizes), residual, float((off / times).max()) if times.all() else np.inf)


def speedup(ours: Fit, base: Fit) -> float | None:
    """Speed-up for large matrices, b_base / b_ours (equation 4.7); None where a b is not positive.

    >>> speedup(Fit(0, 1.0, 1, 2), Fit(0, 4.0, 1, 2))
    4.0
    """
    return base.b / ours.b if ours.b > 0 and base.b > 0 else None


def crossover(ours: Fit, base: Fit) -> float | None:
    """Size from which on the fitted line of ours is below that of the base; 0 if everywhere, None if never.

    None, too, where a b is not positive: such a line says nothing of larger sizes.

    >>> crossover(Fit(8.0, 1.0, 1, 2), Fit(0.0, 2.0, 1, 2))
    2.0
    >>> crossover(Fit(8.0, 2.0, 1, 2), Fit(0.0, 1.0, 1, 2)) is None
    True
    """
    if not 0 < ours.b < base.b:
        return None
    cube = (ours.a - base.a) / (base.b - ours.b)
    return float(np.cbrt(cube)) if cube > 0 else 0.0
