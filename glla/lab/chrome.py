"""A trace in the Chrome trace event format, for Perfetto and ``about:tracing``.

Each device is a process; it has a thread for the CPU, where a run of a plan encloses its passes, and one for the GPU's
own times where they are known. Times are in microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from glla._version import __version__
from glla.gl.recorder import Recorder, TracedPass

CPU, GPU = 1, 2
THREADS = {CPU: "CPU", GPU: "GPU"}


def document(trace: Recorder) -> dict[str, Any]:
    """Write a trace as the object that such a file holds.

    ``traceEvents``, and what `timing` they stand for in ``metadata``. `trace`: what was recorded.
    """
    processes = {one.renderer: 0 for one in trace.passes}
    processes = {renderer: number for number, renderer in enumerate(processes, 1)}
    about = {"timing": trace.timing, "passes": len(trace.passes), "dropped": trace.dropped}
    return written([*_names(trace, processes), *_events(trace, processes)], {"renderers": list(processes)} | about)


def written(events: list[dict[str, Any]], about: dict[str, Any]) -> dict[str, Any]:
    """Return the object of a file with some events."""
    return {"traceEvents": events, "displayTimeUnit": "ms", "metadata": {"glla": __version__, **about}}


def _names(trace: Recorder, processes: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Name processes and threads."""
    gpu = any(one.gpu is not None for one in trace.passes)
    for renderer, process in processes.items():
        yield named("process_name", process, 0, renderer)
        for thread, name in THREADS.items():
            if thread == CPU or gpu:
                yield named("thread_name", process, thread, name)


def named(kind: str, process: int, thread: int, name: str) -> dict[str, Any]:
    """Return the event that names a process or a thread."""
    return {"name": kind, "ph": "M", "ts": 0, "pid": process, "tid": thread, "args": {"name": name}}


def _events(trace: Recorder, processes: dict[str, int]) -> Iterator[dict[str, Any]]:
    for _, group in groupby(trace.passes, key=lambda one: one.run):
        passes = list(group)
        first, last = passes[0], passes[-1]
        process = processes[first.renderer]
        end = last.start + last.wall
        yield event("plan", first.operation, process, CPU, first.start, end - first.start, {"passes": len(passes)})
        for one in passes:
            yield event(
                "pass" if one.on_device else "host", one.shader, process, CPU, one.start, one.wall, _arguments(one)
            )
            if one.gpu is not None and one.gpu_start is not None:
                yield event("pass", one.shader, process, GPU, one.gpu_start, one.gpu, _arguments(one))


def event(
    category: str, name: str, process: int, thread: int, start: float, seconds: float, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the event of some work."""
    times = {"ts": 1e6 * start, "dur": 1e6 * seconds}
    return {"name": name, "cat": category, "ph": "X", **times, "pid": process, "tid": thread, "args": arguments}


def _arguments(one: TracedPass) -> dict[str, Any]:
    return {
        "operation": one.operation,
        "pass": one.number,
        "reads": one.inputs,
        "draws": list(one.outputs),
        "region": str(one.region) if one.on_device else "",
        "uniforms": {name: str(value) for name, value in one.uniforms.items()},
        "defines": {name: str(value) for name, value in one.defines.items()},
    }
