"""Batches of symmetric matrices of order 5 at most: a fragment decomposes a whole matrix in one pass.

raw --> small --> up to eight targets, a texel of each for each matrix --> records
"""

from __future__ import annotations

from glla.operations.batches import stack
from glla.operations.spectral.certificate import enough
from glla.operations.spectral.jacobi import LEFT_ALONE
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, wrapped
from glla.passes.cache import cached_plan

SWEEPS = (0, 1, 4, 5, 6)
"""Sweeps by order, from 1 on: enough for the worst of 10^5 random matrices of each kind; others are marked."""

ANGLE = 40
"""Flop of the angle of a rotation, roots and divisions included."""


def record(forms: Forms, vectors: bool = True) -> tuple[int, int]:
    """Rows and columns of a record: the eigenvalues and, below them, the eigenvectors.

    >>> from glla.passes import Form
    >>> record((Form((9, 3, 3)),)), record((Form((9, 3, 3)),), vectors=False)
    ((4, 3), (1, 3))
    """
    n = forms[0].shape[-1]
    return (n + 1 if vectors else 1), n


def is_small(forms: Forms) -> bool:
    """Whether matrices are small enough."""
    return forms[0].shape[-1] <= len(SWEEPS)


def most(forms: Forms, limits: Limits, vectors: bool = True) -> int:
    """Most matrices that go at once."""
    rows, n = record(forms, vectors)
    return stack.most_small(rows * n, n * n, limits)


@cached_plan
def plan(forms: Forms, limits: Limits = PLAIN, *, vectors: bool = True) -> Plan:
    """Plan of the decompositions of a batch of n x n matrices, 0 < n <= 5.

    Operand ``raw``: the matrices, of which the lower half is read. Result ``records``, see `record`: four elements to a
    texel, each begins with one. One pass decomposes; where records have several texels, another one joins them.
    """
    (rows, n), count = record(forms, vectors), forms[0].count
    texels, sweeps = stack.stride(rows * n) // 4, SWEEPS[n - 1]
    targets = 1 << (texels - 1).bit_length()
    draft = Draft(f"stack[{'eigh' if vectors else 'eigvalsh'}, small]")
    raw = draft.operand("raw", stack.raw(count * n * n, limits.texture_size))
    each = wrapped(4 * count, limits.texture_size)
    parts = {f"R{k}": draft.slot(f"record_{k}", each) for k in range(targets)}
    defines = {"ORDER": n, "SWEEPS": sweeps, "VECTORS": int(vectors), "TARGETS": targets, "ENOUGH": enough(n)}
    if n > 3:  # smaller ones stay accurate without
        defines["SKIP"] = LEFT_ALONE
    extent = (count, each.width)
    draft.draw("spectral/jacobi/small", {"raw": raw}, tuple(parts.values()), {"extent": extent}, dict(defines))
    records = parts["R0"]
    if targets > 1:
        storage = wrapped(4 * texels * count, limits.texture_size)
        records, size = draft.slot("records", storage), (count, texels, storage.width)
        draft.draw("spectral/jacobi/records", parts, records, {"extent": size}, {"TARGETS": targets})
    flops = sweeps * n * (n - 1) // 2 * (ANGLE + 6 * (n - 2) + 6 * n * vectors)
    return draft.plan({"records": records}, count * max(flops, 1))
