"""The singular values and vectors of a square matrix by its bidiagonal form, as plans.

    A --> Q^T A P = B, reflectors from both sides --> T of order 2n --> divide and conquer --> halves u and v
      --> QR of each, with signs --> the reflectors applied to u and v

Where a value is near zero the vectors of +s and -s mix in T, and the halves are not orthonormal: QR repairs them
without harm to the residual, since column i is wrong by u s_1 / s_i and counts s_i. Nor does it harm that u_i may then
have the sign of -s.
"""

from __future__ import annotations

from glla.operations import elementwise
from glla.operations.layouts import packing
from glla.operations.orthogonal import qr
from glla.operations.spectral import back, panels, secular, sturm, tridiagonal_form
from glla.operations.spectral.symmetric import Subset
from glla.passes import Draft, Limits, Plan, Storage, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import texels


def transposed(shape: tuple[int, int]) -> Plan:
    """Plan of the transpose, of this shape: operand ``A``, result ``result``."""
    return elementwise.unary(shape, "positive", (1, 1, 1))


@cached_plan
def golub_kahan(n: int) -> Plan:
    """Plan of the tridiagonal matrix of order 2n: operand ``H``, result ``T``, a line of texels. One pass."""
    draft, line = Draft("order 2n"), Storage(1, 2 * n)
    h = draft.operand("H", matrix((n, n)))
    draft.draw("spectral/svd/golub_kahan", {"H": h}, draft.slot("T", line), {"n": n})
    return draft.plan({"T": "T"})


@cached_plan
def halves(n: int) -> Plan:
    """Plan of ``u`` and ``v``, the largest first, out of ``X``, vectors of the n largest of 2n values. One pass."""
    draft, x = Draft("halves"), matrix((2 * n, n))
    targets = tuple(draft.slot(name, matrix((n, n))) for name in "uv")
    draft.draw("spectral/svd/halves", {"X": draft.operand("X", x)}, targets, {"n": n})
    return draft.plan({"u": "u", "v": "v"})


@cached_plan
def values(n: int, given: int) -> Plan:
    """Plan of ``S``, a line of n values, descending, of those of ``L``, ascending, the largest ones. One pass."""
    draft = Draft("largest values")
    largest = draft.operand("L", Storage(1, given))
    draft.draw("spectral/svd/values", {"L": largest}, draft.slot("S", Storage(1, n)), {"n": given})
    return draft.plan({"S": "S"})


@cached_plan
def straight(n: int) -> Plan:
    """Plan of Q with the signs of R's diagonal: operands ``Q`` and ``R``, result ``result``. One pass."""
    draft, size = Draft("straight"), matrix((n, n))
    inputs = {name: draft.operand(name, size) for name in "QR"}
    draft.draw("spectral/svd/straight", inputs, draft.slot("result", size), {"side": texels(n)})
    return draft.plan({"result": "result"})


@cached_plan
def plan(n: int, limits: Limits, vectors: bool = True) -> Plan:
    """Plan of A = U diag(s) V^T of a square matrix whose entries are near 1: operand ``A``.

    Results ``S``, a line of texels (s_i, ...), descending, and with `vectors` ``U`` and ``V``. About 14 n + 9 log2(2n)
    passes; 6 n + 24 and a few for each panel of the values alone, which are found by bisection.
    """
    draft, shape = Draft("bidiagonal"), (n, n)
    a = draft.operand("A", matrix(shape))
    if n == 1:  # exact
        made = {"S": draft.call("S", elementwise.unary(shape, "absolute"), A=a)["result"]}
        if vectors:
            made["U"] = draft.call("U", packing.identity(shape))["I"]
            made["V"] = draft.call("V", straight(n), Q=made["U"], R=a)["result"]
        return draft.plan(made)
    h = draft.call("bidiagonal form", panels.plan(n, limits, 2), A=a)["H"]
    t = draft.call("order 2n", golub_kahan(n), H=h)["T"]
    if not vectors:
        largest = draft.call("eigenvalues of order 2n", sturm.plan(2 * n, Subset(n, n), limits), T=t)["L"]
        return draft.plan({"S": draft.call("values", values(n, n), L=largest)["S"]}, 8 * n**3 // 3)
    found = draft.call("eigenvectors of order 2n", secular.plan(2 * n, limits, Subset(n, n)), T=t)
    half = draft.call("halves", halves(n), X=found["Q"])
    for name in "uv":
        factors = draft.call(f"QR of {name}", qr.plan(resident(shape), limits), A=half[name])
        half[name] = draft.call(f"signs of {name}'s QR", straight(n), **factors)["result"]
    s, u, v = draft.call("values", values(n, 2 * n), L=found["L"])["S"], half["u"], half["v"]
    u = draft.call("U", back.plan(shape, n, limits), H=h, B=u)["B"]
    if n > 2:
        w = draft.call("reflectors from the right", tridiagonal_form.shifted(n, transposed=True), H=h)["V"]
        v = draft.call("V", back.plan((n, n - 1), n, limits), H=w, B=v)["B"]
    return draft.plan({"S": s, "U": u, "V": v}, 12 * n**3)
