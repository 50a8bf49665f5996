"""What tells singular matrices from regular ones: the figures behind the thresholds of `glla.operations.acceptance`.

For regular matrices (normal entries) and singular ones (products of rank n - 1 in float32, and the hidden ones of
`glla.testing.adversaries`), equilibrated and factored on the device:

error    norm(inverse) u sqrt(n) max abs(U), which `acceptance.CHECK_PIVOTS_ABOVE` (1) limits: smallest, median and
         largest of the matrices
ratio    of the smallest pivot to its own rounding error (`rounding_errors`): up to 5 it counts as zero (`SINGULAR`)
known    largest error of the coordinates of the known columns that ride along with the elimination of `rref`, which
         `glla.operations.elimination.known.RECOVERED` (1/256) limits
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

from benchmarks.study import SIZES as ORDERS
from benchmarks.study import Columns, Data, laid_out, listed
from glla import Device, testing
from glla.array.convert import Float32
from glla.lab.study import Report, Run, at_least, option
from glla.lab.table import aligned
from glla.operations.acceptance import UNIT_ROUNDOFF, norm_of_probes, of_diagonal, rounding_errors
from glla.operations.elimination import known
from glla.operations.elimination.rref import call_plan
from glla.operations.systems.streams import factored
from glla.passes import forms_of
from glla.testing.adversaries import hidden_singular

SIZES = (32, 64, 128, 256, 512)
SEED = 2007


def product(n: int, rng: np.random.Generator) -> Float32:
    """Multiply normal matrices in float32 to one of rank n - 1."""
    return testing.normal(n, n - 1, rng) @ testing.normal(n - 1, n, rng)


FAMILIES: dict[str, Callable[[int, np.random.Generator], Float32]] = {
    "regular, normal": lambda n, rng: testing.normal(n, n, rng),
    "singular, product": product,
    "singular, hidden": lambda n, rng: hidden_singular(n, rng).astype(np.float32),
}


def figures(a: Float32, device: Device) -> tuple[float, float]:
    """Error and ratio of one matrix."""
    made = device.run(factored(forms_of((a,)), device.limits), A=a)
    u, largest = of_diagonal(made["diagonal"], len(a))
    error = norm_of_probes(made["probe_solutions"]) * UNIT_ROUNDOFF * np.sqrt(len(a)) * float(np.max(largest))
    if not u.all():
        return float(error), 0.0
    with np.errstate(divide="ignore"):
        ratios = np.abs(u) / rounding_errors(device.download(made["LU"], a.shape), np.arange(len(u)))
    return float(error), float(np.min(ratios))


def error_of_known(a: Float32, device: Device) -> float:
    """Error of the known columns' coordinates; infinite where they are no numbers."""
    plan = call_plan(forms_of((a,)), device.limits, variant="rank2")
    errors = known.errors(device.run(plan, A=a)["coordinates"])
    return float(np.max(np.where(np.isnan(errors), np.inf, errors)))


COLUMNS: Columns = {
    "family": lambda row: row["family"],
    "n": lambda row: str(row["n"]),
    **{f"{name}: {word}": partial(lambda name, of, row: f"{of(row[name]):.3g}", name, of)
       for name in ("errors", "ratios", "known") for word, of in (("least", min), ("median", median), ("most", max))},
}  # fmt: skip


def _run(run: Run) -> Report:
    rng, records = np.random.default_rng(SEED), list[Data]()
    for family, make in FAMILIES.items():
        for n in run.options.size or SIZES:
            run.say(f"{family}, n = {n}")
            matrices = [make(n, rng) for _ in range(run.options.count)]
            errors, ratios = zip(*(figures(a, run.device) for a in matrices), strict=True)
            found = {"errors": errors, "ratios": ratios, "known": [error_of_known(a, run.device) for a in matrices]}
            records.append({"family": family, "n": n, **{name: sorted(values) for name, values in found.items()}})
    return Report(aligned(*laid_out(COLUMNS, records)), {"count": run.options.count, "records": records})


STUDY = listed(
    "doubt",
    _run,
    option("--count", type=at_least(1), default=40, metavar="N", help="matrices of each kind and order (40)"),
    ORDERS,
)
