"""How the thesis's evaluation is measured: plans on the device, peers on the CPU, and the fits of the thesis.

As in the thesis, a GPU's time is that of the computation with its operands on the device: no compiling, no transfer.
The CPU's is that of the peer in its fastest way, see `glla.lab.peers`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla import hybrid, linalg
from glla.array.convert import Float32
from glla.gl import Device
from glla.gl.clock import clock
from glla.lab import ceilings, fits, peers
from glla.lab.fits import FEWEST, per_cent
from glla.lab.operations import uploaded
from glla.lab.samples import Effort, Samples, repeated
from glla.operations import OPERATIONS
from glla.passes import Plan, resident
from glla.queue import Coprocessor
from glla.thesis import published
from glla.thesis.parts import Cell, Series

SMALL = (64, 128, 192, 256, 384)
"""Orders for a software rasteriser."""

LARGE = (256, 512, 1024, 1536, 2048, 3072, 4096)
"""Orders for a GPU."""

COMPARED = 2048
"""Largest order at which two ways are compared, and at which CPU and GPU share a stream."""

ENOUGH = 0.5
"""Seconds of repeats after which there are no more of them."""

NOISY = 0.1
"""Residual over the longest run time, or the largest error, above which the thesis's line is said not to fit: as in the
thesis every measurement weighs the same in seconds, so that the constant is far off for small sizes and says nothing of
them."""

QUICK = (8, 12, 16, 24)
"""Orders of a quick run, which only shows that everything runs."""

ONCE = Effort(fewest=1, most=1, seconds=0.0, warm=0.0)
"""Of a peer in a quick run."""


@dataclass
class Place:
    """Where it is measured, and how much."""

    device: Device
    quick: bool = False  # small sizes, few repeats: shows that it runs, and nothing of speed
    say: Callable[[str], None] = lambda what: None  # takes a line on what is done now
    largest: int | None = None  # no order above it; None for what suits the device
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(2007))
    taken: list[Samples] = field(default_factory=list)  # repeats of every time that was measured, until `repeats`
    # operation -> the call that was the peer's fastest the last time
    called: dict[str, str] = field(default_factory=dict)

    @cached_property
    def rates(self) -> dict[str, float]:
        """Peak rates of the device, see `glla.lab.ceilings.Meter.channels`."""
        return {name: one.value for name, one in ceilings.Meter(self.device, self.quick).channels().items()}

    @property
    def sizes(self) -> tuple[int, ...]:
        """Orders that are measured."""
        orders = QUICK if self.quick else SMALL if self.device.info.software else LARGE
        if self.largest is None:
            return orders
        return tuple(n for n in orders if n <= self.largest) or (self.largest,)

    @property
    def compared(self) -> tuple[int, ...]:
        """Orders at which different ways are compared: those of `sizes` up to `COMPARED`."""
        return tuple(n for n in self.sizes if n <= COMPARED) or self.sizes[:1]

    def up_to(self, most: int) -> int:
        """Largest order of `compared` that is not above `most`, or the smallest one."""
        return max(n for n in self.compared if n <= max(most, self.compared[0]))

    def shared(self, theirs: Sequence[float]) -> list[int]:
        """Orders of the thesis's table that can be measured here, beside `sizes`."""
        most = min(1.4 * self.sizes[-1], self.largest or np.inf)
        return sorted({*self.sizes, *(int(n) for n in theirs if n <= most)})

    def gpu(self, plan: Plan, operation: str, *arrays: Float32) -> float:
        """Seconds of a plan whose operands are on the device: the median of a few runs."""
        operands = uploaded(self.device, OPERATIONS[operation], plan, arrays)
        return self.finished(lambda: self.device.run(plan, **operands))

    def timed(self, operation: str, *arrays: Float32, **options: Any) -> float:
        """Seconds of an operation with its operands on the device, by a variant or with other options."""
        shapes = (a.shape for a in arrays)
        return self.gpu(planned(self, operation, *shapes, **options), operation, *arrays)

    def finished(self, work: Callable[[], Any]) -> float:
        """Seconds of some work on arrays of the device, until its results are there."""
        return self.repeated(lambda: clock(work, self.device.finish)[0])

    def gpu_plan(self, plan: Plan, matrices: Mapping[str, Float32]) -> float:
        """As `gpu`, of a plan that is no operation's, with packed matrices for its operands."""
        operands = {name: self.device.upload(value) for name, value in matrices.items()}
        return self.finished(lambda: self.device.run(plan, **operands))

    def cpu(self, operation: str, *arrays: Float32) -> float:
        """Seconds of the operation's peer on the CPU in its fastest way; of its usual call, if it must be quick."""
        peer = peers.peer_of(OPERATIONS[operation])
        assert peer is not None
        given = peer.given(*arrays)
        if self.quick:
            self.called[operation] = peer.usual.label
            return self._kept(peers.repeats(peer.usual, given, None, ONCE))
        figure = peers.Figure(peer, "thesis", given, peers.QUICK)
        figure.time(given)
        self.called[operation] = str(figure.best)
        return self._kept(figure.best.samples)

    def host(self, work: Callable[[], Any]) -> float:
        """Seconds of some work on the CPU."""
        return self.repeated(lambda: clock(work)[0])

    def repeated(self, once: Callable[[], float]) -> float:
        """Run for the first time, which compiles and so does not count; then the median of up to five."""
        once()
        return self._kept(repeated(once, Effort(2 if self.quick else 5, 1, ENOUGH)))

    def _kept(self, samples: Samples) -> float:
        self.taken.append(samples)
        return float(samples.median)

    def repeats(self) -> list[str]:
        """Say how often was repeated since this was asked for, and how far repeats are apart."""
        taken, self.taken = self.taken, []
        counts = [len(one.times) for one in taken]
        apart = sorted((one.upper - one.lower) / one.median for one in taken if len(one.times) > 1 and one.median > 0)
        if not apart:
            return []
        once = counts.count(1)
        least = min(n for n in counts if n > 1)
        words = f"{len(taken)} run times were measured: medians of {least} to {max(counts)} repeats"
        words += f" after a first run, but {once} of a single one, as it took long" if once else " after a first run"
        middle, worst = (per_cent(float(part)) for part in (np.median(apart), apart[-1]))
        return [f"{words}. Their quartiles lie {middle} of the median apart in half of the cases, {worst} at worst."]


