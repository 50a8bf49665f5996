"""Singular values and vectors: A = U diag(s) V^T, s descending.

    A, or A^T where it is wide --> scaled --> QR of a tall one --> bidiagonal form, divide and conquer of order 2n
      --> the reflectors of QR applied to U --> U, V with signs, s scaled back

Errors: norm(A - U diag(s) V^T) / norm(A), norm(U^T U - I) and norm(V^T V - I) were up to 3 n u, and are below 30 n u; s
is off by less than 30 sqrt(n) u s_1.
"""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np

from glla.errors import LimitError, NonFiniteError
from glla.operations.acceptance import Done, Values, Verdict
from glla.operations.batches.stack import SINGLE
from glla.operations.layouts import packing
from glla.operations.layouts.crossing import bring_in, read_back, read_texels
from glla.operations.orthogonal import qr
from glla.operations.orthogonal.qr_pairs import upper
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Trial, Way, builder
from glla.operations.reduce import max_magnitude
from glla.operations.spectral import back, bidiagonal_form, hestenes, svd_batches, symmetric
from glla.operations.spectral.bidiagonal_form import transposed
from glla.operations.spectral.certificate import AGAIN, EXCEEDS, verdict
from glla.operations.spectral.svd_batches import sides
from glla.operations.spectral.symmetric import Subset
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, Storage, Transition, Variant, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

