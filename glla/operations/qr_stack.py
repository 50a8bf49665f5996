"""QR of a stack of small matrices: the passes of a single one, over all of them at once.

A record holds Q and, below it, the transpose of R: (m + n) x min(m, n).
"""

from __future__ import annotations

from glla.operations.qr_pairs import add_applied, add_pairs, add_reflectors
from glla.operations.stack import LARGEST, Cells, Stack, capacity
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, Uniform
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

MOST_COLUMNS = 127
"""Largest smaller side of members of a stack; larger matrices are factored in panels, one by one."""


def record(forms: Forms) -> Shape:
    """Rows and columns of a record."""
    m, n = forms[0].matrix
    return m + n, min(m, n)


def most_together(forms: Forms, limits: Limits) -> int:
    """Most members that one plan may factor at once; 0: they go one by one."""
    m, n = forms[0].matrix
    if max(m, n) > LARGEST or min(m, n) > MOST_COLUMNS:
        return 0
    return capacity((texels(m + n), texels(n)), max(m * n, (m + n) * min(m, n)), limits.texture_size)


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the factors of a stack of m x n matrices.

    Parameters
    ----------
    forms : (Form,)
        Of the stack, in the host's memory.
    limits : Limits
        Of the device.

    Returns
    -------
    Plan
        Operand ``raw``: the matrices. Result ``records``: for each matrix Q, and below it the transpose of R. Passes: 5
        ceil(min(m, n) / 2) + 7, for however many matrices.
    """
    (m, n), count = forms[0].matrix, forms[0].count
    k, both = min(m, n), record(forms)
    cells = Cells(Stack.of(count, (texels(m + n), texels(n)), limits.texture_size))
    stack = cells.stack
    assert stack is not None
    draft = Draft("stack[qr]")
    raw = draft.operand("raw", stack.raw(m * n))
    given, start = draft.slot("A", cells.matrix((m, n))), draft.slot("I", cells.matrix((m, k)))
    common: dict[str, Uniform] = {"left": 0, "count": count, **stack.grid}
    draft.draw("stack/pack", {"raw": raw}, given, {**common, "shape": (m, n), "start": 0}, {"IDENTITY": 0, "SCALED": 0})
    draft.draw("stack/pack", {}, start, {**common, "shape": (m, k)}, {"IDENTITY": 1, "SCALED": 0})
    exponents, scaled = (
        draft.slot("column_exponents", cells.texels(texels(n), 1)),
        draft.slot("scaled", cells.matrix((m, n))),
    )
    sizes: dict[str, Uniform] = {"height": texels(m), **stack.grid}
    draft.draw("equilibrate/column_exponents", {"A": given}, exponents, sizes, {"MEAN": 0, "ROWS": 0, "STACK": 1})
    signs: dict[str, Uniform] = {"signs": (0, -1), "shape": (m, n), **stack.grid}
    inputs = {"A": given, "column_exponents": exponents}
    draft.draw("equilibrate/scale", inputs, scaled, signs, {"ROWS": 0, "COLUMNS": 1, "STACK": 1})
    one_piece = Limits(software=True)  # there are fragments enough
    h = add_reflectors(draft, scaled, (m, n), one_piece, cells)
    t = add_pairs(draft, h, (m, n), cells)
    q = add_applied(draft, h, t, start, (m, n), k, one_piece, cells)
    joined = draft.slot("Q and R^T", cells.matrix(both))
    inputs = {"Q": q, "H": h, "column_exponents": exponents}
    draft.draw("qr/both", inputs, joined, {"split": m, "shape": both, **stack.grid}, {"STACK": 1})
    storage = stack.raw(both[0] * both[1])
    records = draft.slot("records", storage)
    uniforms: dict[str, Uniform] = {"record": (*both, both[0] * both[1]), "count": count, "width": storage.width}
    none = dict.fromkeys(("FIGURES", "PIVOTS", "EXPONENTS", "PROBES", "SCALED"), 0)
    draft.draw("stack/unpack", {"M": joined}, records, {**uniforms, **stack.grid}, {"MATRIX": 1, **none})
    third = 2 * k**3 // 3
    return draft.plan({"records": records}, count * (2 * max(m, n) * k * k - third + 2 * m * k * k - third))
