"""Execution of a loop: iterations are queued in blocks, and the host reads late whether the device has stopped.

Behind each block the state of the latch, 16 bytes, is copied to a staging buffer, with a fence behind it. While that
read-back is under way the host queues the next block, at most `AHEAD` of them, unless iterations are long. The latch
knows the last iteration, so the results of later ones are dropped. Where that iteration was not the end of its block,
the block runs once more from its initial textures, up to there: shaders return the same bits for the same textures.
Copying the results of each iteration instead would cost a pass for each carried slot in every iteration; this costs
some iterations at the end.

Memory: at most the results of five iterations, and the temporaries of one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from glla.gl.fence import Fence
from glla.gl.observers import watching
from glla.gl.pool import Texture
from glla.gl.staging import Machine, staging
from glla.gl.throttle import SLICE
from glla.operations.iterate import LATCH, iteration, several
from glla.passes import Iterated, Loop, texture

AHEAD = 2
"""Blocks of iterations that may be queued before the host must have read whether the first one stopped."""

SHARE = 16
"""A block has at most 1/SHARE of the iterations done before it, so fewer than 3/16 of all are queued in vain."""

TOGETHER, FEW = 4, 16
"""Iterations in one plan, if each has at most so many passes: to start a plan takes the host as long as two of them."""

LONGEST = 64
"""Iterations of a block at most; beside 64 of them the read-back of one texel costs nothing."""

LONG = 2e-3
"""Seconds of an iteration, by rates, from which each is a block by itself, and read before the next is queued: one in
vain takes longer than the device is idle meanwhile. On an H100 Jacobi sweeps of 200 matrices of order 64 gain 4 %, one
of order 128, which takes less than this, would lose 20 %."""

Textures = Mapping[str, Texture]


def length(done: int) -> int:
    """Number of iterations of the block that follows `done` others.

    >>> length(0), length(100), length(10_000)
    (1, 6, 64)
    """
    return min(max(1, done // SHARE), LONGEST)


class _ReadBack:
    """A read-back of the latch that is under way."""

    def __init__(self, device: Machine, state: Texture) -> None:
        self._device = device
        self._buffer = device.lend(staging(4))
        try:
            device.staging.fetch(state, self._buffer)
        except BaseException:
            self.release()
            raise

    def come(self, seconds: float) -> bool:
        return self._device.staging.done(self._buffer, seconds)

    def state(self) -> tuple[int, bool, int]:
        """Number of iterations, whether one has stopped the loop, and the bits of its texel."""
        with self._device.staging.mapped(self._buffer, 4, write=False) as elements:
            count, stopped, bits, _ = elements.view(np.int32).tolist()
        return count, bool(stopped), bits

    def release(self) -> None:
        self._buffer.release()


@dataclass
class _Block:
    """Iterations that were queued: from `first` + 1 to `end`."""

    first: int
    end: int
    before: Textures  # results of the iteration before, none for the first block
    results: Textures  # of its last iteration
    read_back: _ReadBack


class Run:
    """One run of a loop. If an exception ends it, all textures that it made are released.

    `device`: runs the iterations; its context is current. `loop`: the loop to run. `operands`: one for each operand,
    checked. They are only read, and never released. `check_interrupted`: called while the host waits; raises where the
    loop is to end.
    """

    def __init__(self, device: Machine, loop: Loop, operands: Textures, check_interrupted: Callable[[], None]) -> None:
        self._device, self._loop, self._check = device, loop, check_interrupted
        self._plan = iteration(loop.body, loop.until)
        self._operands = dict(operands)
        self._carry = dict(loop.carry)
        few = not self._plan.composed and len(self._plan.passes) <= FEW
        self._most = TOGETHER if few and watching.observer is None else 1  # iterations in one plan
        rates, cost = device.limits.known_rates, self._plan.cost
        self._long = cost.passes * rates.latency + cost.nbytes / rates.write >= LONG
        self._blocks: deque[_Block] = deque()
        self._results: Textures = {}  # of the last iteration that was queued
        self._last: Textures | None = None  # results of the last that counts, once it is known

    def run(self) -> Iterated:
        """Run it; return the results."""
        if self._loop.until is None:
            return self._counted()
        start = self._operands[LATCH] = self._device.write_texels(np.zeros((1, 1, 4), dtype=np.int32))
        self._carry[LATCH] = LATCH
        try:
            return self._latched()
        finally:
            start.release()
            for block in self._blocks:
                block.read_back.release()
            for results in (*(block.before for block in self._blocks), self._results):
                if results is not self._last:
                    _release(results)

    def _counted(self) -> Iterated:
        """Run a loop without a stopping test: the host only waits where it is too far ahead."""
        most, fences = self._loop.most, deque[Fence]()
        try:
            for first in range(0, most, LONGEST):
                before = self._results
                self._results = self._turns(before, first, min(first + LONGEST, most))
                _release(before)
                fences.append(self._device.fence())
                while len(fences) > AHEAD and not fences[0].wait(SLICE):
                    self._check()
                if len(fences) > AHEAD:
                    fences.popleft()
            results, self._results = self._results, {}
            return self._ended(results, most)
        finally:
            for fence in fences:
                fence.delete()
            _release(self._results)

    def _latched(self) -> Iterated:
        done, most, ahead = 0, self._loop.most, 1 if self._long else AHEAD
        while True:
            while self._blocks and self._come(wait=done == most or len(self._blocks) == ahead):
                ended = self._checked(self._blocks[0])
                if ended is not None:
                    return ended
            if done < most:
                end = min(done + (1 if self._long else length(done)), most)
                self._queue(done, end)
                done = end

    def _queue(self, first: int, end: int) -> None:
        """Queue a block and the read-back of the latch behind it."""
        before = self._results
        results = self._turns(before, first, end)
        try:
            read_back = _ReadBack(self._device, results[LATCH])
        except BaseException:
            _release(results)
            raise
        self._blocks.append(_Block(first, end, before, results, read_back))
        self._results = results

    def _turns(self, before: Textures, first: int, end: int) -> Textures:
        """Queue iterations that start from the results `before`, which are kept; return the results of the last."""
        results = before
        while first < end:
            count = self._most if end - first >= self._most else 1
            first += count
            try:
                carried = {operand: results[name] for name, operand in self._carry.items()} if results else {}
                made = self._device.run(several(self._plan, self._carry, count), **self._operands | carried)
            finally:
                if results is not before:
                    _release(results)
            results = made
        return results

    def _come(self, wait: bool) -> bool:
        """Whether the first read-back is complete, after waiting for it if asked to."""
        read_back = self._blocks[0].read_back
        while wait and not read_back.come(SLICE):
            self._check()
        return wait or read_back.come(0)

    def _checked(self, block: _Block) -> Iterated | None:
        """Read a completed latch: return the results if the loop has ended."""
        count, stopped, bits = block.read_back.state()
        block.read_back.release()
        if not stopped and block.end < self._loop.most:
            _release(self._blocks.popleft().before)
            return None
        again = count < block.end
        self._last = last = self._turns(block.before, block.first, count) if again else block.results
        last[LATCH].release()
        return self._ended({name: last[name] for name in self._loop.results}, count, stopped, bits)

    def _ended(self, results: Textures, count: int, stopped: bool = False, bits: int = 0) -> Iterated:
        ended = Iterated(results)
        ended.iterations, ended.stopped = count, stopped
        if stopped and self._loop.until is not None:
            said = texture(self._loop.slots[self._loop.results[self._loop.until]])
            ended.stop = bits if said.dtype == "int32" else float(np.int32(bits).view(np.float32))
        return ended


def _release(results: Textures) -> None:
    for one in results.values():
        one.release()