VARIANTS = {
    "bidiagonal": Variant(
        "to bidiagonal form by reflectors from both sides, divide and conquer of twice the order, QR of its halves",
        'Golub and Kahan, "Calculating the singular values and pseudo-inverse of a matrix" (1965); Gu and Eisenstat '
        "(1995); LAPACK gesdd",
    ),
    "one_sided": Variant(
        "columns turned by pairs until they are orthogonal, after QR of the sorted columns: small values of matrices "
        "with scaled columns to relative accuracy",
        'Hestenes, "Inversion of matrices by biorthogonalization and related results" (1958); Drmač and Veselić, "New '
        'fast and accurate Jacobi SVD algorithm" (2008); LAPACK gejsv',
    ),
}


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: the tuned one, else `bidiagonal`."""
    tuned = limits.tuning("svd", *forms[0].matrix)
    return ("bidiagonal", ()) if tuned is None else (tuned.variant, tuned.parameters)


def check(forms: Forms) -> None:
    """Accept matrices of every shape."""


def flops(forms: Forms) -> int:
    """Additions and multiplications: 12 k^3 of a square matrix, k = min(m, n), 6 max(m, n) k^2 for QR and its Q."""
    m, n = forms[0].matrix
    k = min(m, n)
    return forms[0].count * (12 * k**3 + k + (6 * max(m, n) * k * k if m != n else 0))


@builder("svd", VARIANTS, choose)
def plan(
    forms: Forms,
    limits: Limits,
    chosen: Chosen,
    full: bool = False,
    hermitian: bool = False,
    vectors: bool = True,
    certified: bool = False,
) -> Plan:
    """Plan of the singular values and vectors of an m x n matrix on the device, m and n > 0.

    Operand ``A``. Results ``U``, ``S``, an array of min(m, n) numbers, descending, and ``Vh``, packed but for S; the
    largest entry of each column of U is positive. About 11 k passes, k = min(m, n), and 5 k more unless A is square.

    `full`: U and Vh are square, else they have k columns and rows. `hermitian`: the lower triangle of A alone is read.
    `vectors`: else S is the only result. `certified`: ``certificate`` and ``largest``, a texel each, are results, too.
    """
    shape = forms[0].matrix
    wide = shape[0] < shape[1]
    (rows, k), draft = (max(shape), min(shape)), Draft(chosen.title)
    a = draft.operand("A", matrix(shape))
    if hermitian:
        a = draft.call("mirrored", packing.mirrored(k), A=a)["M"]
    if wide:
        a = draft.call("transpose A", transposed((rows, k)), A=a)["result"]
    largest = draft.call("largest", max_magnitude((rows, k)), A=a)["max"]
    scaled = a = draft.call("scaled", symmetric.scaled((rows, k)), A=a, largest=largest)["scaled"]
    found = None if rows == k else qr.factored(draft, a, (rows, k), limits, variant="householder")
    if found is not None:
        given = {"H": found.packed, "column_exponents": found.exponents}
        a = draft.call("R", upper((rows, k), (k, k)), **given)["R"]
    parts = draft.call("singular values", SOLVERS[chosen.variant](k, limits, vectors), A=a)
    results = {"S": symmetric.add_values(draft, parts["S"], largest, k, Subset(0, k), limits)}
    if certified:
        results["largest"] = largest
    if not vectors:
        return draft.plan(results, flops(forms))
    u, v, columns = parts["U"], parts["V"], rows if full else k
    if wide:  # the columns of V have the signs, and those of U, which is not yet full, follow
        both = draft.call("signs", signed((k, k), (k, k)), first=v, second=u, largest=largest)
        v, u = both["first"], both["second"]
    if found is not None:
        start = draft.call("U beside I", bordered(k, (rows, columns)), U=u)["result"]
        u = draft.call("U", back.plan((rows, k), columns, limits), H=found.packed, B=start)["B"]
    if not wide:
        both = draft.call("signs", signed((rows, columns), (k, k)), first=u, second=v, largest=largest)
        u, v = both["first"], both["second"]
    if certified:
        inputs = {"A": scaled, "U": u, "V": v, "S": parts["S"]}
        results |= draft.call("certificate", certificate((rows, k), columns), **inputs)
    left, right = (v, u) if wide else (u, v)
    _, _, across = sides(shape, full)
    results["U"], results["Vh"] = left, draft.call("transpose V", transposed(across), A=right)["result"]
    return draft.plan(results, flops(forms))


MOST = float(np.finfo(np.float32).max)
"""Largest number; no singular value exceeds sqrt(m n) max |a_ij|."""

WORDS = "singular vectors", "a singular value", "numpy.linalg.svd"

ALARM = Transition(f"{EXCEEDS} again", error="ConvergenceError: names both; use numpy.linalg.svd")

SOLVERS = {"bidiagonal": bidiagonal_form.plan, "one_sided": hestenes.plan}
"""Functions (order, limits, whether vectors are asked for) -> plan of a square matrix whose entries are near 1: operand
``A``, results ``S``, a line of texels (s_i, ...), descending, and ``U`` and ``V``."""


@cached_plan
def bordered(k: int, shape: Shape) -> Plan:
    """Plan of a square matrix of order k beside the identity: operand ``U``, result ``result``. One pass."""
    draft = Draft("bordered")
    u, result = draft.operand("U", matrix((k, k))), draft.slot("result", matrix(shape))
    draft.draw("spectral/svd/bordered", {"U": u}, result, {"n": k, "shape": shape})
    return draft.plan({"result": result})


@cached_plan
def signed(first: Shape, second: Shape) -> Plan:
    """Plan of two matrices with the signs that make the largest entry of each column of the first one positive.

    Operands ``first``, ``second``, with as many columns or fewer, and ``largest``, the largest entry of A: if it is not
    finite, both are NaN. Results ``first`` and ``second``. Three passes.
    """
    draft, shapes = Draft("signed"), (first, second)
    slots = [draft.operand(name, matrix(shape)) for name, shape in zip(("first", "second"), shapes, strict=True)]
    inputs = {"V": slots[0], "largest": draft.operand("largest", Storage(1, 1))}
    signs = draft.slot("signs", Storage(1, texels(first[1])))
    draft.draw("spectral/eigh/signs", inputs, signs, {"height": texels(first[0])})
    made = {slot: draft.slot(f"signed {slot}", matrix(shape)) for slot, shape in zip(slots, shapes, strict=True)}
    for slot, result in made.items():
        draft.draw("spectral/eigh/signed", {"V": slot, "signs": signs}, result)
    return draft.plan(made)


@cached_plan
def certificate(shape: Shape, columns: int) -> Plan:
    """Plan of the certificate of A V = U diag(s), see `svd_batches.add_certificate`: result ``certificate``.

    Operands ``A``, of this shape with as many rows as columns or more, ``U`` with `columns` of its own, ``V`` and
    ``S``. Five passes.
    """
    (m, n), draft = shape, Draft("certificate")
    sizes = {"A": matrix(shape), "U": matrix((m, columns)), "V": matrix((n, n)), "S": Storage(1, n)}
    inputs = {name: draft.operand(name, size) for name, size in sizes.items()}
    return draft.plan({"certificate": svd_batches.add_certificate(draft, inputs, shape, SINGLE)}, 24 * m * n)


def must_fit(shape: Shape, limits: Limits) -> None:
    """Raise LimitError where a line of texels, one for each row and column, does not fit a texture."""
    most, lines = limits.texture_size, max(sum(shape), 2 * min(shape))
    if lines > most:
        raise LimitError(
            f"svd: A must have {most} rows and columns at most, both added, on this device, got shape {shape}; of a "
            "tall or wide one full_matrices=False takes more",
            lines,
            most,
        )


# -- plans of calls ---------------------------------------------------------------------------------------------------


@cached_plan
def call_plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    mode: str = "reduced",
    hermitian: bool = False,
    certified: bool = True,
    **way: Unpack[Way],
) -> Plan:
    """Plan of a call: the factors, and their read-back where the matrix came from the host. `mode`: of `MODES`."""
    (form,) = forms
    full, vectors = mode == "complete", mode != "values"
    must_fit(form.matrix, limits)
    draft = Draft("svd")
    a = bring_in(draft, "A", form, limits)
    options = {"full": full, "hermitian": hermitian, "vectors": vectors, "certified": certified}
    found = draft.call("factors", plan(resident(form.matrix), limits, **way, **options), A=a)
    results = {name: slot for name, slot in found.items() if name in SVD.results}
    left, _, right = sides(form.matrix, full)
    if not form.resident:
        sizes = {"U": left, "Vh": right} if vectors else {}
        results = {name: read_back(draft, found[name], size, limits, name) for name, size in sizes.items()}
        results["S"] = read_texels(draft, found["S"], "S_read")
    for name, told in (("certificate", "certificate"), ("largest", "largest_A")):
        if name in found:
            results[told] = read_texels(draft, found[name], told)
    other = "bidiagonal" if (way.get("variant") or choose(forms, limits)[0]) == "one_sided" else "one_sided"
    again = partial(call_plan, forms, limits, mode=mode, hermitian=hermitian, variant=other)
    return draft.plan(results, after=(Transition(EXCEEDS, AGAIN, again), ALARM) if vectors else ())


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Judge the certificate. `Done` has the values of ``S`` where they were read as texels."""
    m, n = forms[0].matrix
    bad = verdict(stage, values, max(m, n), WORDS)
    if bad is not None:
        return bad
    s = values["S"]
    done = Done({"S": s.reshape(-1)[: min(m, n)]} if isinstance(s, np.ndarray) else {})
    far = "largest_A" in values and float(values["largest_A"].reshape(-1)[0]) > MOST / (m * n) ** 0.5
    if far and not np.isfinite(np.asarray(s)).all():
        return NonFiniteError(
            f"{values['function']}: a singular value{values['which']} does not fit float32; divide A by a power of two"
        )
    return done


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A square matrix, normal."""
    return (rng.standard_normal((n, n)).astype(np.float32),)


def on_host(a: Float32) -> tuple[Float32, Float32, Float32]:
    """Decompose on the CPU, by LAPACK, with the signs of the passes."""
    u, s, vh = np.linalg.svd(a)
    largest = np.take_along_axis(u, np.abs(u).argmax(axis=-2, keepdims=True), -2)
    signs = np.where(largest < 0, np.float32(-1), np.float32(1))
    vh[..., : s.shape[-1], :] *= np.swapaxes(signs, -1, -2)[..., : s.shape[-1], :]
    return u * signs, s, vh


SVD = Operation(
    name="svd",
    formula="A = U diag(s) V^T",
    operands=("A",),
    results=("U", "S", "Vh"),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    settle=settle,
    trial=Trial(
        values=lambda forms, results: (results["U"], results["S"].reshape(-1)[: min(forms[0].matrix)], results["Vh"])
    ),
    batch=svd_batches.batch(call_plan, ALARM),
    variants=VARIANTS,
    choose=choose,
    function=Function(host="glla.operations.spectral.svd:on_host", parts=3),
    thesis="bidiagonal",
)
"""The public decomposition by singular values."""
