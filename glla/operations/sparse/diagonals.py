"""The format `diagonals`: a vector for each diagonal, as Krüger and Westermann, and SciPy's dia, have it.

And `circular`: diagonals -k and n - k of a square matrix joined to one vector of length n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.layout import Rows, Structure, in_passes, vector
from glla.passes import Draft, Limits, Storage, Uniform
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape

TERMS = 16
"""Diagonals of one pass at most: each is written out in the shader's text."""


@dataclass(frozen=True)
class Diagonals(Structure):
    """A matrix stored as its diagonals; number d holds A[i, i + offsets[d]] at the place of row i."""

    name: ClassVar[str] = "diagonals"

    offsets: tuple[int, ...]  # column minus row of each; one of zeros stands for a matrix without entries
    # the texels of all diagonals that belong to the same rows are side by side; otherwise each diagonal is a vector
    # by itself
    beside: bool = False

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Diagonals:
        """Find the diagonals of a matrix.

        In software those of a texel are side by side, if a texture is so wide: a CPU reads from few places at a time
        well, and a block of texels would read from ten in each of its rows.
        """
        return Diagonals.at(rows.shape, rows.entries, rows.offsets or (0,), limits)

    @staticmethod
    def at(shape: Shape, entries: int, offsets: tuple[int, ...], limits: Limits) -> Diagonals:
        """Layout of a matrix with these diagonals."""
        fits = len(offsets) * vector(shape[0], limits).width <= limits.texture_size
        return Diagonals(shape, entries, offsets, limits.software and fits)

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix."""
        return {"A": grid(self.shape[0], len(self.offsets), limits, self.beside)}

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        number = np.searchsorted(self.offsets, rows.columns - rows.rows)
        return {"A": in_grid(rows, number, len(self.offsets), limits, self.beside)}

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product."""
        own = vector(self.shape[0], limits)
        shared: dict[str, Define] = {
            "GRID": across(len(self.offsets)), "WIDTH": own.width, "HEIGHT": own.height,
            **shifted(self.shape, limits),
            "BESIDE": self.beside * len(self.offsets),
        }  # fmt: skip

        def parts() -> Iterator[tuple[dict[str, Uniform], dict[str, Define]]]:
            for first in range(0, len(self.offsets), TERMS):
                yield {}, {**shared, **written(self.offsets[first : first + TERMS], first)}

        return in_passes(draft, "spmv/diagonals", {"A": "A", "x": x}, own, parts())

    def draw_rows(self, draft: Draft, limits: Limits, rows: Rows) -> str:
        """Add the passes of the product with a matrix."""
        return rows_of_diagonals(draft, limits, rows, self.offsets, beside=self.beside)


