"""A bound on the work that is queued on a GPU.

An NVIDIA driver drops draws without a word when about ten seconds of work are queued: the literal Gauss-Jordan inverse
of n = 4096, 12 288 passes of 64 MiB each, then gives wrong numbers, and no error flag is set. So a fence goes behind
each portion of the work, and the host waits until the portion before it is done. Two portions are queued at most, and
the GPU is never idle. The host waits only where it was seconds ahead.
"""

from __future__ import annotations

from collections.abc import Callable

from glla.gl.calls import Calls
from glla.gl.fence import Fence
from glla.passes import Cost, Plan

PORTION = 4e9
"""Work between two fences, in bytes written: under two seconds for an NVIDIA H200, whose driver drops draws from about
ten seconds on."""

FLOPS_A_BYTE = 256
"""Floating-point operations that count as one byte written: an NVIDIA H200 does 1.4e12 in a second of a product."""

HEAVY = PORTION / 4
"""Work from which a plan counts while its passes are queued; a lighter one counts as a whole, behind its last pass."""

SLICE = 0.05
"""Seconds that a wait takes at most before the host asks whether it is to end."""


def work(cost: Cost) -> float:
    """Work of a plan, in bytes written.

    >>> work(Cost(passes=1, flops=2 * 4096**3, texels=4096**2 // 4, nbytes=4 * 4096**2)) / PORTION
    0.150994944
    """
    return cost.nbytes + cost.flops / FLOPS_A_BYTE


class Throttle:
    """Keeps the host from queueing more than two portions of work. Its context must be current in every call.

    Parameters
    ----------
    calls : Calls
        Of the context.
    check : callable
        Called with the plan while the host waits; raises where the plan is to end.
    """

    __slots__ = ("_before", "_calls", "_check", "_queued")

    def __init__(self, calls: Calls, check: Callable[[Plan], None]) -> None:
        self._calls, self._check = calls, check
        self._queued = 0.0
        self._before: Fence | None = None

    def add(self, amount: float, plan: Plan) -> None:
        """Count work of a plan that was queued, see `work`; wait where it comes to a portion."""
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
        """Wait for the fence before."""
        while self._before is not None and not self._before.wait(SLICE):
            self._check(plan)
