"""The recorder: every render pass that a thread's devices run, as plain records.

It is an observer (`glla.gl.observers`), so it sees the passes of every function of glla, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError, TraceError
from glla.gl.observers import observe
from glla.gl.pool import Texture
from glla.gl.staging import Machine
from glla.operations.layouts import packing
from glla.operations.record import Float32
from glla.passes import Call, Plan, Slot, Storage, texture
from glla.passes.glsl.find import Define
from glla.passes.screen import screen
from glla.passes.steps import DeviceStep, Dispatch, Host, Pass, Region, Transfer, Uniform
from glla.registry import announced

LIMIT = 2**28
"""Bytes that a recorder keeps at most by default: 256 MiB."""

RECORD_BYTES = 1024
"""Bytes that a record counts as, besides its values."""

# How times were taken, in words.
AROUND_A_FINISH = "wall time of each pass with a wait for the device behind it; passes do not overlap as they else may"
BY_THE_GPU = "GPU time from timestamps of the device, before and behind each pass; wall time is that of queueing it"


COPY, UPLOAD, READ_BACK = "(transfer)", "(upload)", "(read back)"
"""Names in place of a shader: transfers within the device, to it, from it."""


@dataclass(frozen=True)
class TracedPass:
    """One render pass that ran, or a transfer, or work of the host."""

    # the plan it belongs to. A plan of plans has its own steps only; the plans that it calls have their own records
    plan: Plan
    run: int  # number of the plan's run in the trace, from 0
    number: int  # number of the step in its plan, from 0
    renderer: str  # renderer of the device
    start: float  # seconds since the beginning of the trace
    wall: float  # CPU seconds: until the pass was done on a software rasteriser, else until it was queued
    gpu_start: float | None = None  # GPU seconds, by its own clock; None on a software rasteriser
    gpu: float | None = None
    # with ``values=True``: the slots that it reads; those that it draws to, before and after. A packed matrix is
    # unpacked (rows x columns), any other texture is height x width, x channels if there are several. NaN marks texels
    # that no pass has drawn yet. The arrays cannot be written, because passes share them
    reads: Mapping[str, NDArray[Any]] | None = None
    before: Mapping[str, NDArray[Any]] | None = None
    values: Mapping[str, NDArray[Any]] | None = None

    @property
    def step(self) -> DeviceStep | Host:
        """The step, as the plan has it."""
        step = self.plan.steps[self.number]
        assert not isinstance(step, Call)  # is recorded by its passes
        return step

    @property
    def draw(self) -> Pass | Dispatch | None:
        """The step if a shader ran, None for transfers and work of the host."""
        return self.step if isinstance(self.step, Pass | Dispatch) else None

    @property
    def on_device(self) -> bool:
        """Whether the host took no part in the step."""
        return self.draw is not None or self.shader == COPY

    @property
    def operation(self) -> str:
        """Name of the operation, with its variant."""
        return self.plan.operation

    @property
    def shader(self) -> str:
        """Name below ``shaders/``; for other steps a name in brackets.

        ``"(transfer)"`` for a copy into a buffer, ``"(upload)"``, ``"(read back)"``, and ``"(host) name"``.
        """
        step = self.step
        if isinstance(step, Host):
            return f"(host) {step.name}"
        if isinstance(step, Transfer):
            slots = self.plan.slots
            return UPLOAD if slots[step.source].host else READ_BACK if slots[step.target].host else COPY
        return step.shader

    @property
    def inputs(self) -> dict[str, str]:
        """Sampler, or uniform block, -> slot."""
        step = self.step
        if isinstance(step, Host):
            return {slot: slot for slot in step.inputs}
        if isinstance(step, Transfer):
            return {"source": step.source}
        return {**step.inputs, **{name: block.slot for name, block in step.blocks.items()}}

    @property
    def outputs(self) -> tuple[str, ...]:
        """Slots written."""
        return (self.step.target,) if isinstance(self.step, Transfer) else self.step.outputs

    @property
    def region(self) -> Region:
        """Texels drawn; an empty region for steps of the host."""
        if self.draw is not None:
            return self.plan.drawn(self.draw)
        if not (self.on_device and isinstance(self.step, Transfer)):
            return Region(0, 0, 0, 0)
        if self.step.region:
            return self.step.region
        copied = texture(self.plan.slots[self.step.source])
        return Region(0, 0, copied.width, copied.height)

    @property
    def uniforms(self) -> dict[str, Uniform]:
        """Uniform values of the draw."""
        return {} if self.draw is None else dict(self.draw.uniforms)

    @property
    def defines(self) -> dict[str, Define]:
        """Defines compiled into the shader's text."""
        return {} if self.draw is None else dict(self.draw.defines)

    @property
    def seconds(self) -> float:
        """GPU time if it is known, else wall time."""
        return self.wall if self.gpu is None else self.gpu


