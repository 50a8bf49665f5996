"""Repeated timings of one piece of work: the median counts, the quartiles say how far it can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Effort:
    """How long to time some work."""

    most: int = 40  # repeats at most, and at least
    fewest: int = 3
    seconds: float = 0.15  # no more repeats than `fewest` once all of them took this long
    warm: float = 0.05  # seconds of the same work before, so that clock and threads are awake


NOISY = 1.25
"""The upper quartile of a timing over its lower one, a ratio, above which the timing is called noisy: the factor of
`glla.lab.peers.AGREEMENT`."""


@dataclass(frozen=True)
class Samples:
    """Seconds of each repeat, in the order in which they were taken.

    >>> found = Samples((3.0, 1.0, 2.0, 8.0))
    >>> found.median, found.lower, found.upper
    (2.5, 1.75, 4.25)
    >>> found.noisy
    True
    """

    times: tuple[float, ...]

    @classmethod
    def of(cls, times: Iterable[float]) -> Samples:
        """Take seconds as they come."""
        return cls(tuple(times))

    @classmethod
    def summarised(cls, figures: Mapping[str, Any]) -> Samples:
        """Read figures that `as_dict` wrote: five repeats that have them, if the samples were not kept."""
        named = [figures[name] for name in ("fastest", "lower", "seconds", "upper", "slowest")]
        return cls(tuple(figures.get("samples") or named))

    @property
    def median(self) -> float:
        """The figure."""
        return median(self.times)

    @property
    def lower(self) -> float:
        """Lower quartile: a quarter of the repeats took less."""
        return float(np.percentile(self.times, 25))

    @property
    def upper(self) -> float:
        """Upper quartile: a quarter of the repeats took longer."""
        return float(np.percentile(self.times, 75))

    @property
    def spread(self) -> float:
        """The largest less the smallest, relative to the median."""
        return (max(self.times) - min(self.times)) / self.median

    @property
    def noisy(self) -> bool:
        """Whether the quartiles lie more than `NOISY` apart."""
        return self.upper > NOISY * self.lower

    def as_dict(self) -> dict[str, Any]:
        """As plain data: the figures, and every sample."""
        return {
            "seconds": self.median,
            "lower": self.lower,
            "upper": self.upper,
            "fastest": min(self.times),
            "slowest": max(self.times),
            "repeats": len(self.times),
            "samples": list(self.times),
        }


def repeated(once: Callable[[], float], effort: Effort, calls: int = 1) -> Samples:
    """Repeat work that gives its own seconds as often as an effort says; a repeat is the mean of some calls.

    >>> repeated(lambda: 2.0, Effort(most=5, seconds=7.0)).times
    (2.0, 2.0, 2.0, 2.0)
    >>> [len(repeated(lambda: 2.0, Effort(most=most, fewest=3, seconds=1.0)).times) for most in (2, 9)]
    [2, 3]
    """
    times: list[float] = []
    while len(times) < effort.most and (len(times) < effort.fewest or calls * sum(times) < effort.seconds):
        times.append(sum(once() for _ in range(calls)) / calls)
    return Samples.of(times)
