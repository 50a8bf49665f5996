"""Calls on their way: one place decides it, see `glla.operations.routes`, and each way is run here.

A stack of small matrices goes in pieces through one plan; if a piece does not fit the device's memory, in smaller
pieces. Where not even one of them does, the matrices go one by one, and then perhaps in tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from traceback import clear_frames
from typing import Any

import numpy as np

from glla.array.convert import Float32
from glla.errors import OutOfMemoryError
from glla.gl import Device
from glla.operations import Operation
from glla.operations.routes import batch_plan
from glla.passes import HostArray, Plan, forms_of, texture


def batched(
    device: Device, operation: Operation, operands: Sequence[Float32], most: int | None = None, **options: Any
) -> tuple[Float32, Float32] | None:
    """Send stacks through one plan, in as few pieces as fit. Synchronises.

    Result, (ndarray of float32, ndarray of float32): the matrices and the diagnostics of the records, see
    `Batch.parted`; None where the members go one by one: they are large, or not even one fits the memory.
    `operation`: which. `operands`: stacks with as many members each. `most`: matrices of a piece; by default as many as
    fit. `options`: of the operation.
    """
    forms = forms_of(operands)
    batch = operation.batch_of(options)
    if most is None and batch is not None:
        most = batch.most(forms, device.limits)
    if batch is None or not most:
        return None
    count, first, length = len(operands[0]), 0, batch.length(forms)
    records = np.empty((count, length), dtype=np.float32)
    while first < count:
        left = -(-(count - first) // most)
        end = first - (first - count) // left  # pieces of one size share a plan
        plan = batch_plan(operation, forms, device.limits, end - first, **options)
        try:
            records[first:end] = _piece(device, plan, length, [part[first:end] for part in operands])
            first = end
        except OutOfMemoryError:
            if end - first == 1:
                return None  # tiles, or blocks of columns, may need less
            most = (end - first) // 2
    return batch.parted(forms, records)


def _piece(device: Device, plan: Plan, length: int, operands: Sequence[Float32]) -> Float32:
    """Lay the operands out one after the other, run the plan, read the records."""
    slot = plan.slots["raw"]
    elements = np.empty(slot.size if isinstance(slot, HostArray) else slot.nbytes // 4, dtype=np.float32)
    start = 0
    for operand in operands:
        elements[start : start + operand.size].reshape(operand.shape)[...] = operand
        start += operand.size
    elements[start:] = 0
    if isinstance(slot, HostArray):
        found: Float32 = device.run(plan, raw=elements)["records"]
        return found.reshape(-1, length)
    storage = texture(slot)
    uploaded = device.write(elements.reshape(storage.height, storage.width))
    try:
        result = device.run(plan, raw=uploaded)["records"]
    finally:
        uploaded.release()
    records = device.read(result)
    result.release()
    stride = length + -length % records.shape[-1]  # a record begins with a texel
    return records.reshape(-1)[: len(operands[0]) * stride].reshape(-1, stride)[:, :length]


def place(index: int, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Place of a matrix in a batch of these dimensions."""
    return tuple(int(i) for i in np.unravel_index(index, batch)) if batch else ()


def stacked(results: Iterable[Float32]) -> Float32:
    """Put results one above the other, without a copy where there is only one."""
    found = list(results)
    return found[0][np.newaxis] if len(found) == 1 else np.stack(found)


@contextmanager
def explained(function: str, a: Any) -> Iterator[None]:
    """Raise OutOfMemoryError again, with the shape of A and a remedy."""
    try:
        yield
    except OutOfMemoryError as error:
        clear_frames(error.__traceback__)  # whoever keeps the error must not keep the matrices
        raise OutOfMemoryError(
            f"{function}: A {a.shape} must fit the device's memory with its factors, only right-hand sides are cut "
            f"into blocks; raise its max_bytes, or release matrices ({error})"
        ) from None
