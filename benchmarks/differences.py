"""Squared differences of M M^T to the sum one after the other, theirs and ours.

The course report of 2013 on M M^T (`glla.operations.product.syrk`) compares each of its versions with a sequential sum
on the CPU: the squares of the differences, added up over all elements. It does not say which numbers were multiplied;
here they are uniform between 0 and 10. The last column is what the sequential sum itself is off by, held against
float64: its errors are larger than those of sums by blocks, so a difference to it says little about the other side.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.study import Columns, Data, laid_out, listed, newest
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


def _theirs(place: int, row: Data) -> str:
    return f"{THEIRS[row['d']][place]:.3f}"


COLUMNS: Columns = {
    "d": lambda row: str(row["d"]),
    **{f"theirs (2013): {name}": partial(_theirs, i) for i, name in enumerate(("001, 005, 006", "008", "009"))},
    **{f"ours: `{name}`": partial(lambda name, row: f"{row[name]:.3g}", name) for name in VARIANTS},
    "the sequential sum to float64": lambda row: f"{row['sequential']:.3g}",
}


def table(results: Path) -> str:
    """Give the Markdown of the newest results of each renderer."""
    rows = [{**run, **row} for run in newest(results, "differences") for row in run["records"]]
    device: Columns = {"device": lambda row: f"{row['renderer']}, {row['date'][:4]}"}
    return markdown(*laid_out({**device, **COLUMNS}, rows))


def _run(run: Run) -> Report:
    records = measured(run.device, list(THEIRS))
    return Report(aligned(*laid_out(COLUMNS, records)), {"records": records})


STUDY = listed("differences", _run)
