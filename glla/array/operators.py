"""Operators: functions of values on a device beside numbers and arrays of the host.

The operators of a `glla.Matrix` and NumPy's universal functions end here. At least one operand is a value on a device;
the others are put onto that device.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import arithmetic
from glla.array.convert import as_float32, finite_result
from glla.array.value import Resident, as_resident, from_array
from glla.errors import ShapeError
from glla.gl import Device
from glla.operations.elementwise import TRUTHS, UNARY
from glla.registry import overrides

Result = Resident | NDArray[Any]
"""A value on the device, or an array of the host: bool from comparisons, a vector from a product with a vector."""


def brings_operators(operand: Any) -> bool:
    """Whether an operand's own operators come first: a pending result, or a class that opts out of NumPy's (NEP 13)."""
    return overrides(operand) is not None or getattr(type(operand), "__array_ufunc__", ...) is None


def apply(name: str, *operands: Any) -> Result:
    """Apply a function of `glla.operations.elementwise`, or ``matmul``. Synchronises if the result is on the host."""
    if name == "matmul":
        return _product(*operands)
    result = arithmetic.unary(name, operands[0]) if name in UNARY else _binary(name, *operands)
    return result.numpy() != 0 if name in TRUTHS else result


def _binary(name: str, a: Any, b: Any) -> Resident:
    device = _device_of(a, b)
    check_finite = name not in TRUTHS  # to compare with infinity makes sense
    left = as_resident(name, "A", a, device, check_finite)
    return arithmetic.binary(name, left, as_resident(name, "B", b, device, check_finite))


def _product(a: Any, b: Any) -> Result:
    """Multiply; beside a vector the result is a vector, on the host."""
    device = _device_of(a, b)
    (left, row), (right, column) = _factor("A", a, device), _factor("B", b, device, column=True)
    result = arithmetic.product("matmul", left, right)
    return finite_result("matmul", result.numpy().reshape(-1), check_finite=True) if row or column else result


def _factor(name: str, operand: Any, device: Device, column: bool = False) -> tuple[Resident, bool]:
    """Put an operand of a product onto the device, a vector as a row or as a column; and say whether it is a vector."""
    if isinstance(operand, Resident):
        return operand, False
    array = as_float32("matmul", name, operand)
    if array.ndim not in (1, 2):
        raise ShapeError(f"matmul: {name} must be two-dimensional, got shape {array.shape}; reshape it")
    if array.ndim == 2:
        return from_array(array, device), False
    return from_array(array[:, np.newaxis] if column else array[np.newaxis], device), True


def _device_of(a: Any, b: Any) -> Device:
    device: Device = (a if isinstance(a, Resident) else b).device
    return device
