"""Equilibration: rows and columns scaled by powers of two, so that the largest entry of each is near 1.

Scaling by powers of two is exact. The condition number of a real matrix is often mostly scaling.
"""

from __future__ import annotations

from glla.operations.batches.stack import SINGLE, Cells
from glla.passes import Draft, Plan, Storage, Uniform, matrix, single_pass
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, packed, texels


@cached_plan
def plan(shape: Shape) -> Plan:
    """Plan that equilibrates an m x n matrix.

    Operand ``A``. Results ``scaled`` (packed), ``row_exponents`` e and ``column_exponents`` f, with scaled[i, j] = A[i,
    j] 2^-(e_i + f_j), every row's and column's largest entry below 2 and the columns' at least 1. 3 passes.
    """
    draft = Draft("equilibrate")
    source, result = draft.operand("A", matrix(shape)), draft.slot("scaled", matrix(shape))
    return draft.plan({"scaled": result, **add(draft, source, shape, result)})


def add(draft: Draft, source: str, shape: Shape, target: str, cells: Cells = SINGLE) -> dict[str, str]:
    """Add these passes, of one matrix or of a batch, whose textures may hold more beside it; give the exponents."""
    height, width = packed(shape)
    made = exponents(draft, source, shape, cells)
    draft.draw(
        "equilibrate/scale",
        {"A": source, **made},
        target,
        {"signs": (-1, -1), "shape": shape, **cells.grid},
        {"ROWS": 1, "COLUMNS": 1, **cells.defines},
        cells.region(0, 0, width, height),
    )
    return made


def exponents(draft: Draft, source: str, shape: Shape, cells: Cells = SINGLE) -> dict[str, str]:
    """Add the passes that find the exponents alone; give them."""
    height, width = packed(shape)
    made = {f"{line}_exponents": draft.slot(f"{line}_exponents", cells.storage(size, 1))
            for line, size in (("row", height), ("column", width))}  # fmt: skip
    rows, columns = made.values()
    add_exponents(draft, source, rows, width, cells=cells)
    add_exponents(draft, source, columns, height, rows, turned=1, cells=cells)
    return made


def add_exponents(
    draft: Draft, source: str, target: str, count: int, others: str = "", turned: int = 0, cells: Cells = SINGLE
) -> None:
    """Add the pass that finds the exponents of rows of `count` texels, or, `turned`, of columns.

    `others`: exponents by which the columns, or rows, are scaled before.
    """
    inputs = {"A": source, "others": others or source}
    uniforms: dict[str, Uniform] = {"count": count, "turned": turned, "known": int(bool(others)), **cells.grid}
    draft.draw("equilibrate/exponents", inputs, target, uniforms, cells.defines)


@cached_plan
def columns(shape: Shape) -> Plan:
    """Plan that scales the columns of an m x n matrix alone, so that the largest entry of each is in [1, 2).

    Operand ``A``. Results ``scaled`` (packed) and ``column_exponents`` f, with scaled[i, j] = A[i, j] 2^-f_j. 2 passes.
    """
    m, n = shape
    draft = Draft("equilibrate_columns")
    draft.operand("A", matrix(shape))
    exponents = draft.slot("column_exponents", Storage(texels(n), 1))
    add_exponents(draft, "A", exponents, texels(m), turned=1)
    result = draft.slot("scaled", matrix(shape))
    inputs = {"A": "A", "column_exponents": exponents}
    draft.draw("equilibrate/scale", inputs, result, {"signs": (0, -1), "shape": shape}, {"ROWS": 0, "COLUMNS": 1})
    return draft.plan({"scaled": result, "column_exponents": exponents})


@cached_plan
def scale(shape: Shape, rows: int = 0, columns: int = 0) -> Plan:
    """Plan that scales a matrix by exponents that are there already.

    Operand ``A`` and the exponents, result ``scaled``. One pass.
    `rows`, `columns` (-1, 0, 1): multiply row i by 2^(rows e_i), e from the operand ``row_exponents``, which is missing
    when this is 0; columns likewise by ``column_exponents``.
    """
    given = {"A": matrix(shape)}
    for name, sign, count in (("row_exponents", rows, shape[0]), ("column_exponents", columns, shape[1])):
        given |= {name: Storage(texels(count), 1)} if sign else {}
    uniforms: dict[str, Uniform] = {"signs": (rows, columns), "shape": shape}
    defines = {"ROWS": abs(rows), "COLUMNS": abs(columns)}
    return single_pass("equilibrate_scale", "equilibrate/scale", given, {"scaled": matrix(shape)}, uniforms, defines)
