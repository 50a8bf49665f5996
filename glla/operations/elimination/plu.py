"""PLU factorisation A = P L U, in the manner of Doolittle; L, U and exchanges from packed factors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from glla.errors import GrowthWarning, NonFiniteError, OptionError, SingularMatrixError
from glla.operations import acceptance
from glla.operations.acceptance import BATCHED, FALLBACK, PROMISED, UNIT_ROUNDOFF, Continue, Done, Values, Verdict
from glla.operations.elimination import plu_batches
from glla.operations.elimination.columns import SIDE, ColumnByColumn, Manner
from glla.operations.elimination.panels import PANEL, factors_by
from glla.operations.elimination.pivot import NORMS, FactorSearch, flops, gather, known, rank2, steps, trace
from glla.operations.host.scaling import exponents
from glla.operations.layouts import packing
from glla.operations.layouts.crossing import at_home, bring_in, read_back, read_texels, upload, watch
from glla.operations.layouts.shapes import one_matrix
from glla.operations.product.register_blocks import buffers_hold
from glla.operations.record import (
    Batch,
    Choice,
    Chosen,
    Filter,
    Float32,
    Function,
    Interface,
    Layout,
    Operation,
    Trial,
    Way,
    builder,
    kept,
)
from glla.operations.routes import must_fit_a_texture
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Transition, resident, single_pass
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels
from glla.passes.storage import HostArray, Storage, matrix
from glla.passes.variant import Variant, Variants

VARIANTS = Variants() | {
    "rank2": Variant(
        "two columns a step, each step a rank-2 update of the whole rest of the matrix",
        "Brodtkorb 2007, section 4.1.3, listings 4.5 and 4.6",
    ),
    "blocked": Variant(
        "panels of 64 columns, a trailing update of rank 64 by the fast product, row exchanges fused into it",
        "LAPACK getrf",
        parameters={"UNROLL": (0, 1), "STRIPS": (0, 1), "BUFFERS": (0, 1)},
        on_gpu={"UNROLL": 1, "STRIPS": 1},
        rule="BUFFERS goes with STRIPS = 0",
        keeps_rule=lambda values: not (values["BUFFERS"] and values["STRIPS"]),
    ),
    "row_operations": Variant(
        "one element in a texel; a pass each for search, normalisation, exchange and rank-1 elimination of a column",
        "Galoppo, Govindaraju, Henson and Manocha 2005 (LU-GPU), partial pivoting or none",
    ),
    "row_operations_full": Variant(
        "one element in a texel; the pivot is the largest of all that remains: A = P L U Q, Q in the result columns",
        "Galoppo, Govindaraju, Henson and Manocha 2005 (LU-GPU), full pivoting",
        parameters={"SIDE": (SIDE, 2, 4, 16), "BRANCHES": (0, 1)},
    ),
    "row_vectors": Variant(
        "four elements of a row in a texel (4x1 packing), one column a step",
        "Moravanszky 2003 (packing); LU-GPU 2005 (passes)",
    ),
    "column_vectors": Variant(
        "four elements of a column in a texel (1x4 packing), one column a step",
        "Moravanszky 2003 (packing); LU-GPU 2005 (passes)",
    ),
    "extra_column": Variant(
        "row vectors, and an extra column at the left: multipliers, and the next column ahead of the others",
        "Brodtkorb, Saetra and Fladby 2007, section A.3.2 (local algorithm); in Brodtkorb 2007, appendix A",
    ),
}

MANNERS = {
    "row_operations": Manner(),
    "row_operations_full": Manner(complete=True),
    "row_vectors": Manner(columns=4),
    "column_vectors": Manner(rows=4),
    "extra_column": Manner(columns=4, extra_column=True),
}
"""Elimination of each variant that takes one column a step."""

UNPIVOTED = "row_operations"
"""Variant that can also run without pivoting: LU-GPU's LU, its PLU without search and exchange."""


BLOCKED_FROM, BLOCKED_FROM_IN_SOFTWARE, BUFFERED_FROM = 64, 256, 128
"""Columns, or rows if they are fewer, from which `blocked` is chosen, on a GPU, on a software rasteriser, and on one
that updates the trailing matrix through buffers (``benchmarks/results/thresholds.md``)."""


