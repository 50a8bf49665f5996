"""Eigenvalues of a symmetric matrix, in ascending order, without vectors.

    A --> symmetric, scaled --> tridiagonal form T --> bisection, a fragment for each eigenvalue --> w scaled back

Errors: about sqrt(n) u norm(A), of the form; the bisection adds at most 2^-26 norm(A).
"""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np

from glla.operations.layouts.crossing import bring_in, read_texels
from glla.operations.layouts.shapes import square
from glla.operations.record import Batch, Choice, Chosen, Float32, Function, Layout, Operation, Trial, Way, builder
from glla.operations.spectral import eigh, small, sturm, symmetric, tridiagonal_form
from glla.operations.spectral.certificate import MARKED
from glla.operations.spectral.symmetric import Subset
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, Variant, matrix, resident
from glla.passes.cache import cached_plan

VARIANTS = {
    "bisection": Variant(
        "to tridiagonal form by reflectors, then 28 halvings of an interval for each eigenvalue, by Sturm counts",
        'Barth, Martin and Wilkinson, "Calculation of the eigenvalues of a symmetric tridiagonal matrix by the method '
        'of bisection" (1967); LAPACK stebz',
    ),
}


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the only variant."""
    return "bisection", ()


def flops(forms: Forms) -> int:
    """Additions and multiplications: 4/3 n^3 for the form, 5 n for each halving of an interval."""
    n = forms[0].shape[-1]
    return forms[0].count * (4 * n**3 // 3 + 5 * sturm.HALVINGS * n * n)


@builder("eigvalsh", VARIANTS, choose)
def plan(forms: Forms, limits: Limits, chosen: Chosen, lower: bool = True, subset: Subset | None = None) -> Plan:
    """Plan of eigenvalues of a symmetric n x n matrix on the device, n > 0.

    Operand ``A``. Results ``w``, an array of numbers, ascending, and ``largest``, the largest entry of A, a texel. As
    many passes for the form as `eigh` takes, 2 to 29 for the values, and 5 beside.

    `lower`: of A the lower triangle is read, else the upper one. `subset`: the eigenvalues that are given.
    """
    n, _ = forms[0].matrix
    symmetric.must_fit("eigvalsh", n, limits)
    draft = Draft(chosen.title)
    a = symmetric.add_scaled(draft, draft.operand("A", matrix((n, n))), n, lower)
    t = tridiagonal_form.add(draft, a.matrix, n, limits)[1]
    found = subset or Subset(0, n)
    values = draft.call("bisection", sturm.plan(n, found, limits), T=t)["L"]
    w = symmetric.add_values(draft, values, a.largest, found.count, Subset(0, found.count), limits)
    return draft.plan({"w": w, "largest": a.largest}, flops(forms))


@cached_plan
def call_plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    lower: bool = True,
    watched: bool = True,
    subset: Subset | None = None,
    **way: Unpack[Way],
) -> Plan:
    """Plan of a call: the eigenvalues. If they stay on the device and are `watched`, they and A's largest are read."""
    (form,) = forms
    symmetric.must_fit("eigvalsh", form.matrix[0], limits)
    draft = Draft("eigvalsh")
    turned = form.resident and form.transposed  # its lower triangle is the upper one of what is stored
    a = bring_in(draft, "A", form, limits, as_stored=True)
    device_plan = plan(resident(form.matrix), limits, **way, lower=lower != turned, subset=subset)
    found = draft.call("values", device_plan, A=a)
    if not form.resident:
        return draft.plan({"w": read_texels(draft, found["w"], "w")})
    results = {"w": found["w"]}
    if watched:
        results["largest_A"] = read_texels(draft, found["largest"], "largest_A")
        results["largest_w"] = read_texels(draft, found["w"], "largest_w")
    return draft.plan(results)


def record(forms: Forms) -> tuple[int, int]:
    """Rows and columns of a record of a batch: those of `eigh`, but the values alone of small matrices."""
    return small.record(forms, vectors=not small.is_small(forms))


def on_host(a: Float32) -> Float32:
    """Do it on the CPU, by LAPACK."""
    return np.linalg.eigvalsh(a)


EIGVALSH = Operation(
    name="eigvalsh",
    formula="A V = V diag(w)",
    operands=("A",),
    results=("w",),
    check=partial(square, "eigvalsh"),
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=eigh.example,
    settle=eigh.settle,
    batch=Batch(
        eigh.most_batched,
        partial(eigh.batched, vectors=False),
        Layout(record, lower_half=True, results=lambda known: {"w": eigh.parts_of_batch(known)["w"]}),
        MARKED,
    ),
    trial=Trial(values=lambda forms, results: results["w"].reshape(-1)[: forms[0].shape[-1]]),
    variants=VARIANTS,
    choose=choose,
    function=Function(host="glla.operations.spectral.eigvalsh:on_host"),
    thesis="bisection",
)
