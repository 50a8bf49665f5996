"""`glla ceilings`: peak rates of a device, measured the way glla uses it.

Each figure is the median of several repeats; a repeat is so much work that it takes a time worth measuring, and ends
with `Device.finish`. Work goes through plans (`glla.operations.ceilings`) and `Device.run`, on random data, with the
clock of a GPU warmed up before. Timer queries would be wrong under llvmpipe; the wall clock is right everywhere.
"""

from __future__ import annotations

import platform
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from glla.gl import Device, Texture, interrupts
from glla.gl.clock import warm_up
from glla.lab.machine import cores
from glla.lab.samples import Samples
from glla.lab.study import clock
from glla.lab.table import aligned, digits
from glla.operations import ceilings as kernels
from glla.operations.layouts import packing
from glla.operations.product import matmul
from glla.operations.product.blocked_product import DEPTH
from glla.operations.record import Float32
from glla.passes import Plan, resident
from glla.passes.glsl import find as shaders
from glla.passes.layout import packed

Action = Callable[[], object]

DRAWS = 256
"""Draws of a plan that measures the price of a draw."""

LOOPS = 32
"""Rounds of the loop of `branches` for each round of the other loops, which do more work in one."""

TARGETS = (1, 2, 4, 8)
FORMATS = {4: "rgba32f", 2: "rg32f", 1: "r32f"}
MILLION, BILLION = 1e6, 1e9


@dataclass(frozen=True)
class Effort:
    """How much to do."""

    side: int  # texels on a side of the targets
    matrix: int  # texels on a side of what is copied between host, texture and buffer
    rounds: int  # of the loop in a fragment
    steps: int  # passes of a plan
    seconds: float  # what a repeat should take at least
    repeats: int  # repeats; their median counts
    warm: float  # seconds of work before the first measurement


EFFORTS = {  # (software, quick)
    (True, True): Effort(side=256, matrix=256, rounds=1, steps=2, seconds=0.01, repeats=3, warm=0.0),
    (True, False): Effort(side=512, matrix=1024, rounds=4, steps=2, seconds=0.05, repeats=5, warm=0.1),
    (False, True): Effort(side=512, matrix=1024, rounds=16, steps=4, seconds=0.01, repeats=3, warm=0.5),
    (False, False): Effort(side=1024, matrix=2048, rounds=16, steps=4, seconds=0.04, repeats=5, warm=0.5),
}


@dataclass(frozen=True)
class Ceiling:
    """A figure."""

    value: float  # the median
    unit: str  # its unit
    what: str  # what was measured
    spread: float  # the largest less the smallest of the repeats, relative to the median


def rate(samples: Samples, work: float, unit: str, what: str) -> Ceiling:
    """Work per second."""
    return Ceiling(work / samples.median / BILLION, unit, what, samples.spread)


def price(samples: Samples, count: int, what: str) -> Ceiling:
    """Microseconds of one of `count`."""
    return Ceiling(MILLION * samples.median / count, "us", what, samples.spread)


def report(
    device: Device, quick: bool = False, progress: Callable[[str], object] = lambda what: None
) -> dict[str, Any]:
    """Measure everything, which takes some seconds; ceilings and their device as plain data.

    `quick`: less work and fewer repeats: figures that tell whether it works, rather than how fast. `progress`: called
    with what is measured next, in words.
    """
    begun = time.perf_counter()
    progress("a warm clock")
    meter, figures = Meter(device, quick), dict[str, Ceiling]()
    parts = {"fragments": meter.fragments, "writes": meter.colours, "copies": meter.transfers, "draws": meter.draws}
    for what, measured in parts.items():
        progress(what)
        figures |= measured()
    return {
        "renderer": device.info.renderer,
        "driver": device.info.version,
        "backend": device.info.backend,
        "software": device.info.software,
        "cores": cores(),
        "python": platform.python_version(),
        "quick": quick,
        "seconds": round(time.perf_counter() - begun, 3),
        "ceilings": {name: asdict(figure) for name, figure in figures.items()},
    }


