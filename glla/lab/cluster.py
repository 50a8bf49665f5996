"""A cluster on the command line: ranks that end together, time lines of ranks, and a picture of predictions."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glla import cluster
from glla.cluster import mpi
from glla.cluster.timeline import Timeline, recording
from glla.errors import OptionError
from glla.lab import plots, timeline
from glla.lab.extra import check_writable, require

SAID = 31999
"""Tag of messages between ranks that come to their end."""


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


def said_once(mpi: Any, text: str) -> list[str]:
    """Error messages for this rank to print: rank 0 receives those of the others, and prints each text once.

    A rank whom rank 0 does not hear says its own.
    """
    comm, end = mpi.COMM_WORLD, time.monotonic() + 1
    if comm.rank:
        heard = comm.issend(text, 0, SAID)
        while not heard.Test():
            if time.monotonic() > end + 1:
                return [f"rank {comm.rank}: {text}"]
            time.sleep(0.01)
        time.sleep(1)  # rank 0 says it, and ends all
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

    `operation`: a key of `TRACED`. `size`: order of the matrix; blocks are an eighth of it. `ranks`: threads of this
    process, each with an engine; under mpiexec its ranks are taken instead. `output`: a file ending in .json
    (Perfetto), .png, .svg or .pdf. `seed`: of the matrix.
    Raises OptionError: no such operation or format.
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


def draw(n: int, nb: int, shape: tuple[int, int], parameters: cluster.Parameters, look_ahead: bool, path: Path) -> None:
    """Draw time and efficiency over the number of nodes, for one matrix and for one share of each node.

    `n`, `nb`: order and block of the largest matrix. `shape`: grid of the most nodes. `parameters`: of the cluster.
    `look_ahead`: as for `glla.cluster.predict`. `path`: the picture: png, svg or pdf.
    Raises OptionError: a picture has another ending.
    """
    most = shape[0] * shape[1]
    counts = [*(1 << bit for bit in range(most.bit_length()) if 1 << bit < most), most]
    one = n / most**0.5

    def points(order: Callable[[int], int]) -> Sequence[cluster.Prediction]:
        return [
            cluster.predict(order(count), nb, shape if count == most else count, parameters, look_ahead=look_ahead)
            for count in counts
        ]

    strong, weak = points(lambda count: n), points(lambda count: max(1, round(one * count**0.5)))
    with plots.drawn(path, (10, 4), 150) as figure:
        left, right = figure.subplots(1, 2)
        for found, label in ((strong, f"one matrix, n = {n}"), (weak, "the same bytes on every node")):
            left.loglog(counts, [one.seconds for one in found], "o-", label=label)
            right.semilogx(counts, [one.efficiency for one in found], "o-", label=label)
            for count, each in zip(counts, found, strict=True):
                right.annotate(each.binds, (count, each.efficiency), fontsize=6, rotation=30)
        left.set(xlabel="nodes", ylabel="seconds, predicted", title="Time of PLU")
        right.set(xlabel="nodes", ylabel="of the engines' rate", title="Efficiency, and what binds", ylim=(0, 1.05))
        left.legend()
