"""`glla study adjugate`: the adjugate formula beside pivoted elimination, on singular values and on a photograph.

A formula for the inverse of a 3 x 3 matrix is fast, and right where no more than one singular value is small.
Covariances have two small ones wherever a picture is flat or has an edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.gl import Device
from glla.lab.photograph import SIDE, picture
from glla.lab.study import Report, Run, Study, at_least, option
from glla.lab.table import aligned, digits
from glla.operations.record import Float32
from glla.operations.routes import pieces
from glla.operations.systems.inv3 import call_plan, indefinite, most_batched
from glla.passes import forms_of

WAYS = ("adjugate", "adjugate_fused", "pivoted_small")
"""Variants of `glla.inv` that are compared."""

SPECTRA = ((1.0, 1.0, 1e-6), (1.0, 1e-2, 1e-2), (1.0, 1e-3, 1e-3), (1.0, 1e-4, 1e-4))
"""Singular values of random matrices."""

DAMPING = (1e-3, 1e-5)
"""A ninth of what is added to the diagonal of a covariance, as in the matting of pictures; grey values are 0 to 1."""

LIMIT = 30.0
"""Largest norm(A X - I) / (n norm(A) norm(X) u) that glla promises of an inverse."""


Record = dict[str, Any]
"""How one way did on one stack: ``matrices``, what was inverted; ``way``; ``count`` of matrices; the ``worst``
norm(A X - I) / (n norm(A) norm(X) u), in the 1-norm, None if infinite; shares ``beyond`` `LIMIT`, and ``refused``: the
determinant is no larger than its rounding error."""


def with_singular_values(values: Sequence[float], count: int, rng: np.random.Generator) -> Float32:
    """Random matrices with these singular values."""
    left, right = (np.linalg.qr(rng.standard_normal((count, 3, 3)))[0] for _ in range(2))
    return np.asarray(left * np.array(values) @ right, dtype=np.float32)


def covariances(damping: float, size: int = SIDE) -> Float32:
    """Covariance of grey value and both differences in each 3 x 3 window of a photograph, damped.

    `damping`: 9 times what is added to the diagonal. `size`: rows and columns of the photograph, 512 at most.
    """
    grey = picture(size) / 255
    features = np.stack([grey[:-1, :-1], grey[:-1, 1:] - grey[:-1, :-1], grey[1:, :-1] - grey[:-1, :-1]], axis=-1)
    windows = np.lib.stride_tricks.sliding_window_view(features, (3, 3), axis=(0, 1))
    samples = windows.reshape(-1, 3, 9)
    samples = samples - samples.mean(axis=2, keepdims=True)
    found = samples @ np.swapaxes(samples, 1, 2) / 9 + damping / 9 * np.eye(3)
    return np.asarray(found, dtype=np.float32)


def ratios(a: Float32, x: Float32) -> NDArray[np.float64]:
    """norm(A X - I) / (3 norm(A) norm(X) u) of each matrix, in the 1-norm and in float64."""
    wide, inverse = a.astype(np.float64), x.astype(np.float64)
    error, *sizes = (np.abs(one).sum(axis=1).max(axis=1) for one in (wide @ inverse - np.eye(3), wide, inverse))
    return np.asarray(error / (3 * sizes[0] * sizes[1] * 2.0**-24))


def study(device: Device, count: int = 20_000, size: int = SIDE) -> list[Record]:
    """Invert all stacks in every way; `count`: random matrices of each kind; `size`: side of the photograph."""
    rng = np.random.default_rng(2007)
    stacks = {
        f"singular values {', '.join(f'{s:g}' for s in one)}": with_singular_values(one, count, rng) for one in SPECTRA
    }
    stacks["normal"] = rng.standard_normal((count, 3, 3)).astype(np.float32)
    stacks |= {f"covariances of the photograph, damped by {one:g}": covariances(one, size) for one in DAMPING}
    return [_record(name, a, way, device) for name, a in stacks.items() for way in WAYS]


def _record(name: str, a: Float32, way: str, device: Device) -> Record:
    """Run the plan of a call, and count where the call would raise."""
    rows, found, refused = a.reshape(-1, 9), [], 0
    for first, end in pieces(len(rows), most_batched(device.limits)):
        part = rows[first:end]
        results = device.run(call_plan(forms_of((part,)), device.limits, variant=way), A=part)
        found.append(ratios(a[first:end], results["X"].reshape(-1, 3, 3)))
        refused += int(indefinite(results["diagnostics"]).sum())
    every = np.concatenate(found)
    worst = float(np.nan_to_num(every, nan=np.inf).max())
    return {
        "matrices": name, "way": way, "count": len(a), "worst": worst if np.isfinite(worst) else None,
        "beyond": float((~(every <= LIMIT)).mean()), "refused": refused / len(a),
    }  # fmt: skip


def table(records: Sequence[Record]) -> str:
    """Write the records, a line for each stack."""
    rows = []
    for name in dict.fromkeys(one["matrices"] for one in records):
        own = {one["way"]: one for one in records if one["matrices"] == name}
        shares = ("{0}, {beyond:.2%}, {refused:.2%}".format(digits(own[way]["worst"]), **own[way]) for way in WAYS)
        rows.append((name, str(own[WAYS[0]]["count"]), *shares))
    return aligned(["matrices", "count", *(f"{way}: worst, beyond {LIMIT:g}, refused" for way in WAYS)], rows)


def _run(run: Run) -> Report:
    records = study(run.device, run.options.count, run.options.size)
    return Report(table(records), {"records": records})


STUDY = Study(
    "adjugate",
    "the adjugate formula beside pivoted elimination, on covariances of a photograph",
    _run,
    (option("--count", type=at_least(1), default=20000, metavar="N", help="random matrices (20000)"),),
    size=(512, "side of the photograph"),
    needs=("pywt",),
)
