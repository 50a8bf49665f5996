"""The public reduced row echelon form."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import LARGEST, Float32
from glla.errors import OptionError, one_of, real
from glla.gl import Device, DeviceLike
from glla.linalg.caller import Caller
from glla.linalg.execution import run
from glla.linalg.operands import device_of, known_variant, operand, placed, two_dimensional
from glla.linalg.results import RREF
from glla.operations import OPERATIONS
from glla.operations.elimination import pivot
from glla.operations.elimination import rref as kernel
from glla.passes import Form
from glla.registry import public


@public()
def rref(
    a: Any,
    tol: float | None = None,
    pivoting: str = "harmonic",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> RREF[Array] | RREF[Float32]:
    """Reduced row echelon form and pivot columns.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> R, pivots = glla.rref([[1, 2, 3], [2, 4, 7]])
    >>> R
    array([[1., 2., 0.],
           [0., 0., 1.]], dtype=float32)
    >>> pivots
    (0, 2)

    Parameters
    ----------
    a : array_like or Array, shape (m, n)
        Real numbers.
    tol : float, optional
        A pivot of at most this magnitude counts as zero, which decides the rank. By default each column is judged by
        itself, with rows and columns scaled by powers of two (largest entry of each near 1; if a leading column has no
        pivot then, also by geometric means, and the better one counts). Column j depends on the r pivot columns before
        it if its distance from their span is at most ``2**-23 (4 + sqrt(r)) sqrt((m - r) / m) w``,
        ``w = sqrt(norm(a_j)**2 + sum_c (R[c, j] norm(a_c))**2)``, in the 2-norm: what entries are worth that were
        rounded to float32. Integers below 2^23 are exact, and so is their rank. See `glla.operations.host.span`.
    pivoting : {"harmonic", "geometric", "partial"}
        How a step chooses its two pivot rows; see `glla.operations.elimination.pivot`.
    variant : str, optional
        A key of ``glla.operations.elimination.rref.VARIANTS``, ``rank2`` or ``blocked``; by default the shape decides.
    device : Device, str or int, optional
        Where to compute: a device, or its name (see `glla.gl.named_device`).
    check_finite : bool
        Refuse NaN and infinity, in `a` and in the result.

    Returns
    -------
    RREF
        ``matrix`` (float32, or Array) and ``pivots``. Synchronises.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not two-dimensional, not real, not finite; unknown pivoting or variant, negative tol.
    """
    value = operand("rref", "A", a, check_finite)
    two_dimensional("rref", "A", value)
    one_of("rref: pivoting", pivoting, pivot.NORMS)
    known_variant("rref", OPERATIONS["rref"], variant)
    tol = None if tol is None else real("rref", "tol", tol)
    if tol is not None and not tol >= 0:
        raise OptionError(f"rref: tol must be at least 0, got {tol!r}")
    if 0 in value.shape:
        nothing: Any = value.copy()
        return RREF(nothing, ())
    options = {"pivoting": pivoting, "tol": tol is not None}
    limit = None if tol is None else np.array([min(float(tol), LARGEST)])
    target, results = device_of("rref", device, value), ("R", "leading")
    further = lambda _: {"tol": limit}  # noqa: E731
    found = Caller("rref", "rref", target, check_finite, ("A",), variant, results, "", options, further).one(value)
    return RREF(placed("rref", found["R"], check_finite, value), found["leading"])


def eliminated(
    a: Array | Float32, limits: tuple[float, float], pivoting: str, device: Device
) -> tuple[Array | Float32, tuple[int, ...], tuple[float, float, float]]:
    """Run one elimination of `rref`, with one pivoting and nothing to fall back on; synchronises.

    Returns (Array or ndarray, tuple of int, (float, float, float)): the result, where `a` was, its pivot columns, and
    its health: smallest ratio, largest entry met (``partial``: largest sum of magnitudes in a column), smallest norm.
    `a`: not empty. `limits`, (float, float): absolute and relative tolerance, see ``pivot/threshold.glsl``. `pivoting`:
    a key of `glla.operations.elimination.pivot.NORMS`.
    """
    shape = a.shape[0], a.shape[1]
    tolerances = np.array([limits], dtype=np.float32)
    plan = kernel.let_through(Form.of(a), device.limits, pivoting)
    results = run(device, plan, {"A": a, "tolerances": tolerances})
    pivots, (ratio, largest, smallest) = kernel.records(results, shape, pivoting)
    return results["R"], pivots, (float(ratio), float(largest), float(smallest))
