"""What tells singular matrices from regular ones: the figures behind `glla.operations.trust`' thresholds, measured.

    python -m benchmarks.doubt [--count 40] [--sizes 32 64 128 256 512] [--output DIR]

For regular matrices (normal entries) and singular ones (products of rank n - 1 in float32, and the hidden ones of
`glla.testing.adversaries`), equilibrated and factored on the device:

error    norm(inverse) u sqrt(n) max abs(U), which `glla.operations.trust.DOUBTFUL` (1) limits: smallest, median and
         largest of the matrices
ratio    of the smallest pivot to its own rounding error (`rounding_errors`): up to 5 it counts as zero (`SINGULAR`)
known    largest error of the coordinates of the known columns that ride along with the elimination of `rref`, which
         `glla.operations.elimination.known.RECOVERED` (1/256) limits

Everything goes to DIR/<renderer>/doubt/<UTC date-time>.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks import report
from glla import Device, testing
from glla.array.array import upload
from glla.array.convert import Float32
from glla.linalg.factors import factorise
from glla.operations.elimination import known
from glla.operations.elimination.noise import UNIT_ROUNDOFF, rounding_errors
from glla.operations.elimination.rref import whole
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
    factors = factorise(upload(a, device), equilibrate_first=True)
    u, largest = factors.diagonal
    error = factors.inverse_norm * UNIT_ROUNDOFF * np.sqrt(len(a)) * float(np.max(largest))
    if not u.all():
        return float(error), 0.0
    with np.errstate(divide="ignore"):
        ratios = np.abs(u) / rounding_errors(factors.packed, np.arange(len(u)))
    return float(error), float(np.min(ratios))


def error_of_known(a: Float32, device: Device) -> float:
    """Error of the known columns' coordinates; infinite where they are no numbers."""
    plan = whole(forms_of((a,)), device.limits, variant="rank2")
    errors = known.errors(device.run(plan, A=a)["coordinates"])
    return float(np.max(np.where(np.isnan(errors), np.inf, errors)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.doubt", description="What tells singular matrices?")
    parser.add_argument("--count", type=report.whole_number, default=40, help="matrices of each kind and order (40)")
    parser.add_argument("--sizes", type=report.whole_number, nargs="+", default=list(SIZES), metavar="N")
    report.add_options(parser)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(SEED)
    records: list[dict[str, Any]] = []
    with Device(options.backend, options.index, options.software) as device:
        print(f"{'family':20} {'n':>5}   {'error: least, median, most':32} {'ratio: least, most':22}known: likewise")
        for family, make in FAMILIES.items():
            for n in options.sizes:
                matrices = [make(n, rng) for _ in range(options.count)]
                errors, ratios = np.array([figures(a, device) for a in matrices]).T
                of_known = np.array([error_of_known(a, device) for a in matrices])
                shown = [np.min(errors), np.median(errors), np.max(errors), np.min(ratios), np.max(ratios)]
                shown += [np.min(of_known), np.median(of_known), np.max(of_known)]
                print(f"{family:20} {n:5}  ", *(f"{figure:9.3g}" for figure in shown), flush=True)
                measured = {"errors": sorted(map(float, errors)), "ratios": sorted(map(float, ratios))}
                measured["known"] = sorted(map(float, of_known))
                records.append({"family": family, "n": n, **measured})
        found_all = {**report.about(device.info, options.commit), "count": options.count, "records": records}
    print(report.save(found_all, options.output, "doubt"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
