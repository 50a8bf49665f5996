"""QR by panels: H_1 ... H_p = I + V N^-1 V^T, so that all work outside the panels is products and substitutions.

    panel --> reflectors --> V, N         rest --> + V N^-T (V^T rest)         identity --> + V N^-1 (V^T ...) --> Q

N is minus the upper half of V^T V, with half of its diagonal (the UT transform, see ``qr/kernel.frag``): a triangle to
substitute with, in place of the T of the compact WY form, which would have to be built column by column.

All panels share slots of one size, those of A and of Q, and draw their part of them.
"""

from __future__ import annotations

from dataclasses import replace

from glla.operations.batches.stack import SINGLE
from glla.operations.orthogonal.qr_pairs import Steps
from glla.operations.product.matmul import choose
from glla.operations.product.register_blocks import Blocks
from glla.operations.record import resolved
from glla.operations.triangles import triangular
from glla.operations.triangles.solved_blocks import Triangle, solve_blocks
from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, Uniform, matrix, resident
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, packed, texels

LEVEL = 32
"""Trips whose sum is a term of V^T B: a running sum of like terms is off by half of its length, in last places."""

KERNEL_ROWS = 32
"""Rows of N that one pass solves with at most: columns are many, so halves with a product between them are less work.
QR of 2048 takes 112.6 ms on an H100, with 64 rows 121.6, with 16 rows 111.8; of 1024 27.6, 29.2 and 34 ms."""


class Panels:
    """Applies the reflectors of panels to the columns of B.

    `shape`: of the matrix that was factored. `columns`: of B. `width`: columns of a panel, even.
    """

    def __init__(self, draft: Draft, shape: Shape, columns: int, width: int, limits: Limits) -> None:
        self.draft, self.shape, self.width, self.limits = draft, shape, width, limits
        self.b, self.w = (shape[0], columns), (width, columns)
        self.v, self.square = draft.slot("V", matrix((shape[0], width))), draft.slot("V^T V", matrix((width, width)))
        self.projection, self.x = draft.slot("V^T B", matrix(self.w)), draft.slot("N^-1 V^T B", matrix(self.w))
        self.rest = PingPong(draft, "V^T B, rest", matrix(self.w), self.projection)
        self.blocks = Blocks.of(draft, (shape[0], max(columns, width)), {})
        forms = resident((width, width), self.w)
        _, values = resolved("triangular", triangular.VARIANTS, triangular.choose, forms, limits, "blocked")
        self.values = {**values, "ROWS": min(values["ROWS"], KERNEL_ROWS)}

    def reflectors(self, start: int) -> int:
        """How many reflectors the panel has that begins in column `start`."""
        return min(self.width, min(self.shape) - start)

    def explicit(self, start: int, h: str, t: str) -> None:
        """Write out V of the panel that begins in column `start`."""
        count, first = self.reflectors(start), start // 2
        inside = Region(0, first, texels(count), texels(self.shape[0]) - first)
        uniforms: dict[str, Uniform] = {"first": first, "shape": (self.shape[0], count)}
        self.draft.draw("qr/explicit", {"H": h, "T": t}, self.v, uniforms, {}, inside)

    def kernel(self, start: int) -> str:
        """Make N of a panel from V; give its slot."""
        count = self.reflectors(start)
        n = self.draft.slot(f"N_{start // self.width}", matrix((count, count)))
        self._multiply(self.v, self.square, start, 0, (count, count))
        self.draft.draw("qr/kernel", {"S": self.square}, n, {"shape": (count, count)})
        return n

    def apply(self, start: int, n: str, b: str, target: str, left: int, transposed: bool = False) -> None:
        """Apply the reflectors of a panel to the columns of B from texel `left` on.

        The last one first, or `transposed` the first one first.
        """
        count, first, (height, width) = self.reflectors(start), start // 2, packed(self.b)
        shape, triangle = (count, self.w[1]), Triangle(upper=not transposed, transposed=transposed)
        self._multiply(b, self.projection, start, left, shape)
        self.rest.front = self.projection
        solve_blocks(self.draft, n, self.x, self.rest, shape, triangle, self.values, left)
        place = Region(left, first, width - left, height - first)
        operands, slice_ = {"A": self.v, "B": self.x}, {"first": 0, "count": texels(count)}
        if self._is_small(2 * place.height, count, 2 * place.width):
            uniforms: dict[str, Uniform] = {**slice_, "shape": self.b}
            self.draft.draw("matmul/inner_product", {**operands, "C": b}, target, uniforms, {"CONTINUE": 1}, place)
        else:
            self.blocks.draw(operands, target, slice_, self.b, b, place)

    def _multiply(self, b: str, target: str, start: int, left: int, shape: Shape) -> None:
        """Add V^T B, whose shape is given, from texel column `left` on."""
        first, (height, width) = start // 2, packed(shape)
        operands, place = {"A": self.v, "B": b}, Region(left, 0, width - left, height)
        slice_: dict[str, Uniform] = {"first": first, "count": texels(self.shape[0]) - first}
        turned = {"TRANSPOSE_A": 1, "LEVEL": LEVEL}
        if self._is_small(shape[0], self.shape[0] - start, shape[1] - 2 * left):
            self.draft.draw("matmul/inner_product", operands, target, {**slice_, "shape": shape}, turned, place)
        else:
            self.blocks.draw(operands, target, slice_, shape, "", place, turned)

    def _is_small(self, m: int, k: int, n: int) -> bool:
        return choose(resident((m, k), (k, n)), self.limits)[0] == "inner_product"


