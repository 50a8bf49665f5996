"""Matrix product C = A B."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from glla.errors import OptionError
from glla.layout import texels
from glla.passes import Draft, Limits, PingPong, Plan, Uniform, Variant, matrix

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
}


def choose(m: int, k: int, n: int, limits: Limits) -> str:
    """Pick the variant: `inner_product` is the fastest of the three on every device measured so far.

    242 GFLOP/s against 16 for the virtual cube on an NVIDIA H200 at n = 4096, 6.4 against 2.4 to 4 on llvmpipe at
    n = 512 (prototype figures; the comparison is repeated by the benchmarks).
    """
    return "inner_product"


@lru_cache(maxsize=128)
def plan(
    m: int, k: int, n: int, variant: str = "inner_product", limits: Limits | None = None, onto: bool = False
) -> Plan:
    """Plan of the product of an m x k and a k x n matrix, k > 0.

    Parameters
    ----------
    m, k, n : int
        Rows of A, inner dimension, columns of B.
    variant : str
        A key of `VARIANTS`.
    limits : Limits, optional
        The loop limit decides into how many passes `inner_product` splits its sum.
    onto : bool
        Add to a matrix given as operand ``C0``: an inner dimension too long for a texture comes in slabs.

    Returns
    -------
    Plan
        Operands ``A`` and ``B`` (and ``C0``), result ``C``, all packed. 2 m k n flop.
    """
    builders: dict[str, Callable[[Draft, Sizes, str, Limits], str]] = {
        "inner_product": _inner_product,
        "virtual_cube": _virtual_cube,
        "virtual_cube_ping_pong": _virtual_cube_ping_pong,
    }
    if variant not in builders:
        raise OptionError(f"matmul: variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    draft = Draft(f"matmul[{variant}]")
    draft.operand("A", matrix((m, k)))
    draft.operand("B", matrix((k, n)))
    start = draft.operand("C0", matrix((m, n))) if onto else ""
    result = builders[variant](draft, (m, k, n), start, limits or Limits())
    return draft.plan({"C": result}, flops=2 * m * k * n)


def _inner_product(draft: Draft, sizes: Sizes, start: str, limits: Limits) -> str:
    """One pass, or as few as the loop limit allows; a later pass goes on from the sum of the one before."""
    m, k, n = sizes
    inner, most = texels(k), limits.loop_trips
    sums = PingPong(draft, "C", matrix((m, n)), start)
    for first in range(0, inner, most):
        inputs = {"A": "A", "B": "B"} | ({"C": sums.front} if sums.front else {})
        uniforms: dict[str, Uniform] = {"first": first, "count": min(most, inner - first), "shape": (m, n)}
        draft.draw("matmul/inner_product", inputs, sums.back, uniforms, {"CONTINUE": int(bool(sums.front))})
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
