"""The public functions of eigenvalues of symmetric matrices: eigh and eigvalsh."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import OptionError, one_of
from glla.gl import DeviceLike
from glla.linalg.caller import Caller
from glla.linalg.operands import as_float64, device_of, known_variant, operand, placed, square
from glla.linalg.products import matmul
from glla.linalg.spectral.refined import Float64, refined
from glla.linalg.spectral.results import EighResult
from glla.operations import OPERATIONS
from glla.operations.acceptance import matrix_of_stack
from glla.operations.host.scaling import by_one
from glla.operations.spectral.symmetric import Subset
from glla.registry import public


@public(numpy="linalg.eigh", namespace="eigh")
def eigh(
    a: Any,
    UPLO: str = "L",  # NumPy's name
    *,
    refine: bool = False,
    subset_by_index: tuple[int, int] | None = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> EighResult[Array] | EighResult[Float32] | EighResult[Float64]:
    """Eigenvalues and eigenvectors of a symmetric matrix, with the semantics of `numpy.linalg.eigh`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> w, V = glla.eigh([[2, 1], [1, 2]])
    >>> w.round(4)
    array([1., 3.], dtype=float32)
    >>> abs(V).round(4)
    array([[0.7071, 0.7071],
           [0.7071, 0.7071]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric: only the triangle that `UPLO` names is read.
    UPLO : {"L", "U"}
        The lower triangle, or the upper one.
    refine : bool
        Refine the pairs to float64, with a product of float64 on the host a step. `a` is taken in float64; results are
        arrays of float64 on the host.
    subset_by_index : (int, int), optional
        The first and the last pair, counted from 0 in ascending order, as in `scipy.linalg.eigh`.
    variant : str, optional
        A key of `glla.operations.spectral.eigh.VARIANTS`, for comparisons.
    device, check_finite
        As in `matmul`; ``check_finite=False`` leaves out the certificate and the repeat, too.

    Returns
    -------
    EighResult
        ``eigenvalues``, (..., n), ascending, and ``eigenvectors``, (..., n, n), in columns, each with its largest entry
        positive; or those of the subset. Of an Array both are Array. Synchronises, unless ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not square, not real, not finite, or an eigenvalue does not fit float32; unknown UPLO or variant, or a
        subset that is none.
    ConvergenceError
        Residual or orthogonality exceed 10 n u; with `refine` the residual exceeds 10 n u of float64.
    LimitError, OutOfMemoryError
        `a` is of an order above a texture's side, or does not fit the memory.
    """
    if refine:
        return _refined(a, UPLO, subset_by_index, variant, device, check_finite)
    value, lower = _taken("eigh", a, UPLO, variant, check_finite)
    subset = subset_of("eigh", "subset_by_index", subset_by_index, value.shape[-1])
    if value.size == 0:
        found: dict[str, Any] = {"w": np.empty(value.shape[:-1], np.float32), "V": np.empty(value.shape, np.float32)}
    else:
        target, options = device_of("eigh", device, value), {"lower": lower, "certified": bool(check_finite), **subset}
        call = Caller("eigh", "eigh", target, check_finite, ("A",), variant, ("V", "w"), options=options)
        found = call.named(value)
    return EighResult(*(placed("eigh", found[name], check_finite, value) for name in "wV"))


@public(numpy="linalg.eigvalsh", namespace="eigvalsh")
def eigvalsh(
    a: Any,
    UPLO: str = "L",  # NumPy's name
    *,
    subset_by_index: tuple[int, int] | None = None,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> Array | Float32:
    """Eigenvalues of a symmetric matrix, with the semantics of `numpy.linalg.eigvalsh`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.eigvalsh([[2, 1], [1, 2]]).round(4)
    array([1., 3.], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric: only the triangle that `UPLO` names is read.
    UPLO : {"L", "U"}
        The lower triangle, or the upper one.
    subset_by_index : (int, int), optional
        The first and the last eigenvalue, counted from 0 in ascending order, as in `scipy.linalg.eigvalsh`.
    variant : str, optional
        A key of `glla.operations.spectral.eigvalsh.VARIANTS`.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    w : ndarray of float32 or Array, shape (..., n)
        In ascending order. Synchronises, except for an Array with ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not square, not real, not finite, or an eigenvalue does not fit float32; unknown UPLO or variant, or a
        subset that is none.
    LimitError, OutOfMemoryError
        `a` is of an order above a texture's side, or does not fit the memory.
    """
    value, lower = _taken("eigvalsh", a, UPLO, variant, check_finite)
    n = value.shape[-1]
    subset = subset_of("eigvalsh", "subset_by_index", subset_by_index, n)
    if value.size == 0:
        w: Any = np.empty(value.shape[:-1], np.float32)
    else:
        target, options = device_of("eigvalsh", device, value), {"lower": lower, "watched": check_finite, **subset}
        call = Caller("eigvalsh", "eigvalsh", target, check_finite, ("A",), variant, ("w",), options=options)
        w = call.named(value)["w"]
        if not isinstance(w, Array):
            w = w.reshape(*value.shape[:-2], -1)[..., : subset["subset"].count if subset else n]
    found: Array | Float32 = placed("eigvalsh", w, check_finite, value)
    return found


def subset_of(function: str, name: str, indices: Any, n: int) -> dict[str, Subset]:
    """Check a subset; give it as an option of plans, none where it is the whole."""
    if indices is None:
        return {}
    try:
        first, last = map(operator.index, indices)
    except (TypeError, ValueError):
        first, last = -1, -1
    if not 0 <= first <= last < n:
        rule = f"must be the first and the last of the eigenvalues 0 to {n - 1}"
        raise OptionError(f"{function}: {name} {rule}, got {indices!r}")
    return {} if (first, last) == (0, n - 1) else {"subset": Subset(first, last - first + 1)}


def _refined(
    a: Any, uplo: str, subset_by_index: Any, variant: str | None, device: DeviceLike | None, check_finite: bool
) -> EighResult[Float64]:
    """Find the pairs in float64."""
    wide = as_float64("eigh", "A", a, check_finite)
    square("eigh", "A", wide)
    lower = _lower("eigh", uplo)
    half = np.tril(wide) if lower else np.triu(wide)
    wide = half + np.swapaxes(np.tril(half, -1) if lower else np.triu(half, 1), -1, -2)
    target, subset = device_of("eigh", device, a), subset_of("eigh", "subset_by_index", subset_by_index, wide.shape[-1])
    w, v = np.empty(wide.shape[:-1]), np.empty(wide.shape)
    product: Any = partial(matmul, device=target)
    for index in np.ndindex(wide.shape[:-2] if wide.size else (0,)):
        start: Any = eigh(by_one(wide[index])[0], variant=variant, device=target, check_finite=check_finite)
        which = matrix_of_stack(index)
        w[index], v[index] = refined("eigh", wide[index], start.eigenvectors, product, which)
    if subset:
        chosen = slice(subset["subset"].first, subset["subset"].first + subset["subset"].count)
        w, v = w[..., chosen], v[..., chosen]
    return EighResult(w, v)


def _taken(function: str, a: Any, uplo: str, variant: str | None, check_finite: bool) -> tuple[Float32 | Array, bool]:
    """Take the operand, and whether its lower triangle is read."""
    value = operand(function, "A", a, check_finite)
    square(function, "A", value)
    known_variant(function, OPERATIONS[function], variant)
    return value, _lower(function, uplo)


def _lower(function: str, uplo: str) -> bool:
    """Whether a triangle is the lower one."""
    return one_of(f"{function}: UPLO", uplo, ("L", "U", "l", "u")) in ("L", "l")
