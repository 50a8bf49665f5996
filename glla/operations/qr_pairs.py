"""QR two columns at a time: the passes of Householder's reflections, and of their application.

A step takes three passes: inner products with the first column, those with the second one after the first reflection,
which is applied on the way, and the two reflections of all that remains.
"""

from __future__ import annotations

from glla.passes import Draft, Limits, PingPong, Plan, Region, Storage, Uniform, matrix
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape, texels

SLICE, SLICES = 64, 32
"""Texels of a column that a fragment sums on a GPU, and most slices; a guess: a fetch that waits for nothing takes as
long as one fragment needs for a trip. A software rasteriser sums each column in one piece."""


def slices(height: int, limits: Limits) -> tuple[int, int]:
    """How many slices a column of texels is cut into for a sum, and the texels of each.

    >>> slices(1000, Limits()), slices(1000, Limits(software=True))
    ((16, 63), (1, 1000))
    """
    count = 1 if limits.software else min(-(-height // SLICE), SLICES)
    return count, -(-height // count)


@cached_plan
def reflectors(shape: Shape, limits: Limits) -> Plan:
    """Plan of the reflectors, two columns a step: operand ``A``, result ``H``. 3 ceil(min(m, n) / 2) passes."""
    height, width = (texels(side) for side in shape)
    draft = Draft("qr/reflectors")
    rest = PingPong(draft, "H", matrix(shape), draft.operand("A", matrix(shape)))
    for k in range(texels(min(shape))):
        count, chunk = slices(height - k, limits)
        size: dict[str, Uniform] = {"k": k, "height": height, "chunk": chunk}
        sums = [draft.slot(f"sums_{name}_{k}", Storage(count, width)) for name in ("first", "both")]
        beside, last = Region(k, 0, width - k, count), max(k - 1, 0)
        left = Region(last, last, width - last, height - last)  # what is final lies in both textures a step later
        with draft.scope("step", k):
            draft.draw("qr/dots", {"A": rest.front}, sums[0], size, {"SECOND": 0}, beside)
            cut = {**size, "slices": count}
            draft.draw("qr/dots", {"A": rest.front, "D": sums[0]}, sums[1], cut, {"SECOND": 1}, beside)
            inputs = {"A": rest.front, "D": sums[1]}
            draft.draw("qr/reflect", inputs, rest.back, {"k": k, "slices": count, "shape": shape}, {}, left)
            rest.swap()
    return draft.plan({"H": rest.front})


@cached_plan
def pairs(shape: Shape) -> Plan:
    """Plan of T of each pair of reflectors: operand ``H``, result ``T``, a row of texels. One pass."""
    draft = Draft("qr/pairs")
    source = draft.operand("H", matrix(shape))
    result = draft.slot("T", Storage(1, texels(min(shape))))
    draft.draw("qr/pairs", {"H": source}, result, {"height": texels(shape[0])})
    return draft.plan({"T": result})


@cached_plan
def applied(shape: Shape, columns: int, limits: Limits) -> Plan:
    """Plan of H_1 H_2 ... H_k B, from the last pair on, two passes for each.

    Parameters
    ----------
    shape : tuple of int
        Of the matrix that was factored.
    columns : int
        Of B.
    limits : Limits
        Of the device.

    Returns
    -------
    Plan
        Operands ``H``, ``T`` and ``B``; result ``B``.
    """
    height, pairs_ = texels(shape[0]), texels(min(shape))
    size = (shape[0], columns)
    draft = Draft("qr/applied")
    given = {"H": draft.operand("H", matrix(shape)), "T": draft.operand("T", Storage(1, pairs_))}
    found = PingPong(draft, "B", matrix(size), draft.operand("B", matrix(size)))
    for k in reversed(range(pairs_)):
        count, chunk = slices(height - k, limits)
        sums = draft.slot(f"W_{k}", Storage(count, texels(columns)))
        with draft.scope("pair", k):
            inputs = {"H": given["H"], "Q": found.front}
            draft.draw("qr/project", inputs, sums, {"k": k, "height": height, "chunk": chunk})
            inputs = {**given, "Q": found.front, "W": sums}
            uniforms: dict[str, Uniform] = {"k": k, "slices": count, "shape": size}
            draft.draw("qr/apply", inputs, found.back, uniforms, {"TRANSPOSED": 0})
            found.swap()
    return draft.plan({"B": found.front})


@cached_plan
def upper(source: Shape, shape: Shape, keep: bool = False) -> Plan:
    """Plan of R, `shape`, from the factors, with columns scaled back; `keep` leaves what is below the diagonal."""
    draft = Draft("qr/upper")
    inputs = {"H": draft.operand("H", matrix(source))}
    inputs["column_exponents"] = draft.operand("column_exponents", Storage(texels(source[1]), 1))
    result = draft.slot("R", matrix(shape))
    draft.draw("qr/upper", inputs, result, {"shape": shape}, {"KEEP": int(keep)})
    return draft.plan({"R": result})
