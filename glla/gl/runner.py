"""Execution of plans: a texture for every slot, GL calls for every step, kept for the next run."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from glla.errors import AbandonedError, DeviceMismatchError, PlanError
from glla.gl import barrier, composed, iterate
from glla.gl.calls import GL_COLOR_LOGIC_OP, GL_FRAMEBUFFER, GL_UNIFORM_BUFFER, Calls, Function
from glla.gl.hints import moderngl
from glla.gl.observers import watching
from glla.gl.pool import Pool, Texture, handle
from glla.gl.prepare import Burst, Computation, Draw, Folded, Ready, folded, prepare
from glla.gl.programs import Programs
from glla.gl.staging import Machine
from glla.gl.throttle import HEAVY, Throttle, work
from glla.gl.transfers import Transfers
from glla.operations.record import Float32
from glla.passes import HostArray, Limits, Loop, Pass, Plan, Transfer, texture
from glla.passes.sheet import VERTICES

LARGE = 32 * 32
"""Texels of a draw from which a software rasteriser may take longer than Python takes to switch threads."""

ONE_ROUTINE = 128 * 128
"""Texels of a draw up to which llvmpipe compiles one routine of a program, in place of another one for blocks that are
covered as a whole: a first result takes 0.7 of its time, these draws 1.03 to 1.1. It does so where a logic operation is
enabled, which changes nothing: it copies, and floats are exempt."""

POINTS_IN_SOFTWARE = 4096
"""Points of a draw at most on a software rasteriser: beyond them Mesa's softpipe restarts ``gl_VertexID``."""

REMEMBERED = 16
"""Sets of textures for which the calls of a plan are kept.

A result alternates with the one it replaces. In a loop whose read-backs come late some twelve sets take turns.
"""

MOST_CALL_BYTES = 128 << 20
"""Bytes of the kept calls of all plans at most, by default: six times those of a factorisation of n = 4096
(``llvmpipe-llvm-15-0-6-256-bits/manners/2026-11-22T092455Z.json``)."""

CALL_BYTES = 250
"""Bytes that a kept call counts as; 225 to 290 were measured (``python -m benchmarks manners``)."""

READY_BYTES = 500
"""Bytes that a prepared step counts as; 350 to 510 were measured (``python -m benchmarks manners``)."""

BURST_BYTES = 200
"""Bytes of a draw in a burst: its tuple and its own numbers."""

Call = Callable[[], Any]

Numbers = tuple[int, ...]
"""Numbers of the textures of a plan's slots, see `Texture`."""


class Bound:
    """The calls of a plan for one set of textures, and the time of their last use."""

    __slots__ = ("calls", "used")

    def __init__(self, calls: list[Call]) -> None:
        self.calls, self.used = calls, 0


class Prepared:
    """A prepared plan: its form here (None for itself), passes, work (see `glla.gl.throttle`), share of a step, calls.

    Its calls are kept by textures. The draws of a burst are kept as numbers only; an observer of single draws has them
    prepared anew.
    """

    __slots__ = ("_own", "bound", "folded", "form", "passes", "share", "work")

    def __init__(self, form: Plan | None, ready: Ready, work: float) -> None:
        self.form, self.passes, self.work = form, len(ready), work
        self.share = work / max(1, len(ready)) if work >= HEAVY else 0.0
        self.folded: Folded = folded(ready, max(1, int(HEAVY / self.share)) if self.share else len(ready))
        self.bound: dict[Numbers, Bound] = {}
        in_bursts = sum(len(step.draws) for step in self.folded if isinstance(step, Burst))
        self._own = READY_BYTES * len(self.folded) + BURST_BYTES * in_bursts

    @property
    def nbytes(self) -> int:
        """Estimate of its bytes."""
        return self._own + CALL_BYTES * sum(len(one.calls) for one in self.bound.values())


