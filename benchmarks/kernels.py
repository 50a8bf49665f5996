"""The kernels of the restoration's author, one by one: mean times of theirs, and of the passes that stand for them.

Theirs are from a profiler: tables 5.5, 5.10 and 5.12 of "Linear algebra on GPUs: applications in image restoration"
(2012), on a Tesla C1060. Ours are GPU times of each pass of the author's variants, by timestamps of the device, of the
quickest of three runs; on a software rasteriser the wall time of each pass with a wait behind it. The factor and the
inverses are judged first; a wrong one has no times.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import turns
from benchmarks.study import listed, newest
from glla import Device
from glla.gl.recorder import TracedPass
from glla.lab import operations
from glla.lab.study import Report, Run
from glla.lab.table import aligned, markdown
from glla.operations import OPERATIONS
from glla.testing import JUDGES

SIZES = {"gauss_jordan": (1024, 128), "cholesky": (4096, 256), "triangular_inverse": (4096, 256)}
"""Orders by operation, on a GPU and in software. Every pass of `gauss_jordan` draws both matrices: 12 288 of 128 MiB at
4096."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of the author's: what it does, its mean time in microseconds, and the shader that does it here."""

    operation: str
    variant: str
    what: str
    theirs: float
    shader: str


KERNELS = (
    Kernel("gauss_jordan", "gauss_jordan", "column to the CPU, which looks for a pivot", 13.04, ""),
    Kernel("gauss_jordan", "gauss_jordan", "exchange of rows", 102.35, "gauss_jordan/exchange"),
    Kernel("gauss_jordan", "gauss_jordan", "row of the pivot divided", 78.33, "gauss_jordan/normalise"),
    Kernel("gauss_jordan", "gauss_jordan", "elimination", 4607.0, "gauss_jordan/eliminate"),
    Kernel("cholesky", "block16", "block on the diagonal", 18.45, "cholesky/diagonal"),
    Kernel("cholesky", "block16", "strip below it", 175.51, "cholesky/strip"),
    Kernel("cholesky", "block16", "updates on (55) and off (6316) the diagonal", 54.78 + 6316.0, "cholesky/update"),
    Kernel("triangular_inverse", "gets", "a column of GETS", 806.8, "triangular_inverse/gets"),
)


def traced(device: Device, operation: str, variant: str, n: int) -> list[TracedPass]:
    """Run a variant on operands of the device, and give its passes; none if the result is wrong."""
    record = OPERATIONS[operation]
    arrays = operations.inputs(record, n)
    job = operations.prepare(device, record, operations.contenders(operation)[variant], arrays)
    assert job.run is not None
    verdict = JUDGES[operation].verdict(arrays, job.fetch(job.run()))  # which compiles the shaders, too
    if not verdict.ok:
        print(f"{operation}[{variant}], n = {n}: {verdict}", file=sys.stderr)
        return []
    return turns.recorded(job.run)


def measured(device: Device, size: int | None = None) -> list[dict[str, Any]]:
    """Measure the passes of all kernels: how many, and their mean in microseconds."""
    found: list[dict[str, Any]] = []
    for operation, variant in dict.fromkeys((one.operation, one.variant) for one in KERNELS):
        n = size or SIZES[operation][int(bool(device.limits.software))]
        passes = traced(device, operation, variant, n)
        for kernel in (one for one in KERNELS if one.operation == operation and one.shader):
            own = [one.seconds for one in passes if one.shader == kernel.shader]
            if own:
                mean = 1e6 * sum(own) / len(own)
                found.append({"n": n, "shader": kernel.shader, "passes": len(own), "microseconds": mean})
    return found


# -- the table --------------------------------------------------------------------------------------------------------

HEAD = (
    "algorithm", "variant", "kernel", "theirs, µs (Tesla C1060, 2012)", "ours: device, year, n: passes, mean µs",
)  # fmt: skip


def table(results: Path) -> str:
    """Give the Markdown: each kernel's mean time, theirs, and ours of the newest results of each renderer."""
    runs = newest(results, "kernels")
    return markdown(HEAD, [_row(kernel, runs) for kernel in KERNELS])


def _row(kernel: Kernel, runs: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    ours = [
        f"{run['renderer']}, {run['date'][:4]}, {one['n']}: {one['passes']}, {one['microseconds']:.4g}"
        for run in runs
        for one in run["kernels"]
        if one["shader"] == kernel.shader
    ]
    none = "not measured yet" if kernel.shader else "none"
    return (
        f"`{kernel.operation}`", f"`{kernel.variant}`", kernel.what, f"{kernel.theirs:.4g}", "; ".join(ours) or none,
    )  # fmt: skip


def _run(run: Run) -> Report:
    found = measured(run.device, run.options.size)
    rows = [(one["shader"], str(one["n"]), str(one["passes"]), f"{one['microseconds']:.4g}") for one in found]
    right = len(found) == sum(bool(one.shader) for one in KERNELS)
    return Report(aligned(("shader", "n", "passes", "mean us"), rows), {"kernels": found}, right)


STUDY = listed("kernels", _run, size=(0, "order of all matrices"))
