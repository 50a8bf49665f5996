"""Singular values by one-sided rotations of columns: those of B D to relative accuracy, whatever D scales columns by.

    A --> columns in descending order, A P = Q R --> R^T turned until its columns are orthogonal, R^T X = Y diag(s)
      --> in descending order, Y made orthonormal by QR --> U = Q X, V = P Y

A step is two passes: inner products of pairs of columns, and rotations, as those of `jacobi`. Columns that are all but
orthogonal are left alone. QR before it takes half of the sweeps away; QR after it completes Y where values are zero.

Sources: Hestenes 1958; Brent and Luk 1985; Drmač and Veselić, "New fast and accurate Jacobi SVD algorithm" (2008).
"""

from __future__ import annotations

from glla.operations.batches.stack import SINGLE, Cells
from glla.operations.orthogonal import qr
from glla.operations.product import matmul
from glla.operations.spectral.bidiagonal_form import straight
from glla.operations.spectral.jacobi import MOST_SWEEPS, UNIT, add_worst, even
from glla.passes import Draft, Limits, PingPong, Plan, Storage, Uniform, iterate, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels
from glla.passes.loop import Loop

LEFT_ALONE, ENOUGH = 4 * UNIT, 1.25
"""Least cosine that is turned, of up to 16 rows, else sqrt(n) u; the sweeps stop at so many times it."""


@cached_plan
def sweeps(shape: Shape, rows: int, cells: Cells = SINGLE) -> Loop:
    """Loop of sweeps over the columns of a matrix, or of a batch, by inner products of the first rows: operand ``A``.

    Results ``A next`` and ``done``, a texel (stop, largest cosine, 0, 0). 2 (n - 1) + 1 passes a sweep of n columns, n
    even; of a batch some more.
    """
    n, draft, skip = shape[1], Draft("one-sided sweep"), max(LEFT_ALONE, rows**0.5 * UNIT)
    side, size, line = texels(n), cells.matrix(shape), cells.storage(1, texels(n))
    turned, products = PingPong(draft, "A", size, draft.operand("A", size)), PingPong(draft, "products", line, "")
    sums: dict[str, Uniform] = {"height": texels(rows), **cells.grid}
    for k in range(n - 1):
        with draft.scope("step", k):
            inputs = {"A": turned.front} | ({"before": products.front} if k else {})
            draft.draw("spectral/hestenes/gram", inputs, products.back, sums, {"FIRST": int(k == 0), **cells.defines})
            products.swap()
            inputs = {"A": turned.front, "products": products.front}
            uniforms: dict[str, Uniform] = {"n": n, **cells.grid}
            draft.draw("spectral/hestenes/rotate", inputs, turned.back, uniforms, {"SKIP": skip, **cells.defines})
            turned.swap()
    done, uniforms = draft.slot("done", cells.storage(1, 1)), {"count": side, "enough": ENOUGH * skip, **cells.grid}
    draft.draw("spectral/hestenes/worst", {"products": products.front}, done, uniforms, cells.defines)
    if cells is not SINGLE:
        done = add_worst(draft, done, ENOUGH * skip)
    made = draft.plan({"A next": turned.front, "done": done}, 6 * n * n * (shape[0] + rows))
    return iterate(made, carry={"A next": "A"}, until="done", most=MOST_SWEEPS)


def add_order(draft: Draft, a: str, n: int, rows: int, norms: bool, cells: Cells) -> tuple[str, str]:
    """Add the passes of the order of n columns, descending by the largest magnitudes, or `norms`, of some rows.

    Give the slots of the order, a line of texels (size, place, 0, 0), and of the ranks.
    """
    sizes, ranks, order = (draft.slot(name, cells.storage(1, n)) for name in ("sizes", "ranks", "order"))
    draft.draw(
        "spectral/hestenes/sizes", {"A": a}, sizes, {"rows": rows, **cells.grid}, {"NORMS": int(norms), **cells.defines}
    )
    line: dict[str, Uniform] = {"n": n, **cells.grid}
    draft.draw("spectral/jacobi/rank", {"A": sizes}, ranks, line, {"SIZES": 1, **cells.defines})
    draft.draw("spectral/hestenes/order", {"sizes": sizes, "ranks": ranks}, order, line, cells.defines)
    return order, ranks


