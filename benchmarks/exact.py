"""Exact factors of exact integer matrices: glla's Cholesky and LAPACK's, both in float32, counted.

    python -m benchmarks.exact [--count 20] [--sizes 10 20 40] [--output DIR]

B is a lower triangle of integers, -9 to 9 below its diagonal, and A = B B^T, which float32 holds. So B is the factor,
and every number on the way to it is an integer: a pivot is a square, a quotient has no remainder. A way that divides
and takes roots to the last bit finds B; one that multiplies with the reciprocal of a pivot, which is rounded, does not,
and may even take A for indefinite.

For each way: of how many matrices it gives B exactly, and how many it refuses. Everything goes to
DIR/<renderer>/exact/<UTC date-time>.json, and `python -m benchmarks.readme` puts the newest of a renderer into the
README.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg.lapack import spotrf

import glla
from benchmarks import report
from glla import Device
from glla.array.convert import Float32
from glla.operations import OPERATIONS

SIZES = (10, 20, 40)
SEED = 2012

DIAGONALS = {"1, 2, 4, 8": (1, 2, 4, 8), "1 to 9": tuple(range(1, 10))}
"""Numbers on the diagonal of B, each as likely as the others: of powers of two the reciprocal is exact."""

Way = Callable[[Float32], Float32 | None]
"""Matrix -> its factor; None if it is refused."""


def example(n: int, diagonal: Sequence[int], rng: np.random.Generator) -> tuple[Float32, Float32]:
    """Make B, and A = B B^T."""
    b = np.tril(rng.integers(-9, 10, (n, n)), -1) + np.diag(rng.choice(diagonal, n))
    return b.astype(np.float32), (b @ b.T).astype(np.float32)


def lapack(a: Float32) -> Float32 | None:
    """Factor by LAPACK."""
    factor, info = spotrf(a, lower=1, clean=1)
    return None if info else factor


def ours(device: Device, variant: str, a: Float32) -> Float32 | None:
    """Factor by a variant of glla's."""
    try:
        return np.asarray(glla.cholesky(a, variant=variant, device=device))
    except glla.errors.NotPositiveDefiniteError:
        return None


def counted(way: Way, examples: Sequence[tuple[Float32, Float32]]) -> dict[str, int]:
    """Count the factors that are exact, and the matrices that are refused."""
    found = [(way(a), b) for b, a in examples]
    refused = sum(factor is None for factor, _ in found)
    return {"exact": sum(factor is not None and bool((factor == b).all()) for factor, b in found), "refused": refused}


def measured(device: Device, sizes: Sequence[int], count: int) -> list[dict[str, Any]]:
    """Count for every diagonal, size and way."""
    variants = OPERATIONS["cholesky"].variants
    ways: dict[str, Way] = {f"glla, {name}": partial(ours, device, name) for name in variants}
    ways["LAPACK spotrf"] = lapack
    records = []
    for words, diagonal in DIAGONALS.items():
        for n in sizes:
            rng = np.random.default_rng(SEED)
            examples = [example(n, diagonal, rng) for _ in range(count)]
            records += [
                {"diagonal": words, "n": n, "way": name, **counted(way, examples)} for name, way in ways.items()
            ]
    return records


# -- the README's table -----------------------------------------------------------------------------------------------

HEAD = "| device | diagonal of B | n | {ways} |\n|---|---|---|{lines}|"


def table(results: Path) -> str:
    """Give the Markdown of the newest results of each renderer: exact factors, of how many."""
    rows, ways = list[str](), dict[str, None]()
    for folder in sorted(results.glob("*/exact")):
        result = json.loads(max(folder.glob("*.json")).read_text(encoding="utf-8"))
        ways |= dict.fromkeys(one["way"] for one in result["records"])
        for key in dict.fromkeys((one["diagonal"], one["n"]) for one in result["records"]):
            mine = {one["way"]: one for one in result["records"] if (one["diagonal"], one["n"]) == key}
            cells = [_cell(mine[way], result["count"]) for way in ways]
            rows.append(f"| {result['renderer']} | {key[0]} | {key[1]} | {' | '.join(cells)} |")
    return "\n".join([HEAD.format(ways=" | ".join(ways), lines="|".join(["---"] * len(ways))), *rows])


def _cell(record: dict[str, Any], count: int) -> str:
    refused = f", {record['refused']} refused" if record["refused"] else ""
    return f"{record['exact']} of {count}{refused}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Count; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exact", description="Exact factors of integer matrices."
    )
    parser.add_argument("--count", type=report.whole_number, default=20, help="matrices of each kind and order (20)")
    parser.add_argument("--sizes", type=report.whole_number, nargs="+", default=list(SIZES), metavar="N")
    report.add_options(parser)
    options = parser.parse_args(arguments)
    with Device(options.backend, options.index, options.software) as device:
        records = measured(device, options.sizes, options.count)
        for one in records:
            print(f"{one['diagonal']:12} {one['n']:4} {one['way']:20} {_cell(one, options.count)}")
        result = {**report.about(device.info, options.commit), "count": options.count, "records": records}
    print(report.save(result, options.output, "exact"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
