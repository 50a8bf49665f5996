"""The public determinants: det and slogdet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import NonFiniteError
from glla.gl import DeviceLike
from glla.linalg import device_stacks
from glla.linalg.caller import Caller
from glla.linalg.operands import device_of, operand, square
from glla.linalg.results import SlogdetResult
from glla.registry import public

Float64 = NDArray[np.float64]

PARTS = ("sign", "logarithm")
"""Parts of a determinant."""


@public(numpy="linalg.slogdet", namespace="slogdet")
def slogdet(
    a: Any, *, device: DeviceLike | None = None, check_finite: bool = True
) -> SlogdetResult[Float32] | SlogdetResult[Array]:
    """Sign and logarithm of the determinant, as `numpy.linalg.slogdet`.

    Examples
    --------
    >>> import glla
    >>> glla.slogdet([[0, 2], [2, 0]]).sign
    np.float32(-1.0)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    SlogdetResult
        ``sign`` (-1, 0 or 1) and ``logabsdet`` (-inf for a zero determinant), float32: numbers, or arrays for a stack,
        which are an Array each for a stack on a device. Synchronises, as `det`.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.
    """
    value, (sign, logarithm) = _sign_and_log("slogdet", a, device, check_finite)
    if check_finite and not (logarithm < np.inf).all():
        raise NonFiniteError("slogdet: the factors do not fit float32, their entries grow; use numpy.linalg.slogdet")
    parts: list[Any] = [device_stacks.diagnostics(part.astype(np.float32), value) for part in (sign, logarithm)]
    return SlogdetResult(*parts)


@public(numpy="linalg.det", namespace="det")
def det(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Float32 | Array:
    """Determinant, as `numpy.linalg.det`.

    Examples
    --------
    >>> import glla
    >>> glla.det([[2, 1], [4, 4]])
    np.float32(4.0)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack, an Array for a stack on a device
        Synchronises: reads 16 n bytes for each matrix, of a large stack on a device 4 n + 8.

    Raises
    ------
    NonFiniteError
        The determinant does not fit float32, being too large, or so small that it would be rounded to zero: use
        `slogdet`.
    ShapeError, DTypeError
        As elsewhere.

    Notes
    -----
    The product of U's diagonal, multiplied in float64. Cost: 2/3 n^3 flop; for a whole stack
    one pass up to order 4, n + 5 up to order 256, else about 1.5 n for each.
    """
    value, sign, logarithm, result = _rounded(a, device, check_finite)
    misfits = ~np.isfinite(result) | ((result == 0) & (sign != 0))
    if check_finite and misfits.any():
        raise NonFiniteError(
            f"det: the determinant does not fit float32, log(abs(det)) is {logarithm[misfits].flat[0]:.6g}; use slogdet"
        )
    return device_stacks.diagnostics(result, value)


def det_or_infinity(a: Any) -> np.float32 | Float32 | Array:
    """Determinant as the array API has it: `det`, but for one that does not fit float32, which is infinite or zero."""
    value, _, logarithm, result = _rounded(a, None, True)
    if not (logarithm < np.inf).all():
        raise NonFiniteError("det: the factors do not fit float32, their entries grow; use numpy.linalg.det")
    return device_stacks.diagnostics(result, value)


def _rounded(
    a: Any, device: DeviceLike | None, check_finite: bool
) -> tuple[Float32 | Array, Float64, Float64, NDArray[np.float32]]:
    """Return the operand, signs, logarithms, and the determinants in float32."""
    value, (sign, logarithm) = _sign_and_log("det", a, device, check_finite)
    with np.errstate(over="ignore", under="ignore"):
        return value, sign, logarithm, (sign * np.exp(logarithm)).astype(np.float32)


def _sign_and_log(
    function: str, a: Any, device: DeviceLike | None, check_finite: bool
) -> tuple[Float32 | Array, tuple[Float64, Float64]]:
    """Return the operand, and the sign and the logarithm of each determinant."""
    value = operand(function, "A", a, check_finite)
    square(function, "A", value)
    batch = value.shape[:-2]
    if value.size == 0:
        return value, (np.ones(batch), np.zeros(batch))
    call = Caller(function, function, device_of(function, device, value), check_finite, ("A",), results=PARTS)
    found = call.named(value)
    sign, logarithm = (np.asarray(found[name], dtype=np.float64).reshape(batch) for name in PARTS)
    return value, (sign, logarithm)
