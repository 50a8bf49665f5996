"""Squared differences of M M^T to the sum one after the other, theirs and ours.

The course report of 2013 on M M^T (`glla.operations.product.syrk`) compares each of its versions with a sequential sum
on the CPU: the squares of the differences, added up over all elements. It does not say which numbers were multiplied;
here they are uniform between 0 and 10. The last column is what the sequential sum itself is off by, held against
float64: its errors are larger than those of sums by blocks, so a difference to it says little about the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.study import listed, newest
from glla import Array, Device
from glla.array.convert import Float32
from glla.lab.study import Report, Run
from glla.lab.table import aligned, markdown
from glla.operations.product import syrk
from glla.passes import resident

SEED = 2013

THEIRS = {
    10: (0.0, 0.0, 0.0), 20: (0.0, 0.0, 0.0), 30: (0.0, 0.015, 0.015), 50: (0.0, 0.220, 0.220),
    100: (0.0, 3.495, 3.492), 500: (0.0, 44.268, 46.389),
}  # fmt: skip
"""By d: versions 001, 005 and 006, which agree; 008; 009."""

VARIANTS = ("single_component", "symmetric", "stripes", "stripes_transposed")
"""glla's variants of the report's versions 001, 005, 008 and 009."""


def one_after_the_other(m: Float32) -> Float32:
    """Sum M M^T as a single thread does, in float32."""
    total = np.zeros((len(m), len(m)), dtype=np.float32)
    for column in m.T:
        total += np.outer(column, column)
    return total


def squared(one: Float32, other: np.typing.NDArray[Any]) -> float:
    """Sum the squares of all differences."""
    return float(((one.astype(np.float64) - other) ** 2).sum())


def measured(device: Device, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """Compare every variant with the sequential sum, and that with float64."""
    records = []
    for d in sizes:
        m = np.random.default_rng(SEED).uniform(0, 10, (d, d)).astype(np.float32)
        sequential, exact = one_after_the_other(m), m.astype(np.float64) @ m.T.astype(np.float64)
        operand, found = device.upload(m), dict[str, float]()
        for variant in VARIANTS:
            plan = syrk.plan(resident((d, d)), device.limits, variant=variant)
            found[variant] = squared(Array(device, device.run(plan, A=operand)["C"], (d, d)).numpy(), sequential)
        records.append({"d": d, **found, "sequential": squared(sequential, exact)})
    return records


# -- the table --------------------------------------------------------------------------------------------------------

HEAD = (
    "device", "d", "theirs (2013): 001, 005, 006", "008", "009", "ours: `single_component`", "`symmetric`", "`stripes`",
    "`stripes_transposed`", "the sequential sum to float64",
)  # fmt: skip


def table(results: Path) -> str:
    """Give the Markdown of the newest results of each renderer."""
    rows = []
    for run in newest(results, "differences"):
        for one in run["records"]:
            theirs = [f"{value:.3f}" for value in THEIRS[one["d"]]]
            ours = [f"{one[name]:.3g}" for name in (*VARIANTS, "sequential")]
            rows.append((f"{run['renderer']}, {run['date'][:4]}", str(one["d"]), *theirs, *ours))
    return markdown(HEAD, rows)


def _run(run: Run) -> Report:
    records = measured(run.device, list(THEIRS))
    rows = [[f"{value:.4g}" for value in one.values()] for one in records]
    return Report(aligned(list(records[0]), rows), {"records": records})


STUDY = listed("differences", _run)
