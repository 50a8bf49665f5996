"""Resident: the value of a matrix on a device.

A `glla.Matrix` can be changed (``A += B``), a Resident never changes. A Matrix holds one at a time and gets a new one
when it changes. So functions of values need no copies, and whoever holds a value keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from glla.array.convert import Array, as_float32
from glla.errors import ShapeError
from glla.gl import Device, Texture
from glla.operations import elementwise
from glla.operations.elementwise import Placement
from glla.passes import Form
from glla.passes.layout import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Resident:
    """A float32 matrix in a packed texture, or the transpose of the matrix in the texture.

    It never changes: no pass draws to a texture that holds a result. So a copy is another reference to the same
    texture. The texture goes back to its pool with the last reference.

    Attributes
    ----------
    device : Device
        Where it lives.
    stored : Texture or None
        Packed storage; None for an empty matrix.
    shape : tuple of int
        Rows and columns.
    transposed : bool
        The texture holds the transpose.
    """

    device: Device
    stored: Texture | None
    shape: Shape
    transposed: bool = False

    @property
    def form(self) -> Form:
        """What is known of it without its values."""
        return _form(self.shape, self.transposed)

    @property
    def transpose(self) -> Resident:
        """Its transpose, in the same texture."""
        return replace(self, shape=(self.shape[1], self.shape[0]), transposed=not self.transposed)

    @property
    def texture(self) -> Texture:
        """Packed storage, for passes that may take a transpose or not."""
        if self.stored is None:
            raise ShapeError(f"Matrix: an empty matrix has no texture, got shape {self.shape}")
        return self.stored

    def settled(self) -> Resident:
        """Itself, or, if its texture holds the transpose, the same matrix written out by one pass."""
        if not self.transposed or self.stored is None:
            return self
        plan = elementwise.unary(self.shape, "positive", (1, 1, 1))
        return Resident(self.device, self.device.run(plan, A=self.texture)["result"], self.shape)

    def placement_over(self, shape: Shape) -> Placement:
        """Its placement over a result of this shape, to which it broadcasts."""
        rows, columns = (int(own == count) for own, count in zip(self.shape, shape, strict=True))
        return rows, columns, int(self.transposed)

    def numpy(self) -> Array:
        """Read it back as a C-contiguous array. Synchronises."""
        if self.stored is None:
            return np.empty(self.shape, dtype=np.float32)
        return self.device.download(self.settled().texture, self.shape)


@lru_cache(maxsize=1024)
def _form(shape: Shape, transposed: bool) -> Form:
    """Make a form, or find the one made before: every product asks for two, and a plan is found faster by the same."""
    return Form(shape, resident=True, transposed=transposed)


def from_array(array: Array, device: Device) -> Resident:
    """Put a 2-D float32 array onto a device, unchecked."""
    shape = (array.shape[0], array.shape[1])
    return Resident(device, None if 0 in shape else device.upload(array), shape)


def from_scalar(value: float, device: Device) -> Resident:
    """Put one number onto a device, as a 1 x 1 matrix."""
    texel = np.zeros((1, 1, 4), dtype=np.float32)
    texel[0, 0, 0] = value
    return Resident(device, device.write_texels(texel), (1, 1))


def as_resident(
    function: str, name: str, operand: Any, device: Device, check_finite: bool = True, column: bool = False
) -> Resident:
    """Put an operand of an operator onto the device; a 1-D array as a row, or as a column. A value stays as it is."""
    if isinstance(operand, Resident):
        return operand
    array = as_float32(function, name, _float_if_int(operand), check_finite)
    if array.ndim == 0:
        return from_scalar(float(array), device)
    if array.ndim > 2:
        raise ShapeError(f"{function}: {name} must have two dimensions at most, got shape {array.shape}; reshape it")
    if array.ndim == 1:
        array = array[:, np.newaxis] if column else array[np.newaxis]
    return from_array(array, device)


def _float_if_int(value: Any) -> Any:
    """Convert a Python int to the nearest float, because NumPy makes objects of large ones."""
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        return value
