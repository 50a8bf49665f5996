"""The public functions of singular values: svd, svdvals."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array
from glla.array.convert import Float32
from glla.errors import OptionError, ShapeError
from glla.gl import DeviceLike
from glla.linalg.caller import Caller
from glla.linalg.operands import device_of, known_variant, operand, placed, square
from glla.linalg.orthogonal import qr
from glla.linalg.products import matmul
from glla.linalg.spectral.gram import by_gram, signed
from glla.linalg.spectral.results import SVDResult
from glla.operations import OPERATIONS
from glla.operations.spectral.svd_batches import sides
from glla.registry import public

GRAM = "gram"
"""The variant that is made of other operations, and no plan of its own."""


@public(numpy="linalg.svd", namespace="svd", options=("full_matrices",))
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> SVDResult[Array] | Array | SVDResult[Float32] | Float32:
    """Singular values and vectors, A = U diag(s) Vh, with the semantics of `numpy.linalg.svd`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> U, S, Vh = glla.svd([[3, 0], [4, 5]])
    >>> S.round(4)
    array([6.7082, 2.2361], dtype=float32)
    >>> (U * S @ Vh).round(4) + 0
    array([[3., 0.],
           [4., 5.]], dtype=float32)

    Parameters
    ----------
    a : array_like or Array, shape (..., m, n)
        Real numbers; any shape and rank.
    full_matrices : bool
        U and Vh are square, else they have k = min(m, n) columns and rows.
    compute_uv : bool
        Give U and Vh too, else the singular values alone.
    hermitian : bool
        A is symmetric: only its lower triangle is read.
    variant : str, optional
        A key of `glla.operations.spectral.svd.VARIANTS`; or "gram", of a tall well-conditioned A: s is off by up to 30
        sqrt(k) u s_1^2 / s, so below sqrt(u) s_1 = 2.4e-4 s_1 it is noise, and U^T U by 30 k u (s_1 / s_k)^2.
    device, check_finite
        As in `matmul`; ``check_finite=False`` leaves out the certificate and the repeat, too.

    Returns
    -------
    SVDResult
        ``U``, (..., m, m) or (..., m, k), ``S``, (..., k), descending, and ``Vh``, (..., n, n) or (..., k, n). The
        largest entry of each column of U is positive. Vectors of equal values are any orthonormal basis of their space.
    S : ndarray of float32 or Array, shape (..., k)
        Without `compute_uv`. Of an Array all are Array. Synchronises, unless ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError
        `a` is not at least 2-D, not square though `hermitian`, not real, not finite, or a singular value does not fit
        float32; unknown variant.
    LimitError, OutOfMemoryError
        `a` has more rows and columns than a texture's side, and `full_matrices`; or does not fit the memory.
    """
    value = _taken("svd", a, hermitian, variant, check_finite)
    mode = "values" if not compute_uv else "complete" if full_matrices else "reduced"
    options = {"mode": mode, "hermitian": bool(hermitian), "certified": bool(check_finite)}
    results = ("U", "S", "Vh") if compute_uv else ("S",)
    found = _found("svd", value, results, variant, device, check_finite, options)
    parts = [placed("svd", found[name], check_finite, value) for name in results]
    return SVDResult(*parts) if compute_uv else parts[0]


@public(numpy="linalg.svdvals", namespace="svdvals")
def svdvals(
    x: Any, *, variant: str | None = None, device: DeviceLike | None = None, check_finite: bool = True
) -> Array | Float32:
    """Singular values, descending, with the semantics of `numpy.linalg.svdvals`.

    Error, cost and sources: ``docs/facts/methods.md``.

    Examples
    --------
    >>> import glla
    >>> glla.svdvals([[3, 0], [4, 5]]).round(4)
    array([6.7082, 2.2361], dtype=float32)

    Parameters
    ----------
    x : array_like or Array, shape (..., m, n)
        Real numbers; any shape and rank.
    variant : str, optional
        As in `svd`: of "gram" values below sqrt(u) s_1 = 2.4e-4 s_1 are noise.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    ndarray of float32 or Array, shape (..., min(m, n))
        Synchronises, unless ``check_finite=False``.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError, OptionError, LimitError, OutOfMemoryError
        As `svd`.
    """
    value = _taken("svdvals", x, False, variant, check_finite)
    options = {"mode": "values", "certified": bool(check_finite)}
    found = _found("svdvals", value, ("S",), variant, device, check_finite, options)
    result: Array | Float32 = placed("svdvals", found["S"], check_finite, value)
    return result


def _taken(function: str, a: Any, hermitian: bool, variant: str | None, check_finite: bool) -> Float32 | Array:
    """Take the operand."""
    value = operand(function, "A", a, check_finite)
    if value.ndim < 2:
        raise ShapeError(f"{function}: A must be at least two-dimensional, got shape {value.shape}; reshape it")
    if hermitian:
        square(function, "A", value)
    if variant != GRAM:
        known_variant(function, OPERATIONS["svd"], variant)
    elif hermitian:
        raise OptionError(f'{function}: variant="gram" is for tall A; leave it out, or use eigh, if A is symmetric')
    return value


def _found(
    function: str,
    value: Float32 | Array,
    results: tuple[str, ...],
    variant: str | None,
    device: DeviceLike | None,
    check_finite: bool,
    options: dict[str, Any],
) -> dict[str, Any]:
    """Give the factors, or the values alone, of every matrix."""
    full = options["mode"] == "complete"
    if value.size:
        target = device_of(function, device, value)
        if variant == GRAM:
            return by_gram(function, value, results, full, device=target, check_finite=check_finite)
        m, n = value.shape[-2:]
        if value.ndim == 2 and not full and m != n and m + n > target.limits.texture_size:
            return _of_tall(value, results, variant=variant, device=target, check_finite=check_finite)
        return Caller("svd", function, target, check_finite, ("A",), variant, results, options=options).named(value)
    batch, (m, n) = value.shape[:-2], value.shape[-2:]
    left, k, right = sides((m, n), full)
    empty = {"U": np.eye(*left), "S": np.zeros(k), "Vh": np.eye(*right)}
    return {name: np.tile(empty[name].astype(np.float32), (*batch, *[1] * empty[name].ndim)) for name in results}


def _of_tall(value: Any, results: tuple[str, ...], **options: Any) -> dict[str, Any]:
    """Give the factors of one matrix with too many rows, or columns, for a line of texels: those of R, turned by Q."""
    wide = value.shape[0] < value.shape[1]
    tall = value.swapaxes(0, 1) if wide else value
    rest = {name: one for name, one in options.items() if name != "variant"}
    if results == ("S",):
        return {"S": svdvals(qr(tall, "r", **rest), **options)}
    q, r = qr(tall, **rest)
    inner: Any = svd(r, full_matrices=False, **options)
    turned: Any = matmul(q, inner.U, **rest)
    left, right = (inner.Vh.swapaxes(0, 1), turned.swapaxes(0, 1)) if wide else (turned, inner.Vh)
    left, right = signed(left, right)
    return {"U": left, "S": inner.S, "Vh": right}
