"""The fastest variant of a product by the rates of the device, for `choose` where nothing was tuned.

Each variant's `Work` says how many flop its fragments do, padding included, in how many draws of how many fragments,
and what its other passes write. Its efficiency is measured (``benchmarks/results/thresholds.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf

from glla.operations.product import blocked_product as blocked
from glla.operations.product.register_blocks import BLOCK_COLUMNS, BLOCK_ROWS, THROUGH_BUFFERS, buffers_hold
from glla.operations.record import Choice
from glla.passes import Limits, Parameters
from glla.passes.layout import texels
from glla.passes.rates import Rates, Work

Sizes = tuple[int, int, int]
"""Rows of A, inner dimension, columns of B."""

Works = Callable[[Sizes, Limits, Rates], Iterator[tuple[Parameters, Work]]]
"""The work of a variant, for each of its parameters that come into question."""


def by_rates(
    operation: str,
    sizes: Sizes,
    limits: Limits,
    variants: Mapping[str, str],
    half: bool = False,
    turned: tuple[int, ...] = (),
) -> Choice:
    """Variant and parameters: those that were tuned on the device, else those that take the least time by its rates.

    `variants`: the operation's name of each of `WORKS`. `half`: they compute one triangle of C, but `inner_product`.
    `turned`: texels of each operand that is the transpose of a texture; only `inner_product` need not write it out.
    """
    m, k, n = sizes
    tuned = limits.tuning(operation, m, k, n)
    if tuned is not None:
        depth = dict(tuned.parameters).get("DEPTH", blocked.DEPTH)
        if tuned.variant != variants["panel_broadcast"] or blocked.panels_fit(m, k, depth, limits):
            return tuned.variant, tuned.parameters
    rates = limits.known_rates
    times = {
        (variants[kind], parameters): rates.seconds(work if kind == "inner_product" else _prepared(work, half, turned))
        for kind in variants
        for parameters, work in WORKS[kind](sizes, limits, rates)
    }
    return min(times, key=lambda one: times[one])


def _prepared(work: Work, half: bool, turned: tuple[int, ...]) -> Work:
    """Work for the lower triangle alone, or with transposes written out before."""
    work = work._replace(texels=work.texels + sum(turned), waits=work.waits + len(turned))
    return work._replace(flops=work.flops / 2, draws=-(-work.draws // 2)) if half else work


def _inner_product(sizes: Sizes, limits: Limits, rates: Rates) -> Iterator[tuple[Parameters, Work]]:
    m, k, n = sizes
    fragments = rates.shaded(texels(n), texels(m))
    yield (), Work(8 * k * fragments, 0.4 if limits.software else 0.125, 1, fragments)


def _register_blocked(sizes: Sizes, limits: Limits, rates: Rates) -> Iterator[tuple[Parameters, Work]]:
    m, k, n = sizes
    for parameters in ((), THROUGH_BUFFERS) if buffers_hold(limits, (m, k), (k, n)) else ((),):
        values = {"COLUMNS": BLOCK_COLUMNS, "ROWS": BLOCK_ROWS, **dict(parameters)}
        columns, rows = values["COLUMNS"], values["ROWS"]
        fragments = rates.shaded(-(-texels(n) // columns), -(-texels(m) // rows))
        efficiency = 1.7 if parameters else 1.0 if limits.software else 0.33
        flops = 8 * columns * rows * k * fragments
        yield parameters, Work(flops, efficiency, 1, fragments, texels(m) * texels(n), 4 if parameters else 2)


def _panel_broadcast(sizes: Sizes, limits: Limits, rates: Rates) -> Iterator[tuple[Parameters, Work]]:
    m, k, n = sizes
    strip = blocked.strip_height(m, k, limits)
    if limits.software or strip is None or not blocked.panels_fit(m, k, blocked.DEPTH, limits):
        return
    draws, fragments = -(-m // blocked.GROUP) * -(-k // blocked.DEPTH), strip * -(-n // strip)
    efficiency = _step(fragments, (800, 0.25), (1500, 0.66), (3000, 0.69), (inf, 0.75))
    flops = 2 * blocked.GROUP * blocked.padded(k) * -(-m // blocked.GROUP) * fragments
    yield (), Work(flops, efficiency, draws, fragments, _repacked(sizes), 4)


def _panel_groups(sizes: Sizes, limits: Limits, rates: Rates) -> Iterator[tuple[Parameters, Work]]:
    m, k, n = sizes
    strip = blocked.strip_height(m, k, limits, blocked.GROUPS_ROWS, blocked.BODY)
    if limits.software or strip is None:
        return
    width, groups = -(-n // (blocked.GROUPS_COLUMNS * strip)), -(-m // blocked.GROUPS_ROWS)
    for value in sorted(blocked.GROUPS):
        depth, in_block = blocked.groups_shape(m, k, value, limits)
        fragments = strip * width * min(groups, in_block)
        every, chunks = strip * width * groups, -(-k // depth)
        # A panel that is not as deep has the sums read and written more often.
        efficiency = _step(every, (20_000, 0.38), (inf, 0.56)) * (1 - value / 320)
        flops = 2 * blocked.GROUPS_ROWS * blocked.GROUPS_COLUMNS * blocked.padded(k, blocked.BODY) * every
        draws = -(-groups // in_block) * chunks
        yield (("GROUPS", value),), Work(flops, efficiency, draws, fragments, _repacked(sizes), chunks + 6)


WORKS: Mapping[str, Works] = {
    "inner_product": _inner_product,
    "register_blocked": _register_blocked,
    "panel_broadcast": _panel_broadcast,
    "panel_groups": _panel_groups,
}


def _step(fragments: int, *efficiencies: tuple[float, float]) -> float:
    """Efficiency of a pass: that of the first number of fragments that is above its own."""
    return next(efficiency for below, efficiency in efficiencies if fragments < below)


def _repacked(sizes: Sizes) -> int:
    """Texels that the passes around panels write: A twice, B and C."""
    m, k, n = sizes
    return (2 * m * k + k * n + m * n) // 4
