"""PLU factors that stay on the device: made once from A, used for as many right-hand sides as come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla.device import Device, Texture
from glla.errors import NonFiniteError, SingularMatrixError
from glla.kernels import equilibrate, permutation, pivot, reduce, triangular
from glla.kernels import plu as plu_kernel
from glla.layout import Shape
from glla.matrix import Array, Matrix, upload
from glla.passes import Plan

UNIT_ROUNDOFF = 2.0**-24

SINGULAR = 5.0
"""A pivot of at most `SINGULAR` times the rounding error that is to be expected in it counts as zero. The last pivot of
singular matrices stayed below 3.4 times (35 000 of them), that of matrices of condition 10^6 above 30 times. With the
harmonic norm: below 2.1 times (800, up to order 513), that of random regular ones above 100 times."""

SMALL = 2.0**-10
"""Factors that have a pivot this small, beside the entries of U above it, are looked at closely, and so are those whose
inverse is large (`DOUBTFUL`)."""

DOUBTFUL = 1.0
"""Largest norm(inverse) u sqrt(n) max abs(U) that a close look is not needed for: an upper estimate of the relative
error of the smallest singular value. Singular matrices had 1.4 to 10^5, but for those with a pivot of zero; normal ones
0.0008 at n = 256 and 0.004 at n = 512, medians of 40 (`python -m benchmarks.doubt`, results of 2026-11-22)."""

PROBES = 4
"""Random right-hand sides by which the norm of the inverse is estimated. A singular matrix is overlooked only if all of
them are nearly orthogonal to its null vector."""

MOST_SUSPECTS = 512
"""Pivots that a close look compares with their own rounding errors, those that are smallest beside the entries of U
above them: work of 4 n^2 each. Noise in place of a pivot may be 0.9 of these entries."""

TRIANGLE = 64
"""Rows of a diagonal block of a substitution on the host."""


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
    """

    lu: Matrix
    records: Texture
    row_exponents: Texture | None = None
    column_exponents: Texture | None = None

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
        return plu_kernel.steps(self.shape)

    @cached_property
    def pivots(self) -> NDArray[np.int32]:
        """LAPACK's ``piv``: at step i, row i was exchanged with row piv[i]. Synchronises once."""
        records: Array = self.device.read(self.records)[0]
        return np.asarray(records[:, :2].reshape(-1)[: min(self.shape)], dtype=np.int32)

    @cached_property
    def diagonal(self) -> tuple[Array, Array]:
        """U's diagonal, and the largest magnitude in U's columns. Square matrices; synchronises once."""
        texture = self.device.run(plu_kernel.diagonal(self.shape[0]), LU=self.lu.texture)["diagonal"]
        texels = self.device.read(texture)[:, 0]
        n = self.shape[0]
        return texels[:, :2].reshape(-1)[:n].copy(), texels[:, 2:].reshape(-1)[:n].copy()

    @cached_property
    def exponents(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Powers of two that rows and columns were scaled by, zeros where they were not. Synchronises once."""
        rows, columns = (
            np.zeros(count, dtype=np.int32)
            if texture is None
            else self.device.read(texture)[:, 0, :2].reshape(-1)[:count].astype(np.int32)
            for count, texture in zip(self.shape, (self.row_exponents, self.column_exponents), strict=True)
        )
        return rows, columns

    @cached_property
    def inverse_norm(self) -> float:
        """Estimate of the Frobenius norm of the inverse of what was factored (scaled, if it was). Synchronises.

        The expected square of a solution with random numbers of variance 1 on the right is the sum of all squares of
        the inverse. (Random signs would have that, too, but may be orthogonal to a null vector like (1, -1, 0).)
        Infinite where a solution is not finite.
        """
        n = self.shape[0]
        probes = np.random.default_rng(n).uniform(-np.sqrt(3), np.sqrt(3), (n, PROBES)).astype(np.float32)
        with np.errstate(all="ignore"):
            solutions = self.as_scaled.solve_array(probes).astype(np.float64)
            norm = np.sqrt(np.sum(np.square(solutions)) / PROBES)
        return float(norm) if np.isfinite(norm) else np.inf

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
        error = margin * SINGULAR * rounding_errors(self.packed, suspects)
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
        if transposed:
            b = self._scaled(b, self.column_exponents, -1)
            b = self._substituted(b, upper=False, unit=False, transposed=True)
            b = self._substituted(b, upper=True, unit=True, transposed=True)
            b = self._permuted(b, inverse=True)
            return self._scaled(b, self.row_exponents, -1)
        b = self._scaled(b, self.row_exponents, -1)
        b = self._permuted(b, inverse=False)
        b = self._substituted(b, upper=False, unit=True)
        b = self._substituted(b, upper=True, unit=False)
        return self._scaled(b, self.column_exponents, -1)

    def solve_array(self, b: Array, transposed: bool = False) -> Array:
        """Solve A X = B, or with the transpose of A, from the host to the host. Synchronises."""
        return self.solve(upload(b, self.device), transposed).numpy()

    def plans(self, columns: int, transposed: bool = False) -> tuple[Plan, ...]:
        """Plans that `solve` may run for so many right-hand sides: what they take is what it takes."""
        shape = (self.shape[0], columns)
        substitutions = (self._substitution(shape, upper, upper == transposed, transposed) for upper in (False, True))
        trace = permutation.trace(self.shape[0], self.steps, transposed)
        return (equilibrate.scale(shape, rows=-1), trace, permutation.gather(shape), *substitutions)

    def _substitution(self, shape: Shape, upper: bool, unit: bool, transposed: bool) -> Plan:
        limits = self.device.limits
        variant = triangular.choose(*shape, limits)
        return triangular.plan(*shape, upper, unit, transposed, variant, unroll=not limits.software)

    def _substituted(self, b: Matrix, upper: bool, unit: bool, transposed: bool = False) -> Matrix:
        plan = self._substitution(b.shape, upper, unit, transposed)
        return self._run(plan, "X", b.shape, T=self.lu.texture, B=b.texture)

    def _permuted(self, b: Matrix, inverse: bool) -> Matrix:
        trace = permutation.trace(self.shape[0], self.steps, inverse)
        rows = self.device.run(trace, pivots=self.records)["rows"]
        return self._run(permutation.gather(b.shape), "B", b.shape, A=b.texture, rows=rows)

    def _scaled(self, b: Matrix, exponents: Texture | None, sign: int) -> Matrix:
        if exponents is None:
            return b
        plan = equilibrate.scale(b.shape, rows=sign)
        return self._run(plan, "scaled", b.shape, A=b.texture, row_exponents=exponents)

    def _run(self, plan: Plan, result: str, shape: Shape, **operands: Texture) -> Matrix:
        return Matrix(self.device, self.device.run(plan, **operands)[result], shape)


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


def rounding_errors(lu: Array, places: NDArray[np.intp]) -> NDArray[np.float64]:
    """Rounding error to be expected in some pivots, none of those before them being zero.

    Factors that were computed are those of A + E, where e_kj is the sum of the rounding errors of the products
    l_ki u_ij, each of about u |l_ki u_ij|. Such an E changes pivot i by w^T E z, where w^T = (-(L^-T l_i)^T, 1)
    and z = (-U^-1 u_i, 1) are what row and column i were reduced with. Errors that come at random add up as the
    root of the sum of their squares: Wilkinson's argument of 1961, and Higham's chapter 9 for E. A row that nothing
    was subtracted from (all its l are 0) has no error: a triangle is regular, however large its condition.

    All of it in float64, where neither w nor z leave the range; an error that does is infinite.

    Parameters
    ----------
    lu : ndarray, shape (n, n)
        Packed factors.
    places : ndarray of int
        Which pivots.
    """
    factors = lu.astype(np.float64)
    rows = np.arange(len(lu))[:, np.newaxis]
    own, before = rows == places, rows < places
    with np.errstate(all="ignore"):
        z = _backward(factors, np.where(before, factors[:, places], 0.0), np.diagonal(factors))
        w = _backward(factors.T, np.where(before, factors[places].T, 0.0), np.ones(len(lu)))
        np.square(factors, out=factors)
        to_the_right = np.triu(factors) @ (np.square(z) + own)
        weights = np.square(w) + own
        multipliers = np.tril(factors, -1)
        reduced = (multipliers != 0).any(axis=1, keepdims=True)
        from_the_left = multipliers.T @ weights + reduced * weights
        squares = np.sum(from_the_left * to_the_right, axis=0)
        return np.where(np.isnan(squares), np.inf, UNIT_ROUNDOFF * np.sqrt(squares))


def _backward(triangle: NDArray[np.float64], b: NDArray[np.float64], diagonal: NDArray[np.float64]) -> Any:
    """Solve T X = B by blocks: T is the strict upper triangle of a matrix, and this diagonal."""
    x = b.copy()
    for end in range(len(x), 0, -TRIANGLE):
        block = slice(max(end - TRIANGLE, 0), end)
        own = np.triu(triangle[block, block], 1)
        np.fill_diagonal(own, diagonal[block])
        x[block] = np.linalg.solve(own, x[block] - triangle[block, end:] @ x[end:])
    return x


def largest_magnitude(a: Matrix) -> float:
    """Max |a_ij|, reduced on the device. Synchronises."""
    result = a.device.run(reduce.max_magnitude(a.shape), A=a.texture)["max"]
    return float(a.device.read(result)[0, 0, 0])


def factorise(
    a: Matrix, pivoting: str = "partial", equilibrate_first: bool = False, variant: str | None = None
) -> Factors:
    """Factor a matrix on its device.

    Parameters
    ----------
    a : Matrix
        m x n, not empty.
    pivoting : {"partial", "harmonic", "geometric"}
        The block norms are checked at the end, which synchronises, and give way to ``partial`` where they fail.
    equilibrate_first : bool
        Scale rows and columns by powers of two first.
    variant : str, optional
        A key of ``glla.kernels.plu.VARIANTS``, one that exchanges rows only; by default `glla.kernels.plu.choose`.
    """
    device = a.device
    scaled, exponents = equilibrated(a) if equilibrate_first else (a, {})
    factors, health = _factors(scaled, pivoting, exponents, variant)
    if pivoting == "partial":
        return factors
    ratio, largest, _ = np.split(device.read(health)[0, :, :3], 3, axis=1)
    if pivot.accepted(ratio.min(), largest.max(), largest_magnitude(scaled), min(a.shape)):
        return factors
    return _factors(scaled, "partial", exponents, variant)[0]


def _factors(a: Matrix, pivoting: str, exponents: dict[str, Texture], variant: str | None) -> tuple[Factors, Texture]:
    hardware = not a.device.limits.software
    chosen = variant or plu_kernel.choose(a.shape, a.device.limits)
    plan = plu_kernel.plan(a.shape, pivoting, variant=chosen, unroll=hardware)
    results = a.device.run(plan, A=a.texture)
    lu = Matrix(a.device, results["LU"], a.shape)
    scaled_by = (exponents.get("row_exponents"), exponents.get("column_exponents"))
    return Factors(lu, results["pivots"], *scaled_by), results["health"]


def equilibrated(a: Matrix, sweeps: int = 0) -> tuple[Matrix, dict[str, Texture]]:
    """Scale rows and columns by powers of two; also give their exponents. Does not synchronise.

    `sweeps` is explained at `glla.kernels.equilibrate.plan`.
    """
    results = a.device.run(equilibrate.plan(a.shape, sweeps), A=a.texture)
    return Matrix(a.device, results.pop("scaled"), a.shape), results


def permutation_of(pivots: NDArray[np.integer], rows: int) -> NDArray[np.intp]:
    """Order of the rows that LAPACK's exchanges lead to: (L U)[i] is row order[i] of A; of a stack, in each matrix.

    Examples
    --------
    >>> permutation_of(np.array([1, 1]), 2)
    array([1, 0])
    """
    swaps = pivots.reshape(prod(pivots.shape[:-1]), pivots.shape[-1])
    order = np.tile(np.arange(rows), (len(swaps), 1))
    every = np.arange(len(swaps))
    for i, j in enumerate(swaps.T):
        order[every, j], order[:, i] = order[:, i].copy(), order[every, j]
    return order.reshape(*pivots.shape[:-1], rows)


def sign_and_log(
    diagonal: NDArray[np.floating], pivots: NDArray[np.integer], exponents: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sign and logarithm of det(A), from U's diagonal, LAPACK's exchanges, and the sum of what A was scaled by.

    All may be stacks.

    Examples
    --------
    >>> sign, logarithm = sign_and_log(np.array([2.0, 1.0]), np.array([1, 1]), 3)
    >>> float(sign), round(float(np.exp(logarithm)), 3)
    (-1.0, 16.0)
    """
    u = diagonal.astype(np.float64)
    exchanges = np.count_nonzero(pivots != np.arange(u.shape[-1]), axis=-1)
    with np.errstate(divide="ignore"):
        logarithm = np.sum(np.log(np.abs(u)), axis=-1) + np.log(2.0) * exponents
    return np.prod(np.sign(u), axis=-1) * (-1.0) ** exchanges, logarithm


def member_of_stack(index: tuple[int, ...]) -> str:
    """Words for a message: which matrix of a stack is meant; none if there is no stack.

    >>> member_of_stack((2, 1)), member_of_stack(())
    (' at index (2, 1) of the stack', '')
    """
    return f" at index ({', '.join(map(str, index))}) of the stack" if index else ""


def from_pivots(lu: Matrix, pivots: NDArray[np.integer]) -> Factors:
    """Factors that were made elsewhere: packed L and U, and LAPACK's exchanges, which become pivot records."""
    n = len(pivots)
    steps = plu_kernel.steps((n, n))
    rows = np.arange(2 * steps)  # the row behind an odd end stays where it is
    rows[:n] = pivots
    records = np.zeros((1, steps, 4), dtype=np.float32)
    records[0, :, :2] = rows.reshape(-1, 2)
    return Factors(lu, lu.device.write_texels(records))