@cached_plan
def factors(shape: Shape, width: int, limits: Limits) -> Plan:
    """Plan of a factorisation by panels: operand ``A``.

    Results: ``H``, R with the reflectors below its diagonal; ``T`` of `qr_pairs.pairs`; and ``N_i`` of each panel.
    """
    draft = Draft("qr/panels")
    rest = PingPong(draft, "rest", matrix(shape), draft.operand("A", matrix(shape)))
    steps = Steps(draft, (shape[0], width), limits, SINGLE, barrier=not limits.software)  # there it only takes memory
    panels = Panels(draft, shape, shape[1], width, limits)
    h, t = draft.slot("R", matrix(shape)), draft.slot("T", Storage(1, texels(min(shape))))
    results, nothing = {"H": h, "T": t}, {"corner": (0, 0)}
    height, across = packed(shape)
    for number, start in enumerate(range(0, min(shape), width)):
        with draft.scope("panel", number):
            first, (rows, columns) = start // 2, (shape[0] - start, min(width, shape[1] - start))
            end, count = first + texels(columns), texels(panels.reflectors(start))
            place = Region(first, first, end - first, height - first)
            taken = replace(place, x=0, y=0)
            draft.draw("packing/window", {"A": rest.front}, panels.v, {"corner": (first, first)}, {}, taken)
            made = steps.add(panels.v, (rows, columns))
            draft.draw("packing/window", {"A": made}, h, {"corner": (-first, -first)}, {}, place)
            draft.draw("qr/pairs", {"H": h}, t, {"height": height}, {}, Region(first, 0, count, 1))
            panels.explicit(start, h, t)
            results[f"N_{number}"] = kernel = panels.kernel(start)
            if end < across:
                panels.apply(start, kernel, rest.front, rest.back, end, transposed=True)
                rest.swap()
                draft.draw("packing/window", {"A": rest.front}, h, nothing, {}, Region(end, first, across - end, count))
    return draft.plan(results)


@cached_plan
def orthogonal(shape: Shape, columns: int, width: int, limits: Limits) -> Plan:
    """Plan of the first columns of Q: operands ``H``, ``T`` and ``N_i`` of `factors`. Result ``Q``."""
    draft = Draft("qr/panels of Q")
    h, t = draft.operand("H", matrix(shape)), draft.operand("T", Storage(1, texels(min(shape))))
    panels = Panels(draft, shape, columns, width, limits)
    starts = range(0, min(shape), width)
    kernels = [
        draft.operand(f"N_{number}", matrix(2 * (panels.reflectors(start),))) for number, start in enumerate(starts)
    ]
    q = PingPong(draft, "Q", matrix(panels.b), "")
    for _ in range(2):  # rows and columns that no panel has reached yet are those of I in both textures
        draft.draw("packing/identity", {}, q.back, {"shape": panels.b})
        q.swap()
    for number, (start, kernel) in enumerate(reversed(list(zip(starts, kernels, strict=True)))):
        with draft.scope("panel of Q", number):
            panels.explicit(start, h, t)
            panels.apply(start, kernel, q.front, q.back, start // 2)
            q.swap()
    return draft.plan({"Q": q.front})
