"""One call of a public function: for one matrix or a batch, on the host or on a device, batched or looped.

operands --> one A for all?      its right-hand sides side by side: one system
         --> a batch of small?   one plan for all; matrices that its filter rejects are scaled and go together once
                                 more, and each one that is rejected again is settled by its operation
         --> else                matrix by matrix, right-hand sides in blocks that a texture holds

A public function checks its own arguments and makes one `Call`; nothing else here knows which function it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, upload
from glla.array.convert import Float32 as Host
from glla.array.convert import finite_result
from glla.array.value import Resident
from glla.errors import GllaError, ShapeError
from glla.gl import Device
from glla.linalg import again, resident
from glla.linalg.operands import as_float64, column, on_host, refuse_nonfinite_largest, rows, square, stored
from glla.linalg.recording import Recorder, one_by_one
from glla.linalg.results import RefinedSolution
from glla.linalg.routes import batched, explained, place, stacked
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS, Operation
from glla.operations.acceptance import member_of_stack
from glla.operations.routes import SINGLE_ONLY, Route, batch_plan, must_fit_a_texture, route
from glla.operations.verdict import BATCHED
from glla.passes import Forms, Plan, forms_of

Index = tuple[int, ...]
"""Place of a matrix in a batch."""

Results = dict[str, Any]
"""Results by name: of one matrix; or of a batch, its matrices along the first dimension."""

REFINED = ("X", "iterations", "backward_error")
"""Results of a refined solution."""

Rejected = tuple[NDArray[np.intp], tuple[Host, ...]]
"""Places of matrices of a batch, and their operands on the host."""


@dataclass(frozen=True)
class Call:
    """How a public function is carried out."""

    operation: str  # a key of `OPERATIONS`
    function: str  # the public function, for messages
    device: Device
    check_finite: bool  # refuse NaN and infinity
    names: tuple[str, ...]  # the operands, as messages name them
    variant: str | None = None  # the variant that was asked for; a batch is looped then
    # what the function returns, by names of the plan; the first may be a matrix that stays on the device
    results: tuple[str, ...] = ("X",)
    # a result of the plan that is finite only if the first operand is; "" if the plan reads largest entries
    diagnostic: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    # (operands of one matrix) -> values that its stages ask for, beside the operands and the options
    further: Callable[..., Mapping[str, Any]] | None = None
    # (place, operands of one matrix on the host) -> X, where right-hand sides are too many to go at once
    streamed: Callable[..., Any] | None = None

    def __call__(self, a: Any, b: Any = None) -> Array | Host:
        """Give the matrix, for A or for A and b: on the device if an operand is there; else it synchronises."""
        batch, shape = self._shapes(a, b)
        there = isinstance(a, Array) or isinstance(b, Array)
        if 0 in (*shape, *a.shape[-1:]):
            nothing = np.empty(shape, dtype=np.float32)
            found: Any = upload(nothing, self.device) if there else nothing
        elif b is None:
            found = self.named(a)[self.results[0]]
        elif there:
            return self._solutions_on_device(a, b)  # in the shape of b
        else:
            found = self._solutions(a, b, batch, shape)[self.results[0]]
        if not there:
            finite_result(self.function, found, self.check_finite)
        result: Array | Host = found[..., 0] if b is not None and b.ndim == 1 else found
        return result

    def refined(self, *operands: Any) -> RefinedSolution:
        """Give the solution in float64, for A and b of a call with the option ``refine``, which are not converted."""
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

    def named(self, a: Array | Host, as_batch: bool = False) -> Results:
        """Give all results for A, which is not empty, by name: matrices where A is, numbers on the host.

        With `as_batch` a single matrix on the device is a batch of one, as one of the host is.
        """
        batch = a.shape[:-2]
        if not isinstance(a, Array):
            found = self._host_batch((a.reshape(-1, *a.shape[-2:]),), batch)
            return {name: np.ascontiguousarray(one).reshape((*batch, *one.shape[1:])) for name, one in found.items()}
        if not batch and not as_batch:
            return self._kept(self._one((), a))
        found = self._device_batch((resident.spread(a, batch or (1,)),), batch)
        return {
            name: (resident.shaped if isinstance(one, Resident) else np.reshape)(one, (*batch, *one.shape[1:]))
            for name, one in found.items()
        }

    def one(self, *operands: Array | Host) -> Results:
        """Give all results for one matrix, not empty, by name: where they were found, but on the host if A was."""
        return self._one((), *operands)

    @property
    def record(self) -> Operation:
        """The operation itself."""
        found = OPERATIONS[self.operation]
        return replace(found, settle=None) if isinstance(self.device, Recorder) else found

    def _route(self, forms: Forms) -> Route:
        """Whether matrices are batched, looped or streamed: the route that `glla.plan` shows."""
        return route(self.record, forms, self.device.limits, self.device.room, self.variant, **self.options)

    def _shapes(self, a: Any, b: Any) -> tuple[Index, tuple[int, ...]]:
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

    def _solutions(self, a: Any, b: Any, batch: Index, shape: tuple[int, ...]) -> Results:
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

    def _host_batch(self, matrices: tuple[Host, ...], batch: Index) -> Results:
        """Run for all matrices of the host, by one plan or in a loop."""
        if self.record.fits:
            must_fit_a_texture(self.function, matrices[0].shape[-2:], self.device.limits)
        forms = forms_of(matrices if batch else [one[0] for one in matrices])
        way = self._route(forms)
        found = self._host_pieces(matrices, batch, way.piece) if way.kind == "batched" else None
        if found is not None:
            return found
        whole = partial(self._in_blocks, plan=None if batch else way.plan)
        run = whole if way.kind != "streamed" else self._streamed
        every = list(zip(np.ndindex(batch), *matrices, strict=True))
        each = [run(*every[index]) for index in one_by_one(self.device, len(every))]
        return {name: stacked(np.asarray(one[name]) for one in each) for name in each[0]}

    def _host_pieces(self, matrices: tuple[Host, ...], batch: Index, most: int) -> Results | None:
        """Run one plan for `most` matrices at a time; None if not even one fits the device's memory."""
        of = self.record.batch_of(self.options)
        assert of is not None
        operands = self._halves(matrices, lambda a: np.swapaxes(a, -1, -2))
        records = batched(self.device, self.record, operands, most, **self._batch_options)
        if records is None:
            return None
        found = self._results(operands[0].shape, operands=operands, matrices=records[0], diagnostics=records[1])
        if of.doubtful is not None:
            places = of.doubtful(operands, *records, **self._batch_options)
            if len(places):
                own = tuple(one[places] for one in operands)
                self._repair(found, [(places, own)], len(operands[0]), batch, None)
        return found

    def _in_blocks(self, index: Index, *operands: Host, plan: Plan | None = None) -> Results:
        """Run for one matrix, with as many right-hand sides at a time as a texture holds."""
        columns, most = operands[-1].shape[-1], 2 * self.device.limits.texture_size
        if len(operands) == 1 or columns <= most:
            return self._one(index, *operands, plan=plan)
        a, b = operands
        starts = range(0, columns, most)
        blocks = [self._one(index, a, np.ascontiguousarray(b[:, left : left + most])) for left in starts]
        x, *others = self.results
        return {x: np.hstack([one[x] for one in blocks]), **{name: max(one[name] for one in blocks) for name in others}}

    def _streamed(self, index: Index, *operands: Host) -> Results:
        """Run for one matrix, with right-hand sides that stream through the device."""
        assert self.streamed is not None
        return {self.results[0]: self.streamed(index, *operands)}

    # -- operands on the device ---------------------------------------------------------------------------------------

    def _solutions_on_device(self, a: Any, b: Any) -> Array:
        """Solve where an operand is on the device: the solutions stay there."""
        result = self.results[0]

        def one(*operands: Any) -> Array:
            found: Array = self._kept(self._one((), *operands))[result]
            return found

        def every(operands: tuple[Resident, ...], batch: Index) -> Resident:
            found: Resident = self._device_batch(operands, batch)[result]
            return found

        return resident.solutions(self.function, a, b, self.device, one, every)

    def _device_batch(self, operands: tuple[Resident, ...], batch: Index) -> Results:
        """Run for all matrices on the device, by one plan or in a loop."""
        way = self._route(tuple(one.form for one in operands))
        found = self._device_pieces(operands, batch, way.piece) if way.kind == "batched" else None
        if found is not None:
            return found
        stacks, each = [resident.flat(one) for one in operands], list[Results]()
        for index in one_by_one(self.device, stacks[0].shape[0]):
            own = (Array._of(resident.member(one, index)) for one in stacks)
            each.append(self._kept(self._one(place(index, batch), *own)))
        return {name: resident.joined_results([one[name] for one in each]) for name in each[0]}

    def _device_pieces(self, matrices: tuple[Resident, ...], batch: Index, most: int) -> Results | None:
        """Run one plan for `most` matrices at a time; rejected matrices alone are read back. None as `_host_pieces`."""
        operands = self._halves(matrices, resident.flipped)
        refuse = self.check_finite and (len(self.names) > 1 or not self.diagnostic)
        solved = resident.together(
            self.device, self.record, operands, refuse, self.function, self.names, most, **self._batch_options
        )
        if solved is None:
            return None
        if self.check_finite:
            for largest in solved.largest:
                finite_result(self.function, largest.numpy(), True)
        found = self._results(operands[0].shape, operands=None, matrices=solved.matrices, **solved.read)
        rejected = resident.rejected(operands[: len(self.names)], solved, **self._batch_options)
        if not isinstance(self.device, Recorder):
            self._repair(found, rejected, solved.count, batch, solved.plan)
        return found

    # -- rejected matrices of a batch ---------------------------------------------------------------------------------

    @property
    def _batch_options(self) -> Results:
        return {name: one for name, one in self.options.items() if name not in SINGLE_ONLY}

    def _halves(self, operands: Sequence[Any], transposed: Callable[[Any], Any]) -> tuple[Any, ...]:
        """Hand in the halves that the plan of a batch reads."""
        batch = self.record.batch
        turned = batch is not None and batch.lower_half and not self.options.get("lower", True)
        return (transposed(operands[0]), *operands[1:]) if turned else tuple(operands)

    def _results(self, shape: tuple[int, ...], **known: Any) -> Results:
        """Results of a batch, from its matrices, and from numbers that its plan gives."""
        batch = self.record.batch_of(self.options)
        assert batch is not None
        if batch.results is None:
            return {self.results[0]: known["matrices"]}
        return dict(batch.results({**known, "shape": shape[-2:]}))

    def _repair(
        self, found: Results, rejected: Iterable[Rejected], count: int, batch: Index, plan: Plan | None
    ) -> None:
        """Replace the results of rejected matrices.

        plan of the batch --> `Batch.doubtful`, by diagnostics   --> accepted
                          --> `_once_more`, scaled and together  --> accepted
                          --> `_fallback_of_one`: `settle` names its stages, from `plan` on  --> X, or an error
        `plan` is the one that has run; None is that of a batch from the host.
        """
        fixes: list[tuple[NDArray[np.intp], Results]] = []
        for places, given in rejected:
            fixed, results, left = self._once_more(places, given, count, batch)
            fixes.append((fixed, results))
            for index in left:
                index_of_one = place(int(places[index]), batch)
                one = self._fallback_of_one([part[index] for part in given], index_of_one, plan)
                fixes.append((places[index : index + 1], {name: one[name] for name in found if name in one}))
        for name, values in found.items():
            new = [(at, results[name]) for at, results in fixes if name in results and len(at)]
            if not isinstance(values, Resident):
                for at, fix in new:
                    values[at] = fix
            elif new:
                where = np.concatenate([at for at, _ in new])
                x = np.concatenate([np.reshape(fix, (len(at), *values.shape[1:])) for at, fix in new])
                finite_result(self.function, x, self.check_finite)
                found[name] = resident.mended(values, dict(zip(where.tolist(), x, strict=True)))

    def _once_more(
        self, places: NDArray[np.intp], given: tuple[Host, ...], count: int, batch: Index
    ) -> tuple[NDArray[np.intp], Results, NDArray[np.intp]]:
        """Run rejected matrices of a batch of `count` together; give places, results, and numbers of those left."""
        every = np.arange(len(places))
        settled = again.settled(self.device, self.record, given, every, count, **self._batch_options)
        if not len(settled.places):
            return places[:0], {}, settled.left
        own = tuple(one[settled.places] for one in given)
        numbers = {"diagnostics": settled.diagnostics, "exponents": settled.exponents}
        found = self._results(given[0].shape, operands=own, matrices=settled.matrices, **numbers)
        with np.errstate(all="ignore"):  # a result beyond float32 is infinite, which is looked at afterwards
            found = {name: one.astype(np.float32) if one.ndim > 1 else one for name, one in found.items()}
        return places[settled.places], found, settled.left

    def _refuse(self, places: NDArray[np.intp], given: tuple[Host, ...], batch: Index) -> None:
        """Raise if `settle` has an error for one of these matrices of a batch."""
        for index, own in zip(places.tolist(), zip(*given, strict=True), strict=True):
            assert self.record.settle is not None
            verdict = self.record.settle(forms_of(own), BATCHED, self._values(own, place(index, batch)))
            if isinstance(verdict, GllaError):
                raise verdict

    # -- one matrix ---------------------------------------------------------------------------------------------------

    def _values(self, operands: Sequence[Any], index: Index) -> Results:
        """Values that every stage may ask for."""
        given = dict(zip(self.record.operands, map(stored, operands), strict=True))
        words = {"function": self.function, "member": member_of_stack(index), "check_finite": self.check_finite}
        return {**given, **words, **self.options, **(self.further(*operands) if self.further is not None else {})}

    def _fallback_of_one(self, operands: Sequence[Host], index: Index, plan: Plan | None) -> Results:
        """Let `settle` decide on one matrix of a batch: without a result that of the batch is accepted."""
        if plan is None:
            one = tuple(replace(form, shape=(1, *form.shape)) for form in forms_of(operands))
            plan = batch_plan(self.record, one, self.device.limits, 1, **self._batch_options)
        perform = on_device(self.device, plan, has_run=True)
        return walk(self.record, forms_of(operands), perform, self._values(operands, index), BATCHED)

    def _watched(self) -> dict[str, str]:
        """Operands that must be finite, by their names in the plan, and their names in messages."""
        return dict(zip(self.record.operands, self.names, strict=False))

    def _one(self, index: Index, *operands: Any, plan: Plan | None = None) -> Results:
        """Run for one matrix; results are where they were found."""
        on_the_host = not any(isinstance(one, Array) for one in operands)
        watched = self._watched() if self.check_finite else None
        plan = plan or self.record.whole(forms_of(operands), self.device.limits, variant=self.variant, **self.options)
        perform = on_device(self.device, plan, self.function, watched)
        with explained(self.function, operands[0]) if on_the_host and len(operands) == 1 else nullcontext():
            found = walk(self.record, forms_of(operands), perform, self._values(operands, index))
        if self.diagnostic and self.check_finite and not on_the_host:
            refuse_nonfinite_largest(self.function, self.names[0], found[self.diagnostic])
        for name in self.results if self.check_finite else ():
            if f"largest_{name}" in found and isinstance(found[name], Array):
                finite_result(self.function, found[f"largest_{name}"], True)
        return {name: on_host(found[name]) if on_the_host else found[name] for name in self.results if name in found}

    def _kept(self, results: Results) -> Results:
        """Leave the matrix on the device; one that was found on the host goes back, if it is finite."""
        name = self.results[0]
        one: Any = results.get(name)
        if getattr(one, "ndim", 0) != 2:
            return results
        return {**results, name: resident.kept(self.function, one, self.device, self.check_finite)}
