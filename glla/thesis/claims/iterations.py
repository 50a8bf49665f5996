"""Claims about sparse matrices and conjugate gradients, sections 3.1.2 and 3.3.3."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from operator import matmul
from typing import Any

import numpy as np

from glla import sparse
from glla.array.array import asarray
from glla.gl.clock import clock
from glla.lab.convergence import laplacian
from glla.lab.peers import in_scipy
from glla.operations.sparse.compressed import Compressed
from glla.passes.storage import matrix
from glla.sparse import SparseMatrix
from glla.thesis import loops
from glla.thesis.claims.claim import ALIKE, Claim, claim, faster
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
    gain = place.finished(lambda: full @ x) / place.finished(lambda: band @ x)
    part = sum(slot.nbytes for slot in band.structure.slots(place.device.limits).values()) / matrix((n, n)).nbytes
    return claim("iterations.band", part < 0.5 and gain > ALIKE, 100 * part, gain=gain, n=n)


def _finite(place: Place) -> Claim:
    """Iterations of a system that is small enough to do as many as it has unknowns."""
    rows = laplacian(SMALL)
    n, b = rows.shape[0], place.rng.standard_normal(rows.shape[0]).astype(np.float32)
    steps: list[None] = []
    A = SparseMatrix(rows, place.device)
    _, info = sparse.linalg.cg(A, asarray(b, place.device), rtol=RTOL, callback=lambda x: steps.append(None))
    return claim("iterations.finite", info == 0 and len(steps) <= n, len(steps), n=n)


def _scattered(place: Place, rows: Compressed) -> Claim:
    """As many entries at random places as on the diagonals, rows of the same lengths."""
    n = rows.shape[0]
    anywhere = Compressed(rows.shape, rows.starts, place.rng.integers(0, n, rows.entries), rows.values)
    x = asarray(place.rng.uniform(0, 10, n).astype(np.float32), place.device)
    near, far = (
        place.finished(partial(matmul, SparseMatrix(one, place.device, "pointers"), x)) for one in (rows, anywhere)
    )
    return faster("iterations.scattered", far / near, entries=rows.entries, n=n)


def _laid_out(place: Place, rows: Compressed) -> Claim:
    n = rows.shape[0]
    x = asarray(place.rng.uniform(0, 10, n).astype(np.float32), place.device)
    A = SparseMatrix(rows, place.device, "pointers")
    whole = place.finished(lambda: SparseMatrix(rows, place.device, "pointers") @ x)
    product = place.finished(lambda: A @ x)
    return claim("iterations.laid_out", None, (whole - product) / product, rows.entries, n=n)


def _gradients(place: Place, rows: Compressed) -> Iterator[Claim]:
    n, device = rows.shape[0], place.device
    A = SparseMatrix(rows, device)
    right = place.rng.standard_normal(n).astype(np.float32)
    b = asarray(right, device)
    steps: list[None] = []
    _, info = sparse.linalg.cg(A, b, rtol=RTOL, callback=lambda x: steps.append(None))
    count = len(steps)
    yield claim("iterations.few", info == 0 and count < FEW * n, count=count, n=n)
    late = place.finished(lambda: sparse.linalg.cg(A, b, rtol=RTOL))
    each = place.finished(lambda: sparse.linalg.cg(A, b, rtol=RTOL, check_every=1))
    yield faster("iterations.transfers", each / late, HEAVY, n=n)
    yield _peers(rows, right, late / count, count)
    yield _precision(A, right)


def _peers(rows: Compressed, right: Any, ours: float, count: int) -> Claim:
    """Beside loops over entries, and SciPy's; seconds of an iteration."""
    plain, _ = clock(lambda: loops.gradients(rows.starts, rows.columns, rows.values, right, 1))
    text, n = f"{plain / ours:.3g} times as fast as loops in Python", rows.shape[0]
    if find_spec("scipy") is not None:
        from scipy.sparse.linalg import cg

        given = in_scipy(rows)
        theirs, _ = clock(lambda: cg(given, right, rtol=0.0, atol=0.0, maxiter=count))
        text += f", {theirs / count / ours:.2g} times as SciPy's in float32"
    return claim("iterations.peers", plain > ALIKE * ours, text=text, n=n)


def _precision(A: SparseMatrix, right: Any) -> Claim:
    """Residual reached for a tolerance beyond float32."""
    wide = right.astype(np.float64)
    reached = []
    for refine in (False, True):
        x, _ = sparse.linalg.cg(A, wide, rtol=1e-10, refine=refine)
        reached.append(float(np.linalg.norm(wide - A.rows @ x) / np.linalg.norm(wide)))
    single, refined = reached
    return claim("iterations.precision", single > 10 * refined, single=single, refined=refined)
