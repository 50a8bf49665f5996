"""Peak rates of a device, as plans that do one thing only. `glla.lab.ceilings` times them.

A plan draws alternately to two sets of targets: a rasteriser that sorts its work by tiles (llvmpipe, and most GPUs of
telephones) drops a draw that a later one to the same target hides, and would be timed without its work.
"""

from __future__ import annotations

from glla.passes import Block, Buffer, Draft, PingPong, Plan, Region, Storage
from glla.passes.layout import Shape

SIDE = 64
"""Texels on a side of the textures that are fetched from; they stay in the cache."""

BLOCK_TEXELS = 1024
"""Texels of the uniform block: as many as OpenGL 3.3 grants."""

FLOPS = 1024
"""Flop of a fragment of `arithmetic` in a round: 32 sums, 16 multiply-adds each."""

FETCHES = 16
"""Fetches of a fragment of `fetch` and `uniform_fetch` in a round."""

SCALE = (0.6180339887, 1.4142135623, 0.5772156649, 2.7182818284)
"""Factors of the values that `write` writes."""

DOT = Storage(2, 2)
POINT = Region(0, 0, 1, 1)


def arithmetic(size: Shape, steps: int, rounds: int = 1, channels: int = 4, swizzled: bool = False) -> Plan:
    """Plan of multiply-adds in 32 independent sums, without memory.

    Operand ``coefficients``, see ``ceilings/arithmetic.frag``; result ``result``.
    `size`: height and width of the targets, in texels. `steps`: passes. `rounds`: rounds of `FLOPS` flop in each
    fragment, or a quarter of it. `channels` (4, 1): that take part in each sum. `swizzled`: all four change their
    places in each step.
    """
    draft = Draft(f"ceiling_arithmetic[{channels}{', swizzled' if swizzled else ''}]")
    inputs = {"coefficients": draft.operand("coefficients", Storage(SIDE, SIDE))}
    targets, defines = _two(draft, size), {"CHANNELS": channels, "SWIZZLED": int(swizzled)}
    for step in range(steps):
        draft.draw("ceilings/arithmetic", inputs, targets[step % 2], {"rounds": rounds}, defines)
    flops = steps * size[0] * size[1] * rounds * FLOPS * channels // 4
    return draft.plan({"result": targets[(steps - 1) % 2]}, flops)


def fetch(size: Shape, steps: int, rounds: int = 1, channels: int = 4) -> Plan:
    """Plan of texel fetches: operand ``T`` with `channels` per texel, result ``result``; see `arithmetic`."""
    draft = Draft(f"ceiling_fetch[{channels}]")
    inputs = {"T": draft.operand("T", Storage(SIDE, SIDE, channels))}
    targets = _two(draft, size)
    for step in range(steps):
        draft.draw("ceilings/fetch", inputs, targets[step % 2], {"rounds": rounds}, {"CHANNELS": channels})
    return draft.plan({"result": targets[(steps - 1) % 2]})


def uniform_fetch(size: Shape, steps: int, rounds: int = 1) -> Plan:
    """Plan of reads from a uniform block: operand ``panel``, a row of `BLOCK_TEXELS`, result ``result``."""
    draft = Draft("ceiling_uniform_fetch")
    panel = draft.operand("panel", Storage(1, BLOCK_TEXELS))
    buffer = draft.slot("panel_buffer", Buffer.of(Storage(1, BLOCK_TEXELS)))
    draft.transfer(panel, buffer)
    blocks = {"Panel": Block(buffer, 0, BLOCK_TEXELS)}
    targets = _two(draft, size)
    for step in range(steps):
        draft.draw("ceilings/uniform_fetch", {}, targets[step % 2], {"rounds": rounds}, blocks=blocks)
    return draft.plan({"result": targets[(steps - 1) % 2]})


def branches(size: Shape, steps: int, rounds: int = 1, shift: int = 0) -> Plan:
    """Plan of passes whose fragments take one of two loops, by columns of 2^shift texels; result ``result``."""
    draft = Draft(f"ceiling_branches[{shift}]")
    targets = _two(draft, size)
    for step in range(steps):
        draft.draw("ceilings/branch", {}, targets[step % 2], {"rounds": rounds, "shift": shift})
    return draft.plan({"result": targets[(steps - 1) % 2]}, steps * size[0] * size[1] * rounds * 16)


def write(size: Shape, steps: int, targets: int = 8, channels: int = 4) -> Plan:
    """Plan of passes that only write targets of float32; the results ``result_0``, ... are those of the last pass.

    With fewer `channels` than 4 the targets are RG32F or R32F.
    """
    draft = Draft(f"ceiling_write[{targets}]")
    sets = [tuple(draft.slot(f"target_{side}{i}", Storage(*size, channels)) for i in range(targets)) for side in "ab"]
    for step in range(steps):
        draft.draw("ceilings/write", {}, sets[step % 2], {"scale": SCALE}, {"TARGETS": targets})
    return draft.plan({f"result_{i}": slot for i, slot in enumerate(sets[(steps - 1) % 2])})


def blend(size: Shape, steps: int) -> Plan:
    """Plan of `steps` passes blended onto each of two targets, after one that replaces; result ``result``."""
    draft = Draft("ceiling_blend")
    targets = _two(draft, size)
    for step in range(steps + 1):
        for target in targets:
            draft.draw("ceilings/write", {}, target, {"scale": SCALE}, {"TARGETS": 1}, accumulate=step > 0)
    return draft.plan({"result": targets[1]})


def draws(steps: int, changing: bool = False) -> Plan:
    """Plan of draws of a single texel; `changing`, with another value of a uniform each. Result ``dot``."""
    draft = Draft("ceiling_draws")
    target = draft.slot("dot", DOT)
    for step in range(steps):
        draft.draw("ceilings/dot", {}, target, {"value": float(step if changing else 1)}, region=POINT)
    return draft.plan({"dot": target})


def ping_pong(steps: int) -> Plan:
    """Plan of passes of a single texel, each reading that of the one before; operand ``start``, result ``count``."""
    draft = Draft("ceiling_ping_pong")
    count = PingPong(draft, "count", DOT, draft.operand("start", DOT))
    for _ in range(steps):
        draft.draw("ceilings/increment", {"before": count.front}, count.back, region=POINT)
        count.swap()
    return draft.plan({"count": count.front})


def copies(size: Shape, steps: int) -> Plan:
    """Plan of copies of operand ``texture`` into a buffer, ``copied``."""
    draft = Draft("ceiling_copies")
    source = draft.operand("texture", Storage(*size))
    target = draft.slot("copied", Buffer.of(Storage(*size)))
    for _ in range(steps):
        draft.transfer(source, target)
    return draft.plan({"copied": target})


def _two(draft: Draft, size: Shape) -> tuple[str, str]:
    """Make two targets."""
    return draft.slot("even", Storage(*size)), draft.slot("odd", Storage(*size))
