"""The public determinants: det and slogdet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Matrix
from glla.array.convert import Array
from glla.array.value import Resident
from glla.errors import NonFiniteError
from glla.gl import Device, DeviceLike
from glla.linalg import again, resident
from glla.linalg.operands import device_of, operand, square, stored
from glla.linalg.results import SlogdetResult
from glla.linalg.routes import batched, doubtful, explained
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS
from glla.operations import det as kernel
from glla.operations.care import CARE
from glla.operations.det import DET
from glla.operations.routes import must_fit_a_texture
from glla.passes import Form
from glla.registry import public

Float64 = NDArray[np.float64]


@public(numpy="linalg.slogdet", namespace="slogdet")
def slogdet(
    a: Any, *, device: DeviceLike | None = None, check_finite: bool = True
) -> SlogdetResult[Array] | SlogdetResult[Matrix]:
    """Sign and logarithm of the determinant, as `numpy.linalg.slogdet`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    SlogdetResult
        ``sign`` (-1, 0 or 1) and ``logabsdet`` (-inf for a zero determinant), float32: numbers, or arrays for a stack,
        which are a Matrix each for a stack on a device. Synchronises, as `det`.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        As elsewhere.

    Examples
    --------
    >>> import glla
    >>> glla.slogdet([[0, 2], [2, 0]]).sign
    np.float32(-1.0)
    """
    value, (sign, logarithm) = _sign_and_log("slogdet", a, device, check_finite)
    if check_finite and not (logarithm < np.inf).all():
        raise NonFiniteError("slogdet: the factors do not fit float32, their entries grow; use numpy.linalg.slogdet")
    parts: list[Any] = [resident.figures(part.astype(np.float32), value) for part in (sign, logarithm)]
    return SlogdetResult(*parts)


@public(numpy="linalg.det", namespace="det")
def det(a: Any, *, device: DeviceLike | None = None, check_finite: bool = True) -> np.float32 | Array | Matrix:
    """Determinant, as `numpy.linalg.det`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack, a Matrix for a stack on a device
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

    Examples
    --------
    >>> import glla
    >>> glla.det([[2, 1], [4, 4]])
    np.float32(4.0)
    """
    value, sign, logarithm, result = _rounded(a, device, check_finite)
    misfits = ~np.isfinite(result) | ((result == 0) & (sign != 0))
    if check_finite and misfits.any():
        raise NonFiniteError(
            f"det: the determinant does not fit float32, log(abs(det)) is {logarithm[misfits].flat[0]:.6g}; use slogdet"
        )
    return resident.figures(result, value)


def det_or_infinity(a: Any) -> np.float32 | Array | Matrix:
    """Determinant as the array API has it: `det`, but for one that does not fit float32, which is infinite or zero."""
    value, _, logarithm, result = _rounded(a, None, True)
    if not (logarithm < np.inf).all():
        raise NonFiniteError("det: the factors do not fit float32, their entries grow; use numpy.linalg.det")
    return resident.figures(result, value)


def _rounded(
    a: Any, device: DeviceLike | None, check_finite: bool
) -> tuple[Array | Matrix, Float64, Float64, NDArray[np.float32]]:
    """Give the operand, signs, logarithms, and the determinants in float32."""
    value, (sign, logarithm) = _sign_and_log("det", a, device, check_finite)
    with np.errstate(over="ignore", under="ignore"):
        return value, sign, logarithm, (sign * np.exp(logarithm)).astype(np.float32)


def _sign_and_log(
    function: str, a: Any, device: DeviceLike | None, check_finite: bool
) -> tuple[Array | Matrix, tuple[Float64, Float64]]:
    """Give the operand, and the sign and the logarithm of each determinant."""
    value = operand(function, "A", a, check_finite)
    square(function, "A", value)
    batch = value.shape[:-2]
    if value.size == 0:
        return value, (np.ones(batch), np.zeros(batch))
    target = device_of(function, device, value)
    if isinstance(value, Matrix) and value.ndim > 2:
        sign, logarithm = _of_residents(function, resident.spread(value, batch), target, check_finite)
    elif isinstance(value, Matrix):
        sign, logarithm = map(np.asarray, _of_one(function, value, target, check_finite))
    else:
        sign, logarithm = _of_stack(function, value.reshape(-1, *value.shape[-2:]), target)
    return value, (sign.reshape(batch), logarithm.reshape(batch))


def _of_stack(function: str, a: Array, device: Device) -> tuple[Float64, Float64]:
    records = batched(device, DET, (a,))
    if records is None:
        sign, logarithm = np.transpose([_of_one(function, matrix, device, False) for matrix in a])
        return sign, logarithm
    sign, logarithm = kernel.of_figures(records[1])
    settled = again.settled(device, DET, (a,), kernel.doubtful((a,), *records), len(a))
    sign[settled.places], logarithm[settled.places] = kernel.of_figures(settled.figures, settled.exponents)
    for index, forms, careful in doubtful(device, DET, (a,), places=settled.left):
        if np.isfinite(a[index]).all():
            values = walk(OPERATIONS[function], forms, careful, {"A": a[index]}, CARE)
            sign[index], logarithm[index] = values["sign"], values["logarithm"]
    return sign, logarithm


def _of_residents(function: str, a: Resident, device: Device, check_finite: bool) -> tuple[Float64, Float64]:
    """Determinants of a stack on the device."""
    found = resident.together(device, DET, (a,), check_finite)
    if found is None:
        stack = resident.flat(a)
        members = (Matrix._of(resident.member(stack, index)) for index in range(stack.shape[0]))
        sign, logarithm = np.transpose([_of_one(function, matrix, device, check_finite) for matrix in members])
        return sign, logarithm
    if found.kept:
        sign, logarithm = kernel.of_line_and_turns(found.kept["line_0"][:, 0], found.kept["turns"][:, 0, 0])
    else:
        sign, logarithm = kernel.of_figures(found.figures)
    for places, (given,), settled in resident.to_be_mended(device, DET, (a,), found):
        those = places[settled.places]
        sign[those], logarithm[those] = kernel.of_figures(settled.figures, settled.exponents)
        for i, forms, careful in doubtful(device, DET, (given,), places=settled.left):
            values = walk(OPERATIONS[function], forms, careful, {"A": given[i]}, CARE)
            sign[places[i]], logarithm[places[i]] = values["sign"], values["logarithm"]
    return sign, logarithm


def _of_one(function: str, a: Matrix | Array, device: Device, check_finite: bool) -> tuple[Any, Any]:
    if isinstance(a, np.ndarray):
        must_fit_a_texture(function, a.shape, device.limits)
    forms = (Form.of(a),)
    perform = on_device(device, kernel.whole(forms, device.limits), function, {"A": "A"} if check_finite else None)
    with explained(function, a):
        values = walk(OPERATIONS[function], forms, perform, {"A": stored(a)})
    return values["sign"], values["logarithm"]
