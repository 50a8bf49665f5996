"""Verdict on a plan that has run: done, an error, or the next stage.

An operation's `settle` returns it, from the read-back diagnostics. It is a pure function of arrays: it needs no device.
`glla.linalg.execution` runs the plans and calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from glla.errors import GllaError
from glla.passes import Forms

Values = Mapping[str, Any]
"""Known values of a call: its operands and options, and the results of its plans so far, by name."""


BATCHED = "batched"
"""Stage of one matrix of a batch: its plan has run for all, and its own line of diagnostics is known."""


@dataclass(frozen=True)
class Done:
    """It is done."""

    values: Values = field(default_factory=dict)  # what was found on the host, beside the results of the plans
    warning: Warning | None = None  # what the user is warned of


@dataclass(frozen=True)
class Continue:
    """Another plan comes."""

    stage: str  # its name in `Plan.after`
    values: Values = field(default_factory=dict)  # values for it, and for the decisions behind it


Verdict = Done | Continue | GllaError
"""Result of `settle`."""

Settle = Callable[[Forms, str, Values], Verdict]
"""(forms of the operands, name of the stage that has run, "" for the plan of the call, values) -> verdict."""
