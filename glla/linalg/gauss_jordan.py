"""The ways to a reduced row echelon form, and which of them a matrix takes.

    equilibrate --> eliminate on the device --> are the leading columns independent, beyond doubt? --> done
                                                        | no
                                                        v
                    float64 on the host decides column by column (`glla.operations.elimination.span`,
                    `glla.operations.elimination.modular`), and gives R

What the device finds stands where there is nothing to decide: every leading column has a pivot, far above what rounding
errors could be, and the entries did not grow. Any other matrix has columns whose pivots are small, or missing; which of
them are zero depends on errors that the device has made on the way and cannot undo.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Matrix
from glla.array.convert import LARGEST, Array
from glla.gl import Device
from glla.gl.observe import host_step
from glla.linalg.factors import Factors, accepted
from glla.linalg.operands import refuse_nonfinite_largest, stored
from glla.linalg.remedies import NEAR_ONE
from glla.operations.elimination import pivot
from glla.operations.elimination import rref as operation
from glla.operations.elimination.modular import is_small, pivot_columns
from glla.operations.elimination.rref import EPSILON
from glla.operations.elimination.span import FLOAT32, FLOAT64, Echelon, echelon, is_exact
from glla.operations.scaling import scaling
from glla.passes import Form
from glla.passes.layout import Shape

SURE = 0.5
"""Smallest pivot norm that the device decides on, in a matrix whose largest entries are 1 to 2; below, float64
decides."""

MARGIN = 4.0
"""Leading pivots must be this number of times above the rounding error that `solve` counts as zero: the entries of A
may be rounded, too."""

SWEEPS = 6
"""Sweeps by geometric means, for matrices that lose rank without: 9 of 100 integer matrices with rows and columns
scaled by random powers of two, and none of 1500 with 6 sweeps. west0156 loses rank with them, so both are tried."""

Pivots = tuple[int, ...]


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def reduced(
    source: Array | Matrix, device: Device, tol: float | None, pivoting: str, variant: str | None, check_finite: bool
) -> tuple[Matrix | Array, Pivots]:
    """Reduce a matrix. Synchronises.

    Parameters
    ----------
    source : ndarray of float32 or Matrix
        m x n, not empty.
    device : Device
        Where to compute.
    tol : float or None
        Largest magnitude of a pivot that counts as zero; None for the errors that rounding makes.
    pivoting : str
        A key of `glla.operations.elimination.pivot.NORMS`.
    variant : str or None
        A key of `glla.operations.elimination.rref.VARIANTS`, or None for the one that suits the shape.
    check_finite : bool
        Refuse a Matrix that is not finite.

    Returns
    -------
    (Matrix or ndarray of float32, tuple of int)
        The form, on the device or on the host, and its pivot columns.
    """
    shape: Shape = source.shape[0], source.shape[1]
    form = Form.of(source)
    limit = None if tol is None else min(float(tol), LARGEST)
    plan = operation.whole((form,), device.limits, variant=variant, pivoting=pivoting, tol=tol is not None)
    given = {"tol": np.array([limit])} if "tol" in plan.operands else {}
    results = device.run(plan, A=stored(source), **given)
    if isinstance(source, Matrix) and check_finite:
        refuse_nonfinite_largest("rref", "A", results["largest_A"])
    if _stands(device, shape, results, pivoting, limit):
        r = results["R"]
        return (r if isinstance(r, np.ndarray) else Matrix(device, r, shape)), tuple(range(min(shape)))
    if not np.isfinite(results["largest_A"] if isinstance(source, Matrix) else source).all():
        limits = (0.0, EPSILON) if limit is None else (limit, 0.0)  # let through on purpose: nothing can be decided
        return eliminated(source, limits, "partial", device)[:2]
    host = source.numpy() if isinstance(source, Matrix) else source
    return by_float64(host) if limit is None else by_tolerance(host, limit)


# -- on the device ----------------------------------------------------------------------------------------------------


def _stands(device: Device, shape: Shape, results: Mapping[str, Any], pivoting: str, tol: float | None) -> bool:
    """Decide from the figures of an elimination whether all leading columns surely have pivots.

    Without a tolerance the matrix was equilibrated: its largest entries are below 2, and so is `scale`.
    """
    scale = 2.0
    if tol is not None:
        scale = float(results["largest_A"].flat[0])
        if not 2.0**-NEAR_ONE <= scale <= 2.0**NEAR_ONE:
            return False
    elif max(np.max(np.abs(results[f"{line}_exponents"])) for line in ("row", "column")) > NEAR_ONE:
        return False
    by_pairs = "pivots_even" in results
    sound = _pairs_sound if by_pairs else _blocks_sound
    return sound(shape, results, pivoting, scale) and _surely_regular(device, shape, results, scale, tol or 0.0)


def _blocks_sound(shape: Shape, results: Mapping[str, Array], pivoting: str, scale: float) -> bool:
    """Whether blocked factors with a block norm stand; partial pivoting is judged by its growth alone, later."""
    return pivoting == "partial" or accepted(results["health"], scale, shape)


def _pairs_sound(shape: Shape, results: Mapping[str, Array], pivoting: str, scale: float) -> bool:
    """Whether an elimination by two columns found all leading pivots, large ones, and the entries did not grow."""
    pivots, (ratio, largest, smallest) = operation.records(results, shape, pivoting)
    order = min(shape)
    if pivots != tuple(range(order)) or float(smallest) < SURE * scale / 2:
        return False
    if pivoting == "partial":
        return bool(largest <= pivot.allowed_growth(order))  # a sum of magnitudes in a column of R
    return pivot.accepted(float(ratio), float(largest), scale, order)


def _surely_regular(device: Device, shape: Shape, results: Mapping[str, Any], scale: float, tol: float) -> bool:
    """Tell from packed factors whether the leading pivots are above `tol`, and surely none of rounding errors."""
    order = min(shape)
    leading = Factors.of(
        device, (order, order), {**results, "pivots": None, "row_exponents": None, "column_exponents": None}
    )
    if not (leading.growth(scale) <= pivot.allowed_growth(order) and (np.abs(leading.diagonal[0]) > tol).all()):
        return False
    return not leading.doubtful or leading.first_noise(MARGIN) is None


def eliminated(
    a: Matrix | Array, limits: tuple[float, float], pivoting: str, device: Device
) -> tuple[Matrix | Array, Pivots, tuple[float, float, float]]:
    """Run one elimination of `rref`, with one pivoting and nothing to fall back on; synchronises.

    Parameters
    ----------
    a : Matrix or ndarray of float32
        Not empty.
    limits : (float, float)
        Absolute and relative tolerance, see ``lib/threshold.glsl``.
    pivoting : str
        A key of `glla.operations.elimination.pivot.NORMS`.
    device : Device
        Where.

    Returns
    -------
    (Matrix or ndarray, tuple of int, (float, float, float))
        The result, where `a` was, its pivot columns, and its health: smallest ratio, largest entry met (``partial``:
        largest sum of magnitudes in a column), smallest norm.
    """
    shape: Shape = a.shape[0], a.shape[1]
    tolerances = np.array([limits], dtype=np.float32)
    plan = operation.let_through(Form.of(a), device.limits, pivoting)
    results = device.run(plan, A=stored(a), tolerances=tolerances)
    pivots, (ratio, largest, smallest) = operation.records(results, shape, pivoting)
    r = results["R"]
    return (
        (r if isinstance(r, np.ndarray) else Matrix(device, r, shape)),
        pivots,
        (float(ratio), float(largest), float(smallest)),
    )


# -- on the host ------------------------------------------------------------------------------------------------------


@host_step(operation.FLOAT64)
def by_float64(a: Array) -> tuple[Array, Pivots]:
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


@host_step(operation.FLOAT64)
def by_tolerance(a: Array, tol: float) -> tuple[Array, Pivots]:
    """Echelon form in float64 with an absolute tolerance, of the matrix as it is."""
    return _by_elimination(a, tol)


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