def streamed(operation: str, systems: Sequence[Any], gpu: Coprocessor, ratio: float | None) -> float:
    """Seconds of a stream, of which the CPU does `ratio` systems for each one on the GPU; measuring does not count."""
    start = time.perf_counter()
    with hybrid.map(operation, systems, ratio=ratio, gpu=gpu) as stream:
        for _ in stream:
            pass
        return time.perf_counter() - start - stream.report.measuring_seconds


def uniform(place: Place, *shape: int) -> Float32:
    """Entries from 0 to 10, as the thesis has them."""
    return place.rng.uniform(0, 10, shape).astype(np.float32)


def dominant(place: Place, n: int) -> Float32:
    """A matrix of U[0, 10) with a large random diagonal: ten times the row sums or more (the thesis says no number)."""
    a = uniform(place, n, n)
    a[np.arange(n), np.arange(n)] += (10 * n * (1 + place.rng.random(n))).astype(np.float32)
    return a


def restored(place: Place, a: Float32, pivoting: Any, **options: Any) -> NDArray[np.float64]:
    """P L U of a factorisation on the device."""
    P, L, U = (np.asarray(part, np.float64) for part in linalg.plu(a, pivoting, device=place.device, **options))
    product: NDArray[np.float64] = P @ L @ U
    return product


def planned(place: Place, operation: str, *shapes: tuple[int, ...], **options: Any) -> Plan:
    """Plan of an operation with its operands on the device."""
    made: Plan = OPERATIONS[operation].device_plan(resident(*shapes), place.device.limits, **options)
    return made


# -- fits -------------------------------------------------------------------------------------------------------------


