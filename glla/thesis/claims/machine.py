"""Claims about rates of a device, compared with its own ceilings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glla.lab import ceilings
from glla.thesis.claims.claim import Claim, claim
from glla.thesis.measure import Place, uniform

BOTH = 1.5
"""Times from which both sides of a branch are said to be executed."""

SLOWER = 1.1
"""Ratio of rates from which swizzles are said to cost something: the spread of a ceiling is a few per cent."""


def claims(place: Place) -> Iterator[Claim]:
    """Measure all."""
    rates = place.rates
    longer = 4 * rates["one"] / rates["four"]
    yield claim("machine.channels", longer < 2, longer=longer)
    yield claim("machine.swizzles", rates["four"] < SLOWER * rates["swizzled"], rates["four"] / rates["swizzled"])
    yield _branches(place)
    yield _in_place(place)
    yield _arithmetic(place, rates["four"])
    each = rates["four"] / 2 / (4 * rates["fetch"])
    yield claim("machine.multiply_adds", None, each=each)
    drawn, bus = rates["write"], rates["upload"]
    yield claim("machine.bus", drawn > 10 * bus, drawn / bus, drawn=drawn, bus=bus)
    yield _memory(place, drawn)


def _branches(place: Place) -> Claim:
    rates = {name: one.value for name, one in ceilings.Meter(place.device, place.quick).branches().items()}
    longer = rates["together"] / rates["apart"]
    return claim("machine.branches", longer > BOTH, longer=longer)


def _in_place(place: Place) -> Claim:
    side, draws = 256, 64
    wrong = int(np.count_nonzero((ceilings.in_place(place.device, side, draws) != draws).any(axis=-1)))
    return claim("machine.in_place", wrong == 0, side * side, wrong=wrong, draws=draws)


def _arithmetic(place: Place, gflops: float) -> Claim:
    n = place.compared[-1]
    cpu = 2e-9 * n**3 / place.cpu("matmul", uniform(place, n, n), uniform(place, n, n))
    return claim("machine.arithmetic", gflops > cpu, gflops / cpu, gflops=gflops, cpu=cpu)


def _memory(place: Place, drawn: float) -> Claim:
    side = 256 if place.quick else 4096
    source = np.ones((side, side), dtype=np.float32)
    target = np.empty_like(source)
    rate = source.nbytes / place.host(lambda: np.copyto(target, source)) / 1e9
    return claim("machine.memory", drawn > 10 * rate, drawn / rate, drawn=drawn, rate=rate)
