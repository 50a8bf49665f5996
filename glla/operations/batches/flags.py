"""Candidates for rejection in a large batch on a device: one number for each matrix is read, not its diagnostics.

The host then judges the candidates by their diagnostics, as those of its own batches; of batches with less than
`linear_batches.READ_WHOLE` bytes of diagnostics it judges all. So no matrix may be missed here; a few more do no harm.
"""

from __future__ import annotations

from glla.operations import acceptance
from glla.operations.acceptance import UNIT_ROUNDOFF
from glla.operations.batches import stack
from glla.operations.linear.view import Over, View, laid
from glla.passes import Draft, Plan, Uniform
from glla.passes.cache import cached_plan

NARROWER = 0.98
"""The device's limits relative to the host's, which sums in float64."""


@cached_plan
def plan(
    judged: str, norms: bool, lines: tuple[int, int, int], right_sides: bool, equilibrated: bool, texture_size: int
) -> Plan:
    """Plan that flags candidates for rejection in a batch: 1 for each of them, ``flags``. See ``stack/flag.frag``.

    Of determinants it gives ``turns``, too: the share of scaling and exchanges in each, in one number.

    `judged` ("system", "definite", "factors", "determinant"): whether diagnostics are those of systems and their PLU
    factors, of Cholesky factors, made or given, or of determinants. `norms`: whether norms must be finite. `lines`:
    matrices, lines of diagnostics of each, and their length. `right_sides`, `equilibrated`: whether there is a B, and
    whether A was equilibrated.
    """
    (count, number, order), turns = lines, judged == "determinant"
    names = ["F", "M_A", *(["L_A"] if judged != "definite" else []), *(["L_B", "M_B"] if right_sides else [])]
    names += ["N_A", "N_X"] if norms else []
    draft = Draft("flags")
    one = View.of((count,))
    operands = {
        name: draft.operand(name, (View.of(lines) if name == "F" else one).storage(texture_size)) for name in names
    }
    defines = {
        "SYSTEM": int(turns or judged == "system"),
        "TURNS": int(turns),
        "LINES": number,
        "RANGE_A": int("L_A" in names),
        "EQUILIBRATED": int(equilibrated),
        "RIGHT_SIDES": int(right_sides),
        "NORMS": int("N_A" in names),
    }
    most = NARROWER * acceptance.CHECK_PIVOTS_ABOVE_IN_BATCHES * (stack.BATCH_PROBES / order) ** 0.5 / UNIT_ROUNDOFF
    limits = (NARROWER * acceptance.allowed_growth(order), acceptance.SMALL / NARROWER, most, 2.0**-acceptance.NEAR_ONE)
    over = Over((count,), texture_size)
    results = {
        name: draft.slot(name, laid((count,), "float32", texture_size)) for name in ("flags", *["turns"] * turns)
    }
    draft.draw(
        "stack/flag",
        operands,
        tuple(results.values()),
        {**over.uniforms, "order": order, "limits": limits},
        {**defines, **over.defines},
    )
    return draft.plan(results, flops=8 * count * number * order)


@cached_plan
def of_triangles(count: int, columns: int, factors: bool, unit_diagonal: bool, texture_size: int) -> Plan:
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
    over, result = Over((count,), texture_size), draft.slot("flags", laid((count,), "float32", texture_size))
    defines = {"FACTORS": int(factors), "UNIT": int(unit_diagonal), **over.defines}
    draft.draw("stack/flag_triangles", operands, result, {**over.uniforms, **uniforms}, defines)
    return draft.plan({"flags": result}, flops=8 * count * (columns + 4))
