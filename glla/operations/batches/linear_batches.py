"""Batches on the device: the plan of a batch, with passes that convert operands and results.

    A, B linear --> raw --> plan of a stack from the host --> records --> X linear, and diagnostics that are read back

Besides the diagnostics of the plan there are the extremes of the operands, which acceptance needs as well: for each
matrix two numbers, the smallest nonzero magnitude and the largest one, of A's entries, and of the largest entries in
B's columns. All of them are read back; or, if they are many and the device judges them itself, one number for each
matrix, and the diagnostics of the rejected ones. The host then judges these candidates by their diagnostics, as those
of its own batches. So `flags` may miss no matrix; a few more do no harm.
"""

from __future__ import annotations

import numpy as np

from glla.operations import acceptance
from glla.operations.acceptance import UNIT_ROUNDOFF
from glla.operations.batches import retry, stack
from glla.operations.linear import create, elementwise, fold, move
from glla.operations.linear.view import Over, View, laid
from glla.operations.record import ACCEPTED, Batch, Float32
from glla.passes import Draft, Form, Forms, HostArray, Limits, Plan, Uniform, texture
from glla.passes.cache import cached_plan

READ_WHOLE = 2**18
"""Bytes of diagnostics up to which all are read: at 6 GB/s 40 us, less than gathering those of some matrices."""

SMALLEST = np.finfo(np.float32).smallest_subnormal
"""Smallest float32 above zero."""

NARROWER = 0.98
"""The device's limits relative to the host's, which sums in float64."""


@cached_plan
def plan(batch: Batch, forms: Forms, limits: Limits, **options: object) -> Plan:
    """Plan of a stack of matrices on the device: `Batch.device_plan`, if there is one, or that of records.

    Operands ``A``, ``B``. Results that stay on the device, linear: ``matrices``, if the records hold some; ``largest``
    of each record, if it is marked, or without a filter. Results that are read: ``diagnostics``, or ``line_0`` and so
    on where lines are kept; ``most_A`` and so on; and of `Filter.extras` ``least_A`` and so on, ``most_upper``,
    ``norms_A`` and ``norms_matrices``. Where the device judges, all but kept lines and the norms of a ``system`` stay
    there, and ``flags`` are read, see `flags`.

    `batch`: of the operation. `forms`: of the stacks, of one shape but for rows and columns, with their views
    (`Form.view`); in C order without. `options`: of the operation.
    """
    if batch.device_plan is not None:
        return batch.device_plan(forms, limits, **options)
    size = limits.texture_size
    at_home = tuple(Form((form.count, *form.matrix)) for form in forms)
    made = retry.with_retry(batch, at_home, limits, **options)
    draft = Draft(made.operation)
    views = list(map(View.of_form, forms))
    slots = {name: draft.operand(name, view.storage(size)) for name, view in zip("AB", views, strict=False)}
    raw = draft.call("records in", move.to_raw(tuple(views), size), **slots)["raw"]
    records = draft.call("stack", made, raw=raw)["records"]
    count, length, shape = forms[0].count, batch.layout.length(forms), batch.layout.matrix(forms)
    results: dict[str, str] = {}
    kind = ""
    if shape != (0, 0):
        matrices = part_of_records(draft, "matrices out", records, (count, *shape), length, 0, size)
        results["matrices"] = matrices
    if batch.filter is ACCEPTED or batch.filter.marked:
        first = View.of((count, *shape)).sliced((slice(None), slice(batch.filter.marked or None)))
        largest = draft.call("largest of the records", extremes_of(first, False, size, False), A=matrices)
        results["largest"] = largest["most"]
    layout, extras = batch.layout, batch.filter.extras
    if layout.lines:
        order = layout.order(forms)
        lines = (count, layout.lines, order)
        start = shape[0] * shape[1]
        kind = batch.filter.kind if 4 * count * (layout.lines * order + 2 * len(forms)) > READ_WHOLE else ""
        kept = layout.kept if kind or not batch.filter.kind else ()
        for line in kept:
            one, at = (count, 1, order), start + line * order
            results[f"line_{line}"] = part_of_records(draft, f"line {line} out", records, one, length, at, size)
        if kind or not kept:
            results["diagnostics"] = part_of_records(draft, "diagnostics out", records, lines, length, start, size)
        for number, (name, view) in enumerate(zip(slots, views, strict=True)):
            least = "least" in extras
            asked = extremes_of(view, least and number > 0, size, least)
            extremes = draft.call(f"extremes of {name}", asked, A=slots[name])
            results |= {f"{end}_{name}": extremes[end] for end in asked.results}
        if "upper" in extras:
            upper = draft.call("largest of U", _largest_of_upper(View.of((count, *shape)), order, size), A=matrices)
            results["most_upper"] = upper["most"]
    if "norms" in extras:
        inverse = View.of((count, *shape))
        for name, slot, view in (("A", slots["A"], views[0]), ("matrices", matrices, inverse)):
            results[f"norms_{name}"] = draft.call(f"norms of {name}", _norms(view, size), A=slot)["norms"]
    read = [name for name in results if name not in ("matrices", "largest")]
    if kind:
        norms = "norms" in extras and kind != "system"  # of systems they are results
        judge = flags(kind, norms, lines, "B" in slots, bool(options.get("equilibrate", True)), size)
        given = {sampler: results[name] for sampler, name in SAMPLERS.items() if sampler in judge.operands}
        made_there = draft.call("flags", judge, **given)
        wanted = ("line", "norms") if kind == "system" else ("line",)
        results |= made_there
        read = [*made_there, *(name for name in read if name.startswith(wanted))]
    results |= {name: read_diagnostics(draft, results[name], name) for name in read}
    return draft.plan(results, after=made.after)


