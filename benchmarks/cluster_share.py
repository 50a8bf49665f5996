"""What one rank of several does in a PLU, on one GPU: its share is run, the other ranks' messages are replayed.

    python -m benchmarks.cluster_share [--n 16384] [--nb 256] [--ranks 2] [--share 0,1] [--repeats 2] [--profile]
        [--output DIR] [--commit NAME]

One rank with all columns factors the matrix first; its factors hold every message that ranks of a 1 x RANKS grid would
send. Then each rank of SHARE is run alone, with its own columns on this GPU, and hears the recorded panels of the
others, in two ways:

at once     they are there when they are asked for: the rank's own work, and nothing that it would wait for
as late     the panel of another rank comes as long after this rank's last one as this rank itself took for that, plus
            the message's time on a network of RATE bytes a second: ranks alike, each with a GPU of its own

Neither is a run on several GPUs: ranks share no host and no memory here. Each line of JSON says so in "what"; all of
them go to DIR/<renderer>/share/<UTC date-time>.json. With --profile a further run says which functions the GPU's thread
spends its time in. The
columns that come out are held against those of the one rank, the pivots must be the same. So that rounding cannot
change a pivot, the matrix has one large entry in each column, in a row of its own by chance: rows change places as in
any other matrix.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import report
from benchmarks.cluster import ENVIRONMENT
from benchmarks.cluster_steps import factored, watch, watched
from glla import Device, cluster
from glla.cluster import lapack
from glla.cluster.algorithms import factorisation
from glla.cluster.engines import Gpu
from glla.cluster.grids import Grid
from glla.cluster.lapack import permutation
from glla.cluster.layout import Layout
from glla.cluster.messages import TAGS, Bytes, Channel
from glla.cluster.steps import Receive
from glla.gl import default_device

RATE = 8e9
"""Bytes a second of a message between two ranks of a host; 11.7e9 were measured on the host of two H200s."""

WAYS = ("at once", "as late")
"""When messages of the others come."""

TOP = 30
"""Functions that are listed."""

TOLERANCE = 1e-4
"""Largest difference of a factor to the one rank's, in terms of the largest entry of U."""


def dominated(n: int, seed: int = 2007) -> NDArray[np.float32]:
    """Matrix with a large entry in each column, each in another row."""
    rng = np.random.default_rng(seed)
    found = rng.random((n, n), dtype=np.float32)
    found *= 2
    found -= 1
    found[rng.permutation(n), np.arange(n)] = n
    return found


def messages(lu: NDArray[np.float32], piv: NDArray[Any], nb: int, wanted: Sequence[int]) -> dict[int, Bytes]:
    """Messages with which some panels are spread, made of the factors of all.

    A panel is sent in the order that its rows have then, not in the last one.
    """
    n, found = len(lu), dict[int, Bytes]()
    for panel in wanted:
        start, stop = panel * nb, min(n, panel * nb + nb)
        later = permutation(np.concatenate([np.arange(stop - start), piv[stop:] - start]), n - start)
        message = np.empty(8 * (stop - start) + 4 * (stop - start) * (n - start), dtype=np.uint8)
        message[: 8 * (stop - start)].view(np.int64)[:] = piv[start:stop] - start
        factors = np.empty((n - start, stop - start), dtype=np.float32)
        factors[later] = lu[start:, start:stop]
        message[8 * (stop - start) :].view(np.float32).reshape(stop - start, -1)[...] = factors.T
        found[panel] = message
    return found


class Ticket:
    """A message that was recorded, or one that is thrown away."""

    def __init__(self, replay: Replay | None = None, panel: int | None = None, into: Bytes | None = None) -> None:
        self._replay, self._panel, self._into = replay, panel, into

    def done(self) -> bool:
        """Whether its time has come; then it is copied."""
        if self._replay is not None and self._panel is not None and self._into is not None:
            if time.perf_counter() < self._replay.due(self._panel, self._into.nbytes):
                return False
            np.copyto(self._into, self._replay.recorded[self._panel])
            self._replay.taken = time.perf_counter()
            self._replay = None
        return True

    def cancel(self) -> None:
        """Nothing is to be done."""


class Replay:
    """The communicator of one rank of a grid whose other ranks are recorded.

    Parameters
    ----------
    rank, size : int
        Which one, of how many.
    recorded : dict of int: ndarray of bytes
        Messages of the other ranks' panels.
    late : bool
        Whether the others are as late as this rank was with its last panel, which counts from when it had loaded.
    first : float
        Seconds in which another rank factors panel 0.
    rate : float
        Bytes a second between ranks.
    """

    one_process = False

    def __init__(self, rank: int, size: int, recorded: dict[int, Bytes], late: bool, first: float, rate: float) -> None:
        self.rank, self.size, self.host = rank, size, (rank, size)
        self.recorded, self._late, self._rate = recorded, late, rate
        self._chain = first
        self.restart()

    def restart(self) -> None:
        """Begin anew: the next panel that is asked for is the first one."""
        self._panels = sorted(self.recorded, reverse=True)
        self._said: Bytes = np.empty(0, dtype=np.uint8)
        self.taken = self._sent = time.perf_counter()
        self._known: float | None = None

    def due(self, panel: int, nbytes: int) -> float:
        """When a panel comes."""
        return self._sent + self._chain + nbytes / self._rate if self._late else 0.0

    def post(self, data: Bytes, to: int, tag: int) -> Ticket:
        """Take note of when an own panel is ready, and of what is to be added up."""
        if TAGS[tag % len(TAGS)] == "L":
            self._sent = time.perf_counter()
            self._chain = self._sent - max(self.taken, watch.loaded)  # all ranks load at the same time
        else:
            self._said = data.copy()
        return Ticket()

    def expect(self, data: Bytes, source: int, tag: int) -> Ticket:
        """Give the next recorded panel; of sums, what this rank has said itself, or nothing."""
        name = TAGS[tag % len(TAGS)]
        if name == "L":
            return Ticket(self, self._panels.pop(), data)
        data[:] = self._said if name == "total" else 0
        return Ticket()

    def drop(self, tags: range) -> None:
        """Nothing comes."""

    def shout(self, text: bytes) -> None:
        """Nobody hears."""

    def heard(self) -> list[bytes]:
        """Nobody shouts."""
        return []

    def nudge(self) -> None:
        """Nothing is under way."""

    def idle(self, looks: int) -> None:
        """Wait a moment."""
        if looks >= 50:
            time.sleep(0 if looks < 200 else 2e-5)


