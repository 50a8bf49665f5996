"""Inverses of many 3 x 3 matrices, a row of nine numbers each: X_i = A_i^-1.

`adjugate` is the source's formula, X = adj(A) / det A, `adjugate_fused` the same in one pass; `pivoted_small` is the
default of `glla.inv`, elimination with partial pivoting, see `glla.operations.elimination.plu_batches`.

The formula has no pivots to choose, and its errors are those of the products in it:

    |A X - I| <= 12 u |A| P / |det A|,  P the cofactors with all terms positive, element by element

which is norm(A X - I) / (n norm(A) norm(X) u) < 30 as long as no more than one singular value is small. Where two are,
as in covariances, the terms of a cofactor cancel: with singular values 1, s, s the ratio is about 0.1 / s, where
elimination stays below 1. A determinant that is no larger than its rounding error, 6 u perm A, is an error.

The source does not scale: the determinant of entries of 1e13 overflows, and that of 1e-13 underflows. Here rows and
columns are scaled by powers of two first, which rounds nothing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from glla.errors import ShapeError, SingularMatrixError
from glla.operations.acceptance import BATCHED, UNIT_ROUNDOFF, Done, Values, Verdict
from glla.operations.batches.linear_batches import part_of_records
from glla.operations.batches.stack import capacity, raw, stride
from glla.operations.elimination import plu_batches
from glla.operations.layouts.crossing import at_home, laid_out, read_texels, texels_of, write_texels
from glla.operations.linear import move
from glla.operations.linear.view import View
from glla.operations.record import Batch, Choice, Chosen, Filter, Float32, Function, Layout, Operation, builder
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Transition, Variant
from glla.passes.cache import cached_plan
from glla.passes.storage import matrix, wrapped

SEED = '"PyCuda code to invert a high number of 3x3 matrixes" (forum answer)'
"""Source of the formula, and of its division among threads."""

VARIANTS = {
    "adjugate": Variant("cofactors, then determinant and division; a fragment an element", SEED),
    "adjugate_fused": Variant(
        "both in one pass; a fragment computes four elements, and all cofactors anew", f"{SEED}, without its barriers"
    ),
    "pivoted_small": Variant(
        "elimination with partial pivoting in registers, one pass; the default of inv", "LAPACK getf2"
    ),
}

RECORD = 12
"""Elements of a record: the inverse, its determinant and permanent, a zero."""

LENGTHS = {"adjugate": RECORD, "adjugate_fused": RECORD, "pivoted_small": 18}
"""Elements of a record of each variant; those of an elimination end in squares of solutions for random numbers."""

LINES = {"adjugate": 3, "adjugate_fused": 3, "pivoted_small": 6}
"""Numbers of a record after the inverse: determinant and permanent; or U's diagonal, and the maxima of its columns."""

NOISE = 6 * UNIT_ROUNDOFF
"""Largest effect of rounding on a determinant, relative to the permanent of the magnitudes."""

OUT, IN = "matrices one after the other", "records taken apart"
"""Work of the host, by its names in plans and traces."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick elimination, which keeps the bound of an inverse for every matrix."""
    return "pivoted_small", ()


def check(forms: Forms) -> None:
    """Raise ShapeError unless rows have nine numbers."""
    (a,) = forms
    if a.stack or a.shape[-1] != 9:
        raise ShapeError(f"inv3: A must have a row of 9 numbers for each 3 x 3 matrix, got shape {a.shape}")


def flops(forms: Forms) -> int:
    """Additions and multiplications as LAPACK counts an inverse, 2 n^3; the formula takes 32."""
    return 54 * forms[0].matrix[0]


def most_batched(limits: Limits) -> int:
    """Matrices that one plan may invert."""
    return capacity((1, 5), RECORD, limits.texture_size)


@builder("inv3", VARIANTS, choose)
def device_plan(forms: Forms, limits: Limits, chosen: Chosen, diagnostics: bool = False) -> Plan:
    """Plan of the inverses, on the device, of the rows of a packed matrix, count x 9.

    Operand ``A``, result ``X``, both packed; ``diagnostics``, linear, a line for each matrix. Passes: ``adjugate`` 2,
    the others 1, beside those that bring the rows in and pack them again.

    `diagnostics`: what tells whether a matrix is singular is a result, too.
    """
    (form,), size, variant = forms, limits.texture_size, chosen.variant
    count = form.matrix[0]
    draft = Draft(chosen.title)
    stored, turn = ((9, count), {"down": (0, 1), "right": (1, 0)}) if form.transposed else ((count, 9), {})
    a = draft.operand("A", matrix(stored))
    rows = draft.call("rows", move.unpack(stored, (count, 9), size, **turn), M=a)["result"]
    elements = draft.call("matrices", move.to_raw((View.of((count, 9)),), size), A=rows)["raw"]
    records = _records(draft, elements, count, variant, limits)
    x, lines = (
        part_of_records(draft, name, records, (count, 1, width), LENGTHS[variant], start, size)
        for name, start, width in (("inverses", 0, 9), ("diagnostics", 9, LINES[variant]))
    )
    results = {"X": draft.call("X", move.pack(View.of((count, 9)), size), A=x)["packed"]}
    return draft.plan(results | ({"diagnostics": lines} if diagnostics else {}), flops(forms))