@dataclass(frozen=True)
class Circular(Diagonals):
    """A square matrix stored as circular diagonals: number d is A[i, (i + offsets[d]) mod n], 0 <= offsets < n."""

    name: ClassVar[str] = "circular"

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Circular:
        """Find the circular diagonals of a matrix. Raises OptionError: it is not square."""
        if rows.shape[0] != rows.shape[1]:
            raise OptionError(f"sparse: circular diagonals are of a square matrix, got {rows.shape}; use diagonals")
        offsets = sorted({offset % max(rows.shape[0], 1) for offset in rows.offsets})
        return Circular(rows.shape, rows.entries, tuple(offsets) or (0,))

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        number = np.searchsorted(self.offsets, (rows.columns - rows.rows) % max(self.shape[0], 1))
        return {"A": in_grid(rows, number, len(self.offsets), limits)}

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product."""
        own = vector(self.shape[0], limits)
        shared: dict[str, Define] = {
            "GRID": across(len(self.offsets)), "WIDTH": own.width, "HEIGHT": own.height, "ORDER": self.shape[0],
        }  # fmt: skip

        return in_passes(draft, "spmv/circular", {"A": "A", "x": x}, own, terms(self.offsets, shared))

    def draw_rows(self, draft: Draft, limits: Limits, rows: Rows) -> str:
        """Add the passes of the product with a matrix."""
        return rows_of_diagonals(draft, limits, rows, self.offsets, around=True)


def rows_of_diagonals(
    draft: Draft, limits: Limits, rows: Rows, offsets: tuple[int, ...], around: bool = False, beside: bool = False
) -> str:
    """Add the passes of the product of diagonals and a matrix."""
    own = vector(rows.shape[0], limits)
    shared: dict[str, Define] = {
        "GRID": across(len(offsets)), "VECTOR_WIDTH": own.width, "HEIGHT": own.height, "AROUND": int(around),
        "BESIDE": beside * len(offsets),
    }  # fmt: skip
    return rows.in_passes(draft, "diagonals", ("A",), limits, terms(offsets, shared))


def terms(
    offsets: tuple[int, ...], shared: Mapping[str, Define]
) -> Iterator[tuple[dict[str, Uniform], dict[str, Define]]]:
    """Uniforms and defines of each pass over diagonals, whose terms are written as GLSL."""
    for first in range(0, len(offsets), TERMS):
        some = offsets[first : first + TERMS]
        text = " ".join(f"TERM({first + d}, {offset})" for d, offset in enumerate(some))
        yield {}, {**shared, "COUNT": len(some), "TERMS": text}


def written(offsets: tuple[int, ...], first: int) -> dict[str, Define]:
    """Write the terms of some diagonals as GLSL, and the texels of x that they take, each once.

    >>> written((-1, 0, 1), 0)["TERMS"]
    'TERM(0, vec4(x0.a, x1.rgb)) TERM(1, x1) TERM(2, vec4(x1.gba, x2.r))'
    """
    loads, elements = taken(offsets)
    terms = [f"TERM({number}, {four})" for number, four in enumerate(elements, first)]
    return {"COUNT": len(offsets), "LOADS": " ".join(loads), "TERMS": " ".join(terms), "X_FETCHES": len(loads)}


def taken(offsets: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """Write as GLSL which texels of x diagonals take, each once, and four elements for each diagonal.

    >>> taken((0, 5))
    (['LOAD(x0, 0)', 'LOAD(x1, 1)', 'LOAD(x2, 2)'], ['x0', 'vec4(x1.gba, x2.r)'])
    """
    places = [divmod(offset, 4) for offset in offsets]
    needed = sorted({q for q, _ in places} | {q + 1 for q, r in places if r})
    name = {q: f"x{number}" for number, q in enumerate(needed)}
    fours = [f"vec4({name[q]}.{'rgba'[r:]}, {name[q + 1]}.{'rgba'[:r]})" if r else name[q] for q, r in places]
    return [f"LOAD({name[q]}, {q})" for q in needed], fours


def shifted(shape: Shape, limits: Limits) -> dict[str, Define]:
    """Defines of ``spmv/shifted.glsl`` for a matrix of that shape."""
    own, other = (vector(length, limits) for length in shape)
    return {
        "X_TEXELS": max(1, -(-shape[1] // 4)), "X_WIDTH": other.width, "X_HEIGHT": other.height,
        "SAMPLED": int(limits.software and own.width == other.width),
    }  # fmt: skip


def across(count: int) -> int:
    """Diagonals side by side in the texture: about as many as one above the other."""
    return math.isqrt(count - 1) + 1


def grid(rows: int, count: int, limits: Limits, beside: bool = False) -> Storage:
    """Texture of diagonals, each as a vector with an element for each row; or all `beside` each other."""
    own, side = vector(rows, limits), across(count)
    if beside:
        return Storage(own.height, count * own.width)
    return Storage(-(-count // side) * own.height, side * own.width)


def in_grid(
    rows: Compressed, number: NDArray[np.intp], count: int, limits: Limits, beside: bool = False
) -> NDArray[np.float32]:
    """Texels of diagonals, for entries whose numbers of diagonals are given."""
    own, storage = vector(rows.shape[0], limits), grid(rows.shape[0], count, limits, beside)
    texels = np.zeros((storage.height, storage.width, 4), dtype=np.float32)
    side, texel = across(count), rows.rows >> 2
    if beside:
        y, x = texel // own.width, texel % own.width * count + number
    else:
        y = number // side * own.height + texel // own.width
        x = number % side * own.width + texel % own.width
    texels[y, x, rows.rows & 3] = rows.values
    return texels
