"""The inverse of a symmetric positive definite matrix, from its Cholesky factor: A^-1 = (L^-1)^T L^-1.

`potri` solves L^T U = I, U upper triangular, and multiplies X = U U^T, of which half is drawn. To solve L M = I
instead, with U = M^T, costs as much and has no such bound: with F = U^T L - I

    A X - I = L (U^T L)^T U^T - I = L F L^-1 + L F^T U^T,

and substitution into L^T U = I keeps abs(F) <= (n + 4) u abs(U^T) abs(L); into L M = I it keeps L M - I so small, while
M L - I may be larger by the condition of L (Higham 2002, section 14.2). Cholesky's own backward error added,
norm(A X - I) <= c n u norm(A) norm(X), whatever the condition of A. The author inverts L; so the residual of what his
way is checked: of a matrix of the host in float64, of one on the device there, see `glla.operations.product.residual`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from glla.errors import ConvergenceError
from glla.operations.acceptance import FALLBACK, PROMISED, UNIT_ROUNDOFF, Continue, Done, Values, Verdict
from glla.operations.definite import cholesky, stack_definite
from glla.operations.elimination import fallback
from glla.operations.host.scaling import Integers, equilibrated
from glla.operations.layouts import packing
from glla.operations.layouts.blocks import read_diagonal
from glla.operations.layouts.crossing import at_home, bring_in, read_back, upload
from glla.operations.layouts.shapes import square
from glla.operations.product import matmul
from glla.operations.product import residual as residuals
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Taken, Way, builder
from glla.operations.triangles import triangular_inverse
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Transition, Variant, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape
from glla.passes.storage import matrix

POTRI, AUTHORS = "potri", "cholesky_gets_product"

VARIANTS = {
    AUTHORS: Variant(
        "the author's three stages: the factor 16 columns a step, its inverse a column a step, a general product",
        '"Linear algebra on GPUs: applications in image restoration" (2012), section 5.2',
    ),
    POTRI: Variant(
        "the factor, the inverse of its transpose, half of their product; symmetric bit by bit", "LAPACK potri"
    ),
}

RESIDUAL = "residual in float64"
"""Work of the host, and the stage for a matrix on the device, by their name in plans."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: `potri`, whose parts choose for themselves."""
    return POTRI, ()


def flops(forms: Forms) -> int:
    """Additions and multiplications, n^3 as LAPACK counts them; the author's general product takes 5/3 n^3 more."""
    return forms[0].count * forms[0].shape[-1] ** 3


@builder("inv_pos", VARIANTS, choose)
def plan(forms: Forms, limits: Limits, chosen: Chosen) -> Plan:
    """Plan of the inverse of an n x n matrix on the device, n > 0.

    Operand ``A``, results ``X`` and ``L``, both packed. Passes: those of `cholesky`, of `triangular_inverse`, and of a
    product.

    Forms: of A, of which the lower half is read.
    """
    shape = forms[0].matrix
    draft = Draft(chosen.title)
    a = draft.operand("A", matrix(shape))
    add = _potri if chosen.variant == POTRI else _authors
    factor, x = add(draft, a, shape, limits)
    return draft.plan({"X": x, "L": factor}, flops(forms))


def _potri(draft: Draft, a: str, shape: Shape, limits: Limits) -> tuple[str, str]:
    """Add the factor, the inverse of its transpose, half of the product; give the slots of L and of X."""
    square, both = resident(shape), (Form(shape, resident=True), Form(shape, resident=True, transposed=True))
    factor = draft.call("factor", cholesky.plan(square, limits), A=a)["L"]
    triangle = triangular_inverse.plan(square, limits, transposed=True)
    inverse = draft.call("inverse of L^T", triangle, T=factor)["X"]
    variant, parameters = matmul.choose(both, limits)
    if variant not in matmul.HALVES:
        variant, parameters = "register_blocked", ()
    product = matmul.plan(both, limits, variant=variant, parameters=parameters, symmetric=True, upper=True)
    return factor, draft.call("half of U U^T", product, A=inverse)["C"]


def _authors(draft: Draft, a: str, shape: Shape, limits: Limits) -> tuple[str, str]:
    """Add the author's stages."""
    square = resident(shape)
    factor = draft.call("factor", cholesky.plan(square, limits, variant="block16"), A=a)["L"]
    triangle = triangular_inverse.plan(square, limits, variant="gets", lower=True)
    inverse = draft.call("inverse of L", triangle, T=factor)["X"]
    both = Form(shape, resident=True, transposed=True), Form(shape, resident=True)
    product = matmul.plan(both, limits, variant="inner_product")
    return factor, draft.call("M^T M", product, A=inverse, B=inverse)["C"]


# -- plans of a call --------------------------------------------------------------------------------------------------

FAR = "the diagonal of L is zero or beyond 2^-40 to 2^40, or X is not finite"
MISSED = Transition("the residual is too large", error="ConvergenceError: take potri")


