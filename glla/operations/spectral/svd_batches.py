"""Batches of singular values and vectors: one-sided rotations of the columns of all matrices, see `hestenes`.

    raw --> A, or A^T where it is wide, scaled, above I --> sweeps --> columns in descending order, Y above X
      --> QR of Y, which completes it where values are zero: U --> U, X, judged, with signs --> records

A record holds s, below it the rows of U, and below them those of V; or s alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from glla.operations.batches.stack import Cells, Passes, Stack, capacity
from glla.operations.orthogonal.qr_pairs import add_applied, add_pairs, add_reflectors
from glla.operations.orthogonal.qr_stack import part_of, turned
from glla.operations.record import Batch, Layout
from glla.operations.spectral import certificate, hestenes
from glla.operations.spectral.jacobi import even
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, Transition, Uniform
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

MODES = ("reduced", "complete", "values")
"""U and V with as many columns as there are singular values, or square; or the values alone."""

LARGEST, LARGEST_IN_SOFTWARE, MOST_ROWS = 64, 24, 256
"""Largest smaller side of batched matrices, on a GPU, a guess, and on a software rasteriser, where one of 24 x 24 takes
1.0 ms, looped 3.0, and its values alone 0.56 and 0.68; and the larger side."""


def sides(shape: Shape, full: bool) -> tuple[Shape, int, Shape]:
    """Shape of U, number of singular values, and shape of V^T.

    >>> sides((5, 2), full=False), sides((2, 5), full=True)
    (((5, 2), 2, (2, 2)), ((2, 2), 2, (5, 5)))
    """
    m, n = shape
    k = min(m, n)
    return (m, m if full else k), k, (n if full else k, n)


def record(forms: Forms, mode: str) -> Shape:
    """Rows and columns of a record.

    >>> [record((Form((9, 5, 3)),), mode) for mode in MODES]
    [(9, 3), (9, 5), (1, 3)]
    """
    (m, n), (left, k, right) = forms[0].matrix, sides(forms[0].matrix, mode == "complete")
    return (1, k) if mode == "values" else (1 + m + n, max(left[1], right[0]))


def _results(known: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Split records into the factors; those on the device by views."""
    records, (m, _) = known["matrices"], known["shape"]
    left, k, right = sides(known["shape"], mode == "complete")
    found = {"S": part_of(records, 0, slice(k))}
    if mode != "values":
        found["U"] = part_of(records, slice(1, m + 1), slice(left[1]))
        found["Vh"] = turned(part_of(records, slice(m + 1, None), slice(right[0])))
    return found


def _tile(forms: Forms, mode: str) -> Shape:
    """Texels of the largest textures of each matrix: columns above an identity, a record, a line of the certificate."""
    rows, k = max(forms[0].matrix), min(forms[0].matrix)
    made = record(forms, mode)
    return max(texels(rows) + texels(k), texels(made[0])), max(rows + k, texels(made[1]))


def most(forms: Forms, limits: Limits, mode: str = "reduced") -> int:
    """Most matrices that one plan may decompose at once; 0: they are looped, as a single one is done."""
    m, n = forms[0].matrix
    if not forms[0].stack or min(m, n) > (LARGEST_IN_SOFTWARE if limits.software else LARGEST) or max(m, n) > MOST_ROWS:
        return 0
    rows, columns = record(forms, mode)
    return capacity(_tile(forms, mode), max(m * n, rows * columns), limits.texture_size)


@cached_plan
def batched(forms: Forms, limits: Limits, *, mode: str, hermitian: bool = False) -> Plan:
    """Plan of the singular values and vectors of a stack: all take as many sweeps as the worst of them.

    Operand ``raw``: the matrices. Result ``records``. `mode`: one of `MODES`. `hermitian`: the lower halves are read.
    """
    (m, n), count = forms[0].matrix, forms[0].count
    rows, k, cells = max(m, n), min(m, n), Stack.of(count, _tile(forms, mode), limits.texture_size)
    draft = Draft("stack[svd]")
    start = draft.call("in", _columns((m, n), cells, mode, hermitian), raw=draft.operand("raw", cells.raw(m * n)))
    shape = _height(rows, k, mode), even(k)
    found = draft.call("sweeps", hestenes.sweeps(shape, rows, cells), A=start["columns"])["A next"]
    given = {"turned": found, "largest": start["largest"], "A": start["scaled"]}
    return draft.plan(draft.call("out", _records((m, n), cells, mode), **given), 70 * count * rows * k * k)


def _height(rows: int, k: int, mode: str) -> int:
    """Rows of the matrix that is turned."""
    return even(rows) + (even(k) if mode != "values" else 0)


@cached_plan
def _columns(shape: Shape, cells: Stack, mode: str, hermitian: bool) -> Plan:
    """Plan of the way in: the matrices or their transposes, `scaled`, their `largest` entries, and the `columns`."""
    (m, n), passes = shape, Passes("stack[columns]", cells, shape[0] * shape[1])
    rows, k, draft = max(shape), min(shape), passes.draft
    given, scaled = passes.matrices("A", shape), passes.matrices("scaled", (rows, k))
    passes.pack(given, shape)
    largest, height = passes.column("largest", texels(m)), _height(rows, k, mode)
    columns = passes.matrices("columns", (height, even(k)))
    width = 0 if hermitian else texels(n)
    draft.draw("spectral/jacobi/largest", {"A": given}, largest, cells.grid, {"WIDTH": width, **cells.defines})
    uniforms: dict[str, Uniform] = {"height": texels(m), **cells.grid}
    kind = {"WHOLE": 0 if hermitian else 1 + (m < n), **cells.defines}
    draft.draw("spectral/jacobi/scale", {"A": given, "largest": largest}, scaled, uniforms, kind)
    uniforms = {"height": texels(rows), **cells.grid}
    draft.draw("spectral/hestenes/start", {"M": scaled}, columns, uniforms, cells.defines)
    return draft.plan({"scaled": scaled, "largest": largest, "columns": columns})


