"""The public Cholesky factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import NotPositiveDefiniteError, OptionError
from glla.gl import DeviceLike
from glla.linalg import resident
from glla.linalg.call import Call
from glla.linalg.operands import device_of, known_variant, operand, refuse_nonfinite_largest, square, turned
from glla.operations import OPERATIONS
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
) -> Array | Float32:
    """Cholesky factor with the semantics of `numpy.linalg.cholesky`: A = L L^T.

    Examples
    --------
    >>> import glla
    >>> glla.cholesky([[4, 2], [2, 5]])
    array([[2., 0.],
           [1., 2.]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric and positive definite. Only the lower half is read, with `upper` only the upper one.
    upper : bool
        Give U = L^T, with A = U^T U. NumPy's default is the lower factor; SciPy's is the upper one.
    lower : None
        SciPy's option, whose default is the other way round: refused, so that nobody gets the wrong half.
    variant : str, optional
        A key of `glla.operations.definite.cholesky.VARIANTS`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array, shape (..., n, n)
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
) -> tuple[Array, bool] | tuple[Float32, bool]:
    """Cholesky factor for `cho_solve`, with the semantics of `scipy.linalg.cho_factor`.

    Examples
    --------
    >>> import glla
    >>> c, lower = glla.cho_factor([[4, 2], [2, 5]])
    >>> c
    array([[2., 1.],
           [0., 2.]], dtype=float32)
    >>> glla.cho_solve((c, lower), [8, 12])
    array([1., 2.], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric and positive definite. Only the upper half is read, with `lower` only the lower one.
    lower : bool
        Give L of A = L L^T; otherwise U of A = U^T U. SciPy's default is the upper factor, NumPy's the lower one.
    overwrite_a : bool
        Is taken as SciPy takes it, and changes nothing: operands are never written to.
    variant, device, check_finite
        As in `cholesky`.

    Returns
    -------
    c : ndarray of float32 or Array, shape (..., n, n)
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
    """
    return _factored("cho_factor", a, not lower, variant, device, check_finite), bool(lower)  # type: ignore[return-value]


def _factored(
    function: str, a: Any, upper: bool, variant: str | None, device: DeviceLike | None, check_finite: bool
) -> Array | Float32:
    """Factor a matrix, or a stack."""
    value = operand(function, "A", a, check_finite)
    square(function, "A", value)
    known_variant(function, OPERATIONS[function], variant)
    target = device_of(function, device, value)
    call = Call("cholesky", function, target, check_finite, ("A",), variant, ("L",), "diagonal")
    try:
        factor = call(turned(value) if upper else value)
    except NotPositiveDefiniteError as error:
        if isinstance(value, Array) and check_finite and error.pivot is not None and not np.isfinite(error.pivot):
            _refuse_nonfinite(function, value)  # it may be one of A's
        raise
    return turned(factor, True) if upper else factor


def _refuse_nonfinite(function: str, a: Array) -> None:
    largest = a.vector_norm(np.inf, (-2, -1)).numpy(check_finite=False)
    if a.ndim > 2:
        resident.refuse_nonfinite(function, "A", largest.reshape(-1))
    refuse_nonfinite_largest(function, "A", largest)
