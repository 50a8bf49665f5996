"""What a slot of a plan must look like: a texture, a linear buffer, or an array in the host's memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from glla.passes.layout import ELEMENT_BYTES, Shape


@dataclass(frozen=True)
class Storage:
    """What a texture must look like: texels high, texels wide, float32 channels per texel (1, 2 or 4).

    With `buffer` it is a linear buffer that holds the rows of such a texture one after the other, for uniform blocks;
    with `staging` too, one in memory that the host reaches as well, for transfers. With `host` it is no texture at all
    but an array in the host's memory.
    `shape`, rows and columns of the matrix that lies in it packed, is for those who look at it, and no part of what
    the texture must be.
    """

    height: int
    width: int
    channels: int = 4
    buffer: bool = False
    shape: Shape | None = field(default=None, compare=False, repr=False)
    staging: bool = field(default=False, repr=False)
    host: bool = field(default=False, repr=False)

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return self.height * self.width * self.channels * ELEMENT_BYTES

    def __str__(self) -> str:
        if self.host:
            return f"{self.height}x{self.width} of the host"
        return f"{self.height}x{self.width}x{self.channels}" + (" buffer" if self.buffer else "")


def host(shape: tuple[int, ...]) -> Storage:
    """Storage of an array in the host's memory: what comes in from NumPy, goes out to it, or stays there.

    >>> str(host((3, 4)))
    '3x4 of the host'
    """
    rows, columns = (*shape, 1, 1)[:2] if len(shape) < 3 else (math.prod(shape[:-1]), shape[-1])
    return Storage(rows, columns, 1, host=True)


def matrix(shape: Shape) -> Storage:
    """Storage of a packed matrix; an empty side still takes one texel, because GL knows no empty texture.

    >>> matrix((3, 5))
    Storage(height=2, width=3, channels=4, buffer=False)
    """
    return Storage(max(1, (shape[0] + 1) // 2), max(1, (shape[1] + 1) // 2), shape=shape)
