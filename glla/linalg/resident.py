"""Stacks of matrices that lie on a device: they go through the plan of a stack, and their results stay there.

What `glla.operations.batches.residents` plans is run here, in pieces if they are many. Members for which another plan
comes are read back, as those of a stack from the host would be; and so are large matrices taken one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from glla.array import arithmetic, blocks, layouts, shaping
from glla.array.array import Array, upload
from glla.array.convert import finite_result
from glla.array.value import Resident, from_array
from glla.errors import NonFiniteError, OutOfMemoryError, ShapeError
from glla.gl import Device
from glla.linalg.operands import column
from glla.operations import Operation
from glla.operations.batches import residents
from glla.operations.record import Batch
from glla.operations.routes import pieces
from glla.passes import Form, Plan

Host = NDArray[np.float32]

Part = TypeVar("Part")

READ_AT_ONCE = 2**24
"""Most bytes of a stack's members that are gathered at a time to be read back."""


@dataclass
class Solved:
    """Results of the plan of a batch on the device."""

    batch: Batch  # that of the operation
    plan: Plan  # the plan that has run, of a piece
    count: int  # matrices of the batch, and the length of a line of diagnostics
    order: int
    matrices: Resident | None  # (count, rows, columns): solutions, or packed factors
    # matrices whose numbers were read: those that the device rejects, or all where it does not judge
    places: NDArray[np.intp]
    numbers: dict[str, Host]  # by name, (matrices, elements): of `places`, or of all matrices what is a result
    # largest magnitudes of the matrices, (count,) in pieces; none if the operation does not watch them
    largest: tuple[Resident, ...] = ()

    @property
    def diagnostics(self) -> Host:
        """Lines of diagnostics, (places, lines, length of a line)."""
        if "diagnostics" not in self.numbers:
            return np.zeros((len(self.places), 0, self.order), dtype=np.float32)
        return self.numbers["diagnostics"].reshape(len(self.places), self.batch.lines, self.order)

    @property
    def extremes(self) -> tuple[Host, ...]:
        """Stand-ins of the operands, (places, 1, 2), with the same extremes."""
        given, found = dict(self.numbers), list[Host]()
        if "columns_B" in given:
            given["most_B"] = given["columns_B"].max(axis=1, initial=0)
        for most, least in (("most_A", "least_A"), ("most_B", "least_B")):
            if most in given:
                found.append(residents.extremes(given.get(least, given[most]), given[most], len(self.places)))
        return tuple(found)

    @property
    def read(self) -> dict[str, Any]:
        """Numbers that results are made of, by name; lines have a dimension of one before their elements."""
        kept = {name: one[:, np.newaxis] for name, one in self.numbers.items() if name.startswith(("line", "turns"))}
        norms = [self.numbers[name].reshape(-1) for name in ("norms_A", "norms_matrices") if name in self.numbers]
        return {"diagnostics": self.diagnostics, **kept, **({"norms": np.stack(norms, axis=1)} if norms else {})}

    def rejected(self, **options: Any) -> NDArray[np.intp]:
        """Places of the matrices that the filter of their batch does not accept, in order."""
        if not len(self.places):
            return self.places
        if self.batch.lost is not None:
            return self.places[self.batch.lost(self.numbers, **options)]
        bad = self.infinite
        if self.batch.doubtful is not None:
            upper = self.numbers.get("most_upper", np.zeros(0, dtype=np.float32)).reshape(-1, 1, 1)
            bad[self.batch.doubtful(self.extremes, upper, self.diagnostics, **options)] = True
        return self.places[bad]

    @property
    def infinite(self) -> NDArray[np.bool_]:
        """Which of `places` have a result that is not finite, by its norm; half of an operand may hold anything."""
        norms = self.numbers.get("norms_matrices", np.zeros(0, dtype=np.float32)).reshape(-1)
        bad: NDArray[np.bool_] = np.zeros(len(self.places), dtype=bool)
        return ~np.isfinite(norms) if len(norms) == len(bad) else bad