@cached_plan
def ordered(shape: Shape, n: int, norms: bool) -> Plan:
    """Plan of the order of the n columns of ``A``, see `add_order`: results ``order`` and ``ranks``. Three passes."""
    draft = Draft("order of columns")
    order, ranks = add_order(draft, draft.operand("A", matrix(shape)), n, n, norms, SINGLE)
    return draft.plan({"order": order, "ranks": ranks})


def add_arranged(
    draft: Draft, a: str, line: str, made: tuple[str, Shape], cells: Cells, top: int = 0, **kind: bool
) -> str:
    """Add the pass to a matrix, its name and shape, out of rows of `a` from `top` on, see ``arrange.frag``."""
    name, shape = made
    result, uniforms = draft.slot(name, cells.matrix(shape)), {"top": top, "shape": shape, **cells.grid}
    defines = {one.upper(): int(value) for one, value in kind.items()} | cells.defines
    draft.draw("spectral/hestenes/arrange", {"M": a, "line": line}, result, uniforms, defines)
    return result


@cached_plan
def arranged(shape: Shape, n: int, top: int = 0, divided: bool = False, rows: bool = False) -> Plan:
    """Plan of n rows of ``M`` from `top` on, its columns as ``line`` says, or its `rows`; `divided` by their sizes."""
    draft = Draft("arranged")
    a, line = draft.operand("M", matrix(shape)), draft.operand("line", Storage(1, n))
    made = add_arranged(draft, a, line, ("result", (n, n)), SINGLE, top, divided=divided, rows=rows)
    return draft.plan({"result": made})


@cached_plan
def started(n: int) -> Plan:
    """Plan of the columns that are turned, R^T, and the identity below them: operand ``R``, result ``A``."""
    draft, size = Draft("columns"), matrix((2 * even(n), even(n)))
    r = draft.operand("R", matrix((n, n)))
    draft.draw("spectral/hestenes/start", {"M": r}, draft.slot("A", size), {"height": texels(n)})
    return draft.plan({"A": "A"})


@cached_plan
def plan(n: int, limits: Limits, vectors: bool = True) -> Plan:
    """Plan of A = U diag(s) V^T of a square matrix whose entries are near 1, as `bidiagonal_form.plan`.

    2 n - 1 passes a sweep, some 6 to 10 sweeps, and those of two QR, one of the values alone.
    """
    draft, shape, both = Draft("one_sided"), (n, n), (2 * even(n), even(n))
    a, factor = draft.operand("A", matrix(shape)), qr.plan(resident(shape), limits)
    before = draft.call("order of A", ordered(shape, n, norms=False), A=a)
    sorted_ = draft.call("A in order", arranged(shape, n), M=a, line=before["order"])["result"]
    factors = draft.call("QR", factor, A=sorted_)
    start = draft.call("columns", started(n), R=factors["R"])["A"]
    turned = draft.call("sweeps", sweeps(both, even(n)), A=start)["A next"]
    after = draft.call("order of columns", ordered(both, n, norms=True), A=turned)
    if not vectors:
        return draft.plan({"S": after["order"]}, 84 * n**3)
    scaled = draft.call("Y", arranged(both, n, divided=True), M=turned, line=after["order"])["result"]
    x = draft.call("X", arranged(both, n, even(n)), M=turned, line=after["order"])["result"]
    made = draft.call("QR of Y", factor, A=scaled)
    y = draft.call("signs of Y", straight(n), **made)["result"]
    u = draft.call("U", matmul.plan(resident(shape, shape), limits), A=factors["Q"], B=x)["C"]
    v = draft.call("V", arranged(shape, n, rows=True), M=y, line=before["ranks"])["result"]
    return draft.plan({"S": after["order"], "U": u, "V": v}, 90 * n**3)
