"""Common parts of all formats of sparse matrices: vectors, textures of many texels, and indices of elements."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.errors import LimitError
from glla.operations.sparse.compressed import Compressed, Integers
from glla.passes import Draft, Limits, Storage, Uniform, wrapped
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape

MOST_TEXELS = 1 << 15
"""Texels of a vector's side at most: an index has 15 bits for each."""


@dataclass(frozen=True)
class Structure(ABC):
    """Layout of a sparse matrix in textures, all that a plan needs to know of it, without its values. Hashable."""

    name: ClassVar[str]

    shape: Shape  # rows and columns
    entries: int  # of the matrix, without the format's padding

    @property
    def tallest(self) -> int:
        """Elements of the longest vector of a product: x, y, or one between its passes."""
        return max(self.shape)

    @abstractmethod
    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""

    @abstractmethod
    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""

    @abstractmethod
    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product to a draft that has the `slots`; give the slot of y."""

    def draw_rows(self, draft: Draft, limits: Limits, rows: Rows) -> str | None:
        """Add those of the product with a matrix; give the slot of Y. None where columns are looped."""
        return None


@dataclass(frozen=True)
class Rows:
    """Right-hand sides of a product, side by side: X and Y, linear, their rows whole texels."""

    x: str  # slot of X
    quads: int  # texels of a row: four columns each
    shape: Shape  # of the matrix

    def storage(self, length: int, limits: Limits) -> Storage:
        """Storage of a matrix with `length` rows."""
        return vector(4 * self.quads * length, limits)

    def defines(self, limits: Limits) -> dict[str, Define]:
        """Defines of ``spmm/sparse_rows.glsl``."""
        y, x = (self.storage(length, limits) for length in self.shape)
        return {
            "QUADS": self.quads, "ROWS": self.shape[0], "COLUMNS": self.shape[1], "WIDTH": y.width, "X_WIDTH": x.width,
        }  # fmt: skip

    def in_passes(
        self,
        draft: Draft,
        shader: str,
        operands: Iterable[str],
        limits: Limits,
        parts: Iterable[tuple[Mapping[str, Uniform], Mapping[str, Define]]],
    ) -> str:
        """Add a pass for each part of the sum, see the function `in_passes`."""
        shared, y = self.defines(limits), self.storage(self.shape[0], limits)
        inputs = {name: name for name in operands} | {"X": self.x}
        whole = [(uniforms, {**shared, **defines}) for uniforms, defines in parts]
        return in_passes(draft, f"spmm/{shader}", inputs, y, whole)


def vector(length: int, limits: Limits) -> Storage:
    """Storage of a vector. Raises LimitError: it is longer than a texture holds, or than places count."""
    storage = wrapped(length, min(limits.texture_size, MOST_TEXELS))
    _fits("a vector", length, storage, limits, 4)
    return storage


def many(what: str, texels: int, limits: Limits, channels: int = 4, dtype: str = "float32") -> Storage:
    """Texture of texels one after the other, in rows: about square.

    Raises LimitError: there are more than a texture holds.
    """
    width = min(math.isqrt(max(texels, 1) - 1) + 1, limits.texture_size)
    storage = Storage(-(-max(texels, 1) // width), width, channels, dtype=dtype)
    return fitting(what, texels, storage, limits)


def fitting(what: str, texels: int, storage: Storage, limits: Limits) -> Storage:
    """Return a texture for this number of texels, unless it is larger than the device allows.

    Raises LimitError: it is.
    """
    _fits(what, texels, storage, limits, 1)
    return storage


def _fits(what: str, elements: int, storage: Storage, limits: Limits, each: int) -> None:
    most = min(each * limits.texture_size**2, 2**31 - 1)
    if storage.height > limits.texture_size or elements > most:
        raise LimitError(
            f"sparse: {what} may have {most} elements on this device, this one needs {elements}; "
            "cut the matrix into blocks of rows",
            elements,
            most,
        )


def filled(values: NDArray[Any], storage: Storage) -> NDArray[Any]:
    """Put texels, or elements, one after the other into a texture; zeros behind the last."""
    texels = np.zeros(storage.height * storage.width * storage.channels, dtype=storage.dtype)
    texels[: values.size] = values.reshape(-1)
    return texels.reshape(storage.height, storage.width, storage.channels)


def places(elements: Integers, width: int) -> NDArray[np.int32]:
    """Places of elements of a vector in a texture of this width: row, column and channel, for ``x_at`` in GLSL.

    >>> places(np.array([0, 5, 9]), 2).tolist() == [0, 1 << 2 | 1, 1 << 17 | 1]
    True
    """
    texel = elements >> 2
    code = (texel // width) << 17 | (texel % width) << 2 | elements & 3
    return code.astype(np.uint32).view(np.int32)


def in_passes(
    draft: Draft,
    shader: str,
    inputs: Mapping[str, str],
    result: Storage,
    parts: Iterable[tuple[Mapping[str, Uniform], Mapping[str, Define]]],
) -> str:
    """Add a pass for each part of a sum, with its uniforms and defines; a later one goes on from the one before."""
    before = ""
    for number, (uniforms, defines) in enumerate(parts):
        target = draft.slot(f"y_{number}", result)
        given = {**inputs, "before": before} if before else inputs
        with draft.scope("part", number):
            draft.draw(shader, given, target, uniforms, {**defines, "CONTINUE": int(bool(before))})
        before = target
    return before


def slices(count: int, most: int) -> list[tuple[int, int]]:
    """Cut trips of a loop into passes: (first, end) of each, one at least.

    >>> slices(10, 6), slices(0, 6)
    ([(0, 6), (6, 10)], [(0, 0)])
    """
    return [(first, min(first + most, count)) for first in range(0, max(count, 1), most)]


Maker = Callable[[Compressed, Limits], Structure]
"""Constructor of a matrix's structure in a format."""
