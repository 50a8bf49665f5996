"""How many texels a plan fetches: as the headers of its shaders say, or counted, by shaders that count.

`estimate` needs no device, and no time. The header of a shader says how many texels a fragment fetches, or the fewest
and the most where that depends on the matrix, or on the place in it: ``Fetches: 20 to 32.`` Tests hold all headers
against counts.

`count` is exact, and runs the plan. Each shader is rewritten into one that runs the same statements, with every
``texelFetch`` and ``texture`` counted, and draws the count in place of its result. The plan then runs as it is, with
such a pass before each of its own, which reads what that one is about to read: the count is right also where loops and
branches depend on values.

Fetches are counted as fragments (or invocations of a compute shader) ask for them. The fetches of a vertex shader,
three times a few in a pass, and reads of uniform blocks are not. Fetches outside of a texture can be counted alone:
OpenGL 3.3 leaves their results undefined, and a driver that gives zeros hides a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from glla.gl import Device, Texture
from glla.passes import DeviceStep, Dispatch, Pass, Plan, Storage, texture
from glla.passes.glsl import conditions
from glla.passes.glsl import find as shaders

KIND, OUTSIDE = "fetches", "outside"
"""A shader's name with ``@fetches`` behind it is the shader that counts; ``@outside`` counts fetches outside only."""

BATCH = 64 << 20
"""Bytes of counts that are kept on the device at a time."""

_NAME = re.compile(r"\b[A-Za-z_]\w*")
_OUTPUT = re.compile(r"^\s*layout\s*\(\s*location\s*=\s*\d+\s*\)\s*out\s+(\w+\s+\w+\s*;)")
_IMAGE = re.compile(r"^\s*layout\s*\([^)]*\)\s*writeonly\s+uniform\s+image2D\s+\w+\s*;.*$")
_TEXTURE = re.compile(r"\btexture\s*\(\s*\w+\s*,")
_STORE = re.compile(r"\bimageStore\s*\(\s*\w+\s*,")

_BEFORE = """\
int fetch_count = 0;
bool outside(sampler2D M, ivec2 at, int level) {
    return level != 0 || any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, textureSize(M, 0)));
}
bool outside(isampler2D M, ivec2 at, int level) {
    return level != 0 || any(lessThan(at, ivec2(0))) || any(greaterThanEqual(at, textureSize(M, 0)));
}
#ifndef SOFTWARE
bool outside(samplerBuffer M, int at, int level) {
    return at < 0 || at >= textureSize(M);
}
vec4 counted_fetch(samplerBuffer M, int at) {
    int level = 0;
    if (COUNTED) ++fetch_count;
    return texelFetch(M, at);
}
#endif
vec4 counted_fetch(sampler2D M, ivec2 at, int level) {
    if (COUNTED) ++fetch_count;
    return texelFetch(M, at, level);
}
ivec4 counted_fetch(isampler2D M, ivec2 at, int level) {
    if (COUNTED) ++fetch_count;
    return texelFetch(M, at, level);
}
void not_stored(ivec2 at, vec4 value) {}
"""
_BEFORE_COORDINATES = """\
bool outside(sampler2D M, vec2 at, int level) {
    return any(lessThan(at, vec2(0.0))) || any(greaterThanEqual(at, vec2(1.0)));
}
vec4 counted_texture(sampler2D M, vec2 at) {
    int level = 0;
    if (COUNTED) ++fetch_count;
    return texture(M, at);
}
"""
"""For a shader that reads at texture coordinates; the others are counted without it."""
_AFTER_FRAGMENT = """\
layout(location = 0) out float fetches;
void main() { counted_main(); fetches = float(fetch_count); }
"""
_AFTER_COMPUTE = """\
layout(r32f, binding = 0) writeonly uniform image2D fetches;
shared int group_fetches;
void main() {
    if (gl_LocalInvocationIndex == 0u) group_fetches = 0;
    memoryBarrierShared();
    barrier();
    counted_main();
    atomicAdd(group_fetches, fetch_count);
    memoryBarrierShared();
    barrier();
    if (gl_LocalInvocationIndex == 0u) imageStore(fetches, ivec2(gl_WorkGroupID.xy), vec4(float(group_fetches)));
}
"""


