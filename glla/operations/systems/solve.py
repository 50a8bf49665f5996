"""Systems of linear equations A X = B, and the inverse, as the solution of A X = I."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from glla.operations import acceptance
from glla.operations.batches import stack
from glla.operations.elimination import factors, fallback, pivot, plu, plu_batches
from glla.operations.host import scaling
from glla.operations.layouts import packing
from glla.operations.layouts.crossing import (
    at_home,
    bring_in,
    laid_out,
    read_back,
    records_of,
    texels_of,
    upload,
    watch,
)
from glla.operations.layouts.shapes import aligned, square, system
from glla.operations.record import Batch, Filter, Float32, Function, Layout, Operation, Taken, Way
from glla.operations.systems import streams
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Transition, matrix, texture
from glla.passes.cache import cached_plan

FAR_FROM_SINGULAR = 2.0**18
"""Condition of small matrices up to which a solution is accepted: none up to 10^6 has a pivot near its rounding error,
see `glla.operations.acceptance.SINGULAR`."""

FEW = 64
"""Order of a system on the device up to which it is read back, and takes the plan of one of the host: that has at most
half of the passes, and three read-backs in place of seven. On an NVIDIA H100 a solution of order 4, 16 and 64 takes
0.50, 0.76 and 1.08 ms in place of 0.81, 0.90 and 1.13
(nvidia-h100-80gb-hbm3-pcie-sse2/experiments/2026-11-28-small.json)."""


def flops(forms: Forms) -> int:
    """Additions and multiplications: those of the factors, and 2 n^2 for each right-hand side."""
    n, columns = forms[1].matrix
    return forms[0].count * (pivot.flops((n, n)) + 2 * n * n * columns)


@cached_plan
def device_plan(forms: Forms, limits: Limits = PLAIN, *, equilibrate: bool = True, **way: Unpack[Way]) -> Plan:
    """Plan of the solution on the device: factors, then substitution. `variant` is one of `plu`."""
    (n, _), (_, columns) = (form.matrix for form in forms)
    draft = Draft("solve")
    a, b = (bring_in(draft, name, form.on_device, limits) for name, form in zip("AB", forms, strict=True))
    made = factors.factor(draft, a, (n, n), limits, equilibrated=equilibrate, **way)
    return draft.plan({"X": factors.substitute(draft, made, b, columns, limits)}, flops(forms))


@cached_plan
def call_plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    equilibrate: bool = True,
    inverse: bool = False,
    refine: bool = False,
    few: int = FEW,
    **way: Unpack[Way],
) -> Plan:
    """Plan of a call: with the diagnostics by which the solution is judged.

    With `inverse` B is the identity. Systems on the device up to order `few` are read back. With `refine` the matrix is
    scaled in float64 on the host, and corrections follow.
    """
    if refine:
        system = fallback.System(*forms[-1].matrix, limits, True)
        return replace(fallback.fallback_plan(system, forms, equilibrate), operation="solve, refined")
    a_form, b_form = (*forms, Form(forms[0].shape))[:2]
    n, columns = b_form.matrix
    homes = tuple(Form((1, *form.matrix)) for form in forms)
    small = max(n, columns) <= few and not any(way.values()) and most_batched(homes, limits)
    if small and any(form.resident for form in forms):
        return read_back_plan(forms, limits, equilibrate)
    draft = Draft("inv" if inverse else "solve")
    results: dict[str, str] = {}

    a = bring_in(draft, "A", a_form, limits, results)
    b = draft.call("I", packing.identity((n, n)))["I"] if inverse else bring_in(draft, "B", b_form, limits, results)
    made = factors.factor(draft, a, (n, n), limits, equilibrated=equilibrate, **way)
    x = factors.substitute(draft, made, b, columns, limits)
    results |= made.results | factors.read_exponents(draft, made)
    results["diagonal"] = factors.read_diagonal(draft, made)
    results["probe_solutions"] = factors.probe(draft, made, limits)
    if any(form.resident for form in forms):
        results["X"] = x
        watch(draft, "X", x, (n, columns), results)
    else:
        results["X"] = read_back(draft, x, (n, columns), limits, "X")
    return draft.plan(results, after=fallback.of_systems(forms, limits, equilibrate))


def read_back_plan(forms: Forms, limits: Limits, equilibrate: bool) -> Plan:
    """Plan of a small system on the device, or of an inverse: operands are read back for the plan of a batch of one.

    The solution is uploaded. Results beside it: whether it is ``rejected``, and largest entries.
    """
    names, shape = "AB"[: len(forms)], forms[-1].matrix
    homes, layout = tuple(Form((1, *form.matrix)) for form in forms), replace(SYSTEMS.layout, matrix=lambda _: shape)
    draft = Draft("solve" if forms[1:] else "inv")
    given = tuple(at_home(draft, name, form, limits) for name, form in zip(names, forms, strict=True))
    made = batched(homes, limits, equilibrate=equilibrate)
    storage = texture(made.slots["raw"])
    raw = draft.host("lay operands out", partial(laid_out, storage), given, {"raw": texels_of(storage)})["raw"]
    records = records_of(draft, "batch of one", made, raw)

    def judged(texels: Float32, *operands: Float32) -> tuple[Any, ...]:
        x, diagnostics = layout.parted(homes, texels.reshape(1, -1)[:, : layout.length(homes)])
        rejected = rejected_systems(tuple(one[np.newaxis] for one in operands), x, diagnostics, equilibrate)
        return (x[0], rejected.size, *(np.abs(one).max(keepdims=True) for one in (x[0], *operands)))

    shapes = {"solution": shape, "rejected": (), **{f"largest_{name}": (1, 1) for name in ("X", *names)}}
    results = draft.host("acceptance", judged, (records, *given), shapes)
    results["X"] = upload(draft, results.pop("solution"), shape, limits)
    return draft.plan(results, after=_unless_accepted(forms, limits, equilibrate))


def _unless_accepted(forms: Forms, limits: Limits, equilibrate: bool) -> tuple[Transition, ...]:
    then = fallback.of_systems(forms, limits, equilibrate)[0]
    return (replace(then, when=f"{fallback.GREW}; or {fallback.SMALL}"),)


def streamed(
    forms: Forms, limits: Limits = PLAIN, room: int | None = None, *, refine: bool = False, **options: Any
) -> Plan | None:
    """Plan of a system in blocks of right-hand sides; None if it goes as a whole. A refined one always does."""
    return None if refine else streams.system(forms, limits, room, **options)


def most_batched(forms: Forms, limits: Limits) -> int:
    """Systems, or inverses, that one plan may find at once; 0: they are looped."""
    if stack.is_small(forms):
        n, columns = forms[-1].matrix
        return stack.most_small(n * (columns + 3), n * (n + columns), limits)
    return plu_batches.most_systems(forms, limits)


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN, *, equilibrate: bool = True) -> Plan:
    """Plan of a batch of systems, or of inverses, with transitions for single matrices."""
    make = plu_batches.solve_small if stack.is_small(forms) else plu_batches.solve
    made = make(forms, limits, equilibrate=equilibrate)
    return replace(made, after=_unless_accepted(tuple(form.single for form in forms), limits, equilibrate))


def are_regular(operands: Sequence[Float32], diagnostics: Float32, equilibrate: bool = True) -> NDArray[np.bool_]:
    """Which rejected matrices are well away from singular, by singular values in float64: their solutions are accepted.

    Only of order `stack.IN_REGISTERS` or less, where that takes microseconds and a closer look on the device a
    millisecond. Growth and numbers near float32's limits still need that look.

    >>> ones = np.ones((2, 3, 3), dtype=np.float32)
    >>> are_regular([np.stack([np.diag([1, 1, 1e-5]).astype(np.float32), ones[0]])], ones).tolist()
    [True, False]
    """
    a = operands[0]
    if a.shape[-1] > stack.IN_REGISTERS or a.shape[-2] != a.shape[-1]:  # a stand-in has no singular values
        return np.zeros(len(a), dtype=bool)
    sound = a.any(axis=(1, 2)) & np.isfinite(diagnostics).all(axis=(1, 2))
    sound &= np.logical_and.reduce([acceptance.each_near_one(one) for one in operands])
    sound &= _growth(a, diagnostics[:, 1], equilibrate) <= acceptance.allowed_growth(a.shape[-1])
    sizes = np.linalg.svd(a[sound].astype(np.float64), compute_uv=False)
    sound[sound] = sizes[:, -1] * FAR_FROM_SINGULAR > sizes[:, 0]
    regular: NDArray[np.bool_] = sound
    return regular


def _growth(a: Float32, largest: Float32, equilibrate: bool) -> Any:
    """How far entries grew, of a matrix or of each in a stack."""
    return np.max(largest, axis=-1) / (1.0 if equilibrate else np.max(np.abs(a), axis=(-2, -1)))


@np.errstate(all="ignore")  # the range is checked afterwards
def rejected_systems(
    operands: tuple[Float32, ...], x: Float32, diagnostics: Float32, equilibrate: bool = True
) -> NDArray[np.intp]:
    """Places of the matrices of a batch whose solutions are rejected.

    `operands` are stand-ins of 1 x 2 at first if they are on the device, see `linear_batches.extremes`.
    """
    a, n = operands[0], diagnostics.shape[-1]
    u, largest, squares = acceptance.side_by_side(diagnostics).transpose(0, 2, 1)
    growth = _growth(a, largest, equilibrate)
    norms = np.sqrt(np.sum(squares, axis=1, dtype=np.float64) / stack.BATCH_PROBES)
    sound = np.isfinite(u).all(axis=1) & (growth <= acceptance.allowed_growth(n))
    bad = ~sound | acceptance.inverse_is_large(norms, largest, acceptance.CHECK_PIVOTS_ABOVE_IN_BATCHES)
    bad |= (np.abs(u) <= acceptance.SMALL * largest).any(axis=1)
    for one in map(acceptance.largest_of_columns, operands[1:]):
        if not acceptance.near_one(one):
            bad |= ~acceptance.each_near_one(one)
    if not acceptance.near_one(a):
        bad |= ~(scaling.scales_near_one(a) if equilibrate else acceptance.each_near_one(a))
    places = np.flatnonzero(bad)
    if not len(places):
        return places
    return places[~are_regular([one[places] for one in operands], diagnostics[places], equilibrate)]


SYSTEMS = Batch(
    most_batched,
    batched,
    Layout(matrix=lambda forms: forms[-1].matrix, lines=3),
    Filter(rejected_systems, kind="system", scaled=scaling.of_system),
)
"""Batches of systems."""


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A system with entries of A between 0 and 10, as the thesis has them."""
    return rng.uniform(0, 10, (n, n)).astype(np.float32), rng.standard_normal((n, 1)).astype(np.float32)


