"""Substitution with a triangle on the host, in float64: where numbers are too near float32's limits for a device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

ROWS = 64
"""Rows that the host looks at, or substitutes, at a time."""


def substituted(
    t: NDArray[np.float32],
    b: Float64,
    *,
    lower: bool,
    unit_diagonal: bool,
    transposed: bool = False,
    rounded: bool = False,
) -> Float64:
    """Substitute in float64; if `rounded`, with each row of the solution as float32 has it."""
    left, x = (t.T if transposed else t), b
    backward = lower == transposed
    if backward:  # upside down an upper triangle is a lower one
        left, x = left[::-1, ::-1], x[::-1]
    x = x.copy()
    for top in range(0, len(left), ROWS):
        part = left[top : top + ROWS, : top + ROWS].astype(np.float64)
        x[top : top + ROWS] -= part[:, :top] @ x[:top]
        for i, row in enumerate(part, top):
            x[i] -= row[top:i] @ x[top:i]
            if not unit_diagonal:
                x[i] /= row[i]
            if rounded:
                short = x[i].astype(np.float32)
                x[i] = np.where(np.isfinite(short), short, x[i])
    return np.ascontiguousarray(x[::-1] if backward else x)
