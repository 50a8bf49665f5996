"""Matrix product C = A B."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from glla.errors import OptionError
from glla.layout import Shape, packed, texels
from glla.passes import Block, Draft, Limits, PingPong, Plan, Region, Storage, Uniform, Variant, matrix

Sizes = tuple[int, int, int]
"""Rows of A, inner dimension, columns of B."""

VARIANTS = {
    "inner_product": Variant(
        "one pass; a fragment sums over the whole inner dimension", "Brodtkorb 2007, section 4.1.1, listing 4.1"
    ),
    "virtual_cube": Variant(
        "one pass for two inner indices, summed by float blending", "Brodtkorb 2007, section 4.1.1, listing 4.2"
    ),
    "virtual_cube_ping_pong": Variant(
        "one pass for two inner indices, summed by reading the last pass's target",
        "Brodtkorb 2007, section 4.1.1, listing 4.2",
    ),
    "register_blocked": Variant(
        "a fragment computes 4 x 2 texels of C into 8 render targets", "Jiang and Snir 2005 (several render targets)"
    ),
    "panel_broadcast": Variant(
        "16 rows of A in a uniform block at constant offsets, four inner indices of B in a texel", "glla"
    ),
}


BLOCK_ROWS, BLOCK_COLUMNS = 4, 2
"""Texels of C that one fragment of `register_blocked` computes."""

GROUP = 16
"""Rows of C that one fragment of `panel_broadcast` computes."""

DEPTH = 96
"""Inner indices of one pass: 16 x 96 multiply-adds are what the instruction cache holds."""

STRIP = 8
"""Height of a strip, so that no pass is a single texel high: a rasteriser shades 2 x 2 texels together, or 4 x 4."""

SMALL, SMALL_IN_SOFTWARE = 320, 96
"""Up to this size (cube root of m k n) one pass of `inner_product` is done before the others have shared anything."""

LARGE = 1500
"""From this size on, a GPU is faster with `panel_broadcast` than with `register_blocked`."""


def choose(m: int, k: int, n: int, limits: Limits) -> str:
    """Pick the variant.

    GFLOP/s of `inner_product`, `register_blocked` and `panel_broadcast` on an NVIDIA H200: 173, 143, 90 at n = 256;
    221, 437, 175 at 512; 250, 616, 508 at 1024; 252, 646, 828 at 2048; 238, 642, 1333 at 4096. On llvmpipe
    `register_blocked` takes 1.7 times as long as `inner_product` at n = 64, and is 1.3 to 2.5 times as fast from 128
    to 512.
    Where C has few rows or columns, most of what a fragment of either computes would lie outside it.
    See ``benchmarks/results``.
    """
    small = SMALL_IN_SOFTWARE if limits.software else SMALL
    if min(m, n) < 2 * BLOCK_ROWS * BLOCK_COLUMNS or m * k * n <= small**3:
        return "inner_product"
    groups, chunks = -(-m // GROUP), -(-k // DEPTH)
    fits = max(groups * chunks, STRIP * chunks * DEPTH // 4) <= limits.texture_size
    if not limits.software and fits and m * k * n >= LARGE**3:
        return "panel_broadcast"
    return "register_blocked"


@lru_cache(maxsize=128)
def plan(
    m: int,
    k: int,
    n: int,
    variant: str = "inner_product",
    limits: Limits | None = None,
    onto: bool = False,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Plan:
    """Plan of the product of an m x k and a k x n matrix, k > 0.

    Parameters
    ----------
    m, k, n : int
        Rows of A, inner dimension, columns of B.
    variant : str
        A key of `VARIANTS`.
    limits : Limits, optional
        The loop limit decides into how many passes a sum is split.
    onto : bool
        Add to a matrix given as operand ``C0``: an inner dimension too long for a texture comes in slabs.
    transpose_a, transpose_b : bool
        The operand's texture holds the transpose. ``inner_product`` reads it as it is; the others have it written out
        first, in a pass of its own, and call the operand ``A_transposed`` or ``B_transposed``.

    Returns
    -------
    Plan
        Operands ``A`` and ``B`` (and ``C0``), result ``C``, all packed. 2 m k n flop.
    """
    builders: dict[str, Callable[[Draft, Sizes, str, Limits], str]] = {
        "inner_product": partial(_inner_product, transposed=(transpose_a, transpose_b)),
        "virtual_cube": _virtual_cube,
        "virtual_cube_ping_pong": _virtual_cube_ping_pong,
        "register_blocked": _register_blocked,
        "panel_broadcast": _panel_broadcast,
    }
    if variant not in builders:
        raise OptionError(f"matmul: variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    draft = Draft(f"matmul[{variant}]")
    for name, shape, transposed in (("A", (m, k), transpose_a), ("B", (k, n), transpose_b)):
        _operand(draft, name, shape, transposed, in_place=variant == "inner_product")
    start = draft.operand("C0", matrix((m, n))) if onto else ""
    result = builders[variant](draft, (m, k, n), start, limits or Limits())
    return draft.plan({"C": result}, flops=2 * m * k * n)


def _operand(draft: Draft, name: str, shape: Shape, transposed: bool, in_place: bool) -> None:
    """Add an operand; a transposed one that is not read in place is written out by the first pass."""
    if not transposed:
        draft.operand(name, matrix(shape))
    elif in_place:
        draft.operand(name, matrix(shape[::-1]))
    else:
        source = draft.operand(f"{name}_transposed", matrix(shape[::-1]))
        uniforms: dict[str, Uniform] = {"lies": (1, 1, 1), "shape": shape}
        written = draft.slot(name, matrix(shape))
        draft.draw("elementwise/unary", {"A": source}, written, uniforms, {"OPERATION": "positive_of"})


def _inner_product(
    draft: Draft, sizes: Sizes, start: str, limits: Limits, transposed: tuple[bool, bool] = (False, False)
) -> str:
    """One pass, or as few as the loop limit allows; a later pass goes on from the sum of the one before."""
    m, k, n = sizes
    inner, most = texels(k), limits.loop_trips
    sums = PingPong(draft, "C", matrix((m, n)), start)
    for first in range(0, inner, most):
        inputs = {"A": "A", "B": "B"} | ({"C": sums.front} if sums.front else {})
        uniforms: dict[str, Uniform] = {"first": first, "count": min(most, inner - first), "shape": (m, n)}
        defines = {"CONTINUE": int(bool(sums.front))}
        defines |= {name: 1 for name, turn in zip(("TRANSPOSE_A", "TRANSPOSE_B"), transposed, strict=True) if turn}
        draft.draw("matmul/inner_product", inputs, sums.back, uniforms, defines)
        sums.swap()
    return sums.front


def _virtual_cube(draft: Draft, sizes: Sizes, start: str, limits: Limits) -> str:
    """A pass per slice; the first replaces the target, the others are blended onto it."""
    m, k, n = sizes
    result = draft.slot("C", matrix((m, n)))
    for number in range(texels(k)):
        onto = start if number == 0 else ""
        inputs = {"A": "A", "B": "B"} | ({"C": onto} if onto else {})
        uniforms: dict[str, Uniform] = {"slice": number, "shape": (m, n)}
        draft.draw("matmul/virtual_cube", inputs, result, uniforms, {"PING_PONG": int(bool(onto))}, None, number > 0)
    return result


def _virtual_cube_ping_pong(draft: Draft, sizes: Sizes, start: str, limits: Limits) -> str:
    """A pass per slice, each adding to what the one before drew."""
    m, k, n = sizes
    sums = PingPong(draft, "C", matrix((m, n)), start)
    for number in range(texels(k)):
        inputs = {"A": "A", "B": "B"} | ({"C": sums.front} if sums.front else {})
        uniforms: dict[str, Uniform] = {"slice": number, "shape": (m, n)}
        draft.draw("matmul/virtual_cube", inputs, sums.back, uniforms, {"PING_PONG": int(bool(sums.front))})
        sums.swap()
    return sums.front


def _register_blocked(draft: Draft, sizes: Sizes, start: str, limits: Limits) -> str:
    """One pass to 8 targets, and one that puts them together; again for each slice that the loop limit asks for."""
    m, k, n = sizes
    defines = {"ROWS": BLOCK_ROWS, "COLUMNS": BLOCK_COLUMNS}
    storage = Storage(-(-texels(m) // BLOCK_ROWS), -(-texels(n) // BLOCK_COLUMNS))
    inner, most = texels(k), limits.loop_trips
    targets = tuple(draft.slot(f"C_{i}", storage) for i in range(BLOCK_ROWS * BLOCK_COLUMNS))
    sums = PingPong(draft, "C", matrix((m, n)), start)
    for first in range(0, inner, most):
        slice_: dict[str, Uniform] = {"first": first, "count": min(most, inner - first)}
        draft.draw("matmul/register_blocked", {"A": "A", "B": "B"}, targets, slice_, defines)
        inputs = {f"C{i}": slot for i, slot in enumerate(targets)} | ({"start": sums.front} if sums.front else {})
        onto = {"ONTO": int(bool(sums.front))}
        draft.draw("matmul/interleave", inputs, sums.back, {"shape": (m, n)}, {**defines, **onto})
        sums.swap()
    return sums.front


def _panel_broadcast(draft: Draft, sizes: Sizes, start: str, limits: Limits) -> str:
    """Repack A and B; a pass for each panel of A, chunk by chunk of the inner dimension; repack C."""
    m, k, n = sizes
    groups, chunks, width = -(-m // GROUP), -(-k // DEPTH), -(-n // STRIP)
    panels = draft.slot("panels", Storage(groups * chunks, 4 * DEPTH))
    buffer = draft.slot("panel_buffer", Storage(groups * chunks, 4 * DEPTH, buffer=True))
    strips = draft.slot("strips", Storage(STRIP * chunks * DEPTH // 4, width))
    draft.draw(
        "matmul/panels",
        {"A": "A"},
        panels,
        {"groups": groups, "first_group": 0, "size": packed((m, k))},
        {"DEPTH": DEPTH},
    )
    draft.transfer(panels, buffer)
    draft.draw("matmul/strips", {"B": "B"}, strips, {"size": packed((k, n))})
    storage = Storage(STRIP * groups, width)
    pair = [tuple(draft.slot(f"C{t}_{side}", storage) for t in range(4)) for side in ("ping", "pong")]
    for chunk in range(chunks):
        before, target = pair[1 - chunk % 2], pair[chunk % 2]
        inputs = {"B": strips} | ({f"C{t}": slot for t, slot in enumerate(before)} if chunk else {})
        for group in range(groups):
            draft.draw(
                "matmul/panel_broadcast",
                inputs,
                target,
                {"first": chunk * DEPTH // 4},
                {"DEPTH": DEPTH, "CONTINUE": int(chunk > 0)},
                Region(0, STRIP * group, width, STRIP),
                blocks={"Panel": Block(buffer, (chunk * groups + group) * 4 * DEPTH, 4 * DEPTH)},
                step=group,
            )
    last = pair[(chunks - 1) % 2]
    result = draft.slot("C", matrix((m, n)))
    inputs = {f"C{t}": slot for t, slot in enumerate(last)} | ({"start": start} if start else {})
    draft.draw("matmul/assemble", inputs, result, {"shape": (m, n)}, {"ONTO": int(bool(start))})
    return result
