"""Eigenvalues and eigenvectors of a symmetric matrix: A V = V diag(w), V^T V = I, w ascending.

    A --> symmetric, scaled --> tridiagonal form --> divide and conquer --> V by the reflectors --> w, V scaled back
                                                                                 |
                                                                                 +--> certificate, a texel that is read

Errors, certified by four random vectors and at most 10 of the 30 n u that are promised: norm(A V - V diag(w)) / norm(A)
and norm(V^T V - I). Then w is off by at most as much of norm(A), about sqrt(n) u where it was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from glla.operations.acceptance import Done, Values, Verdict
from glla.operations.layouts.crossing import bring_in, read_back, read_texels
from glla.operations.layouts.shapes import square
from glla.operations.record import Batch, Choice, Chosen, Float32, Function, Layout, Operation, Trial, Way, builder
from glla.operations.spectral import back, certificate, jacobi, secular, small, symmetric, tridiagonal_form
from glla.operations.spectral.certificate import AGAIN, EXCEEDS, MARKED
from glla.operations.spectral.symmetric import Subset
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Transition, Variant, matrix, resident
from glla.passes.cache import cached_plan

JACOBI = (
    'Jacobi (1846); Rutishauser, "The Jacobi method for real symmetric matrices" (1966); Brent and Luk, "The solution '
    'of singular-value and symmetric eigenvalue problems on multiprocessor arrays" (1985); Demmel and Veselić, '
    '"Jacobi\'s method is more accurate than QR" (1992)'
)

VARIANTS = {
    "tridiagonal": Variant(
        "to tridiagonal form by reflectors, then divide and conquer, nine passes for all blocks of a level",
        'Householder (1958); Cuppen, "A divide and conquer method for the symmetric tridiagonal eigenproblem" (1981); '
        'Li, "Solving secular equations stably and efficiently" (1993); Gu and Eisenstat, "A divide-and-conquer '
        'algorithm for the symmetric tridiagonal eigenproblem" (1995); LAPACK syevd',
    ),
    "jacobi": Variant(
        "rotations of n / 2 pairs of rows and columns, one pass a step, until A is diagonal: small values of scaled "
        "definite matrices to relative accuracy; SWEEPS, if not 0, are written out",
        JACOBI,
        parameters={"SWEEPS": (0, *range(1, 16))},
    ),
    "jacobi_angles": Variant(
        "as jacobi, with a pass of its own for the rotations: fewer roots, twice the passes", JACOBI
    ),
}

WORDS = "eigenvectors", "an eigenvalue", "numpy.linalg.eigh"

ALARM = Transition(f"{EXCEEDS} again", error="ConvergenceError: names both; use numpy.linalg.eigh")


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: the tuned one, else `tridiagonal`."""
    n, _ = forms[0].matrix
    tuned = limits.tuning("eigh", n, n)
    return ("tridiagonal", ()) if tuned is None else (tuned.variant, tuned.parameters)


