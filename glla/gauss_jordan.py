"""The ways to a reduced row echelon form, and which of them a matrix takes.

    equilibrate --> eliminate on the device --> are the leading columns independent, beyond doubt? --> done
                                                        | no
                                                        v
                    float64 on the host decides column by column (`glla.echelon`, `glla.modular`), and gives R

What the device finds stands where there is nothing to decide: every leading column has a pivot, far above what rounding
errors could be, and the entries did not grow. Any other matrix has columns whose pivots are small, or missing; which of
them are zero depends on errors that the device has made on the way and cannot undo.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glla.echelon import FLOAT32, FLOAT64, Echelon, echelon, is_exact
from glla.factors import equilibrated, factorise, from_pivots, largest_magnitude
from glla.kernels import equilibrate as equilibrate_kernel
from glla.kernels import pivot
from glla.kernels import rref as rref_kernel
from glla.layout import texels
from glla.matrix import LARGEST, Array, Matrix
from glla.modular import is_small, pivot_columns
from glla.refine import scaling
from glla.remedies import NEAR_ONE

EPSILON = 2.0**-23
"""Distance from 1 to the next float32."""

SMALLEST_BLOCK_NORM = 2.0**-8
"""Below this norm (largest entries being 1 to 2) a pivot that block pivoting found is none; another way is taken."""

SURE = 0.5
"""A smaller pivot norm (largest entries being 1 to 2) is not looked at on the device: float64 decides at once."""

MARGIN = 4.0
"""Pivots of blocked factors must exceed the rounding error that counts as zero in `solve` so many times: the entries of
A may be rounded, too."""

SWEEPS = 6
"""Sweeps of the geometric mean, for matrices that lose rank without. Of integer matrices up to 12 x 12 whose rows and
columns were scaled by random powers 2^-40 to 2^40, 9 of 100 do, and none of 1500 with 6 sweeps; but west0156 of the
Harwell-Boeing collection has rank 155 with them (condition 3e8) and 156 without (2e3). `solve` and `det` do without:
the largest entry of each row being 1 gives smaller backward errors, row by row."""

Pivots = tuple[int, ...]


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def reduced(
    a: Matrix, source: Array | Matrix, tol: float | None, pivoting: str, variant: str | None
) -> tuple[Matrix | Array, Pivots]:
    """Reduce a matrix. Synchronises.

    Parameters
    ----------
    a : Matrix
        m x n, not empty.
    source : ndarray of float32 or Matrix
        Where its entries are read from, should the host need them.
    tol : float or None
        Largest magnitude of a pivot that counts as zero; None for the errors that rounding makes.
    pivoting : str
        A key of `glla.kernels.pivot.NORMS`.
    variant : str or None
        A key of `glla.kernels.rref.VARIANTS`, or None for the one that suits the shape.

    Returns
    -------
    (Matrix or ndarray of float32, tuple of int)
        The form, on the device or on the host, and its pivot columns.
    """
    chosen = variant or rref_kernel.choose(a.shape, a.device.limits)
    if tol is not None:
        return _by_tolerance(a, source, min(float(tol), LARGEST), pivoting, chosen)
    result = _by_device(a, pivoting, chosen)
    if result is not None:
        return result, tuple(range(min(a.shape)))
    host = source.numpy() if isinstance(source, Matrix) else source
    if not np.isfinite(host).all():  # let through on purpose: nothing can be decided
        return eliminated(a, (0.0, EPSILON), "partial")[:2]
    return _by_host(host)


# -- on the device ----------------------------------------------------------------------------------------------------


def _by_device(a: Matrix, pivoting: str, variant: str) -> Matrix | None:
    """Echelon form of the equilibrated matrix, scaled back; None unless all leading columns are surely independent.

    Scaling the rows of A does not change R. Scaling its columns by 2^-f scales R's, and each row of R is then
    normalised by its own pivot: R[i, j] = R'[i, j] 2^(f_j - f_i), the pivots being those of the leading columns.
    """
    device, order = a.device, min(a.shape)
    scaled, exponents = equilibrated(a)
    result = _leading(scaled, pivoting, variant, scale=2.0)
    if result is None:
        return None
    columns = device.read(exponents["column_exponents"])
    rows = np.zeros((texels(a.shape[0]), 1, 4), dtype=np.float32)
    of_rows = np.zeros(2 * texels(a.shape[0]), dtype=np.float32)
    of_rows[:order] = columns[:, 0, :2].reshape(-1)[:order]
    rows[:, 0, :2] = of_rows.reshape(-1, 2)
    if max(np.max(np.abs(device.read(texture))) for texture in exponents.values()) > NEAR_ONE:
        return None
    plan = equilibrate_kernel.scale(a.shape, rows=-1, columns=1)
    operands = {"row_exponents": device.write_texels(rows), "column_exponents": exponents["column_exponents"]}
    return Matrix(device, device.run(plan, A=result.texture, **operands)["scaled"], a.shape)


def _leading(a: Matrix, pivoting: str, variant: str, scale: float, tol: float = 0.0) -> Matrix | None:
    """Echelon form of a matrix whose entries are up to `scale`; None unless all leading columns surely have pivots."""
    return (_blocked if variant == "blocked" else _column_pairs)(a, pivoting, scale, tol)


def _blocked(a: Matrix, pivoting: str, scale: float, tol: float) -> Matrix | None:
    """Echelon form by blocked factors."""
    device, order = a.device, min(a.shape)
    results = device.run(rref_kernel.plan(a.shape, pivoting, "blocked", not device.limits.software), A=a.texture)
    ratio, largest = device.read(results["health"])[0, :, :2].T
    if pivoting != "partial" and not pivot.accepted(ratio.min(), largest.max(), scale, order):
        return None
    if not _surely_regular(Matrix(device, results["LU"], a.shape), scale, tol):
        return None
    return Matrix(device, results["R"], a.shape)


def _column_pairs(a: Matrix, pivoting: str, scale: float, tol: float) -> Matrix | None:
    """Echelon form by eliminating two columns a step."""
    limits = (tol, EPSILON) if pivoting == "partial" else (max(tol, SMALLEST_BLOCK_NORM * scale / 2), 0.0)
    result, pivots, (ratio, largest, smallest) = eliminated(a, limits, pivoting)
    order = min(a.shape)
    if pivots != tuple(range(order)) or smallest < SURE * scale / 2:
        return None
    if pivoting == "partial":
        sound = largest <= pivot.allowed_growth(order)  # a sum of magnitudes in a column of R
    else:
        sound = pivot.accepted(ratio, largest, scale, order)
    if not sound:
        return None
    return result if _surely_regular(factorise(a).lu, scale, tol) else None


def _surely_regular(lu: Matrix, scale: float, tol: float) -> bool:
    """Tell from packed factors whether the leading pivots are above `tol`, and surely none of rounding errors."""
    order = min(lu.shape)
    leading = from_pivots(lu[:order, :order], np.arange(order))  # random right-hand sides need no exchange of rows
    if not (leading.growth(scale) <= pivot.allowed_growth(order) and (np.abs(leading.diagonal[0]) > tol).all()):
        return False
    return not leading.doubtful or leading.first_noise(MARGIN) is None


def eliminated(
    a: Matrix, limits: tuple[float, float], pivoting: str
) -> tuple[Matrix, Pivots, tuple[float, float, float]]:
    """Run one elimination of `rref`, with one pivoting and nothing to fall back on; synchronises.

    Parameters
    ----------
    a : Matrix
        Not empty.
    limits : (float, float)
        Absolute and relative tolerance, see ``lib/threshold.glsl``.
    pivoting : str
        A key of `glla.kernels.pivot.NORMS`.

    Returns
    -------
    (Matrix, tuple of int, (float, float, float))
        The result, its pivot columns, and its health: smallest ratio, largest entry met (``partial``: largest sum of
        magnitudes in a column), smallest norm.
    """
    device = a.device
    tolerance = device.write_texels(np.array([[limits]], dtype=np.float32))
    results = device.run(rref_kernel.plan(a.shape, pivoting), A=a.texture, tolerance=tolerance)
    steps = rref_kernel.steps(a.shape, pivoting)
    records = np.empty((steps, 4), dtype=np.float32)
    records[0::2] = device.read(results["pivots_even"])[0]
    if steps > 1:
        records[1::2] = device.read(results["pivots_odd"])[0, : steps // 2]
    pivots = tuple(2 * k + side for k in range(steps) for side in (0, 1) if records[k, side] >= 0)
    ratio, largest, smallest = (float(value) for value in device.read(results["health"])[0, (steps - 1) // 2, :3])
    return Matrix(device, results["R"], a.shape), pivots, (ratio, largest, smallest)


# -- on the host ------------------------------------------------------------------------------------------------------


def _by_host(a: Array) -> tuple[Array, Pivots]:
    """Echelon form decided in float64.

    No scaling is best for every matrix, and a bad one hides pivots, but makes none: if there are columns without a
    pivot among the leading ones, the geometric mean has its try, and the first columns win.
    """
    wide = a.astype(np.float64)
    exact = is_exact(a)
    leading = tuple(range(min(a.shape)))
    forms = []
    for sweeps in (0,) if exact else (0, SWEEPS):
        rows, columns = scaling(wide, sweeps)
        form = echelon(np.ldexp(wide, -rows - columns), FLOAT64 if exact else FLOAT32)
        if exact and form.pivots != leading and is_small(a.shape, len(form.pivots)):
            form = echelon(np.ldexp(wide, -rows - columns), FLOAT64, pivot_columns(wide))
        forms.append((form, columns[0]))
        if form.pivots == leading:
            break
    form, columns = min(forms, key=lambda pair: (*pair[0].pivots, a.shape[1]))
    return _scaled_back(form, columns), form.pivots


def _scaled_back(form: Echelon, columns: NDArray[np.integer]) -> Array:
    rows = np.zeros((len(form.matrix), 1), dtype=columns.dtype)
    rows[: len(form.pivots), 0] = columns[list(form.pivots)]
    result: Array = np.ldexp(form.matrix, columns - rows).astype(np.float32)
    return result


# -- with a tolerance -------------------------------------------------------------------------------------------------


def _by_tolerance(
    a: Matrix, source: Array | Matrix, tol: float, pivoting: str, variant: str
) -> tuple[Matrix | Array, Pivots]:
    """Echelon form with an absolute tolerance, of the matrix as it is."""
    scale = largest_magnitude(a)
    if 2.0**-NEAR_ONE <= scale <= 2.0**NEAR_ONE:
        result = _leading(a, pivoting, variant, scale, tol)
        if result is not None:
            return result, tuple(range(min(a.shape)))
    host = source.numpy() if isinstance(source, Matrix) else source
    if not np.isfinite(host).all():
        return eliminated(a, (tol, 0.0), "partial")[:2]
    return _by_elimination(host, tol)


def _by_elimination(a: Array, tol: float) -> tuple[Array, Pivots]:
    """Echelon form with partial pivoting in float64, from the first column to the last.

    Examples
    --------
    >>> _by_elimination(np.array([[1, 2], [2, 4.125]], dtype=np.float32), 0.125)[1]
    (0,)
    """
    rest = a.astype(np.float64)
    m, n = rest.shape
    pivots: list[int] = []
    for j in range(n):
        r = len(pivots)
        if r == m:
            break
        best = r + int(np.argmax(np.abs(rest[r:, j])))
        if not abs(rest[best, j]) > tol:
            rest[r:, j] = 0.0
            continue
        rest[[r, best], j:] = rest[[best, r], j:]
        multipliers = rest[r + 1 :, j] / rest[r, j]
        rest[r + 1 :, j:] -= np.outer(multipliers, rest[r, j:])
        rest[r + 1 :, j] = 0.0
        pivots.append(j)
    form = np.zeros((m, n), dtype=np.float32)
    if pivots:
        r = len(pivots)
        form[:r] = np.linalg.solve(rest[:r, pivots], rest[:r])
        form[:r][np.arange(n) < np.reshape(pivots, (-1, 1))] = 0.0
        form[:, pivots] = np.eye(m, r)
    return form, tuple(pivots)
