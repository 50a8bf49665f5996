"""Resident: the value of an array on a device.

A `glla.Array` can be changed (``A += B``), a Resident never changes. An Array refers to one at a time, and to a new one
when it changes. So functions of values need no copies.

A value has one of two layouts (see `glla.passes.layout`):

packed     a float32 matrix that fits a texture, four elements of a 2 x 2 block to a texel; or its transpose
linear     everything else, four elements in C order to a texel; and any strided view of such a texture
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.convert import LARGEST, as_dtype, as_real, dtype_of, promoted
from glla.errors import ShapeError
from glla.gl import Device, Texture
from glla.operations import elementwise
from glla.operations.elementwise import Placement
from glla.operations.linear import move
from glla.operations.linear.view import View
from glla.passes import Form, Layout, Packed, Plan
from glla.passes.layout import Shape as MatrixShape

Shape = tuple[int, ...]
"""Lengths of the dimensions of an array."""


@dataclass(frozen=True, slots=True, eq=False)
class Resident:
    """An array on a device.

    It never changes: no pass draws to a texture that holds a result. So a copy is another reference to the same
    texture, which returns to its pool with the last reference.
    """

    device: Device  # the device of its memory
    stored: Texture | None  # texture of its elements; None if it has none
    shape: Shape  # lengths of its dimensions
    transposed: bool = False  # the layout is packed, and the texture holds the transpose
    # selection of its elements in the texture, if the layout is linear; None for a packed matrix
    view: View | None = None

    @staticmethod
    def of_texture(device: Device, texture: Texture, layout: Layout) -> Resident:
        """Value in a texture with this layout."""
        if isinstance(layout, Packed):
            return Resident(device, None if 0 in layout.shape else texture, layout.shape)
        return Resident.wrapped(device, None if 0 in layout.shape else texture, layout.shape, layout.dtype)

    @staticmethod
    def wrapped(device: Device, texture: Texture | None, shape: Sequence[int], dtype: str) -> Resident:
        """Value that is the whole of a linear texture."""
        return Resident(device, texture, tuple(shape), view=View.of(tuple(shape), dtype))

    # -- what it is -------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> str:
        """Type of the elements: float32, int32 or bool."""
        return "float32" if self.view is None else self.view.dtype

    @property
    def packed(self) -> bool:
        """Whether the layout is packed."""
        return self.view is None

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def matrix(self) -> MatrixShape:
        """Rows and columns of a matrix."""
        rows, columns = self.shape
        return rows, columns

    @property
    def form(self) -> Form:
        """Its shape, dtype and layout: all that a plan may depend on."""
        return _form(self.shape, self.transposed, self.dtype, self.view)

    @property
    def texture(self) -> Texture:
        """Texture of its elements, for passes that read its layout."""
        if self.stored is None:
            raise ShapeError(f"Array: an empty array has no texture, got shape {self.shape}")
        return self.stored

    # -- other views of the same texture ---------------------------------------------------------------------------

    @property
    def transpose(self) -> Resident:
        """Its transpose, in the same texture: all dimensions in the opposite order."""
        if self.view is not None:
            return self.seen(self.view.permute(tuple(reversed(range(self.ndim)))))
        return replace(self, shape=self.shape[::-1], transposed=not self.transposed)

    def seen(self, view: View) -> Resident:
        """The same texture through another view."""
        return replace(self, shape=view.shape, view=view)

    def placement_over(self, shape: Shape) -> Placement:
        """Placement of a packed matrix over a result of this shape, to which it broadcasts."""
        rows, columns = (int(own == count) for own, count in zip(self.shape, shape, strict=True))
        return rows, columns, int(self.transposed)

    def settled(self) -> Resident:
        """Itself, or, if its packed texture holds the transpose, the matrix written out by one pass."""
        if not self.transposed or self.stored is None:
            return self
        plan = elementwise.unary(self.matrix, "positive", (1, 1, 1))
        return run(self.device, plan, A=self)["result"]

    def numpy(self) -> NDArray[Any]:
        """Read back as a C-contiguous array. Synchronises."""
        if self.stored is None:
            return np.empty(self.shape, dtype=self.dtype)
        if self.view is None:
            return self.device.download(self.settled().texture, self.matrix)
        texture = self.texture
        if not self.view.whole:
            texture = self.device.run(move.copy(self.view, self.device.limits.texture_size), A=texture)["result"]
        elements = self.device.read(texture).reshape(-1)[: self.size].reshape(self.shape)
        return elements.astype(self.dtype, copy=False)


@lru_cache(maxsize=1024)
def _form(shape: Shape, transposed: bool, dtype: str, view: View | None) -> Form:
    """Make a form, cached: every product needs two, and a plan is found faster by the same object."""
    return Form(shape, resident=True, transposed=transposed, dtype=dtype, view=view)


def run(device: Device, plan: Plan, **operands: Resident) -> dict[str, Resident]:
    """Run a plan on values. Does not synchronise.

    The results that are arrays.
    `device`: the values' device. `plan`: all its operands, and its requested results, are textures with a layout.
    `operands`: in the layouts of their slots: a transpose as it is stored.
    """
    found = device.run(plan, **{name: value.texture for name, value in operands.items()})
    return {name: Resident.of_texture(device, found[name], layout) for name, layout in plan.layouts.items()}


# -- from the host ----------------------------------------------------------------------------------------------------


def packs(shape: Shape, dtype: str, device: Device) -> bool:
    """Whether an array is packed: a float32 matrix that fits a texture, two by two."""
    return len(shape) == 2 and dtype == "float32" and max(shape) <= 2 * device.limits.texture_size


def from_array(array: NDArray[Any], device: Device) -> Resident:
    """Copy an array of float32, int32 or bool to a device, unchecked."""
    shape, dtype = array.shape, array.dtype.name
    if packs(shape, dtype, device):
        return Resident(device, device.upload(array) if array.size else None, shape)
    if not array.size:
        return Resident.wrapped(device, None, shape, dtype)
    storage = View.of(shape, dtype).storage(device.limits.texture_size)
    texels = np.zeros(storage.height * storage.width * 4, dtype=storage.dtype)
    texels[: array.size].reshape(shape)[...] = array
    return Resident.wrapped(device, device.write_texels(texels.reshape(storage.height, storage.width, 4)), shape, dtype)


def from_scalar(value: float, device: Device) -> Resident:
    """Copy one number to a device, as an array without dimensions."""
    texel = np.zeros((1, 1, 4), dtype=np.float32)
    texel[0, 0, 0] = value
    return Resident(device, device.write_texels(texel), (), view=NUMBER)


NUMBER = View.of(())
"""View of a float32 number in the linear layout."""


def as_resident(function: str, name: str, operand: Any, device: Device, beside: str = "float32") -> Resident:
    """Copy an operand of an operator to the device; a value stays as it is. NaN and infinity are accepted.

    A value of the host keeps the type that holds it and the other operands: integers with integers stay integers.

    `beside`: type of the other operands.
    Raises DTypeError, NonFiniteError: see `glla.array.convert.as_dtype`.
    """
    if isinstance(operand, Resident):
        return operand
    if type(operand) in (int, float) and beside == "float32" and abs(operand) <= LARGEST:
        return from_scalar(operand, device)
    host = operand if type(operand) is int else as_real(function, name, operand)
    return from_array(as_dtype(function, name, host, promoted(beside, dtype_of(function, name, host))), device)
