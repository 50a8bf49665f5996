"""The self-test of a device: small problems with known answers, run on it.

OpenGL 3.3 leaves much open: whether denormals survive, how accurate a quotient is, what the compiler may rearrange; and
a driver may simply be wrong. `examine` runs the plans of `glla.operations.probe` and compares their results with the
known answers. If a *necessary* finding fails, results of glla are wrong on this device. The others are for information.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from glla.gl import Device
from glla.operations import probe
from glla.operations.record import Float32
from glla.passes import Plan
from glla.passes.layout import Shape

Number = bool | int | float

SIZE: Shape = (19, 37)
"""Texels of the small probes: odd, not square, and no multiple of a rasteriser's tile."""

TRIPS = (65535, 65536, 100000, 200000)
"""Trip counts that are tested besides the one that glla relies on."""

LARGEST = float(np.finfo(np.float32).max)
"""float32's largest finite value."""

SPECIAL = (math.nan, math.inf, -math.inf, 0.0, 1.0, -1.0, LARGEST, -LARGEST, 1e-30)
"""Values whose pairwise sums and products are compared with IEEE 754's."""

DENORMAL = 2.0**-130
"""A denormal of float32, whose smallest normal number is 2^-126."""

WIDTH = 512
"""Texels in a row of the operands of quotients and roots."""


@dataclass(frozen=True)
class Finding:
    """The outcome of one test."""

    name: str  # name of the test
    ok: bool  # necessary tests: it works. Others: as IEEE 754 and the text of the shader say
    detail: str  # the result as a sentence
    necessary: bool = False  # results are wrong if it fails
    figures: Mapping[str, Number] = field(default_factory=dict)  # measured numbers, by name

    @property
    def verdict(self) -> str:
        """``ok``, ``FAILED`` if it is necessary and fails, or ``note`` if it is for information only."""
        return "ok" if self.ok else "FAILED" if self.necessary else "note"


def examine(device: Device) -> list[Finding]:
    """Run all tests on a device. Synchronises; takes well under a second, most of it compiling.

    >>> import glla
    >>> findings = examine(glla.default_device())
    >>> passed(findings)
    True
    """
    probes: tuple[Callable[[Device], list[Finding]], ...] = (
        _answers, _swizzles, _blending, _specials, _loops, _denormals, _accuracy, _compiler,
    )  # fmt: skip
    return [finding for look in probes for finding in look(device)]


def passed(findings: list[Finding]) -> bool:
    """Whether all necessary tests passed."""
    return all(finding.ok for finding in findings if finding.necessary)


def _run(device: Device, plan: Plan, **operands: Float32) -> dict[str, Float32]:
    """Run a plan on arrays of texels, and read back its results."""
    textures = {name: device.write_texels(texels) for name, texels in operands.items()}
    return {name: device.read(texture) for name, texture in device.run(plan, **textures).items()}


def _compared(name: str, detail: str, *compared: tuple[Float32, Float32]) -> Finding:
    """Return a necessary finding from (actual, expected) texels: all equal, with NaN where NaN is expected."""
    count = 0
    for actual, expected in compared:
        wrong = ~((actual == expected) | (np.isnan(actual) & np.isnan(expected)))
        if wrong.any() and count == 0:
            y, x, channel = np.argwhere(wrong)[0]
            seen = f"{actual[y, x, channel]!s}, expected {expected[y, x, channel]!s}"
            detail = f"texel ({x}, {y}), channel {'rgba'[channel]} is {seen}"
        count += int(np.count_nonzero(wrong))
    if count:
        detail += f"; {count} wrong in all"
    return Finding(name, count == 0, detail, necessary=True, figures={"wrong_values": count})


# -- necessary: results are wrong where one of these fails -------------------------------------------------------


def _integers(seed: int) -> Float32:
    return np.random.default_rng(seed).integers(-999, 1000, (*SIZE, 4)).astype(np.float32)


