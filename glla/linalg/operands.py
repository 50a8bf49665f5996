"""Checks of the public functions' operands: types, layouts, and refused values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from traceback import clear_frames
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, upload
from glla.array.array import device_of as device_of
from glla.array.convert import Float32, as_float32, as_real, finite_result, refuse_nonfinite
from glla.errors import OutOfMemoryError, ShapeError, one_of
from glla.operations import Operation
from glla.operations.acceptance import not_finite


def operand(function: str, name: str, value: Any, check_finite: bool) -> Float32 | Array:
    """Take an Array of float32 as it is, one of another type converted, and anything else as an array of the host."""
    found: Float32 | Array = taken(function, name, value, check_finite)
    return found.astype("float32", copy=False)


def taken(function: str, name: str, value: Any, check_finite: bool) -> Any:
    """Take an Array of any type as it is, and anything else as an array of the host."""
    return value if on_a_device(value) else as_float32(function, name, value, check_finite)


def on_a_device(*values: Any) -> bool:
    """Whether one of them is on a device."""
    for value in values:  # noqa: SIM110  # small products feel a generator
        if isinstance(value, Array):
            return True
    return False


def row(value: Any) -> Any:
    """See a vector as a row."""
    return value[np.newaxis, :] if value.ndim == 1 else value


def column(value: Any) -> Any:
    """See a vector as a column."""
    return value[:, np.newaxis] if value.ndim == 1 else value


def rows(b: Any) -> int:
    """Rows of right-hand sides; of a vector all of its elements."""
    count: int = b.shape[0] if b.ndim == 1 else b.shape[-2]
    return count


def two_dimensional(function: str, name: str, value: Float32 | Array) -> None:
    """Raise ShapeError unless an operand is one matrix."""
    if value.ndim != 2:
        raise ShapeError(f"{function}: {name} must be two-dimensional, got shape {value.shape}; reshape it")


def square(function: str, name: str, value: NDArray[Any] | Array) -> None:
    """Raise ShapeError unless an operand is square, or a stack of square matrices."""
    if value.ndim < 2:
        raise ShapeError(f"{function}: {name} must be at least two-dimensional, got shape {value.shape}; reshape it")
    if value.shape[-1] != value.shape[-2]:
        raise ShapeError(f"{function}: the last two dimensions of {name} must be square, got shape {value.shape}")


def pair(function: str, value: Any, words: str) -> tuple[Any, Any]:
    """Unpack the first argument of a solution from factors, a pair; `words` name its parts in messages."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ShapeError(f"{function}: the first argument must be the pair {words}") from None
    return first, second


def beside_factors(function: str, name: str, factors: Any, b: Any) -> None:
    """Raise ShapeError unless factors are square, and b has as many rows."""
    square(function, name, factors)
    n = factors.shape[-1]
    if b.ndim == 0 or rows(b) != n:
        raise ShapeError(
            f"{function}: b must have shape ({n},) or (..., {n}, k) for {name} {factors.shape}, got {b.shape}"
        )


def refuse_nonfinite_largest(function: str, name: str, largest: Float32, which: str = "") -> None:
    """Raise if the largest entry of an Array, or of a matrix of a stack, says that it holds NaN or infinity."""
    if not np.isfinite(largest).all():
        raise not_finite(function, name, which)


def placed(function: str, result: Any, check_finite: bool, *operands: Any) -> Any:
    """Return a finite result where the operands are: one of the host goes to the device of an Array."""
    if isinstance(result, Array):
        return result
    finite_result(function, result, check_finite)
    devices = [one.device for one in operands if isinstance(one, Array)]
    return upload(result, devices[0]) if devices else result


def on_host(result: Any) -> Float32:
    """Return a result as an array of the host."""
    found: Float32 = result.numpy() if isinstance(result, Array) else result
    return found


def known_variant(function: str, operation: Operation, variant: Any) -> None:
    """Raise OptionError unless the operation has such a variant."""
    if variant is not None:
        one_of(f"{function}: variant", variant, operation.variants)


def as_float64(function: str, name: str, value: Any, check_finite: bool) -> NDArray[np.float64]:
    """Convert to float64 with the checks of `as_float32`, but without its rounding. Reads an Array back."""
    array = value.numpy() if isinstance(value, Array) else as_real(function, name, value)
    if check_finite:
        refuse_nonfinite(function, name, array)
    with np.errstate(over="ignore", under="ignore"):
        return array.astype(np.float64)


def turned(a: Any, copied: bool = False) -> Any:
    """See matrices transposed; an array of the host as a copy in C order, if that is asked for."""
    if isinstance(a, Array):
        return a.mT
    flipped = np.swapaxes(a, -1, -2)
    return np.ascontiguousarray(flipped) if copied else flipped


@contextmanager
def explained(function: str, a: Any) -> Iterator[None]:
    """Raise OutOfMemoryError again, with the shape of A and a remedy."""
    try:
        yield
    except OutOfMemoryError as error:
        clear_frames(error.__traceback__)  # whoever keeps the error must not keep the matrices
        raise OutOfMemoryError(
            f"{function}: A {a.shape} must fit the device's memory with its factors, only right-hand sides are cut "
            f"into blocks; raise its max_bytes, or release matrices ({error})"
        ) from None
