"""Bounds of given eigenpairs: how far each value is from an eigenvalue of A, at most."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Array, asarray
from glla.array.convert import Float32
from glla.errors import ShapeError
from glla.gl import DeviceLike
from glla.linalg.operands import device_of, operand, square
from glla.registry import public

UNIT, FLUSHED = 2.0**-24, 2.0**-126
"""Unit roundoff; products below the second number are flushed to zero by devices."""


@public()
def eigen_bounds(
    a: Any, w: Any, v: Any, *, device: DeviceLike | None = None, check_finite: bool = True
) -> Array | Float32:
    """Bounds b of eigenpairs: an eigenvalue of A lies between w_i - b_i and w_i + b_i, for each i.

    Examples
    --------
    >>> import glla
    >>> a = [[2, 1], [1, 2]]
    >>> w, v = glla.eigh(a)
    >>> bool((glla.eigen_bounds(a, w, v) < 1e-5).all())
    True
    >>> float(glla.eigen_bounds(a, [2.5], [[1], [1]]).round(3)[0])
    0.5

    Parameters
    ----------
    a : array_like or Array, shape (..., n, n)
        Real numbers, symmetric; both triangles are read.
    w : array_like or Array, shape (..., k)
        Values, of `eigh` or of any other method.
    v : array_like or Array, shape (..., n, k)
        A vector for each value, in columns, of any length but zero.
    device, check_finite
        As in `matmul`.

    Returns
    -------
    b : ndarray of float32 or Array, shape (..., k)
        norm(A v - w v) / norm(v), by one product in float32, and its own rounding error: (n + 8) u (norm(A) + abs(w)),
        with Frobenius's norm, and (n + 8) 2^-126 (1 + 2 n^(1/2) / norm(v)) for products that are flushed to zero.
        Nothing is said of the vectors, nor whether two intervals hold the same eigenvalue. Infinite, or NaN, where the
        product leaves float32's range, or a vector is zero.

    Raises
    ------
    ShapeError, DTypeError, NonFiniteError
        Shapes do not fit; not real, not finite.
    """
    given = [operand("eigen_bounds", name, one, check_finite) for name, one in (("A", a), ("w", w), ("v", v))]
    square("eigen_bounds", "A", given[0])
    n, (matrices, values, vectors) = given[0].shape[-1], (one.shape for one in given)
    if vectors[-2:] != (n, *values[-1:]) or values[:-1] != vectors[:-2]:
        raise ShapeError(
            f"eigen_bounds: for A {matrices} w must have shape (..., k) and v (..., {n}, k), got {values} and {vectors}"
        )
    target = device_of("eigen_bounds", device, *given)
    A, W, V = (one if isinstance(one, Array) else asarray(one, target, check_finite=False) for one in given)
    residual, length = (one.vector_norm(axis=-2) for one in (A @ V - V * W[..., np.newaxis, :], V))
    rounding = (A.vector_norm(axis=(-2, -1), keepdims=True)[..., 0] + abs(W)) * ((n + 8) * UNIT)
    lost = (n + 8) * FLUSHED
    bounds: Array = (residual + 2 * n**0.5 * lost) / length * (1 + 2 * (n + 8) * UNIT) + (rounding + lost)
    there = any(isinstance(one, Array) for one in given)
    return bounds if there else bounds.numpy(check_finite=False)