def cubic(label: str, sizes: Sequence[float], seconds: Sequence[float]) -> tuple[Series, fits.Fit | None, str]:
    """Fit a + b n^3 as the thesis does; the line is drawn where it fits."""
    found, marks = fits.fit(sizes, seconds), Series(label, tuple(sizes), tuple(seconds))
    if found is None:
        return marks, None, f"no fit: fewer than {FEWEST} sizes"
    part = found.residual / max(seconds)
    if not part <= NOISY or found.b <= 0:
        return marks, None, f"no fit: residual {per_cent(part)} of the longest time"
    drawn = replace(marks, line=_points(found.a, found.b, sizes))
    return drawn, found, _line(found.a, found.b, found.residual)


def _points(a: float, b: float, sizes: Sequence[float]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Points of a + b n^3 where it is positive."""
    x = np.geomspace(min(sizes), max(sizes), 60)
    y = a + b * x**3
    return tuple(x[y > 0]), tuple(y[y > 0])


def polynomial(label: str, sizes: Sequence[float], values: Sequence[float], degree: int) -> tuple[Series, str]:
    """Fit a polynomial as the thesis does for errors, and say how far it is off."""
    if len(set(sizes)) < degree + 2:
        return Series(label, tuple(sizes), tuple(values)), f"no fit: fewer than {degree + 2} sizes"
    scale = max(sizes)
    coefficients = np.polyfit(np.array(sizes) / scale, values, degree)
    off = np.abs(np.polyval(coefficients, np.array(sizes) / scale) - values)
    residual = float(np.sqrt(np.sum(off**2) / (len(sizes) - degree - 1)))
    part = residual / max(values)
    if not part <= NOISY:
        return Series(label, tuple(sizes), tuple(values)), f"no fit: residual {per_cent(part)} of the largest"
    x = np.linspace(min(sizes), max(sizes), 60)
    powers = ("", " n", *(f" n^{i}" for i in range(2, degree + 1)))
    terms = (f"{c / scale**i:.3g}{powers[i]}" for i, c in enumerate(coefficients[::-1]))
    line = tuple(x), tuple(np.polyval(coefficients, x / scale))
    text = f"{' + '.join(terms)}, residual {residual:.2g}, {per_cent(part)} of the largest"
    return Series(label, tuple(sizes), tuple(values), line), text


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """Power of n that the values follow best, by a line through their logarithms; None for a single size.

    >>> exponent((1, 2, 4), (3, 12, 48))
    2.0
    """
    if len(sizes) < 2:
        return None
    return round(float(np.polyfit(np.log(sizes), np.log(values), 1)[0]), 3)


def lasting(sizes: Sequence[float], holds: Sequence[bool]) -> float | None:
    """Size from which on something holds, None if not even at the largest one.

    >>> lasting((1, 2, 3, 4), (True, False, True, True)), lasting((1, 2), (True, False))
    (3, None)
    """
    found = None
    for size, true in sorted(zip(sizes, holds, strict=True), reverse=True):
        if not true:
            break
        found = size
    return found


def theirs(name: str) -> str:
    """Write a fit of the thesis, with its residual over the measurements in its tables."""
    a, b = published.FITS[name]
    off = [a + b * n**3 - seconds for n, seconds in published.MEASURED[name]]
    return _line(a, b, float(np.sqrt(np.sum(np.square(off)) / (len(off) - 2))))


def their_curve(name: str) -> Series:
    """Measurements in a table of the thesis, and the line that it prints for them."""
    a, b = published.FITS[name]
    sizes, seconds = zip(*published.MEASURED[name], strict=True)
    return Series(f"theirs: {name}", sizes, seconds, _points(a, b, sizes), theirs=True)


def _line(a: float, b: float, residual: float) -> str:
    return f"{a:.3g} + {b:.3g} n^3, residual {residual:.2g} s"


def speedup(ours: fits.Fit | None, base: fits.Fit | None) -> Cell:
    """Equation 4.7, where both lines fit."""
    found = fits.speedup(ours, base) if ours is not None and base is not None else None
    return "no fit" if found is None else found