@cached_plan
def call_plan(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of a call: the inverse, and the diagonals of L and X, which tell whether it is accepted."""
    (given,) = forms
    form = given if lower else replace(given, transposed=not given.transposed)
    draft, results = Draft("inv_pos"), dict[str, str]()
    a = bring_in(draft, "A", form, limits, results)
    results |= _inverted(draft, a, form.matrix, limits, **way)
    far = Transition(FAR, FALLBACK, partial(fallback_plan, (form,), limits, **way))
    variant = way.get("variant")
    if form.resident:
        later: tuple[Transition, ...] = ()
        if variant == AUTHORS:
            whole_ = draft.call("mirrored", packing.mirrored(form.shape[0]), A=a)["M"]
            results |= residuals.add_residual(draft, whole_, results["X"], form.matrix, limits)
            later = (Transition("the residual may be too large", RESIDUAL, partial(check_residual, form, limits)),)
        return draft.plan(results, after=(far, cholesky.NOT_DEFINITE, *later))
    if variant == AUTHORS:
        results["residual"] = _add_residual(draft, a, results["X"], form.matrix, limits)
    results["X"] = read_back(draft, results["X"], form.matrix, limits, "X")
    return draft.plan(results, after=(far, *_errors(variant)))


@cached_plan
def check_residual(form: Form, limits: Limits) -> Plan:
    """Plan of the residual of the author's inverse, which is read back with its matrix."""
    draft = Draft(RESIDUAL)
    a = bring_in(draft, "A", form, limits)
    x = draft.operand("X", matrix(form.matrix))
    return draft.plan({"residual": _add_residual(draft, a, x, form.matrix, limits)}, after=(MISSED,))


def _add_residual(draft: Draft, a: str, x: str, shape: Shape, limits: Limits) -> str:
    """Add the residual in float64 of matrices on the device; give its slot."""
    known = tuple(read_back(draft, one, shape, limits, f"{name} again") for name, one in (("A", a), ("X", x)))
    return draft.host(RESIDUAL, residual, known, {"residual": (1,)}, flops=2 * shape[0] ** 3)["residual"]


@cached_plan
def fallback_plan(forms: Forms, limits: Limits, **way: Unpack[Way]) -> Plan:
    """Plan of the inverse of a matrix that was scaled on the host, so that its diagonal is near 1."""
    (form,), variant = forms, way.get("variant")
    shape, draft = form.matrix, Draft(FALLBACK)
    made = {"scaled A": shape, "column exponents": (shape[0], 1)}
    scaled, exponents = draft.host(cholesky.SCALED, equilibrated, (at_home(draft, "A", form, limits),), made)
    at_device = upload(draft, scaled, shape, limits)
    results = _inverted(draft, at_device, shape, limits, **way)
    if variant == AUTHORS:
        results["residual"] = _add_residual(draft, at_device, results["X"], shape, limits)
    results["X"] = read_back(draft, results["X"], shape, limits, "X")
    return draft.plan({**results, "column exponents": exponents}, after=(cholesky.SMALL, *_errors(variant)))


def _inverted(draft: Draft, a: str, shape: Shape, limits: Limits, **way: Unpack[Way]) -> dict[str, str]:
    """Add the inverse, and the read-back of both diagonals."""
    device_plan = plan(resident(shape), limits, **way)
    made = draft.call("inverse", device_plan, A=a)
    found = {"X": made["X"]}
    for name, matrix_ in (("diagonal", "L"), ("diagonal of X", "X")):
        found[name] = read_diagonal(draft, made[matrix_], shape[0], limits, f"diagonal of {matrix_}")
    return found


def _errors(variant: str | None) -> tuple[Transition, ...]:
    return (cholesky.NOT_DEFINITE, MISSED) if variant == AUTHORS else (cholesky.NOT_DEFINITE,)


@np.errstate(all="ignore")  # what is not finite is no good residual
def residual(a: Float32, x: Float32) -> tuple[NDArray[np.float64]]:
    """norm(A X - I) / (n norm(A) norm(X) u) in the 1-norm, in float64, of A of which the lower half is given."""
    lower, wide = np.tril(a.astype(np.float64)), x.astype(np.float64)
    whole_ = lower + np.tril(lower, -1).T
    error, *sizes = (np.abs(one).sum(axis=0).max() for one in (whole_ @ wide - np.eye(len(a)), whole_, wide))
    return (np.array([error / (len(a) * sizes[0] * sizes[1] * UNIT_ROUNDOFF)]),)


def _is_far(forms: Forms, values: Values) -> bool:
    return cholesky.is_far(values["diagonal"]) or not np.isfinite(values["diagonal of X"][:, 0]).all()


def _inverted_well(forms: Forms, stage: str, values: Values) -> Verdict:
    """Once the factor is there: the residual decides where there is one. `Done` has ``X`` where A was scaled."""
    if not stage and "norm_R" in values and not residuals.ratio(values, forms[0].shape[-1]) <= residuals.ACCEPTED:
        return Continue(RESIDUAL)
    ratio = float(values["residual"].flat[0]) if "residual" in values else 0.0
    if not ratio <= PROMISED:
        return ConvergenceError(
            f"inv: norm(A X - I) is {ratio:.3g} n norm(A) norm(X) u{values['which']}, more than {PROMISED:g}; "
            f"variant={POTRI!r} keeps that bound"
        )
    if stage != FALLBACK:
        return Done()
    exponents: Integers = values["column exponents"]
    return fallback.scaled_back({**values, "sizes": -exponents[:, 0]}, values["X"].astype(np.float64))


settle = cholesky.ladder(_is_far, _inverted_well)


INV_POS = Operation(
    name="inv_pos",
    formula="A X = I, A = L L^T",
    operands=("A",),
    results=("X",),
    check=partial(square, "inv_pos"),
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=cholesky.example,
    settle=settle,
    batch=stack_definite.batch(stack_definite.invert, fallback_plan, cholesky.NOT_DEFINITE),
    variants=VARIANTS,
    choose=choose,
    taken=Taken(fits=True),
    thesis=AUTHORS,
    function=Function(public=False),
)
"""`inv` with ``assume_a="pos"``."""