def flops(forms: Forms) -> int:
    """Additions and multiplications: 4/3 n^3 for the form, as many for T, 2 n^3 for the way back."""
    n = forms[0].shape[-1]
    return forms[0].count * (14 * n**3 // 3 + n)


@builder("eigh", VARIANTS, choose)
def plan(
    forms: Forms,
    limits: Limits,
    chosen: Chosen,
    lower: bool = True,
    certified: bool = False,
    subset: Subset | None = None,
) -> Plan:
    """Plan of eigenvalues and eigenvectors of a symmetric n x n matrix on the device, n > 0.

    Operand ``A``. Results ``w``, an array of numbers, ascending, and ``V``, packed; `certified` also ``certificate``
    and ``largest``, a texel each. ``tridiagonal``: 2 (n - 2) passes for the form, from order 129 on, on a GPU from
    257 on, 3 (n - 1) and 5 for each panel; 9 ceil(log2 n) + 3 for T, n / 3 or less for the way back, and 9 and more
    beside; the certificate takes 3.

    `lower`: of A the lower triangle is read, else the upper one. `subset`: the pairs that are given.
    """
    n, _ = forms[0].matrix
    chosen_pairs = subset or Subset(0, n)
    symmetric.must_fit("eigh", n, limits)
    draft = Draft(chosen.title)
    a = symmetric.add_scaled(draft, draft.operand("A", matrix((n, n))), n, lower)
    values, vectors = SOLVERS[chosen.variant](draft, a.matrix, n, limits, subset, **chosen.values)
    results = {"w": symmetric.add_values(draft, values, a.largest, n, chosen_pairs, limits)}
    results["V"] = draft.call("signs", symmetric.signed(n, chosen_pairs.count), V=vectors, largest=a.largest)["V"]
    if certified:
        inputs = {"A": a.matrix, "V": results["V"], "L": values}
        results |= draft.call("certificate", certificate.plan(n, chosen_pairs), **inputs) | {"largest": a.largest}
    return draft.plan(results, flops(forms))


def by_tridiagonal_form(draft: Draft, a: str, n: int, limits: Limits, subset: Subset | None = None) -> tuple[str, str]:
    """Add the passes of the variant `tridiagonal`; give the slots of the values, a line of texels, and of V."""
    h, t = tridiagonal_form.add(draft, a, n, limits)
    found = draft.call("eigenvectors of T", secular.plan(n, limits, subset), T=t)
    if n < 3:
        return found["L"], found["Q"]
    columns = n if subset is None else subset.count
    v = draft.call("reflectors", tridiagonal_form.shifted(n), H=h)["V"]
    return found["L"], draft.call("V", back.plan((n, n - 1), columns, limits), H=v, B=found["Q"])["B"]


def by_jacobi(
    draft: Draft,
    a: str,
    n: int,
    limits: Limits,
    subset: Subset | None = None,
    *,
    angles: bool = False,
    SWEEPS: int = 0,  # a parameter
) -> tuple[str, str]:
    """Add the passes of the variants `jacobi` and, with `angles`, `jacobi_angles`; give likewise."""
    found = draft.call("jacobi", jacobi.plan(n, angles, SWEEPS, subset), A=a)
    return found["L"], found["V"]


SOLVERS: dict[str, Callable[..., tuple[str, str]]] = {
    "tridiagonal": by_tridiagonal_form,
    "jacobi": by_jacobi,
    "jacobi_angles": partial(by_jacobi, angles=True),
}
"""Functions (draft, slot of the scaled symmetric matrix, n, limits, subset, **parameters of the variant) -> slots of
all values, a line of texels (lambda_i, ...) in ascending order, and of the vectors of the subset, packed."""


# -- plans of calls ---------------------------------------------------------------------------------------------------


@cached_plan
def call_plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    lower: bool = True,
    certified: bool = True,
    subset: Subset | None = None,
    **way: Unpack[Way],
) -> Plan:
    """Plan of a call: values and vectors, and the certificate, two texels that are read, if they are `certified`."""
    (form,) = forms
    symmetric.must_fit("eigh", form.matrix[0], limits)
    draft = Draft("eigh")
    turned = form.resident and form.transposed  # its lower triangle is the upper one of what is stored
    a = bring_in(draft, "A", form, limits, as_stored=True)
    device_plan = plan(resident(form.matrix), limits, **way, lower=lower != turned, certified=certified, subset=subset)
    found = draft.call("pairs", device_plan, A=a)
    results = {"V": found["V"], "w": found["w"]}
    if not form.resident:
        shape = (form.matrix[0], form.matrix[1] if subset is None else subset.count)
        results = {
            "V": read_back(draft, found["V"], shape, limits, "V"),
            "w": read_texels(draft, found["w"], "w"),
        }
    if certified:
        results["certificate"] = read_texels(draft, found["certificate"], "certificate")
        results["largest_A"] = read_texels(draft, found["largest"], "largest_A")
    other = "tridiagonal" if "jacobi" in (way.get("variant") or choose(forms, limits)[0]) else "jacobi"
    again = partial(call_plan, forms, limits, lower=lower, subset=subset, variant=other)
    return draft.plan(results, after=(Transition(EXCEEDS, AGAIN, again), ALARM))


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Judge the certificate. `Done` has the n values of ``w`` where they were read as texels."""
    n, subset = forms[0].shape[-1], values.get("subset")
    found = certificate.verdict(stage, values, n, WORDS)
    if found is not None:
        return found
    w, count = values["w"], n if subset is None else subset.count
    return Done({"w": w.reshape(-1)[:count]} if isinstance(w, np.ndarray) else {})


# -- batches ----------------------------------------------------------------------------------------------------------


def most_batched(forms: Forms, limits: Limits) -> int:
    """Most matrices of a stack that one plan may decompose at once; 0: they are looped, as a single one is done."""
    if not forms[0].stack:
        return 0
    return small.most(forms, limits) if small.is_small(forms) else jacobi.most(forms, limits)


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN, *, lower: bool = True, vectors: bool = True) -> Plan:
    """Plan of a batch, of whose matrices the lower triangles are read: a fragment for each, or interleaved."""
    few = small.is_small(forms)
    made = small.plan(forms, limits, vectors=vectors) if few else jacobi.batched(forms, limits)
    again = partial(call_plan, (Form(forms[0].matrix),), limits, variant="tridiagonal")
    return replace(made, after=(Transition(EXCEEDS, AGAIN, again), ALARM))


def parts_of_batch(known: Mapping[str, Any]) -> dict[str, Any]:
    """Split records into values and vectors; those on the device by views."""
    a = known["matrices"]
    parts: dict[str, Any] = {"V": (slice(None), slice(1, None)), "w": (slice(None), 0)}
    return {name: a[at] if isinstance(a, np.ndarray) else a.seen(a.view.sliced(at)) for name, at in parts.items()}


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A symmetric matrix with normal entries."""
    b = rng.standard_normal((n, n))
    return (((b + b.T) / 2).astype(np.float32),)


def on_host(a: Float32) -> tuple[Float32, Float32]:
    """Do it on the CPU, by LAPACK, with the signs of the passes."""
    w, v = np.linalg.eigh(a)
    largest = np.take_along_axis(v, np.abs(v).argmax(axis=-2, keepdims=True), -2)
    return w, v * np.where(largest < 0, np.float32(-1), np.float32(1))


EIGH = Operation(
    name="eigh",
    formula="A V = V diag(w)",
    operands=("A",),
    results=("w", "V"),
    check=partial(square, "eigh"),
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    settle=settle,
    trial=Trial(values=lambda forms, results: (results["w"].reshape(-1)[: forms[0].shape[-1]], results["V"])),
    batch=Batch(
        most_batched,
        batched,
        Layout(small.record, lower_half=True, results=parts_of_batch),
        MARKED,
        variant="jacobi",
    ),
    variants=VARIANTS,
    choose=choose,
    function=Function(host="glla.operations.spectral.eigh:on_host", parts=2),
    thesis="tridiagonal",
)
