"""The latch of a loop on the device: a pass of one texel, which counts the iterations until one requests the stop."""

from __future__ import annotations

from glla.passes import Plan, Storage, single_pass
from glla.passes.cache import cached_plan

STATE = Storage(1, 1, dtype="int32")
"""The texel (iterations, stop requested, first channel of its stop texel as bits, 0): 16 bytes."""


@cached_plan
def latch(stop: Storage = Storage(1, 1)) -> Plan:  # noqa: B008  # is frozen
    """Plan of the count: operands ``stop`` and ``state``, result ``latched``, the state after one more iteration.

    Once a stop texel said stop the state stays as it is. One pass.
    """
    given, integers = {"stop": stop, "state": STATE}, {"INTEGERS": int(stop.dtype == "int32")}
    return single_pass("latch", "iterate/latch", given, {"latched": STATE}, {}, integers)