def spread(a: Array, stack: tuple[int, ...]) -> Resident:
    """See matrices spread over the dimensions of a stack."""
    source, view = layouts.view_of(a.value)
    return source.seen(view.broadcast_to((*stack, *a.shape[-2:])))


def flipped(a: Resident) -> Resident:
    """See each matrix of a stack transposed."""
    assert a.view is not None
    return a.seen(a.view.moved(-2, -1))


def flat(a: Resident) -> Resident:
    """Give a stack one dimension beside those of its matrices, in order."""
    return layouts.whole(layouts.reshaped(a, (prod(a.shape[:-2]), *a.shape[-2:])))


def together(
    device: Device,
    operation: Operation,
    operands: tuple[Resident, ...],
    check_finite: bool,
    function: str = "",
    names: tuple[str, ...] = ("A", "b"),
    most: int | None = None,
    **options: Any,
) -> Solved | None:
    """Send a batch on the device through one plan, in as few pieces as fit; None if it must be looped.

    Raises NonFiniteError: a matrix of an operand holds NaN or infinity, and `check_finite` is true.
    """
    batch = operation.batch_of(options)
    assert batch is not None
    if most is None:
        most = batch.most(tuple(Form((prod(one.shape[:-2]), *one.shape[-2:])) for one in operands), device.limits)
    parts = in_pieces(most, operands, lambda *piece: _piece(device, operation, piece, **options))
    if parts is None:
        return None
    found = parts[0] if len(parts) == 1 else _joined(parts)
    if check_finite:
        for name, extreme in zip(names, found.extremes, strict=False):
            refuse_nonfinite(function or operation.name, name, extreme[:, 0, 1], found.places)
    return found


