"""Claims about rates of a device, compared with its own ceilings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glla.lab import ceilings
from glla.thesis.claims.claim import HERE, Claim
from glla.thesis.measure import Place, uniform

GPU_GFLOPS, CPU_GFLOPS = 400, 90
"""High-end GPUs and CPUs, section 2.2.2."""

BUS, GPU_MEMORY, CPU_MEMORY = 4.0, 86.4, 8.5
"""GB/s of the PCI Express bus, of a GeForce 8800's memory, and of a CPU's, section 2.2.3."""

MULTIPLY_ADDS = 8
"""For each fetched float, "the ideal ratio for recent GPUs", section 2.2.5."""

BOTH = 1.5
"""Times from which both sides of a branch are said to be executed."""

SLOWER = 1.1
"""Ratio of rates from which swizzles are said to cost something: the spread of a ceiling is a few per cent."""


def claims(place: Place) -> Iterator[Claim]:
    """Measure all."""
    rates = place.rates
    longer = 4 * rates["one"] / rates["four"]
    yield Claim(
        "A multiply-add of four channels takes as long as one of a single channel", "3.1, listings 3.1 and 3.2",
        "the same time; longer on a GeForce 8800", f"{longer:.2f} times as long", longer < 2, HERE,
        "The units work on vectors of four.",
        "The units are scalar, as the GeForce 8800's were: they work on one channel of many fragments at a time.",
    )  # fmt: skip
    yield Claim(
        "Swizzles come with any instruction: a product of blocks costs its multiply-adds alone", "2.2.4 and 4.1.1",
        "free", f"{rates['four'] / rates['swizzled']:.2f} times as long with them",
        rates["four"] < SLOWER * rates["swizzled"], HERE,
        "Scalar units name a register for each channel, so its place in a vector is no work.",
        "Channels are moved by instructions of their own here.",
    )  # fmt: skip
    yield _branches(place)
    yield _in_place(place)
    yield _arithmetic(place, rates["four"])
    each = rates["four"] / 2 / (4 * rates["fetch"])
    yield Claim(
        "Multiply-adds for each fetched float keep the units busy", "2.2.5", f"{MULTIPLY_ADDS}",
        f"{each:.2g}", None, "glla ceilings",
        "It is the multiply-adds of a second over the floats that are fetched in it, from the cache.",
    )  # fmt: skip
    drawn, bus = rates["write"], rates["upload"]
    yield Claim(
        "The GPU's own memory is an order of magnitude faster than the bus", "2.2.3",
        f"{GPU_MEMORY / BUS:.3g} times ({GPU_MEMORY:g} over {BUS:g} GB/s)",
        f"{drawn / bus:.3g} times ({drawn:.3g} over {bus:.3g} GB/s)", drawn > 10 * bus,
        "glla ceilings", "A texture is drawn at the rate of the device's memory, and uploaded at that of the bus.",
        "The bus has become faster, and what fragments can write is bound by the rasteriser, not by the memory.",
    )  # fmt: skip
    yield _memory(place, drawn)


def _branches(place: Place) -> Claim:
    rates = {name: one.value for name, one in ceilings.of_branches(place.device, place.quick).items()}
    longer = rates["together"] / rates["apart"]
    return Claim(
        "If one fragment branches differently, all of its group execute both sides", "2.2.5",
        "both sides: 2 times as long", f"{longer:.2f} times as long if neighbours differ", longer > BOTH, HERE,
        "Groups of fragments still have one program counter, so two loops of like length take the time of both.",
        "Fragments are so few in a group, or loops so short, that both sides are hardly felt.",
    )  # fmt: skip


def _in_place(place: Place) -> Claim:
    side, draws = 256, 64
    wrong = int(np.count_nonzero((ceilings.in_place(place.device, side, draws) != draws).any(axis=-1)))
    return Claim(
        "Writing to the very texel that is read works, though OpenGL leaves it undefined", "2.2.4 and 4.1.1", "works",
        f"{wrong} of {side * side} texels wrong after {draws} draws", wrong == 0, HERE,
        "Draws are in order here; glla never relies on it: it exchanges two textures, or blends.",
        "Draws overlap, or one that the next covers is left out: a driver need not expect that what it hides is read.",
    )  # fmt: skip


def _arithmetic(place: Place, gflops: float) -> Claim:
    n = place.compared[-1]
    cpu = 2e-9 * n**3 / place.cpu("matmul", uniform(place, n, n), uniform(place, n, n))
    return Claim(
        "GPUs have more arithmetic than CPUs", "2.2.2",
        f"{GPU_GFLOPS / CPU_GFLOPS:.2g} times ({GPU_GFLOPS} over {CPU_GFLOPS} GFLOP/s)",
        f"{gflops / cpu:.2g} times ({gflops:.0f} over {cpu:.0f} GFLOP/s in BLAS, all cores)", gflops > cpu,
        "glla ceilings", "What fragments reach is more than all cores of the CPU do.",
        "Fragments reach a part of a GPU only, or are drawn by the CPU itself; BLAS uses wide registers on all cores.",
    )  # fmt: skip


def _memory(place: Place, drawn: float) -> Claim:
    side = 256 if place.quick else 4096
    source = np.ones((side, side), dtype=np.float32)
    target = np.empty_like(source)
    rate = source.nbytes / place.host(lambda: np.copyto(target, source)) / 1e9
    return Claim(
        "The GPU's memory is an order of magnitude faster than the CPU's", "2.2.3",
        f"{GPU_MEMORY / CPU_MEMORY:.3g} times ({GPU_MEMORY:g} over {CPU_MEMORY:g} GB/s)",
        f"{drawn / rate:.3g} times ({drawn:.3g} over {rate:.3g} GB/s, each written)", drawn > 10 * rate,
        HERE, "A GPU's memory is wide, and colour writes reach it.",
        "Colour writes are bound by the rasteriser, not by the memory, and a CPU's memory has many channels now.",
    )  # fmt: skip
