"""Distribution of systems: arithmetic on the times of both sides."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

GAIN = 1.1
"""Both sides work only if together they promise at least 1.1 times the rate of the better one alone. A smaller gain may
be lost to contention (cores, memory); the aim is never to be more than 5 % slower than the better one."""

WEIGHT = 0.25
"""Weight of a new time in the running mean of a side's times, between 0 and 1."""

LEAP = 2.0
"""A new time counts as at most twice, and at least half, the mean so far, so that one outlier has little effect."""

MARGIN = 1.5
"""The GPU is kept busy for 1.5 times the time of a system on the CPU, because times vary."""

MOST_AHEAD = 20
"""Systems taken from the stream before their results are due, at most."""


@dataclass(frozen=True)
class Pace:
    """Seconds per system on either side."""

    gpu_alone: float  # while the other side is idle
    cpu_alone: float
    gpu: float  # while the other side works: BLAS also competes for the core that drives the GPU
    cpu: float
    # GPUs that share the GPU side's systems; its seconds are those of one system divided by their number
    devices: int = 1

    @property
    def times(self) -> tuple[float, float, float, float]:
        """All four times."""
        return self.gpu_alone, self.cpu_alone, self.gpu, self.cpu

    @property
    def ratio(self) -> float:
        """Systems on the CPU for each one on the GPU: t_GPU / t_CPU, equation 4.46 before it is rounded up.

        0 where the GPU works alone, infinity where the CPU does.

        >>> Pace(gpu_alone=3, cpu_alone=2, gpu=4, cpu=2).ratio
        2.0
        """
        alone = {"gpu": 0.0, "cpu": math.inf}
        return alone[self.workers] if self.workers in alone else self.gpu / self.cpu

    @property
    def workers(self) -> str:
        """Who works: "both", or the better one of "gpu" and "cpu" if both together would not be faster by `GAIN`.

        >>> Pace(3, 2, 4, 2).workers, Pace(30, 2, 30, 2).workers, Pace(2, 3, 4, 6).workers
        ('both', 'cpu', 'gpu')
        """
        if 1 / self.gpu + 1 / self.cpu >= GAIN * max(1 / self.gpu_alone, 1 / self.cpu_alone):
            return "both"
        return "gpu" if self.gpu_alone < self.cpu_alone else "cpu"

    @property
    def ahead(self) -> int:
        """Systems to take ahead from the stream: those of the faster side during one of the slower side, and more."""
        if self.workers != "both":
            return 4 * self.devices
        return min(MOST_AHEAD, math.ceil(MARGIN * max(self.ratio, 1 / self.ratio)) + 4 * self.devices)

    def keeps_busy(self, seconds: float, systems: int) -> bool:
        """Whether the GPU's queue, in systems and seconds, lasts while the CPU computes one system.

        A longer queue is useless, and could not be taken back.
        """
        if self.workers != "both":
            return systems >= 2 * self.devices  # one is uploaded while the other one is read back
        return systems >= MOST_AHEAD or seconds >= MARGIN * self.cpu

    def corrected(self, side: str, seconds: float) -> Pace:
        """Update the times with those of a system on one side.

        >>> Pace(3, 2, 4, 2).corrected("cpu", 3)
        Pace(gpu_alone=3, cpu_alone=2, gpu=4, cpu=2.25, devices=1)
        """
        name = side if self.workers == "both" else f"{side}_alone"
        known = getattr(self, name)
        seconds = min(max(seconds, known / LEAP), known * LEAP)
        return replace(self, **{name: known + WEIGHT * (seconds - known)})


def from_ratio(ratio: float, cpu: float = 1.0) -> Pace:
    """Return times for a given ratio, and given seconds on the CPU; 0 and infinity leave one side alone.

    >>> from_ratio(2).ratio, from_ratio(0).workers, from_ratio(float("inf")).workers
    (2.0, 'gpu', 'cpu')
    """
    if ratio == 0:
        return Pace(1, math.inf, 1, math.inf)
    if ratio == math.inf:
        return Pace(math.inf, 1, math.inf, 1)
    return Pace(math.inf, math.inf, ratio * cpu, cpu)  # so that both sides work


def gpu_share(left: int, pace: Pace, gpu_busy: float = 0.0) -> int:
    """Number of the remaining systems for the GPU that minimises the time of the last result.

    The CPU is free now, the GPU in `gpu_busy` seconds. While the end of the stream is unknown, the systems taken from
    it count as the remaining ones: that is enough for both sides, see `Pace.ahead`, and no late system goes to a slow
    GPU.

    >>> gpu_share(25, Pace(2, 1, 2, 1))  # r = 2: 8 take 16 s, 17 take 17 s
    8
    >>> gpu_share(2, Pace(3, 1, 3, 1))  # a slow one must not be the last
    0
    """
    if pace.workers != "both":
        return left if pace.workers == "gpu" else 0
    best = (left * pace.cpu - gpu_busy) / (pace.gpu + pace.cpu)
    choices = {int(min(max(choice, 0), left)) for choice in (math.floor(best), math.ceil(best))}
    return min(choices, key=lambda count: (max(gpu_busy + count * pace.gpu, (left - count) * pace.cpu), count))


def gpu_takes(left: int, pace: Pace, gpu_busy: float, gpu_has: int) -> bool:
    """Whether the GPU, which has `gpu_has` systems, should get the next one."""
    return not pace.keeps_busy(gpu_busy, gpu_has) and gpu_share(left, pace, gpu_busy) > 0


def cpu_takes(left: int, pace: Pace, gpu_busy: float) -> bool:
    """Whether the CPU, which is free, should take the next one, or leave all to the GPU."""
    return gpu_share(left, pace, gpu_busy) < left
