"""`glla convergence`: how the solvers of sparse systems converge on one problem, by the true residual of each iterate.

The problem is the five-point Laplacian of an n x n grid, with a random right-hand side. After each iteration x is read
back, and its residual is computed in float64: what the solvers themselves do once, at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glla.gl import Device
from glla.lab import plots
from glla.lab.extra import require
from glla.operations.sparse import model
from glla.operations.sparse.compressed import Compressed
from glla.sparse import linalg
from glla.sparse.matrix import SparseMatrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE, SEED = 32, 2007
"""Points along a side of the grid, by default; and the seed of the right-hand side."""

RESTART = 20
"""Steps of a cycle of gmres."""

DEGREE = 4
"""Of the Chebyshev polynomial."""


@dataclass(frozen=True)
class History:
    """How a solver went.

    Attributes
    ----------
    name : str
        The solver, and its preconditioner.
    products : int
        Products with A that each entry of `residuals` took.
    residuals : tuple of float
        norm(b - A x) / norm(b) after each iteration (of gmres: after each cycle), from x, in float64.
    info : int
        What the solver said in the end.
    """

    name: str
    products: int
    residuals: tuple[float, ...]
    info: int

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"name": self.name, "products": self.products, "residuals": list(self.residuals), "info": self.info}


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
) -> list[History]:
    """Let every solver solve the same system. Synchronises at each iteration, so it tells nothing of speed.

    Parameters
    ----------
    device : Device
        Where.
    n : int
        Points along a side of the grid; the matrix has n^2 rows.
    rtol : float
        Residual that is asked for.
    seed : int
        Of the right-hand side.
    progress : callable
        Called with the name of each solver, before it starts.
    """
    matrix = SparseMatrix(laplacian(n), device)
    b = np.random.default_rng(seed).standard_normal(n * n)
    size = float(np.linalg.norm(b))
    found = []
    for name, (products, solve) in solvers(matrix).items():
        progress(name)
        residuals: list[float] = []

        def note(x: Any, residuals: list[float] = residuals) -> None:
            residuals.append(float(np.linalg.norm(b - matrix.rows.times(x.astype(np.float64)))) / size)

        _, info = solve(matrix, b, rtol=rtol, callback=note)
        found.append(History(name, products, tuple(residuals), info))
    return found


def solvers(matrix: SparseMatrix) -> Mapping[str, tuple[int, Callable[..., tuple[Any, int]]]]:
    """Solvers by name: products with A in an iteration (of gmres: in a cycle), and the function."""
    steps = min(RESTART, matrix.shape[0])
    polynomial = linalg.chebyshev(matrix, DEGREE)
    return {
        "cg, merged": (1, partial(linalg.cg, variant="merged")),
        "cg, classic": (1, partial(linalg.cg, variant="classic")),
        "cg, refined": (1, partial(linalg.cg, refine=True)),
        f"cg, Chebyshev {DEGREE}": (DEGREE, partial(linalg.cg, M=polynomial)),
        "minres": (1, linalg.minres),
        "bicgstab": (2, linalg.bicgstab),
        f"gmres({steps})": (steps + 1, partial(linalg.gmres, restart=steps)),
    }


def table(found: list[History], n: int, rtol: float) -> str:
    """Write the histories as text."""
    lines = [f"five-point Laplacian, {n} x {n} points, rtol = {rtol:g}; residuals are true ones, in float64"]
    lines.append(f"{'solver':18} {'iterations':>10} {'products':>9} {'residual':>9}  info")
    for one in found:
        count = len(one.residuals)
        last = f"{one.residuals[-1]:9.2e}" if count else f"{'-':>9}"
        lines.append(f"{one.name:18} {count:10} {count * one.products:9} {last}  {one.info}")
    return "\n".join(lines)


def save(found: list[History], path: Path, n: int, rtol: float) -> None:
    """Draw the residuals over the products with A.

    Raises
    ------
    OptionError
        No such kind of picture.
    """
    plots.check_suffix(path)
    require("convergence", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=plots.SIZE, layout="constrained")
    draw(figure.subplots(), found, n, rtol)
    figure.savefig(path, dpi=120)


def draw(ax: Axes, found: list[History], n: int, rtol: float) -> None:
    """Draw them onto axes."""
    for number, one in enumerate(found):
        products = one.products * np.arange(1, len(one.residuals) + 1)
        ax.plot(
            products, one.residuals, label=one.name, color=plots.COLOURS[number % len(plots.COLOURS)],
            linestyle=plots.DASHES[number % len(plots.DASHES)], marker="o" if one.products > 2 else "", markersize=4,
        )  # fmt: skip
    ax.axhline(rtol, color="#888888", linewidth=1)
    ax.set_yscale("log")
    ax.set_xlabel("products with A")
    ax.set_ylabel("norm(b - A x) / norm(b), true")
    ax.set_title(f"five-point Laplacian, {n} x {n} points, float32; asked for {rtol:g} (line)")
    ax.legend(loc="upper right")
