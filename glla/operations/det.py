"""Determinants: the product of U's diagonal, the sign of the row exchanges, and the powers of two of the scaling."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations import care, factors, stack
from glla.operations.crossing import at_home, bring_in_watched, read_texels
from glla.operations.elimination import counts, plu
from glla.operations.inverse import example, square
from glla.operations.record import Array, Batch, Operation
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Next, Parameters, Plan, host, matrix


@lru_cache(maxsize=64)
def core(forms: Forms, limits: Limits = PLAIN, *, variant: str | None = None, parameters: Parameters = ()) -> Plan:
    """Plan of the parts of a determinant on the device: U's diagonal, exchanges, exponents."""
    shape = forms[0].matrix
    draft = Draft("det")
    a = draft.operand("A", matrix(shape))
    made = factors.factor(draft, a, shape, limits, equilibrated=True, variant=variant or None, parameters=parameters)
    diagonal = draft.call("diagonal of U", plu.diagonal(shape[0]), LU=made.lu)["diagonal"]
    return draft.plan({"diagonal": diagonal, **made.results})


@lru_cache(maxsize=64)
def whole(forms: Forms, limits: Limits = PLAIN, *, variant: str | None = None, parameters: Parameters = ()) -> Plan:
    """Plan of a call: the parts, read back."""
    (form,) = forms
    shape = form.matrix
    draft = Draft("det")
    results: dict[str, str] = {}
    a = bring_in_watched(draft, "A", form, limits, results)
    made = factors.factor(draft, a, shape, limits, equilibrated=True, variant=variant, parameters=parameters)
    results |= made.results | factors.read_exponents(draft, made)
    results["diagonal"] = factors.read_diagonal(draft, made)
    results["exchanges"] = read_texels(draft, made.records, "exchanges")
    return draft.plan(results, after=_after(form, limits))


def _after(form: Form, limits: Limits) -> tuple[Next, ...]:
    return (Next("entries grew, or rows or columns are beyond 2^-40 to 2^40", "care", partial(careful, form, limits)),)


def careful(form: Form, limits: Limits, complete: bool = False) -> Plan:
    """Plan of the parts of a determinant of a matrix that is scaled on the host first."""
    n = form.shape[-1]
    draft = Draft("complete pivoting" if complete else "care")
    a, scaled = at_home(draft, "A", form, limits), draft.slot("scaled A", host((n, n)))
    if complete:
        draft.host(care.ORDER, care._ordered, (a,), (scaled,), flops=2 * n**3 // 3)
    else:
        draft.host(care.SCALE, care._scaled, (a,), (scaled,))
    made = draft.call("factors", care.made_on_device(n, limits), A=scaled)
    further = Next("entries grew", "complete pivoting", partial(careful, Form((n, n)), limits, True))
    return draft.plan(made, after=() if complete else (further,))


@lru_cache(maxsize=64)
def batched(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of a stack of determinants, with what may come after it for a member."""
    return replace(stack.determinant(forms, limits), after=_after(forms[0].member, limits))


def sign_and_log(
    diagonal: NDArray[np.floating], pivots: NDArray[np.integer], exponents: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sign and logarithm of det(A), from U's diagonal, LAPACK's exchanges, and the sum of what A was scaled by.

    All may be stacks.

    Examples
    --------
    >>> sign, logarithm = sign_and_log(np.array([2.0, 1.0]), np.array([1, 1]), 3)
    >>> float(sign), round(float(np.exp(logarithm)), 3)
    (-1.0, 16.0)
    """
    u = diagonal.astype(np.float64)
    exchanges = np.count_nonzero(pivots != np.arange(u.shape[-1]), axis=-1)
    with np.errstate(divide="ignore"):
        logarithm = np.sum(np.log(np.abs(u)), axis=-1) + np.log(2.0) * exponents
    return np.prod(np.sign(u), axis=-1) * (-1.0) ** exchanges, logarithm


def _sign_and_log(forms: Forms, results: Any) -> Any:
    """The parts of one determinant, as texels, put together."""
    n = forms[0].shape[-1]
    u = results["diagonal"].reshape(-1, 4)[:, :2].reshape(-1)[:n]
    pivots = results["pivots"].reshape(-1, 4)[:, :2].reshape(-1)[:n].astype(np.int32)
    total = sum(
        np.sum(results[name].reshape(-1, 4)[:, :2].reshape(-1)[:n]) for name in ("row_exponents", "column_exponents")
    )
    sign, logarithm = sign_and_log(u, pivots, total)
    return np.float32(sign), np.float32(logarithm)


def _value(forms: Forms, results: Any) -> Any:
    sign, logarithm = _sign_and_log(forms, results)
    return np.float32(sign * np.exp(np.float64(logarithm)))


def _tame(n: int, rng: np.random.Generator) -> tuple[Array, ...]:
    """A matrix whose determinant is near 1 for every n: normal entries of variance e / n."""
    return ((rng.standard_normal((n, n)) * np.sqrt(np.e / n)).astype(np.float32),)


def flops(forms: Forms) -> int:
    """Additions and multiplications, those of the factors."""
    return prod(forms[0].stack) * counts.flops(forms[0].matrix)


SLOGDET = Operation(
    name="slogdet",
    formula="sign, log(abs(det(A)))",
    operands=("A",),
    results=("sign", "logabsdet"),
    check=partial(square, "slogdet"),
    flops=flops,
    core=core,
    whole=whole,
    example=example,
    values=_sign_and_log,
    variants=plu.SOLVERS,
    thesis="rank2",
    batch=Batch(stack.most_factors, batched),
    parts=2,
)

DET = Operation(
    name="det",
    formula="det(A)",
    operands=("A",),
    results=("det",),
    check=partial(square, "det"),
    flops=flops,
    core=core,
    whole=whole,
    example=_tame,
    values=_value,
    variants=plu.SOLVERS,
    thesis="rank2",
    batch=Batch(stack.most_factors, batched),
    host="glla.hybrid.host:det",
)
