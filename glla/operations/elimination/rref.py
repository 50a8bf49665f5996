"""Reduced row echelon form by Gauss-Jordan elimination in ping-pong passes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations import acceptance
from glla.operations.acceptance import Continue, Done, Values, Verdict
from glla.operations.elimination import equilibrate, factors, known, plu
from glla.operations.elimination.decided import by_float64, by_tolerance
from glla.operations.elimination.fallback import add_pivot_check
from glla.operations.elimination.panels import factors_by
from glla.operations.elimination.pivot import NORMS, TOLERANCE, EchelonSearch
from glla.operations.layouts import blocks
from glla.operations.layouts.crossing import at_home, bring_in, read_back, read_texels, texels_of, watch, write_texels
from glla.operations.layouts.shapes import one_matrix
from glla.operations.product.register_blocks import buffers_hold
from glla.operations.record import Choice, Chosen, Float32, Function, Interface, Operation, Trial, builder, kept
from glla.operations.routes import must_fit_a_texture
from glla.operations.triangles import triangular
from glla.operations.triangles.solved_blocks import Triangle
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Parameters, PingPong, Plan, Region, Transition, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels
from glla.passes.storage import HostArray, Storage, matrix
from glla.passes.variant import Variant, Variants

VARIANTS = Variants() | {
    "rank2": Variant(
        "Gauss-Jordan elimination, two columns a step, above and below at once",
        "Brodtkorb 2007, section 4.1.2, listings 4.3 and 4.4",
    ),
    "blocked": Variant(
        "blocked PLU of the whole matrix, then back substitution; for independent leading columns only",
        "LAPACK getrf and trtrs",
        parameters={"UNROLL": (0, 1), "STRIPS": (0, 1), "BUFFERS": (0, 1)},
        on_gpu={"UNROLL": 1, "STRIPS": 1},
        rule="BUFFERS goes with STRIPS = 0",
        keeps_rule=lambda values: not (values["BUFFERS"] and values["STRIPS"]),
    ),
}


BLOCKED_FROM = 32
"""Columns, or rows if they are fewer, from which `blocked` is chosen: it then has fewer passes
(``benchmarks/results/thresholds.md``)."""


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the variant to try first: the tuned one, else `blocked` from `BLOCKED_FROM` columns on."""
    (a,) = forms
    tuned = limits.tuning("rref", *a.matrix)
    if tuned is not None:
        return tuned.variant, tuned.parameters
    if min(a.matrix) < BLOCKED_FROM:
        return "rank2", ()
    return "blocked", (("BUFFERS", 1),) if buffers_hold(limits, a.matrix) else ()


def flops(shape: Shape, searched: int | None = None) -> int:
    """Additions and multiplications for an m x n matrix of full rank: about n^3 for a square one.

    With pivots among the first `searched` columns alone, if they are given.
    """
    m, n = shape
    return sum(2 * (m - 1) * (n - 1 - j) for j in range(min(m, searched or n)))


def steps(shape: Shape, pivoting: str) -> int:
    """Column pairs to eliminate.

    A block norm takes for granted that the first min(m, n) columns have the pivots (its health tells when not);
    ``partial`` looks at every column.

    >>> steps((4, 9), "harmonic"), steps((4, 9), "partial")
    (2, 5)
    """
    return texels(shape[1] if pivoting == "partial" else min(shape))


@builder("rref", VARIANTS, choose, replaced="rank2")
def plan(forms: Forms, limits: Limits, chosen: Chosen, pivoting: str = "harmonic", searched: int | None = None) -> Plan:
    """Plan of one elimination to the reduced row echelon form of an m x n matrix on the device, m, n > 0.

    Operands ``A`` (packed) and ``tolerance`` (absolute and relative). Results: ``R``, ``pivots_even`` and
    ``pivots_odd``, the records, and ``health`` of the last step. About n^3 flop; per step one elimination pass and 2
    (block norms) or 3 (partial) search passes.

    `variant`: a key of `VARIANTS`; by default that of `choose`. ``blocked`` gives other results, see `_blocked`.
    `parameters`: of the variant; those of ``blocked`` as for `glla.operations.elimination.plu.plan`. `pivoting`
    ("harmonic", "geometric", "partial"): see `glla.operations.elimination.pivot`. `searched`: leading columns that may
    have pivots, of ``rank2``; those behind ride along. By default all.
    """
    shape = forms[0].matrix
    if chosen.variant == "blocked":
        return _blocked(shape, pivoting, limits, chosen.values)
    leading = (shape[0], searched or shape[1])
    count = steps(leading, pivoting)
    draft = Draft(f"rref[rank2, {pivoting}]")
    storage = matrix(shape)
    front = PingPong(draft, "R", storage, draft.operand("A", storage))
    search = EchelonSearch(draft, leading, count, pivoting)
    for k in range(count):
        left = max(k - 1, 0)  # a finished column is final in both textures one step after its own
        with draft.scope("step", k):
            pivots, slot = search.step(k, front.front)
            draft.draw(
                "rref/eliminate",
                {"A": front.front, "pivots": pivots},
                front.back,
                {"k": k, "slot": slot, "shape": shape},
                region=Region(left, 0, storage.width - left, storage.height),
            )
        front.swap()
    return draft.plan({"R": front.front, **search.results(count)}, flops(shape, searched))


