"""Properties and statistics of a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from glla.errors import LimitError, integer
from glla.gl import tuning
from glla.gl.select import is_software_renderer
from glla.passes import Limits
from glla.passes.rates import HARDWARE, SOFTWARE

LLVMPIPE_LOOP_TRIPS = 60000
"""Loop trips that glla relies on: llvmpipe ends all loops of an invocation after 65535, silently."""

MOST_TARGETS = 8
"""Render targets of a pass that glla uses at most; every OpenGL 3.3 driver has as many."""

TEXEL_BYTES = 16
"""Bytes of a texel in a uniform block."""

EXTRA = (
    "GL_MAX_TEXTURE_IMAGE_UNITS",
    "GL_MAX_VERTEX_TEXTURE_IMAGE_UNITS",
    "GL_MAX_FRAGMENT_UNIFORM_COMPONENTS",
    "GL_MAX_3D_TEXTURE_SIZE",
    "GL_MAX_ARRAY_TEXTURE_LAYERS",
)
"""Limits that are shown, but not relied on."""


@dataclass(frozen=True)
class Stats:
    """Resources of a device, and counts of its work.

    Attributes
    ----------
    textures, idle_textures : int
        In use, and idle in the pool.
    bytes, idle_bytes, peak_bytes : int
        Their sizes, and the largest sum of both so far.
    framebuffers, programs : int
        Kept for reuse.
    plans, passes : int
        Run since the device was made.
    max_idle_bytes : int
        Bytes that idle textures may take now.
    call_bytes, max_call_bytes : int
        Host memory of the plans prepared on this device, approximately, and its bound.
    plan_bytes, max_plan_bytes : int
        Host memory of the plans that this process keeps, approximately, and its bound: see `set_max_plan_bytes`.
    program_bytes, max_program_bytes : int
        Memory of all programs, roughly, and the bound on those that no plan uses.
    """

    textures: int
    idle_textures: int
    bytes: int
    idle_bytes: int
    peak_bytes: int
    framebuffers: int
    programs: int
    plans: int
    passes: int
    max_idle_bytes: int = 0
    call_bytes: int = 0
    max_call_bytes: int = 0
    plan_bytes: int = 0
    max_plan_bytes: int = 0
    program_bytes: int = 0
    max_program_bytes: int = 0


@dataclass(frozen=True)
class DeviceInfo:
    """The driver's identification strings, and the limits that matter here."""

    renderer: str
    vendor: str
    version: str
    glsl: str
    backend: str
    software: bool
    limits: Limits
    uniform_block_bytes: int = 0
    viewport: tuple[int, ...] = ()
    extra: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def describe(given: Mapping[str, Any], opengl: int, backend: str, max_texture_size: int | None) -> DeviceInfo:
    """Make the description of a device.

    `given`: the driver's answers, from `moderngl.Context.info`. `opengl`: version of the context, 330 or more.
    `backend`: how the context was made, in words. `max_texture_size`: texels on a side of a texture, if fewer than the
    driver allows.
    Raises LimitError: `max_texture_size` is less than 2, or more than the driver allows.
    """
    renderer = str(given["GL_RENDERER"])
    software = is_software_renderer(renderer)
    viewport = tuple(int(length) for length in given["GL_MAX_VIEWPORT_DIMS"])
    side = min(int(given["GL_MAX_TEXTURE_SIZE"]), *viewport)
    if max_texture_size is not None:
        if not 2 <= integer("device", "max_texture_size", max_texture_size) <= side:
            raise LimitError(
                f"device: max_texture_size must be 2 to {side} on this device, got {max_texture_size}",
                max_texture_size,
                side,
            )
        side = max_texture_size
    tuned, rates = tuning.load(renderer)
    block_bytes = int(given["GL_MAX_UNIFORM_BLOCK_SIZE"])
    limits = Limits(
        texture_size=side,
        draw_buffers=min(int(given["GL_MAX_DRAW_BUFFERS"]), MOST_TARGETS),
        loop_trips=LLVMPIPE_LOOP_TRIPS,
        uniform_block=block_bytes // TEXEL_BYTES,
        software=software,
        opengl=opengl,
        buffer_texels=int(given.get("GL_MAX_TEXTURE_BUFFER_SIZE", 0)),
        tuned=tuned,
        rates=(SOFTWARE if software else HARDWARE).measured(**rates) if rates else None,
    )
    return DeviceInfo(
        renderer=renderer,
        vendor=str(given["GL_VENDOR"]),
        version=str(given["GL_VERSION"]),
        glsl=str(given.get("GL_SHADING_LANGUAGE_VERSION", "")) or f"3.30 (GL {opengl})",
        backend=backend,
        software=software,
        limits=limits,
        uniform_block_bytes=block_bytes,
        viewport=viewport,
        extra={name: int(given[name]) for name in EXTRA if name in given},
    )
