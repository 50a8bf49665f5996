"""Determinants: the product of U's diagonal, the sign of the row exchanges, and the powers of two of the scaling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import e
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from glla.operations import acceptance
from glla.operations.acceptance import BATCHED, FALLBACK, Continue, Done, Values, Verdict
from glla.operations.batches import stack
from glla.operations.elimination import factors, fallback, plu, plu_batches
from glla.operations.host import scaling
from glla.operations.layouts.crossing import bring_in, read_texels
from glla.operations.layouts.shapes import square
from glla.operations.record import Batch, Filter, Float32, Function, Layout, Operation, Taken, Trial, Way
from glla.passes import PLAIN, Draft, Form, Forms, HostArray, Limits, Plan, Transition, matrix
from glla.passes.cache import cached_plan

LINES = ("row", "column")


@cached_plan
def device_plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of the parts of a determinant on the device: U's diagonal, exchanges, exponents."""
    shape = forms[0].matrix
    draft = Draft("det")
    a = draft.operand("A", matrix(shape))
    made = factors.factor(draft, a, shape, limits, equilibrated=True, **way)
    diagonal = draft.call("diagonal of U", plu.diagonal(shape[0]), LU=made.lu)["diagonal"]
    return draft.plan({"diagonal": diagonal, **made.results})


@cached_plan
def call_plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of a call: the parts, read back."""
    (form,) = forms
    shape = form.matrix
    draft = Draft("det")
    results: dict[str, str] = {}
    a = bring_in(draft, "A", form, limits, results)
    made = factors.factor(draft, a, shape, limits, equilibrated=True, **way)
    results |= made.results | factors.read_exponents(draft, made)
    results["diagonal"] = factors.read_diagonal(draft, made)
    results["exchanges"] = read_texels(draft, made.records, "exchanges")
    return draft.plan(results, after=_after(form, limits))


def _after(form: Form, limits: Limits) -> tuple[Transition, ...]:
    when = "entries grew, or rows or columns are beyond 2^-40 to 2^40"
    return (Transition(when, FALLBACK, partial(fallback_plan, form, limits)),)


@cached_plan
def fallback_plan(form: Form, limits: Limits) -> Plan:
    """Plan of the parts of a determinant of a matrix that is scaled on the host first."""
    n = form.shape[-1]
    draft = Draft(FALLBACK)
    results = fallback.add_scaled(draft, (form.single,), limits)
    results |= draft.call("factors", fallback.made_on_device(n, limits), A=results["scaled A"])
    results["exchanges"] = read_texels(draft, results["pivots"], "exchanges")
    return draft.plan(results, after=(Transition("entries grew", fallback.COMPLETE, partial(complete, n, limits)),))


@cached_plan
def complete(n: int, limits: Limits) -> Plan:
    """Plan of the same with the columns in the order of complete pivoting."""
    draft = Draft(fallback.COMPLETE)
    results = fallback.add_complete(draft, draft.operand("scaled A", HostArray((n, n))), n, limits)
    results["exchanges"] = read_texels(draft, results["pivots"], "exchanges")
    return draft.plan(results)


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Verdict on a stage of a determinant; `Done` has ``sign`` and ``logarithm``.

    Where not even complete pivoting keeps the entries in range, the logarithm is infinite.
    """
    if stage == BATCHED:
        return Continue(FALLBACK) if acceptance.finite(values, "A") else Done()
    n = forms[0].shape[-1]
    u, largest = acceptance.of_diagonal(values["diagonal"], n)
    pivots = plu.exchanges(values["exchanges"], n)
    if not stage:
        if not acceptance.in_bounds(values, n):
            let_through = {"sign": np.nan, "logarithm": np.nan}
            return Continue(FALLBACK) if acceptance.finite(values, "A") else Done(let_through)
        sums = [np.sum(acceptance.pairs(values[f"{line}_exponents_read"], n).astype(np.int32)) for line in LINES]
        return _done(*sign_and_log(u, pivots, sum(sums)))
    growth = acceptance.growth(u, largest, float(np.max(np.abs(values["scaled A"]))))
    if stage == FALLBACK and acceptance.grew(growth, n):
        return Continue(fallback.COMPLETE)
    if np.isinf(growth):
        return _done(np.nan, np.inf)
    total = int(values["row exponents"].sum() + values["column exponents"].sum())
    sign, logarithm = sign_and_log(u, pivots, total)
    return _done(
        float(sign) * _parity(values["order"] if stage == fallback.COMPLETE else np.arange(n)), float(logarithm)
    )


def _done(sign: Any, logarithm: Any) -> Done:
    return Done({"sign": sign, "logarithm": logarithm})


