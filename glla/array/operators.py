"""Operators: functions of values on a device beside numbers and arrays of the host.

The operators of a `glla.Array` and NumPy's universal functions end here. At least one operand is a value on a device;
the others are put onto that device.
"""

from __future__ import annotations

from typing import Any

from glla.array import arithmetic
from glla.array.value import Resident, as_resident
from glla.operations.wrapped.elementwise import SINGLE
from glla.registry import overrides


def brings_operators(operand: Any) -> bool:
    """Whether an operand's own operators come first: a pending result, or a class that opts out of NumPy's (NEP 13)."""
    return overrides(operand) is not None or getattr(type(operand), "__array_ufunc__", ...) is None


def apply(name: str, *operands: Any) -> Resident:
    """Apply a function of one or two operands, or ``matmul``. Does not synchronise."""
    if name in SINGLE:
        return arithmetic.unary(name, operands[0])
    left, right = beside_each_other(name, *operands)
    return arithmetic.product(name, left, right) if name == "matmul" else arithmetic.binary(name, left, right)


def beside_each_other(name: str, *operands: Any) -> list[Resident]:
    """Put operands onto the device of the one that is a value; numbers of the host take its type where they can."""
    values = [one for one in operands if isinstance(one, Resident)]
    if len(values) == len(operands):
        return values
    dtype = arithmetic.promoted(*(value.dtype for value in values))
    letters = "ABC" if len(operands) <= 3 else [f"array {number}" for number in range(len(operands))]
    return [
        as_resident(name, letter, one, values[0].device, dtype) for letter, one in zip(letters, operands, strict=False)
    ]
