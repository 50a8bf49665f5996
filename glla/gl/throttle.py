"""A bound on the work queued on a GPU.

An NVIDIA driver silently drops draws when about ten seconds of work are queued: the literal Gauss-Jordan inverse of n =
4096, 12 288 passes of 64 MiB each, then returns wrong numbers without an error flag. So a fence follows each portion of
the work, and the host waits until the portion before it is done. At most two portions are queued, and the GPU is never
idle. The host waits only where it was seconds ahead.
"""

from __future__ import annotations

from collections.abc import Callable

from glla.gl.calls import Calls
from glla.gl.fence import Fence
from glla.passes import Cost, Plan

PORTION = 4e9
"""Bytes written between two fences: under two seconds for an NVIDIA H200, whose driver drops draws from about ten
seconds on."""

FLOPS_A_BYTE = 256
"""Floating-point operations that count as one byte written: an NVIDIA H200 does 1.4e12 flop/s in a product."""

HEAVY = PORTION / 4
"""Bytes from which the work of a plan is counted pass by pass; a smaller plan is counted after its last pass."""

SLICE = 0.05
"""Seconds of one wait at most, before the host checks for an interruption."""


def work(cost: Cost) -> float:
    """Work of a plan, in bytes written.

    >>> work(Cost(passes=1, flops=2 * 4096**3, texels=4096**2 // 4, nbytes=4 * 4096**2)) / PORTION
    0.150994944
    """
    return cost.nbytes + cost.flops / FLOPS_A_BYTE


class Throttle:
    """Bounds the queued work to two portions. Its context must be current in every call.

    `calls`: of the context. `check`: called with the plan while the host waits; raises to end the plan.
    """

    __slots__ = ("_before", "_calls", "_check", "_queued")

    def __init__(self, calls: Calls, check: Callable[[Plan], None]) -> None:
        self._calls, self._check = calls, check
        self._queued = 0.0
        self._before: Fence | None = None

    def add(self, amount: float, plan: Plan) -> None:
        """Count queued work of a plan, see `work`; wait once it reaches a portion."""
        self._queued += amount
        if self._queued < PORTION:
            return
        alone = self._queued >= 2 * PORTION  # a pass so long that none should be queued behind it
        self._queued = 0.0
        self._wait(plan)
        self._before = Fence(self._calls)
        if alone:
            self._wait(plan)

    def _wait(self, plan: Plan) -> None:
        """Wait for the previous fence."""
        while self._before is not None and not self._before.wait(SLICE):
            self._check(plan)