def _parity(order: NDArray[np.intp]) -> int:
    """Sign of a permutation.

    >>> _parity(np.array([0, 1, 2])), _parity(np.array([1, 0, 2]))
    (1, -1)
    """
    left, sign = [int(i) for i in order], 1
    for i in range(len(left)):
        while left[i] != i:
            j = left[i]
            left[i], left[j] = left[j], left[i]
            sign = -sign
    return sign


def of_line_and_turns(u: Float32, turns: Float32) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Signs and logarithms from U's diagonals alone, and from one number of each matrix, see ``stack/flag.frag``.

    >>> sign, logarithm = of_line_and_turns(np.float32([[2, 1]]), np.float32([7]))
    >>> float(sign[0]), round(float(np.exp(logarithm[0])), 3)
    (-1.0, 16.0)
    """
    odd = turns % 2
    pivots = np.arange(u.shape[-1]) + np.eye(1, u.shape[-1], dtype=np.int32) * odd[:, np.newaxis].astype(np.int32)
    return sign_and_log(u, pivots, (turns - odd) / 2)


def results(known: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """Signs and logarithms of a batch."""
    if "turns" in known:
        parts = of_line_and_turns(known["line_0"][:, 0], known["turns"][:, 0, 0])
    else:
        u, _, pivots, exponents = np.moveaxis(known["diagnostics"], 1, 0)
        parts = sign_and_log(u, pivots.astype(np.int32), np.sum(exponents, axis=1) + known.get("exponents", 0))
    return dict(zip(("sign", "logarithm"), parts, strict=True))


def rejected_determinants(operands: tuple[Float32, ...], nothing: Float32, diagnostics: Float32) -> NDArray[np.intp]:
    """Which determinants of a stack are made again, from U's diagonals and the largest entries of U's columns."""
    (a,) = operands
    u, largest, *_ = np.moveaxis(diagnostics, 1, 0)
    grew = ~(np.max(largest, axis=1) <= acceptance.allowed_growth(diagnostics.shape[-1])) | ~np.isfinite(u).all(axis=1)
    return np.flatnonzero(grew if acceptance.near_one(a) else grew | ~scaling.scales_near_one(a))


def most_batched(forms: Forms, limits: Limits) -> int:
    """Determinants that one plan may find at once; 0: they are looped."""
    n, most = forms[0].shape[-1], plu_batches.most_factors(forms, limits)
    return stack.most_small(4 * n, n * n, limits) if most and stack.is_small(forms) else most


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of a batch of determinants, with transitions for single matrices."""
    make = plu_batches.determinant_small if stack.is_small(forms) else plu_batches.determinant
    return replace(make(forms, limits), after=_after(forms[0].single, limits))


def sign_and_log(
    diagonal: NDArray[np.floating], pivots: NDArray[np.integer], exponents: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sign and logarithm of det(A), from U's diagonal, LAPACK's exchanges, and the sum of A's scaling exponents.

    All may be stacks.

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
    u, pivots = (acceptance.pairs(results[name], n) for name in ("diagonal", "pivots"))
    total = sum(np.sum(acceptance.pairs(results[f"{line}_exponents"], n)) for line in LINES)
    sign, logarithm = sign_and_log(u, pivots.astype(np.int32), total)
    return np.float32(sign), np.float32(logarithm)


def _value(forms: Forms, results: Any) -> Any:
    sign, logarithm = _sign_and_log(forms, results)
    return np.float32(sign * np.exp(np.float64(logarithm)))


def _tame(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A matrix whose determinant is near 1 for every n: normal entries of variance e / n."""
    return ((rng.standard_normal((n, n)) * np.sqrt(e / n)).astype(np.float32),)


SLOGDET = Operation(
    name="slogdet",
    formula="sign, log(abs(det(A)))",
    operands=("A",),
    results=("sign", "logabsdet"),
    check=partial(square, "slogdet"),
    flops=plu.PLU.flops,
    device_plan=device_plan,
    call_plan=call_plan,
    example=plu.example,
    trial=Trial(values=_sign_and_log),
    settle=settle,
    taken=Taken(fits=True),
    variants=plu.SOLVERS,
    thesis="rank2",
    batch=Batch(
        most_batched,
        batched,
        Layout(lambda forms: (0, 0), 4, kept=(0,), results=results),
        Filter(rejected_determinants, kind="determinant", scaled=scaling.of_system),
    ),
    function=Function(parts=2),
)

DET = replace(
    SLOGDET,
    name="det",
    formula="det(A)",
    results=("det",),
    check=partial(square, "det"),
    example=_tame,
    trial=replace(SLOGDET.trial, values=_value),
    function=replace(SLOGDET.function, host="glla.hybrid.host:det", parts=1),
)
