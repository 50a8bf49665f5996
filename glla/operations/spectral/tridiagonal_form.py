"""The tridiagonal form of a symmetric matrix, by Householder's reflectors, one column a step.

    column k --> y = A x, its sums --> A - v w^T - w v^T --> column k + 1 ... --> T on and beside the diagonal, v below

The product A x does not wait for the reflector: it is made with the column x itself (``spectral/eigh/update.vert``).
"""

from __future__ import annotations

from glla.operations.orthogonal.qr_pairs import at_once
from glla.operations.spectral import panels
from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import texels

BY_COLUMNS_TO = 256
"""Order up to which A is changed in each step; beyond it panels are faster. On an H100 the form of order 512 took 20 ms
by columns and 13 by panels, that of order 256 about 6 ms both ways. On llvmpipe `eigh` of order 256 takes 44 ms in 690
passes, by panels 38 in 1024 (``llvmpipe-llvm-15-0-6-256-bits/experiments/2026-11-28-software.json``)."""


def add(draft: Draft, a: str, n: int, limits: Limits) -> tuple[str, str]:
    """Add the passes to the form; give the slots of H and T, see `plan` and `diagonals`."""
    h = a if n < 3 else draft.call("tridiagonal form", plan(n, limits), A=a)["H"]
    return h, draft.call("T", diagonals(n), H=h)["T"]


@cached_plan
def plan(n: int, limits: Limits) -> Plan:
    """Plan of the tridiagonal form of an n x n matrix whose entries are near 1.

    Operand ``A``, symmetric. Result ``H``: T on the diagonal and below it, the reflectors below that; what is above the
    diagonal is of no use. 2 (n - 2) passes; from order 129 on, on a GPU from 257 on, those of `panels`.
    """
    if n > BY_COLUMNS_TO:
        return panels.plan(n, limits, 1)
    draft, height, size = Draft("tridiagonal form"), texels(n), matrix((n, n))
    rest, sums = PingPong(draft, "H", size, draft.operand("A", size)), draft.slot("sums", Storage(1, height))
    once = at_once(limits)
    for k in range(n - 2):
        first, last = k // 2, max(k - 1, 0) // 2  # final texels are in both textures by then
        across, left = Region(first, 0, height - first, 1), Region(last, last, height - last, height - last)
        numbers = {"height": height}
        with draft.scope("column", k):
            draft.draw("spectral/eigh/dots", {"A": rest.front}, sums, numbers, once, across, step=k)
            inputs = {"A": rest.front, "D": sums}
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
