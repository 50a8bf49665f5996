"""The variant that the rates of a device predict to be the fastest, against recorded times of all."""

import json
from pathlib import Path

import pytest

from benchmarks.operations import measurements
from glla.operations.product import matmul, syrk
from glla.operations.triangles import triangular
from glla.passes import Limits, resident
from glla.passes.rates import HARDWARE, SOFTWARE

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"

WITHIN = 1.15
"""Times of the chosen variant and of the best one: their quotient at most."""


def recorded():
    """Renderer, rates, operation, sizes and the times of variants of every recorded product.

    Of whole suites the newest of each renderer: earlier ones measured other shaders.
    """
    newest = {}
    for file in sorted(RESULTS.glob("*/*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        if any(one["operation"] == "matmul" for one in run.get("records") or run["cases"]):
            newest[run["renderer"]] = run
    for run in newest.values():
        times = {}
        for one in measurements(run):
            known = {"matmul": matmul.BY_RATES, "syrk": syrk.BY_RATES}.get(one.operation, {})
            if one.ok and one.variant in known.values():
                times.setdefault((one.operation, (one.size,) * 3), {})[one.variant, ()] = one.timed["ours"].median
        yield run, rates(run), times
    for file in sorted(RESULTS.glob("*/experiments/*-products.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        times = {}
        for row in run["products"]:
            found = times.setdefault(("matmul", (row["m"], row["k"], row["n"])), {})
            found[row["variant"], tuple(row["parameters"].items())] = row["seconds"]
        kind = SOFTWARE if run["software"] else HARDWARE
        yield run, kind.measured(**run["rates"]), times


def rates(run):
    ceilings = run["ceilings"]["ceilings"]
    flops, write, issue, latency = (
        ceilings[name]["value"] for name in ("fragment_fma", "write_1", "draw_uniform", "ping_pong")
    )
    kind = SOFTWARE if run["software"] else HARDWARE
    return kind.measured(1e9 * flops, 1e9 * write, 1e-6 * issue, 1e-6 * latency)


CASES = [
    pytest.param(run, rates, *one, times, id=f"{run['renderer']} {run['date'][:10]} {one[0]} {one[1]}")
    for run, rates, all_times in recorded()
    for one, times in all_times.items()
]


@pytest.mark.parametrize(("run", "rates", "operation", "sizes", "times"), CASES)
def test_the_choice_is_near_the_best_of_every_recorded_product(run, rates, operation, sizes, times):
    m, k, n = sizes
    texels = 1 << 27 if "products" in run else 0  # earlier runs had no products through buffers
    limits = Limits(32768, uniform_block=4096, buffer_texels=texels, software=run["software"], rates=rates)
    chosen = matmul.choose(resident((m, k), (k, n)), limits) if operation == "matmul" else None
    variant, parameters = chosen or syrk.choose(resident((m, k)), limits)
    assert (variant, parameters) in times, "the choice was not measured: measure it, or the variants it knows"
    assert times[variant, parameters] <= WITHIN * min(times.values())


H200 = {
    (1024, 64): (3.0, 4.4), (4096, 64): (7, 20), (1024, 256): (2.6, 2.4), (4096, 256): (24, 20),
    (1024, 1024): (8.2, 3.4), (4096, 4096): (351, 71),
}  # fmt: skip
"""Order and right-hand sides of a substitution: ms of `blocked` and of `panel_broadcast`, of `thresholds.md`."""


def substitutions():
    """Rates, sizes and times of variants of every recorded substitution on a GPU."""
    (file,) = RESULTS.glob("nvidia-h100*/experiments/*-triangular.json")
    for shape, times in json.loads(file.read_text(encoding="utf-8"))["ms of plans"].items():
        n, columns = map(int, shape.split(" x "))
        if n > triangular.CHAIN_FROM:
            yield HARDWARE, n, columns, {name: times[name][0] for name in ("blocked", "chain")}
    newest = max(RESULTS.glob("nvidia-h200*/*.json"))
    for (n, columns), pair in H200.items():
        times = dict(zip(("blocked", "panel_broadcast"), pair, strict=True))
        yield rates(json.loads(newest.read_text(encoding="utf-8"))), n, columns, times


@pytest.mark.parametrize(("known", "n", "columns", "times"), list(substitutions()))
def test_the_choice_is_near_the_best_of_every_recorded_substitution(known, n, columns, times):
    chosen, _ = triangular.choose(resident((n, n), (n, columns)), Limits(32768, rates=known))
    assert times[chosen] <= WITHIN * min(times.values())


@pytest.mark.parametrize(
    ("teraflops", "chosen", "in_blocks"),
    [
        (2, ["register_blocked", "register_blocked", "panel_broadcast", "panel_broadcast", "panel_broadcast"], 1),
        (10, ["register_blocked", "register_blocked", "panel_groups", "panel_groups", "panel_groups"], 3),
        (40, ["inner_product", "register_blocked", "register_blocked", "register_blocked", "panel_groups"], 5),
    ],
)
def test_a_faster_device_takes_fewer_passes(teraflops, chosen, in_blocks):
    """Of the same Python: on a device that is fast, issuing the passes of `panel_broadcast` would bind.

    `in_blocks`: orders up to which a substitution with as many right-hand sides takes `blocked`.
    """
    rates = HARDWARE._replace(flops=1e12 * teraflops, write=25e9 * teraflops)
    limits = Limits(texture_size=32768, uniform_block=4096, rates=rates)
    orders = (256, 512, 1024, 2048, 4096)
    assert [matmul.choose(resident((n, n), (n, n)), limits)[0] for n in orders] == chosen
    substitutions = [triangular.choose(resident((n, n), (n, n)), limits)[0] for n in orders]
    assert substitutions == ["blocked"] * in_blocks + ["panel_broadcast"] * (5 - in_blocks)
