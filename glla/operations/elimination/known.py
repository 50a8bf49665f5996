"""Check columns: appended to A before an elimination, they reveal rounding errors taken for pivots.

The columns A C are appended to A, C random numbers for the leading columns of A. The echelon form must have C in their
place: the coordinates of A C in the leading columns, if these are independent.

Let A z = 0 instead. The elimination solves a system whose matrix is A + E, E being its rounding errors, so the
coordinates that it finds are off by z (v^T C) / (v^T z), where v^T = y^T E and y^T A = 0: by a random number that is
about as large as C, or larger, since nothing of C along z is left in A C. All `PROBES` columns together would have to
hit upon C by chance. Of a regular matrix the error is that of a solution. It grows as a column gets closer to the span
of the others, and is large long before float64 takes the column to depend on them. In a tall matrix that happens
sooner: less of the rounding errors is along the span.

So the course of the elimination does not matter: any loss of digits, whatever its reason, is detected.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from glla.operations.elimination.factors import PROBES, probes
from glla.operations.layouts import blocks, packing
from glla.operations.layouts.crossing import upload
from glla.operations.product import matmul
from glla.operations.record import Float32
from glla.passes import Draft, HostArray, Limits, resident
from glla.passes.layout import Shape, texels

Float64 = NDArray[np.float64]

COORDINATES = "random coordinates of the known columns"
"""Work of the host, by its name in plans and traces."""

RECOVERED = 2.0**-8
"""Largest error of the coordinates, which are about 1, with which the leading columns count as independent; for m x n
divided by sqrt(m - n + 1). Singular matrices had 1.3 or more, normal ones 0.0004 at order 512, the median of 40
(llvmpipe-llvm-15-0-6-256-bits/doubt/2026-11-23T113238Z.json)."""


def wide(shape: Shape) -> Shape:
    """Rows and columns of A beside the known columns, which start at a whole texel."""
    return shape[0], 2 * texels(shape[1]) + PROBES


def fit(shape: Shape, limits: Limits) -> bool:
    """Whether a texture holds both."""
    return texels(wide(shape)[1]) <= limits.texture_size


@lru_cache(maxsize=8)
def coordinates(shape: Shape) -> Float32:
    """Coordinates of the known columns: random numbers for the leading ones, else zeros; the last eight are kept."""
    order = min(shape)
    return np.pad(probes(order), ((0, shape[1] - order), (0, 0)))


def join(draft: Draft, a: str, shape: Shape, limits: Limits) -> str:
    """Add the known columns beside the matrix in slot `a`; give the slot of both."""
    columns = (shape[1], PROBES)
    (made,) = draft.host(COORDINATES, lambda: (coordinates(shape),), (), {"coordinates": columns})
    c = upload(draft, made, columns, limits)
    known = draft.call("known columns", matmul.plan(resident(shape, columns), limits), A=a, B=c)["C"]
    both = blocks.beside((shape[0], 2 * texels(shape[1])), PROBES)
    return draft.call("put side by side", both, A=a, B=known)["C"]


def part(draft: Draft, joined: str, shape: Shape) -> tuple[str, str]:
    """Add the way back from an echelon form of both; give the slots of that of A, and of the coordinates, read back."""
    place = (0, 2 * texels(shape[1]), min(shape), PROBES)
    raw = draft.call("unpack coordinates", packing.unpack(wide(shape), place), packed=joined)["raw"]
    found = draft.slot("coordinates found", HostArray(place[2:]))
    draft.transfer(raw, found)
    return draft.call("leave known columns", blocks.gather(wide(shape), shape), A=joined)["block"], found


def recovered(shape: Shape, found: Float32) -> bool:
    """Whether the coordinates came out, to a few digits: then the leading columns are independent."""
    return bool((errors(found) <= RECOVERED / np.sqrt(shape[0] - min(shape) + 1)).all())


@np.errstate(all="ignore")
def errors(found: Float32) -> Float64:
    """How far off the coordinates are, for each leading column: root mean square of the known columns."""
    error: Float64 = np.sqrt(np.mean(np.square(found - probes(len(found)), dtype=np.float64), axis=1))
    return error
