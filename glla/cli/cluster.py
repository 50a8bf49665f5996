"""`glla cluster`: plan, predict and measure a cluster."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields
from typing import Any

from glla import cluster as ranks
from glla.cli.options import document, shared
from glla.cluster.algorithms import OPERATIONS
from glla.cluster.layout import grid_shape
from glla.errors import OptionError
from glla.lab.extra import check_writable, require

MOST_STEPS = 3_000_000
"""Steps, about, that a simulation may have: 20 for each panel and rank. It takes some ten seconds then."""

UNITS = {
    "latency": (1e-6, "us for an empty message"),
    "network": (1e9, "GB/s between two nodes"),
    "rate": (1e9, "GFLOP/s of A := A - L U on a node"),
    "panel_rate": (1e9, "GFLOP/s of a panel on a node's host"),
    "triangle_rate": (1e9, "GFLOP/s of U = L^-1 A on a node"),
    "bus": (1e9, "GB/s between host and GPU"),
    "memory": (1e9, "GB/s that a host copies"),
    "step": (1e-6, "us of a step on a host before it does anything"),
    "issue": (1e-6, "us in which a step of the GPU is issued"),
}
"""Unit of each parameter on the command line."""


def cluster(parser: argparse.ArgumentParser) -> None:
    """Add `glla cluster plan`, `predict` and `bench`."""
    kinds = parser.add_subparsers(required=True, metavar="WHAT")
    _add_plan(kinds)
    _add_predict(kinds)
    _add_bench(kinds)


def _add_plan(kinds: Any) -> None:
    shown = kinds.add_parser("plan", help="every step of every process, with bytes and flop; needs neither MPI nor GPU")
    shown.add_argument("operation", choices=OPERATIONS)
    _add_problem(shown, 256, 64, "4")
    shared(shown, table=True, device=False)
    shown.add_argument("--variant", choices=tuple(ranks.VARIANTS), default="tournament", help="search for pivots")
    shown.set_defaults(run=_plan)


def _add_predict(kinds: Any) -> None:
    predict = kinds.add_parser(
        "predict",
        help="time, efficiency, and the bottleneck of a factorisation on many nodes",
        description="Predict a PLU factorisation by the closed form of glla.cluster.model, and where it is small "
        "enough by playing every process's steps through. The rates of panels and triangles are assumed, not "
        "measured; `glla cluster bench` measures all of a cluster.",
    )
    _add_problem(predict, 1048576, 512, "1024")
    for name, (unit, about) in UNITS.items():
        usual = getattr(ranks.Parameters(), name) / unit
        predict.add_argument(
            f"--{name.replace('_', '-')}", type=float, default=usual, metavar="X", help=f"{about} ({usual:g})"
        )
    shared(predict, out="picture of time and efficiency by the number of nodes", table=True, device=False)
    predict.set_defaults(run=_predict)


def _add_bench(kinds: Any) -> None:
    bench = kinds.add_parser(
        "bench",
        help="measure a cluster, predict, run and check a product, factors and a solution; start it by mpiexec",
        description="Start it by `mpiexec -n 4 python -m glla cluster bench`; without mpiexec it is one rank.",
    )
    shared(bench, size=(256, "order of the matrices"), out="FILE.json, all figures", table=True, device=False)
    bench.add_argument("--nb", type=int, default=32, metavar="B", help="rows and columns of a block (32)")
    bench.add_argument("--grid", metavar="PxQ", help="as near to a square as can be")
    bench.add_argument("--variant", choices=tuple(ranks.VARIANTS), default="tournament", help="search for pivots")
    bench.add_argument("--engine", choices=("glla", "numpy"), default="glla", help="the products' engine (glla)")
    bench.add_argument("--no-look-ahead", action="store_true", help="each panel waits for the update before it")
    bench.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds to wait for a message (60)")
    bench.set_defaults(run=_bench)


def _add_problem(parser: argparse.ArgumentParser, size: int, nb: int, nodes: str) -> None:
    shared(parser, size=(size, "order of the matrix"), device=False)
    parser.add_argument("--nb", type=int, default=nb, metavar="B", help=f"rows and columns of a block ({nb})")
    parser.add_argument("--nodes", default=nodes, metavar="P", help=f"processes: P, or PxQ ({nodes})")
    parser.add_argument("--no-look-ahead", action="store_true", help="each panel waits for the update before it")


def _plan(options: argparse.Namespace) -> int:
    schedule = ranks.plan(
        options.operation, options.size, options.nb, options.nodes, variant=options.variant,
        look_ahead=not options.no_look_ahead,
    )  # fmt: skip
    ranks.check(schedule)
    lines = list(schedule.lines())
    checked = "checked: every message is received, and no ranks wait in a circle"
    print(document(options, None, {"steps": lines}) if options.json else "\n".join([*lines, checked]))
    return 0


def _predict(options: argparse.Namespace) -> int:
    from glla.lab.cluster import draw

    for path in options.out:
        require("cluster predict", "matplotlib")
        check_writable(path)
    given = {field.name: getattr(options, field.name) * UNITS[field.name][0] for field in fields(ranks.Parameters)}
    parameters, look_ahead = ranks.Parameters(**given), not options.no_look_ahead
    shape = grid_shape("predict", options.nodes)
    predicted = ranks.predict(options.size, options.nb, shape, parameters, look_ahead=look_ahead)
    data: dict[str, Any] = {"parameters": asdict(parameters), "predicted": asdict(predicted)}
    simulated = f"not simulated: more than {MOST_STEPS} steps; take a smaller size or fewer nodes"
    if 20 * shape[0] * shape[1] * -(-options.size // options.nb) <= MOST_STEPS:
        schedule = ranks.plan("plu", options.size, options.nb, shape, look_ahead=look_ahead)
        found = ranks.simulate(schedule, parameters)
        data["simulated_seconds"], waited = found.seconds, max(found.waited)
        simulated = f"simulated, every step of every process: {found.seconds:.4g} s, at most {waited:.3g} s of waiting"
    for path in options.out:
        draw(options.size, options.nb, shape, parameters, look_ahead, path)
    print(document(options, None, data) if options.json else f"{predicted}\n{simulated}")
    if options.out and not options.json:
        print(f"written: {', '.join(map(str, options.out))}")
    return 0


def _bench(options: argparse.Namespace) -> int:
    from glla.cluster.bench import bench
    from glla.lab.cluster import together

    if any(path.suffix != ".json" for path in options.out):
        raise OptionError("cluster bench: a file must end in .json")

    def run() -> int:
        look_ahead = False if options.no_look_ahead else None
        with ranks.grid(
            shape=options.grid, engine=options.engine, timeout=options.timeout, look_ahead=look_ahead
        ) as grid:
            first = grid.rank == 0
            for path in options.out if first else ():
                check_writable(path)
            say = print if first and not options.json else lambda line: None
            found = bench(grid, options.size, options.nb, options.variant, say)
            if first and options.json:
                print(document(options, None, found))
            for path in options.out if first else ():
                path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
                say(f"written: {path}")
            return 0 if found["hpl_residual"] < 16 else 1

    return together(run)