def in_pieces(most: int, operands: tuple[Resident, ...], run: Callable[..., Part]) -> list[Part] | None:
    """Run stacks in as few pieces of `most` members as fit; None if not even one does, or `most` is 0."""
    count = prod(operands[0].shape[:-2])
    while most:
        try:
            if count <= most:
                return [run(*operands)]
            stacks = [flat(one) for one in operands]
            return [run(*(_members(one, *ends) for one in stacks)) for ends in pieces(count, most)]
        except OutOfMemoryError:
            most = 0 if most == 1 else -(-min(most, count) // 2)
    return None


def _members(a: Resident, first: int, end: int) -> Resident:
    """Take some members of a stack, in order."""
    assert a.view is not None
    return layouts.whole(a.seen(a.view.sliced(slice(first, end))))


def _piece(device: Device, operation: Operation, operands: tuple[Resident, ...], **options: Any) -> Solved:
    batch = operation.batch_of(options)
    assert batch is not None
    forms = tuple(one.form for one in operands[: len(operation.operands)])
    given = {name: value for name, value in options.items() if name != "mode"}
    make = partial(residents.plan, batch) if batch.stacked is None else batch.stacked
    plan = make(forms, device.limits, **given)
    textures = {name: one.texture for name, one in zip(plan.operands, operands, strict=True)}
    results: dict[str, Any] = device.run(plan, **textures)
    count, order = forms[0].count, batch.order(forms)
    matrices = None
    if "matrices" in results:
        matrices = Resident.wrapped(device, results.pop("matrices"), (count, *batch.matrix(forms)), "float32")
    watched = [results.pop("largest")] if batch.unjudged else []
    largest = tuple(Resident.wrapped(device, one, (count,), "float32") for one in watched)
    places = np.arange(count)
    if "doubts" in results:
        places = np.flatnonzero(results.pop("doubts").reshape(-1)[:count])
    lengths = {"diagnostics": batch.lines * order, "line": order, "columns": forms[-1].matrix[1]}
    widths = {name: lengths.get(name.partition("_")[0], 1) for name in results}
    numbers = gathered(device, results, places, widths, count)
    return Solved(batch, plan, count, order, matrices, places, numbers, largest)


def gathered(
    device: Device, results: dict[str, Any], places: NDArray[np.intp], widths: dict[str, int], count: int
) -> dict[str, Host]:
    """Collect diagnostics: those already read, and in one read-back, for `places`, those on the device."""
    read = {name: one for name, one in results.items() if isinstance(one, np.ndarray)}
    found = {name: one.reshape(-1)[: count * widths[name]].reshape(count, -1) for name, one in read.items()}
    there = {
        name: Resident.wrapped(device, one, (count, widths[name]), "float32")
        for name, one in results.items()
        if name not in read
    }
    if there and len(places):
        some = [shaping.take(one, places, 0) for one in there.values()]
        parts = np.split(shaping.concat("stack", some, 1).numpy(), np.cumsum([one.shape[1] for one in some])[:-1], 1)
        return found | dict(zip(there, parts, strict=True))
    return found | {name: np.zeros((0, widths[name]), dtype=np.float32) for name in there}


def _joined(parts: list[Solved]) -> Solved:
    matrices = [part.matrices for part in parts if part.matrices is not None]
    firsts = np.cumsum([0, *(part.count for part in parts)])
    return Solved(
        parts[0].batch,
        parts[0].plan,
        int(firsts[-1]),
        parts[0].order,
        shaping.concat("stack", matrices, 0) if matrices else None,
        np.concatenate([part.places + first for part, first in zip(parts, firsts[:-1], strict=True)]),
        {name: np.concatenate([part.numbers[name] for part in parts]) for name in parts[0].numbers},
        tuple(one for part in parts for one in part.largest),
    )


def refuse_nonfinite(function: str, name: str, largest: Host, places: NDArray[np.intp] | None = None) -> None:
    """Raise NonFiniteError for the first member of a stack whose largest magnitude is not finite; all, or some."""
    bad = np.flatnonzero(~np.isfinite(largest))
    bad = bad if places is None else places[bad]
    if bad.size:
        raise NonFiniteError(
            f"{function}: {name} must not hold NaN or infinity, got an Array whose matrix {bad[0]} does; find out "
            "which operation made them with its numpy(check_finite=True), or pass check_finite=False to let them "
            "through"
        )


def rejected(
    operands: tuple[Resident, ...], found: Solved, **options: Any
) -> Iterator[tuple[NDArray[np.intp], tuple[Host, ...]]]:
    """Places and operands, read back, of the matrices that are not accepted.

    By its extremes alone a matrix may be rejected that is accepted by all its entries.
    """
    batch = found.batch
    for places, given in read_together(operands, found.rejected(**options)):
        if batch.scaled is not None and batch.doubtful is not None:
            at = np.searchsorted(found.places, places)
            still = found.infinite[at]
            still[batch.doubtful(given, np.zeros((0, 1, 1), dtype=np.float32), found.diagnostics[at], **options)] = True
            yield places[still], tuple(one[still] for one in given)
        else:
            yield places, given


def read_back(operands: tuple[Resident, ...], places: NDArray[np.intp]) -> Iterator[tuple[int, list[Host]]]:
    """Read some members of stacks, one after the other."""
    for some, given in read_together(operands, places):
        yield from zip(some.tolist(), map(list, zip(*given, strict=True)), strict=True)


def read_together(
    operands: tuple[Resident, ...], places: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], tuple[Host, ...]]]:
    """Read some members of stacks: they are gathered on the device first, and nothing else is read."""
    if not len(places):
        return
    stacks = [flat(one) for one in operands]
    most = max(1, READ_AT_ONCE // max(1, *(4 * prod(one.shape[1:]) for one in stacks)))
    for first in range(0, len(places), most):
        some = places[first : first + most]
        yield some, tuple(shaping.take(one, some, 0).numpy() for one in stacks)


def member(a: Resident, index: int) -> Resident:
    """One matrix of a stack."""
    assert a.view is not None
    return layouts.best(a.seen(a.view.sliced(index)))


def mended(matrices: Resident, fixes: dict[int, Host]) -> Resident:
    """Put matrices of the host into a stack on the device; beside them a number for each member goes there."""
    if not fixes:
        return matrices
    places = np.array(list(fixes), dtype=np.int32)
    return blocks.put(matrices, (places,), from_array(np.stack(list(fixes.values())), matrices.device))


def joined_results(parts: list[Any]) -> Any:
    """Join results of matrices: those on the device there, numbers on the host."""
    if not isinstance(parts[0], Array):
        return np.array(parts)
    return shaping.stack("stack", [layouts.wrapped(one.value) for one in parts], 0)


def solutions(
    function: str,
    a: Host | Array,
    b: Host | Array,
    device: Device,
    one: Callable[[Any, Any], Array],
    every: Callable[[tuple[Resident, Resident], tuple[int, ...]], Resident],
) -> Array:
    """Solve systems of which an operand is on the device: the solutions stay there.

    `function`: for messages. `a`, `b`: matrices (..., rows, n), which may be bands, and right-hand sides (n,) or (...,
    n, columns). `one`: (one of the matrices, right-hand sides) -> X, wherever they lie. `every`: (A and b spread over
    the stack, dimensions of the stack) -> X of all members.
    """
    if a.ndim == 2 and b.ndim < 3 and b.size:
        found = one(a, column(b))
        return found if b.ndim == 2 else found.reshape(-1)
    right = b if b.ndim > 1 else b.reshape(1, -1, 1)  # a matrix (n, 1) would be packed first
    right = _beside_a_stack(right, device)
    stack = broadcast(function, a, b)
    shape = (*stack, *right.shape[-2:])
    if 0 in shape:
        return upload(np.empty(shape if b.ndim > 1 else (*a.shape[:-2], *b.shape), dtype=np.float32), device)
    if prod(a.shape[:-2]) == 1:  # one matrix for all: one system with many right-hand sides
        matrix = a if a.ndim == 2 else a.reshape(a.shape[-2:])
        wide, apart = as_columns(right, shape)
        result = apart(one(matrix, wide))
    else:
        result = shaped(every((spread(_beside_a_stack(a, device), stack), spread(right, stack)), stack), shape)
    return result if b.ndim > 1 else result[..., 0]


def _beside_a_stack(a: Host | Array, device: Device) -> Array:
    """Put an operand onto the device as stacks lie there: a matrix (m, n) would be packed."""
    return a if isinstance(a, Array) else upload(a if a.ndim > 2 else a[np.newaxis], device)


def kept(function: str, x: Host | Array, device: Device, check_finite: bool) -> Array:
    """Leave a result on the device; one that was made on the host goes back, if it is finite."""
    return x if isinstance(x, Array) else upload(finite_result(function, x, check_finite), device)


def as_columns(b: Array, shape: tuple[int, ...]) -> tuple[Array, Callable[[Array], Array]]:
    """Join the columns of right-hand sides of one matrix, broadcast to `shape`; also give the inverse reshape."""
    rank = len(shape)
    spread_ = Array._of(arithmetic.broadcast(b.value, shape))
    wide = spread_.transpose((rank - 2, *range(rank - 2), rank - 1))

    def apart(x: Array) -> Array:
        return x.reshape(wide.shape).transpose((*range(1, rank - 1), 0, rank - 1))

    return wide.reshape(shape[-2], -1), apart


def broadcast(function: str, a: Host | Array, b: Host | Array) -> tuple[int, ...]:
    """Dimensions of the stack that the stacks of two operands broadcast to."""
    try:
        return np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ShapeError(f"{function}: leading dimensions must broadcast, got A {a.shape} and b {b.shape}") from None


def shaped(value: Resident, shape: tuple[int, ...]) -> Array:
    """Give a stack its dimensions."""
    return Array._of(layouts.best(layouts.reshaped(value, shape)))


def diagnostics(found: Host, beside: Any) -> np.float32 | Host | Array:
    """Give diagnostics of the members of a stack: onto its device if it lies on one; of a single matrix a number.

    They were settled on the host, in float64 where that matters, so that a stack has the same ones wherever it lies.
    """
    if isinstance(beside, Array) and beside.ndim > 2:
        return Array._of(from_array(found, beside.device))
    figure: np.float32 | Host = found[()]
    return figure
