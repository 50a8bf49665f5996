"""Scaling by powers of two on the host, which rounds nothing: of one matrix, or of each of a stack.

    A 2^-(e_i + f_j)   the matrix, e a column of exponents, f a row
    B 2^-(e_i + s_j)   right-hand sides, s their sizes
    X 2^(s_j - f_i)    the solution, scaled back

Functions that scale a matrix give it in float64, where it need not fit float32, and e and f.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.operations import acceptance
from glla.operations.record import Float32

Floats = NDArray[np.floating]
Float64 = NDArray[np.float64]
Integers = NDArray[np.int32]
Scaled = tuple[Float64, Integers, Integers]
ScaledSystem = tuple[Float32, Float32, Integers, Integers]


def exponents(sizes: Any) -> Integers:
    """Exponents e that bring 2^-e sizes into [1/2, 1); of zero, infinity and NaN 0.

    >>> exponents(np.array([3.0, 0.0, 2.0**-60, np.inf])).tolist()
    [2, 0, -59, 0]
    """
    return np.where(np.isfinite(sizes), np.frexp(sizes)[1], 0)


def exponent_of(size: float, near: int = 0) -> int:
    """As `exponents`, of one size; 0 where it is at most `near` either way."""
    e = int(exponents(size))
    return e if abs(e) > near else 0


def by_one(a: Float64) -> tuple[Float64, int]:
    """Scale an array by one power of two, so that its largest entry is in [1/2, 1); give the exponent, too."""
    e = exponent_of(np.abs(a).max(initial=0.0))
    return np.ldexp(a, -e), e


def both(a: Floats, sweeps: int = 0) -> tuple[Integers, Integers]:
    """Exponents e and f that bring the largest entry of each row, then column, of A 2^-(e_i + f_j) near 1.

    As `glla.operations.elimination.equilibrate` does it on the device. `sweeps`: before, bring the geometric means of
    their non-zero entries there, so often. With 0 the result depends on how A was scaled: an entry may be the largest
    of its row because its column is large. The sweeps converge to one that does not, for a matrix without zeros at
    once, for sparse ones within 4 to 10.

    >>> a = np.array([[2.0**300, 0], [0, 3 * 2.0**-300]])
    >>> e, f = both(a)
    >>> np.ldexp(a, -e - f)
    array([[1. , 0. ],
           [0. , 1.5]])
    """
    stack = acceptance.side_by_side(a.reshape(-1, *a.shape[-2:]))
    counts = np.isfinite(stack) & (stack != 0)
    zero = np.iinfo(np.int32).min // 2  # is below every exponent
    powers: Integers = np.where(counts, np.frexp(stack)[1] - 1, zero)

    def largest(others: Integers, axis: int) -> Integers:
        most: Integers = np.max(powers - others, axis=axis, keepdims=True, initial=zero)
        return np.where(most > zero // 2, most, 0)

    def mean(others: Integers, axis: int) -> Integers:
        totals = np.sum(powers - others, axis=axis, keepdims=True, where=counts)
        numbers = np.maximum(np.sum(counts, axis=axis, keepdims=True), 1)
        result: Integers = ((2 * totals + numbers) // (2 * numbers)).astype(np.int32)
        return result

    columns: Integers = np.zeros((1, *stack.shape[1:]), dtype=np.int32)
    for sweep in range(sweeps + 1):
        line = mean if sweep < sweeps else largest
        rows = line(columns, 1)
        columns = line(rows, 0)

    def as_given(lines: Integers) -> Integers:
        return np.ascontiguousarray(np.moveaxis(lines, -1, 0)).reshape(*a.shape[:-2], *lines.shape[:2])

    return as_given(rows), as_given(columns)


def symmetric(diagonal: Floats) -> Integers:
    """Exponents d that bring the diagonal of a_ij 2^-(d_i + d_j) near 1; of zero, infinity and NaN 0."""
    usable = np.isfinite(diagonal) & (diagonal != 0)
    return np.where(usable, (np.frexp(diagonal)[1] - 1) // 2, 0)


@np.errstate(all="ignore")  # what is not finite is looked at afterwards
def scales_near_one(stack: Floats) -> NDArray[np.bool_]:
    """Whether neither rows nor columns need scaling on the host, for each matrix: their exponents are near 0.

    Of stand-ins, which are not square, no rows are known: all entries must be near 1.

    >>> scales_near_one(np.array([[[1, 1e-30], [0, 1]], [[1, 1e-30], [0, 1e-30]]])).tolist()
    [True, False]
    """
    near = acceptance.each_near_one(stack)
    if not near.all() and stack.shape[-2] == stack.shape[-1]:
        far = np.flatnonzero(~near)
        near[far] = np.all([(np.abs(e) <= acceptance.NEAR_ONE).all(axis=(1, 2)) for e in both(stack[far])], axis=0)
    return near


def of_system(a: Floats, equilibrate: bool = True) -> Scaled:
    """Scale rows and columns, or all by one power of two."""
    wide = a.astype(np.float64)
    if equilibrate:
        e, f = both(wide)
    else:
        f = np.zeros((*a.shape[:-2], 1, a.shape[-1]), dtype=np.int32)
        e = np.swapaxes(f, -1, -2) + exponents(np.max(np.abs(wide), axis=(-2, -1), keepdims=True)) - 1
    return np.ldexp(wide, -e - f), e, f


def of_definite(a: Floats, **options: Any) -> Scaled:
    """Scale rows and columns alike, so that the diagonal is near 1."""
    d = symmetric(np.diagonal(a, axis1=-2, axis2=-1))[..., np.newaxis]
    f = np.swapaxes(d, -1, -2)
    return np.ldexp(a.astype(np.float64), -d - f), d, f


def for_factor(a: Floats, **options: Any) -> Scaled:
    """As `of_definite`, where Cholesky's factor is the result: its rows are scaled back."""
    wide, d, f = of_definite(a)
    return wide, np.zeros_like(d), -f


