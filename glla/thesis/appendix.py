"""Appendix A: PLU on a cluster. Ours come from files that `python -m benchmarks cluster --thesis` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from glla import cluster
from glla.thesis import published
from glla.thesis.measure import Place, planned, uniform
from glla.thesis.parts import Cell, Section, Table

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
"""Folder of the results in a clone; an installed package has none."""

COMMAND = "python -m benchmarks cluster --thesis"
"""Command that writes them."""

NONE = "-"

ORDERS, ALONE, RATES = "Table A.1", "Table A.4", "Section A.4.1"
"""What the titles of these tables begin with."""

MOST = 16
"""Processes of the best rate of all."""

Runs = dict[tuple[int, int, int], dict[str, Any]]
"""What was run, by processes, order and subsize."""


def newest(renderer: str, folder: Path) -> dict[str, Any] | None:
    """Newest file of the thesis's tables that a device of this name has."""
    for path in sorted(folder.glob("*/cluster/*.json"), key=lambda path: path.name, reverse=True):
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data.get("thesis") and data["renderer"] == renderer:
            return data
    return None


def runs(data: dict[str, Any] | None) -> Runs:
    """Right ones of its runs."""
    every = data["runs"] if data is not None else []
    return {(one["count"], one["n"], one["nb"]): one for one in every if one["ok"]}


def spread(place: Place) -> Section:
    """Tables A.1 to A.4, theirs and ours, and the model of glla.cluster for their nodes and network."""
    n = place.sizes[-1]
    lapack = _rate([(n, place.cpu("plu", uniform(place, n, n)))])
    return _section(newest(place.device.info.renderer, RESULTS), _one_node(place), lapack, place.quick)


def anew(section: Section, renderer: str) -> Section:
    """Replace tables A.1 to A.3 by those of the newest runs; keep all measured for the page itself."""
    orders, alone, rates = (
        next((one for one in section.tables if one.title.startswith(name)), None) for name in (ORDERS, ALONE, RATES)
    )
    if orders is None or alone is None:
        return section
    lapack = rates.rows[-1][3:] if rates is not None else (NONE, NONE)
    made = _section(newest(renderer, RESULTS), alone, lapack, len(orders.rows) < len(published.CLUSTER))
    return replace(made, notes=[*made.notes, *section.notes[len(made.notes) :]], seconds=section.seconds)


def _section(data: dict[str, Any] | None, alone: Table, lapack: tuple[Cell, ...], quick: bool) -> Section:
    section = Section("cluster", "PLU on a cluster", "appendix A, tables A.1 to A.4")
    ours = runs(data)
    section.tables += [_orders(ours, quick), _processes(ours), _messages(ours), alone, _rates(ours, alone, lapack)]
    section.notes.append(
        "Their network's 100 us and 11.5 MB/s are assumed, their rate is that of table A.4. Table A.2 does not state "
        "n; the 4.2 GFLOPS that are printed give 8192. Network, ours: the time of the messages alone, of the whole."
    )
    if data is None:
        section.notes.append(f"No runs of ours on this device: `{COMMAND}` makes them.")
    else:
        section.notes.append(_described(data))
    return section


def _described(data: dict[str, Any]) -> str:
    """Where ours were run."""
    count = len(data["gpus"])
    gpus = {0: "no GPU", 1: "one GPU"}.get(count, f"{count} GPUs")
    shared = [] if data["times_mean_something"] else ["cores"]
    shared += ["a GPU"] if 0 < count < published.PROCESSES else []
    crowded = f"; processes that share {' and '.join(shared)} wait for each other" if shared else ""
    return (
        f"Ours, tables A.1 to A.3: {data['date'][:10]}, commit {data['commit']}, all processes on one machine of "
        f"{data['cores']} cores and {gpus}, {data['renderer']}, tournament pivoting{crowded}. "
        "A dash: not run there."
    )


def _ratio(theirs: float, ours: float | str) -> Cell:
    return NONE if isinstance(ours, str) else theirs / ours


