"""Tables of the newest results: GPU and CPU side by side, sparse systems, several GPUs, applications."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.study import Data, newest, read, warnings
from glla.lab import machine, restoration, windows
from glla.lab.table import markdown

NOTHING = "No results yet."

# -- GPU and CPU side by side -----------------------------------------------------------------------------------------

WORK = {"product", "systems", "transfers"}
"""Kinds of work that a run of the overlap must contain to represent a device."""

PYTHONS_INTERVAL = 0.005
"""Python's own switch interval, in seconds."""

OVERLAP_HEAD = (
    "device", "cores", "interval us", "on the queue", "n", "NumPy keeps", "queue keeps", "NumPy beside another process",
)  # fmt: skip
HYBRID_HEAD = (
    "device", "cores", "systems", "n", "CPU alone s", "usual call s", "fastest way s", "GPU alone s", "both s",
    "x the better one", "x with the fastest way",
)  # fmt: skip


def overlap(results: Path) -> str:
    """Give the Markdown of NumPy beside a busy queue, for each device that has it."""
    runs = [
        run
        for punctual in (False, True)
        for run in newest(results, "overlap", lambda run, wish=punctual: _represents(run, wish))
    ]
    runs.sort(key=lambda run: str(run["renderer"]))
    return markdown(OVERLAP_HEAD, [row for run in runs for row in _overlap_rows(run)])


def hybrid(results: Path) -> str:
    """Give the Markdown of systems that both share, for each device that has them."""
    runs = newest(results, "hybrid", lambda run: len(run["records"]) > 1 and not run["software"])
    return markdown(HYBRID_HEAD, [row for run in runs for row in _hybrid_rows(run)])


def _represents(run: Data, punctual: bool) -> bool:
    """Whether a run of the overlap is complete, and of a punctual coprocessor or of another one."""
    return {pair["queue"] for pair in run["pairs"]} >= WORK and (run["switch_interval"] < PYTHONS_INTERVAL) == punctual


def _overlap_rows(run: Data) -> list[tuple[str, ...]]:
    return [
        (
            run["renderer"], str(run["cores"]), f"{1e6 * run['switch_interval']:.0f}", pair["queue"], str(pair["n"]),
            *(f"{pair[name]:.0%}" for name in ("cpu_kept", "gpu_kept", "cpu_kept_beside_process")),
        )
        for pair in run["pairs"]
        if pair["cpu"] == "numpy"
    ]  # fmt: skip


def _hybrid_rows(run: Data) -> list[tuple[str, ...]]:
    return [
        (
            run["renderer"], str(run["cores"]), f"{record['count']} `{record['operation']}`", str(record["n"]),
            *(_short(record["seconds"].get(name), ".3g") for name in ("cpu", "cpu_usual", "cpu_best", "gpu", "pair")),
            *(_short(record.get(name)) for name in ("gain", "gain_over_best")),
        )
        for record in run["records"]
        if record["ok"]
    ]  # fmt: skip


def _short(value: float | None, form: str = ".2f") -> str:
    return "-" if value is None else format(value, form)


# -- sparse systems ---------------------------------------------------------------------------------------------------

SPARSE_HEAD = (
    "device", "what", "size", "ours, the fastest way", "ms", "GFLOP/s", "of the limit", "theirs, the fastest way", "ms",
    "x theirs", "true residuals",
)  # fmt: skip
THEIRS = ("SciPy", "LAPACK", "the same scheme")
"""First words of the names of ways that run on the CPU."""

BESIDE = ("columns",)
"""Words in the names of ways that compute something other than the rest of their system."""


def sparse(results: Path) -> str:
    """Give the Markdown of sparse systems beside SciPy and LAPACK: of each device and system the largest size."""
    found: dict[tuple[str, str, int], Data] = {}
    for data in sorted((run for runs in read(results, "sparse").values() for run in runs), key=lambda run: run["date"]):
        for one in data["figures"]:
            found[data["renderer"], one["system"], one["size"]] = data
    largest = {place[:2]: max(each[2] for each in found if each[:2] == place[:2]) for place in found}
    rows = [_sparse_row(*place, data) for place, data in found.items() if largest[place[:2]] == place[2]]
    return markdown(SPARSE_HEAD, list(filter(None, rows))) if any(rows) else NOTHING


def _sparse_row(renderer: str, system: str, size: int, data: Data) -> tuple[str, ...]:
    """Set the fastest way on the device beside the fastest on the CPU; nothing where one of them is missing.

    Of a software rasteriser seconds of the CPU count, all threads together: whoever else is busy adds nothing to them.
    """
    clock = "cpu_seconds" if data["software"] else "seconds"
    ways = [
        one
        for one in data["figures"]
        if (one["system"], one["size"]) == (system, size)
        and clock in one
        and not any(word in one["variant"] for word in BESIDE)
    ]
    ours, theirs = ([one for one in ways if one["variant"].startswith(THEIRS) == cpu] for cpu in (False, True))
    if not ours or not theirs:
        return ()
    one, other = (min(each, key=lambda one: float(one[clock])) for each in (ours, theirs))
    wall = clock == "seconds"
    return (
        renderer, system, str(size), one["variant"], f"{1e3 * one[clock]:.3g}",
        f"{one['gflops']:.3g}" if "gflops" in one and wall else "-",
        f"{100 * one['of_limit']:.0f} %" if "of_limit" in one and wall else "-",
        other["variant"], f"{1e3 * other[clock]:.3g}", f"{other[clock] / one[clock]:.2g}",
        f"{one['residual']:.1e}, {other['residual']:.1e}" if "residual" in one else "-",
    )  # fmt: skip


# -- several GPUs -----------------------------------------------------------------------------------------------------

