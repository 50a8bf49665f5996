"""Batches on the device solved with triangles: with one, which is one of two factors, or with factors.

    T, B linear --> packed factors --> two substitutions --> X linear, and diagnostics of each matrix that are read
    back

The substitutions are those of a batch from the host, see `glla.operations.elimination.plu_batches.substitute`. From the
diagnostics the host finds the matrices that failed at float32's limits. Diagnostics of large batches stay on the
device, which finds the matrices that may have failed: see `glla.operations.batches.linear_batches.flags`.
"""

from __future__ import annotations

from functools import partial

from glla.operations.batches import linear_batches
from glla.operations.batches.linear_batches import extremes_of, part_of_records, read_diagnostics
from glla.operations.elimination import plu_batches
from glla.operations.linear import create, elementwise, fold, move
from glla.operations.linear.view import View
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan
from glla.passes.cache import cached_plan


@cached_plan
def with_triangles(
    forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, unit_diagonal: bool = False, transposed: bool = False
) -> Plan:
    """Plan of T X = B, or with the transpose of T, for stacks of one shape but for rows and columns.

    Operands ``A``, which is T, and ``B``. Results ``matrices``: X. Diagnostics of each matrix: ``most_A``, T's largest
    magnitude; of the triangle alone ``least``, that is not zero, ``most``, and ``row``, the least of the rows' largest;
    ``diagonal``, the least on it, without `unit_diagonal`; ``columns_B`` and ``columns_X``, the largest in each column.
    They are read back; of a large stack ``flags`` are, in their place.

    `forms`: of T and B, with their views; in C order without. `lower`, `unit_diagonal`, `transposed`: as in
    `glla.operations.triangles.solve_triangular`.
    """
    size, (a, b) = limits.texture_size, map(View.of_form, forms)
    draft = Draft("solve_triangular")
    t, right = draft.operand("A", a.storage(size)), draft.operand("B", b.storage(size))
    side = move.triangle(a, not lower, (-1 if lower else 1) * unit_diagonal, size)
    kept, view = draft.call("triangle", side, A=t)["result"], View.of(a.shape)
    factors, flipped = kept, lower != unit_diagonal
    seen = view.moved(-2, -1) if flipped else view
    if unit_diagonal:
        ones = draft.call("ones", create.eye(a.shape[-2:], "float32", size))["result"]
        plan = elementwise.binary(seen, View.of(a.shape[-2:]), "add", size)
        factors, seen = draft.call("diagonal of ones", plan, A=kept, B=ones)["result"], view
    x = _solved(draft, (seen, factors), (b, right), transposed != flipped, limits)
    count, (n, columns) = forms[0].count, forms[1].matrix
    diagnostics: dict[str, str] = {}
    add_diagnostic = partial(_add_diagnostic, draft, diagnostics, size)
    add_diagnostic("most_A", t, a, "max_magnitude", (-2, -1))
    diagnostics |= draft.call("ends of the triangle", extremes_of(view, False, size), A=kept)
    rows = fold.fold(view.moved(-2, -1) if transposed else view, "max_magnitude", (-1,), size)
    of_rows = draft.call("rows", rows, A=kept)["total"]
    add_diagnostic("row", of_rows, View.of((*a.shape[:-1], 1)), "min_magnitude", (-2, -1))
    if not unit_diagonal:
        add_diagnostic("diagonal", t, _diagonal(a), "min_magnitude", (-1,))
    add_diagnostic("columns_B", right, b, "max_magnitude", (-2,))
    add_diagnostic("columns_X", x, View.of((count, n, columns)), "max_magnitude", (-2,))
    judge = linear_batches.flags_of_triangles(count, columns, False, unit_diagonal, size)
    return _with_diagnostics(draft, x, diagnostics, count * (len(diagnostics) + 2 * columns - 2), judge)