@cached_plan
def _records(shape: Shape, cells: Stack, mode: str) -> Plan:
    """Plan of the way out: operands ``turned``, the columns after the sweeps, ``largest`` and ``A``, scaled."""
    (m, n), rows, k = shape, max(shape), min(shape)
    passes = Passes("stack[singular values]", cells)
    draft, (left, _, right) = passes.draft, sides(shape, mode == "complete")
    given = draft.operand("turned", cells.matrix((_height(rows, k, mode), even(k))))
    largest = draft.operand("largest", cells.storage(texels(m), 1))
    a = draft.operand("A", cells.matrix((rows, k)))
    s, _ = hestenes.add_order(draft, given, k, rows, True, cells)
    inputs, made = {"S": s, "largest": largest}, record((Form((1, *shape)),), mode)
    numbers = {"columns": (k, left[1], right[0], m), "shape": made, "height": texels(m), **cells.grid}
    if mode != "values":
        x = hestenes.add_arranged(draft, given, s, ("X", (k, k)), cells, even(rows))
        y = hestenes.add_arranged(draft, given, s, ("Y", (rows, k)), cells, divided=True)
        u = _add_basis(passes, y, (rows, k), rows if mode == "complete" else k)
        judged = add_certificate(draft, {"A": a, "U": u, "V": x, "S": s}, (rows, k), cells)
        inputs |= {"certificate": judged, "U": x, "V": u} if m < n else {"certificate": judged, "U": u, "V": x}
        inputs["signs"] = draft.slot("signs", cells.storage(1, texels(left[1])))
        tall: dict[str, Uniform] = {"height": texels(m), "texels": texels(m), **cells.grid}
        draft.draw("spectral/eigh/signs", {"V": inputs["U"], "largest": largest}, inputs["signs"], tall, cells.defines)
        numbers["most"] = certificate.VECTORS * certificate.enough(rows) ** 2
    joined, vectors = passes.matrices("record", made), {"VECTORS": int(mode != "values")}
    draft.draw("spectral/svd/record", inputs, joined, numbers, vectors | cells.defines)
    return draft.plan({"records": passes.unpack(joined, made)})


def _add_basis(passes: Passes, y: str, shape: Shape, columns: int) -> str:
    """Add the passes to an orthonormal basis that begins with the columns of Y, as far as they are not zero."""
    draft, cells, one_piece = passes.draft, passes.stack, Limits(software=True)  # there are fragments enough
    h = add_reflectors(draft, y, shape, one_piece, cells)
    start = passes.matrices("I", (shape[0], columns))
    passes.pack(start, (shape[0], columns), identity=True)
    pairs = add_pairs(draft, h, shape, cells)
    q = add_applied(draft, h, pairs, start, shape, columns, one_piece, cells)
    result = passes.matrices("basis", (shape[0], columns))
    draft.draw(
        "spectral/svd/straight", {"Q": q, "R": h}, result, {"side": texels(shape[1]), **cells.grid}, cells.defines
    )
    return result


def add_certificate(draft: Draft, inputs: Mapping[str, str], shape: Shape, cells: Cells) -> str:
    """Add the passes of the certificate of A V = U diag(s), of each matrix of a stack, see `certificate`.

    `inputs`: slots of ``A``, of this shape with as many rows as columns or more, ``U``, ``V`` and ``S``.
    """
    (m, n), s = shape, inputs["S"]
    for name, rows, targets in (("V", n, ("V x", "V S x")), ("U", m, ("U x", "U S x"))):
        made = tuple(draft.slot(one, cells.storage(1, rows)) for one in targets)
        chosen: dict[str, Uniform] = {"first": 0, "count": n, **cells.grid}
        draft.draw("spectral/eigh/applied", {"V": inputs[name], "L": s}, made, chosen, cells.defines)
    both, found = draft.slot("rows", cells.storage(1, m + n)), draft.slot("certificate", cells.storage(1, 1))
    left, end = cells.region(0, 0, m, 1), cells.region(m, 0, n, 1)
    given = {"A": inputs["A"], "Y": "V x", "W": "U S x"}
    draft.draw("spectral/svd/residual", given, both, {"n": n, **cells.grid}, cells.defines, left)
    given = {"U": inputs["U"], "V": inputs["V"], "Y": "V x", "Z": "U x", "S": s}
    draft.draw("spectral/svd/apart", given, both, {"shape": shape, "first": m, **cells.grid}, cells.defines, end)
    draft.draw("spectral/eigh/judge", {"R": both}, found, {"n": m + n, **cells.grid}, cells.defines)
    return found


def batch(call_plan: Callable[..., Plan], alarm: Transition) -> Batch:
    """How stacks are decomposed; a rejected matrix by the plan of a call. `alarm`: what comes after that."""

    def made(mode: str, **options: Any) -> Batch:
        def plan(forms: Forms, limits: Limits = PLAIN, *, hermitian: bool = False) -> Plan:
            way = {"mode": mode, "hermitian": hermitian, "variant": "bidiagonal"}
            again = partial(call_plan, (Form(forms[0].matrix),), limits, **way)
            after = (Transition(certificate.EXCEEDS, certificate.AGAIN, again), alarm)
            return replace(batched(forms, limits, mode=mode, hermitian=hermitian), after=after)

        layout = Layout(partial(record, mode=mode), results=partial(_results, mode=mode))
        return Batch(partial(most, mode=mode), plan, layout, certificate.MARKED, variant="one_sided", **options)

    return made(MODES[0], modes={mode: made(mode) for mode in MODES[1:]})
