"""Cholesky factorisation A = L L^T of a symmetric positive definite matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from glla.errors import NotPositiveDefiniteError
from glla.operations.acceptance import BATCHED, FALLBACK, Continue, Done, Settle, Values, Verdict, near_one
from glla.operations.definite import stack_definite
from glla.operations.definite.cholesky_blocks import InPanels, InWholePanels, block16, rank2, sixteen
from glla.operations.host import scaling
from glla.operations.layouts.blocks import read_diagonal
from glla.operations.layouts.crossing import at_home, bring_in, read_back, upload, watch
from glla.operations.layouts.shapes import square
from glla.operations.record import Choice, Chosen, Float32, Function, Operation, Taken, Way, builder
from glla.passes import Draft, Forms, Plan, Transition, Variant, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.limits import PLAIN, Limits

SEED = '"Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2'
"""Source of the author's variants."""

BLOCKED_FROM, BLOCKED_FROM_IN_SOFTWARE = 64, 128
"""Orders from which `blocked` is chosen, on a GPU and on a software rasteriser (``benchmarks/results/thresholds.md``).
In software it is as fast from 64 on, but has more shaders to compile: 0.1 s."""

FUSED = 128
"""Largest order at which `blocked` factors 16 columns and updates the rest in one pass, on a GPU: the saved pass costs
more than the repeated work of its fragments (``benchmarks/results/thresholds.md``). In software it never does."""

VARIANTS = {
    "rank2": Variant(
        "two columns a step, each step a rank-2 update of the lower half of the rest of the matrix",
        f"{SEED}, in 2x2 blocks",
    ),
    "blocked": Variant(
        "panels of 64 columns, 16 at a time, the rest by the fast product, cut at the diagonal; small ones without",
        "LAPACK potrf",
        parameters={
            "PANEL": (64, 32, 96, 128),
            "FUSED": (0, 64, 128, 256),
            "UPDATE": (1, 0),
            "UNROLL": (0, 1, 2),
            "LEFT": (0, 1),
        },
        on_gpu={"PANEL": 96, "FUSED": FUSED, "UPDATE": 0, "UNROLL": 2, "LEFT": 1},
    ),
    "block16": Variant(
        "16 columns a step: the block on the diagonal, the strip below it, the whole rest; 3 N - 1 passes for N steps, "
        "of which the author made 4 N - 4 launches",
        SEED,
    ),
    "block16_rows": Variant(
        "as block16, with a pass for each block row of the rest: the update that the author found to be the bottleneck",
        SEED,
    ),
}

SCALED = "scale rows and columns by powers of two"
"""Work of the host, by its name in plans and traces."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant: the tuned one, else `blocked` for large matrices, see `BLOCKED_FROM`."""
    n, _ = forms[0].matrix
    tuned = limits.tuning("cholesky", n, n)
    if tuned is not None:
        return tuned.variant, tuned.parameters
    return ("blocked" if n >= (BLOCKED_FROM_IN_SOFTWARE if limits.software else BLOCKED_FROM) else "rank2"), ()