class Recorder:
    """Recorder of the passes of a ``with`` block; see `glla.trace`, which adds saving.

    `values`: keep the values that each pass reads and draws, too. `limit`: bytes to keep at most; later passes run and
    are only counted. `device`: record only this one. Attributes: `passes`: in execution order. `dropped`: passes that
    ran after the limit was reached.
    """

    def __init__(self, *, values: bool = False, limit: int = LIMIT, device: Machine | None = None) -> None:
        if not limit > 0:
            raise OptionError(f"trace: limit must be a number of bytes above 0, got {limit!r}")
        self.keep_values, self.limit, self.device = values, limit, device
        self.passes: list[TracedPass] = []
        self.dropped = 0
        self.runs = 0
        self._bytes = 0
        self._began = 0.0
        self._scope: AbstractContextManager[None] | None = None

    def __enter__(self) -> Self:
        if self._scope is not None or self.runs:
            raise TraceError("trace: serves one with block; make another for the next")
        scope = observe(self, self.device)
        scope.__enter__()
        self._scope, self._began = scope, perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        scope, self._scope = self._scope, None
        if scope is not None:
            scope.__exit__(None, None, None)

    @property
    def timing(self) -> str:
        """How the times were taken, as a sentence."""
        by_gpu = any(one.gpu is not None for one in self.passes)
        return BY_THE_GPU if by_gpu else AROUND_A_FINISH

    def watch(
        self, device: Machine, plan: Plan, textures: Mapping[str, Texture], draws: Sequence[Callable[[], None]]
    ) -> None:
        """Run a plan and record its passes; called by the device."""
        run, self.runs = self.runs, self.runs + 1
        first = len(self.passes)
        view = _View(device, plan, textures) if self.keep_values and not self._full else None
        clock = device.gpu_clock()
        if clock is not None:
            clock.start()
        try:
            for number, draw in enumerate(draws):
                if self._full:
                    self.dropped += 1
                    draw()
                    continue
                start = perf_counter()
                if clock is None:
                    draw()
                    device.finish()
                else:
                    clock.stamp()
                    draw()
                    clock.stamp()
                wall = perf_counter() - start
                one = TracedPass(plan, run, number, device.info.renderer, start - self._began, wall)
                self._keep(one if view is None else replace(one, **view.of(one)))
            if clock is not None:
                stamps = clock.read()
                for place, (begin, end) in enumerate(zip(stamps[::2], stamps[1::2], strict=True), first):
                    gpu_start, gpu = begin - self._began, max(0.0, end - begin)
                    self.passes[place] = replace(self.passes[place], gpu_start=gpu_start, gpu=gpu)
        finally:
            if clock is not None:
                clock.clear()

    def watch_parts(
        self, device: Machine, plan: Plan, values: Mapping[str, Any], parts: Sequence[Callable[[], Mapping[str, Any]]]
    ) -> None:
        """Run a plan of plans and record its steps of the host; called by the device."""
        run, self.runs = self.runs, self.runs + 1
        for number, (step, part) in enumerate(zip(plan.steps, parts, strict=True)):
            if isinstance(step, Call):
                part()
            elif self._full:
                self.dropped += 1
                part()
            else:
                one = TracedPass(plan, run, number, device.info.renderer, 0, 0)
                reads = _arrays({slot: values[slot] for slot in one.inputs.values()}) if self.keep_values else None
                start = perf_counter()
                made = part()
                one = replace(one, start=start - self._began, wall=perf_counter() - start)
                self._keep(one if reads is None else replace(one, reads=reads, before={}, values=_arrays(made)))

    def watch_host(self, name: str, work: Callable[[], Any]) -> Any:
        """Run work of the host between plans, and record it."""
        start = perf_counter()
        result = work()
        if self._full:
            self.dropped += 1
            return result
        step = Host(name, lambda: (), (), ())
        plan = Plan("host", {}, (), {}, (step,))
        self.runs += 1
        wall = perf_counter() - start
        empty: dict[str, Float32] | None = {} if self.keep_values else None
        self._keep(TracedPass(plan, self.runs - 1, 0, "", start - self._began, wall, None, None, empty, empty, empty))
        return result

    @property
    def _full(self) -> bool:
        return self._bytes >= self.limit

    def _keep(self, one: TracedPass) -> None:
        self.passes.append(one)
        arrays = [*(one.values or {}).values(), *(() if one.on_device else (one.reads or {}).values())]
        self._bytes += RECORD_BYTES + sum(array.nbytes for array in arrays)

    def __len__(self) -> int:
        return len(self.passes)

    def __repr__(self) -> str:
        """Show as much as fits a screen: the passes of the largest plan first."""
        state = "running" if self._scope is not None else f"{len(self.passes)} passes of {self.runs} plans"
        head = f"<glla.{type(self).__name__.lower()} {state}>"
        return screen(f"{head}\n{announced('text of a trace')(self, short=True)}".rstrip()) if self.passes else head

    def __str__(self) -> str:
        text: str = announced("text of a trace")(self)
        return text

    def _repr_html_(self) -> str:
        """Show it in a notebook: the largest plan first, in pictures if values were kept; long ones are truncated."""
        markup: str = announced("html of a trace")(self)
        return markup


