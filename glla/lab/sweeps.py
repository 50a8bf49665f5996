"""`glla study sweeps`: the inverse by Gauss and Seidel's sweeps, the residual of each beside its time.

    (D + L) X' = I - U X,    A = L + D + U

A sweep is one product and one triangular solution, 2 n^3 + n^3 flop, so a few sweeps take as long as an elimination.
They converge for positive definite and for strictly diagonally dominant matrices, the slower the worse the condition.
The source times them as the fastest of its four inverses, "up to 8 times" MATLAB's, and tells neither how many there
were nor what they left: so its ranking is not one at equal accuracy.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, asarray
from glla.gl import Device, default_device
from glla.lab.study import Report, Run, Study, at_least, clock, option
from glla.lab.table import aligned
from glla.linalg import inv, solve_triangular

SHOWN = (1, 2, 5, 10, 20, 50, 100)
"""Sweeps that the table shows."""

THEIRS = (
    ("MATLAB inv, double", 24.29, "printed"),
    ("Gauss-Jordan", 19.66, "derived, 4096 x 4.8007 ms"),
    ("Cholesky, GETS and a product", 6.1, 'derived from "4 times"'),
    ("Gauss-Seidel", 3.0, 'derived from "up to 8 times"; sweeps and residual not published'),
)
"""Seconds of the source for n = 4096, on a Tesla C1060, 2012: method, seconds, how they are known."""


@dataclass(frozen=True)
class Sweep:
    """State after a sweep."""

    number: int  # sweeps so far
    seconds: float  # of all sweeps so far, residuals not counted
    residual: float  # Frobenius norm of A X - I, in float64 on the host


def matrix(n: int, condition: float = 40.0, seed: int = 2007) -> NDArray[np.float32]:
    """Make a positive definite matrix whose eigenvalues go from 1 to `condition` in even steps."""
    rng = np.random.default_rng([seed, n])
    q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return np.asarray((q * np.linspace(1, condition, n)) @ q.T, dtype=np.float32)


def sweeps(
    a: NDArray[np.float32], count: int, device: Device | None = None, shown: Sequence[int] = SHOWN
) -> list[Sweep]:
    """Invert by sweeps from X = 0; tell of those in `shown`.

    `a`, (n, n): positive definite, or strictly diagonally dominant. `count`: sweeps. `device`: where; by default the
    default device. `shown`: sweeps after which the residual is looked at, beside the last.
    """
    target, n = device or default_device(), len(a)
    upper, lower, identity = (asarray(one, target) for one in (np.triu(a, 1), np.tril(a), np.eye(n, dtype=np.float32)))
    x: Array = solve_triangular(lower, identity, lower=True)  # compiles
    upper @ x
    target.finish()
    found, seconds = [], 0.0
    for number in range(1, count + 1):
        start = time.perf_counter()
        right = identity if number == 1 else identity - upper @ x
        x = solve_triangular(lower, right, lower=True)
        target.finish()
        seconds += time.perf_counter() - start
        if number in (*shown, count):
            error = a.astype(np.float64) @ x.numpy().astype(np.float64) - np.eye(n)
            found.append(Sweep(number, seconds, float(np.linalg.norm(error))))
    return found


def beside(a: NDArray[np.float32], device: Device | None = None) -> dict[str, tuple[float, float]]:
    """Seconds and residual of the inverses that end by themselves: the usual one, and the author's other ways."""
    target = device or default_device()
    given = asarray(a, target)
    ways: dict[str, dict[str, Any]] = {
        "inv": {},
        "inv, positive definite": {"assume_a": "pos"},
        "cholesky_gets_product": {"assume_a": "pos", "variant": "cholesky_gets_product"},
        "gauss_jordan": {"variant": "gauss_jordan"},
    }
    found = {}
    for name, options in ways.items():
        seconds = clock(partial(inv, given, **options), 1, target).median
        error = a.astype(np.float64) @ np.asarray(inv(given, **options)).astype(np.float64) - np.eye(len(a))
        found[name] = (seconds, float(np.linalg.norm(error)))
    return found


def table(n: int, found: Sequence[Sweep], others: dict[str, tuple[float, float]]) -> str:
    """Format the results, theirs below ours."""
    ours = {f"{one.number} sweep{'s' * (one.number > 1)}": (one.seconds, one.residual) for one in found} | others
    rows = [(name, f"{seconds:.3g}", f"{residual:.3g}") for name, (seconds, residual) in ours.items()]
    theirs = [(name, f"{seconds:g}", known) for name, seconds, known in THEIRS]
    return "\n".join(
        (
            aligned((f"n = {n}, ours", "seconds", "norm(A X - I), Frobenius"), rows),
            "",
            aligned(("n = 4096, theirs (Tesla C1060, 2012)", "seconds", "how it is known"), theirs),
        )
    )


def plain(n: int, found: Sequence[Sweep], others: dict[str, tuple[float, float]]) -> dict[str, Any]:
    """Return the results as plain data."""
    rest = {name: {"seconds": seconds, "residual": residual} for name, (seconds, residual) in others.items()}
    return {"n": n, "sweeps": [asdict(one) for one in found], "others": rest}


def _run(run: Run) -> Report:
    a = matrix(run.options.size)
    found, others = sweeps(a, run.options.count, run.device), beside(a, run.device)
    return Report(table(len(a), found, others), plain(len(a), found, others))


STUDY = Study(
    "sweeps",
    "the inverse by Gauss-Seidel sweeps: time and residual of each",
    _run,
    (option("--count", type=at_least(1), default=100, metavar="N", help="sweeps (100)"),),
    size=(200, "order of the matrix"),
)
