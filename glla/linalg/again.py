"""Doubtful members of a stack, wherever it lies: together once more, and then each that does not stand by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import Float32
from glla.errors import OutOfMemoryError
from glla.gl import Device
from glla.linalg.operands import run
from glla.linalg.walk import following
from glla.operations import Operation, acceptance
from glla.operations.batches import again
from glla.operations.host.scaling import Float64
from glla.operations.routes import pieces
from glla.passes import Form, Plan

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Settled:
    """Outcome for the rejected matrices of a batch."""

    places: Places  # those that stand now
    matrices: Float64  # of these, not rounded to float32
    diagnostics: Float32  # of these, as they were scaled
    exponents: NDArray[np.integer]  # of these, the sum of all exponents by which rows and columns were scaled
    left: Places  # those that go on alone


@np.errstate(all="ignore")  # matrices out of range go on alone
def settled(
    device: Device, operation: Operation, operands: tuple[Float32, ...], doubts: Places, members: int, **options: Any
) -> Settled:
    """Run doubtful members together once more, scaled on the host; those that are not finite go on alone.

    A matrix by itself, of which `members` of a stack there are one, does so at once.
    """
    batch = operation.batch
    assert batch is not None
    finite = np.logical_and.reduce([np.isfinite(one[doubts]).all(axis=(1, 2)) for one in operands])
    ready = doubts[finite]
    forms = tuple(Form(one.shape) for one in operands)
    most = again.most(batch, forms, device.limits) if batch.scaled is not None and members > 1 else 0
    parts = []
    for first, end in pieces(len(ready), most) if most > 1 else ():
        some = ready[first:end]
        try:
            parts.append(_piece(device, operation, operands, some, most, **options))
        except OutOfMemoryError:
            break  # tiles, or blocks of columns, may need less
    places = np.concatenate([part.places for part in parts]) if parts else doubts[:0]
    if not parts:
        nothing = np.zeros((0, *batch.matrix(forms)))
        diagnostics = np.zeros((0, batch.lines, batch.order(forms)), dtype=np.float32)
        return Settled(places, nothing, diagnostics, places, doubts)
    matrices, diagnostics, exponents = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("matrices", "diagnostics", "exponents")
    )
    return Settled(places, matrices, diagnostics, exponents, doubts[~np.isin(doubts, places)])


@np.errstate(all="ignore")  # the range is checked afterwards
def rounded(matrices: Float64) -> Float32:
    """Round matrices to float32."""
    return matrices.astype(np.float32)


def _piece(
    device: Device, operation: Operation, operands: tuple[Float32, ...], places: Places, most: int, **options: Any
) -> Settled:
    """Run some members; their number is rounded up to four binary digits, so that few plans serve all numbers."""
    batch, count = operation.batch, len(places)
    assert batch is not None and batch.doubtful is not None
    unit = 1 << max(count.bit_length() - 4, 0)
    size = max(2, min(most, -(-count // unit) * unit))
    filled = np.resize(places, size)
    given = {name: one[filled] for name, one in zip("AB", operands, strict=False)}
    forms = tuple(Form(one.shape) for one in given.values())
    plan: Plan = following(again.batched(batch, forms, device.limits, **options), again.AGAIN)
    found = run(device, plan, given)
    matrices, diagnostics = found["matrices"], found["diagnostics"]
    scaled = tuple(found[f"scaled {name}"] for name in given)
    stands = ~found["lost"]
    doubts = batch.doubtful(scaled, matrices, diagnostics, **options)
    if len(doubts) and plan.after:
        doubts = doubts[~run(device, following(plan, again.LOOK), found)["stands"][doubts]]
    stands[doubts] = False
    if matrices.size:
        stands &= ~acceptance.lost_columns(matrices, rounded(matrices)).any(axis=1)
    stands = stands[:count]
    exponents = found["e"].sum(axis=(1, 2)) + found["f"].sum(axis=(1, 2))
    return Settled(
        places[stands],
        matrices[:count][stands],
        diagnostics[:count][stands],
        exponents[:count][stands],
        places[~stands],
    )
