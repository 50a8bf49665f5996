"""The tridiagonal form of a symmetric matrix, by Householder's reflectors, one column a step.

    column k --> y = A x, its sums --> A - v w^T - w v^T --> column k + 1 ... --> T on and beside the diagonal, v below

The product A x does not wait for the reflector: it is made with the column x itself (``spectral/eigh/update.vert``).
"""

from __future__ import annotations

from glla.operations.orthogonal.qr_pairs import at_once
from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import texels

WHOLE = 128
"""Texels of a row that one fragment sums on a GPU without slices, which take a pass more. With 256 texels a column took
55 us on an H100, 16 us with 128: fragments and the vertex stage wait for each fetch."""

READY = 64
"""Texels of a row up to which the change of A derives v and w itself in software. On a GPU it always does: with a pass
for them the form of order 1024 took 69 ms in place of 63 on an H100."""

SLICE, GROUP = 64, 8
"""Texels of a slice, and of a group of sums; guesses."""


def slices(height: int, limits: Limits) -> int:
    """How many slices a row of texels is cut into for a sum."""
    return 1 if limits.software or height <= WHOLE else -(-height // SLICE)


def add(draft: Draft, a: str, n: int, limits: Limits) -> tuple[str, str]:
    """Add the passes to the form; give the slots of H and T, see `plan` and `diagonals`."""
    h = a if n < 3 else draft.call("tridiagonal form", plan(n, limits), A=a)["H"]
    return h, draft.call("T", diagonals(n), H=h)["T"]


@cached_plan
def plan(n: int, limits: Limits) -> Plan:
    """Plan of the tridiagonal form of an n x n matrix whose entries are near 1.

    Operand ``A``, symmetric. Result ``H``: T on the diagonal and below it, the reflectors below that; what is above the
    diagonal is of no use. 2 (n - 2) passes; from order 129 on, on a GPU from 257 on, 3 (n - 2).
    """
    draft, height, size = Draft("tridiagonal form"), texels(n), matrix((n, n))
    rest, count = PingPong(draft, "H", size, draft.operand("A", size)), slices(texels(n), limits)
    parts = draft.slot("sums of slices", Storage(count, height))
    sums = parts if count == 1 else draft.slot("sums", Storage(1, height))
    apart = limits.software and height > READY
    vectors = draft.slot("v and w", Storage(1, height + 1)) if apart else ""
    once = at_once(limits)
    for k in range(n - 2):
        first, last = k // 2, max(k - 1, 0) // 2  # final texels are in both textures by then
        with draft.scope("column", k):
            of_slice = {"height": height, "chunk": -(-height // count)}
            across = Region(first, 0, height - first, count)
            draft.draw("spectral/eigh/dots", {"A": rest.front}, parts, of_slice, once, across, step=k)
            if count > 1:
                across = Region(first, 0, height - first, 1)
                folded = {"slices": count, "height": height, "first": first}
                draft.draw("spectral/eigh/fold", {"D": parts}, sums, folded, {"GROUP": GROUP}, across)
            left, inputs = Region(last, last, height - last, height - last), {"A": rest.front, "D": sums}
            numbers = {"height": height, "terms": height if count == 1 else -(-height // GROUP)}
            if vectors:
                line = Region(last, 0, height + 1 - last, 1)
                draft.draw("spectral/eigh/vectors", inputs, vectors, {**numbers, "last": height}, once, line, step=k)
                inputs = {"A": rest.front, "W": vectors}
                draft.draw("spectral/eigh/update", inputs, rest.back, {}, {"VECTORS": 1}, left, step=k)
            else:
                draft.draw("spectral/eigh/update", inputs, rest.back, numbers, once, left, step=k)
            rest.swap()
    return draft.plan({"H": rest.front}, 4 * n**3 // 3)


@cached_plan
def diagonals(n: int) -> Plan:
    """Plan of T out of the form: operand ``H``, result ``T``, a line of texels (d_i, e_i, 0, 0). One pass."""
    draft = Draft("diagonals")
    h, t = draft.operand("H", matrix((n, n))), draft.slot("T", Storage(1, n))
    draft.draw("spectral/eigh/diagonals", {"H": h}, t, {"n": n})
    return draft.plan({"T": t})


@cached_plan
def shifted(n: int, transposed: bool = False) -> Plan:
    """Plan of the reflectors a column to the right, as those of QR; of H^T, if `transposed`.

    Operand ``H``, result ``V``. One pass.
    """
    draft, shape = Draft("shifted"), (n, n - 1)
    h, v = draft.operand("H", matrix((n, n))), draft.slot("V", matrix(shape))
    draft.draw("spectral/eigh/shift", {"H": h}, v, {"shape": shape}, {"TRANSPOSED": int(transposed)})
    return draft.plan({"V": v})