def _blocked(shape: Shape, pivoting: str, limits: Limits, values: Mapping[str, int]) -> Plan:
    """Plan of [I X], X = U^-1 (the rest of U), for a matrix whose first min(m, n) columns are independent.

    Of such a matrix the echelon form is known but for the columns behind. Whether it is one, the caller must see from
    the results ``diagonal`` (U's, as `glla.operations.elimination.plu.diagonal` has it) and ``health``, a texel for
    each step, and from the factors themselves, ``LU`` and ``pivots``.
    """
    m, n = shape
    draft = Draft(f"rref[blocked, {pivoting}]")
    factors = factors_by(values)(draft, draft.operand("A", matrix(shape)), shape, pivoting, values)
    (diagonal,) = draft.draw("plu/diagonal", {"LU": factors.result}, {"diagonal": Storage(texels(min(shape)), 1)})
    result = draft.slot("R", matrix(shape))
    if m < n:
        behind = (m, n - m)
        tail, taken = draft.slot("tail", matrix(behind)), {"origin": (0, m), "down": (1, 0), "right": (0, 1)}
        draft.draw("blocks/gather", {"A": factors.result}, tail, {**taken, "shape": behind})
        upper = Triangle(upper=True)
        with draft.scope("back substitution"):
            solution = triangular.substitute(draft, factors.result, tail, behind, upper, limits)
        draft.draw("rref/assemble", {"X": solution}, result, {"left": m, "shape": shape})
    else:
        draft.draw("packing/identity", {}, result, {"shape": shape})
    results = {"R": result, "LU": factors.result, "pivots": factors.records[0], "health": factors.records[1]}
    return draft.plan({**results, "diagonal": diagonal}, flops(shape))


PIVOT_EXPONENTS, TOLERANCES, FLOAT64 = (
    "exponents of the pivot columns, for the rows of R",
    "tolerances of the elimination",
    "echelon form in float64",
)
"""Work of the host, by its names in plans and traces."""

EPSILON = 2.0**-23
"""Distance from 1 to the next float32."""

SMALLEST_BLOCK_NORM = 2.0**-8
"""Smallest norm of a pivot block that counts as a pivot, in a matrix whose largest entries are 1 to 2."""


@kept(VARIANTS)
def call_plan(
    forms: Forms,
    limits: Limits = PLAIN,
    *,
    variant: str | None = None,
    parameters: Parameters = (),
    pivoting: str = "harmonic",
    tol: bool = False,
) -> Plan:
    """Plan of a call: the elimination, its diagnostics, and R scaled back.

    Operand ``A``. Results ``R`` and the diagnostics by which `settle` decides. `tol`: with an absolute tolerance, the
    operand ``tol``: the matrix is taken as it is. Otherwise rows and columns are scaled by powers of two first.
    """
    (form,) = forms
    shape = form.matrix
    must_fit_a_texture("rref", shape, limits)
    if variant is None:
        variant, parameters = choose(forms, limits)
    draft = Draft("rref")
    results: dict[str, str] = {}
    a = bring_in(draft, "A", form, limits)
    if tol or form.resident:
        watch(draft, "A", a, shape, results)
    scales: dict[str, str] = {}
    if not tol:
        scales = draft.call("equilibrate", equilibrate.plan(shape), A=a)
        a = scales.pop("scaled")
    options: dict[str, Any] = {"variant": variant, "parameters": parameters, "pivoting": pivoting}
    inputs = {} if variant == "blocked" else {"tolerance": _tolerances(draft, results, pivoting, tol)}
    rides = variant != "blocked" and not tol and known.fit(shape, limits)
    if rides:
        device_plan = plan(resident(known.wide(shape)), limits, **options, searched=shape[1])
        made = draft.call("eliminate", device_plan, A=known.join(draft, a, shape, limits), **inputs)
        r, results["coordinates"] = known.part(draft, made["R"], shape)
    else:
        made = draft.call("eliminate", plan(resident(shape), limits, **options), A=a, **inputs)
        r = made["R"]
        lu = made["LU"] if variant == "blocked" else draft.call("factor", plu.plan(resident(shape), limits), A=a)["LU"]
        results |= _regular(draft, lu, shape, limits)
    results |= _read_records(draft, made)
    if not tol:
        results |= {name: read_texels(draft, slot, f"{name}_read") for name, slot in scales.items()}
        r = _scaled_back(draft, r, shape, results, scales["column_exponents"])
    if form.resident:
        watch(draft, "R", r, shape, results)
    results["R"] = r if form.resident else read_back(draft, r, shape, limits, "R")
    after = _undecided(form, limits, tol)
    if not rides:
        close = partial(_check_pivots, form, limits, tol)
        after = (Transition("a pivot is small, or the inverse large", PIVOT_CHECK, close), *after)
    return draft.plan(results, flops(shape), after=after)


