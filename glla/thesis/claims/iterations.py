"""Claims about sparse matrices and conjugate gradients, sections 3.1.2 and 3.3.3."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from glla import sparse
from glla.array.array import asarray
from glla.lab.convergence import laplacian
from glla.operations.sparse.compressed import Compressed
from glla.passes.storage import matrix
from glla.sparse import SparseMatrix
from glla.thesis import loops, published
from glla.thesis.claims.claim import ALIKE, HERE, Claim
from glla.thesis.measure import Place

SIDES = {True: 128, False: 512}
"""Points on a side of the grid whose equations are solved, in software or not."""

SMALL = 8
"""Points on a side of a grid that is small enough for as many iterations as unknowns."""

QUICK = 12
"""The same, to show that it runs."""

RTOL = 1e-5
"""Residual that is asked for, against the right-hand side."""

FEW = 0.1
"""Iterations over unknowns up to which they are few."""

HEAVY = 1.5
"""Ratio of times from which a penalty is heavy."""

BAND = 5
"""Diagonals of the band matrix."""


def claims(place: Place) -> Iterator[Claim]:
    """Measure all."""
    yield _band(place)
    rows = laplacian(QUICK if place.quick else SIDES[bool(place.device.info.software)])
    yield _finite(place)
    yield _scattered(place, rows)
    yield _laid_out(place, rows)
    yield from _gradients(place, rows)


def _timed(place: Place, A: Any, x: Any) -> float:
    """Seconds of A x on the device."""

    def multiply() -> None:
        A @ x
        place.device.finish()

    return place.host(multiply)


def _band(place: Place) -> Claim:
    n = place.compared[-1]
    offset = np.arange(BAND) - BAND // 2
    column = np.arange(n)[:, np.newaxis] + offset
    inside = (column >= 0) & (column < n)
    row = np.broadcast_to(np.arange(n)[:, np.newaxis], column.shape)
    rows = Compressed.of_triplets((n, n), row[inside], column[inside], place.rng.uniform(1, 2, inside.sum()))
    band = SparseMatrix(rows, place.device, "circular")
    x = asarray(place.rng.uniform(0, 10, n).astype(np.float32), place.device)
    full = asarray(rows.dense(), place.device)
    gain = _timed(place, full, x) / _timed(place, band, x)
    part = sum(slot.nbytes for slot in band.structure.slots(place.device.limits).values()) / matrix((n, n)).nbytes
    return Claim(
        "Packed by diagonals a banded matrix lies very efficiently", "3.1.2", published.NOT_PUBLISHED,
        f"{100 * part:.2g} % of the bytes of all its places, and a product with a vector {gain:.2g} times as fast; "
        f"{BAND} diagonals, n = {n}", part < 0.5 and gain > ALIKE, HERE,
        "Only diagonals are stored and fetched, and where an entry belongs is a constant of the shader.",
        "At this order a pass costs more than the zeros do.",
    )  # fmt: skip


def _finite(place: Place) -> Claim:
    """Iterations of a system that is small enough to do as many as it has unknowns."""
    rows = laplacian(SMALL)
    n, b = rows.shape[0], place.rng.standard_normal(rows.shape[0]).astype(np.float32)
    steps: list[None] = []
    A = SparseMatrix(rows, place.device)
    _, info = sparse.linalg.cg(A, asarray(b, place.device), rtol=RTOL, callback=lambda x: steps.append(None))
    return Claim(
        "Conjugate gradients find the solution in a finite number of iterations", "3.3.3",
        f"exact after n, but for rounding errors: {n}", f"a residual of {RTOL:g} after {len(steps)}, n = {n}",
        info == 0 and len(steps) <= n, HERE,
        "Each step takes one direction out of the error, and directions of like eigenvalues go together.",
        "Rounding errors bring back directions that were done with.",
    )  # fmt: skip


def _scattered(place: Place, rows: Compressed) -> Claim:
    """As many entries at random places as on the diagonals, rows of the same lengths."""
    n = rows.shape[0]
    anywhere = Compressed(rows.shape, rows.starts, place.rng.integers(0, n, rows.entries), rows.values)
    x = asarray(place.rng.uniform(0, 10, n).astype(np.float32), place.device)
    near, far = (_timed(place, SparseMatrix(one, place.device, "pointers"), x) for one in (rows, anywhere))
    return Claim(
        "Random access to a vector flushes the cache", "3.3.3", published.NOT_PUBLISHED,
        f"{far / near:.2f} times as long as for neighbours, {rows.entries} entries, n = {n}", far / near > ALIKE, HERE,
        "Each entry fetches a texel of its own from anywhere in the vector.",
        "The whole vector lies in the cache, which has grown from some texels to megabytes.",
    )  # fmt: skip


def _laid_out(place: Place, rows: Compressed) -> Claim:
    n = rows.shape[0]
    x = asarray(place.rng.uniform(0, 10, n).astype(np.float32), place.device)

    def anew() -> None:
        SparseMatrix(rows, place.device, "pointers") @ x
        place.device.finish()

    whole, product = place.host(anew), _timed(place, SparseMatrix(rows, place.device, "pointers"), x)
    return Claim(
        "An unstructured matrix has to be laid out anew if its places change", "3.1.2", published.NOT_PUBLISHED,
        f"{(whole - product) / product:.3g} products' time, {rows.entries} entries, n = {n}", None, HERE,
        "Entries and pointers are put in order on the CPU and uploaded; many products make up for it.",
    )  # fmt: skip


def _gradients(place: Place, rows: Compressed) -> Iterator[Claim]:
    n, device = rows.shape[0], place.device
    A = SparseMatrix(rows, device)
    right = place.rng.standard_normal(n).astype(np.float32)
    b = asarray(right, device)
    steps: list[None] = []
    _, info = sparse.linalg.cg(A, b, rtol=RTOL, callback=lambda x: steps.append(None))
    count = len(steps)
    yield Claim(
        "Conjugate gradients take few iterations", "3.3.3", "usually few",
        f"{count} for {n} unknowns and a residual of {RTOL:g}", info == 0 and count < FEW * n, HERE,
        "They are about the square root of the condition, here of the grid's side, whatever the number of unknowns.",
        "The matrix is too small, or too ill-conditioned without a preconditioner.",
    )  # fmt: skip

    def solved(**options: Any) -> float:
        def once() -> None:
            sparse.linalg.cg(A, b, rtol=RTOL, **options)
            device.finish()

        return place.host(once)

    late, each = solved(), solved(check_every=1)
    yield Claim(
        "Conjugate gradients are heavily penalised by transfers between CPU and GPU", "3.3.3", published.NOT_PUBLISHED,
        f"{each / late:.2f} times as long if the CPU asks after each iteration, n = {n}", each / late > HEAVY, HERE,
        "A CPU that waits for each residual leaves the GPU idle; glla looks late and queues on.",
        "Waiting for an iteration costs little beside the iteration itself.",
    )  # fmt: skip
    yield _peers(rows, right, late / count, count)
    yield _precision(A, right)


def _peers(rows: Compressed, right: Any, ours: float, count: int) -> Claim:
    """Beside loops over entries, and SciPy's; seconds of an iteration."""
    start = time.perf_counter()
    loops.gradients(rows.starts, rows.columns, rows.values, right, 1)
    plain = time.perf_counter() - start
    text, n = f"{plain / ours:.3g} times as fast as loops in Python", rows.shape[0]
    if find_spec("scipy") is not None:
        from scipy.sparse import csr_array
        from scipy.sparse.linalg import cg

        given = csr_array((rows.values, rows.columns.astype(np.int32), rows.starts.astype(np.int32)), shape=rows.shape)
        start = time.perf_counter()
        cg(given, right, rtol=0.0, atol=0.0, maxiter=count)
        text += f", {(time.perf_counter() - start) / count / ours:.2g} times as SciPy's in float32"
    return Claim(
        "Conjugate gradients on the GPU are faster than unoptimised ones on the CPU", "3.3.3", published.NOT_PUBLISHED,
        f"{text}; an iteration, n = {n}", plain > ALIKE * ours, HERE,
        "An iteration is a handful of passes over vectors; loops in an interpreter touch each entry by itself.",
        "The vectors are so short that starting the passes takes longer.",
    )  # fmt: skip


def _precision(A: SparseMatrix, right: Any) -> Claim:
    """Residual reached for a tolerance beyond float32."""
    wide = right.astype(np.float64)
    reached = []
    for refine in (False, True):
        x, _ = sparse.linalg.cg(A, wide, rtol=1e-10, refine=refine)
        reached.append(float(np.linalg.norm(wide - A.rows.times(x)) / np.linalg.norm(wide)))
    single, refined = reached
    return Claim(
        "Conjugate gradients have precision issues in float32", "3.3.3", published.NOT_PUBLISHED,
        f"a residual of {single:.2g} at best, {refined:.2g} with refinement in float64", single > 10 * refined, HERE,
        "A float32 solution cannot have a smaller residual than its rounding times the norm of A; corrections that are "
        "added in float64 can.",
        "The system is so well conditioned that float32 holds its solution.",
    )  # fmt: skip
