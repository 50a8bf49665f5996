"""The inverse by Gauss-Jordan elimination, [A | I] to [I | X], as in the source: three passes for each column.

Rows are exchanged only where a pivot is exactly zero, which is not safe: [[1e-8, 1], [1, 1]] gives [[0, 1], [1,
-1e-8]], of which an entry is wrong by 1. The method is for matrices that need no exchanges, positive definite or
diagonally dominant; so the residual of the result is checked, in float64 on the CPU, and if it is too large the error
names the column of the failing pivot. For matrices on the device the residual is first computed there, see
`glla.operations.product.residual`; they are read back only if it may be too large. `glla.rref` pivots, two columns a
step.

The source prints 4.80 ms for a column of n = 4096 on a Tesla C1060, 19.7 s for all of them; its curves are lost.
"""

from __future__ import annotations

from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from glla.errors import ConvergenceError, SingularMatrixError
from glla.operations.acceptance import PROMISED, UNIT_ROUNDOFF, Continue, Done, Values, Verdict
from glla.operations.definite import cholesky
from glla.operations.host.scaling import of_system
from glla.operations.layouts.crossing import at_home, bring_in, read_back, upload
from glla.operations.layouts.shapes import square
from glla.operations.product import residual
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Taken, Way, builder
from glla.passes import PLAIN, Draft, Form, Forms, Limits, PingPong, Plan, Transition, Variant, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels
from glla.passes.steps import Uniform
from glla.passes.storage import HostArray, Storage, matrix

VARIANTS = {
    "gauss_jordan": Variant(
        "a column a step: exchange, normalise, eliminate; each a pass over all of [A | X]",
        '"Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.1',
    )
}

RESIDUAL = "residual in float64"
"""Work of the host, and the stage for a matrix on the device, by their name in plans."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """There is one way."""
    return "gauss_jordan", ()


def flops(forms: Forms) -> int:
    """Additions and multiplications of an inverse, 2 n^3; the passes take 4 n^3, as finished columns go along."""
    return 2 * forms[0].count * forms[0].shape[-1] ** 3


@builder("gauss_jordan", VARIANTS, choose)
def device_plan(forms: Forms, limits: Limits, chosen: Chosen) -> Plan:
    """Plan of the inverse of an n x n matrix on the device, n > 0.

    Operand ``A``, result ``X``, both packed. 3 n + 2 passes.
    """
    n, _ = shape = forms[0].matrix
    side = texels(n)
    draft = Draft("gauss_jordan")
    draft.operand("A", matrix(shape))
    start = draft.slot("A and I", matrix((2 * side, 4 * side)))
    draft.draw("gauss_jordan/augment", {"A": "A"}, start, {"left": side, "shape": shape})
    both = PingPong(draft, "A and X", Storage(side, 2 * side), start)
    for k in range(n):
        with draft.scope("column", k):
            for part in ("exchange", "normalise", "eliminate"):
                own: dict[str, Uniform] = {"order": n} if part == "exchange" else {"k": k}
                step = k if part == "exchange" else 0
                draft.draw(f"gauss_jordan/{part}", {"M": both.front}, both.back, own, step=step)
                both.swap()
    place: dict[str, Uniform] = {"origin": (0, 2 * side), "down": (1, 0), "right": (0, 1), "shape": shape}
    return draft.plan(draft.draw("blocks/gather", {"A": both.front}, {"X": matrix(shape)}, place), flops(forms))


# -- plans of a call --------------------------------------------------------------------------------------------------

MISSED = Transition(
    "the residual is too large", error="ConvergenceError, or SingularMatrixError: names the column of the worst pivot"
)


EXACTLY = 2.0**-48
"""A smallest singular value of at most this part of the largest, times n, counts as zero: 32 roundings of float64."""


@cached_plan
def call_plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of a call: the inverse, and its residual: on the host, or of a matrix on the device there."""
    (form,) = forms
    shape = form.matrix
    draft, results = Draft("gauss_jordan"), dict[str, str]()
    inverse = device_plan(resident(shape), limits, **way)
    if form.resident:
        a = bring_in(draft, "A", form, limits, results)
        results["X"] = draft.call("inverse", inverse, A=a)["X"]
        results |= residual.add_residual(draft, a, results["X"], shape, limits)
        return draft.plan(
            results,
            after=(Transition("the residual may be too large", RESIDUAL, partial(check_residual, form, limits)),),
        )
    known = draft.operand("A", HostArray(shape))
    a = upload(draft, known, shape, limits, form.transposed)
    x = read_back(draft, draft.call("inverse", inverse, A=a)["X"], shape, limits, "X")
    return draft.plan({"X": x, "residual": _add_residual(draft, known, x, shape)}, after=(MISSED,))