def _tolerances(draft: Draft, results: Mapping[str, str], pivoting: str, tol: bool) -> str:
    """Slot of the tolerances of the elimination by two columns."""
    given = (draft.operand("tol", HostArray((1,))), results["largest_A"]) if tol else ()

    def tolerances(tol: Any = (0.0,), largest: Any = (2.0,)) -> tuple[Float32]:
        absolute, scale = float(np.reshape(tol, -1)[0]), float(np.reshape(largest, -1)[0])
        if pivoting == "partial":
            return (np.array([[absolute, EPSILON]], dtype=np.float32),)
        return (np.array([[max(absolute, SMALLEST_BLOCK_NORM * scale / 2), 0.0]], dtype=np.float32),)

    (array,) = draft.host(TOLERANCES, tolerances, given, {"tolerances": texels_of(TOLERANCE)})
    return write_texels(draft, array, TOLERANCE)


def _read_records(draft: Draft, made: Mapping[str, str]) -> dict[str, str]:
    names = [name for name in ("pivots_even", "pivots_odd", "health") if name in made]
    return {name: read_texels(draft, made[name], name) for name in names}


def _regular(draft: Draft, lu: str, shape: Shape, limits: Limits) -> dict[str, str]:
    """Add diagnostics of the leading columns' independence: U's diagonal, and solutions for random numbers."""
    order = min(shape)
    if shape != (order, order):
        lu = draft.call("leading block", blocks.gather(shape, (order, order)), A=lu)["block"]
    leading = factors.FactorSlots((order, order), lu, "")
    diagonal = factors.read_diagonal(draft, leading)
    return {"LU": lu, "diagonal": diagonal, "probe_solutions": factors.probe(draft, leading, limits)}


def _scaled_back(draft: Draft, r: str, shape: Shape, results: Mapping[str, str], column_exponents: str) -> str:
    """Scale R: each row by the exponent of its pivot's column, the leading ones, each column back by its own."""
    m, order = shape[0], min(shape)
    storage = Storage(texels(m), 1)

    def of_rows(columns: Float32) -> tuple[Float32]:
        rows = np.zeros((texels(m), 1, 4), dtype=np.float32)
        flat = np.zeros(2 * texels(m), dtype=np.float32)
        flat[:order] = acceptance.pairs(columns, order)
        rows[:, 0, :2] = flat.reshape(-1, 2)
        return (rows,)

    given = (results["column_exponents"],)
    (made,) = draft.host(PIVOT_EXPONENTS, of_rows, given, {"exponents of R": texels_of(storage)})
    exponents = {"row_exponents": write_texels(draft, made, storage), "column_exponents": column_exponents}
    return draft.call("scale R", equilibrate.scale(shape, rows=-1, columns=1), A=r, **exponents)["scaled"]


def _undecided(form: Form, limits: Limits, tol: bool) -> tuple[Transition, ...]:
    return (
        Transition("a leading column may have no pivot", DECIDED, partial(in_float64, form, limits, tol)),
        Transition("entries are not finite, which was let through", THROUGH, partial(let_through, form, limits)),
    )


@cached_plan
def _check_pivots(form: Form, limits: Limits, tol: bool) -> Plan:
    """Plan of a close pivot check."""
    draft = Draft(PIVOT_CHECK)
    errors = add_pivot_check(draft, min(form.matrix), limits)
    return draft.plan({"errors": errors}, after=_undecided(form, limits, tol))