SAMPLERS = {
    "F": "diagnostics",
    **{f"{end[0].upper()}_{name}": f"{end}_{name}" for name in "AB" for end in ("least", "most")},
    "N_A": "norms_A",
    "N_X": "norms_matrices",
}
"""Results of `plan` that ``stack/flag.frag`` reads, by its samplers."""


def part_of_records(
    draft: Draft, name: str, records: str, shape: tuple[int, int, int], length: int, start: int, texture_size: int
) -> str:
    """Add the pass that takes a part out of all records, `start` elements from where each begins; give its slot."""
    count, rows, columns = shape
    if texture(draft.slots[records]).channels == 1:
        plan = move.from_raw((rows, columns), length, texture_size, start, count)
        return draft.call(name, plan, raw=records)["result"]
    stride = stack.stride(length)
    part = View(shape, (stride, columns, 1), start, count * stride)
    return draft.call(name, move.copy(part, texture_size), A=records)["result"]


def read_diagnostics(draft: Draft, slot: str, name: str) -> str:
    """Add the read-back of a linear array; give the slot of the array of the host, with the spare elements."""
    storage = texture(draft.slots[slot])
    target = draft.slot(f"{name} of the host", HostArray((storage.height * storage.width * storage.channels,)))
    draft.transfer(slot, target)
    return target


@cached_plan
def extremes_of(a: View, of_columns: bool, texture_size: int, both: bool = True) -> Plan:
    """Plan of the least magnitude that is not zero, and the largest one, of each matrix: ``least`` and ``most``.

    With `of_columns` of the largest magnitudes of the columns. Not `both`: ``most`` alone, NaN or infinity where the
    matrix holds some.
    """
    draft = Draft("extremes")
    slot = draft.operand("A", a.storage(texture_size))
    if of_columns:
        slot = draft.call("columns", fold.fold(a, "max_magnitude", (-2,), texture_size), A=slot)["total"]
        a = View.of((*a.shape[:-2], 1, a.shape[-1]))
    most = draft.call("most", fold.fold(a, "max_magnitude", (-2, -1), texture_size), A=slot)["total"]
    if not both:
        return draft.plan({"most": most})
    beyond = draft.call("infinity", create.full((), np.inf, "float32", texture_size))["result"]
    zero = draft.call("zero", elementwise.cast(a, "bool", texture_size), A=slot)["result"]
    condition, one = View.of(a.shape, "bool"), View.of(())
    plan_ = elementwise.where(condition, a, one, texture_size)
    others = draft.call("others", plan_, C=zero, A=slot, B=beyond)["result"]
    least = draft.call("least", fold.fold(View.of(a.shape), "min_magnitude", (-2, -1), texture_size), A=others)["total"]
    return draft.plan({"least": least, "most": most})


@cached_plan
def _norms(a: View, texture_size: int) -> Plan:
    """Plan of the 1-norms of matrices: the largest sum of a column's magnitudes."""
    draft = Draft("norms")
    slot = draft.operand("A", a.storage(texture_size))
    sums = draft.call("columns", fold.fold(a, "sum_magnitudes", (-2,), texture_size), A=slot)["total"]
    columns = View.of((*a.shape[:-2], 1, a.shape[-1]))
    return draft.plan(
        {"norms": draft.call("largest", fold.fold(columns, "max", (-2, -1), texture_size), A=sums)["total"]}
    )


