"""The product of a sparse matrix and a vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError, ShapeError
from glla.operations.layouts.crossing import read_texels, texels_of, write_texels
from glla.operations.record import Choice, Float32, Function, Operation, Trial, Way, resolved
from glla.operations.sparse import model
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.formats import FORMATS
from glla.operations.sparse.layout import Rows, Structure, filled, vector
from glla.operations.sparse.stencil import Stencil
from glla.passes import PLAIN, Draft, Form, Forms, HostArray, Limits, Plan, Variant, texture
from glla.passes.cache import cached_plan

VARIANTS = {
    "circular": Variant(
        "diagonals -k and n - k joined to one vector, which x is read around", "Brodtkorb 2007, figure 3.3a"
    ),
    "diagonals": Variant(
        "a vector for each diagonal, its offset a constant of the program", "Krüger and Westermann 2003; Brodtkorb 2007"
    ),
    "stencil": Variant(
        "rows that are all alike as uniforms of the program; the others listed, each four a point", "Brodtkorb 2007"
    ),
    "pointers": Variant(
        "entries row by row, found by a pointer to each row", "Bolz et al. 2003; Brodtkorb 2007, figure 3.3b"
    ),
    "points": Variant("each entry a point, added to its row by float blending", "Krüger and Westermann 2003"),
    "sell": Variant("rows side by side in tiles, four to a texel", "Kreutzer et al. 2014 (SELL-C-sigma)"),
    "blocks": Variant("2 x 2 blocks, a texel each, block row by block row", "Bell and Garland 2009 (block CSR)"),
}


def structure_of(forms: Forms) -> Structure | None:
    """Layout of the matrix; None for the diagonals of a grid, which any format can have."""
    return cast("Structure | None", forms[0].view)


def shape_of(forms: Forms) -> tuple[int, int]:
    """Rows and columns of the matrix."""
    structure = structure_of(forms)
    if structure is not None:
        return structure.shape
    count = model.side_of(forms[0].shape) ** 2
    return count, count


def check(forms: Forms) -> None:
    """Raise ShapeError unless x has a row for each column of A."""
    shape, given = shape_of(forms), forms[1].shape
    if len(given) != 2 or given[0] != shape[1]:
        raise ShapeError(f"spmv: shapes of A {shape} and x {given} are incompatible; x has an element for each column")


def flops(forms: Forms) -> int:
    """Additions and multiplications: two for each entry, and each column of x."""
    structure = structure_of(forms)
    entries = model.entries(model.side_of(forms[0].shape)) if structure is None else structure.entries
    return 2 * entries * forms[1].shape[1]


def choose(forms: Forms, limits: Limits) -> Choice:
    """Pick the format: the one that A is in; of a grid the tuned one, else diagonals."""
    structure = structure_of(forms)
    if structure is not None:
        return structure.name, ()
    side = model.side_of(forms[0].shape)
    tuned = limits.tuning("spmv", side, side)
    return (tuned.variant if tuned is not None else "diagonals"), ()


@cached_plan
def plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of the product on the device.

    Operands: the textures of A, and ``x``, linear. Result ``y``, linear. A pass for 16 diagonals, or for 60000
    entries of the longest row; `sell` takes more where it cuts or sorts rows, to put them together again.

    `forms`: of A and x, a column. A form of A with a `Structure` for its view is of that format. Without one, A
    is the matrix of a square grid with n^2 points, of shape (5, n^2), in the format that `variant` names. `variant`: a
    key of `VARIANTS`, the format; by default that of `choose`.
    """
    structure = _structure(forms, limits, **way)
    draft = Draft(f"spmv[{structure.name}]")
    for name, storage in structure.slots(limits).items():
        draft.operand(name, storage)
    x = draft.operand("x", vector(structure.shape[1], limits))
    return draft.plan({"y": structure.draw(draft, limits, x)}, flops(forms))


MOST_AT_ONCE = 1 << 26
"""Elements of X, of Y, and of intermediate vectors at most in one plan: 256 MB each."""

LEAST_AT_ONCE = 3
"""Columns from which they are multiplied at once: fewer would mostly be padding, as a row is whole texels of four."""


