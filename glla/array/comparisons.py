"""Exact comparisons of int32 with floats, and with integers of the host outside int32.

float32 does not hold every int32, so neither operand may be rounded to the type of the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import layouts
from glla.array.arithmetic import binary, same_device, unary, where
from glla.array.convert import as_real, float32_of, promoted
from glla.array.value import Resident, as_resident, from_array, from_scalar
from glla.errors import ShapeError, real
from glla.gl import Device
from glla.operations.linear import order
from glla.operations.linear.view import View
from glla.passes import Plan

MIRRORED = {
    "less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal",
    "equal": "equal", "not_equal": "not_equal",
}  # fmt: skip
"""Comparisons, each with its equivalent for exchanged operands."""

UP = frozenset(("less", "greater_equal"))
"""Comparisons of an integer with a number that are the same with the number rounded up."""

LEAST, PAST = np.float64(-(2**31)), np.float64(2**31)
"""The least int32, and the integer above the largest; of a wide type, so that narrow types are compared in it."""


def host(function: str, name: str, value: Any) -> NDArray[Any]:
    """Convert a value of the host exactly; a Python int beyond 64 bits to the nearest float, or infinity.

    >>> host("doc", "a", 10**400)
    array(inf)
    """
    if type(value) is int and not -(2**63) <= value < 2**64:
        value = real(function, name, value)
    return as_real(function, name, value)


def compare(name: str, a: Any, b: Any) -> Resident:
    """Compare two operands, one of them a value on a device. With float32, numbers of the host are rounded to it.

    `name`: a key of `MIRRORED`.
    """
    if isinstance(a, Resident) and isinstance(b, Resident):
        mixed = {a.dtype, b.dtype} == {"int32", "float32"}
        return binary(name, difference(name, a, b), from_scalar(0, a.device)) if mixed else binary(name, a, b)
    if isinstance(a, Resident):
        return _beside_host(name, a, host(name, "B", b))
    return _beside_host(MIRRORED[name], b, host(name, "A", a))


def _beside_host(name: str, a: Resident, b: NDArray[Any]) -> Resident:
    if a.dtype == "float32":
        return binary(name, a, as_resident(name, "B", float32_of(b), a.device))
    if a.dtype == "bool" and b.dtype.kind == "b":
        return binary(name, a, from_array(b, a.device))
    whole, fits = _whole(name in UP, b)
    if name in ("equal", "not_equal"):
        fits = fits & (whole == b)
    found = binary(name, a, from_array(_as_int32(whole, fits), a.device))
    if np.all(fits):
        return found
    everywhere = np.asarray(getattr(np, name)(0, b))  # a number outside int32 compares alike with all of them
    return where(from_array(np.asarray(fits), a.device), found, from_array(everywhere, a.device))


def _whole(up: bool, b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Round numbers of the host to integers, with a mask of those that are int32; NaN is not."""
    with np.errstate(invalid="ignore"):  # float16's NaN
        whole = b if b.dtype.kind in "biu" else np.ceil(b) if up else np.floor(b)
    return whole, (whole >= LEAST) & (whole < PAST)