def count_instead(stage: shaders.Stage, condition: str = "true") -> shaders.Stage:
    """Rewrite a fragment or compute stage into one whose result is how many texels it fetched.

    Only those count whose texture M, place `at` and `level` fulfil the condition, GLSL. A fragment draws its own count,
    a work group stores the sum of its invocations' (and needs 4 bytes more of shared memory for it).
    """
    after = _AFTER_COMPUTE if stage.text.startswith(shaders.COMPUTE_VERSION) else _AFTER_FRAGMENT
    before = _BEFORE + (_BEFORE_COORDINATES if _TEXTURE.search(stage.text) else "")
    return rewritten(stage, before.replace("COUNTED", condition), _counted, after)


def rewritten(stage: shaders.Stage, before: str, change: Callable[[str], str], after: str = "") -> shaders.Stage:
    """Put text before a stage (behind its defines) and after it, and change its lines; each knows where it is from."""
    source = list(zip(stage.text.splitlines(), stage.lines, strict=True))
    head = [line for line in source if line[1][0] == "(generated)"]
    body = [(change(text), origin) for text, origin in source[len(head) :]]
    lines = [*head, *_added(before), *body, *_added(after)]
    return shaders.Stage("\n".join(text for text, _ in lines) + "\n", tuple(origin for _, origin in lines))


def _counted(line: str) -> str:
    line = _OUTPUT.sub(r"\1", line)  # what was an output is a variable now
    line = _IMAGE.sub("", line)
    line = _STORE.sub("not_stored(", line)
    line = re.sub(r"\btexelFetch\b", "counted_fetch", line)
    line = re.sub(r"\btexture(?=\s*\()", "counted_texture", line)
    return re.sub(r"\bvoid main\b", "void counted_main", line)


def _added(text: str) -> list[tuple[str, tuple[str, int]]]:
    return [(line, ("(counting)", number)) for number, line in enumerate(text.splitlines(), 1)]


shaders.derive(KIND, count_instead)
shaders.derive(OUTSIDE, partial(count_instead, condition="outside(M, at, level)"))


def estimate(plan: Plan) -> tuple[int, int] | None:
    """Say from its shaders' headers between which bounds the texels lie that a plan fetches; None if one does not say.

    >>> from glla.operations.product import matmul
    >>> from glla.passes import resident
    >>> estimate(matmul.plan(resident((8, 8), (8, 8)), variant="inner_product"))
    (128, 128)
    """
    plan, least, most = plan.flat, 0, 0
    header, macros = cache(shaders.fetches), cache(lambda shader, *defines: shaders.macros(shader, dict(defines)))

    @cache  # a plan has thousands of passes with the same shader
    def value(text: str, shader: str, defines: tuple[Any, ...], used: tuple[Any, ...]) -> int:
        return conditions.value(text, macros(shader, *defines) | dict(used))

    for step in plan.passes:
        if not isinstance(step, Pass | Dispatch):
            continue
        expressions = header(step.shader)
        if expressions is None:
            return None
        names, defines = _names(plan, step), tuple(sorted(step.defines.items()))
        known = sorted(names.keys() & _NAME.findall(" ".join(expressions)))
        used = tuple((name, str(names[name])) for name in known)
        fewest, largest = (value(text, step.shader, defines, used) for text in expressions)
        region = plan.drawn(step)
        fragments = step.points or region.width * region.height
        times = step.groups[0] * step.groups[1] if isinstance(step, Dispatch) else fragments
        least, most = least + times * fewest, most + times * largest
    return least, most


def _names(plan: Plan, step: Pass | Dispatch) -> dict[str, int]:
    """Values of the names in a header's expressions in a pass, other than macros."""
    region = plan.drawn(step)
    found: dict[str, int] = {"region_width": region.width, "region_height": region.height}
    for name, value in step.uniforms.items():
        if isinstance(value, tuple):
            found |= {f"{name}_{part}": int(number) for part, number in zip("xyzw", value, strict=False)}
        else:
            found[name] = int(value)
    for name, slot in step.inputs.items():
        storage = plan.slots[slot]
        if isinstance(storage, Storage):
            found |= {f"{name}_height": storage.height, f"{name}_width": storage.width}
    return found


