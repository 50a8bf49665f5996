"""The public Cholesky factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Matrix, upload
from glla.array.convert import Array, finite_result
from glla.gl import Device, DeviceLike
from glla.linalg import resident
from glla.linalg.operands import device_of, known_variant, operand, square, stored
from glla.linalg.routes import stacked
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS
from glla.operations.elimination import cholesky as kernel
from glla.operations.routes import must_fit_a_texture
from glla.operations.trust import member_of_stack
from glla.passes import Form
from glla.registry import public


@public(numpy="linalg.cholesky", namespace="cholesky", options=("upper",))
def cholesky(
    a: Any,
    *,
    upper: bool = False,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Matrix | Array:
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
    if isinstance(value, Matrix) and value.ndim > 2:
        stack = value.shape[:-2]
        lower = resident.one_by_one(
            (resident.spread(value.mT if upper else value, stack),),
            lambda index, one: _factor(one, variant, target, member_of_stack(_place(index, stack))),
        )
        found = resident.shaped(lower, value.shape)
        return found.mT if upper else found
    if isinstance(value, Matrix):
        factor = _factor(value.T if upper else value, variant, target)
        matrix = factor if isinstance(factor, Matrix) else upload(factor, target)
        return matrix.T if upper else matrix
    stack, n = value.shape[:-2], value.shape[-1]
    members = zip(np.ndindex(stack), value.reshape(-1, n, n), strict=True)
    factors = stacked(_of_array(one.T if upper else one, variant, target, place) for place, one in members)
    result = np.swapaxes(factors, -1, -2) if upper else factors
    return finite_result("cholesky", np.ascontiguousarray(result).reshape(value.shape), check_finite)


def _place(index: int, stack: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(index, stack))


def _of_array(a: Array, variant: str | None, device: Device, place: tuple[int, ...]) -> Array:
    must_fit_a_texture("cholesky", a.shape, device.limits)
    factor = _factor(a, variant, device, member_of_stack(place))
    return factor.numpy() if isinstance(factor, Matrix) else factor


def _factor(a: Array | Matrix, variant: str | None, device: Device, member: str = "") -> Array | Matrix:
    """Factor one matrix by its lower half: on the device, or scaled on the host first."""
    forms = (Form.of(a),)
    plan = kernel.whole(forms, device.limits, variant=variant)
    values = walk(OPERATIONS["cholesky"], forms, on_device(device, plan), {"A": stored(a), "member": member})
    factor: Array | Matrix = values["L"]
    return factor
