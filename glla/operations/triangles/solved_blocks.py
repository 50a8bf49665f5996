"""Triangles, and substitution block by block: all rows of a matrix, or some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from glla.passes import Draft, PingPong, Region
from glla.passes.layout import Shape, texels

BLOCKS = (16, 32, 64)
"""Rows of a block of `blocked`: the fewest that hold all of T, and at most its parameter ROWS. Fragments of a block
repeat each other's steps, about 11 flop for each row and element: little on a GPU, much for a software rasteriser."""


@dataclass(frozen=True)
class Triangle:
    """Triangle of a substitution."""

    # the matrix solved with is upper triangular: substitute backward. With `transposed` this speaks of the transpose
    upper: bool = False
    unit: bool = False  # its diagonal is one and is not read
    transposed: bool = False  # solve with the transpose of what is stored
    # the right-hand sides are the identity, so that the solution is a triangle, too. Updates are cut at its edge:
    # columns behind those solved so far are still those of I
    inverse: bool = False

    @property
    def defines(self) -> dict[str, int]:
        """For shaders that include ``triangular/triangle.glsl``."""
        return {"UPPER": int(self.upper), "UNIT": int(self.unit), "TRANSPOSED": int(self.transposed)}

    def open_columns(self, solved: int, width: int, left: int = 0) -> tuple[int, int]:
        """Where the columns begin, and how many they are, that are updated once `solved` rows are solved."""
        if not self.inverse or solved >= width:
            return left, width - left
        return (width - solved if self.upper else 0), solved

    def open_strips(self, solved: int, columns: int) -> tuple[int, int]:
        """The same in strips of 8 columns."""
        left, taken = self.open_columns(solved, columns)
        first = left // 8
        return first, -(-(left + taken) // 8) - first


def block_rows(order: int, values: Mapping[str, int]) -> int:
    """Rows of a block of a triangle of some order."""
    return min(values["ROWS"], next((rows for rows in BLOCKS if rows >= order), BLOCKS[-1]))


def solve_blocks(
    draft: Draft,
    operand: str,
    result: str,
    rest: PingPong,
    shape: Shape,
    triangle: Triangle,
    values: Mapping[str, int],
    first: int = 0,
    rows: tuple[int, int] | None = None,
    before: int = 0,
) -> None:
    """Two passes a block: solve its rows, which are final then, and make the open rows' right-hand sides.

    `first`: texel column from which on right-hand sides are solved for. `rows`: the first one in texels, and how many,
    if not all of them. `before`: rows of texels that were solved before these.
    """
    (low, height), width = rows or (0, texels(shape[0])), texels(shape[1])
    size = block_rows(2 * height, values)
    for number, solved in enumerate(range(0, height, size // 2)):
        with draft.scope("block", number):
            count = min(size // 2, height - solved)
            remaining = height - solved - count
            top, first_open = (low + remaining, low) if triangle.upper else (low + solved, low + solved + count)
            draft.draw(
                "triangular/solve_block",
                {"T": operand, "B": rest.front},
                result,
                {"start": top + count - 1 if triangle.upper else top, "shape": shape},
                {**triangle.defines, "ROWS": size, "UNROLL": values["UNROLL"]},
                Region(first, top, width - first, count),
            )
            if remaining:
                left, taken = triangle.open_columns(before + solved + count, width, first)
                draft.draw(
                    "triangular/update",
                    {"T": operand, "X": result, "B": rest.front},
                    rest.back,
                    {},
                    {"TRANSPOSED": int(triangle.transposed), "ROWS": size},
                    Region(left, first_open, taken, remaining),
                    step=top,
                )
                rest.swap()