def count(
    device: Device,
    plan: Plan,
    operands: Mapping[str, Texture],
    kind: str = KIND,
    chosen: Callable[[str], bool] = lambda shader: True,
) -> int:
    """Count the texels that the fragments of a plan fetch for these operands. Synchronises.

    Exact.
    `plan`: of any operation, operands and results on the device. `operands`: as for `Device.run`. `kind` ("fetches",
    "outside"): all of them, or those outside of their textures only. `chosen`: name of a shader -> whether its fetches
    count.
    Raises LimitError, PlanError, ShaderError: the plan cannot run here.

    Cost: the plan once or a few times, and its fetches once more. Memory: up to 64 MiB beside the plan's own.

    Two texels for each of the 4 x 4 x 4 products of blocks:

    >>> from glla.gl import default_device
    >>> from glla.operations.product import matmul
    >>> from glla.passes import resident
    >>> device = default_device()
    >>> a = device.upload(np.ones((8, 8), np.float32))
    >>> count(device, matmul.plan(resident((8, 8), (8, 8)), variant="inner_product"), {"A": a, "B": a})
    128
    """
    plan, total = plan.flat, 0
    for batch in _batches(plan, chosen):
        results = device.run(counting_plan(plan, batch, kind), **operands)
        for number in batch:
            counts = device.read(results[_slot(number)])
            total += int(counts[_counted_part(plan, number)].sum(dtype=np.float64))
    return total


def counting_plan(plan: Plan, numbers: list[int], kind: str = KIND) -> Plan:
    """Put a counting step before some steps of a plan; the results are the counts."""
    slots, steps, results = dict(plan.slots), list[DeviceStep](), dict[str, str]()
    for number, step in enumerate(plan.passes):
        if isinstance(step, Pass) and step.barrier:  # a texture for each slot, which gives the same bits
            step = replace(step, barrier=False)
        if number in numbers and isinstance(step, Pass | Dispatch):
            slot = _slot(number)
            slots[slot], results[slot] = _storage(plan, step), slot
            counting = replace(step, shader=f"{step.shader}@{kind}", outputs=(slot,))
            if step.points:  # several at one place: their counts are added
                steps.append(Pass("krylov/zeros", {}, (slot,)))
            if isinstance(counting, Pass):
                counting = replace(counting, accumulate=step.points > 0, barrier=False)
            steps.append(counting)
        steps.append(step)
    return Plan(f"{plan.operation}, counting fetches", slots, plan.operands, results, tuple(steps))


def _batches(plan: Plan, chosen: Callable[[str], bool] = lambda shader: True) -> Iterator[list[int]]:
    """Steps that fetch, in lots whose counts fit into `BATCH`."""
    batch: list[int] = []
    size = 0
    for number, step in enumerate(plan.passes):
        if not isinstance(step, Pass | Dispatch) or not step.inputs or not chosen(step.shader):
            continue
        nbytes = _storage(plan, step).nbytes
        if batch and size + nbytes > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(number)
        size += nbytes
    if batch:
        yield batch


def _slot(number: int) -> str:
    return f"fetches of step {number}"


def _counted_part(plan: Plan, number: int) -> tuple[slice, slice]:
    """Rows and columns of the counts that a step has drawn; the others are undefined."""
    step = plan.passes[number]
    if not isinstance(step, Pass):
        return slice(None), slice(None)
    region = plan.drawn(step)
    return slice(region.y, region.y + region.height), slice(region.x, region.x + region.width)


def _storage(plan: Plan, step: Pass | Dispatch) -> Storage:
    """A number for each fragment, at its place, or for each work group."""
    if isinstance(step, Dispatch):
        return Storage(step.groups[1], step.groups[0], 1)
    target = texture(plan.slots[step.outputs[0]])
    return Storage(target.height, target.width, 1)
