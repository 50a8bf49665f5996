"""The public function of eigenvalues of symmetric tridiagonal matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array, upload
from glla.array.convert import Float32
from glla.errors import OptionError, ShapeError, one_of
from glla.gl import DeviceLike
from glla.linalg.caller import Caller
from glla.linalg.operands import column, device_of, on_host, operand, placed
from glla.linalg.spectral.symmetric import subset_of
from glla.operations.spectral.symmetric import Subset
from glla.registry import public


@public()
def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    check_finite: bool = True,
    *,
    device: DeviceLike | None = None,
) -> tuple[Array, Array] | Array | tuple[Float32, Float32] | Float32:
    """Eigenvalues and eigenvectors of a symmetric tridiagonal matrix, as `scipy.linalg.eigh_tridiagonal`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> w, v = glla.eigh_tridiagonal([2, 2, 2], [-1, -1])
    >>> w.round(4)
    array([0.5858, 2.    , 3.4142], dtype=float32)
    >>> glla.eigh_tridiagonal([2, 2, 2], [-1, -1], True, select="i", select_range=(1, 1)).round(4)
    array([2.], dtype=float32)

    Parameters
    ----------
    d : array_like or Array, shape (n,)
        The diagonal.
    e : array_like or Array, shape (n - 1,)
        The diagonal beside it.
    eigvals_only : bool
        Give eigenvalues alone, by bisection.
    select : {"a", "v", "i"}
        All; those in the half-open interval `select_range`, (low, high]; or those with numbers from the first to the
        last of `select_range`, from 0 in ascending order.
    select_range : (low, high), optional
        For `select` "v" and "i". With "v" the eigenvalues are read first.
    check_finite, device
        As in `matmul`; ``check_finite=False`` leaves out the certificate, too.

    Returns
    -------
    w, v : ndarray of float32 or Array, shapes (k,) and (n, k)
        Ascending, and orthonormal vectors in columns, each with its largest entry positive; or w alone. Of an Array
        both are Array. Synchronises, except for an Array with ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `d` and `e` are not one-dimensional, `e` has not one entry less; not real, not finite, or an eigenvalue does not
        fit float32; unknown `select`, or a range that is none.
    LimitError
        There are more entries than a texture is wide.
    """
    function = "eigh_tridiagonal"
    diagonal, beside = (operand(function, name, one, check_finite) for name, one in (("d", d), ("e", e)))
    n = diagonal.shape[0] if diagonal.ndim == 1 else 0
    if diagonal.ndim != 1 or beside.shape != (max(n - 1, 0),):
        rule = f"{function}: d must have shape (n,) and e (n - 1,)"
        raise ShapeError(f"{rule}, got {diagonal.shape} and {beside.shape}")
    one_of(f"{function}: select", select, ("a", "v", "i"))
    if (select == "a") != (select_range is None):
        raise OptionError(f"{function}: select_range must be given with select 'v' and 'i' alone, got {select_range!r}")
    target, subset = device_of(function, device, diagonal, beside), dict[str, Subset]()
    there = isinstance(diagonal, Array) or isinstance(beside, Array)
    if select == "v":
        every: Any = eigh_tridiagonal(diagonal, beside, True, check_finite=check_finite, device=target)
        low, high = _interval(function, select_range)
        first, end = np.searchsorted(on_host(every), np.array([low, high], np.float32), side="right").tolist()
        subset = {"subset": Subset(first, max(end - first, 0))}
    elif select == "i":
        subset = subset_of(function, "select_range", select_range, n)
    count = subset["subset"].count if subset else n
    if not count:
        found: dict[str, Any] = {"w": np.empty(0, np.float32), "V": np.empty((n, 0), np.float32)}
    else:
        if n == 1:
            beside = upload(np.zeros(1, np.float32), target) if there else np.zeros(1, np.float32)
        options = {"vectors": not eigvals_only, "certified": bool(check_finite), **subset}
        results = ("w",) if eigvals_only else ("V", "w")
        call = Caller("tridiagonal_pairs", function, target, check_finite, ("d", "e"), None, results, options=options)
        found = call.one(column(diagonal), column(beside))
        if not isinstance(found["w"], Array):
            found["w"] = found["w"].reshape(-1)[:count]
    w = placed(function, found["w"], check_finite, diagonal, beside)
    return w if eigvals_only else (w, placed(function, found["V"], check_finite, diagonal, beside))


def _interval(function: str, given: Any) -> tuple[float, float]:
    """Check an interval of values."""
    try:
        low, high = map(float, given)
    except (TypeError, ValueError):
        low = high = np.nan
    if not low < high:
        raise OptionError(f"{function}: select_range must be low < high with select 'v', got {given!r}")
    return low, high