@cached_plan
def with_factors(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of L U X = B, rows in order, or with the transpose of L U.

    Operands ``A``, the factors, ``B``, and ``I``, the rows' numbers, int32, (..., n, 1): which row of B is taken, with
    `transposed` which row of the solution. Results ``matrices``: X. Diagnostics of each matrix, which are read as in
    `with_triangles`: ``most_A``, the factors' largest magnitude; ``least_U``, ``most_U``, ``least_B``, ``most_B``, of
    the largest in the columns; ``diagonal``, the least on U's; ``most_X``.
    `forms`, `limits`: as in `with_triangles`, of packed factors and of B. `transposed`: with the transpose.
    """
    size, (a, b) = limits.texture_size, map(View.of_form, forms)
    draft = Draft("lu_solve")
    lu, right = draft.operand("A", a.storage(size)), draft.operand("B", b.storage(size))
    numbers = View.of((*b.shape[:-1], 1), "int32")
    order, (n, columns) = draft.operand("I", numbers.storage(size)), forms[1].matrix

    def ordered(slot: str, seen: View) -> str:
        places = View.of((*seen.shape[:-1], 1), "int32").broadcast_to(seen.shape)
        return draft.call("rows in order", move.take_along_axis(seen, places, -2, size), A=slot, I=order)["result"]

    start = (b, right) if transposed else (View.of(b.shape), ordered(right, b))
    count = forms[0].count
    x, solutions = _solved(draft, (a, lu), start, transposed, limits), View.of((count, n, columns))
    diagnostics: dict[str, str] = {}
    add_diagnostic = partial(_add_diagnostic, draft, diagnostics, size)
    add_diagnostic("most_A", lu, a, "max_magnitude", (-2, -1))
    upper = draft.call("U", move.triangle(a, True, 0, size), A=lu)["result"]
    for name, slot, seen in (("U", upper, View.of(a.shape)), ("B", right, b)):
        ends = draft.call(f"columns of {name}", extremes_of(seen, True, size), A=slot)
        diagnostics |= {f"{end}_{name}": ends[end] for end in ("least", "most")}
    add_diagnostic("diagonal", lu, _diagonal(a), "min_magnitude", (-1,))
    add_diagnostic("most_X", x, solutions, "max_magnitude", (-2, -1))
    judge = linear_batches.flags_of_triangles(count, columns, True, False, size)
    solved = ordered(x, solutions) if transposed else x
    return _with_diagnostics(draft, solved, diagnostics, count * len(diagnostics), judge)


def _add_diagnostic(
    draft: Draft, to: dict[str, str], size: int, name: str, slot: str, seen: View, operation: str, axes: tuple[int, ...]
) -> None:
    to[name] = draft.call(name, fold.fold(seen, operation, axes, size), A=slot)["total"]


def _with_diagnostics(draft: Draft, x: str, diagnostics: dict[str, str], numbers: int, judge: Plan) -> Plan:
    """Return the plan, with diagnostics to read: all, or if they are many, flags of rejected matrices."""
    results = {"matrices": x}
    if 4 * numbers <= linear_batches.READ_WHOLE:
        results |= {name: read_diagnostics(draft, slot, name) for name, slot in diagnostics.items()}
    else:
        given = {SAMPLERS.get(name, name): slot for name, slot in diagnostics.items()}
        flags = draft.call("flags", judge, **{name: given[name] for name in judge.operands})["flags"]
        results |= {**diagnostics, "flags": read_diagnostics(draft, flags, "flags")}
    return draft.plan(results)


SAMPLERS = {"least_U": "least", "most_U": "most", "most_A": "whole"}
"""Diagnostics whose samplers in ``stack/flag_triangles.frag`` have other names."""


def _diagonal(a: View) -> View:
    """View of the diagonals of square matrices."""
    return View((*a.shape[:-1],), (*a.strides[:-2], a.strides[-2] + a.strides[-1]), a.offset, a.size, a.dtype)


def _solved(draft: Draft, lu: tuple[View, str], b: tuple[View, str], transposed: bool, limits: Limits) -> str:
    """Add the two substitutions, and passes that convert the operands and X; give X's slot."""
    size, (n, columns) = limits.texture_size, b[0].shape[-2:]
    count = b[0].count // (n * columns)
    raw = draft.call("records in", move.to_raw((lu[0], b[0]), size), A=lu[1], B=b[1])["raw"]
    inner = plu_batches.substitute((Form((count, n, n)), Form((count, n, columns))), limits, transposed=transposed)
    records = draft.call("substitute", inner, raw=raw)["records"]
    return part_of_records(draft, "matrices out", records, (count, n, columns), n * columns, 0, size)
