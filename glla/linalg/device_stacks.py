"""Batches that are on a device: views of them, matrices of them read back or replaced, and results put there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import arithmetic, blocks, layouts, shaping
from glla.array.array import Array, upload
from glla.array.convert import Float32
from glla.array.value import Resident, Shape, from_array
from glla.gl import Device
from glla.linalg.operands import refuse_nonfinite_largest
from glla.operations.acceptance import matrix_of_stack, not_finite

READ_AT_ONCE = 2**24
"""Most bytes of matrices that are gathered at a time to be read back."""


def spread(a: Array, stack: tuple[int, ...]) -> Resident:
    """See matrices spread over the dimensions of a stack."""
    source, view = layouts.view_of(a.value)
    return source.seen(view.broadcast_to((*stack, *a.shape[-2:])))


def flipped(a: Resident) -> Resident:
    """See each matrix of a stack transposed."""
    assert a.view is not None
    return a.seen(a.view.moved(-2, -1))


def flat(a: Resident) -> Resident:
    """Return a stack one dimension beside those of its matrices, in order."""
    return layouts.whole(layouts.reshaped(a, (prod(a.shape[:-2]), *a.shape[-2:])))


def sliced(stacks: Iterable[Resident], first: int, end: int) -> tuple[Resident, ...]:
    """Take some matrices of stacks, in order."""
    return tuple(
        layouts.whole(one.seen(layouts.view_of(one)[1].sliced(slice(first, end)))) for one in map(flat, stacks)
    )


def gathered(there: Mapping[str, Resident], places: NDArray[np.intp]) -> dict[str, Float32]:
    """Read numbers of some matrices, in one read-back."""
    if not there or not len(places):
        return {name: np.zeros((0, one.shape[1]), dtype=np.float32) for name, one in there.items()}
    some = [shaping.take(one, places, 0) for one in there.values()]
    parts = np.split(shaping.concat("stack", some, 1).numpy(), np.cumsum([one.shape[1] for one in some])[:-1], 1)
    return dict(zip(there, parts, strict=True))


def refuse_nonfinite(
    function: str, name: str, largest: Float32, stack: Shape, places: NDArray[np.intp] | None = None
) -> None:
    """Raise NonFiniteError for the first matrix of a stack whose largest magnitude is not finite; all, or some."""
    bad = np.flatnonzero(~np.isfinite(largest))
    bad = bad if places is None else places[bad]
    if bad.size:
        raise not_finite(function, name, matrix_of_stack(np.unravel_index(bad[0], stack)))


def refuse_nonfinite_there(function: str, name: str, a: Float32 | Array, named: bool = True) -> None:
    """Raise if an Array holds NaN or infinity; name the matrix of a batch. Arrays of the host were looked at before."""
    if isinstance(a, Array):
        largest = a.vector_norm(np.inf, (-2, -1)).numpy(check_finite=False)
        if named and a.ndim > 2:
            refuse_nonfinite(function, name, largest.reshape(-1), a.shape[:-2])
        refuse_nonfinite_largest(function, name, largest)


def read_matrices(
    operands: tuple[Resident, ...], places: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], tuple[Float32, ...]]]:
    """Read some matrices of stacks: they are gathered on the device first, and nothing else is read."""
    if not len(places):
        return
    stacks = [flat(one) for one in operands]
    most = max(1, READ_AT_ONCE // max(1, *(4 * prod(one.shape[1:]) for one in stacks)))
    for first in range(0, len(places), most):
        some = places[first : first + most]
        yield some, tuple(shaping.take(one, some, 0).numpy() for one in stacks)


def matrix_at(a: Resident, index: int) -> Resident:
    """One matrix of a stack."""
    assert a.view is not None
    return layouts.best(a.seen(a.view.sliced(index)))


def replaced(matrices: Resident, places: NDArray[np.intp], fixes: Float32) -> Resident:
    """Put matrices of the host into a stack on the device."""
    return blocks.put(matrices, (places.astype(np.int32),), from_array(fixes, matrices.device))


def joined_results(parts: list[Any]) -> Any:
    """Join results of matrices: those on the device there, numbers on the host."""
    if not isinstance(parts[0], Array):
        return np.array(parts)
    return shaping.stack("stack", [layouts.wrapped(one.value) for one in parts], 0)


def beside_a_stack(a: Float32 | Array, device: Device) -> Array:
    """Put an operand onto the device in the layout of batches: a matrix (m, n) would be packed."""
    return a if isinstance(a, Array) else upload(a if a.ndim > 2 else a[np.newaxis], device)


def as_columns(b: Array, shape: tuple[int, ...]) -> tuple[Array, Callable[[Array], Array]]:
    """Join the columns of right-hand sides of one matrix, broadcast to `shape`; also give the inverse reshape."""
    rank = len(shape)
    spread_ = Array._of(arithmetic.broadcast(b.value, shape))
    wide = spread_.transpose((rank - 2, *range(rank - 2), rank - 1))

    def apart(x: Array) -> Array:
        return x.reshape(wide.shape).transpose((*range(1, rank - 1), 0, rank - 1))

    return wide.reshape(shape[-2], -1), apart


def shaped(value: Resident, shape: tuple[int, ...]) -> Array:
    """Return a stack its dimensions."""
    return Array._of(layouts.best(layouts.reshaped(value, shape)))


def diagnostics(found: Float32, beside: Any) -> np.float32 | Float32 | Array:
    """Give diagnostics of the matrices of a stack: onto its device if it is on one; of a single matrix a number.

    They were settled on the host, in float64 where that matters, so that a stack has the same ones wherever it is.
    """
    if isinstance(beside, Array) and beside.ndim > 2:
        return Array._of(from_array(found, beside.device))
    number: np.float32 | Float32 = found[()]
    return number
