"""`glla cluster`: plan, predict, measure and trace a cluster."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from glla import cluster
from glla.cluster import mpi
from glla.cluster.algorithms import OPERATIONS
from glla.cluster.layout import grid_shape
from glla.cluster.timeline import Timeline, recording
from glla.errors import OptionError
from glla.lab import timeline
from glla.lab.extra import check_writable, require

MOST_STEPS = 3_000_000
"""Steps, about, that a simulation may have: 20 for each panel and rank. It takes some ten seconds then."""

SAID = 31999
"""Tag of messages between ranks that come to their end."""

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


def add(commands: Any) -> None:
    """Add `glla cluster` to the commands of the command line."""
    group = commands.add_parser("cluster", help="several processes: predict their time, print what each one does")
    kinds = group.add_subparsers(required=True, metavar="command")
    _add_plan(kinds)
    _add_predict(kinds)
    _add_bench(kinds)


def _add_plan(kinds: Any) -> None:
    shown = kinds.add_parser("plan", help="every step of every process, with bytes and flop; needs neither MPI nor GPU")
    shown.add_argument("operation", choices=OPERATIONS)
    _add_problem(shown, n=256, nb=64, nodes="4")
    shown.add_argument("--variant", choices=tuple(cluster.VARIANTS), default="tournament", help="how pivots are found")
    shown.set_defaults(command=_plan)


def _add_predict(kinds: Any) -> None:
    predict = kinds.add_parser(
        "predict",
        help="time, efficiency, and what binds, of a factorisation on many nodes",
        description="Predict a PLU factorisation by the closed form of glla.cluster.model, and where it is small "
        "enough by playing every process's steps through. The rates of panels and triangles are assumed, not "
        "measured; `glla cluster bench` measures all of a cluster.",
    )
    _add_problem(predict, n=1048576, nb=512, nodes="1024")
    for name, (unit, what) in UNITS.items():
        usual = getattr(cluster.Parameters(), name) / unit
        predict.add_argument(
            f"--{name.replace('_', '-')}", type=float, default=usual, metavar="X", help=f"{what} ({usual:g})"
        )
    predict.add_argument("--plot", type=Path, metavar="PNG", help="draw time and efficiency by the number of nodes")
    predict.set_defaults(command=_predict)


def _add_bench(kinds: Any) -> None:
    bench = kinds.add_parser(
        "bench",
        help="measure a cluster, predict, run and check a product, factors and a solution; start it by mpiexec",
        description="Start it by `mpiexec -n 4 python -m glla cluster bench`; without mpiexec it is one rank.",
    )
    bench.add_argument("--n", type=int, default=256, metavar="N", help="order of the matrices (256)")
    bench.add_argument("--nb", type=int, default=32, metavar="B", help="rows and columns of a block (32)")
    bench.add_argument("--grid", metavar="PxQ", help="as near to a square as can be")
    bench.add_argument("--variant", choices=tuple(cluster.VARIANTS), default="tournament", help="how pivots are found")
    bench.add_argument("--engine", choices=("glla", "numpy"), default="glla", help="what makes the products (glla)")
    bench.add_argument("--no-look-ahead", action="store_true", help="each panel waits for the update before it")
    bench.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds to wait for a message (60)")
    bench.add_argument("--json", type=Path, metavar="JSON", help="write all figures to a file")
    bench.set_defaults(command=_bench)


def _bench(options: argparse.Namespace) -> int:
    from glla.cluster.bench import bench, own_share

    def run() -> int:
        look_ahead = False if options.no_look_ahead else None
        with cluster.grid(
            shape=options.grid, engine=options.engine, timeout=options.timeout, look_ahead=look_ahead
        ) as grid:
            first = grid.rank == 0
            if first and options.json is not None:
                check_writable(options.json)
            with own_share(grid):
                found = bench(grid, options.n, options.nb, options.variant, print if first else _say_nothing)
            if first and options.json is not None:
                options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
                print(f"written: {options.json}")
            return 0 if found["hpl_residual"] < 16 else 1

    return together(run)


def _say_nothing(line: str) -> None:
    pass


def together(run: Callable[[], int]) -> int:
    """Run something on all ranks; an error on this one ends them all, where others would wait for it for ever."""
    try:
        return run()
    except BaseException as error:
        mpi = sys.modules.get("mpi4py.MPI")
        if mpi is None or not mpi.Is_initialized() or mpi.COMM_WORLD.size == 1:
            raise
        for line in said_once(mpi, f"{type(error).__name__}: {error}"):
            print(f"glla: {line}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        mpi.COMM_WORLD.Abort(1)
        os._exit(1)


def said_once(mpi: Any, text: str, seconds: float = 1.0) -> list[str]:
    """Error messages for this rank to print: rank 0 receives those of the others, and prints each text once.

    A rank whom rank 0 does not hear says its own.
    """
    comm, end = mpi.COMM_WORLD, time.monotonic() + seconds
    if comm.rank:
        heard = comm.issend(text, 0, SAID)
        while not heard.Test():
            if time.monotonic() > end + 1:
                return [f"rank {comm.rank}: {text}"]
            time.sleep(0.01)
        time.sleep(seconds)  # rank 0 says it, and ends all
        return []
    texts, heard_of = [text], 1
    while heard_of < comm.size and time.monotonic() < end:
        if comm.iprobe(mpi.ANY_SOURCE, SAID):
            other, heard_of = comm.recv(None, mpi.ANY_SOURCE, SAID), heard_of + 1
            texts += [other] if other not in texts else []
        else:
            time.sleep(0.01)
    return texts


# -- trace ------------------------------------------------------------------------------------------------------------

TRACED: dict[str, Callable[[cluster.DistributedMatrix], Any]] = {
    "plu": lambda a: cluster.lu_factor(a),
    "matmul": lambda a: cluster.matmul(a, a),
    "solve": lambda a: cluster.solve(a, np.ones(a.shape[0])),
}
"""Operations that `glla trace --ranks` runs on a random matrix."""


def trace(operation: str, size: int, ranks: int, output: Path, seed: int = 2007) -> None:
    """Record an operation on several ranks, and write their time line.

    Parameters
    ----------
    operation : str
        A key of `TRACED`.
    size : int
        Order of the matrix; blocks are an eighth of it.
    ranks : int
        Threads of this process, each with an engine; under mpiexec its ranks are taken instead.
    output : Path
        A file ending in .json (Perfetto), .png, .svg or .pdf.
    seed : int
        Of the matrix.

    Raises
    ------
    OptionError
        No such operation or format.
    """
    if operation not in TRACED:
        raise OptionError(f"trace: operation must be one of {', '.join(TRACED)} with --ranks, got {operation!r}")
    if output.suffix.lower() not in (".json", ".png", ".svg", ".pdf"):
        raise OptionError(f"trace: a file must end in .json, .png, .svg or .pdf with --ranks, got {output.name!r}")
    if output.suffix.lower() != ".json":
        require("trace", "matplotlib")
    check_writable(output)
    own = mpi.communicator()
    if own.size == 1:
        found = cluster.run(ranks, _traced, operation, size, seed)[0]
        count = ranks
    else:
        found, count = _traced(own, operation, size, seed), own.size
        if own.rank:
            return
    title = f"{operation}, n = {size}, on {count} ranks"
    if output.suffix.lower() == ".json":
        output.write_text(json.dumps(timeline.document(found, title), allow_nan=False) + "\n", encoding="utf-8")
    else:
        timeline.draw(found, title, output)
    messages = sum(1 for _ in found.messages())
    print(f"{output}: {title}, {len(found.events)} steps, {messages} messages")


def _traced(communicator: Any, operation: str, size: int, seed: int) -> Timeline:
    with cluster.grid(communicator) as grid:
        values = np.random.default_rng(seed).uniform(-1, 1, (size, size)).astype(np.float32)
        nb = max(2, size // 8 // 2 * 2)
        a = cluster.DistributedMatrix.load(grid, values, nb)
        TRACED[operation](a)  # compiles
        with recording(grid) as found:
            TRACED[operation](a)
    return found


def _add_problem(parser: argparse.ArgumentParser, n: int, nb: int, nodes: str) -> None:
    parser.add_argument("--n", type=int, default=n, metavar="N", help=f"order of the matrix ({n})")
    parser.add_argument("--nb", type=int, default=nb, metavar="B", help=f"rows and columns of a block ({nb})")
    parser.add_argument("--nodes", default=nodes, metavar="P", help=f"processes: a number, or PxQ ({nodes})")
    parser.add_argument("--no-look-ahead", action="store_true", help="each panel waits for the update before it")


def _nodes(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _plan(options: argparse.Namespace) -> int:
    schedule = cluster.plan(
        options.operation, options.n, options.nb, _nodes(options.nodes), variant=options.variant,
        look_ahead=not options.no_look_ahead,
    )  # fmt: skip
    cluster.check(schedule)
    for line in schedule.lines():
        print(line)
    print("checked: every message is received, and no ranks wait in a circle")
    return 0


def _predict(options: argparse.Namespace) -> int:
    if options.plot is not None:
        require("cluster predict", "matplotlib")
        check_writable(options.plot)
    given = {field.name: getattr(options, field.name) * UNITS[field.name][0] for field in fields(cluster.Parameters)}
    parameters, look_ahead = cluster.Parameters(**given), not options.no_look_ahead
    shape = grid_shape("predict", _nodes(options.nodes))
    print(cluster.predict(options.n, options.nb, shape, parameters, look_ahead=look_ahead))
    size = shape[0] * shape[1]
    if 20 * size * -(-options.n // options.nb) <= MOST_STEPS:
        schedule = cluster.plan("plu", options.n, options.nb, shape, look_ahead=look_ahead)
        found = cluster.simulate(schedule, parameters)
        waited = max(found.waited)
        print(
            f"simulated, every step of every process: {found.seconds:.4g} s, at most {waited:.3g} s wait for messages"
        )
    else:
        print(f"not simulated: more than {MOST_STEPS} steps; take a smaller n or fewer nodes")
    if options.plot is not None:
        draw(options.n, options.nb, shape, parameters, look_ahead, options.plot)
        print(f"written: {options.plot}")
    return 0


def _powers(most: int) -> list[int]:
    return [*(1 << bit for bit in range(most.bit_length()) if 1 << bit < most), most]


def draw(n: int, nb: int, shape: tuple[int, int], parameters: cluster.Parameters, look_ahead: bool, path: Path) -> None:
    """Draw time and efficiency over the number of nodes, for one matrix and for one share of each node.

    Parameters
    ----------
    n, nb : int
        Order and block of the largest matrix.
    shape : (int, int)
        Grid of the most nodes.
    parameters : Parameters
        Of the cluster.
    look_ahead : bool
        As for `glla.cluster.predict`.
    path : Path
        The picture: png, svg or pdf.

    Raises
    ------
    OptionError
        Matplotlib does not know the suffix.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    most = shape[0] * shape[1]
    counts = _powers(most)
    one = n / most**0.5

    def points(order: Callable[[int], int]) -> Sequence[cluster.Prediction]:
        return [
            cluster.predict(order(count), nb, shape if count == most else count, parameters, look_ahead=look_ahead)
            for count in counts
        ]

    strong, weak = points(lambda count: n), points(lambda count: max(1, round(one * count**0.5)))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for found, label in ((strong, f"one matrix, n = {n}"), (weak, "the same bytes on every node")):
        left.loglog(counts, [one.seconds for one in found], "o-", label=label)
        right.semilogx(counts, [one.efficiency for one in found], "o-", label=label)
        for count, each in zip(counts, found, strict=True):
            right.annotate(each.binds, (count, each.efficiency), fontsize=6, rotation=30)
    left.set(xlabel="nodes", ylabel="seconds, predicted", title="Time of PLU")
    right.set(xlabel="nodes", ylabel="of the engines' rate", title="Efficiency, and what binds", ylim=(0, 1.05))
    left.legend()
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise OptionError(f"predict: {path.name!r}: {error}") from None
    finally:
        plt.close(figure)
