"""Rejected matrices of a batch once more, batched: scaled by powers of two on the host, in the plan of the batch.

    A, B --> scaled --> plan of the stack --> scaled back in float64, and diagnostics
                     of systems, if diagnostics say so: factors of all, and rounding errors of their pivots

A matrix that is not accepted then goes on alone, which takes a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations import acceptance
from glla.operations.acceptance import rounding_errors
from glla.operations.elimination import plu_batches
from glla.operations.host.scaling import Float64, Integers, Scaled, right_sides
from glla.operations.layouts.crossing import laid_out, records_of, texels_of
from glla.operations.record import Batch, Float32
from glla.passes import Draft, Form, Forms, HostArray, Limits, Plan, Storage, Transition, texture
from glla.passes.cache import cached_plan

RETRY, PIVOT_CHECK = "retry of the batch, scaled", "pivot check of the batch"
"""Names of the stages."""

SCALE, BACK, ERRORS = (
    "scale matrices by powers of two",
    "scale matrices back",
    "rounding errors of the pivots of matrices",
)
"""Work of the host, by the words that a plan and a trace have for it."""

SURELY = 2.0
"""A pivot of a batch is accepted if it is above this number times the bound for those of a single matrix,
which may be rounded in another way; else that one decides."""


@np.errstate(all="ignore")
def _scaled(scale: Callable[[Float32], Scaled], storage: Storage, *operands: Float32) -> tuple[Any, ...]:
    """Scale operands; give the texels of a stack, A, B if there is one, e, f, exponents of X's columns, and `lost`."""
    wide, e, f = scale(operands[0])
    made, lost = [wide.astype(np.float32)], np.zeros(len(wide), dtype=bool)
    sizes = -np.swapaxes(e, -1, -2)  # of an inverse
    for b in operands[1:]:
        rhs, sizes = right_sides(b, e)
        made.append(rhs.astype(np.float32))
        lost = ((rhs != 0) & (np.abs(made[1]) < acceptance.NORMAL)).any(axis=(-2, -1))
    return (*laid_out(storage, *made), *made, e, np.swapaxes(f, -1, -2), sizes, lost)


@np.errstate(all="ignore")
def _back(batch: Batch, forms: Forms, texels: Float32, f: Integers, sizes: Integers) -> tuple[Float64, Float32]:
    """Split records, and scale the matrices back."""
    count, length = forms[0].count, batch.layout.length(forms)
    stride = length + -length % texels.shape[-1]  # a record begins with a texel
    records = texels.reshape(-1)[: count * stride].reshape(count, stride)[:, :length]
    matrices, diagnostics = batch.layout.parted(forms, records)
    if matrices.size:
        return np.ldexp(matrices.astype(np.float64), sizes - f), diagnostics
    return matrices.astype(np.float64), diagnostics


# -- plans ------------------------------------------------------------------------------------------------------------


@cached_plan
def with_retry(batch: Batch, forms: Forms, limits: Limits, **options: Any) -> Plan:
    """Plan of a batch, with its fallbacks: for all rejected matrices at once, and for a single one."""
    made = batch.records_plan(forms, limits, **options)
    if batch.filter.scaled is None or forms[0].count == 1:
        return made
    when = "matrices are rejected: all of them in one batch"
    return replace(
        made, after=(Transition(when, RETRY, partial(scaled_plan, batch, forms, limits, **options)), *made.after)
    )


@cached_plan
def scaled_plan(batch: Batch, forms: Forms, limits: Limits, **options: Any) -> Plan:
    """Plan of as many matrices once more.

    Operands ``A`` and ``B``, stacks of the host. Results ``matrices``, in float64, and ``diagnostics``, as
    `Layout.parted` has them; ``scaled A`` and ``scaled B``; the exponents ``e`` and ``f``; ``lost``: part of B is
    lost.
    """
    assert batch.filter.scaled is not None
    inner = batch.records_plan(forms, limits, **options)
    count, n, lines = forms[0].count, forms[0].shape[-1], (batch.layout.lines, batch.layout.order(forms))
    draft = Draft(RETRY)
    names = "AB"[: len(forms)]
    given = tuple(draft.operand(name, HostArray(form.shape)) for name, form in zip(names, forms, strict=True))
    storage = texture(inner.slots["raw"])
    shapes = {f"scaled {name}": form.shape for name, form in zip(names, forms, strict=True)}
    shapes |= {"e": (count, n, 1), "f": (count, n, 1), "sizes": (count, 1, forms[-1].shape[-1]), "lost": (count,)}
    scale = partial(batch.filter.scaled, **options)
    made = draft.host(SCALE, partial(_scaled, scale, storage), given, {"raw": texels_of(storage), **shapes})
    read = records_of(draft, "stack", inner, made.pop("raw"))
    shapes = {"matrices": (count, *batch.layout.matrix(forms)), "diagnostics": (count, *lines)}
    results = draft.host(BACK, partial(_back, batch, forms), (read, made["f"], made["sizes"]), shapes)
    after = (Transition("a pivot is small, or an inverse large", PIVOT_CHECK, partial(pivot_check, forms[0], limits)),)
    return draft.plan({**results, **made}, after=after if batch.filter.kind == "system" else ())


@cached_plan
def pivot_check(form: Form, limits: Limits) -> Plan:
    """Plan of the pivot check of a batch of scaled matrices, ``scaled A``; result ``accepted``: which are accepted."""
    inner = plu_batches.factor((form,), limits)
    storage, count = texture(inner.slots["raw"]), form.count
    draft = Draft(PIVOT_CHECK)
    a = draft.operand("scaled A", HostArray(form.shape))
    (raw,) = draft.host("lay matrices out", partial(laid_out, storage), (a,), {"raw": texels_of(storage)})
    read, work = records_of(draft, "factors", inner, raw), 4 * count * form.shape[-1] ** 3
    return draft.plan(draft.host(ERRORS, partial(_accepted, form), (read,), {"accepted": (count,)}, flops=work))


@np.errstate(all="ignore")
def _accepted(form: Form, texels: Float32) -> tuple[NDArray[np.bool_]]:
    """Which factors are accepted: entries did not grow, and every pivot is well above its rounding error."""
    count, n = form.count, form.shape[-1]
    rows = texels.reshape(-1)[: count * n * (n + 3)].reshape(count, n + 3, n)  # of the packed factors, then three lines
    lu, u, largest = rows[:, :n], rows[:, n], rows[:, n + 1]
    accepted = np.isfinite(u).all(axis=1) & (np.max(largest, axis=1) <= acceptance.allowed_growth(n)) & u.all(axis=1)
    errors = rounding_errors(lu[accepted], np.arange(n))
    accepted[accepted] = (np.abs(u[accepted]) > SURELY * acceptance.SINGULAR * errors).all(axis=1)
    return (accepted,)


def most(batch: Batch, forms: Forms, limits: Limits) -> int:
    """Largest number of rejected matrices in one plan."""
    at_once = batch.most(forms, limits)
    return min(at_once, plu_batches.most_factors(forms[:1], limits)) if batch.filter.kind == "system" else at_once