def choose(forms: Forms, limits: Limits, pivoting: str | None = None) -> Choice:
    """Pick the variant: the tuned one, else `blocked` from `BLOCKED_FROM` columns on; without pivoting `UNPIVOTED`."""
    (a,) = forms
    if pivoting == "none":
        return UNPIVOTED, ()
    tuned = limits.tuning("plu", *a.matrix)
    if tuned is not None:
        return tuned.variant, tuned.parameters
    through_buffers = buffers_hold(limits, a.matrix)
    in_software = BUFFERED_FROM if through_buffers else BLOCKED_FROM_IN_SOFTWARE
    least = in_software if limits.software else BLOCKED_FROM
    if min(a.matrix) < least or limits.texture_size < 4 * PANEL:  # the width of a panel's texture
        return "rank2", ()
    return "blocked", (("BUFFERS", 1),) if through_buffers else ()


def pivotings(variant: str) -> tuple[str, ...]:
    """Pivoting strategies that a variant knows, its default first.

    A block norm chooses two rows at once, so it is for variants that eliminate two columns at once.

    >>> pivotings("rank2"), pivotings("row_vectors"), pivotings("row_operations_full")
    (('partial', 'harmonic', 'geometric'), ('partial',), ('complete',))
    >>> pivotings("row_operations")
    ('partial', 'none')
    """
    if variant not in MANNERS:
        return tuple(NORMS)
    if variant == UNPIVOTED:
        return ("partial", "none")
    return ("complete",) if MANNERS[variant].complete else ("partial",)


@builder("plu", VARIANTS, choose, replaced="rank2", heeds=("pivoting",))
def plan(forms: Forms, limits: Limits, chosen: Chosen, pivoting: str | None = None, stop: int | None = None) -> Plan:
    """Plan of the factorisation of an m x n matrix on the device, m, n > 0.

    Operand ``A`` (packed). Results: ``LU``, L below the diagonal and U on and above it; ``pivots`` and ``health``, a
    texel for each step, see ``pivot/factor_records.frag``; from ``row_operations_full`` also ``columns``, the exchanges
    of columns, recorded as those of rows. About 2/3 n^3 flop; per step of two columns ``rank2`` and ``blocked`` take an
    elimination pass and 1 (block norms) or 2 (partial) search passes, of which a panel on a GPU saves one; the variants
    that go column by column take 9 or 10, a complete search more, no search 4.

    `parameters`: of the variant. ``blocked``: ``UNROLL``, write out the long loops, see ``strips/block_row.frag``;
    ``STRIPS`` and ``BUFFERS``, see `panels.BlockedFactors` and `panels.WholePanels`.
    ``row_operations_full``: ``SIDE``, of the squares by which a search is reduced; ``BRANCHES``, whether it compares by
    an explicit ``if``. `pivoting` ("partial", "harmonic", "geometric", "complete", "none"): see
    `glla.operations.elimination.pivot`, and `pivotings` for what a variant knows; by default the first of those.
    ``none`` takes every pivot where it is: whoever runs such a plan has to judge its factors. `stop`: end after this
    number of steps, two columns each, to look at a factorisation in progress. Not ``blocked``.
    """
    shape, variant, values = forms[0].matrix, chosen.variant, chosen.values
    pivoting = _pivoting(variant, pivoting)
    if stop is not None and stop < 1:
        raise OptionError(f"plu: stop must be at least 1, got {stop}")
    if variant in MANNERS:
        draft = Draft(f"plu[{variant}, {pivoting}]")
        columns = min(shape) if stop is None else min(2 * stop, min(shape))
        source = draft.operand("A", matrix(shape))
        manner = replace(MANNERS[variant], pivotless=pivoting == "none")
        made = ColumnByColumn(
            draft, source, shape, manner, columns, values.get("SIDE", SIDE), values.get("BRANCHES", 0)
        )
        return draft.plan(made.results, flops(shape))
    if variant == "blocked":
        if stop is not None:
            raise OptionError("plu: variant blocked takes no stop, its columns are not done two by two; use rank2")
        draft = Draft(f"plu[blocked, {pivoting}]")
        factors = factors_by(values)(draft, draft.operand("A", matrix(shape)), shape, pivoting, values)
        pivots, health = factors.records
        return draft.plan({"LU": factors.result, "pivots": pivots, "health": health}, flops(shape))
    count = steps(shape) if stop is None else min(stop, steps(shape))
    draft = Draft(f"plu[rank2, {pivoting}]")
    source = draft.operand("A", matrix(shape))
    search = FactorSearch(draft, shape, pivoting)
    lu = rank2(draft, source, shape, count, search)
    pivots, health = (draft.slot(name, Storage(1, count)) for name in ("pivots", "health"))
    search.records(count, (pivots, health))
    return draft.plan({"LU": lu, "pivots": pivots, "health": health}, flops(shape))


