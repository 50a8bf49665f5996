"""The Chebyshev-filtered subspace iteration: a block of columns on the device, and the loop that narrows it.

A turn filters the block, makes its columns orthonormal (`glla.qr`), and takes eigenvectors of the small matrix
X^T B X (`glla.eigh`). Only its eigenvalues and the norms of the residuals come to the host: they make the next filter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import layouts
from glla.array.array import Array, upload
from glla.array.value import Resident
from glla.errors import ConvergenceError
from glla.gl import Device
from glla.interop.numpy import concatenate
from glla.linalg.orthogonal import qr
from glla.linalg.spectral.symmetric import eigh
from glla.operations.acceptance import UNIT_ROUNDOFF
from glla.operations.sparse import spmv
from glla.operations.sparse.compressed import Compressed
from glla.operations.spectral import filter as filters
from glla.sparse.matrix import SparseMatrix

Float64 = NDArray[np.float64]


DEGREES = (20, 60, 150)
"""Degrees of the first filters and of all later ones: a high degree on poor eigenvalues would leave float32's range."""

RANGE = 15.0
"""Logarithm of what the first filter may make of an eigenvalue at the bound: beside more, others drown in rounding."""

NOISE = 2.0**-16
"""Size of what is added to the columns after the first filters: those that did drown are unit vectors after `qr`, which
of a diagonal matrix are eigenvectors, wanted or not."""

TINY = 2.0**-126
"""In place of the norm of a matrix of zeros."""

BEYOND = 5.0
"""Logarithm of what a filter may gain beyond the residual that is asked for: the interval to damp is not known well."""

LOST = 7.0
"""Logarithm of the largest quotient of what a filter leaves of two wanted eigenvalues: 14 of 24 bits stay."""

SHORT, WIDE = 10, 0.1
"""Degree of a filter that leaves this part of the spectrum beyond the block's values, and damps the rest: it gains even
where as many eigenvalues are equal as the block has columns. A high degree whose gain is small, as of the least
eigenvalues of long chains, leaves its own rounding errors, some sqrt(degree) u, which this one takes away."""

ACCURATE, ENOUGH = 10, 3.2
"""Residuals below this many roundings of norm(B) are as small as float32 makes them; this many times as much passes
if another turn does not lessen it: 10 to 17 are left where eigenvalues are as large as the norm."""


@dataclass(frozen=True)
class Wanted:
    """The eigenvalues to find: an end of the spectrum, those of the largest magnitude, or those near a number."""

    count: int
    which: str  # "SA": the smallest, "LA": the largest, "LM": the largest in magnitude
    near: float | None = None

    def order(self, w: Float64) -> NDArray[np.intp]:
        """Places of eigenvalues, those that are wanted most first."""
        if self.near is not None:
            return np.argsort(np.abs(w - self.near), kind="stable")
        return np.argsort({"SA": w, "LA": -w, "LM": -np.abs(w)}[self.which], kind="stable")

    def degree(
        self, w: Float64, damped: tuple[float, float], ends: tuple[float, float], most: int, excess: float
    ) -> int:
        """Degree of a filter: what it leaves of one wanted eigenvalue beside another must not drown in rounding.

        Nor may the first one leave float32's range, should an eigenvalue be at an end, nor a filter take many more
        products than residuals need that are `excess` times as large as asked for.
        """
        far = {"SA": ends[0], "LA": ends[1], "LM": max(ends, key=abs)}[self.which]
        values = np.append(w[self.order(w)[[0, self.count - 1]]], far)
        values = values**2 if self.which == "LM" else values
        half, middle = (damped[1] - damped[0]) / 2, (damped[1] + damped[0]) / 2
        first, last, end = np.arccosh(np.maximum(np.abs(values - middle) / half, 1.0))
        needed = last / (log(max(excess, 1.0)) + BEYOND)
        least = max((first - last) / LOST, (end - first) / RANGE if most == DEGREES[0] else 0.0, needed, 1 / most)
        return max(1, int(1 / least))

    def damped(self, w: Float64, ends: tuple[float, float]) -> tuple[tuple[float, float], float]:
        """Interval of B that a filter damps, of B^2 for "LM", and the eigenvalue that it leaves as it is.

        It has a length, which rounding errors would take from it where eigenvalues of the block are at an end: of a
        matrix of low rank they are zero.
        """
        values = w[self.order(w)]
        anchor, cut = float(values[0]), float(values[-1])
        least = ACCURATE * UNIT_ROUNDOFF * max(map(abs, ends))
        if self.which == "LM":
            return (0.0, max(abs(cut), least) ** 2), anchor**2
        return (
            (min(cut, ends[1] - least), ends[1]) if self.which == "SA" else (ends[0], max(cut, ends[0] + least))
        ), anchor

    def wide(self, w: Float64, ends: tuple[float, float]) -> Float64:
        """Eigenvalues, with one more, so that a filter damps a part of the spectrum beyond those, see `WIDE`."""
        last, other = w[self.order(w)[-1]], {"SA": ends[1], "LA": ends[0], "LM": 0.0}[self.which]
        return np.append(w, last + WIDE * (other - last))