def _found(ours: Runs, key: tuple[int, int, int], name: str) -> Any:
    return ours[key][name] if key in ours else NONE


def _orders(ours: Runs, quick: bool) -> Table:
    """Table A.1."""
    n, seconds = published.ONE_NODE[-1]
    rate = 2 * n**3 / 3 / seconds
    nodes = cluster.Parameters(latency=100e-6, network=11.5e6, rate=rate, panel_rate=rate, triangle_rate=rate)
    rows: list[tuple[Cell, ...]] = []
    for n, nb, times in published.CLUSTER:
        if nb >= (128 if quick else 1):
            predicted = cluster.predict(n, nb, (2, 2), nodes, look_ahead=False).seconds
            own = _found(ours, (published.PROCESSES, n, nb), "seconds")
            rows.append((n, nb, *times, predicted, times[-1] / predicted, own, _ratio(times[0], own)))
    head = ("n", "subsize", "1 node", "2", "3", "4", "4, predicted", "4 / predicted", "ours", "1 node / ours")
    return Table(f"{ORDERS}: 4 processes, seconds; and our model of four such nodes", head, tuple(rows))


def _processes(ours: Runs) -> Table:
    """Table A.2."""
    rows: list[tuple[Cell, ...]] = []
    for count, nb, seconds, percent in published.NUMBERS:
        key = count, published.LARGEST, nb
        own, network = (_found(ours, key, name) for name in ("seconds", "network"))
        share = NONE if isinstance(own, str) else 100 * network / own
        rows.append((count, nb, seconds, percent, own, share, _ratio(seconds, own)))
    head = ("processes", "subsize", "4 nodes", "network %", "ours", "network %", "theirs / ours")
    return Table(f"Table A.2: n = {published.LARGEST}, seconds", head, tuple(rows))


def _messages(ours: Runs) -> Table:
    """Table A.3."""
    rows: list[tuple[Cell, ...]] = []
    for n, nb, times in published.MESSAGES:
        own = _found(ours, (published.PROCESSES, n, nb), "network")
        rows.append((nb, *times, own, _ratio(times[0], own)))
    head = ("subsize", "1 node", "2", "3", "4", "ours", "1 node / ours")
    return Table("Table A.3: the messages of 4 processes alone, n = 2048, seconds", head, tuple(rows))


def _one_node(place: Place) -> Table:
    """Table A.4."""
    rows: list[tuple[Cell, ...]] = []
    for n, seconds in published.ONE_NODE:
        if n <= 1.4 * place.sizes[-1]:
            a = uniform(place, n, n)
            local, best = (
                place.gpu(planned(place, "plu", a.shape, **options), "plu", a)
                for options in ({"variant": "extra_column"}, {})
            )
            rows.append((n, seconds, local, best, seconds / best))
        else:
            rows.append((n, seconds, NONE, NONE, NONE))
    head = ("n", "theirs", "ours, their local algorithm", "ours, best", "theirs / best")
    return Table(f"{ALONE}: one node, seconds", head, tuple(rows))


def _rate(seconds: Iterable[tuple[int, Cell]]) -> tuple[Cell, Cell]:
    """Best rate of factorisations of these orders, and the order."""
    found = [(2e-9 * n**3 / 3 / took, n) for n, took in seconds if not isinstance(took, str)]
    return max(found, default=(NONE, NONE))


def _rates(ours: Runs, alone: Table, lapack: tuple[Cell, ...]) -> Table:
    """Rates that section A.4.1 prints, and our best of the same kind."""
    kinds = (
        *(
            _rate((n, one["seconds"]) for (count, n, _), one in ours.items() if count == processes)
            for processes in (published.PROCESSES, MOST)
        ),
        _rate((int(row[0]), row[3]) for row in alone.rows),
        lapack,
    )
    rows = tuple((name, *published.RATES[name], *own) for name, own in zip(published.RATES, kinds, strict=True))
    head = ("what", "GFLOPS, theirs", "n", "GFLOP/s, ours", "n")
    return Table(f"{RATES}: best rates; ours on one machine, glla's choice, LAPACK at its best", head, rows)
