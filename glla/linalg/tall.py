"""Matrices taller than a texture: factored block by block of rows, and then the triangles, one above the other.

    A_i = Q_i R_i;  [R_1; R_2; ...] = S R;  A = [Q_1 S_1; Q_2 S_2; ...] R

A least-squares problem has the solution, the residuals and the singular values of the triangle of [A b], which is
short. Source: Demmel, Grigori, Hoemmen and Langou, "Communication-optimal parallel and sequential QR and LU
factorizations" (2012), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glla.array import shaping
from glla.array.array import Matrix
from glla.gl import Device
from glla.linalg.products import matmul
from glla.operations.routes import pieces

Factors = Callable[[Any], tuple[Any, ...]]
"""(matrix that fits a texture) -> Q and R, or R alone."""


def is_tall(shape: tuple[int, ...], device: Device) -> bool:
    """Whether a matrix has too many rows for a texture, while the triangles of two blocks of it fit one."""
    side = 2 * device.limits.texture_size
    return len(shape) == 2 and shape[0] > side >= 2 * shape[1] > 0


def factored(a: Any, device: Device, factors: Factors) -> tuple[Any, ...]:
    """Factor a matrix, of the host or on the device, in blocks of rows where it is tall."""
    if not is_tall(a.shape, device):
        return factors(a)
    found = [factors(a[first:end]) for first, end in pieces(len(a), 2 * device.limits.texture_size)]
    *mixing, r = factored(joined([parts[-1] for parts in found], 0), device, factors)
    if not mixing:
        return (r,)
    starts = np.cumsum([0, *(len(parts[-1]) for parts in found)]).tolist()
    parts = zip((q for q, _ in found), starts, starts[1:], strict=False)
    rows = [matmul(q, mixing[0][first:end], device=device, check_finite=False) for q, first, end in parts]
    return joined(rows, 0), r


def joined(parts: Sequence[Any], axis: int) -> Any:
    """Put matrices one above the other, or side by side, where they are."""
    if isinstance(parts[0], Matrix):
        return Matrix._of(shaping.concat("concatenate", [one.value for one in parts], axis))
    return np.concatenate(parts, axis)
