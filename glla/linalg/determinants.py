"""The public determinants: det and slogdet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Matrix
from glla.array.convert import Array, all_finite
from glla.errors import NonFiniteError, OutOfMemoryError
from glla.gl import Device
from glla.linalg import remedies
from glla.linalg.factors import Factors
from glla.linalg.members import determinants_need_care
from glla.linalg.operands import device_of, operand, refuse_nonfinite_largest, square, stored
from glla.linalg.results import SlogdetResult
from glla.linalg.routes import batched, must_fit_a_texture, out_of_memory
from glla.operations import OPERATIONS
from glla.operations.det import sign_and_log, whole
from glla.passes import Form
from glla.registry import public

Float64 = NDArray[np.float64]


@public(numpy="linalg.slogdet", namespace="slogdet")
def slogdet(a: Any, *, device: Device | None = None, check_finite: bool = True) -> SlogdetResult:
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
        ``sign`` (-1, 0 or 1) and ``logabsdet`` (-inf for a zero determinant), float32. Synchronises.

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
    sign, logarithm = _sign_and_log("slogdet", a, device, check_finite)
    if check_finite and not (logarithm < np.inf).all():
        raise NonFiniteError("slogdet: the factors do not fit float32, their entries grow; use numpy.linalg.slogdet")
    return SlogdetResult(sign.astype(np.float32)[()], logarithm.astype(np.float32)[()])


@public(numpy="linalg.det", namespace="det")
def det(a: Any, *, device: Device | None = None, check_finite: bool = True) -> Any:
    """Determinant, as `numpy.linalg.det`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    float32, or an array of them for a stack
        Synchronises.

    Raises
    ------
    NonFiniteError
        The determinant does not fit float32, being too large, or so small that it would be rounded to zero: use
        `slogdet`.
    ShapeError, DTypeError
        As elsewhere.

    Notes
    -----
    The product of U's diagonal, multiplied in float64. Cost: 2/3 n^3 flop; n + 5 passes for a
    whole stack of matrices up to order 256, else about 1.5 n for each.

    Examples
    --------
    >>> import glla
    >>> glla.det([[2, 1], [4, 4]])
    np.float32(4.0)
    """
    sign, logarithm = _sign_and_log("det", a, device, check_finite)
    with np.errstate(over="ignore", under="ignore"):
        result = (sign * np.exp(logarithm)).astype(np.float32)
    misfits = ~np.isfinite(result) | ((result == 0) & (sign != 0))
    if check_finite and misfits.any():
        raise NonFiniteError(
            f"det: the determinant does not fit float32, log(abs(det)) is {logarithm[misfits].flat[0]:.6g}; use slogdet"
        )
    return result[()]


def _sign_and_log(function: str, a: Any, device: Device | None, check_finite: bool) -> tuple[Float64, Float64]:
    value = operand(function, "A", a, check_finite)
    square(function, "A", value)
    batch = value.shape[:-2]
    if value.size == 0:
        return np.ones(batch), np.zeros(batch)
    target = device_of(function, device, value)
    if isinstance(value, Matrix):
        sign, logarithm = map(np.asarray, _of_one(function, value, target, check_finite))
    else:
        sign, logarithm = _of_stack(function, value.reshape(-1, *value.shape[-2:]), target)
    return sign.reshape(batch), logarithm.reshape(batch)


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def _of_stack(function: str, a: Array, device: Device) -> tuple[Float64, Float64]:
    n = a.shape[1]
    records = batched(device, OPERATIONS["det"], (a,), 4 * n)
    if records is None:
        sign, logarithm = np.transpose([_of_one(function, matrix, device, False) for matrix in a])
        return sign, logarithm
    u, largest, pivots, exponents = np.moveaxis(records.reshape(-1, 4, n), 1, 0)
    sign, logarithm = sign_and_log(u, pivots.astype(np.int32), np.sum(exponents, axis=1))
    for index in determinants_need_care(a, u, largest):
        if np.isfinite(a[index]).all():
            sign[index], logarithm[index] = remedies.determinant(remedies.on_device(device), a[index])
    return sign, logarithm


def _of_one(function: str, a: Matrix | Array, device: Device, check_finite: bool) -> tuple[Any, Any]:
    if isinstance(a, np.ndarray):
        must_fit_a_texture(function, a, device)
    try:
        results = device.run(whole((Form.of(a),), device.limits), A=stored(a))
    except OutOfMemoryError as error:
        raise out_of_memory(function, a, error) from None
    if check_finite and "largest_A" in results:
        refuse_nonfinite_largest(function, "A", results["largest_A"])
    factors = Factors.of(device, (a.shape[0], a.shape[1]), results)
    if remedies.trusted(factors, lambda: 1.0):
        return sign_and_log(factors.diagonal[0], factors.pivots, sum(map(np.sum, factors.exponents)))
    if not all_finite(results["largest_A"] if isinstance(a, Matrix) else a):  # let through on purpose
        return np.nan, np.nan
    host = a.numpy() if isinstance(a, Matrix) else a
    return remedies.determinant(remedies.on_device(device), host)
