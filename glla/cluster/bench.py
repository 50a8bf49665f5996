"""`glla cluster bench`: the cluster's speed, the predicted times, and the measured times of products and factors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.cluster.algorithms import ColumnPLU, factorisation, plan
from glla.cluster.columns import ColumnFactoring, exchange_rows, store_columns
from glla.cluster.engines import Engine, Host
from glla.cluster.execute import execute, pack
from glla.cluster.grids import DistributedMatrix, Grid
from glla.cluster.lapack import permutation, pivoted, pivoted_columns, solve_lower
from glla.cluster.layout import Layout
from glla.cluster.linalg import lu_factor, matmul, solve, times
from glla.cluster.messages import Channel, Communicator
from glla.cluster.model import Parameters, predict, simulate
from glla.cluster.steps import Receive, Send
from glla.gl.clock import clock
from glla.hybrid.cores import own_cores
from glla.operations.acceptance import UNIT_ROUNDOFF

BIG = 1 << 22
"""Bytes of the message that measures the network's bandwidth."""

REPEATS = 5
"""Repetitions of each measurement; the best one counts."""


def _best(work: Callable[[], Any]) -> float:
    """Shortest time of some calls, in seconds; the first one is not counted."""
    work()
    return max(min(clock(work)[0] for _ in range(REPEATS)), 1e-9)


def _ping(grid: Grid, nbytes: int) -> float:
    """Seconds for a message between ranks 0 and 1."""
    data = np.zeros(nbytes, dtype=np.uint8)

    def there_and_back() -> None:
        if grid.rank == 0:
            grid.channel.send("part", data, 1)
            grid.channel.receive(grid.channel.expect("part", nbytes, 1), "part", 1)
        elif grid.rank == 1:
            grid.channel.receive(grid.channel.expect("part", nbytes, 0), "part", 0)
            grid.channel.send("part", data, 0)

    return _best(there_and_back) / 2


def measure(grid: Grid, n: int, nb: int) -> Parameters:
    """Measure the speed of the ranks, all at once; the slowest rank counts. Called by all ranks.

    `grid`: the grid to measure. `n`, `nb`: order of the intended matrix, and its block size: rates depend on them.
    """
    with grid.operation():
        latency, big = (_ping(grid, 8), _ping(grid, BIG)) if grid.size > 1 else (0.0, 1e-12)
        measured = _measured_columns if grid.shape[0] == 1 else _measured_blocks
        seconds = {"latency": latency, "network": big, **measured(grid, n, nb)}
        slowest = grid.total(np.array(list(seconds.values())), largest=True).tolist()
    found = dict(zip(seconds, slowest, strict=True))
    found["network"] = max(found["network"] - found["latency"], 1e-12) / BIG
    per_second = {name: 1 / value if value else inf for name, value in found.items() if name not in SECONDS}
    return Parameters(**(found | per_second))


SECONDS = ("latency", "step", "issue")
"""Parameters in seconds; the others are amounts per second."""


