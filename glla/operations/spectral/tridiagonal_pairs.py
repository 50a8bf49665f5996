"""Eigenvalues and eigenvectors of a symmetric tridiagonal matrix, given by its diagonals: divide and conquer alone.

d, e --> T, a texel a row, scaled --> divide and conquer, or bisection for values alone --> w, V scaled back
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from glla.errors import ShapeError
from glla.operations.acceptance import Done, Values, Verdict
from glla.operations.layouts.crossing import bring_in, read_back, read_texels
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Trial, Way, builder
from glla.operations.reduce import max_magnitude
from glla.operations.spectral import certificate, secular, sturm, symmetric
from glla.operations.spectral.symmetric import Subset
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, Storage, Transition, Variant, matrix, resident
from glla.passes.cache import cached_plan

VARIANTS = {
    "divide_and_conquer": Variant(
        "nine passes for all blocks of a level; values alone by bisection",
        "Gu and Eisenstat (1995); Barth, Martin and Wilkinson (1967); LAPACK stevd and stebz",
    ),
}

WORDS = "eigenvectors", "an eigenvalue", "scipy.linalg.eigh_tridiagonal"

ALARM = Transition(certificate.EXCEEDS, error=f"ConvergenceError: names both; use {WORDS[-1]}")


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the only variant."""
    return "divide_and_conquer", ()


def check(forms: Forms) -> None:
    """Raise ShapeError unless d and e are columns, e one entry shorter; that of a single entry has one, of no use."""
    (n, wide), (beside, other) = (form.matrix for form in forms)
    if (wide, other) != (1, 1) or beside != max(n - 1, 1):
        shapes = f"{forms[0].shape} and {forms[1].shape}"
        raise ShapeError(f"tridiagonal_pairs: d must be a column, and e one with an entry less, got {shapes}")


def flops(forms: Forms) -> int:
    """Additions and multiplications: 4/3 n^3."""
    n = forms[0].shape[0]
    return 4 * n**3 // 3 + 9 * n


@builder("tridiagonal_pairs", VARIANTS, choose)
def plan(
    forms: Forms,
    limits: Limits,
    chosen: Chosen,
    vectors: bool = True,
    certified: bool = False,
    subset: Subset | None = None,
) -> Plan:
    """Plan of eigenvalues, and `vectors`, of T of order n > 0 on the device.

    Operands ``d`` and ``e``, packed columns. Results ``w``, an array of numbers, ascending, ``V``, packed, and
    ``largest``, the largest entry of T, a texel, and ``certificate``, if `certified`. 9 ceil(log2 n) + 9 passes and
    more; without vectors 6 to 35; the certificate takes 3.

    `subset`: the pairs that are given.
    """
    n, found = forms[0].matrix[0], subset or Subset(0, forms[0].matrix[0])
    symmetric.must_fit("eigh_tridiagonal", n, limits)
    draft, shape = Draft(chosen.title), (2, 2 * n)  # T seen as a packed matrix
    inputs = {name: draft.operand(name, matrix(form.matrix)) for name, form in zip("de", forms, strict=True)}
    given = draft.call("T", bands(n), **inputs)["T"]
    largest = draft.call("largest", max_magnitude(shape), A=given)["max"]
    t = draft.call("scaled", symmetric.scaled(shape), A=given, largest=largest)["scaled"]
    results = {"largest": largest}
    if vectors:
        made = draft.call("pairs", secular.plan(n, limits, subset), T=t)
        signed = symmetric.signed(n, found.count)
        results["V"] = draft.call("signs", signed, V=made["Q"], largest=largest)["V"]
        results["w"] = symmetric.add_values(draft, made["L"], largest, n, found, limits)
        if certified:
            judge, inputs = certificate.plan(n, found, tridiagonal=True), {"V": results["V"], "L": made["L"]}
            results |= draft.call("certificate", judge, T=t, **inputs)
    else:
        values = draft.call("bisection", sturm.plan(n, found, limits), T=t)["L"]
        whole = Subset(0, found.count)
        results["w"] = symmetric.add_values(draft, values, largest, found.count, whole, limits)
    return draft.plan(results, flops(forms))


@cached_plan
def bands(n: int) -> Plan:
    """Plan of T, a line of texels (d_i, e_i, 0, 0), from its diagonals ``d`` and ``e``. One pass."""
    draft = Draft("bands")
    inputs = {"d": draft.operand("d", matrix((n, 1))), "e": draft.operand("e", matrix((max(n - 1, 1), 1)))}
    draft.draw("spectral/secular/bands", inputs, draft.slot("T", Storage(1, n)), {"n": n})
    return draft.plan({"T": "T"})


@cached_plan
def call_plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    vectors: bool = True,
    certified: bool = True,
    subset: Subset | None = None,
    **way: Unpack[Way],
) -> Plan:
    """Plan of a call. If `certified`, the certificate and T's largest entry are read; w, too, if it stays there."""
    n, _ = forms[0].matrix
    draft = Draft("tridiagonal_pairs")
    given = {name: bring_in(draft, name, form, limits) for name, form in zip("de", forms, strict=True)}
    there, options = resident(*(form.matrix for form in forms)), {"vectors": vectors, "certified": certified}
    found = draft.call("pairs", plan(there, limits, **way, **options, subset=subset), **given)
    results: dict[str, str] = {name: found[name] for name in ("V", "w") if name in found}
    if not any(form.resident for form in forms):
        results = {"w": read_texels(draft, found["w"], "w")}
        if vectors:
            shape = (n, n if subset is None else subset.count)
            results["V"] = read_back(draft, found["V"], shape, limits, "V")
    elif certified:
        results["largest_w"] = read_texels(draft, found["w"], "largest_w")
    if certified:
        results["largest_A"] = results["largest_d"] = read_texels(draft, found["largest"], "largest_A")
    if certified and vectors:
        results["certificate"] = read_texels(draft, found["certificate"], "certificate")
    return draft.plan(results, after=(ALARM,) if vectors else ())


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Judge the certificate."""
    return certificate.verdict(stage, values, forms[0].shape[0], WORDS, repeated=False) or Done()


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """Diagonals with normal entries."""
    d, e = rng.standard_normal((n, 1)), rng.standard_normal((max(n - 1, 1), 1))
    return d.astype(np.float32), e.astype(np.float32)


TRIDIAGONAL_PAIRS = Operation(
    name="tridiagonal_pairs",
    formula="T V = V diag(w)",
    operands=("d", "e"),
    results=("w", "V"),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    settle=settle,
    trial=Trial(values=lambda forms, results: (results["w"].reshape(-1)[: forms[0].shape[0]], results["V"])),
    variants=VARIANTS,
    choose=choose,
    function=Function(vectors={"d": 1, "e": 1}, public=False),
    thesis="divide_and_conquer",
)
"""The operation of `glla.eigh_tridiagonal`."""
