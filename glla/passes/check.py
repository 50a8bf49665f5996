"""Checks that GL omits: no pass reads texels that it draws, or unwritten slots, and all keep to the limits."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Protocol

from glla.errors import LimitError, PlanError
from glla.passes.glsl import find as shaders
from glla.passes.limits import COMPUTE, Limits, version
from glla.passes.steps import Dispatch, Host, Pass, Region, Step, Transfer
from glla.passes.storage import Buffer, HostArray, Slot, Storage, texture

BLOCK_ALIGNMENT = 16
"""A uniform block starts at a multiple of this number of texels in its buffer: 256 bytes, the most that a driver asks
for."""

MOST_GROUPS = 65535
"""Most work groups of a dispatch in either direction that every OpenGL 4.3 grants."""


class Checked(Protocol):
    """A plan, as far as it is looked at here: its steps, none of which calls another plan."""

    @property
    def operation(self) -> str:
        """Name, for messages."""

    @property
    def slots(self) -> Mapping[str, Slot]:
        """Textures, and arrays of the host."""

    @property
    def operands(self) -> tuple[str, ...]:
        """Slots that are given."""

    @property
    def results(self) -> Mapping[str, str]:
        """Slots that are handed out."""

    def drawn(self, step: Pass | Dispatch) -> Region:
        """Texels drawn."""


def check(plan: Checked, steps: tuple[Step, ...], limits: Limits) -> None:
    """Prove the rules; `steps` are those of the plan and of all plans that it calls.

    Raises PlanError, LimitError: see `Plan.check`.
    """
    _Check(plan, limits).all(steps)


class Since:
    """Texels of a shared texture that passes have drawn and fetched since a barrier; `unknown`: there was none."""

    def __init__(self, unknown: bool = True) -> None:
        self._unknown, self._drawn, self._fetched = unknown, list[Region](), list[Region]()

    def needs_barrier(self, drawn: Region, fetched: Set[Region]) -> bool:
        """Whether the next pass, which reads texels drawn since, or draws some read, needs one; then it is there."""
        read = any(one.meets(earlier) for one in fetched for earlier in self._drawn)
        needed = self._unknown or read or any(map(drawn.meets, self._fetched))
        if needed:
            self._unknown, self._drawn, self._fetched = False, [], []
        for regions, one in ((self._drawn, drawn), *((self._fetched, part) for part in fetched)):
            last = regions[-1] if regions else one
            if (last.x, last.y + last.height) == (one.x, one.y):  # hundreds of strips are looked at as one
                regions[-1] = Region(last.x, last.y, max(last.width, one.width), last.height + one.height)
            else:
                regions.append(one)
        return needed


class _Check:
    """Checks one plan."""

    def __init__(self, plan: Checked, limits: Limits) -> None:
        self.plan, self.limits = plan, limits
        self._since = Since()

    def all(self, steps: tuple[Step, ...]) -> None:
        """Check slots, then steps in their order, then results."""
        for name, storage in self.plan.slots.items():
            if not isinstance(storage, HostArray):
                self._storage(name, storage)
        written: set[str] = set(self.plan.operands)
        before: Step | None = None
        for number, step in enumerate(steps):
            where = f"{self.plan.operation}: step {number}"
            if isinstance(step, Transfer):
                self._transfer(where, step, written)
                written.add(step.target)
            elif isinstance(step, Host):
                self._host(where, step, written)
                written.update(step.outputs)
            else:
                where = f"{self.plan.operation}: pass {number} ({step.shader})"
                if isinstance(step, Pass) and isinstance(before, Pass) and _alike(step, before):
                    self._region(where, self.plan.drawn(step), step.outputs[0])
                    self._blocks(where, step, written)
                else:
                    self._draw(where, step, written)
                written.update(step.outputs)
            self._ordered(where, step)
            before = step
        for name, slot in self.plan.results.items():
            if slot not in written or slot in self.plan.operands:
                raise PlanError(f"{self.plan.operation}: result {name} is never written (slot {slot})")

    def _draw(self, where: str, step: Pass | Dispatch, written: set[str]) -> None:
        if isinstance(step, Dispatch):
            self._groups(where, step)
        self._targets(where, step)
        self._inputs(where, step, written)
        if isinstance(step, Pass):
            self._blocks(where, step, written)
        self._names(where, step)

    def _host(self, where: str, step: Host, written: set[str]) -> None:
        for slot in (*step.inputs, *step.outputs):
            if slot not in self.plan.slots or not self.plan.slots[slot].host:
                raise PlanError(f"{where}: the host works on its own arrays ({step.name}), got {slot}")
        for slot in step.inputs:
            if slot not in written:
                raise PlanError(f"{where}: reads {slot} ({step.name}) before any step has written it")

    def _on_device(self, where: str, slot: str) -> Storage | Buffer:
        found = self.plan.slots[slot]
        if isinstance(found, HostArray):
            raise PlanError(f"{where}: a pass works on the device, {slot} lies in the host's memory")
        return found

    def _is_buffer(self, where: str, slot: str) -> bool:
        storage = self._on_device(where, slot) if slot in self.plan.slots else None
        return isinstance(storage, Buffer) and storage.use != "texels"

    def _transfer(self, where: str, step: Transfer, written: set[str]) -> None:
        if step.source not in written:
            raise PlanError(f"{where}: transfers {step.source} before any pass has written it")
        if step.target not in self.plan.slots or step.target in self.plan.operands:
            raise PlanError(f"{where}: transfers to {step.target}, which is no slot that the plan itself writes")
        source, target = self.plan.slots[step.source], self.plan.slots[step.target]
        crossing = source.host and target.host if source.host or target.host else source.buffer or not target.buffer
        if step.region and step.source != step.target and {type(source), type(target)} == {Storage}:
            self._region(where, step.region, step.target)
            self._region(where, Region(0, 0, step.region.width, step.region.height), step.source)
        elif crossing or step.region or source.nbytes != target.nbytes:
            raise PlanError(
                f"{where}: a transfer goes from a texture to a buffer of its size, to a region of another texture, or "
                f"between host and device, got {source} to {target}"
            )

    def _groups(self, where: str, step: Dispatch) -> None:
        if self.limits.opengl < COMPUTE:
            raise LimitError(
                f"{where}: a compute shader needs OpenGL {version(COMPUTE)}, this device has "
                f"{version(self.limits.opengl)}; choose another variant",
                COMPUTE,
                self.limits.opengl,
            )
        if len(step.groups) != 2 or not all(1 <= count <= MOST_GROUPS for count in step.groups):
            raise PlanError(f"{where}: a dispatch has 1 to {MOST_GROUPS} groups in either direction, got {step.groups}")

    def _blocks(self, where: str, step: Pass, written: set[str]) -> None:
        for name, block in step.blocks.items():
            if block.slot not in written:
                raise PlanError(f"{where}: reads {block.slot} (as {name}) before any step has written it")
            storage = self._on_device(where, block.slot)
            inside = block.first >= 0 and block.count > 0 and 16 * (block.first + block.count) <= storage.nbytes
            if not isinstance(storage, Buffer) or not inside or block.first % BLOCK_ALIGNMENT:
                raise PlanError(f"{where}: block {name} must lie in a buffer, at a multiple of 256 bytes, got {block}")
            if block.count > self.limits.uniform_block:
                raise LimitError(
                    f"{where}: a uniform block may have {self.limits.uniform_block} texels, {name} needs {block.count}",
                    block.count,
                    self.limits.uniform_block,
                )

    def _storage(self, name: str, storage: Storage | Buffer) -> None:
        if isinstance(storage, Buffer):
            if storage.nbytes < 1:
                raise PlanError(f"{self.plan.operation}: slot {name} has no possible storage, got {storage}")
            if storage.use == "texels" and storage.texels > self.limits.buffer_texels:
                raise LimitError(
                    f"{self.plan.operation}: a buffer that is sampled may have {self.limits.buffer_texels} texels on "
                    f"this device, slot {name} needs {storage.texels}; choose another variant, or other parameters",
                    storage.texels,
                    self.limits.buffer_texels,
                )
            return
        longest = max(storage.height, storage.width)
        if min(storage.height, storage.width) < 1 or storage.channels not in (1, 2, 4):
            raise PlanError(f"{self.plan.operation}: slot {name} has no possible storage, got {storage}")
        if longest > self.limits.texture_size:
            raise LimitError(
                f"{self.plan.operation}: a texture may have {self.limits.texture_size} texels a side on this device, "
                f"slot {name} needs {longest}; cut the matrix into blocks",
                longest,
                self.limits.texture_size,
            )

    def _targets(self, where: str, step: Pass | Dispatch) -> None:
        if not step.outputs or any(slot not in self.plan.slots for slot in step.outputs):
            raise PlanError(f"{where}: every output must be a slot of the plan, got {step.outputs}")
        if set(step.outputs) & set(self.plan.operands):
            raise PlanError(f"{where}: an operand is never written, got outputs {step.outputs}")
        if len(step.outputs) > self.limits.draw_buffers:
            raise LimitError(
                f"{where}: {self.limits.draw_buffers} targets at most, got {len(step.outputs)}",
                len(step.outputs),
                self.limits.draw_buffers,
            )
        if any(self._is_buffer(where, slot) for slot in (*step.outputs, *step.inputs.values())):
            raise PlanError(f"{where}: a pass draws to textures and samples textures, a buffer is for uniform blocks")
        storages = [texture(self._on_device(where, slot)) for slot in step.outputs]
        sizes = {(storage.height, storage.width) for storage in storages}
        if len(sizes) > 1 or len(set(step.outputs)) < len(step.outputs):
            raise PlanError(f"{where}: targets must be distinct and agree in size, got {step.outputs} of {sizes}")
        self._region(where, self.plan.drawn(step), step.outputs[0])

    def _region(self, where: str, region: Region, slot: str) -> None:
        target = texture(self._on_device(where, slot))
        inside = region.x >= 0 and region.y >= 0 and region.x + region.width <= target.width
        if not (inside and region.y + region.height <= target.height and region.width > 0 and region.height > 0):
            raise PlanError(f"{where}: the region must lie in the {target.height}x{target.width} target, got {region}")

    def _inputs(self, where: str, step: Pass | Dispatch, written: set[str]) -> None:
        for sampler, slot in step.inputs.items():
            if slot in step.outputs and not self._apart(step, sampler):
                raise PlanError(f"{where}: reads {slot} (as {sampler}) while drawing to it")
            if slot not in written:
                raise PlanError(f"{where}: reads {slot} (as {sampler}) before any pass has written it")
        lent = {*self.plan.operands, *self.plan.results.values()}
        elsewhere = len(step.outputs) > 1 and any((step.parts or {}).values())
        if (step.barrier or step.parts is not None) and (elsewhere or step.accumulate or lent & set(step.outputs)):
            raise PlanError(f"{where}: behind a barrier a pass replaces one temporary, got {step.outputs}")
        if isinstance(step, Pass) and step.accumulate and not set(step.outputs) <= written:
            raise PlanError(f"{where}: accumulates into {step.outputs} before any pass has written it")

    def _apart(self, step: Pass | Dispatch, sampler: str) -> bool:
        """Whether a pass draws to no texel that it may fetch through this sampler, but for each fragment's own."""
        parts = step.parts or {}
        return sampler in parts and not ((part := parts[sampler]) and part.meets(self.plan.drawn(step)))

    def _ordered(self, where: str, step: Step) -> None:
        """Prove that in a shared texture a pass reads nothing drawn since a barrier, and draws nothing read."""
        if not isinstance(step, Pass) or step.parts is None:
            self._since = Since()
            return
        if step.barrier:
            self._since = Since(unknown=False)
        drawn = self.plan.drawn(step)
        fetched = {part or drawn for part in step.parts.values()}
        if self._since.needs_barrier(drawn, fetched):
            raise PlanError(f"{where}: a barrier is missing between what it reads or draws and the passes before")

    def _names(self, where: str, step: Pass | Dispatch) -> None:
        declared = shaders.resolve(step.shader, step.defines)
        blocks = step.blocks if isinstance(step, Pass) else {}
        for kind, asked, given in (
            ("samplers", declared.samplers, set(step.inputs)),
            ("uniforms", declared.uniforms, set(step.uniforms)),
            ("uniform blocks", declared.blocks, set(blocks)),
        ):
            if asked != given:
                raise PlanError(f"{where}: {kind} declared {sorted(asked)}, given {sorted(given)}")
        if len(declared.outputs) != len(step.outputs):
            raise PlanError(f"{where}: the shader writes {declared.outputs}, the pass takes {step.outputs}")
        for name, slot in (*step.inputs.items(), *zip(declared.outputs, step.outputs, strict=True)):
            dtype = "int32" if name in declared.integers else "float32"
            self._kind(where, name, f"{dtype} in a buffer" if name in declared.buffers else dtype, slot)

    def _kind(self, where: str, name: str, dtype: str, slot: str) -> None:
        """Check that texels of a slot have the type of its sampler or output: GL would not tell."""
        storage = self._on_device(where, slot)
        found = "float32 in a buffer" if isinstance(storage, Buffer) else storage.dtype
        if found != dtype:
            raise PlanError(f"{where}: {name} is declared for texels of {dtype}, slot {slot} holds {found}")


def _alike(step: Pass, before: Pass) -> bool:
    """Whether a pass differs from the one before in nothing but region, parts of buffers and values of uniforms."""
    return (
        step.shader == before.shader
        and step.inputs == before.inputs
        and step.outputs == before.outputs
        and step.defines == before.defines
        and step.accumulate == before.accumulate
        and (step.barrier, step.parts) == (before.barrier, before.parts)
        and step.uniforms.keys() == before.uniforms.keys()
        and step.blocks.keys() == before.blocks.keys()
    )
