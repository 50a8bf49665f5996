"""A time line of every rank: for Perfetto and ``about:tracing``, or as a picture; messages are arrows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from glla.cluster.model import Event
from glla.cluster.steps import Send, Work
from glla.cluster.timeline import Timeline
from glla.lab import plots
from glla.lab.chrome import event, named, written

HOST, ENGINE = 1, 2
LANES = {HOST: "host", ENGINE: "engine"}


def document(found: Timeline, title: str) -> dict[str, Any]:
    """Write a time line as the object that a file of the Chrome trace event format holds: a process for each rank."""
    return written([*_names(found), *map(_event, found.events), *_arrows(found)], {"title": title})


def _lane(event: Event) -> int:
    return ENGINE if isinstance(event.step, Work) and event.step.engine else HOST


def _names(found: Timeline) -> Iterator[dict[str, Any]]:
    for rank in sorted({one.rank for one in found.events}):
        yield named("process_name", rank, 0, f"rank {rank}")
        for lane, name in LANES.items():
            yield named("thread_name", rank, lane, name)


def _event(one: Event) -> dict[str, Any]:
    step, kind = one.step, type(one.step).__name__
    values = {name: getattr(step, name) for name in step.__dataclass_fields__ if name not in ("name", "engine", "peer")}
    name = step.name if isinstance(step, Work) else f"{kind.lower()} {step.name}"
    return event(kind, name, one.rank, _lane(one), one.start, one.end - one.start, values)


def _arrows(found: Timeline) -> Iterator[dict[str, Any]]:
    for number, (sent, received) in enumerate(found.messages()):
        for one, phase, at in ((sent, "s", sent.start), (received, "f", received.end)):
            arrow = {"name": one.step.name, "cat": "message", "ph": phase, "id": number, "bp": "e"}
            yield arrow | {"ts": 1e6 * at, "pid": one.rank, "tid": HOST}


def draw(found: Timeline, title: str, path: Path) -> None:
    """Draw a time line: two bars for each rank, its host's and its engine's, and an arrow for each message.

    `found`: what took place. `title`: of the picture. `path`: png, svg or pdf.
    """
    from matplotlib.patches import Patch

    ranks = sorted({one.rank for one in found.events})
    colours = {"do": "tab:blue", "engine": "tab:orange", "wait": "lightgrey", "send": "tab:green"}
    with plots.drawn(path, (12, 1.2 * len(ranks) + 1.5), 130) as figure:
        axes = figure.subplots()
        for one in found.events:
            lane = _lane(one)
            kind = "do" if isinstance(one.step, Work) else "send" if isinstance(one.step, Send) else "wait"
            bottom = 2 * one.rank + (0 if lane == HOST else 0.8)
            bar = (1e3 * one.start, 1e3 * (one.end - one.start))
            axes.broken_barh([bar], (bottom, 0.7), color=colours["engine" if lane == ENGINE else kind])
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
