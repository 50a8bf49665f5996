"""Resident: the value of a matrix on a device."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from glla.device import Device, Texture
from glla.errors import ShapeError
from glla.kernels import elementwise
from glla.kernels.elementwise import Lies
from glla.layout import Shape

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Resident:
    """A float32 matrix in a packed texture, or the transpose of what is in the texture.

    It never changes: no pass draws to a texture that holds a result. So a copy is another reference to the same
    texture, and whoever changes a matrix makes a new value and forgets the old one. The texture goes back to its pool
    with the last reference.

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

    def lies_over(self, shape: Shape) -> Lies:
        """How it lies over a result of this shape, to which it broadcasts."""
        rows, columns = (int(own == count) for own, count in zip(self.shape, shape, strict=True))
        return rows, columns, int(self.transposed)

    def numpy(self) -> Array:
        """Read it back as a C-contiguous array. Synchronises."""
        if self.stored is None:
            return np.empty(self.shape, dtype=np.float32)
        return self.device.download(self.settled().texture, self.shape)


def from_array(array: Array, device: Device) -> Resident:
    """Put a 2-D float32 array onto a device, unchecked."""
    shape = (array.shape[0], array.shape[1])
    return Resident(device, None if 0 in shape else device.upload(array), shape)


def from_scalar(value: float, device: Device) -> Resident:
    """Put one number onto a device, as a 1 x 1 matrix."""
    texel = np.zeros((1, 1, 4), dtype=np.float32)
    texel[0, 0, 0] = value
    return Resident(device, device.write_texels(texel), (1, 1))