def _pivoting(variant: str, pivoting: str | None) -> str:
    """Pivoting strategy of a plan: the one asked for, if the variant knows it."""
    possible = pivotings(variant)
    if pivoting is None:
        return possible[0]
    if pivoting not in possible:
        if variant not in MANNERS:
            known(pivoting)
        raise OptionError(
            f"plu: variant {variant} goes column by column, so its pivoting must be {' or '.join(possible)}, "
            f"got {pivoting!r}; block norms are for rank2 and blocked"
        )
    return pivoting


@cached_plan
def diagonal(n: int) -> Plan:
    """Plan of U's diagonal beside the largest entries of U's columns: a pivot that is small beside it may be an error.

    Operand ``LU``, result ``diagonal``: a column of texels (u_2y, u_2y+1, s_2y, s_2y+1), s_i = max abs(u_ki).
    `n`: order of the (square, factored) matrix.
    """
    return single_pass("plu_diagonal", "plu/diagonal", {"LU": matrix((n, n))}, {"diagonal": Storage(texels(n), 1)})


@cached_plan
def factor(shape: Shape, which: str) -> Plan:
    """Plan that takes one factor out of the packed ones: ``"L"``, m x min(m, n), or ``"U"``, min(m, n) x n."""
    m, n = shape
    small = (m, min(m, n)) if which == "L" else (min(m, n), n)
    given, defines = {"LU": matrix(shape)}, {"LOWER": int(which == "L")}
    return single_pass(f"plu_{which}", "plu/factor", given, {which: matrix(small)}, {"shape": small}, defines)


@kept(VARIANTS)
def call_plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    pivoting: str = "partial",
    packed: bool = False,
    tried: str = "",
    **way: Unpack[Way],
) -> Plan:
    """Plan of a call: factors, their diagnostics, and the read-back of host results.

    `pivoting`: as in `plan`. `packed`: give the packed factors as `lu_factor` does; otherwise L and U. `tried`: a block
    norm that has failed.
    """
    (form,) = forms
    name = "lu_factor" if packed else "plu"
    must_fit_a_texture(name, form.matrix, limits)
    if pivoting == "none":
        return fallback_plan(form, limits, ("none",), **way)
    m, n = shape = form.matrix
    k = min(shape)
    draft = Draft(name)
    a = bring_in(draft, "A", form, limits)
    device_plan = plan((form.on_device,), limits, **way, pivoting=pivoting)
    made = draft.call("factor", device_plan, A=a)
    results = dict(made)
    watch(draft, "A", a, shape, results)
    u = draft.call("U", factor(shape, "U"), LU=made["LU"])["U"]
    watch(draft, "U", u, (k, n), results)
    results["exchanges"] = read_texels(draft, made["pivots"], "exchanges")
    if pivoting != "partial":
        results["health_read"] = read_texels(draft, made["health"], "health_read")
    if packed and not form.resident:
        results["lu"] = read_back(draft, made["LU"], shape, limits, "LU_read")
    elif packed:
        results["lu"] = results.pop("LU")
    if form.resident and not packed:
        went = trace(m, steps(shape), inverse=True)
        rows = draft.call("permutation", went, pivots=made["pivots"])["rows"]
        i = draft.call("I", packing.identity((m, m)))["I"]
        results["P"] = draft.call("P", gather((m, m)), A=i, rows=rows)["B"]
    if not packed:
        parts = {"L": (draft.call("L", factor(shape, "L"), LU=made["LU"])["L"], (m, k)), "U": (u, (k, n))}
        for name, (slot, size) in parts.items():
            results[name] = slot if form.resident else read_back(draft, slot, size, limits, f"{name}_read")
    again = partial(call_plan, forms, limits, pivoting="partial", tried=pivoting, packed=packed, **way)
    again_scaled = partial(fallback_plan, form, limits, in_turn(tried or pivoting), **way)
    worse = () if pivoting == "partial" else (Transition(WORSE, PARTIAL, again),)
    return draft.plan(results, after=(*worse, Transition(GREW, FALLBACK, again_scaled)))


