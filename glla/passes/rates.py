"""Rates of a device, and the time that work takes by them, for the `choose` of products.

A pass is issued by Python, runs its arithmetic, and writes. What takes longest of these binds; repacking passes come on
top, and so does each pass that waits for the one before it. Efficiencies are measured, see
``benchmarks/results/thresholds.md``.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

TEXEL_BYTES = 16
"""Bytes of a texel of four floats."""


class Rates(NamedTuple):
    """Rates of a device, as `glla ceilings` measures them.

    >>> Rates(flops=2e12, write=50e9, issue=2e-6, latency=1e-5).terms(1000, 4e9, 10**8)
    {'issuing passes': 0.002, 'arithmetic': 0.002, 'writing': 0.002}
    """

    flops: float  # a second, of fragments
    write: float  # bytes a second, to colour targets
    issue: float  # seconds of Python for a draw
    latency: float  # seconds of a pass that waits for the one before it
    alone: float = 1.2e9  # flop a second of one fragment: few fragments leave a device idle
    grain: tuple[int, int] = (2, 2)  # texels across and down that are shaded together
    overlap: float = 4.0  # exponent of the norm that adds issuing and arithmetic: 1 if one waits for the other

    def measured(self, flops: float, write: float, issue: float, latency: float) -> Rates:
        """Rates of a device of the same kind, measured."""
        return self._replace(flops=flops, write=write, issue=issue, latency=latency)

    def terms(self, passes: int, flops: float, nbytes: float) -> dict[str, float]:
        """Seconds at least of each kind of work of a plan."""
        return {
            "issuing passes": passes * self.issue,
            "arithmetic": flops / self.flops,
            "writing": nbytes / self.write,
        }

    def seconds(self, work: Work) -> float:
        """Seconds that a variant is expected to take."""
        rate = min(work.efficiency * self.flops, work.fragments * self.alone)
        issuing, arithmetic = work.draws * self.issue, work.flops / rate
        # The two overlap, but not where they are equally long.
        main: float = (issuing**self.overlap + arithmetic**self.overlap) ** (1 / self.overlap)
        return main + work.texels * TEXEL_BYTES / self.write + work.waits * self.latency

    def shaded(self, width: int, height: int) -> int:
        """Fragments that are shaded for a region: whole blocks of them."""
        across, down = self.grain
        return -(-width // across) * across * -(-height // down) * down


HARDWARE = Rates(flops=1.9e12, write=55e9, issue=2e-6, latency=12e-6)
"""Rates of a GPU that nobody has measured: those of an NVIDIA H100, whose fragment pipeline is that of a small GPU."""

SOFTWARE = Rates(flops=18e9, write=3e9, issue=8e-6, latency=8e-6, alone=inf, grain=(4, 2), overlap=1.5)
"""Rates of a software rasteriser: those of llvmpipe on one core. Vectors of eight floats shade 4 x 2 texels."""


class Work(NamedTuple):
    """The work of a variant of an operation, at a size."""

    flops: float  # of all fragments, those included that only fill blocks
    efficiency: float  # part of the device's arithmetic that its main pass reaches
    draws: int  # of its main part
    fragments: int  # of one of them
    texels: int = 0  # that the other passes write
    waits: int = 1  # passes that wait for the one before
