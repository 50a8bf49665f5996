"""The public Cholesky factorisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from glla.array.array import Matrix, upload
from glla.array.convert import Array, finite_result
from glla.errors import NotPositiveDefiniteError, OptionError
from glla.gl import Device, DeviceLike
from glla.linalg import resident, stacks_definite
from glla.linalg.operands import device_of, known_variant, operand, refuse_nonfinite_largest, square, stored
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
    lower: None = None,
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
    lower : None
        SciPy's option, whose default is the other way round: refused, so that nobody gets the wrong half.
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
        `a` is not square, not real, not finite; unknown variant; `lower` is given.
    LimitError, OutOfMemoryError
        `a` is larger than a texture, or does not fit the device's memory.

    Notes
    -----
    Error: norm(A - L L^T) / (n norm(A) u) stays below 30, u = 2^-24. Cost: n^3 / 3 flop; ceil(n / 2)
    passes, n / 16 from order 64 on and about 3 n / 8 + n^2 / 3072 from 129 on (on a GPU). Small matrices of a stack go
    together, by ceil(n / 2) + 2 passes for all of them, or by one up to order 4. Sources: "Linear algebra on GPUs:
    applications in image restoration" (2012), section 5.2.2; LAPACK potrf.

    Examples
    --------
    >>> import glla
    >>> glla.cholesky([[4, 2], [2, 5]])
    array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    if lower is not None:
        raise OptionError(
            f"cholesky: takes upper=, as NumPy's, whose default is the lower factor, got lower={lower!r}; SciPy's "
            f"default is the upper one: write upper={not lower}"
        )
    return _factored("cholesky", a, upper, variant, device, check_finite)


@public()
def cho_factor(
    a: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
) -> tuple[Matrix, bool] | tuple[Array, bool]:
    """Cholesky factor for `cho_solve`, with the semantics of `scipy.linalg.cho_factor`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., n, n)
        Real numbers, symmetric and positive definite. Only the upper half is read, with `lower` only the lower one.
    lower : bool
        Give L of A = L L^T; otherwise U of A = U^T U. SciPy's default is the upper factor, NumPy's the lower one.
    overwrite_a : bool
        Is taken as SciPy takes it, and changes nothing: operands are never written to.
    variant, device, check_finite
        As in `cholesky`.

    Returns
    -------
    c : ndarray of float32 or Matrix, shape (..., n, n)
        The factor. Its other half holds zeros; SciPy's holds what A had there. Synchronises.
    lower : bool
        As it was given.

    Raises
    ------
    NotPositiveDefiniteError, ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As `cholesky`.

    Notes
    -----
    Error and cost are those of `cholesky`. Source: LAPACK potrf.

    Examples
    --------
    >>> import glla
    >>> c, lower = glla.cho_factor([[4, 2], [2, 5]])
    >>> c
    array([[2., 1.],
           [0., 2.]], dtype=float32)
    >>> glla.cho_solve((c, lower), [8, 12])
    array([1., 2.], dtype=float32)
    """
    return _factored("cho_factor", a, not lower, variant, device, check_finite), bool(lower)  # type: ignore[return-value]


def _factored(
    function: str, a: Any, upper: bool, variant: str | None, device: DeviceLike | None, check_finite: bool
) -> Matrix | Array:
    """Factor a matrix, or a stack."""
    value = operand(function, "A", a, check_finite)
    square(function, "A", value)
    known_variant(function, OPERATIONS[function], variant)
    if value.size == 0:
        return value.copy()
    target = device_of(function, device, value)
    if isinstance(value, Matrix):
        try:
            return _of_resident(function, value, upper, variant, target, check_finite)
        except NotPositiveDefiniteError as error:
            if check_finite and error.pivot is not None and not np.isfinite(error.pivot):  # it may be one of A's
                _refuse_nonfinite(function, value)
            raise
    stack, n = value.shape[:-2], value.shape[-1]
    flat, factors = value.reshape(-1, n, n), None
    if variant is None and stack:
        halves = np.swapaxes(flat, -1, -2) if upper else flat
        factors = stacks_definite.of_arrays(function, function, (halves,), "L", target, stack)
    if factors is None:
        members = zip(np.ndindex(stack), flat, strict=True)
        factors = stacked(_of_array(function, one, upper, variant, target, place) for place, one in members)
    result = np.swapaxes(factors, -1, -2) if upper else factors
    return finite_result(function, np.ascontiguousarray(result).reshape(value.shape), check_finite)


def _refuse_nonfinite(function: str, a: Matrix) -> None:
    largest = a.vector_norm(np.inf, (-2, -1)).numpy(check_finite=False)
    if a.ndim > 2:
        resident.refuse_nonfinite(function, "A", largest.reshape(-1))
    refuse_nonfinite_largest(function, "A", largest)


def _of_resident(
    function: str, value: Matrix, upper: bool, variant: str | None, target: Device, check_finite: bool
) -> Matrix:
    """Factor a matrix on the device, or a stack there."""
    if value.ndim > 2:
        stack = value.shape[:-2]
        if variant is None:
            half = (resident.spread(value.mT if upper else value, stack),)
            together = stacks_definite.on_device(function, function, half, "L", target, stack, check_finite, False)
            if together is not None:
                found = resident.shaped(together, value.shape)
                return found.mT if upper else found
        lower = resident.one_by_one(
            (resident.spread(value, stack),),
            lambda index, one: _factor(
                function, one, upper, variant, target, check_finite, member_of_stack(_place(index, stack))
            ),
        )
        found = resident.shaped(lower, value.shape)
        return found.mT if upper else found
    factor = _factor(function, value, upper, variant, target, check_finite)
    matrix = factor if isinstance(factor, Matrix) else upload(factor, target)
    return matrix.T if upper else matrix


def _place(index: int, stack: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(index, stack))


def _of_array(
    function: str, a: Array, upper: bool, variant: str | None, device: Device, place: tuple[int, ...]
) -> Array:
    must_fit_a_texture(function, a.shape, device.limits)
    factor = _factor(function, a, upper, variant, device, False, member_of_stack(place))
    return factor.numpy() if isinstance(factor, Matrix) else factor


def _factor(
    function: str, a: Array | Matrix, upper: bool, variant: str | None, device: Device, finite: bool, member: str = ""
) -> Array | Matrix:
    """Factor one matrix by its lower half, or its transpose as it lies: on the device, or scaled on the host first."""
    form = Form.of(a)
    forms = (replace(form, transposed=form.transposed is not upper),)
    plan = kernel.whole(forms, device.limits, variant=variant)
    given = {"A": stored(a.T if upper else a), "member": member, "function": function}
    values = walk(OPERATIONS[function], forms, on_device(device, plan), given)
    if finite:  # infinity on A's diagonal stays on that of L
        refuse_nonfinite_largest(function, "A", values["diagonal"])
    factor: Array | Matrix = values["L"]
    return factor
