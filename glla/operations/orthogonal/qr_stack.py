"""QR of a batch of small matrices: the passes of a single one, over all of them at once.

A record is one matrix. In modes "reduced" and "complete" it holds Q and, below it, the transpose of R; in mode "r" the
transpose of R alone; in mode "raw" LAPACK's array of R and the reflectors, transposed as NumPy gives it, and below it a
row with the factors of the reflectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from glla.operations.batches.stack import LARGEST, Passes, Stack, capacity
from glla.operations.elimination import equilibrate
from glla.operations.orthogonal.qr_pairs import add_applied, add_pairs, add_reflectors
from glla.operations.record import ACCEPTED, Batch, Layout
from glla.passes import PLAIN, Forms, Limits, Plan, Uniform
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

MOST_COLUMNS = 127
"""Largest smaller side of batched matrices; larger matrices are factored in panels, one by one."""


def record(forms: Forms, mode: str = "reduced") -> Shape:
    """Rows and columns of a record.

    >>> from glla.passes import Form
    >>> [record((Form((9, 5, 3)),), mode) for mode in ("reduced", "complete", "r", "raw")]
    [(8, 3), (8, 5), (3, 3), (4, 5)]
    """
    m, n = forms[0].matrix
    k = min(m, n)
    return {"reduced": (m + n, k), "complete": (m + n, m), "r": (n, k), "raw": (n + 1, m)}[mode]


def _results(known: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Split records into the results of a mode; those on the device by views."""
    records, (m, n) = known["matrices"], known["shape"]
    if mode == "raw":
        return {"h": part_of(records, slice(n), slice(None)), "tau": part_of(records, n, slice(min(m, n)))}
    if mode == "r":
        return {"R": turned(records)}
    return {"Q": part_of(records, slice(m), slice(None)), "R": turned(part_of(records, slice(m, None), slice(None)))}


def part_of(a: Any, rows: int | slice, columns: slice) -> Any:
    """Rows and columns of each matrix of a batch."""
    place = slice(None), rows, columns
    return a[place] if isinstance(a, np.ndarray) else a.seen(a.view.sliced(place))


def turned(a: Any) -> Any:
    """The transposes of the matrices of a batch."""
    return np.swapaxes(a, -1, -2) if isinstance(a, np.ndarray) else a.seen(a.view.moved(-2, -1))


def most_batched(forms: Forms, limits: Limits, mode: str = "reduced") -> int:
    """Most matrices that one plan may factor at once; 0: they are looped."""
    m, n = forms[0].matrix
    if max(m, n) > LARGEST or min(m, n) > MOST_COLUMNS:
        return 0
    rows, columns = record(forms, mode)
    tile = max(texels(rows), texels(m)), max(texels(columns), texels(n))
    return capacity(tile, max(m * n, rows * columns), limits.texture_size)


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN, *, mode: str = "reduced") -> Plan:
    """Plan of the factors of a stack of m x n matrices.

    Operand ``raw``: the matrices. Result ``records``, see `record`. Passes, for however many matrices: 3 ceil(min(m, n)
    / 2) + 5; for Q 2 ceil(min(m, n) / 2) + 2 more, for the factors of reflectors one.

    `mode`: one of `glla.operations.orthogonal.qr.MODES`.
    """
    (m, n), count, both = forms[0].matrix, forms[0].count, record(forms, mode)
    tile = max(texels(both[0]), texels(m)), max(texels(both[1]), texels(n))
    passes = Passes("stack[qr]", Stack.of(count, tile, limits.texture_size), m * n)
    cells, draft = passes.stack, passes.draft
    given = passes.bring_in("A", (m, n))
    exponents, scaled = passes.column("column_exponents", texels(n)), passes.matrices("scaled", (m, n))
    equilibrate.add_exponents(draft, given, exponents, texels(m), turned=1, cells=cells)
    signs: dict[str, Uniform] = {"signs": (0, -1), "shape": (m, n), **cells.grid}
    inputs = {"A": given, "column_exponents": exponents}
    draft.draw("equilibrate/scale", inputs, scaled, signs, {"ROWS": 0, "COLUMNS": 1, "STACK": 1})
    one_piece = Limits(software=True)  # there are fragments enough
    inputs = {"H": add_reflectors(draft, scaled, (m, n), one_piece, cells), "column_exponents": exponents}
    joined = passes.matrices("record", both)
    uniforms: dict[str, Uniform] = {"shape": both, **cells.grid}
    if mode != "r":
        inputs["T"] = add_pairs(draft, inputs["H"], (m, n), cells)
    if mode == "raw":
        uniforms["factors"] = texels(min(m, n))
    elif mode != "r":
        columns = both[1]
        start, uniforms["split"] = passes.bring_in("I", (m, columns), identity=True), m
        t = inputs.pop("T")
        inputs["Q"] = add_applied(draft, inputs["H"], t, start, (m, n), columns, one_piece, cells)
    kind = {"ALONE": int(mode == "r"), "RAW": int(mode == "raw")}
    draft.draw("qr/both", inputs, joined, uniforms, {"STACK": 1, **kind})
    records = passes.unpack(joined, both)
    k = min(m, n)
    third = 2 * k**3 // 3
    of_q = 2 * m * both[1] * k - third if mode in ("reduced", "complete") else 0
    return draft.plan({"records": records}, count * (2 * max(m, n) * k * k - third + of_q))


def batch(mode: str, **options: Any) -> Batch:
    """How stacks are factored in a mode."""
    return Batch(
        partial(most_batched, mode=mode),
        partial(batched, mode=mode),
        Layout(partial(record, mode=mode), results=partial(_results, mode=mode)),
        ACCEPTED,
        **options,
    )