SOLVE = Operation(
    name="solve",
    formula="A X = B",
    operands=("A", "B"),
    results=("X",),
    check=partial(system, "solve"),
    flops=flops,
    device_plan=device_plan,
    call_plan=call_plan,
    example=example,
    variants=plu.SOLVERS,
    thesis="rank2",
    taken=Taken(aligned=aligned, fits=True),
    settle=fallback.settle,
    batch=SYSTEMS,
    tiles=streamed,
    function=Function(vectors={"B": 1}, host="glla.hybrid.host:solve"),
)


# -- the inverse ------------------------------------------------------------------------------------------------------


def flops_of_inverse(forms: Forms) -> int:
    """Additions and multiplications as LAPACK counts an inverse, 2 n^3; substituting into all of I takes 8/3 n^3."""
    return 2 * forms[0].count * forms[0].shape[-1] ** 3


@cached_plan
def inverse_plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of the inverse on the device: factors, then substitution into the identity. `variant` is one of `plu`."""
    shape = forms[0].matrix
    draft = Draft("inv")
    a = draft.operand("A", matrix(shape))
    made = factors.factor(draft, a, shape, limits, equilibrated=True, **way)
    b = draft.call("I", packing.identity(shape))["I"]
    return draft.plan({"X": factors.substitute(draft, made, b, shape[0], limits)}, flops_of_inverse(forms))


INV = replace(
    SOLVE,
    name="inv",
    formula="A X = I",
    operands=("A",),
    check=partial(square, "inv"),
    flops=flops_of_inverse,
    device_plan=inverse_plan,
    call_plan=partial(call_plan, inverse=True),
    example=plu.example,
    batch=replace(SYSTEMS, layout=replace(SYSTEMS.layout, matrix=lambda forms: forms[0].matrix)),
    taken=Taken(fits=True),
    function=Function(host="glla.hybrid.host:inv"),
)