@cached_plan
def fallback_plan(
    form: Form,
    limits: Limits,
    pivotings: tuple[str, ...],
    first: bool = True,
    instead: bool = False,
    **way: Unpack[Way],
) -> Plan:
    """Plan of one more try: scaled by a power of two on the host, with the first of these pivotings.

    The host judges the residual, and tries the next. After a block norm that found no good pivots partial pivoting
    comes `instead`. Without pivoting it is the whole call: nothing but a residual tells whether the factors are
    accepted.
    """
    shape, (pivoting, *others) = form.matrix, pivotings
    draft = Draft(f"fallback, {'partial' if instead else pivoting} pivoting")
    results = {}
    if first:
        a = at_home(draft, "A", form, limits)
        results = draft.host(SCALED, scaled_by_one, (a,), {"scaled A": shape, "exponent": (1,)})
    source = results.get("scaled A") or draft.operand("scaled A", HostArray(shape))
    norm = "partial" if instead else pivoting
    device_plan = plan(resident(shape), limits, **way, pivoting=norm)
    packed_a = upload(draft, source, shape, limits)
    made = draft.call("factor", device_plan, A=packed_a)
    after: tuple[Transition, ...] = ()
    if norm in BLOCK_NORMS:
        results["health_read"] = read_texels(draft, made["health"], "health_read")
        watch(draft, "A", packed_a, shape, results)
        worse = partial(fallback_plan, Form(shape), limits, pivotings, False, True, **way)
        after = (Transition(WORSE, _instead(pivoting), worse),)
    results["packed LU"] = read_back(draft, made["LU"], shape, limits, "LU_read")
    results["exchanges"] = read_texels(draft, made["pivots"], "exchanges")
    if others:
        further = partial(fallback_plan, Form(shape), limits, tuple(others), False)
        after += (Transition(f"the residual is above 30: try {others[0]} pivoting", _stage(others[0]), further),)
    elif norm == "none":
        after += (Transition("a pivot is zero, or the residual is above 30", error="SingularMatrixError: pivot"),)
    else:
        after += (
            Transition("the factors are not finite with any pivoting", error="NonFiniteError: they do not fit float32"),
            Transition("no pivoting keeps the residual below 30", error="GrowthWarning, and the best factors"),
        )
    return draft.plan(results, after=after)


BLOCK_NORMS = tuple(name for name in NORMS if name != "partial")

PARTIAL, ALONE = "partial pivoting", "one by one"
"""Names of stages."""

GREW, WORSE = "entries grew, or are beyond 2^-40 to 2^40", "the block norms found no good pivots"


def _stage(pivoting: str) -> str:
    """Name of the stage that tries another pivoting."""
    return f"fallback, {pivoting} pivoting"


def _instead(pivoting: str) -> str:
    """Name of the stage that comes after a block norm that found no good pivots."""
    return f"partial pivoting instead of {pivoting}"


def in_turn(first: str) -> tuple[str, ...]:
    """Pivotings in the order in which they are tried."""
    if first == "none":
        return (first,)
    return (first, *(name for name in NORMS if name != first))


SCALED = "scale by a power of two"
"""Work of the host, by its name in plans and traces."""