@cached_plan
def in_float64(form: Form, limits: Limits, tol: bool) -> Plan:
    """Plan of the echelon form on the host, see `glla.operations.elimination.decided`."""
    shape = form.matrix
    draft = Draft(DECIDED)
    a = at_home(draft, "A", form, limits)
    given = (a, draft.operand("tol", HostArray((1,)))) if tol else (a,)
    work = 6 * shape[0] * shape[1] * min(shape)
    return draft.plan(draft.host(FLOAT64, _decided, given, {"R": shape, "leading": (min(shape),)}, flops=work))


def _decided(a: Float32, tol: NDArray[np.float64] | None = None) -> tuple[Float32, NDArray[np.intp]]:
    r, pivots = by_float64(a) if tol is None else by_tolerance(a, float(tol[0]))
    return r, np.array(pivots, dtype=np.intp)


@cached_plan
def let_through(form: Form, limits: Limits, pivoting: str = "partial") -> Plan:
    """Plan of one elimination by two columns that is accepted as it is: for matrices with NaN or infinity."""
    shape = form.matrix
    draft = Draft(THROUGH)
    a = bring_in(draft, "A", form, limits)
    tolerance = write_texels(draft, draft.operand("tolerances", texels_of(TOLERANCE)), TOLERANCE)
    device_plan = plan(resident(shape), limits, variant="rank2", pivoting=pivoting)
    made = draft.call("eliminate", device_plan, A=a, tolerance=tolerance)
    r = made["R"] if form.resident else read_back(draft, made["R"], shape, limits, "R")
    return draft.plan({"R": r, **_read_records(draft, made)})


# -- which stage comes when -------------------------------------------------------------------------------------------

PIVOT_CHECK, DECIDED, THROUGH = "pivot check", "float64", "partial pivoting"
"""Names of the stages."""

SURE = 0.5
"""Smallest pivot norm that the device decides, in a matrix whose largest entries are 1 to 2; below, float64 decides."""

MARGIN = 4.0
"""Leading pivots must be this many times the rounding error that `solve` counts as zero, as A may be rounded, too."""


def settle(forms: Forms, stage: str, values: Values) -> Verdict:
    """Decide whether an elimination is accepted; `Done` has ``leading``, the pivot columns.

    equilibrate --> eliminate on the device --> are the leading columns independent, beyond doubt? --> done
                                                        | no
                                                        v
                    float64 on the host decides column by column, and gives R

    What the device finds is accepted where there is nothing to decide: every leading column has a pivot, which is
    surely none of rounding errors, and the entries did not grow. ``blocked`` sees that by its factors; ``rank2``, which
    has none, by columns of known coordinates that ride along, see `known`; with an absolute tolerance by factors of its
    own, made beside it. Any other matrix has columns whose pivots are small, or missing; which of them are zero depends
    on errors that the device has made on the way and cannot undo.

    `values` has ``tol``, an array of one number, or None; and ``pivoting``.
    """
    shape, tol = forms[0].matrix, values["tol"]
    if stage == DECIDED:
        return Done({"leading": tuple(int(j) for j in values["leading"])})
    if stage == THROUGH:
        return Done({"leading": records(values, shape, "partial")[0]})
    order = min(shape)
    if "coordinates" in values:
        accepted = (
            _in_range(values) and _pairs_found(shape, values, 2.0) and known.recovered(shape, values["coordinates"])
        )
    else:
        u, largest = acceptance.of_diagonal(values["diagonal"], order)
        if stage == PIVOT_CHECK:
            accepted = acceptance.first_rounded_off(u, largest, values["errors"], MARGIN) is None
        else:
            accepted = _accepted(shape, values, u, largest)
            if accepted and acceptance.needs_pivot_check(values, u, largest):
                if acceptance.zero_pivot(u) is None:
                    return Continue(PIVOT_CHECK)
                accepted = False
    if accepted:
        return Done({"leading": tuple(range(order))})
    if not acceptance.finite(values, "A"):  # let through on purpose: nothing can be decided
        tolerances = (0.0, EPSILON) if tol is None else (float(tol[0]), 0.0)
        return Continue(THROUGH, {"tolerances": np.array([tolerances], dtype=np.float32)})
    return Continue(DECIDED)


