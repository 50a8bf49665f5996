"""`glla study convergence`: how the solvers of sparse systems converge, by the true residual of each iterate.

The problem is the five-point Laplacian of an n x n grid, with a random right-hand side. After each iteration x is read
back, and its residual is computed in float64: what the solvers themselves do once, at the end. With ``--times`` they
then solve it undisturbed, in turns with SciPy's on the CPU: what ``glla compare`` does for operations, which solvers
are not, as how many iterations they take depends on values. ``--operation``: eigenvalues, see `glla.lab.spectral`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from glla.array.array import asarray
from glla.gl import Device
from glla.gl.clock import clock
from glla.lab import plots
from glla.lab.peers import in_scipy
from glla.lab.spectral import levels, rotations
from glla.lab.study import Report, Run, Study, option
from glla.lab.table import aligned, digits
from glla.operations.sparse import model
from glla.operations.sparse.compressed import Compressed
from glla.sparse import linalg
from glla.sparse.matrix import SparseMatrix

SIZE, SEED = 32, 2007
"""Points along a side of the grid, by default; and the seed of the right-hand side."""

ROUNDS = 5
"""Solves of each for the clock."""

RESTART = 20
"""Steps of a cycle of gmres."""

REFINED = "cg, refined"
"""The solver that ends in float64."""

DEGREE = 4
"""Of the Chebyshev polynomial."""


History = dict[str, Any]
"""How a solver went: its ``name``; ``products`` with A that each entry of ``residuals`` took, norm(b - A x) / norm(b)
after each iteration (of gmres: each cycle), in float64; ``info``, the word of the solver in the end; ``seconds`` of
whole solves that nobody looked into, if they were timed."""


def laplacian(n: int) -> Compressed:
    """The five-point Laplacian of an n x n grid: 4 on the diagonal, -1 for each neighbour."""
    weights = np.array([-1, -1, 4, -1, -1], dtype=np.float32)[:, np.newaxis]
    return model.of(np.repeat(weights, n * n, axis=1))


def histories(
    device: Device,
    n: int = SIZE,
    rtol: float = 1e-6,
    seed: int = SEED,
    progress: Callable[[str], object] = lambda name: None,
    rounds: int = 0,
) -> list[History]:
    """Let every solver solve the same system. Synchronises at each iteration, so this tells nothing of speed.

    `n`: points along a side of the grid; the matrix has n^2 rows. `rtol`: residual that is asked for. `seed`: of the
    right-hand side. `progress`: called with the name of each solver, before it starts. `rounds`: how often each then
    solves it for the clock, in turns, vectors on the device (refined: on the host); with them SciPy's solvers take
    part, if there is SciPy.
    """
    matrix = SparseMatrix(laplacian(n), device)
    b = np.random.default_rng(seed).standard_normal(n * n)
    size = float(np.linalg.norm(b))
    found, calls = [], dict[str, Callable[[], object]]()
    all_: dict[str, tuple[int, Callable[..., Any], Any]] = {
        name: (products, solve, matrix) for name, (products, solve) in solvers(matrix).items()
    }
    for name, (products, solve, given) in {**all_, **(_theirs(matrix) if rounds else {})}.items():
        progress(name)
        residuals: list[float] = []

        def note(x: Any, residuals: list[float] = residuals) -> None:
            residuals.append(float(np.linalg.norm(b - matrix.rows @ x.astype(np.float64))) / size)

        right = b if given is matrix else b.astype(np.float32)
        _, info = solve(given, right, rtol=rtol, callback=note)
        found.append({"name": name, "products": products, "residuals": residuals, "info": info})
        resident = given is matrix and name != REFINED
        calls[name] = partial(solve, given, asarray(b, device) if resident else right, rtol=rtol)
    if not rounds:
        return found
    # each call once in every round; the first round warms up
    times = [[clock(call, device.finish)[0] for call in calls.values()] for _ in range(rounds + 1)]
    return [one | {"seconds": [*each]} for one, each in zip(found, zip(*times[1:], strict=True), strict=True)]


def _theirs(matrix: SparseMatrix) -> Mapping[str, tuple[int, Callable[..., Any], Any]]:
    """SciPy's solvers in float32: products in an iteration, the function, and the matrix; none without SciPy."""
    if find_spec("scipy") is None:
        return {}
    from scipy.sparse.linalg import bicgstab, cg

    given = in_scipy(matrix.rows)
    return {"SciPy cg": (1, cg, given), "SciPy bicgstab": (2, bicgstab, given)}