def factor_back(factor: Float32, lower: bool | None, e: Integers) -> Float64:
    """Multiply the rows of Cholesky's factor L by 2^e, after `of_definite`."""
    return np.ldexp(factor.astype(np.float64), e)


def of_factor(c: Floats, **options: Any) -> Scaled:
    """Scale the rows of Cholesky's factor, and so those of B and X."""
    e = exponents(np.max(np.abs(np.tril(c)), axis=-1, keepdims=True))
    return np.ldexp(c.astype(np.float64), -e), e, np.swapaxes(e, -1, -2)


@np.errstate(all="ignore")  # what leaves the range is looked at afterwards
def right_sides(b: Floats, e: Any = 0) -> tuple[Float64, Integers]:
    """Scale right-hand sides by rows as A, then each column by its size; give the exponents of the sizes, too.

    >>> right_sides(np.array([[2.0, 3.0], [6.0, 0.0]]), np.array([[1], [1]]))[0].tolist()
    [[0.25, 0.75], [0.75, 0.0]]
    """
    rhs = np.ldexp(b.astype(np.float64), -e)
    sizes = exponents(np.max(np.abs(rhs), axis=-2, initial=0.0, keepdims=b.ndim > 2))
    return np.ldexp(rhs, -sizes), sizes


def definite(scale: Callable[..., Scaled], a: Float32) -> tuple[Float32, Integers]:
    """Scale A by `scale`; give it in float32, and the exponents of its rows, which are those of its columns."""
    wide, e, _ = scale(a)
    return wide.astype(np.float32), e


equilibrated = partial(definite, of_definite)
"""Scale a definite matrix, which rounds nothing; give the exponents, too."""


@np.errstate(all="ignore")
def definite_system(scale: Callable[..., Scaled], a: Float32, b: Float32) -> ScaledSystem:
    """As `definite`, with right-hand sides."""
    scaled, e = definite(scale, a)
    rhs, sizes = right_sides(b, e)
    return scaled, rhs.astype(np.float32), e, sizes


@np.errstate(all="ignore")
def factor_system(largest: Float32, scale: Callable[[Integers], Floats], c: Float32, b: Float32) -> ScaledSystem:
    """Scale a factor by its `largest` entry of each row, where not all sizes are near 1; `scale` multiplies rows."""
    if acceptance.near_one(largest) and acceptance.largest_near_one(b):
        return c, b, np.zeros(largest.shape, dtype=np.int32), np.zeros(b.shape[1], dtype=np.int32)
    e = exponents(largest)
    rhs, sizes = right_sides(b, e)
    return scale(-e).astype(np.float32, copy=False), rhs.astype(np.float32), e, sizes


@np.errstate(all="ignore")
def scaled_back(function: str, x: Float32, sizes: Any, e: Any = 0, which: str = "") -> tuple[Float32]:
    """Return x 2^(sizes - e) in float32; raise as `glla.operations.acceptance.in_float32`."""
    by = np.asarray(sizes - e)
    return (acceptance.in_float32(function, np.ldexp(x.astype(np.float64), by), which) if by.any() else x,)
