"""Mixed-precision iterative refinement: float64-grade solutions from float32 factors.

    r = b - A x         on the CPU, in float64
    d = U^-1 L^-1 P r   on the GPU, in float32
    x = x + d           on the CPU, in float64

The second is done on the system with its rows, columns and residuals scaled by powers of two, so that neither A nor b
need fit float32. Each turn removes the part of the error that float32 factors can see: it shrinks by about
cond(A) 2^-24, where A is the equilibrated matrix. Beyond cond(A) = 10^7 it does not shrink.

Sources: Moler, "Iterative refinement in floating point" (1967); Higham, "Accuracy and Stability of Numerical
Algorithms" (2002), chapter 12; Langou et al., "Exploiting the performance of 32 bit floating point arithmetic in
obtaining 64 bit accuracy" (2006).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.errors import ConvergenceError
from glla.gl.observe import host_step
from glla.linalg.factors import Factors
from glla.operations import care

Float64 = NDArray[np.float64]
Integers = NDArray[np.int32]

MOST_ITERATIONS = 40
"""Most corrections. An error that shrinks has shrunk enough by then."""

TARGET = 8.0 * 2.0**-53
"""Componentwise backward error that ends the iteration, near 1e-15."""

ACCEPTED = 1e-14
"""Largest componentwise backward error of a result that counts as converged."""


class RefinedSolution(np.ndarray[Any, np.dtype[np.float64]]):
    """A float64 solution that says how it was reached.

    Attributes
    ----------
    iterations : int
        Corrections that were applied to the first solution.
    backward_error : float
        max_i abs(b - A x)_i / (abs(A) abs(x) + abs(b))_i in float64: x solves a system whose entries differ from
        those given by no more than this relative amount each.
    """

    iterations: int
    backward_error: float

    def __array_finalize__(self, source: Any) -> None:
        self.iterations = getattr(source, "iterations", 0)
        self.backward_error = getattr(source, "backward_error", float("nan"))

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Give what is computed from a solution back as a plain array or scalar: it is no solution any more."""
        if array is self:  # computed in place
            return self
        return np.asarray(array)[()]


@np.errstate(all="ignore")  # what leaves the range, or is no number, shows in the backward error
def refined(
    function: str, factors: Factors, a: Float64, b: Float64, rows: Integers | int = 0, columns: Integers | int = 0
) -> RefinedSolution:
    """Solve A X = B in float64 from factors in float32.

    Parameters
    ----------
    function : str
        For the message.
    factors : Factors
        Of `a` scaled by 2^-(rows + columns), n x n and regular.
    a, b : ndarray of float64
        n x n and n x k.
    rows, columns : ndarray of int, shapes (n, 1) and (1, n), or 0
        Exponents, from `scaling`.

    Raises
    ------
    ConvergenceError
        The backward error stopped shrinking above `ACCEPTED`: the matrix is too ill-conditioned for float32 factors.
    """
    x = np.zeros_like(b)
    best, best_error, least_score, iterations = x, np.inf, np.inf, 0
    for iteration in range(MOST_ITERATIONS):
        residual = b - a @ x
        errors = _backward_errors(a, x, b, residual)
        error = float(np.max(errors, initial=0.0))
        score = float(np.sum(np.log2(np.maximum(errors, TARGET)))) if iteration else np.inf
        going = error < best_error / 2 or score < least_score - 1  # the worst component is better, or all together
        if error < best_error or not iteration:
            best, best_error, iterations = x, error, max(iteration - 1, 0)
        if error <= TARGET or (iteration and not going):  # done, or this is as far as it goes, or NaN
            break
        least_score = min(score, least_score)
        pending = np.where(errors <= TARGET, 0.0, residual)  # what is done would hide what is smaller by 38 decades
        x = x + _correction(factors, pending, rows, columns)
    if not best_error <= ACCEPTED:
        raise ConvergenceError(
            f"{function}: refinement stopped at a backward error of {best_error:.2g} after {iterations} corrections "
            f"(aim {ACCEPTED:g}); the matrix is too ill-conditioned for float32 factors: use numpy.linalg.solve"
        )
    result = best.view(RefinedSolution)
    result.iterations, result.backward_error = iterations, best_error
    return result


def _backward_errors(a: Float64, x: Float64, b: Float64, residual: Float64) -> Float64:
    """Backward errors of all components (Oettli and Prager); 0 / 0 counts as 0."""
    scale = np.abs(a) @ np.abs(x) + np.abs(b)
    result: Float64 = np.where(residual == 0, 0.0, np.abs(residual) / scale)
    return result


def _correction(factors: Factors, residual: Float64, rows: Integers | int, columns: Integers | int) -> Float64:
    """Solve for the residual in float32."""
    scaled, sizes = _scaled(residual, rows)
    solution = factors.solve_array(scaled).astype(np.float64)
    result: Float64 = np.ldexp(solution, sizes - np.transpose(columns))
    return result


@host_step(care.RESIDUAL)
def _scaled(residual: Float64, rows: Integers | int) -> tuple[NDArray[np.float32], Integers]:
    """Scale the columns of a residual: their largest entries are near 1. Give their exponents, too."""
    mantissas, exponents = np.frexp(residual)
    exponents = exponents - rows
    sizes = np.max(exponents, axis=0, where=residual != 0, initial=-10000)
    return np.ldexp(mantissas, exponents - sizes).astype(np.float32), sizes
