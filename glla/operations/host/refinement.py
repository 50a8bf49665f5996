"""Mixed-precision iterative refinement: float64-grade solutions from float32 factors.

    r = b - A x         on the CPU, in float64
    d = U^-1 L^-1 P r   on the GPU, in float32
    x = x + d           on the CPU, in float64

The second step uses the system with its rows, columns and residuals scaled by powers of two, so that neither A nor b
need fit float32. Each iteration multiplies the error by about cond(A) 2^-24, where A is the equilibrated matrix. Beyond
cond(A) = 10^7 it does not converge.

Sources: Moler, "Iterative refinement in floating point" (1967); Higham, "Accuracy and Stability of Numerical
Algorithms" (2002), chapter 12; Langou et al., "Exploiting the performance of 32 bit floating point arithmetic in
obtaining 64 bit accuracy" (2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glla.errors import ConvergenceError
from glla.operations.acceptance import MOST_ROUNDS, REFINED, TARGET
from glla.operations.host.scaling import Float64, Integers


@dataclass(frozen=True)
class Refinement:
    """How far a refinement has come."""

    turns: int = 0  # solutions that were judged
    best: Float64 | None = None  # the best of them, its `best_error`, and the corrections that led to it, `iterations`
    best_error: float = np.inf
    iterations: int = 0
    score: float = np.inf  # least sum of the logarithms of all components' errors

    def judged(self, a: Float64, b: Float64, x: Float64, residual: Float64) -> tuple[Refinement, Float64 | None]:
        """Judge the next solution; give the residual that is left to correct, None if this is the end."""
        errors = backward_errors(residual, np.abs(a) @ np.abs(x) + np.abs(b))
        error = float(np.max(errors, initial=0.0))
        score = float(np.sum(np.log2(np.maximum(errors, TARGET)))) if self.turns else np.inf
        going = error < self.best_error / 2 or score < self.score - 1  # the worst component, or all together
        now = Refinement(self.turns + 1, self.best, self.best_error, self.iterations, self.score)
        if error < self.best_error or not self.turns:
            now = Refinement(now.turns, x, error, max(self.turns - 1, 0), self.score)
        if error <= TARGET or (self.turns and not going) or now.turns == MOST_ROUNDS:  # done, as far as it goes, NaN
            return now, None
        now = Refinement(now.turns, now.best, now.best_error, now.iterations, min(score, self.score))
        return now, np.where(errors <= TARGET, 0.0, residual)  # what is done would hide what is smaller by 38 decades

    @property
    def converged(self) -> bool:
        """Whether the best solution is good enough."""
        return self.best_error <= REFINED

    def error(self, function: str) -> ConvergenceError:
        """Error for a refinement that did not converge."""
        return ConvergenceError(
            f"{function}: refinement stopped at a backward error of {self.best_error:.2g} after {self.iterations} "
            f"corrections (aim {REFINED:g}); the matrix is too ill-conditioned for float32 factors: use "
            "numpy.linalg.solve"
        )


@np.errstate(all="ignore")
def backward_errors(residual: Float64, scale: Float64) -> Float64:
    """Backward errors of all components (Oettli and Prager), scale = abs(A) abs(X) + abs(B); 0 / 0 counts as 0."""
    return np.where(residual == 0, 0.0, np.abs(residual) / scale)


def rescaled_residual(residual: Float64, rows: Integers) -> tuple[NDArray[np.float32], Integers]:
    """Scale the rows of a residual as those of A, and its columns near 1. Give the exponents of the columns, too."""
    mantissas, exponents = np.frexp(residual)
    exponents = exponents - rows
    sizes = np.max(exponents, axis=0, where=residual != 0, initial=-10000)
    return np.ldexp(mantissas, exponents - sizes).astype(np.float32), sizes


def turned(
    a: Float64, b: Float64, x: Float64, correction: NDArray[np.float32], sizes: Integers, columns: Integers
) -> tuple[Float64, Float64]:
    """Add a correction, which is scaled back first; give the solution, and the residual that it leaves."""
    corrected = x + np.ldexp(correction.astype(np.float64), sizes - np.transpose(columns))
    return corrected, b - a @ corrected
