"""QR two columns at a time: the passes of Householder's reflections, and of their application.

A step takes three passes: inner products with the first column, those with the second one after the first reflection,
which is applied on the way, and the two reflections of all that remains.
"""

from __future__ import annotations

from glla.operations.batches.stack import SINGLE, Cells
from glla.passes import Draft, Limits, PingPong, Plan, Storage, Uniform, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

SLICE, SLICES = 64, 32
"""Texels of a column that one fragment sums on a GPU, and the most slices of a column; both are guesses. A software
rasteriser sums each column in one piece."""


def slices(height: int, limits: Limits) -> tuple[int, int]:
    """How many slices a column of texels is cut into for a sum, and the texels of each.

    >>> slices(1000, Limits()), slices(1000, Limits(software=True))
    ((16, 63), (1, 1000))
    """
    count = 1 if limits.software else min(-(-height // SLICE), SLICES)
    return count, -(-height // count)


def add_reflectors(draft: Draft, source: str, shape: Shape, limits: Limits, cells: Cells) -> str:
    """Add the steps of a factorisation; give the slot of R with the reflectors below its diagonal."""
    steps = Steps(draft, source, shape, limits, cells)
    steps.add(0, texels(shape[1]))
    return steps.rest.front


class Steps:
    """Adds steps of a factorisation to a draft; `rest` holds the columns that are left."""

    def __init__(self, draft: Draft, source: str, shape: Shape, limits: Limits, cells: Cells) -> None:
        self.draft, self.shape, self.limits, self.cells = draft, shape, limits, cells
        self.height = texels(shape[0])
        self.rest = PingPong(draft, "H", cells.matrix(shape), source)
        storage = cells.storage(slices(self.height, limits)[0], texels(shape[1]))
        self.sums = [draft.slot(f"sums_{name}", storage) for name in ("first", "both")]

    def add(self, start: int, end: int) -> None:
        """Add the steps of texel columns `start` to `end`, within them; columns on their right stay as they are."""
        draft, rest, cells, height = self.draft, self.rest, self.cells, self.height
        for k in range(start, min(end, height)):
            count, chunk = slices(height - k, self.limits)
            size: dict[str, Uniform] = {"k": k, "height": height, "chunk": chunk, **cells.grid}
            beside, last = cells.region(k, 0, end - k, count), max(k - 1, start)
            left = cells.region(last, last, end - last, height - last)  # final texels are in both textures by then
            with draft.scope("step", k - start):
                draft.draw("qr/dots", {"A": rest.front}, self.sums[0], size, {"SECOND": 0, **cells.defines}, beside)
                cut = {**size, "slices": count}
                inputs = {"A": rest.front, "D": self.sums[0]}
                draft.draw("qr/dots", inputs, self.sums[1], cut, {"SECOND": 1, **cells.defines}, beside)
                inputs = {"A": rest.front, "D": self.sums[1]}
                uniforms: dict[str, Uniform] = {"k": k, "slices": count, "shape": self.shape, **cells.grid}
                draft.draw("qr/reflect", inputs, rest.back, uniforms, cells.defines, left)
                rest.swap()


def add_pairs(draft: Draft, packed_: str, shape: Shape, cells: Cells) -> str:
    """Add the pass of T of each pair of reflectors; give its slot, a row of texels."""
    result = draft.slot("T", cells.storage(1, texels(min(shape))))
    uniforms: dict[str, Uniform] = {"height": texels(shape[0]), **cells.grid}
    draft.draw("qr/pairs", {"H": packed_}, result, uniforms, cells.defines)
    return result


def add_applied(
    draft: Draft, packed_: str, t: str, start: str, shape: Shape, columns: int, limits: Limits, cells: Cells
) -> str:
    """Add the passes of H_1 H_2 ... H_k B, from the last pair on; give its slot."""
    height, size = texels(shape[0]), (shape[0], columns)
    found = PingPong(draft, "B", cells.matrix(size), start)
    sums = draft.slot("W", cells.storage(slices(height, limits)[0], texels(columns)))
    for turn, k in enumerate(reversed(range(texels(min(shape))))):
        count, chunk = slices(height - k, limits)
        with draft.scope("pair", turn):
            inputs = {"H": packed_, "Q": found.front}
            uniforms: dict[str, Uniform] = {"k": k, "height": height, "chunk": chunk, **cells.grid}
            draft.draw("qr/project", inputs, sums, uniforms, cells.defines, cells.region(0, 0, texels(columns), count))
            inputs = {"H": packed_, "T": t, "Q": found.front, "W": sums}
            uniforms = {"k": k, "slices": count, "shape": size, **cells.grid}
            draft.draw("qr/apply", inputs, found.back, uniforms, cells.defines)
            found.swap()
    return found.front


@cached_plan
def reflectors(shape: Shape, limits: Limits) -> Plan:
    """Plan of the reflectors, two columns a step: operand ``A``, result ``H``. 3 ceil(min(m, n) / 2) passes."""
    draft = Draft("qr/reflectors")
    source = draft.operand("A", matrix(shape))
    return draft.plan({"H": add_reflectors(draft, source, shape, limits, SINGLE)})


@cached_plan
def pairs(shape: Shape) -> Plan:
    """Plan of T of each pair of reflectors: operand ``H``, result ``T``, a row of texels. One pass."""
    draft = Draft("qr/pairs")
    return draft.plan({"T": add_pairs(draft, draft.operand("H", matrix(shape)), shape, SINGLE)})


@cached_plan
def applied(shape: Shape, columns: int, limits: Limits) -> Plan:
    """Plan of H_1 H_2 ... H_k B, from the last pair on, two passes for each.

    Operands ``H``, ``T`` and ``B``; result ``B``.

    `shape`: of the matrix that was factored. `columns`: of B.
    """
    draft = Draft("qr/applied")
    h, t = draft.operand("H", matrix(shape)), draft.operand("T", Storage(1, texels(min(shape))))
    start = draft.operand("B", matrix((shape[0], columns)))
    return draft.plan({"B": add_applied(draft, h, t, start, shape, columns, limits, SINGLE)})


@cached_plan
def upper(source: Shape, shape: Shape, keep: bool = False) -> Plan:
    """Plan of R, `shape`, from the factors, with columns scaled back; `keep` leaves entries below the diagonal."""
    draft = Draft("qr/upper")
    inputs = {"H": draft.operand("H", matrix(source))}
    inputs["column_exponents"] = draft.operand("column_exponents", Storage(texels(source[1]), 1))
    result = draft.slot("R", matrix(shape))
    draft.draw("qr/upper", inputs, result, {"shape": shape}, {"KEEP": int(keep)})
    return draft.plan({"R": result})
