"""The fastest variant and its parameters, found by trying: `glla tune`.

For each size every variant that may be chosen runs with every combination of its parameters. What beats the best so far
is verified against its error bound before it takes its place; a wrong result is reported, and never stored. The outcome
lies in a file (`glla.gl.tuning`), which each device of that renderer reads when it is made, and `choose` follows.

Jiang and Snir, "Automatic tuning matrix multiplication performance on graphics hardware" (2005), for all variants.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import inf
from operator import ne
from pathlib import Path
from typing import Any

from glla._version import __version__
from glla.errors import GllaError, LimitError, OptionError
from glla.gl import Device, DeviceLike, named_device, tuning
from glla.lab import comparison, operations
from glla.lab.bench import Bench, Effort
from glla.lab.measurement import written
from glla.lab.operations import Contender, PlanJob
from glla.lab.table import milliseconds
from glla.passes import Limits, Parameters

REPEATS = 4
"""Repeats of a candidate, after its first run."""

CLEARLY = 0.97
"""A candidate replaces the best only if it takes under 0.97 of its time; smaller gains are noise."""

HOPELESS = 2.0
"""A candidate whose first run takes more than this many times as long as the best is not run again."""

EFFORT = Effort(most=REPEATS)


@dataclass(frozen=True)
class Outcome:
    """Result for an operation at a size."""

    operation: str  # which
    size: int  # order of the matrices
    variant: str  # the fastest, operands and results on the device
    parameters: Parameters
    seconds: float
    untuned: str  # what `choose` picks without tuning
    untuned_seconds: float  # what that takes
    tried: int  # combinations that ran
    troubles: tuple[str, ...] = ()  # those that were wrong or failed, and why

    @property
    def entry(self) -> dict[str, Any]:
        """As a file holds it."""
        kept = ("operation", "size", "variant", "parameters", "seconds", "untuned", "untuned_seconds")
        return {name: getattr(self, name) for name in kept} | {"parameters": dict(self.parameters)}


def tune(
    names: Iterable[str] | None = None,
    sizes: Sequence[int] | None = None,
    *,
    device: DeviceLike | None = None,
    seed: int = 2007,
    progress: Callable[[Outcome], object] | None = None,
    trying: Callable[[str], object] = lambda what: None,
) -> list[Outcome]:
    """Find the fastest variant and parameters of operations on a device. Synchronises.

    Examples
    --------
    >>> (found,) = tune(["triangular"], [8])
    >>> found.size, found.variant in ("rank2", "blocked", "panel_broadcast"), found.seconds > 0
    (8, True, True)

    Parameters
    ----------
    names : iterable of str, optional
        Some of `glla.gl.tuning.operations`; by default all.
    sizes : sequence of int, optional
        Orders of the matrices; by default those of `glla.lab.compare`.
    device : Device, str or int, optional
        Or its name, see `glla.gl.named_device`. By default the default device of this thread.
    seed : int
        Of the random matrices.
    progress : callable, optional
        Called with each outcome as it comes.
    trying : callable
        Called with what is tried next, in words.

    Returns
    -------
    list of Outcome
        One for each operation and size; `store` puts them where devices look for them.

    Raises
    ------
    OptionError
        Unknown operation, or a size below 1.
    """
    device = named_device("tune", device)
    chosen = list(dict.fromkeys(tuning.operations() if names is None else names))
    for name in chosen:
        tuning.variants(name)  # raises, before any work
    orders = comparison.SIZES[device.info.software] if sizes is None else sizes
    if not orders or min(orders) < 1:
        raise OptionError(f"tune: sizes must be 1 or more, at least one of them, got {tuple(orders)}")
    found = []
    for name, size in product(chosen, sorted(set(orders))):
        found.append(_tuned(device, name, size, seed, trying))
        if progress is not None:
            progress(found[-1])
    return found


def untuned(operation: str, n: int, limits: Limits) -> str:
    """Say which variant `choose` picks for matrices of order n without tuning.

    >>> untuned("plu", 5000, Limits())
    'blocked'
    """
    found = operations.find(operation)
    forms = operations.forms(operations.inputs(found, n))
    return found.choose(forms, replace(limits, tuned=()))[0]


def _tuned(device: Device, name: str, size: int, seed: int, trying: Callable[[str], object]) -> Outcome:
    """Try all that there is. Raises OptionError: nothing gives a right result."""
    operation = operations.find(name)
    arrays, judge = operations.inputs(operation, size, seed), operations.judge(name)
    default = untuned(name, size, device.limits)
    best: tuple[str, Parameters, float] | None = None
    default_seconds, tried, troubles = float("nan"), 0, []
    for contender, parameters in _candidates(name, default, device.limits):
        label = comparison.Entry(contender, parameters).label
        trying(f"{name} {label}, n = {size}")
        try:
            job = operations.prepare(device, operation, contender, arrays, parameters)
            seconds = _seconds(device, job, None if best is None else best[2])
            tried += 1
            if best is None or seconds < CLEARLY * best[2]:
                verdict = judge.verdict(arrays, job.fetch(job.run()))
                if not verdict.ok:
                    troubles.append(f"{name} {label}, n = {size}: {verdict}")
                    continue
                best = contender.name, parameters, seconds
            if contender.name == default and default_seconds != default_seconds:  # its first combination: the defaults
                default_seconds = seconds
        except LimitError:
            continue  # too large for this device
        except GllaError as error:
            troubles.append(f"{name} {label}, n = {size}: {error}")
    if best is None:
        raise OptionError(f"tune: no variant of {name} gives a right result at n = {size}: {'; '.join(troubles)}")
    return Outcome(name, size, *best, default, default_seconds, tried, tuple(troubles))


def _candidates(name: str, default: str, limits: Limits) -> Iterator[tuple[Contender, Parameters]]:
    """Each variant that may be chosen, the untuned choice first, with each combination of its parameters.

    Of these the defaults come first.
    """
    known = operations.contenders(name)
    allowed = sorted(tuning.variants(name), key=lambda variant: variant != default)
    for variant in allowed:
        contender, usual = known[variant], tuning.variants(name)[variant].settle(name, (), limits)
        values = (sorted(some, key=partial(ne, usual[key])) for key, some in contender.parameters.items())
        for chosen in product(*values):
            parameters = tuple(zip(contender.parameters, chosen, strict=True))
            if not contender.refuses(parameters):
                yield contender, parameters


def _seconds(device: Device, job: PlanJob, best: float | None) -> float:
    """Time a job, after a run to warm up; once only where there is no hope."""
    job.run()
    return Bench(device, EFFORT).median(job.run, inf if best is None else HOPELESS * best)


# -- files ------------------------------------------------------------------------------------------------------------


def destination(renderer: str, out: Path | None = None) -> Path:
    """File to store the outcome in. Raises OptionError: tuning is off, or the user has no folder for configuration."""
    file = out or tuning.path(renderer)
    if file is None:
        how = "GLLA_TUNING=off" if os.environ.get(tuning.VARIABLE) == tuning.OFF else "no home"
        raise OptionError(f"tune: there is no folder for the outcome ({how}); unset it, or name a file with --out")
    return file


def store(file: Path, renderer: str, found: Iterable[Outcome] = (), rates: Mapping[str, float] | None = None) -> None:
    """Write outcomes to a file, in place of its entries of the same operations, and rates in place of its own."""
    outcomes = list(found)
    redone = {one.operation for one in outcomes}
    try:
        before = tuning.read(file, renderer)
    except (OSError, OptionError):  # none there, or none that is any use
        before = tuning.Stored()
    kept = [entry for entry in before.entries if entry["operation"] not in redone]
    entries = [*kept, *(one.entry for one in outcomes)]
    tuning.write(file, renderer, __version__, tuning.Stored(entries, dict(rates or before.rates)))


def line(entry: Mapping[str, Any]) -> str:
    """Write an entry as a line.

    >>> line({"operation": "matmul", "size": 64, "variant": "inner_product", "parameters": {"UNROLL": 4},
    ...       "seconds": 0.001, "untuned": "inner_product", "untuned_seconds": 0.002})
    'matmul      n = 64     inner_product[UNROLL=4]: 1 ms, 2 times as fast as inner_product untuned'
    """
    parameters = written(tuple(entry["parameters"].items()))
    label = f"{entry['variant']}[{parameters}]" if parameters else entry["variant"]
    head = f"{entry['operation']:10}  n = {entry['size']:<6} {label}"
    try:
        head = f"{head}: {milliseconds(entry['seconds'])} ms"
        gain = entry["untuned_seconds"] / entry["seconds"]
        if gain == 1.0:
            return f"{head}, as untuned"
        return f"{head}, {gain:.3g} times as fast as {entry['untuned']} untuned" if gain == gain else head
    except (LookupError, TypeError, ValueError, ArithmeticError):  # nothing checks the times: they are for readers
        return head


def rate_lines(rates: Mapping[str, float]) -> list[str]:
    """Write rates as lines.

    >>> rate_lines({"flops": 1.9e12, "write": 55e9, "issue": 2.4e-6, "latency": 12e-6})
    ['rates: 1900 GFLOP/s of fragments, 55 GB/s written, 2.4 us to issue a draw, 12 us a dependent pass']
    """
    if not rates:
        return []
    return [
        f"rates: {rates['flops'] / 1e9:.4g} GFLOP/s of fragments, {rates['write'] / 1e9:.3g} GB/s written, "
        f"{rates['issue'] * 1e6:.3g} us to issue a draw, {rates['latency'] * 1e6:.3g} us a dependent pass"
    ]