def solvers(matrix: SparseMatrix) -> Mapping[str, tuple[int, Callable[..., tuple[Any, int]]]]:
    """Solvers by name: products with A in an iteration (of gmres: in a cycle), and the function."""
    steps = min(RESTART, matrix.shape[0])
    polynomial = linalg.chebyshev(matrix, DEGREE)
    return {
        "cg, merged": (1, partial(linalg.cg, variant="merged")),
        "cg, classic": (1, partial(linalg.cg, variant="classic")),
        REFINED: (1, partial(linalg.cg, refine=True)),
        f"cg, Chebyshev {DEGREE}": (DEGREE, partial(linalg.cg, M=polynomial)),
        "minres": (1, linalg.minres),
        "bicgstab": (2, linalg.bicgstab),
        f"gmres({steps})": (steps + 1, partial(linalg.gmres, restart=steps)),
    }


def table(found: list[History], n: int, rtol: float) -> str:
    """Write the histories as text."""
    timed = any("seconds" in one for one in found)
    head = ("solver", "iterations", "products", "residual", "info", *(("ms", "ms/iteration") if timed else ()))
    rows = []
    for one in found:
        count = len(one["residuals"])
        last = f"{one['residuals'][-1]:.2e}" if count else "-"
        whole = 1e3 * median(one["seconds"]) if timed else 0.0
        times = (digits(whole), digits(whole / max(count, 1))) if timed else ()
        rows.append((one["name"], str(count), str(count * one["products"]), last, str(one["info"]), *times))
    title = f"five-point Laplacian, {n} x {n} points, rtol = {rtol:g}; residuals are true ones, in float64"
    return f"{title}\n{aligned(head, rows)}"


def save(found: list[History], path: Path, n: int, rtol: float) -> None:
    """Draw the residuals over the products with A. Raises OptionError: no such kind of picture."""
    with plots.drawn(path, plots.SIZE) as figure:
        ax = figure.subplots()
        for number, one in enumerate(found):
            look = {**plots.style(number), "marker": "o" if one["products"] > 2 else "", "markersize": 4}
            products = one["products"] * np.arange(1, len(one["residuals"]) + 1)
            ax.plot(products, one["residuals"], label=one["name"], **look)
        ax.axhline(rtol, color="#888888", linewidth=1)
        ax.set(yscale="log", xlabel="products with A", ylabel="norm(b - A x) / norm(b), true")
        ax.set_title(f"five-point Laplacian, {n} x {n} points, float32; asked for {rtol:g} (line)")
        ax.legend(loc="upper right")


def _run(run: Run) -> Report:
    if run.options.operation == "eigh":
        steps, film = rotations.histories(run.device, run.options.size, run.options.seed, run.say)
        text, data = rotations.table(steps, len(film[0])), {"histories": steps}
        return Report(text, data, steps[0]["stopped"], partial(rotations.draw, steps, film))
    if run.options.operation == "secular":
        parts = levels.levels(run.device, max(run.options.size, 2), run.options.seed)
        data = {"levels": [{name: np.asarray(one).tolist() for name, one in level.items()} for level in parts]}
        return Report(levels.table(parts), data, all(map(levels.interlace, parts)), partial(levels.draw, parts))
    n, rtol = run.options.size, run.options.rtol
    found = histories(run.device, n, rtol, run.options.seed, run.say, ROUNDS if run.options.times else 0)
    data = {"size": n, "rtol": rtol, "solvers": found}
    return Report(table(found, n, rtol), data, True, lambda path: save(found, path, n, rtol))


STUDY = Study(
    "convergence",
    "how the sparse solvers converge, by true residuals",
    _run,
    (
        option(
            "--operation",
            choices=("solvers", "eigh", "secular"),
            default="solvers",
            help="of sparse systems (the default); Jacobi's method, step by step, a .gif is a film; divide and conquer",
        ),
        option("--rtol", type=float, default=1e-6, help="residual that is asked for (1e-6)"),
        option("--times", action="store_true", help="time them, in turns with SciPy's on the CPU"),
    ),
    size=(SIZE, "points of a grid's side, or the order of A"),
    seed=True,
    endings=(*plots.SUFFIXES, ".gif"),
)
