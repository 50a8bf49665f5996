"""One call of a public function: for one matrix or a batch, on the host or on a device, batched or looped.

operands --> one A for all?      its right-hand sides side by side: one system
         --> a batch of small?   one plan for all; matrices that its filter rejects are scaled and batched once
                                 more, and each one that is rejected again is settled by its operation
         --> else                matrix by matrix, right-hand sides in blocks that a texture holds

A public function checks its own arguments and makes one `Caller`; nothing else here knows which function it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from glla.array.array import Array, upload
from glla.array.convert import Float32, finite_result
from glla.array.value import Resident, Shape
from glla.errors import ShapeError
from glla.lazily import Later
from glla.linalg import device_stacks
from glla.linalg.batches import Batches, Index, Results, place
from glla.linalg.execution import on_device, run_stages
from glla.linalg.operands import (
    as_float64,
    column,
    explained,
    on_a_device,
    on_host,
    refuse_nonfinite_largest,
    rows,
    square,
)
from glla.linalg.recording import one_by_one
from glla.linalg.results import RefinedSolution
from glla.operations.routes import Route, must_fit_a_texture, route
from glla.passes import Forms, Plan, forms_of

streaming = Later("glla.linalg.streaming")

REFINED = ("X", "iterations", "backward_error")
"""Results of a refined solution."""


class Caller(Batches):
    """A call, which is carried out for one matrix or a batch, wherever it is; its attributes are those of `Batches`."""

    def __call__(self, a: Any, b: Any = None) -> Array | Float32:
        """Return the matrix, for A or for A and b: on the device if an operand is there.

        It synchronises where it reads the matrix, or diagnostics, back.
        """
        batch, shape = self._shapes(a, b)
        there = on_a_device(a, b)
        if 0 in (*shape, *a.shape[-1:]):
            nothing = np.empty(shape, dtype=np.float32)
            found: Any = upload(nothing, self.device) if there else nothing
        elif b is None:
            found = self.named(a)[self.results[0]]
        elif there:
            return self._solutions_on_device(a, b, batch, shape)  # in the shape of b
        else:
            found = self._solutions(a, b, batch, shape)[self.results[0]]
        if not there:
            finite_result(self.function, found, self.check_finite)
        result: Array | Float32 = found[..., 0] if b is not None and b.ndim == 1 else found
        return result

    def refined(self, *operands: Any) -> RefinedSolution:
        """Return the solution in float64, for A and b of a call with the option ``refine``, which are not converted."""
        given = zip(self.names, operands, strict=True)
        a, b = (as_float64(self.function, name, one, self.check_finite) for name, one in given)
        square(self.function, self.names[0], a)
        batch, shape = self._shapes(a, b)
        x, iterations, error = np.empty(shape), 0, 0.0
        if x.size:
            found = replace(self, results=REFINED)._solutions(a, b, batch, shape)
            x, iterations, error = (found[name] for name in REFINED)
        solution: RefinedSolution = (x[..., 0] if b.ndim == 1 else x).view(RefinedSolution)
        solution.iterations, solution.backward_error = int(np.max(iterations)), float(np.max(error))
        return solution

    def named(self, a: Array | Float32, as_batch: bool = False) -> Results:
        """Give all results for A, not empty, by name: matrices where A is, numbers on the host. `as_batch`: if one."""
        batch = a.shape[:-2]
        if not isinstance(a, Array):
            found = self._host_batch((a.reshape(-1, *a.shape[-2:]),), batch)
            return {name: np.ascontiguousarray(one).reshape((*batch, *one.shape[1:])) for name, one in found.items()}
        if not batch and not as_batch:
            return self._kept(self.one(a))
        found = self._device_batch((device_stacks.spread(a, batch or (1,)),), batch)
        return {
            name: (device_stacks.shaped if isinstance(one, Resident) else np.reshape)(one, (*batch, *one.shape[1:]))
            for name, one in found.items()
        }

    def _route(self, forms: Forms) -> Route:
        """Whether matrices are batched, looped or streamed: the route that `glla.plan` shows."""
        return route(self.record, forms, self.device.limits, self.device.room, self.variant, **self.options)

    def _shapes(self, a: Any, b: Any) -> tuple[Shape, Shape]:
        """Leading dimensions, and the shape of the result, of shapes alone; a vector counts as a column."""
        if b is None:
            return a.shape[:-2], a.shape
        if b.ndim == 0:
            raise ShapeError(f"{self.function}: b must have at least one dimension, got a scalar")
        name = self.names[0]
        if rows(b) != a.shape[-1]:
            rule = f"{self.function}: b must have as many rows as {name}{' has columns' if name[1:] else ''}"
            raise ShapeError(f"{rule}, got {name} {a.shape} and b {b.shape}")
        columns = b.shape if b.ndim > 1 else (*b.shape, 1)
        try:
            batch = np.broadcast_shapes(a.shape[:-2], columns[:-2])
        except ValueError:
            rule = f"{self.function}: leading dimensions must broadcast"
            hint = "; a stack of single right-hand sides is (..., n, 1)" if name[1:] else ""
            raise ShapeError(f"{rule}, got {name} {a.shape} and b {b.shape}{hint}") from None
        return batch, (*batch, *columns[-2:])

    # -- operands on the host -----------------------------------------------------------------------------------------

    def _solutions(self, a: Any, b: Any, batch: Shape, shape: Shape) -> Results:
        """Solve for right-hand sides; those of one A for all go side by side."""
        right = np.broadcast_to(column(b), shape)
        if prod(a.shape[:-2]) == 1:
            wide = np.moveaxis(right, -2, 0)  # n x batch x columns
            system = a.reshape(1, *a.shape[-2:]), wide.reshape(1, shape[-2], -1)
            found = self._host_batch(system, ())
            x = np.moveaxis(found[self.results[0]].reshape(wide.shape), 0, -2)
            return {**found, self.results[0]: np.ascontiguousarray(x)}
        left = np.broadcast_to(a, (*batch, *a.shape[-2:])).reshape(-1, *a.shape[-2:])
        found = self._host_batch((left, right.reshape(-1, *shape[-2:])), batch)
        return {**found, self.results[0]: np.ascontiguousarray(found[self.results[0]]).reshape(shape)}

    def _host_batch(self, matrices: tuple[Float32, ...], batch: Shape) -> Results:
        """Run for all matrices of the host, by one plan or in a loop."""
        if self.record.taken.fits:
            must_fit_a_texture(self.function, matrices[0].shape[-2:], self.device.limits)
        forms = forms_of(matrices if batch else [one[0] for one in matrices])
        chosen = self._route(forms)
        found = self._host_pieces(matrices, batch, chosen.piece) if chosen.kind == "batched" else None
        if found is not None:
            return found
        whole = partial(self._in_blocks, plan=None if batch else chosen.plan)
        run = whole if chosen.kind != "streamed" else partial(getattr(streaming, self.operation), self)
        every = list(zip(np.ndindex(batch), *matrices, strict=True))
        each = [run(*every[index]) for index in one_by_one(self.device, len(every))]
        return {name: stacked(np.asarray(one[name]) for one in each) for name in each[0]}

    def _in_blocks(self, index: Index, *operands: Float32, plan: Plan | None = None) -> Results:
        """Run for one matrix, with as many right-hand sides at a time as a texture holds."""
        columns, most = operands[-1].shape[-1], 2 * self.device.limits.texture_size
        if len(operands) == 1 or columns <= most:
            return self.one(*operands, index=index, plan=plan)
        a, b = operands
        starts = range(0, columns, most)
        blocks = [self.one(a, np.ascontiguousarray(b[:, left : left + most]), index=index) for left in starts]
        x, *others = self.results
        return {x: np.hstack([one[x] for one in blocks]), **{name: max(one[name] for one in blocks) for name in others}}

    # -- operands on the device ---------------------------------------------------------------------------------------

    def _solutions_on_device(self, a: Any, b: Any, batch: Shape, shape: Shape) -> Array:
        """Solve where an operand is on the device: the solutions stay there."""

        def one(*operands: Any) -> Any:
            return self._kept(self.one(*operands))[self.results[0]]

        if a.ndim == 2 and b.ndim < 3:
            found: Array = one(a, column(b))
            return found if b.ndim == 2 else found.reshape(-1)
        right = device_stacks.beside_a_stack(b if b.ndim > 1 else b.reshape(1, -1, 1), self.device)
        if prod(a.shape[:-2]) == 1:  # one matrix for all: one system with many right-hand sides
            wide, apart = device_stacks.as_columns(right, shape)
            found = apart(one(a if a.ndim == 2 else a.reshape(a.shape[-2:]), wide))
        else:
            pair = (device_stacks.spread(device_stacks.beside_a_stack(part, self.device), batch) for part in (a, right))
            found = device_stacks.shaped(self._device_batch(tuple(pair), batch)[self.results[0]], shape)
        return found if b.ndim > 1 else found[..., 0]

    def _device_batch(self, operands: tuple[Resident, ...], batch: Shape) -> Results:
        """Run for all matrices on the device, by one plan or in a loop."""
        chosen = self._route(tuple(one.form for one in operands))
        found = self._device_pieces(operands, batch, chosen.piece) if chosen.kind == "batched" else None
        if found is not None:
            return found
        stacks, each = [device_stacks.flat(one) for one in operands], list[Results]()
        for index in one_by_one(self.device, stacks[0].shape[0]):
            own = (Array._of(device_stacks.matrix_at(one, index)) for one in stacks)
            each.append(self._kept(self.one(*own, index=place(index, batch))))
        return {name: device_stacks.joined_results([one[name] for one in each]) for name in each[0]}

    # -- one matrix ---------------------------------------------------------------------------------------------------

    def _finite_operands(self) -> dict[str, str]:
        """Operands that must be finite, by their names in the plan, and their names in messages."""
        return dict(zip(self.record.operands, self.names, strict=False))

    def one(self, *operands: Any, index: Index = (), plan: Plan | None = None) -> Results:
        """Give all results for one matrix, not empty, by name: where they were found, but on the host if A was."""
        on_the_host = not on_a_device(*operands)
        finite = self._finite_operands() if self.check_finite else None
        plan = plan or self.record.call_plan(
            forms_of(operands), self.device.limits, variant=self.variant, **self.options
        )
        perform = on_device(self.device, plan, self.function, finite)
        with explained(self.function, operands[0]) if on_the_host and len(operands) == 1 else nullcontext():
            found = run_stages(self.record, forms_of(operands), perform, self._values(operands, index))
        if self.diagnostic and self.check_finite and not on_the_host:
            refuse_nonfinite_largest(self.function, self.names[0], found[self.diagnostic])
        for name in self.results if self.check_finite else ():
            if f"largest_{name}" in found and isinstance(found[name], Array):
                finite_result(self.function, found[f"largest_{name}"], True)
        return {name: on_host(found[name]) if on_the_host else found[name] for name in self.results if name in found}

    def _kept(self, results: Results) -> Results:
        """Leave the matrix on the device; one that was found on the host goes back, if it is finite."""
        name = self.results[0]
        one = results.get(name)
        if not (isinstance(one, np.ndarray) and one.ndim == 2):
            return results
        return {**results, name: upload(finite_result(self.function, one, self.check_finite), self.device)}


def stacked(results: Iterable[Float32]) -> Float32:
    """Put results one above the other, without a copy where there is only one."""
    found = list(results)
    return found[0][np.newaxis] if len(found) == 1 else np.stack(found)