def _accepted(shape: Shape, values: Values, u: acceptance.Floats, largest: acceptance.Floats) -> bool:
    """Decide from the diagnostics of an elimination whether all leading columns have pivots, which may be small.

    Without a tolerance the matrix was equilibrated: its largest entries are below 2, and so is `scale`.
    """
    scale, tol = 2.0, 0.0
    if values["tol"] is not None:
        scale, tol = float(values["largest_A"].flat[0]), float(values["tol"][0])
        if not 2.0**-acceptance.NEAR_ONE <= scale <= 2.0**acceptance.NEAR_ONE:
            return False
    elif not _in_range(values):
        return False
    if "pivots_even" in values:
        smallest = float(records(values, shape, values["pivoting"])[1][2])  # large pivots are none of rounding errors
        sound = _pairs_found(shape, values, scale) and smallest >= SURE * scale / 2
    else:  # partial pivoting is judged by its growth alone
        sound = values["pivoting"] == "partial" or acceptance.health_accepted(values["health"], scale, min(shape))
    if not sound:
        return False
    return not acceptance.grew(acceptance.growth(u, largest, scale), min(shape)) and bool((np.abs(u) > tol).all())


def _in_range(values: Values) -> bool:
    """Whether the matrix was scaled by moderate powers of two."""
    largest = max(np.max(np.abs(values[f"{line}_exponents"])) for line in ("row", "column"))
    return bool(largest <= acceptance.NEAR_ONE)


def _pairs_found(shape: Shape, values: Values, scale: float) -> bool:
    """Whether an elimination by two columns found all leading pivots, and the entries did not grow."""
    pivots, (ratio, largest, _) = records(values, shape, values["pivoting"])
    order = min(shape)
    if pivots != tuple(range(order)):
        return False
    if values["pivoting"] == "partial":
        return bool(largest <= acceptance.allowed_growth(order))  # a sum of magnitudes in a column of R
    return acceptance.accepted(float(ratio), float(largest), scale, order)


def records(results: Mapping[str, Any], shape: Shape, pivoting: str) -> tuple[tuple[int, ...], Float32]:
    """Pivot columns, and the health of the last step, from the records of the elimination by two columns."""
    count = steps(shape, pivoting)
    found = np.empty((count, 4), dtype=np.float32)
    found[0::2] = results["pivots_even"].reshape(-1, 4)
    if count > 1:
        found[1::2] = results["pivots_odd"].reshape(-1, 4)[: count // 2]
    pivots = tuple(np.flatnonzero(found[:, :2] >= 0).tolist())  # two to a texel
    return pivots, results["health"].reshape(-1, 4)[(count - 1) // 2, :3]


def example(n: int, rng: np.random.Generator) -> tuple[Float32, ...]:
    """[A | b] of the thesis's experiment: A uniform in [0, 10), b the sums of its rows, so that the solution is 1."""
    a = rng.uniform(0, 10, (n, n)).astype(np.float32)
    return (np.column_stack([a, a.sum(axis=1, dtype=np.float64).astype(np.float32)]),)


def _values(forms: Forms, results: Mapping[str, Float32]) -> Any:
    shape = forms[0].matrix
    if "pivots_even" not in results:
        return results["R"], tuple(range(min(shape)))
    return results["R"], records(results, shape, "harmonic")[0]


INTERFACE = Interface(
    stands_for="rref/eliminate",
    computes="a step of the reduced row echelon form, two columns of it: a fragment computes a texel of the "
    "new matrix; rows are exchanged, the pivot rows normalised, all others reduced",
    samplers={"A": "n x n+1, packed: the matrix before the step"},
    uniforms={"k": ("int", "texel column of the step"), "shape": ("ivec2", "rows and columns of A")},
    varyings={
        "rows": ("ivec4", "r, p, s, q: row p comes to row r, then row q to row s"),
        "found": ("ivec2", "has column 2k a pivot (0, 1), has column 2k+1 one"),
        "block": ("vec4", "a, b, l, d': the pivot block, reduced: l = c / a, d' = d - l b"),
    },
    needed=("A", "k"),
    result="R",
    plan=lambda forms, limits, values: plan.__wrapped__(forms, limits, variant="rank2"),
)

RREF = Operation(
    name="rref",
    formula="R = rref(A)",
    operands=("A",),
    results=("R", "pivots"),
    check=partial(one_matrix, "rref"),
    flops=lambda forms: flops(forms[0].matrix),
    device_plan=plan,
    call_plan=call_plan,
    example=example,
    trial=Trial(values=_values, aside=lambda forms: {"tolerance": np.zeros((1, 1, 2), dtype=np.float32)}),
    settle=settle,
    variants=VARIANTS,
    choose=choose,
    function=Function(host="glla.hybrid.host:rref", parts=2),
    thesis="rank2",
    pivotings=lambda variant: ("harmonic", *(name for name in NORMS if name != "harmonic")),
    interface=INTERFACE,
)
