"""QR of a matrix taller than a texture: of blocks of rows, and then of the stacked triangles.

    A_i = Q_i R_i;  [R_1; R_2; ...] = S R;  A = [Q_1 S_1; Q_2 S_2; ...] R

A matrix of the host is split there, and its factors are read back block by block. One on the device stays there.
Source: Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU factorizations"
(2012), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from glla.operations.layouts import blocks
from glla.operations.linear import move
from glla.operations.linear.view import View
from glla.operations.product import matmul
from glla.operations.routes import pieces
from glla.passes import Draft, Form, HostArray, Limits, Plan, resident
from glla.passes.layout import Packed, Shape

CUT, JOINED = "rows of a matrix", "blocks of rows, one above the other"
"""Work of the host, by its names in plans and traces."""

Factors = Callable[[Form], Plan]
"""(form of a matrix that fits a texture) -> plan with operand ``A`` and results ``Q`` and ``R``, or ``R`` alone."""


def is_tall(shape: tuple[int, ...], limits: Limits) -> bool:
    """Whether a matrix has too many rows for a texture, while the triangles of two blocks of it fit one."""
    side = 2 * limits.texture_size
    return shape[0] > side >= 2 * shape[1] > 0


def operand(draft: Draft, name: str, form: Form, limits: Limits) -> str:
    """Add a tall matrix as stored: in the host's memory, or linear on the device."""
    storage = view_of(form).storage(limits.texture_size) if form.resident else HostArray(form.matrix)
    return draft.operand(name, storage)


def view_of(form: Form) -> View:
    """Layout of a matrix that is not packed on the device; a matrix of a stack is taken out first."""
    view = form.view if isinstance(form.view, View) and form.view.shape == form.shape else View.of(form.shape)
    return replace(view, strides=(view.strides[0], 0)) if form.shape[1] == 1 else view  # a vector has no other stride


def factored(draft: Draft, source: str, form: Form, limits: Limits, factors: Factors) -> dict[str, str]:
    """Add the factorisation of a matrix in blocks of rows; give the slots of its factors, where the matrix lies."""
    m, n = form.matrix
    ends = list(pieces(m, 2 * limits.texture_size))
    cut = _cut(draft, source, form, ends, limits)
    blocks = []
    for number, (first, end) in enumerate(ends):
        with draft.scope("block of rows", number):
            plan = factors(Form((end - first, n), form.resident))
            blocks.append(draft.call("factors", plan, A=next(cut)))
    triangles = [(block["R"], (n, n)) for block in blocks]
    above, lying = _joined(draft, triangles, form.resident, limits)
    if is_tall(lying.matrix, limits):
        both = factored(draft, above, lying, limits, factors)
    else:
        both = draft.call("factors of the triangles", factors(lying), A=above)
    if "Q" not in both:
        return both
    s = Form(lying.shape, form.resident, view=None if _packed(draft, both["Q"]) else View.of(lying.shape))
    parts = _cut(draft, both["Q"], s, pairwise(range(0, n * len(blocks) + 1, n)), limits)
    products = []
    for number, ((first, end), block) in enumerate(zip(ends, blocks, strict=True)):
        shapes = (end - first, n), (n, n)
        forms = resident(*shapes) if form.resident else tuple(map(Form, shapes))
        plan = matmul.call_plan(forms, limits)
        with draft.scope("rows of Q", number):
            products.append((draft.call("product", plan, A=block["Q"], B=next(parts))["C"], shapes[0]))
    return {"Q": _joined(draft, products, form.resident, limits)[0], "R": both["R"]}


def _cut(draft: Draft, source: str, form: Form, ends: Iterable[tuple[int, int]], limits: Limits) -> Iterator[str]:
    """Cut blocks of rows out of a matrix, each when it is needed; give their slots."""
    n = form.matrix[1]
    for first, end in ends:
        if not form.resident:
            made = {f"{source} from {first}": (end - first, n)}
            yield from draft.host(CUT, lambda a, rows=slice(first, end): (a[rows],), (source,), made)
        elif _packed(draft, source):
            yield draft.call(CUT, blocks.gather(form.matrix, (end - first, n), (first, 0)), A=source)["block"]
        else:
            view = view_of(form).sliced(slice(first, end))
            yield draft.call("packed", move.pack(view, limits.texture_size), A=source)["packed"]


def _joined(draft: Draft, parts: list[tuple[str, Shape]], on_device: bool, limits: Limits) -> tuple[str, Form]:
    """Join matrices one above the other: the slot, and the form of the whole; packed if it fits a texture."""
    shape, size = (sum(rows for _, (rows, _) in parts), parts[0][1][1]), limits.texture_size
    if not on_device:
        name, slots = f"{parts[0][0]}, joined", tuple(slot for slot, _ in parts)
        (slot,) = draft.host(JOINED, lambda *parts: (np.concatenate(parts),), slots, {name: shape})
        return slot, Form(shape)
    unpacked = [draft.call("unpacked", move.unpack(own, own, size), M=slot)["result"] for slot, own in parts]
    given = {f"A{number}": slot for number, slot in enumerate(unpacked)}
    views = tuple(View.of(own) for _, own in parts)
    slot = draft.call("one above the other", move.concat(views, 0, size), **given)["result"]
    if max(shape) > 2 * size:
        return slot, Form(shape, resident=True, view=View.of(shape))
    packed = draft.call("packed", move.pack(View.of(shape), size), A=slot)["packed"]
    return packed, Form(shape, resident=True)


def _packed(draft: Draft, slot: str) -> bool:
    return isinstance(getattr(draft.slots[slot], "layout", None), Packed)
