"""Probes: plans with known answers, for the self-test of a device (`glla.gl.selftest`)."""

from __future__ import annotations

from glla.passes import Draft, PingPong, Plan, Region, Storage
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
    return _one_pass("answers", "probe/answers", "A", Storage(*size), "answers")


@cached_plan
def swizzle(size: Shape) -> Plan:
    """Plan of operands ``A`` and ``B`` to ``reversed``, A's channels backwards, and ``product``, block by block."""
    draft = Draft("probe_swizzle")
    storage = Storage(*size)
    inputs = {name: draft.operand(name, storage) for name in ("A", "B")}
    targets = (draft.slot("reversed", storage), draft.slot("product", storage))
    draft.draw("probe/swizzle", inputs, targets)
    return draft.plan({name: name for name in targets})


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
    return _one_pass("arithmetic", "probe/arithmetic", "pairs", Storage(*size, PAIR_CHANNELS))


@cached_plan
def accuracy(size: Shape) -> Plan:
    """Plan of operand ``pairs`` (two channels, a and b) to ``result``: a / b, a / b as glla divides, root of |a|."""
    return _one_pass("accuracy", "probe/accuracy", "pairs", Storage(*size, PAIR_CHANNELS))


@cached_plan
def compiler(size: Shape) -> Plan:
    """Plan of ``operands`` (a, b, c, d) to ``result``: a b + c, (a + d) - a, ((a + d) 1) - a."""
    draft = Draft("probe_compiler")
    operands = draft.operand("operands", Storage(*size))
    result = draft.slot("result", Storage(*size))
    draft.draw("probe/compiler", {"operands": operands}, result, {"one": 1.0})
    return draft.plan({"result": result})


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


def _one_pass(name: str, shader: str, operand: str, storage: Storage, result: str = "result") -> Plan:
    """Plan of one pass from one operand to an RGBA target of its size."""
    draft = Draft(f"probe_{name}")
    inputs = {operand: draft.operand(operand, storage)}
    draft.draw(shader, inputs, draft.slot(result, Storage(storage.height, storage.width)))
    return draft.plan({result: result})
