"""The latch of a loop on the device: a pass of one texel, which counts the iterations until one requests the stop."""

from __future__ import annotations

from glla.passes import Draft, Plan, Storage
from glla.passes.cache import cached_plan

STATE = Storage(1, 1, dtype="int32")
"""The texel (iterations, stop requested, first channel of its stop texel as bits, 0): 16 bytes."""


@cached_plan
def latch(stop: Storage = Storage(1, 1)) -> Plan:  # noqa: B008  # is frozen
    """Plan of the count: operands ``stop`` and ``state``, result ``latched``, the state after one more iteration.

    Once a stop texel said stop the state stays as it is. One pass.
    """
    draft = Draft("latch")
    draft.operand("stop", stop)
    draft.operand("state", STATE)
    draft.slot("latched", STATE)
    integers = {"INTEGERS": int(stop.dtype == "int32")}
    draft.draw("iterate/latch", {"stop": "stop", "state": "state"}, "latched", defines=integers)
    return draft.plan({"latched": "latched"})