@dataclass(frozen=True)
class Symmetric:
    """A symmetric operator B on the device: a sparse matrix, or a product of several, the first applied first."""

    factors: tuple[SparseMatrix, ...]
    ends: tuple[float, float]  # no eigenvalue is beyond them
    below: Array | None = None  # orthonormal eigenvectors, whose eigenvalues `times` moves below the others

    @property
    def bound(self) -> float:
        """Of the magnitudes of the eigenvalues."""
        return max(map(abs, self.ends))

    def times(self, x: Array) -> Array:
        """B X."""
        y = x
        for one in self.factors:
            y = one @ y
        if self.below is None:
            return y
        return y - self.below @ (self.below.T @ x) * np.float32(self.ends[1] - self.ends[0] + self.bound)

    def basis(self, x: Array) -> Array:
        """An orthonormal basis of the columns, orthogonal to `below` unless so many columns depend on one another."""
        x = orthonormal(x)
        return x if self.below is None else orthonormal(x - self.below @ (self.below.T @ x))

    def filtered(self, x: Array, wanted: Wanted, w: Float64, degree: int, excess: float = inf) -> Array:
        """Filter a block of columns, a multiple of four; as it is where its eigenvalues are all one."""
        damped, anchor = wanted.damped(w, self.ends)
        if not damped[0] < damped[1] or damped[0] <= anchor <= damped[1]:
            return x
        degree = wanted.degree(w, damped, self.ends, degree, excess)
        weights = filters.weights(degree, damped, anchor)
        device, factors = x.device, self.factors * (2 if wanted.which == "LM" else 1)
        made = (spmv.rows(one.form, x.shape[1] // 4, device.limits) for one in factors)
        products = tuple(one for one in made if one is not None)  # all of them: no format loops over columns here
        texels = np.zeros((1, degree, 4), dtype=np.float32)
        texels[0, :, :3] = weights
        block = layouts.whole(layouts.wrapped(x.value)).texture
        given = {f"{k}.{name}": one for k, factor in enumerate(factors) for name, one in factor.of_columns.items()}
        y = device.run(filters.filtered(products, degree), X=block, weights=device.write_texels(texels), **given)["Y"]
        return Array._of(layouts.best(Resident.wrapped(device, y, x.shape, "float32")))


def find(
    b: Symmetric,
    wanted: Wanted,
    start: Array,
    tol: float,
    most: int,
    function: str,
    step: Callable[[Array], Array] | None = None,
) -> tuple[Float64, NDArray[np.float32]]:
    """Eigenvalues of a symmetric operator, those that are wanted most first, and their vectors in columns.

    The largest entry of each vector is positive.

    `start`: the block, of more columns than are wanted. `tol`: residual relative to the eigenvalue. `most`: filters at
    most. `step`: what is applied in place of filters. Raises ConvergenceError.
    """
    x, before, stalled = b.basis(start), inf, False
    noise = start * (NOISE / sqrt(start.shape[0]))
    for turn in range(most + 1):
        if stalled and step is None and wanted.which == "LM":
            x = b.basis(concatenate([x, b.times(x)], axis=1))  # both w and -w: filters of B^2 do not separate them
        y = b.times(x)
        small: Any = eigh(x.T @ y, check_finite=False)
        w, vectors = small
        x = x @ vectors
        values = w.numpy().astype(np.float64)
        rest = y @ vectors - x * w
        residuals = np.sqrt((rest * rest).sum(axis=0).numpy().astype(np.float64))
        if len(values) > start.shape[1]:
            kept = wanted.order(values)[: start.shape[1]]
            x, values, residuals = x[:, kept], values[kept], residuals[kept]
        found = wanted.order(values)[: wanted.count]
        excess = residuals / np.maximum(ACCURATE * UNIT_ROUNDOFF * max(b.bound, TINY), tol * np.abs(values))
        worst = float(excess[found].max())
        if turn >= len(DEGREES) and (worst <= 1 or max(worst, before) <= ENOUGH):
            vectors = x.numpy()[:, found]
            largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
            return values[found], vectors * np.sign(largest)
        stalled, before = stalled or (turn >= len(DEGREES) and worst > before / 2), worst
        if turn < most:
            degree = DEGREES[min(turn, len(DEGREES) - 1)]
            narrow = step or partial(b.filtered, wanted=wanted, w=values, degree=degree, excess=worst)
            x = narrow(x)
            if stalled and step is None:
                x = b.filtered(x, wanted, wanted.wide(values, b.ends), SHORT)
            x = b.basis(x)
            x = _nearest(x, step) if stalled and step is not None and worst > ENOUGH else x
            x = x + noise if turn < len(DEGREES) - 1 else x
    raise ConvergenceError(
        f"{function}: after {most} filters a residual is {worst:.3g} times as large as asked for; raise maxiter, ncv "
        "or tol, or ask for fewer pairs"
    )


def _nearest(x: Array, inverse: Callable[[Array], Array]) -> Array:
    """As many vectors, nearest to a number on both of its sides, of the space of X and of its product.

    Powers of (B - sigma I)^-1 leave sums of eigenvectors of sigma + d and of sigma - d.
    """
    both = orthonormal(concatenate([x, inverse(x)], axis=1))
    small: Any = eigh(both.T @ inverse(both), check_finite=False)
    w, vectors = small
    nearest: Array = both @ vectors[:, np.argsort(-np.abs(w.numpy()), kind="stable")[: x.shape[1]]]
    return nearest


def ends(rows: Compressed) -> tuple[float, float]:
    """Bounds of the eigenvalues of a symmetric matrix: the ends of Gershgorin's discs.

    >>> ends(Compressed.of_triplets((2, 2), [0, 0, 1, 1], [0, 1, 0, 1], np.array([2, -1, -1, 5])))
    (1.0, 6.0)
    """
    d = rows.diagonal().astype(np.float64)
    radii = np.bincount(rows.rows, np.abs(rows.values.astype(np.float64)), len(d)) - np.abs(d)
    return float((d - radii).min()), float((d + radii).max())


def orthonormal(x: Array) -> Array:
    """An orthonormal basis of the columns."""
    found: Any = qr(x)
    basis: Array = found.Q
    return basis


def block(rows: int, columns: int, first: Any, rng: Any, device: Device) -> Array:
    """Columns to start from: random ones, by default of a fixed seed, the first one given where it is."""
    made = np.random.default_rng(2007 if rng is None else rng).standard_normal((rows, columns)).astype(np.float32)
    if first is not None:
        made[:, 0] = first
    return upload(made, device)
