"""Exact factors of exact integer matrices: glla's Cholesky and LAPACK's, both in float32, counted.

B is a lower triangle of integers, -9 to 9 below its diagonal, and A = B B^T, which float32 holds. So B is the factor,
and every number on the way to it is an integer: a pivot is a square, a quotient has no remainder. A way that divides
and takes roots to the last bit finds B; one that multiplies with the reciprocal of a pivot, which is rounded, does not,
and may even take A for indefinite.

For each way: of how many matrices it gives B exactly, and how many it refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg.lapack import spotrf

import glla
from benchmarks.study import SIZES as ORDERS
from benchmarks.study import listed, newest
from glla import Device
from glla.array.convert import Float32
from glla.lab.study import Report, Run, at_least, option
from glla.lab.table import aligned, markdown
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


# -- the table --------------------------------------------------------------------------------------------------------


def table(results: Path) -> str:
    """Give the Markdown of the newest results of each renderer: exact factors, of how many."""
    runs = newest(results, "exact")
    ways = list(dict.fromkeys(one["way"] for run in runs for one in run["records"]))
    rows = [(run["renderer"], *row) for run in runs for row in _rows(run["records"], ways, run["count"])]
    return markdown(("device", "diagonal of B", "n", *ways), rows)


def _rows(records: Sequence[dict[str, Any]], ways: Sequence[str], count: int) -> list[tuple[str, ...]]:
    rows = []
    for diagonal, n in dict.fromkeys((one["diagonal"], one["n"]) for one in records):
        mine = {one["way"]: one for one in records if (one["diagonal"], one["n"]) == (diagonal, n)}
        rows.append((diagonal, str(n), *(_cell(mine.get(way), count) for way in ways)))
    return rows


def _cell(record: dict[str, Any] | None, count: int) -> str:
    if record is None:
        return "-"
    return f"{record['exact']} of {count}" + (f", {record['refused']} refused" if record["refused"] else "")


def _run(run: Run) -> Report:
    count = run.options.count
    records = measured(run.device, run.options.size or SIZES, count)
    ways = list(dict.fromkeys(one["way"] for one in records))
    text = aligned(("diagonal of B", "n", *ways), _rows(records, ways, count))
    return Report(text, {"count": count, "records": records})


STUDY = listed(
    "exact",
    _run,
    option("--count", type=at_least(1), default=20, metavar="N", help="matrices of each kind and order (20)"),
    ORDERS,
)