def _arrays(values: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Copy the arrays of the host among the values; the host may change its own later."""
    arrays = {slot: value.copy() for slot, value in values.items() if isinstance(value, np.ndarray)}
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


class _View:
    """Values of the slots of a running plan: read back as passes draw them."""

    def __init__(self, device: Machine, plan: Plan, textures: Mapping[str, Texture]) -> None:
        self.device, self.plan, self.textures = device, plan, textures
        self.texels = {slot: self._nothing(storage) for slot, storage in plan.slots.items()}
        for slot in plan.operands:
            self.texels[slot] = device.read(textures[slot])
        self.arrays = {slot: unpacked(self.texels[slot], plan.slots[slot]) for slot in plan.slots}

    @staticmethod
    def _nothing(storage: Slot) -> Float32:
        shape = (
            (storage.height, storage.width, storage.channels)
            if isinstance(storage, Storage)
            else (storage.nbytes // 4,)
        )
        return np.full(shape, np.nan, dtype=np.float32)

    def of(self, one: TracedPass) -> dict[str, Any]:
        """Arrays of a pass that has just run."""
        before = {slot: self.arrays[slot] for slot in one.outputs}
        if isinstance(one.step, Transfer) and not one.step.region:
            self.arrays[one.step.target] = self.arrays[one.step.source]
        else:
            for slot in one.outputs:
                self._update(slot, one.region)
        return {
            "reads": {slot: self.arrays[slot] for slot in one.inputs.values()},
            "before": before,
            "values": {slot: self.arrays[slot] for slot in one.outputs},
        }

    def _update(self, slot: str, region: Region) -> None:
        """Read the drawn region; texels outside it may hold anything, and keep their known values."""
        rows, columns = slice(region.y, region.y + region.height), slice(region.x, region.x + region.width)
        self.texels[slot][rows, columns] = self.device.read(self.textures[slot])[rows, columns]
        self.arrays[slot] = unpacked(self.texels[slot], self.plan.slots[slot])


def unpacked(texels: Float32, storage: Slot) -> Float32:
    """Convert texels to the array that they hold, a read-only copy.

    `texels`, (height, width, channels): as returned by `glla.Device.read`. `storage`: with the shape of a packed
    matrix, if it is one.

    >>> from glla.passes import Packed
    >>> texels = np.arange(8, dtype=np.float32).reshape(1, 2, 4)
    >>> unpacked(texels, Storage(1, 2, layout=Packed((2, 3))))
    array([[0., 1., 4.],
           [2., 3., 6.]], dtype=float32)
    """
    if isinstance(storage, Storage) and storage.shape is not None:
        result = packing.unpacked_by_host(texels, storage.shape)
    else:
        result = (texels[:, :, 0] if texels.shape[2:] == (1,) else texels).copy()
    result.flags.writeable = False
    return result
