"""One call of a public function: for one matrix or a batch, on the host or on a device, batched or looped.

operands --> one A for all?      its right-hand sides side by side: one system
         --> a batch of small?   one plan for all; each matrix that its diagnostics reject goes through its own plans
         --> else                matrix by matrix, right-hand sides in blocks that a texture holds

A public function checks its own arguments and makes one `Call`; nothing else here knows which function it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from glla.array.array import Array, upload
from glla.array.convert import Array as Host
from glla.array.convert import finite_result
from glla.array.value import Resident
from glla.errors import ShapeError
from glla.gl import Device
from glla.linalg import resident
from glla.linalg.operands import column, fitting, on_host, refuse_nonfinite_largest, rows, stored
from glla.linalg.routes import after_batch, batched, place, rejected, stacked
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS, Operation
from glla.operations.routes import must_fit_a_texture
from glla.operations.trust import member_of_stack
from glla.operations.verdict import BATCHED
from glla.passes import forms_of

Index = tuple[int, ...]
"""Place of a matrix in a batch."""


@dataclass(frozen=True)
class Call:
    """How a public function is carried out.

    Attributes
    ----------
    operation : str
        A key of `OPERATIONS`.
    function : str
        The public function, for messages.
    device : Device
        Where it runs.
    check_finite : bool
        Refuse NaN and infinity.
    names : tuple of str
        The operands, as messages name them.
    variant : str, optional
        The variant that was asked for; a batch is looped then.
    result : str
        The result that the function returns, by its name in the plan.
    diagnostic : str
        A result of the plan that is finite only if the first operand is; "" if the plan reads largest entries.
    options : mapping
        Options of the plan.
    """

    operation: str
    function: str
    device: Device
    check_finite: bool
    names: tuple[str, ...]
    variant: str | None = None
    result: str = "X"
    diagnostic: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def record(self) -> Operation:
        """The operation itself."""
        return OPERATIONS[self.operation]

    def __call__(self, a: Any, b: Any = None) -> Array | Host:
        """Carry it out for A, or for A and b. The result is on the device if an operand is; else it synchronises."""
        batch, shape = self._shapes(a, b)
        there = isinstance(a, Array) or isinstance(b, Array)
        if 0 in (*shape, *a.shape[-1:]):
            nothing = np.empty(shape, dtype=np.float32)
            found: Array | Host = upload(nothing, self.device) if there else nothing
        elif there:
            return self._on_device(a, b, batch)
        else:
            found = finite_result(self.function, self._on_host(a, b, batch, shape), self.check_finite)
        return found[..., 0] if b is not None and b.ndim == 1 else found

    def _shapes(self, a: Any, b: Any) -> tuple[Index, tuple[int, ...]]:
        """Leading dimensions, and the shape of the result, of shapes alone; a vector counts as a column."""
        if b is None:
            return a.shape[:-2], a.shape
        if b.ndim == 0:
            raise ShapeError(f"{self.function}: b must have at least one dimension, got a scalar")
        name = self.names[0]
        if rows(b) != a.shape[-1]:
            rule = f"{self.function}: b must have as many rows as {name}{'' if name == 'A' else ' has columns'}"
            raise ShapeError(f"{rule}, got {name} {a.shape} and b {b.shape}")
        columns = b.shape if b.ndim > 1 else (*b.shape, 1)
        try:
            batch = np.broadcast_shapes(a.shape[:-2], columns[:-2])
        except ValueError:
            rule = f"{self.function}: leading dimensions must broadcast"
            raise ShapeError(f"{rule}, got {name} {a.shape} and b {b.shape}") from None
        return batch, (*batch, *columns[-2:])

    # -- operands on the host -----------------------------------------------------------------------------------------

    def _on_host(self, a: Any, b: Any, batch: Index, shape: tuple[int, ...]) -> Any:
        if self.names[0] != "ab":
            must_fit_a_texture(self.function, a.shape[-2:], self.device.limits)
        if b is not None and prod(a.shape[:-2]) == 1:  # one A for all
            wide = np.moveaxis(np.broadcast_to(column(b), shape), -2, 0)  # n x batch x columns
            x = self._in_blocks((), a.reshape(a.shape[-2:]), np.ascontiguousarray(wide.reshape(shape[-2], -1)))
            return np.ascontiguousarray(np.moveaxis(x.reshape(wide.shape), 0, -2))
        given = (a,) if b is None else (a, column(b))
        spread = [np.broadcast_to(one, (*batch, *one.shape[-2:])) for one in given]
        matrices = [one.reshape(-1, *one.shape[-2:]) for one in spread]
        found = self._batched_on_host(matrices, batch) if batch and self.variant is None else None
        if found is None:
            found = stacked(self._in_blocks(*each) for each in zip(np.ndindex(batch), *matrices, strict=True))
        return np.ascontiguousarray(found).reshape(shape)

    def _batched_on_host(self, matrices: Sequence[Any], batch: Index) -> Any:
        """Run one plan for all; None if they must be looped."""
        operands = self._halves(matrices, lambda a: np.swapaxes(a, -1, -2))
        records = batched(self.device, self.record, operands, **self.options)
        if records is None:
            return None
        found, diagnostics = records
        for index in rejected(self.record, operands, *records, **self.options):
            own = [one[index] for one in operands]
            found[index] = self._settled(own, diagnostics[index], place(index, batch), found[index])
        return found

    def _in_blocks(self, index: Index, a: Any, b: Any = None) -> Any:
        """Run for one matrix, with as many right-hand sides at a time as a texture holds."""
        most = 2 * self.device.limits.texture_size
        if b is None or b.shape[1] <= most:
            return on_host(self._one(index, a, *([] if b is None else [b])))
        blocks = [np.ascontiguousarray(b[:, left : left + most]) for left in range(0, b.shape[1], most)]
        return np.hstack([on_host(self._one(index, a, block)) for block in blocks])

    # -- operands on the device ---------------------------------------------------------------------------------------

    def _on_device(self, a: Any, b: Any, batch: Index) -> Array:
        """Run where an operand is on the device: the result stays there."""

        def one(*operands: Any, index: Index = ()) -> Array:
            return resident.kept(self.function, self._one(index, *operands), self.device, self.check_finite)

        def every(operands: tuple[Resident, ...], batch: Index) -> Resident:
            found = self._batched_on_device(operands, batch) if self.variant is None else None
            if found is not None:
                return found
            return resident.one_by_one(operands, lambda i, *each: one(*each, index=place(i, batch)))

        if b is not None:
            return resident.solutions(self.function, a, b, self.device, one, every)
        return resident.shaped(every((resident.spread(a, batch),), batch), a.shape) if batch else one(a)

    def _batched_on_device(self, matrices: tuple[Resident, ...], batch: Index) -> Resident | None:
        """Run one plan for all; rejected matrices alone are read back. None if they must be looped."""
        operands = self._halves(matrices, resident.flipped)
        refuse = self.check_finite and not self.diagnostic
        found = resident.together(self.device, self.record, operands, refuse, **self.options)
        if found is None or found.matrices is None:
            return None
        fixes = {}
        for index, own in resident.read_back(operands, found.rejected(self.record, **self.options)):
            x = self._settled(own, found.figures_of(index), place(index, batch))
            if x is not None:
                fixes[index] = finite_result(self.function, x, self.check_finite)
        return resident.mended(found.matrices, fixes)

    # -- one matrix ---------------------------------------------------------------------------------------------------

    def _halves(self, operands: Sequence[Any], transposed: Any) -> tuple[Any, ...]:
        """Hand in the halves that the plan of a batch reads."""
        batch = self.record.batch
        turned = batch is not None and batch.lower_half and not self.options.get("lower", True)
        return (transposed(operands[0]), *operands[1:]) if turned else tuple(operands)

    def _values(self, operands: Sequence[Any], index: Index) -> dict[str, Any]:
        """Values that every stage may ask for."""
        given = dict(zip(self.record.operands, map(stored, operands), strict=True))
        return {**given, "function": self.function, "member": member_of_stack(index)}

    def _settled(self, operands: Sequence[Any], diagnostics: Any, index: Index, x: Any = None) -> Any:
        """Let `settle` judge one matrix of a batch by its diagnostics: its result, or `x` if that is accepted."""
        values = {**self._values(operands, index), **self.options, "diagnostics": diagnostics}
        perform = after_batch(self.device, self.record, operands, **self.options)
        return walk(self.record, forms_of(operands), perform, values, BATCHED).get(self.result, x)

    def _one(self, index: Index, *operands: Any) -> Any:
        """Run for one matrix; the result is where it was found."""
        forms = forms_of(operands)
        plan = self.record.whole(forms, self.device.limits, variant=self.variant, **self.options)
        watched = dict(zip(self.record.operands, self.names, strict=False)) if self.check_finite else None
        perform = on_device(self.device, plan, self.function, watched)
        found = walk(self.record, forms, perform, {**self._values(operands, index), **self.options})
        if self.diagnostic and self.check_finite and any(isinstance(one, Array) for one in operands):
            refuse_nonfinite_largest(self.function, self.names[0], found[self.diagnostic])
        if isinstance(found[self.result], Array) and f"largest_{self.result}" not in found:
            return found[self.result]
        return fitting(self.function, found, self.result, self.check_finite)