def scaled_by_one(a: Float32) -> tuple[Float32, NDArray[np.intc]]:
    """Scale a matrix by one power of two so that its largest entry is near 1; give the exponent, too."""
    exponent = exponents(np.max(np.abs(a), keepdims=True))
    return np.ldexp(a.astype(np.float64), -exponent).astype(np.float32), exponent


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """A matrix with entries between 0 and 10, as the thesis has them."""
    return (rng.uniform(0, 10, (n, n)).astype(np.float32),)


def pivot_records(pivots: NDArray[np.integer]) -> NDArray[np.float32]:
    """LAPACK's exchanges as pivot records, two to a texel."""
    steps = texels(len(pivots))
    rows = np.arange(2 * steps)  # the row behind an odd end stays where it is
    rows[: len(pivots)] = pivots
    records = np.zeros((1, steps, 4), dtype=np.float32)
    records[0, :, :2] = rows.reshape(-1, 2)
    return records


def permutation_of(pivots: NDArray[np.integer], rows: int) -> NDArray[np.intp]:
    """Order of the rows that LAPACK's exchanges lead to: (L U)[i] is row order[i] of A; of a stack, in each matrix.

    >>> permutation_of(np.array([1, 1]), 2)
    array([1, 0])
    """
    swaps = pivots.reshape(prod(pivots.shape[:-1]), pivots.shape[-1])
    if len(swaps) == 1:  # a list is faster, an element at a time
        one = list(range(rows))
        for i, j in enumerate(swaps[0].tolist()):
            one[i], one[j] = one[j], one[i]
        return np.array(one, dtype=np.intp).reshape(*pivots.shape[:-1], rows)
    order = np.tile(np.arange(rows), (len(swaps), 1))
    every = np.arange(len(swaps))
    for i, j in enumerate(swaps.T):
        order[every, j], order[:, i] = order[:, i].copy(), order[every, j]
    return order.reshape(*pivots.shape[:-1], rows)


def permutation_matrix(pivots: NDArray[np.integer], rows: int) -> Float32:
    """P of A = P L U.

    >>> permutation_matrix(np.array([1, 1]), 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    result = np.zeros((rows, rows), dtype=np.float32)
    result[permutation_of(pivots, rows), np.arange(rows)] = 1
    return result


def exchanges(records: Float32, k: int) -> NDArray[np.int32]:
    """LAPACK's ``piv``, from pivot records: at step i, row i was exchanged with row piv[i]."""
    return acceptance.pairs(records, k).astype(np.int32)