class Runner:
    """Runs the plans of one context, which must be current in every call.

    `context`: the context. `calls`: its functions. `pool`: its textures. `programs`: its programs. `transfers`: its
    transfers. `limits`: `limits` of the device, which plans must keep to. `debug`: check the error flag after each
    pass. `max_call_bytes`: bytes of the kept calls at most. Beyond it the calls used longest ago are dropped; those
    bound last stay, however many they are. Attributes: `plans`, `passes`: run so far. `interrupted`: stop the running
    plan between two passes, and start no other. Set from any thread. `uninterrupted`: number of open blocks whose plans
    run to their ends, interrupted or not.
    """

    def __init__(
        self,
        context: moderngl.Context,
        calls: Calls,
        pool: Pool,
        programs: Programs,
        transfers: Transfers,
        limits: Limits,
        debug: bool,
        max_call_bytes: int = MOST_CALL_BYTES,
    ) -> None:
        self._context, self._calls, self._pool = context, calls, pool
        self._programs, self._transfers, self._limits, self._debug = programs, transfers, limits, debug
        self.max_call_bytes = max_call_bytes
        self._prepared: weakref.WeakKeyDictionary[Plan, Prepared] = weakref.WeakKeyDictionary()
        self._form_of: barrier.Form | None = None  # of plans with barriers; at the first one it is found out
        self._throttle = Throttle(calls, self.check_interrupted)
        self._most_bytes = 0  # of all of them, if no plan were gone
        self._one_routine = ONE_ROUTINE if "llvmpipe" in context.info["GL_RENDERER"] else 0
        self._scheduled: weakref.WeakKeyDictionary[Plan, tuple[composed.Scheduled, ...]] = weakref.WeakKeyDictionary()
        self.plans = 0
        self.passes = 0
        self.interrupted = False
        self.uninterrupted = 0

    def forget(self) -> None:
        """Forget every prepared plan."""
        self._prepared.clear()
        self._scheduled.clear()

    def run(self, device: Machine, plan: Plan, operands: Mapping[str, Any]) -> dict[str, Any]:
        """Run a plan, see `Device.run`; `device` is for observers, and for the plans that it calls."""
        prepared = self._prepared.get(plan)
        if prepared is None:
            if isinstance(plan, Loop):
                return self._run_loop(device, plan, operands)
            if plan.composed:
                return self._run_composed(device, plan, operands)
            form = self._form(device, plan)
            ready = prepare(form, self._programs, self._limits)
            prepared = self._prepared[plan] = Prepared(None if form is plan else form, ready, work(plan.cost))
        observer = watching.of(device)
        form = prepared.form or plan if observer is None else plan  # whoever watches sees each slot as a texture
        self._check_operands(form, operands)
        textures = dict(operands)
        try:
            self._lend(form, textures)
            if observer is None:
                for call in self._calls_of(form, prepared, textures):
                    if self.interrupted:
                        self.check_interrupted(plan)
                    call()
            else:
                ready = prepare(plan, self._programs, self._limits)
                each = self._bind(plan, ready, prepared.share, textures)
                steps = [partial(self._call_all, plan, calls) for calls in each]
                observer.watch(device, plan, textures, steps)
            self._calls.check(plan.operation)
            if prepared.work < HEAVY:
                self._throttle.add(prepared.work, plan)
        except BaseException:
            for slot in textures.keys() - operands.keys():
                textures[slot].release()
            raise
        for slot in form.temporaries:
            textures[slot].release()
        self.plans += 1
        self.passes += prepared.passes
        return {name: textures[slot] for name, slot in plan.results.items()}

    def _form(self, device: Machine, plan: Plan) -> Plan:
        """The plan as it runs here: with slots in one texture where a barrier orders the passes behind it."""
        if not any(isinstance(step, Pass) and step.barrier for step in plan.steps):
            return plan
        if self._form_of is None:
            self._form_of = barrier.form(self._context, self._limits.texture_size, partial(self._try, device))
        return self._form_of(plan)

    def _try(self, device: Machine, plan: Plan, start: Float32) -> Float32:
        """Run a chain of passes from texels that it starts with, unobserved and uncounted; return its result."""
        textures = {"start": device.write_texels(start)}
        self._lend(plan, textures)
        for calls in self._bind(plan, prepare(plan, self._programs, self._limits), 0.0, textures):
            self._call_all(plan, calls)
        self._calls.check(plan.operation)
        return device.read(textures["counts"])

    def check_interrupted(self, plan: Plan) -> None:
        """Raise an AbandonedError if the device is interrupted."""
        if self.interrupted and not self.uninterrupted:
            raise AbandonedError(
                f"{plan.operation}: was abandoned between two passes, as the device was interrupted; resume() it first"
            )

    def _run_composed(self, device: Machine, plan: Plan, operands: Mapping[str, Any]) -> dict[str, Any]:
        """Run a plan of plans; each plan that it calls comes back to `run`."""
        scheduled = self._scheduled.get(plan)
        if scheduled is None:
            plan.check(self._limits)
            scheduled = self._scheduled[plan] = composed.schedule(plan)
        self._check_operands(plan, operands)
        results = composed.run(device, plan, scheduled, operands, partial(self.check_interrupted, plan))
        self.plans += 1
        return results

    def _run_loop(self, device: Machine, loop: Loop, operands: Mapping[str, Any]) -> dict[str, Any]:
        """Run a loop; each of its iterations comes back to `run`."""
        self._check_operands(loop, operands)
        results = iterate.Run(device, loop, operands, partial(self.check_interrupted, loop)).run()
        self.plans += 1
        return results

    # -- a texture for every slot -------------------------------------------------------------------------------

    def _lend(self, plan: Plan, textures: dict[str, Texture]) -> None:
        """Take a texture out of the pool for every slot that has none."""
        for slot, storage in plan.slots.items():
            if slot not in textures:
                assert not isinstance(storage, HostArray)
                textures[slot] = self._pool.acquire(storage)

    def _check_operands(self, plan: Plan, operands: Mapping[str, Any]) -> None:
        if set(operands) != set(plan.operands):
            raise PlanError(f"{plan.operation}: operands are {sorted(plan.operands)}, got {sorted(operands)}")
        for name, operand in operands.items():
            storage = plan.slots[name]
            if not isinstance(operand, Texture):
                if not isinstance(storage, HostArray) or np.size(operand) != storage.size:
                    raise PlanError(f"{plan.operation}: operand {name} must be {storage}, got {_form(operand)}")
                continue
            handle(operand)
            if operand._pool is not self._pool:
                raise DeviceMismatchError(f"{plan.operation}: operand {name} lives on another device; copy it over")
            if operand.storage != storage:
                raise PlanError(f"{plan.operation}: operand {name} must be {storage}, got {operand.storage}")

    # -- GL calls for every step --------------------------------------------------------------------------------

    def _call_all(self, plan: Plan, calls: Sequence[Call]) -> None:
        self.check_interrupted(plan)
        for call in calls:
            call()

    def _calls_of(self, plan: Plan, prepared: Prepared, textures: Mapping[str, Texture]) -> list[Call]:
        """GL calls of a plan for these textures, kept for the next run: Python's time dominates small passes."""
        numbers = tuple([textures[slot].number for slot in plan.slots])
        bound = prepared.bound.get(numbers)
        if bound is None:
            each = self._bind(plan, prepared.folded, prepared.share, textures)
            bound = Bound([call for step in each for call in step])
            self._keep(prepared, numbers, bound)
        bound.used = self.plans
        return bound.calls

    def _keep(self, prepared: Prepared, numbers: Numbers, bound: Bound) -> None:
        """Keep calls, and drop others beyond the bounds."""
        before = prepared.nbytes if prepared.bound else 0
        if len(prepared.bound) >= REMEMBERED:
            del prepared.bound[min(prepared.bound, key=lambda one: prepared.bound[one].used)]
        prepared.bound[numbers] = bound
        self._most_bytes += prepared.nbytes - before
        if self._most_bytes > self.max_call_bytes:
            self._shrink(bound)

    @property
    def call_bytes(self) -> int:
        """Estimate of the bytes of the kept calls."""
        return sum(prepared.nbytes for prepared in self._prepared.values())

    def _shrink(self, newest: Bound) -> None:
        """Drop the calls used longest ago, down to seven eighths: so sorting by use is rare."""
        kept = [
            (bound.used, plan, numbers)
            for plan, prepared in self._prepared.items()
            for numbers, bound in prepared.bound.items()
            if bound is not newest
        ]
        self._most_bytes = self.call_bytes
        for _, plan, numbers in sorted(kept, key=lambda one: one[0]):
            if self._most_bytes <= self.max_call_bytes * 7 // 8:
                break
            prepared = self._prepared[plan]
            before = prepared.nbytes
            del prepared.bound[numbers]
            if not prepared.bound:
                del self._prepared[plan]
            self._most_bytes -= before - (prepared.nbytes if prepared.bound else 0)

    def _bind(
        self, plan: Plan, ready: Ready | Folded, share: float, textures: Mapping[str, Texture]
    ) -> list[list[Call]]:
        """Convert each step to GL calls, without state that is already set."""
        state, queued = _State(), 0.0
        large = False  # whether the draw before was
        steps: list[list[Call]] = []
        number = 0
        for step in ready:
            calls: list[Call] = []
            if not steps:  # no pass has vertex attributes, so one vertex array serves all
                calls.append(partial(self._calls.bind_vertex_array, self._programs.vertex_array))
            steps.append(calls)
            if isinstance(step, Transfer):
                source, target = textures[step.source], textures[step.target].gl
                if step.region:
                    name = self._pool.framebuffer((source,)).glo
                    calls += state.change("target", name, partial(self._calls.bind_framebuffer, GL_FRAMEBUFFER, name))
                    calls.append(partial(self._transfers.copy_part, target, step.region))
                else:
                    storage = texture(plan.slots[step.source])
                    calls.append(partial(self._transfers.copy, source.gl, storage, target.glo))
                queued, number = queued + share, number + 1
                continue
            one = step.first if isinstance(step, Burst) else step
            for unit, slot in one.samplers:
                calls += state.change(("unit", unit), slot, partial(textures[slot].gl.mglo.use, unit))
            calls += [partial(uniform.write, data) for uniform, data in one.uniforms]
            count = 1
            if isinstance(step, Computation):
                stored = enumerate(textures[slot].gl for slot in step.step.outputs)
                calls += [partial(gl.bind_to_image, unit, False, True) for unit, gl in stored]
                calls += [partial(step.program.run, *step.step.groups, 1), self._context.memory_barrier]
                state.forget("program")  # it has made its own program current
            elif isinstance(step, Burst):
                count = len(step.draws)
                before, large = large, any(width * height >= LARGE for _, _, width, height, *_ in step.draws)
                calls += self._draw_all(plan, number, step, textures, state, large or before)
            else:
                before, large = large, step.viewport[2] * step.viewport[3] >= LARGE
                calls += self._draw(step, textures, state, large or before)
            if self._debug and not isinstance(step, Burst):
                calls.append(partial(self._calls.check, f"{plan.operation}: pass {number} ({step.step.shader})"))
            number += count
            queued += share * count
            if queued >= HEAVY:
                calls.append(partial(self._throttle.add, queued, plan))
                queued = 0.0
        if queued:
            steps[-1].append(partial(self._throttle.add, queued, plan))
        if steps:
            steps[-1] += state.change("logic", False, partial(self._calls.disable, GL_COLOR_LOGIC_OP))
        return steps

    def _draw(self, draw: Draw, textures: Mapping[str, Texture], state: _State, large: bool) -> list[Call]:
        """Convert a pass to GL calls; its samplers and uniforms are set already."""
        gl, step = self._calls, draw.step
        calls = self._target(draw, textures, state)
        calls += state.change("view", draw.viewport, partial(gl.viewport, *draw.viewport))
        for binding, (_, block) in enumerate(sorted(step.blocks.items())):
            buffer = textures[block.slot].gl.mglo
            bind = partial(buffer.bind_to_uniform_block, binding, 16 * block.first, 16 * block.count)
            calls += state.change(("block", binding), block, bind)
        calls += [gl.texture_barrier] if step.barrier and step.parts is not None else []
        call = gl.draw_large if large else gl.draw
        if "SHEET" in step.defines:
            return [*calls, partial(call, moderngl.TRIANGLES, VERTICES * step.step, VERTICES)]
        if not step.points:
            return [*calls, partial(call, moderngl.TRIANGLES, 3 * step.step, 3)]
        most = POINTS_IN_SOFTWARE if self._limits.software else step.points
        firsts = range(0, step.points, most)
        return [*calls, *(partial(call, moderngl.POINTS, first, min(most, step.points - first)) for first in firsts)]

    def _target(self, draw: Draw, textures: Mapping[str, Texture], state: _State) -> list[Call]:
        """GL calls that set a pass's render target, blending and program."""
        gl, step = self._calls, draw.step
        target = self._pool.framebuffer(tuple(textures[slot] for slot in step.outputs)).glo
        calls = state.change("target", target, partial(gl.bind_framebuffer, GL_FRAMEBUFFER, target))
        blend = [partial(self._context.enable_only, moderngl.BLEND if step.accumulate else moderngl.NOTHING)]
        if step.accumulate:
            blend.append(partial(setattr, self._context, "blend_func", (moderngl.ONE, moderngl.ONE)))
        calls += state.change("blend", step.accumulate, *blend)
        few = not step.accumulate and draw.viewport[2] * draw.viewport[3] <= self._one_routine
        switch = gl.enable if few else gl.disable  # a logic operation would replace blending
        calls += state.change("logic", few, partial(switch, GL_COLOR_LOGIC_OP))
        return calls + state.change("program", draw.program, partial(gl.use_program, draw.program))

    def _draw_all(
        self, plan: Plan, number: int, burst: Burst, textures: Mapping[str, Texture], state: _State, large: bool
    ) -> list[Call]:
        """Convert a burst to GL calls; samplers and uniforms are set already."""
        gl, step = self._calls, burst.first.step
        # Until a flush NVIDIA's driver keeps what is queued: the GPU would be idle while hundreds of draws are issued.
        calls = [*self._target(burst.first, textures, state), *([] if self._limits.software else [gl.flush])]
        calls += [gl.texture_barrier] if step.barrier and step.parts else []
        state.forget("view")
        state.forget(("block", 0))
        (block,) = step.blocks.values()
        buffer, draw = textures[block.slot].gl.glo, gl.draw_large if large else gl.draw
        if not self._debug:
            return [*calls, partial(self._issue, plan, buffer, burst.draws, draw)]
        for place, one in enumerate(burst.draws, number):
            calls.append(partial(self._issue, plan, buffer, (one,), draw))
            calls.append(partial(gl.check, f"{plan.operation}: pass {place} ({step.shader})"))
        return calls

    def _issue(self, plan: Plan, buffer: int, draws: Sequence[tuple[int, ...]], draw: Function) -> None:
        viewport, bind = self._calls.viewport, self._calls.bind_buffer_range
        for x, y, width, height, first, nbytes, vertex in draws:
            if self.interrupted:
                self.check_interrupted(plan)
            viewport(x, y, width, height)
            bind(GL_UNIFORM_BUFFER, 0, buffer, first, nbytes)
            draw(moderngl.TRIANGLES, vertex, 3)


class _State:
    """GL state set by the calls of a plan so far."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def change(self, key: Any, value: Any, *calls: Call) -> list[Call]:
        """Calls that set a value, none if it is set already."""
        if self._known.get(key) == value:
            return []
        self._known[key] = value
        return list(calls)

    def forget(self, key: Any) -> None:
        """Note that a value is no longer known."""
        self._known.pop(key, None)


def _form(operand: Any) -> str:
    """Describe an operand that is no texture, for messages."""
    return f"an array of shape {operand.shape}" if isinstance(operand, np.ndarray) else type(operand).__name__
