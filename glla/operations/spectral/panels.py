"""The tridiagonal and the bidiagonal form by panels of columns: A is changed once for all of them, by a product.

    A, column k --> A x, its products with V, X --> their slices added --> x of column k, and column k + 1 ...
                                         all columns --> A - V X^T - X V^T --> next panel

The bidiagonal form has a column and a row in turn: a reflector from the left, which leaves y and row k, and one from
the right, which leaves x and column k + 1; then A - V Y^T - X U^T. A product with a column reads A, and writes nothing.
The three passes of a reflector draw few texels, and are behind barriers (`glla.passes.sheet`).
"""

from __future__ import annotations

from functools import partial

from glla.operations.orthogonal.qr_pairs import at_once
from glla.operations.product.register_blocks import Blocks
from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, Uniform, matrix
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define
from glla.passes.layout import texels

PANEL, PANEL_IN_SOFTWARE = 32, 16
"""Columns of a panel, even, on a GPU and on a software rasteriser. On an H100 32 and 64 take equally long from order
1024 on, and 64 takes longer at 512."""

SLICE, SLICES, GROUP = 32, 16, 4
"""Texels of a slice of a sum at least, the most slices, and texels of A x that one fragment multiplies with x: half or
twice as many made no difference beyond the noise."""


class _Panels:
    """Adds the steps of panels of a matrix of order n, all in the same slots.

    `sides`: 1 for the tridiagonal form, 2 for the bidiagonal one. Attributes: `rows`, `columns`: R and C of
    ``spectral/eigh/panel.glsl``.
    """

    def __init__(self, draft: Draft, n: int, width: int, sides: int, limits: Limits) -> None:
        self.draft, self.n, self.width, self.sides, height = draft, n, width, sides, texels(n)
        half, self.group = -(-height // 2), GROUP if sides == 1 else 0
        self.slices = min(SLICES, 1 << (-(-height // SLICE) - 1).bit_length())  # a power of two: orders share programs
        lengths: dict[str, Define] = {"SLICES": self.slices, "SLICE": SLICE, "GROUP": self.group}
        self.defines: dict[str, Define] = {"SIDES": sides, **lengths, **at_once(limits)}
        self.rows = PingPong(draft, "R", Storage(width + 1, height), "")
        self.columns = self.rows if sides == 1 else PingPong(draft, "C", Storage(width, height), "")
        self.parts = draft.slot("sums of slices", Storage(self.slices, width + 1 + half))
        self.sums = draft.slot("sums", Storage(1, width + 1 + half + self._groups(half)))

    def _groups(self, half: int) -> int:
        """Groups of texels of A x."""
        return -(-half // self.group) if self.group else 0

    def add(self, a: str, start: int) -> dict[str, str]:
        """Add the steps of the panel that begins in column `start` of A; give the slots of R and C."""
        self._step(a, start, -1, 1)
        for j in range(min(self.width, self.n - start)):
            last = 1 + (start + j < self.n - 1)  # the last column has no reflector from the right
            with self.draft.scope("column", j):
                for side in range(2 - self.sides, last):
                    self._step(a, start, j, side)
        return {"R": self.rows.front, "C": self.columns.front}

    def _step(self, a: str, start: int, j: int, side: int) -> None:
        """Add the passes of a reflector; before the first one column `start` is taken out of A."""
        height, k, row = texels(self.n), start + j, j + side
        rest, above, left = height - (k + side) // 2, max(row - 1, 0), max(k - 1, 0) // 2
        chunk, half = max(SLICE, -(-rest // self.slices)), -(-rest // 2)
        source, target = (self.rows, self.columns) if side + self.sides == 2 else (self.columns, self.rows)
        numbers: dict[str, Uniform] = {"start": start, "height": height}
        number = k + 1 if self.sides == 1 else 2 * k + side + 1
        draw = partial(self.draft.draw, uniforms=numbers, defines=self.defines, step=number, barrier=True)
        if j >= 0:
            region = Region(0, 0, row + 1 + half, -(-rest // chunk))
            draw("spectral/eigh/panel_dots", {"P": source.front, "S": a}, self.parts, region=region)
            region = Region(0, 0, row + 1 + self._groups(half) + half, 1)
            draw("spectral/eigh/panel_fold", {"D": self.parts, "P": source.front}, self.sums, region=region)
        inputs = {"E": self.sums if j >= 0 else a, "P": target.front if row else a, "S": a}
        region = Region(left, above, height - left, row + 1 - above)
        draw("spectral/eigh/panel_step", inputs, target.back, region=region)
        target.swap()


@cached_plan
def plan(n: int, limits: Limits, sides: int, width: int = 0) -> Plan:
    """Plan of a form of an n x n matrix whose entries are near 1, n > 1: operand ``A``, result ``H``.

    `sides`: 1: the tridiagonal form of a symmetric matrix. H holds T on the diagonal and below it, the reflectors below
    that; what is above is of no use. 3 (n - 1) passes, and 5 for each panel, of the last one 2. 2: the bidiagonal form.
    H holds B on and right of its diagonal, the reflectors from the left below it, those from the right beyond B.
    6 n - 3 passes, and 6 for each panel, of the last one 2. `width`: columns of a panel, even; 0 for the default.
    """
    width = width or (PANEL_IN_SOFTWARE if limits.software else PANEL)
    draft, height = Draft(f"{('tri', 'bi')[sides - 1]}diagonal form by panels"), texels(n)
    rest = PingPong(draft, "what remains", matrix((n, n)), draft.operand("A", matrix((n, n))))
    h, panels = draft.slot("H", matrix((n, n))), _Panels(draft, n, width, sides, limits)
    factors = draft.slot("V, X", matrix((2 * width, n))), draft.slot("Y, U", matrix((2 * width, n)))
    blocks = Blocks.of(draft, (n, n), {})
    of_sides: dict[str, Define] = {"SIDES": sides}
    for number, start in enumerate(range(0, n, width)):
        with draft.scope("panel", number):
            panel = panels.add(rest.front, start)
            first, end = start // 2, texels(min(start + width, n))
            columns = Region(first, first, end - first, height - first)
            rows = Region(end, first, height - end, end - first)
            for place in (columns, rows)[: sides if end < height else 1]:
                draft.draw("spectral/eigh/panel_settle", panel, h, {"start": start, "n": n}, of_sides, place)
            if end < height:
                behind = Region(end, 0, height - end, width)
                draft.draw("spectral/eigh/panel_factors", panel, factors, {"start": start}, of_sides, behind)
                operands, slice_ = dict(zip("AB", factors, strict=True)), {"first": 0, "count": width}
                cut: dict[str, Define] = {"TRANSPOSE_A": 1, **({"LOWER": 1} if sides == 1 else {})}
                put: dict[str, Define] = {"SUBTRACT": 1, **({"MIRROR": 1} if sides == 1 else {})}
                left = Region(end, end, height - end, height - end)
                blocks.draw(operands, rest.back, slice_, (n, n), rest.front, left, cut, put)
                rest.swap()
    return draft.plan({"H": h}, sides * 4 * n**3 // 3)