# -- which stage comes when -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packed:
    """Packed factors on the host, and how good they are."""

    lu: Float32  # as LAPACK's getrf has them
    pivots: NDArray[np.int32]
    growth: float  # largest entry of U beside that of A
    residual: float  # norm(P L U - A) / (max(m, n) norm(A) u), in the 1-norm; infinite where the factors are not finite

    @staticmethod
    def judged(a: Float32, lu: Float32, pivots: NDArray[np.int32]) -> Packed:
        """Judge the factors of a matrix."""
        k = min(a.shape)
        wide = lu.astype(np.float64)
        upper = np.triu(wide[:k])
        growth = float(np.max(np.abs(upper)) / np.max(np.abs(a), initial=np.finfo(np.float32).tiny))
        difference = (np.tril(wide[:, :k], -1) + np.eye(len(a), k)) @ upper - a[permutation_of(pivots, len(a))]
        error = float(np.max(np.sum(np.abs(difference), axis=0)))
        norm = float(np.max(np.sum(np.abs(a.astype(np.float64)), axis=0)))
        residual = error / (max(a.shape) * norm * UNIT_ROUNDOFF) if norm > 0 else 0.0
        return Packed(lu, pivots, growth, residual if np.isfinite(residual) else np.inf)


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Verdict on a factorisation: accepted, or another pivoting strategy is next.

    `Done` has ``piv``, LAPACK's exchanges; and ``lu``, the packed factors, where they were found on the host.
    `values` has ``pivoting``, the one asked for, if it is not the usual; ``check_finite``; ``function`` for messages.
    """
    if stage == BATCHED:
        return Continue(ALONE) if acceptance.finite(values, "A") else Done()  # let through on purpose
    k = min(forms[0].matrix)
    pivots = exchanges(values["exchanges"], k)
    unpivoted = values.get("pivoting") == "none"
    if stage in ("", ALONE, PARTIAL) and not unpivoted:
        return _usual(forms, stage, values, pivots)
    turns: tuple[str, ...] = values.get("turns") or in_turn(values["pivoting"])
    if turns[0] in BLOCK_NORMS and stage != _instead(turns[0]) and not _accepted(forms, values):
        return Continue(_instead(turns[0]), {"turns": turns})
    best: Packed | None = values.get("best")
    packed = Packed.judged(values["scaled A"], values["packed LU"], pivots)
    if best is None or packed.residual < best.residual:
        best = packed
    if best.residual > PROMISED and len(turns) > 1:
        return Continue(_stage(turns[1]), {"turns": turns[1:], "best": best})
    if unpivoted and best.residual > PROMISED and (values["check_finite"] or np.isfinite(values["scaled A"]).all()):
        return _no_pivot(values["function"], best)
    if np.isinf(best.residual) and values["check_finite"]:
        return acceptance.overflow(values["function"])
    upper = np.triu(np.ones(forms[0].matrix, dtype=bool))
    wide = np.ldexp(best.lu.astype(np.float64), np.where(upper, values["exponent"], 0))
    lu: Float32 = wide.astype(np.float32)
    lost = np.sum(np.abs(wide - lu), axis=0)
    norm = np.max(np.sum(np.abs(np.ldexp(values["scaled A"].astype(np.float64), values["exponent"])), axis=0))
    if np.isfinite(lost).all() and np.max(lost) > PROMISED * max(lu.shape) * UNIT_ROUNDOFF * norm:
        return NonFiniteError(
            f"{values['function']}: U must fit float32, its largest entry is {np.max(np.abs(wide[upper])):.4g}, "
            f"{acceptance.FEW_DIGITS}; scale A up, and U down"
        )
    warning = None if unpivoted else _warning(values["function"], best)
    return Done({"lu": lu, "piv": best.pivots}, warning)


def _usual(forms: Forms, stage: str, values: Values, pivots: NDArray[np.int32]) -> Verdict:
    """After the factors as they were asked for, or with partial pivoting in place of a block norm."""
    if not stage and values["pivoting"] != "partial" and not _accepted(forms, values):
        return Continue(PARTIAL)
    scale, a = float(values["largest_A"].flat[0]), values["A"]
    allowed = acceptance.allowed_growth(min(forms[0].matrix))
    if acceptance.size_near_one(scale) and scale > 0 and float(values["largest_U"].flat[0]) / scale <= allowed:
        return Done({"piv": pivots})
    there = bool(np.isfinite(a).all() and a.any()) if isinstance(a, np.ndarray) else np.isfinite(scale) and scale > 0
    return Continue(FALLBACK) if there else Done({"piv": pivots})  # let through on purpose, or zero


def _accepted(forms: Forms, values: Values) -> bool:
    """Whether factors with a block norm are accepted."""
    return acceptance.health_accepted(values["health_read"], float(values["largest_A"].flat[0]), min(forms[0].matrix))


def _no_pivot(function: str, found: Packed) -> SingularMatrixError:
    """Error for a matrix that has to exchange rows; names the first pivot that is zero, or the smallest."""
    pivots = np.abs(np.diagonal(found.lu))
    k = int(np.argmin(np.where(np.isnan(pivots), 0, pivots)))
    return SingularMatrixError(
        f"{function}: without pivoting no pivot may be zero or small beside its column, got {float(pivots[k]):.3g} "
        f"times the matrix's scale in column {k} and a normalised residual of {found.residual:.3g} ({PROMISED:g} is "
        'promised); use pivoting="partial"'
    )


def _warning(function: str, best: Packed) -> GrowthWarning | None:
    if best.residual <= PROMISED:
        return None
    return GrowthWarning(
        f"{function}: entries grow {best.growth:.3g} times in the elimination, and the residual norm(P L U - A) / "
        f"(max(m, n) norm(A) u) is {best.residual:.3g}, {PROMISED:g} is promised; glla.solve, inv and det may "
        "exchange columns too, scipy.linalg.lu has float64"
    )


def _named(forms: Forms, results: Mapping[str, Float32]) -> dict[str, NDArray[Any]]:
    """Packed factors by name: P and L and U would have to be made of them."""
    exchanged = (name for name in ("pivots", "columns") if name in results)
    return {"LU": results["LU"], **{name: exchanges(results[name], min(forms[0].matrix)) for name in exchanged}}


INTERFACE = Interface(
    stands_for="plu/rank2/eliminate",
    computes="a step of A = P L U, two columns of it: a fragment computes a texel of the new matrix; rows "
    "are exchanged, multipliers stay below the diagonal (plu/doolittle.glsl does it, and declares A, top and "
    "the inputs)",
    samplers={"A": "n x n, packed: the matrix before the step"},
    uniforms={"shape": ("ivec2", "rows and columns of A"), "top": ("int", "0: first row of the panel")},
    varyings={
        "k": ("int", "texel column of the step"),
        "exchange": ("ivec2", "rows p and q that come to rows 2k and 2k+1"),
        "block": ("vec4", "a, b, l, d': the pivot block, reduced: l = c / a, d' = d - l b"),
    },
    needed=("A",),
    result="LU",
    plan=lambda forms, limits, values: plan.__wrapped__(forms, limits, variant="rank2"),
)

SOLVERS = {name: VARIANTS[name] for name in ("rank2", "blocked")}
"""Variants by which systems are solved: with every pivoting strategy, and fast enough."""

PLU = Operation(
    name="plu",
    formula="A = P L U",
    operands=("A",),
    results=("P", "L", "U"),
    check=partial(one_matrix, "plu"),
    flops=lambda forms: forms[0].count * flops(forms[0].matrix),
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    trial=Trial(values=_named),
    variants=VARIANTS,
    choose=choose,
    settle=settle,
    function=Function(host="glla.hybrid.host:plu", parts=3),
    thesis="rank2",
    pivotings=pivotings,
    interface=INTERFACE,
)


@cached_plan
def _batched(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of a batch of factorisations, with transitions for single matrices."""
    again = partial(call_plan, tuple(form.single for form in forms), limits, packed=True)
    return replace(plu_batches.factor(forms, limits), after=(Transition(GREW, ALONE, again),))


