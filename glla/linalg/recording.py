"""A device that runs nothing: a call that is carried out on it leaves its plan, which `glla.plan` shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32
from glla.array.value import Resident
from glla.gl import Device, Texture
from glla.operations.layouts import crossing
from glla.operations.linear.view import View
from glla.passes import Draft, Form, HostArray, Limits, Plan, Slot, Storage, matrix
from glla.passes.layout import Shape


class Shown(Exception):
    """Raised where the rest of a call depends on values, or is the same for each matrix."""


class PlanRecorder(Device):
    """A device that makes one plan of all that runs on it. Whatever is read back from it holds zeros.

    `operation`: name of the plan. `limits`, `room`: of the device that it stands for.
    """

    def __init__(self, operation: str, limits: Limits, room: int | None) -> None:
        self.limits = limits
        self.times = 1
        self._room = room
        self._draft = Draft(operation)
        self._plans: list[Plan] = []
        self._slots: dict[int, str] = {}
        self._textures: dict[str, Texture] = {}
        self._kept: list[Any] = []  # an id is that of one object as long as it lives

    @property
    def room(self) -> int | None:
        """Bytes that textures may still take."""
        return self._room

    def current(self) -> AbstractContextManager[object]:
        """There is no context."""
        return nullcontext()

    # -- operands and results -------------------------------------------------------------------------------------

    def stand_in(self, name: str, form: Form, given: Any = None) -> Any:
        """Make an operand of this form. Arrays that share a texture do so here as well."""
        if not form.resident:
            return np.zeros(form.shape, dtype=np.float32, order="F" if form.transposed else "C")
        stored = getattr(getattr(given, "value", given), "stored", None)
        view = form.view if isinstance(form.view, View) else None
        if view is None and (len(form.shape) != 2 or form.dtype != "float32"):
            view = View.of(form.shape, form.dtype)
        if view is None:
            storage = matrix(form.matrix[::-1] if form.transposed else form.matrix)
        else:
            storage = view.storage(self.limits.texture_size)
        slot = self._slots.get(id(stored)) or self._draft.operand(name, storage)
        if stored is not None:
            self._known(slot, stored)
        return Array._of(Resident(self, self._texture(slot), form.shape, form.transposed, view))

    def plan(self) -> Plan:
        """Return the plan of all that ran: its results are those that no other plan of it reads."""
        (first, *others), steps = self._plans, self._draft.steps
        if not others and len(steps) == 1:
            return first
        read = {slot for step in steps for slot in getattr(step, "operands", {}).values()}
        made = [(name, slot) for step in steps for name, slot in getattr(step, "results", {}).items()]
        after = next((one.after for one in self._plans if one.after), ())
        return self._draft.plan({name: slot for name, slot in made if slot not in read}, after=after)

    def _known(self, slot: str, value: Any) -> Any:
        self._slots[id(value)] = slot
        self._kept.append(value)
        return value

    def _texture(self, slot: str) -> Texture:
        if slot not in self._textures:
            storage = cast(Storage, self._draft.slots[slot])
            self._textures[slot] = self._known(slot, Texture(cast(Any, None), 0, None, storage))
        return self._textures[slot]

    def _zeros(self, slot: str, shape: tuple[int, ...]) -> NDArray[Any]:
        return cast(NDArray[Any], self._known(slot, np.broadcast_to(np.zeros((), dtype=np.float32), shape)))

    def _slot(self, name: str, value: Any, storage: Slot) -> str:
        """Slot of an operand of a plan; of an array of the host one that the caller provides."""
        if id(value) not in self._slots:
            name = name if name not in self._draft.slots else f"{name} {len(self._draft.operands)}"
            self._known(self._draft.operand(name, storage), value)
        return self._slots[id(value)]

    # -- what a device does ---------------------------------------------------------------------------------------

    def run(self, plan: Plan, **operands: Any) -> dict[str, Any]:  # type: ignore[override]
        """Add a plan."""
        given = {name: self._slot(name, operands[name], plan.slots[name]) for name in plan.operands}
        self._plans.append(plan)
        made = self._draft.call(plan.operation, plan, **given)
        slots = self._draft.slots
        return {
            name: self._zeros(slot, one.shape) if isinstance(one := slots[slot], HostArray) else self._texture(slot)
            for name, slot in made.items()
        }

    def upload(self, array: NDArray[Any]) -> Texture:
        """Add the upload of a matrix."""
        form = Form.of(array)
        source = self._slot("array", array, HostArray(form.matrix))
        return self._texture(crossing.upload(self._draft, source, form.matrix, self.limits, form.transposed))

    def write_texels(self, texels: Float32) -> Texture:
        """Add the upload of texels."""
        height, width, channels = texels.shape
        storage = Storage(height, width, channels, dtype=texels.dtype.name)
        source = self._slot("array", texels, crossing.texels_of(storage))
        return self._texture(crossing.write_texels(self._draft, source, storage))

    def read(self, texture: Texture) -> Float32:
        """Add a read-back."""
        storage = cast(Storage, texture.storage)
        slot = crossing.read_texels(self._draft, self._slots[id(texture)], f"read {len(self._kept)}")
        return self._zeros(slot, (storage.height, storage.width, storage.channels))

    def download(self, texture: Texture, shape: Shape) -> Float32:
        """Add the read-back of a matrix."""
        name = f"read {len(self._kept)}"
        slot = crossing.read_back(self._draft, self._slots[id(texture)], shape, self.limits, name)
        return self._zeros(slot, shape)


def one_by_one(device: Device, count: int) -> Iterator[int]:
    """Numbers of matrices that run one after the other; a recorder sees the first one, and how many there are."""
    if isinstance(device, PlanRecorder):
        device.times = count
        yield 0
        raise Shown
    yield from range(count)
