"""Jacobi's two-sided method: A and V turned by n / 2 rotations a step, one pass, until A is diagonal.

    A, symmetric and scaled --> sweeps of n - 1 steps, a test after each --> values in order, vectors with their signs

A texel of the packed layout's diagonal is the 2 x 2 block that a rotation makes diagonal; rows and columns move as the
players of a tournament, so each pair is in such a block once a sweep. Entries that are small beside the diagonal are
left alone: to turn rounding errors makes new ones. A single matrix and an interleaved batch take the same passes.

Sources: Brent and Luk 1985; Rutishauser 1966; Demmel and Veselić, "Jacobi's method is more accurate than QR" (1992).
"""

from __future__ import annotations

from collections.abc import Mapping

from glla.operations.batches.stack import SINGLE, Cells, Passes, Stack, capacity
from glla.operations.layouts import packing
from glla.operations.spectral import certificate
from glla.operations.spectral.symmetric import Subset
from glla.passes import PLAIN, Draft, Forms, Limits, PingPong, Plan, Storage, Uniform, iterate, matrix, texture
from glla.passes.cache import cached_plan
from glla.passes.layout import texels
from glla.passes.loop import Loop

UNIT = 2.0**-24

LEFT_ALONE, ENOUGH = 4 * UNIT, 5 * UNIT
"""Entries up to so many times sqrt(a_ii a_jj) are not turned; the sweeps stop where none is above the second, a little
more, or rounding could keep them from stopping."""

LEAST = 2.0**-60
"""Smallest magnitude that a diagonal entry counts for in that test, of a matrix whose largest entry is near 1."""

MOST_SWEEPS = 30
"""Sweeps at most; random matrices of order 128 take 8, hostile ones took 15."""

CHUNK, CHUNK_OF_BATCH = 64, 16
"""Side of the square of texels of which one fragment finds the largest: of a column, and of a batch, whose squares are
full."""


def flops(n: int, sweeps: int = 7) -> int:
    """Additions and multiplications of some sweeps on A and V."""
    return sweeps * 6 * n**3


def even(n: int) -> int:
    """The order with a row and a column of zeros where it is odd: they are never turned."""
    return n + n % 2


def add_sweep(
    draft: Draft, a: str, v: str, n: int, angles: bool, cells: Cells, number: int = 0, skip: float = LEFT_ALONE
) -> tuple[str, str]:
    """Add the n - 1 steps of a sweep, n even; give the slots of A and V."""
    side, rule = texels(n), {"SKIP": skip}
    storage = texture(draft.slots[a])
    ping_a, ping_v = (PingPong(draft, f"{name}_{number}", storage, slot) for name, slot in (("A", a), ("V", v)))
    for k in range(n - 1):
        uniforms: dict[str, Uniform] = {"n": n, **cells.grid}
        inputs = {"A": ping_a.front, "V": ping_v.front}
        with draft.scope("step", k):
            if angles:
                inputs["angles"] = draft.slot(f"angles_{number}_{k}", cells.storage(1, side))
                draft.draw(
                    "spectral/jacobi/angles", {"A": ping_a.front}, inputs["angles"], cells.grid, rule | cells.defines
                )
            targets = ping_a.back, ping_v.back
            defines = {"ANGLES": int(angles), **({} if angles else rule), **cells.defines}
            draft.draw("spectral/jacobi/step", inputs, targets, uniforms, defines)
        ping_a.swap()
        ping_v.swap()
    return ping_a.front, ping_v.front


def add_test(draft: Draft, a: str, n: int, cells: Cells, number: int = 0) -> str:
    """Add the test of a sweep; give the slot of (stop, worst ratio, largest entry off the diagonal, on it)."""
    side = texels(n)
    size = cells.storage(side, 1)
    off = draft.slot(f"off_rows_{number}", size)
    uniforms: dict[str, Uniform] = {"width": side, "least": LEAST, **cells.grid}
    draft.draw("spectral/jacobi/off_rows", {"A": a}, off, uniforms, cells.defines)
    return add_worst(draft, off, ENOUGH, number)


