"""A trace, a `glla.gl.recorder.Recorder`, as a table, as the part of it that matters most, and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glla import registry
from glla.display import html
from glla.display.colours import picture
from glla.display.table import table

HEAD = ("operation", "pass", "shader", "reads", "draws", "region (texels)", "wall ms", "GPU ms")
"""Headings of the table of passes."""

STATES = 6
"""Pictures of a matrix that a notebook shows, at most."""

Run = Sequence[Any]
"""Passes of one plan: `TracedPass`."""


def text(trace: Any, short: bool = False) -> str:
    """Write a line per pass; a short text has those of the largest plan, and a line for each of the others.

    The largest one is the operation: an elimination, say. The others are what the call does before and after it.
    """
    if not short:
        return table([HEAD, *map(row, trace.passes)]) + ("\n" if trace.dropped else "") + _dropped(trace)
    first, others = in_plans(trace)
    rows = [row(one) for one in first]
    parts = [table([HEAD, *rows])] if rows else []
    parts += ["the other plans:"] if others else []
    return "\n".join([*parts, *(f"  {_summary(run)}" for run in others), *filter(None, [_dropped(trace)])])


def row(one: Any) -> tuple[str, ...]:
    """Format a pass as cells below `HEAD`."""
    reads = " ".join(f"{name}={slot}" for name, slot in one.inputs.items())
    gpu = "-" if one.gpu is None else f"{1000 * one.gpu:.3f}"
    region = str(one.region) if one.on_device else ""
    times = f"{1000 * one.wall:.3f}", gpu
    return (one.operation, str(one.number), one.shader, reads, " ".join(one.outputs), region, *times)


def in_plans(trace: Any) -> tuple[Run, list[Run]]:
    """Return the run of the plan that drew most passes, and the others in their order."""
    runs: dict[int, list[Any]] = {}
    for one in trace.passes:
        runs.setdefault(one.run, []).append(one)
    most: Run = max(runs.values(), key=_work, default=[])
    return most, [run for run in runs.values() if run is not most]


def _work(run: Run) -> tuple[int, int]:
    return sum(one.draw is not None for one in run), run[0].plan.flops


def _summary(run: Run) -> str:
    draws, _ = _work(run)
    counts = {"pass" if draws == 1 else "passes": draws, "transfers and steps of the host": len(run) - draws}
    names = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    return f"{run[0].operation}: {names}, {1000 * sum(one.seconds for one in run):.3f} ms"


def _dropped(trace: Any) -> str:
    return f"{trace.dropped} more passes ran beyond the limit of {trace.limit} bytes" if trace.dropped else ""


# -- notebooks --------------------------------------------------------------------------------------------------------


def markup(trace: Any) -> str:
    """Show the largest plan, as pictures where values were kept and as a table; the others are folded."""
    first, others = in_plans(trace)
    parts = [html.line(f"{trace.runs} plans, {len(trace.passes)} passes and transfers")]
    if first:
        parts += [
            _film(first),
            html.folded(_summary(first), _rows(first, html.MOST_LINES), len(first) <= html.OPEN_STEPS),
        ]
    shown = others[: html.MOST_LINES]
    inner = "".join(html.folded(_summary(run), _rows(run, html.MOST_LINES // len(shown) or 1)) for run in shown)
    inner += html.left_out(len(others) - len(shown), "plans")
    parts += [html.folded("the other plans", inner)] if others else []
    return "".join(parts) + (html.line(_dropped(trace)) if trace.dropped else "")


def _rows(run: Run, lines: int) -> str:
    more = html.left_out(max(0, len(run) - lines), "passes")
    return html.table(HEAD[1:], [row(one)[1:] for one in run[:lines]]) + more


def _film(run: Run) -> str:
    """Draw the largest matrix that the passes draw, after at most `STATES` of them."""
    drawn = [(one, max(matrices, key=np.size)) for one in run if (matrices := _matrices(one))]
    size = max((matrix.size for _, matrix in drawn), default=0)
    states = [(one, matrix) for one, matrix in drawn if matrix.size == size]
    if size < 2:
        return ""
    places = sorted({round(k * (len(states) - 1) / (STATES - 1)) for k in range(STATES)})
    largest = max(float(np.nanmax(np.abs(states[place][1]), initial=0)) for place in places)
    frames = (
        f'<figure style="margin:.3em .6em;display:inline-block">{picture(states[place][1], largest)}'
        f"<figcaption>pass {states[place][0].number}</figcaption></figure>"
        for place in places
    )
    return f"<div>{''.join(frames)}</div>"


def _matrices(one: Any) -> list[Any]:
    values: dict[str, Any] = dict(one.values or {}) if one.draw is not None else {}
    return [value for value in values.values() if value.ndim == 2]


registry.announce("text of a trace", text)
registry.announce("html of a trace", markup)
