"""Stacks on the device that are solved with triangles: with one, which is one of two factors, or with factors.

    T, B wrapped --> packed factors --> two substitutions --> X wrapped, and figures of each member that are read back

The substitutions are those of a stack from the host, see `glla.operations.stack.substitute`. From the figures the host
tells which members were lost at float32's limits; it takes no part in anything else.
"""

from __future__ import annotations

from glla.operations import stack
from glla.operations.residents import extremes_of, read_figures, taken
from glla.operations.wrapped import create, elementwise, fold, move
from glla.operations.wrapped.view import View
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan
from glla.passes.cache import cached_plan


@cached_plan
def with_triangles(
    forms: Forms, limits: Limits = PLAIN, *, lower: bool = False, unit_diagonal: bool = False, transposed: bool = False
) -> Plan:
    """Plan of T X = B, or with the transpose of T, for stacks of one shape but for rows and columns.

    Parameters
    ----------
    forms : (Form, Form)
        Of T and B, with their views; in C order without.
    limits : Limits
        Of the device.
    lower, unit_diagonal, transposed : bool
        As in `glla.operations.solve_triangular`.

    Returns
    -------
    Plan
        Operands ``A``, which is T, and ``B``. Results ``matrices``: X. Read back for each member: ``whole``, T's
        largest magnitude; of the triangle alone ``least``, that is not zero, ``most``, and ``row``, the least of the
        rows' largest; ``diagonal``, the least on it, without `unit_diagonal`; ``columns_B`` and ``columns_X``, the
        largest in each column.
    """
    size, (a, b) = limits.texture_size, _views(forms)
    draft = Draft("solve_triangular")
    t, right = draft.operand("A", a.storage(size)), draft.operand("B", b.storage(size))
    side = move.triangle(a, not lower, (-1 if lower else 1) * unit_diagonal, size)
    kept, view = draft.call("triangle", side, A=t)["result"], View.of(a.shape)
    factors, flipped = kept, lower != unit_diagonal
    seen = _turned(view) if flipped else view
    if unit_diagonal:
        ones = draft.call("ones", create.eye(a.shape[-2:], "float32", size))["result"]
        plan = elementwise.binary(seen, View.of(a.shape[-2:]), "add", size)
        factors, seen = draft.call("diagonal of ones", plan, A=kept, B=ones)["result"], view
    x = _solved(draft, (seen, factors), (b, right), transposed != flipped, limits)
    results = {"matrices": x}

    def figure(name: str, slot: str, seen: View, operation: str, axes: tuple[int, ...]) -> str:
        made = draft.call(name, fold.fold(seen, operation, axes, size), A=slot)["total"]
        results[name] = read_figures(draft, made, name)
        return made

    figure("whole", t, a, "max_magnitude", (-2, -1))
    ends = draft.call("ends of the triangle", extremes_of(view, False, size), A=kept)
    results |= {name: read_figures(draft, ends[name], name) for name in ("least", "most")}
    rows = fold.fold(_turned(view) if transposed else view, "max_magnitude", (-1,), size)
    of_rows = draft.call("rows", rows, A=kept)["total"]
    figure("row", of_rows, View.of((*a.shape[:-1], 1)), "min_magnitude", (-2, -1))
    if not unit_diagonal:
        figure("diagonal", t, _diagonal(a), "min_magnitude", (-1,))
    figure("columns_B", right, b, "max_magnitude", (-2,))
    figure("columns_X", x, View.of((forms[0].count, *forms[1].matrix)), "max_magnitude", (-2,))
    return draft.plan(results)


@cached_plan
def with_factors(forms: Forms, limits: Limits = PLAIN, *, transposed: bool = False) -> Plan:
    """Plan of L U X = B, rows in order, or with the transpose of L U.

    Parameters
    ----------
    forms, limits
        As in `with_triangles`, of packed factors and of B.
    transposed : bool
        With the transpose.

    Returns
    -------
    Plan
        Operands ``A``, the factors, ``B``, and ``I``, the rows' numbers, int32, (..., n, 1): which row of B is taken,
        with `transposed` which row of the solution. Results ``matrices``: X. Read back for each member: ``whole``, the
        factors' largest magnitude; ``least_U``, ``most_U``, ``least_B``, ``most_B``, of the largest in the columns;
        ``diagonal``, the least on U's; ``most_X``.
    """
    size, (a, b) = limits.texture_size, _views(forms)
    draft = Draft("lu_solve")
    lu, right = draft.operand("A", a.storage(size)), draft.operand("B", b.storage(size))
    numbers = View.of((*b.shape[:-1], 1), "int32")
    order, (n, columns) = draft.operand("I", numbers.storage(size)), forms[1].matrix

    def ordered(slot: str, seen: View) -> str:
        places = View.of((*seen.shape[:-1], 1), "int32").broadcast_to(seen.shape)
        return draft.call("rows in order", move.take_along_axis(seen, places, -2, size), A=slot, I=order)["result"]

    start = (b, right) if transposed else (View.of(b.shape), ordered(right, b))
    x, solutions = _solved(draft, (a, lu), start, transposed, limits), View.of((forms[0].count, n, columns))
    results = {"matrices": ordered(x, solutions) if transposed else x}

    def figure(name: str, slot: str, seen: View, operation: str, axes: tuple[int, ...]) -> None:
        made = draft.call(name, fold.fold(seen, operation, axes, size), A=slot)["total"]
        results[name] = read_figures(draft, made, name)

    figure("whole", lu, a, "max_magnitude", (-2, -1))
    upper = draft.call("U", move.triangle(a, True, 0, size), A=lu)["result"]
    for name, slot, seen in (("U", upper, View.of(a.shape)), ("B", right, b)):
        ends = draft.call(f"columns of {name}", extremes_of(seen, True, size), A=slot)
        results |= {f"{end}_{name}": read_figures(draft, ends[end], f"{end}_{name}") for end in ("least", "most")}
    figure("diagonal", lu, _diagonal(a), "min_magnitude", (-1,))
    figure("most_X", x, solutions, "max_magnitude", (-2, -1))
    return draft.plan(results)


def _views(forms: Forms) -> tuple[View, View]:
    a, b = (form.view if isinstance(form.view, View) else View.of(form.shape) for form in forms)
    return a, b


def _turned(view: View) -> View:
    """See the transposes of matrices."""
    return view.permute((*range(view.ndim - 2), view.ndim - 1, view.ndim - 2))


def _diagonal(a: View) -> View:
    """See the diagonals of square matrices."""
    return View((*a.shape[:-1],), (*a.strides[:-2], a.strides[-2] + a.strides[-1]), a.offset, a.size, a.dtype)


def _solved(draft: Draft, lu: tuple[View, str], b: tuple[View, str], transposed: bool, limits: Limits) -> str:
    """Add the two substitutions, with what brings the operands in and X out; give X's slot."""
    size, (n, columns) = limits.texture_size, b[0].shape[-2:]
    count = b[0].count // (n * columns)
    raw = draft.call("records in", move.to_raw((lu[0], b[0]), size), A=lu[1], B=b[1])["raw"]
    inner = stack.substitute((Form((count, n, n)), Form((count, n, columns))), limits, transposed=transposed)
    records = draft.call("substitute", inner, raw=raw)["records"]
    return taken(draft, "matrices out", records, (count, n, columns), n * columns, 0, size)