def add_worst(draft: Draft, off: str, enough: float, number: int = 0) -> str:
    """Add the passes to the largest of texels (0, ratio, ...), and whether the ratio is small enough; give its slot."""
    size = texture(draft.slots[off])
    chunk = CHUNK if size.width == 1 else CHUNK_OF_BATCH
    while off != f"off_{number}_1x1":
        size = Storage(-(-size.height // chunk), -(-size.width // chunk))
        smaller = draft.slot(f"off_{number}_{size.height}x{size.width}", size)
        draft.draw("spectral/jacobi/off", {"rows": off}, smaller, {"chunk": chunk, "enough": enough})
        off = smaller
    return off


@cached_plan
def sweeps(n: int, angles: bool = False, cells: Cells = SINGLE, skip: float = LEFT_ALONE) -> Loop:
    """Loop of sweeps over a symmetric matrix, or a batch, of even order: operands ``A`` and ``V``.

    Results ``A next``, ``V next`` and ``done``, see `add_test`. n - 1 passes a step, or twice as many, and those of the
    test. `skip`: in place of `LEFT_ALONE`.
    """
    draft = Draft(f"jacobi sweep{' by angles' if angles else ''}")
    size = cells.matrix((n, n))
    a, v = add_sweep(draft, draft.operand("A", size), draft.operand("V", size), n, angles, cells, skip=skip)
    results = {"A next": a, "V next": v, "done": add_test(draft, a, n, cells)}
    carry = {"A next": "A", "V next": "V"}
    return iterate(draft.plan(results, flops(n, 1)), carry=carry, until="done", most=MOST_SWEEPS)


@cached_plan
def written_out(n: int, angles: bool, count: int) -> Plan:
    """Plan of a number of sweeps, as `sweeps` has them."""
    draft, size, done = Draft("jacobi sweeps"), matrix((n, n)), ""
    a, v = draft.operand("A", size), draft.operand("V", size)
    for number in range(count):
        with draft.scope("sweep", number):
            a, v = add_sweep(draft, a, v, n, angles, SINGLE, number)
            done = add_test(draft, a, n, SINGLE, number)
    return draft.plan({"A next": a, "V next": v, "done": done}, flops(n, count))


def add_in_order(
    draft: Draft,
    a: str,
    v: str,
    n: int,
    cells: Cells,
    beside: Mapping[str, str] | None = None,
    subset: Subset | None = None,
) -> tuple[str, str]:
    """Add the order of a diagonal matrix; give the slots of `L`, see ``order.frag``, and of the vectors of a subset.

    `beside`: slots of the `largest` entries, and of the matrix that was `scaled`: with them the vectors are below the
    eigenvalues, scaled back, as in records, and judged by the certificate.
    """
    ranks, made = (draft.slot(name, cells.storage(1, n)) for name in ("ranks", "L"))
    some = subset or Subset(0, n)
    shape = n + bool(beside), some.count
    draft.draw("spectral/jacobi/rank", {"A": a}, ranks, {"n": n, **cells.grid}, cells.defines)
    draft.draw("spectral/jacobi/order", {"A": a, "V": v, "ranks": ranks}, made, {"n": n, **cells.grid}, cells.defines)
    inputs, vectors = {"V": v, "L": made}, draft.slot("vectors", cells.matrix(shape))
    uniforms: dict[str, Uniform] = {"shape": shape, "first": some.first, **cells.grid}
    if beside:
        judged = certificate.add(draft, {"A": beside["scaled"], "V": v, "L": ranks}, n, some, cells)
        inputs |= {"largest": beside["largest"], "certificate": judged}
        uniforms["most"] = certificate.VECTORS * certificate.enough(n) ** 2
    draft.draw("spectral/jacobi/vectors", inputs, vectors, uniforms, {"RECORD": int(bool(beside)), **cells.defines})
    return made, vectors


@cached_plan
def in_order(n: int, subset: Subset | None = None) -> Plan:
    """Plan of the way out: operands ``A``, diagonal, and ``V``; results ``L`` and ``V``, see `add_in_order`."""
    draft, size = Draft("in order"), matrix((n, n))
    made, vectors = add_in_order(draft, draft.operand("A", size), draft.operand("V", size), n, SINGLE, subset=subset)
    return draft.plan({"L": made, "V": vectors})


@cached_plan
def plan(n: int, angles: bool = False, count: int = 0, subset: Subset | None = None) -> Plan:
    """Plan of the decomposition of a symmetric matrix whose entries are at most 2: operand ``A``.

    Results ``L``, a line of texels (lambda_i, ...), ascending, ``V``, the largest entry of each of whose columns is
    positive, and ``done``, see `add_test`.

    `angles`: a step takes two passes, of which the first makes the rotations. `count`: sweeps, written out; by default
    as many as it takes. `subset`: columns of V that are given.
    """
    draft = Draft("jacobi")
    a, start = draft.operand("A", matrix((n, n))), draft.call("identity", packing.identity((n, n)))["I"]
    turns = written_out(even(n), angles, count) if count else sweeps(even(n), angles)
    found = draft.call("sweeps", turns, A=a, V=start)
    ordered = draft.call("in order", in_order(n, subset), A=found["A next"], V=found["V next"])
    return draft.plan({**ordered, "done": found["done"]}, flops(n))


# -- batches ----------------------------------------------------------------------------------------------------------

LARGEST_OF_BATCH, LARGEST_IN_SOFTWARE = 64, 24
"""Largest order of batched matrices, on a GPU, a guess, and on a software rasteriser: there one of order 24 takes 1.6
ms, looped 2.2, one of order 32 takes 4.0 and 2.7."""


def most(forms: Forms, limits: Limits) -> int:
    """Most matrices that one plan may decompose at once; 0: they are looped."""
    n = forms[0].shape[-1]
    if n > (LARGEST_IN_SOFTWARE if limits.software else LARGEST_OF_BATCH):
        return 0
    return capacity((texels(n + 1), n), n * (n + 1), limits.texture_size)


@cached_plan
def batched(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the decompositions of a batch of n x n matrices: all take as many sweeps as the worst of them.

    Operand ``raw``: the matrices, of which the lower half is read. Result ``records``, see `small.record`.
    """
    n, count = forms[0].shape[-1], forms[0].count
    cells = Stack.of(count, (texels(n + 1), n), limits.texture_size)
    draft = Draft("stack[eigh]")
    way_in = draft.call("in", _brought_in(n, cells), raw=draft.operand("raw", cells.raw(n * n)))
    found = draft.call("sweeps", sweeps(even(n), cells=cells), A=way_in["scaled"], V=way_in["I"])
    given = {"A": found["A next"], "V": found["V next"], **{name: way_in[name] for name in ("largest", "scaled")}}
    return draft.plan(draft.call("out", _records(n, cells), **given), count * flops(n))


@cached_plan
def _brought_in(n: int, cells: Stack) -> Plan:
    """Plan of a batch's way in: the symmetric matrices, scaled, their `largest`, and identities."""
    passes, side = Passes("stack[symmetric]", cells, n * n), texels(n)
    draft, (given, scaled, start) = passes.draft, (passes.matrices(name, (n, n)) for name in ("A", "scaled", "I"))
    passes.pack(given, (n, n))
    passes.pack(start, (n, n), identity=True)
    largest, uniforms = passes.column("largest", side), {"height": side, **cells.grid}
    draft.draw("spectral/jacobi/largest", {"A": given}, largest, cells.grid, cells.defines)
    draft.draw("spectral/jacobi/scale", {"A": given, "largest": largest}, scaled, uniforms, cells.defines)
    return draft.plan({"scaled": scaled, "largest": largest, "I": start})


@cached_plan
def _records(n: int, cells: Stack) -> Plan:
    """Plan of a batch's way out: operands as those of `in_order`, ``largest``, ``scaled``; result ``records``."""
    passes = Passes("stack[in order]", cells)
    draft = passes.draft
    a, v, scaled = (draft.operand(name, cells.matrix((n, n))) for name in ("A", "V", "scaled"))
    beside = {"scaled": scaled, "largest": draft.operand("largest", cells.storage(texels(n), 1))}
    joined = add_in_order(draft, a, v, n, cells, beside)[1]
    return draft.plan({"records": passes.unpack(joined, (n + 1, n))})