CLUSTER_HEAD = (
    "device", "by", "what", "n", "one s", "several s", "x one", "measured / predicted: one, several",
    "residual, of what is allowed",
)  # fmt: skip
SHARES_HEAD = (
    "device", "n", "nb", "rank", "panels of the others", "one rank with all columns, s", "the share, s", "x",
)  # fmt: skip
KINDS = {"ranks": "MPI, a rank a GPU", "several": "one process"}
ALLOWED = {"product": 1.0}
"""Largest residual that passes: of a product as a multiple of its error bound; all else has HPL's, up to 16."""


def cluster(results: Path) -> str:
    """Give the Markdown of several GPUs against one."""
    rows = [row for data in _quiet(results, True) for row in _ranks_rows(data)]
    rows += [row for data in _quiet(results, False) for row in _rows_of_one(data)]
    return markdown(CLUSTER_HEAD, rows) if rows else NOTHING


def shares(results: Path) -> str:
    """Give the Markdown of a rank's share replayed on one GPU."""
    return markdown(SHARES_HEAD, [row for data in newest(results, "share") for row in _share_rows(data)])


def _quiet(results: Path, several: bool) -> list[Data]:
    """Newest quiet run of each device and set of orders: of several ranks against one, or of the others."""
    found: dict[str, Data] = {}
    runs = (run for each in read(results, "cluster").values() for run in each)
    for data in sorted(runs, key=lambda run: str(run["date"])):
        fits = bool(data["speedups"]) == several and data["times_mean_something"] and not machine.busy(data["load"])
        if fits and not data.get("thesis"):
            orders = sorted({one["n"] for one in data["speedups"] or data["runs"]})
            found[f"{data['renderer']} {data['engine']} {len(data.get('gpus', ()))} {orders}"] = data
    return [found[name] for name in sorted(found)]


def _share_rows(data: Data) -> list[tuple[str, ...]]:
    whole, *lines = data["lines"]
    return [
        (
            f"1 x {_device(data)}", str(line["n"]), str(line["nb"]), f"{line['rank']} of {line['ranks']}",
            line["messages"], f"{whole['seconds']:.3g}", f"{line['seconds']:.3g}",
            f"{whole['seconds'] / line['seconds']:.2f}",
        )
        for line in lines
        if "difference" in line
    ]  # fmt: skip


def _rows_of_one(data: Data) -> list[tuple[str, ...]]:
    """Rows of a run that had one rank alone: the best blocks of each size."""
    best: dict[tuple[str, int], Data] = {}
    for run in data["runs"]:
        key = run["what"], run["n"]
        best[key] = min(best.get(key, run), run, key=lambda one: float(one["seconds"]))
    return [
        (
            f"1 x {_device(data)}", "one rank", what, str(n), f"{run['seconds']:.3g}", "-", "-",
            _short(run["ratio_to_predicted"]), f"{run['residual'] / ALLOWED.get(what, 16.0):.2g}",
        )
        for (what, n), run in best.items()
    ]  # fmt: skip


def _kind(data: Data, kind: str, count: int) -> str:
    if data["engine"] == "numpy":
        return "MPI"
    gpus = len(data.get("gpus", ()))
    return f"MPI, {count} ranks that share {gpus} GPU" if kind == "ranks" and 0 < gpus < count else KINDS[kind]


def _device(data: Data) -> str:
    return f"NumPy, {data['cores']} cores" if data["engine"] == "numpy" else str(data["renderer"])


def _ranks_rows(data: Data) -> list[tuple[str, ...]]:
    found = []
    for gain in data["speedups"]:
        one, several = (_one_run(data, gain, *of) for of in ((1, "nb_of_one"), (gain["count"], "nb")))
        worst = max(one["residual"], several["residual"]) / ALLOWED.get(gain["what"], 16.0)
        count, gpus = gain["count"], len(data.get("gpus", ()))
        found.append((
            f"{min(count, gpus or count)} x {_device(data)}", _kind(data, gain["kind"], count), gain["what"],
            str(gain["n"]), f"{one['seconds']:.3g}", f"{several['seconds']:.3g}", f"{gain['speedup']:.2f}",
            ", ".join(_short(each["ratio_to_predicted"]) for each in (one, several)), f"{worst:.2g}",
        ))  # fmt: skip
    return found


def _one_run(data: Data, gain: Data, count: int, blocks: str) -> Data:
    """Find the run that a gain was taken from."""
    wanted = (gain["kind"], gain["what"], gain["n"], count, gain.get(blocks))  # older files have one size of blocks
    runs = [
        run for run in data["runs"] if tuple(run.get(name) for name in ("kind", "what", "n", "count", "nb")) == wanted
    ]
    return min(runs, key=lambda run: float(run["seconds"]))


# -- applications -----------------------------------------------------------------------------------------------------


def restored(results: Path) -> dict[str, str]:
    """Give the Markdown of restoration: errors, borders, and seconds of each device."""
    runs = newest(results, "applications")
    head, errors = restoration.errors_table(runs[-1]["restoration"])
    return {
        "errors": markdown(head[:-1], [row[:-1] for row in errors]),
        "borders": markdown(*restoration.border_table(runs[-1]["restoration"])),
        "seconds": "\n\n".join(_headed(run, *restoration.timing_table(run["restoration"])) for run in runs),
        "windows": "\n\n".join(_headed(run, *windows.sized(run["windows"]["times"])) for run in runs),
    }


def _headed(run: Data, head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> str:
    mind = "".join(f" Mind: {one}." for one in warnings(run))
    return f"**{run['renderer']}**, {run['cores']} CPU cores, {run['date'][:10]}.{mind}\n\n{markdown(head, rows)}"
