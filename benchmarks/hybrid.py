"""Are the GPU and the CPU together faster than the better of the two? The thesis's figure 4.16, with every split.

For each size, K systems are verified, then timed, in turn, so that a machine that changes its mind does so for all:

- the CPU alone: `glla.hybrid`'s own CPU side; a loop of the usual call (``numpy.linalg.solve(a, b)``); and a loop of
  the fastest of several ways (`glla.lab.peers`), whose operands are in the order of memory that suits it before the
  clock starts, as no stream of systems comes (of ``plu`` it makes the factors alone, packed);
- the GPU alone: through the queue of a coprocessor;
- both, as `glla.hybrid.map` shares them, once it has measured the ratio (reported separately);
- both, for every split from 0 to K systems on the GPU: those are queued, the others done meanwhile, as in the thesis.

What `glla.hybrid` remembers is kept in a folder of this run. A failure is a wrong result, or a time of both together
that is more than 5 % above the better one alone of those that start from the same arrays: the CPU's side or the usual
call, and the GPU. The gain over the CPU in its fastest way is reported beside.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import glla
from benchmarks.study import DEVICE, SIZES, Columns, Data, laid_out, listed, newest, queue
from glla import Coprocessor, testing
from glla.gl.clock import clock, warm_up
from glla.hybrid import Stream, host
from glla.lab import machine, peers, plots
from glla.lab.study import Report, Run, at_least, option
from glla.lab.table import aligned, digits, markdown
from glla.testing import JUDGES

SLOWER = 1.05
"""The most that both together may take, as a multiple of the better one alone."""

WARM = 0.3
"""Seconds of work that a GPU does before it is timed: its clock falls while it idles."""

PEERS = {name: peers.BEST[name] for name in ("solve", "lu_factor", "plu", "inv")}
"""Ways to do one system on the CPU, by operation."""

SEED = 2007
"""Seed of the systems; their order is added to it."""

DISTINCT = 5
"""The most different systems that a run takes in turn."""

JUDGED = 6
"""Results of a run that are judged."""

System = tuple[NDArray[np.float32], ...]
"""The operands of one operation."""


class Work:
    """One operation at one size: its systems, the ways to do them all, and the judge.

    `operation`: as for `glla.hybrid.map`. `n`, `count`: order and number of the systems.
    """

    def __init__(self, operation: str, n: int, count: int, gpu: Coprocessor) -> None:
        rng, columns = np.random.default_rng(SEED + n), (n, 1) if operation == "solve" else (n,)
        distinct = [tuple(testing.normal(n, k, rng) for k in columns) for _ in range(min(count, DISTINCT))]
        self.systems: list[System] = [distinct[place % len(distinct)] for place in range(count)]
        self.operation, self.n, self.gpu = operation, n, gpu
        self.function = getattr(glla, operation)
        self.host = host.counterpart(operation)
        if self.host is None:
            raise SystemExit(f"hybrid: {operation} needs SciPy on the CPU side; install it")

    def cpu(self) -> list[Any]:
        """Do all on the CPU, as the hybrid does."""
        return self.split(0)

    def usual(self) -> list[Any]:
        """Do all on the CPU, as a user types it."""
        if self.operation == "plu":
            from scipy.linalg import lu

            return [lu(*system) for system in self.systems]
        call = PEERS[self.operation].usual.bind()
        return [call(*system) for system in self.systems]

    @cached_property
    def trials(self) -> list[peers.Candidate]:
        """Ways to do one on the CPU, the fastest first; that of ``plu`` is its factorisation."""
        return peers.trials(PEERS[self.operation].installed(), self.systems[0])

    def best(self) -> float:
        """Seconds to do all on the CPU in the fastest way, the copies of the operands not counted."""
        trial = self.trials[0]
        call, wanted = trial.way.bind(), [trial.way.operands(*system) for system in self.systems]
        operands = [tuple(np.array(array, order="K", copy=True) for array in each) for each in wanted]
        with peers.with_threads(trial.threads):
            return clock(lambda: [call(*each) for each in operands])[0]

    def on_gpu(self) -> list[Any]:
        """Do all on the GPU."""
        return self.split(len(self.systems))

    def split(self, count: int) -> list[Any]:
        """Queue some on the GPU, do the others on the CPU meanwhile, and fetch the first ones."""
        queued = [self.gpu.submit(self.function, *system) for system in self.systems[:count]]
        done = [self.host(*system) for system in self.systems[count:]]
        return [pending.result() for pending in queued] + done

    def hybrid(self) -> Stream:
        """Share them."""
        systems = [system if len(system) > 1 else system[0] for system in self.systems]
        return glla.hybrid.map(self.operation, systems, gpu=self.gpu)

    def judge(self, results: Sequence[Any]) -> testing.Verdict:
        """Judge some of the results, evenly chosen; the worst verdict."""
        places = sorted({round(place) for place in np.linspace(0, len(results) - 1, JUDGED)})
        judge = JUDGES[self.operation].verdict
        verdicts = [judge(self.systems[place], results[place]) for place in places]
        return max(verdicts, key=lambda verdict: (not verdict.ok, verdict.ratio))

    def warm_up(self) -> None:
        """Have the GPU work for a while."""
        warm_up(lambda: self.gpu.submit(self.function, *self.systems[0]).result(), WARM)


def measure(work: Work, rounds: int, splits: bool, software: bool) -> dict[str, Any]:
    """Verify, then time."""
    first = work.hybrid()
    results = {"pair": list(first), "cpu": work.cpu()}
    if not software:  # which would take minutes for what nobody wants to know
        results["gpu"] = work.on_gpu()
    verdicts = {name: work.judge(found) for name, found in results.items()}
    del results
    record: dict[str, Any] = {
        "operation": work.operation,
        "n": work.n,
        "count": len(work.systems),
        "ok": all(verdict.ok for verdict in verdicts.values()),
        "errors": {name: verdict.ratio for name, verdict in verdicts.items()},
        "ratio": first.report.ratio_at_start,
        "source": first.report.source,
        "measuring_seconds": first.report.measuring_seconds,
    }
    if not record["ok"]:
        return record
    times: dict[str, list[float]] = {"cpu": [], "cpu_usual": [], "cpu_best": [], "gpu": [], "pair": []}
    for _ in range(rounds):
        times["cpu"].append(clock(work.cpu)[0])
        times["cpu_usual"].append(clock(work.usual)[0])
        times["cpu_best"].append(work.best())
        if not software:
            work.warm_up()
            times["gpu"].append(clock(work.on_gpu)[0])
        stream = work.hybrid()
        times["pair"].append(clock(lambda stream=stream: list(stream))[0])
    seconds = {name: median(values) for name, values in times.items() if values}
    better = min(value for name, value in seconds.items() if name not in ("pair", "cpu_best"))
    shares = stream.report
    record |= {
        "seconds": seconds,
        "all_seconds": times,
        "gain": better / seconds["pair"],
        "gain_over_best": min(better, seconds["cpu_best"]) / seconds["pair"],
        "peer": work.trials[0].as_dict(),
        "trials": [trial.as_dict() for trial in work.trials],
        "usual": "scipy.linalg.lu(a)" if work.operation == "plu" else PEERS[work.operation].usual.label,
        "gpu_systems": shares.gpu_systems,
        "cpu_systems": shares.cpu_systems,
        "ratio_at_end": shares.ratio,
    }
    if splits and not software:
        work.warm_up()
        record["splits"] = [clock(lambda k=k: work.split(k))[0] for k in range(len(work.systems) + 1)]
    return record


def plot(run: dict[str, Any], path: Path) -> None:
    """Draw, for each size, the time of every split, and where the hybrid came out."""
    records = [record for record in run["records"] if record["ok"]]
    count = records[0]["count"] if records else 0
    title = f"{count} systems ({run['operation']}) on {run['renderer']} and {run['cores']} cores"
    with plots.drawn(path, (5 * max(1, len(records)), 4.5)) as figure:
        figure.suptitle(title, wrap=True, fontsize=11)
        for axes, record in zip(figure.subplots(1, max(1, len(records)), squeeze=False)[0], records, strict=False):
            seconds = record["seconds"]
            axes.set(title=f"n = {record['n']}", xlabel="systems on the GPU", ylabel="seconds")
            if "splits" in record:
                axes.plot(record["splits"], ".-", label="fixed split")
            axes.axhline(min(seconds["cpu"], seconds["cpu_usual"]), linestyle=":", color="grey", label="CPU alone")
            axes.axhline(seconds["cpu_best"], linestyle="-.", color="grey", label="CPU alone, fastest way")
            if "gpu" in seconds:
                axes.axhline(seconds["gpu"], linestyle="--", color="grey", label="GPU alone")
            axes.plot(record["gpu_systems"], seconds["pair"], "*", markersize=16, color="crimson", label="glla.hybrid")
            pairs = record["all_seconds"]["pair"]
            axes.vlines(record["gpu_systems"], min(pairs), max(pairs), color="crimson", linewidth=3)
            ratio = record["ratio"]
            thesis = f", rounded up {math.ceil(float(ratio))}" if math.isfinite(float(ratio)) else ""
            axes.annotate(f"r = {float(ratio):.3g}{thesis}", (0.02, 0.02), xycoords="axes fraction")
            axes.set_ylim(bottom=0)
            axes.legend()


# -- the table --------------------------------------------------------------------------------------------------------


def _seconds(name: str) -> Callable[[Data], str]:
    return lambda row: digits(row.get("seconds", {}).get(name))


COLUMNS: Columns = {
    "systems": lambda row: f"{row['count']} `{row['operation']}`",
    "n": lambda row: str(row["n"]),
    "CPU alone s": _seconds("cpu"),
    "usual call s": _seconds("cpu_usual"),
    "fastest way s": _seconds("cpu_best"),
    "GPU alone s": _seconds("gpu"),
    "both s": _seconds("pair"),
    "x the better one": lambda row: digits(row.get("gain")),
    "x with the fastest way": lambda row: digits(row.get("gain_over_best")),
}


def text(records: Sequence[Data]) -> str:
    """Write sizes as a table, with the ratio and the shares of each, or its errors."""
    more = {
        "r": lambda row: f"{row['ratio']:.3g} ({row['source']})",
        "shares": lambda row: f"{row['gpu_systems']} on the GPU, {row['cpu_systems']} on the CPU" if row["ok"] else "",
        "": lambda row: "" if row["ok"] else f"WRONG {row['errors']}",
    }
    return aligned(*laid_out({**COLUMNS, **more}, records))


def table(results: Path) -> str:
    """Give the Markdown of systems that both share, for each device that has them."""
    runs = newest(results, "hybrid", lambda run: len(run["records"]) > 1 and not run["software"])
    rows = [{**run, **record} for run in runs for record in run["records"] if record["ok"]]
    return markdown(*laid_out({**DEVICE, **COLUMNS}, rows))


def _run(run: Run) -> Report:
    """Share the systems of each size."""
    options = run.options
    with tempfile.TemporaryDirectory() as cache, queue(options, capacity=max(64, options.count)) as gpu:
        os.environ["XDG_CACHE_HOME"] = cache
        records = []
        for n in options.size or (512, 1024, 2048, 4096):
            records.append(
                measure(Work(options.op, n, options.count, gpu), options.rounds, options.splits, gpu.info.software)
            )
            run.say(text(records[-1:]))
    about = {"renderer": run.device.info.renderer, "cores": machine.cores()}
    data = {"operation": options.op, "rounds": options.rounds, "records": records}
    right = all(record["ok"] and record["gain"] >= 1 / SLOWER for record in records)
    draws = partial(plot, about | data) if find_spec("matplotlib") else None
    return Report(text(records), data, right, draws)


STUDY = listed(
    "hybrid",
    _run,
    option("--op", choices=tuple(PEERS), default="lu_factor", help="(lu_factor)"),
    SIZES,
    option("--count", type=at_least(1), default=25, metavar="K", help="systems (25)"),
    option("--rounds", type=at_least(1), default=3, help="rounds, of whose times the median counts (3)"),
    option("--no-splits", dest="splits", action="store_false", help="leave out the fixed splits"),
)
