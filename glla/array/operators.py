"""Operators: functions of values on a device combined with numbers and arrays of the host.

The operators of a `glla.Array` and NumPy's universal functions end here. At least one operand is a value on a device;
the others are copied to that device.
"""

from __future__ import annotations

from typing import Any

from glla.array import arithmetic, comparisons
from glla.array.convert import dtype_of, promoted
from glla.array.value import Resident, as_resident
from glla.gl import Device
from glla.operations.linear.elementwise import FLOATS, SINGLE


def apply(name: str, *operands: Any) -> Resident:
    """Apply a function of one or two operands, or ``matmul``. Does not synchronise."""
    if name in SINGLE:
        return arithmetic.unary(name, operands[0])
    if name in comparisons.MIRRORED:
        return comparisons.compare(name, *operands)
    if name.startswith("logical"):  # the truth of a number of the host is that of the number before rounding
        operands = tuple(
            one if isinstance(one, Resident) else comparisons.host(name, letter, one).astype(bool)
            for letter, one in zip("AB", operands, strict=True)
        )
    left, right = beside_each_other(name, *operands)
    return arithmetic.product(name, left, right) if name == "matmul" else arithmetic.binary(name, left, right)


def beside_each_other(name: str, *operands: Any, device: Device | None = None) -> list[Resident]:
    """Copy operands to the device of the one that is a value; if none is, they keep the type that holds all.

    `device`: target device, if none of them is a value.
    """
    values = [one for one in operands if isinstance(one, Resident)]
    if len(values) == len(operands):
        return values
    letters = "ABC" if len(operands) <= 3 else [f"array {number}" for number in range(len(operands))]
    found = dict(zip(letters, operands, strict=False))
    types = [one.dtype for one in values]
    if not values or len(values) < len(operands) - 1:  # a single one has just values beside it
        types += [dtype_of(name, letter, one) for letter, one in found.items() if not isinstance(one, Resident)]
    beside = "float32" if name in FLOATS else promoted(*types)
    target = values[0].device if device is None else device
    return [as_resident(name, letter, one, target, beside) for letter, one in found.items()]
