"""What plans take in its user's process, and what a small call costs.

- *plans*: what plans take, measured by tracemalloc, and as glla estimates it: a factorisation of n = 4096, and others;
- *calls*: microseconds that small calls take whose plans are kept, operands and results on the device.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import glla
from benchmarks.study import listed
from benchmarks.turns import Way, timed
from glla.gl.prepare import prepare
from glla.gl.runner import CALL_BYTES, Prepared
from glla.gl.throttle import work
from glla.lab.study import Report, Run, option
from glla.operations.elimination import plu
from glla.operations.product import matmul
from glla.passes import PLAIN, Plan, resident
from glla.passes.cache import ENTRY_BYTES, STEP_BYTES

Figures = dict[str, Any]

CALLS = 200
"""Calls of which the time is taken together."""


def plans(device: glla.Device) -> list[Figures]:
    """Weigh plans, prepared plans, and their calls for one set of textures."""
    builders: dict[str, Callable[[], Plan]] = {
        "plu 4096, plain limits": lambda: _built(plu.plan, resident((4096, 4096)), PLAIN),
        "plu 4096": lambda: _built(plu.plan, resident((4096, 4096)), device.limits),
        "plu 512": lambda: _built(plu.plan, resident((512, 512)), device.limits),
        "plu 32": lambda: _built(plu.plan, resident((32, 32)), device.limits),
        "matmul 300": lambda: _built(matmul.plan, resident((300, 300), (300, 300)), device.limits),
    }
    return [{"plan": name, **_weighed(device, build)} for name, build in builders.items()]


def _built(builder: Any, *arguments: Any) -> Plan:
    plan: Plan = builder.__wrapped__(*arguments)
    return plan


def _weighed(device: glla.Device, build: Callable[[], Plan]) -> Figures:
    plan, ready, bound, calls, steps, own = _weights(device, build)
    return {
        "steps": steps, "calls": calls, "plan_bytes": plan, "ready_bytes": ready, "bound_bytes": bound,
        "plan_estimate": ENTRY_BYTES + STEP_BYTES * steps, "ready_estimate": own, "bound_estimate": CALL_BYTES * calls,
    }  # fmt: skip


def _weights(device: glla.Device, build: Callable[[], Plan]) -> Iterator[int]:
    """Bytes of the plan, of it made ready, and of its calls; then calls, steps, and the bytes that glla counts."""
    runner, pool = device._runner, device._pool
    with device.current():
        prepare(build(), device._programs, device.limits)  # compiles
        tracemalloc.start()
        before = _traced()
        plan = build()
        yield (after := _traced()) - before
        ready = Prepared(None, prepare(plan, device._programs, device.limits), work(plan.cost))
        yield _traced() - after
        textures = {slot: pool.acquire(storage) for slot, storage in plan.slots.items()}
        runner._bind(plan, ready.folded, ready.share, textures)  # makes the framebuffers
        before = _traced()
        calls = [call for step in runner._bind(plan, ready.folded, ready.share, textures) for call in step]
        yield _traced() - before
    tracemalloc.stop()
    yield len(calls)
    yield len(plan.steps)
    yield ready.nbytes


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def calls(device: glla.Device, seconds: float) -> Figures:
    """Time small calls, in microseconds: on the clock, and of the processor, which neighbours disturb less."""
    rng = np.random.default_rng(2007)
    a, b = (glla.asarray(rng.standard_normal((8, 8), dtype=np.float32), device) for _ in range(2))
    host = np.eye(8, dtype=np.float32) * 2
    work: dict[str, Callable[[], Any]] = {
        "A + B, resident, 8 x 8": lambda: a + b,
        "A @ B, resident, 8 x 8": lambda: a @ b,
        "solve(A, B), resident, 8 x 8": lambda: glla.solve(a, b, device=device),
        "matmul, from NumPy to NumPy, 8 x 8": lambda: glla.matmul(host, host, device=device),
        "solve, from NumPy to NumPy, 8 x 8": lambda: glla.solve(host, host, device=device),
    }
    ways = [Way(name, step, device=device, repeats=CALLS) for name, step in work.items()]
    return {
        row["variant"]: {name: 1e6 * row[kind] for name, kind in MICROSECONDS.items()}
        for row in timed(ways, rounds=1000, seconds=seconds / len(ways), warm=0.01)
    }


MICROSECONDS = {"median": "seconds", "lowest": "fastest", "processor": "cpu_seconds"}


def _run(run: Run) -> Report:
    found: Figures = {"calls": calls(run.device, run.options.seconds)}
    if not run.options.calls_only:
        found["plans"] = plans(run.device)
    lines = [
        f"{part} {name} {value}"
        for part, values in found.items()
        for name, value in (values.items() if isinstance(values, dict) else enumerate(values))
    ]
    return Report("\n".join(lines), found)


STUDY = listed(
    "manners",
    _run,
    option("--calls-only", action="store_true", help="leave memory out"),
    option("--seconds", type=float, default=20.0, help="for the times of small calls (20)"),
)
