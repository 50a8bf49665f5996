"""Storage of a slot of a plan: a texture, a linear buffer, or an array in the host's memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from glla.errors import PlanError
from glla.passes.layout import ELEMENT_BYTES, Layout, Packed, Shape, Wrapped


@dataclass(frozen=True)
class Storage:
    """A texture: texels high, texels wide, channels per texel (1, 2 or 4), and their type.

    >>> Storage(2, 3) == Storage(2, 3, layout=Packed((3, 5)))
    True
    """

    host: ClassVar[bool] = False
    buffer: ClassVar[bool] = False

    height: int
    width: int
    channels: int = 4
    dtype: str = field(default="float32", kw_only=True, repr=False)  # ("float32", "int32"): of each channel
    # which array is in it, and how. It says how to read the texels, and is no part of what the texture must be
    layout: Layout | None = field(default=None, kw_only=True, compare=False, repr=False)

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.height * self.width * self.channels * ELEMENT_BYTES

    @property
    def shape(self) -> Shape | None:
        """Rows and columns of the matrix that is in it packed, if one does."""
        return self.layout.shape if isinstance(self.layout, Packed) else None

    def __str__(self) -> str:
        return f"{self.height}x{self.width}x{self.channels}" + ("" if self.dtype == "float32" else f" {self.dtype}")


@dataclass(frozen=True)
class Buffer:
    """A linear buffer on the device."""

    host: ClassVar[bool] = False
    buffer: ClassVar[bool] = True

    nbytes: int  # its size
    # ("uniforms", "staging", "texels"): for uniform blocks; in memory that the host reaches as well, for transfers; or
    # for a ``samplerBuffer``, which fetches texels by their number
    use: Literal["uniforms", "staging", "texels"] = "uniforms"

    @staticmethod
    def of(storage: Storage, use: Literal["uniforms", "texels"] = "uniforms") -> Buffer:
        """Buffer that holds the rows of a texture, one after the other.

        >>> Buffer.of(Storage(2, 3))
        Buffer(nbytes=96, use='uniforms')
        """
        return Buffer(storage.nbytes, use)

    @property
    def texels(self) -> int:
        """Texels of four floats."""
        return self.nbytes // (4 * ELEMENT_BYTES)

    def __str__(self) -> str:
        return f"buffer of {self.nbytes} bytes"


@dataclass(frozen=True)
class HostArray:
    """An array in the host's memory: from NumPy, for NumPy, or internal.

    >>> str(HostArray((3, 4)))
    '3x4 of the host'
    """

    host: ClassVar[bool] = True
    buffer: ClassVar[bool] = False

    shape: tuple[int, ...]
    dtype: str = "float32"

    @property
    def size(self) -> int:
        """Elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.size * ELEMENT_BYTES

    def __str__(self) -> str:
        return f"{'x'.join(map(str, self.shape)) or 'number'} of the host"


Slot = Storage | Buffer | HostArray
"""What a slot of a plan must look like."""


def texture(slot: Slot) -> Storage:
    """Texture of a slot. Raises PlanError: it is a buffer, or is in the host's memory."""
    if not isinstance(slot, Storage):
        raise PlanError(f"plan: a slot must be a texture here, got {slot}")
    return slot


def wrapped(elements: int, texture_size: int, dtype: str = "float32") -> Storage:
    """Storage of elements one after the other, four to a texel, in rows of texels: about square.

    >>> wrapped(10, 16), wrapped(1000, 16).width
    (Storage(height=2, width=2, channels=4), 16)
    """
    texels = max(1, -(-elements // 4))
    width = min(math.isqrt(texels - 1) + 1, texture_size)
    channels = "float32" if dtype == "float32" else "int32"
    return Storage(-(-texels // width), width, dtype=channels, layout=Wrapped((elements,), dtype))


def matrix(shape: Shape) -> Storage:
    """Storage of a packed matrix; an empty side still takes one texel, because GL knows no empty texture.

    >>> matrix((3, 5))
    Storage(height=2, width=3, channels=4)
    """
    return Storage(max(1, (shape[0] + 1) // 2), max(1, (shape[1] + 1) // 2), layout=Packed(shape))