def share(
    whole: Grid, a: NDArray[np.float32], lu: NDArray[np.float32], piv: NDArray[Any], nb: int, place: int, ranks: int,
    way: str, repeats: int, rate: float,
) -> dict[str, Any]:  # fmt: skip
    """Run the share of one rank, and hold it against the factors."""
    n = len(a)
    layout = Layout((n, n), nb, (1, ranks))
    steps = factorisation(layout, 0, place, "tournament", True).steps()
    recorded = messages(lu, piv, nb, [step.panel for step in steps if isinstance(step, Receive)])
    panel = np.ascontiguousarray(a[:, :nb].T)
    start = time.perf_counter()
    lapack.pivoted_columns(panel)
    replay = Replay(place, ranks, recorded, way == "as late", time.perf_counter() - start, rate)
    grid = Grid(Channel(replay, 60, 5), (1, ranks), whole.engine, whole.look_ahead)
    columns = layout.columns(place)
    local = cluster.DistributedMatrix(grid, layout, np.ascontiguousarray(a[:, columns]))
    found, factors, exchanges = factored(grid, local, repeats, replay.restart)
    worst = 0.0
    for top in range(0, n, 1024):
        difference = factors.local[top : top + 1024] - lu[top : top + 1024, columns]
        worst = max(worst, float(lapack.extreme(difference)))
    return {
        "rank": place, "ranks": ranks, "messages": way, "rate": rate, **found,
        "difference": worst / n, "ok": bool(np.array_equal(exchanges, piv)) and worst / n < TOLERANCE,
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all; the exit status is 1 if a share's factors are not those of the whole."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_share")
    parser.add_argument("--n", type=report.whole_number, default=16384)
    parser.add_argument("--nb", type=report.whole_number, default=256)
    parser.add_argument("--ranks", type=report.whole_number, default=2)
    parser.add_argument("--share", type=_ranks, default=[0, 1], metavar="R,R", help="ranks that are run")
    parser.add_argument("--repeats", type=report.whole_number, default=2)
    parser.add_argument("--rate", type=float, default=RATE, metavar="B/S")
    parser.add_argument("--engine", choices=("glla", "numpy"), default="glla")
    parser.add_argument("--seconds", type=float, default=90, metavar="S", help="nothing is begun after them")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--output", type=Path, default=report.RESULTS, metavar="DIR", help="(benchmarks/results)")
    parser.add_argument("--commit", metavar="NAME", help="what is measured, where there is no git to tell")
    options = parser.parse_args(arguments)
    end, lines, right = time.monotonic() + options.seconds, list[dict[str, Any]](), True
    with Device() as device:
        about = report.about(device.info, options.commit, ENVIRONMENT)

    def say(what: str, figures: dict[str, Any]) -> None:
        lines.append({"what": what, **figures})
        print(json.dumps(lines[-1]), flush=True)

    n, nb = options.n, options.nb
    values = dominated(n)
    with watched(), cluster.grid(engine=options.engine) as grid:
        if isinstance(grid.engine, Gpu):
            watch.clock = grid.engine._gpu.submit(lambda: default_device().gpu_clock()).result()
        a = cluster.DistributedMatrix(grid, Layout((n, n), nb, (1, 1)), values)
        alone, factors, piv = factored(grid, a, options.repeats + 1)
        lu = factors.local
        say("one rank with all columns", alone)
        shares = dict[str, list[float]]()
        for way in reversed(WAYS):
            for place in options.share:
                if time.monotonic() > end:
                    say("not run", {"rank": place, "messages": way})
                    continue
                one = share(grid, values, lu, piv, nb, place, options.ranks, way, options.repeats + 1, options.rate)
                right = right and one["ok"]
                say(f"a rank's share replayed on one GPU, not a run on {options.ranks}", one)
                shares.setdefault(way, []).append(one["seconds"])
        for way, seconds in shares.items():
            say("one rank's seconds by those of the slowest share replayed on one GPU", {
                "messages": way, "ratio": alone["seconds"] / max(seconds),
            })  # fmt: skip
        if options.profile:
            watch.profile = cProfile.Profile()
            share(grid, values, lu, piv, nb, options.share[0], options.ranks, "at once", 1, options.rate)
            say("functions of the GPU's thread: calls, own seconds, with those that they call", _top(watch.profile))
        watch.clock = watch.profile = None
    print(report.save({**about, "engine": options.engine, "lines": lines}, options.output, "share"))
    return 0 if right else 1


def _top(profile: cProfile.Profile) -> dict[str, Any]:
    """Functions in which most time is spent."""
    rows = [
        (own, f"{Path(file).name}:{line} {name}", calls, every)
        for (file, line, name), (_, calls, own, every, _) in pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    ]
    return {name: [calls, round(own, 4), round(every, 4)] for own, name, calls, every in sorted(rows)[: -TOP - 1 : -1]}


def _ranks(text: str) -> list[int]:
    """Read numbers of ranks.

    >>> _ranks("0,1")
    [0, 1]
    """
    return [int(one) for one in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
