"""`glla study sweeps`: the inverse by Gauss and Seidel's sweeps, the residual of each beside its time.

    (D + L) X' = I - U X,    A = L + D + U

A sweep is one product and one triangular solution, 2 n^3 + n^3 flop, so a few sweeps take as long as an elimination.
They converge for positive definite and for strictly diagonally dominant matrices, the slower the worse the condition.
The source times them as the fastest of its four inverses, "up to 8 times" MATLAB's, and tells neither how many there
were nor what they left: so its ranking is not one at equal accuracy.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Array, asarray
from glla.gl import Device
from glla.lab.study import Report, Run, Study, at_least, clock, option
from glla.lab.table import aligned
from glla.linalg import inv, solve_triangular

THEIR_METHODS = (
    ("MATLAB inv, CPU, double precision", 24.29, "printed"),
    ("Gauss-Jordan", 19.66, "derived: 4096 columns of 4.8007 ms"),
    ("Cholesky alone", 1.68, "derived: 256 block columns of 6.565 ms"),
    ("inverse of the triangle (GETS) alone", 3.30, "derived: 4096 columns of 0.8068 ms"),
    ("Cholesky, GETS and product", 6.1, 'derived from "4 times" MATLAB\'s'),
    ("Gauss-Seidel", 3.0, 'derived from "up to 8 times" MATLAB\'s; sweeps and residual not published'),
)
"""Seconds of the source's inversions at n = 4096, and how they are known."""

SHOWN = (1, 2, 5, 10, 20, 50, 100)
"""Sweeps that the table shows."""


def matrix(n: int) -> NDArray[np.float32]:
    """Make a positive definite matrix whose eigenvalues go from 1 to 40 in even steps."""
    rng = np.random.default_rng([2007, n])
    q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return np.asarray((q * np.linspace(1, 40, n)) @ q.T, dtype=np.float32)


def sweeps(a: NDArray[np.float32], count: int, target: Device) -> list[dict[str, Any]]:
    """Invert by sweeps from X = 0; tell of those in `SHOWN`: number, seconds of all so far, Frobenius norm of A X - I.

    `a`, (n, n): positive definite, or strictly diagonally dominant. `count`: sweeps.
    """
    n = len(a)
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
        if number in (*SHOWN, count):
            error = a.astype(np.float64) @ x.numpy().astype(np.float64) - np.eye(n)
            found.append({"number": number, "seconds": seconds, "residual": float(np.linalg.norm(error))})
    return found


def beside(a: NDArray[np.float32], target: Device) -> dict[str, dict[str, float]]:
    """Seconds and residual of the inverses that end by themselves: the usual one, and the author's other ways."""
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
        found[name] = {"seconds": seconds, "residual": float(np.linalg.norm(error))}
    return found


def table(found: dict[str, Any]) -> str:
    """Format the results, theirs below ours."""
    swept = {f"{one['number']} sweep{'s' * (one['number'] > 1)}": one for one in found["sweeps"]}
    rows = [
        (name, f"{one['seconds']:.3g}", f"{one['residual']:.3g}") for name, one in (swept | found["others"]).items()
    ]
    theirs = [(name, f"{seconds:g}", known) for name, seconds, known in THEIR_METHODS]
    return "\n".join(
        (
            aligned((f"n = {found['n']}, ours", "seconds", "norm(A X - I), Frobenius"), rows),
            "",
            aligned(("n = 4096, theirs (Tesla C1060, 2012)", "seconds", "how it is known"), theirs),
        )
    )


def study(n: int, count: int, device: Device) -> dict[str, Any]:
    """Invert a matrix of an order by sweeps, and in the other ways, as plain data."""
    a = matrix(n)
    return {"n": n, "sweeps": sweeps(a, count, device), "others": beside(a, device)}


def _run(run: Run) -> Report:
    found = study(run.options.size, run.options.count, run.device)
    return Report(table(found), found)


STUDY = Study(
    "sweeps",
    "the inverse by Gauss-Seidel sweeps: time and residual of each",
    _run,
    (option("--count", type=at_least(1), default=100, metavar="N", help="sweeps (100)"),),
    size=(200, "order of the matrix"),
)
