"""Mixed-precision iterative refinement: float64-grade solutions from float32 factors.

    r = b - A x         on the CPU, in float64
    d = U^-1 L^-1 P r   on the GPU, in float32
    x = x + d           on the CPU, in float64

Each turn removes the part of the error that float32 factors can see: it shrinks by about cond(A) 2^-24, where A is the
equilibrated matrix. Beyond cond(A) = 10^7 it does not shrink.

Sources: Moler, "Iterative refinement in floating point" (1967); Higham, "Accuracy and Stability of Numerical
Algorithms" (2002), chapter 12; Langou et al., "Exploiting the performance of 32 bit floating point arithmetic in
obtaining 64 bit accuracy" (2006).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.errors import ConvergenceError
from glla.factors import Factors
from glla.matrix import upload

Float64 = NDArray[np.float64]
Integers = NDArray[np.int32]

MOST_ITERATIONS = 40
"""An error that shrinks at all has shrunk enough by then."""

TARGET = 4.0
"""Aim: a componentwise backward error of `TARGET` * 2^-53 * sqrt(n), what evaluating the residual itself can show."""

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


@np.errstate(all="ignore")  # what leaves the range, or is no number, shows in the backward error
def refined(function: str, factors: Factors, a: Float64, b: Float64) -> RefinedSolution:
    """Solve A X = B in float64 from factors of A (equilibrated) in float32.

    Parameters
    ----------
    function : str
        For the message.
    factors : Factors
        Of the regular n x n matrix `a`.
    a, b : ndarray of float64
        n x n and n x k.

    Raises
    ------
    ConvergenceError
        The backward error stopped shrinking above `ACCEPTED`: the matrix is too ill-conditioned for float32 factors.
    """
    rows, columns = factors.exponents
    x = np.zeros_like(b)
    best, best_error, iterations = x, np.inf, 0
    slack = TARGET * 2.0**-53 * np.sqrt(len(a))
    for iteration in range(MOST_ITERATIONS):
        residual = b - a @ x
        error = _backward_error(a, x, b, residual)
        if iteration and not error < best_error / 2:  # not even halved, or NaN: this is as far as it goes
            if error < best_error:
                best, best_error, iterations = x, error, iteration - 1
            break
        best, best_error, iterations = x.copy(), error, max(iteration - 1, 0)
        if error <= slack:
            break
        x = x + _correction(factors, residual, rows, columns)
    if not best_error <= ACCEPTED:
        raise ConvergenceError(
            f"{function}: refinement stopped at a backward error of {best_error:.2g} after {iterations} corrections "
            f"(aim {ACCEPTED:g}); the matrix is too ill-conditioned for float32 factors: use numpy.linalg.solve"
        )
    result = best.view(RefinedSolution)
    result.iterations, result.backward_error = iterations, best_error
    return result


def _backward_error(a: Float64, x: Float64, b: Float64, residual: Float64) -> float:
    """Componentwise backward error (Oettli and Prager); 0 / 0 counts as 0."""
    scale = np.abs(a) @ np.abs(x) + np.abs(b)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(residual == 0, 0.0, np.abs(residual) / scale)
    return float(np.max(ratio, initial=0.0))


def _correction(factors: Factors, residual: Float64, rows: Integers, columns: Integers) -> Float64:
    """Solve for the residual in float32; scaling is done here, in float64, where nothing leaves the range."""
    scaled = np.ldexp(residual, -rows[:, None])
    _, exponents = np.frexp(np.max(np.abs(scaled), axis=0, initial=0.0))
    scaled = np.ldexp(scaled, -exponents)
    unscaled = factors.without_scaling()
    solution = unscaled.solve(upload(scaled.astype(np.float32), factors.device)).numpy().astype(np.float64)
    result: Float64 = np.ldexp(solution, exponents - columns[:, None])
    return result
