"""PLU factors that stay on the device: made once from A, used for as many right-hand sides as come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.array.array import Matrix
from glla.array.convert import Array
from glla.errors import NonFiniteError, SingularMatrixError
from glla.gl import Device, Texture
from glla.gl.observe import host_step
from glla.operations import care, lu_solve
from glla.operations import factors as plans
from glla.operations.elimination import counts, pivot, plu
from glla.operations.elimination.noise import UNIT_ROUNDOFF, rounding_errors
from glla.operations.factors import PROBES
from glla.operations.reduce import max_magnitude
from glla.passes import Draft, Plan, matrix, resident
from glla.passes.layout import Shape

SINGULAR = 5.0
"""A pivot of at most this number of expected rounding errors counts as zero. Last pivots of 35 000 singular matrices
stayed below 3.4, those of matrices of condition 10^6 above 30 (`python -m benchmarks.doubt`)."""

SMALL = 2.0**-10
"""A pivot below this part of the entries of U above it is looked at closely."""

DOUBTFUL = 1.0
"""Largest norm(inverse) u sqrt(n) max abs(U) without a close look. Singular matrices had 1.4 or more; normal ones 0.004
at n = 512, the median of 40 (llvmpipe-llvm-15-0-6-256-bits/doubt)."""

MOST_SUSPECTS = 512
"""Most pivots that a close look compares with their rounding errors, the smallest beside their columns first; each
takes 4 n^2 flop."""


@dataclass(frozen=True)
class Factors:
    """A = P L U of an m x n matrix, packed, with its row exchanges.

    Attributes
    ----------
    lu : Matrix
        L below the diagonal, U on and above it.
    records : Texture
        The pivot records of all steps, see ``pivot/factor_records.frag``.
    row_exponents, column_exponents : Texture or None
        What the matrix was scaled by before it was factored, if it was.
    figures : mapping of str to ndarray
        What was read back when they were made.
    """

    lu: Matrix
    records: Texture
    row_exponents: Texture | None = None
    column_exponents: Texture | None = None
    figures: Mapping[str, Array] = field(default_factory=dict)

    @staticmethod
    def of(device: Device, shape: Shape, results: Mapping[str, Any]) -> Factors:
        """Take the results of a plan that made factors: those by name, and what it has read back beside them."""
        figures = {name: value for name, value in results.items() if isinstance(value, np.ndarray)}
        lu = Matrix(device, results["LU"], shape)
        scales = results.get("row_exponents"), results.get("column_exponents")
        return Factors(lu, results["pivots"], *scales, figures)

    @property
    def device(self) -> Device:
        """Where they live."""
        return self.lu.device

    @property
    def shape(self) -> Shape:
        """Rows and columns of the matrix."""
        return self.lu.shape

    @property
    def steps(self) -> int:
        """Steps of the factorisation, two columns each."""
        return counts.steps(self.shape)

    @cached_property
    def pivots(self) -> NDArray[np.int32]:
        """LAPACK's ``piv``: at step i, row i was exchanged with row piv[i]. Synchronises once."""
        records = self._figure("exchanges", lambda: self.device.read(self.records))
        return plu.exchanges(records, min(self.shape))

    @cached_property
    def diagonal(self) -> tuple[Array, Array]:
        """U's diagonal, and the largest magnitude in U's columns. Square matrices; synchronises once."""
        n = self.shape[0]
        texels = self._figure("diagonal", lambda: self.run(_diagonal_plan(n))["diagonal"]).reshape(-1, 4)
        return texels[:, :2].reshape(-1)[:n].copy(), texels[:, 2:].reshape(-1)[:n].copy()

    @cached_property
    def exponents(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Powers of two that rows and columns were scaled by, zeros where they were not. Synchronises once."""

        def read(name: str, texture: Texture | None, count: int) -> NDArray[np.int32]:
            if texture is None:
                return np.zeros(count, dtype=np.int32)
            texels = self._figure(name, lambda: self.device.read(texture)).reshape(-1, 4)
            return texels[:, :2].reshape(-1)[:count].astype(np.int32)

        rows, columns = self.shape
        return (
            read("row_exponents_read", self.row_exponents, rows),
            read("column_exponents_read", self.column_exponents, columns),
        )

    @cached_property
    def inverse_norm(self) -> float:
        """Estimate of the Frobenius norm of the inverse of what was factored (scaled, if it was). Synchronises.

        It is made of the solutions for `glla.operations.factors.probes`. Infinite where a solution is not finite.
        """
        with np.errstate(all="ignore"):
            norm = np.sqrt(np.sum(np.square(self.probe_solutions().astype(np.float64))) / PROBES)
        return float(norm) if np.isfinite(norm) else np.inf

    def probe_solutions(self) -> Array:
        """Solutions for `glla.operations.factors.probes`, of what was factored. Synchronises."""
        plan = care.probe(self.shape[0], PROBES, self.device.limits)
        return self._figure("probe_solutions", lambda: self.run(plan)["probe_solutions"])

    def _figure(self, name: str, otherwise: Callable[[], Array]) -> Array:
        """What the plan that made the factors has read back, or what another plan finds."""
        return self.figures[name] if name in self.figures else otherwise()

    def run(self, plan: Plan, **operands: Any) -> dict[str, Any]:
        """Run a plan of which these factors are operands."""
        own = {
            "LU": self.lu.texture,
            "pivots": self.records,
            "row_exponents": self.row_exponents,
            "column_exponents": self.column_exponents,
        }
        given: dict[str, Any] = {name: own[name] for name in plan.operands if name in own}
        return self.device.run(plan, **given, **operands)

    @property
    def as_scaled(self) -> Factors:
        """Factors of the matrix as it was scaled."""
        return replace(self, row_exponents=None, column_exponents=None)

    @property
    def doubtful(self) -> bool:
        """Whether the matrix may be singular, so that its pivots need a close look. Synchronises."""
        u, largest = self.diagonal
        return may_be_singular(u, largest, lambda: self.inverse_norm)

    def check_regular(self, function: str, member: str = "") -> None:
        """Raise if a pivot is zero, or nothing but rounding error. Synchronises.

        A pivot that is small beside its column is compared with its own rounding error. Both change alike when rows
        or columns of A are scaled: a graded matrix passes, the last pivot of [[1, 1], [1, 1]] does not, whatever the
        driver's division made of it. `member` says, for the message, which matrix of a stack this is.

        Raises
        ------
        SingularMatrixError
            Names the first such pivot.
        """
        if not self.doubtful:
            return
        found = self.first_noise()
        if found is not None:
            place, value, error = found
            raise SingularMatrixError(
                f"{function}: Singular matrix{member}: pivot {place} of {len(self.diagonal[0])} is {value:.3g}, which "
                f"may all be rounding error (up to {error:.3g}); remove dependent rows or columns, or find them with "
                "rref"
            )

    def first_noise(self, margin: float = 1.0) -> tuple[int, float, float] | None:
        """Find the first pivot that may be nothing but rounding error: its place, value, and `margin` times that error.

        Synchronises, and reads the factors back.
        """
        u, largest = self.diagonal
        zeros = np.flatnonzero(u == 0)
        if len(zeros):
            return int(zeros[0]), 0.0, 0.0
        suspects = np.flatnonzero(np.isfinite(u))
        if len(suspects) > MOST_SUSPECTS:
            sizes = np.abs(u[suspects]) / largest[suspects]
            suspects = np.sort(suspects[np.argsort(sizes, kind="stable")[:MOST_SUSPECTS]])
        if not len(suspects):
            return None
        error = margin * SINGULAR * _rounding_errors(self.packed, suspects)
        bad = np.flatnonzero(~(np.abs(u[suspects]) > error))
        if not len(bad):
            return None
        return int(suspects[bad[0]]), float(u[suspects[bad[0]]]), float(error[bad[0]])

    @property
    def packed(self) -> Array:
        """The factors on the host. Synchronises."""
        return self.lu.numpy()

    def growth(self, scale: float) -> float:
        """Largest entry of U beside `scale`, that of the matrix; infinite if the factors are not finite."""
        u, largest = self.diagonal
        most = float(np.max(largest, initial=0.0))
        if not (np.isfinite(u).all() and np.isfinite(most)):
            return np.inf
        return most / scale if scale > 0 else 0.0

    def solve(self, b: Matrix, transposed: bool = False) -> Matrix:
        """Solve A X = B, or with the transpose of A, on the device. Does not synchronise.

        The factors must be those of a regular matrix.
        """
        return Matrix(self.device, self.run(self.solution(b.shape[1], transposed), B=b.texture)["X"], b.shape)

    def solve_array(self, b: Array, transposed: bool = False) -> Array:
        """Solve A X = B, or with the transpose of A, from the host to the host. Synchronises."""
        n, limits = self.shape[0], self.device.limits
        plan = care.solution(n, b.shape[1], limits, transposed, self.row_exponents is not None)
        x: Array = self.run(plan, B=np.ascontiguousarray(b, dtype=np.float32))["X"]
        return x

    def solution(self, columns: int, transposed: bool = False) -> Plan:
        """Plan that `solve` runs for this number of right-hand sides."""
        n = self.shape[0]
        forms = resident((n, n), (n, columns))
        scaled = self.row_exponents is not None
        return lu_solve.core(forms, self.device.limits, transposed=transposed, equilibrated=scaled)


def _diagonal_plan(n: int) -> Plan:
    draft = Draft("diagonal")
    made = plans.FactorSlots((n, n), draft.operand("LU", matrix((n, n))), "")
    return draft.plan({"diagonal": plans.read_diagonal(draft, made)})


_rounding_errors = host_step(care.ERRORS)(rounding_errors)


def overflow(function: str) -> NonFiniteError:
    """Error for factors of finite matrices that are not finite."""
    return NonFiniteError(
        f"{function}: the factors do not fit float32, their entries grow; equilibrate the matrix, or use numpy.linalg"
    )


def may_be_singular(
    u: NDArray[np.floating],
    largest: NDArray[np.floating],
    inverse_norm: Callable[[], float],
    doubtful: float = DOUBTFUL,
) -> bool:
    """Tell from the figures of some factors whether their pivots need a close look.

    Parameters
    ----------
    u, largest : ndarray, shape (n,)
        U's diagonal, and the largest magnitude in U's columns.
    inverse_norm : callable
        Gives an estimate of the norm of the inverse; asked only if needed.
    doubtful : float
        In place of `DOUBTFUL`.
    """
    if not (np.abs(u) > SMALL * largest).all():
        return True
    return not inverse_norm() * UNIT_ROUNDOFF * np.sqrt(len(u)) * np.max(largest) <= doubtful


def largest_magnitude(a: Matrix) -> float:
    """Max |a_ij|, reduced on the device. Synchronises."""
    result = a.device.run(max_magnitude(a.shape), A=a.texture)["max"]
    return float(a.device.read(result)[0, 0, 0])


def factorise(
    a: Matrix, pivoting: str = "partial", equilibrate_first: bool = False, variant: str | None = None
) -> Factors:
    """Factor a matrix on its device, with nothing read back.

    Parameters
    ----------
    a : Matrix
        m x n, not empty.
    pivoting : {"partial", "harmonic", "geometric"}
        The block norms are checked at the end, which synchronises, and give way to ``partial`` where they fail.
    equilibrate_first : bool
        Scale rows and columns by powers of two first.
    variant : str, optional
        A key of `glla.operations.elimination.plu.VARIANTS` that exchanges rows only; by default its `choose` decides.
    """
    device, shape = a.device, a.shape
    plan = plans.made(
        resident(shape), device.limits, equilibrated=equilibrate_first, pivoting=pivoting, variant=variant
    )
    results: dict[str, Any] = device.run(plan, A=a.texture)
    if pivoting != "partial" and not accepted(results["health_read"], float(results["largest_A"].flat[0]), shape):
        return factorise(a, "partial", equilibrate_first, variant)
    return Factors.of(device, shape, results)


def accepted(health: Array, scale: float, shape: Shape) -> bool:
    """Decide from the health of all steps whether factors with a block norm stand."""
    ratio, largest = health.reshape(-1, 4)[:, 0], health.reshape(-1, 4)[:, 1]
    return pivot.accepted(float(ratio.min()), float(largest.max()), scale, min(shape))


def member_of_stack(index: tuple[int, ...]) -> str:
    """Words for a message: which matrix of a stack is meant; none if there is no stack.

    >>> member_of_stack((2, 1)), member_of_stack(())
    (' at index (2, 1) of the stack', '')
    """
    return f" at index ({', '.join(map(str, index))}) of the stack" if index else ""


def from_pivots(lu: Matrix, pivots: NDArray[np.integer]) -> Factors:
    """Factors that were made elsewhere: packed L and U, and LAPACK's exchanges, which become pivot records."""
    return Factors(lu, lu.device.write_texels(plans.pivot_records(pivots)))