def _results(known: Mapping[str, Any]) -> dict[str, Any]:
    """Packed factors of a batch, and exchanges, from the diagnostics of its plan, or their last line alone."""
    lines = known["line_2"] if "line_2" in known else known["diagnostics"]
    return {"lu": known["matrices"], "piv": lines[:, -1].astype(np.int32)}


@np.errstate(all="ignore")  # the range is checked afterwards
def _rejected(operands: tuple[Float32, ...], lu: Float32, diagnostics: Float32) -> NDArray[np.intp]:
    """Places of the matrices of a batch whose factors are rejected."""
    (a,), k = operands, diagnostics.shape[-1]
    scales = np.max(np.abs(a), axis=(1, 2)).astype(np.float64)
    grown = np.max(np.abs(np.triu(lu[:, :k])), axis=(1, 2))
    near = (scales >= 2.0**-acceptance.NEAR_ONE) & (scales <= 2.0**acceptance.NEAR_ONE)
    return np.flatnonzero(~((grown <= acceptance.allowed_growth(k) * scales) & near) & (scales > 0))


LU_FACTOR = replace(
    PLU,
    name="lu_factor",
    formula="A = P L U, packed",
    results=("lu", "piv"),
    check=lambda forms: None,
    call_plan=partial(call_plan, packed=True),
    trial=replace(PLU.trial, values=lambda forms, results: tuple(_named(forms, results).values())),
    batch=Batch(
        plu_batches.most_factors,
        _batched,
        Layout(lambda forms: forms[0].matrix, 3, kept=(2,), results=_results),
        Filter(_rejected, extras=("upper",)),
    ),
    function=replace(PLU.function, host="glla.hybrid.host:lu_factor", parts=2),
    interface=None,
    taken=replace(PLU.taken, fits=True),
)
