"""Preparation of a plan: checks, compilation, and all look-ups that do not depend on its operands."""

from __future__ import annotations

from dataclasses import dataclass

from glla.gl.hints import moderngl
from glla.gl.programs import Program, Programs, pack_uniform
from glla.passes import Dispatch, Limits, Pass, Plan, Transfer, texture

Uniforms = tuple[tuple["moderngl.Uniform", bytes], ...]
"""Uniforms to set, and their values."""

Samplers = tuple[tuple[int, str], ...]
"""Texture units, and the slots to bind there."""


Known = dict["moderngl.Uniform | Program", bytes | tuple[str, ...]]
"""State that earlier passes of a plan have set: uniforms, and each program's blocks, in order."""


@dataclass(frozen=True)
class Draw:
    """A prepared pass; it holds its program, so that the cache does not release it."""

    step: Pass
    held: Program
    program: int
    samplers: Samplers
    uniforms: Uniforms
    viewport: tuple[int, int, int, int]


@dataclass(frozen=True)
class Computation:
    """A prepared dispatch."""

    step: Dispatch
    held: Program
    program: moderngl.ComputeShader
    samplers: Samplers
    uniforms: Uniforms


@dataclass(frozen=True)
class Burst:
    """Draws that differ only in their viewport, their part of one buffer, and their first vertex."""

    first: Draw  # the first of them
    # viewport, first byte and number of bytes in the buffer, and first vertex, for each draw
    draws: tuple[tuple[int, int, int, int, int, int, int], ...]


Ready = list[Draw | Computation | Transfer]

Folded = list[Draw | Computation | Transfer | Burst]
"""Prepared steps, each burst as one."""

SHORTEST_BURST = 4
"""Draws of a burst at least: fewer are hardly issued faster."""


def prepare(plan: Plan, programs: Programs, limits: Limits) -> Ready:
    """Check a plan, compile its shaders, and find the uniforms that each pass must set.

    Raises PlanError, LimitError, ShaderError: the plan cannot run here.
    """
    plan.check(limits)
    known: Known = {}
    return [
        step if isinstance(step, Transfer) else _prepared(plan, step, programs.get(step.shader, step.defines), known)
        for step in plan.passes
    ]


def _prepared(plan: Plan, step: Pass | Dispatch, program: Program, known: Known) -> Draw | Computation:
    changed = []
    for name, value in step.uniforms.items():
        if name not in program.live:  # the compiler has removed it
            continue
        uniform = program.gl[name]
        assert isinstance(uniform, moderngl.Uniform)
        data = pack_uniform(uniform, value)
        if known.get(uniform) != data:
            known[uniform] = data
            changed.append((uniform, data))
    samplers = tuple((program.units[name], slot) for name, slot in step.inputs.items() if name in program.units)
    if isinstance(step, Dispatch):
        assert isinstance(program.gl, moderngl.ComputeShader)
        return Computation(step, program, program.gl, samplers, tuple(changed))
    if known.get(program) != (blocks := tuple(sorted(step.blocks))):
        known[program] = blocks
        for binding, name in enumerate(blocks):  # plans share programs, so not in each one's order
            program.gl[name].binding = binding  # type: ignore[union-attr]
    region = plan.drawn(step)
    viewport = (region.x, region.y, region.width, region.height)
    if "SHEET" in step.defines:  # the vertex stage places what is drawn
        sheet = texture(plan.slots[step.outputs[0]])
        viewport = (0, 0, sheet.width, sheet.height)
    return Draw(step, program, program.gl.glo, samplers, tuple(changed), viewport)


def folded(ready: Ready, most: int) -> Folded:
    """Fold draws into bursts of `most` draws at most."""
    found: Folded = []
    alike: list[Draw] = []
    for step in ready:
        if not (isinstance(step, Draw) and alike and len(alike) < most and _follows(step, alike[0])):
            found += _burst(alike)
            alike = []
        if isinstance(step, Draw):
            alike.append(step)
        else:
            found.append(step)
    return found + _burst(alike)


def _follows(draw: Draw, first: Draw) -> bool:
    """Whether a draw may join the burst of another one."""
    one, other = draw.step, first.step
    return (
        not draw.uniforms
        and draw.program == first.program
        and draw.samplers == first.samplers
        and one.outputs == other.outputs
        and one.accumulate == other.accumulate
        and one.points == other.points == 0
        and not (one.parts and one.barrier)
        and len(one.blocks) == len(other.blocks) == 1
        and next(iter(one.blocks.values())).slot == next(iter(other.blocks.values())).slot
    )


def _burst(alike: list[Draw]) -> Folded:
    if len(alike) < SHORTEST_BURST or len(alike[0].step.blocks) != 1:
        return list(alike)
    blocks = [next(iter(draw.step.blocks.values())) for draw in alike]
    draws = tuple(
        (*draw.viewport, 16 * block.first, 16 * block.count, 3 * draw.step.step)
        for draw, block in zip(alike, blocks, strict=True)
    )
    return [Burst(alike[0], draws)]