@cached_plan
def check_residual(form: Form, limits: Limits) -> Plan:
    """Plan of the residual of an inverse that is read back, with its matrix."""
    draft = Draft(RESIDUAL)
    a, x = (at_home(draft, name, one, limits) for name, one in (("A", form), ("X", resident(form.matrix)[0])))
    return draft.plan({"residual": _add_residual(draft, a, x, form.matrix)}, after=(MISSED,))


def _add_residual(draft: Draft, a: str, x: str, shape: Shape) -> str:
    return draft.host(RESIDUAL, residual_of, (a, x), {"residual": (4,)}, flops=2 * shape[0] ** 3)["residual"]


@np.errstate(all="ignore")  # a residual that is not finite is rejected
def residual_of(a: Float32, x: Float32) -> tuple[NDArray[np.float64]]:
    """norm(A X - I) / (n norm(A) norm(X) u) in the 1-norm, and, where it is too large, the result of `worst_pivot`.

    Of a matrix that is not finite, which was let through, it is zero.
    """
    wide, inverse = a.astype(np.float64), x.astype(np.float64)
    if not np.isfinite(wide).all():
        return (np.zeros(4),)
    error, *sizes = (np.abs(one).sum(axis=0).max() for one in (wide @ inverse - np.eye(len(a)), wide, inverse))
    ratio = error / (len(a) * sizes[0] * sizes[1] * UNIT_ROUNDOFF)
    if len(a) * sizes[0] * sizes[1] * UNIT_ROUNDOFF > 1:  # so large an inverse may come of noise in place of a pivot
        column = dependent_column(wide)
        if column is not None:
            return (np.array([np.inf, column, 0, True], dtype=np.float64),)
    return (np.array([ratio, *(worst_pivot(wide) if not ratio <= PROMISED else (0, 0, 0))], dtype=np.float64),)


def dependent_column(a: NDArray[np.float64]) -> int | None:
    """First column that depends on those before, in float64; None if there is none.

    Singular values tell, of the matrix with rows and columns near 1: the author's pivots let float64, too, lose digits.

    >>> dependent_column(np.array([[1.0, 2, 1], [2, 4, 0], [3, 6, 5]])), dependent_column(np.eye(2))
    (1, None)
    """
    _, sizes, vectors = np.linalg.svd(of_system(a)[0])
    if sizes[-1] > len(a) * EXACTLY * sizes[0]:
        return None
    weights = np.abs(vectors[-1])
    return int(np.flatnonzero(weights > 1e-6 * weights.max())[-1])


@np.errstate(all="ignore")
def worst_pivot(a: NDArray[np.float64]) -> tuple[int, float, bool]:
    """Column whose pivot is smallest beside the largest entry that might have been taken; that share; is it all gone.

    A column is gone where nothing but rounding error is left of it: it depends on those before.

    >>> worst_pivot(np.array([[1e-8, 1], [1, 1]])), worst_pivot(np.array([[1.0, 2], [2, 4]]))
    ((0, 1e-08, False), (1, 0.0, True))
    """
    left, worst = a.copy(), (0, np.inf, False)
    for k in range(len(a)):
        column = np.abs(left[k:, k])
        if not column.max() > len(a) * UNIT_ROUNDOFF * np.abs(a[:, k]).max():
            return k, 0.0, True
        p = k + int(np.argmax(column != 0))
        left[[k, p]] = left[[p, k]]
        share = float(np.abs(left[k, k]) / column.max())
        worst = min(worst, (k, share, False), key=lambda one: one[1])
        left[k + 1 :] -= np.outer(left[k + 1 :, k] / left[k, k], left[k])
    return worst


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Decide from the residual: done, the residual in float64, or an error that names a column."""
    if not stage and forms[0].resident:
        n = forms[0].shape[-1]
        accepted = residual.ratio(values, n) <= residual.ACCEPTED and residual.size(values, n) <= 1
        return Done() if accepted else Continue(RESIDUAL)
    ratio, column, share, gone = (float(one) for one in values["residual"].reshape(-1))
    if ratio <= PROMISED:
        return Done()
    k, which = int(column), values["which"]
    if gone:
        return SingularMatrixError(f"inv: Singular matrix{which}: column {k} depends on those before it")
    return ConvergenceError(
        f"inv: norm(A X - I) is {ratio:.3g} n norm(A) norm(X) u{which}, more than {PROMISED:g}: 'gauss_jordan' takes "
        f"the first entry that is not zero for a pivot, in column {k} one of {share:.3g} times the largest, and scales "
        "nothing; leave variant out"
    )


GAUSS_JORDAN = Operation(
    name="gauss_jordan",
    formula="[A | I] -> [I | X]",
    operands=("A",),
    results=("X",),
    check=partial(square, "gauss_jordan"),
    flops=flops,
    device_plan=device_plan,
    call_plan=call_plan,
    example=cholesky.example,
    settle=settle,
    variants=VARIANTS,
    choose=choose,
    taken=Taken(fits=True),
    thesis="gauss_jordan",
    function=Function(public=False),
)
"""`inv` with ``variant="gauss_jordan"``."""
