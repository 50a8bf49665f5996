"""Probes: plans with known answers, for the self-test of a device (`glla.gl.selftest`)."""

from __future__ import annotations

from glla.passes import Draft, PingPong, Plan, Region, Storage, single_pass
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

PAIR_CHANNELS = 2
"""Channels of an operand ``pairs``: a and b."""


@cached_plan
def answers(size: Shape) -> Plan:
    """Plan of known answers.

    Operand ``A``, integers; result ``answers``, see ``probe/answers.frag``.
    `size`: height and width in texels.
    """
    return single_pass("probe_answers", "probe/answers", {"A": Storage(*size)}, {"answers": Storage(*size)})


@cached_plan
def swizzle(size: Shape) -> Plan:
    """Plan of operands ``A`` and ``B`` to ``reversed``, A's channels backwards, and ``product``, block by block."""
    one = Storage(*size)
    return single_pass("probe_swizzle", "probe/swizzle", {"A": one, "B": one}, {"reversed": one, "product": one})


@cached_plan
def blending(size: Shape, layers: int) -> Plan:
    """Plan that sums operands ``layer_0``, ``layer_1``, ... into ``sum`` by float blending, in this order."""
    draft = Draft("probe_blending")
    storage = Storage(*size)
    total = draft.slot("sum", storage)
    for number in range(layers):
        layer = draft.operand(f"layer_{number}", storage)
        draft.draw("packing/window", {"A": layer}, total, {"corner": (0, 0)}, accumulate=number > 0)
    return draft.plan({"sum": total})


@cached_plan
def arithmetic(size: Shape) -> Plan:
    """Plan of operand ``pairs`` (two channels, a and b) to ``result``: a + b, a b, a, and whether a is NaN."""
    given = {"pairs": Storage(*size, PAIR_CHANNELS)}
    return single_pass("probe_arithmetic", "probe/arithmetic", given, {"result": Storage(*size)})


@cached_plan
def accuracy(size: Shape) -> Plan:
    """Plan of operand ``pairs`` (two channels, a and b) to ``result``: a / b, a / b as glla divides, root of |a|."""
    given = {"pairs": Storage(*size, PAIR_CHANNELS)}
    return single_pass("probe_accuracy", "probe/accuracy", given, {"result": Storage(*size)})


@cached_plan
def compiler(size: Shape) -> Plan:
    """Plan of ``operands`` (a, b, c, d) to ``result``: a b + c, (a + d) - a, ((a + d) 1) - a."""
    given, made = {"operands": Storage(*size)}, {"result": Storage(*size)}
    return single_pass("probe_compiler", "probe/compiler", given, made, {"one": 1.0})


@cached_plan
def loops(trips: tuple[int, ...]) -> Plan:
    """Plan that counts how often loops really go round.

    Operand ``unit``, 1 x 1 with one channel, holds 1; result ``counts``, a row with a channel and a texel for each.
    `trips`: trips to ask for, each in a pass of its own.
    """
    draft = Draft("probe_loops")
    unit = draft.operand("unit", Storage(1, 1, 1))
    counts = draft.slot("counts", Storage(1, len(trips), 1))
    for x, count in enumerate(trips):
        draft.draw("probe/loop", {"unit": unit}, counts, {"trips": count}, region=Region(x, 0, 1, 1))
    return draft.plan({"counts": counts}, flops=sum(trips))


@cached_plan
def chain(size: Shape, count: int = 64) -> Plan:
    """Plan of a chain of passes behind barriers, from the operand ``start`` to ``counts``: `count` times plus one.

    In the second channel, how often fragments have met, see ``probe/increment.frag``.
    """
    draft = Draft("probe_chain")
    turns = PingPong(draft, "chain", Storage(*size), draft.operand("start", Storage(*size)))
    for step in range(count):
        uniforms = {"size": size[::-1]}
        draft.draw("probe/increment", {"A": turns.front}, turns.back, uniforms, step=step, barrier=True)
        turns.swap()
    draft.draw("packing/window", {"A": turns.front}, draft.slot("counts", Storage(*size)), {"corner": (0, 0)})
    return draft.plan({"counts": "counts"})
