"""The tridiagonal form by panels of columns: A is changed once for all columns of a panel, by a product.

    A, column k --> x = A_k - V w - W v --> A x, V^T x, W^T x --> their slices added --> v, w, and x of column k + 1 ...
                                                          V, W of all columns --> A - V W^T - W V^T --> next panel

A product with a column reads A, and writes nothing. The three passes of a column draw few texels, and are behind
barriers (`glla.passes.sheet`).
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
"""Texels of a slice of a sum at least, the most slices, and texels of S x that one fragment multiplies with x: half or
twice as many made no difference."""


class _Panels:
    """Adds the steps of panels of a matrix of order n, all in the same slots."""

    def __init__(self, draft: Draft, n: int, width: int, limits: Limits) -> None:
        self.draft, self.n, self.width, height = draft, n, width, texels(n)
        half, self.slices = -(-height // 2), min(SLICES, 1 << (-(-height // SLICE) - 1).bit_length())
        self.defines = {"SLICES": self.slices, "SLICE": SLICE, "GROUP": GROUP, **at_once(limits)}
        self.pair = [draft.slot(f"V, W and x, {turn}", Storage(width + 1, height)) for turn in ("even", "odd")]
        self.parts = draft.slot("sums of slices", Storage(self.slices, width + half))
        self.sums = draft.slot("sums", Storage(1, width + half + -(-half // GROUP)))

    def add(self, a: str, start: int) -> str:
        """Add the steps of the panel that begins in column `start` of A; give the slot of V and W."""
        height, front, sums = texels(self.n), a, a  # the pass before the first step reads A alone
        numbers: dict[str, Uniform] = {"start": start, "height": height}
        for j in range(-1, min(self.width, self.n - 1 - start)):
            k, back = start + j, self.pair[(j + 1) % 2]
            rows = height - (k + 1) // 2
            chunk, half = max(SLICE, -(-rows // self.slices)), -(-rows // 2)
            above, left = max(j - 1, 0), max(k - 1, 0) // 2
            with self.draft.scope("column", j + 1):
                draw = partial(self.draft.draw, uniforms=numbers, defines=self.defines, step=k + 1, barrier=True)
                if j >= 0:
                    sums, region = self.sums, Region(0, 0, j + 1 + half, -(-rows // chunk))
                    draw("spectral/eigh/panel_dots", {"P": front, "S": a}, self.parts, region=region)
                    region = Region(0, 0, j + 1 + half + -(-half // GROUP), 1)
                    draw("spectral/eigh/panel_fold", {"D": self.parts, "P": front}, sums, region=region)
                region = Region(left, above, height - left, j + 2 - above)
                draw("spectral/eigh/panel_step", {"E": sums, "P": front, "S": a}, back, region=region)
                front = back
        return front


@cached_plan
def plan(n: int, limits: Limits, width: int = 0) -> Plan:
    """Plan of the tridiagonal form by panels: operand ``A``, result ``H``, as `tridiagonal_form` has them.

    3 (n - 1) passes, and 5 for each panel, of the last one 2. `width`: columns of a panel, even; 0 for the default.
    """
    width = width or (PANEL_IN_SOFTWARE if limits.software else PANEL)
    draft = Draft("tridiagonal form by panels")
    rest = PingPong(draft, "what remains", matrix((n, n)), draft.operand("A", matrix((n, n))))
    h, panels = draft.slot("H", matrix((n, n))), _Panels(draft, n, width, limits)
    factors = draft.slot("V, W", matrix((2 * width, n))), draft.slot("W, V", matrix((2 * width, n)))
    blocks = Blocks.of(draft, (n, n), {})
    for number, start in enumerate(range(0, n, width)):
        with draft.scope("panel", number):
            panel = panels.add(rest.front, start)
            end = min(start + width, n)
            first, height = start // 2, texels(n)
            place = Region(first, first, texels(end) - first, height - first)
            draft.draw("spectral/eigh/panel_settle", {"P": panel}, h, {"start": start, "n": n}, {}, place)
            if end < n:
                draft.draw("spectral/eigh/panel_factors", {"P": panel}, factors)
                half: dict[str, Define] = {"TRANSPOSE_A": 1, "LOWER": 1}
                operands, slice_ = dict(zip("AB", factors, strict=True)), {"first": 0, "count": width}
                rest_ = Region(end // 2, end // 2, height - end // 2, height - end // 2)
                onto: dict[str, Define] = {"SUBTRACT": 1, "MIRROR": 1}
                blocks.draw(operands, rest.back, slice_, (n, n), rest.front, rest_, half, onto)
                rest.swap()
    return draft.plan({"H": h}, 4 * n**3 // 3)