def _as_int32(whole: NDArray[Any], fits: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.where(fits, whole, 0).astype(np.int32)


# -- differences ------------------------------------------------------------------------------------------------------


def distance(function: str, a: Any, b: Any) -> tuple[Resident, Resident]:
    """Magnitudes of a - b and of b, in float32; see `difference`."""
    beside = a if isinstance(a, Resident) else b
    size, _ = _parts(function, "B", b, beside)
    return unary("absolute", difference(function, a, b)), unary("absolute", size)


def difference(function: str, a: Any, b: Any) -> Resident:
    """Subtract in float32; for int32 with the remainder of its rounding: the sign is exact, and so is zero.

    One of the operands is a value on a device; with float32, a number of the host is rounded to it.
    """
    beside = a if isinstance(a, Resident) else b
    (left, rest), (right, other) = (_parts(function, name, one, beside) for name, one in (("A", a), ("B", b)))
    result = binary("subtract", left, right)
    result = result if rest is None else binary("add", result, rest)
    return result if other is None else binary("subtract", result, other)


def _parts(function: str, name: str, a: Any, beside: Resident) -> tuple[Resident, Resident | None]:
    """Return the nearest float32, and the remainder, which float32 holds; None for no remainder."""
    if isinstance(a, Resident):
        near = layouts.as_type(a, "float32")
        if a.dtype != "int32":
            return near, None
        rest = binary("subtract", a, layouts.as_type(near, "int32"))  # 2^31 becomes -2^31: both wrap around
        return near, layouts.as_type(rest, "float32")
    if beside.dtype == "float32":
        return as_resident(function, name, a, beside.device), None
    number = host(function, name, a)
    close = float32_of(number)
    rounded = np.where(np.isfinite(close), close, 0).astype(np.float64)
    left = float32_of(np.where(np.isfinite(close), number, 0) - rounded)
    return from_array(close, beside.device), from_array(left, beside.device) if left.any() else None


# -- indices ----------------------------------------------------------------------------------------------------------


def search(line: Any, numbers: Any, right: bool) -> Resident:
    """Insertion indices of numbers in a sorted vector, before or behind equal elements; int32.

    One of both is a value on a device; with float32, numbers of the host are rounded to it.
    """
    if not isinstance(line, Resident):
        return _in_host(host("searchsorted", "A", line), numbers, right)
    if line.dtype == "float32":
        numbers = as_resident("searchsorted", "B", numbers, line.device, line.dtype)
    if isinstance(numbers, Resident) and (line.dtype == "float32") == (numbers.dtype == "float32"):
        return _search(line, numbers, right)
    if line.dtype == "float32":
        near, rest = _parts("searchsorted", "B", numbers, line)
        before, behind = (_search(line, near, side) for side in (False, True))
        if rest is None:
            return behind if right else before
        zero = from_scalar(0, line.device)  # there is no float32 between an int32 and the nearest float32
        if right:
            return where(binary("less", rest, zero), before, behind)
        return where(binary("greater", rest, zero), behind, before)
    near, fits, below = _whole_numbers(numbers, not right, line.device)
    first, last = (from_array(np.asarray(place, dtype=np.int32), line.device) for place in (0, line.size))
    return where(fits, _search(line, near, right), where(below, first, last))


def _whole_numbers(numbers: Any, up: bool, device: Device) -> tuple[Resident, Resident, Resident]:
    """Round numbers to int32; with masks of those outside it, and below it: NaN counts as above."""
    if not isinstance(numbers, Resident):
        exact = host("searchsorted", "B", numbers)
        whole, fits = _whole(up, exact)
        made = _as_int32(whole, fits), np.asarray(fits), np.asarray(exact < 0)
        return from_array(made[0], device), from_array(made[1], device), from_array(made[2], device)
    rounded = unary("ceil" if up else "floor", numbers)
    least, past, zero = (from_scalar(float(one), device) for one in (LEAST, PAST, 0))
    inside = binary("logical_and", binary("greater_equal", rounded, least), binary("less", rounded, past))
    return layouts.as_type(rounded, "int32"), inside, binary("less", numbers, zero)


def _in_host(line: NDArray[Any], numbers: Resident, right: bool) -> Resident:
    """Search a vector of the host without its elements outside int32, which are at both ends."""
    if numbers.dtype == "float32" or line.ndim != 1:
        return _search(as_resident("searchsorted", "A", line, numbers.device), numbers, right)
    whole, fits = _whole(right, line)
    found = _search(from_array(whole[fits].astype(np.int32), numbers.device), numbers, right)
    before = np.asarray(np.count_nonzero(whole < LEAST), dtype=np.int32)
    return binary("add", found, from_array(before, numbers.device)) if before else found


def _search(line: Resident, numbers: Resident, right: bool) -> Resident:
    if line.ndim != 1:
        raise ShapeError(f"searchsorted: the sorted array must be a vector, got shape {line.shape}")
    same_device("searchsorted", line, numbers)
    if not line.size or not numbers.size:
        return from_array(np.zeros(numbers.shape, dtype=np.int32), line.device)
    dtype = promoted(line.dtype, numbers.dtype)
    held, sought = (layouts.as_type(one, dtype) for one in (line, numbers))

    def plan(seen: View, places: View, size: int) -> Plan:
        return order.searchsorted(seen, places, right, size)

    return layouts.computed(plan, numbers.shape, "int32", H=held, A=sought)
