"""Batches of a call: one plan for all matrices, of the host or of the device, in as few pieces as fit.

    plan of the batch --> filter of its operation, by diagnostics  --> accepted
                      --> scaled on the host, and batched again    --> accepted
                      --> `settle` of the operation, one by one    --> a result, or an error

Of a batch on the device the results stay there; operands of rejected matrices alone are read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glla.array import shaping
from glla.array.array import Array
from glla.array.convert import Float32, finite_result
from glla.array.value import Resident, Shape
from glla.errors import OutOfMemoryError
from glla.gl import Device
from glla.gl.observers import host_step
from glla.gl.staging import staging
from glla.linalg import device_stacks
from glla.linalg.execution import merged, on_device, run, run_stages, stored
from glla.linalg.recording import PlanRecorder
from glla.operations import OPERATIONS, Operation, acceptance
from glla.operations.acceptance import BATCHED, matrix_of_stack, unless_error
from glla.operations.batches import linear_batches, retry
from glla.operations.layouts.crossing import lay_out
from glla.operations.record import Batch
from glla.operations.routes import host_batch_plan, of_batches, pieces
from glla.passes import Form, HostArray, Plan, forms_of, texture

Index = tuple[int, ...]
"""Place of a matrix in a batch."""

Places = NDArray[np.intp]
"""Numbers of matrices of a batch."""

Results = dict[str, Any]
"""Results by name: of one matrix; or of a batch, its matrices along the first dimension."""

Rejected = tuple[Places, tuple[Float32, ...]]
"""Numbers of rejected matrices, and their operands."""

Part = TypeVar("Part")


@dataclass(frozen=True)
class Batches:
    """How a public function is carried out."""

    operation: str  # a key of `OPERATIONS`
    function: str  # the public function, for messages
    device: Device
    check_finite: bool  # refuse NaN and infinity
    names: tuple[str, ...]  # the operands, as messages name them
    variant: str | None = None  # that was asked for; a batch is looped then, unless its plan is that one
    # what the function returns, by names of the plan; the first may be a matrix that stays on the device
    results: tuple[str, ...] = ("X",)
    # a result of the plan that is finite only if the first operand is, as the ``diagonal`` of Cholesky factors: without
    # a second operand that is enough. "" if the plan reads largest entries
    diagnostic: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    # (operands of one matrix) -> values that its stages ask for, beside the operands and the options
    further: Callable[..., Mapping[str, Any]] | None = None

    @property
    def record(self) -> Operation:
        """The operation itself."""
        found = OPERATIONS[self.operation]
        return replace(found, settle=None) if isinstance(self.device, PlanRecorder) else found

    @property
    def _batch(self) -> Batch:
        found = self.record.batch_of(self.options)
        assert found is not None
        return found

    @property
    def _batch_options(self) -> Results:
        return of_batches(self.options)

    def _halves(self, operands: Sequence[Any], transposed: Callable[[Any], Any]) -> tuple[Any, ...]:
        """Hand in the halves that the plan of a batch reads."""
        turned = self._batch.layout.lower_half and not self.options.get("lower", True)
        return (transposed(operands[0]), *operands[1:]) if turned else tuple(operands)

    def _results(self, shape: Shape, **known: Any) -> Results:
        """Results of a batch, from its matrices, and from numbers that its plan gives."""
        make = self._batch.layout.results
        return {self.results[0]: known["matrices"]} if make is None else dict(make({**known, "shape": shape[-2:]}))

    # -- on the host --------------------------------------------------------------------------------------------------

    def _host_pieces(self, matrices: tuple[Float32, ...], batch: Shape, most: int) -> Results | None:
        """Run one plan for `most` matrices at a time; None if not even one fits the device's memory."""
        operands = self._halves(matrices, lambda a: np.swapaxes(a, -1, -2))
        records = self.host_records(operands, most)
        if records is None:
            return None
        found = self._results(operands[0].shape, operands=operands, matrices=records[0], diagnostics=records[1])
        if self._batch.filter.rejected is not None:
            places = self._batch.filter.rejected(operands, *records, **self._batch_options)
            if len(places):
                self._repair(found, [(places, tuple(one[places] for one in operands))], len(operands[0]), batch)
        return found

    def host_records(self, operands: Sequence[Float32], most: int, **more: Any) -> tuple[Float32, Float32] | None:
        """Run one plan for `most` matrices at a time; give the matrices and diagnostics of records. None likewise."""
        forms = forms_of(operands)
        length = self._batch.layout.length(forms)
        records = np.empty((len(operands[0]) if most else 0, length), dtype=np.float32)

        def piece(first: int, end: int) -> None:
            plan = host_batch_plan(self._batch, forms, self.device.limits, end - first, **self._batch_options, **more)
            _fill(records[first:end], self.device, plan, [part[first:end] for part in operands])

        done = in_pieces(len(operands[0]), most, piece)
        return None if done is None else self._batch.layout.parted(forms, records)

    # -- on the device ------------------------------------------------------------------------------------------------

    def _device_pieces(self, matrices: tuple[Resident, ...], batch: Shape, most: int) -> Results | None:
        """Run one plan for `most` matrices at a time; rejected matrices alone are read back. None as `_host_pieces`."""
        operands = self._halves(matrices, device_stacks.flipped)
        solved = self.solved(operands, most, self.check_finite and (len(self.names) > 1 or not self.diagnostic))
        if solved is None:
            return None
        found = self._results(operands[0].shape, operands=None, matrices=solved.matrices, **solved.read)
        if not isinstance(self.device, PlanRecorder):
            self._repair(found, self._rejected(operands[: len(self.names)], solved), solved.count, batch)
        return found

    def solved(self, operands: tuple[Resident, ...], most: int, refuse: bool) -> Solved | None:
        """Run one plan for `most` matrices at a time, and read its numbers. None as `_host_pieces`.

        Raises NonFiniteError: an operand holds NaN or infinity, and `refuse` is true.
        """
        count = prod(operands[0].shape[:-2])
        stacks = operands if count <= most else tuple(map(device_stacks.flat, operands))

        def piece(first: int, end: int) -> Solved:
            return self._piece(stacks if end - first == count else device_stacks.sliced(stacks, first, end))

        parts = in_pieces(count, most, piece)
        if parts is None:
            return None
        found = parts[0] if len(parts) == 1 else Solved.joined(parts)
        for name, extreme in zip(self.names if refuse else (), found.extremes, strict=False):
            device_stacks.refuse_nonfinite(self.function, name, extreme[:, 0, 1], operands[0].shape[:-2], found.places)
        return found

    def _piece(self, operands: tuple[Resident, ...]) -> Solved:
        batch, forms = self._batch, tuple(one.form for one in operands[: len(self.record.operands)])
        plan = linear_batches.plan(batch, forms, self.device.limits, **self._batch_options)
        textures = {name: one.texture for name, one in zip(plan.operands, operands, strict=True)}
        results: Results = self.device.run(merged(self.device, plan), **textures)
        count, order, matrices = forms[0].count, batch.layout.order(forms), None

        def seen(texture: Any, *shape: int) -> Resident:
            return Resident.wrapped(self.device, texture, (count, *shape), "float32")

        if "matrices" in results:
            matrices = seen(results.pop("matrices"), *batch.layout.matrix(forms))
        numbers, there = dict[str, Float32](), dict[str, Resident]()
        if "largest" in results:
            largest = seen(results.pop("largest"), 1)
            if self.check_finite and batch.filter.marked:
                numbers["largest"] = largest.numpy()
            elif self.check_finite:
                finite_result(self.function, largest.numpy(), True)
        places = np.arange(count if self.check_finite or not batch.filter.marked else 0)
        if "flags" in results:
            places = np.flatnonzero(results.pop("flags").reshape(-1)[:count])
        lengths = {"diagnostics": batch.layout.lines * order, "line": order, "columns": forms[-1].matrix[1]}
        for name, one in results.items():
            width = lengths.get(name.partition("_")[0], 1)
            if isinstance(one, np.ndarray):
                numbers[name] = one.reshape(-1)[: count * width].reshape(count, -1)
            else:
                there[name] = seen(one, width)
        return Solved(batch, count, order, matrices, places, numbers | device_stacks.gathered(there, places))

    def _rejected(self, operands: tuple[Resident, ...], found: Solved) -> Iterator[Rejected]:
        """Places and operands of rejected matrices: those rejected by extremes are read and judged by all entries."""
        judge, options = found.batch.filter, self._batch_options
        for places, given in device_stacks.read_matrices(operands, found.rejected(**options)):
            if judge.scaled is None or judge.rejected is None:
                yield places, given
                continue
            at = np.searchsorted(found.places, places)
            still = found.infinite[at]
            still[judge.rejected(given, np.zeros((0, 1, 1), dtype=np.float32), found.diagnostics[at], **options)] = True
            yield places[still], tuple(one[still] for one in given)

    # -- rejected matrices of a batch ---------------------------------------------------------------------------------

    def _repair(self, found: Results, rejected: Iterable[Rejected], count: int, batch: Shape) -> None:
        """Replace the results of rejected matrices of a batch of `count`."""
        fixes = list[tuple[Places, Results]]()
        for places, given in rejected:
            left = np.ones(len(places), dtype=bool)
            for numbers, results in self._once_more(places, given, count, batch):
                fixes.append((places[numbers], results))
                left[numbers] = False
            for index in np.flatnonzero(left):
                one = self._fallback_of_one([part[index] for part in given], place(int(places[index]), batch))
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
                found[name] = device_stacks.replaced(values, where, x)

    @np.errstate(all="ignore")  # matrices out of range go on alone
    def _once_more(
        self, places: Places, given: tuple[Float32, ...], count: int, batch: Shape
    ) -> Sequence[tuple[Places, Results]]:
        """Run rejected matrices of a batch of `count` as one batch, scaled; give numbers and results of those accepted.

        A batch of one goes on alone at once, as do matrices that are not finite.
        """
        found = list[tuple[Places, Results]]()
        if self._batch.filter.host_work is not None:
            self._refuse(places, given, batch)
            name, work = self._batch.filter.host_work
            return [(np.arange(len(places)), {self.results[0]: host_step(name)(work)(*given, **self.options)[0]})]
        if self._batch.filter.scaled is None or count == 1:
            return found
        ready = np.flatnonzero(np.logical_and.reduce([np.isfinite(one).all(axis=(1, 2)) for one in given]))
        most = retry.most(self._batch, tuple(Form(one.shape) for one in given), self.device.limits)

        def piece(first: int, end: int) -> None:
            found.append(self._piece_once_more(given, ready[first:end], most))

        in_pieces(len(ready), most if most > 1 else 0, piece)
        return found

    def _piece_once_more(self, given: tuple[Float32, ...], numbers: Places, most: int) -> tuple[Places, Results]:
        """Run some matrices; their number is rounded up to four binary digits, so that few plans serve all numbers."""
        batch, count, options = self._batch, len(numbers), self._batch_options
        judge = batch.filter.rejected
        assert judge is not None
        unit = 1 << max(count.bit_length() - 4, 0)
        filled = np.resize(numbers, max(2, min(most, -(-count // unit) * unit)))
        values = {name: one[filled] for name, one in zip("AB", given, strict=False)}
        forms = tuple(Form(one.shape) for one in values.values())
        plan = retry.scaled_plan(batch, forms, self.device.limits, **options)
        made = run(self.device, plan, values)
        matrices, diagnostics, accepted = made["matrices"], made["diagnostics"], ~made["lost"]
        rejected = judge(tuple(made[f"scaled {name}"] for name in values), matrices, diagnostics, **options)
        if len(rejected) and plan.after:
            check = retry.pivot_check(forms[0], self.device.limits)
            rejected = rejected[~run(self.device, check, made)["accepted"][rejected]]
        accepted[rejected] = False
        if matrices.size:
            accepted &= ~acceptance.lost_columns(matrices, matrices.astype(np.float32)).any(axis=1)
        kept, exponents = np.flatnonzero(accepted[:count]), (made["e"].sum(axis=(1, 2)) + made["f"].sum(axis=(1, 2)))
        known = {"operands": tuple(one[numbers[kept]] for one in given), "matrices": matrices[kept]}
        results = self._results(given[0].shape, diagnostics=diagnostics[kept], exponents=exponents[kept], **known)
        return numbers[kept], {n: one.astype(np.float32) if one.ndim > 1 else one for n, one in results.items()}

    def refuse(self, given: Float32 | Array, name: str, part: Callable[[Float32], Float32]) -> None:
        """Raise if `settle` has an error for a part of matrices of the host, before anything runs."""
        settle = OPERATIONS[self.operation].settle
        if isinstance(given, Array) or settle is None:
            return
        unless_error(settle((), "", {"function": self.function, **self.options, name: part(given)}))

    def _refuse(self, places: Places, given: tuple[Float32, ...], batch: Shape) -> None:
        """Raise if `settle` has an error for one of these matrices of a batch."""
        for index, own in zip(places.tolist(), zip(*given, strict=True), strict=True):
            assert self.record.settle is not None
            unless_error(self.record.settle(forms_of(own), BATCHED, self._values(own, place(index, batch))))

    def _values(self, operands: Sequence[Any], index: Index) -> Results:
        """Values that every stage may ask for."""
        given = dict(zip(self.record.operands, map(stored, operands), strict=True))
        words = {"function": self.function, "which": matrix_of_stack(index), "check_finite": self.check_finite}
        return {**given, **words, **self.options, **(self.further(*operands) if self.further is not None else {})}

    def _fallback_of_one(self, operands: Sequence[Float32], index: Index) -> Results:
        """Let `settle` decide on one matrix of a batch; where it finds no result, that of the batch stays."""
        forms = forms_of(operands)
        plan = host_batch_plan(self._batch, forms, self.device.limits, 1, **self._batch_options)
        values = self._values(operands, index)
        return run_stages(self.record, forms, on_device(self.device, plan), values, BATCHED)


@dataclass
class Solved:
    """Results of the plan of a batch on the device."""

    batch: Batch  # that of the operation
    count: int  # matrices of the batch
    order: int  # length of a line of diagnostics
    matrices: Resident | None  # (count, rows, columns): solutions, or packed factors
    places: Places  # matrices whose numbers were read: those that the device rejects, or all where it does not judge
    numbers: dict[str, Float32]  # by name, (matrices, elements): of `places`, or of all matrices what is a result

    @staticmethod
    def joined(parts: Sequence[Solved]) -> Solved:
        """Join the pieces of a batch."""
        firsts = np.cumsum([0, *(part.count for part in parts)])
        places = [part.places + first for part, first in zip(parts, firsts[:-1], strict=True)]
        numbers = {name: np.concatenate([part.numbers[name] for part in parts]) for name in parts[0].numbers}
        matrices = [part.matrices for part in parts if part.matrices is not None]
        whole = shaping.concat("stack", matrices, 0) if matrices else None
        return replace(parts[0], count=int(firsts[-1]), matrices=whole, places=np.concatenate(places), numbers=numbers)

    @property
    def diagnostics(self) -> Float32:
        """Lines of diagnostics, (places, lines, length of a line)."""
        if "diagnostics" not in self.numbers:
            return np.zeros((len(self.places), 0, self.order), dtype=np.float32)
        return self.numbers["diagnostics"].reshape(len(self.places), self.batch.layout.lines, self.order)

    @property
    def extremes(self) -> tuple[Float32, ...]:
        """Stand-ins of the operands, (places, 1, 2), with the same extremes."""
        given, found = dict(self.numbers), list[Float32]()
        if "columns_B" in given:
            given["most_B"] = given["columns_B"].max(axis=1, initial=0)
        for most, least in (("most_A", "least_A"), ("most_B", "least_B")):
            if most in given:
                found.append(linear_batches.extremes(given.get(least, given[most]), given[most], len(self.places)))
        return tuple(found)

    @property
    def read(self) -> dict[str, Any]:
        """Numbers that results are made of, by name; lines have a dimension of one before their elements."""
        kept = {name: one[:, np.newaxis] for name, one in self.numbers.items() if name.startswith(("line", "turns"))}
        norms = [self.numbers[name].reshape(-1) for name in ("norms_A", "norms_matrices") if name in self.numbers]
        return {"diagnostics": self.diagnostics, **kept, **({"norms": np.stack(norms, axis=1)} if norms else {})}

    def rejected(self, **options: Any) -> Places:
        """Places of the matrices that the filter of their batch does not accept, in order."""
        if not len(self.places):
            return self.places
        if self.batch.filter.lost is not None:
            return self.places[self.batch.filter.lost(self.numbers, **options)]
        bad = self.infinite
        if self.batch.filter.rejected is not None:
            upper = self.numbers.get("most_upper", np.zeros(0, dtype=np.float32)).reshape(-1, 1, 1)
            bad[self.batch.filter.rejected(self.extremes, upper, self.diagnostics, **options)] = True
        return self.places[bad]

    @property
    def infinite(self) -> NDArray[np.bool_]:
        """Which of `places` have a result that is not finite, by its norm; half of an operand may hold anything."""
        norms = self.numbers.get("norms_matrices", np.zeros(0, dtype=np.float32)).reshape(-1)
        bad: NDArray[np.bool_] = np.zeros(len(self.places), dtype=bool)
        return ~np.isfinite(norms) if len(norms) == len(bad) else bad


def in_pieces(count: int, most: int, run: Callable[[int, int], Part]) -> list[Part] | None:
    """Run a batch of `count`, from one matrix to another, in as few pieces of `most` as fit the device's memory.

    None if not even one matrix fits, or `most` is 0: tiles, or blocks of columns, may need less.
    """
    parts, first = list[Part](), 0
    while most and first < count:
        _, end = next(pieces(count - first, most))  # pieces of one size share a plan
        try:
            parts.append(run(first, first + end))
            first += end
        except OutOfMemoryError:
            most = end // 2
    return parts if first >= count else None


def _fill(records: Float32, device: Device, plan: Plan, operands: Sequence[Float32]) -> None:
    """Lay the operands out one after the other, run the plan, read the records; through buffers, which is faster."""
    slot, (count, length) = plan.slots["raw"], records.shape
    if isinstance(slot, HostArray):
        elements = np.empty(slot.size, dtype=np.float32)
        lay_out(elements, operands)
        records[...] = device.run(plan, raw=elements)["records"].reshape(-1, length)
        return
    storage, made = texture(slot), texture(plan.slots[plan.results["records"]])
    stride = length + -length % made.channels  # a record begins with a texel
    with device.current():
        source, raw = device.lend(staging(storage.nbytes // 4)), device.lend(storage)
        with device.staging.mapped(source, storage.nbytes // 4, write=True) as elements:
            lay_out(elements, operands)
        device.staging.send(source, raw)
        source.release()  # at once: memory may be capped
        result = device.run(plan, raw=raw)["records"]
        raw.release()
        target = device.lend(staging(made.nbytes // 4))
        device.staging.fetch(result, target)
        result.release()
        with device.staging.mapped(target, count * stride, write=False) as elements:
            records[...] = elements.reshape(count, stride)[:, :length]


def place(index: int, batch: Shape) -> Index:
    """Place of a matrix in a batch of these dimensions."""
    return tuple(int(i) for i in np.unravel_index(index, batch)) if batch else ()