def _measured_columns(grid: Grid, n: int, nb: int) -> dict[str, float]:
    """Seconds per operation, byte and step, with one process row, of a matrix of which a quarter is factored."""
    P, Q = grid.shape
    rows, columns = (max(nb, 3 * n // (4 * each) // 2 * 2) for each in (P, Q))
    rng, engine, b = np.random.default_rng(grid.rank), grid.engine, nb
    panel, upper = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((b, rows), (b, columns)))
    order, block = np.arange(rows + b), _block(b)

    def loaded() -> None:
        engine.columns(upper).finish()

    byte = _best(loaded) / upper.nbytes if engine.asynchronous else 0.0
    triangle = _best(lambda: _exchange(engine, upper))
    triangle = max(triangle - 2 * byte * upper.nbytes, triangle / 8)
    held = engine.columns(np.zeros((rows + b, columns), dtype=np.float32))
    held.exchange(order, block, panel)

    def updates() -> None:
        for _ in range(QUEUED):
            held.update()
        held.finish()

    product = _best(updates) / QUEUED
    packed, half = np.full((rows, columns), 1, dtype=np.float32), columns // 2
    moved = permutation(np.arange(b) + rng.integers(0, max(1, rows - b), b), rows)

    def stored() -> None:
        exchange_rows(packed[:, :half], moved, grid.channel.communicator.nudge)
        store_columns(packed[:, half : half + b], panel[:, :rows][: packed.shape[1] - half], lambda: None)

    copied = _best(stored) / (4 * b * (2 * half + rows))
    issue = _best(lambda: _issued(engine, b)) / ISSUED if engine.asynchronous else 0.0
    return {
        "rate": product / (2 * rows * b * columns),
        "panel_rate": _best(lambda: _panel_by_columns(panel)) / (rows * b * b),
        "triangle_rate": triangle / (b * b * columns),
        "bus": byte,
        "memory": copied,
        "step": _best(_steps_alone) / STEPS_ALONE,
        "issue": max(0.0, issue - 4 * b**3 * product / (2 * rows * b * columns)),
    }


QUEUED = 4
"""Products that are queued before the first one is waited for, as a factorisation does."""

ISSUED = 3
"""Steps of the engine in `_issued`; their products have 4 b^3 operations each on average."""


def _issued(engine: Engine, b: int) -> None:
    """Run the engine's steps of a panel of a matrix so small that they consist of draw calls only."""
    held = engine.columns(np.zeros((3 * b, 3 * b), dtype=np.float32))
    upper = held.exchange(np.arange(3 * b), _block(b), np.zeros((b, 2 * b), dtype=np.float32))
    panel = held.split(np.empty((b, 2 * b), dtype=np.float32))
    held.update()
    for one in (panel, upper):
        one.result()


STEPS_ALONE = 8 * 32
"""Steps of the host in `_steps_alone`: eight for each of 32 panels."""


def _steps_alone() -> None:
    """Factor a matrix so small that only the overhead of its steps counts."""
    steps = ColumnPLU(Layout((64, 64), 2, (1, 1)), 0, 0, look_ahead=False)
    actor = ColumnFactoring(steps, np.eye(64, dtype=np.float32), Host())
    execute(Channel(Communicator(), 1, 1), steps.steps(), actor)


def _measured_blocks(grid: Grid, n: int, nb: int) -> dict[str, float]:
    P, Q = grid.shape
    rows, columns = max(nb, n // P), max(nb, n // Q)
    rng = np.random.default_rng(grid.rank)
    left, right = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((rows, nb), (nb, columns)))
    part = grid.engine.trailing(np.zeros((rows, columns), dtype=np.float32))
    wanted = np.arange(nb, dtype=np.int64)
    part.update(left, right).result()

    def update() -> None:
        part.update(left, right)
        part.rows(wanted[:2]).result()  # waits

    product = _best(update)
    byte = _best(lambda: part.rows(wanted).result()) / (4 * nb * columns) if grid.engine.asynchronous else 0.0
    product = max(product - (left.nbytes + right.nbytes) * byte, product / 8)  # without their transfer to the engine
    return {
        "rate": product / (2 * rows * nb * columns),
        "panel_rate": _best(lambda: _panel(left)) / (rows * nb * nb),
        "triangle_rate": _best(lambda: _triangle(left[:nb], right)) / (nb * nb * columns),
        "bus": byte,
    }


def _panel(values: NDArray[np.float32]) -> None:
    """Do the host's work on a panel, including its packing into a message."""
    factors, order = pivoted(values)
    pack(order, factors[order])


def _panel_by_columns(values: NDArray[np.float32]) -> None:
    """Do the host's work on a panel stored by columns, including its packing into a message."""
    part = values.copy()  # it is overwritten, as one from an engine
    np.isfinite(part).all()
    factors, exchanges = pivoted_columns(part)
    pack(exchanges, factors)
    permutation(exchanges, values.shape[1])


def _block(b: int) -> NDArray[np.float32]:
    """L and U of a block, by columns, with small multipliers of many digits, as in most matrices."""
    return np.eye(b, dtype=np.float32) + np.triu(np.full((b, b), 0.001, dtype=np.float32), 1)


def _exchange(engine: Engine, values: NDArray[np.float32]) -> None:
    """Solve for rows of U on the engine, after uploading them, and read them back."""
    held, b = engine.columns(values), len(values)
    upper = held.exchange(np.arange(b), _block(b), np.empty((b, 0), dtype=np.float32))
    held.update()
    upper.result()


def _triangle(lower: NDArray[np.float32], right: NDArray[np.float32]) -> None:
    """Do the host's work for U: collect and send pivot rows, solve, and send U with the replaced rows."""
    rows = np.zeros_like(right)
    rows[:] = right
    pack(rows)
    pack(rows, rows, solve_lower(lower, rows))


def send_all(grid: Grid, n: int, nb: int, variant: str = "tournament") -> None:
    """Send and receive every message of a factorisation, without computing. Called by all ranks.

    `grid`: the grid. `n`, `nb`: order and blocks. `variant`: pivoting variant.
    """
    every = factorisation(Layout((n, n), nb, grid.shape), grid.p, grid.q, variant, False).steps()
    messages = [step for step in every if isinstance(step, Send | Receive)]
    data = np.zeros(max((step.nbytes for step in messages), default=0), dtype=np.uint8)
    with grid.operation():
        for step in messages:
            if isinstance(step, Send):
                grid.channel.send(step.name, data[: step.nbytes], step.to)
            else:
                grid.channel.receive(grid.channel.expect(step.name, step.nbytes, step.source), step.name, step.source)


def hpl_residual(a: DistributedMatrix, x: Any, b: Any) -> float:
    """HPL's residual, norm(A x - b) / (u (norm(A) norm(x) + norm(b)) n) in infinity norms; 16 passes. Collective."""
    grid, n = a.grid, a.shape[0]
    with grid.operation():
        product, sums = times(a, x.astype(np.float64)), times(a, np.ones(n), absolute=True)
    size = sums.max() * np.abs(x).max() + np.abs(b).max()
    return float(np.abs(product - b).max() / (UNIT_ROUNDOFF * size * n))


def product_residual(a: DistributedMatrix, b: DistributedMatrix, c: DistributedMatrix) -> float:
    """Error of C = A B along a vector x of signs, over k u abs(A) abs(B) abs(x); 1 is allowed. Called by all ranks."""
    grid, k = a.grid, a.shape[1]
    x = np.random.default_rng(2007).choice([-1.0, 1.0], size=b.shape[1])
    with grid.operation():
        made, right = times(c, x), times(b, x)
        difference = np.abs(made - times(a, right))
        bound = times(a, times(b, np.abs(x), absolute=True), absolute=True)
        ratios = difference / np.maximum(bound, np.finfo(np.float64).tiny)
        return float(ratios.max(initial=0) / (max(1, k) * UNIT_ROUNDOFF))


def bench(grid: Grid, n: int, nb: int, variant: str, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure the ranks, predict, then run a product and a solution; called by all ranks, rank 0 prints.

    All numbers, in SI units; on rank 0, elsewhere without the description of the ranks.
    `grid`: the grid. `n`, `nb`: order and blocks. `variant`: pivoting variant. `say`: prints a line.
    """
    with grid.operation():
        ranks = [json.loads(text) for text in grid.collect(json.dumps(grid.describe()).encode())]
    for one in ranks:
        gpu = "" if one["cuda"] is None else f", CUDA device {one['cuda']}"
        say(f"rank {one['rank']}, process {tuple(one['process'])}: {one['engine']}{gpu} on {one['machine']}")
    crowded = any(one["ranks_on_machine"] > own_cores() for one in ranks)
    if crowded:
        say(f"more ranks than cores ({own_cores()}) on a machine: results are checked, times mean nothing")
    schedule = plan("plu", n, nb, grid.shape, variant=variant, look_ahead=grid.look_ahead)
    parameters = measure(grid, n, nb)
    closed = predict(n, nb, grid.shape, parameters, look_ahead=grid.look_ahead)
    simulated = simulate(schedule, parameters).seconds
    between = f"{1e6 * parameters.latency:.3g} us, {parameters.network / 1e9:.3g} GB/s between ranks; "
    if not crowded:
        say(
            f"measured: {between if grid.size > 1 else ''}product "
            f"{parameters.rate / 1e9:.3g}, panel {parameters.panel_rate / 1e9:.3g}, triangle "
            f"{parameters.triangle_rate / 1e9:.3g} GFLOP/s; bus {parameters.bus / 1e9:.3g} GB/s"
        )
        say(f"predicted: PLU {closed.seconds:.4g} s by the closed form, {simulated:.4g} s by simulation")
    a = DistributedMatrix.from_function(grid, entries, (n, n), nb)
    b = np.cos(np.arange(n, dtype=np.float64))
    lu_factor(a, variant=variant)  # compiles, and warms up
    diagnostics = {}
    for name, work, flop in (
        ("product", lambda: matmul(a, a), 2 * n**3),
        ("plu", lambda: lu_factor(a, variant=variant), 2 * n**3 / 3),
    ):
        with grid.operation():
            pass
        diagnostics[name] = seconds = clock(work)[0]
        if not crowded:
            ratio = f", {seconds / simulated:.2f} times the simulated time" if name == "plu" else ""
            say(f"{name}, n = {n}: {seconds:.4g} s, {flop / seconds / 1e9:.4g} GFLOP/s{ratio}")
    x = solve(a, b, variant=variant)
    residual = hpl_residual(a, x, b)
    verdict = "passed" if residual < 16 else "FAILED"
    say(f"solution, n = {n}, on {grid.shape[0]} x {grid.shape[1]} processes: HPL residual {residual:.3g}: {verdict}")
    return {
        "n": n, "nb": nb, "grid": grid.shape, "variant": variant, "look_ahead": grid.look_ahead, "ranks": ranks,
        "parameters": asdict(parameters), "predicted_seconds": closed.seconds, "simulated_seconds": simulated,
        "seconds": diagnostics, "times_mean_something": not crowded, "hpl_residual": residual,
    }  # fmt: skip


def entries(i: Any, j: Any) -> NDArray[np.float32]:
    """Pseudorandom entries in [-1, 1) as a function of their indices, so that every rank makes its own."""
    i, j = (np.asarray(one).astype(np.uint32) for one in (i, j))  # products are modulo 2^32
    mixed = i * np.uint32(2654435761) + j * np.uint32(40503)
    mixed += (i ^ j) * np.uint32(97)
    for factor in (2246822519, 3266489917):
        mixed ^= mixed >> np.uint32(15 if factor == 2246822519 else 13)
        mixed *= np.uint32(factor)
    mixed ^= mixed >> np.uint32(16)
    found: NDArray[np.float32] = (mixed >> np.uint32(8)).astype(np.float32)
    found *= np.float32(2.0**-23)
    found -= 1
    return found