@cached_plan
def _largest_of_upper(lu: View, order: int, texture_size: int) -> Plan:
    """Plan of the largest magnitude on and above the diagonals of packed factors."""
    draft = Draft("largest of U")
    slot = draft.operand("A", lu.storage(texture_size))
    upper = draft.call("U", move.triangle(lu, True, 0, texture_size), A=slot)["result"]
    most = draft.call("most", fold.fold(lu, "max_magnitude", (1, 2), texture_size), A=upper)["total"]
    return draft.plan({"most": most})


def extremes(least: Float32, most: Float32, count: int) -> Float32:
    """Stand-ins of matrices that have the same extremes: one line of two elements each.

    A matrix in which a GPU sees nothing but zeros may hold denormals: its stand-in holds the smallest.
    """
    low, high = least.reshape(-1)[:count], most.reshape(-1)[:count]
    low = np.where(high == 0, SMALLEST, low)
    return np.stack([low, high], axis=1)[:, np.newaxis]


# -- candidates for rejection ------------------------------------------------------------------------------------------


@cached_plan
def flags(
    kind: str, norms: bool, lines: tuple[int, int, int], right_sides: bool, equilibrated: bool, texture_size: int
) -> Plan:
    """Plan that flags candidates for rejection in a batch: 1 for each of them, ``flags``. See ``stack/flag.frag``.

    Of determinants it gives ``turns``, too: the share of scaling and exchanges in each, in one number.

    `kind` ("system", "definite", "factors", "determinant"): whether diagnostics are those of systems and their PLU
    factors, of Cholesky factors, made or given, or of determinants. `norms`: whether norms must be finite. `lines`:
    matrices, lines of diagnostics of each, and their length. `right_sides`, `equilibrated`: whether there is a B, and
    whether A was equilibrated.
    """
    (count, number, order), turns = lines, kind == "determinant"
    names = ["F", "M_A", *(["L_A"] if kind != "definite" else []), *(["L_B", "M_B"] if right_sides else [])]
    names += ["N_A", "N_X"] if norms else []
    draft = Draft("flags")
    one = View.of((count,))
    operands = {
        name: draft.operand(name, (View.of(lines) if name == "F" else one).storage(texture_size)) for name in names
    }
    defines = {
        "SYSTEM": int(turns or kind == "system"),
        "TURNS": int(turns),
        "LINES": number,
        "RANGE_A": int("L_A" in names),
        "EQUILIBRATED": int(equilibrated),
        "RIGHT_SIDES": int(right_sides),
        "NORMS": int("N_A" in names),
    }
    most = NARROWER * acceptance.CHECK_PIVOTS_ABOVE_IN_BATCHES * (stack.BATCH_PROBES / order) ** 0.5 / UNIT_ROUNDOFF
    limits = (NARROWER * acceptance.allowed_growth(order), acceptance.SMALL / NARROWER, most, 2.0**-acceptance.NEAR_ONE)
    over, storage = Over((count,), texture_size), laid((count,), "float32", texture_size)
    uniforms: dict[str, Uniform] = {**over.uniforms, "order": order, "limits": limits}
    results = dict.fromkeys(("flags", *["turns"] * turns), storage)
    made = draft.draw("stack/flag", operands, results, uniforms, {**defines, **over.defines})
    return draft.plan(made, flops=8 * count * number * order)


@cached_plan
def flags_of_triangles(count: int, columns: int, factors: bool, unit_diagonal: bool, texture_size: int) -> Plan:
    """The same plan for batches of triangular systems. See ``stack/flag_triangles.frag``.

    `count`, `columns`: matrices, and columns of B. `factors`: whether they are solved with packed factors, or with one
    triangle. `unit_diagonal`: whether that has a diagonal of ones.
    """
    draft, one, each = Draft("flags"), View.of((count,)), View.of((count, columns))
    names = ["whole", "least", *(["diagonal"] if not unit_diagonal else [])]
    if factors:
        names += ["most", "least_B", "most_B", "most_X"]
        uniforms: dict[str, Uniform] = {"limits": (2.0**-acceptance.NEAR_ONE, 2.0**acceptance.NEAR_ONE)}
    else:
        names += [*(["row"] if not unit_diagonal else []), "columns_B", "columns_X"]
        uniforms = {"limits": (acceptance.TINY, acceptance.NORMAL), "columns": columns}
    operands = {
        name: draft.operand(name, (each if name.startswith("columns") else one).storage(texture_size)) for name in names
    }
    over, result = Over((count,), texture_size), {"flags": laid((count,), "float32", texture_size)}
    defines = {"FACTORS": int(factors), "UNIT": int(unit_diagonal), **over.defines}
    made = draft.draw("stack/flag_triangles", operands, result, {**over.uniforms, **uniforms}, defines)
    return draft.plan(made, flops=8 * count * (columns + 4))
