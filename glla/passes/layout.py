"""Layout of a matrix in the texels of a texture.

The packed layout puts a 2x2 block of elements into the four channels of one texel. An m x n matrix
takes ceil(m/2) x ceil(n/2) texels; here a 3 x 5 one, with its texels and, at the right, one of them:

            j=0   1     2   3     4
          +---------+---------+---------+
    i=0   | a00 a01 | a02 a03 | a04  .  |        +-----------+
      1   | a10 a11 | a12 a13 | a14  .  |        |  r  |  g  |    r = a[2y, 2x]     g = a[2y, 2x+1]
          +---------+---------+---------+        |-----+-----|
      2   | a20 a21 | a22 a23 | a24  .  |        |  b  |  a  |    b = a[2y+1, 2x]   a = a[2y+1, 2x+1]
          |  .   .  |  .   .  |  .   .  |        +-----------+
          +---------+---------+---------+          texel (x, y)

The dots are padding. It is always zero: a pass that writes a packed matrix writes zeros there, whatever
it computed, so that no padding ever reaches a result (a NaN in the padding of C would reach D in C @ D,
because NaN * 0 is NaN). x counts columns of texels and y rows, with row 0 of the matrix at y = 0.

A stack of small matrices is packed and interleaved: texels (x, y) of all of them are adjacent, in a block of cells,
one for each matrix (a picture is in ``shaders/lib/packed.glsl``). A pass that draws a rectangle of texels then draws
it in every matrix, and a stack of one is the packed layout itself.

The raw layout has one element per texel, in one channel, as NumPy's C order has it. It is what travels to
and from the host: packing and unpacking are render passes (`glla.operations.layouts.packing`).
"""

from __future__ import annotations

from dataclasses import dataclass

Shape = tuple[int, int]
"""Rows and columns of a matrix."""

ELEMENT_BYTES = 4
"""A float32."""


def texels(count: int) -> int:
    """Texels along one side of a packed matrix that has `count` rows (or columns).

    >>> texels(4), texels(5)
    (2, 3)
    """
    return (count + 1) // 2


def packed(shape: Shape) -> Shape:
    """Height and width, in texels, of a packed matrix.

    >>> packed((3, 5))
    (2, 3)
    """
    return texels(shape[0]), texels(shape[1])


@dataclass(frozen=True)
class Packed:
    """Packed layout of a float32 matrix."""

    shape: Shape
    dtype: str = "float32"


@dataclass(frozen=True)
class Wrapped:
    """Linear layout of an array; bool as 0 or 1."""

    shape: tuple[int, ...]
    dtype: str = "float32"


Layout = Packed | Wrapped
"""Layout of an array in a texture, and which one."""
