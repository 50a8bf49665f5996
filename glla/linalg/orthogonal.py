"""The public QR factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from glla.array.array import Matrix, upload
from glla.array.convert import Array, finite_result, is_one_of
from glla.errors import OptionError, ShapeError
from glla.gl import Device, DeviceLike
from glla.linalg import resident
from glla.linalg.operands import device_of, known_variant, operand, stored
from glla.linalg.results import QRResult
from glla.linalg.routes import stacked
from glla.linalg.walk import on_device, walk
from glla.operations import OPERATIONS
from glla.operations import qr as kernel
from glla.operations.routes import must_fit_a_texture
from glla.passes import Form
from glla.registry import public


@public(numpy="linalg.qr", namespace="qr", options=("mode",))
def qr(
    a: Any,
    mode: str = "reduced",
    *,
    variant: str | None = None,
    device: DeviceLike | None = None,
    check_finite: bool = True,
) -> QRResult[Matrix] | Matrix | tuple[Matrix, Matrix] | QRResult[Array] | Array | tuple[Array, Array]:
    """QR factorisation A = Q R with the semantics of `numpy.linalg.qr`.

    Parameters
    ----------
    a : array_like or Matrix, shape (..., m, n)
        Real numbers; any shape and rank.
    mode : {"reduced", "complete", "r", "raw"}
        What is given, see below; k = min(m, n).
    variant : str, optional
        A key of `glla.operations.qr.VARIANTS`, for comparisons; by default the fastest.
    device, check_finite
        As in `matmul`. Of a Matrix NaN and infinity are not looked for: they spread into the factors.

    Returns
    -------
    QRResult
        Of modes "reduced" and "complete": Q, (..., m, k) or (..., m, m), with orthonormal columns, and R, (..., k, n)
        or (..., m, n), upper triangular. R's diagonal has LAPACK's signs: opposite to those of the columns that it
        comes from, so mostly negative.
    R : ndarray of float32 or Matrix, shape (..., k, n)
        Of mode "r".
    (h, tau) : tuple
        Of mode "raw": the transpose of R with the reflectors below its diagonal, (..., n, m), and their factors,
        (..., k), as LAPACK's geqrf has them.

    Of a Matrix all of them are Matrix, and nothing synchronises but "raw".

    Raises
    ------
    OptionError
        Unknown mode or variant.
    ShapeError, DTypeError, NonFiniteError
        `a` is not at least two-dimensional, not real, not finite, or R does not fit float32.
    LimitError, OutOfMemoryError
        `a` is larger than a texture, or does not fit the device's memory.

    Notes
    -----
    Error: norm(A - Q R) / (m norm(A) u) and norm(Q^T Q - I) / (m u) stay below 30, u = 2^-24, whatever the rank, and
    at the ends of float32's range: columns are scaled by powers of two first, which rounds nothing. What lies below a
    column's pivot is zero if its norm is under 2^-40 of the column's largest entry. Cost: 2 n^2 (m - n / 3) flop for R,
    as much again for Q, and 3 ceil(k / 2) passes for R, 2 ceil(k / 2) for Q. Source: Golub and Van Loan, "Matrix
    computations" (2013), section 5.2; LAPACK geqrf.

    Examples
    --------
    >>> import glla
    >>> Q, R = glla.qr([[3, 1], [4, 2]])
    >>> R.round(3)
    array([[-5. , -2.2],
           [ 0. ,  0.4]], dtype=float32)
    >>> (Q @ R).round(3)
    array([[3., 1.],
           [4., 2.]], dtype=float32)
    """
    value = operand("qr", "A", a, check_finite)
    if value.ndim < 2:
        raise ShapeError(f"qr: A must be at least two-dimensional, got shape {value.shape}; reshape it")
    if not is_one_of(mode, kernel.MODES):
        raise OptionError(f"qr: mode must be one of {', '.join(kernel.MODES)}, got {mode!r}")
    known_variant("qr", OPERATIONS["qr"], variant)
    target = device_of("qr", device, value) if value.size or isinstance(value, Matrix) else None
    parts: tuple[Any, ...]
    if target is None or value.size == 0:
        found: Any = np.linalg.qr(np.empty(value.shape, dtype=np.float32), mode=mode)  # type: ignore[call-overload]
        parts = found if isinstance(found, tuple) else (found,)
        if isinstance(value, Matrix):
            parts = tuple(upload(part, value.device) for part in parts)
    elif isinstance(value, Matrix):
        parts = _of_matrix(value, mode, variant, target)
    else:
        parts = tuple(finite_result("qr", part, check_finite) for part in _of_array(value, mode, variant, target))
    if mode in ("reduced", "complete"):
        return QRResult(*parts)
    return parts[0] if mode == "r" else (parts[0], parts[1])


def _of_array(a: Array, mode: str, variant: str | None, device: Device) -> tuple[Array, ...]:
    """Factor a matrix of the host, or a stack; give what the mode asks for."""
    must_fit_a_texture("qr", a.shape[-2:], device.limits)
    stack = a.shape[:-2]
    found = [_factors(one, mode, variant, device) for one in a.reshape(-1, *a.shape[-2:])]
    return tuple(_shaped(stacked(parts), stack) for parts in zip(*found, strict=True))


def _shaped(parts: Array, stack: tuple[int, ...]) -> Array:
    return np.ascontiguousarray(parts).reshape(*stack, *parts.shape[1:])


def _of_matrix(a: Matrix, mode: str, variant: str | None, device: Device) -> tuple[Matrix, ...]:
    """Factor a matrix on the device, or a stack."""
    if a.ndim == 2:
        return _factors(a, mode, variant, device)
    stack = a.shape[:-2]
    found = [_factors(one, mode, variant, device) for one in resident.members(a)]
    return tuple(resident.joined(parts, stack) for parts in zip(*found, strict=True))


def _factors(a: Any, mode: str, variant: str | None, device: Device) -> tuple[Any, ...]:
    """Factor one matrix: of the host, or on the device."""
    forms = (Form.of(a),)
    plan = kernel.whole(forms, device.limits, variant=variant, mode=mode)
    values = walk(OPERATIONS["qr"], forms, on_device(device, plan), {"A": stored(a)})
    if mode != "raw":
        return tuple(values[name] for name in ("QR" if mode != "r" else "R"))
    tau: Any = kernel.taus(values["T"], min(a.shape))
    return values["H"].T, upload(tau, device) if isinstance(a, Matrix) else tau