def columns_at_once(tallest: int) -> int:
    """Columns of X in one product, a multiple of four, for the longest vector; the others follow in further blocks.

    >>> columns_at_once(1 << 20), columns_at_once(1 << 30)
    (64, 4)
    """
    return max(4, MOST_AT_ONCE // max(tallest, 1) // 4 * 4)


def for_columns(structure: Structure, limits: Limits) -> Structure:
    """Layout of a matrix for several columns at once: its own, but for a stencil, which becomes diagonals."""
    return structure.diagonals(limits) if isinstance(structure, Stencil) else structure


@cached_plan
def rows(form: Form, quads: int, limits: Limits = PLAIN) -> Plan | None:
    """Plan of the product with a matrix of four columns for each of `quads`; None where columns are looped.

    Operands: the textures of A, and ``X``, linear, in C order. Result ``Y``, likewise. Passes as `plan`.
    """
    structure = for_columns(cast("Structure", form.view), limits)
    draft = Draft(f"spmm[{structure.name}]")
    for name, storage in structure.slots(limits).items():
        draft.operand(name, storage)
    given = Rows("X", quads, structure.shape)
    draft.operand("X", given.storage(structure.shape[1], limits))
    y = structure.draw_rows(draft, limits, given)
    return None if y is None else draft.plan({"Y": y}, 8 * quads * structure.entries)


def _structure(forms: Forms, limits: Limits, **way: Unpack[Way]) -> Structure:
    chosen, _ = resolved("spmv", VARIANTS, choose, forms, limits, **way)
    given = structure_of(forms)
    if given is None:
        return _of_grid(chosen, model.pattern(model.side_of(forms[0].shape)), limits)
    if given.name != chosen:
        raise OptionError(
            f"spmv: A lies in the format {given.name}, got variant={chosen!r}; "
            f'lay it out anew: glla.sparse.asarray(A, format="{chosen}")'
        )
    return given


def _of_grid(name: str, rows: Compressed, limits: Limits) -> Structure:
    """Layout of any entries at these places."""
    return Stencil.of_any(rows) if name == Stencil.name else FORMATS[name](rows, limits)


@cached_plan
def call_plan(forms: Forms, limits: Limits = PLAIN, **way: Unpack[Way]) -> Plan:
    """Plan of a call: A of the host is laid out and uploaded, x uploaded, y read back unless x is on the device.

    A matrix x of the host goes in blocks of `columns_at_once` columns, see `rows`; few columns, and those for
    ``points``, are looped.
    """
    structure = _structure(forms, limits, **way)
    if forms[1].shape[1] != 1 and not forms[1].resident:
        return _of_matrix(forms, structure, limits)
    device_plan = plan(forms, limits, variant=structure.name)
    draft = Draft("spmv")
    operands = _matrix(draft, forms[0], structure, limits)
    operands["x"] = _vector(draft, forms[1], structure.shape[1], limits)
    y = draft.call("product", device_plan, **operands)["y"]
    if not forms[1].resident:
        texels = read_texels(draft, y, "texels of y")
        m = structure.shape[0]
        (y,) = draft.host("padding cut off", lambda t: (t.reshape(-1)[:m],), (texels,), {"y": (m,)})
    return draft.plan({"y": y})


def _of_matrix(forms: Forms, structure: Structure, limits: Limits) -> Plan:
    """Plan of a call with a matrix x of the host."""
    (_, k), (m, _) = forms[1].shape, structure.shape
    structure = for_columns(structure, limits) if k >= LEAST_AT_ONCE else structure
    draft = Draft("spmv of columns")
    operands = _matrix(draft, forms[0], structure, limits)
    x, most = draft.operand("x", HostArray(forms[1].shape)), columns_at_once(structure.tallest)
    form, parts = Form(structure.shape, resident=True, view=structure), list[str]()
    for number, first in enumerate(range(0, k, most)):
        count = min(most, k - first)
        together = rows(form, -(-count // 4), limits) if count >= LEAST_AT_ONCE else None
        with draft.scope("block of columns", number):
            if together is not None:
                parts.append(_columns(draft, together, operands, x, (first, first + count), m))
                continue
            one = plan((form, Form((structure.shape[1], 1), resident=True)), limits)
            for column in range(first, first + count):
                parts.append(_columns(draft, one, operands, x, (column, column + 1), m))
    work = lambda *parts: (np.concatenate(parts, axis=1),)  # noqa: E731
    return draft.plan(draft.host("columns put together", work, tuple(parts), {"y": (m, k)}))


def _columns(draft: Draft, product: Plan, operands: Mapping[str, str], x: str, ends: tuple[int, int], rows: int) -> str:
    """Add the product with some columns of x of the host: upload, product, read-back; give their slot."""
    (first, end), source, (target,) = ends, "X" if "X" in product.operands else "x", product.results
    storage, words = texture(product.slots[source]), f"from {first}"
    wide = 1 if source == "x" else -(-(end - first) // 4) * 4

    def pad(x: Float32) -> tuple[Float32, ...]:
        whole = np.zeros((len(x), wide), dtype=np.float32)
        whole[:, : end - first] = x[:, first:end]
        return (filled(whole, storage),)

    def cut(texels: Float32) -> tuple[Float32, ...]:
        return (texels.reshape(-1)[: rows * wide].reshape(rows, wide)[:, : end - first],)

    (padded,) = draft.host("columns padded to texels", pad, (x,), {f"x {words}": texels_of(storage)})
    given = {**operands, source: write_texels(draft, padded, storage)}
    y = draft.call(f"product {words}", product, **given)[target]
    read, shapes = read_texels(draft, y, f"texels of y {words}"), {f"y {words}": (rows, end - first)}
    return draft.host("padding cut off", cut, (read,), shapes)[f"y {words}"]


def _matrix(draft: Draft, form: Form, structure: Structure, limits: Limits) -> dict[str, str]:
    """Add the textures of A: as operands, or laid out from the diagonals of a grid."""
    slots = structure.slots(limits)
    if form.resident:
        return {name: draft.operand(name, storage) for name, storage in slots.items()}
    source = draft.operand("A", HostArray(form.shape))
    arrays = {f"{name} of the host": HostArray(texels_of(slot).shape, slot.dtype) for name, slot in slots.items()}

    def lay_out(a: Float32) -> tuple[NDArray[Any], ...]:
        return tuple(structure.texels(model.of(a), limits).values())

    draft.host(f"diagonals laid out as {structure.name}", lay_out, (source,), arrays)
    return {name: write_texels(draft, f"{name} of the host", storage) for name, storage in slots.items()}


def _vector(draft: Draft, form: Form, length: int, limits: Limits) -> str:
    """Add x: as an operand, or uploaded."""
    storage = vector(length, limits)
    if form.resident:
        return draft.operand("x", storage)
    source = draft.operand("x", HostArray(form.shape))
    (padded,) = draft.host(
        "padded to texels", lambda x: (filled(x, storage),), (source,), {"x padded": texels_of(storage)}
    )
    return write_texels(draft, padded, storage)


def textures(plan: Plan, limits: Limits, arrays: tuple[Float32, ...]) -> dict[str, NDArray[Any]]:
    """Texels of the operands of `plan`, for the arrays of an example; the plan's name says the format."""
    a, x = arrays
    rows = model.of(a)
    structure = _of_grid(plan.operation.removeprefix("spmv[").removesuffix("]"), rows, limits)
    return structure.texels(rows, limits) | {"x": filled(x, vector(x.shape[0], limits))}


def values(forms: Forms, results: Mapping[str, Float32]) -> Float32:
    """Value for the judge: y, a column."""
    return results["y"].reshape(-1)[: shape_of(forms)[0], np.newaxis]


SPMV = Operation(
    name="spmv",
    formula="y = A x",
    operands=("A", "x"),
    results=("y",),
    check=check,
    flops=flops,
    device_plan=plan,
    call_plan=call_plan,
    example=model.example,
    trial=Trial(values=values, textures=textures),
    variants=VARIANTS,
    choose=choose,
    function=Function(vectors={"x": 1}, public=False),
    thesis="circular",
)
