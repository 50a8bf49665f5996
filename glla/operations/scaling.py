"""Scaling on the host: powers of two that bring the entries of a matrix near 1, where it need not fit float32."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Integers = NDArray[np.int32]


def scaling(a: NDArray[np.floating], sweeps: int = 0) -> tuple[Integers, Integers]:
    """Exponents e (a column) and f that bring the largest entry of each row, then column, of A 2^-(e_i + f_j) near 1.

    Of a stack those of each matrix.

    As `glla.operations.equilibrate` does it on the device, which explains `sweeps`, for entries that need not fit
    float32.

    Examples
    --------
    >>> a = np.array([[2.0**300, 0], [0, 3 * 2.0**-300]])
    >>> e, f = scaling(a)
    >>> np.ldexp(a, -e - f)
    array([[1. , 0. ],
           [0. , 1.5]])
    """
    counts = np.isfinite(a) & (a != 0)
    exponents = np.frexp(a)[1] - 1

    def largest(values: Integers, axis: int) -> Integers:
        zero = np.iinfo(np.int32).min // 2  # stands below every exponent
        most: Integers = np.max(values, axis=axis, keepdims=True, initial=zero, where=counts)
        return np.where(most > zero, most, 0)

    def mean(values: Integers, axis: int) -> Integers:
        totals = np.sum(values, axis=axis, keepdims=True, where=counts)
        numbers = np.maximum(np.sum(counts, axis=axis, keepdims=True), 1)
        result: Integers = ((2 * totals + numbers) // (2 * numbers)).astype(np.int32)
        return result

    columns: Integers = np.zeros((*a.shape[:-2], 1, a.shape[-1]), dtype=np.int32)
    for sweep in range(sweeps + 1):
        line = mean if sweep < sweeps else largest
        rows = line(exponents - columns, -1)
        columns = line(exponents - rows, -2)
    return rows, columns


def exponents_of(diagonal: NDArray[np.floating]) -> Integers:
    """Powers of two d that bring the diagonal of a_ij 2^-(d_i + d_j) near 1."""
    sizes = np.abs(diagonal.astype(np.float64))
    usable = np.isfinite(sizes) & (sizes > 0)
    found = np.where(usable, (np.frexp(np.where(usable, sizes, 1.0))[1] - 1) // 2, 0)
    return found.astype(np.int32)
