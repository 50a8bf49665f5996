"""Right-hand sides and solutions of the outer loop of a solver, on the host in float64 or on the device."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, upload
from glla.array.convert import as_real, refuse_nonfinite
from glla.errors import DeviceMismatchError, NonFiniteError, ShapeError
from glla.operations.acceptance import UNIT_ROUNDOFF
from glla.operations.host.scaling import by_one, exponent_of
from glla.sparse.linalg.operators import Operator

Floats = NDArray[np.float64]

ROUNDED = 3.0
"""Rounding errors of a residual in float32: u norm(b) and `ROUNDED` u norm(|A|) norm(x), those of A's entries, of
products and of sums as they add up in many rows. Their bound has the longest row's entries in place of `ROUNDED`. In
addition a device flushes numbers below 2^-126 to zero in each operation."""

MOST_SLACK = 0.5
"""Fraction of the goal that these may reach; above it the residual is computed in float64."""


def elements(function: str, name: str, value: Any, n: int) -> Array | Floats:
    """Convert a vector of n elements, or a column; it stays on the device, or becomes float64.

    Raises ShapeError, DTypeError, NonFiniteError: another length, not real, or not finite.
    """
    array: Any = value if isinstance(value, Array) else as_real(function, name, value).astype(np.float64)
    if array.shape not in ((n,), (n, 1)):
        raise ShapeError(f"{function}: shapes of A {(n, n)} and {name} {array.shape} are incompatible")
    if isinstance(array, np.ndarray):
        refuse_nonfinite(function, name, array)
    return array.reshape(n)  # type: ignore[no-any-return]


class OnHost:
    """x and the residual on the host: products in float64 with the original A; x in float32, or float64."""

    def __init__(self, a: Operator, b: Floats, x0: Array | Floats | None, refine: bool) -> None:
        self._a, self._b, self.size = a, b, norm(b)
        self._type = np.float64 if refine else np.float32
        start = x0.numpy() if isinstance(x0, Array) else x0
        self.x = np.zeros(len(b)) if start is None else start.astype(np.float64)
        self.x = self.x.astype(self._type).astype(np.float64)
        self.measure()

    def measure(self) -> None:
        """Compute the true residual of x, and its norm."""
        self._r = self._b - self._a.times(self.x) if self.x.any() else self._b
        self.residual = norm(self._r)

    def scaled_on_host(self) -> tuple[Floats, int]:
        """The residual times 2^-e, its largest element near 1; and e."""
        return by_one(self._r)

    def scaled(self) -> tuple[Array, int]:
        """The same, on the device."""
        r, e = self.scaled_on_host()
        return upload(r.astype(np.float32), self._a.device), e

    def moved(self, d: Array | Floats, e: int) -> OnHost:
        """Return x + d 2^e, without its residual."""
        other = copy(self)
        step = d.numpy().astype(np.float64) if isinstance(d, Array) else d
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            other.x = (self.x + np.ldexp(step, e)).astype(self._type).astype(np.float64)
        return other

    def added(self, d: Array | Floats, e: int) -> OnHost:
        """Return x + d 2^e, with its residual."""
        other = self.moved(d, e)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            other.measure()
        return other

    @property
    def finite(self) -> bool:
        """Whether x and its residual are finite: a column without entries hides infinities of x."""
        return bool(np.isfinite(self.residual) and np.isfinite(self.x).all())

    @property
    def result(self) -> Any:
        """Solution in the type of the result."""
        return self.x.astype(self._type)


class OnDevice:
    """x and the residual on the device, in float32. Each norm reads 8 bytes back.

    A residual in float32 has rounding errors of about u norm(A) norm(x). If it meets the goal, these are added to its
    norm; if they are most of the goal, x is read back and the residual is computed in float64.
    """

    def __init__(
        self, function: str, a: Operator, b: Array, x0: Array | Floats | None, rtol: float, atol: float
    ) -> None:
        self._a, self._b, self.size = a, b.astype("float32", copy=False), norm_on_device(b)
        if not np.isfinite(self.size):
            raise NonFiniteError(f"{function}: b must not hold NaN or infinity, got an Array that does; clean it")
        if isinstance(x0, Array) and x0.device is not b.device:
            raise DeviceMismatchError(f"{function}: x0 and b must live on one device; use to_device")
        self.x: Array | None = None
        if x0 is not None:
            self.x = x0 if isinstance(x0, Array) else upload(x0.astype(np.float32), b.device)
        self._wanted = max(rtol * self.size, atol)
        self.measure()

    def measure(self) -> None:
        """Compute the true residual of x, and its norm."""
        self._r = self._b if self.x is None else self._b - self._times(self.x)
        self._exact: Floats | None = None
        self.residual = norm_on_device(self._r)
        if self.x is None or self._a.rows is None or not self.residual <= self._wanted:
            return
        rows = self._a.rows
        norms = rows.norm_of_magnitudes + abs(self._a.shift)
        slack = UNIT_ROUNDOFF * (self.size + ROUNDED * norms * norm_on_device(self.x))
        flushed = np.ldexp(float(rows.lengths.max()) + 3, max(self._a.exponent, 0) - 126)
        slack += flushed * np.sqrt(rows.shape[0])
        if slack <= MOST_SLACK * self._wanted:
            self.residual += slack
            return
        self._exact = self._b.numpy().astype(np.float64) - self._a.times(self.x.numpy().astype(np.float64))
        self.residual = norm(self._exact)

    def _times(self, x: Array) -> Array:
        y = self._a.run(x) * 2.0**self._a.exponent
        return y - self._a.shift * x if self._a.shift else y

    def scaled(self) -> tuple[Array, int]:
        """The residual times 2^-e, its largest element near 1; and e."""
        if self._exact is not None:
            r, e = by_one(self._exact)
            return upload(r.astype(np.float32), self._b.device), e
        e = exponent_of(float(abs(self._r).max()))
        return _times_power(self._r, -e), e

    def moved(self, d: Array, e: int) -> OnDevice:
        """Return x + d 2^e, without its residual."""
        other = copy(self)
        step = _times_power(d, e)
        other.x = step if self.x is None else self.x + step
        return other

    def added(self, d: Array, e: int) -> OnDevice:
        """Return x + d 2^e, with its residual."""
        other = self.moved(d, e)
        other.measure()
        return other

    @property
    def finite(self) -> bool:
        """Whether x and its residual are finite; reads 4 bytes back."""
        return bool(np.isfinite(self.residual) and (self.x is None or np.isfinite(float(abs(self.x).max()))))

    @property
    def result(self) -> Any:
        """Solution as the result."""
        return upload(np.zeros(self._b.shape, dtype=np.float32), self._b.device) if self.x is None else self.x


def _times_power(a: Array, e: int) -> Array:
    """Multiply by 2^e in two steps, so that neither factor leaves float32's range."""
    half = e // 2
    return a * 2.0**half * 2.0 ** (e - half)


def norm(a: Floats) -> float:
    """Euclidean norm, also where squares overflow; NaN if an element is NaN."""
    largest = float(np.abs(a).max(initial=0.0))
    if largest == 0 or not np.isfinite(largest):
        return largest
    scaled, e = by_one(a)
    return float(np.ldexp(np.linalg.norm(scaled), e))


def norm_on_device(a: Array) -> float:
    """Euclidean norm of a vector on a device; NaN if an element is NaN."""
    largest = float(abs(a).max())
    if largest == 0 or not np.isfinite(largest):
        return largest
    e = exponent_of(largest)
    scaled = _times_power(a, -e)
    return float(np.ldexp(np.sqrt(float((scaled * scaled).sum())), e))
