"""Operands of users' plans: numbers and arrays, copied to a device in the layout of a slot."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array import layouts
from glla.array.array import value_of
from glla.array.convert import as_float32, as_real
from glla.array.value import Resident, from_array
from glla.errors import DTypeError, ShapeError
from glla.gl import Device, Texture
from glla.passes import Packed, Storage

LARGEST_INT = np.iinfo(np.int32)


def as_slot(
    function: str, name: str, value: Any, slot: Storage, device: Device, check_finite: bool = False, place: str = ""
) -> Texture:
    """Copy an operand to a device in the layout of its slot; an empty one is a texel of zeros.

    For a packed slot a number is a 1 x 1 matrix, a vector a column. A linear slot takes an array of any shape with as
    many elements.

    `place`: for messages: where the slot's type is declared, by default this plan.
    Raises ShapeError, DTypeError: its shape or type differs from the slot's.
    """
    layout = slot.layout
    assert layout is not None
    found = _on_device(function, name, value_of(value), layout.dtype, device, check_finite, place or "for this plan")
    if isinstance(layout, Packed):
        matrix = found if found.ndim >= 2 else layouts.reshaped(found, (found.size, 1))
        if matrix.shape != layout.shape:
            raise ShapeError(f"{function}: {name} must have shape {layout.shape} for this plan, got {found.shape}")
        settled = layouts.packed(function, matrix).settled()
    elif found.size != prod(layout.shape):
        raise ShapeError(f"{function}: {name} must have {prod(layout.shape)} elements for this plan, got {found.shape}")
    else:
        settled = layouts.whole(found)
    return empty(slot, device) if settled.stored is None else settled.stored


def empty(slot: Storage, device: Device) -> Texture:
    """Texture of an empty array, one texel of zeros: GL has no empty texture."""
    return device.write_texels(np.zeros((slot.height, slot.width, slot.channels), dtype=slot.dtype))


def as_int32(function: str, name: str, value: Any, place: str = "for this plan") -> NDArray[Any]:
    """Convert an array_like of integers that fit int32, or of bool; nothing is rounded.

    >>> as_int32("doc", "a", [True, False]).dtype
    dtype('int32')
    """
    array = as_real(function, name, value)
    if array.size == 0 and not hasattr(value, "dtype"):
        array = array.astype(np.int32)  # NumPy makes floats of an empty list
    fits = array.dtype.kind in "biu" and (
        array.size == 0 or (array.min() >= LARGEST_INT.min and array.max() <= LARGEST_INT.max)
    )
    if not fits:
        raise DTypeError(f"{function}: {name} must be integers that fit int32 {place}, got dtype {array.dtype}")
    return array.astype(np.int32)


def _on_device(
    function: str, name: str, value: Any, dtype: str, device: Device, check_finite: bool, place: str
) -> Resident:
    if not isinstance(value, Resident):
        value = from_array(_array(function, name, value, dtype, check_finite, place), device)
    if value.dtype != dtype and not (dtype == "int32" and value.dtype == "bool"):
        raise DTypeError(f"{function}: {name} must be {dtype} {place}, got {value.dtype}; use astype")
    return layouts.as_type(value, dtype)


def _array(function: str, name: str, value: Any, dtype: str, check_finite: bool, place: str) -> NDArray[Any]:
    if dtype == "float32":
        return as_float32(function, name, value, check_finite)
    if dtype == "int32":
        return as_int32(function, name, value, place)
    array = as_real(function, name, value)
    if array.dtype != bool:
        raise DTypeError(f"{function}: {name} must be {dtype} {place}, got {array.dtype}; use astype")
    return array
