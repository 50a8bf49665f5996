"""Conversion between the raw layout, of transfers, and the packed one, of computations.

A matrix up to twice the texture limit on a side fits packed, but its raw form, one element per texel, may not: it is
then transferred in tiles, see `tiles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt, prod

import numpy as np

from glla.operations.record import Float32
from glla.passes import Draft, Plan, Region, Storage, Uniform, matrix, single_pass
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, packed, texels

Tile = tuple[int, int, int, int]
"""First row, first column, rows and columns of a part of a matrix; the first two are even."""


PIECE = 1 << 24
"""Elements that pass through a staging buffer at once, 64 MiB: the host fills one while the GPU copies the other."""


def tiles(shape: Shape, texture_size: int) -> Iterator[Tile]:
    """Cut a matrix into tiles whose raw form a texture can hold.

    >>> list(tiles((3, 9), 4))
    [(0, 0, 3, 4), (0, 4, 3, 4), (0, 8, 3, 1)]
    """
    side = texture_size - texture_size % 2
    for top in range(0, shape[0], side):
        for left in range(0, shape[1], side):
            yield top, left, min(side, shape[0] - top), min(side, shape[1] - left)


def packed_by_host(a: Float32) -> Float32:
    """Texels of a packed matrix.

    >>> packed_by_host(np.arange(6, dtype=np.float32).reshape(2, 3))
    array([[[0., 1., 3., 4.],
            [2., 0., 5., 0.]]], dtype=float32)
    """
    result = np.zeros((*packed((a.shape[0], a.shape[1])), 4), dtype=np.float32)
    for channel, part in enumerate((a[::2, ::2], a[::2, 1::2], a[1::2, ::2], a[1::2, 1::2])):
        result[: part.shape[0], : part.shape[1], channel] = part
    return result


def unpacked_by_host(texels: Float32, shape: Shape) -> Float32:
    """Matrix of this shape out of its texels."""
    result = np.empty(shape, dtype=texels.dtype)
    for channel, part in enumerate((result[::2, ::2], result[::2, 1::2], result[1::2, ::2], result[1::2, 1::2])):
        part[...] = texels[: part.shape[0], : part.shape[1], channel]
    return result


@cached_plan
def pack(shape: Shape, transposed: bool = False, side: int | None = None) -> Plan:
    """Plan that packs a raw matrix, ``raw``; or its `tiles` of this side, ``raw_0``, ``raw_1``, ... in their order."""
    cut = [(0, 0, *shape)] if side is None else [*tiles(shape, side)]
    draft = Draft("pack")
    packed = draft.slot("packed", matrix(shape))
    for number, (top, left, rows, columns) in enumerate(cut):
        storage = Storage(columns, rows, 1) if transposed else Storage(rows, columns, 1)
        raw = draft.operand("raw" if side is None else f"raw_{number}", storage)
        place = Region(left // 2, top // 2, texels(columns), texels(rows))
        uniforms: dict[str, Uniform] = {"corner": (top, left), "shape": shape}
        draft.draw("packing/pack", {"raw": raw}, packed, uniforms, {"TRANSPOSED": int(transposed)}, place)
    return draft.plan({"packed": packed})


def piece_side(shape: Shape, texture_size: int) -> int:
    """Largest side of the pieces in which a matrix passes through staging buffers: see `PIECE`."""
    return min(texture_size, isqrt(PIECE)) if prod(shape) > PIECE else texture_size


def in_tiles(shape: Shape, side: int, transposed: bool = False) -> tuple[list[Tile], Plan]:
    """Tiles in which a matrix travels, and the plan that packs them, with its operands in this order.

    >>> in_tiles((3, 9), 4)[0] == [*tiles((3, 9), 4)], [*in_tiles((3, 4), 4)[1].operands]
    (True, ['raw'])
    """
    cut = [*tiles(shape, side)]
    return cut, pack(shape, transposed, None if len(cut) == 1 else side)


@cached_plan
def unpack(shape: Shape, tile: Tile) -> Plan:
    """Plan that unpacks one tile of a packed matrix."""
    top, left, rows, columns = tile
    draft = Draft("unpack")
    packed = draft.operand("packed", matrix(shape))
    raw = draft.slot("raw", Storage(rows, columns, 1))
    draft.draw("packing/unpack", {"packed_matrix": packed}, raw, {"corner": (top, left)})
    return draft.plan({"raw": raw})


def to_lanes(draft: Draft, source: str, target: str, shape: Shape, rows: int, columns: int) -> None:
    """Add the pass from the packed layout to `rows` x `columns` elements in a texel: 1 x 1, 4 x 1 or 1 x 4."""
    if rows == columns:
        draft.draw("packing/unpack", {"packed_matrix": source}, target, {"corner": (0, 0)})
    else:
        draft.draw("packing/to_quads", {"M": source}, target, {"size": packed(shape)}, {"ACROSS": int(columns > 1)})


def from_lanes(draft: Draft, source: str, target: str, shape: Shape, rows: int, columns: int) -> None:
    """Add the way back."""
    if rows == columns:
        draft.draw("packing/pack", {"raw": source}, target, {"corner": (0, 0), "shape": shape}, {"TRANSPOSED": 0})
    else:
        draft.draw("packing/from_quads", {"quads": source}, target, {"shape": shape}, {"ACROSS": int(columns > 1)})


@cached_plan
def identity(shape: Shape) -> Plan:
    """Plan that writes an identity matrix."""
    return single_pass("identity", "packing/identity", {}, {"I": matrix(shape)}, {"shape": shape})


@cached_plan
def mirrored(n: int, lower: bool = True) -> Plan:
    """Plan of the symmetric matrix of a triangle: operand ``A``, result ``M``. One pass."""
    given, made = {"A": matrix((n, n))}, {"M": matrix((n, n))}
    return single_pass("mirrored", "packing/mirror", given, made, defines={"UPPER": int(not lower)})
