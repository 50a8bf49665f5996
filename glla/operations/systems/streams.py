"""Systems with more right-hand sides than fit at once: factors stay on the device, blocks of columns are streamed."""

from __future__ import annotations

from typing import Unpack

from glla.operations.elimination import factors, fallback
from glla.operations.elimination.pivot import steps
from glla.operations.layouts.crossing import upload
from glla.operations.product.tiles import columns_at_once, in_blocks
from glla.operations.record import Way
from glla.operations.systems import lu_scaling as scaling
from glla.passes import PLAIN, Draft, Forms, HostArray, Limits, Parameters, Plan, Storage, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

FACTORS, EXPONENTS = ("LU", "pivots"), ("row_exponents", "column_exponents")
"""Factors on the device, and the scaling of A before, as plans of solutions name them."""


def needed(columns: int, limits: Limits, room: int | None) -> bool:
    """Whether right-hand sides go block by block: they are more than a texture holds, or there is a cap on memory."""
    return columns > 2 * limits.texture_size or room is not None


@cached_plan
def system(
    forms: Forms, limits: Limits = PLAIN, room: int | None = None, *, equilibrate: bool = True, **way: Unpack[Way]
) -> Plan | None:
    """Plan of a system, or with one form of an inverse, block by block; None if it goes as a whole."""
    n, columns = forms[-1].matrix
    if not needed(columns, limits, room):
        return None
    draft = Draft("solve in blocks" if len(forms) > 1 else "inv in blocks")
    source = draft.operand("A", HostArray((n, n)))
    b = draft.operand("B", HostArray((n, columns))) if len(forms) > 1 else ""
    made = draft.call("factors", factored(forms, limits, equilibrate=equilibrate, **way), A=source)
    given = {name: made[name] for name in (*FACTORS, *(EXPONENTS if equilibrate else ()))}
    return draft.plan({"X": _blocks(draft, given, b, (n, columns), limits, room)})


@cached_plan
def factored(forms: Forms, limits: Limits = PLAIN, *, equilibrate: bool = True, **way: Unpack[Way]) -> Plan:
    """Plan of the factors that stay on the device, and of the diagnostics by which they are judged."""
    shape, draft = forms[0].matrix, Draft("factors")
    a = upload(draft, draft.operand("A", HostArray(shape)), shape, limits, forms[0].transposed)
    made = factors.factor(draft, a, shape, limits, equilibrated=equilibrate, **way)
    results = {name: slot for name, slot in made.results.items() if name != "health"}
    results |= factors.read_exponents(draft, made)
    results["diagonal"] = factors.read_diagonal(draft, made)
    results["probe_solutions"] = factors.probe(draft, made, limits)
    return draft.plan(results, after=fallback.of_systems(forms, limits, equilibrate))


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
    n, columns = forms[1].matrix
    if not needed(columns, limits, room):
        return None
    draft = Draft("lu_solve in blocks")
    exponents = scaling.add_scaled(draft, forms)
    lu = upload(draft, "scaled LU", (n, n), limits, forms[0].transposed)
    records = factors.upload_records(draft, steps((n, n)))
    x = _blocks(draft, {"LU": lu, "pivots": records}, "scaled B", (n, columns), limits, room, transposed)
    return draft.plan({"X": scaling.add_scaled_back(draft, x, exponents)})


def _blocks(
    draft: Draft,
    given: dict[str, str],
    b: str,
    shape: Shape,
    limits: Limits,
    room: int | None,
    transposed: bool = False,
) -> str:
    """Add a solution for each block of the columns of B, or of the identity; give the slot of X."""
    n, equilibrated = shape[0], len(given) > len(FACTORS)

    def solution(count: int) -> Plan:
        return factors.solution((n, n), count, limits, transposed=transposed, equilibrated=equilibrated)

    own = [matrix((n, n)), Storage(1, steps((n, n)))] + [Storage(texels(n), 1)] * (2 * equilibrated)
    left = None if room is None else room - sum(storage.nbytes for storage in own)
    size = columns_at_once(shape, limits, left, solution, own[0])
    return in_blocks(draft, b, shape, size, limits, solution(size), **given)