def _answers(device: Device) -> list[Finding]:
    a = _integers(seed=1)
    y, x = np.mgrid[: SIZE[0], : SIZE[1]]
    mixed = 7 * x + 3 * y
    figures = [1000 * y + x, a @ [1, 2, 3, 4], 100 * (mixed // 5) + mixed % 5, 2**24 - 1 - x]
    expected = np.stack(figures, axis=-1).astype(np.float32)
    actual = _run(device, probe.answers(SIZE), A=a)["answers"]
    return [_compared("known answers", "an RGBA32F target holds them, to the last bit", (actual, expected))]


def _swizzles(device: Device) -> list[Finding]:
    a, b = _integers(seed=2), _integers(seed=3)
    product = (a.reshape(*SIZE, 2, 2) @ b.reshape(*SIZE, 2, 2)).reshape(*SIZE, 4)
    result = _run(device, probe.swizzle(SIZE), A=a, B=b)
    compared = ((result["reversed"], a[..., ::-1]), (result["product"], product))
    return [_compared("swizzles", "channels keep their order, in both of two targets", *compared)]


def _blending(device: Device) -> list[Finding]:
    layers = [_integers(seed) * np.float32(1 / 16) for seed in range(4, 10)]
    operands = {f"layer_{number}": layer for number, layer in enumerate(layers)}
    actual = _run(device, probe.blending(SIZE, len(layers)), **operands)["sum"]
    expected = np.asarray(np.sum(layers, axis=0, dtype=np.float32))
    return [_compared("float blending", f"{len(layers)} layers add up exactly in RGBA32F", (actual, expected))]


def _specials(device: Device) -> list[Finding]:
    """NaN and infinities: through a texture, through + and *, through blending."""
    a, b = np.meshgrid(np.array(SPECIAL, dtype=np.float32), np.array(SPECIAL, dtype=np.float32))
    with np.errstate(all="ignore"):
        expected = np.stack([a + b, a * b, a, np.isnan(a)], axis=-1)
    size = (len(SPECIAL), len(SPECIAL))
    result = _run(device, probe.arithmetic(size), pairs=np.stack([a, b], axis=-1))["result"]
    layers = {"layer_0": _in_four_channels(a), "layer_1": _in_four_channels(b)}
    blended = _run(device, probe.blending(size, 2), **layers)["sum"]
    compared = ((result, expected), (blended, _in_four_channels(expected[..., 0])))
    return [_compared("NaN and infinity", "go through textures, +, *, comparison and blending", *compared)]


def _in_four_channels(values: Float32) -> Float32:
    return np.repeat(values[..., np.newaxis], 4, axis=-1)


def _loops(device: Device) -> list[Finding]:
    needed = device.limits.loop_trips
    trips = (needed, *TRIPS)
    unit = np.ones((1, 1, 1), dtype=np.float32)
    counts = _run(device, probe.loops(trips), unit=unit)["counts"].ravel()
    wrong = [(asked, float(count)) for asked, count in zip(trips, counts, strict=True) if count != asked]
    longest = int(np.nan_to_num(wrong[0][1])) if wrong else max(trips)
    found = f"asked for {wrong[0][0]} trips, end after {longest}, silently" if wrong else f"run for {longest} trips"
    figures = {"needed": needed, "longest": longest}
    return [Finding("loops", bool(counts[0] == needed), f"{found}; glla relies on {needed}", True, figures)]


# -- for information: results are right either way -------------------------------------------------------


def _denormals(device: Device) -> list[Finding]:
    """Four questions, a texel each: an operand made normal, a result from normal operands, a copy, a blended sum."""
    pairs = np.array([[[DENORMAL, 2.0**100], [2.0**-126, 2.0**-4]]], dtype=np.float32)
    result = _run(device, probe.arithmetic((1, 2)), pairs=pairs)["result"][0]
    layers = {"layer_0": np.zeros((1, 1, 4), np.float32), "layer_1": np.full((1, 1, 4), DENORMAL, np.float32)}
    blended = _run(device, probe.blending((1, 1), 2), **layers)["sum"]
    kept = {
        "copies": bool(result[0, 2] == np.float32(DENORMAL)),
        "operands": bool(result[0, 1] == np.float32(2.0**-30)),
        "results": bool(result[1, 1] == np.float32(DENORMAL)),
        "blending": bool(blended[0, 0, 0] == np.float32(DENORMAL)),
    }
    detail = "; ".join(
        f"{word}: {', '.join(names)}"
        for word, wanted in (("kept", True), ("flushed to zero", False))
        if (names := [name for name, is_kept in kept.items() if is_kept is wanted])
    )
    return [Finding("denormals", all(kept.values()), detail, figures={f"{name}_kept": k for name, k in kept.items()})]


def operand_pairs() -> dict[str, Float32]:
    """Return the operands for testing `/` and the root: (a, b) in the last axis, every quotient normal.

    ``wide``, magnitudes from 2^-60 to 2^60 and either sign; ``whole``, all pairs of 1 to 256; ``large``, divisors from
    2^126 to float32's largest value.
    """
    rng = np.random.default_rng(20070601)
    signs = rng.choice([-1.0, 1.0], (2**18, 2))
    wide = signs * np.ldexp(rng.uniform(1, 2, (2**18, 2)), rng.integers(-60, 60, (2**18, 2)))
    whole = np.stack(np.meshgrid(np.arange(1, 257), np.arange(1, 257)), axis=-1).reshape(-1, 2)
    large = np.ldexp(rng.uniform(1, 2, (2**14, 2)), rng.integers((60, 126), (128, 128), (2**14, 2)))
    large[0] = LARGEST
    return {name: pairs.astype(np.float32) for name, pairs in (("wide", wide), ("whole", whole), ("large", large))}


def ulps(actual: Float32, exact: NDArray[np.float64]) -> float:
    """Return the largest error in units in the last place of the exact value; infinite for a NaN or an infinity.

    >>> ulps(np.array([1.0, 2.0], dtype=np.float32), np.array([1.0, 2.0 + 2.0**-23]))
    0.5
    """
    with np.errstate(invalid="ignore"):
        error = np.abs(actual.astype(np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32))
    return float(np.max(np.where(np.isfinite(actual), error, math.inf)))


def _accuracy(device: Device) -> list[Finding]:
    sets = operand_pairs()
    pairs = np.concatenate(list(sets.values()))
    size = (len(pairs) // WIDTH, WIDTH)
    result = _run(device, probe.accuracy(size), pairs=pairs.reshape(*size, 2))["result"].reshape(-1, 4)
    a, b = pairs.astype(np.float64).T
    quotients, roots = a / b, np.sqrt(np.abs(a))
    large = slice(len(pairs) - len(sets["large"]), None)
    usual = slice(0, large.start)
    beyond = ulps(result[large, 0], quotients[large])
    ours = ulps(result[:, 1], quotients)
    return [
        _measured("division", ulps(result[usual, 0], quotients[usual]), f"{large.start} quotients"),
        _measured("division by 2^126 and more", beyond, f"{len(sets['large'])} quotients"),
        _measured("glla's own division", ours, f"{len(pairs)} quotients, of both kinds"),
        _measured("square root", ulps(result[:, 2], roots), f"{len(pairs)} roots"),
    ]


def _measured(name: str, error: float, of: str) -> Finding:
    exact = error <= 0.5
    detail = f"error up to {error:.3g} ulp in {of}{', correctly rounded' if exact else ''}"
    return Finding(name, exact, detail, figures={"max_ulps": error})


def _compiler(device: Device) -> list[Finding]:
    rng = np.random.default_rng(7)
    operands = np.empty((16, 16, 4), dtype=np.float32)
    operands[..., :2] = rng.uniform(1, 2, (16, 16, 2))
    operands[..., 2] = -(operands[..., 0] * operands[..., 1])
    operands[..., 3] = 2.0**-30
    result = _run(device, probe.compiler((16, 16)), operands=operands)["result"]
    product = operands[..., 0].astype(np.float64) * operands[..., 1]
    fused = product + operands[..., 2] == result[..., 0]
    separate = result[..., 0] == 0
    return [_contraction(bool(fused.all()), bool(separate.all())), _folding(result)]


def _contraction(fused: bool, separate: bool) -> Finding:
    words = {(True, False): "one rounding (fused)", (False, True): "two roundings, as written"}
    detail = words.get((fused, separate), "neither always fused nor always separate")
    return Finding("a * b + c", separate, detail, figures={"fused": fused, "separate": separate})


def _folding(result: Float32) -> Finding:
    folded, behind = bool(result[..., 1].any()), bool(result[..., 2].any())
    detail = "simplified to b by the compiler" if folded else "computed as written"
    if folded:
        detail += ", behind a uniform factor too" if behind else ", but not behind a uniform factor of 1"
    return Finding("(a + b) - a", not folded, detail, figures={"folded": folded, "folded_behind_uniform": behind})
