"""Steps of a plan: draws, dispatches, transfers, work of the host, and calls of other plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from glla.passes.glsl import find as shaders

Uniform = int | float | tuple[int, ...] | tuple[float, ...]
"""Value of a uniform."""


@dataclass(frozen=True)
class Region:
    """Rectangle of texels: columns x to x + width, rows y to y + height."""

    x: int
    y: int
    width: int
    height: int

    def __str__(self) -> str:
        return f"x {self.x}:{self.x + self.width} y {self.y}:{self.y + self.height}"

    def meets(self, other: Region) -> bool:
        """Whether it has a texel in common with another."""
        beside = self.x >= other.x + other.width or other.x >= self.x + self.width
        return not (beside or self.y >= other.y + other.height or other.y >= self.y + self.height)


@dataclass(frozen=True)
class Block:
    """Part of a buffer that a uniform block reads: from texel `first` on, `count` texels of 16 bytes."""

    slot: str
    first: int
    count: int


@dataclass(frozen=True, eq=False)
class Transfer:
    """A step that is no draw: a copy.

    From a texture into a buffer, row by row, or into a region of another texture, on the device; from an array of the
    host into a texture, which is an upload; or from a texture into an array of the host, which is a read-back and
    synchronises. An upload may take the array's transpose, where that is how it is in memory.
    """

    source: str
    target: str
    transposed: bool = False
    region: Region | None = None  # of another texture, that its first rows and columns are copied into


@dataclass(frozen=True, eq=False)
class Host:
    """A step that the CPU does: a pure function of arrays, of NumPy or LAPACK."""

    name: str  # what it does, in words
    # arrays, in the order of `inputs`, -> a tuple of arrays, in the order of `outputs`
    function: Callable[..., tuple[Any, ...]]
    inputs: tuple[str, ...]  # slots of the plan, arrays of the host all of them
    outputs: tuple[str, ...]
    flops: int = 0  # additions and multiplications


@dataclass(frozen=True, eq=False)
class Pass:
    """One draw."""

    shader: str  # name below ``shaders/``
    inputs: Mapping[str, str]  # sampler in the GLSL -> slot of the plan
    # slots written, in the order of the shader's output locations; several are several render targets
    outputs: tuple[str, ...]
    uniforms: Mapping[str, Uniform] = field(default_factory=dict)  # values set for this draw
    defines: Mapping[str, shaders.Define] = field(default_factory=dict)  # values baked into the shader's text
    region: Region | None = None  # texels drawn; None for the whole target
    accumulate: bool = False  # add to the target (float blending) instead of replacing it
    blocks: Mapping[str, Block] = field(default_factory=dict)  # uniform block in the GLSL -> part of a buffer
    step: int = 0  # a number for the vertex stage that costs nothing, see ``lib/fullscreen.glsl``
    # points that are drawn in place of one triangle, each a texel where the vertex stage of the shader puts it; 0 for
    # the triangle
    points: int = 0
    # its slots may share one texture, see `glla.passes.sheet`; in such a texture, that it has a barrier in front of it
    barrier: bool = False
    # in such a texture: sampler -> texels that it may fetch from what it draws to, None for each fragment's own one
    parts: Mapping[str, Region | None] | None = None


@dataclass(frozen=True, eq=False)
class Dispatch:
    """A step that is no draw: a compute shader, which needs OpenGL 4.3."""

    shader: str  # name below ``shaders/``
    inputs: Mapping[str, str]  # sampler in the GLSL -> slot of the plan
    # slots that it stores to, in the order of the shader's image bindings. It writes every texel of them
    outputs: tuple[str, ...]
    groups: tuple[int, int]  # work groups side by side, and one above the other
    uniforms: Mapping[str, Uniform] = field(default_factory=dict)  # values set for this dispatch
    defines: Mapping[str, shaders.Define] = field(default_factory=dict)  # values baked into the shader's text

    # What a pass may have, and a dispatch never has: so that whoever looks at a plan need not tell them apart.
    accumulate: ClassVar[bool] = False
    region: ClassVar[None] = None
    blocks: ClassVar[Mapping[str, Block]] = {}
    step: ClassVar[int] = 0
    points: ClassVar[int] = 0
    barrier: ClassVar[bool] = False
    parts: ClassVar[None] = None


DeviceStep = Pass | Transfer | Dispatch
"""A step that the device does."""

Step = DeviceStep | Host
"""A step that is not made of others."""


def renamed(step: Step, names: Mapping[str, str]) -> Step:
    """The same step with other slots."""
    if isinstance(step, Transfer):
        return replace(step, source=names[step.source], target=names[step.target])
    outputs = tuple(names[slot] for slot in step.outputs)
    if isinstance(step, Host):
        return replace(step, inputs=tuple(names[slot] for slot in step.inputs), outputs=outputs)
    inputs = {sampler: names[slot] for sampler, slot in step.inputs.items()}
    if isinstance(step, Dispatch):
        return replace(step, inputs=inputs, outputs=outputs)
    blocks = {name: replace(block, slot=names[block.slot]) for name, block in step.blocks.items()}
    return replace(step, inputs=inputs, outputs=outputs, blocks=blocks)
