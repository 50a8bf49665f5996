"""Systems with more right-hand sides than fit at once: factors stay on the device, blocks of columns are streamed."""

from __future__ import annotations

from typing import Unpack

from glla.operations.elimination import factors
from glla.operations.elimination.counts import steps
from glla.operations.layouts.crossing import upload
from glla.operations.product.tiles import columns_at_once, in_blocks
from glla.operations.record import Way
from glla.operations.systems import lu_scaling as scaling
from glla.passes import PLAIN, Draft, Forms, HostArray, Limits, Parameters, Plan, Storage, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import texels


def needed(columns: int, limits: Limits, room: int | None) -> bool:
    """Whether right-hand sides go block by block: they are more than a texture holds, or there is a cap on memory."""
    return columns > 2 * limits.texture_size or room is not None


@cached_plan
def system(
    forms: Forms, limits: Limits = PLAIN, room: int | None = None, *, equilibrate: bool = True, **way: Unpack[Way]
) -> Plan | None:
    """Plan of a system, or with one form of an inverse, block by block; None if it goes as a whole."""
    (n, _), (_, columns) = forms[0].matrix, forms[-1].matrix
    if not needed(columns, limits, room):
        return None
    draft = Draft("solve in blocks" if len(forms) > 1 else "inv in blocks")
    source = draft.operand("A", HostArray((n, n)))
    b = draft.operand("B", HostArray((n, columns))) if len(forms) > 1 else ""
    a = upload(draft, source, (n, n), limits, forms[0].transposed)
    made = factors.factor(draft, a, (n, n), limits, equilibrated=equilibrate, **way)
    factors.read_exponents(draft, made)
    factors.read_diagonal(draft, made)
    factors.probe(draft, made, limits)
    return draft.plan({"X": _blocks(draft, made, b, columns, limits, room)})


@cached_plan
def substitution(
    forms: Forms,
    limits: Limits = PLAIN,
    room: int | None = None,
    *,
    transposed: bool = False,
    variant: None = None,
    parameters: Parameters = (),
) -> Plan | None:
    """Plan of the solution with factors of the host, block by block; None if it goes as a whole."""
    (n, _), (_, columns) = forms[0].matrix, forms[1].matrix
    if not needed(columns, limits, room):
        return None
    draft = Draft("lu_solve in blocks")
    exponents = scaling.add_scaled(draft, forms)
    lu = upload(draft, "scaled LU", (n, n), limits, forms[0].transposed)
    records = factors.upload_records(draft, "pivots", steps((n, n)))
    slots = factors.FactorSlots((n, n), lu, records)
    x = _blocks(draft, slots, "scaled B", columns, limits, room, transposed)
    return draft.plan({"X": scaling.add_scaled_back(draft, x, exponents)})


def _blocks(
    draft: Draft,
    made: factors.FactorSlots,
    b: str,
    columns: int,
    limits: Limits,
    room: int | None,
    transposed: bool = False,
) -> str:
    """Add a solution for each block of the columns of B, or of the identity; give the slot of X."""
    n, equilibrated = made.shape[0], bool(made.row_exponents)

    def solution(count: int) -> Plan:
        return factors.solution((n, n), count, limits, transposed=transposed, equilibrated=equilibrated)

    own = [matrix((n, n)), Storage(1, steps((n, n)))] + [Storage(texels(n), 1)] * (2 * equilibrated)
    left = None if room is None else room - sum(storage.nbytes for storage in own)
    given = {name: slot for name, slot in made.results.items() if name != "health"}
    size = columns_at_once((n, columns), limits, left, solution, own[0])
    return in_blocks(draft, b, (n, columns), size, limits, solution(size), **given)