def _records(draft: Draft, elements: str, count: int, variant: str, limits: Limits) -> str:
    """Add the passes from matrices to records; give their slot."""
    if variant == "pivoted_small":
        plan = plu_batches.solve_small((Form((count, 3, 3)),), limits)
    else:
        plan = formula(count, limits.texture_size, variant)
    return draft.call("invert", plan, raw=elements)["records"]


@cached_plan
def formula(count: int, texture_size: int, variant: str = "adjugate") -> Plan:
    """Plan of the adjugate formula: operand ``raw``, `count` matrices, result ``records``. Two passes, or one."""
    draft, storage = Draft(variant), raw(9 * count, texture_size)
    inputs = {"raw": draft.operand("raw", storage)}
    shader, records = "inv3/fused", wrapped(RECORD * count, texture_size)
    if variant != "adjugate_fused":
        extent = count, storage.width
        inputs = inputs | draft.draw("inv3/cofactors", inputs, {"cofactors": storage}, {"extent": extent})
        shader, records = "inv3/divide", raw(RECORD * count, texture_size)
    made = draft.draw(shader, inputs, {"records": records}, {"extent": (count, records.width)})
    return draft.plan(made, 32 * count)


SINGULAR = Transition(
    "a determinant is no larger than its rounding error", error="SingularMatrixError: names the matrix"
)


def _batch(variant: str) -> Batch:
    """How matrices go through the formula: a record is the inverse, and a line of three diagnostics."""

    def plan(forms: Forms, limits: Limits = PLAIN) -> Plan:
        return replace(formula(forms[0].count, limits.texture_size, variant), after=(SINGULAR,))

    return Batch(
        lambda forms, limits: most_batched(limits) if forms[0].matrix == (3, 3) else 0,  # rows of nine numbers are none
        plan,
        Layout(lambda forms: (3, 3), LINES[variant] // 3),
        Filter(lambda a, x, diagnostics, **options: np.flatnonzero(indefinite(diagnostics[:, 0])), extras=()),
    )


# -- plans of a call --------------------------------------------------------------------------------------------------


@builder("inv3", VARIANTS, choose)
def call_plan(forms: Forms, limits: Limits, chosen: Chosen) -> Plan:
    """Plan of a call: the inverses, and the diagnostics that tell whether a matrix is singular, read back."""
    (form,), size, variant = forms, limits.texture_size, chosen.variant
    count, lines, length = form.matrix[0], LINES[variant], stride(LENGTHS[variant])
    draft = Draft(chosen.title)
    a = at_home(draft, "A", form, limits)
    storage = raw(9 * count, size)
    (laid,) = draft.host(OUT, partial(laid_out, storage), (a,), {"matrices": texels_of(storage)})
    records = _records(draft, write_texels(draft, laid, storage), count, variant, limits)

    def taken_apart(records: Float32) -> tuple[Float32, Float32]:
        each = records.reshape(-1)[: count * length].reshape(count, length)
        return each[:, :9].copy(), each[:, 9 : 9 + lines].copy()

    read, shapes = read_texels(draft, records, "records of the host"), {"X": (count, 9), "diagnostics": (count, lines)}
    return draft.plan(draft.host(IN, taken_apart, (read,), shapes), flops(forms), after=(SINGULAR,))


def indefinite(diagnostics: Float32) -> NDArray[np.bool_]:
    """Finite matrices that rounding cannot tell from a singular one, by their diagnostics."""
    if diagnostics.shape[1] == LINES["pivoted_small"]:
        return np.asarray((np.abs(diagnostics[:, :3]) <= UNIT_ROUNDOFF * diagnostics[:, 3:]).any(axis=1))
    return np.asarray(np.abs(diagnostics[:, 0]) <= NOISE * diagnostics[:, 1])


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Decide from the diagnostics: done, or an error that names the first singular matrix."""
    if stage == BATCHED:
        which = values["which"]
    else:
        bad = np.flatnonzero(indefinite(values["diagnostics"]))
        if not len(bad):
            return Done()
        which = f" at index ({bad[0]},) of the stack"
    return SingularMatrixError(
        f"inv: Singular matrix{which}: its determinant is no larger than the rounding error of the formula; leave "
        "variant out, which pivots"
    )


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """Matrices of order 3 as rows of nine numbers, normal with 2 added to the diagonal."""
    a = rng.standard_normal((n, 9)) + 2 * np.eye(3).reshape(9)
    return (a.astype(np.float32),)


INV3 = Operation(
    name="inv3",
    formula="A_i X_i = I, of order 3",
    operands=("A",),
    results=("X",),
    check=check,
    flops=flops,
    device_plan=device_plan,
    call_plan=call_plan,
    example=example,
    settle=settle,
    variants=VARIANTS,
    choose=choose,
    batch=replace(_batch("adjugate"), modes={"adjugate_fused": _batch("adjugate_fused")}),
    thesis="adjugate",
    function=Function(public=False),
)
"""`inv` with a batch of matrices of order 3 and a variant of the author's."""