def of_rates(device: Device, quick: bool = False) -> dict[str, float]:
    """Measure the rates by which `choose` compares variants, by the names of `glla.passes.rates.Rates`."""
    meter = Meter(device, quick)
    start = device.write_texels(np.zeros((2, 2, 4), dtype=np.float32))
    return {
        "flops": BILLION * meter.arithmetic("32 independent sums").value,
        "write": BILLION * meter.written(kernels.write(meter.size, meter.effort.steps, 1), "1 target").value,
        "issue": meter.issue(),
        "latency": meter.time_plan(kernels.ping_pong(DRAWS), start=start).median / DRAWS,
    }


def of_fragments(device: Device, quick: bool = False) -> dict[str, Ceiling]:
    """Measure only arithmetic, fetches and colour writes of fragments: enough for a roofline, in less time."""
    meter = Meter(device, quick)
    return {**meter.fragments(), **meter.colours()}


class Meter:
    """The measurements, after a while of work: an idle GPU's clock is low."""

    def __init__(self, device: Device, quick: bool = False) -> None:
        self.device = device
        self.effort = EFFORTS[device.info.software, quick]
        self.size = (self.effort.side, self.effort.side)
        self.rng = np.random.default_rng(2007)
        m, c = self.rng.uniform(0.5, 1, (2, kernels.SIDE, kernels.SIDE))
        self.coefficients = device.write_texels(np.stack([m, c, 1 / m, -c / m], axis=-1).astype(np.float32))
        plan = kernels.arithmetic(self.size, self.effort.steps, self.effort.rounds)
        warm_up(partial(device.run, plan, coefficients=self.coefficients), self.effort.warm, device.finish)

    def random(self, height: int, width: int, channels: int) -> Float32:
        """Make random texels from 1 to 2."""
        return self.rng.uniform(1, 2, (height, width, channels)).astype(np.float32)

    def time(self, action: Action) -> Samples:
        """Time an action."""
        return clock(action, self.effort.repeats, self.device, least=self.effort.seconds)

    def time_plan(self, plan: Plan, **operands: Texture) -> Samples:
        """Time a plan."""
        return self.time(partial(self.device.run, plan, **operands))

    # -- what fragments do --------------------------------------------------------------------------------------

    def arithmetic(self, what: str, channels: int = 4, swizzled: bool = False) -> Ceiling:
        """Rate of multiply-adds."""
        plan = kernels.arithmetic(self.size, self.effort.steps, self.effort.rounds, channels, swizzled)
        timed = self.time_plan(plan, coefficients=self.coefficients)
        return rate(timed, plan.flops, "GFLOP/s", f"fragment multiply-adds, {what}")

    def fetches(self, timed: Samples, what: str) -> Ceiling:
        """Rate of the fetches of a plan."""
        count = self.effort.side**2 * kernels.FETCHES * self.effort.steps * self.effort.rounds
        return rate(timed, count, "Gfetch/s", what)

    def texels(self, channels: int) -> Ceiling:
        """Rate of texel fetches from the cache."""
        operand = self.device.write_texels(self.random(kernels.SIDE, kernels.SIDE, channels))
        plan = kernels.fetch(self.size, self.effort.steps, self.effort.rounds, channels)
        name = FORMATS[channels].upper()
        return self.fetches(self.time_plan(plan, T=operand), f"texel fetches, {name}, cached 64 x 64")

    def written(self, plan: Plan, what: str) -> Ceiling:
        """Rate of the bytes that a plan writes."""
        return rate(self.time_plan(plan), plan.cost.nbytes, "GB/s", f"colour writes, {what}")

    def fragments(self) -> dict[str, Ceiling]:
        """Measure arithmetic and fetches."""
        figures = {"fragment_fma": self.arithmetic("32 independent sums, no memory")}
        figures |= {f"fetch_{name}": self.texels(channels) for channels, name in FORMATS.items()}
        panel = self.device.write_texels(self.random(1, kernels.BLOCK_TEXELS, 4))
        plan = kernels.uniform_fetch(self.size, self.effort.steps, self.effort.rounds)
        what = "reads of a vec4 from a uniform block, at an index that all fragments share"
        figures["fetch_uniform"] = self.fetches(self.time_plan(plan, panel=panel), what)
        return figures

    def channels(self) -> dict[str, Ceiling]:
        """Measure the rates of chapters 2 and 3 of the thesis.

        ``four``, ``swizzled``, ``one``: multiply-adds of four channels at once, of four that change their places, of
        one alone; ``fetch``, ``write``, ``upload``: of RGBA32F texels, from the cache, to a target, and from the host.
        """
        forms = {"four": (4, False), "swizzled": (4, True), "one": (1, False)}
        figures = {name: self.arithmetic(name, *form) for name, form in forms.items()}
        figures["fetch"] = self.texels(4)
        figures["write"] = self.written(kernels.write(self.size, self.effort.steps, 1), "1 RGBA32F target")
        texels = self.random(self.effort.matrix, self.effort.matrix, 4)
        timed = self.time(partial(self.device.write_texels, texels))
        figures["upload"] = rate(timed, texels.nbytes, "GB/s", "host to texture, RGBA32F")
        return figures

    def branches(self) -> dict[str, Ceiling]:
        """Measure two loops, taken by neighbours in turn, or by one half of the target each, ``together``."""
        effort, figures = self.effort, {}
        for name, shift in {"apart": 0, "together": (effort.side // 2).bit_length() - 1}.items():
            plan = kernels.branches(self.size, effort.steps, LOOPS * effort.rounds, shift)
            figures[name] = rate(self.time_plan(plan), plan.flops, "GFLOP/s", f"branches, neighbours {name}")
        return figures

    def colours(self) -> dict[str, Ceiling]:
        """Measure colour writes and blending."""
        size, steps, figures = self.size, self.effort.steps, {}
        for targets in (count for count in TARGETS if count <= self.device.limits.draw_buffers):
            what = f"{targets} RGBA32F target{'s' if targets > 1 else ''}"
            figures[f"write_{targets}"] = self.written(kernels.write(size, steps, targets), what)
        for channels in (2, 1):
            name = FORMATS[channels]
            plan = kernels.write(size, steps, 1, channels)
            figures[f"write_{name}"] = self.written(plan, f"1 {name.upper()} target")
        blended = kernels.blend(size, 8 * steps)
        figures["blend"] = self.written(blended, "1 RGBA32F target, blended (added); bytes written")
        return figures

    def issue(self) -> float:
        """Seconds to issue a pass with a block of its own, as `panel_broadcast` has them, of few columns.

        A software rasteriser would take longer for what they compute; there it is a draw with a uniform.
        """
        if self.device.info.software:
            return self.time_plan(kernels.draws(DRAWS, True)).median / DRAWS
        m, k, n = 512, 16 * DEPTH, 4
        plan = matmul.plan(resident((m, k), (k, n)), self.device.limits, variant="panel_broadcast")
        a, b = (self.device.write_texels(self.random(*packed(shape), 4)) for shape in ((m, k), (k, n)))
        return self.time_plan(plan, A=a, B=b).median / plan.cost.passes

    # -- what is copied -----------------------------------------------------------------------------------------

    def transfers(self) -> dict[str, Ceiling]:
        """Measure copies between host, texture and buffer, and packing on the host."""
        side = self.effort.matrix
        texels = self.random(side, side, 4)
        texture = self.device.write_texels(texels)
        target = np.empty_like(texels)
        matrix = self.random(2 * side, 2 * side, 1)[:, :, 0]
        actions: dict[str, tuple[Action, str]] = {
            "upload": (partial(self.device.write_texels, texels), "host to texture, RGBA32F"),
            "read_back": (partial(self._read_into, texture, target), "texture to host, RGBA32F, into the same array"),
            "texture_to_buffer": (
                partial(self.device.run, kernels.copies((side, side), self.effort.steps), texture=texture),
                "texture to buffer on the device",
            ),
            "host_packing": (partial(packing.packed_by_host, matrix), "2x2 packing on the host, by NumPy"),
        }
        figures = {}
        for name, (action, what) in actions.items():
            copied = texels.nbytes * (self.effort.steps if name == "texture_to_buffer" else 1)
            figures[name] = rate(self.time(action), copied, "GB/s", what)
        return figures

    def _read_into(self, texture: Texture, target: Float32) -> None:
        with self.device.current():
            texture.gl.read_into(target)

    # -- what a draw costs ----------------------------------------------------------------------------------------

    def draws(self) -> dict[str, Ceiling]:
        """Measure draws of a texel: through a cached plan, through moderngl itself, and how they compare."""
        start = self.device.write_texels(np.zeros((2, 2, 4), dtype=np.float32))
        plans = {
            "draw": ("a draw of one texel", partial(self.device.run, kernels.draws(DRAWS))),
            "draw_uniform": ("a draw and a uniform", partial(self.device.run, kernels.draws(DRAWS, True))),
            "ping_pong": (
                "a draw that reads the target of the one before",
                partial(self.device.run, kernels.ping_pong(DRAWS), start=start),
            ),
        }
        figures = {}
        with bare_draws(self.device) as bare:
            for name, (what, action) in plans.items():
                ours, theirs = self.time(action), self.time(bare[name])
                figures[name] = price(ours, DRAWS, f"{what}, in a cached plan of {DRAWS}")
                figures[f"{name}_bare"] = price(theirs, DRAWS, f"{what}, bare moderngl")
                ratio, spread = ours.median / theirs.median, ours.spread + theirs.spread
                figures[f"{name}_ratio"] = Ceiling(ratio, "", "Python's cost per pass: plan over bare moderngl", spread)
        figures["plan"] = price(self.time_plan(kernels.draws(1)), 1, "a run of a cached plan of one draw")
        return figures


@contextmanager
def _bare(device: Device, shader: str, size: tuple[int, int], targets: int) -> Iterator[Any]:
    """Give a vertex array of a shader, textures of zeros and their framebuffers, by moderngl itself; it is current."""
    gl = device._gl  # only here: whatever glla puts above moderngl is what is to be measured
    with device.current():
        text = shaders.resolve(shader)
        with interrupts.put_off():
            program = gl.program(vertex_shader=text.vertex.text, fragment_shader=text.fragment.text)
        array, zeros = gl.vertex_array(program, []), bytes(16 * size[0] * size[1])
        textures = [gl.texture(size, 4, zeros, dtype="f4") for _ in range(targets)]
        framebuffers = [gl.framebuffer([texture]) for texture in textures]
    try:
        yield array, textures, framebuffers
    finally:
        with device.current():
            gl.screen.use()  # never release the framebuffer that is bound
            made: tuple[Any, ...] = (*framebuffers, *textures, array, program)
            for one in made:
                one.release()


@contextmanager
def bare_draws(device: Device) -> Iterator[dict[str, Action]]:
    """Give the draws of `kernels.draws` and `kernels.ping_pong` as somebody writes them who uses moderngl directly."""
    data = [struct.pack("f", step) for step in range(DRAWS)]
    with (
        _bare(device, "ceilings/dot", (2, 2), 1) as (dot, _, (target,)),
        _bare(device, "ceilings/increment", (2, 2), 2) as (increment, textures, targets),
    ):
        value: Any = dot.program["value"]
        for framebuffer in (target, *targets):
            framebuffer.viewport = (0, 0, 1, 1)

        def draw() -> None:
            with device.current():
                target.use()
                for _ in range(DRAWS):
                    dot.render(vertices=3)

        def draw_uniform() -> None:
            with device.current():
                target.use()
                for number in data:
                    value.write(number)
                    dot.render(vertices=3)

        def ping_pong() -> None:
            with device.current():
                for step in range(DRAWS):
                    targets[step % 2].use()
                    textures[1 - step % 2].use(0)
                    increment.render(vertices=3)

        yield {"draw": draw, "draw_uniform": draw_uniform, "ping_pong": ping_pong}


def in_place(device: Device, side: int, draws: int) -> Float32:
    """Draw onto the texture that is read, each fragment its own texel plus one, and return its final values.

    OpenGL 3.3 leaves that undefined, so that no plan may do it. Right were `draws` everywhere.
    """
    with _bare(device, "ceilings/increment", (side, side), 1) as (array, (texture,), (target,)), device.current():
        target.use()
        texture.use(0)
        for _ in range(draws):
            array.render(vertices=3)
        return np.frombuffer(texture.read(), dtype=np.float32).reshape(side, side, 4).copy()


def table(data: dict[str, Any]) -> str:
    """Write a `report` as aligned text."""
    head = f"{data['renderer']}, OpenGL {data['driver']}, {data['cores']} CPU cores, {data['seconds']:.1f} s"
    rows = [
        (f"  {name}", digits(one["value"]), one["unit"], f"+-{50 * one['spread']:.0f} %", one["what"])
        for name, one in data["ceilings"].items()
    ]
    return "\n".join([head + (", quick" if data["quick"] else ""), *aligned([""] * 5, rows).splitlines()[1:]])