def flops(forms: Forms) -> int:
    """Additions and multiplications: about n^3 / 3."""
    n = forms[0].shape[-1]
    return forms[0].count * (n**3 // 3)


@builder("cholesky", VARIANTS, choose)
def plan(forms: Forms, limits: Limits, chosen: Chosen) -> Plan:
    """Plan of the factorisation of an n x n matrix on the device, n > 0.

    Operand ``A``, result ``L`` with zeros above the diagonal, both packed. Passes, with N = ceil(n / 16): ``rank2``
    ceil(n / 2); ``block16`` 3 N - 1; ``block16_rows`` 3 N - 1 + (N - 1) (N - 2) / 2, the last term those of the rows,
    one after the other; ``blocked`` about 3 N + N^2 / (2 p), p = PANEL / 16, and 3 N more with UNROLL; up to order
    FUSED N.

    `forms`: of A, of which the lower half is read. `parameters`: of the variant. ``blocked``: ``PANEL``, columns of a
    panel; ``FUSED``, largest order without panels, at which one pass makes 16 columns and updates all that remains;
    ``UPDATE``, whether the rest is updated by a pass for each 16 rows, A's panel in a uniform block (0), or by two
    passes, of which a fragment computes 4 x 2 texels (1); ``UNROLL``, whether the 16 columns of a step take one draw
    (0), or four with loops written out (1), and whether a fragment fetches the block on their diagonal as a whole and
    factors it in registers, with a reciprocal in place of the divisions of a column (2); ``LEFT``, whether columns of a
    panel lose the product of those on their left in one pass, when it is their turn (1), or all that remain after each
    16 columns (0).
    """
    variant, values, (n, _) = chosen.variant, chosen.values, forms[0].matrix
    fused = variant == "blocked" and n <= values["FUSED"]
    draft = Draft("cholesky[blocked, fused]" if fused else chosen.title)
    source = draft.operand("A", matrix((n, n)))
    if variant == "rank2":
        result = rank2(draft, source, n)
    elif fused:
        result = sixteen(draft, source, n)
    elif variant == "blocked":
        panels = InWholePanels if values["UPDATE"] else InPanels
        result = panels(draft, source, n, values).result
    else:
        result = block16(draft, source, n, by_rows=variant == "block16_rows")
    return draft.plan({"L": result}, flops(forms))


# -- plans of calls ---------------------------------------------------------------------------------------------------

FAR = "the diagonal of L is zero, or it or right-hand sides are beyond 2^-40 to 2^40, or X is not finite"
NOT_DEFINITE = Transition("a pivot is not above zero", error="NotPositiveDefiniteError: names the leading minor")
SMALL = Transition("X is too small", error="NonFiniteError: the solution must fit float32")


@dataclass(frozen=True, eq=False)
class Kind:
    """A factorisation, or a solution with new or given factors, of definite matrices that are stored in some way."""

    name: str  # of the operation
    # (draft, slots of A and of B if there is one, forms, limits, lower=, **way) -> slots by name: ``L`` or ``X`` on the
    # device, and ``diagonal``, that of L, read back
    add: Callable[..., dict[str, str]]
    # (A, lower=) -> A scaled symmetrically by powers of two, and the exponents of rows and columns; for given factors
    # (C, B, lower=) -> both scaled, and the exponents of rows and columns
    scale: Callable[..., Any]
    work: str = SCALED  # name of this work of the host in plans
    as_stored: bool = False  # given factors are read as they are where they are transposed


@cached_plan
def call_plan(kind: Kind, forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of a call: the factor or the solution, and L's diagonal, which says whether the matrix is definite."""
    draft, results, solves = Draft(kind.name), dict[str, str](), len(forms) > 1
    result, far = ("X", FAR) if solves else ("L", "entries of the diagonal are zero, or beyond 2^-40 to 2^40")
    given = [
        bring_in(draft, name, form, limits, results) if solves else bring_in(draft, name, form, limits)
        for name, form in zip("AB", forms, strict=False)
    ]
    results |= kind.add(draft, *given, forms, limits, lower=lower, **way)
    if not any(form.resident for form in forms):
        results[result] = read_back(draft, results[result], forms[-1].matrix, limits, result)
    elif solves:
        watch(draft, "X", results["X"], forms[-1].matrix, results)
    again = partial(fallback_plan, kind, forms, limits, lower=lower, **way)
    return draft.plan(results, after=(Transition(far, FALLBACK, again), NOT_DEFINITE))


@cached_plan
def fallback_plan(kind: Kind, forms: Forms, limits: Limits, *, lower: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of the same with A scaled on the host, so that its diagonal is near 1; operands on the device are read back.

    Right-hand sides are scaled by rows as A, and then by columns, whose exponents are ``sizes``.
    """
    draft, (shape, *sides) = Draft(FALLBACK), [form.matrix for form in forms]
    given = tuple(at_home(draft, name, form, limits) for name, form in zip("AB", forms, strict=False))
    scale, names = partial(kind.scale, lower=lower), dict[str, tuple[int, ...]]({"scaled A": shape})
    if sides:
        names |= {"scaled B": sides[0], "column exponents": (shape[1], 1), "sizes": (sides[0][1],)}
    else:
        names["exponents"] = (shape[1], 1)
    made = draft.host(kind.work, partial(scaling.definite_system if sides else scaling.definite, scale), given, names)
    at = [upload(draft, made[f"scaled {name}"], form.matrix, limits) for name, form in zip("AB", forms, strict=False)]
    results = kind.add(draft, *at, forms, limits, lower=lower, **way)
    result = "X" if sides else "L"
    results[result] = read_back(draft, results[result], forms[-1].matrix, limits, result)
    results |= {name: slot for name, slot in made.items() if not name.startswith("scaled")}
    return draft.plan(results, after=(NOT_DEFINITE, SMALL) if sides else (NOT_DEFINITE,))


def _factored(
    draft: Draft, a: str, forms: Forms, limits: Limits, lower: bool = False, **way: Unpack[Way]
) -> dict[str, str]:
    """Add the factorisation, and the read-back of the diagonal of L."""
    shape = forms[0].matrix
    made = draft.call("factor", plan(resident(shape), limits, **way), A=a)["L"]
    return {"L": made, "diagonal": read_diagonal(draft, made, shape[0], limits, "diagonal of L")}


DENSE = Kind("cholesky", _factored, scaling.of_definite)
"""The factor of a matrix as it is."""


def ladder(far: Callable[[Forms, Values], bool], factored: Callable[[Forms, str, Values], Verdict]) -> Settle:
    """Make the `settle` of definite matrices: a fallback, an error that names a minor, or a verdict on the factor.

    `far`: whether A must be scaled on the host before anything is said of it. `factored`: (forms, stage, values) ->
    verdict on a matrix with a diagonal of L above zero.
    """

    def decide(forms: Forms, stage: str, values: Values) -> Verdict:
        if stage == BATCHED or (not stage and far(forms, values)):
            return Continue(FALLBACK)
        exponents = values.get("exponents", values.get("column exponents", 0))
        error = flaw(values["function"], values["diagonal"].reshape(-1), values["which"], exponents)
        return factored(forms, stage, values) if error is None else error

    return decide


def of_factors(unscale: Callable[..., scaling.Floats] = scaling.factor_back) -> Settle:
    """Make the `settle` of factors. `Done` has ``L`` where A was scaled: `unscale` multiplies rows by powers of two."""

    def factored(forms: Forms, stage: str, values: Values) -> Verdict:
        if not stage:
            return Done()
        return Done({"L": unscale(values["L"], values.get("lower"), values["exponents"]).astype(np.float32)})

    return ladder(lambda _, values: is_far(values["diagonal"].reshape(-1)), factored)


def is_far(diagonal: Float32) -> bool:
    """Whether a matrix must be scaled before anything is said of it: pivots are far from 1, or zero.

    A GPU may take denormals for zero; scaled, they are none.
    """
    return not near_one(diagonal) or bool((diagonal == 0).any())


def flaw(function: str, diagonal: Float32, which: str, exponents: Any = 0) -> NotPositiveDefiniteError | None:
    """Error for a diagonal of L that is not above zero: names the first leading minor that is not positive.

    `exponents` are those by which rows and columns of A were scaled.
    """
    bad = np.flatnonzero(~(diagonal > 0))
    if not len(bad):
        return None
    place = int(bad[0])
    pivot = float(np.ldexp(float(diagonal[place]), 2 * np.broadcast_to(np.ravel(exponents), diagonal.shape)[place]))
    error = NotPositiveDefiniteError(
        f"{function}: Matrix is not positive definite{which}: its leading minor of order {place + 1} is not, as pivot "
        f"{place} is {pivot:.3g}; a covariance matrix may need a small number added to its diagonal"
    )
    error.pivot = pivot
    return error


def on_host(a: Float32, function: str = "cholesky") -> Float32:
    """Factor on the CPU, by LAPACK. Raises NotPositiveDefiniteError: a pivot is not above zero."""
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        raise NotPositiveDefiniteError(f"{function}: Matrix is not positive definite") from None


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A symmetric positive definite matrix, B B^T / n + I with B normal."""
    b = rng.standard_normal((n, n))
    return ((b @ b.T / n + np.eye(n)).astype(np.float32),)


STACKS = stack_definite.batch(stack_definite.factor, partial(fallback_plan, DENSE), NOT_DEFINITE)
"""Batches of small matrices."""

CHOLESKY = Operation(
    name="cholesky",
    formula="A = L L^T",
    operands=("A",),
    results=("L",),
    check=partial(square, "cholesky"),
    flops=flops,
    device_plan=plan,
    call_plan=partial(call_plan, DENSE),
    example=example,
    settle=of_factors(),
    batch=STACKS,
    taken=Taken(fits=True),
    variants=VARIANTS,
    choose=choose,
    function=Function(host="glla.operations.definite.cholesky:on_host"),
    thesis="rank2",
)


@cached_plan
def whole_factor(forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, **way: Unpack[Way]) -> Plan:
    """Plan of a call of `cho_factor`: the factor of A, or of its transpose, as stored."""
    (form,) = forms
    alike = form.matrix == (1, 1) and not form.resident  # is the transpose of itself, in C order
    given = form if lower or alike else replace(form, transposed=not form.transposed)
    return call_plan(DENSE, (given,), limits, **way)


def factor_on_host(a: Float32) -> tuple[Float32, bool]:
    """Factor on the CPU, as `cho_factor` does by default: the upper factor of the upper half.

    Raises NotPositiveDefiniteError: a pivot is not above zero.
    """
    return on_host(np.swapaxes(a, -1, -2), "cho_factor").swapaxes(-1, -2), False


CHO_FACTOR = replace(
    CHOLESKY,
    name="cho_factor",
    check=partial(square, "cho_factor"),
    call_plan=whole_factor,
    results=("c", "lower"),
    trial=replace(CHOLESKY.trial, values=lambda forms, results: (results["L"], True)),
    function=replace(CHOLESKY.function, host="glla.operations.definite.cholesky:factor_on_host", parts=2),
)
"""The public factorisation that returns a factor for `cho_solve`."""
