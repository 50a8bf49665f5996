"""QR two columns at a time: the passes of Householder's reflections, and of their application.

A step takes three passes: inner products with the first column, those with the second one after the first reflection,
which is applied on the way, and the two reflections of all that remains.
"""

from __future__ import annotations

from functools import partial

from glla.operations.batches.stack import SINGLE, Cells
from glla.passes import Draft, Limits, PingPong, Plan, Storage, Uniform, matrix, single_pass
from glla.passes.cache import cached_plan
from glla.passes.glsl.find import Define
from glla.passes.layout import Shape, packed, texels

SLICE, SLICES = 64, 32
"""Texels of a column that one fragment sums on a GPU, and the most slices of a column; both are guesses. A software
rasteriser sums each column in one piece."""


AT_ONCE = 8
"""Texels of a sum that a GPU fetches at once; it waits for each fetch."""


def slices(height: int, limits: Limits) -> tuple[int, int]:
    """How many slices a column of texels is cut into for a sum, and the texels of each, as ``qr/step.glsl`` counts.

    >>> slices(1000, Limits()), slices(1000, Limits(software=True))
    ((16, 63), (1, 1000))
    """
    count = min(-(-height // SLICE), _most(limits))
    return count, -(-height // count)


def at_once(limits: Limits) -> dict[str, Define]:
    """Define of the texels that are fetched at once."""
    return {} if limits.software else {"AT_ONCE": AT_ONCE}


def _most(limits: Limits) -> int:
    """Most slices of a column."""
    return 1 if limits.software else SLICES


def add_reflectors(draft: Draft, source: str, shape: Shape, limits: Limits, cells: Cells) -> str:
    """Add the steps of a factorisation; give the slot of R with the reflectors below its diagonal."""
    return Steps(draft, shape, limits, cells).add(source, shape)


class Steps:
    """Adds steps of factorisations of matrices up to a shape; with a `barrier` the results are temporaries."""

    def __init__(self, draft: Draft, shape: Shape, limits: Limits, cells: Cells, barrier: bool = False) -> None:
        self.draft, self.limits, self.cells, self.barrier = draft, limits, cells, barrier
        self.rest = PingPong(draft, "H", cells.matrix(shape), "")
        storage = cells.storage(slices(texels(shape[0]), limits)[0], texels(shape[1]))
        self.sums = [draft.slot(f"sums_{name}", storage) for name in ("first", "both")]

    def add(self, source: str, shape: Shape) -> str:
        """Add the steps of one; give the slot of R with the reflectors below its diagonal."""
        rest, cells, (height, width) = self.rest, self.cells, packed(shape)
        uniforms: dict[str, Uniform] = {"size": (height, width), "most": _most(self.limits), **cells.grid}
        defines = {**cells.defines, **at_once(self.limits)}
        first, both = self.sums
        rest.front = source
        for k in range(min(width, height)):
            beside = cells.region(k, 0, width - k, slices(height - k, self.limits)[0])
            last = max(k - 1, 0)  # final texels are in both textures by then
            left = cells.region(last, last, width - last, height - last)
            with self.draft.scope("step", k):
                draw = partial(self.draft.draw, step=k, barrier=self.barrier)
                draw("qr/dots", {"A": rest.front}, first, uniforms, {"SECOND": 0, **defines}, beside)
                inputs = {"A": rest.front, "D": first}
                draw("qr/dots", inputs, both, uniforms, {"SECOND": 1, **defines}, beside)
                inputs = {"A": rest.front, "D": both}
                draw("qr/reflect", inputs, rest.back, {**uniforms, "shape": shape}, defines, left)
            rest.swap()
        return rest.front


def add_pairs(draft: Draft, packed_: str, shape: Shape, cells: Cells) -> str:
    """Add the pass of T of each pair of reflectors; give its slot, a row of texels."""
    made, uniforms = {"T": cells.storage(1, texels(min(shape)))}, {"height": texels(shape[0]), **cells.grid}
    return draft.draw("qr/pairs", {"H": packed_}, made, uniforms, cells.defines)["T"]


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
            defines = {**cells.defines, **at_once(limits)}
            draft.draw("qr/project", inputs, sums, uniforms, defines, cells.region(0, 0, texels(columns), count))
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
    given = {"H": matrix(source), "column_exponents": Storage(texels(source[1]), 1)}
    return single_pass("qr/upper", "qr/upper", given, {"R": matrix(shape)}, {"shape": shape}, {"KEEP": int(keep)})
