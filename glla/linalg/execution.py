"""Execution of a call: run a plan, let `settle` judge its results, run the stage it names, until done.

    run the plan of the call --> the operation's `settle` --> done, an error, or the name of the next plan
              ^                                                                    |
              +--------------------- run the next plan <---------------------------+

The next plan is one of `Plan.after`: what `glla.plan` shows as "if ...: then ..." is what runs here.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from glla.errors import GllaError, PlanError
from glla.gl import Device
from glla.linalg.operands import refuse_nonfinite_largest, run
from glla.operations import Operation
from glla.operations.verdict import BATCHED, Done
from glla.passes import Forms, Plan

Perform = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""(stage, values) -> results of the stage, by name."""


def run_stages(
    operation: Operation, forms: Forms, perform: Perform, values: dict[str, Any], stage: str = ""
) -> dict[str, Any]:
    """Go from stage to stage until it is done. Synchronises where diagnostics are read back.

    The values, with all results, and with what `settle` found.
    `operation`: whose `settle` decides; without one it is done after the first plan. `forms`: of the operands.
    `perform`: does a stage: `on_device`, or a stand-in on the CPU. `values`: operands and options, by name. `stage`: to
    begin with; "" for the plan of the call.
    Raises GllaError: what `settle` gives.
    """
    while True:
        with np.errstate(all="ignore"):  # what leaves the range is looked at
            values = {**values, **perform(stage, values)}
            verdict = Done() if operation.settle is None else operation.settle(forms, stage, values)
        if isinstance(verdict, GllaError):
            raise verdict
        values = {**values, **verdict.values}
        if isinstance(verdict, Done):
            if verdict.warning is not None:
                warnings.warn(verdict.warning, stacklevel=_frames_of_glla() + 1)
            return values
        stage = verdict.stage


def _frames_of_glla() -> int:
    """Frames between a warning and the user's call."""
    frame, count = sys._getframe(1), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("glla."):
        frame, count = frame.f_back, count + 1  # type: ignore[assignment]  # None at the bottom
    return count


def on_device(
    device: Device, plan: Plan, function: str = "", names: Mapping[str, str] | None = None, has_run: bool = False
) -> Perform:
    """Return an executor: its first call runs `plan`, later calls run the stage that is named.

    `plan`: of the stage to begin with. `function`, `names`: operands on the device that are refused if they are not
    finite, with their names in messages; by default none. `has_run`: the plan was that of a batch and has run: the
    first stage that runs is one of those that come after it.
    """
    plans = iter(() if has_run else (plan,))

    def perform(stage: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
        nonlocal plan
        if stage == BATCHED:
            return {}
        plan = next(plans, None) or following(plan, stage)
        results = run(device, plan, values)
        for name, words in (names or {}).items():
            if f"largest_{name}" in results:
                refuse_nonfinite_largest(function, words, results[f"largest_{name}"])
        return results

    return perform


def following(plan: Plan, stage: str) -> Plan:
    """Make the plan of the stage that comes after another. Raises PlanError: it is none of those that are shown."""
    for then in plan.after:
        if then.stage == stage and then.plan is not None:
            return then.plan()
    known = ", ".join(then.stage for then in plan.after if then.plan is not None)
    raise PlanError(f"{plan.operation}: the next stage must be one of {known}, got {stage!r}")
