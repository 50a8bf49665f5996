"""A time line of every rank: for Perfetto and ``about:tracing``, or as a picture; messages are arrows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glla._version import __version__
from glla.cluster.model import Event
from glla.cluster.steps import Send, Work
from glla.cluster.timeline import Timeline

HOST, ENGINE = 1, 2
LANES = {HOST: "host", ENGINE: "engine"}


def document(found: Timeline, title: str) -> dict[str, Any]:
    """Write a time line as the object that a file of the Chrome trace event format holds: a process for each rank."""
    return {
        "traceEvents": [*_names(found), *map(_event, found.events), *_arrows(found)],
        "displayTimeUnit": "ms",
        "metadata": {"glla": __version__, "title": title},
    }


def _lane(event: Event) -> int:
    return ENGINE if isinstance(event.step, Work) and event.step.engine else HOST


def _names(found: Timeline) -> Iterator[dict[str, Any]]:
    for rank in sorted({event.rank for event in found.events}):
        yield {"name": "process_name", "ph": "M", "ts": 0, "pid": rank, "tid": 0, "args": {"name": f"rank {rank}"}}
        for lane, name in LANES.items():
            yield {"name": "thread_name", "ph": "M", "ts": 0, "pid": rank, "tid": lane, "args": {"name": name}}


def _event(event: Event) -> dict[str, Any]:
    step = event.step
    values = {name: getattr(step, name) for name in step.__dataclass_fields__ if name not in ("name", "engine", "peer")}
    return {
        "name": f"{type(step).__name__.lower()} {step.name}" if not isinstance(step, Work) else step.name,
        "cat": type(step).__name__,
        "ph": "X",
        "ts": 1e6 * event.start,
        "dur": 1e6 * (event.end - event.start),
        "pid": event.rank,
        "tid": _lane(event),
        "args": values,
    }


def _arrows(found: Timeline) -> Iterator[dict[str, Any]]:
    for number, (sent, received) in enumerate(found.messages()):
        for event, phase in ((sent, "s"), (received, "f")):
            yield {
                "name": event.step.name,
                "cat": "message",
                "ph": phase,
                "id": number,
                "bp": "e",
                "ts": 1e6 * (event.start if phase == "s" else event.end),
                "pid": event.rank,
                "tid": HOST,
            }


def draw(found: Timeline, title: str, path: Path) -> None:
    """Draw a time line: two bars for each rank, its host's and its engine's, and an arrow for each message.

    `found`: what took place. `title`: of the picture. `path`: png, svg or pdf.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    ranks = sorted({event.rank for event in found.events})
    colours = {"do": "tab:blue", "engine": "tab:orange", "wait": "lightgrey", "send": "tab:green"}
    figure, axes = plt.subplots(figsize=(12, 1.2 * len(ranks) + 1.5), layout="constrained")
    for event in found.events:
        lane = _lane(event)
        kind = "do" if isinstance(event.step, Work) else "send" if isinstance(event.step, Send) else "wait"
        bottom = 2 * event.rank + (0 if lane == HOST else 0.8)
        width = 1e3 * (event.end - event.start)
        axes.broken_barh(
            [(1e3 * event.start, width)], (bottom, 0.7), color=colours["engine" if lane == ENGINE else kind]
        )
    for sent, received in found.messages():
        axes.annotate(
            "", (1e3 * received.end, 2 * received.rank + 0.35), (1e3 * sent.start, 2 * sent.rank + 0.35),
            arrowprops={"arrowstyle": "->", "color": "black", "lw": 0.5, "alpha": 0.6},
        )  # fmt: skip
    axes.set(yticks=[2 * rank + 0.75 for rank in ranks], yticklabels=[f"rank {rank}" for rank in ranks])
    axes.set(xlabel="milliseconds", title=title)
    axes.invert_yaxis()
    names = {"do": "host works", "send": "host sends", "wait": "host waits", "engine": "engine"}
    handles = [Patch(color=colours[kind], label=label) for kind, label in names.items()]
    axes.legend(handles=handles, loc="upper right", fontsize=7, ncols=4)
    figure.savefig(path, dpi=130)
    plt.close(figure)
