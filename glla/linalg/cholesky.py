"""The public Cholesky factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Matrix, upload
from glla.array.convert import Array, finite_result
from glla.gl import Device
from glla.linalg.factors import member_of_stack
from glla.linalg.operands import device_of, known_variant, operand, square, stored
from glla.linalg.remedies import near_one
from glla.linalg.routes import must_fit_a_texture, stacked
from glla.operations import OPERATIONS
from glla.operations.elimination import cholesky as kernel
from glla.passes import Form
from glla.registry import public


@public(numpy="linalg.cholesky", namespace="cholesky", options=("upper",))
def cholesky(
    a: Any,
    *,
    upper: bool = False,
    variant: str | None = None,
    device: Device | None = None,
    check_finite: bool = True,
) -> Any:
    """Cholesky factor with the semantics of `numpy.linalg.cholesky`: A = L L^T.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers, symmetric and positive definite. Only the lower half is read, with `upper` only the upper one.
    upper : bool
        Give U = L^T, with A = U^T U. NumPy's default is the lower factor; SciPy's is the upper one.
    variant : str, optional
        A key of `glla.operations.elimination.cholesky.VARIANTS`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Matrix, shape (..., n, n)
        The factor, with zeros in its other half. Synchronises.

    Raises
    ------
    NotPositiveDefiniteError
        A pivot is not above zero, as LAPACK has it: names the leading minor, and the matrix of a stack.
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not square, not real, not finite; unknown variant.
    LimitError, OutOfMemoryError
        `a` is larger than a texture, or does not fit the device's memory.

    Notes
    -----
    Error: norm(A - L L^T) / (n norm(A) u) stays below 30, u = 2^-24. Cost: n^3 / 3 flop, ceil(n / 2) passes for each
    matrix of a stack. Source: "Linear algebra on GPUs: applications in image restoration" (2012), section 5.2.2; LAPACK
    potf2.

    Examples
    --------
    >>> import glla
    >>> glla.cholesky([[4, 2], [2, 5]])
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    value = operand("cholesky", "A", a, check_finite)
    square("cholesky", "A", value)
    known_variant("cholesky", OPERATIONS["cholesky"], variant)
    if value.size == 0:
        return value.copy()
    target = device_of("cholesky", device, value)
    if isinstance(value, Matrix):
        factor = _factor(value.T if upper else value, variant, target)
        matrix = factor if isinstance(factor, Matrix) else upload(factor, target)
        return matrix.T if upper else matrix
    stack, n = value.shape[:-2], value.shape[-1]
    members = zip(np.ndindex(stack), value.reshape(-1, n, n), strict=True)
    factors = stacked(_of_array(one.T if upper else one, variant, target, place) for place, one in members)
    result = np.swapaxes(factors, -1, -2) if upper else factors
    return finite_result("cholesky", np.ascontiguousarray(result).reshape(value.shape), check_finite)


def _of_array(a: Array, variant: str | None, device: Device, place: tuple[int, ...]) -> Array:
    must_fit_a_texture("cholesky", a, device)
    factor = _factor(a, variant, device, member_of_stack(place))
    return factor.numpy() if isinstance(factor, Matrix) else factor


def _factor(a: Array | Matrix, variant: str | None, device: Device, member: str = "") -> Array | Matrix:
    """Factor one matrix by its lower half: on the device, or scaled on the host first."""
    results = device.run(kernel.whole((Form.of(a),), device.limits, variant=variant), A=stored(a))
    host = a if isinstance(a, np.ndarray) else None
    if not near_one(results["diagonal"]):
        host = a.numpy() if isinstance(a, Matrix) else a
        return _with_care(host, variant, device, member)
    kernel.settle(results["diagonal"][:, 0], member)
    factor = results["L"]
    return factor if isinstance(factor, np.ndarray) else Matrix(device, factor, (a.shape[0], a.shape[1]))


def _with_care(a: Array, variant: str | None, device: Device, member: str) -> Array:
    results = device.run(kernel.care((len(a), len(a)), device.limits, variant), A=a)
    kernel.settle(results["diagonal"][:, 0], member)
    factor: Array = np.ldexp(results["L"].astype(np.float64), kernel.exponents(a)).astype(np.float32)
    return factor
