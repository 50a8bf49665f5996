"""The format `stencil`: most rows are equal, as for constant coefficients on a grid; the others are listed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError
from glla.operations.sparse.compressed import Compressed
from glla.operations.sparse.diagonals import TERMS, Diagonals, shifted, taken
from glla.operations.sparse.layout import Structure, filled, fitting, many, vector
from glla.passes import Draft, Limits, Storage
from glla.passes.glsl.find import Define

LOOKED_AT = 61
"""Samples, evenly over the matrix, in which the usual rows are searched."""

LEAST_TEXELS = 1 << 13
"""Fours of rows from which it may be the default format: a second pass costs more than it saves below. A guess."""

MOST_OTHERS = 1 / 32
"""Share of the fours of rows that may be listed, by default: llvmpipe takes about 0.25 us for a listed one, and saves
12 ns with each that is not (1024 x 1024 points on two cores, 2026-11-23)."""


@dataclass(frozen=True)
class Stencil(Structure):
    """Format of a matrix as its usual rows, in the program's uniforms, and a list of the others.

    Rows go in fours, the texels of a vector.
    """

    name: ClassVar[str] = "stencil"

    offsets: tuple[int, ...]  # column minus row of each diagonal
    # entries of four usual rows, four of each diagonal; none where no rows are, so that all are listed
    usual: tuple[float, ...]
    others: int  # fours of rows that are listed

    @staticmethod
    def of(rows: Compressed, limits: Limits) -> Stencil:
        """Find the usual rows of a matrix. Raises OptionError: it has too many diagonals."""
        offsets = rows.offsets or (0,)
        if len(offsets) > TERMS:
            raise OptionError(
                f"sparse: a stencil has {TERMS} diagonals at most, the matrix has {len(offsets)}; use diagonals or sell"
            )
        usual = _usual(rows, offsets)
        return Stencil(rows.shape, rows.entries, offsets, usual, len(_others(_fours(rows, offsets), usual)))

    @staticmethod
    def of_any(rows: Compressed) -> Stencil:
        """The format for any entries at these places: all rows are listed."""
        offsets = rows.offsets or (0,)
        return Stencil(rows.shape, rows.entries, offsets, (), _texels(rows.shape[0]))

    def slots(self, limits: Limits) -> dict[str, Storage]:
        """Textures of the matrix: entries of the listed rows, and where those are."""
        if not self.others:
            return {}
        across = min(max(1, 1024 // len(self.offsets)), self.others)  # listed fours side by side
        listed = Storage(-(-self.others // across), across * len(self.offsets))
        return {
            "A": fitting("a matrix", self.others * len(self.offsets), listed, limits),
            "places": many("a matrix", self.others, limits, 1, "int32"),
        }

    def texels(self, rows: Compressed, limits: Limits) -> dict[str, NDArray[Any]]:
        """Contents of the `slots`, by name."""
        if not self.others:
            return {}
        slots, fours = self.slots(limits), _fours(rows, self.offsets)
        others = _others(fours, self.usual)
        return {"A": filled(fours[others], slots["A"]), "places": filled(others.astype(np.int32), slots["places"])}

    def draw(self, draft: Draft, limits: Limits, x: str) -> str:
        """Add the passes of the product: usual rows, and the others."""
        own, (loads, elements) = vector(self.shape[0], limits), taken(self.offsets)
        y = draft.slot("y", own)
        shared: dict[str, Define] = {
            **shifted(self.shape, limits), "WIDTH": own.width, "LOADS": " ".join(loads), "X_FETCHES": len(loads),
        }  # fmt: skip
        values, texels = tuple(dict.fromkeys(one for one in self.usual if one)), _texels(self.shape[0])
        if values:
            defines: dict[str, Define] = {
                "VALUES": len(values), "TERMS": self._usual_terms(elements, values),
                "TEXELS": texels if texels < own.height * own.width else 0,
            }  # fmt: skip
            usual = {"usual": values if len(values) > 1 else values[0]}
            draft.draw("spmv/stencil", {"x": x}, y, usual, {**shared, **defines})
        else:
            draft.draw("krylov/zeros", {}, y)
        if self.others:
            slots = self.slots(limits)
            inputs = {"x": x, **{name: name for name in slots}}
            defines = {
                "HEIGHT": own.height, "PLACES_WIDTH": slots["places"].width, "COUNT": len(elements),
                "ACROSS": slots["A"].width // len(elements),
                "TERMS": " ".join(f"TERM({number}, {four})" for number, four in enumerate(elements)),
            }  # fmt: skip
            draft.draw("spmv/stencil_others", inputs, y, None, {**shared, **defines}, points=self.others)
        return y

    def _usual_terms(self, elements: list[str], values: tuple[float, ...]) -> str:
        """Write the sum over diagonals, with each entry by its number among the distinct ones."""
        terms = []
        for number, x in enumerate(elements):
            four = self.usual[4 * number : 4 * number + 4]
            names = [f"VALUE({values.index(one)})" if one else "0.0" for one in four]
            entries = names[0] if len(set(four)) == 1 else f"vec4({', '.join(names)})"
            if all(four):
                terms.append(f"y += {entries} * {x};")
            elif any(four):
                terms.append(f"y += terms({entries}, {x});")
        return " ".join(terms)

    def diagonals(self, limits: Limits) -> Diagonals:
        """The same matrix by its diagonals, which several columns at once take."""
        return Diagonals.at(self.shape, self.entries, self.offsets, limits)


def few_others(rows: Compressed) -> bool:
    """Whether nearly all rows of a matrix are alike, so that a stencil is its default format."""
    texels, offsets = _texels(rows.shape[0]), rows.offsets
    if texels < LEAST_TEXELS or not 0 < len(offsets) <= TERMS:
        return False
    usual = _usual(rows, offsets)
    return bool(usual) and len(_others(_fours(rows, offsets), usual)) <= MOST_OTHERS * texels


def _texels(rows: int) -> int:
    return max(1, -(-rows // 4))


def _usual(rows: Compressed, offsets: tuple[int, ...]) -> tuple[float, ...]:
    """Entries common to most of a sample of fours of rows; none without a majority."""
    count = rows.shape[0] // 4
    seen: Counter[bytes] = Counter()
    for texel in np.unique(np.linspace(0, count - 1, LOOKED_AT).astype(int)).tolist() if count else []:
        first, end = rows.starts[4 * texel], rows.starts[4 * texel + 4]
        row, four = np.repeat(np.arange(4), rows.lengths[4 * texel : 4 * texel + 4]), np.zeros((len(offsets), 4), "f4")
        number = np.searchsorted(offsets, rows.columns[first:end] - row - 4 * texel)
        four[number, row] = rows.values[first:end]
        seen[four.tobytes()] += 1
    if not seen:
        return ()
    most, times = seen.most_common(1)[0]
    values = np.frombuffer(most, np.float32)
    return tuple(values.tolist()) if 2 * times > sum(seen.values()) and np.isfinite(values).all() else ()


def _fours(rows: Compressed, offsets: tuple[int, ...]) -> NDArray[np.float32]:
    """Entries of each four of rows: four of each diagonal."""
    fours = np.zeros((_texels(rows.shape[0]), len(offsets), 4), dtype=np.float32)
    number = np.searchsorted(offsets, rows.columns - rows.rows)
    fours[rows.rows >> 2, number, rows.rows & 3] = rows.values
    return fours


def _others(fours: NDArray[np.float32], usual: tuple[float, ...]) -> NDArray[np.intp]:
    """Numbers of the fours that are not the usual ones, bit for bit."""
    if not usual:
        return np.arange(len(fours))
    same = fours.view(np.int32).reshape(len(fours), -1) == np.array(usual, np.float32).view(np.int32)
    return np.flatnonzero(~same.all(axis=1))
